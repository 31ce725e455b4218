import { closeSync } from 'node:fs'
import { sockets } from '../native.js'

/** A client that sends arbitrary bytes, and returns the replies. */
export class RawClient {
  private readonly socket: number
  private isClosed = false

  /** Connects to a server, and retries while its backlog is full. */
  constructor(path: string) {
    this.socket = connected(path)
  }

  /** Sends bytes. Returns false if the server has closed the connection. */
  send(bytes: Uint8Array, descriptors: readonly number[] = []): boolean {
    try {
      sockets.send(this.socket, bytes, descriptors.length === 0 ? undefined : Int32Array.from(descriptors), 10e9)
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
      return false
    }
  }

  /** Returns the next `count` replies, or fewer if the server closes the connection. */
  replies(count: number): DataView[] {
    const found: DataView[] = []
    let rest = new Uint8Array(0)
    const into = new Uint8Array(65536)
    const descriptors = new Int32Array(17)
    for (;;) {
      while (rest.length >= 16) {
        const size = new DataView(rest.buffer, rest.byteOffset).getUint32(4, true)
        if (rest.length < size) break
        found.push(new DataView(rest.slice(0, size).buffer))
        rest = rest.slice(size)
      }
      if (found.length >= count) return found
      if (sockets.poll(Int32Array.of(this.socket), 60e9) === 0) throw new Error('no reply for a minute')
      const length = this.receive(into, descriptors)
      if (length === 0) return found
      for (let i = 0; i < descriptors[0]!; i++) closeSync(descriptors[1 + i]!)
      if (length > 0) rest = Uint8Array.from([...rest, ...into.subarray(0, length)])
    }
  }

  /** Receives bytes. Returns 0 at the end of the connection, also after a reset. */
  private receive(into: Uint8Array, descriptors: Int32Array): number {
    try {
      return sockets.receive(this.socket, into, descriptors)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error
      return 0
    }
  }

  /** Sends a message. Returns the errno of the reply; undefined if the server closes the connection. */
  ask(command: number, data: Uint8Array = new Uint8Array(), descriptors: readonly number[] = []): number | undefined {
    this.send(message(command, data), descriptors)
    return this.replies(1)[0]?.getUint32(12, true)
  }

  /** Negotiates the version. After that, the server serves this client. */
  agree(): this {
    if (this.ask(1, words([16, 0], [16, 1])) !== 0) throw new Error('the server did not agree on version 0.1')
    return this
  }

  close(): void {
    if (!this.isClosed) closeSync(this.socket)
    this.isClosed = true
  }
}

function connected(path: string): number {
  for (let tries = 0; ; tries++) {
    try {
      return sockets.connect(path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || tries === 10_000) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}

/** Encodes a message: ID, command, size, flags, error (vfio-user 0.9.2 Header), data. */
export function message(command: number, data: Uint8Array = new Uint8Array(), flags = 0): Uint8Array {
  return Buffer.concat([words([16, 1], [16, command], [32, 16 + data.length], [32, flags], [32, 0]), data])
}

/** Encodes consecutive little-endian numbers. */
export function words(...parts: readonly (readonly [bits: 16 | 32 | 64, value: number | bigint])[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(parts.reduce((sum, [bits]) => sum + bits / 8, 0)))
  let at = 0
  for (const [bits, value] of parts) {
    if (bits === 64) view.setBigUint64(at, BigInt(value), true)
    else if (bits === 32) view.setUint32(at, Number(value), true)
    else view.setUint16(at, Number(value), true)
    at += bits / 8
  }
  return new Uint8Array(view.buffer)
}
