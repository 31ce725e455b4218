import type { CostModel } from '@gpunvme/nvme-spec/transport'
import { costModel } from '@gpunvme/nvme-sim'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BudgetInfeasibleError } from './budget-infeasible.js'
import { planResidence, type ResidenceOptions } from './plan.js'
import type { LayerSize } from './predict.js'
import { replan } from './replan.js'

/**
 * Length of a layer of Llama 3.1 70B in Q6_K: 669.4 MiB. PCIe Gen3 x8 copies it in 103 ms, an SN740 reads it in 201 ms.
 */
const LAYER_BYTES = 701_890_560
const layersOf = (count: number, lengthBytes = LAYER_BYTES): LayerSize[] =>
  Array.from({ length: count }, (_, index) => ({ name: `blk.${index}`, lengthBytes }))

const rig: CostModel = {
  ...costModel('sn740'),
  copyNs: (lengthBytes) => (lengthBytes / LAYER_BYTES) * 103e6,
}

const options = (change: Partial<ResidenceOptions>): ResidenceOptions => ({
  budget: { vramBytes: 24 * LAYER_BYTES, ramBytes: 30 * LAYER_BYTES },
  tier: 2,
  cost: rig,
  costFrom: 'preset sn740',
  ...change,
})

describe('planResidence of 80 layers of 669.4 MiB, with room for 24 on the GPU and 30 in host memory,', () => {
  test('places 20, 30 and 30 layers, bound by 60 transfers of 103 ms over the GPU link', () => {
    const { layers, vram, ram, slots, readBytes, copiedBytes, predicted, costFrom } = planResidence(
      layersOf(80),
      options({ computeNs: 0.7e6 }),
    )
    expect(layers.map(({ name }) => name)).toEqual(layersOf(80).map(({ name }) => name))
    expect(vram).toEqual({ layers: 20, layerBytes: 14_037_811_200, slotBytes: 2_807_562_240, unusedBytes: 0 })
    expect(ram).toEqual({ layers: 30, layerBytes: 21_056_716_800, slotBytes: 0, unusedBytes: 0 })
    expect(slots).toMatchObject({ copies: 2, drive: 2, copySlotBytes: LAYER_BYTES, driveSlotBytes: LAYER_BYTES })
    expect([readBytes, copiedBytes]).toEqual([21_056_716_800, 21_056_716_800])
    expect(predicted.boundBy).toBe('gpu link')
    expect(predicted.passNs).toBeCloseTo(60 * 103e6, 0)
    expect(predicted.driveNs / 30).toBeGreaterThan(200.5e6)
    expect(predicted.driveNs / 30).toBeLessThan(202e6)
    expect(predicted.computeNs).toBeCloseTo(80 * 0.7e6, 0)
    expect(costFrom).toBe('preset sn740')
  })

  test('predicts a first token close to later ones, and passes bound by slow checksums', () => {
    const budget = { vramBytes: 24 * LAYER_BYTES, ramBytes: 32 * LAYER_BYTES }
    const checkNs = (lengthBytes: number) => lengthBytes / 2
    const { predicted } = planResidence(layersOf(80), options({ tier: 1, budget, checkNs }))
    const { firstNs, passNs, gpuLinkNs, verified } = predicted
    expect(passNs).toBe(gpuLinkNs)
    expect(passNs).toBeCloseTo(60 * 103e6, 0)
    // Before the last copy ends, the first one has waited for at most one layer.
    expect(firstNs).toBeGreaterThanOrEqual(passNs)
    expect(firstNs).toBeLessThan(passNs + 2 * 103e6)
    // 30 layers of 350.9 ms at 2 GB/s.
    expect(verified).toMatchObject({ boundBy: 'checks', passNs: predicted.checkNs })
    expect(verified!.passNs).toBeCloseTo(30 * (LAYER_BYTES / 2), 0)
    expect(verified!.firstNs).toBeGreaterThanOrEqual(verified!.passNs)
    expect(verified!.sustained!.afterNs).toBeGreaterThan(predicted.sustained!.afterNs)
  })

  test('predicts the same later tokens with checksums that are faster than the drive', () => {
    const { passNs, sustained, verified } = planResidence(
      layersOf(80),
      options({ checkNs: (lengthBytes) => lengthBytes / 20 }),
    ).predicted
    expect(verified).toMatchObject({ passNs, sustained, boundBy: 'gpu link' })
  })

  test('predicts when the drive throttles, and the time of a pass then: 30 reads of 314 ms', () => {
    const { sustained } = planResidence(layersOf(80), options({})).predicted
    expect(sustained!.passNs / 30).toBeGreaterThan(312e6)
    expect(sustained!.passNs / 30).toBeLessThan(316e6)
    // At its full rate the drive throttles after 53 s; here it is idle for some of the time.
    expect(sustained!.afterNs).toBeGreaterThan(53e9)
    expect(sustained!.afterNs).toBeLessThan(60e9)
  })

  test('uses read slots in host memory and copy slots on the GPU in tier 1', () => {
    const budget = { vramBytes: 24 * LAYER_BYTES, ramBytes: 32 * LAYER_BYTES }
    const plan = planResidence(layersOf(80), options({ tier: 1, budget }))
    expect([plan.vram.layers, plan.ram.layers]).toEqual([20, 30])
    expect(plan.slots).toMatchObject({ copies: 4, drive: 2, vramBytes: 4 * LAYER_BYTES, ramBytes: 2 * LAYER_BYTES })
    expect(plan.copiedBytes).toBe(60 * LAYER_BYTES)
  })
})

