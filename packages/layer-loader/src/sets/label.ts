import { LoaderError } from '../error.js'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { ascii, bytes, inHex, n64, struct, u32 } from '@gpunvme/nvme-spec/layout'
import { RECORD_BYTES, type CopyName } from '../image/format.js'
import { hex, SealedRecord } from '../image/sealed-record.js'
import {
  KIND_CODES,
  MIN_UNIT_BYTES,
  MEMBER_DATA_BYTES,
  MAX_MEMBERS,
  MAX_PATTERN_UNITS,
  MAX_UNIT_BYTES,
  SET_ALIGNMENT_BYTES,
  SET_VERSION,
  type SetKind,
} from './format.js'
import { patternFits } from './pattern.js'

const MAGIC = new TextEncoder().encode('GPUNVSET')

/** Layout of both copies, little-endian. Other bytes are reserved: written as zero, ignored by readers. */
export const SET_LABEL = struct(
  'SET_LABEL',
  { bytes: RECORD_BYTES, doc: 'Label of a member of a set', spec: 'gpunvme set format 1' },
  {
    MAGIC: bytes(0, 8, 'GPUNVSET'),
    VERSION: u32(8, 'Format version'),
    LENGTH: u32(12, 'Bytes of this structure'),
    EPOCH: n64(16, 'Increases when members of a mirror become stale'),
    SET_ID: bytes(24, 16, 'Random, the same on all members'),
    REQUIRED: inHex(u32(40, 'Features that a reader must know')),
    OPTIONAL: inHex(u32(44, 'Features that a reader may ignore')),
    SELF: n64(48, 'Byte offset of this copy'),
    KIND: u32(56, '1 is a stripe, 2 a mirror'),
    MEMBERS: u32(60, 'Number of members'),
    INDEX: u32(64, 'Index of this member, from 0'),
    CURRENT: inHex(u32(68, 'A bit for each member that is up to date')),
    UNIT: u32(72, 'Bytes of a unit; 0 in a mirror'),
    PATTERN_LENGTH: u32(76, 'Units in the pattern; 0 in a mirror'),
    DATA_OFFSET: n64(80, 'Byte offset of the data on this member'),
    DATA_LENGTH: n64(88, 'Bytes of data on this member'),
    SET_LENGTH: n64(96, 'Bytes of the set'),
    WRITER: ascii(128, 64, 'Writer of the label, for information', 0),
    PATTERN: bytes(192, MAX_PATTERN_UNITS, 'Member of each unit of the pattern'),
    CRC: inHex(u32(4092, 'CRC-32 of bytes 0 to 4091')),
  },
)

/** Checked content of a label. */
export interface SetLabel {
  /** 32 hexadecimal digits. */
  readonly setId: string
  readonly kind: SetKind
  readonly members: number
  readonly index: number
  readonly epoch: number
  /** A bit for each member that is up to date at this epoch. */
  readonly current: number
  /** For a stripe; 0 and empty for a mirror. */
  readonly unitBytes: number
  readonly pattern: Uint8Array
  /** Bytes of this member that belong to the set. */
  readonly dataBytes: number
  readonly setBytes: number
  readonly writer: string
}

/** Names of the fields. */
export type LabelField = keyof typeof SET_LABEL.fields

