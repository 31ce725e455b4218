import { closeSync } from 'node:fs'
import { VfioUserHeader } from '@gpunvme/nvme-spec/vfio-user'
import { MOST_DESCRIPTORS, MOST_MESSAGE_BYTES } from './limits.js'
import { Message } from './message.js'

const { ID, COMMAND, SIZE, FLAGS } = VfioUserHeader
const HEADER_BYTES = VfioUserHeader.bytes

/** So much is received at a time, unless a message is longer. */
const CHUNK_BYTES = 64 * 1024

/**
 * Cuts what arrives into messages. It allocates once: what a client says of a message's size decides nothing but where
 * the next one begins.
 *
 * Descriptors arrive with the first byte of what was sent with them, and nothing that was sent later arrives in the same
 * piece: they belong to the last message that begins in it. Whoever sends two messages at once, the first of them with
 * descriptors, has them taken for the second's; no client is known that does.
 */
export class MessageReader {
  /** What `next` has found. */
  readonly message: Message
  private readonly bytes = new Uint8Array(MOST_MESSAGE_BYTES + CHUNK_BYTES)
  private readonly chunk = this.bytes.subarray(0, CHUNK_BYTES)
  private start = 0
  private end = 0
  private readonly descriptors: number[] = []
  /** Where the message begins that the descriptors belong to. */
  private owner = 0

  constructor() {
    this.message = new Message(this.bytes)
  }

  /** Where to receive to, when `next` has found nothing more. */
  space(): Uint8Array {
    if (this.start === this.end) {
      this.start = this.end = 0
      return this.chunk
    }
    // Part of a message: to the front, so that there is room for the longest.
    this.bytes.copyWithin(0, this.start, this.end)
    this.owner -= this.start
    this.end -= this.start
    this.start = 0
    return this.bytes.subarray(this.end, this.end + CHUNK_BYTES)
  }

  /**
   * So many bytes were received into `space`, with `descriptors[0]` descriptors, which follow there. False where they are
   * more than a message may have: they are closed.
   */
  add(lengthBytes: number, descriptors: Int32Array): boolean {
    this.end += lengthBytes
    const count = descriptors[0]!
    if (count === 0) return true
    const owner = this.lastStart()
    // Only what is not whole has been left: descriptors that are here are those of the same message, or of none.
    for (let i = 0; i < count; i++) this.descriptors.push(descriptors[1 + i]!)
    if (this.descriptors.length <= MOST_DESCRIPTORS) {
      this.owner = owner
      return true
    }
    this.clear()
    return false
  }

  /**
   * Moves `message` on to the next one that is there as a whole: false where there is none, and a sentence where what
   * comes next is no message, so that nobody knows where the one after it begins.
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
    if (size < HEADER_BYTES || size > MOST_MESSAGE_BYTES) {
      return `its size is ${size}, expected ${HEADER_BYTES} to ${MOST_MESSAGE_BYTES}`
    }
    if (left < size) return false
    message.at = start + HEADER_BYTES
    message.lengthBytes = size - HEADER_BYTES
    if (this.descriptors.length > 0 && this.owner === start)
      for (const each of this.descriptors.splice(0)) message.descriptors.push(each)
    this.start += size
    return true
  }

  /** Forgets everything: the client is gone. */
  clear(): void {
    for (const descriptor of this.descriptors.splice(0)) closeSync(descriptor)
    this.message.closeDescriptors()
    this.start = this.end = 0
  }

  /** Where the last message begins of which something is there. */
  private lastStart(): number {
    let at = this.start
    while (this.end - at >= HEADER_BYTES) {
      const size = this.message.view.getUint32(at + SIZE.offset, true)
      // A size that cannot be ends the connection when it is looked at.
      if (size < HEADER_BYTES || at + size >= this.end) break
      at += size
    }
    return at
  }
}
