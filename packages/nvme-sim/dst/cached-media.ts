import { RamMedia, type Media } from '../src/index.js'

/** Unit of loss: a power loss reverts or keeps it as a whole. Size of the largest block. */
const UNIT_BYTES = 4096

/** Media with a volatile cache: a power loss may revert any change since the last flush. */
export class CachedMedia implements Media {
  readonly capacityBytes: number
  private readonly ram: RamMedia
  /** For each unit that has changed since the last flush: its content at that flush. */
  private readonly before = new Map<number, Uint8Array>()

  constructor(capacityBytes: number) {
    this.capacityBytes = capacityBytes
    this.ram = new RamMedia(capacityBytes)
  }

  read(offsetBytes: number, into: Uint8Array): void {
    this.ram.read(offsetBytes, into)
  }

  write(offsetBytes: number, from: Uint8Array): void {
    this.remember(offsetBytes, from.length)
    this.ram.write(offsetBytes, from)
  }

  deallocate(offsetBytes: number, lengthBytes: number): void {
    this.remember(offsetBytes, lengthBytes)
    this.ram.deallocate(offsetBytes, lengthBytes)
  }

  flush(): void {
    this.before.clear()
  }

  close(): void {
    this.ram.close()
  }

  /** Reverts each unflushed unit for which `isLost` returns true. */
  losePower(isLost: () => boolean): void {
    for (const [unit, bytes] of this.before) if (isLost()) this.ram.write(unit * UNIT_BYTES, bytes)
    this.before.clear()
  }

  private remember(offsetBytes: number, lengthBytes: number): void {
    const end = Math.ceil((offsetBytes + lengthBytes) / UNIT_BYTES)
    for (let unit = Math.floor(offsetBytes / UNIT_BYTES); unit < end; unit++) {
      if (this.before.has(unit)) continue
      const start = unit * UNIT_BYTES
      const bytes = new Uint8Array(Math.min(UNIT_BYTES, this.capacityBytes - start))
      this.ram.read(start, bytes)
      this.before.set(unit, bytes)
    }
  }
}
