import { AbortListeners } from '@gpunvme/nvme-spec/engine'
import type { AbortSignalLike } from '@gpunvme/nvme-spec/transport'

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
  let failure: { readonly error: unknown } | undefined
  try {
    const settled = await Promise.all(
      calls.map(async (call) => {
        try {
          return await call(aborting.signal)
        } catch (error) {
          failure ??= { error }
          aborting.abort(error)
          return undefined
        }
      }),
    )
    if (failure !== undefined) throw failure.error
    // No call failed.
    return settled as T[]
  } finally {
    stopListening()
  }
}
