import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { fingerprintOf } from '../image/fingerprint.js'
import { CHUNK_BYTES } from '../image/format.js'
import type { Manifest, PackedLayer } from '../image/manifest.js'
import type { Piece } from './pieces.js'

/** The checksums and digests of a model, taken from its pieces as they pass, in order. */
export class Digests {
  readonly chunkCrcs: Uint32Array
  headerCrc = 0
  private readonly tensorDigests: string[] = []
  private hash = createHash('sha256')
  /** Which tensor `hash` is of. */
  private tensor = 0

  constructor(chunks: number) {
    this.chunkCrcs = new Uint32Array(chunks)
  }

  /** @param bytes the piece as it will be written, padding included. */
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
      this.hash.update(bytes.subarray(pieceBytes, pieceBytes + lengthBytes))
    }
  }

  /** The manifest with every digest in its place. After the last piece. */
  complete(manifest: Manifest, chunkTableCrc: number): Manifest {
    const tensors = manifest.layers.reduce((sum, layer) => sum + layer.tensors.length, 0)
    this.finishBefore(tensors)
    let next = 0
    const layers = manifest.layers.map((layer): PackedLayer => ({
      ...layer,
      tensors: layer.tensors.map((tensor) => ({ ...tensor, sha256: this.tensorDigests[next++]! })),
    }))
    return {
      ...manifest,
      fingerprint: fingerprintOf(layers.flatMap((layer) => layer.tensors)),
      header: { ...manifest.header, crc32: this.headerCrc },
      chunkTable: { ...manifest.chunkTable, crc32: chunkTableCrc },
      layers,
    }
  }

  /** Ends the digests of all tensors before this one. Those without bytes have passed in no piece. */
  private finishBefore(tensor: number): void {
    for (; this.tensor < tensor; this.tensor++) {
      this.tensorDigests.push(this.hash.digest('hex'))
      this.hash = createHash('sha256')
    }
  }
}
