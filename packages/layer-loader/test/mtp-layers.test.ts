import { expect, test } from 'vitest'
import { openImage, planStream, streamLayers } from '../src/index.js'
import { pack } from '../src/image/index.js'
import { layerSizes } from '../src/residence/index.js'
import { MemoryNamespace } from './memory-namespace.js'
import { smallModel } from './models.js'

test('a stream omits MTP layers unless they are requested', async () => {
  const model = await smallModel([
    ['embed.weight', 16],
    ['layers.0.attn.wo.weight', 16],
    ['head.weight', 16],
    ['mtp.0.attn.wo.weight', 20_000],
  ])
  const memory = new MemoryNamespace()
  await pack(model, memory.namespace)
  const packed = (await openImage(memory.namespace)).model()
  expect(packed.layers).toEqual(['embedding', 'layer 0', 'output', 'mtp layer 0'])

  const pass = ['embedding', 'layer 0', 'output']
  expect(planStream(packed)).toMatchObject({ layers: pass, slotBytes: 4096 })
  expect(layerSizes(packed).map(({ name }) => name)).toEqual(pass)
  const names: string[] = []
  for await (using lease of streamLayers(packed)) names.push(lease.name)
  expect(names).toEqual(pass)
  for await (using lease of streamLayers(packed, { layers: ['mtp layer 0'] })) {
    expect(lease.tensors.map(({ name }) => name)).toEqual(['mtp.0.attn.wo.weight'])
  }
})
