import { Arbiter } from './arbiter.js'
import type { CompletionQueue, SubmissionQueue } from './queue.js'

/** The existing queues by identifier. Both queues of identifier 0 are the Admin queues. */
export class QueueSet {
  /** Called for every queue before the host can know of it, for code that polls doorbells in shared memory. */
  onCreate: (queue: SubmissionQueue | CompletionQueue) => void = () => undefined
  /** Selects the next submission queue. */
  readonly arbiter = new Arbiter()
  // By identifier, in arrays: a Map would take most of the time of a doorbell.
  private readonly submission: (SubmissionQueue | undefined)[]
  private readonly completion: (CompletionQueue | undefined)[]

  /** @param count maximum number of queues of each kind, including the Admin queue. */
  constructor(count: number) {
    this.submission = new Array<SubmissionQueue | undefined>(count).fill(undefined)
    this.completion = new Array<CompletionQueue | undefined>(count).fill(undefined)
  }

  sq(qid: number): SubmissionQueue | undefined {
    return this.submission[qid]
  }

  cq(qid: number): CompletionQueue | undefined {
    return this.completion[qid]
  }

  /** Returns all queues, in order of their identifiers. */
  all(): (SubmissionQueue | CompletionQueue)[] {
    return [...this.submission, ...this.completion].filter((queue) => queue !== undefined)
  }

  hasIoQueues(): boolean {
    return this.all().some(({ qid }) => qid !== 0)
  }

  /** Whether an I/O completion queue interrupts on this vector. */
  isVectorUsed(vector: number): boolean {
    return this.completion.some((cq) => cq !== undefined && cq.qid !== 0 && cq.vector?.number === vector)
  }

  addCq(cq: CompletionQueue): void {
    this.completion[cq.qid] = cq
    this.onCreate(cq)
  }

  addSq(sq: SubmissionQueue): void {
    this.submission[sq.qid] = sq
    this.arbiter.add(sq)
    sq.cq.submissionQueues++
    this.onCreate(sq)
  }

  removeSq(sq: SubmissionQueue): void {
    this.submission[sq.qid] = undefined
    this.arbiter.remove(sq)
    sq.cq.submissionQueues--
    // Commands whose completion did not fit are completed by the deletion (Base 2.1 §5.2.4).
    sq.cq.discard(sq)
  }

  removeCq(cq: CompletionQueue): void {
    cq.acknowledgeAll()
    this.completion[cq.qid] = undefined
  }

  clear(): void {
    for (const cq of this.completion) cq?.acknowledgeAll()
    this.submission.fill(undefined)
    this.completion.fill(undefined)
    this.arbiter.clear()
  }

  /**
   * Returns the next queue to fetch one entry from. A queue whose completions find no slot is skipped until they do, so
   * that it cannot block the others (Base 2.1 §3.3.1.2.1).
   */
  next(): SubmissionQueue | undefined {
    return this.arbiter.next()
  }
}
