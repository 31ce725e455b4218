import { DOORBELL_BASE } from '@gpunvme/nvme-spec'
import type { Controller } from '../controller/controller.js'
import { CompletionQueue, type SubmissionQueue } from '../queues/queue.js'
import type { WallClock } from './wall-clock.js'

/**
 * The doorbells as plain memory: a doorbell rings when it reads differently from what it read before. It reads 0h when
 * its queue is created, and a value that the controller cannot take is taken out again, so that every store that
 * means something is a change.
 *
 * The entries that a doorbell announces are read after it. The load here is atomic, and so is the host's store where
 * it is a JavaScript thread: in shared memory the language itself puts the entry's bytes before their use here. A
 * native thread needs a release store (a GPU a fence of the system and a store); that the machine code for an atomic
 * load is the same for memory that is not a SharedArrayBuffer is judged from V8's code, and a test with a native
 * thread runs on it.
 */
export class DoorbellPage {
  private readonly words: Int32Array
  private readonly controller: Controller
  private readonly clock: Pick<WallClock, 'tick'>
  private readonly strideDwords: number
  private readonly seen: Int32Array
  private readonly queues: (SubmissionQueue | CompletionQueue | undefined)[] = []
  /** The doorbells of queues that exist or have existed, which are looked at in every turn. */
  private readonly live: number[] = []

  /** `words` begins with the first doorbell. */
  constructor(words: Int32Array, controller: Controller, clock: Pick<WallClock, 'tick'>, strideBytes: number) {
    this.words = words
    this.controller = controller
    this.clock = clock
    this.strideDwords = strideBytes / 4
    this.seen = new Int32Array(words.length)
  }

  /** The host cannot have rung for a queue that it has not been told of: what stands there is of another time. */
  open(queue: SubmissionQueue | CompletionQueue): void {
    const index = (2 * queue.qid + (queue instanceof CompletionQueue ? 1 : 0)) * this.strideDwords
    Atomics.store(this.words, index, 0)
    this.seen[index] = 0
    if (this.queues[index] === undefined) this.live.push(index)
    this.queues[index] = queue
  }

  /** A host that does not use the page has rung: the page says so, for whoever rings next. */
  rung(index: number, value: number): void {
    Atomics.store(this.words, index, value)
    this.ring(index, value)
  }

  /** Looks at the doorbells of the queues; false where none was rung. */
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

  /** Looks at all of them, those of queues that do not exist too. */
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
    // The doorbell was rung before now, so what it starts is never early.
    this.clock.tick()
    this.seen[index] = value
    this.controller.write32(DOORBELL_BASE + 4 * index, value >>> 0)
    const queue = this.queues[index]
    const taken = queue === undefined ? 0 : queue instanceof CompletionQueue ? queue.head : queue.tail
    if (taken === value) return
    if (Atomics.compareExchange(this.words, index, value, taken) === value) this.seen[index] = taken
  }
}
