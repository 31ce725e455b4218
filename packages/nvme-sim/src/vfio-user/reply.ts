import { VfioUserHeader } from '@gpunvme/nvme-spec/vfio-user'
import { EINVAL } from './limits.js'
import type { Message } from './message.js'

const { ID, COMMAND, SIZE, FLAGS, ERROR } = VfioUserHeader
const HEADER_BYTES = VfioUserHeader.bytes
const REPLY = FLAGS.TYPE.REPLY
const REFUSED = REPLY | (1 << FLAGS.ERROR.lsb)

/** All of configuration space is the longest reply. */
const REPLY_BYTES = 8192

/** The reply to a message, in memory that is reused for every reply. */
export class Reply {
  readonly view = new DataView(new ArrayBuffer(REPLY_BYTES))
  readonly bytes = new Uint8Array(this.view.buffer)
  /** Start of its data. */
  readonly at = HEADER_BYTES
  /** Length of its data in bytes. */
  lengthBytes = 0
  /** A descriptor to send with it, which stays open; -1 for none. */
  descriptor = -1
  /** By length, so that a reply allocates no object. */
  private readonly views: (Uint8Array | undefined)[] = []

  begin(): void {
    this.lengthBytes = 0
    this.descriptor = -1
  }

  /** Returns the reply to an invalid message, as far as its header identifies it. */
  refuse(message: Message): Uint8Array {
    this.begin()
    return this.finish(message, EINVAL)
  }

  /** Returns the whole reply: the requested data, or the errno of the failure without data. */
  finish(message: Message, errno: number): Uint8Array {
    const { view } = this
    const size = HEADER_BYTES + (errno === 0 ? this.lengthBytes : 0)
    view.setUint16(ID.offset, message.id, true)
    view.setUint16(COMMAND.offset, message.command, true)
    view.setUint32(SIZE.offset, size, true)
    view.setUint32(FLAGS.offset, errno === 0 ? REPLY : REFUSED, true)
    view.setUint32(ERROR.offset, errno, true)
    return (this.views[size] ??= this.bytes.subarray(0, size))
  }
}
