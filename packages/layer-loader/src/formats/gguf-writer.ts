import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec/error'
import { writeAtomically } from './atomic-file.js'
import { layOutGguf, type EncodedGgufMetadata, type GgufTensorSpec, type GgufValue } from './gguf-header.js'

/** A tensor to write. Its data come in pieces of any length, requested when they are due. */
export interface GgufTensorToWrite extends GgufTensorSpec {
  readonly data: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
}

/** Content of a GGUF. */
export interface GgufContent {
  readonly metadata: ReadonlyMap<string, GgufValue> | EncodedGgufMetadata
  /** Tensors, in the order of writing. */
  readonly tensors: readonly GgufTensorToWrite[]
  /** Alignment in bytes; a power of two. Default: 32. With 4096, each tensor starts on a page and a logical block. */
  readonly alignment?: number
}

/** Accepts bytes in order, possibly fewer than given; for example a `FileHandle`. */
export interface GgufSink {
  /** Appends bytes; may write fewer than given. */
  write(bytes: Uint8Array): Promise<{ bytesWritten: number }>
}

/**
 * Writes a GGUF version 3, little-endian, piece by piece. Given a path, the file appears there only when it is
 * complete; given a sink, the caller closes it and cleans up after an error. Not implemented: arrays of arrays.
 *
 * @param options.signal aborts between pieces.
 * @returns the number of bytes written.
 * @throws GgufWriteError if the length of a tensor's data does not match its shape; TypeError and RangeError for
 * invalid content, before anything is written; the signal's reason.
 */
export async function writeGguf(
  target: string | GgufSink,
  content: GgufContent,
  options: { signal?: AbortSignal } = {},
): Promise<{ sizeBytes: number }> {
  const { signal } = options
  // Before the file is created, so that invalid arguments leave no file.
  const header = layOutGguf(content.metadata, content.tensors, content.alignment)
  if (typeof target === 'string') return writeAtomically(target, writeAll)
  return writeAll(target)

  async function writeAll(sink: GgufSink): Promise<{ sizeBytes: number }> {
    await writeFully(sink, header.bytes)
    let sizeBytes = header.bytes.byteLength
    for (const [index, tensor] of content.tensors.entries()) {
      const { offsetBytes, lengthBytes } = header.places[index]!
      if (offsetBytes > sizeBytes) await writeFully(sink, new Uint8Array(offsetBytes - sizeBytes))
      await writeTensor(sink, tensor, lengthBytes, signal)
      sizeBytes = offsetBytes + lengthBytes
    }
    return { sizeBytes }
  }
}

async function writeTensor(
  sink: GgufSink,
  tensor: GgufTensorToWrite,
  lengthBytes: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  let doneBytes = 0
  for await (const piece of tensor.data) {
    signal?.throwIfAborted()
    doneBytes += piece.byteLength
    // Before the write: excess data would overwrite the next tensor.
    if (doneBytes > lengthBytes) throw new GgufWriteError(tensor, lengthBytes, doneBytes)
    await writeFully(sink, piece)
  }
  if (doneBytes < lengthBytes) throw new GgufWriteError(tensor, lengthBytes, doneBytes)
}

async function writeFully(sink: GgufSink, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.byteLength;) done += (await sink.write(bytes.subarray(done))).bytesWritten
}

/** Error of data that are longer or shorter than dtype and shape require. */
export class GgufWriteError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_GGUF_TENSOR_DATA'
  readonly category: ErrorCategory = 'failure'
  readonly tensorName: string
  readonly expectedBytes: number
  /** Bytes delivered, including the piece that exceeded the length. */
  readonly deliveredBytes: number

  constructor(tensor: GgufTensorSpec, expectedBytes: number, deliveredBytes: number) {
    const { name, dtype, shape } = tensor
    const kind = deliveredBytes > expectedBytes ? 'more' : 'fewer'
    super(`Cannot write tensor "${name}": its data has ${kind} bytes than its shape requires`, {
      facts: [`${dtype} [${shape.join(', ')}] takes ${expectedBytes} bytes; the data delivered ${deliveredBytes}`],
      next: 'compare dtype and shape with the source of the data',
    })
    this.tensorName = name
    this.expectedBytes = expectedBytes
    this.deliveredBytes = deliveredBytes
  }
}
