import { DOORBELL_BASE } from '../doorbells.js'
import { checkFaultPlan, HEAD_DOORBELL, subjectsOf, TAIL_DOORBELL } from './plan.js'
import { type Random, randomStream } from './random.js'
import type { Subject } from './vocabulary.js'
import { registerAt } from '../registers.js'
import type { FaultAction, FaultMatch, FaultPlan, FaultRule } from '../transport/index.js'

/** An action of one kind. */
export type ActionOf<K extends FaultAction['kind']> = Extract<FaultAction, { readonly kind: K }>

interface Hit {
  readonly action: FaultAction
  /** Index of its rule in the plan. */
  readonly rule: number
}

/** The actions that apply to one command, access or time: at most one of each kind. */
export class MatchedFaults {
  /** What they apply to, as text: 'SQ 1 CID 7', 'read CSTS'. */
  readonly where: string
  private readonly hits = new Map<FaultAction['kind'], Hit>()

  constructor(where: string) {
    this.where = where
  }

  /** Whether there is an action of this kind. */
  has(kind: FaultAction['kind']): boolean {
    return this.hits.has(kind)
  }

  /** Returns the action of this kind, if any. */
  get<K extends FaultAction['kind']>(kind: K): ActionOf<K> | undefined {
    return this.hits.get(kind)?.action as ActionOf<K> | undefined
  }

  /** Returns the index of the rule of an action. */
  ruleOf(kind: FaultAction['kind']): number | undefined {
    return this.hits.get(kind)?.rule
  }

  /** Adds an action of the rule with this index, replacing one of the same kind. */
  add(action: FaultAction, rule: number): void {
    this.hits.set(action.kind, { action, rule })
  }

  /** Removes an action: it happens once. */
  remove(kind: FaultAction['kind']): void {
    this.hits.delete(kind)
  }
}

/** A rule of a plan in execution, with its counters. */
export class ArmedRule {
  readonly match: FaultMatch
  readonly action: FaultAction
  /** Index in the plan. */
  readonly index: number
  /** What it can apply to. */
  readonly subjects: readonly Subject[]
  /** Number of times that `chooses` was true and the action was taken; counted by the plan. */
  hits = 0
  /** Number of matches of the other conditions so far. */
  private seen = 0
  private readonly random: Random

  constructor(rule: FaultRule, index: number, random: Random) {
    this.match = rule.match ?? {}
    this.action = rule.action
    this.index = index
    this.subjects = subjectsOf(rule)
    this.random = random
  }

  /** Whether `fromNs` and `untilNs` include this time. */
  isActiveAt(nowNs: number): boolean {
    const { fromNs = 0, untilNs = Infinity } = this.match
    return nowNs >= fromNs && nowNs < untilNs
  }

  /** Whether it applies to such an access to this register; `qid` is the queue of a doorbell. */
  matchesAccess(access: 'read' | 'write', register: string, qid: number | undefined): boolean {
    if (!this.subjects.includes(`register ${access}`) || this.match.register !== register) return false
    return this.match.qid === undefined || this.match.qid === qid
  }

  /** Counts a match and returns whether the rule applies to it. Call it once per match. */
  shouldApply(): boolean {
    const { nth = 0, every, probability = 1, times = Infinity } = this.match
    this.seen++
    if (every === undefined ? nth > 0 && this.seen !== nth : !this.isInTurn(nth || every, every)) return false
    if (probability < 1 && this.random() >= probability) return false
    return this.hits < times
  }

  private isInTurn(first: number, every: number): boolean {
    return this.seen >= first && (this.seen - first) % every === 0
  }
}

/** Enough to explain a test, and a bound on memory for a fault that applies to everything. */
const MAX_RECORDED = 10_000

/** A fault that has happened. */
export interface InjectedFault {
  readonly atNs: number
  /** Index of the rule in the plan. */
  readonly rule: number
  readonly kind: FaultAction['kind']
  /** What the fault was applied to: 'SQ 1 CID 7', 'read CSTS', 'write SQ1TDBL', 'CC.EN', 'time'. */
  readonly where: string
}

/** What a fault plan has done so far. A test can assert that its fault really happened. */
export interface FaultReport {
  /** Number of times that each rule was applied, in the plan's order. */
  readonly hits: readonly number[]
  /** Injected faults, oldest first; the first 10,000 are kept. */
  readonly injected: readonly InjectedFault[]
}

/** Dependencies of a plan in execution. */
export interface ArmedPlanOptions {
  /** Seed of the random streams of `probability`, 0 to 2^32 - 1. */
  readonly seed: number
  /** Returns the time used for `fromNs`, `untilNs` and the report. */
  readonly now: () => number
  /** Called for every injected fault, including those that the report does not keep. */
  readonly onInject?: (fault: InjectedFault) => void
}

