import { describe, expect, test } from 'vitest'
import { BudgetInfeasibleError } from './budget-infeasible.js'
import { expertLayers, type ExpertLayer } from './expert-sizes.js'
import { planExperts, type ExpertPlanOptions } from './plan-experts.js'

const MIB = 1024 * 1024

/** Four layers with 8 experts of 16 MiB and 8 MiB of dense tensors, an embedding and an output. */
const layers: readonly ExpertLayer[] = [
  { name: 'embedding', lengthBytes: 32 * MIB, experts: 0, expertBytes: 0, denseBytes: 32 * MIB },
  ...Array.from({ length: 4 }, (_, index) => {
    const sizes = { lengthBytes: 136 * MIB, experts: 8, expertBytes: 16 * MIB, denseBytes: 8 * MIB }
    return { name: `layer ${index}`, ...sizes }
  }),
  { name: 'output', lengthBytes: 32 * MIB, experts: 0, expertBytes: 0, denseBytes: 32 * MIB },
]

/** 1 GiB/s to read, 4 GiB/s to copy, no latency: 15.625 ms and 3.90625 ms for an expert. */
const NS_PER_BYTE = 1e9 / 2 ** 30
const cost = { readNs: (bytes: number) => bytes * NS_PER_BYTE, copyNs: (bytes: number) => (bytes * NS_PER_BYTE) / 4 }
const EXPERT_NS = 15.625e6

const options = (change: Partial<ExpertPlanOptions> = {}): ExpertPlanOptions => ({
  budget: { vramBytes: 256 * MIB, ramBytes: 256 * MIB },
  tier: 2,
  cost,
  costFrom: 'guess',
  expertsUsed: 2,
  ...change,
})

