import { describe, expect, onTestFinished, test } from 'vitest'
import { attachedRig, detachedRig, engineMemory, planOfOneBlock as plan } from '../../test/fuzz/addon-rig.mjs'
import { isBuilt, skipped } from '../../test/native.js'
import { loadAddon } from '../host/addon.js'
import type { EngineHandle, LeaderLayout, NativePlan, PairLayout, TableHandle } from './engine-addon.js'

describe.skipIf(!isBuilt)(`engine functions of the addon${skipped}`, () => {
  test('reject a post without queues', () => {
    const { addon, engine, table } = opened()
    expect(() => addon.enginePost(engine, 1, plan(), table)).toThrow(
      new RangeError('plan command 0: expected a queue of this engine, got 0'),
    )
  })

  test.each<[string, Partial<NativePlan>, string]>([
    [
      'a queue that the engine does not have',
      { queue: Uint16Array.of(1) },
      'plan command 0: expected a queue of this engine, got 1',
    ],
    [
      'bytes after the memory',
      { offsetBytes: Float64Array.of(16384 - 511) },
      'plan command 0: expected an offset inside the memory, got 15873',
    ],
    [
      'an offset below 0',
      { offsetBytes: Float64Array.of(-512) },
      'plan command 0: expected an offset inside the memory, got -512',
    ],
    ['no LBA', { slba: Float64Array.of(NaN) }, 'plan command 0: expected an LBA below 2^53, got nan'],
    [
      'more blocks than NLB has bits for',
      { blocks: Uint32Array.of(65537) },
      'plan command 0: expected at most 65536 blocks, got 65537',
    ],
    [
      'more bytes than the PRP list of a command describes',
      { blockBytes: 1 << 28 },
      'plan command 0: expected no more bytes than its PRP list can describe, got 268435456',
    ],
    ['columns of different lengths', { blocks: Uint32Array.of(1, 1) }, 'blocks: expected one entry per command, got 2'],
  ])('reject a plan with %s', (_, change, message) => {
    const { addon, engine, table } = opened(true)
    expect(() => addon.enginePost(engine, 1, { ...plan(), ...change }, table)).toThrow(new RangeError(message))
    expect(addon.enginePost(engine, 1, plan(), table)).toBe(true)
  })

  test.each<[string, Partial<LeaderLayout>, string]>([
    ['a head beyond its ring', { cqHead: 4 }, 'cqHead: expected 0 to 3, got 4'],
    ['a ring longer than its memory', { cqEntries: 257 }, 'cq: expected at least 4112 bytes, got 4096'],
    ['a doorbell after the registers', { headDoorbell: 4096 }, 'headDoorbell: expected 0 to 4092, got 4096'],
    ['no submission queue', { pairs: [] }, 'pairs: expected 1 to 65535, got 0'],
    [
      'more submission queues than there are identifiers',
      { pairs: new Array<PairLayout>(2 ** 32 - 1) },
      'pairs: expected at most 65535 elements, got 4294967295',
    ],
  ])('reject a completion queue with %s', (_, change, message) => {
    const { addon, engine, queues } = opened()
    const [leader] = queues.leaders
    expect(() => addon.engineAttach(engine, { ...queues, leaders: [{ ...leader!, ...change }] })).toThrow(
      new RangeError(message),
    )
    expect(addon.engineDetach(engine)).toEqual([])
  })

  test.each<[string, Partial<PairLayout>, string]>([
    ['a tail beyond its ring', { sqTail: 8 }, 'sqTail: expected 0 to 7, got 8'],
    ['a ring longer than its memory', { sqEntries: 65 }, 'sq: expected at least 4160 bytes, got 4096'],
    ['more commands in flight than fit into it', { sqEntries: 4 }, 'maxInFlight: expected 1 to 3, got 4'],
    ['fewer identifiers than commands', { slotBits: 1 }, 'maxInFlight: expected 1 to 2, got 4'],
    [
      'PRP lists longer than their memory',
      { prpListBytes: 8192 },
      'prpLists: expected at least 32768 bytes, got 16384',
    ],
    ['a page of no power of two', { pageBytes: 4097 }, 'pageBytes: expected a power of two, got 4097'],
    [
      'too few generations',
      { generations: new Uint16Array(3) },
      'generations: expected one per command in flight, got 3',
    ],
  ])('reject a submission queue with %s', (_, change, message) => {
    const { addon, engine, queues } = opened()
    const [leader] = queues.leaders
    const pairs = [{ ...leader!.pairs[0]!, ...change }]
    expect(() => addon.engineAttach(engine, { ...queues, leaders: [{ ...leader!, pairs }] })).toThrow(
      new RangeError(message),
    )
    expect(addon.engineDetach(engine)).toEqual([])
  })

  test('reject an array of maximum length for completion queues before reserving memory', () => {
    const { addon, engine, queues } = opened()
    const leaders = new Array<LeaderLayout>(2 ** 32 - 1)
    expect(() => addon.engineAttach(engine, { ...queues, leaders })).toThrow(
      new RangeError('leaders: expected at most 65535 elements, got 4294967295'),
    )
  })

  test('reject queues while other queues are attached', () => {
    const { addon, engine, queues } = opened(true)
    expect(() => addon.engineAttach(engine, queues)).toThrow(
      new RangeError('this engine has queues: detach them first'),
    )
  })

  test('tolerate a getter that closes the engine', () => {
    const { addon, engine, queues, table } = opened()
    const closing = {
      ...queues,
      get leaders() {
        addon.engineClose(engine)
        return queues.leaders
      },
    }
    expect(() => addon.engineAttach(engine, closing)).toThrow('The engine is closed')
    expect(() => addon.enginePost(engine, 1, plan(), table)).toThrow('The engine is closed')
  })

  test('reject a plan if a getter detaches an array that was read before', () => {
    const { addon, engine, table } = opened(true)
    const { slba } = plan()
    const taking = {
      ...plan(),
      slba,
      get queue() {
        const buffer = slba.buffer as ArrayBuffer
        structuredClone(buffer, { transfer: [buffer] })
        return Uint16Array.of(0)
      },
    }
    expect(() => addon.enginePost(engine, 1, taking, table)).toThrow('slba: expected one entry per command, got 0')
  })

  test('reject handles of another type or engine', () => {
    const { addon, engine, table } = opened(true)
    const other = opened(true)
    expect(() => addon.engineLook(table as unknown as EngineHandle)).toThrow(
      new TypeError("engine: expected an engine's handle, got an object"),
    )
    expect(() => addon.enginePost(engine, 1, plan(), engine as unknown as TableHandle)).toThrow(TypeError)
    expect(() => addon.enginePost(engine, 1, plan(), other.table)).toThrow(
      new RangeError('table: expected a table of this engine'),
    )
  })

  test('reject a flag that is not a boolean', () => {
    const { addon, engine } = opened()
    expect(() => addon.engineHalt(engine, 1 as unknown as boolean)).toThrow(
      new TypeError('lost: expected a boolean, got 1'),
    )
    expect(() => addon.engineHold(engine, undefined as unknown as boolean)).toThrow(TypeError)
  })
})

/** An engine; if attached, it has queues of a controller that never responds. */
function opened(isAttached = false) {
  const memory = engineMemory(loadAddon())
  const rig = isAttached ? attachedRig(memory) : detachedRig(memory)
  onTestFinished(() => {
    rig.addon.engineClose(rig.engine)
    memory.free()
  })
  return rig
}
