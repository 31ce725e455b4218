import { closeSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import type { SocketHost } from '@gpunvme/nvme-spec/transport'
import { VFIO_USER, VfioUserHeader } from '@gpunvme/nvme-spec/vfio-user'
import { VfioUserLostError, VfioUserProtocolError, VfioUserRefusedError, type VfioUserDeparture } from './errors.js'

/** What is asked of a target: a name of the table Commands. */
export type VfioUserCommand = keyof typeof VFIO_USER

/** An answer of the target, without its header. */
export interface Answer {
  readonly data: DataView<ArrayBuffer>
  /** What came with it, for the caller to close. */
  readonly descriptors: readonly number[]
}

/** How long an answer is in bytes, without its header, and whether descriptors may come with it. */
export interface Expected {
  readonly leastBytes: number
  readonly mostBytes: number
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

/** What a target's own requests are refused with, as Linux numbers it. */
const ENOTSUP = 95

/** The longest request of a target that is read to its end: 1 MiB of data, and what stands before them. */
const MOST_REQUEST_BYTES = 1_048_576 + 64

/** How many requests of a target are refused in one look at what has come. */
const MOST_AT_ONCE = 64

const MOST_DESCRIPTORS = 16

const { TYPE, NO_REPLY, ERROR } = VfioUserHeader.FLAGS

/**
 * The connection to a target: one question at a time, each answered within a bound while this thread waits. A target that
 * breaks the protocol, is silent for too long or closes is not talked to any more, nor is one of whose messages this process
 * could not take or send all: `departure` says why, and everything
 * after it returns at once. Requests of the target, which asks for memory in that way that it has not mapped, are refused.
 */
export class Channel {
  readonly socket: string
  private readonly host: SocketHost
  private readonly fd: number
  private readonly limitNs: number
  private readonly onDeparture: () => void
  private readonly header = new DataView(new ArrayBuffer(VfioUserHeader.bytes))
  private readonly received = new Int32Array(1 + MOST_DESCRIPTORS)
  private readonly waited: Int32Array
  private lastId = 0
  private reason: VfioUserDeparture | undefined
  private isClosed = false

  /** @param limitNs how long an answer may take. @param onDeparture called once, when the target is gone. */
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
   * Asks, and waits for the answer.
   * @throws VfioUserRefusedError where the target says no; VfioUserLostError, VfioUserProtocolError where it is gone, which
   *   is `departure` from then on.
   */
  ask(name: VfioUserCommand, data: Uint8Array, expected: Expected, descriptors?: Int32Array): Answer {
    if (this.isClosed) throw new TypeError('this transport is closed')
    if (this.reason !== undefined) throw this.reason
    const untilMs = this.deadline()
    const command = VFIO_USER[name]
    const id = (this.lastId = (this.lastId + 1) & 0xffff)
    this.send(name, { ID: id, COMMAND: command }, data, untilMs, descriptors)
    for (;;) {
      const message = this.receive(name, untilMs, expected)
      if (!message.isReply) {
        this.refuse(name, message, untilMs)
        // One that asks on and on is silent all the same.
        if (performance.now() >= untilMs) throw this.lost('silent', name)
        continue
      }
      if (message.id !== id || message.command !== command) {
        const got = `one to command ${message.command}, number ${message.id}`
        this.breach(name, `expected the answer to command ${command}, number ${id}, got ${got}`, message.descriptors)
      }
      if (!message.isError) return message
      closeAll(message.descriptors)
      throw new VfioUserRefusedError(this.socket, name, message.error)
    }
  }

  /**
   * Takes what came without being asked for, most of all that the target has closed. It never throws for that. What is
   * more than a few messages is left for the next time.
   */
  look(): void {
    if (this.reason !== undefined || this.isClosed) return
    const during = 'a wait'
    try {
      const untilMs = this.deadline()
      for (let taken = 0; taken < MOST_AT_ONCE && this.host.poll(this.waited, 0) !== 0; taken++) {
        const message = this.receive(during, untilMs, { leastBytes: 0, mostBytes: 0 })
        if (message.isReply) this.breach(during, 'got a reply to no request', message.descriptors)
        this.refuse(during, message, untilMs)
      }
    } catch (error) {
      if (error !== this.reason) throw error
    }
  }

  /**
   * Ends the connection for what the target has done.
   * @param descriptors what came with it. @throws VfioUserProtocolError, which is `departure`.
   */
  breach(during: string, problem: string, descriptors: readonly number[] = [], cause?: unknown): never {
    closeAll(descriptors)
    throw this.depart(new VfioUserProtocolError(this.socket, during, problem, cause))
  }

  /** Ends the connection; the target lets go of everything that it was given. */
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
      // A part of it may have been sent.
      throw this.lost('broken', during, error)
    }
  }

  /** The next message: a request of the target, or an answer that has the length that was expected. */
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
      const most = isReply ? expected.mostBytes : MOST_REQUEST_BYTES
      const least = isReply && !isError ? expected.leastBytes : 0
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
      // What comes next would be taken for the rest of this message, or the rest for a message.
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
      return this.breach(during, `expected at most ${MOST_DESCRIPTORS} descriptors with a message`, [], error)
    } finally {
      for (const each of this.received.subarray(1, 1 + this.received[0])) descriptors.push(each)
    }
  }
}

/** What is left of the time, so that it is never taken for none: that would be no wait at all. */
function leftNs(untilMs: number): number {
  return Math.max(1, Math.round((untilMs - performance.now()) * 1e6))
}

/** Gives back descriptors that nobody wants. */
export function closeAll(descriptors: readonly number[]): void {
  for (const fd of descriptors) closeSync(fd)
}
