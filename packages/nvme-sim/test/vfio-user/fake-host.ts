import { closeSync, fstatSync, ftruncateSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DescriptorKinds, NativeRegion, VfioUserHost } from '@gpunvme/nvme-spec/transport'

/** Creates an unnamed file of `bytes` bytes, like a client's memory. Returns its descriptor. */
export function unnamedFile(bytes: number): number {
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-'))
  try {
    const descriptor = openSync(join(folder, 'memory'), 'w+')
    ftruncateSync(descriptor, bytes)
    return descriptor
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Opens another descriptor of the same file, like one that is received from a socket. */
export function another(descriptor: number): number {
  return openSync(`/proc/self/fd/${descriptor}`, 'r+')
}

/** Simulates mapped memory of files, which both sides of a connection share. Stores do not change the files. */
export class FakeMemory implements Pick<VfioUserHost, 'mapForeign'> {
  /** Ranges that are currently mapped. */
  readonly mapped = new Set<string>()
  /** Number of mappings so far. */
  maps = 0
  private readonly parts = new Map<string, ArrayBuffer>()

  /** Returns the first bytes of a file, for the side that has not mapped them. */
  bytesOf(descriptor: number, lengthBytes = fstatSync(descriptor).size): Uint8Array {
    return new Uint8Array(this.part(descriptor, 0, lengthBytes))
  }

  mapForeign(descriptor: number, offsetBytes: number, lengthBytes: number): NativeRegion {
    if (lengthBytes > 2 ** 30) throw new RangeError('the fake has no such memory')
    const key = `${keyOf(descriptor)} ${offsetBytes}`
    const buffer = this.part(descriptor, offsetBytes, lengthBytes)
    this.maps++
    this.mapped.add(key)
    const { mapped } = this
    const unused = (): never => {
      throw new TypeError('the server uses memory by its buffer')
    }
    return {
      address: 0n,
      lengthBytes,
      get buffer() {
        if (!mapped.has(key)) throw new TypeError('the server accessed memory that it has unmapped')
        return buffer
      },
      ...{ load32: unused, store32: unused, load64: unused, store64: unused },
      unmap: () => void mapped.delete(key),
    }
  }

  private part(descriptor: number, offsetBytes: number, lengthBytes: number): ArrayBuffer {
    const key = `${keyOf(descriptor)} ${offsetBytes}`
    const known = this.parts.get(key)
    if (known !== undefined && known.byteLength >= lengthBytes) return known
    const part = new ArrayBuffer(lengthBytes)
    if (known !== undefined) new Uint8Array(part).set(new Uint8Array(known))
    this.parts.set(key, part)
    return part
  }
}

/** Returns a key that identifies the file of a descriptor. */
function keyOf(descriptor: number): string {
  const { dev, ino } = fstatSync(descriptor)
  return `${dev} ${ino}`
}

/** Data that one call receives from a client: bytes and descriptors, the end of the connection, or an error. */
export type Sent = { readonly bytes: Uint8Array; readonly descriptors?: readonly number[] } | 'end' | Error

/**
 * Simulates the system for a server loop in this thread. Whenever the loop is idle, calls `next`, which creates the
 * next events. Descriptors are real ones of /dev/null, since the loop closes them.
 */
export class FakeHost extends FakeMemory implements VfioUserHost {
  /** Replies that were sent. Tests can clear the list. */
  readonly answers: { readonly bytes: Uint8Array; readonly descriptors: readonly number[] }[] = []
  /** Number of times that the loop has slept. */
  polls = 0
  /** Error of `send`, if set. */
  sendFails: Error | undefined
  /** Error of `accept`, if set. */
  acceptFails: Error | undefined
  /** Called before each reply is sent, with the timeout. */
  onSend: (timeoutNs: number) => void = () => undefined
  /** Kinds of descriptors that the loop has accepted. */
  readonly kinds = new Set<DescriptorKinds | undefined>()
  /** Number of mapped bytes that clients have truncated. */
  lostBytes = 0
  private readonly waiting: Sent[] = []
  private clients = 0
  private readonly next: () => void

  constructor(next: () => void) {
    super()
    this.next = next
  }

  /** A client connects. */
  arrive(): void {
    this.clients++
  }

  /** The client sends something. */
  give(sent: Sent): void {
    this.waiting.push(sent)
  }

  accept(): number | undefined {
    if (this.clients === 0) return undefined
    if (this.acceptFails !== undefined) throw this.acceptFails
    this.clients--
    return openSync('/dev/null', 'r')
  }

  receive(_socket: number, into: Uint8Array, descriptors: Int32Array, kinds?: DescriptorKinds): number {
    this.kinds.add(kinds)
    const sent = this.waiting.shift()
    if (sent === undefined) return -1
    if (sent === 'end') return 0
    if (sent instanceof Error) throw sent
    const { bytes, descriptors: beside = [] } = sent
    const count = Math.min(bytes.length, into.length)
    into.set(bytes.subarray(0, count))
    if (count < bytes.length) this.waiting.unshift({ bytes: bytes.subarray(count) })
    descriptors[0] = beside.length
    descriptors.set(beside, 1)
    return count
  }

  send(_socket: number, bytes: Uint8Array, descriptors: Int32Array | undefined, timeoutNs: number): void {
    if (this.sendFails !== undefined) throw this.sendFails
    this.onSend(timeoutNs)
    this.answers.push({ bytes: bytes.slice(), descriptors: [...(descriptors ?? [])] })
  }

  poll(descriptors: Int32Array): number {
    this.polls++
    this.next()
    // Readable: the client has sent data, or another client is connecting.
    return descriptors[0]! >= 0 && (this.waiting.length > 0 || this.clients > 0) ? 1 : 0
  }

  lostForeignBytes(): number {
    return this.lostBytes
  }

  yield(): void {
    this.next()
  }

  view = unused
  listen = unused
  connect = unused
  eventfd = unused
  signalEventfd = unused
  drainEventfd = unused
}

function unused(): never {
  throw new TypeError('the loop does not need it')
}

/** Creates an error like those of system calls. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: it failed`), { code, syscall: 'sendmsg', errno: -1 })
}

/** Returns whether a descriptor is open. */
export function isOpen(descriptor: number): boolean {
  try {
    fstatSync(descriptor)
    return true
  } catch {
    return false
  }
}

/** Closes the descriptors that are open. */
export function closeAll(descriptors: readonly number[]): void {
  for (const descriptor of descriptors) if (isOpen(descriptor)) closeSync(descriptor)
}
