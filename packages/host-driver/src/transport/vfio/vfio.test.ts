import { rmSync, truncateSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FakeHardwareHost, refusal } from '../../../test/fake-hardware-host.js'
import { FakeSysfs } from '../../../test/fake-sysfs.js'
import { FakeVfio, type FakeVfioOptions } from '../../../test/fake-vfio.js'
import { ownTransport } from '../../bring-up/own-transport.js'
import { bindDriverBy } from '../../pci/bind.js'
import { openNodeError } from './group.js'
import { openVfio, type VfioOptions } from './index.js'

const bdf = '0000:0b:00.0'
let sys: FakeSysfs
let host: FakeHardwareHost

beforeEach(() => {
  sys = new FakeSysfs()
  host = new FakeHardwareHost(sys.root)
})
afterEach(() => {
  // Nothing of the fixture stays mapped or open, whatever a test did.
  expect([...host.live].map(({ lengthBytes }) => lengthBytes)).toEqual([])
  expect(sys.openFiles()).toEqual([])
  sys[Symbol.dispose]()
})

function drive(options: Partial<FakeVfioOptions> = {}): FakeVfio {
  const { noIommu = false } = options
  const group = noIommu ? { number: '5', name: 'vfio-noiommu' } : { number: '5', type: 'DMA' }
  sys.function(bdf, { driver: 'vfio-pci', group })
  return new FakeVfio(sys, host, options)
}

const open = (options: Partial<VfioOptions> = {}) => openVfio({ host, bdf, sysRoot: sys.root, ...options })

test('opening gets the device by its address and sets Memory Space and Bus Master Enable; closing clears the latter and unmaps memory', async () => {
  const vfio = drive()
  const transport = await open()
  expect(transport.mode).toBe('type1')
  expect(vfio.names).toEqual(['0000:0b:00.0\0'])
  expect(host.numbers).toContainEqual({ request: 0x3b66, argument: 3 }) // VFIO_TYPE1v2_IOMMU
  expect(vfio.command).toBe(0x0006)
  await transport.close()
  await transport.close()
  expect(vfio.command).toBe(0x0002)
  expect(vfio.maps.size).toBe(0)
})

test('the file descriptor from VFIO_GROUP_GET_DEVICE_FD is adopted, so that it is closed when its thread ends', async () => {
  const vfio = drive()
  let returned: number | undefined
  const answer = host.ioctls.get(0x3b6a)!
  host.ioctls.set(0x3b6a, (...asked) => (returned = answer(...asked)))
  const transport = await open()
  expect(vfio.names).toHaveLength(1)
  expect(host.adopted).toEqual([returned])
  await transport.close()
})

test('rejects a second open of a function by this process, and the restoration of its driver, until it is closed', async () => {
  drive()
  sys.driver('vfio-pci')
  const binding = await bindDriverBy(sys.write, { bdf, driver: 'vfio-pci', sysRoot: sys.root })
  const transport = await open()
  await expect(open()).rejects.toThrow(/this process has it open already/)
  await expect(binding.restore()).rejects.toThrow(/this process has it open already/)
  await transport.close()
  await binding.restore()
  await (await open()).close()
})

test('maps memory with VFIO_DMA_MAP_FLAG_READ and _WRITE, inside VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE and not at IOVA 0', async () => {
  const vfio = drive({
    ranges: [
      [0n, 0x5f_ffffn],
      [0xfef0_0000n, 0xff_ffff_ffffn],
    ],
  })
  const transport = await open()
  const memory = transport.dma.alloc(1_000_000, { contiguous: true })
  const large = transport.dma.alloc(0x40_0000)
  expect([...vfio.maps]).toEqual([
    [0x20_0000, { vaddr: 0x4000_0000n, lengthBytes: 0x20_0000, flags: 3 }],
    // It does not fit into the rest of the first range, and the second begins off its alignment.
    [0xff00_0000, { vaddr: 0x4040_0000n, lengthBytes: 0x40_0000, flags: 3 }],
  ])
  expect(memory.segments).toEqual([{ offsetBytes: 0, iova: 0x20_0000, lengthBytes: 1_000_000 }])
  large.free()
  expect(vfio.maps.has(0xff00_0000)).toBe(false)
  await transport.close()
})

