import type { FaultAction, FaultMatch, FaultRule } from '../transport.js'
import { subjectsOf } from './plan.js'
import type { Random } from './random.js'
import type { Subject } from './vocabulary.js'

/** A rule of a plan under way, with what it has counted. */
export class ArmedRule {
  readonly match: FaultMatch
  readonly action: FaultAction
  /** Its place in the plan. */
  readonly index: number
  /** What it may strike. */
  readonly subjects: readonly Subject[]
  /** How often `chooses` said yes and its action was taken; counted by the plan. */
  timesStruck = 0
  /** What the other conditions let through so far. */
  private seen = 0
  private readonly random: Random

  constructor(rule: FaultRule, index: number, random: Random) {
    this.match = rule.match
    this.action = rule.action
    this.index = index
    this.subjects = subjectsOf(rule)
    this.random = random
  }

  /** Whether the time is one that `fromNs` and `untilNs` allow. */
  isOpenAt(nowNs: number): boolean {
    const { fromNs = 0, untilNs = Infinity } = this.match
    return nowNs >= fromNs && nowNs < untilNs
  }

  /** Whether it strikes such an access to this register; `qid` is the queue of a doorbell. */
  concernsAccess(access: 'read' | 'write', register: string, qid: number | undefined): boolean {
    if (!this.subjects.includes(`register ${access}`) || this.match.register !== register) return false
    return this.match.qid === undefined || this.match.qid === qid
  }

  /** Whether this one is struck, of all that concern the rule: to be asked once for each of them. */
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
