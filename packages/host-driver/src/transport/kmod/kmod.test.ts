import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bdf, FakeKmod, type FakeKmodOptions } from '../../../test/fake-kmod.js'
import { FakeHardwareHost, refusal } from '../../../test/fake-hardware-host.js'
import { FakeSysfs } from '../../../test/fake-sysfs.js'
import { DeviceHeldError } from '../../guard/guard.js'
import type { IommuGroup } from '../../pci/function.js'
import { openKmod, type KmodOptions, type KmodTransport } from './index.js'
import { openError } from './node.js'

let sys: FakeSysfs
let host: FakeHardwareHost

beforeEach(() => {
  sys = new FakeSysfs()
  host = new FakeHardwareHost(sys.root)
})
afterEach(() => {
  // No test may leave memory mapped or files open.
  expect([...host.live].map(({ lengthBytes }) => lengthBytes)).toEqual([])
  expect(sys.openFiles()).toEqual([])
  sys[Symbol.dispose]()
})

const drive = (options?: FakeKmodOptions) => new FakeKmod(sys, host, options)
const open = (options: Partial<KmodOptions> = {}) => openKmod({ host, device: bdf, sysRoot: sys.root, ...options })

const REQUEST = {
  getInfo: 0xc080e700,
  allocCoherent: 0xc028e701,
  pinUser: 0xc030e702,
  importDmaBuf: 0xc028e703,
  release: 0xc010e705,
  setBusMaster: 0xc010e706,
  reset: 0xc010e707,
  setIrq: 0xc010e708,
}

/** Waits up to 10 s on the clock of the transport, whose waits also handle events of the device. */
async function until({ clock }: KmodTransport, isSo: () => boolean): Promise<void> {
  const deadlineNs = clock.now() + 10_000_000_000
  while (!isSo() && clock.now() < deadlineNs) await clock.idle(deadlineNs)
  expect(isSo()).toBe(true)
}

test('open enables bus mastering, and close releases everything', async () => {
  const kmod = drive()
  const transport = await open()
  expect(transport.name).toBe('kmod 0000:0b:00.0')
  expect(kmod.isBusMaster).toBe(true)
  await transport.close()
  await transport.close()
})

test('opens a controller by its device node', async () => {
  const kmod = drive()
  const transport = await open({ device: kmod.node })
  expect(transport.bdf).toBe(bdf)
  await transport.close()
})

test('reports device, link and IOMMU mode from the module', async () => {
  drive({ iommu: 1 })
  const transport = await open()
  expect(transport.info).toEqual({
    vendorId: 0x1b36,
    deviceId: 0x0010,
    iommu: 'identity',
    link: { speed: 3, lanes: 4 },
    bestLink: { speed: 4, lanes: 4 },
    maxPayloadBytes: 256,
    maxReadRequestBytes: 512,
    numaNode: undefined,
    vectors: 9,
  })
  expect(transport.can).toEqual({ gpuRing: false, gpuRead: false, dmaToVram: true })
  await transport.close()
})

test.each([
  [0, true],
  [1, true],
  [2, false],
] as const)(
  'in IOMMU mode %i, mapPeer returns a BAR of another device at its bus address: %s',
  async (iommu, expected) => {
    drive({ iommu })
    sys.function('0000:0c:00.0', {
      classCode: '0x030000',
      driver: 'nvidia',
      files: { resource: '0x0 0x0 0x0\n0x0000007000000000 0x00000077ffffffff 0x000000000014220c\n' },
    })
    const transport = await open()
    const runs = [{ offsetBytes: 0x2640_0000, lengthBytes: 0x20_0000 }]
    const memory = transport.mapPeer?.({ bdf: '0000:0c:00.0', bar: 1, runs, driver: 'nvidia' })
    expect(memory?.iovaAt(0)).toBe(expected ? 0x70_2640_0000 : undefined)
    await transport.close()
  },
)

test('contiguous memory is allocated by the kernel, other memory is pinned pages of this process', async () => {
  const kmod = drive()
  const transport = await open()
  const queue = transport.dma.alloc(0x2_0000, { contiguous: true })
  const data = transport.dma.alloc(0x10_0000)
  const kinds = [...kmod.held.values()].map(({ kind, lengthBytes }) => [kind, lengthBytes])
  expect(kinds).toEqual([
    [2, 0x20_0000],
    [1, 0x4_0000],
  ])
  expect(queue.segments).toEqual([{ offsetBytes: 0, iova: 0x1_0400_0000, lengthBytes: 0x2_0000 }])
  expect(data.segments).toEqual([{ offsetBytes: 0, iova: 0x8000_0000, lengthBytes: 0x10_0000 }])
  await transport.close()
})

