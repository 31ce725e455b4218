import { expect, test } from 'vitest'
import {
  hostCopies,
  openResidence,
  planResidence,
  type HostCopyMemory,
  type ResidentModel,
} from '../../src/residence/index.js'
import type { Model } from '../../src/formats/index.js'
import { hostMemory } from '../host-memory.js'
import { tensorBytes } from '../models.js'
import { cost, LAYER_BYTES, machine } from './machine.js'

test('hostCopies keeps layers in host memory instead of GPU memory', async () => {
  const { model: file, image, layers } = await machine()
  const budget = { vramBytes: 5 * LAYER_BYTES, ramBytes: 4 * LAYER_BYTES }
  const plan = planResidence(layers, { budget, tier: 1, cost, costFrom: 'measured' })
  const model = await openResidence(image, plan, { copies: hostCopies() })
  for (let pass = 0; pass < 2; pass++) await comparePass(model, file)
  await model.close()
}, 60_000)

test('withoutGpu leases verified layers in host memory without a copy engine', async () => {
  const { model: file, image, layers } = await machine()
  const budget = { vramBytes: 5 * LAYER_BYTES, ramBytes: 0 }
  const plan = planResidence(layers, { budget, tier: 2, cost, costFrom: 'measured' })
  expect(new Set(plan.layers.map(({ residence }) => residence))).toEqual(new Set(['vram', 'nvme']))
  await using model = await openResidence(image, plan, { withoutGpu: true })
  for (let pass = 0; pass < 2; pass++) await comparePass(model, file)
}, 60_000)

test('a plan of tier 2 with host memory for GPU memory is rejected, and suggests withoutGpu', async () => {
  const { simulation, image, layers } = await machine()
  const plan = planResidence(layers, {
    budget: { vramBytes: 64 << 20, ramBytes: 0 },
    tier: 2,
    cost,
    costFrom: 'measured',
  })
  const { dma } = simulation.transport
  const onGpu = { dma: { alloc: (lengthBytes: number) => dma.alloc(lengthBytes) } }
  await expect(openResidence(image, plan, { onGpu })).rejects.toThrow('without a GPU, pass { withoutGpu: true }')
})

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

test('copies are executed in the order of calls, and only to memory of the same engine', async () => {
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
