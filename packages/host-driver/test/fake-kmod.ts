import { mkdirSync, symlinkSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { refusal, type FakeHardwareHost } from './fake-hardware-host.js'
import { configSpace, type FakeSysfs } from './fake-sysfs.js'

/** Address of the fixture's controller. */
export const bdf = '0000:0b:00.0'

/** Properties of the simulated module and its controller. */
export interface FakeKmodOptions {
  readonly abiVersion?: number
  /** IOMMU mode. 0: none, 1: identity, 2: translated. */
  readonly iommu?: 0 | 1 | 2
  readonly vectors?: number
  /** Supported resets as bits: 1 for the function, 2 for the bus. */
  readonly resetMethods?: number
  /** Number of mappable bytes of registers. */
  readonly mappable?: number
  /** Bus number of the controller that the device node reports. */
  readonly bus?: number
  /** Returns the physical address of the n-th page of pinned memory. */
  readonly pageAt?: (page: number) => number
}

/** Memory that the module holds: kind 1 is coherent, 2 pinned, 3 a dma-buf. */
export interface FakeMemory {
  readonly kind: 1 | 2 | 3
  readonly lengthBytes: number
  readonly iova: number
  isRevoked: boolean
}

/**
 * Simulates the gpunvme module over files, with numbers and offsets of kmod/uapi/gpunvme_ioctl.h as gcc computes them.
 * Records held memory. Does not notice when the node is closed.
 */
export class FakeKmod {
  readonly node: string
  readonly held = new Map<number, FakeMemory>()
  readonly irqs = new Map<number, number>()
  readonly resets: number[] = []
  /** Length and pages of each dma-buf, by its descriptor. */
  readonly dmaBufs = new Map<number, { readonly lengthBytes: number; readonly iovas: readonly number[] }>()
  readonly config = new DataView(configSpace().buffer)
  notify = -1
  events = 0
  isGone = false
  /** Errnos with which the next calls of a request fail, by request number. */
  readonly refusals = new Map<number, string[]>()
  private readonly host: FakeHardwareHost
  private readonly options: FakeKmodOptions
  private handles = 0

  constructor(sys: FakeSysfs, host: FakeHardwareHost, options: FakeKmodOptions = {}) {
    this.host = host
    this.options = options
    sys.driver('gpunvme')
    const device = sys.function(bdf, { driver: 'gpunvme' })
    mkdirSync(join(device, 'misc/gpunvme0'), { recursive: true })
    mkdirSync(join(sys.root, 'sys/class/misc/gpunvme0'), { recursive: true })
    symlinkSync(`../../../bus/pci/devices/${bdf}`, join(sys.root, 'sys/class/misc/gpunvme0/device'))
    this.node = sys.file('dev/gpunvme0', '')
    // Coherent memory is mapped at its handle times 4 GiB, so the file is large and sparse.
    truncateSync(this.node, 2 ** 40)
    const answers: readonly [request: number, bytes: number, answer: (argument: DataView) => void][] = [
      [0xc080e700, 128, (argument) => this.info(argument)],
      [0xc028e701, 40, (argument) => this.allocate(argument)],
      [0xc030e702, 48, (argument) => this.pin(argument)],
      [0xc028e703, 40, (argument) => this.attach(argument)],
      [0xc020e704, 32, (argument) => argument.setUint32(28, Number(this.memory(argument).isRevoked), true)],
      [0xc010e705, 16, (argument) => this.release(argument)],
      [0xc010e706, 16, (argument) => this.setBusMaster(argument.getUint32(8, true) === 1)],
      [0xc010e707, 16, (argument) => this.reset(argument.getUint32(8, true))],
      [0xc010e708, 16, (argument) => this.setIrq(argument.getUint32(8, true), argument.getInt32(12, true))],
      [0xc010e709, 16, (argument) => (this.notify = argument.getInt32(8, true))],
      [0xc018e70a, 24, (argument) => this.readConfig(argument)],
    ]
    for (const [request, bytes, answer] of answers)
      host.ioctls.set(request, (argument) => {
        const refused = this.refusals.get(request)?.shift()
        if (refused !== undefined) throw refusal(refused, 'ioctl')
        if (this.isGone) throw refusal('ENODEV', 'ioctl')
        if (argument.byteLength !== bytes || argument.getUint32(0, true) !== bytes) throw refusal('EINVAL', 'ioctl')
        answer(argument)
        return 0
      })
  }

  /** Whether bit 2 of COMMAND is 1. */
  get isBusMaster(): boolean {
    return (this.config.getUint16(4, true) & 4) !== 0
  }

  setBusMaster(isOn: boolean): void {
    if (isOn && [...this.held.values()].some(({ isRevoked }) => isRevoked)) throw refusal('ESTALE', 'ioctl')
    const command = this.config.getUint16(4, true)
    this.config.setUint16(4, isOn ? command | 4 : command & ~4, true)
  }

  /** Simulates an event: sets its bit, disables bus mastering, and signals the eventfd. */
  happens(event: number): void {
    this.events |= event
    this.setBusMaster(false)
    this.tell()
  }

  remove(): void {
    this.isGone = true
    this.tell()
  }

  refuse(request: number, ...errnos: string[]): void {
    this.refusals.set(request, errnos)
  }

  private tell(): void {
    if (this.notify !== -1) this.host.signal(this.notify)
  }

  private info(argument: DataView): void {
    const { abiVersion = 1, iommu = 2, vectors = 9, resetMethods = 1, mappable = 0x2000, bus = 0x0b } = this.options
    argument.setUint32(8, abiVersion, true)
    argument.setUint32(12, this.events, true)
    argument.setUint8(20, bus)
    argument.setUint16(24, 0x1b36, true)
    argument.setUint16(26, 0x0010, true)
    argument.setBigUint64(32, 0x4000n, true)
    argument.setBigUint64(40, BigInt(mappable), true)
    argument.setUint32(60, vectors, true)
    argument.setUint32(64, iommu, true)
    argument.setInt32(84, -1, true)
    argument.setUint32(88, 3, true)
    argument.setUint32(92, 4, true)
    argument.setUint32(96, 4, true)
    argument.setUint32(100, 4, true)
    argument.setUint32(104, 256, true)
    argument.setUint32(108, 512, true)
    argument.setUint32(116, Number(this.isBusMaster), true)
    argument.setUint32(120, resetMethods, true)
  }

  private hold(memory: Omit<FakeMemory, 'isRevoked'>): number {
    this.held.set(++this.handles, { ...memory, isRevoked: false })
    return this.handles
  }

  private allocate(argument: DataView): void {
    const lengthBytes = Number(argument.getBigUint64(8, true))
    const iova = 0x1_0000_0000 + this.handles * 0x400_0000
    const handle = this.hold({ kind: 1, lengthBytes, iova })
    argument.setBigUint64(16, BigInt(iova), true)
    argument.setBigUint64(24, BigInt(handle) << 32n, true)
    argument.setUint32(32, handle, true)
  }

  private pin(argument: DataView): void {
    const lengthBytes = Number(argument.getBigUint64(16, true))
    const { pageAt } = this.options
    const iova = 0x8000_0000 + this.handles * 0x100_0000
    if (argument.getUint32(4, true) !== 3) throw refusal('EINVAL', 'ioctl')
    const iovas = pageAt === undefined ? [iova] : Array.from({ length: lengthBytes / 4096 }, (_, page) => pageAt(page))
    this.segments(argument, { segments: 24, capacity: 32, count: 36 }, iovas, lengthBytes / iovas.length)
    argument.setUint32(40, this.hold({ kind: 2, lengthBytes, iova: iovas[0]! }), true)
  }

  private attach(argument: DataView): void {
    const dmaBuf = this.dmaBufs.get(argument.getInt32(8, true))
    if (dmaBuf === undefined) throw refusal('EMEDIUMTYPE', 'ioctl')
    if (argument.getUint32(4, true) !== 7) throw refusal('EOPNOTSUPP', 'ioctl')
    const { lengthBytes, iovas } = dmaBuf
    this.segments(argument, { segments: 16, capacity: 12, count: 32 }, iovas, lengthBytes / iovas.length)
    argument.setBigUint64(24, BigInt(lengthBytes), true)
    argument.setUint32(36, this.hold({ kind: 3, lengthBytes, iova: iovas[0]! }), true)
  }

  /** Writes segments to the array that a structure points to: {offset, iova, length} of 8 bytes each. */
  private segments(
    argument: DataView,
    at: { readonly segments: number; readonly capacity: number; readonly count: number },
    iovas: readonly number[],
    pieceBytes: number,
  ): void {
    argument.setUint32(at.count, iovas.length, true)
    if (argument.getUint32(at.capacity, true) < iovas.length) throw refusal('ENOSPC', 'ioctl')
    const address = argument.getBigUint64(at.segments, true)
    const region = [...this.host.live].find((each) => each.address === address)
    if (region === undefined) throw refusal('EFAULT', 'ioctl')
    const table = new DataView(region.buffer)
    for (const [index, iova] of iovas.entries()) {
      table.setBigUint64(index * 24, BigInt(index * pieceBytes), true)
      table.setBigUint64(index * 24 + 8, BigInt(iova), true)
      table.setBigUint64(index * 24 + 16, BigInt(pieceBytes), true)
    }
  }

  private memory(argument: DataView): FakeMemory {
    const memory = this.held.get(argument.getUint32(8, true))
    if (memory === undefined) throw refusal('ENOENT', 'ioctl')
    return memory
  }

  private release(argument: DataView): void {
    this.memory(argument)
    this.held.delete(argument.getUint32(8, true))
  }

  private reset(method: number): void {
    this.resets.push(method)
    this.setBusMaster(false)
  }

  private setIrq(vector: number, fd: number): void {
    if (fd === -1) this.irqs.delete(vector)
    else if (this.irqs.has(vector)) throw refusal('EEXIST', 'ioctl')
    else this.irqs.set(vector, fd)
  }

  private readConfig(argument: DataView): void {
    const offset = argument.getUint32(8, true)
    const width = argument.getUint32(12, true)
    let value = 0
    for (let byte = width - 1; byte >= 0; byte--) value = value * 256 + this.config.getUint8(offset + byte)
    argument.setUint32(16, value, true)
  }
}
