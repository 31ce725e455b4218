import { formatBytes } from '../terminal/units.js'
import { UnpackError } from './unpack.js'

/** Buffers bytes that arrive in pieces, for reads of any length, up to a total limit. */
export class ByteSource {
  private readonly pieces: AsyncIterator<Buffer> | Iterator<Buffer>
  private readonly limitBytes: number
  private buffered: Buffer[] = []
  private bufferedBytes = 0
  /** Number of bytes taken or skipped. */
  position = 0

  constructor(pieces: AsyncIterable<Buffer> | Iterable<Buffer>, limitBytes: number) {
    this.pieces = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]()
    this.limitBytes = limitBytes
  }

  /** Returns undefined if fewer are left. @throws UnpackError above the limit. */
  async take(lengthBytes: number): Promise<Buffer | undefined> {
    this.count(lengthBytes)
    while (this.bufferedBytes < lengthBytes) if (!(await this.more())) return undefined
    const all = this.buffered.length === 1 ? this.buffered[0]! : Buffer.concat(this.buffered)
    this.keep(all.subarray(lengthBytes))
    return all.subarray(0, lengthBytes)
  }

  /** Skips bytes without keeping them; returns false if fewer were left. @throws UnpackError above the limit. */
  async skip(lengthBytes: number): Promise<boolean> {
    this.count(lengthBytes)
    let left = lengthBytes
    while (left > this.bufferedBytes) {
      left -= this.bufferedBytes
      this.keep(Buffer.alloc(0))
      if (!(await this.more())) return false
    }
    const all = this.buffered.length === 1 ? this.buffered[0]! : Buffer.concat(this.buffered)
    this.keep(all.subarray(left))
    return true
  }

  /** Skips zeros; returns false if nothing else was left. */
  async skipZeros(): Promise<boolean> {
    for (;;) {
      if (this.bufferedBytes === 0 && !(await this.more())) return false
      const [first] = this.buffered
      const at = first!.findIndex((byte) => byte !== 0)
      if (at !== -1) return this.skip(at)
      await this.skip(first!.length)
    }
  }

  /** Closes the underlying source. */
  async close(): Promise<void> {
    await this.pieces.return?.()
  }

  private count(lengthBytes: number): void {
    this.position += lengthBytes
    if (this.position > this.limitBytes)
      throw new UnpackError(`it unpacks to more than ${formatBytes(this.limitBytes)}`)
  }

  private keep(bytes: Buffer): void {
    this.buffered = bytes.length === 0 ? [] : [bytes]
    this.bufferedBytes = bytes.length
  }

  private async more(): Promise<boolean> {
    const next = await this.pieces.next()
    if (next.done === true) return false
    if (next.value.length > 0) this.buffered.push(next.value)
    this.bufferedBytes += next.value.length
    return true
  }
}
