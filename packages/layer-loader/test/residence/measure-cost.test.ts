import { Controller } from '@gpunvme/host-driver'
import { costModel, simulate, SimulatedHost, unverifiableMedia } from '@gpunvme/nvme-sim'
import { expect, onTestFinished, test } from 'vitest'
import { namespaceStore } from '../../src/store/index.js'
import { measureCost } from '../../src/residence/index.js'

const MIB = 1 << 20
const SLOW_MS = 60_000

async function rig() {
  const host = new SimulatedHost({ gpu: { vramBytes: 512 * MIB, linkBytesPerSecond: 4e9, movesData: false } })
  const namespaces = [{ media: unverifiableMedia({ capacityBytes: 1024 * MIB }) }]
  const { transport } = simulate({ host, profile: 'sn740', namespaces })
  const controller = await Controller.open(transport, { queueDepth: 32 })
  onTestFinished(() => controller.close())
  return { copies: host.gpu!.copies, store: namespaceStore(controller.namespace(1)) }
}

test(
  'measureCost returns the configured rates of a simulated drive and GPU',
  async () => {
    const { copies, store } = await rig()
    const measured = await measureCost(store, { copies })
    const ratio = measured.readNs(MIB, 32) / costModel('sn740').readNs(MIB, 32)
    expect(ratio).toBeGreaterThan(0.97)
    expect(ratio).toBeLessThan(1.03)
    // A single read of 4 KiB takes the latency of this drive, about 100 us.
    expect(measured.readNs(4096, 1)).toBeGreaterThan(50_000)
    expect(measured.readNs(4096, 1)).toBeLessThan(300_000)
    expect(measured.copyNs!(100e6) / 25e6).toBeCloseTo(1, 2)
    expect(measured.throttle).toBeUndefined()
    // All GPU memory is free again.
    copies.alloc(512 * MIB).free()
  },
  SLOW_MS,
)

test(
  'measureCost omits copyNs without a copy engine, and rejects an invalid sampleBytes',
  async () => {
    const { store } = await rig()
    expect(await measureCost(store, { sampleBytes: 4 * MIB })).not.toHaveProperty('copyNs')
    await expect(measureCost(store, { sampleBytes: 1000 })).rejects.toThrow(
      'sampleBytes: expected whole blocks of 512 bytes, at most 512 MiB, got 1000',
    )
    await expect(measureCost(store, { sampleBytes: 513 * MIB })).rejects.toThrow(RangeError)
  },
  SLOW_MS,
)
