// A host on its own thread that only loads and stores in shared memory, like a native thread: it rings doorbells with
// stores and sends no wake-up. Unlike the raw host of nvme-sim, it has no transport, and it loads with Atomics.
import { parentPort, workerData } from 'node:worker_threads'

const PAGE = 4096
const MIB = 1024 * 1024
/**
 * Empty polls before the thread yields: for machines with one processor, and for commands that take many polls, since a
 * spinning thread takes half of a core shared with the simulator.
 */
const SPINS = 3_000

const { memory, barOffsetBytes, baseIova, entries, sqOffsetBytes, cqOffsetBytes, slots } = workerData
const sq = new Int32Array(memory, sqOffsetBytes, entries * 16)
// The raw host fills submission queues with ffh; dwords that `writeEntry` does not write must be zero.
sq.fill(0)
const cq = new Int32Array(memory, cqOffsetBytes, entries * 4)
const doorbells = new Int32Array(memory, barOffsetBytes + 0x1000 + 8, 2)
/** A word that no thread notifies, to sleep on. */
const neverNotified = new Int32Array(new SharedArrayBuffer(4))
let tail = 0
let head = 0
let phase = 1

/** Source memory of copies: as large as the media, in pieces of the same size. */
const sources = []

parentPort.on('message', ({ transfer, copy }) => {
  parentPort.postMessage(transfer ? transferAll(transfer) : copyAll(copy))
})

/**
 * Reads (02h) or writes (01h) `commands` times `blocks` blocks of 512 bytes, sequentially over `spanBlocks`, with
 * `depth` in flight. Every status must be success. Returns milliseconds, like every job here.
 */
function transferAll({ opcode, commands, blocks, depth, spanBlocks, spins = SPINS }) {
  writePrpLists(blocks, depth)
  const free = Int32Array.from({ length: depth }, (_, slot) => slot)
  let freeSlots = depth
  let submitted = 0
  let completed = 0
  let slba = 0
  let empty = 0
  const startMs = performance.now()
  while (completed < commands) {
    const from = tail
    while (freeSlots > 0 && submitted < commands) {
      writeEntry(opcode, free[--freeSlots], slba, blocks)
      slba = slba + blocks >= spanBlocks ? 0 : slba + blocks
      submitted++
    }
    if (tail !== from) Atomics.store(doorbells, 0, tail)
    const before = head
    for (;;) {
      const dw3 = Atomics.load(cq, head * 4 + 3)
      if (((dw3 >>> 16) & 1) !== phase) break
      if (dw3 >>> 17 !== 0) throw new Error(`status ${(dw3 >>> 17).toString(16)}`)
      free[freeSlots++] = dw3 & 0xffff
      completed++
      head = head + 1 === entries ? 0 : head + 1
      if (head === 0) phase ^= 1
    }
    if (head !== before) {
      Atomics.store(doorbells, 1, head)
      empty = 0
    } else if (++empty % spins === 0) Atomics.wait(neverNotified, 0, 0, 0.05)
  }
  return performance.now() - startMs
}

function writeEntry(opcode, slot, slba, blocks) {
  const at = tail * 16
  const { data, list } = slots[slot]
  sq[at] = opcode | (slot << 16)
  sq[at + 1] = 1
  setAddress(at + 6, baseIova + data)
  // PRP2 is the address of the second page, or of a list of all further pages.
  setAddress(at + 8, baseIova + (blocks > 16 ? list : data + PAGE))
  sq[at + 10] = slba
  sq[at + 12] = blocks - 1
  tail = tail + 1 === entries ? 0 : tail + 1
}

function setAddress(dword, iova) {
  sq[dword] = iova % 2 ** 32
  sq[dword + 1] = iova / 2 ** 32
}

function writePrpLists(blocks, depth) {
  const pages = Math.ceil((blocks * 512) / PAGE)
  for (const { data, list } of slots.slice(0, depth)) {
    const entriesOfList = new BigUint64Array(memory, list, pages)
    for (let page = 1; page < pages; page++) entriesOfList[page - 1] = BigInt(baseIova + data + page * PAGE)
  }
}

/** Copies the same number of blocks from `spanBytes` of memory into the slots, or into memory of this thread. */
function copyAll({ blockBytes, count, depth, spanBytes, shared }) {
  const target = ({ data }) => (shared ? new Uint8Array(memory, data, blockBytes) : new Uint8Array(blockBytes).fill(1))
  const targets = slots.slice(0, depth).map(target)
  while (sources.length * MIB < spanBytes) sources.push(new Uint8Array(MIB).fill(1))
  const perSource = MIB / blockBytes
  const blocks = spanBytes / blockBytes
  const startMs = performance.now()
  for (let i = 0; i < count; i++) {
    const block = i % blocks
    const at = (block % perSource) * blockBytes
    targets[i % depth].set(sources[Math.floor(block / perSource)].subarray(at, at + blockBytes))
  }
  return performance.now() - startMs
}
