import { NVM_OPCODE } from '@gpunvme/nvme-spec'
import type { FaultRule } from '@gpunvme/nvme-spec/transport'
import type { Drive } from './served-guest.js'
import { toldSerial } from './told.js'

// Drives with one fault plan each, and their slots in the guest. Rules match LBAs that Linux does not access at its start:
// it reads partition tables near both ends of the drive.

const { READ, WRITE } = NVM_OPCODE
const MS = 1e6
const read = (lba: number, more: object = {}) => ({
  opcode: READ,
  nsid: 1,
  lba: [lba, lba] as [number, number],
  ...more,
})
const write = (lba: number) => ({ opcode: WRITE, nsid: 1, lba: [lba, lba] as [number, number] })

/** LBAs at which commands end with an error status. */
export const STATUS_AT = {
  unrecoveredRead: 100_000,
  writeFault: 110_000,
  accessDenied: 120_000,
  /** A status code type and code that the specification does not define. */
  unknown: 130_000,
  /** Only once, and without Do Not Retry, so that the kernel retries. */
  transient: 140_000,
} as const

const statuses: readonly FaultRule[] = [
  { match: read(STATUS_AT.unrecoveredRead), action: { kind: 'status', sct: 2, sc: 0x81, dnr: true } },
  { match: write(STATUS_AT.writeFault), action: { kind: 'status', sct: 2, sc: 0x80, dnr: true } },
  { match: read(STATUS_AT.accessDenied), action: { kind: 'status', sct: 2, sc: 0x86, dnr: true } },
  { match: read(STATUS_AT.unknown), action: { kind: 'status', sct: 5, sc: 0x77, dnr: true } },
  { match: read(STATUS_AT.transient, { times: 1 }), action: { kind: 'status', sct: 0, sc: 0x06 } },
]

/** LBAs at which a Read exceeds the time-out. */
export const SLOW_AT = {
  /** Never executed; Abort finds it. */
  hung: 100_000,
  /** Executed without a completion, so that Abort does not find it and only a controller reset helps. */
  lost: 110_000,
  /** Ends after 4.5 s, which is one and a half time-outs. */
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

/** LBA of the Read that sets CSTS.CFS on one drive, and removes another drive from the bus. */
export const FATAL_AT = 100_000

const drive = (serial: string, rules: readonly FaultRule[]): Drive => ({ ...toldSerial(serial), faults: { rules } })

/** Drives in slot order, starting at slot 4. */
export const FAULT_DRIVES = [
  drive('STATUSES', statuses),
  drive('SLOW', slow),
  drive('FATAL', [{ match: read(FATAL_AT, { times: 1 }), action: { kind: 'fatal-status' } }]),
  drive('SHUFFLED', shuffled),
  drive('REMOVED', [{ match: read(FATAL_AT, { times: 1 }), action: { kind: 'remove-device' } }]),
] as const