test('without VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE, IOVAs stay below the MSI address range of x86', async () => {
  drive()
  const transport = await open()
  expect(() => transport.dma.alloc(4096, { alignBytes: 2 ** 32 })).toThrow(
    expect.objectContaining({ code: 'ERR_GPUNVME_IOVA_EXHAUSTED' }),
  )
  await transport.close()
})

test('aligns the IOVA to an `alignBytes` of more than 2 MiB', async () => {
  drive()
  const transport = await open()
  expect(transport.dma.alloc(4096, { alignBytes: 0x800_0000 }).iovaAt(0)).toBe(0x800_0000)
  await transport.close()
})

test('the error of an allocation beyond RLIMIT_MEMLOCK states the sum of all locked memory and the limit', async () => {
  drive()
  const transport = await open()
  host.memlock = 8_388_608
  const map = host.ioctls.get(0x3b71)!
  host.ioctls.set(0x3b71, () => {
    throw refusal('ENOMEM', 'ioctl')
  })
  expect(() => transport.dma.alloc(8_388_608)).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_MEMLOCK_LIMIT' }))
  expect(() => transport.dma.alloc(8_388_608)).toThrow(/Cannot lock 20971520 bytes[^]*allows 8388608/)
  host.ioctls.set(0x3b71, map)
  host.beforeAllocate = () => {
    throw refusal('EAGAIN', 'mmap')
  }
  expect(() => transport.dma.alloc(8_388_608)).toThrow(/Cannot lock 20971520 bytes[^]*ulimit -l 20480/)
  await transport.close()
})

test('keeps memory if VFIO_IOMMU_UNMAP_DMA fails, because the drive can still access it', async () => {
  const vfio = drive()
  const transport = await open()
  const memory = transport.dma.alloc(4_194_304)
  const unmap = host.ioctls.get(0x3b72)!
  host.ioctls.set(0x3b72, () => {
    throw refusal('EIO', 'ioctl')
  })
  expect(() => {
    memory.free()
  }).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_VFIO' }))
  expect(host.allocated[1]!.buffer.byteLength).toBe(4_194_304)
  host.ioctls.set(0x3b72, unmap)
  await transport.close()
  expect(vfio.maps.size).toBe(1)
  host.allocated[1]!.unmap()
})

test('maps the VFIO_REGION_INFO_CAP_SPARSE_MMAP areas of BAR0, and accesses the rest through the device file', async () => {
  drive({
    sparse: [
      [0, 0x2000],
      [0x3000, 0x1000],
    ],
  })
  const transport = await open()
  expect(transport.bar.lengthBytes).toBe(0x4000)
  expect(transport.bar.window).toEqual({ address: host.mapped[0]!.address, lengthBytes: 0x2000 })
  transport.bar.write32(0x3ffc, 7)
  transport.bar.write32(0x2004, 0x1234_5678)
  transport.bar.write64(0x2010, 0x1_0000_0002n)
  expect(host.mapped.map(({ stores }) => stores)).toEqual([[], [{ offset: 0xffc, value: 7 }]])
  expect(transport.bar.read32(0x2004)).toBe(0x1234_5678)
  expect(transport.bar.read64(0x2010)).toBe(0x1_0000_0002n)
  await transport.close()
})

test('accesses a BAR without VFIO_REGION_INFO_FLAG_MMAP through the device file', async () => {
  drive({ mappable: false })
  const transport = await open()
  transport.bar.write32(0x14, 0x46_0001)
  expect(transport.bar.read32(0x14)).toBe(0x46_0001)
  expect(transport.bar.window).toBeUndefined()
  expect(host.mapped).toEqual([])
  await transport.close()
})

