import { CC, CSTS, zeroBased } from '@gpunvme/nvme-spec'
import { deriveProfile, simulate, unverifiableMedia, type SimulationOptions } from '@gpunvme/nvme-sim'
import { EngineFailedError } from '@gpunvme/nvme-spec/engine'
import type { Bar, DmaAllocator, Transport } from '@gpunvme/nvme-spec/transport'
import { afterEach, describe, expect, test } from 'vitest'
import { countedAllocator } from '../test/counted-allocator.js'
import { fillPattern, patternMedia, wrongBytes } from '../test/pattern.js'
import { CommandError } from './commands/errors.js'
import { Controller } from './controller.js'
import { HostEngine } from './engine/host-engine.js'
import { ForeignDataError } from './guard/guard.js'
import { CutBar } from './bring-up/cut-bar.js'

const MIB = 1024 * 1024
let simulation: ReturnType<typeof simulate>
let allocated: ReturnType<typeof countedAllocator>

/** A simulated controller whose allocations are counted; after each test, its diagnostics must be empty. */
function controller(options: SimulationOptions = {}): Transport {
  simulation = simulate(options)
  allocated = countedAllocator(simulation.transport.dma)
  return { ...simulation.transport, dma: allocated }
}
afterEach(() => {
  expect(simulation.diagnostics).toEqual([])
})

describe('bring-up', () => {
  test('ends with a controller that is enabled and identified', async () => {
    const transport = controller({ profile: 'sn740' })
    await using ctrl = await Controller.open(transport)
    expect(CSTS.RDY.of(transport.bar.read32(0x1c))).toBe(1)
    expect(transport.bar.read32(0x14)).toBe(0x00460001)
    expect(ctrl.identity.serial).not.toBe('')
    expect(ctrl.identity.maxTransferBytes).toBe(MIB)
    expect(ctrl.namespaces.map(({ nsid }) => nsid)).toEqual([1])
  })

  test('works on a controller that was left enabled', async () => {
    const transport = controller()
    // As left by a process that was killed.
    await Controller.open({ ...transport, bar: new CutBar(transport.bar) })
    await using ctrl = await Controller.open(transport)
    expect(await ctrl.namespace(1).readBytes(0, 4)).toEqual(new Uint8Array(4))
  })

  test('is undone by close: all memory is freed, and the controller is shut down and disabled', async () => {
    const transport = controller()
    const ctrl = await Controller.open(transport)
    await ctrl.close()
    await ctrl.close()
    expect(CC.EN.of(transport.bar.read32(0x14))).toBe(0)
    expect(CSTS.RDY.of(transport.bar.read32(0x1c))).toBe(0)
    expect(allocated.bytesInUse).toBe(0)
  })

  test('creates as many queues as the controller allows, one of them for single commands', async () => {
    await using ctrl = await Controller.open(controller({ profile: deriveProfile('ideal', { ioQueuePairs: 3 }) }), {
      queues: 8,
      queueDepth: 7,
    })
    expect(ctrl.queues).toBe(2)
    expect(ctrl.queueDepth).toBe(7)
  })

  test('honours a doorbell stride and a smaller MQES', async () => {
    const profile = deriveProfile('ideal', { CAP: { DSTRD: 3, MQES: zeroBased(5) } })
    await using ctrl = await Controller.open(controller({ profile }), { queues: 2 })
    // The largest power of two that it allows is 4.
    expect(ctrl.queueDepth).toBe(3)
    await ctrl.namespace(1).readBytes(0, 64 * 1024)
  })

  test('opens no more queues on a shared completion queue than it has room for', async () => {
    const profile = deriveProfile('ideal', { CAP: { MQES: zeroBased(4) } })
    await using ctrl = await Controller.open(controller({ profile }), { queues: 8, completionQueues: 2 })
    expect([ctrl.queues, ctrl.queueDepth]).toEqual([6, 1])
    await ctrl.namespace(1).readBytes(0, 64 * 1024)
  })

  test('lists the active namespaces in the error of a missing one', async () => {
    await using ctrl = await Controller.open(controller())
    expect(() => ctrl.namespace(7)).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_NAMESPACE_NOT_FOUND' }))
    expect(() => ctrl.namespace(7)).toThrow('active: 1')
  })

  test.each([
    { queues: 0 },
    { queueDepth: 0 },
    { queueDepth: 5000 },
    { queueDepth: 1.5 },
    { maxTransferBytes: 512 },
    { commandTimeoutNs: NaN },
    { readyTimeoutNs: Infinity },
  ])('rejects %o before any access to the controller', async (options) => {
    const transport = controller()
    await expect(Controller.open(transport, options)).rejects.toThrow(RangeError)
    expect(allocated.bytesInUse).toBe(0)
  })

  test('rejects reads of a closed handle', async () => {
    const ctrl = await Controller.open(controller())
    await ctrl.close()
    await expect(ctrl.namespace(1).readBytes(0, 1)).rejects.toMatchObject({ code: 'ERR_GPUNVME_CONTROLLER_CLOSED' })
  })
})