test('an alignment above the page size applies to the address, in a chunk of that length', async () => {
  const kmod = drive()
  const transport = await open()
  transport.dma.alloc(4096, { contiguous: true })
  expect(transport.dma.alloc(4096, { alignBytes: 0x400_0000 }).iovaAt(0) % 0x400_0000).toBe(0)
  expect([...kmod.held.values()].at(-1)).toMatchObject({ kind: 1, lengthBytes: 0x400_0000 })
  await transport.close()
})

test('without an IOMMU, memory has a segment for each run of adjacent pages, in any number', async () => {
  // Only pages 0 and 1 are adjacent: 511 segments, of which the first array holds 170.
  drive({ iommu: 0, pageAt: (page) => 0x2000_0000 + (page < 2 ? page : page * 2) * 4096 })
  const transport = await open()
  const memory = transport.dma.alloc(0x20_0000)
  expect(memory.segments).toHaveLength(511)
  expect(memory.segments.slice(0, 2)).toEqual([
    { offsetBytes: 0, iova: 0x2000_0000, lengthBytes: 8192 },
    { offsetBytes: 8192, iova: 0x2000_4000, lengthBytes: 4096 },
  ])
  expect(memory.iovaAt(0x1f_f123)).toBe(0x2000_0000 + 1022 * 4096 + 0x123)
  await transport.close()
})

test('freed memory is released, except for one chunk of each kind', async () => {
  const kmod = drive()
  const transport = await open()
  const before = kmod.held.size
  const memories = [transport.dma.alloc(0x40_0000), transport.dma.alloc(0x8_0000, { contiguous: true })]
  expect(kmod.held.size).toBe(before + 2)
  for (const memory of memories) memory.free()
  expect(kmod.held.size).toBe(before)
  await transport.close()
})

test('memory stays mapped if the module fails to release it, since the controller may still access it', async () => {
  const kmod = drive()
  const transport = await open()
  const memory = transport.dma.alloc(0x40_0000)
  kmod.refuse(REQUEST.release, 'EIO')
  expect(() => {
    memory.free()
  }).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_KMOD' }))
  expect(host.allocated.at(-1)!.buffer.byteLength).toBe(0x40_0000)
  await transport.close()
  host.allocated.at(-1)!.unmap()
})

test('pins huge pages if requested', async () => {
  drive()
  const pages: number[] = []
  host.beforeAllocate = ({ pageBytes }) => pages.push(pageBytes)
  const transport = await open({ hugePages: true })
  expect(pages).toContain(2_097_152)
  await transport.close()
})

test('rejects lengths above the limits of the module without a request', async () => {
  drive()
  const transport = await open()
  expect(() => transport.dma.alloc(2 ** 33)).toThrow(/expected at most 4294967296 in one piece/)
  expect(() => transport.dma.alloc(2 ** 27, { contiguous: true })).toThrow(/expected at most 67108864 in one piece/)
  await transport.close()
})

test.each([
  ['pinned memory', REQUEST.pinUser, false, 2_359_296 + 8_388_608],
  ['kernel memory', REQUEST.allocCoherent, true, 2_359_296 + 8_388_608],
] as const)(
  'beyond RLIMIT_MEMLOCK, the error states the total needed: %s',
  async (_, request, contiguous, neededBytes) => {
    const kmod = drive()
    const transport = await open()
    host.memlock = 4_194_304
    kmod.refuse(request, 'ENOLCK')
    const refused = () => transport.dma.alloc(8_388_608, { contiguous })
    expect(refused).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_MEMLOCK_LIMIT' }))
    kmod.refuse(request, 'ENOLCK')
    expect(refused).toThrow(`Cannot lock ${neededBytes} bytes of memory: RLIMIT_MEMLOCK allows 4194304`)
    await transport.close()
  },
)

