import { openKmod, type KmodTransport } from '@gpunvme/host-driver/kmod'
import { expect, it, onTestFinished } from 'vitest'
import { FakeHardwareHost } from '../../../host-driver/test/fake-hardware-host.js'
import { bdf, FakeKmod } from '../../../host-driver/test/fake-kmod.js'
import { FakeSysfs } from '../../../host-driver/test/fake-sysfs.js'
import { BLANK_BAR, FakeGpu } from '../../test/vram/fake-gpu.js'
import { dmaBufProvider, type DmaBufExporter } from './dma-buf.js'
import { negotiateTier, type TierRequest } from './negotiate.js'
import type { ProbeVerdict } from './probe-verdict.js'
import { VramRevokedError, withVram } from './with-vram.js'

const MIB = 1024 * 1024
/** Descriptor that the fixture treats as a dma-buf. */
const FD = 77
const IMPORT_DMABUF = 0xc028e703
const GPU_MEMORY = { where: 'gpu' } as const

/** Returns a transport on the fixture of the module, and a GPU whose memory it maps at these IOVAs. */
async function made(iovas: readonly number[] = [0x90_0000_0000, 0x90_0080_0000]) {
  const sys = new FakeSysfs()
  const host = new FakeHardwareHost(sys.root)
  const kmod = new FakeKmod(sys, host)
  const transport = await openKmod({ host, device: bdf, sysRoot: sys.root })
  onTestFinished(async () => {
    await transport.close()
    expect(host.live.size).toBe(0)
    sys[Symbol.dispose]()
  })
  const gpu = new FakeGpu(BLANK_BAR)
  const closed: number[] = []
  const exporter: DmaBufExporter = {
    export(_, lengthBytes) {
      kmod.dmaBufs.set(FD, { lengthBytes, iovas })
      return FD
    },
    close: (fd) => closed.push(fd),
  }
  const provider = dmaBufProvider(exporter, transport.dmaBufs)
  const imported = () => [...kmod.held.values()].filter(({ kind }) => kind === 3)
  return { kmod, transport, gpu, closed, provider, imported }
}

/** Waits up to 10 s on the clock of the transport, whose waits also handle events of the device. */
async function departed(transport: KmodTransport): Promise<void> {
  const { clock } = transport
  const deadlineNs = clock.now() + 10_000_000_000
  while (transport.departure === undefined && clock.now() < deadlineNs) await clock.idle(deadlineNs)
}

it('GPU memory has the addresses that the module returns for its dma-buf, until it is freed', async () => {
  const { transport, gpu, closed, provider, imported } = await made()
  const dma = withVram(transport.dma, provider, gpu)
  const memory = dma.alloc(4 * MIB, GPU_MEMORY)
  expect(memory.view).toBeUndefined()
  expect(memory.segments).toEqual([
    { offsetBytes: 0, iova: 0x90_0000_0000, lengthBytes: 2 * MIB },
    { offsetBytes: 2 * MIB, iova: 0x90_0080_0000, lengthBytes: 2 * MIB },
  ])
  expect(closed).toEqual([FD])
  expect(imported()).toHaveLength(1)
  memory.free()
  expect(imported()).toHaveLength(0)
  expect(gpu.freed).toHaveLength(1)
})

it('queues are contiguous if the module returns one segment', async () => {
  const { transport, gpu, provider } = await made([0x90_0000_0000])
  const queue = withVram(transport.dma, provider, gpu).alloc(0x1_0000, { ...GPU_MEMORY, contiguous: true })
  expect(queue.segments).toEqual([{ offsetBytes: 0, iova: 0x90_0000_0000, lengthBytes: 0x1_0000 }])
  expect(transport.dma.alloc(4096).view).toBeDefined()
})

it('revoked memory throws instead of presenting data, and can be freed', async () => {
  const { kmod, transport, gpu, provider, imported } = await made()
  const memory = withVram(transport.dma, provider, gpu).alloc(4 * MIB, GPU_MEMORY)
  memory.forHost(0, 4 * MIB)
  for (const held of imported()) held.isRevoked = true
  kmod.happens(1)
  await departed(transport)
  // To the driver, the controller has left the bus: every command in flight ends as lost.
  expect([transport.departure, transport.bar.read32(0x1c)]).toEqual(['revoked', 0xffff_ffff])
  expect(() => memory.forHost(0, 4 * MIB)).toThrow(VramRevokedError)
  expect(() => memory.iovaAt(0)).toThrow(/mapped by dma-buf was revoked[^]*open it again/)
  memory.free()
  expect(imported()).toHaveLength(0)
})

it.each([
  ['EOPNOTSUPP', 'import-failed'],
  ['ENODEV', 'import-failed'],
])('if the module refuses the import, the tier is 1, with the reason: %s', async (errno, code) => {
  const { kmod, transport, provider, imported } = await made()
  kmod.refuse(IMPORT_DMABUF, errno)
  const probe = (): ProbeVerdict => {
    provider.map(0x7f12_0000_0000n, 4 * MIB)
    return { isAccepted: true, facts: [] }
  }
  const result = await negotiateTier(request(transport, provider, probe))
  expect(result).toMatchObject({ tier: 1, reasons: [{ tier: 2, provider: 'dma-buf', code }] })
  expect(imported()).toHaveLength(0)
})

it('if data do not arrive in the mapped memory, the tier is 1, with the result of the probe', async () => {
  const { transport, gpu, provider, imported } = await made()
  const vram = withVram(transport.dma, provider, gpu)
  const probe = () => {
    const memory = vram.alloc(4 * MIB, GPU_MEMORY)
    memory.free()
    return { isAccepted: false, reason: 'nothing-arrived', message: 'all is as it was', facts: ['4 MiB'] } as const
  }
  const result = await negotiateTier(request(transport, provider, probe))
  expect(result).toEqual({
    tier: 1,
    reasons: [{ tier: 2, provider: 'dma-buf', code: 'nothing-arrived', message: 'all is as it was', facts: ['4 MiB'] }],
  })
  expect(imported()).toHaveLength(0)
})

/** Returns a request for tier 3 over the module with the given probe. */
function request(
  { can }: KmodTransport,
  provider: ReturnType<typeof dmaBufProvider>,
  probe: () => ProbeVerdict,
): TierRequest {
  return {
    maxTier: 3,
    can,
    ordering: { writesOrdering: 200, flushWritesOptions: 0 },
    providers: [{ name: 'dma-buf', open: () => provider }],
    probe: async () => Promise.resolve().then(probe),
  }
}
