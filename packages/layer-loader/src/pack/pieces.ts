import type { ByteSource } from '../formats/byte-source.js'
import type { Model } from '../formats/model.js'
import { CHUNK_BYTES } from '../image/format.js'
import type { PackPlan } from './lay-out.js'

/** Bytes of a model file, and their place in a piece. */
export interface Part {
  readonly source: ByteSource
  readonly sourceBytes: number
  readonly pieceBytes: number
  readonly lengthBytes: number
  /** Index over all tensors of the manifest; -1 for the source's header. */
  readonly tensor: number
}

/** A run of the image that is filled and written at once. Bytes outside its parts are padding. */
export interface Piece {
  readonly offsetBytes: number
  readonly lengthBytes: number
  /** Index of the first chunk checksum that it covers; -1 for the source's header, which has one checksum. */
  readonly firstChunk: number
  readonly parts: readonly Part[]
}

/** Four commands of the usual 1 MiB: a few pieces in flight fill a queue of 32. */
export const PIECE_BYTES = 4 * CHUNK_BYTES

/** Yields all data from the model's files piece by piece, in the order of the image. */
export function* piecesOf(model: Model, { manifest }: PackPlan): Generator<Piece> {
  let tensor = 0
  for (const [index, layer] of manifest.layers.entries()) {
    const originals = new Map(model.layers[index]!.tensors.map((each) => [each.name, each]))
    const parts = layer.tensors.map(({ name, offsetBytes, lengthBytes }): Part => {
      const original = originals.get(name)!
      const { source } = model.parts[original.part]!
      return { source, sourceBytes: original.offsetBytes, pieceBytes: offsetBytes, lengthBytes, tensor: tensor++ }
    })
    yield* cut(layer.offsetBytes, layer.lengthBytes, parts, layer.firstChunk)
  }
  const { offsetBytes, lengthBytes } = manifest.header
  const { source } = model.parts[0]
  yield* cut(offsetBytes, lengthBytes, [{ source, sourceBytes: 0, pieceBytes: 0, lengthBytes, tensor: -1 }], -1)
}

function* cut(offsetBytes: number, lengthBytes: number, parts: readonly Part[], firstChunk: number): Generator<Piece> {
  let next = 0
  for (let start = 0; start < lengthBytes; start += PIECE_BYTES) {
    const end = Math.min(start + PIECE_BYTES, lengthBytes)
    const inside: Part[] = []
    for (let index = next; index < parts.length; index++) {
      const part = parts[index]!
      const partEnd = part.pieceBytes + part.lengthBytes
      if (part.pieceBytes >= end) break
      if (partEnd <= end) next = index + 1
      const from = Math.max(part.pieceBytes, start)
      inside.push({
        source: part.source,
        sourceBytes: part.sourceBytes + (from - part.pieceBytes),
        pieceBytes: from - start,
        lengthBytes: Math.min(partEnd, end) - from,
        tensor: part.tensor,
      })
    }
    const chunk = firstChunk < 0 ? -1 : firstChunk + start / CHUNK_BYTES
    yield { offsetBytes: offsetBytes + start, lengthBytes: end - start, firstChunk: chunk, parts: inside }
  }
}
