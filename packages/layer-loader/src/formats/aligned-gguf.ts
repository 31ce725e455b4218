import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { EncodedGgufMetadata } from './gguf-header.js'
import { readMetadata } from './gguf-metadata.js'
import { GgufReader } from './gguf-reader.js'
import { writeGguf, type GgufSink, type GgufTensorToWrite } from './gguf-writer.js'
import { resolveLimits } from './limits.js'
import type { Model, Tensor } from './model.js'
import type { OpenModelOptions } from './open-model.js'
import { quote } from './quote.js'

/** A page, which is also a multiple of any logical block. */
const DEFAULT_ALIGNMENT = 4096

/** Tensor data is copied in pieces of this. */
const PIECE_BYTES = 4 * 1024 * 1024

/** Magic, version and number of tensors. */
const BEFORE_COUNT_BYTES = 4 + 4 + 8

/** What the new file says for itself: its alignment, and that it is no part of a split. */
const DROPPED = /^(?:general\.alignment|split\..*)$/s

export interface AlignedGgufOptions extends OpenModelOptions {
  /** Bytes; a power of two. 4096 when not given. */
  readonly alignment?: number
  /** Called after each piece that was copied. What it throws ends the writing. */
  readonly onProgress?: (progress: { readonly doneBytes: number; readonly totalBytes: number }) => void
}

/**
 * Writes a GGUF again so that every tensor starts at a multiple of 4096, layer after layer in the order of
 * computation: then layers can be read from where the file lies on a drive, each in one run. The parts of a split one
 * become one file. Metadata stays as it is, byte for byte and in its order, but for general.alignment and split.*.
 *
 * Given a path, the file appears there only when it is whole; it may be the model's own. Given a sink, the caller
 * cleans up after an error and closes it. A GGUF of version 2 becomes one of version 3, which differs in nothing else.
 *
 * @param options.limits those that the model was opened with, if they were not the usual ones.
 * @returns how many bytes were written.
 * @throws NotGgufError, UncopyableTensorsError; RangeError for a bad alignment, before anything is written; what
 * reading the model and writing the file throw; the signal's reason.
 */
export async function writeAlignedGguf(
  target: string | GgufSink,
  model: Model,
  options: AlignedGgufOptions = {},
): Promise<{ sizeBytes: number }> {
  const { alignment = DEFAULT_ALIGNMENT, signal, onProgress } = options
  if (model.format !== 'gguf') throw new NotGgufError(model)
  const unknown = model.tensors.filter(({ loadable }) => !loadable)
  if (unknown.length > 0) throw new UncopyableTensorsError(model, unknown)
  const metadata = await metadataOf(model, options)
  const totalBytes = model.tensors.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
  let doneBytes = 0
  const tensors = model.layers.flatMap((layer) =>
    layer.tensors.map((tensor): GgufTensorToWrite => {
      const { name, dtype, shape } = tensor
      const onPiece = (lengthBytes: number) => onProgress?.({ doneBytes: (doneBytes += lengthBytes), totalBytes })
      return { name, dtype, shape, data: dataOf(model, tensor, signal, onPiece) }
    }),
  )
  return writeGguf(target, { metadata, tensors, alignment }, { ...(signal && { signal }) })
}

/** The entries of the first part that stay, as they lie in its file. */
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

/** An aligned GGUF is made of a GGUF: what else there is lacks the metadata that its readers want. */
export class NotGgufError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NOT_GGUF'
  readonly category = 'infeasible'

  constructor({ parts, format }: Model) {
    super(`Cannot write ${parts[0].source.name} as an aligned GGUF: it is ${format}`, {
      next: 'convert it to GGUF with llama.cpp first; or pack it onto a drive, which takes either',
    })
  }
}

/** The model has tensors whose type is unknown or retired, so that nobody can tell how long they are. */
export class UncopyableTensorsError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_UNCOPYABLE_TENSORS'
  readonly category = 'infeasible'
  readonly tensors: readonly Tensor[]

  constructor({ parts }: Model, tensors: readonly Tensor[]) {
    const [first] = tensors
    const more = tensors.length > 1 ? [`and ${tensors.length - 1} more`] : []
    super(`Cannot write ${parts[0].source.name} as an aligned GGUF: it has tensors of a type that is not known`, {
      facts: [`${quote(first!.name)} is of ${quote(first!.dtype)}`, ...more],
      next: 'convert the model with a current tool, or use a newer @gpunvme/layer-loader',
    })
    this.tensors = tensors
  }
}