test('rejects segments that do not cover the memory, and releases it', async () => {
  const kmod = drive()
  const transport = await open()
  const before = kmod.held.size
  const pin = host.ioctls.get(REQUEST.pinUser)!
  host.ioctls.set(REQUEST.pinUser, (argument, fd) => {
    const result = pin(argument, fd)
    const table = [...host.live].find(({ address }) => address === argument.getBigUint64(24, true))!
    new DataView(table.buffer).setBigUint64(16, 4096n, true)
    return result
  })
  expect(() => transport.dma.alloc(0x40_0000)).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_KMOD_SEGMENTS' }))
  expect(kmod.held.size).toBe(before)
  await transport.close()
})

test('bar is the mappable part of BAR0, accessed as mapped memory', async () => {
  drive({ mappable: 0x2000 })
  const transport = await open()
  expect(transport.bar.lengthBytes).toBe(0x2000)
  const registers = host.mapped.at(-1)!
  expect(transport.bar.window).toEqual({ address: registers.address, lengthBytes: 0x2000 })
  transport.bar.write64(0x28, 0x1_0000_0002n)
  expect(registers.stores).toEqual([
    { offset: 0x28, value: 2 },
    { offset: 0x2c, value: 1 },
  ])
  await transport.close()
})

test('configuration space is read through the module; only Bus Master Enable can be written', async () => {
  const kmod = drive()
  const transport = await open()
  const config = transport.config!
  expect([config.read(0, 2), config.read(0, 4), config.read(0x34, 1)]).toEqual([0x1b36, 0x0010_1b36, 0x40])
  config.write(4, 2, 0)
  expect(kmod.isBusMaster).toBe(false)
  config.write(4, 2, 4)
  expect(kmod.isBusMaster).toBe(true)
  expect(() => {
    config.write(4, 2, 6)
  }).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_KMOD_CONFIG_WRITE' }))
  expect(() => {
    config.write(0x44, 2, 3)
  }).toThrow(/2 bytes at 0x44 of configuration space/)
  expect(() => config.read(2, 4)).toThrow(RangeError)
  kmod.remove()
  expect(config.read(0, 4)).toBe(0xffff_ffff)
  config.write(4, 2, 0)
  await transport.close()
})

test('reset is one request, after which bus mastering is enabled again', async () => {
  const kmod = drive({ resetMethods: 3 })
  const transport = await open()
  await transport.reset!('function')
  expect(kmod.isBusMaster).toBe(true)
  await transport.reset!('bus')
  expect(kmod.resets).toEqual([1, 2])
  await transport.close()
})

test('reset rejects a method that the function does not support', async () => {
  drive({ resetMethods: 1 })
  const transport = await open()
  await expect(transport.reset!('bus')).rejects.toThrow(TypeError)
  await transport.close()
})

test('reset is absent if the function has no reset method', async () => {
  drive({ resetMethods: 0 })
  const transport = await open()
  expect(transport).not.toHaveProperty('reset')
  await transport.close()
})

describe('interrupts', () => {
  test('signal eventfds for up to the number of vectors of the device, until the transport is closed', async () => {
    const kmod = drive({ vectors: 3 })
    const transport = await open({ interrupts: 8 })
    expect(transport.interrupts!.vectors).toBe(3)
    const waiting = transport.interrupts!.wait(2, transport.clock.now() + 60e9)
    host.signal(kmod.irqs.get(2)!)
    expect(await waiting).toBe('fired')
    const untilClosed = transport.interrupts!.wait(1, transport.clock.now() + 60e9)
    await transport.close()
    expect(await untilClosed).toBe('deadline')
    expect(kmod.irqs.size).toBe(0)
  })

  test('are all disconnected if one vector fails', async () => {
    const kmod = drive()
    const setIrq = host.ioctls.get(REQUEST.setIrq)!
    host.ioctls.set(REQUEST.setIrq, (argument, fd) => {
      if (argument.getUint32(8, true) === 2) throw refusal('ENOMEM', 'ioctl')
      return setIrq(argument, fd)
    })
    await expect(open({ interrupts: 4 })).rejects.toMatchObject({
      cause: { code: 'ENOMEM' },
      headline: expect.stringContaining('SET_IRQ') as string,
    })
    expect(kmod.irqs.size).toBe(0)
  })

  test('are absent unless requested', async () => {
    const kmod = drive()
    const transport = await open()
    expect(transport).not.toHaveProperty('interrupts')
    expect(kmod.irqs.size).toBe(0)
    await transport.close()
  })
})

