import { closeSync, fstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { HardwareHost, NativeRegion, VfioUserHost } from '@gpunvme/nvme-spec/transport'
import { FakeHardwareHost, refusal } from './fake-hardware-host.js'
import { configSpace, type FakeSysfs } from './fake-sysfs.js'

/** Reply of the target without its header; only `error` if it rejects the request. */
export interface FakeReply {
  readonly data?: Uint8Array
  readonly descriptors?: readonly number[]
  readonly error?: number
}

/** Properties of the target. */
export interface FakeTargetOptions {
  readonly capabilities?: string
  readonly version?: readonly [major: number, minor: number]
  readonly vectors?: number
  readonly barBytes?: number
  readonly canReset?: boolean
  /** Whether the page of doorbells can be mapped. */
  readonly doorbells?: boolean
}

/** A message that the client sent. */
export interface SentMessage {
  readonly command: number
  readonly bytes: Buffer
  readonly descriptors: readonly number[]
}

/** Memory that the client has mapped. */
export interface GivenMemory {
  readonly flags: number
  readonly offset: bigint
  readonly lengthBytes: number
  readonly file: { readonly lengthBytes: number; readonly links: number }
}

/**
 * Simulates a vfio-user target without a socket. It answers each message immediately, with numbers from the
 * specification. Bytes to the client can be truncated or changed anywhere. Waiting takes no time.
 */
export class FakeTarget implements VfioUserHost, Pick<HardwareHost, 'waitReadable'> {
  readonly sent: SentMessage[] = []
  readonly bar: Buffer
  readonly config = Buffer.from(configSpace())
  readonly maps = new Map<number, GivenMemory>()
  readonly irqs = new Map<number, number>()
  readonly hardware: FakeHardwareHost
  /** Replies that replace the regular ones, by command. Undefined: no reply. */
  readonly answers = new Map<number, (payload: Buffer) => FakeReply | undefined>()
  /** Timeouts of the client's waits, in nanoseconds. */
  readonly waits: number[] = []
  resets = 0
  /** Total number of bytes that the client receives, and what follows them. */
  cut = { after: Infinity, by: 'silence' as 'silence' | 'closing' }
  /** Position of a byte to the client that is changed, and the value to XOR it with. */
  flip = { at: -1, xor: 0 }
  private readonly sys: FakeSysfs
  private readonly options: FakeTargetOptions
  private readonly queue: { readonly byte: number; readonly descriptors?: readonly number[] }[] = []
  private given = 0
  private isClosed = false

  constructor(sys: FakeSysfs, options: FakeTargetOptions = {}) {
    this.sys = sys
    this.options = options
    this.hardware = new FakeHardwareHost(sys.root)
    this.bar = Buffer.alloc(options.barBytes ?? 0x4000)
    sys.file('socket', '')
  }

  /** Total number of bytes sent to the client. */
  get givenBytes(): number {
    return this.given
  }

  connect(path: string): number {
    this.queue.splice(0)
    // A target unmaps a client's memory when the client disconnects.
    this.maps.clear()
    this.isClosed = false
    return openSync(path, 'r')
  }

  send(_: number, bytes: Uint8Array, descriptors: Int32Array | undefined): void {
    if (this.isClosed) throw refusal('EPIPE', 'sendmsg')
    const message = Buffer.from(bytes)
    const command = message.readUInt16LE(2)
    const fds = descriptors === undefined ? [] : [...descriptors]
    this.sent.push({ command, bytes: message, descriptors: fds })
    if (message.readUInt32LE(4) !== message.length) throw new Error('the size in the message header is wrong')
    if ((message.readUInt32LE(8) & 0xf) === 1) return
    const payload = message.subarray(16)
    const other = this.answers.get(command)
    const reply = other === undefined ? this.answer(command, payload, fds) : other(payload)
    if (reply !== undefined) this.reply(message.readUInt16LE(0), command, reply)
  }

  reply(id: number, command: number, { data = new Uint8Array(0), descriptors = [], error }: FakeReply): void {
    const flags = error === undefined ? 1 : 0x21
    this.say({ id, command, flags, error: error ?? 0 }, data, descriptors)
  }

  /** Sends a message of any kind. */
  say(
    { id = 0, command = 0, flags = 0, error = 0, size = undefined as number | undefined },
    data: Uint8Array = new Uint8Array(0),
    descriptors: readonly number[] = [],
  ): void {
    const header = Buffer.alloc(16)
    header.writeUInt16LE(id, 0)
    header.writeUInt16LE(command, 2)
    header.writeUInt32LE(size ?? 16 + data.length, 4)
    header.writeUInt32LE(flags, 8)
    header.writeUInt32LE(error, 12)
    for (const [index, byte] of [...header, ...data].entries()) {
      const at = this.given++
      if (at >= this.cut.after) {
        if (this.cut.by === 'closing') this.close()
        break
      }
      const changed = at === this.flip.at ? byte ^ this.flip.xor : byte
      this.queue.push(index === 0 && descriptors.length > 0 ? { byte: changed, descriptors } : { byte: changed })
    }
  }

  /** Closes the connection. The client can still receive bytes that were sent before. */
  close(): void {
    this.isClosed = true
  }

  /** Closes the descriptors that the client has not received, as the kernel does for a closed socket. */
  closeUnread(): void {
    for (const { descriptors = [] } of this.queue.splice(0)) descriptors.forEach((fd) => closeSync(fd))
  }

  receive(_: number, into: Uint8Array, descriptors: Int32Array): number {
    if (this.queue.length === 0) return this.isClosed ? 0 : -1
    let length = 0
    for (const { byte, descriptors: came } of this.queue.splice(0, into.length)) {
      into[length++] = byte
      if (came === undefined) continue
      if (came.length > 16) throw refusal('EMSGSIZE', 'recvmsg')
      descriptors.set(came, 1)
      descriptors[0] = came.length
    }
    return length
  }

  poll(_: Int32Array, timeoutNs: number): number {
    this.waits.push(timeoutNs)
    return this.queue.length > 0 || this.isClosed ? 1 : 0
  }

  mapForeign(fd: number, offsetBytes: number, lengthBytes: number): NativeRegion {
    return this.hardware.map(fd, offsetBytes, lengthBytes)
  }

  eventfd(): number {
    return this.hardware.eventfd()
  }

  drainEventfd(fd: number): boolean {
    return this.hardware.drainEventfd(fd)
  }

  waitReadable(fd: number, timeoutNs: number): Promise<boolean> {
    return this.hardware.waitReadable(fd, timeoutNs)
  }

  signalEventfd(): void {
    throw new Error('not used here')
  }

  lostForeignBytes(): number {
    throw new Error('not used here')
  }

  listen(): number {
    throw new Error('not used here')
  }

  accept(): number | undefined {
    throw new Error('not used here')
  }

  view(): ArrayBuffer {
    throw new Error('not used here')
  }

  yield(): void {
    throw new Error('not used here')
  }

  private answer(command: number, payload: Buffer, fds: readonly number[]): FakeReply {
    switch (command) {
      case 1: {
        const [major, minor] = this.options.version ?? [0, 0]
        const text = this.options.capabilities ?? '{"capabilities":{"max_msg_fds":2}}\0'
        return { data: Buffer.concat([Buffer.from([major, 0, minor, 0]), Buffer.from(text, 'latin1')]) }
      }
      case 2:
        return this.map(payload, fds)
      case 3:
        return this.maps.delete(Number(payload.readBigUInt64LE(8))) ? { data: payload } : { error: 2 }
      case 4:
        return { data: dwords(16, this.options.canReset === false ? 2 : 3, 9, 5) }
      case 5:
        return this.region(payload.readUInt32LE(8))
      case 7: {
        const index = payload.readUInt32LE(8)
        return { data: dwords(16, 1, index, index === 2 ? (this.options.vectors ?? 9) : 0) }
      }
      case 8:
        return this.setIrqs(payload, fds)
      case 9: {
        const [bytes, offset, count] = this.accessed(payload)
        return { data: Buffer.concat([payload, bytes.subarray(offset, offset + count)]) }
      }
      case 10: {
        const [bytes, offset] = this.accessed(payload)
        payload.copy(bytes, offset, 16)
        return { data: payload.subarray(0, 16) }
      }
      case 13:
        this.resets++
        this.config.writeUInt16LE(0, 4)
        return {}
      default:
        return { error: 95 }
    }
  }

  private accessed(payload: Buffer): [bytes: Buffer, offset: number, count: number] {
    const bytes = payload.readUInt32LE(8) === 7 ? this.config : this.bar
    return [bytes, Number(payload.readBigUInt64LE(0)), payload.readUInt32LE(12)]
  }

  private map(payload: Buffer, [fd]: readonly number[]): FakeReply {
    const iova = Number(payload.readBigUInt64LE(16))
    if (fd === undefined || payload.readUInt32LE(0) !== 32 || this.maps.has(iova)) return { error: 22 }
    const { size, nlink } = fstatSync(fd)
    this.maps.set(iova, {
      flags: payload.readUInt32LE(4),
      offset: payload.readBigUInt64LE(8),
      lengthBytes: Number(payload.readBigUInt64LE(24)),
      file: { lengthBytes: size, links: nlink },
    })
    return {}
  }

  private region(index: number): FakeReply {
    const size = index === 0 ? this.bar.length : index === 7 ? 256 : 0
    const isMapped = index === 0 && this.options.doorbells === true
    const data = Buffer.alloc(isMapped ? 64 : 32)
    data.writeUInt32LE(data.length, 0)
    data.writeUInt32LE(isMapped ? 15 : 3, 4)
    data.writeUInt32LE(index, 8)
    data.writeBigUInt64LE(BigInt(size), 16)
    if (!isMapped) return { data }
    data.writeUInt32LE(32, 12)
    data.set([1, 0, 1, 0], 32) // VFIO_REGION_INFO_CAP_SPARSE_MMAP, version 1
    data.writeUInt32LE(1, 40)
    data.writeBigUInt64LE(0x1000n, 48)
    data.writeBigUInt64LE(0x1000n, 56)
    return { data, descriptors: [openSync(this.sys.file('doorbells', new Uint8Array(0x2000)), 'r+')] }
  }

  private setIrqs(payload: Buffer, fds: readonly number[]): FakeReply {
    const [flags, index, start, count] = [4, 8, 12, 16].map((at) => payload.readUInt32LE(at))
    if (index !== 2 || payload.readUInt32LE(0) !== 20) return { error: 22 }
    if (flags === 0x21 && start === 0 && count === 0) this.irqs.clear()
    else if (flags === 0x24 && count === fds.length) fds.forEach((fd, at) => this.irqs.set(start! + at, fd))
    else return { error: 22 }
    return {}
  }
}

/** Encodes dwords. */
export function dwords(...values: readonly number[]): Buffer {
  const data = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) data.writeUInt32LE(value, index * 4)
  return data
}

/** Opens a descriptor to send as an unexpected one. */
export function strayDescriptor(sys: FakeSysfs): number {
  return openSync(sys.file('stray', ''), 'r')
}

/** Returns whether a descriptor is open. */
export function isOpen(fd: number): boolean {
  try {
    fstatSync(fd)
    return true
  } catch {
    return false
  }
}

/** Returns the path of the target's socket. */
export const socketOf = (sys: FakeSysfs): string => join(sys.root, 'socket')
