import { type ErrorDetails, GpuNvmeError } from '../error.js'
import { conditions, type Field, kinds, type Subject } from './vocabulary.js'
import { describeValue } from '../layout/facts.js'
import { Read, Write } from '../nvm/commands.js'
import { registers } from '../registers.js'
import type { FaultMatch, FaultPlan, FaultRule } from '../transport/index.js'

/** Names of the doorbells in a plan; the condition `qid` selects the queue. */
export const TAIL_DOORBELL = 'SQyTDBL'
export const HEAD_DOORBELL = 'CQyHDBL'
const DOORBELLS = [TAIL_DOORBELL, HEAD_DOORBELL]

/** Opcodes of the NVM Command Set that have SLBA and NLB. */
const WITH_BLOCKS = [0x01, 0x02, 0x04, 0x05, 0x08, 0x0c]

/** Whether a command of the NVM Command Set has SLBA and NLB, to which LBA ranges apply. */
export function addressesBlocks(opcode: number): boolean {
  return WITH_BLOCKS.includes(opcode)
}

/** Whether an Admin command with this opcode returns data to the host: bits 1:0 (Base 2.1 §4.1.1). */
export function returnsData(opcode: number): boolean {
  return (opcode & 3) === 2
}

/**
 * Parses a fault plan from JSON.
 * @throws FaultPlanError for an invalid plan, or a rule that can never apply; it names rule and field.
 */
export function parseFaultPlan(json: string): FaultPlan {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (cause) {
    throw new FaultPlanError(`not valid JSON: ${(cause as SyntaxError).message}`, {}, { cause })
  }
  checkFaultPlan(value)
  return value
}

/**
 * Formats a plan as JSON, one rule per line. `parseFaultPlan` reads it back.
 * @throws FaultPlanError as `parseFaultPlan`.
 */
export function formatFaultPlan(plan: FaultPlan): string {
  checkFaultPlan(plan)
  const { rules } = plan
  if (rules.length === 0) return '{ "rules": [] }\n'
  return `{ "rules": [\n${rules.map((rule) => `  ${JSON.stringify(rule)}`).join(',\n')}\n] }\n`
}

/** Checks a plan. @throws FaultPlanError as `parseFaultPlan`. */
export function checkFaultPlan(plan: unknown): asserts plan is FaultPlan {
  const place = { field: 'rules' }
  if (!isRecord(plan)) throw new FaultPlanError("expected an object with a list 'rules'", place)
  refuseUnknown(plan, ['rules'], {})
  const { rules } = plan
  if (!Array.isArray(rules)) throw new FaultPlanError("expected an object with a list 'rules'", place)
  rules.forEach((rule: unknown, index) => checkRule(rule, index))
}

/**
 * Returns what the rule applies to. A register rule without `access` applies to reads and writes, if its action
 * supports both.
 */
export function subjectsOf({ match = {}, action }: FaultRule): readonly Subject[] {
  const possible = kinds[action.kind].appliesTo
  if (possible.includes('CC.EN')) return possible
  if (match.atNs !== undefined) return possible.filter((subject) => subject === 'time')
  if (match.register === undefined) return possible.filter((subject) => subject === 'command')
  const { access } = match
  return possible.filter((subject) =>
    access === undefined ? subject.startsWith('register') : subject === `register ${access}`,
  )
}

