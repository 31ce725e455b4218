// Cost of decoding entries and structures into objects and text, as `gpunvme nvme decode` does. A fast driver uses the
// views instead, so these figures have no goal.
// Alone: node packages/nvme-spec/bench/decoded-objects.mjs
import { isDeepStrictEqual } from 'node:util'
import { pathToFileURL } from 'node:url'
import { CQE, decodeCqe, decodeSqe, formatSqe, IdentifyController, Read, STATUS, zeroBased } from '@gpunvme/nvme-spec'
import { cost, costBeside, kept, print } from './lib/versus.mjs'

const ENTRIES = 1024

const sqes = new DataView(new ArrayBuffer(ENTRIES * 64))
const read = Read.view(sqes)
for (let i = 0; i < ENTRIES; i++) {
  const entry = read.at(i).begin(i)
  entry.NSID = 1
  entry.PRP1 = 0x1_2345_6000 + i * 4096
  entry.PRP2 = i % 2 === 0 ? 0 : 0x1_4345_6000 + i * 4096
  entry.SLBA = 0x2_0000_0000 + i * 8
  entry.NLB = zeroBased(8)
  entry.FUA = i % 8 === 0 ? 1 : 0
}

// One entry in eight has an error status; all named statuses occur in turn.
const cqes = new DataView(new ArrayBuffer(ENTRIES * 16))
const cqe = CQE.view(cqes)
const statuses = Object.values(STATUS)
for (let i = 0; i < ENTRIES; i++) {
  const entry = cqe.at(i)
  const { sct, sc } = i % 8 === 0 ? statuses[(i / 8) % statuses.length] : STATUS.SUCCESS
  entry.SQHD = i
  entry.SQID = 1
  entry.CID = i
  entry.STATUS = ((i >>> 9) & 1) | (sc << 1) | (sct << 9)
}

/** @type {(data: DataView, at: number) => number} */
const qword = (data, at) => data.getUint32(at, true) + data.getUint32(at + 4, true) * 0x1_0000_0000

/**
 * Decodes a Read to the same object as `decodeSqe`, but supports no other command and drops reserved bits.
 * @type {(data: DataView, at: number) => import('@gpunvme/nvme-spec').DecodedSqe}
 */
function decodeReadByHand(data, at) {
  const dword0 = data.getUint32(at, true)
  const dword12 = data.getUint32(at + 48, true)
  const dsm = data.getUint8(at + 52)
  return {
    command: 'Read',
    set: 'nvm',
    fields: {
      OPC: dword0 & 0xff,
      FUSE: (dword0 >>> 8) & 3,
      PSDT: (dword0 >>> 14) & 3,
      CID: dword0 >>> 16,
      NSID: data.getUint32(at + 4, true),
      MPTR: qword(data, at + 16),
      PRP1: qword(data, at + 24),
      PRP2: qword(data, at + 32),
      SLBA: qword(data, at + 40),
      NLB: dword12 & 0xffff,
      CETYPE: (dword12 >>> 16) & 0xf,
      STC: (dword12 >>> 24) & 1,
      PRINFO: {
        RTCHK: (dword12 >>> 26) & 1,
        ATCHK: (dword12 >>> 27) & 1,
        GRDCHK: (dword12 >>> 28) & 1,
        PRACT: (dword12 >>> 29) & 1,
      },
      FUA: (dword12 >>> 30) & 1,
      LR: dword12 >>> 31,
      DSM: { AF: dsm & 0xf, AL: (dsm >>> 4) & 3, SEQREQ: (dsm >>> 6) & 1, INCPRS: dsm >>> 7 },
      ELBTU2: data.getUint16(at + 8, true),
      ELBTU3: data.getUint32(at + 12, true),
      ELBTL: data.getUint32(at + 56, true),
      ELBAT: data.getUint16(at + 60, true),
      ELBATM: data.getUint16(at + 62, true),
    },
  }
}

const statusNames = new Map(statuses.map(({ sct, sc, name }) => [(sct << 8) | sc, name]))

/** @type {(data: DataView, at: number) => import('@gpunvme/nvme-spec').DecodedCqe} */
function decodeCqeByHand(data, at) {
  const status = data.getUint16(at + 14, true)
  const sct = (status >>> 9) & 7
  const sc = (status >>> 1) & 0xff
  return {
    DW0: data.getUint32(at, true),
    DW1: data.getUint32(at + 4, true),
    SQHD: data.getUint16(at + 8, true),
    SQID: data.getUint16(at + 10, true),
    CID: data.getUint16(at + 12, true),
    P: /** @type {0 | 1} */ (status & 1),
    status: {
      sct,
      sc,
      name: statusNames.get((sct << 8) | sc) ?? `SCT ${sct}h SC ${sc.toString(16)}h`,
      crd: (status >>> 12) & 3,
      more: (status & 0x4000) !== 0,
      dnr: (status & 0x8000) !== 0,
    },
  }
}

/** @type {(decode: (slot: number) => unknown) => import('./lib/versus.mjs').Work} */
function eachEntry(decode) {
  return (count) => {
    for (let i = 0; i < count; i++) kept.last = decode(i % ENTRIES)
  }
}

/**
 * @type {(name: string, declared: (slot: number) => unknown, byHand: (slot: number) => unknown, rival: string) => import('./lib/versus.mjs').Figure}
 */
function beside(name, declared, byHand, rival) {
  for (let slot = 0; slot < ENTRIES; slot++) {
    if (!isDeepStrictEqual(declared(slot), byHand(slot)))
      throw new Error(`${name}: the hand-written code decodes entry ${slot} to something else`)
  }
  return costBeside(name, eachEntry(declared), eachEntry(byHand), { perRound: 50_000, rival })
}

/** @type {() => import('./lib/versus.mjs').Figure} */
function identify() {
  const dump = IdentifyController.create({ SN: 'S1', MN: 'A model', FR: '1.0', VID: 0x15b7, OACS: { FNVMS: 1 } }).data
  const count = (/** @type {unknown} */ value) =>
    /** @type {number} */ (
      JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? 0 : item)).match(/":(?![{[])/g)?.length
    )
  return cost(
    'Decoding Identify Controller into a plain object',
    (times) => {
      for (let i = 0; i < times; i++) kept.last = IdentifyController.decode(dump)
    },
    {
      perRound: 200,
      unit: 'µs',
      note: `${count(IdentifyController.decode(dump))} values; no goal: drivers use the view`,
    },
  )
}

export function bench() {
  return Promise.resolve([
    beside(
      'Decoding one Read SQE into an object (`decodeSqe`)',
      (slot) => decodeSqe('nvm', sqes, slot * 64),
      (slot) => decodeReadByHand(sqes, slot * 64),
      'hand-written code for Read only, without reserved bits',
    ),
    cost(
      'Formatting one Read SQE as text (`formatSqe`)',
      eachEntry((slot) => formatSqe('nvm', sqes, slot * 64)),
      {
        perRound: 20_000,
        note: 'no goal: output for people',
      },
    ),
    beside(
      'Decoding one CQE into an object (`decodeCqe`)',
      (slot) => decodeCqe(cqes, slot * 16),
      (slot) => decodeCqeByHand(cqes, slot * 16),
      'hand-written code for the same object, with status names in a Map',
    ),
    identify(),
  ])
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) print(await bench())
