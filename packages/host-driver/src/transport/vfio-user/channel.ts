import { closeSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import type { SocketHost } from '@gpunvme/nvme-spec/transport'
import { VFIO_USER, VfioUserHeader } from '@gpunvme/nvme-spec/vfio-user'
import { protocolViolated, requestRefused, VfioUserLostError, type VfioUserDeparture } from './errors.js'

/** A command of the protocol: a name of the table Commands. */
export type VfioUserCommand = keyof typeof VFIO_USER

/** An answer of the target, without its header. */
export interface Answer {
  readonly data: DataView<ArrayBuffer>
  /** Descriptors that came with it, for the caller to close. */
  readonly descriptors: readonly number[]
}

/** Expected length of an answer in bytes, without its header, and whether descriptors may come with it. */
export interface Expected {
  readonly minBytes: number
  readonly maxBytes: number
  readonly descriptors?: boolean
}

interface Message extends Answer {
  readonly id: number
  readonly command: number
  readonly isReply: boolean
  readonly isError: boolean
  readonly noReply: boolean
  readonly error: number
}

/** Errno with which requests of the target are refused, with Linux's number. */
const ENOTSUP = 95

/** Maximum length of a target's request that is read: 1 MiB of data and the preceding fields. */
const MAX_REQUEST_BYTES = 1_048_576 + 64

/** Maximum number of target requests that are refused per check. */
const MAX_AT_ONCE = 64

const MAX_DESCRIPTORS = 16

const { TYPE, NO_REPLY, ERROR } = VfioUserHeader.FLAGS

/**
 * Connection to a target: one request at a time, each answered within a time limit while this thread waits. The
 * connection ends if the target violates the protocol, is silent for too long or closes it, and if this process cannot
 * receive or send a whole message. `departure` then says why, and later calls return at once. Requests of the target
 * for memory that it has not mapped are refused.
 */
export class Channel {
  readonly socket: string
  private readonly host: SocketHost
  private readonly fd: number
  private readonly limitNs: number
  private readonly onDeparture: () => void
  private readonly header = new DataView(new ArrayBuffer(VfioUserHeader.bytes))
  private readonly received = new Int32Array(1 + MAX_DESCRIPTORS)
  private readonly waited: Int32Array
  private lastId = 0
  private reason: VfioUserDeparture | undefined
  private isClosed = false

  /** @param limitNs time limit of an answer. @param onDeparture called once, when the connection ends. */
  constructor(host: SocketHost, fd: number, socket: string, limitNs: number, onDeparture: () => void) {
    this.host = host
    this.fd = fd
    this.socket = socket
    this.limitNs = limitNs
    this.onDeparture = onDeparture
    this.waited = Int32Array.of(fd)
  }

  get departure(): VfioUserDeparture | undefined {
    return this.reason
  }

  /**
   * Sends a request and waits for the answer.
   * @param expected the exact length of the answer in bytes, or its limits.
   * @throws DriverError (VFIO_USER_REFUSED) if the target refuses; VfioUserLostError or DriverError (VFIO_USER_PROTOCOL)
   *   if the connection ends, which is `departure` from then on.
   */
  ask(name: VfioUserCommand, data: ArrayBufferView, expected: number | Expected, descriptors?: Int32Array): Answer {
    if (this.isClosed) throw new TypeError('this transport is closed')
    if (this.reason !== undefined) throw this.reason
    const untilMs = this.deadline()
    const command = VFIO_USER[name]
    const id = (this.lastId = (this.lastId + 1) & 0xffff)
    this.send(name, { ID: id, COMMAND: command }, bytesOf(data), untilMs, descriptors)
    const limits = typeof expected === 'number' ? { minBytes: expected, maxBytes: expected } : expected
    for (;;) {
      const message = this.receive(name, untilMs, limits)
      if (!message.isReply) {
        this.refuse(name, message, untilMs)
        // A target that only sends requests of its own counts as silent.
        if (performance.now() >= untilMs) throw this.lost('silent', name)
        continue
      }
      if (message.id !== id || message.command !== command) {
        const got = `one to command ${message.command}, number ${message.id}`
        this.breach(name, `expected the answer to command ${command}, number ${id}, got ${got}`, message.descriptors)
      }
      if (!message.isError) return message
      closeAll(message.descriptors)
      throw requestRefused(this.socket, name, message.error)
    }
  }

  /**
   * Handles messages that were not requested, in particular the end of the connection. Never throws for that. Leaves
   * all but a few messages for the next call.
   */
  look(): void {
    if (this.reason !== undefined || this.isClosed) return
    const during = 'a wait'
    try {
      const untilMs = this.deadline()
      for (let taken = 0; taken < MAX_AT_ONCE && this.host.poll(this.waited, 0) !== 0; taken++) {
        const message = this.receive(during, untilMs, { minBytes: 0, maxBytes: 0 })
        if (message.isReply) this.breach(during, 'got a reply without a request', message.descriptors)
        this.refuse(during, message, untilMs)
      }
    } catch (error) {
      if (error !== this.reason) throw error
    }
  }

  /**
   * Ends the connection because of a violation by the target.
   * @param descriptors those that came with the message, which are closed.
   * @throws DriverError (VFIO_USER_PROTOCOL), which is `departure`.
   */
  breach(during: string, problem: string, descriptors: readonly number[] = [], cause?: unknown): never {
    closeAll(descriptors)
    throw this.depart(protocolViolated(this.socket, during, problem, cause))
  }

  /** Decodes an answer; an invalid one ends the connection. @param descriptors as for `breach`. */
  decode<T>(during: string, read: () => T, descriptors: readonly number[] = []): T {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      return this.breach(during, error.message, descriptors, error)
    }
  }

  /** Closes the connection; the target loses everything that it was given. */
  close(): void {
    if (!this.isClosed) closeSync(this.fd)
    this.isClosed = true
  }

  private deadline(): number {
    return performance.now() + this.limitNs / 1e6
  }

  private depart(error: VfioUserDeparture): VfioUserDeparture {
    this.reason = error
    this.onDeparture()
    return error
  }

  private lost(reason: VfioUserLostError['reason'], during: string, cause?: unknown): VfioUserDeparture {
    return this.depart(new VfioUserLostError(this.socket, reason, during, this.limitNs, cause))
  }

  private refuse(during: string, { id, command, noReply, descriptors }: Message, untilMs: number): void {
    closeAll(descriptors)
    if (noReply) return
    const FLAGS = { TYPE: TYPE.REPLY, ERROR: 1 } as const
    this.send(during, { ID: id, COMMAND: command, FLAGS, ERROR: ENOTSUP }, new Uint8Array(0), untilMs)
  }

  private send(
    during: string,
    header: Parameters<typeof VfioUserHeader.encode>[2],
    data: Uint8Array,
    untilMs: number,
    descriptors?: Int32Array,
  ): void {
    const bytes = new Uint8Array(VfioUserHeader.bytes + data.length)
    VfioUserHeader.encode(new DataView(bytes.buffer), 0, { ...header, SIZE: bytes.length })
    bytes.set(data, VfioUserHeader.bytes)
    try {
      this.host.send(this.fd, bytes, descriptors, leftNs(untilMs))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ETIMEDOUT') throw this.lost('silent', during, error)
      if (code === 'EPIPE' || code === 'ECONNRESET') throw this.lost('closed', during, error)
      // Part of it may have been sent.
      throw this.lost('broken', during, error)
    }
  }

  /** Returns the next message: a request of the target, or an answer with the expected length. */
  private receive(during: string, untilMs: number, expected: Expected): Message {
    const descriptors: number[] = []
    try {
      this.fill(new Uint8Array(this.header.buffer), during, untilMs, descriptors)
      const { ID: id, COMMAND: command, SIZE, FLAGS, ERROR: error } = VfioUserHeader.view(this.header)
      const type = TYPE.of(FLAGS)
      if (type > TYPE.REPLY) this.breach(during, `expected a command or a reply, got a message of type ${type}`)
      const isReply = type === TYPE.REPLY
      const isError = isReply && ERROR.of(FLAGS) === 1
      const lengthBytes = SIZE - VfioUserHeader.bytes
      const most = isReply ? expected.maxBytes : MAX_REQUEST_BYTES
      const least = isReply && !isError ? expected.minBytes : 0
      if (lengthBytes < least || lengthBytes > most) {
        const range = `${least + VfioUserHeader.bytes} to ${most + VfioUserHeader.bytes}`
        this.breach(during, `expected a message of ${range} bytes, got one of ${SIZE}`)
      }
      const data = new DataView(new ArrayBuffer(lengthBytes))
      this.fill(new Uint8Array(data.buffer), during, untilMs, descriptors)
      if (isReply && descriptors.length > 0 && (isError || expected.descriptors !== true))
        this.breach(during, `expected no descriptors, got ${descriptors.length}`)
      const noReply = NO_REPLY.of(FLAGS) === 1
      return { id, command, isReply, isError, noReply, error, data, descriptors }
    } catch (error) {
      closeAll(descriptors)
      // Later bytes could be taken for the rest of this message, or the rest for a new message.
      throw error === this.reason ? error : this.lost('broken', during, error)
    }
  }

  private fill(bytes: Uint8Array, during: string, untilMs: number, descriptors: number[]): void {
    for (let at = 0; at < bytes.length;) {
      if (this.host.poll(this.waited, leftNs(untilMs)) === 0) throw this.lost('silent', during)
      const length = this.take(bytes.subarray(at), during, descriptors)
      if (length === 0) throw this.lost('closed', during)
      if (length > 0) at += length
      if (at < bytes.length && performance.now() >= untilMs) throw this.lost('silent', during)
    }
  }

  private take(into: Uint8Array, during: string, descriptors: number[]): number {
    this.received[0] = 0
    try {
      return this.host.receive(this.fd, into, this.received)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EMSGSIZE') throw error
      return this.breach(during, `expected at most ${MAX_DESCRIPTORS} descriptors with a message`, [], error)
    } finally {
      for (const each of this.received.subarray(1, 1 + this.received[0])) descriptors.push(each)
    }
  }
}

/** Returns the remaining time, never 0, which would mean no wait at all. */
function leftNs(untilMs: number): number {
  return Math.max(1, Math.round((untilMs - performance.now()) * 1e6))
}

/** Closes descriptors that are not needed. */
export function closeAll(descriptors: readonly number[]): void {
  for (const fd of descriptors) closeSync(fd)
}

export function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
