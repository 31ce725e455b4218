import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { quote } from './formats/quote.js'
import { CHUNK_BYTES } from './image/format.js'
import type { PackedLayer, PackedTensor } from './image/manifest.js'
import { refuseUnmoved } from './image/moves-no-data.js'
import type { PackedModel } from './image/open-image.js'
import { readBytes } from './store/read-bytes.js'
import { verifyChunks } from './verify-chunks.js'

export interface LoadTensorOptions extends ExecuteOptions {
  /** Checks every chunk that the tensor touches; true when not given. */
  readonly verify?: boolean
}

/**
 * Reads one tensor into memory of its own. To verify it, the chunks that cover it are read whole: up to 2 MiB more.
 * @throws RangeError for a name that the model does not have; UnverifiableMediaError, VerificationError, TransferError, the signal's reason.
 */
export async function loadTensor(
  model: PackedModel,
  name: string,
  { verify = true, ...options }: LoadTensorOptions = {},
): Promise<Uint8Array> {
  const { store } = model
  refuseUnmoved(store)
  const { layer, tensor } = findTensor(model, name)
  const { offsetBytes, lengthBytes } = tensor
  if (lengthBytes === 0) return new Uint8Array(0)
  const unit = verify ? CHUNK_BYTES : 1
  const startBytes = Math.floor(offsetBytes / unit) * unit
  const endBytes = Math.min(Math.ceil((offsetBytes + lengthBytes) / unit) * unit, layer.lengthBytes)
  const bytes = await readBytes(store, layer.offsetBytes + startBytes, endBytes - startBytes, options)
  if (verify) await verifyChunks(model, layer, bytes, startBytes / CHUNK_BYTES)
  return bytes.slice(offsetBytes - startBytes, offsetBytes - startBytes + lengthBytes)
}

function findTensor(
  { name: modelName, layers }: PackedModel,
  name: string,
): { layer: PackedLayer; tensor: PackedTensor } {
  for (const layer of layers) {
    const tensor = layer.tensors.find((candidate) => candidate.name === name)
    if (tensor !== undefined) return { layer, tensor }
  }
  throw new RangeError(`name: expected a tensor of model ${quote(modelName)}, got ${quote(name)}`)
}