test('reset is one VFIO_DEVICE_RESET, after which Memory Space and Bus Master Enable are set again', async () => {
  const vfio = drive()
  const transport = await open()
  transport.config!.write(4, 2, 0)
  await transport.reset!('function')
  expect(vfio.resets).toBe(1)
  expect(vfio.command).toBe(0x0006)
  await expect(transport.reset!('bus')).rejects.toThrow(TypeError)
  await transport.close()
})

test('has no `reset` without VFIO_DEVICE_FLAGS_RESET', async () => {
  drive({ reset: false })
  const transport = await open()
  expect(transport).not.toHaveProperty('reset')
  await transport.close()
})

test('provides the requested MSI-X vectors, at most those of the device; a wait ends with an interrupt or at its deadline', async () => {
  const vfio = drive({ vectors: 3 })
  const transport = await open({ interrupts: 8 })
  const { interrupts, clock } = transport
  expect(interrupts!.vectors).toBe(3)
  const [first, second] = vfio.irqs.get(2)!
  host.signal(second!)
  expect(await interrupts!.wait(1, clock.now() + 1e9)).toBe('fired')
  const waiting = interrupts!.wait(0, clock.now() + 60e9)
  setTimeout(() => {
    host.signal(first!)
  }, 5)
  expect(await waiting).toBe('fired')
  expect(await interrupts!.wait(1, clock.now() + 1e6)).toBe('deadline')
  expect(() => interrupts!.wait(3, 0)).toThrow(RangeError)
  await transport.close()
  expect(vfio.irqs.size).toBe(0)
})

test('closing ends waits for interrupts, with the result of a deadline', async () => {
  drive()
  const transport = await open({ interrupts: 1 })
  const waiting = transport.interrupts!.wait(0, transport.clock.now() + 3600e9)
  await transport.close()
  expect(await waiting).toBe('deadline')
})

test('has no `interrupts` if none are requested or the device has no MSI-X; rejects a negative number', async () => {
  drive({ vectors: 0 })
  const polled = await open()
  expect(polled.interrupts).toBeUndefined()
  await polled.close()
  const without = await open({ interrupts: 4 })
  expect(without.interrupts).toBeUndefined()
  await without.close()
  await expect(open({ interrupts: -1 })).rejects.toThrow(RangeError)
})

test('after VFIO_PCI_REQ_IRQ_INDEX is signalled, registers read all ones and writes are dropped', async () => {
  const vfio = drive()
  const transport = await open()
  expect(transport.bar.read32(0x1c)).toBe(0)
  host.signal(vfio.irqs.get(4)![0]!)
  const until = transport.clock.now() + 10e9
  while (transport.bar.read32(0x1c) === 0 && transport.clock.now() < until) await transport.clock.idle(until)
  expect(transport.bar.read32(0x1c)).toBe(0xffff_ffff)
  expect(transport.bar.read64(0)).toBe(0xffff_ffff_ffff_ffffn)
  transport.bar.write32(0x14, 0)
  expect(host.mapped[0]!.stores).toEqual([])
  await transport.close()
})

test('notices VFIO_PCI_REQ_IRQ_INDEX also if the driver waits for interrupts and none arrives', async () => {
  const vfio = drive()
  const transport = await open({ interrupts: 1 })
  const { clock } = ownTransport(transport, true)
  host.signal(vfio.irqs.get(4)![0]!)
  const until = clock.now() + 10e9
  while (transport.bar.read32(0x1c) === 0 && clock.now() < until) await clock.idle(until)
  expect(transport.bar.read32(0x1c)).toBe(0xffff_ffff)
  await transport.close()
})

/** Another device, with a BAR 2 of 8 MiB at c0000000h, and a driver if one is given. */
function peer(driver?: string) {
  sys.function('0000:0c:00.0', {
    classCode: '0x030200',
    ...(driver !== undefined && { driver }),
    files: {
      resource: '0x0 0x0 0x0\n0x0 0x0 0x0\n0x00000000c0000000 0x00000000c07fffff 0x000000000014220c\n',
    },
  })
  sys.file('sys/bus/pci/devices/0000:0c:00.0/resource2', new Uint8Array(8_388_608))
  return { bdf: '0000:0c:00.0', bar: 2 }
}

