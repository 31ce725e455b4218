import type { FaultAction, FaultMatch } from '../transport/index.js'

/** What a fault applies to. */
export type Subject = 'command' | 'register read' | 'register write' | 'CC.EN' | 'time'

/** Requirement for a value in a plan: text for the error, and a test. */
export interface Field {
  readonly expected: string
  readonly isOptional?: true
  readonly isFit: (value: unknown) => boolean
}

type Action<K extends FaultAction['kind']> = Extract<FaultAction, { readonly kind: K }>
/** Names of the fields of all members of the union, so that a new field of an action cannot be missing here. */
type FieldOf<A> = A extends unknown ? Exclude<keyof A, 'kind'> : never

/** A kind of fault: what it can apply to, and its fields. */
type Kinds = {
  readonly [K in FaultAction['kind']]: {
    readonly appliesTo: readonly Subject[]
    readonly fields: { readonly [F in FieldOf<Action<K>>]-?: Field }
  }
}

const whole = (min: number, max: number, expected: string): Field => ({
  expected,
  isFit: (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
})
const flag: Field = { expected: 'true or false', isFit: (value) => typeof value === 'boolean' }
const optional = (field: Field): Field => ({ ...field, isOptional: true })

const ns = (min: number) => whole(min, Number.MAX_SAFE_INTEGER, `whole nanoseconds from ${min}`)
const count = whole(1, Number.MAX_SAFE_INTEGER, 'a count from 1')
const offset = whole(0, Number.MAX_SAFE_INTEGER, 'a whole number from 0')
const nsid = whole(1, 0xffff_fffe, 'an NSID from 1 to FFFFFFFEh')
const qid = whole(0, 0xffff, 'a queue identifier from 0 to 65535')
const byte = whole(0, 0xff, 'a byte')
const bits16 = whole(1, 0xffff, 'a mask from 1 to FFFFh')
const byteMask = whole(1, 0xff, 'a mask from 1 to FFh')

/** One mask, or a mask for each of several successive bytes; 0 leaves its byte unchanged. */
const byteMasks: Field = {
  expected: 'a mask from 1 to FFh, or a list of masks from 0 to FFh that are not all 0',
  isFit: (value) =>
    byteMask.isFit(value) ||
    (Array.isArray(value) &&
      value.every((mask) => mask === 0 || byteMask.isFit(mask)) &&
      value.some((mask) => mask !== 0)),
}

const COMMAND = ['command'] as const
const CONTROLLER = ['command', 'register read', 'register write', 'time'] as const

/** All kinds of faults. Plans are checked against this table, and errors list its names. */
export const kinds: Kinds = {
  'drop-completion': { appliesTo: COMMAND, fields: {} },
  hang: { appliesTo: COMMAND, fields: {} },
  'delay-completion': { appliesTo: COMMAND, fields: { delayNs: ns(1) } },
  'duplicate-completion': { appliesTo: COMMAND, fields: {} },
  'reorder-completion': { appliesTo: COMMAND, fields: { behind: count, atMostNs: ns(1) } },
  status: {
    appliesTo: COMMAND,
    fields: {
      sct: whole(0, 7, 'a status code type from 0 to 7'),
      sc: whole(0, 0xff, 'a status code from 0 to FFh'),
      dnr: optional(flag),
      more: optional(flag),
      crd: optional(whole(0, 3, 'a Command Retry Delay from 0 to 3')),
    },
  },
  'corrupt-cid': { appliesTo: COMMAND, fields: { xor: bits16 } },
  'corrupt-sqhd': { appliesTo: COMMAND, fields: { xor: bits16 } },
  'corrupt-sqid': { appliesTo: COMMAND, fields: { xor: bits16 } },
  'corrupt-phase': { appliesTo: COMMAND, fields: {} },
  'corrupt-data': { appliesTo: COMMAND, fields: { byte: offset, xor: byteMasks } },
  'torn-dma': { appliesTo: COMMAND, fields: { fromByte: offset, toByte: optional(count) } },
  'wrong-page': { appliesTo: COMMAND, fields: { page: offset, to: offset } },
  'lose-write': { appliesTo: ['register write'], fields: {} },
  'delay-write': { appliesTo: ['register write'], fields: { delayNs: ns(1) } },
  'read-value': { appliesTo: ['register read'], fields: { value: whole(0, 0xffff_ffff, '32 bits') } },
  'ready-never-rises': { appliesTo: ['CC.EN'], fields: {} },
  'ready-never-falls': { appliesTo: ['CC.EN'], fields: {} },
  'fatal-status': { appliesTo: CONTROLLER, fields: {} },
  'remove-device': { appliesTo: CONTROLLER, fields: {} },
  'surprise-reset': { appliesTo: CONTROLLER, fields: {} },
  'detach-namespace': { appliesTo: CONTROLLER, fields: { nsid } },
  'attach-namespace': { appliesTo: CONTROLLER, fields: { nsid } },
  'resize-namespace': { appliesTo: CONTROLLER, fields: { nsid, blocks: count } },
  throttle: {
    appliesTo: CONTROLLER,
    fields: {
      factor: { expected: 'a factor above 1', isFit: (value) => Number.isFinite(value) && (value as number) > 1 },
      forNs: ns(1),
    },
  },
  'stale-completion': { appliesTo: CONTROLLER, fields: { qid, back: count } },
  'async-event': {
    appliesTo: CONTROLLER,
    fields: { aet: whole(0, 7, 'an event type from 0 to 7'), aei: byte, lid: byte },
  },
}

/** All conditions. */
export const conditions: { readonly [F in keyof FaultMatch]-?: Field } = {
  qid,
  opcode: whole(0, 0xff, 'an opcode from 0 to FFh'),
  nsid: whole(0, 0xffff_ffff, 'an NSID'),
  lba: {
    expected: 'two LBAs, the second not below the first',
    isFit: (value) =>
      Array.isArray(value) && value.length === 2 && value.every((lba) => offset.isFit(lba)) && value[0] <= value[1],
  },
  register: { expected: "a register's name", isFit: (value) => typeof value === 'string' },
  access: { expected: "'read' or 'write'", isFit: (value) => value === 'read' || value === 'write' },
  atNs: ns(0),
  fromNs: ns(0),
  untilNs: ns(1),
  nth: count,
  every: count,
  probability: {
    expected: 'a probability above 0 and at most 1',
    isFit: (value) => typeof value === 'number' && value > 0 && value <= 1,
  },
  times: count,
}
