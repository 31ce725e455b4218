import { fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { HardwareHost, NativeRegion } from '@gpunvme/nvme-spec/transport'

/** Creates an error of the kernel, as native code reports it. */
export function refusal(code: string, syscall = 'mmap'): Error {
  return Object.assign(new Error(`${code}: refused, ${syscall}`), { code, syscall })
}

/** Implements an ioctl: returns the result of the call, and changes the structure in place. */
export type IoctlAnswer = (argument: DataView, fd: number) => number

/** Simulates memory, mappings and ioctls without a kernel, and records calls. */
export class FakeHardwareHost implements HardwareHost {
  readonly folder: string
  /** Address of the next allocation. Starts at 1 GiB, so that a pagemap file stays small. */
  private nextAddress = 0x4000_0000
  readonly live = new Set<FakeRegion>()
  readonly allocated: FakeRegion[] = []
  readonly mapped: FakeRegion[] = []
  readonly ioctls = new Map<number, IoctlAnswer>()
  readonly numbers: { readonly request: number; readonly argument: number }[] = []
  readonly events: number[] = []
  readonly adopted: number[] = []
  readonly waiting = new Map<number, () => void>()
  private readonly signalled = new Set<number>()
  memlock = Infinity
  /** Called before each allocation. Can throw an error, or prepare the pagemap. */
  beforeAllocate: (region: { address: number; lengthBytes: number; pageBytes: number }) => void = () => undefined

  constructor(folder: string) {
    this.folder = folder
  }

  allocate(lengthBytes: number, pageBytes: 4096 | 2_097_152): NativeRegion {
    const rounded = Math.ceil(lengthBytes / pageBytes) * pageBytes
    const address = this.nextAddress
    this.beforeAllocate({ address, lengthBytes: rounded, pageBytes })
    this.nextAddress += Math.ceil(rounded / 2_097_152) * 2_097_152
    const region = new FakeRegion(this, BigInt(address), new ArrayBuffer(rounded))
    this.allocated.push(region)
    return region
  }

  /** Rejects what `MapFile` of cuda-native rejects before mmap, so that a file bounds the memory allocated here. */
  map(fd: number, offsetBytes: number, lengthBytes: number): NativeRegion {
    if (offsetBytes % 4096 !== 0) throw new RangeError(`offsetBytes: expected a multiple of 4096, got ${offsetBytes}`)
    const stats = fstatSync(fd)
    if (stats.isFile() && offsetBytes + lengthBytes > stats.size) {
      const expected = `no more than the ${stats.size} bytes of the file from byte ${offsetBytes} on`
      throw new RangeError(`lengthBytes: expected ${expected}, got ${lengthBytes}`)
    }
    const buffer = new ArrayBuffer(lengthBytes)
    if (stats.isFile()) readSync(fd, new Uint8Array(buffer), 0, lengthBytes, offsetBytes)
    const region = new FakeRegion(this, BigInt(this.nextAddress), buffer)
    this.nextAddress += Math.ceil(lengthBytes / 2_097_152) * 2_097_152
    this.mapped.push(region)
    return region
  }

  ioctl(fd: number, request: number, argument: Uint8Array): number {
    return this.answer(fd, request, new DataView(argument.buffer, argument.byteOffset, argument.byteLength))
  }

  ioctlNumber(fd: number, request: number, argument: number): number {
    this.numbers.push({ request, argument })
    const view = new DataView(new ArrayBuffer(8))
    view.setUint32(0, argument, true)
    return this.answer(fd, request, view)
  }

  adopt(fd: number): number {
    this.adopted.push(fd)
    return fd
  }

  /** Opens a file in place of an eventfd: the descriptor is real, and `signalled` holds its state. */
  eventfd(): number {
    const fd = openSync(join(this.folder, `event${this.events.length}`), 'w')
    this.events.push(fd)
    return fd
  }

  drainEventfd(fd: number): boolean {
    return this.signalled.delete(fd)
  }

  signal(fd: number): void {
    this.signalled.add(fd)
    this.waiting.get(fd)?.()
  }

  waitReadable(fd: number, timeoutNs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        done(false)
      }, timeoutNs / 1e6)
      const done = (isReadable: boolean) => {
        clearTimeout(timer)
        this.waiting.delete(fd)
        resolve(isReadable)
      }
      this.waiting.set(fd, () => {
        done(true)
      })
    })
  }

  memlockLimitBytes(): number {
    return this.memlock
  }

  view(): ArrayBuffer {
    throw new Error('not used here')
  }

  yield(): void {
    throw new Error('not used here')
  }

  private answer(fd: number, request: number, view: DataView): number {
    const answer = this.ioctls.get(request)
    if (answer === undefined) throw refusal('ENOTTY', 'ioctl')
    return answer(view, fd)
  }
}

/** A mapping over an ArrayBuffer, which is empty after `unmap`. */
export class FakeRegion implements NativeRegion {
  readonly address: bigint
  readonly lengthBytes: number
  readonly stores: { readonly offset: number; readonly value: number }[] = []
  private readonly host: FakeHardwareHost
  private memory: ArrayBuffer

  constructor(host: FakeHardwareHost, address: bigint, buffer: ArrayBuffer) {
    this.host = host
    this.address = address
    this.lengthBytes = buffer.byteLength
    this.memory = buffer
    host.live.add(this)
  }

  get buffer(): ArrayBuffer {
    return this.memory
  }

  load32(offset: number): number {
    return new DataView(this.memory).getUint32(offset, true)
  }

  store32(offset: number, value: number): void {
    new DataView(this.memory).setUint32(offset, value, true)
    this.stores.push({ offset, value })
  }

  load64(offset: number): bigint {
    return new DataView(this.memory).getBigUint64(offset, true)
  }

  store64(offset: number, value: bigint): void {
    new DataView(this.memory).setBigUint64(offset, value, true)
  }

  unmap(): void {
    this.memory = new ArrayBuffer(0)
    this.host.live.delete(this)
  }
}
