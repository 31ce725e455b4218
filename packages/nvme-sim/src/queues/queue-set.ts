import type { CompletionQueue, SubmissionQueue } from './queue.js'

/** The queues that exist, by identifier. Both directions of 0 are the Admin queues. */
export class QueueSet {
  /** Is told of every queue before the host can know of it, for who looks for doorbells in shared memory. */
  onCreate: (queue: SubmissionQueue | CompletionQueue) => void = () => undefined
  /** Whose turn it is when the controller fetches: an index into `inTurn`. */
  private turn = 0
  private inTurn: SubmissionQueue[] = []
  private readonly submission = new Map<number, SubmissionQueue>()
  private readonly completion = new Map<number, CompletionQueue>()

  sq(qid: number): SubmissionQueue | undefined {
    return this.submission.get(qid)
  }

  cq(qid: number): CompletionQueue | undefined {
    return this.completion.get(qid)
  }

  hasIoQueues(): boolean {
    return [...this.submission.keys(), ...this.completion.keys()].some((qid) => qid !== 0)
  }

  /** Whether an I/O completion queue interrupts on this vector. */
  isVectorUsed(vector: number): boolean {
    return [...this.completion.values()].some((cq) => cq.qid !== 0 && cq.vector === vector)
  }

  addCq(cq: CompletionQueue): void {
    this.completion.set(cq.qid, cq)
    this.onCreate(cq)
  }

  addSq(sq: SubmissionQueue): void {
    this.submission.set(sq.qid, sq)
    this.inTurn.push(sq)
    sq.cq.submissionQueues++
    this.onCreate(sq)
  }

  removeSq(sq: SubmissionQueue): void {
    this.submission.delete(sq.qid)
    this.inTurn = this.inTurn.filter((other) => other !== sq)
    sq.cq.submissionQueues--
  }

  removeCq(cq: CompletionQueue): void {
    this.completion.delete(cq.qid)
  }

  clear(): void {
    this.submission.clear()
    this.completion.clear()
    this.inTurn = []
  }

  /**
   * The next queue to fetch one entry from, round robin (Base 2.1 §3.4.4.1). A queue whose completions find no slot
   * is passed over until they do, so that it cannot take what the others need (Base 2.1 §3.3.1.2.1).
   */
  next(): SubmissionQueue | undefined {
    const { inTurn } = this
    for (let i = 0; i < inTurn.length; i++) {
      const index = (this.turn + i) % inTurn.length
      const sq = inTurn[index]!
      if (sq.isEmpty() || sq.cq.held.length > 0) continue
      this.turn = index + 1
      return sq
    }
    return undefined
  }
}