describe.each([512, 4096] as const)('reading, %i-byte blocks', (blockBytes) => {
  const namespaces = [{ nsid: 3, blockBytes, media: patternMedia(64 * MIB) }]

  test.each([
    ['one block', 5, 1],
    ['up to the page boundary', 8, 8],
    ['two pages', 16, 16],
    ['a PRP list', 1, 200],
    ['many commands', 7, 3000],
  ])('%s', async (_, slba, blocks) => {
    await using ctrl = await Controller.open(controller({ profile: 'sn740', namespaces }), { queues: 3, queueDepth: 4 })
    const ns = ctrl.namespace(3)
    const memory = ns.dma.alloc(blocks * blockBytes)
    await ns.read(slba, blocks, memory)
    expect(wrongBytes(memory, slba * blockBytes)).toBe(0)
  })

  test('the last block, but none beyond it', async () => {
    await using ctrl = await Controller.open(controller({ namespaces }))
    const ns = ctrl.namespace(3)
    const memory = ns.dma.alloc(2 * blockBytes)
    await ns.read(ns.blocks - 1, 1, memory)
    await expect(ns.read(ns.blocks - 1, 2, memory)).rejects.toMatchObject({ code: 'ERR_GPUNVME_LBA_RANGE' })
  })

  test('into memory of scattered pages, at an offset', async () => {
    await using ctrl = await Controller.open(controller({ namespaces, fragmented: true }))
    const ns = ctrl.namespace(3)
    const memory = ns.dma.alloc(MIB + 8192)
    await ns.read(9, MIB / blockBytes, memory, { offsetBytes: 8192 })
    expect(wrongBytes(memory, 9 * blockBytes, 8192)).toBe(0)
  })

  test('commands larger than one page of PRP entries can list', async () => {
    const options = { maxTransferBytes: 8 * MIB, queueDepth: 2 }
    const profile = deriveProfile('ideal', { identify: { MDTS: 0 } })
    await using ctrl = await Controller.open(controller({ profile, namespaces, fragmented: true }), options)
    const ns = ctrl.namespace(3)
    const memory = ns.dma.alloc(16 * MIB)
    await ns.read(0, (16 * MIB) / blockBytes, memory)
    expect(wrongBytes(memory, 0)).toBe(0)
  })
})

test('movesData is false if transfers complete without moving data', async () => {
  await using moving = await Controller.open(controller())
  expect(moving.namespace(1).movesData).toBeUndefined()
  const media = unverifiableMedia({ capacityBytes: MIB })
  await using still = await Controller.open(controller({ namespaces: [{ media }] }))
  const memory = allocated.alloc(4096)
  fillPattern(memory, 0)
  await still.namespace(1).read(0, 8, memory)
  expect([still.namespace(1).movesData, wrongBytes(memory, 0)]).toEqual([false, 0])
  memory.free()
})

