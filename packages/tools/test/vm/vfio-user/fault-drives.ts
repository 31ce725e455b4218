import { NVM_OPCODE } from '@gpunvme/nvme-spec'
import type { FaultRule } from '@gpunvme/nvme-spec/transport'
import type { Drive } from './served-guest.js'
import { toldSerial } from './told.js'

// Drives with faults, one plan each, and where they lie in the guest. Commands are told apart by LBA: what else Linux does at
// its start, reading partition tables among it, is near the ends.

const { READ, WRITE } = NVM_OPCODE
const MS = 1e6
const read = (lba: number, more: object = {}) => ({
  opcode: READ,
  nsid: 1,
  lba: [lba, lba] as [number, number],
  ...more,
})
const write = (lba: number) => ({ opcode: WRITE, nsid: 1, lba: [lba, lba] as [number, number] })

/** LBAs at which a command ends with a status: what Linux calls 0x281, and so on. */
export const STATUS_AT = {
  unrecoveredRead: 100_000,
  writeFault: 110_000,
  accessDenied: 120_000,
  /** Of a type and a code that the specification does not have. */
  unknown: 130_000,
  /** Once only, and without Do Not Retry: the kernel tries again. */
  transient: 140_000,
} as const

const statuses: readonly FaultRule[] = [
  { match: read(STATUS_AT.unrecoveredRead), action: { kind: 'status', sct: 2, sc: 0x81, dnr: true } },
  { match: write(STATUS_AT.writeFault), action: { kind: 'status', sct: 2, sc: 0x80, dnr: true } },
  { match: read(STATUS_AT.accessDenied), action: { kind: 'status', sct: 2, sc: 0x86, dnr: true } },
  { match: read(STATUS_AT.unknown), action: { kind: 'status', sct: 5, sc: 0x77, dnr: true } },
  { match: read(STATUS_AT.transient, { times: 1 }), action: { kind: 'status', sct: 0, sc: 0x06 } },
]

/** LBAs at which a Read does not end in time. */
export const SLOW_AT = {
  /** It never does anything; Abort finds it. */
  hung: 100_000,
  /** It is done and nothing is posted; Abort does not find it, and a reset of the controller is what helps. */
  lost: 110_000,
  /** It ends after a second and a half time-out. */
  late: 120_000,
} as const

const slow: readonly FaultRule[] = [
  { match: read(SLOW_AT.hung, { times: 1 }), action: { kind: 'hang' } },
  { match: read(SLOW_AT.lost, { times: 1 }), action: { kind: 'drop-completion' } },
  { match: read(SLOW_AT.late, { times: 1 }), action: { kind: 'delay-completion', delayNs: 4_500 * MS } },
]

const every = (opcode: number, n: number) => ({ opcode, nsid: 1, every: n })
const shuffled: readonly FaultRule[] = [
  ...[READ, WRITE].map((opcode): FaultRule => ({
    match: every(opcode, 7),
    action: { kind: 'delay-completion', delayNs: 30 * MS },
  })),
  ...[READ, WRITE].map((opcode): FaultRule => ({
    match: every(opcode, 3),
    action: { kind: 'reorder-completion', behind: 4, atMostNs: 20 * MS },
  })),
]

/** Which Read brings the controller down, and which takes the device off the bus. */
export const FATAL_AT = 100_000

const drive = (serial: string, rules: readonly FaultRule[]): Drive => ({ ...toldSerial(serial), faults: { rules } })

/** In the order of their slots, from 4 on. */
export const FAULT_DRIVES = [
  drive('STATUSES', statuses),
  drive('SLOW', slow),
  drive('FATAL', [{ match: read(FATAL_AT, { times: 1 }), action: { kind: 'fatal-status' } }]),
  drive('SHUFFLED', shuffled),
  drive('REMOVED', [{ match: read(FATAL_AT, { times: 1 }), action: { kind: 'remove-device' } }]),
] as const
