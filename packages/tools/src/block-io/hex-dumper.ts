import { formatHexDump } from '../decode/hex-lines.js'

const LINE_BYTES = 16

/**
 * A hex dump of bytes that come in pieces of any length. As hexdump does, lines that repeat the one before are one '*',
 * unless all are wanted: then it can be read back.
 */
export class HexDumper {
  private readonly squeeze: boolean
  private at: number
  private rest: Uint8Array = new Uint8Array(0)
  private last = ''
  private isRepeating = false

  constructor(offsetBytes: number, { squeeze }: { readonly squeeze: boolean }) {
    this.at = offsetBytes
    this.squeeze = squeeze
  }

  /** The lines that are whole with these bytes. */
  add(bytes: Uint8Array): string[] {
    const all = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes])
    const whole = all.length - (all.length % LINE_BYTES)
    // A copy, since the bytes are only lent.
    this.rest = new Uint8Array(all.subarray(whole))
    const lines = formatHexDump(all.subarray(0, whole), this.at)
    this.at += whole
    return this.squeeze ? lines.flatMap((line) => this.unlessRepeated(line)) : lines
  }

  /** The last line, and with lines left out the offset where it all ends. */
  end(): string[] {
    const lines = this.rest.length === 0 ? [] : formatHexDump(this.rest, this.at)
    this.at += this.rest.length
    return this.squeeze ? [...lines, this.at.toString(16).padStart(8, '0')] : lines
  }

  private unlessRepeated(line: string): string[] {
    const bytes = line.slice(line.indexOf(' '))
    const repeats = bytes === this.last
    const isFirst = repeats && !this.isRepeating
    this.last = bytes
    this.isRepeating = repeats
    if (!repeats) return [line]
    return isFirst ? ['*'] : []
  }
}
