import { payloadLimit } from '@gpunvme/nvme-spec/pcie'
import { expect, it } from 'vitest'
import { deriveProfile, type DriveProfile } from '../src/index.js'
import { transfer } from '../conformance/raw-host/entry.js'
import { prps, ready } from './host.js'

const MIB = 1024 * 1024

/** Measures bytes per second of virtual time, for reads of `blocks` blocks with `depth` in flight. */
async function readRate(profile: DriveProfile, blocks: number, depth: number, commands: number): Promise<number> {
  const host = await ready({ profile })
  const entry = prps(host, host.alloc(blocks * 512))
  const startNs = host.clock.now()
  let staged = 0
  for (let completed = 0; completed < commands;) {
    const before = staged
    while (staged < commands && staged - completed < depth)
      host.stage(1, transfer(0x02, staged++ * blocks, blocks, entry))
    if (staged > before) host.ringTail(1)
    completed += (await host.collect(1, 1)).length
  }
  expect(host.simulation.diagnostics).toEqual([])
  return (commands * blocks * 512) / ((host.clock.now() - startNs) / 1e9)
}

const sn740 = deriveProfile('sn740', {})
const uncapped = deriveProfile('sn740', { readBytesPerSecond: Infinity })
const limit = payloadLimit({ gen: 3, width: 4, mps: 256 })

it('the payload limit of Gen3 x4 with an MPS of 256 is 3.60 GB/s', () => {
  expect(limit / 1e9).toBeCloseTo(3.6, 2)
})

it('sn740 reads 1 MiB commands, 32 deep, at 3,330 MiB/s within 2 %', async () => {
  const rate = await readRate(sn740, 2048, 32, 1000)
  expect(Math.abs(rate / (3330 * MIB) - 1)).toBeLessThan(0.02)
})

it("without the drive's own limit, the rate is 98 to 100 % of the link's payload limit", async () => {
  const rate = await readRate(uncapped, 2048, 32, 1000)
  expect(rate / limit).toBeGreaterThan(0.98)
  expect(rate / limit).toBeLessThanOrEqual(1)
})

it('a queue depth of 1 is slower, since latency is not hidden', async () => {
  const [shallow, deep] = [await readRate(sn740, 8, 1, 500), await readRate(sn740, 8, 32, 2000)]
  // 4 KiB per about 60 µs are 60 to 70 MB/s.
  expect(shallow).toBeGreaterThan(40e6)
  expect(shallow).toBeLessThan(90e6)
  expect(deep / shallow).toBeGreaterThan(15)
})

it('the ideal profile takes no virtual time', async () => {
  const host = await ready()
  const entry = prps(host, host.alloc(MIB))
  for (let i = 0; i < 40; i++) await host.command(1, transfer(0x02, i * 2048, 2048, entry))
  expect(host.clock.now()).toBe(0)
})

it('a Flush reads no PRP list, regardless of the previous command in its slot', async () => {
  const host = await ready({ profile: { ...uncapped, commandSlots: 1 } })
  const flushBytes = async () => {
    const before = host.simulation.statistics.downstreamBusyNs
    await host.command(1, { opcode: 0x00, nsid: 1 })
    return host.simulation.statistics.downstreamBusyNs - before
  }
  const before = await flushBytes()
  await host.command(1, transfer(0x02, 0, 2048, prps(host, host.alloc(MIB))))
  expect(await flushBytes()).toBeCloseTo(before, 6)
})

it('the link counts its bytes: 1 MiB at MPS 256 is 1,146,880 bytes upstream, and 40 for the completion', async () => {
  const host = await ready({ profile: uncapped })
  const before = host.simulation.statistics.upstreamBusyNs
  await host.command(1, transfer(0x02, 0, 2048, prps(host, host.alloc(MIB))))
  const nsPerByte = 1 / ((8 * 4 * 128) / 130 / 8)
  // 24 bytes for the read request of the entry, and 96 for those of the PRP list: 2,040 bytes, at most 512 per request.
  const bytes = 1_146_880 + 40 + 24 + 4 * 24
  expect((host.simulation.statistics.upstreamBusyNs - before) / nsPerByte).toBeCloseTo(bytes, 3)
})