describe('while the transport is open,', () => {
  test('a removed controller reads all ones, and can be closed', async () => {
    const kmod = drive()
    const transport = await open({ interrupts: 1 })
    const memory = transport.dma.alloc(0x40_0000)
    kmod.remove()
    await until(transport, () => transport.departure !== undefined)
    expect(transport.bar.read32(0x1c)).toBe(0xffff_ffff)
    expect(transport.bar.window).toBeUndefined()
    expect(transport.departure).toBe('removed')
    expect(() => transport.dma.alloc(0x40_0000)).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_KMOD_REMOVED' }))
    memory.free()
    await transport.close()
  })

  test.each([
    ['an external reset', 2],
    ['a system sleep', 4],
    ['PCIe error recovery', 8],
  ])('after %s, bus mastering is enabled again', async (_, event) => {
    const kmod = drive()
    const transport = await open()
    kmod.happens(event)
    expect(kmod.isBusMaster).toBe(false)
    await until(transport, () => kmod.isBusMaster)
    expect(transport.departure).toBeUndefined()
    // Again, although the bit of the event is already set.
    kmod.happens(event)
    await until(transport, () => kmod.isBusMaster)
    await transport.close()
  })

  test.each([
    ['EIO', 'removed'],
    ['ESTALE', 'revoked'],
  ])('a controller whose bus mastering cannot be enabled counts as lost: %s', async (errno, departure) => {
    const kmod = drive()
    const transport = await open()
    kmod.refuse(REQUEST.setBusMaster, errno)
    kmod.happens(2)
    await until(transport, () => transport.departure !== undefined)
    expect([transport.departure, transport.bar.read32(0)]).toEqual([departure, 0xffff_ffff])
    await transport.close()
  })

  test('bus mastering is retried while a reset is in progress', async () => {
    const kmod = drive()
    const transport = await open()
    kmod.refuse(REQUEST.setBusMaster, 'EAGAIN')
    kmod.happens(2)
    await until(transport, () => kmod.isBusMaster)
    await transport.close()
  })
})

describe('dma-bufs', () => {
  /** Returns a descriptor that the fixture treats as a dma-buf. */
  function exported(kmod: FakeKmod, lengthBytes: number, iovas: readonly number[]): number {
    kmod.dmaBufs.set(77, { lengthBytes, iovas })
    return 77
  }

  test('have the addresses that the module returns, until they are detached', async () => {
    const kmod = drive()
    const transport = await open()
    const before = kmod.held.size
    const fd = exported(kmod, 0x40_0000, [0x80_0000_0000, 0x80_0080_0000])
    const buffer = transport.dmaBufs.attach(fd, 0x40_0000)
    expect(buffer.segments).toEqual([
      { offsetBytes: 0, iova: 0x80_0000_0000, lengthBytes: 0x20_0000 },
      { offsetBytes: 0x20_0000, iova: 0x80_0080_0000, lengthBytes: 0x20_0000 },
    ])
    expect(buffer.isRevoked).toBe(false)
    buffer.detach()
    expect(kmod.held.size).toBe(before)
    expect(() => {
      buffer.detach()
    }).toThrow(TypeError)
    await transport.close()
  })

  test('with more segments than the array holds are requested again', async () => {
    const kmod = drive()
    const transport = await open()
    const fd = exported(
      kmod,
      0x40_0000,
      Array.from({ length: 1024 }, (_, page) => 0x80_0000_0000 + page * 8192),
    )
    expect(transport.dmaBufs.attach(fd, 0x40_0000).segments).toHaveLength(1024)
    await transport.close()
  })

  test('of another length, and other descriptors, are rejected, and nothing stays attached', async () => {
    const kmod = drive()
    const transport = await open()
    const before = kmod.held.size
    const fd = exported(kmod, 0x40_0000, [0x80_0000_0000])
    expect(() => transport.dmaBufs.attach(fd, 0x20_0000)).toThrow(/expected 4194304, the length of the dma-buf/)
    expect(() => transport.dmaBufs.attach(5, 4096)).toThrow(
      /IMPORT_DMABUF on 0000:0b:00.0 failed: the descriptor is not a dma-buf \(EMEDIUMTYPE\)/,
    )
    expect(kmod.held.size).toBe(before)
    await transport.close()
  })

  test('that their exporter revokes make the device lost, since commands in flight may refer to them', async () => {
    const kmod = drive()
    const transport = await open()
    const [lost, kept] = [0x80_0000_0000, 0x90_0000_0000].map((iova) =>
      transport.dmaBufs.attach(exported(kmod, 0x20_0000, [iova]), 0x20_0000),
    ) as [ReturnType<typeof transport.dmaBufs.attach>, ReturnType<typeof transport.dmaBufs.attach>]
    for (const memory of kmod.held.values()) if (memory.iova === 0x80_0000_0000) memory.isRevoked = true
    kmod.happens(1)
    await until(transport, () => transport.departure !== undefined)
    expect(transport.departure).toBe('revoked')
    expect(transport.bar.read32(0x1c)).toBe(0xffff_ffff)
    expect(kmod.isBusMaster).toBe(false)
    expect([lost.isRevoked, kept.isRevoked]).toEqual([true, false])
    lost.detach()
    await transport.close()
    kept.detach()
  })
})

