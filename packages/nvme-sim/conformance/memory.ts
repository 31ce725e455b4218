import { GuardedMemory, type GuardedMemoryRequest } from './raw-host/guarded-memory.js'
import { fail } from './check.js'

/** Requirements for memory, in addition to its length. */
export type CaseMemoryRequest = Pick<GuardedMemoryRequest, 'alignBytes' | 'fill'>

/**
 * Contiguous memory between canaries. Every access synchronizes the bytes with the device, so that cases work with
 * memory that is not coherent.
 */
export class CaseMemory extends GuardedMemory {
  /** Returns a copy of the current bytes. */
  read(offset = 0, lengthBytes = this.lengthBytes - offset): Uint8Array {
    this.check(offset, lengthBytes)
    this.forHost(offset, lengthBytes)
    return this.bytes.slice(offset, offset + lengthBytes)
  }

  /** Writes bytes and makes them visible to the device. */
  write(offset: number, bytes: Uint8Array): void {
    this.check(offset, bytes.length)
    this.bytes.set(bytes, offset)
    this.forDevice(offset, bytes.length)
  }

  /** Sets every byte. */
  fill(byte: number): void {
    this.write(0, new Uint8Array(this.lengthBytes).fill(byte))
  }

  /** Writes a pattern in which every dword differs from its neighbours, and which depends on the page and on `salt`. */
  fillPattern(salt = 1): void {
    const bytes = new Uint8Array(this.lengthBytes)
    const view = new DataView(bytes.buffer)
    for (let at = 0; at + 4 <= bytes.length; at += 4)
      view.setUint32(at, Math.imul(at + 4 * salt + 1, 0x9e37_79b1), true)
    this.write(0, bytes)
  }

  /** Returns a current byte. */
  u8(offset: number): number {
    return this.read(offset, 1)[0]!
  }

  /** Returns 16 current bits, little endian. */
  u16(offset: number): number {
    return this.copy(offset, 2).getUint16(0, true)
  }

  /** Returns 32 current bits, little endian. */
  u32(offset: number): number {
    return this.copy(offset, 4).getUint32(0, true)
  }

  /** Returns 64 current bits, little endian. */
  u64(offset: number): bigint {
    return this.copy(offset, 8).getBigUint64(0, true)
  }

  /** Writes 32 bits, little endian. */
  set32(offset: number, value: number): void {
    const bytes = new Uint8Array(4)
    new DataView(bytes.buffer).setUint32(0, value, true)
    this.write(offset, bytes)
  }

  /** Writes 64 bits, little endian. */
  set64(offset: number, value: number | bigint): void {
    const bytes = new Uint8Array(8)
    new DataView(bytes.buffer).setBigUint64(0, BigInt(value), true)
    this.write(offset, bytes)
  }

  /** @throws CheckFailed if the controller wrote outside of the memory. */
  checkCanaries(): void {
    const at = this.findStrayWrite()
    if (at === undefined) return
    fail(`the controller wrote outside of a host buffer: at byte ${at} of a buffer of ${this.lengthBytes} bytes`)
  }

  private copy(offset: number, lengthBytes: number): DataView {
    return new DataView(this.read(offset, lengthBytes).buffer)
  }

  private check(offset: number, lengthBytes: number): void {
    if (offset < 0 || offset + lengthBytes > this.lengthBytes) {
      throw new RangeError(
        `bytes ${offset} to ${offset + lengthBytes} are outside of memory of ${this.lengthBytes} bytes`,
      )
    }
  }
}
