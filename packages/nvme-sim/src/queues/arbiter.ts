import type { SubmissionQueue } from './queue.js'

/** Settings of the Arbitration feature, as counts (Base 2.1 §5.1.25.1.1). */
export interface ArbitrationSettings {
  /** Commands taken from one queue before the next queue's turn; Infinity for no limit. */
  readonly burst: number
  /** Commands of the High, Medium and Low class per round. */
  readonly weights: readonly [high: number, medium: number, low: number]
}

/** The classes of the weighted mechanism: strict ones first, then the weighted ones. */
const ADMIN = 0
const URGENT = 1
const HIGH = 2
const LEVELS = 3

/**
 * Selects the submission queue of the next command. Round robin treats all queues equally, including the Admin queue
 * (Base 2.1 §3.4.4.1); the weighted mechanism serves Admin, then Urgent, then High, Medium and Low by weight (Base 2.1
 * §3.4.4.2).
 */
export class Arbiter {
  /** Round robin uses only the first ring. */
  private readonly rings = [new Ring(), new Ring(), new Ring(), new Ring(), new Ring()] as const
  private isWeighted = false
  private burst = 1
  private weights: readonly number[] = [1, 1, 1]
  private level = 0
  /** Commands left for the level in this round. */
  private credits = 1

  /** Sets CC.AMS when the controller is enabled, before there are queues. */
  select(isWeighted: boolean): void {
    this.isWeighted = isWeighted
  }

  configure({ burst, weights }: ArbitrationSettings): void {
    this.burst = burst
    this.weights = weights
    this.beginRound()
  }

  add(sq: SubmissionQueue): void {
    this.ringOf(sq).add(sq)
  }

  remove(sq: SubmissionQueue): void {
    this.ringOf(sq).remove(sq)
  }

  clear(): void {
    for (const ring of this.rings) ring.clear()
    this.beginRound()
  }

  /** Returns the queue to take one command from; undefined if all are empty. */
  next(): SubmissionQueue | undefined {
    const { rings, burst } = this
    const first = rings[ADMIN].next(burst)
    if (first !== undefined || !this.isWeighted) return first
    const urgent = rings[URGENT].next(burst)
    if (urgent !== undefined) return urgent
    // Tries every level once, and the one that ran out of credits again.
    for (let tries = 0; tries <= LEVELS; tries++) {
      const ring = rings[HIGH + this.level]!
      const sq = this.credits > 0 ? ring.next(burst) : undefined
      if (sq !== undefined) {
        this.credits--
        return sq
      }
      // A burst ends with its level's credits.
      ring.endBurst()
      this.level = (this.level + 1) % LEVELS
      this.credits = this.weights[this.level]!
    }
    this.beginRound()
    return undefined
  }

  private beginRound(): void {
    this.level = 0
    this.credits = this.weights[0]!
  }

  private ringOf(sq: SubmissionQueue): Ring {
    if (!this.isWeighted || sq.qid === 0) return this.rings[ADMIN]
    return this.rings[URGENT + sq.priority]!
  }
}

/** Queues that take turns, each for a burst of commands. */
class Ring {
  private readonly sqs: SubmissionQueue[] = []
  /** The current queue, and how many commands its turn has had. */
  private at = -1
  private taken = 0

  add(sq: SubmissionQueue): void {
    this.sqs.push(sq)
  }

  remove(sq: SubmissionQueue): void {
    const index = this.sqs.indexOf(sq)
    this.sqs.splice(index, 1)
    if (index === this.at) this.endBurst()
    // The queue that moves into its place is next.
    if (index <= this.at) this.at--
  }

  clear(): void {
    this.sqs.length = 0
    this.at = -1
  }

  endBurst(): void {
    this.taken = Infinity
  }

  next(burst: number): SubmissionQueue | undefined {
    const { sqs } = this
    if (this.at >= 0 && this.taken < burst) {
      const sq = sqs[this.at]!
      if (sq.isEligible()) {
        this.taken++
        return sq
      }
    }
    for (let i = 1; i <= sqs.length; i++) {
      const index = (this.at + i) % sqs.length
      const sq = sqs[index]!
      if (!sq.isEligible()) continue
      this.at = index
      this.taken = 1
      return sq
    }
    return undefined
  }
}