describe('errors of open:', () => {
  test('an invalid node or address', async () => {
    drive()
    await expect(open({ device: '/dev/nvme0' })).rejects.toThrow(
      /expected a node such as \/dev\/gpunvme0 or a PCI address/,
    )
    await expect(open({ device: '0000:0c:00.0' })).rejects.toMatchObject({ code: 'ERR_GPUNVME_PCI_FUNCTION_NOT_FOUND' })
    sys.function('0000:0d:00.0', { classCode: '0x030000' })
    await expect(open({ device: '0000:0d:00.0' })).rejects.toMatchObject({ code: 'ERR_GPUNVME_NOT_NVME' })
    await expect(open({ device: 7 as never })).rejects.toThrow(TypeError)
    await expect(openKmod({ device: bdf } as KmodOptions)).rejects.toThrow(/host: expected an object/)
    await expect(open({ interrupts: -1 })).rejects.toThrow(RangeError)
    await expect(open({ bdf } as never)).rejects.toThrow(/unknown 'bdf'/)
  })

  test('a controller bound to another driver', async () => {
    drive()
    sys.function('0000:0c:00.0', { driver: 'nvme' })
    const refused = open({ device: '0000:0c:00.0' })
    await expect(refused).rejects.toMatchObject({ code: 'ERR_GPUNVME_DRIVER_BOUND' })
    await expect(refused).rejects.toThrow("bindDriver({ bdf: '0000:0c:00.0', driver: 'gpunvme' })")
  })

  test('a module that is not loaded, or has no controller', async () => {
    sys.function(bdf, { driver: 'nvme' })
    const missing = open({ device: '/dev/gpunvme0' })
    await expect(missing).rejects.toMatchObject({ code: 'ERR_GPUNVME_KMOD_MISSING' })
    await expect(missing).rejects.toThrow(/the module is not loaded\n.*kmod\/README.md\), then run modprobe gpunvme/)
    sys.driver('gpunvme')
    await expect(open({ device: '/dev/gpunvme0' })).rejects.toThrow(/Try: bind a controller/)
  })

  test('a node that now belongs to another controller', async () => {
    drive({ bus: 0x0c })
    await expect(open()).rejects.toMatchObject({ code: 'ERR_GPUNVME_KMOD_REMOVED' })
  })

  test('a node that is missing in a container', async () => {
    const { node } = drive()
    rmSync(node)
    await expect(open()).rejects.toThrow(/existing nodes: gpunvme0\n.*--device \/dev\/gpunvme0/)
  })

  test('a controller that this process has open', async () => {
    drive()
    const transport = await open()
    await expect(open()).rejects.toThrow(DeviceHeldError)
    await transport.close()
    await (await open()).close()
  })

  test('a module of another version', async () => {
    drive({ abiVersion: 2 })
    const refused = open()
    await expect(refused).rejects.toMatchObject({ code: 'ERR_GPUNVME_KMOD_VERSION' })
    await expect(refused).rejects.toThrow(/ABI version 2 is loaded, 1 is required/)
  })

  test.each(['EINVAL', 'E2BIG'])('a module whose structures have another size: %s', async (errno) => {
    drive().refuse(REQUEST.getInfo, errno)
    await expect(open()).rejects.toMatchObject({ code: 'ERR_GPUNVME_KMOD_VERSION' })
  })

  test('a file that is not a node of the module', async () => {
    drive()
    host.ioctls.clear()
    await expect(open()).rejects.toMatchObject({ cause: { code: 'ENOTTY' }, category: 'usage' })
  })

  test('an RLIMIT_MEMLOCK that is too low', async () => {
    const kmod = drive()
    host.memlock = 65_536
    kmod.refuse(REQUEST.pinUser, 'ENOLCK')
    await expect(open()).rejects.toThrow(
      /Cannot lock 2359296 bytes of memory: RLIMIT_MEMLOCK allows 65536\n.*ulimit -l 2304/,
    )
    host.beforeAllocate = () => {
      throw refusal('EAGAIN', 'mmap')
    }
    await expect(open()).rejects.toThrow(/Cannot lock 2359296 bytes/)
    expect(kmod.held.size).toBe(0)
  })

  test('none for a controller that cannot be disabled: it is reset before bus mastering is enabled', async () => {
    const kmod = drive()
    // CAP.TO 1 and CAP.MQES; CC.EN and CSTS.RDY stay set.
    const registers = Buffer.alloc(0x2000)
    registers.writeUInt32LE(0x0100_03ff, 0)
    registers.writeUInt32LE(0x20, 4)
    registers.writeUInt32LE(0x0046_0001, 0x14)
    registers.writeUInt32LE(1, 0x1c)
    writeFileSync(kmod.node, registers, { flag: 'r+' })
    const seen: boolean[] = []
    const reset = host.ioctls.get(REQUEST.reset)!
    host.ioctls.set(REQUEST.reset, (argument, fd) => {
      seen.push(kmod.isBusMaster)
      return reset(argument, fd)
    })
    await (await open()).close()
    expect(seen).toEqual([false])
  }, 20_000)

  const code = (errno: string) => Object.assign(new Error(errno), { code: errno }) as NodeJS.ErrnoException
  const refused = (errno: string, group?: IommuGroup) =>
    openError(sys.root, { bdf, group }, '/dev/gpunvme0', code(errno))

  test('a node that another process has open: names the process', async () => {
    drive()
    sys.file('proc/4242/comm', 'nvmf_tgt\n')
    mkdirSync(join(sys.root, 'proc/4242/fd'))
    symlinkSync('/dev/gpunvme0', join(sys.root, 'proc/4242/fd/7'))
    const error = await refused('EBUSY')
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_KMOD_BUSY' })
    expect(error.message).toContain('its gpunvme0 is open in process 4242 (nvmf_tgt)')
    expect(error.message).toContain('fuser /dev/gpunvme0 shows the process')
  })

  const group = (type: string, isNoIommu = false) => ({ number: '3', type, isNoIommu, functions: [bdf] })
  const capabilities = (bits: string) => sys.file('proc/self/status', `Name:\tnode\nCapEff:\t${bits}\n`)
  const lockdown = (text: string) => sys.file('sys/kernel/security/lockdown', `${text}\n`)
  /** All capabilities of Linux 6.1, and all but CAP_SYS_RAWIO. */
  const ALL = '000001ffffffffff'
  const NO_RAWIO = '000001fffffdffff'

  test.each([
    ['no IOMMU', undefined, 'IOMMU: none, or off'],
    ['iommu=pt', group('identity'), 'IOMMU group 3: identity'],
    ["a group of vfio's no-IOMMU mode", group('', true), 'IOMMU: none, or off'],
  ])('EPERM without translation names the missing capability: %s', async (_, iommu, fact) => {
    drive()
    capabilities(NO_RAWIO)
    const error = await refused('EPERM', iommu)
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_KMOD_UNTRANSLATED', category: 'privilege' })
    expect(error.message).toBe(
      `Cannot open ${bdf} without a translating IOMMU: this process lacks CAP_SYS_RAWIO\n` +
        `  ${fact}\n  the controller could access all memory of the machine\n` +
        '  Try: run as root or with CAP_SYS_RAWIO, or enable an IOMMU that translates (not iommu=pt)',
    )
  })

  test.each(['integrity', 'confidentiality'])('EPERM without translation names lockdown: %s', async (level) => {
    drive()
    capabilities(ALL)
    lockdown(`none ${level === 'integrity' ? '[integrity] confidentiality' : 'integrity [confidentiality]'}`)
    const error = await refused('EPERM')
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_KMOD_UNTRANSLATED', category: 'infeasible' })
    expect(error.message).toContain(`without a translating IOMMU: the kernel is locked down (${level})`)
    expect(error.message).toMatch(/Try: enable the IOMMU .* or disable Secure Boot/)
  })

  test.each([
    ['the group translates', NO_RAWIO, group('DMA-FQ')],
    ['the process has the capability, as in a container that forbids the device', ALL, undefined],
  ])('EPERM has another cause if %s', async (_, bits, iommu) => {
    drive()
    capabilities(bits)
    lockdown('[none] integrity confidentiality')
    expect(await refused('EPERM', iommu)).toMatchObject({ code: 'ERR_GPUNVME_HARDWARE_ACCESS' })
  })

  test.each([
    ['ENOENT', 'KMOD_MISSING', /No \/dev node of the module/],
    ['ENODEV', 'KMOD_REMOVED', /was removed, or unbound/],
    ['ENXIO', 'KMOD_REMOVED', /was removed, or unbound/],
    ['EACCES', 'HARDWARE_ACCESS', /Try: run as root, or make that file accessible/],
    ['EIO', 'KMOD', /Opening 0000:0b:00.0 failed: the controller does not respond \(EIO\)/],
    ['EAGAIN', 'KMOD', /Opening 0000:0b:00.0 failed: another process is resetting or removing/],
    ['EMFILE', 'KMOD', /EMFILE/],
  ])('open(2) with %s', async (errno, code, message) => {
    drive()
    const error = await refused(errno)
    expect(error).toMatchObject({ code: `ERR_GPUNVME_${code}` })
    expect(error.message).toMatch(message)
  })
})

