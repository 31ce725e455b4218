import { describe, expect, it } from 'vitest'
import { transfer } from '../../conformance/raw-host/entry.js'
import { bytesOf, prps, ready } from '../../test/host.js'
import { deriveProfile, RamMedia, SimulatedHost, type GpuOptions } from '../index.js'

const MIB = 1 << 20
const READ = 0x02

/** One byte per nanosecond, so that lengths equal times. */
const BYTE_PER_NS = 1e9

const hostWith = (gpu: Partial<GpuOptions> = {}) =>
  new SimulatedHost({ gpu: { vramBytes: 64 * MIB, linkBytesPerSecond: BYTE_PER_NS, ...gpu } })

/** Returns a drive on the host that reads half a byte per nanosecond; its first MiB contains a pattern. */
async function driveOn(host: SimulatedHost) {
  const media = new RamMedia(64 * MIB)
  media.write(0, counted(MIB))
  const profile = deriveProfile('ideal', { readBytesPerSecond: 0.5e9 })
  return ready({ host, profile, namespaces: [{ media }] })
}

const counted = (lengthBytes: number) => Uint8Array.from({ length: lengthBytes }, (_, index) => index % 251)

describe('a copy from host memory', () => {
  it('takes the time of its bytes on the link, and transfers them', async () => {
    const host = hostWith()
    const drive = await driveOn(host)
    const { clock, gpu } = host
    const from = drive.alloc(3 * MIB)
    bytesOf(from).set(counted(3 * MIB))
    const to = gpu!.copies.alloc(4 * MIB)
    const startNs = clock.now()
    await gpu!.copies.copy(from, 1000, to, 5000, 2 * MIB)
    expect(clock.now() - startNs).toBe(2_097_152)
    const brought = new Uint8Array(2 * MIB + 10)
    to.copyOut(4995, brought)
    expect(Buffer.compare(brought.subarray(5, -5), bytesOf(from, 1000, 2 * MIB))).toBe(0)
    expect([...brought.subarray(0, 5), ...brought.subarray(-5)]).toEqual(new Array(10).fill(0))
    expect(gpu!.statistics).toEqual({ copiedBytes: 2_097_152, peerBytes: 0, busyNs: 2_097_152 })
  })

  it('waits for earlier copies', async () => {
    const host = hostWith()
    const from = (await driveOn(host)).alloc(MIB)
    const { clock, gpu } = host
    const to = gpu!.copies.alloc(MIB)
    const ends: number[] = []
    const startNs = clock.now()
    await Promise.all(
      [MIB, 100, 1].map(async (bytes) => {
        await gpu!.copies.copy(from, 0, to, 0, bytes)
        ends.push(clock.now() - startNs)
      }),
    )
    expect(ends).toEqual([1_048_576, 1_048_676, 1_048_677])
  })

  it('rejects ranges outside of either memory, and a source that is not host memory', async () => {
    const host = hostWith()
    const from = (await driveOn(host)).alloc(4096)
    const { copies } = host.gpu!
    const to = copies.alloc(4096)
    await expect(copies.copy(from, 1, to, 0, 4096)).rejects.toThrow(
      'copy from: expected a range inside 4096 bytes, got 4096 bytes from 1',
    )
    await expect(copies.copy(from, 0, to, 4095, 2)).rejects.toThrow(RangeError)
    await expect(copies.copy(to, 0, to, 0, 1)).rejects.toThrow('expected memory with a view of the host')
    expect(() => copies.alloc(65 * MIB)).toThrow(/^simulated GPU memory: .* of 67108864 free; raise .*vramBytes/)
  })

  it('fails if its destination is freed meanwhile; later copies succeed', async () => {
    const host = hostWith()
    const from = (await driveOn(host)).alloc(MIB)
    const { copies } = host.gpu!
    const [gone, to] = [copies.alloc(MIB), copies.alloc(MIB)]
    const both = Promise.allSettled([copies.copy(from, 0, gone, 0, MIB), copies.copy(from, 0, to, 0, MIB)])
    gone.free()
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  })
})

