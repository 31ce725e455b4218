import { closeSync, fstatSync, ftruncateSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DescriptorKinds, NativeRegion, VfioUserHost } from '@gpunvme/nvme-spec/transport'

/** A file of `bytes` bytes without a name, as a client's memory is; its descriptor. */
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

/** Another descriptor of the same file, as one that comes over a socket is. */
export function another(descriptor: number): number {
  return openSync(`/proc/self/fd/${descriptor}`, 'r+')
}

/** Memory of files, as both sides of a connection see it. What is stored there is not in the file, for nobody reads it. */
export class FakeMemory implements Pick<VfioUserHost, 'mapForeign'> {
  /** Parts that are mapped now. */
  readonly mapped = new Set<string>()
  /** How often something was mapped. */
  maps = 0
  private readonly parts = new Map<string, ArrayBuffer>()

  /** A file's first bytes, for the side that did not map them. */
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
        if (!mapped.has(key)) throw new TypeError('the server looks at memory that it has unmapped')
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

/** Which file it is. */
function keyOf(descriptor: number): string {
  const { dev, ino } = fstatSync(descriptor)
  return `${dev} ${ino}`
}

/** What a client has sent, cut as it likes: bytes with the descriptors beside them, or its end. */
export type Sent = { readonly bytes: Uint8Array; readonly descriptors?: readonly number[] } | 'end' | Error

/**
 * The system in memory, for a loop in this thread: whenever it has nothing to do it asks `next` for what happens then.
 * Descriptors are real ones, of /dev/null: the loop closes them.
 */
export class FakeHost extends FakeMemory implements VfioUserHost {
  /** What was answered, as it was sent, since it was last emptied. */
  readonly answers: { readonly bytes: Uint8Array; readonly descriptors: readonly number[] }[] = []
  /** How often the loop has slept. */
  polls = 0
  /** What happens to the next answer. */
  sendFails: Error | undefined
  /** What happens to the next client. */
  acceptFails: Error | undefined
  /** Called before each answer is sent, with how long that may take. */
  onSend: (timeoutNs: number) => void = () => undefined
  /** Descriptors that the loop has received. */
  readonly kinds = new Set<DescriptorKinds | undefined>()
  /** How many bytes of what is mapped clients have cut. */
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
    // The client, or who wants to be one, can be read.
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

/** An error as the system's calls throw it. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: it failed`), { code, syscall: 'sendmsg', errno: -1 })
}

/** Whether a descriptor is still open. */
export function isOpen(descriptor: number): boolean {
  try {
    fstatSync(descriptor)
    return true
  } catch {
    return false
  }
}

/** Closes those that are still open. */
export function closeAll(descriptors: readonly number[]): void {
  for (const descriptor of descriptors) if (isOpen(descriptor)) closeSync(descriptor)
}
