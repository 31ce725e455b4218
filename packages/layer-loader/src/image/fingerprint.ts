import { createHash } from 'node:crypto'
import type { PackedTensor } from './manifest.js'

/** Prevents confusion of a fingerprint with other SHA-256 digests of this project. */
const DOMAIN = 'gpunvme model fingerprint 1\0'

/**
 * Returns the fingerprint of a model, which depends only on its tensors: the same weights from another file format, in
 * another order or grouped into other layers, have the same one. docs/image-format-1.md specifies the byte sequence.
 */
export function fingerprintOf(tensors: readonly PackedTensor[]): string {
  const hash = createHash('sha256').update(DOMAIN)
  const named = tensors.map((tensor) => ({ tensor, name: Buffer.from(tensor.name) }))
  named.sort((a, b) => Buffer.compare(a.name, b.name))
  for (const { tensor, name } of named) {
    const { dtype, shape, lengthBytes, sha256 } = tensor
    hash.update(counted(name)).update(counted(Buffer.from(dtype)))
    hash.update(words([shape.length, ...shape, lengthBytes])).update(Buffer.from(sha256, 'hex'))
  }
  return hash.digest('hex')
}

function counted(text: Buffer): Buffer {
  return Buffer.concat([words([text.length]), text])
}

/** 64-bit words, little-endian. */
function words(values: readonly number[]): Buffer {
  const encoded = Buffer.alloc(8 * values.length)
  values.forEach((value, index) => encoded.writeBigUInt64LE(BigInt(value), 8 * index))
  return encoded
}
