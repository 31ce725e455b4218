// An engine of gpunvme_host with queues of a controller that never responds.
const PAGE = 4096
const IN_FLIGHT = 4

/**
 * @typedef {import('../../src/host/addon.js').HostAddon} HostAddon
 * @typedef {import('../../src/engine/engine-addon.js').NativeMemory} NativeMemory
 * @typedef {import('../../src/engine/engine-addon.js').NativePlan} NativePlan
 * @typedef {import('../../src/engine/engine-addon.js').EngineHandle} EngineHandle
 * @typedef {import('../../src/engine/engine-addon.js').TableHandle} TableHandle
 */

/**
 * Memory for the queues of one engine, allocated until `free`.
 *
 * @typedef {{ addon: HostAddon, at: (page: number, pages: number) => NativeMemory, free: () => void }} EngineMemory
 */

/**
 * An engine, the queues to attach, and a table of 16 KiB of memory.
 *
 * @typedef {object} AddonRig
 * @property {HostAddon} addon
 * @property {EngineHandle} engine
 * @property {Parameters<HostAddon['engineAttach']>[1]} attached one queue, and the registers with its doorbells
 * @property {TableHandle} table
 */

/**
 * @param {HostAddon} addon
 * @returns {EngineMemory}
 */
export function engineMemory(addon) {
  const region = addon.allocate(7 * PAGE, PAGE)
  const address = addon.address(region)
  return {
    addon,
    at: (page, pages) => ({ address: address + BigInt(page * PAGE), lengthBytes: pages * PAGE, onDevice: false }),
    free: () => addon.unmap(region),
  }
}

/**
 * Creates an engine without queues.
 *
 * @param {EngineMemory} memory
 * @returns {AddonRig}
 */
export function detachedRig({ addon, at }) {
  const engine = addon.createEngine(
    { lingerNs: 0, runLimitNs: 0, clock: 0n, forwardsDoorbells: false },
    () => undefined,
  )
  const tableOf = (/** @type {bigint} */ iova, /** @type {number} */ pages) => {
    const table = addon.engineDescribe(engine, BigUint64Array.of(iova), 63, pages * PAGE)
    if (table === null) throw new Error('no room for a table')
    return table
  }
  const queue = {
    ...{ sq: at(2, 1), cq: at(1, 1), prpLists: at(3, IN_FLIGHT), prpListRuns: tableOf(0x10_0000n, IN_FLIGHT) },
    ...{ qid: 1, entries: 8, sqTail: 0, cqHead: 0, phase: 1, maxInFlight: IN_FLIGHT },
    ...{ prpListBytes: PAGE, pageBytes: PAGE, sqTailDoorbell: 0, cqHeadDoorbell: 4 },
    generations: new Uint16Array(IN_FLIGHT),
  }
  const attached = { registers: at(0, 1), registersAreMemory: true, queues: [queue] }
  return { addon, engine, attached, table: tableOf(0x20_0000n, 4) }
}

/**
 * Creates an engine with its queues attached.
 *
 * @param {EngineMemory} memory
 * @returns {AddonRig}
 */
export function attachedRig(memory) {
  const rig = detachedRig(memory)
  rig.addon.engineAttach(rig.engine, rig.attached)
  return rig
}

/**
 * Returns a plan that reads one block.
 *
 * @returns {NativePlan}
 */
export function planOfOneBlock() {
  return {
    ...{ opcode: 2, nsid: 1, blockBytes: 512, commands: 1, timeoutNs: 1000 },
    ...{ slba: Float64Array.of(0), blocks: Uint32Array.of(1) },
    ...{ offsetBytes: Float64Array.of(0), queue: Uint16Array.of(0) },
  }
}