test('maps the BAR of another device into the IOVA space of this one until it is freed or the transport is closed', async () => {
  const vfio = drive()
  const gpu = peer()
  const transport = await open()
  expect(transport.can.dmaToVram).toBe(true)
  const memory = transport.mapPeer(gpu)
  expect([memory.lengthBytes, memory.view]).toEqual([8_388_608, undefined])
  expect(vfio.maps.get(memory.iovaAt(0))!.lengthBytes).toBe(8_388_608)
  memory.free()
  expect(vfio.maps.size).toBe(1)
  expect(() => transport.mapPeer({ ...gpu, bar: 0 })).toThrow(/expected an existing BAR, got BAR 0/)
  transport.mapPeer(gpu)
  await transport.close()
  expect(vfio.maps.size).toBe(0)
})

const SCATTERED = [
  { offsetBytes: 0x60_0000, lengthBytes: 0x20_0000 },
  { offsetBytes: 0, lengthBytes: 0x40_0000 },
]

test('maps `runs` of a BAR to consecutive IOVAs in their order, and nothing else of the BAR', async () => {
  const vfio = drive()
  const gpu = { ...peer('nvidia'), driver: 'nvidia', runs: SCATTERED }
  const transport = await open()
  const before = new Set(vfio.maps.keys())
  const memory = transport.mapPeer(gpu)
  const iova = memory.iovaAt(0)
  expect(memory.segments).toEqual([{ offsetBytes: 0, iova, lengthBytes: 0x60_0000 }])
  const added = [...vfio.maps].filter(([at]) => !before.has(at))
  expect(added.map(([at, { lengthBytes }]) => [at - iova, lengthBytes])).toEqual([
    [0, 0x20_0000],
    [0x20_0000, 0x40_0000],
  ])
  memory.free()
  expect(new Set(vfio.maps.keys())).toEqual(before)
  await transport.close()
})

test('unmaps all runs of a BAR if VFIO_IOMMU_MAP_DMA fails for one', async () => {
  const vfio = drive()
  const gpu = { ...peer(), runs: SCATTERED }
  const transport = await open()
  const before = new Set(vfio.maps.keys())
  const map = host.ioctls.get(0x3b71)!
  host.ioctls.set(0x3b71, (argument, ...more) => {
    if (argument.getBigUint64(24, true) === 0x40_0000n) throw refusal('EFAULT', 'ioctl')
    return map(argument, ...more)
  })
  expect(() => transport.mapPeer(gpu)).toThrow(/IOMMU_MAP_DMA failed: EFAULT/)
  expect(new Set(vfio.maps.keys())).toEqual(before)
  host.ioctls.set(0x3b71, map)
  transport.mapPeer(gpu).free()
  await transport.close()
})

/** Every allocation lies at 0x1_2340_0000. */
function physicalPages({ address }: { address: number }): void {
  const entries = new BigUint64Array(512).map((_, index) => 0x8000_0000_0012_3400n + BigInt(index))
  const pagemap = new Uint8Array((address / 4096 + 512) * 8)
  pagemap.set(new Uint8Array(entries.buffer), (address / 4096) * 8)
  sys.file('proc/self/pagemap', pagemap)
}

test('in no-IOMMU mode, opens /dev/vfio/noiommu-N and uses physical addresses', async () => {
  drive({ noIommu: true })
  host.beforeAllocate = physicalPages
  const transport = await open({ mode: 'noiommu' })
  expect(transport.mode).toBe('noiommu')
  expect(host.numbers).toContainEqual({ request: 0x3b66, argument: 8 }) // VFIO_NOIOMMU_IOMMU
  expect(transport.dma.alloc(4096).iovaAt(0)).toBe(0x1_2340_0000)
  await transport.close()
})