test('planResidence keeps all layers on the GPU without slots if they fit', () => {
  const plan = planResidence(layersOf(10), options({}))
  expect(plan.layers.every(({ residence }) => residence === 'vram')).toBe(true)
  expect(plan.slots).toMatchObject({ copies: 0, drive: 0, vramBytes: 0, ramBytes: 0 })
  expect(plan.predicted).toMatchObject({ passNs: 0, boundBy: 'nothing', sustained: undefined })
  expect(plan.vram.unusedBytes).toBe(14 * LAYER_BYTES)
})

test('planResidence leaves host memory unused if it does not make passes faster', () => {
  // The drive is faster than the link of the GPU.
  const cost: CostModel = { ...rig, readNs: (bytes) => bytes / 50 }
  const { predicted, ram } = planResidence(layersOf(80), options({ cost }))
  expect(ram).toMatchObject({ layers: 0, slotBytes: 0, unusedBytes: 30 * LAYER_BYTES })
  expect(predicted.boundBy).toBe('gpu link')
})

describe('a budget that is too small', () => {
  test('a budget that is too small is rejected with the minimum in binary units', () => {
    const budget = { vramBytes: 2 ** 30, ramBytes: 0 }
    const plan = () => planResidence(layersOf(80), options({ budget, tier: 1 }))
    expect(plan).toThrow(BudgetInfeasibleError)
    expect(plan).toThrow(
      'The layers do not fit into this budget\n  GPU memory: 2.61 GiB at least, 1 GiB given\n' +
        '  host memory: 1.31 GiB at least, 0 B given\n' +
        '  each slot takes 669.4 MiB, as the longest layer does: "blk.0"\n  Try: raise the budget',
    )
    try {
      plan()
    } catch (error) {
      expect(error).toMatchObject({
        code: 'ERR_GPUNVME_BUDGET_INFEASIBLE',
        category: 'infeasible',
        minimum: { vramBytes: 4 * LAYER_BYTES, ramBytes: 2 * LAYER_BYTES },
      })
    }
  })

  test('a budget that suffices with fewer slots is rejected with their numbers', () => {
    const budget = { vramBytes: 3 * LAYER_BYTES, ramBytes: 2 * LAYER_BYTES }
    const slots =
      'use { slots: { copies: 2, drive: 2 } }, or raise the budget, or split layers of several tensors with fitLayers()'
    expect(() => planResidence(layersOf(80), options({ budget, tier: 1 }))).toThrow(slots)
    const fewer = { copies: 2, drive: 2 }
    expect(planResidence(layersOf(80), options({ budget, tier: 1, slots: fewer })).slots).toMatchObject(fewer)
  })

  test('a budget that is too small is reported with the smallest budget that works', () => {
    fc.assert(
      fc.property(models, fc.constantFrom<1 | 2>(1, 2), (layers, tier) => {
        const budget = { vramBytes: 0, ramBytes: 0 }
        let minimum = budget
        try {
          planResidence(layers, options({ tier, budget }))
        } catch (error) {
          minimum = (error as BudgetInfeasibleError).minimum
        }
        expect(minimum.vramBytes).toBeGreaterThan(0)
        const plan = planResidence(layers, options({ tier, budget: minimum }))
        expect(plan.vram.unusedBytes).toBeGreaterThanOrEqual(0)
        const less = { ...minimum, vramBytes: minimum.vramBytes - 1 }
        if (layers.length > 4)
          expect(() => planResidence(layers, options({ tier, budget: less }))).toThrow(/do not fit/)
      }),
      { numRuns: 100 },
    )
  })
})

const models = fc
  .array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 40 })
  .map((pages) => pages.map((count, index) => ({ name: `blk.${index}`, lengthBytes: count * 4096 })))

