/** Random access to the bytes of a model. */
export interface ByteSource {
  /** Name for messages: a path, a URL, "memory". */
  readonly name: string
  readonly sizeBytes: number
  /**
   * Identifies the content: it changes if the bytes change, and stays the same if they are opened again unchanged.
   * Absent if unknown. An interrupted `pack` resumes only with the same revision.
   */
  readonly revision?: string
  /** Checks that the bytes still match `revision`. Absent without a revision. @throws LoaderError (SOURCE_CHANGED) */
  checkUnchanged?(): Promise<void>
  /**
   * Fills all of `into` from `offsetBytes`, or throws; never returns less. Concurrent reads are allowed.
   *
   * Implementers: throw `RangeError` for a range outside the source (`checkRange` does), and the signal's reason when
   * it is aborted.
   */
  read(offsetBytes: number, into: Uint8Array, options?: { signal?: AbortSignal }): Promise<void>
  /** Releases the source. Idempotent; reading afterwards is an error. */
  close(): Promise<void>
  /** Same as `close`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** Creates a source over bytes in memory. They are not copied: changing them changes the source. */
export function memorySource(bytes: Uint8Array, name = 'memory'): ByteSource {
  const source: ByteSource = {
    name,
    sizeBytes: bytes.byteLength,
    // `async` so that an invalid range rejects, as it does for a file, instead of throwing synchronously.
    // oxlint-disable-next-line typescript/require-await
    async read(offsetBytes, into, { signal } = {}) {
      signal?.throwIfAborted()
      checkRange(source, offsetBytes, into.byteLength)
      into.set(bytes.subarray(offsetBytes, offsetBytes + into.byteLength))
    },
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  return source
}

/**
 * Returns a part of another source as a source, for example a GGUF that does not start at byte 0.
 *
 * It is a view: closing it leaves `source` open, because several models may share a source.
 * @throws RangeError if the part is outside `source`.
 */
export function rangeSource(source: ByteSource, offsetBytes: number, lengthBytes: number): ByteSource {
  checkRange(source, offsetBytes, lengthBytes)
  const range: ByteSource = {
    name: `${source.name} [${offsetBytes}, ${offsetBytes + lengthBytes})`,
    sizeBytes: lengthBytes,
    ...(source.revision !== undefined && { revision: `${source.revision} [${offsetBytes}, ${lengthBytes}]` }),
    ...(source.checkUnchanged && { checkUnchanged: () => source.checkUnchanged!() }),
    async read(innerOffsetBytes, into, options) {
      checkRange(range, innerOffsetBytes, into.byteLength)
      await source.read(offsetBytes + innerOffsetBytes, into, options)
    },
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  return range
}

/** @throws RangeError unless `lengthBytes` from `offsetBytes` are inside `source`. */
export function checkRange(
  source: Pick<ByteSource, 'name' | 'sizeBytes'>,
  offsetBytes: number,
  lengthBytes: number,
): void {
  const inside =
    Number.isSafeInteger(offsetBytes) &&
    Number.isSafeInteger(lengthBytes) &&
    offsetBytes >= 0 &&
    lengthBytes >= 0 &&
    // Subtracted, since the sum of two safe integers may be unsafe.
    lengthBytes <= source.sizeBytes - offsetBytes
  if (inside) return
  throw new RangeError(
    `${source.name}: expected a range inside 0 to ${source.sizeBytes} bytes, got ${lengthBytes} bytes from ${offsetBytes}`,
  )
}
