import { expect, test } from 'vitest'
import { fitLayers, layerSizes, planResidence } from '../../src/residence/index.js'
import { smallModel } from '../models.js'
import { cost, isWhole, machine } from './machine.js'

const MIB = 1 << 20
const LAYERS = 3

test.each([
  [1, { vramBytes: 16 * MIB, ramBytes: 8 * MIB }],
  [2, { vramBytes: 8 * MIB, ramBytes: 0 }],
] as const)(
  'tier %i: a model of which no two layers fit into memory is provided in parts, verified and complete in every pass',
  async (tier, budget) => {
    const tensors = Array.from({ length: LAYERS * 4 }, (_, index) => {
      return [`model.layers.${Math.floor(index / 4)}.t${index % 4}.weight`, 2 * MIB] as const
    })
    const rig = await machine({ model: smallModel(tensors) })
    const options = { budget, tier } as const
    const fitted = fitLayers(rig.image, options)
    const plan = planResidence(layerSizes(fitted), { ...options, cost, costFrom: 'measured' })
    expect(() => planResidence(rig.layers, { ...options, cost, costFrom: 'measured' })).toThrow('do not fit')
    await using model = await rig.open(plan, {}, fitted)
    for (let pass = 0; pass < 2; pass++) {
      const seen: unknown[] = []
      for await (using lease of model.pass()) {
        expect(await isWhole(lease, rig.model)).toBe(true)
        seen.push([lease.name, lease.part?.extent, lease.part?.index, lease.tensors.map(({ name }) => name.slice(13))])
      }
      expect(seen).toEqual(
        [0, 1, 2].flatMap((layer) => [
          [`layer ${layer} part 1 of 2`, `layer ${layer}`, 0, [`${layer}.t0.weight`, `${layer}.t1.weight`]],
          [`layer ${layer} part 2 of 2`, `layer ${layer}`, 1, [`${layer}.t2.weight`, `${layer}.t3.weight`]],
        ]),
      )
    }
    const { vram, ram } = model.plan
    expect(vram.slotBytes + vram.layerBytes).toBeLessThanOrEqual(budget.vramBytes)
    expect(ram.slotBytes + ram.layerBytes).toBeLessThanOrEqual(budget.ramBytes)
  },
)