test('every plan places all layers within its budget', () => {
  const budgets = fc.record({ vramBytes: fc.nat(40_000_000), ramBytes: fc.nat(40_000_000) })
  fc.assert(
    fc.property(models, budgets, fc.constantFrom<1 | 2>(1, 2), fc.boolean(), (layers, budget, tier, hasHeat) => {
      const throttle = { factor: 2, limitBytes: 1e9, recoveredBytes: 5e8, coolingBytesPerSecond: 1e8 }
      const cost: CostModel = { readNs: (b) => b, copyNs: (b) => b / 2, ...(hasHeat && { throttle }) }
      const make = (given: typeof budget) => planResidence(layers, options({ tier, budget: given, cost }))
      let plan
      try {
        plan = make(budget)
      } catch (error) {
        expect(error).toBeInstanceOf(BudgetInfeasibleError)
        return
      }
      expect(plan.layers.map(({ name }) => name)).toEqual(layers.map(({ name }) => name))
      for (const place of ['vram', 'ram'] as const) {
        const { layerBytes, slotBytes, unusedBytes } = plan[place]
        expect(unusedBytes).toBeGreaterThanOrEqual(0)
        expect(layerBytes + slotBytes + unusedBytes).toBe(budget[`${place}Bytes`])
      }
      const { firstNs, passNs, driveNs, gpuLinkNs = 0 } = plan.predicted
      expect(firstNs).toBeGreaterThanOrEqual(passNs)
      expect(passNs).toBe(Math.max(driveNs, gpuLinkNs))
    }),
    { numRuns: 200 },
  )
})

describe('replan', () => {
  const fast: CostModel = { readNs: (bytes) => bytes * 0.1, copyNs: rig.copyNs!.bind(rig) }
  const plan = planResidence(layersOf(80), options({ cost: fast }))

  const hot = { readNsPerByte: 314e6 / LAYER_BYTES }

  test('uses spare host memory, and keeps resident layers in place', () => {
    // With this drive, 10 layers in host memory are enough.
    const cost: CostModel = { ...fast, readNs: (bytes) => bytes * ((60 * 103e6) / (50 * LAYER_BYTES)) }
    const before = planResidence(layersOf(80), options({ cost }))
    expect([before.vram.layers, before.ram.layers]).toEqual([20, 10])
    const next = replan(before, hot)
    expect(next.costFrom).toBe('measured')
    expect([next.vram.layers, next.ram.layers]).toEqual([20, 30])
    for (const layer of before.layers) if (layer.residence !== 'nvme') expect(next.layers).toContainEqual(layer)
    expect(next.predicted.passNs).toBeCloseTo(30 * 314e6, 0)
  })

  test('replaces layers on the GPU by copy slots if passes become faster', () => {
    expect([plan.vram.layers, plan.ram.layers]).toEqual([22, 0])
    const next = replan(plan, hot)
    expect([next.vram.layers, next.ram.layers]).toEqual([20, 30])
    expect(next.vram.unusedBytes).toBeGreaterThanOrEqual(0)
  })

  test('keeps all layers in place if no change makes passes faster', () => {
    const next = replan(plan, { readNsPerByte: 0.01 })
    expect(next.layers).toEqual(plan.layers)
    expect(next.predicted.driveNs).toBeLessThan(plan.predicted.driveNs)
    expect(() => replan(plan, { readNsPerByte: NaN })).toThrow('readNsPerByte: expected a number above 0, got NaN')
  })
})

test.each([
  ['no layers', [], {}, 'layers: expected at least one'],
  ['a negative length', layersOf(1, -1), {}, "expected an integer number of bytes for 'blk.0', got -1"],
  ['a repeated name', [...layersOf(1), ...layersOf(1)], {}, "expected each name once, got 'blk.0' twice"],
  ['a negative budget', layersOf(1), { budget: { vramBytes: -1, ramBytes: 0 } }, 'budget.vramBytes: expected 0'],
  ['one slot', layersOf(1), { slots: { drive: 1 } }, 'slots.drive: expected 2 or more'],
  ['an unknown tier', layersOf(1), { tier: 3 as never }, 'tier: expected 1 or 2, got 3'],
  ['negative time', layersOf(1), { computeNs: -1 }, 'computeNs: expected 0 or more'],
])('planResidence rejects %s', (_, layers, change, message) => {
  expect(() => planResidence(layers, options(change))).toThrow(message)
})

test('planResidence supports 200,000 layers', () => {
  const budget = { vramBytes: 2 ** 20, ramBytes: 2 ** 20 }
  const { layers, vram, ram } = planResidence(layersOf(200_000, 4096), options({ budget }))
  expect(layers).toHaveLength(200_000)
  expect(vram.layers + ram.layers).toBeLessThan(512)
})
