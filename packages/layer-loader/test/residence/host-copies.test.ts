import { expect, test } from 'vitest'
import { hostCopies, openResidence, planResidence, type HostCopyMemory } from '../../src/index.js'
import { hostMemory } from '../host-memory.js'
import { tensorBytes } from '../models.js'
import { cost, LAYER_BYTES, machine } from './machine.js'

test('a model is computed on by the processor, in a budget of host memory instead of a GPU’s', async () => {
  const { model: file, source, layers } = await machine()
  const budget = { vramBytes: 5 * LAYER_BYTES, ramBytes: 4 * LAYER_BYTES }
  const plan = planResidence(layers, { budget, tier: 1, cost, costFrom: 'measured' })
  const copies = hostCopies()
  const model = await openResidence(plan, { source, copies })
  for (let pass = 0; pass < 2; pass++) {
    for await (const layer of model.pass()) {
      const { memory, tensors } = layer
      const bytes = (memory as HostCopyMemory).bytes
      for (const { name, offsetBytes, lengthBytes } of tensors) {
        const found = bytes.subarray(offsetBytes, offsetBytes + lengthBytes)
        expect(Buffer.compare(found, await tensorBytes(file, name))).toBe(0)
      }
      layer.release()
    }
  }
  await model.close()
}, 60_000)

test('copies arrive in the order of the calls, and only in memory that is the engine’s', async () => {
  const copies = hostCopies()
  const to = copies.alloc(8 << 20)
  const of = (byte: number, lengthBytes: number) => hostMemory(new Uint8Array(lengthBytes).fill(byte))
  await Promise.all([copies.copy(of(1, 8 << 20), 0, to, 0, 8 << 20), copies.copy(of(2, 10), 2, to, 7, 5)])
  expect([...to.bytes.subarray(5, 14)]).toEqual([1, 1, 2, 2, 2, 2, 2, 1, 1])
  expect(() => copies.copy(of(1, 10), 6, to, 0, 5)).toThrow(RangeError)
  expect(() => copies.copy(of(1, 10), 0, to, (8 << 20) - 1, 2)).toThrow(RangeError)
  expect(() => copies.copy(of(1, 10), 0, { ...to }, 0, 1)).toThrow('expected memory of this copy engine')
  to.free()
  expect(() => copies.copy(of(1, 10), 0, to, 0, 1)).toThrow(TypeError)
})