function checkRule(rule: unknown, index: number): asserts rule is FaultRule {
  if (!isRecord(rule)) throw new FaultPlanError('expected an object with action', { rule: index })
  refuseUnknown(rule, ['match', 'action'], { rule: index })
  const { match = {}, action } = rule
  if (!isRecord(match)) throw new FaultPlanError('expected an object', { rule: index, field: 'match' })
  if (!isRecord(action)) throw new FaultPlanError('expected an object', { rule: index, field: 'action' })
  const { kind, ...facts } = action
  if (typeof kind !== 'string' || !Object.hasOwn(kinds, kind)) {
    const expected = `expected one of ${Object.keys(kinds).join(', ')}; got ${show(kind)}`
    throw new FaultPlanError(expected, { rule: index, field: 'action.kind' })
  }
  checkFields(facts, kinds[kind as keyof typeof kinds].fields, 'action', index)
  const optionalConditions = Object.entries(conditions).map(([name, field]) => [name, { ...field, isOptional: true }])
  checkFields(match, Object.fromEntries(optionalConditions) as Record<string, Field>, 'match', index)
  const hopeless = neverStrikes(rule as unknown as FaultRule)
  if (hopeless) throw new FaultPlanError(`${hopeless[1]}: this can never apply`, { rule: index, field: hopeless[0] })
}

function checkFields(
  given: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, Field>>,
  where: 'match' | 'action',
  rule: number,
): void {
  refuseUnknown(given, Object.keys(fields), { rule, field: where })
  for (const [name, { expected, isOptional, isFit }] of Object.entries(fields)) {
    const value = given[name]
    if (isFit(value) || (isOptional && value === undefined)) continue
    throw new FaultPlanError(`expected ${expected}; got ${show(value)}`, { rule, field: `${where}.${name}` })
  }
}

/** Names the conditions that decide what a rule applies to, for a rule whose action does not fit them. */
function subjectIn({ atNs, register, access }: FaultMatch): string {
  if (atNs !== undefined) return 'atNs'
  if (register === undefined) return 'neither register nor atNs'
  return access === undefined ? 'register' : `register and access '${access}'`
}

/** Returns why a well-formed rule can never apply, with the field at fault. */
function neverStrikes(rule: FaultRule): readonly [field: string, why: string] | undefined {
  const { match = {}, action } = rule
  const { register, qid, opcode, lba, fromNs = 0, untilNs = Infinity } = match
  const given = (names: readonly (keyof FaultMatch)[]) => names.find((name) => match[name] !== undefined)
  if (fromNs >= untilNs) return ['match.untilNs', `the time from ${fromNs} to before ${untilNs} ns is empty`]
  const [subject] = subjectsOf(rule)
  const possible = kinds[action.kind].appliesTo
  if (subject === undefined) {
    return [
      'action.kind',
      `'${action.kind}' applies to ${possible.join(' or ')} only, but this rule has ${subjectIn(match)}`,
    ]
  }
  if (match.nth !== undefined && match.every === undefined && (match.times ?? 1) > 1) {
    return ['match.times', "without 'every', 'nth' matches only once"]
  }
  if (subject === 'time') {
    const other = (Object.keys(match) as (keyof FaultMatch)[]).find((name) => name !== 'atNs' && given([name]))
    return other && [`match.${other}`, `'atNs' is a single time and cannot be combined with '${other}'`]
  }
  if (subject === 'CC.EN') {
    const other = given(['qid', 'opcode', 'nsid', 'lba', 'register', 'access', 'atNs'])
    return other && [`match.${other}`, `'${action.kind}' applies to changes of CC.EN, which have no '${other}'`]
  }
  if (subject === 'command')
    return given(['access']) ? ['match.access', "'access' applies to registers, not to commands"] : neverCommand(rule)
  if (DOORBELLS.includes(register!)) {
    if (!subjectsOf(rule).includes('register write')) return ['match.register', 'doorbells are only written']
  } else {
    const declared = registers.find(({ name }) => name === register)
    if (declared === undefined) {
      return ['match.register', `there is no register ${show(register)}, only ${registerNames().join(', ')}`]
    }
    if (qid !== undefined) return ['match.qid', `${register} belongs to no queue`]
    // CSTS counts as writable: writing it clears NSSRO.
    if (declared.access === 'ro' && (action.kind === 'lose-write' || action.kind === 'delay-write')) {
      return ['match.register', `${register} is read-only: a write to it has no effect to lose or delay`]
    }
  }
  if (opcode !== undefined || lba !== undefined || match.nsid !== undefined) {
    return [`match.${given(['opcode', 'nsid', 'lba'])}`, 'register accesses have no opcode, nsid or lba']
  }
  return undefined
}

