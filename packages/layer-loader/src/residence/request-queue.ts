import type { LoadableModel } from '../load/extent.js'
import type { Lease, LoadReport } from '../load/lease.js'
import type { Loader } from '../load/loader.js'
import type { Ticket } from '../load/ticket.js'

/** A requested layer. */
interface Requested {
  readonly layer: string
  readonly ticket: Ticket
}

/**
 * The layers that will be taken from a loader, all requested in the order of their use. They arrive in that order, as
 * far ahead as there are slots.
 */
export class RequestQueue {
  readonly loader: Loader<LoadableModel>
  private readonly onArrival: ((report: LoadReport) => void) | undefined
  private readonly queue: Requested[] = []

  /** @param onArrival called when a layer is in memory */
  constructor(loader: Loader<LoadableModel>, onArrival?: (report: LoadReport) => void) {
    this.loader = loader
    this.onArrival = onArrival
  }

  /** Whether the first layer waits for the release of a taken one. */
  get isHeld(): boolean {
    const { held, slots } = this.loader
    return this.queue[0]?.ticket.state === 'waiting' && held === slots
  }

  /** Sets the layers that will be taken. Requests that match the order are kept; others are cancelled. */
  expect(layers: readonly string[]): void {
    const isKept = ({ layer, ticket }: Requested, index: number) => layer === layers[index] && ticket.state !== 'failed'
    const kept = this.queue.findIndex((coming, index) => !isKept(coming, index))
    for (const { ticket } of this.queue.splice(kept < 0 ? this.queue.length : kept)) ticket.cancel()
    for (const layer of layers.slice(this.queue.length)) {
      const ticket = this.loader.request(this.loader.model.layer(layer))
      ticket.ready().then(this.onArrival, () => undefined)
      this.queue.push({ layer, ticket })
    }
  }

  /**
   * Waits for the first layer and takes it.
   * @throws errors of loading it; the signal's reason, after which it is still the first
   */
  async take(signal: AbortSignal): Promise<Lease> {
    const { ticket } = this.queue[0]!
    await unlessAborted(ticket.ready(), signal).catch((error: unknown) => {
      if (!signal.aborted) this.queue.shift()
      throw error
    })
    // Only now: a request without a lease can be cancelled in any state.
    signal.throwIfAborted()
    this.queue.shift()
    return ticket.lease()
  }
}

/** @throws errors of `promise`; the signal's reason as soon as it is aborted */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  let stop = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
