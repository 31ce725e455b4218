import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LoadableModel, StoredPiece } from '../load/extent.js'
import type { BlockStore } from '../store/store.js'
import { BudgetInfeasibleError } from './budget-infeasible.js'
import { fitLayers, fitLayerSizes, type FitOptions } from './fit-layers.js'
import { slotCounts } from './lay-out.js'
import { layerSizes } from './layer-sizes.js'
import { planResidence, type ResidencePlan } from './plan.js'
import type { LayerSize } from './predict.js'

const PAGE_BYTES = 4096

/** Layers of tensors with these lengths, in pages. */
function layersOf(...layers: readonly (readonly number[])[]) {
  return layers.map((pages, layer) => ({
    name: `layer ${layer}`,
    tensors: pages.map((count, index) => ({
      name: `blk.${layer}.${index}`,
      dtype: 'U8',
      lengthBytes: count * PAGE_BYTES,
      shape: [count * PAGE_BYTES],
    })),
  }))
}

const optionsOf = (vramPages: number, ramPages: number, tier: 1 | 2 = 2): FitOptions => ({
  budget: { vramBytes: vramPages * PAGE_BYTES, ramBytes: ramPages * PAGE_BYTES },
  tier,
})

const planOf = (layers: readonly LayerSize[], options: FitOptions): ResidencePlan =>
  planResidence(layers, { ...options, cost: { readNs: (bytes) => bytes }, costFrom: 'guess' })

/** These layers as a model on a store of pages, one tensor after the other. */
function modelOf(layers: ReturnType<typeof layersOf>): LoadableModel {
  let storeBytes = 0
  const extents = layers.map(({ name, tensors }) => {
    const pieces = tensors.map(({ lengthBytes, ...tensor }): StoredPiece => {
      const runs = [{ storeBytes, lengthBytes }]
      storeBytes += lengthBytes
      return { ...tensor, lengthBytes, runs }
    })
    return [name, { name, pieces, checks: [] }] as const
  })
  const byName = new Map<string | number, (typeof extents)[number][1]>(extents)
  const store = { blockBytes: PAGE_BYTES } as BlockStore
  return {
    name: 'model',
    store,
    hasChecksums: false,
    layers: [...byName.keys()] as string[],
    layer: (n) => byName.get(n)!,
  }
}

test('layers that can be placed are not split', () => {
  const model = modelOf(layersOf([1, 1], [1, 1]))
  expect(fitLayers(model, optionsOf(4, 0), { verify: 'off' })).toBe(model)
  // Even if a slot is shorter than a layer: no slot is needed.
  expect(fitLayers(modelOf(layersOf([1, 2])), optionsOf(3, 0), { verify: 'off' }).layers).toEqual(['layer 0'])
})

test('layers that exceed a slot are replaced by parts that fill it; others stay', () => {
  const layers = layersOf([1, 1, 1], [1], [2, 1])
  const options = optionsOf(4, 0)
  const fitted = fitLayers(modelOf(layers), options, { verify: 'off' })
  const expected = [
    { name: 'layer 0 part 1 of 2', pages: 2, part: { extent: 'layer 0', index: 0, count: 2 } },
    { name: 'layer 0 part 2 of 2', pages: 1, part: { extent: 'layer 0', index: 1, count: 2 } },
    { name: 'layer 1', pages: 1 },
    { name: 'layer 2 part 1 of 2', pages: 2, part: { extent: 'layer 2', index: 0, count: 2 } },
    { name: 'layer 2 part 2 of 2', pages: 1, part: { extent: 'layer 2', index: 1, count: 2 } },
  ].map(({ pages, ...size }) => ({ ...size, lengthBytes: pages * PAGE_BYTES }))
  expect(fitted.layers).toEqual(expected.map(({ name }) => name))
  expect(layerSizes(fitted, { verify: 'off' })).toEqual(expected)
  expect(fitLayerSizes({ layers }, options)).toEqual(expected)
  expect(planOf(layerSizes(fitted, { verify: 'off' }), options).layers[0]).toMatchObject(expected[0]!)
  // A part is found by its name, a complete layer by its own.
  expect(fitted.layer('layer 0 part 2 of 2').pieces.map(({ name }) => name)).toEqual(['blk.0.2'])
  expect(fitted.layer('layer 0').pieces).toHaveLength(3)
})

test('layers of multi-token prediction are neither placed nor split', () => {
  const [first, mtp] = layersOf([1, 1], [9, 9])
  const layers = [first!, { ...mtp!, name: 'mtp layer 0' }]
  expect(fitLayerSizes({ layers }, optionsOf(2, 0)).map(({ name }) => name)).toEqual(['layer 0'])
})

test.each([1, 2] as const)('tier %i: parts can be placed if the longest tensor fits into a slot', (tier) => {
  const pages = fc.array(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 }), {
    minLength: 1,
    maxLength: 8,
  })
  fc.assert(
    fc.property(pages, fc.nat(400), fc.nat(200), (lengths, vramPages, ramPages) => {
      const layers = layersOf(...lengths)
      const options = optionsOf(vramPages, ramPages, tier)
      const sizes = fitLayerSizes({ layers }, options)
      // Nothing is lost or moved: the tensors of the parts of a layer add up to it.
      const bytes = new Map<string, number>()
      for (const { name, part, lengthBytes } of sizes) {
        const of = part?.extent ?? name
        bytes.set(of, (bytes.get(of) ?? 0) + lengthBytes)
      }
      expect([...bytes]).toEqual(
        lengths.map((each, layer) => [`layer ${layer}`, each.reduce((sum, count) => sum + count) * PAGE_BYTES]),
      )
      const longest = Math.max(...lengths.flat())
      const { copies, drive } = slotCounts(options)
      const slots = tier === 1 ? { vram: copies, ram: drive } : { vram: drive, ram: 0 }
      if (vramPages >= slots.vram * longest && ramPages >= slots.ram * longest) {
        expect(() => planOf(sizes, options)).not.toThrow()
        return
      }
      try {
        planOf(sizes, options)
      } catch (error) {
        expect(error).toBeInstanceOf(BudgetInfeasibleError)
        // The stated minimum is enough for the same parts.
        const { minimum } = error as BudgetInfeasibleError
        expect(() => planOf(sizes, { ...options, budget: minimum })).not.toThrow()
      }
    }),
  )
})

test('a tensor that exceeds a slot: the error names its part and what it needs', () => {
  const layers = layersOf([1, 5, 1])
  const plan = () => planOf(fitLayerSizes({ layers }, optionsOf(6, 0)), optionsOf(6, 0))
  expect(plan).toThrow('GPU memory: 28 KiB at least, 24 KiB given')
  expect(plan).not.toThrow('fitLayers')
})
