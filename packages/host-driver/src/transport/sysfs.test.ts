import fs, {
  closeSync,
  mkdirSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { FakeHardwareHost, refusal } from '../../test/fake-hardware-host.js'
import { configSpace, FakeSysfs } from '../../test/fake-sysfs.js'
import { DeviceHeldError } from '../guard/guard.js'
import { bindDriverBy } from '../pci/bind.js'
import { openSysfs } from './sysfs.js'

const bdf = '0000:0b:00.0'
let sys: FakeSysfs
let host: FakeHardwareHost

beforeEach(() => {
  sys = new FakeSysfs()
  host = new FakeHardwareHost(sys.root)
  host.beforeAllocate = ({ address, lengthBytes }) => {
    for (let page = 0; page * 2_097_152 < lengthBytes; page++) hugePageAt(address / 4096 + page * 512, nextFrame())
  }
  frames = [0x4_0000]
})
afterEach(() => {
  expect(sys.openFiles()).toEqual([])
  expect([...host.live].map(({ lengthBytes }) => lengthBytes)).toEqual([])
  sys[Symbol.dispose]()
})

/** Frame numbers of the next huge pages; the last one is followed by consecutive ones. */
let frames: number[] = []

function nextFrame(): number {
  const frame = frames.shift()!
  if (frames.length === 0) frames.push(frame + 512)
  return frame
}

/**
 * Writes 512 entries of /proc/self/pagemap: bit 63, present, and the frame number in bits 54:0 (proc_pid_pagemap(5)).
 */
function hugePageAt(
  page: number,
  frame: number,
  entry = (index: number) => 0x8000_0000_0000_0000n + BigInt(frame + index),
): void {
  const entries = new BigUint64Array(512).map((_, index) => entry(index))
  const path = join(sys.root, 'proc/self/pagemap')
  const fd = openSync(path, 'a')
  ftruncateSync(fd, (page + 512) * 8)
  closeSync(fd)
  const writing = openSync(path, 'r+')
  writeSync(writing, new Uint8Array(entries.buffer), 0, 4096, page * 8)
  closeSync(writing)
}

function drive(options: Parameters<FakeSysfs['function']>[1] = {}): string {
  const path = sys.function(bdf, options)
  // CAP of a controller with MQES 7FFh, then VS 1.4 (Base 2.1 §3.1.4).
  const registers = new Uint8Array(16_384)
  new DataView(registers.buffer).setUint32(0, 0x1400_07ff, true)
  writeFileSync(join(path, 'resource0'), registers)
  return path
}

const open = (options: { hugePages?: number } = {}) => openSysfs({ host, bdf, sysRoot: sys.root, ...options })
const command = (path: string) => readFileSync(join(path, 'config')).readUInt16LE(4)

test('opening sets Memory Space Enable and Bus Master Enable, and keeps the other bits of COMMAND', async () => {
  const path = drive({ config: configSpace({ command: 0x0400 }) })
  const transport = await open()
  expect(command(path)).toBe(0x0406)
  await transport.close()
  expect(command(path)).toBe(0x0402)
})

/** Sets up registers of a controller that was left enabled; `written` receives each write. */
function leftEnabled(path: string, written: (offset: number, value: number, registers: DataView) => void): void {
  const registers = new Uint8Array(16_384)
  const view = new DataView(registers.buffer)
  view.setUint32(0x00, 0x0100_07ff, true) // CAP: TO 500 ms
  view.setUint32(0x04, 0x0000_0020, true) // CAP.CSS: NVM Command Set
  view.setUint32(0x08, 0x0001_0400, true)
  view.setUint32(0x14, 0x0046_0001, true)
  view.setUint32(0x1c, 0x0000_0001, true)
  writeFileSync(join(path, 'resource0'), registers)
  const map = host.map.bind(host)
  host.map = (...args) => {
    map(...args)
    const region = host.mapped.at(-1)!
    const store = region.store32.bind(region)
    region.store32 = (offset, value) => {
      store(offset, value)
      written(offset, value, new DataView(region.buffer))
    }
    return region
  }
}

test('a controller that is found enabled is disabled before Bus Master Enable is set', async () => {
  const path = drive()
  const seen: string[] = []
  leftEnabled(path, (offset, value, registers) => {
    seen.push(`${offset.toString(16)}h = ${value.toString(16)}h, COMMAND ${command(path)}`)
    registers.setUint32(0x1c, 0, true)
  })
  const transport = await open()
  expect(seen).toEqual(['14h = 460000h, COMMAND 2'])
  expect(command(path)).toBe(0x0006)
  await transport.close()
})

test('a controller that cannot be disabled is reset before Bus Master Enable is set, or rejected if it has no reset', async () => {
  const path = drive({ files: { reset: '', reset_method: 'flr\n' } })
  leftEnabled(path, () => undefined)
  const transport = await open()
  expect(readFileSync(join(path, 'reset'), 'utf8')).toBe('1')
  await transport.close()
  unlinkSync(join(path, 'reset'))
  await expect(open()).rejects.toThrow('waiting for CSTS.RDY = 0')
  expect(command(path)).toBe(0x0002)
})

test('memory is kept when closing fails to clear Bus Master Enable', async () => {
  drive()
  const transport = await open()
  transport.dma.alloc(4096)
  const write = vi.spyOn(fs, 'writeSync').mockImplementation(() => {
    throw refusal('EPERM', 'write')
  })
  syncBuiltinESMExports()
  try {
    await expect(transport.close()).rejects.toThrow('EPERM')
  } finally {
    write.mockRestore()
    syncBuiltinESMExports()
  }
  expect([...host.live]).toEqual([host.allocated[0]])
  host.allocated[0]!.unmap()
})

test('closing twice is harmless, and releases memory that was not freed', async () => {
  drive()
  const transport = await open()
  transport.dma.alloc(10_000_000)
  expect(transport.isClosed!()).toBe(false)
  await transport.close()
  await transport.close()
  expect(transport.isClosed!()).toBe(true)
  expect(() => transport.dma.alloc(4096)).toThrow('this transport is closed')
})

test('bar is all of resource0', async () => {
  drive()
  const transport = await open()
  expect(transport.bar.lengthBytes).toBe(16_384)
  expect(transport.bar.read32(0)).toBe(0x1400_07ff)
  expect(transport.bar.window).toEqual({ address: host.mapped[0]!.address, lengthBytes: 16_384 })
  expect(() => transport.bar.read32(16_384)).toThrow(RangeError)
  expect(() => transport.bar.read64(4)).toThrow(RangeError)
  await transport.close()
})

test('a 64-bit register is written as two dwords, low half first', async () => {
  drive()
  const transport = await open()
  transport.bar.write64(0x28, 0x0000_0012_3456_7000n)
  expect(host.mapped[0]!.stores).toEqual([
    { offset: 0x28, value: 0x3456_7000 },
    { offset: 0x2c, value: 0x12 },
  ])
  await transport.close()
})

test('registers and configuration space of a device that left the bus read all ones', async () => {
  const path = drive()
  const transport = await open()
  new Uint8Array(host.mapped[0]!.buffer).fill(0xff)
  expect(transport.bar.read32(0x1c)).toBe(0xffff_ffff)
  expect(transport.bar.read64(0)).toBe(0xffff_ffff_ffff_ffffn)
  writeFileSync(join(path, 'config'), '')
  expect(transport.config!.read(0, 4)).toBe(0xffff_ffff)
  writeFileSync(join(path, 'config'), configSpace())
  await transport.close()
})

test('a function that the kernel removed reads all ones, even if another device responds at its address', async () => {
  const path = drive()
  const transport = await open()
  expect(transport.bar.read32(0)).toBe(0x1400_07ff)
  rmSync(path, { recursive: true })
  const until = transport.clock.now() + 10e9
  while (transport.bar.read32(0) !== 0xffff_ffff && transport.clock.now() < until) await transport.clock.idle(until)
  expect(transport.bar.read32(0)).toBe(0xffff_ffff)
  expect(transport.bar.window).toBeUndefined()
  await transport.close()
})

test('close keeps the memory of a function that does not respond, since it may still access the memory', async () => {
  const path = drive()
  const transport = await open()
  transport.dma.alloc(4096)
  writeFileSync(join(path, 'config'), '')
  await transport.close()
  expect([...host.live]).toEqual([host.allocated[0]])
  expect(() => transport.dma.alloc(4096)).toThrow('this transport is closed')
  host.allocated[0]!.unmap()
})

test('a function in D3hot is woken through PMCSR, and its lost configuration is restored', async () => {
  const path = drive({ config: configSpace({ powerState: 3, noSoftReset: false }) })
  const transport = await open()
  const config = readFileSync(join(path, 'config'))
  expect(config.readUInt16LE(0x44)).toBe(0x0000)
  expect(config.readUInt32LE(0x10)).toBe(0xfebd_0004)
  await transport.close()
})

test('memory is at physical addresses: the frame number times 4096', async () => {
  drive()
  frames = [0x12_3400]
  const transport = await open()
  const memory = transport.dma.alloc(8192, { contiguous: true })
  expect(memory.segments).toEqual([{ offsetBytes: 0, iova: 0x1_2340_0000, lengthBytes: 8192 }])
  expect(memory.iovaAt(8191)).toBe(0x1_2340_1fff)
  expect(() => memory.iovaAt(8192)).toThrow(RangeError)
  memory.free()
  expect(() => {
    memory.free()
  }).toThrow(TypeError)
  await transport.close()
})

test('only adjacent huge pages form one segment', async () => {
  drive()
  frames = [0x200, 0x1000, 0x1200, 0x8000]
  const transport = await open()
  const memory = transport.dma.alloc(3 * 2_097_152)
  expect(memory.segments).toEqual([
    { offsetBytes: 0, iova: 0x100_0000, lengthBytes: 4_194_304 },
    { offsetBytes: 4_194_304, iova: 0x800_0000, lengthBytes: 2_097_152 },
  ])
  expect(memory.iovaAt(4_194_303)).toBe(0x13f_ffff)
  expect(memory.iovaAt(4_194_304)).toBe(0x800_0000)
  await transport.close()
})

test('contiguous memory is rejected if no run of pages is long enough', async () => {
  drive()
  frames = [0x200, 0x1000, 0x4000, 0x8000]
  const transport = await open()
  expect(() => transport.dma.alloc(3_000_000, { contiguous: true })).toThrow('the longest run is 2097152 bytes')
  await transport.close()
})

test('memory is zeroed when it is reused', async () => {
  drive()
  const transport = await open()
  const first = transport.dma.alloc(4096)
  first.view!.setUint32(0, 0xdead_beef)
  first.free()
  expect(transport.dma.alloc(4096).view!.getUint32(0)).toBe(0)
  expect(host.allocated.length).toBe(1)
  await transport.close()
})

test.each([
  [
    'a page that is not present',
    (frame: number) => (index: number) => (index === 7 ? 0n : 0x8000_0000_0000_0000n + BigInt(frame + index)),
    'page 7 is not present',
  ],
  ['frame 0, as without CAP_SYS_ADMIN', () => () => 0x8000_0000_0000_0000n, 'CAP_SYS_ADMIN'],
  [
    'a page that is not adjacent',
    (frame: number) => (index: number) => 0x8000_0000_0000_0000n + BigInt(frame + (index === 511 ? 600 : index)),
    'page 511 is at frame',
  ],
  [
    'a first page that is not aligned',
    (frame: number) => (index: number) => 0x8000_0000_0000_0000n + BigInt(frame + index + 1),
    'not aligned to 2097152 bytes',
  ],
])('%s is rejected before the drive is accessed', async (_, entries, message) => {
  const path = drive()
  host.beforeAllocate = ({ address }) => {
    hugePageAt(address / 4096, 0x400, entries(0x400))
  }
  await expect(open()).rejects.toMatchObject({ code: 'ERR_GPUNVME_PAGEMAP' })
  await expect(open()).rejects.toThrow(message)
  expect(command(path)).toBe(0)
})

test('an unreadable pagemap is rejected with a next step', async () => {
  drive()
  host.beforeAllocate = () => undefined
  await expect(open()).rejects.toThrow(/cannot be opened \(ENOENT\)[^]*run as root/)
})

test('the error of a wrong address lists the NVMe controllers of the machine', async () => {
  drive()
  sys.function('0000:0a:00.0', { classCode: '0x030000' })
  const wrong = openSysfs({ host, bdf: '0000:0c:00.0', sysRoot: sys.root })
  await expect(wrong).rejects.toMatchObject({ code: 'ERR_GPUNVME_PCI_FUNCTION_NOT_FOUND' })
  await expect(wrong).rejects.toThrow('NVMe controllers here: 0000:0b:00.0\n')
  const display = openSysfs({ host, bdf: '0000:0a:00.0', sysRoot: sys.root })
  await expect(display).rejects.toThrow('class code 030000h, expected 010802h')
  await expect(openSysfs({ host, bdf: '0b:00.0', sysRoot: sys.root })).rejects.toThrow(RangeError)
})

test('a drive bound to a kernel driver is refused; the error names the driver and the call that unbinds it', async () => {
  drive({ driver: 'nvme' })
  await expect(open()).rejects.toMatchObject({ code: 'ERR_GPUNVME_DRIVER_BOUND' })
  await expect(open()).rejects.toThrow(/driver nvme is bound[^]*bindDriver\({ bdf: '0000:0b:00.0', driver: null }\)/)
})

test('a drive behind a translating IOMMU is rejected, one in an identity domain is accepted', async () => {
  const path = drive({ group: { number: '3', type: 'DMA-FQ' } })
  await expect(open()).rejects.toMatchObject({ code: 'ERR_GPUNVME_IOMMU_ACTIVE' })
  await expect(open()).rejects.toThrow('the transport vfio')
  sys.file('sys/kernel/iommu_groups/3/type', 'identity\n')
  await (await open()).close()
  unlinkSync(join(path, 'iommu_group'))
})

test('without free huge pages, the error states the counts and a command that reserves more', async () => {
  drive()
  sys.file('sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages', '0\n')
  await expect(open()).rejects.toMatchObject({ code: 'ERR_GPUNVME_HUGE_PAGES' })
  await expect(open()).rejects.toThrow(/nr_hugepages is 64, free_hugepages 0[^]*echo 65 > /)
})

test('when huge pages run out, the error states how many are needed', async () => {
  drive()
  const transport = await open()
  host.beforeAllocate = () => {
    throw refusal('ENOMEM')
  }
  expect(() => transport.dma.alloc(100 * 2_097_152)).toThrow(/of 2 MiB: 100 needed, 48 free[^]*echo 116 > /)
  await transport.close()
})

test('beyond RLIMIT_MEMLOCK, the error states the needed and the allowed size', async () => {
  drive()
  host.memlock = 65_536
  host.beforeAllocate = () => {
    throw refusal('EPERM', 'mlock')
  }
  await expect(open()).rejects.toMatchObject({ code: 'ERR_GPUNVME_MEMLOCK_LIMIT' })
  await expect(open()).rejects.toThrow(
    /Cannot lock 2097152 bytes of memory: RLIMIT_MEMLOCK allows 65536[^]*ulimit -l 2048/,
  )
})

test('the option hugePages limits the huge pages in use', async () => {
  drive()
  const transport = await open({ hugePages: 2 })
  expect(() => transport.dma.alloc(4_194_304)).toThrow('hugePages: expected at most 2 in use at once, 3 are needed')
  await transport.close()
  await expect(open({ hugePages: 0 })).rejects.toThrow(RangeError)
})

test('configuration space of 64 bytes, as read without root, is rejected', async () => {
  drive({ config: configSpace().slice(0, 64) })
  await expect(open()).rejects.toMatchObject({ code: 'ERR_GPUNVME_CONFIG_SPACE_ACCESS' })
})

test('reset is present if flr is the first method in reset_method, and enables the function again', async () => {
  const path = drive({ files: { reset: '', reset_method: 'flr bus\n' } })
  const transport = await open()
  transport.config!.write(4, 2, 0) // what a reset leaves
  await transport.reset!('function')
  expect(readFileSync(join(path, 'reset'), 'utf8')).toBe('1')
  expect(command(path)).toBe(0x0006)
  await expect(transport.reset!('bus')).rejects.toThrow(TypeError)
  await transport.close()
})

test('resource0 stays open with the transport, so that other processes can detect the use', async () => {
  drive()
  const transport = await open()
  expect(sys.openFiles()).toContain(`/sys/bus/pci/devices/${bdf}/resource0`)
  await transport.close()
})

test('a drive that this process has open is refused, until it is closed', async () => {
  drive()
  const transport = await open()
  await expect(open()).rejects.toThrow(/this machine uses it\n.*this process has it open already/)
  await transport.close()
  host.beforeAllocate = () => {
    throw refusal('ENOMEM')
  }
  // A failed attempt does not hold the drive.
  await expect(open()).rejects.toMatchObject({ code: 'ERR_GPUNVME_HUGE_PAGES' })
  await expect(open()).rejects.toMatchObject({ code: 'ERR_GPUNVME_HUGE_PAGES' })
})

test('a drive that another thread of this process opens at the same time is refused, and not changed', async () => {
  const path = drive()
  const ours = `/sys/devices/pci0000:00/${bdf}/resource0`
  mkdirSync(join(sys.root, 'proc/self/fd'), { recursive: true })
  symlinkSync(ours, join(sys.root, 'proc/self/fd/20'))
  await (await open()).close()
  symlinkSync(ours, join(sys.root, 'proc/self/fd/21'))
  writeFileSync(join(path, 'config'), configSpace())
  await expect(open()).rejects.toThrow(/another thread of this process has it open/)
  expect(command(path)).toBe(0)
})

test('a drive that another process opens after the first check is refused, and not changed', async () => {
  const path = drive()
  const map = host.map.bind(host)
  host.map = (...args) => {
    mkdirSync(join(sys.root, 'proc/4242/fd'), { recursive: true })
    symlinkSync(`/sys/devices/pci0000:00/${bdf}/resource0`, join(sys.root, 'proc/4242/fd/7'))
    return map(...args)
  }
  await expect(open()).rejects.toThrow(/resource0 is open in process 4242/)
  expect(command(path)).toBe(0)
})

test('a drive that is bound to a driver after the first check is refused, and not changed', async () => {
  const path = drive()
  const map = host.map.bind(host)
  host.map = (...args) => {
    sys.attach(bdf, 'nvme')
    return map(...args)
  }
  await expect(open()).rejects.toMatchObject({ code: 'ERR_GPUNVME_DRIVER_BOUND' })
  expect(command(path)).toBe(0)
})

test('binding and restoring are refused while a transport of this process is open', async () => {
  drive({ driver: 'nvme' })
  const binding = await bindDriverBy(sys.write, { bdf, driver: null, sysRoot: sys.root })
  const transport = await open()
  await expect(binding.restore()).rejects.toThrow(DeviceHeldError)
  await expect(bindDriverBy(sys.write, { bdf, driver: null, sysRoot: sys.root })).rejects.toThrow(DeviceHeldError)
  expect(sys.boundDriver(bdf)).toBeUndefined()
  await transport.close()
  const restoring = binding.restore()
  // Either check may fail first.
  await expect(open()).rejects.toThrow(/which is binding or restoring its driver|driver nvme is bound/)
  await restoring
  expect(sys.boundDriver(bdf)).toBe('nvme')
})

test('a drive that another process drives is refused', async () => {
  const path = drive()
  sys.file('proc/4242/comm', 'other\n')
  mkdirSync(join(sys.root, 'proc/4242/fd'))
  symlinkSync(`/sys/devices/pci0000:00/${bdf}/resource0`, join(sys.root, 'proc/4242/fd/7'))
  await expect(open()).rejects.toThrow(DeviceHeldError)
  expect(command(path)).toBe(0)
})

test('mapPeer returns a BAR of another device at its bus address, and enables its memory space', async () => {
  drive()
  const peer = sys.function('0000:0c:00.0', {
    classCode: '0x030200',
    files: { resource: '0x00000000c0000000 0x00000000c000ffff 0x000000000014220c\n' },
  })
  writeFileSync(join(peer, 'resource0'), new Uint8Array(65_536))
  const transport = await open()
  const memory = transport.mapPeer({ bdf: '0000:0c:00.0', bar: 0 })
  expect(memory.segments).toEqual([{ offsetBytes: 0, iova: 0xc000_0000, lengthBytes: 65_536 }])
  expect(command(peer)).toBe(0x0002)
  memory.free()
  expect(() => transport.mapPeer({ bdf: '0000:0c:00.0', bar: 6 })).toThrow(RangeError)
  transport.mapPeer({ bdf: '0000:0c:00.0', bar: 0 })
  await transport.close()
})

test('mapPeer returns parts of a BAR at their bus addresses, in the given order', async () => {
  drive()
  const bar = { bdf: '0000:0c:00.0', bar: 0 }
  const peer = sys.function(bar.bdf, {
    classCode: '0x030200',
    driver: 'nvidia',
    files: { resource: '0x00000000c0000000 0x00000000c000ffff 0x000000000014220c\n' },
  })
  const transport = await open()
  expect(transport.can.dmaToVram).toBe(true)
  const mapped = (runs: [number, number][], driver = 'nvidia') =>
    transport.mapPeer({
      ...bar,
      driver,
      runs: runs.map(([offsetBytes, lengthBytes]) => ({ offsetBytes, lengthBytes })),
    })
  const parts: [number, number][] = [
    [8192, 4096],
    [12_288, 4096],
    [0, 8192],
  ]
  expect(mapped(parts).segments).toEqual([
    { offsetBytes: 0, iova: 0xc000_2000, lengthBytes: 8192 },
    { offsetBytes: 8192, iova: 0xc000_0000, lengthBytes: 8192 },
  ])
  // A device with the expected driver is not changed.
  expect(command(peer)).toBe(0)
  expect(() => mapped(parts, 'nouveau')).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_DRIVER_BOUND' }))
  for (const wrong of [
    [0, 0],
    [0, 100],
    [100, 4096],
    [-4096, 4096],
    [61_440, 8192],
  ] as [number, number][])
    expect(() => mapped([wrong]), String(wrong)).toThrow(/^peer.runs: expected whole pages of 4096 bytes within 65536/)
  expect(() => mapped([])).toThrow(/^peer.runs: expected at least one part/)
  const overlapping: [number, number][] = [
    [4096, 4096],
    [0, 8192],
  ]
  expect(() => mapped(overlapping)).toThrow(
    /^peer.runs: expected parts that do not overlap, got two that contain byte 4096/,
  )
  await transport.close()
})

test('mapPeer refuses a device bound to a kernel driver, and does not change it', async () => {
  drive()
  const peer = sys.function('0000:0c:00.0', {
    classCode: '0x030200',
    driver: 'nouveau',
    files: { resource: '0x00000000c0000000 0x00000000c000ffff 0x000000000014220c\n' },
  })
  writeFileSync(join(peer, 'resource0'), new Uint8Array(65_536))
  const transport = await open()
  const map = () => transport.mapPeer({ bdf: '0000:0c:00.0', bar: 0 })
  expect(map).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_DRIVER_BOUND' }))
  expect(map).toThrow(/driver nouveau is bound to 0000:0c:00.0\n.*devices\/0000:0c:00.0\/driver\/unbind/)
  expect(command(peer)).toBe(0)
  rmSync(join(peer, 'driver'))
  sys.attach('0000:0c:00.0', 'pci-stub')
  map().free()
  expect(command(peer)).toBe(0x0002)
  await transport.close()
})

test('a function is never reset under a driver', async () => {
  const path = drive({ files: { reset: '', reset_method: 'flr\n' } })
  const transport = await open()
  sys.driver('nvme')
  symlinkSync('../../drivers/nvme', join(path, 'driver'))
  await expect(transport.reset!('function')).rejects.toMatchObject({ code: 'ERR_GPUNVME_DRIVER_BOUND' })
  expect(readFileSync(join(path, 'reset'), 'utf8')).toBe('')
  await transport.close()
})

test.each([
  ['the file reset does not exist', { reset_method: 'flr\n' }, true],
  ['the kernel would reset more than the function', { reset: '', reset_method: 'bus\n' }, true],
  ['the drive has no Function Level Reset, before reset_method existed', { reset: '' }, false],
])('reset is absent if %s', async (_, files, flr) => {
  drive({ files, config: configSpace({ flr }) })
  const transport = await open()
  expect(transport).not.toHaveProperty('reset')
  await transport.close()
})
