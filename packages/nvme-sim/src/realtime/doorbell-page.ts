import { DOORBELL_BASE } from '@gpunvme/nvme-spec'
import type { Controller } from '../controller/controller.js'
import { CompletionQueue, type SubmissionQueue } from '../queues/queue.js'
import type { WallClock } from './wall-clock.js'

/**
 * Doorbells as plain memory: a doorbell rings when its value has changed since the last poll. It reads 0h when its
 * queue is created, and an invalid value is removed again, so that every meaningful store is a change.
 *
 * Entries are read after the doorbell that announces them. The load here is atomic, and so is the store of a JavaScript
 * host: in shared memory the language itself orders the entry's bytes before their use here. A native thread needs a
 * release store (a GPU: a system fence and the store). That the machine code of an atomic load is the same for memory
 * other than a SharedArrayBuffer is judged from V8's code, and a test with a native thread runs on it.
 */
export class DoorbellPage {
  private readonly words: Int32Array
  private readonly controller: Controller
  private readonly clock: Pick<WallClock, 'tick'>
  private readonly strideDwords: number
  private readonly seen: Int32Array
  private readonly queues: (SubmissionQueue | CompletionQueue | undefined)[] = []
  /** Doorbells of queues that exist or have existed; they are polled in every turn. */
  private readonly live: number[] = []

  /** `words` begins with the first doorbell. */
  constructor(words: Int32Array, controller: Controller, clock: Pick<WallClock, 'tick'>, strideBytes: number) {
    this.words = words
    this.controller = controller
    this.clock = clock
    this.strideDwords = strideBytes / 4
    this.seen = new Int32Array(words.length)
  }

  /** The host cannot have rung for a queue before its creation: a value here is stale. */
  open(queue: SubmissionQueue | CompletionQueue): void {
    const index = (2 * queue.qid + (queue instanceof CompletionQueue ? 1 : 0)) * this.strideDwords
    Atomics.store(this.words, index, 0)
    this.seen[index] = 0
    if (this.queues[index] === undefined) this.live.push(index)
    this.queues[index] = queue
  }

  /** The host has rung without the page: updates the page for later writers. */
  rung(index: number, value: number): void {
    Atomics.store(this.words, index, value)
    this.ring(index, value)
  }

  /** Polls the doorbells of the queues; returns false if none was rung. */
  poll(): boolean {
    const { live, words, seen } = this
    let rung = false
    for (let i = 0; i < live.length; i++) {
      const index = live[i]!
      const value = Atomics.load(words, index)
      if (value === seen[index]) continue
      this.ring(index, value)
      rung = true
    }
    return rung
  }

  /** Polls all doorbells, including those of queues that do not exist. */
  scan(): boolean {
    const { words, seen } = this
    let rung = false
    for (let index = 0; index < words.length; index++) {
      const value = Atomics.load(words, index)
      if (value === seen[index]) continue
      this.ring(index, value)
      rung = true
    }
    return rung
  }

  private ring(index: number, value: number): void {
    // The doorbell was rung before now, so its effects are never early.
    this.clock.tick()
    this.seen[index] = value
    this.controller.write32(DOORBELL_BASE + 4 * index, value >>> 0)
    const queue = this.queues[index]
    const taken = queue === undefined ? 0 : queue instanceof CompletionQueue ? queue.head : queue.tail
    if (taken === value) return
    if (Atomics.compareExchange(this.words, index, value, taken) === value) this.seen[index] = taken
  }
}