test('in no-IOMMU mode, keeps memory on close if the configuration space of the device reads all ones', async () => {
  const vfio = drive({ noIommu: true })
  host.beforeAllocate = physicalPages
  const transport = await open()
  truncateSync(vfio.device, 0x10_0000) // its configuration space reads all ones
  await transport.close()
  expect([...host.live]).toEqual([host.allocated[0]])
  host.allocated[0]!.unmap()
})

test('rejects a requested mode that the IOMMU group does not have', async () => {
  drive()
  await expect(open({ mode: 'noiommu' })).rejects.toMatchObject({ code: 'ERR_GPUNVME_VFIO_MODE' })
})

test('rejects a function that is not bound to vfio-pci, and names the call that binds it', async () => {
  sys.function(bdf, { driver: 'nvme' })
  await expect(open()).rejects.toMatchObject({ code: 'ERR_GPUNVME_DRIVER_BOUND' })
  await expect(open()).rejects.toThrow(
    /driver nvme is bound[^]*bindDriver\({ bdf: '0000:0b:00.0', driver: 'vfio-pci' }\)/,
  )
})

test('without an IOMMU group, the error names the kernel parameter, or enable_unsafe_noiommu_mode for mode noiommu', async () => {
  sys.function(bdf, { driver: 'vfio-pci' })
  sys.file('sys/module/vfio/parameters/enable_unsafe_noiommu_mode', 'N\n')
  await expect(open()).rejects.toMatchObject({ code: 'ERR_GPUNVME_NO_IOMMU' })
  await expect(open()).rejects.toThrow('intel_iommu=on')
  await expect(open({ mode: 'noiommu' })).rejects.toThrow(/enable_unsafe_noiommu_mode is N[^]*echo 1 > /)
})

test('without /dev/vfio/vfio, the error names the module to load', async () => {
  drive()
  rmSync(`${sys.root}/dev/vfio/vfio`)
  await expect(open()).rejects.toMatchObject({ code: 'ERR_GPUNVME_VFIO_MISSING' })
  await expect(open()).rejects.toThrow('modprobe vfio-pci')
})

test('rejects a group without VFIO_GROUP_FLAGS_VIABLE, and names its devices with other drivers', async () => {
  drive({ viable: false })
  sys.function('0000:0b:00.1', { classCode: '0x0c0330', driver: 'xhci_hcd' })
  sys.file('sys/kernel/iommu_groups/5/devices/0000:0b:00.1', '')
  await expect(open()).rejects.toMatchObject({ code: 'ERR_GPUNVME_GROUP_NOT_VIABLE' })
  await expect(open()).rejects.toThrow('0000:0b:00.1 is bound to xhci_hcd')
})

test('rejects an unknown VFIO API version, and a container without a supported IOMMU type', async () => {
  drive()
  host.ioctls.set(0x3b64, () => 1)
  await expect(open()).rejects.toMatchObject({ code: 'ERR_GPUNVME_VFIO_UNSUPPORTED' })
  host.ioctls.set(0x3b64, () => 0)
  host.ioctls.set(0x3b65, () => 0)
  await expect(open()).rejects.toThrow('vfio_iommu_type1')
})

test('the error of another failed ioctl names the request and errno', async () => {
  drive()
  host.ioctls.set(0x3b66, () => {
    throw refusal('EPERM', 'ioctl')
  })
  await expect(open()).rejects.toThrow('VFIO_SET_IOMMU failed: EPERM')
})

test.each([
  ['EBUSY', 'VFIO_BUSY', 'another process'],
  // The group of a machine without an IOMMU is not opened for everybody who may write its file.
  ['EPERM', 'HARDWARE_ACCESS', 'CAP_SYS_RAWIO'],
  ['EACCES', 'HARDWARE_ACCESS', 'make that file accessible'],
])('%s when opening a file of /dev/vfio has its own error code', (errno, code, message) => {
  const error = openNodeError(bdf, '/dev/vfio/5', refusal(errno, 'open'))
  expect(error).toMatchObject({ code: `ERR_GPUNVME_${code}` })
  expect(error.message).toContain(message)
})
