import type { FaultAction, FaultMatch, FaultRule } from '../transport.js'
import { subjectsOf } from './plan.js'
import type { Random } from './random.js'
import type { Subject } from './vocabulary.js'

/** A rule of a plan in execution, with its counters. */
export class ArmedRule {
  readonly match: FaultMatch
  readonly action: FaultAction
  /** Index in the plan. */
  readonly index: number
  /** What it can apply to. */
  readonly subjects: readonly Subject[]
  /** Number of times that `chooses` was true and the action was taken; counted by the plan. */
  timesStruck = 0
  /** Number of matches of the other conditions so far. */
  private seen = 0
  private readonly random: Random

  constructor(rule: FaultRule, index: number, random: Random) {
    this.match = rule.match
    this.action = rule.action
    this.index = index
    this.subjects = subjectsOf(rule)
    this.random = random
  }

  /** Whether `fromNs` and `untilNs` include this time. */
  isOpenAt(nowNs: number): boolean {
    const { fromNs = 0, untilNs = Infinity } = this.match
    return nowNs >= fromNs && nowNs < untilNs
  }

  /** Whether it applies to such an access to this register; `qid` is the queue of a doorbell. */
  concernsAccess(access: 'read' | 'write', register: string, qid: number | undefined): boolean {
    if (!this.subjects.includes(`register ${access}`) || this.match.register !== register) return false
    return this.match.qid === undefined || this.match.qid === qid
  }

  /** Counts a match and returns whether the rule applies to it. Call it once per match. */
  chooses(): boolean {
    const { nth = 0, every, probability = 1, times = Infinity } = this.match
    this.seen++
    if (every === undefined ? nth > 0 && this.seen !== nth : !this.isInTurn(nth || every, every)) return false
    if (probability < 1 && this.random() >= probability) return false
    return this.timesStruck < times
  }

  private isInTurn(first: number, every: number): boolean {
    return this.seen >= first && (this.seen - first) % every === 0
  }
}
