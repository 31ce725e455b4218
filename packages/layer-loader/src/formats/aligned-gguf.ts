import { LoaderError } from '../error.js'
import type { EncodedGgufMetadata } from './gguf-header.js'
import { readMetadata } from './gguf-metadata.js'
import { GgufReader } from './gguf-reader.js'
import { writeGguf, type GgufSink, type GgufTensorToWrite } from './gguf-writer.js'
import { resolveLimits } from './limits.js'
import type { Model, Tensor } from './model.js'
import type { OpenModelOptions } from './open-model.js'

/** A page, which is also a multiple of any logical block. */
const DEFAULT_ALIGNMENT = 4096

/** Bytes per copy. */
const PIECE_BYTES = 4 * 1024 * 1024

/** Magic, version and number of tensors. */
const BEFORE_COUNT_BYTES = 4 + 4 + 8

/** Metadata that the new file sets itself: alignment, and split keys, which it does not have. */
const DROPPED = /^(?:general\.alignment|split\..*)$/s

/** Options of `writeAlignedGguf`. */
export interface AlignedGgufOptions extends OpenModelOptions {
  /** Alignment in bytes; a power of two. Default: 4096. */
  readonly alignment?: number
  /** Called after each copied piece. An error that it throws ends the writing. */
  readonly onProgress?: (progress: { readonly doneBytes: number; readonly totalBytes: number }) => void
}

/**
 * Rewrites a GGUF so that each tensor starts at a multiple of 4096 and layers follow each other in the order of
 * computation. A layer can then be read in place in one run. Parts of a split GGUF are merged into one file. Metadata
 * other than general.alignment and split.* is copied unchanged. A tensor of opaque type is copied with the padding that
 * may follow it.
 *
 * Given a path, the file appears there only when it is complete; the path may be that of the model. Given a sink, the
 * caller closes it and cleans up after an error. Version 2 becomes version 3, with no other difference.
 *
 * @param options.limits the limits that the model was opened with, if not the default.
 * @returns the number of bytes written.
 * @throws LoaderError (NOT_GGUF); RangeError for an invalid alignment, before anything is written; errors
 * of reading the model and writing the file; the signal's reason.
 */
export async function writeAlignedGguf(
  target: string | GgufSink,
  model: Model,
  options: AlignedGgufOptions = {},
): Promise<{ sizeBytes: number }> {
  const { alignment = DEFAULT_ALIGNMENT, signal, onProgress } = options
  if (model.format !== 'gguf') throw notGguf(model)
  const metadata = await metadataOf(model, options)
  const totalBytes = model.tensors.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
  let doneBytes = 0
  const tensors = model.layers.flatMap((layer) =>
    layer.tensors.map((tensor): GgufTensorToWrite => {
      const { name, dtype, shape, lengthBytes, opaque } = tensor
      const onPiece = (lengthBytes: number) => onProgress?.({ doneBytes: (doneBytes += lengthBytes), totalBytes })
      return { name, dtype, shape, ...(opaque && { lengthBytes }), data: dataOf(model, tensor, signal, onPiece) }
    }),
  )
  return writeGguf(target, { metadata, tensors, alignment }, { ...(signal && { signal }) })
}

/** The entries of the first part that are kept, as encoded in its file. */
async function metadataOf({ parts }: Model, { limits, signal }: OpenModelOptions): Promise<EncodedGgufMetadata> {
  const [{ source }] = parts
  const resolved = resolveLimits(limits)
  const reader = new GgufReader(source, resolved, signal)
  await reader.ahead()
  reader.skip(BEFORE_COUNT_BYTES, 'counts')
  const { places } = await readMetadata(reader, reader.u64('metadata entry count'), resolved)
  const kept = [...places].filter(([key]) => !DROPPED.test(key)).map(([, place]) => place)
  const bytes = new Uint8Array(kept.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0))
  let at = 0
  for (const { offsetBytes, lengthBytes } of kept) {
    await source.read(offsetBytes, bytes.subarray(at, at + lengthBytes), signal && { signal })
    at += lengthBytes
  }
  return { count: kept.length, bytes }
}

async function* dataOf(
  { parts }: Model,
  { part, offsetBytes, lengthBytes }: Tensor,
  signal: AbortSignal | undefined,
  onPiece: (lengthBytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const { source } = parts[part]!
  const buffer = new Uint8Array(Math.min(PIECE_BYTES, lengthBytes))
  for (let start = 0; start < lengthBytes; start += PIECE_BYTES) {
    const piece = buffer.subarray(0, Math.min(PIECE_BYTES, lengthBytes - start))
    await source.read(offsetBytes + start, piece, signal && { signal })
    yield piece
    onPiece(piece.byteLength)
  }
}

/** Error of writing an aligned GGUF from another format, which lacks the metadata of a GGUF. */
export function notGguf({ parts, format }: Model): LoaderError {
  const headline = `Cannot write ${parts[0].source.name} as an aligned GGUF: it is ${format}`
  return new LoaderError('ERR_GPUNVME_NOT_GGUF', 'infeasible', headline, {
    next: 'convert it to GGUF with llama.cpp first, or pack it onto a drive, which accepts both formats',
  })
}
