/**
 * Transfers in flight for one purpose: the pieces of a call, the batches and checks of an extent, the reads of a mirror's
 * members.
 *
 * - The first failure is kept, and is recorded before `ended` is called.
 * - Memory may be freed when `size` is 0 or `settled` has resolved: nothing touches it afterwards.
 * - No rejection is unhandled, whether or not the caller waits for the transfer.
 */
export class InFlight implements AsyncDisposable {
  private readonly running = new Set<Promise<void>>()
  private count = 0
  private first: { readonly error: unknown } | undefined

  /** Number of transfers that have not ended. */
  get size(): number {
    return this.count
  }

  /** The first failure. */
  get failure(): { readonly error: unknown } | undefined {
    return this.first
  }

  /** Records a failure unless one is recorded: an error of a transfer, or a reason to start no more. */
  fail(error: unknown): void {
    this.first ??= { error }
  }

  /**
   * Starts a transfer, and returns its result.
   * @param ended called after the transfer has ended, is no longer counted, and its failure is recorded.
   */
  start<V>(transfer: () => Promise<V>, ended?: () => void): Promise<V> {
    // Counted before it starts: an abort during the start must not find the memory free. The async function turns a
    // synchronous throw into a failure.
    this.count++
    const result = (async () => transfer())()
    const running = result
      .catch((error: unknown) => this.fail(error))
      .then(() => {
        this.running.delete(running)
        this.count--
        ended?.()
      })
    this.running.add(running)
    return result
  }

  /** Waits for all transfers in flight, whether they succeed or fail. */
  async settled(): Promise<void> {
    await Promise.all(this.running)
  }

  /** Waits for all transfers in flight. @throws the error of the first failure. */
  async drain(): Promise<void> {
    await this.settled()
    if (this.first !== undefined) throw this.first.error
  }

  /** Same as `settled`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.settled()
  }
}
