import { closeSync } from 'node:fs'

/** One message of the client, where it was received: reused from message to message. */
export class Message {
  id = 0
  command = 0
  flags = 0
  /** Where its data begin, behind the header, and how many bytes they are. */
  at = 0
  lengthBytes = 0
  /** Of the buffer that it lies in. */
  readonly view: DataView
  readonly bytes: Uint8Array
  /** Open descriptors that came with it. What is taken out of this list is kept, the rest is closed after it. */
  readonly descriptors: number[] = []

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** 32 bits of its data. */
  u32(offset: number): number {
    return this.view.getUint32(this.at + offset, true)
  }

  /** 64 bits of its data: exact below 2^53, and above 2^53 for all that is not. */
  u64(offset: number): number {
    const at = this.at + offset
    return this.view.getUint32(at, true) + this.view.getUint32(at + 4, true) * 0x1_0000_0000
  }

  /** Closes the descriptors that nobody has taken. */
  closeDescriptors(): void {
    if (this.descriptors.length === 0) return
    for (const descriptor of this.descriptors.splice(0)) closeSync(descriptor)
  }
}
