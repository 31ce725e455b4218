import { crc32 } from 'node:zlib'
import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { quote } from './formats/quote.js'
import { encodeCrc } from './image/extent.js'
import { CHUNK_BYTES } from './image/format.js'
import type { PackedLayer } from './image/manifest.js'
import type { PackedModel } from './image/open-image.js'

/** How many chunks are checked before the event loop, and with it the submission of I/O, gets a turn: about 1 ms. */
const CHUNKS_PER_TURN = 2

/**
 * Checks a run of whole chunks of a layer against the image's checksums.
 *
 * @param bytes from the start of chunk `firstChunk` of the layer; whole chunks, the layer's last one excepted.
 * @returns how long checking took, in nanoseconds of this processor's time; turns given to others are not counted.
 * @throws VerificationError for the first chunk that does not match; the signal's reason.
 */
export async function verifyChunks(
  model: PackedModel,
  layer: PackedLayer,
  bytes: Uint8Array,
  firstChunk = 0,
  signal?: AbortSignal,
): Promise<number> {
  let spentMs = 0
  for (let at = 0, chunk = firstChunk; at < bytes.length; at += CHUNK_BYTES, chunk++) {
    if (at > 0 && (at / CHUNK_BYTES) % CHUNKS_PER_TURN === 0) {
      await new Promise(setImmediate)
      signal?.throwIfAborted()
    }
    const startMs = performance.now()
    const got = crc32(bytes.subarray(at, at + CHUNK_BYTES))
    spentMs += performance.now() - startMs
    if (got !== model.chunkCrcs[layer.firstChunk + chunk]) throw new VerificationError(model, layer, chunk, got)
  }
  return spentMs * 1e6
}

/** Bytes that were read are not those that were packed. They were not, and will not be, handed to anybody. */
export class VerificationError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VERIFICATION'
  readonly category = 'verification'
  readonly model: string
  readonly layer: string
  /** The tensors that the chunk overlaps; none when it is padding that changed. */
  readonly tensors: readonly string[]
  /** Counted from the start of the layer. */
  readonly chunk: number
  /** The bytes of the chunk, from the start of the store. */
  readonly offsetBytes: number
  readonly lengthBytes: number
  /** Where they lie, in the words of the devices that hold them. */
  readonly where: string
  /** CRC-32s. */
  readonly expected: number
  readonly got: number

  constructor(model: PackedModel, layer: PackedLayer, chunk: number, got: number) {
    const startBytes = chunk * CHUNK_BYTES
    const endBytes = Math.min(startBytes + CHUNK_BYTES, layer.lengthBytes)
    const inside = layer.tensors.filter(
      ({ offsetBytes, lengthBytes }) => offsetBytes < endBytes && offsetBytes + lengthBytes > startBytes,
    )
    const [offsetBytes, lengthBytes] = [layer.offsetBytes + startBytes, endBytes - startBytes]
    const expected = model.chunkCrcs[layer.firstChunk + chunk]!
    const shown = inside.slice(0, 5).map(({ name }) => quote(name))
    if (inside.length > shown.length) shown.push(`and ${inside.length - shown.length} more`)
    super(`Verification failed: ${quote(layer.name)} of model ${quote(model.name)}, chunk ${chunk}`, {
      facts: [
        `tensors in this chunk: ${shown.join(', ') || 'none, it is padding'}`,
        model.store.locate(offsetBytes, lengthBytes),
        `CRC-32 expected ${encodeCrc(expected)}, got ${encodeCrc(got)}`,
      ],
      next:
        'read it again; if it fails again, the media or the path to it corrupts data: ' +
        'pack the model again with { replace: true }',
    })
    this.model = model.name
    this.layer = layer.name
    this.tensors = inside.map(({ name }) => name)
    this.chunk = chunk
    this.offsetBytes = offsetBytes
    this.lengthBytes = lengthBytes
    this.where = model.store.locate(offsetBytes, lengthBytes)
    this.expected = expected
    this.got = got
  }
}
