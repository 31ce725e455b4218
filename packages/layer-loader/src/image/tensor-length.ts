import { ggmlTypeByName } from '../formats/ggml-types.js'
import { safetensorsDtype } from '../formats/safetensors-dtypes.js'
import { elementsOf } from '../formats/shape.js'

/**
 * How many bytes a tensor of this dtype and shape takes in its source format; undefined when this package does not
 * know the format or the dtype, as may be in an image that a later version wrote.
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