describe('writing', () => {
  const serial = 'SIM00001'
  const profile = deriveProfile('ideal', { identify: { SN: serial } })

  test('is absent unless requested', async () => {
    await using ctrl = await Controller.open(controller())
    expect('write' in ctrl.namespace(1)).toBe(false)
    const plan = {
      ...ctrl.namespace(1).planReads([{ slba: 0, blocks: 1, offsetBytes: 0 }]),
      operation: 'write' as const,
    }
    await expect(ctrl.namespace(1).execute(plan, ctrl.namespace(1).dma.alloc(512))).rejects.toThrow('only reads')
  })

  test('requires the serial number of the controller', async () => {
    const transport = controller({ profile })
    await expect(Controller.open(transport, { write: { serial: 'OTHER' } })).rejects.toMatchObject({
      code: 'ERR_GPUNVME_SERIAL_MISMATCH',
    })
    expect(allocated.bytesInUse).toBe(0)
  })

  test('is read back after flush, by a controller that is opened anew', async () => {
    const transport = controller({ profile })
    {
      await using ctrl = await Controller.open(transport, { write: { serial } })
      const ns = ctrl.namespace(1)
      const memory = ns.dma.alloc(3 * MIB)
      fillPattern(memory, 12345)
      await ns.write(777, (3 * MIB) / 512, memory)
      await ns.flush()
      memory.free()
    }
    await using again = await Controller.open(transport)
    const memory = again.namespace(1).dma.alloc(3 * MIB)
    await again.namespace(1).read(777, (3 * MIB) / 512, memory)
    expect(wrongBytes(memory, 12345)).toBe(0)
  })

  test('rejects a plan with an invalid operation from an untyped caller', async () => {
    const transport = controller({ profile })
    await using ctrl = await Controller.open(transport, { write: { serial } })
    const ns = ctrl.namespace(1)
    const plan = { ...ns.planWrites([{ slba: 0, blocks: 1, offsetBytes: 0 }]), operation: 'Write' as 'write' }
    await expect(ns.execute(plan, ns.dma.alloc(512))).rejects.toThrow(`plan.operation: expected 'read' or 'write'`)
    expect(simulation.statistics.bytesWritten).toBe(0)
  })

  test('is refused over a file system unless it is named in overwrite', async () => {
    const transport = controller({ profile })
    {
      await using first = await Controller.open(transport, { write: { serial } })
      const memory = first.namespace(1).dma.alloc(4096)
      memory.view!.setUint16(1080, 0xef53, true)
      await first.namespace(1).write(0, 8, memory)
    }
    {
      await using second = await Controller.open(transport, { write: { serial } })
      const memory = second.namespace(1).dma.alloc(512)
      await expect(second.namespace(1).write(0, 1, memory)).rejects.toThrow(ForeignDataError)
      await expect(second.namespace(1).write(5000, 1, memory)).rejects.toThrow('ext2/3/4 (signature at byte 1080)')
    }
    await using third = await Controller.open(transport, { write: { serial, overwrite: ['ext2/3/4'] } })
    await third.namespace(1).write(0, 1, third.namespace(1).dma.alloc(512))
  })
})

/** Returns the transport with changed register accesses. */
function withBar(transport: Transport, change: Partial<Bar>): Transport {
  const { bar } = transport
  return {
    ...transport,
    bar: {
      lengthBytes: bar.lengthBytes,
      read32: (offset) => bar.read32(offset),
      read64: (offset) => bar.read64(offset),
      write32: (offset, value) => bar.write32(offset, value),
      write64: (offset, value) => bar.write64(offset, value),
      ...change,
    },
  }
}

/** Returns the transport without reset(). */
function withoutReset(transport: Transport): Transport {
  const other = { ...transport }
  delete other.reset
  return other
}

describe('a controller that cannot be disabled', () => {
  const faults = {
    rules: [
      { match: { qid: 1, nth: 1 }, action: { kind: 'hang' } as const },
      { match: { qid: 0, opcode: 8 }, action: { kind: 'hang' } as const },
      { match: { qid: 0, opcode: 0 }, action: { kind: 'hang' } as const },
    ],
  }
  let stuck = false

  /** Returns a transport that drops writes which clear CC.EN while `stuck` is true. */
  function stubborn(options: SimulationOptions): Transport {
    stuck = false
    const transport = controller(options)
    return withBar(transport, {
      write32: (offset, value) => {
        if (!(stuck && offset === 0x14 && CC.EN.of(value) === 0)) transport.bar.write32(offset, value)
      },
    })
  }

  test('is lost, and keeps its own memory and that of the command without a completion', async () => {
    const transport = stubborn({ faults })
    const ctrl = await Controller.open(withoutReset(transport), { readyTimeoutNs: 1e9 })
    stuck = true
    const before = allocated.bytesInUse
    await expect(ctrl.namespace(1).readBytes(0, 4096)).rejects.toThrow('the controller was lost')
    expect(allocated.bytesInUse).toBe(before + 4096)
  })

  test('makes close fail, which then frees no memory', async () => {
    const ctrl = await Controller.open(stubborn({}), { readyTimeoutNs: 1e9 })
    stuck = true
    const before = allocated.bytesInUse
    await expect(ctrl.close()).rejects.toMatchObject({ code: 'ERR_GPUNVME_NOT_READY' })
    expect(allocated.bytesInUse).toBe(before)
  })
})

