/** Random access to the bytes of a model, wherever they are. */
export interface ByteSource {
  /** For messages: a path, a URL, "memory". */
  readonly name: string
  readonly sizeBytes: number
  /**
   * Names these bytes: another one where they have changed, the same one when they are opened again as they were.
   * Absent where that is not known. A packing that was interrupted goes on only where it finds the same ones.
   */
  readonly revision?: string
  /** Looks again whether its bytes are still those of `revision`. Absent where there is none. @throws SourceChangedError */
  checkUnchanged?(): Promise<void>
  /**
   * Fills all of `into` from `offsetBytes`, or throws; never returns short. Reads may overlap in time.
   *
   * Implementers: throw `RangeError` for a range that is not inside the source (`checkRange` does), and the
   * signal's reason when it is aborted.
   */
  read(offsetBytes: number, into: Uint8Array, options?: { signal?: AbortSignal }): Promise<void>
  /** Gives up what the source holds. Closing twice is harmless; reading afterwards is an error. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** A source over bytes that are already in memory. They are not copied: changing them changes the source. */
export function memorySource(bytes: Uint8Array, name = 'memory'): ByteSource {
  const source: ByteSource = {
    name,
    sizeBytes: bytes.byteLength,
    // `async` so that a bad range rejects, as it does for a file, instead of throwing at the call.
    // eslint-disable-next-line @typescript-eslint/require-await
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
 * Part of another source, seen as a source of its own: a GGUF that does not start at byte 0.
 *
 * It is a view and owns nothing: closing it leaves `source` open, because several models may lie in one source.
 * @throws RangeError when the part is not inside `source`.
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

/** @throws RangeError when `lengthBytes` from `offsetBytes` are not all inside `source`. */
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
    // A subtraction, since the sum of two safe integers need not be one.
    lengthBytes <= source.sizeBytes - offsetBytes
  if (inside) return
  throw new RangeError(
    `${source.name}: expected a range inside 0 to ${source.sizeBytes} bytes, got ${lengthBytes} bytes from ${offsetBytes}`,
  )
}
