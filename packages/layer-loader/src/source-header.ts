import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { quote } from './formats/quote.js'
import type { PackedModel } from './image/open-image.js'
import { readRegion } from './image/read-region.js'

/**
 * Reads the bytes before the tensor data of the packed file, unchanged: a GGUF's hyper-parameters and tokenizer, a
 * safetensors file's metadata.
 * @throws ImageChecksumError; errors of reading the store.
 */
export function readSourceHeader(model: PackedModel, options?: ExecuteOptions): Promise<Uint8Array> {
  return readRegion(model.store, `source header of ${quote(model.name)}`, model.manifest.header, options)
}
