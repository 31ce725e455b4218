import { AbortListeners } from '@gpunvme/nvme-spec/engine'
import type { AbortSignalLike } from '@gpunvme/nvme-spec/transport'
import { InFlight } from './in-flight.js'

const aborts = new AbortListeners()

/** A call to a member, which ends early if the signal is aborted. */
export type MemberCall<T> = (signal: AbortSignal) => Promise<T>

/**
 * Runs all calls at once, and settles when all have settled: memory that they share may then be freed. The first
 * failure aborts the others.
 * @throws the first failure; the signal's reason.
 */
export async function together<T>(calls: readonly MemberCall<T>[], signal?: AbortSignalLike): Promise<T[]> {
  const aborting = new AbortController()
  const abort = () => aborting.abort(signal?.reason)
  if (signal?.aborted === true) abort()
  const stopListening = aborts.listen(signal, abort)
  try {
    const inFlight = new InFlight()
    const stop = () => inFlight.failure && aborting.abort(inFlight.failure.error)
    const results = calls.map((call) => inFlight.start(() => call(aborting.signal), stop))
    await inFlight.drain()
    return await Promise.all(results)
  } finally {
    stopListening()
  }
}
