import { describe, expect, onTestFinished, test } from 'vitest'
import { attachedRig, detachedRig, engineMemory, planOfOneBlock as plan } from '../../test/fuzz/addon-rig.mjs'
import { isBuilt, skipped } from '../../test/native.js'
import { loadAddon } from '../host/addon.js'
import type { EngineHandle, NativePlan, QueueLayout, TableHandle } from './engine-addon.js'

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
    ['no blocks', { blocks: Uint32Array.of(0) }, 'plan command 0: expected 1 to 65536 blocks, got 0'],
    ['blocks without bytes', { blockBytes: 0 }, 'plan.blockBytes: expected 1 or more, got 0'],
    ['no LBA', { slba: Float64Array.of(NaN) }, 'plan command 0: expected an LBA below 2^53, got nan'],
    [
      'more blocks than NLB has bits for',
      { blocks: Uint32Array.of(65537) },
      'plan command 0: expected 1 to 65536 blocks, got 65537',
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

  test.each<[string, Partial<QueueLayout>, string]>([
    ['entries that are not a power of two', { entries: 12 }, 'entries: expected a power of two, got 12'],
    ['more entries than a queue can have', { entries: 131072 }, 'entries: expected 2 to 65536, got 131072'],
    ['a tail beyond its ring', { sqTail: 8 }, 'sqTail: expected 0 to 7, got 8'],
    ['a head beyond its ring', { cqHead: 8 }, 'cqHead: expected 0 to 7, got 8'],
    ['a phase that is not a bit', { phase: 2 }, 'phase: expected 0 to 1, got 2'],
    ['a submission queue longer than its memory', { entries: 128 }, 'sq: expected at least 8192 bytes, got 4096'],
    [
      'a completion queue longer than its memory',
      { cq: { address: 4096n, lengthBytes: 127, onDevice: false } },
      'cq: expected at least 128 bytes, got 127',
    ],
    ['more commands in flight than fit into it', { entries: 4 }, 'maxInFlight: expected 1 to 3, got 4'],
    ['no command in flight', { maxInFlight: 0 }, 'maxInFlight: expected 1 to 7, got 0'],
    [
      'fewer than 16 generations of identifiers',
      {
        entries: 8192,
        sq: { address: 4096n, lengthBytes: 2 ** 19, onDevice: false },
        cq: { address: 4096n, lengthBytes: 2 ** 17, onDevice: false },
        maxInFlight: 4096,
        generations: new Uint16Array(4096),
      },
      'maxInFlight: expected 1 to 4095, got 4096',
    ],
    [
      'PRP lists longer than their memory',
      { prpListBytes: 8192 },
      'prpLists: expected at least 32768 bytes, got 16384',
    ],
    ['a page size that is not a power of two', { pageBytes: 4097 }, 'pageBytes: expected a power of two, got 4097'],
    ['a tail doorbell after the registers', { sqTailDoorbell: 4096 }, 'sqTailDoorbell: expected 0 to 4092, got 4096'],
    ['a head doorbell after the registers', { cqHeadDoorbell: 4096 }, 'cqHeadDoorbell: expected 0 to 4092, got 4096'],
    [
      'too few generations',
      { generations: new Uint16Array(3) },
      'generations: expected one per command in flight, got 3',
    ],
  ])('reject a queue with %s', (_, change, message) => {
    const { addon, engine, attached } = opened()
    const queues = [{ ...attached.queues[0]!, ...change }]
    expect(() => addon.engineAttach(engine, { ...attached, queues })).toThrow(new RangeError(message))
    expect(addon.engineDetach(engine)).toEqual([])
  })

  test.each([
    [0, 'queues: expected 1 to 65535, got 0'],
    [2 ** 32 - 1, 'queues: expected at most 65535 elements, got 4294967295'],
  ])('reject %i queues before reserving memory', (count, message) => {
    const { addon, engine, attached } = opened()
    const queues = new Array<QueueLayout>(count)
    expect(() => addon.engineAttach(engine, { ...attached, queues })).toThrow(new RangeError(message))
  })

  test('return the positions and generations of queues that were not used unchanged', () => {
    const { addon, engine, attached } = opened()
    const positions = { sqTail: 5, cqHead: 6, phase: 0, generations: Uint16Array.of(0, 1, 0x1fff, 7) } as const
    addon.engineAttach(engine, { ...attached, queues: [{ ...attached.queues[0]!, ...positions }] })
    expect(addon.engineDetach(engine)).toEqual([positions])
  })

  test('reject queues while other queues are attached', () => {
    const { addon, engine, attached } = opened(true)
    expect(() => addon.engineAttach(engine, attached)).toThrow(
      new RangeError('this engine has queues: detach them first'),
    )
  })

  test('tolerate a getter that closes the engine', () => {
    const { addon, engine, attached, table } = opened()
    const closing = {
      ...attached,
      get queues() {
        addon.engineClose(engine)
        return attached.queues
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
