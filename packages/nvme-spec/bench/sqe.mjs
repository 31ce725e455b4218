// One Read submission queue entry: written through the declared view, and by hand with a DataView.
// Alone: node --expose-gc packages/nvme-spec/bench/sqe.mjs
import { pathToFileURL } from 'node:url'
import { Read, zeroBased } from '@gpunvme/nvme-spec'

const ENTRIES = 1024
const PER_ROUND = 1_000_000
const ROUNDS = 15
const NLB = zeroBased(256)

// Where the values come from: memory, so that a compiler cannot know them to be integers and leave checks out.
const prp1 = Float64Array.from({ length: ENTRIES }, (_, slot) => 0x1_2345_6000 + slot * 4096)
const prp2 = Float64Array.from({ length: ENTRIES }, (_, slot) => 0x1_4345_6000 + slot * 4096)
const slba = Float64Array.from({ length: ENTRIES }, (_, slot) => 0x2_0000_0000 + slot * 256)

/**
 * @typedef {{ name: string, value: number, unit: string, goal: string, met: boolean, note?: string }} Figure
 * @typedef {ReturnType<typeof Read.view>} ReadView
 */

/** @type {(read: ReadView, count: number) => void} */
function throughView(read, count) {
  for (let i = 0; i < count; i++) {
    const slot = i % ENTRIES
    const entry = read.at(slot).begin(i & 0xffff)
    entry.NSID = 1
    entry.PRP1 = prp1[slot]
    entry.PRP2 = prp2[slot]
    entry.SLBA = slba[slot]
    entry.NLB = NLB
  }
}

/** The same 64 bytes as someone would write them who trusts every value: each dword once, nothing checked. */
/** @type {(data: DataView, at: number, cid: number, prp1: number, prp2: number, slba: number) => void} */
function writeRead(data, at, cid, prp1, prp2, slba) {
  data.setUint32(at, 0x02 | (cid << 16), true)
  data.setUint32(at + 4, 1, true)
  data.setUint32(at + 8, 0, true)
  data.setUint32(at + 12, 0, true)
  data.setUint32(at + 16, 0, true)
  data.setUint32(at + 20, 0, true)
  data.setUint32(at + 24, prp1, true)
  data.setUint32(at + 28, prp1 / 0x1_0000_0000, true)
  data.setUint32(at + 32, prp2, true)
  data.setUint32(at + 36, prp2 / 0x1_0000_0000, true)
  data.setUint32(at + 40, slba, true)
  data.setUint32(at + 44, slba / 0x1_0000_0000, true)
  data.setUint32(at + 48, NLB, true)
  data.setUint32(at + 52, 0, true)
  data.setUint32(at + 56, 0, true)
  data.setUint32(at + 60, 0, true)
}

/** @type {(data: DataView, count: number) => void} */
function byHand(data, count) {
  for (let i = 0; i < count; i++) {
    const slot = i % ENTRIES
    writeRead(data, slot * 64, i & 0xffff, prp1[slot], prp2[slot], slba[slot])
  }
}

/** @type {<T>(work: (target: T, count: number) => void, target: T) => number} nanoseconds per entry */
function time(work, target) {
  const start = process.hrtime.bigint()
  work(target, PER_ROUND)
  return Number(process.hrtime.bigint() - start) / PER_ROUND
}

/** @type {(read: ReadView) => number} bytes of heap per entry */
function garbage(read) {
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  throughView(read, PER_ROUND)
  return Math.max(0, process.memoryUsage().heapUsed - before) / PER_ROUND
}

/**
 * Rounds of the two alternate, and the best of each counts: what else the machine does only ever adds time.
 * The garbage figure wants --expose-gc: without it a collection in the middle would hide what it collected.
 * @returns {Promise<Figure[]>}
 */
export async function bench() {
  const viewMemory = new DataView(new ArrayBuffer(ENTRIES * 64))
  const handMemory = new DataView(new ArrayBuffer(ENTRIES * 64))
  const read = Read.view(viewMemory)
  let viewNs = Infinity
  let handNs = Infinity
  for (let round = 0; round < ROUNDS; round++) {
    viewNs = Math.min(viewNs, time(throughView, read))
    handNs = Math.min(handNs, time(byHand, handMemory))
  }
  if (Buffer.compare(new Uint8Array(viewMemory.buffer), new Uint8Array(handMemory.buffer)) !== 0) {
    throw new Error('the view and the hand-written code wrote different entries')
  }
  const ratio = viewNs / handNs
  const bytes = garbage(read)
  return [
    {
      name: 'Encoding one Read SQE through the declared view, against hand-written DataView code',
      value: ratio,
      unit: '×',
      goal: '≤ 1.3',
      met: ratio <= 1.3,
      note: `${viewNs.toFixed(1)} ns against ${handNs.toFixed(1)} ns`,
    },
    {
      name: 'Garbage of it, over a million commands',
      value: bytes,
      unit: 'bytes a command',
      goal: '< 1',
      met: bytes < 1,
    },
  ]
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const { name, value, unit, goal, met } of await bench()) {
    process.stdout.write(`${name}: ${value.toFixed(3)} ${unit} (goal: ${goal}${met ? '' : ', MISSED'})\n`)
  }
}
