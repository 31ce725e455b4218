import { closeSync } from 'node:fs'

/** A message of the client, in the receive buffer. One object is reused for all messages. */
export class Message {
  id = 0
  command = 0
  flags = 0
  /** Start of its data, after the header, and their length in bytes. */
  at = 0
  lengthBytes = 0
  /** View of the buffer that contains it. */
  readonly view: DataView
  readonly bytes: Uint8Array
  /** Open descriptors that came with it. Those removed from this list are kept, the others are closed afterwards. */
  readonly descriptors: number[] = []

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** Returns 32 bits of its data. */
  u32(offset: number): number {
    return this.view.getUint32(this.at + offset, true)
  }

  /** Returns 64 bits of its data: exact below 2^53; larger values stay above 2^53. */
  u64(offset: number): number {
    const at = this.at + offset
    return this.view.getUint32(at, true) + this.view.getUint32(at + 4, true) * 0x1_0000_0000
  }

  /** Closes the descriptors that were not taken. */
  closeDescriptors(): void {
    if (this.descriptors.length === 0) return
    for (const descriptor of this.descriptors.splice(0)) closeSync(descriptor)
  }
}