describe('a drive that reads into GPU memory', () => {
  it('transfers the data in the same time as to host memory while the link is idle', async () => {
    const host = hostWith()
    const drive = await driveOn(host)
    const times: number[] = []
    const to = drive.simulation.transport.dma.alloc(MIB, { where: 'gpu' })
    for (const memory of [drive.alloc(MIB), to]) {
      const startNs = host.clock.now()
      const { status } = await drive.command(1, transfer(READ, 0, 2048, prps(drive, memory, 0, MIB)))
      expect(status).toBe('0/00')
      times.push(host.clock.now() - startNs)
    }
    expect(times[1]).toBe(times[0])
    expect(to.view).toBeUndefined()
    const brought = new Uint8Array(MIB)
    to.copyOut!(0, brought)
    expect(Buffer.compare(brought, counted(MIB))).toBe(0)
    expect(host.gpu!.statistics).toEqual({ copiedBytes: 0, peerBytes: 1_048_576, busyNs: 1_048_576 })
    expect(drive.simulation.diagnostics).toEqual([])
  })

  it('shares the bandwidth of the link with copies', async () => {
    const host = hostWith()
    const drive = await driveOn(host)
    const { clock, gpu } = host
    const from = drive.alloc(8 * MIB)
    const vram = drive.simulation.transport.dma.alloc(MIB, { where: 'gpu' })
    const startNs = clock.now()
    let readNs = 0
    const reads = (async () => {
      for (let i = 0; i < 4; i++) drive.stage(1, transfer(READ, 0, 2048, prps(drive, vram, 0, MIB)))
      drive.ringTail(1)
      await drive.collect(1, 4)
      readNs = clock.now() - startNs
    })()
    await gpu!.copies.copy(from, 0, gpu!.copies.alloc(8 * MIB), 0, 8 * MIB)
    await reads
    expect(clock.now() - startNs).toBe(12 * MIB)
    // The drive alone needs 8 * 2^20 ns; the last read crosses the link after a part of the copy.
    expect(readNs).toBeGreaterThanOrEqual(8 * MIB)
    expect(readNs).toBeLessThan(9.5 * MIB)
  })

  it('is rejected if the platform does not support it', () => {
    const host = hostWith({ dmaToVram: false })
    return driveOn(host).then(({ simulation: { transport } }) => {
      expect(transport.can.dmaToVram).toBe(false)
      expect(() => transport.dma.alloc(4096, { where: 'gpu' })).toThrow('cannot access the memory of this GPU')
    })
  })
})

it('a host without a GPU has no GPU memory', async () => {
  const { transport } = (await driveOn(new SimulatedHost())).simulation
  expect(transport.can.dmaToVram).toBe(false)
  expect(() => transport.dma.alloc(4096, { where: 'gpu' })).toThrow('only host memory is available')
})

it('kernels run one at a time', async () => {
  const { gpu, clock } = hostWith()
  await Promise.all([gpu!.compute(500), gpu!.compute(700)])
  expect(clock.now()).toBe(1200)
  await gpu!.compute(0.5)
  expect(clock.now()).toBe(1201)
  await expect(gpu!.compute(-1)).rejects.toThrow(RangeError)
})

it('with `movesData` false, a copy takes the same time but transfers nothing', async () => {
  const host = hostWith({ movesData: false })
  const from = (await driveOn(host)).alloc(MIB)
  bytesOf(from).fill(7)
  const to = host.gpu!.copies.alloc(MIB)
  const startNs = host.clock.now()
  await host.gpu!.copies.copy(from, 0, to, 0, MIB)
  const got = new Uint8Array(1)
  to.copyOut(0, got)
  expect([host.clock.now() - startNs, got[0]]).toEqual([1_048_576, 0])
})
