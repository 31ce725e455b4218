import type { AbortSignalLike } from '@gpunvme/nvme-spec/transport'
import type { StoredModel } from './load/extent.js'
import { arrayTooLong } from './load/lease.js'
import { requireModel } from './load/require-model.js'
import { openLoader } from './load/loader.js'
import { loadPlanFor } from './load/options.js'
import { MAX_ARRAY_BYTES } from './store/memory-bytes.js'

/** Options of `loadTensor`. */
export interface LoadTensorOptions {
  readonly signal?: AbortSignalLike
  /** Time limit of each command, in nanoseconds from its submission. */
  readonly timeoutNs?: number
  /** 'full' checks each chunk that the tensor touches. Default: 'full'. */
  readonly verify?: 'full' | 'off'
}

/**
 * Reads one tensor into new memory. To verify it, the chunks that cover it are read completely: up to 2 MiB more.
 * @throws ExtentNotFoundError, LoaderError (UNVERIFIABLE_MEDIA, NO_CHECKSUMS, ARRAY_TOO_LONG), VerificationError,
 * TransferError, the signal's reason. ARRAY_TOO_LONG comes before anything is read.
 */
export async function loadTensor(
  model: StoredModel,
  name: string,
  options: LoadTensorOptions = {},
): Promise<Uint8Array> {
  requireModel(model)
  const extent = model.tensor(name)
  const longest = extent.pieces.reduce((max, { lengthBytes }) => Math.max(max, lengthBytes), 0)
  if (longest > MAX_ARRAY_BYTES) throw arrayTooLong(extent.name, 'a tensor', longest)
  const slotBytes = Math.max(1, loadPlanFor(model.store, extent, options).memoryBytes)
  await using loader = openLoader(model, { ...options, slots: 1, slotBytes })
  const lease = await loader.request(extent).lease()
  return lease.tensor(name).slice()
}
