import type { StoredModel } from '@gpunvme/layer-loader'
import type { BlockStore } from '@gpunvme/layer-loader/store'
import { expect, test } from 'vitest'
import type { OpenedTransport } from '../drive/opened-transport.js'
import { place } from './placement.js'

const MIB = 1024 * 1024

/** A model of three layers of this length, which is never read. */
function modelOf(lengthBytes: number): StoredModel {
  const fullRange = { storeBytes: 0, lengthBytes }
  return {
    name: 'model',
    layers: ['layer 0', 'layer 1', 'layer 2'],
    hasChecksums: false,
    store: { blockBytes: 512, optimalReadBytes: MIB } as BlockStore,
    layer: (name) => ({ name, pieces: [], fullRange, checks: [] }),
  } as Pick<StoredModel, 'name' | 'layers' | 'hasChecksums' | 'store' | 'layer'> as StoredModel
}

/** Places such a model in 1 MiB of host memory. */
function placeOn(time: OpenedTransport['time'], lengthBytes: number): Promise<unknown> {
  return place(modelOf(lengthBytes), [{ name: 'sim', time } as OpenedTransport], {
    target: { name: 'host memory' } as never,
    options: { ram: MIB },
    tier: { tier: 0 } as never,
    reading: { verify: 'off' },
  })
}

test('slots that exceed the memory of a simulated drive in real time: advises against --real-time, not for more --ram', async () => {
  await expect(placeOn('wall', 3 * 2 ** 30)).rejects.toMatchObject({
    code: 'ERR_GPUNVME_REAL_TIME_MEMORY',
    category: 'infeasible',
    facts: [
      expect.stringMatching(/^host memory: 6 GiB at least, the drive has /),
      'the longest layer takes 3 GiB: "layer 0"',
    ],
    next: 'omit --real-time',
  })
})

test.each([
  ['slots that fit into the drive but not into the budget', 'wall', 8 * MIB],
  ['slots of any length on a drive in modelled time', 'modelled', 3 * 2 ** 30],
] as const)('%s: states the budget that is needed', async (_, time, lengthBytes) => {
  await expect(placeOn(time, lengthBytes)).rejects.toMatchObject({
    code: 'ERR_GPUNVME_BUDGET_INFEASIBLE',
    minimum: { ramBytes: 2 * lengthBytes },
  })
})
