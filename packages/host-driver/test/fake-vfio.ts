import { readFileSync, writeFileSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { refusal, type FakeHardwareHost } from './fake-hardware-host.js'
import { configSpace, type FakeSysfs } from './fake-sysfs.js'

/** Offset of configuration space in the device file. BAR0 is at offset 0. */
const CONFIG_OFFSET = 0x10_0000

/** Properties of the simulated kernel interface. */
export interface FakeVfioOptions {
  readonly group?: string
  readonly noIommu?: boolean
  readonly viable?: boolean
  /** Mappable areas of BAR0. Default: all of it. Empty: none. */
  readonly sparse?: readonly (readonly [start: number, size: number])[]
  readonly mappable?: boolean
  /** First and last addresses of the IOMMU's ranges. */
  readonly ranges?: readonly (readonly [first: bigint, last: bigint])[]
  readonly vectors?: number
  readonly reset?: boolean
}

/**
 * Simulates the kernel's VFIO over files, with numbers of linux/vfio.h of Linux 6.1 as gcc computes them. Records
 * mappings by first address.
 */
export class FakeVfio {
  readonly device: string
  readonly maps = new Map<number, { readonly vaddr: bigint; readonly lengthBytes: number; readonly flags: number }>()
  /** Eventfds by interrupt index. */
  readonly irqs = new Map<number, readonly number[]>()
  readonly names: string[] = []
  resets = 0

  constructor(sys: FakeSysfs, host: FakeHardwareHost, options: FakeVfioOptions) {
    const { group = '5', noIommu = false, viable = true, sparse, mappable = true, vectors = 9, reset = true } = options
    sys.file('dev/vfio/vfio', '')
    sys.file(`dev/vfio/${noIommu ? 'noiommu-' : ''}${group}`, '')
    this.device = sys.file('device', new Uint8Array(CONFIG_OFFSET + 4096))
    writeFileSync(this.device, Buffer.concat([new Uint8Array(CONFIG_OFFSET), configSpace(), new Uint8Array(3840)]))
    const { ioctls } = host
    ioctls.set(0x3b64, () => 0)
    const models = noIommu ? [8] : [1, 3]
    ioctls.set(0x3b65, (argument) => Number(models.includes(argument.getUint32(0, true))))
    ioctls.set(0x3b66, (argument) => {
      if (!models.includes(argument.getUint32(0, true))) throw refusal('EINVAL', 'ioctl')
      return 0
    })
    ioctls.set(0x3b67, (argument) => {
      argument.setUint32(4, viable ? 1 : 0, true)
      return 0
    })
    ioctls.set(0x3b68, () => 0)
    ioctls.set(0x3b6a, (argument) => {
      this.names.push(Buffer.from(argument.buffer).toString('latin1'))
      return openSync(join(this.device), 'r+')
    })
    ioctls.set(0x3b6b, (argument) => {
      argument.setUint32(4, reset ? 3 : 2, true)
      return 0
    })
    ioctls.set(0x3b6c, (argument) => regionInfo(argument, mappable, sparse))
    ioctls.set(0x3b6d, (argument) => {
      const index = argument.getUint32(8, true)
      argument.setUint32(4, 1, true)
      argument.setUint32(12, index === 2 ? vectors : index === 4 ? 1 : 0, true)
      return 0
    })
    ioctls.set(0x3b6e, (argument) => this.setIrqs(argument))
    ioctls.set(0x3b6f, () => {
      this.resets++
      return 0
    })
    ioctls.set(0x3b70, (argument) => iommuInfo(argument, options.ranges))
    ioctls.set(0x3b71, (argument) => {
      this.maps.set(Number(argument.getBigUint64(16, true)), {
        vaddr: argument.getBigUint64(8, true),
        lengthBytes: Number(argument.getBigUint64(24, true)),
        flags: argument.getUint32(4, true),
      })
      return 0
    })
    ioctls.set(0x3b72, (argument) => {
      this.unmap(Number(argument.getBigUint64(8, true)), Number(argument.getBigUint64(16, true)))
      return 0
    })
  }

  /** Like type1 v2: removes all mappings within the range, and refuses to cut one in two. */
  private unmap(start: number, lengthBytes: number): void {
    const end = start + lengthBytes
    const touched = [...this.maps].filter(([iova, map]) => iova < end && iova + map.lengthBytes > start)
    const isCut = touched.some(([iova, map]) => iova < start || iova + map.lengthBytes > end)
    if (touched.length === 0 || isCut) throw refusal('EINVAL', 'ioctl')
    for (const [iova] of touched) this.maps.delete(iova)
  }

  get command(): number {
    return readFileSync(this.device).readUInt16LE(CONFIG_OFFSET + 4)
  }

  private setIrqs(argument: DataView): number {
    const flags = argument.getUint32(4, true)
    const index = argument.getUint32(8, true)
    const count = argument.getUint32(16, true)
    // DATA_EVENTFD | ACTION_TRIGGER, or DATA_NONE | ACTION_TRIGGER without any to turn the kind off.
    if (flags === 0x24) {
      this.irqs.set(
        index,
        Array.from({ length: count }, (_, vector) => argument.getInt32(20 + vector * 4, true)),
      )
    } else if (flags === 0x21 && count === 0) {
      this.irqs.delete(index)
    } else {
      throw refusal('EINVAL', 'ioctl')
    }
    return 0
  }
}

/** struct vfio_region_info: flags READ | WRITE | MMAP | CAPS, size at 16, offset at 24, then capabilities. */
function regionInfo(argument: DataView, mappable: boolean, sparse: FakeVfioOptions['sparse']): number {
  const isConfig = argument.getUint32(8, true) === 7
  argument.setBigUint64(16, isConfig ? 256n : 0x4000n, true)
  argument.setBigUint64(24, isConfig ? BigInt(CONFIG_OFFSET) : 0n, true)
  argument.setUint32(4, isConfig || !mappable ? 3 : 7, true)
  if (isConfig || sparse === undefined) return 0
  argument.setUint32(4, 15, true)
  const needed = 32 + 16 + sparse.length * 16
  argument.setUint32(0, needed, true)
  if (argument.byteLength < needed) return 0
  argument.setUint32(12, 32, true)
  argument.setUint16(32, 1, true) // VFIO_REGION_INFO_CAP_SPARSE_MMAP
  argument.setUint16(34, 1, true)
  argument.setUint32(40, sparse.length, true)
  for (const [index, [start, size]] of sparse.entries()) {
    argument.setBigUint64(48 + index * 16, BigInt(start), true)
    argument.setBigUint64(56 + index * 16, BigInt(size), true)
  }
  return 0
}

/** struct vfio_iommu_type1_info: flags PGSIZES | CAPS, page sizes at 8, then the range capability, the second of two. */
function iommuInfo(argument: DataView, ranges: FakeVfioOptions['ranges']): number {
  argument.setUint32(4, ranges === undefined ? 1 : 3, true)
  argument.setBigUint64(8, 0x4020_1000n, true) // 4 KiB, 2 MiB and 1 GiB
  if (ranges === undefined) return 0
  const needed = 24 + 12 + 4 + 16 + ranges.length * 16
  argument.setUint32(0, needed, true)
  if (argument.byteLength < needed) return 0
  argument.setUint32(16, 24, true)
  argument.setUint16(24, 3, true) // VFIO_IOMMU_TYPE1_INFO_DMA_AVAIL
  argument.setUint32(28, 40, true)
  argument.setUint32(32, 65_535, true)
  argument.setUint16(40, 1, true) // VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE
  argument.setUint32(48, ranges.length, true)
  for (const [index, [first, last]] of ranges.entries()) {
    argument.setBigUint64(56 + index * 16, first, true)
    argument.setBigUint64(64 + index * 16, last, true)
  }
  return 0
}
