import { AbortListeners } from '@gpunvme/nvme-spec/engine'
import type { AbortSignalLike } from '@gpunvme/nvme-spec/transport'

const aborts = new AbortListeners()

/** A call to a member; it ends early when the signal is aborted. */
export type MemberCall<T> = (signal: AbortSignal) => Promise<T>

/**
 * Makes all calls at once, and settles when every one of them has: memory that they share may be freed then. The first
 * that fails aborts the others.
 * @throws what the first failed with; the signal's reason.
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
    // Nothing failed: every call has given what it has to give.
    return settled as T[]
  } finally {
    stopListening()
  }
}
