import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { quote } from './formats/quote.js'
import type { PackedModel } from './image/open-image.js'
import { readRegion } from './image/read-region.js'

/**
 * The bytes that came before the tensor data in the file that the model was packed from, as they were: a GGUF's
 * hyper-parameters and tokenizer, a safetensors file's metadata.
 * @throws ImageChecksumError, and what reading the store throws.
 */
export function readSourceHeader(model: PackedModel, options?: ExecuteOptions): Promise<Uint8Array> {
  return readRegion(model.store, `source header of ${quote(model.name)}`, model.header, options)
}