function neverCommand(rule: FaultRule): readonly [field: string, why: string] | undefined {
  const { match = {}, action } = rule
  const { qid, opcode, lba } = match
  if (lba && qid === 0) return ['match.lba', 'Admin commands have no LBAs']
  if (lba && opcode !== undefined && !addressesBlocks(opcode)) {
    return ['match.lba', `opcode ${opcode} has no SLBA and NLB`]
  }
  const isData = action.kind === 'torn-dma' || action.kind === 'wrong-page' || action.kind === 'corrupt-data'
  if (isData && action.kind !== 'corrupt-data' && qid === 0) {
    return ['match.qid', `'${action.kind}' applies to I/O commands`]
  }
  if (isData && opcode !== undefined && !hasDamageableData(rule)) {
    const commands = `Read and Write${action.kind === 'corrupt-data' ? ', and of Admin commands that return data' : ''}`
    return ['match.opcode', `'${action.kind}' applies to the data of ${commands}, not of opcode ${hex(opcode)}`]
  }
  if (action.kind === 'torn-dma' && action.toByte !== undefined && action.toByte <= action.fromByte) {
    return ['action.toByte', `the range from byte ${action.fromByte} to before byte ${action.toByte} is empty`]
  }
  if (action.kind === 'wrong-page' && action.page === action.to) return ['action.to', "'page' and 'to' are the same"]
  return undefined
}

/** Whether a command with the rule's opcode, in a queue that the rule allows, moves data that the action can damage. */
function hasDamageableData({ match: { qid, opcode = Read.opcode, lba } = {}, action }: FaultRule): boolean {
  const inIo = qid !== 0 && (opcode === Read.opcode || opcode === Write.opcode)
  const mayBeAdmin = (qid ?? 0) === 0 && lba === undefined && action.kind === 'corrupt-data'
  return inIo || (mayBeAdmin && returnsData(opcode))
}

/** Names that a plan can use for registers. */
function registerNames(): readonly string[] {
  return [...registers.map(({ name }) => name), ...DOORBELLS]
}

function refuseUnknown(given: object, known: readonly string[], where: FaultPlanLocation): void {
  const unknown = Object.keys(given).filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  const expected = known.length === 0 ? 'none is known' : `known are ${known.join(', ')}`
  throw new FaultPlanError(`unknown ${unknown.map(show).join(', ')}; ${expected}`, where)
}

function hex(opcode: number): string {
  return `${opcode.toString(16).toUpperCase().padStart(2, '0')}h`
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Formats a value of a plan. Names only the kind of a nested value: JSON.stringify overflows the stack on deep nesting. */
function show(value: unknown): string {
  if (value === undefined) return 'undefined'
  const isNested = isObject(value) && Object.values(value).some(isObject)
  return isNested || typeof value === 'bigint' ? describeValue(value) : JSON.stringify(value)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Location of an error in a plan. */
export interface FaultPlanLocation {
  readonly rule?: number
  readonly field?: string
}

/** An invalid fault plan, or one with a rule that can never apply. */
export class FaultPlanError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_FAULT_PLAN'
  readonly category = 'usage'
  /** Index of the rule; undefined if the plan itself is invalid. */
  readonly rule: number | undefined
  /** Field at fault, such as 'action.delayNs'. */
  readonly field: string | undefined

  constructor(problem: string, { rule, field }: FaultPlanLocation, details: ErrorDetails = {}) {
    const where = [rule === undefined ? 'fault plan' : `fault plan, rule ${rule}`, ...(field ? [field] : [])].join(', ')
    super(`${where}: ${problem}`, details)
    this.rule = rule
    this.field = field
  }
}
