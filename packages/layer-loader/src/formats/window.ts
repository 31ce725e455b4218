import type { ByteSource } from './byte-source.js'

/**
 * A window that moves forward over part of a source, so that a header of any length is read in bounded memory.
 * Filling waits; everything else is synchronous, which is what makes a million small items affordable.
 */
export class Window {
  /** Valid from `cursor`, for `availableBytes`, until the next `fill`. */
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
   * @param startBytes where the part begins in the source, and @param endBytes where it ends.
   * @param capacityBytes the most that the window holds.
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

  /** Index into `bytes` of the next byte. */
  get cursor(): number {
    return this.#cursor
  }

  /** Position of the next byte in the source. */
  get positionBytes(): number {
    return this.#startBytes + this.#cursor
  }

  /** Bytes that can be looked at now. */
  get availableBytes(): number {
    return this.#filledBytes - this.#cursor
  }

  /** Bytes up to the end of the part. */
  get remainingBytes(): number {
    return this.#endBytes - this.positionBytes
  }

  /** Makes `wantedBytes` available, or all that remain if they are fewer; at most the capacity. */
  async fill(wantedBytes: number): Promise<void> {
    const goalBytes = Math.min(wantedBytes, this.remainingBytes)
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

  /** Moves on by `lengthBytes`, which must not be more than remain. Bytes outside the window are never read. */
  skip(lengthBytes: number): void {
    if (lengthBytes <= this.availableBytes) {
      this.#cursor += lengthBytes
      return
    }
    this.#startBytes += this.#cursor + lengthBytes
    this.#cursor = 0
    this.#filledBytes = 0
  }

  /** Takes a piece that may be longer than the window. The caller has checked that it may allocate `lengthBytes`. */
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
