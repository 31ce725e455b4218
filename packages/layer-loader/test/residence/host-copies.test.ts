import { expect, test } from 'vitest'
import {
  hostCopies,
  hostLayers,
  openResidence,
  planResidence,
  type HostCopyMemory,
  type ResidentModel,
} from '../../src/residence/index.js'
import type { Model } from '../../src/formats/index.js'
import { hostMemory } from '../host-memory.js'
import { tensorBytes } from '../models.js'
import { cost, LAYER_BYTES, machine } from './machine.js'

test('a model is computed on by the processor, in a budget of host memory instead of a GPU’s', async () => {
  const { model: file, source, layers } = await machine()
  const budget = { vramBytes: 5 * LAYER_BYTES, ramBytes: 4 * LAYER_BYTES }
  const plan = planResidence(layers, { budget, tier: 1, cost, costFrom: 'measured' })
  const copies = hostCopies()
  const model = await openResidence(plan, { source, copies })
  for (let pass = 0; pass < 2; pass++) await comparePass(model, file)
  await model.close()
}, 60_000)

test('without a copy engine, layers are computed on where the controller wrote them, and every byte is verified', async () => {
  const { model: file, source, layers } = await machine()
  const budget = { vramBytes: 5 * LAYER_BYTES, ramBytes: 0 }
  const plan = planResidence(layers, { budget, tier: 2, cost, costFrom: 'measured' })
  expect(new Set(plan.layers.map(({ residence }) => residence))).toEqual(new Set(['vram', 'nvme']))
  const rooms: string[] = []
  const watched = hostLayers({
    ...source,
    open(room) {
      rooms.push(room.where)
      return source.open(room)
    },
  })
  await using model = await openResidence(plan, { source: watched })
  for (let pass = 0; pass < 2; pass++) await comparePass(model, file)
  expect(new Set(rooms)).toEqual(new Set(['host']))
}, 60_000)

test('layers that stay are read two at a time: one is checked while the next is read', async () => {
  const { source, layers } = await machine()
  const budget = { vramBytes: 64 << 20, ramBytes: 0 }
  const plan = planResidence(layers, { budget, tier: 2, cost, costFrom: 'measured' })
  let [underWay, most] = [0, 0]
  const watched = hostLayers({
    ...source,
    open(room) {
      const reader = source.open(room)
      return {
        async load(...call) {
          most = Math.max(most, ++underWay)
          try {
            return await reader.load(...call)
          } finally {
            underWay--
          }
        },
        close: () => reader.close(),
      }
    },
  })
  await using model = await openResidence(plan, { source: watched })
  expect([model.plan.vram.layers, most]).toEqual([layers.length, 2])
}, 60_000)

async function comparePass(model: ResidentModel, file: Model): Promise<void> {
  for await (using layer of model.pass()) {
    expect(layer.verified).toBe(true)
    const memory = layer.memory as HostCopyMemory
    for (const { name, offsetBytes, lengthBytes } of layer.tensors) {
      const found = memory.range(offsetBytes, lengthBytes)
      expect(Buffer.compare(found, await tensorBytes(file, name))).toBe(0)
    }
  }
}

test('copies arrive in the order of the calls, and only in memory that is the engine’s', async () => {
  const copies = hostCopies()
  const to = copies.alloc(8 << 20)
  const of = (byte: number, lengthBytes: number) => hostMemory(new Uint8Array(lengthBytes).fill(byte))
  await Promise.all([copies.copy(of(1, 8 << 20), 0, to, 0, 8 << 20), copies.copy(of(2, 10), 2, to, 7, 5)])
  expect([...to.range(5, 9)]).toEqual([1, 1, 2, 2, 2, 2, 2, 1, 1])
  expect(() => copies.copy(of(1, 10), 6, to, 0, 5)).toThrow(RangeError)
  expect(() => copies.copy(of(1, 10), 0, to, (8 << 20) - 1, 2)).toThrow(RangeError)
  expect(() => copies.copy(of(1, 10), 0, { ...to }, 0, 1)).toThrow('expected memory of this copy engine')
  to.free()
  expect(() => copies.copy(of(1, 10), 0, to, 0, 1)).toThrow(TypeError)
})
