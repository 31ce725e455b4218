import { closeSync } from 'node:fs'
import { VfioUserHeader } from '@gpunvme/nvme-spec/vfio-user'
import { MAX_DESCRIPTORS, MAX_MESSAGE_BYTES } from './limits.js'
import { Message } from './message.js'

const { ID, COMMAND, SIZE, FLAGS } = VfioUserHeader
const HEADER_BYTES = VfioUserHeader.bytes

/** Number of bytes received at a time, unless a message is longer. */
const CHUNK_BYTES = 64 * 1024

/**
 * Splits received bytes into messages. Allocates once: the size in a message only decides where the next one begins.
 *
 * Descriptors arrive with the first byte of the send that carried them, and no later data arrive in the same receive:
 * they belong to the last message that begins in it. If a client sends two messages at once, the first with
 * descriptors, they are attributed to the second; no known client does that.
 */
export class MessageReader {
  /** Set by `next`. */
  readonly message: Message
  private readonly bytes = new Uint8Array(MAX_MESSAGE_BYTES + CHUNK_BYTES)
  private readonly chunk = this.bytes.subarray(0, CHUNK_BYTES)
  private start = 0
  private end = 0
  private readonly descriptors: number[] = []
  /** Start of the message that the descriptors belong to. */
  private owner = 0

  constructor() {
    this.message = new Message(this.bytes)
  }

  /** Returns where to receive to, after `next` has found nothing more. */
  space(): Uint8Array {
    if (this.start === this.end) {
      this.start = this.end = 0
      return this.chunk
    }
    // An incomplete message moves to the front, so that the longest one fits.
    this.bytes.copyWithin(0, this.start, this.end)
    this.owner -= this.start
    this.end -= this.start
    this.start = 0
    return this.bytes.subarray(this.end, this.end + CHUNK_BYTES)
  }

  /**
   * Adds bytes received into `space`, with `descriptors[0]` descriptors, which follow there. Returns false if a message
   * cannot have that many: they are closed.
   */
  add(lengthBytes: number, descriptors: Int32Array): boolean {
    this.end += lengthBytes
    const count = descriptors[0]!
    if (count === 0) return true
    const owner = this.lastStart()
    // Only an incomplete message is left: earlier descriptors belong to it, or there are none.
    for (let i = 0; i < count; i++) this.descriptors.push(descriptors[1 + i]!)
    if (this.descriptors.length <= MAX_DESCRIPTORS) {
      this.owner = owner
      return true
    }
    this.clear()
    return false
  }

  /**
   * Moves `message` to the next complete message. Returns false if there is none, and a sentence if the message is
   * invalid, after which the start of the next one is unknown.
   */
  next(): boolean | string {
    const { message, start } = this
    const left = this.end - start
    if (left < HEADER_BYTES) return false
    const { view } = message
    const size = view.getUint32(start + SIZE.offset, true)
    message.id = view.getUint16(start + ID.offset, true)
    message.command = view.getUint16(start + COMMAND.offset, true)
    message.flags = view.getUint32(start + FLAGS.offset, true)
    if (size < HEADER_BYTES || size > MAX_MESSAGE_BYTES) {
      return `expected a message of ${HEADER_BYTES} to ${MAX_MESSAGE_BYTES} bytes, got ${size}`
    }
    if (left < size) return false
    message.at = start + HEADER_BYTES
    message.lengthBytes = size - HEADER_BYTES
    if (this.descriptors.length > 0 && this.owner === start)
      for (const each of this.descriptors.splice(0)) message.descriptors.push(each)
    this.start += size
    return true
  }

  /** Drops everything: the client has disconnected. */
  clear(): void {
    for (const descriptor of this.descriptors.splice(0)) closeSync(descriptor)
    this.message.closeDescriptors()
    this.start = this.end = 0
  }

  /** Returns the start of the last message of which bytes have arrived. */
  private lastStart(): number {
    let at = this.start
    while (this.end - at >= HEADER_BYTES) {
      const size = this.message.view.getUint32(at + SIZE.offset, true)
      // An invalid size ends the connection when the message is read.
      if (size < HEADER_BYTES || at + size >= this.end) break
      at += size
    }
    return at
  }
}
