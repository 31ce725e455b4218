import type { AbortSignalLike } from '@gpunvme/nvme-spec/transport'

/** Equivalent of AbortSignal's method. @throws the signal's reason. */
export function throwIfAborted(signal: AbortSignalLike | undefined): void {
  if (signal?.aborted === true) throw signal.reason
}