test('a shutdown that does not complete is an error, but all memory is freed', async () => {
  const transport = controller()
  const never = (offset: number) => transport.bar.read32(offset) & (offset === 0x1c ? ~0xc : ~0)
  const ctrl = await Controller.open(withBar(transport, { read32: never }))
  await expect(ctrl.close()).rejects.toMatchObject({ code: 'ERR_GPUNVME_SHUTDOWN_INCOMPLETE' })
  expect(CC.EN.of(transport.bar.read32(0x14))).toBe(0)
  expect(allocated.bytesInUse).toBe(0)
})

test('open frees its earlier allocations, whichever allocation fails', async () => {
  let needed = Infinity
  for (let failing = 0; failing <= needed; failing++) {
    const transport = controller()
    let count = 0
    const dma: DmaAllocator = {
      alloc(lengthBytes, request) {
        if (++count === failing) throw new RangeError('no memory left')
        return allocated.alloc(lengthBytes, request)
      },
    }
    const opening = Controller.open({ ...transport, dma })
    if (failing === 0) {
      await (await opening).close()
      needed = count
      continue
    }
    await expect(opening).rejects.toThrow('no memory left')
    expect(allocated.bytesInUse).toBe(0)
  }
})

test('an engine can be used again after the controller it served was closed', async () => {
  const transport = controller()
  const engine = new HostEngine(transport)
  const first = await Controller.open(transport, { engine })
  await first.namespace(1).readBytes(0, 1)
  await first.close()
  await using second = await Controller.open(transport, { engine })
  expect(await second.namespace(1).readBytes(0, 1)).toEqual(new Uint8Array(1))
})

test('close disables the controller but keeps its memory if the engine fails to detach', async () => {
  const transport = controller()
  const engine = new HostEngine(transport)
  const ctrl = await Controller.open(transport, { engine })
  engine.detach = () => {
    throw new EngineFailedError(engine.name, 'a thread does not end')
  }
  const held = allocated.bytesInUse
  await expect(ctrl.close()).rejects.toThrow("The engine 'host' lost its transport: a thread does not end")
  expect(transport.bar.read32(0x1c) & 1).toBe(0) // CSTS.RDY
  expect(allocated.bytesInUse).toBe(held)
})

test('the write guard repeats a failed check at the next write', async () => {
  const serial = 'SIM00001'
  const profile = deriveProfile('ideal', { identify: { SN: serial } })
  const faults = {
    rules: [{ match: { qid: 1, opcode: 2, nth: 1 }, action: { kind: 'status', sct: 2, sc: 0x81, dnr: true } as const }],
  }
  await using ctrl = await Controller.open(controller({ profile, faults }), { write: { serial } })
  const memory = ctrl.namespace(1).dma.alloc(512)
  await expect(ctrl.namespace(1).write(0, 1, memory)).rejects.toThrow('Unrecovered Read Error')
  await ctrl.namespace(1).write(0, 1, memory)
})

test('a failed Admin command is a CommandError with its status', async () => {
  const faults = { rules: [{ match: { qid: 0, opcode: 0x06 }, action: { kind: 'status', sct: 0, sc: 0x06 } as const }] }
  const refusal = Controller.open(controller({ faults }))
  await expect(refusal).rejects.toThrow(CommandError)
  await expect(refusal).rejects.toThrow('Identify failed: Internal Error (SCT 0h SC 06h)')
  expect(allocated.bytesInUse).toBe(0)
})
