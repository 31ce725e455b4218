import type { EngineAddon, EngineHandle, NativeMemory, NativePlan, TableHandle } from '../../src/engine/engine-addon.js'
import { loadAddon, type HostAddon } from '../../src/host/addon.js'

const PAGE = 4096
const IN_FLIGHT = 4

/** Memory for the queues of one engine, which stays until `free`. */
export interface EngineMemory {
  readonly addon: HostAddon
  readonly at: (page: number, pages: number) => NativeMemory
  readonly free: () => void
}

/** An engine, and what it attaches: one completion queue and one submission queue. */
export interface AddonRig {
  readonly addon: HostAddon
  readonly engine: EngineHandle
  readonly queues: Parameters<EngineAddon['engineAttach']>[1]
  /** Of 16 KiB of memory. */
  readonly table: TableHandle
}

export function engineMemory(addon: HostAddon = loadAddon()): EngineMemory {
  const region = addon.allocate(7 * PAGE, PAGE)
  const address = addon.address(region)
  return {
    addon,
    at: (page, pages) => ({ address: address + BigInt(page * PAGE), lengthBytes: pages * PAGE, onDevice: false }),
    free: () => addon.unmap(region),
  }
}

/** Layouts of queues whose controller never answers. Nothing is attached yet. */
export function layout({ addon, at }: EngineMemory): AddonRig {
  const engine = addon.createEngine({ lingerNs: 0, runLimitNs: 0, clock: 0n }, () => undefined)
  const lists = addon.engineDescribe(engine, BigUint64Array.of(0x10_0000n), 63, IN_FLIGHT * PAGE)!
  const pair = {
    ...{ sq: at(2, 1), prpLists: at(3, IN_FLIGHT), prpListRuns: lists },
    ...{ qid: 1, sqEntries: 8, sqTail: 0, maxInFlight: IN_FLIGHT, slotBits: 2, prpListBytes: PAGE, pageBytes: PAGE },
    ...{ sqTailDoorbell: 0, generations: new Uint16Array(IN_FLIGHT) },
  }
  const leader = { cq: at(1, 1), cqEntries: 4, cqHead: 0, phase: 1, headDoorbell: 4, pairs: [pair] }
  const table = addon.engineDescribe(engine, BigUint64Array.of(0x20_0000n), 63, 4 * PAGE)!
  return { addon, engine, queues: { registers: at(0, 1), registersAreMemory: true, leaders: [leader] }, table }
}

export function attached(memory: EngineMemory): AddonRig {
  const rig = layout(memory)
  rig.addon.engineAttach(rig.engine, rig.queues)
  return rig
}

/** A read of one block. */
export function plan(): NativePlan {
  return {
    ...{ opcode: 2, nsid: 1, blockBytes: 512, commands: 1, timeoutNs: 1000 },
    ...{ slba: Float64Array.of(0), blocks: Uint32Array.of(1) },
    ...{ offsetBytes: Float64Array.of(0), queue: Uint16Array.of(0) },
  }
}