/**
 * A fault plan in execution: decides which rule applies to what, and counts the injected faults. The code that executes a plan
 * queries it for each command, access or time, performs the action, and reports that it `happened`.
 */
export class ArmedPlan {
  /**
   * Whether any rule applies to commands; if false, commands need not be checked. `affectsAccesses` is the same for
   * register accesses.
   */
  readonly affectsCommands: boolean
  readonly affectsAccesses: boolean
  private readonly counts: number[]
  private readonly kept: InjectedFault[] = []
  private readonly rules: readonly ArmedRule[]
  private readonly options: ArmedPlanOptions

  /** @throws FaultPlanError for an invalid plan. */
  constructor(plan: FaultPlan, options: ArmedPlanOptions) {
    checkFaultPlan(plan)
    const { rules } = plan
    this.options = options
    const names = streamNames(rules)
    this.rules = rules.map((rule, index) => new ArmedRule(rule, index, randomStream(options.seed, names[index]!)))
    this.counts = rules.map(() => 0)
    this.affectsCommands = this.rules.some(({ subjects }) => subjects.includes('command'))
    this.affectsAccesses = this.rules.some(({ subjects }) => subjects.some((each) => each.startsWith('register')))
  }

  /** Returns what has happened so far. Its lists keep growing. */
  report(): FaultReport {
    return Object.freeze({ hits: this.counts, injected: this.kept })
  }

  /**
   * Returns the actions that apply to something; undefined if there are none. `isConcerned` selects rules, `where`
   * describes the subject. Every selected rule counts a match; of each kind, the first rule whose conditions hold
   * applies.
   */
  match(where: () => string, isConcerned: (rule: ArmedRule) => boolean): MatchedFaults | undefined {
    const nowNs = this.options.now()
    let matched: MatchedFaults | undefined
    for (const rule of this.rules) {
      if (!rule.isActiveAt(nowNs) || !isConcerned(rule) || !rule.shouldApply()) continue
      matched ??= new MatchedFaults(where())
      if (matched.has(rule.action.kind)) continue
      rule.hits++
      matched.add(rule.action, rule.index)
    }
    return matched
  }

  /** Returns the actions that apply to an access to the dword at `offset` of BAR0. */
  matchAccess(access: 'read' | 'write', offset: number, doorbellStrideBytes: number): MatchedFaults | undefined {
    const { name, qid } = nameInPlans(offset, doorbellStrideBytes)
    return this.match(
      () => `${access} ${qid === undefined ? name : name.replace('y', String(qid))}`,
      (rule) => rule.matchesAccess(access, name, qid),
    )
  }

  /** Whether an action applies to a change of CC.EN. It is counted as having happened. */
  matchEnable(kind: 'ready-never-rises' | 'ready-never-falls'): boolean {
    const matched = this.match(
      () => 'CC.EN',
      ({ action }) => action.kind === kind,
    )
    if (matched) this.record(matched, kind)
    return matched !== undefined
  }

  /** Returns the actions with a time of their own, in the plan's order. */
  timed(): readonly { readonly atNs: number; readonly matched: MatchedFaults }[] {
    return this.rules.flatMap(({ match: { atNs }, action, index }) => {
      if (atNs === undefined) return []
      const matched = new MatchedFaults('time')
      matched.add(action, index)
      return [{ atNs, matched }]
    })
  }

  /** Counts an action that takes effect now. No effect for a kind that does not apply here. */
  record(matched: MatchedFaults, kind: FaultAction['kind']): void {
    const rule = matched.ruleOf(kind)
    if (rule === undefined) return
    this.counts[rule]!++
    const fault = Object.freeze({ atNs: this.options.now(), rule, kind, where: matched.where })
    this.options.onInject?.(fault)
    if (this.kept.length < MAX_RECORDED) this.kept.push(fault)
  }
}

/** Returns the register name that plans use for an offset, and the queue identifier of a doorbell. */
function nameInPlans(offset: number, strideBytes: number): { readonly name: string; readonly qid?: number } {
  if (offset < DOORBELL_BASE) return { name: registerAt(offset)?.name ?? '' }
  const index = Math.floor((offset - DOORBELL_BASE) / strideBytes)
  return { name: index % 2 === 0 ? TAIL_DOORBELL : HEAD_DOORBELL, qid: index >> 1 }
}

/**
 * Names of the rules' random streams. Each is derived from its own rule only, so that other rules can be removed while
 * a failing plan is minimised. Equal rules are distinguished by a number.
 */
function streamNames(rules: readonly FaultRule[]): readonly string[] {
  const texts = rules.map((rule) => JSON.stringify(rule))
  return texts.map((text, index) => {
    const before = texts.slice(0, index).filter((other) => other === text).length
    return before === 0 ? text : `${text} ${before}`
  })
}
