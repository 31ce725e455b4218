import type { AbortSignalLike } from '@gpunvme/nvme-spec/transport'
import { throwIfAborted } from '../throw-if-aborted.js'
import { InFlight } from './in-flight.js'

/**
 * A fixed number of turns, handed out in order of arrival. Transfers need one each, so their number bounds what is in
 * flight, for all calls that share the turns. A turn is what a transfer works with, for example a buffer.
 */
export class Turns<T> {
  readonly all: readonly T[]
  private readonly free: T[]
  private readonly waiting: ((turn: T) => void)[] = []

  constructor(turns: Iterable<T>) {
    this.all = [...turns]
    this.free = [...this.all]
  }

  take(): T | Promise<T> {
    return this.free.pop() ?? new Promise((taken) => this.waiting.push(taken))
  }

  give(turn: T): void {
    const next = this.waiting.shift()
    if (next === undefined) this.free.push(turn)
    else next(turn)
  }
}

/**
 * The transfers of one call that moves pieces, each with a turn.
 *
 * - The first failure ends the call: no transfer starts after it. The next `take`, `drain` or `inOrder` throws it.
 * - No transfer starts after an abort. Transfers in flight end early only if they use the signal themselves.
 */
export class Transfers<T> extends InFlight {
  protected readonly turns: Turns<T>
  private readonly signal: AbortSignalLike | undefined
  private latest: Promise<void> | undefined

  constructor(turns: Turns<T>, signal?: AbortSignalLike) {
    super()
    this.turns = turns
    this.signal = signal
  }

  /** Waits for a free turn and takes it. @throws the error of an earlier transfer; the signal's reason. */
  async take(): Promise<T> {
    this.throwIfStopped()
    const turn = await this.turns.take()
    if (this.isStopped) this.turns.give(turn)
    this.throwIfStopped()
    return turn
  }

  /**
   * Starts a transfer without waiting; afterwards its turn is free again.
   * @param landed called when this transfer and all earlier ones with this callback have succeeded: in order.
   */
  run(turn: T, use: (turn: T) => Promise<void>, landed?: () => void): void {
    const earlier = this.latest
    const transfer = async () => {
      await use(turn)
      if (landed === undefined) return
      await earlier
      landed()
    }
    const started = this.start(transfer, () => this.turns.give(turn))
    if (landed !== undefined) this.latest = started
  }

  /** Transfers all pieces, in any order. @throws the error of the first failure; the signal's reason. */
  async each<P>(pieces: Iterable<P>, use: (piece: P, turn: T) => Promise<void>): Promise<void> {
    for (const piece of pieces) this.run(await this.take(), (turn) => use(piece, turn))
    await this.drain()
  }

  /**
   * Transfers all pieces ahead of their use, and yields the results in order. A turn is held until the next result is
   * requested. Pieces before the first failure are yielded. No other transfers may use the turns meanwhile.
   * @throws the error of the first piece that failed; the signal's reason.
   */
  async *inOrder<P, V>(
    pieces: Iterable<P>,
    use: (piece: P, turn: T) => Promise<V>,
  ): AsyncGenerator<V, void, undefined> {
    const { turns } = this
    const ahead: { readonly turn: T; readonly result: Promise<V> }[] = []
    const next = async function* () {
      const { turn, result } = ahead.shift()!
      yield await result
      turns.give(turn)
    }
    for (const piece of pieces) {
      while (ahead.length === turns.all.length || (this.isStopped && ahead.length > 0)) yield* next()
      const turn = await this.take()
      ahead.push({ turn, result: this.start(async () => use(piece, turn)) })
    }
    while (ahead.length > 0) yield* next()
  }

  private get isStopped(): boolean {
    return this.failure !== undefined || this.signal?.aborted === true
  }

  private throwIfStopped(): void {
    if (this.failure !== undefined) throw this.failure.error
    throwIfAborted(this.signal)
  }
}
