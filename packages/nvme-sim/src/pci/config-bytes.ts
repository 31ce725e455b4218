/**
 * 4 KiB of configuration space as bytes, with the bits that a host may write and those cleared by writing 1. The
 * effects of writes are implemented elsewhere.
 */
export class ConfigBytes {
  readonly view: DataView
  private readonly bytes: Uint8Array
  private readonly writable: Uint8Array
  private readonly clearable: Uint8Array
  private readonly initial: Uint8Array

  /** All three have the same length: values after a reset, RW bits, RW1C bits. */
  constructor(initial: Uint8Array, writable: Uint8Array, clearable: Uint8Array) {
    this.initial = initial
    this.bytes = initial.slice()
    this.view = new DataView(this.bytes.buffer)
    this.writable = writable
    this.clearable = clearable
  }

  reset(): void {
    this.bytes.set(this.initial)
  }

  read(offset: number, widthBytes: number): number {
    let value = 0
    for (let i = widthBytes - 1; i >= 0; i--) value = value * 256 + this.bytes[offset + i]!
    return value
  }

  write(offset: number, widthBytes: number, value: number): void {
    for (let i = 0; i < widthBytes; i++) {
      const at = offset + i
      const given = (value >>> (8 * i)) & 0xff
      const writable = this.writable[at]!
      this.bytes[at] = ((this.bytes[at]! & ~writable) | (given & writable)) & ~(given & this.clearable[at]!)
    }
  }

  /** Returns what a host saves and restores across a reset. */
  save(): Uint8Array {
    return this.bytes.slice()
  }

  /** Restores the writable bits. */
  restore(saved: Uint8Array): void {
    for (let at = 0; at < saved.length; at++) {
      this.bytes[at] = (this.bytes[at]! & ~this.writable[at]!) | (saved[at]! & this.writable[at]!)
    }
  }
}
