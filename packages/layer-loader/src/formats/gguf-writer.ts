import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec/error'
import { writeAtomically } from './atomic-file.js'
import { layOutGguf, type EncodedGgufMetadata, type GgufTensorSpec, type GgufValue } from './gguf-header.js'

/** A tensor to write: its data comes in pieces of any length, and is asked for when its turn has come. */
export interface GgufTensorToWrite extends GgufTensorSpec {
  readonly data: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
}

/** All of a GGUF. */
export interface GgufContent {
  readonly metadata: ReadonlyMap<string, GgufValue> | EncodedGgufMetadata
  /** Written in this order. */
  readonly tensors: readonly GgufTensorToWrite[]
  /** Bytes; a power of two. Default 32. With 4096, every tensor starts on a page and on a logical block. */
  readonly alignment?: number
}

/** Takes bytes in order, perhaps fewer than given: a `FileHandle` is one. */
export interface GgufSink {
  write(bytes: Uint8Array): Promise<{ bytesWritten: number }>
}

/**
 * Writes a GGUF, version 3, little-endian, piece by piece. Given a path, the file appears there only when it is
 * whole; given a sink, the caller cleans up after an error and closes it. Not implemented: arrays of arrays.
 *
 * @param options.signal ends the writing between two pieces.
 * @returns how many bytes were written.
 * @throws GgufWriteError when a tensor's data is not as long as its shape says; TypeError and RangeError for
 * content that no reader would accept, before anything is written; the signal's reason.
 */
export async function writeGguf(
  target: string | GgufSink,
  content: GgufContent,
  options: { signal?: AbortSignal } = {},
): Promise<{ sizeBytes: number }> {
  const { signal } = options
  // Before the file is created, so that wrong arguments leave no trace.
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
    // Before the write: what is too much would lie in the next tensor's place.
    if (doneBytes > lengthBytes) throw new GgufWriteError(tensor, lengthBytes, doneBytes)
    await writeFully(sink, piece)
  }
  if (doneBytes < lengthBytes) throw new GgufWriteError(tensor, lengthBytes, doneBytes)
}

async function writeFully(sink: GgufSink, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.byteLength;) done += (await sink.write(bytes.subarray(done))).bytesWritten
}

/** A tensor's data was longer or shorter than its dtype and shape say. */
export class GgufWriteError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_GGUF_TENSOR_DATA'
  readonly category: ErrorCategory = 'failure'
  readonly tensorName: string
  readonly expectedBytes: number
  /** Bytes delivered, up to and including the piece that was too much. */
  readonly deliveredBytes: number

  constructor(tensor: GgufTensorSpec, expectedBytes: number, deliveredBytes: number) {
    const { name, dtype, shape } = tensor
    const kind = deliveredBytes > expectedBytes ? 'more' : 'fewer'
    super(`Cannot write tensor "${name}": its data has ${kind} bytes than its shape needs`, {
      facts: [`${dtype} [${shape.join(', ')}] takes ${expectedBytes} bytes; the data delivered ${deliveredBytes}`],
      next: 'compare the dtype and the shape with where the data comes from',
    })
    this.tensorName = name
    this.expectedBytes = expectedBytes
    this.deliveredBytes = deliveredBytes
  }
}
