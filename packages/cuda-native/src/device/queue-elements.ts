/** Elements of the array of `gnv_queue`, which engines reserve. */
export class QueueElements {
  readonly #isReserved: boolean[]

  constructor(maxQueues: number) {
    this.#isReserved = Array<boolean>(maxQueues).fill(false)
  }

  /** Reserves consecutive elements; returns the first. @throws RangeError if there is no such range. */
  reserve(queues: number): number {
    const { length } = this.#isReserved
    for (let first = 0; first + queues <= length; first++) {
      if (this.#isReserved.slice(first, first + queues).includes(true)) continue
      this.#isReserved.fill(true, first, first + queues)
      return first
    }
    const reserved = this.#isReserved.filter(Boolean).length
    throw new RangeError(
      `maxQueues: expected room for ${queues} more queues, got ${length} with ${reserved} reserved; ` +
        'raise it in deviceQueues, or free() the engines of closed controllers',
    )
  }

  /** Returns elements that `reserve` gave. */
  release(first: number, queues: number): void {
    this.#isReserved.fill(false, first, first + queues)
  }
}