test.each([
  ['EAGAIN', 'device'],
  ['E2BIG', 'infeasible'],
  ['EBADF', 'usage'],
  ['EBUSY', 'infeasible'],
  ['EEXIST', 'failure'],
  ['EFAULT', 'failure'],
  ['EINVAL', 'failure'],
  ['EIO', 'device'],
  ['EMEDIUMTYPE', 'usage'],
  ['EMFILE', 'infeasible'],
  ['ENOENT', 'failure'],
  ['ENOMEM', 'infeasible'],
  ['ENOTTY', 'usage'],
  ['EOPNOTSUPP', 'infeasible'],
  ['EOVERFLOW', 'usage'],
  ['EPERM', 'privilege'],
  ['ESTALE', 'device'],
  ['ETIMEDOUT', 'device'],
  ['EXDEV', 'failure'],
])('the error of a failed request explains its errno, and has a next step: %s', async (errno, category) => {
  const kmod = drive()
  const transport = await open()
  kmod.refuse(REQUEST.importDmaBuf, errno)
  let error: unknown
  try {
    transport.dmaBufs.attach(77, 4096)
  } catch (thrown) {
    error = thrown
  }
  expect(error).toMatchObject({ code: 'ERR_GPUNVME_KMOD', cause: { code: errno }, category })
  expect((error as Error).message).toMatch(
    new RegExp(`^GPUNVME_IMPORT_DMABUF on 0000:0b:00.0 failed: .{10,} \\(${errno}\\)\\n  Try: .{10,}$`),
  )
  await transport.close()
})

test('a request that a signal interrupts is repeated a limited number of times', async () => {
  const kmod = drive()
  const transport = await open()
  kmod.refuse(REQUEST.reset, ...Array<string>(50).fill('EINTR'))
  await transport.reset!('function')
  kmod.refuse(REQUEST.reset, ...Array<string>(200).fill('EINTR'))
  await expect(transport.reset!('function')).rejects.toMatchObject({ cause: { code: 'EINTR' } })
  await transport.close()
})

test('a closed transport makes no request on its former descriptor', async () => {
  drive()
  const transport = await open()
  const { dmaBufs, config } = transport
  await transport.close()
  expect(() => dmaBufs.attach(77, 4096)).toThrow(/the transport of 0000:0b:00.0 is closed/)
  expect(() => config!.read(0, 4)).toThrow(TypeError)
  expect(() => transport.dma.alloc(4096)).toThrow(TypeError)
})