/** Labels on a member. */
export const LABELS = new SealedRecord({
  struct: SET_LABEL,
  magic: MAGIC,
  version: SET_VERSION,
  damaged: (copy, field: LabelField, expected, got) => new SetLabelError(field, expected, got, `copy ${copy}`),
  unsupported: (copy, what) => unsupportedSet(`copy ${copy} of its label: ${what}`),
  parse(view, require): SetLabel {
    require('EPOCH', Number.isSafeInteger(view.EPOCH) && view.EPOCH > 0, '1 to 2^53 - 1')
    require('KIND', view.KIND === KIND_CODES.stripe || view.KIND === KIND_CODES.mirror, '1 or 2')
    const kind = view.KIND === KIND_CODES.stripe ? 'stripe' : 'mirror'
    const { MEMBERS: members, INDEX: index, CURRENT: current, UNIT: unitBytes } = view
    require('MEMBERS', members >= 2 && members <= MAX_MEMBERS, `2 to ${MAX_MEMBERS}`)
    require('INDEX', index < members, `0 to ${members - 1}`)
    const all = 2 ** members - 1
    const isCurrent = Math.floor(current / 2 ** index) % 2 === 1
    require('CURRENT', kind === 'stripe' ? current === all : current <= all && isCurrent, kind === 'stripe'
      ? `0x${all.toString(16)}`
      : `bits of ${members} members including this one`)
    require('DATA_OFFSET', view.DATA_OFFSET === MEMBER_DATA_BYTES, String(MEMBER_DATA_BYTES))
    const { DATA_LENGTH: dataBytes, SET_LENGTH: setBytes } = view
    require('DATA_LENGTH', isLength(dataBytes), `a multiple of ${SET_ALIGNMENT_BYTES} above 0`)
    require('SET_LENGTH', isLength(setBytes), `a multiple of ${SET_ALIGNMENT_BYTES} above 0`)
    const patternUnits = view.PATTERN_LENGTH
    require('PATTERN_LENGTH', patternUnits <= MAX_PATTERN_UNITS, `0 to ${MAX_PATTERN_UNITS}`)
    const pattern = view.PATTERN.slice(0, patternUnits)
    if (kind === 'stripe') {
      const isUnit =
        unitBytes >= MIN_UNIT_BYTES && unitBytes <= MAX_UNIT_BYTES && Number.isInteger(Math.log2(unitBytes))
      require('UNIT', isUnit, `a power of two from ${MIN_UNIT_BYTES} to ${MAX_UNIT_BYTES}`)
      require('PATTERN', patternFits(pattern, members), `each of 0 to ${members - 1}, and no other values`)
      require('DATA_LENGTH', dataBytes % unitBytes === 0, `a multiple of ${unitBytes}`)
      require('SET_LENGTH', setBytes % unitBytes === 0, `a multiple of ${unitBytes}`)
    } else {
      require('UNIT', unitBytes === 0, '0')
      require('PATTERN_LENGTH', patternUnits === 0, '0')
      require('SET_LENGTH', setBytes === dataBytes, `DATA_LENGTH, ${dataBytes}`)
    }
    return {
      setId: hex(view.SET_ID),
      kind,
      members,
      index,
      epoch: view.EPOCH,
      current,
      unitBytes,
      pattern,
      dataBytes,
      setBytes,
      writer: view.WRITER,
    }
  },
})

/** Encodes one copy. @throws RangeError for values that the structure cannot represent. */
export function encodeLabel(copy: CopyName, label: SetLabel): Uint8Array {
  const pattern = new Uint8Array(MAX_PATTERN_UNITS)
  pattern.set(label.pattern)
  return LABELS.encode(copy, {
    EPOCH: label.epoch,
    SET_ID: Buffer.from(label.setId, 'hex'),
    KIND: KIND_CODES[label.kind],
    MEMBERS: label.members,
    INDEX: label.index,
    CURRENT: label.current,
    UNIT: label.unitBytes,
    PATTERN_LENGTH: label.pattern.length,
    DATA_OFFSET: MEMBER_DATA_BYTES,
    DATA_LENGTH: label.dataBytes,
    SET_LENGTH: label.setBytes,
    WRITER: label.writer,
    PATTERN: pattern,
  })
}

function isLength(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0 && value % SET_ALIGNMENT_BYTES === 0
}

/** Error of a label that is damaged, has invalid values, or contradicts another one of its set. */
export class SetLabelError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_SET_LABEL'
  readonly category = 'verification'
  readonly field: LabelField
  readonly expected: string
  readonly got: string

  constructor(field: LabelField, expected: string, got: string, where: string) {
    super(`The label of a set's member is damaged: ${field}`, {
      facts: [where, `expected ${expected}`, `got ${got}`],
      next: 'open a mirror without this member; if all are damaged, create the set again and pack the models again',
    })
    this.field = field
    this.expected = expected
    this.got = got
  }
}

/** Error of a valid label that requires a newer reader. */
export function unsupportedSet(what: string): LoaderError {
  const headline = `This version of @gpunvme/layer-loader cannot open the set: ${what}`
  return new LoaderError('ERR_GPUNVME_SET_UNSUPPORTED', 'infeasible', headline, {
    facts: [`this reader supports version ${SET_VERSION}, and no required features`],
    next: 'use a newer @gpunvme/layer-loader',
  })
}
