import type { DmaAllocator, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { fail } from './check.js'

const CANARY = 0xc5

/** What memory of the cases must be like, beside its length. */
export interface CaseMemoryRequest {
  /** Alignment of the first byte's device address; 4096 when not given. */
  readonly alignBytes?: number
  /** What every byte is at first; a5h when not given, so that what was never written shows. */
  readonly fill?: number
}

/**
 * Contiguous memory that the controller may reach, between two runs of canary bytes that it must leave alone.
 * Every access carries the bytes across to the device or back, so that cases work where memory is not coherent.
 */
export class CaseMemory {
  readonly lengthBytes: number
  private readonly memory: DmaMemory
  private readonly view: DataView
  /** Bytes of canary on either side. */
  private readonly guardBytes: number

  constructor(dma: DmaAllocator, lengthBytes: number, { alignBytes = 4096, fill = 0xa5 }: CaseMemoryRequest = {}) {
    this.lengthBytes = lengthBytes
    this.guardBytes = Math.max(alignBytes, 4096)
    const memory = dma.alloc(lengthBytes + 2 * this.guardBytes, { alignBytes, contiguous: true })
    if (memory.view === undefined) throw new TypeError('the host of the controller cases needs memory that it can see')
    this.memory = memory
    this.view = memory.view
    this.all().fill(CANARY)
    this.all().fill(fill, this.guardBytes, this.guardBytes + lengthBytes)
    memory.forDevice(0, memory.lengthBytes)
  }

  /** The device's address of byte `offset`. */
  iova(offset = 0): number {
    return this.memory.iovaAt(this.guardBytes + offset)
  }

  /** A copy of what is there now. */
  read(offset = 0, lengthBytes = this.lengthBytes - offset): Uint8Array {
    this.check(offset, lengthBytes)
    const at = this.guardBytes + offset
    this.memory.forHost(at, lengthBytes)
    return this.all().slice(at, at + lengthBytes)
  }

  /** Writes bytes for the device to see. */
  write(offset: number, bytes: Uint8Array): void {
    this.check(offset, bytes.length)
    const at = this.guardBytes + offset
    this.all().set(bytes, at)
    this.memory.forDevice(at, bytes.length)
  }

  /** Writes one byte everywhere. */
  fill(byte: number): void {
    this.write(0, new Uint8Array(this.lengthBytes).fill(byte))
  }

  /** Bytes in which every dword differs from its neighbours, and every page and every `salt` from the others. */
  fillPattern(salt = 1): void {
    const bytes = new Uint8Array(this.lengthBytes)
    const view = new DataView(bytes.buffer)
    for (let at = 0; at + 4 <= bytes.length; at += 4)
      view.setUint32(at, Math.imul(at + 4 * salt + 1, 0x9e37_79b1), true)
    this.write(0, bytes)
  }

  /** The byte there now. */
  u8(offset: number): number {
    return this.read(offset, 1)[0]!
  }

  /** The 16 bits there now, little endian. */
  u16(offset: number): number {
    return this.copy(offset, 2).getUint16(0, true)
  }

  /** The 32 bits there now, little endian. */
  u32(offset: number): number {
    return this.copy(offset, 4).getUint32(0, true)
  }

  /** The 64 bits there now, little endian. */
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

  /** @throws CheckFailed where the controller wrote outside of the memory. */
  checkCanaries(): void {
    const { memory, guardBytes, lengthBytes } = this
    for (const start of [0, guardBytes + lengthBytes]) {
      memory.forHost(start, guardBytes)
      const at = this.all()
        .subarray(start, start + guardBytes)
        .findIndex((byte) => byte !== CANARY)
      if (at < 0) continue
      const from = start + at - guardBytes
      fail(`the controller wrote outside of the host's buffers: at byte ${from} of one of ${lengthBytes} bytes`)
    }
  }

  /** Gives the memory back. */
  free(): void {
    this.memory.free()
  }

  private all(): Uint8Array {
    return new Uint8Array(this.view.buffer, this.view.byteOffset, this.memory.lengthBytes)
  }

  private copy(offset: number, lengthBytes: number): DataView {
    return new DataView(this.read(offset, lengthBytes).buffer)
  }

  private check(offset: number, lengthBytes: number): void {
    if (offset < 0 || offset + lengthBytes > this.lengthBytes) {
      throw new RangeError(`bytes ${offset} to ${offset + lengthBytes} of memory of ${this.lengthBytes} bytes`)
    }
  }
}
