import { DOORBELL_BASE, registers } from '@gpunvme/nvme-spec'
import type { FaultAction, FaultPlan, FaultRule } from '@gpunvme/nvme-spec/transport'
import type { ServedCommand } from '../controller/command.js'
import { liveView } from '../controller/live-view.js'
import type { Trace } from '../controller/trace.js'
import { randomStream } from '../model/random.js'
import type { EventClock } from '../time/clock.js'
import { ArmedRule } from './armed-rule.js'
import { canDamage } from './damage.js'
import { checkFaultPlan, HEAD_DOORBELL, TAIL_DOORBELL } from './plan.js'
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

/** What a fault plan has done so far: a test asserts that its fault really happened. Only the simulator changes it. */
export interface FaultReport {
  /** How often each rule has struck, in the plan's order. */
  readonly struck: readonly number[]
  /** What has happened, oldest first; the first 10,000 are kept. */
  readonly strikes: readonly Strike[]
}

/** A fault plan under way: which rule strikes what. */
export class Faults {
  /** As in `FaultReport`. */
  private readonly struck: number[]
  private readonly strikes: Strike[] = []
  /** Whether any rule strikes commands, register accesses or CC.EN: where it is false nothing is looked at. */
  readonly strikesCommands: boolean
  readonly strikesAccesses: boolean
  private readonly rules: readonly ArmedRule[]
  private readonly clock: EventClock
  private readonly trace: Trace

  /** @throws FaultPlanError for a plan that is none. */
  constructor(plan: FaultPlan | undefined, seed: number, clock: EventClock, trace: Trace) {
    const { rules } = plan ?? { rules: [] }
    if (plan) checkFaultPlan(plan)
    this.clock = clock
    this.trace = trace
    const names = streamNames(rules)
    this.rules = rules.map((rule, index) => new ArmedRule(rule, index, randomStream(seed, names[index]!)))
    this.struck = rules.map(() => 0)
    this.strikesCommands = this.rules.some(({ subjects }) => subjects.includes('command'))
    this.strikesAccesses = this.rules.some(({ subjects }) => subjects.some((each) => each.startsWith('register')))
  }

  /** What has happened, for whoever asserts that it has: it goes on growing. */
  report(): FaultReport {
    return Object.freeze({ struck: liveView(this.struck), strikes: liveView(this.strikes) })
  }

  /** What strikes a command that the controller has looked at and not begun. */
  strikeCommand(command: ServedCommand, pageBytes: number): Struck | undefined {
    const { sq, sqe } = command
    return this.strike(
      () => `SQ ${sq.qid} CID ${sqe.CID}`,
      (rule) => rule.concernsCommand(command) && canDamage(rule.action, command, pageBytes),
    )
  }

  /** What strikes an access to the dword at `offset` of BAR0. */
  strikeAccess(access: 'read' | 'write', offset: number, doorbellStrideBytes: number): Struck | undefined {
    const { name, qid } = registerAt(offset, doorbellStrideBytes)
    return this.strike(
      () => `${access} ${qid === undefined ? name : name.replace('y', String(qid))}`,
      (rule) => rule.concernsAccess(access, name, qid),
    )
  }

  /** Whether a change of CC.EN is struck so. */
  strikeEnable(kind: 'ready-never-rises' | 'ready-never-falls'): boolean {
    const struck = this.strike(
      () => 'CC.EN',
      ({ action }) => action.kind === kind,
    )
    if (struck) this.happened(struck, kind)
    return struck !== undefined
  }

  /** Has `suffer` called when the time of a rule has come. */
  schedule(suffer: (struck: Struck) => void): void {
    for (const { match, action, index } of this.rules) {
      if (match.atNs === undefined) continue
      this.clock.schedule(match.atNs, () => {
        const struck = new Struck('time')
        struck.add(action, index)
        suffer(struck)
      })
    }
  }

  /** An action that was to strike has its effect now: it is counted, and stands in the trace. */
  happened(struck: Struck, kind: FaultAction['kind']): void {
    const rule = struck.ruleOf(kind)
    if (rule === undefined) return
    this.struck[rule]!++
    this.trace.fault(rule, kind, struck.where)
    if (this.strikes.length === MOST_STRIKES) return
    this.strikes.push(Object.freeze({ atNs: this.clock.now(), rule, kind, where: struck.where }))
  }

  /** Every rule that is concerned counts; of each kind the first that is chosen strikes. */
  private strike(where: () => string, isConcerned: (rule: ArmedRule) => boolean): Struck | undefined {
    const nowNs = this.clock.now()
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
}

/** What stands at an offset, as plans name it; a queue's identifier for a doorbell. */
function registerAt(offset: number, strideBytes: number): { readonly name: string; readonly qid?: number } {
  if (offset >= DOORBELL_BASE) {
    const index = Math.floor((offset - DOORBELL_BASE) / strideBytes)
    return { name: index % 2 === 0 ? TAIL_DOORBELL : HEAD_DOORBELL, qid: index >> 1 }
  }
  const found = registers.find((each) => offset >= each.offset && offset < each.offset + each.widthBits / 8)
  return { name: found?.name ?? '' }
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
