import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { fingerprintOf } from '../image/fingerprint.js'
import { CHUNK_BYTES } from '../image/format.js'
import type { Manifest, PackedLayer, PackedTensor } from '../image/manifest.js'
import type { PackPlan } from './lay-out.js'
import type { Piece } from './pieces.js'

/** Computes the checksums and digests of a model from its pieces, in order. */
export class Digests {
  readonly chunkCrcs: Uint32Array
  headerCrc = 0
  private readonly tensors: readonly PackedTensor[]
  private readonly digested: PackedTensor[] = []
  private current: TensorDigest | undefined

  /** @param plan its tensors list the slices that need checksums. */
  constructor({ chunks, manifest }: Pick<PackPlan, 'chunks' | 'manifest'>) {
    this.chunkCrcs = new Uint32Array(chunks)
    this.tensors = manifest.layers.flatMap(({ tensors }) => tensors)
  }

  /** @param bytes the piece as written, including padding. */
  add({ firstChunk, parts }: Piece, bytes: Uint8Array): void {
    if (firstChunk < 0) {
      this.headerCrc = crc32(bytes, this.headerCrc)
      return
    }
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      this.chunkCrcs[firstChunk + at / CHUNK_BYTES] = crc32(bytes.subarray(at, at + CHUNK_BYTES))
    }
    for (const { tensor, pieceBytes, lengthBytes } of parts) {
      this.finishBefore(tensor)
      this.current ??= new TensorDigest(this.tensors[tensor]!)
      this.current.add(bytes.subarray(pieceBytes, pieceBytes + lengthBytes))
    }
  }

  /** Returns the manifest with all digests. Call it after the last piece. */
  complete(manifest: Manifest, chunkTableCrc: number): Manifest {
    this.finishBefore(this.tensors.length)
    let next = 0
    const layers = manifest.layers.map((layer): PackedLayer => ({
      ...layer,
      tensors: this.digested.slice(next, (next += layer.tensors.length)),
    }))
    return {
      ...manifest,
      fingerprint: fingerprintOf(this.digested),
      header: { ...manifest.header, crc32: this.headerCrc },
      chunkTable: { ...manifest.chunkTable, crc32: chunkTableCrc },
      layers,
    }
  }

  /** Completes the digests of all tensors before this one. Tensors without bytes are in no piece. */
  private finishBefore(tensor: number): void {
    while (this.digested.length < tensor) {
      const { current = new TensorDigest(this.tensors[this.digested.length]!) } = this
      this.digested.push(current.complete())
      this.current = undefined
    }
  }
}

/** Digests of one tensor: of the whole and, if it has experts, of each slice. */
class TensorDigest {
  private readonly tensor: PackedTensor
  private readonly hash = createHash('sha256')
  private readonly sliceCrcs: Uint32Array | undefined
  private doneBytes = 0

  constructor(tensor: PackedTensor) {
    this.tensor = tensor
    this.sliceCrcs = tensor.sliceCrcs && new Uint32Array(tensor.sliceCrcs.length)
  }

  /** @param bytes the next bytes of the tensor. */
  add(bytes: Uint8Array): void {
    this.hash.update(bytes)
    if (this.sliceCrcs === undefined) return
    const sliceBytes = this.tensor.lengthBytes / this.sliceCrcs.length
    for (let at = 0; at < bytes.length;) {
      const slice = Math.floor(this.doneBytes / sliceBytes)
      const end = Math.min(bytes.length, at + (slice + 1) * sliceBytes - this.doneBytes)
      this.sliceCrcs[slice] = crc32(bytes.subarray(at, end), this.sliceCrcs[slice])
      this.doneBytes += end - at
      at = end
    }
  }

  complete(): PackedTensor {
    const { tensor, sliceCrcs } = this
    return { ...tensor, sha256: this.hash.digest('hex'), ...(sliceCrcs && { sliceCrcs }) }
  }
}