describe('planExperts for a token with 2 of 8 experts in 4 layers', () => {
  test('reads 8 experts in series with an empty cache, and keeps dense parts on the GPU', () => {
    const plan = planExperts(layers, options())
    expect(plan).toMatchObject({ experts: 32, expertsBytes: 512 * MIB, hitRate: 0 })
    expect([plan.tokenBytes, plan.readBytes]).toEqual([128 * MIB, 128 * MIB])
    expect(plan.dense.vram).toMatchObject({ layers: 6, layerBytes: 96 * MIB })
    expect(plan.slots).toEqual({ vramBytes: 32 * MIB, ramBytes: 0 })
    expect(plan.cache).toEqual({ vramBytes: 128 * MIB, ramBytes: 256 * MIB, experts: 24 })
    expect(plan.predicted).toMatchObject({ boundBy: 'drive', sustained: undefined, verified: undefined })
    expect(plan.predicted.passNs).toBeCloseTo(8 * EXPERT_NS, 0)
    expect(plan.predicted.firstNs).toBeCloseTo(8 * EXPERT_NS, 0)
  })

  test('tier 1 does not overlap the copy of the last expert of each layer', () => {
    const { predicted, slots } = planExperts(layers, options({ tier: 1 }))
    expect(slots).toEqual({ vramBytes: 32 * MIB, ramBytes: 32 * MIB })
    expect(predicted.passNs).toBeCloseTo(8 * EXPERT_NS + (4 * EXPERT_NS) / 4, 0)
  })

  test('subtracts hits from the reads of all tokens but the first', () => {
    const { predicted, readBytes, tokenBytes } = planExperts(layers, options({ hitRate: 0.75 }))
    expect([readBytes, tokenBytes]).toEqual([32 * MIB, 128 * MIB])
    expect(predicted.passNs).toBeCloseTo(2 * EXPERT_NS, 0)
    expect(predicted.firstNs).toBeCloseTo(8 * EXPERT_NS, 0)
    expect(predicted.driveNs).toBeCloseTo(2 * EXPERT_NS, 0)
  })

  test('predicts no transfers if all experts fit into the cache on the GPU', () => {
    const { predicted } = planExperts(
      layers,
      options({ hitRate: 1, budget: { vramBytes: 2 ** 40, ramBytes: 2 ** 40 } }),
    )
    expect(predicted).toMatchObject({ driveNs: 0, gpuLinkNs: 0, boundBy: 'nothing' })
  })

  test('counts hits in host memory as transfers over the link of the GPU', () => {
    // Two thirds of the cache are in host memory.
    const { predicted } = planExperts(layers, options({ hitRate: 1 }))
    expect(predicted).toMatchObject({ driveNs: 0, boundBy: 'gpu link' })
    expect(predicted.passNs).toBeCloseTo((8 * EXPERT_NS * (2 / 3)) / 4, 0)
  })

  test('waits for the latency of the drive once a layer, unless all experts are in the cache', () => {
    const slow = { ...cost, readNs: (bytes: number, depth: number) => cost.readNs(bytes) + (depth === 1 ? 1e6 : 0) }
    const timeAt = (hitRate: number) => planExperts(layers, options({ cost: slow, hitRate })).predicted.passNs
    expect(timeAt(0)).toBeCloseTo(8 * EXPERT_NS + 4e6, 0)
    expect(timeAt(0.5)).toBeCloseTo(4 * EXPERT_NS + 4 * 0.75 * 1e6, 0)
  })

  test('checksums are the bottleneck with verification if they are slower than the drive', () => {
    const { verified, checkNs } = planExperts(
      layers,
      options({ checkNs: (bytes) => 3 * bytes * NS_PER_BYTE }),
    ).predicted
    expect(checkNs).toBeCloseTo(24 * EXPERT_NS, 0)
    expect(verified).toMatchObject({ boundBy: 'checks' })
    expect(verified!.passNs).toBeCloseTo(24 * EXPERT_NS, 0)
  })

  test('takes longer once the drive throttles', () => {
    const throttle = { factor: 2, limitBytes: 2 ** 30, recoveredBytes: 0, coolingBytesPerSecond: 0 }
    const { sustained } = planExperts(layers, options({ cost: { ...cost, throttle } })).predicted
    expect(sustained!.afterNs).toBeCloseTo(1e9, 0)
    expect(sustained!.passNs).toBeCloseTo(16 * EXPERT_NS, 0)
  })

  test('reads dense layers in each token if they do not fit', () => {
    const plan = planExperts(layers, options({ budget: { vramBytes: 112 * MIB, ramBytes: 0 } }))
    expect(plan.dense.readBytes).toBeGreaterThan(0)
    expect(plan.readBytes).toBe(128 * MIB + plan.dense.readBytes)
  })
})

test('planExperts rejects a budget without room for slots, and reports the minimum', () => {
  const minimumFor = (tier: 1 | 2, budget: { vramBytes: number; ramBytes: number }) => {
    try {
      planExperts(layers, options({ tier, budget }))
    } catch (error) {
      return (error as BudgetInfeasibleError).minimum
    }
    return undefined
  }
  for (const tier of [1, 2] as const) {
    const minimum = minimumFor(tier, { vramBytes: 0, ramBytes: 0 })!
    expect(minimum.vramBytes).toBeGreaterThan(32 * MIB)
    expect(minimumFor(tier, minimum)).toBeUndefined()
    expect(minimumFor(tier, { ...minimum, vramBytes: minimum.vramBytes - 4096 })).toEqual(minimum)
  }
  expect(minimumFor(1, { vramBytes: 256 * MIB, ramBytes: 0 })!.ramBytes).toBeGreaterThan(32 * MIB)
})

test('a budget without room for slots is refused with the memory of slots for experts', () => {
  const planIn = (tier: 1 | 2) => () => planExperts(layers, options({ tier, budget: { vramBytes: 0, ramBytes: 0 } }))
  expect(planIn(1)).toThrow('\n  this includes slots for experts: 32 MiB of GPU memory, 32 MiB of host memory\n')
  expect(planIn(2)).toThrow('\n  this includes slots for experts: 32 MiB of GPU memory\n')
})

