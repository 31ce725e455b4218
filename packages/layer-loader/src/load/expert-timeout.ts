import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { quote } from '../formats/quote.js'
import { deferred } from './deferred.js'
import type { Lease } from './lease.js'
import type { Ticket } from './ticket.js'

/** Waits for an expert. @throws ExpertTimeoutError, the signal's reason, errors of `arrival`. */
export async function withinLimits(
  { arrival, ticket }: { readonly arrival: Promise<Lease>; readonly ticket: Ticket },
  { signal, timeoutMs }: { readonly signal?: AbortSignal; readonly timeoutMs?: number },
): Promise<Lease> {
  const limit = deferred<never>()
  const onAbort = () => limit.reject(signal?.reason)
  const onTimeout = () => limit.reject(new ExpertTimeoutError(ticket, timeoutMs!))
  const timer = timeoutMs === undefined ? undefined : setTimeout(onTimeout, timeoutMs)
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([arrival, limit.promise])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

/** Error of a request for an expert that was not in memory within its `timeoutMs`. */
export class ExpertTimeoutError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_EXPERT_TIMEOUT'
  readonly category = 'failure'
  readonly timeoutMs: number

  constructor({ extent, state }: Pick<Ticket, 'extent' | 'state'>, timeoutMs: number) {
    const isWaiting = state === 'waiting'
    super(`${quote(extent.name)} was not in memory within ${timeoutMs} ms`, {
      facts: [isWaiting ? 'its read was waiting for a slot: leases hold the slots of the cache' : 'it was being read'],
      next: isWaiting
        ? 'release leases earlier, or set more `cacheBytes`'
        : 'call prefetch(layer, experts) earlier, or allow more time',
    })
    this.timeoutMs = timeoutMs
  }
}
