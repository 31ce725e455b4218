// A controller that completes every command within its doorbell write and moves no data: only the driver is measured.

const BLOCK_BYTES = 512
const PAGE_BYTES = 4096

/** Returns memory at a given device address, with the interface of `DmaMemory`. */
function memory(lengthBytes, iova) {
  return {
    lengthBytes,
    view: new DataView(new ArrayBuffer(lengthBytes)),
    segments: [{ offsetBytes: 0, iova, lengthBytes }],
    iovaAt: (offsetBytes) => iova + offsetBytes,
    forDevice() {},
    forHost() {},
    free() {},
  }
}

/** Returns a queue pair of `depth` commands of up to `transferBytes`, and a transport that completes its commands. */
export function nullController({ depth, transferBytes, sgl }) {
  const entries = depth + 1
  const prpListBytes = transferBytes > 2 * PAGE_BYTES ? PAGE_BYTES * Math.ceil(transferBytes / (512 * PAGE_BYTES)) : 0
  const sq = memory(entries * 64, 0x10_0000)
  const cqMemory = memory(entries * 16, 0x20_0000)
  const queue = {
    qid: 1,
    sqEntries: entries,
    sq,
    cq: { cqid: 1, entries, memory: cqMemory, headDoorbell: 0x100c, head: 0, phase: 1 },
    maxInFlight: depth,
    prpLists: memory(Math.max(PAGE_BYTES, depth * prpListBytes), 0x30_0000),
    prpListBytes,
    pageBytes: PAGE_BYTES,
    ...(sgl && { sgl }),
    sqTailDoorbell: 0x1008,
    sqTail: 0,
    generations: new Uint16Array(depth),
  }
  let fetched = 0
  let posted = 0
  let phase = 1
  const bar = {
    lengthBytes: 0x4000,
    read32: () => 1,
    read64: () => 1n,
    write64() {},
    write32(offset, value) {
      if (offset !== 0x1008) return
      while (fetched !== value) {
        const cid = sq.view.getUint16(fetched * 64 + 2, true)
        fetched = fetched + 1 === entries ? 0 : fetched + 1
        const at = posted * 16
        cqMemory.view.setUint16(at + 10, 1, true)
        cqMemory.view.setUint32(at + 12, cid | (phase << 16), true)
        posted = posted + 1 === entries ? 0 : posted + 1
        if (posted === 0) phase ^= 1
      }
    },
  }
  let now = 0
  const clock = { now: () => (now += 1), idle: () => Promise.resolve() }
  return { transport: { bar, clock }, queue }
}

/** Returns a plan of `commands` reads of `lengthBytes`, each into the memory of its slot. */
export function readPlan({ commands, lengthBytes, slots }) {
  const blocks = lengthBytes / BLOCK_BYTES
  return {
    operation: 'read',
    nsid: 1,
    blockBytes: BLOCK_BYTES,
    commands,
    slba: Float64Array.from({ length: commands }, (_, index) => (index * blocks) % 2 ** 20),
    blocks: new Uint32Array(commands).fill(blocks),
    offsetBytes: Float64Array.from({ length: commands }, (_, index) => (index % slots) * lengthBytes),
    queue: new Uint16Array(commands),
  }
}

/** Returns memory to read into. */
export const target = (lengthBytes) => memory(lengthBytes, 0x1000_0000)
