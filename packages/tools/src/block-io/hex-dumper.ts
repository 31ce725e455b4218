import { formatHexDump } from '@gpunvme/nvme-spec/hex-dump'

const LINE_BYTES = 16

/**
 * Formats a hex dump of bytes that arrive in pieces of any length. As in hexdump, repeated lines are replaced by one
 * '*', unless all lines are requested so that the dump can be parsed.
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

  /** Returns the lines that are complete with these bytes. */
  add(bytes: Uint8Array): string[] {
    const all = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes])
    const whole = all.length - (all.length % LINE_BYTES)
    // A copy, since the bytes are lent.
    this.rest = new Uint8Array(all.subarray(whole))
    const lines = formatHexDump(all.subarray(0, whole), this.at)
    this.at += whole
    return this.squeeze ? lines.flatMap((line) => this.unlessRepeated(line)) : lines
  }

  /** Returns the last line and, if lines were omitted, the final offset. */
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
