import type { FaultAction, FaultMatch, FaultRule } from '@gpunvme/nvme-spec/transport'
import type { ServedCommand } from '../controller/command.js'
import type { Random } from '../model/random.js'
import { addressesBlocks, subjectsOf } from './plan.js'
import type { Subject } from './vocabulary.js'

/** A rule of a plan under way, with what it has counted. */
export class ArmedRule {
  readonly match: FaultMatch
  readonly action: FaultAction
  readonly index: number
  readonly subjects: readonly Subject[]
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

  isOpenAt(nowNs: number): boolean {
    const { fromNs = 0, untilNs = Infinity } = this.match
    return nowNs >= fromNs && nowNs < untilNs
  }

  concernsCommand(command: ServedCommand): boolean {
    if (!this.subjects.includes('command')) return false
    const { qid, opcode, nsid, lba } = this.match
    const { sq, sqe, readWrite } = command
    if (qid !== undefined && qid !== sq.qid) return false
    if (opcode !== undefined && opcode !== sqe.OPC) return false
    if (nsid !== undefined && nsid !== sqe.NSID) return false
    if (lba === undefined) return true
    if (command.isAdmin() || !addressesBlocks(sqe.OPC)) return false
    return readWrite.SLBA <= lba[1] && readWrite.SLBA + readWrite.NLB >= lba[0]
  }

  concernsAccess(access: 'read' | 'write', register: string, qid: number | undefined): boolean {
    if (!this.subjects.includes(`register ${access}`) || this.match.register !== register) return false
    return this.match.qid === undefined || this.match.qid === qid
  }

  /** Whether this one is struck, of all that concern the rule. */
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
