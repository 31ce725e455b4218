import type { ByteSource } from './byte-source.js'

/**
 * A window that moves forward over part of a source, so that a header of any length is read in bounded memory. Filling
 * is asynchronous; all else is synchronous, which makes a million small items affordable.
 */
export class Window {
  /** Valid from `cursor` for `availableBytes`, until the next `fill`. */
  readonly bytes: Buffer
  /** The same bytes. */
  readonly view: DataView
  readonly #source: ByteSource
  readonly #endBytes: number
  readonly #signal: AbortSignal | undefined
  #startBytes: number
  #filledBytes = 0
  #cursor = 0

  /**
   * @param startBytes start of the part in the source.
   * @param endBytes end of the part in the source.
   * @param capacityBytes maximum bytes of the window.
   */
  constructor(
    source: ByteSource,
    startBytes: number,
    endBytes: number,
    capacityBytes: number,
    signal: AbortSignal | undefined,
  ) {
    this.bytes = Buffer.alloc(Math.min(capacityBytes, endBytes - startBytes))
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength)
    this.#source = source
    this.#startBytes = startBytes
    this.#endBytes = endBytes
    this.#signal = signal
  }

  /** Index of the next byte in `bytes`. */
  get cursor(): number {
    return this.#cursor
  }

  /** Position of the next byte in the source. */
  get positionBytes(): number {
    return this.#startBytes + this.#cursor
  }

  /** Bytes in the window. */
  get availableBytes(): number {
    return this.#filledBytes - this.#cursor
  }

  /** Bytes up to the end of the part. */
  get remainingBytes(): number {
    return this.#endBytes - this.positionBytes
  }

  /** Makes `wantedBytes` available, or all remaining bytes if fewer; at most the capacity. */
  async fill(requestedBytes: number): Promise<void> {
    const goalBytes = Math.min(requestedBytes, this.remainingBytes)
    if (this.availableBytes >= goalBytes) return
    this.bytes.copyWithin(0, this.#cursor, this.#filledBytes)
    this.#startBytes += this.#cursor
    this.#filledBytes -= this.#cursor
    this.#cursor = 0
    const endOfWindow = Math.min(this.bytes.byteLength, this.#endBytes - this.#startBytes)
    const missing = this.bytes.subarray(this.#filledBytes, endOfWindow)
    await this.#source.read(this.#startBytes + this.#filledBytes, missing, this.#signal && { signal: this.#signal })
    this.#filledBytes = endOfWindow
  }

  /** Skips `lengthBytes`, at most the remaining bytes. Bytes outside the window are never read. */
  skip(lengthBytes: number): void {
    if (lengthBytes <= this.availableBytes) {
      this.#cursor += lengthBytes
      return
    }
    this.#startBytes += this.#cursor + lengthBytes
    this.#cursor = 0
    this.#filledBytes = 0
  }

  /** Reads a piece that may be longer than the window. The caller has checked `lengthBytes` against a limit. */
  async take(lengthBytes: number): Promise<Buffer> {
    const piece = Buffer.alloc(lengthBytes)
    const fromWindow = Math.min(lengthBytes, this.availableBytes)
    this.bytes.copy(piece, 0, this.#cursor, this.#cursor + fromWindow)
    const position = this.positionBytes
    this.skip(lengthBytes)
    if (fromWindow < lengthBytes) {
      const rest = piece.subarray(fromWindow)
      await this.#source.read(position + fromWindow, rest, this.#signal && { signal: this.#signal })
    }
    return piece
  }
}
