import { ggmlTypeByName } from '../formats/ggml-types.js'
import { safetensorsDtype } from '../formats/safetensors-dtypes.js'
import { elementsOf } from '../formats/shape.js'

/**
 * Returns the length of a tensor in its source format; undefined for an unknown format or dtype, as in an image by a
 * later version.
 */
export function tensorLengthBytes(format: string, dtype: string, shape: readonly number[]): number | undefined {
  const elements = elementsOf(shape)
  if (format === 'gguf') {
    const type = ggmlTypeByName(dtype)
    return type && (elements / type.blockElements) * type.blockBytes
  }
  const bits = format === 'safetensors' ? safetensorsDtype(dtype)?.bits : undefined
  return bits && (elements * bits) / 8
}
