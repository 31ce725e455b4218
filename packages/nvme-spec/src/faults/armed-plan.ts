import { DOORBELL_BASE } from '../doorbells.js'
import { registerAt } from '../register-at.js'
import type { FaultAction, FaultPlan, FaultRule } from '../transport.js'
import { ArmedRule } from './armed-rule.js'
import { checkFaultPlan, HEAD_DOORBELL, TAIL_DOORBELL } from './plan.js'
import { randomStream } from './random.js'
import { Struck } from './struck.js'

/** Enough to explain a test; a fault that strikes everything shall not fill the memory. */
const MOST_STRIKES = 10_000

/** A fault that has happened. */
export interface Strike {
  readonly atNs: number
  /** Index of its rule in the plan. */
  readonly rule: number
  readonly kind: FaultAction['kind']
  /** What was struck: 'SQ 1 CID 7', 'read CSTS', 'write SQ1TDBL', 'CC.EN', 'time'. */
  readonly where: string
}

/** What a fault plan has done so far: a test asserts that its fault really happened. */
export interface FaultReport {
  /** How often each rule has struck, in the plan's order. */
  readonly struck: readonly number[]
  /** What has happened, oldest first; the first 10,000 are kept. */
  readonly strikes: readonly Strike[]
}

/** What a plan under way depends on. */
export interface ArmedPlanOptions {
  /** Decides what `probability` strikes, 0 to 2^32 - 1. */
  readonly seed: number
  /** The time by which `fromNs` and `untilNs` count, and which strikes are noted with. */
  readonly now: () => number
  /** Is told of every strike, those as well that the report has no room for. */
  readonly onStrike?: (strike: Strike) => void
}

/**
 * A fault plan under way: which rule strikes what, and what has happened. Whoever executes a plan asks it about each
 * command, access or moment, does what it says, and tells it what came of that.
 */
export class ArmedPlan {
  /** Whether any rule strikes commands or register accesses: where it is false nothing has to be asked. */
  readonly strikesCommands: boolean
  readonly strikesAccesses: boolean
  private readonly counts: number[]
  private readonly kept: Strike[] = []
  private readonly rules: readonly ArmedRule[]
  private readonly options: ArmedPlanOptions

  /** @throws FaultPlanError for a plan that is none. */
  constructor(plan: FaultPlan, options: ArmedPlanOptions) {
    checkFaultPlan(plan)
    const { rules } = plan
    this.options = options
    const names = streamNames(rules)
    this.rules = rules.map((rule, index) => new ArmedRule(rule, index, randomStream(options.seed, names[index]!)))
    this.counts = rules.map(() => 0)
    this.strikesCommands = this.rules.some(({ subjects }) => subjects.includes('command'))
    this.strikesAccesses = this.rules.some(({ subjects }) => subjects.some((each) => each.startsWith('register')))
  }

  /** What has happened: its lists go on growing. */
  report(): FaultReport {
    return Object.freeze({ struck: this.counts, strikes: this.kept })
  }

  /**
   * What strikes something: `isConcerned` says which rules it concerns, `where` how it is called. Every rule that is
   * concerned counts; of each kind the first that is chosen strikes.
   */
  strike(where: () => string, isConcerned: (rule: ArmedRule) => boolean): Struck | undefined {
    const nowNs = this.options.now()
    let struck: Struck | undefined
    for (const rule of this.rules) {
      if (!rule.isOpenAt(nowNs) || !isConcerned(rule) || !rule.chooses()) continue
      struck ??= new Struck(where())
      if (struck.has(rule.action.kind)) continue
      rule.timesStruck++
      struck.add(rule.action, rule.index)
    }
    return struck
  }

  /** What strikes an access to the dword at `offset` of BAR0. */
  strikeAccess(access: 'read' | 'write', offset: number, doorbellStrideBytes: number): Struck | undefined {
    const { name, qid } = nameInPlans(offset, doorbellStrideBytes)
    return this.strike(
      () => `${access} ${qid === undefined ? name : name.replace('y', String(qid))}`,
      (rule) => rule.concernsAccess(access, name, qid),
    )
  }

  /** Whether a change of CC.EN is struck so; it is counted as having happened. */
  strikeEnable(kind: 'ready-never-rises' | 'ready-never-falls'): boolean {
    const struck = this.strike(
      () => 'CC.EN',
      ({ action }) => action.kind === kind,
    )
    if (struck) this.happened(struck, kind)
    return struck !== undefined
  }

  /** What strikes at a time of its own, in the plan's order. */
  timed(): readonly { readonly atNs: number; readonly struck: Struck }[] {
    return this.rules.flatMap(({ match: { atNs }, action, index }) => {
      if (atNs === undefined) return []
      const struck = new Struck('time')
      struck.add(action, index)
      return [{ atNs, struck }]
    })
  }

  /** An action that was to strike has its effect now: it is counted. Nothing for a kind that does not strike here. */
  happened(struck: Struck, kind: FaultAction['kind']): void {
    const rule = struck.ruleOf(kind)
    if (rule === undefined) return
    this.counts[rule]!++
    const strike = Object.freeze({ atNs: this.options.now(), rule, kind, where: struck.where })
    this.options.onStrike?.(strike)
    if (this.kept.length < MOST_STRIKES) this.kept.push(strike)
  }
}

/** What stands at an offset, as plans name it; a queue's identifier for a doorbell. */
function nameInPlans(offset: number, strideBytes: number): { readonly name: string; readonly qid?: number } {
  if (offset < DOORBELL_BASE) return { name: registerAt(offset)?.name ?? '' }
  const index = Math.floor((offset - DOORBELL_BASE) / strideBytes)
  return { name: index % 2 === 0 ? TAIL_DOORBELL : HEAD_DOORBELL, qid: index >> 1 }
}

/**
 * A random stream of its own for each rule, named after it: the others may come and go when a failing plan is cut down.
 * Rules that are equal are told apart by their number.
 */
function streamNames(rules: readonly FaultRule[]): readonly string[] {
  const texts = rules.map((rule) => JSON.stringify(rule))
  return texts.map((text, index) => {
    const before = texts.slice(0, index).filter((other) => other === text).length
    return before === 0 ? text : `${text} ${before}`
  })
}
