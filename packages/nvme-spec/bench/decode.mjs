// Decoding queue entries and Identify data through the declared views, compared with hand-written code.
// Alone: node packages/nvme-spec/bench/decode.mjs
import { pathToFileURL } from 'node:url'
import { CQE, IdentifyController, Read } from '@gpunvme/nvme-spec'
import { garbageOf } from './lib/garbage.mjs'
import { print, versus } from './lib/versus.mjs'

const ENTRIES = 1024

/**
 * Returns pseudo-random bytes, which a compiler cannot predict, and which are the same in every run.
 * @type {(lengthBytes: number) => DataView}
 */
function noise(lengthBytes) {
  let state = 0x9e37_79b9
  const bytes = Uint8Array.from({ length: lengthBytes }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state >>> 24
  })
  return new DataView(bytes.buffer)
}

/**
 * Compares two functions that sum the values they read. The sums must be equal, and no read can be optimized away.
 * @type {(name: string, declared: (count: number) => number, byHand: (count: number) => number, options?: { perRound?: number, limit?: number }) => import('./lib/versus.mjs').Figure}
 */
function reading(name, declared, byHand, options) {
  if (declared(ENTRIES) !== byHand(ENTRIES))
    throw new Error(`${name}: the view and the hand-written code read different values`)
  return versus(
    `${name} through the declared view, compared with hand-written DataView code`,
    declared,
    byHand,
    options,
  )
}

const sqes = noise(ENTRIES * 64)
const read = Read.view(sqes)

/** @type {(count: number) => number} */
function sqeByView(count) {
  let sum = 0
  for (let i = 0; i < count; i++) {
    const entry = read.at(i % ENTRIES)
    sum = (sum + entry.CID + entry.NSID + entry.PRP1 + entry.PRP2 + entry.SLBA + entry.NLB + entry.FUA) % 0x1_0000_0000
  }
  return sum
}

/** @type {(count: number) => number} */
function sqeByHand(count) {
  let sum = 0
  for (let i = 0; i < count; i++) {
    const at = (i % ENTRIES) * 64
    sum =
      (sum +
        sqes.getUint16(at + 2, true) +
        sqes.getUint32(at + 4, true) +
        (sqes.getUint32(at + 24, true) + sqes.getUint32(at + 28, true) * 0x1_0000_0000) +
        (sqes.getUint32(at + 32, true) + sqes.getUint32(at + 36, true) * 0x1_0000_0000) +
        (sqes.getUint32(at + 40, true) + sqes.getUint32(at + 44, true) * 0x1_0000_0000) +
        sqes.getUint16(at + 48, true) +
        ((sqes.getUint32(at + 48, true) >>> 30) & 1)) %
      0x1_0000_0000
  }
  return sum
}

const cqes = noise(ENTRIES * 16)
const cqe = CQE.view(cqes)
const { P, SC, SCT, DNR } = CQE.STATUS

/** @type {(count: number) => number} */
function cqeByView(count) {
  let sum = 0
  for (let i = 0; i < count; i++) {
    const entry = cqe.at(i % ENTRIES)
    const status = entry.STATUS
    sum =
      ((sum + entry.DW0 + entry.SQHD + entry.SQID + entry.CID) % 0x1_0000_0000) +
      (P.of(status) + SC.of(status) + SCT.of(status) + DNR.of(status))
  }
  return sum
}

/** @type {(count: number) => number} */
function cqeByHand(count) {
  let sum = 0
  for (let i = 0; i < count; i++) {
    const at = (i % ENTRIES) * 16
    const status = cqes.getUint16(at + 14, true)
    sum =
      ((sum +
        cqes.getUint32(at, true) +
        cqes.getUint16(at + 8, true) +
        cqes.getUint16(at + 10, true) +
        cqes.getUint16(at + 12, true)) %
        0x1_0000_0000) +
      ((status & 1) + ((status >>> 1) & 0xff) + ((status >>> 9) & 7) + ((status >>> 15) & 1))
  }
  return sum
}

// Fields of Identify Controller that bring-up may use.
const dumps = noise(16 * 4096)
const controller = IdentifyController.view(dumps)

/** @type {(count: number) => number} */
function identifyByView(count) {
  let sum = 0
  for (let i = 0; i < count; i++) {
    const id = controller.at(i % 16)
    sum =
      ((sum + id.VID + id.SSVID + id.RAB + id.MDTS + id.CNTLID + id.VER + id.RTD3R + id.OAES + id.CTRATT + id.OACS) %
        0x1_0000_0000) +
      (id.ACL + id.AERL + id.FRMW + id.LPA + id.ELPE + id.NPSS + id.WCTEMP + id.CCTEMP + id.HMPRE + id.HMMIN) +
      (id.SQES + id.CQES + id.MAXCMD + id.NN + id.ONCS + id.FUSES + id.FNA + id.VWC + id.AWUN + id.AWUPF + id.SGLS)
  }
  return sum
}

/** @type {(count: number) => number} */
function identifyByHand(count) {
  let sum = 0
  for (let i = 0; i < count; i++) {
    const at = (i % 16) * 4096
    sum =
      ((sum +
        dumps.getUint16(at, true) +
        dumps.getUint16(at + 2, true) +
        dumps.getUint8(at + 72) +
        dumps.getUint8(at + 77) +
        dumps.getUint16(at + 78, true) +
        dumps.getUint32(at + 80, true) +
        dumps.getUint32(at + 84, true) +
        dumps.getUint32(at + 92, true) +
        dumps.getUint32(at + 96, true) +
        dumps.getUint16(at + 256, true)) %
        0x1_0000_0000) +
      (dumps.getUint8(at + 258) +
        dumps.getUint8(at + 259) +
        dumps.getUint8(at + 260) +
        dumps.getUint8(at + 261) +
        dumps.getUint8(at + 262) +
        dumps.getUint8(at + 263) +
        dumps.getUint16(at + 266, true) +
        dumps.getUint16(at + 268, true) +
        dumps.getUint32(at + 272, true) +
        dumps.getUint32(at + 276, true)) +
      (dumps.getUint8(at + 512) +
        dumps.getUint8(at + 513) +
        dumps.getUint16(at + 514, true) +
        dumps.getUint32(at + 516, true) +
        dumps.getUint16(at + 520, true) +
        dumps.getUint16(at + 522, true) +
        dumps.getUint8(at + 524) +
        dumps.getUint8(at + 525) +
        dumps.getUint16(at + 526, true) +
        dumps.getUint16(at + 528, true) +
        dumps.getUint32(at + 536, true))
  }
  return sum
}

/** Functions that the garbage meter runs. */
export const works = { sqeByView, cqeByView, identifyByView }

export function bench() {
  const garbage = garbageOf(import.meta.url)
  return Promise.resolve([
    reading('Decoding one Read SQE', sqeByView, sqeByHand),
    garbage('Garbage of decoding Read SQEs, over a million entries', 'sqeByView'),
    reading('Decoding one CQE with its status', cqeByView, cqeByHand),
    garbage('Garbage of decoding CQEs, over a million entries', 'cqeByView'),
    reading('Decoding 31 numbers of Identify Controller that bring-up may use,', identifyByView, identifyByHand),
    garbage('Garbage of decoding Identify Controller, over a million structures', 'identifyByView'),
  ])
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) print(await bench())
