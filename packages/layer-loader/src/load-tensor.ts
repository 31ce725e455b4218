import type { AbortSignalLike } from '@gpunvme/nvme-spec/transport'
import { asModel, type Loadable } from './load/as-model.js'
import { openLoader } from './load/loader.js'
import { loadPlanFor } from './load/options.js'

export interface LoadTensorOptions {
  readonly signal?: AbortSignalLike
  /** For each command, from its submission. */
  readonly timeoutNs?: number
  /** Checks every chunk that the tensor touches; 'full' when not given. */
  readonly verify?: 'full' | 'off'
}

/**
 * Reads one tensor into memory of its own. To verify it, the chunks that cover it are read whole: up to 2 MiB more.
 * @throws RangeError for a name that the model does not have; UnverifiableMediaError, NoChecksumsError,
 * VerificationError, TransferError, the signal's reason.
 */
export async function loadTensor(
  loadable: Loadable,
  name: string,
  options: LoadTensorOptions = {},
): Promise<Uint8Array> {
  const model = asModel(loadable)
  const extent = model.tensor(name)
  const slotBytes = Math.max(1, loadPlanFor(model.store, extent, options).memoryBytes)
  await using loader = openLoader(model, { ...options, slots: 1, slotBytes })
  const lease = await loader.request(extent).lease()
  // Not by the name that was given, which may be one that stands for it.
  return lease.tensor(lease.name).slice()
}
