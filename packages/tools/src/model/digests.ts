import type { PackedModel } from '@gpunvme/layer-loader'
import type { Model, Tensor } from '@gpunvme/layer-loader/formats'
import { createHash } from 'node:crypto'

const PIECE_BYTES = 4 * 1024 * 1024

/** Returns the SHA-256 of each tensor, as `pack` stored it, by name. */
export function digestsOf({ manifest }: PackedModel): ReadonlyMap<string, string> {
  return new Map(manifest.layers.flatMap(({ tensors }) => tensors).map(({ name, sha256 }) => [name, sha256]))
}

/** Reads a tensor of a model file, and returns its SHA-256. */
export async function digestOf({ parts }: Model, tensor: Tensor, signal: AbortSignal): Promise<string> {
  const { part, offsetBytes, lengthBytes } = tensor
  const { source } = parts[part]!
  const hash = createHash('sha256')
  for (let done = 0; done < lengthBytes; done += PIECE_BYTES) {
    const piece = new Uint8Array(Math.min(PIECE_BYTES, lengthBytes - done))
    await source.read(offsetBytes + done, piece, { signal })
    hash.update(piece)
  }
  return hash.digest('hex')
}