test.each([
  [{ expertsUsed: 9 }, 'expertsUsed: expected 1 to 8, got 9'],
  [{ expertsUsed: 0 }, 'expertsUsed: expected 1 to 8, got 0'],
  [{ expertsUsed: 1.5 }, 'expertsUsed: expected 1 to 8, got 1.5'],
  [{ hitRate: 1.1 }, 'hitRate: expected 0 to 1, got 1.1'],
  [{ hitRate: NaN }, 'hitRate: expected 0 to 1, got NaN'],
])('planExperts rejects %j', (change, message) => {
  expect(() => planExperts(layers, options(change))).toThrow(message)
})

test('planExperts rejects a model without experts', () => {
  expect(() => planExperts(layers.slice(0, 1), options())).toThrow('expected at least one with experts, got none')
})

describe('expertLayers', () => {
  const tensor = (name: string, shape: readonly number[], lengthBytes: number, dtype = 'BF16') => ({
    ...{ name, shape, lengthBytes, dtype },
  })

  test('counts stacked experts; the router, shared experts and scales are dense', () => {
    const tensors = [
      tensor('blk.0.attn_q.weight', [4, 4], 32),
      tensor('blk.0.ffn_gate_inp.weight', [8, 4], 64),
      tensor('blk.0.ffn_up_exps.weight', [8, 4, 4], 256),
      tensor('blk.0.ffn_down_exps.weight', [8, 4, 4], 128),
      tensor('blk.0.ffn_up_shexp.weight', [4, 4], 32),
      tensor('blk.0.ffn_up_exps.scale', [8], 16),
    ]
    expect(expertLayers({ layers: [{ name: 'layer 0', tensors }] })).toEqual([
      { name: 'layer 0', lengthBytes: 528, experts: 8, expertBytes: 48, denseBytes: 144 },
    ])
  })

  test('uses the largest of separate experts, and omits MTP layers', () => {
    const tensors = [
      tensor('model.layers.3.mlp.experts.0.up_proj.weight', [4, 4], 32),
      tensor('model.layers.3.mlp.experts.1.up_proj.weight', [4, 4], 64),
    ]
    const both = {
      layers: [
        { name: 'layer 3', tensors },
        { name: 'mtp layer 4', tensors },
      ],
    }
    expect(expertLayers(both)).toEqual([
      { name: 'layer 3', lengthBytes: 96, experts: 2, expertBytes: 64, denseBytes: 0 },
    ])
  })

  test('counts a layer as dense if its stacks do not divide into equal experts', () => {
    const uneven = [tensor('blk.0.ffn_up_exps.weight', [8, 4], 64), tensor('blk.0.ffn_down_exps.weight', [4, 4], 32)]
    const odd = [tensor('blk.1.ffn_up_exps.weight', [8, 4], 63)]
    const sizes = expertLayers({
      layers: [
        { name: 'layer 0', tensors: uneven },
        { name: 'layer 1', tensors: odd },
      ],
    })
    expect(sizes.map(({ experts, denseBytes }) => [experts, denseBytes])).toEqual([
      [0, 96],
      [0, 63],
    ])
  })

  test('adds the parts of experts that are stacked in one tensor and separate in another', () => {
    const tensors = [
      tensor('blk.0.ffn_up_exps.weight', [2, 4, 4], 64),
      tensor('blk.0.ffn_down.0.weight', [4, 4], 32),
      tensor('blk.0.ffn_down.1.weight', [4, 4], 40),
    ]
    expect(expertLayers({ layers: [{ name: 'layer 0', tensors }] })).toEqual([
      { name: 'layer 0', lengthBytes: 136, experts: 2, expertBytes: 72, denseBytes: 0 },
    ])
  })

  test('supports a header with 100,000 stacks of 65,536 experts', () => {
    const tensors = Array.from({ length: 100_000 }, (_, index) =>
      tensor(`blk.0.${index}.ffn_up_exps.weight`, [65_536, 1], 2 * 65_536),
    )
    expect(expertLayers({ layers: [{ name: 'layer 0', tensors }] })).toMatchObject([
      { experts: 65_536, expertBytes: 200_000, denseBytes: 0 },
    ])
  })
})
