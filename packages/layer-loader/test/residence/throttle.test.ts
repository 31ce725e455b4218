import { deriveProfile } from '@gpunvme/nvme-sim'
import { expect, test } from 'vitest'
import { planResidence, replan, type RateDrift, type ResidentModel } from '../../src/residence/index.js'
import { cost, isWhole, LAYER_BYTES, LAYERS, machine } from './machine.js'

const SLOW_MS = 120_000

/** Reads a byte per nanosecond, and after 40 MiB at a third of that rate, without recovery. */
const hot = deriveProfile('ideal', {
  readBytesPerSecond: 1e9,
  thermal: { factor: 3, limitBytes: 40 << 20, recoveredBytes: 0, coolingBytesPerSecond: 1e6 },
})

async function passNs(model: ResidentModel, now: () => number): Promise<number> {
  const startNs = now()
  for await (const layer of model.pass()) layer.release()
  return now() - startNs
}

test(
  'throttling of the drive is reported once, and replan makes passes faster again',
  async () => {
    const rig = await machine({ drive: { profile: hot } })
    const slots = { copies: 3, drive: 2 }
    // Host memory has room for all layers, but with half of them on the drive the pass is as fast as the link.
    const budget = { vramBytes: slots.copies * LAYER_BYTES, ramBytes: (LAYERS + slots.drive) * LAYER_BYTES }
    const plan = planResidence(rig.layers, { budget, tier: 1, slots, cost, costFrom: 'measured' })
    expect(plan.ram).toMatchObject({ layers: 4, unusedBytes: 4 * LAYER_BYTES })
    const drifts: RateDrift[] = []
    const drift = { band: 0.3, windowReads: 4 }
    const model = await rig.open(plan, { drift, onDrift: (each) => drifts.push(each) })
    const now = () => rig.host.clock.now()

    await passNs(model, now)
    const coolNs = await passNs(model, now)
    expect(drifts).toEqual([])
    while (drifts.length === 0) await passNs(model, now)
    expect(drifts[0]!.ratio).toBeGreaterThan(1.3)
    await passNs(model, now)
    const hotNs = await passNs(model, now)
    expect(hotNs).toBeGreaterThan(2 * coolNs)
    // A drift is reported once.
    expect(drifts).toHaveLength(1)

    const next = replan(model.plan, model.observed!)
    expect(next.ram.layers).toBeGreaterThan(plan.ram.layers)
    await model.adopt(next)
    await passNs(model, now)
    expect(await passNs(model, now)).toBeLessThan(0.75 * hotNs)
    for await (const layer of model.pass()) {
      expect(await isWhole(layer, rig.model)).toBe(true)
      layer.release()
    }
    await model.close()
    expect(rig.simulation.diagnostics).toEqual([])
  },
  SLOW_MS,
)

test(
  'a pass takes the predicted time to within 3 percent',
  async () => {
    for (const tier of [1, 2] as const) {
      const rig = await machine()
      const budget = { vramBytes: 6 * LAYER_BYTES, ramBytes: 4 * LAYER_BYTES }
      const plan = planResidence(rig.layers, { budget, tier, cost, costFrom: 'measured' })
      expect(plan.predicted.passNs).toBeGreaterThan(0)
      const model = await rig.open(plan)
      const now = () => rig.host.clock.now()
      await passNs(model, now)
      const startNs = now()
      for (let pass = 0; pass < 10; pass++) await passNs(model, now)
      const ratio = (now() - startNs) / 10 / plan.predicted.passNs
      expect(ratio).toBeGreaterThan(0.97)
      expect(ratio).toBeLessThan(1.03)
      await model.close()
    }
  },
  SLOW_MS,
)
