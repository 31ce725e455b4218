import { Diagnostics } from '../../src/controller/diagnostics.js'
import { Namespaces } from '../../src/nvm/namespaces.js'
import type { NamespaceOptions } from '../../src/nvm/namespace.js'
import { profileOf } from '../../src/profiles/index.js'
import type { DriveProfile } from '../../src/profiles/profile.js'
import { WallClock } from '../../src/realtime/wall-clock.js'
import type { Eventfds } from '../../src/vfio-user/eventfds.js'
import { Message } from '../../src/vfio-user/message.js'
import { Reply } from '../../src/vfio-user/reply.js'
import { ServedController, type ServedControllerOptions } from '../../src/vfio-user/served-controller.js'
import type { Served } from '../../src/vfio-user/server-loop.js'
import { FakeMemory } from './fake-host.js'

/** Command numbers (vfio-user 0.9.2 Commands). */
export const VERSION = 1
export const DMA_MAP = 2
export const DMA_UNMAP = 3
export const GET_INFO = 4
export const GET_REGION_INFO = 5
export const GET_IRQ_INFO = 7
export const SET_IRQS = 8
export const REGION_READ = 9
export const REGION_WRITE = 10
export const RESET = 13
export const WRITE_MULTI = 15

export const BAR0 = 0
export const CONFIG = 7

export const INTX = 0
export const MSIX = 2

/** Flags of SET_IRQS. */
export const DATA_NONE = 1
export const DATA_BOOL = 2
export const DATA_EVENTFD = 4
export const MASK = 8
export const UNMASK = 16
export const TRIGGER = 32

/** Errno values of Linux. */
export const ENOENT = 2
export const ENOMEM = 12
export const EACCES = 13
export const EEXIST = 17
export const EINVAL = 22
export const ENOTSUP = 95

/** Simulates eventfds, and records operations. Numbers start at 1000 to differ from descriptors of this process. */
export class FakeEventfds implements Eventfds {
  readonly signals: number[] = []
  readonly closed: number[] = []
  readonly drained: number[] = []
  private next = 1000

  make(count = 1): number[] {
    return Array.from({ length: count }, () => this.next++)
  }

  isOne(descriptor: number): boolean {
    return descriptor >= 1000
  }

  drain(descriptor: number): void {
    this.drained.push(descriptor)
  }

  signal(descriptor: number): void {
    this.signals.push(descriptor)
  }

  close(descriptor: number): void {
    this.closed.push(descriptor)
  }
}

/** A reply to the client. */
export interface Answered {
  readonly errno: number
  readonly data: DataView
  readonly descriptor: number
}

/** Concatenated numbers: 16, 32 or 64 bits each, little-endian. */
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

/** A client and its controller in one thread, which exchange messages and replies without a socket. */
export class DirectClient {
  readonly memory = new FakeMemory()
  readonly eventfds = new FakeEventfds()
  readonly clock = new WallClock()
  readonly diagnostics = new Diagnostics(this.clock)
  readonly served: ServedController
  private present: Served
  private readonly reply = new Reply()
  private readonly message = new Message(new Uint8Array(65536))

  constructor(
    options: Partial<Omit<ServedControllerOptions, 'namespaces' | 'profile'>> & {
      readonly profile?: DriveProfile
      readonly namespaces?: readonly NamespaceOptions[]
    } = {},
  ) {
    const { profile = profileOf('ideal'), namespaces = [{ capacityBytes: 2 ** 20 }], ...rest } = options
    this.served = new ServedController({
      ...{ host: this.memory, clock: this.clock, namespaces: new Namespaces(namespaces), profile },
      ...{ diagnostics: this.diagnostics, faults: undefined, seed: 1, trace: undefined, mappedDoorbells: false },
      eventfds: this.eventfds,
      ...rest,
    })
    this.present = this.served.welcome()
  }

  get session() {
    return this.present.session
  }

  get doorbells() {
    return this.present.doorbells
  }

  /** Disconnects, and connects as a new client. */
  reconnect(): void {
    this.present.leave()
    this.present = this.served.welcome()
  }

  leave(): void {
    this.present.leave()
  }

  /** Negotiates version 0.1, as SPDK does. */
  agree(): this {
    this.ask(VERSION, words([16, 0], [16, 1]))
    return this
  }

  /** Sends a message. Returns the reply; undefined if the message requests none. */
  send(command: number, data: Uint8Array, descriptors: readonly number[] = [], flags = 0): Answered | undefined {
    const { message, reply } = this
    message.bytes.set(data, 16)
    Object.assign(message, { id: 0x1234, command, flags, at: 16, lengthBytes: data.length })
    message.descriptors.push(...descriptors)
    const bytes = this.session.handle(message, reply)
    message.closeDescriptors()
    if (bytes === undefined) return undefined
    const copy = bytes.slice()
    const view = new DataView(copy.buffer)
    return { errno: view.getUint32(12, true), data: new DataView(copy.buffer, 16), descriptor: reply.descriptor }
  }

  ask(command: number, data: Uint8Array = new Uint8Array(), descriptors: readonly number[] = []): Answered {
    return this.send(command, data, descriptors)!
  }

  /** Reads a region. Returns the bytes, or the errno. */
  read(region: number, offset: number, count: number): DataView | number {
    const { errno, data } = this.ask(REGION_READ, words([64, offset], [32, region], [32, count]))
    return errno === 0 ? new DataView(data.buffer, data.byteOffset + 16) : errno
  }

  read32(region: number, offset: number): number {
    return (this.read(region, offset, 4) as DataView).getUint32(0, true)
  }

  /** Writes a region. Returns the errno. */
  write(region: number, offset: number, data: Uint8Array): number {
    return this.ask(REGION_WRITE, Buffer.concat([words([64, offset], [32, region], [32, data.length]), data])).errno
  }

  write32(region: number, offset: number, value: number): number {
    return this.write(region, offset, words([32, value >>> 0]))
  }

  map(iova: number, lengthBytes: number, fileOffset: number, descriptor: number | undefined, flags = 3): number {
    const data = words([32, 32], [32, flags], [64, fileOffset], [64, iova], [64, lengthBytes])
    return this.ask(DMA_MAP, data, descriptor === undefined ? [] : [descriptor]).errno
  }

  unmap(iova: number, lengthBytes: number, flags = 0): number {
    return this.ask(DMA_UNMAP, words([32, 24], [32, flags], [64, iova], [64, lengthBytes])).errno
  }

  irqs(flags: number, index: number, start: number, count: number, descriptors: readonly number[] = []): number {
    return this.ask(SET_IRQS, words([32, 20], [32, flags], [32, index], [32, start], [32, count]), descriptors).errno
  }

  /** Simulates that the client signals the eventfd that unmasks INTx, and the loop detects it. Returns the eventfd. */
  unmaskPin(): number {
    const descriptor = this.present.unmaskDescriptor()
    this.present.takeUnmask()
    this.run()
    return descriptor
  }

  /** Runs all due events, and signals pending interrupts. */
  run(): void {
    this.clock.tick()
    while (this.clock.run());
    this.present.flush()
  }
}
