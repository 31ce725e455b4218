import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Controller } from '@gpunvme/host-driver'
import { simulate } from '@gpunvme/nvme-sim'
import { expect, test } from 'vitest'
import { scratch } from '../../../test/scratch.js'
import { openModelFile, writeDemoModel, type Model } from '../src/formats/index.js'
import { pack } from '../src/image/index.js'
import {
  openImage,
  openLoader,
  openModelInFiles,
  planStream,
  streamLayers,
  type LayerStream,
  type LoaderError,
  type StreamProgress,
} from '../src/index.js'
import { MemoryNamespace } from './memory-namespace.js'
import { safetensorsFile, smallModel, tensorBytes, type TensorSize } from './models.js'
import { EXPERTS, moeModel, SLICE_BYTES } from './moe-model.js'

const MIB = 1 << 20
const folder = scratch()

/** Chunks of an image from the start of layer 0: 'a' and 'b' are in 0 to 2, 'c' in 2 to 5, and 'd' in 5 and 6. */
const TENSORS: readonly TensorSize[] = [
  ['model.embed_tokens.weight', 5000],
  ['model.layers.0.a', 2_500_000],
  ['model.layers.0.b', 777],
  ['model.layers.0.c', 3_000_000],
  ['model.layers.0.d', 1_000_000],
  ['model.layers.1.a', 4096],
  ['model.norm.weight', 64],
]

/** Consumes a stream, compares each tensor with the file, and returns the tensors of each lease by its name. */
async function read(stream: LayerStream, model: Model): Promise<Record<string, string>> {
  const seen: Record<string, string> = {}
  for await (using lease of stream) {
    seen[lease.name] = lease.tensors.map(({ name }) => name.replace('model.layers.', '')).join(' ')
    for (const { name } of lease.tensors)
      expect(Buffer.compare(lease.tensor(name), await tensorBytes(model, name)), name).toBe(0)
  }
  return seen
}

async function packed(model: Model) {
  const memory = new MemoryNamespace({ capacityBytes: 32 * MIB })
  await pack(model, memory.namespace)
  const stored = (await openImage(memory.namespace)).model()
  memory.plans.length = memory.peakBytes = 0
  return { memory, stored }
}

test('a layer that exceeds a slot is streamed from a simulated drive in verified parts', async () => {
  const simulation = simulate({ namespaces: [{ capacityBytes: 64 * MIB }] })
  const write = { serial: 'GPUNVME-SIM-1' }
  const controller = await Controller.open(simulation.transport, { write, queues: 2 })
  const model = await smallModel(TENSORS)
  await pack(model, controller.namespace(1))
  const stored = (await openImage(controller.namespace(1))).model()
  const stream = streamLayers(stored, { slotBytes: 4 * MIB })
  expect(await read(stream, model)).toEqual({
    embedding: 'model.embed_tokens.weight',
    'layer 0 part 1 of 3': '0.a 0.b',
    'layer 0 part 2 of 3': '0.c',
    'layer 0 part 3 of 3': '0.d',
    'layer 1': '1.a',
    output: 'model.norm.weight',
  })
  expect(stream.statistics).toMatchObject({ layers: 4, tensors: 7, tensorsVerified: 7 })
  // Chunks 2 and 5 are read for both of their parts.
  expect(stream.statistics.bytes).toBe(stream.shape.totalBytes)
  expect(stream.shape.totalBytes).toBe(planStream(stored).totalBytes + 2 * MIB)
  await controller.close()
  expect(simulation.diagnostics).toEqual([])
})

test('leases and progress state the part, its layer and the number of parts', async () => {
  const { stored } = await packed(await smallModel(TENSORS))
  const progress: StreamProgress[] = []
  const parts: unknown[] = []
  const options = { slotBytes: 4 * MIB, layers: [0, 1], onProgress: (event: StreamProgress) => progress.push(event) }
  for await (using lease of streamLayers(stored, options)) {
    expect(lease.verified).toBe(true)
    parts.push(lease.part)
  }
  const expected = [0, 1, 2].map((index) => ({ extent: 'layer 0', index, count: 3 }))
  expect(parts).toEqual([...expected, undefined])
  expect(progress.map(({ part }) => part)).toEqual(parts)
  expect(progress.map(({ layer, index, layers }) => [layer, index, layers])).toEqual([
    ['layer 0', 0, 2],
    ['layer 0', 0, 2],
    ['layer 0', 0, 2],
    ['layer 1', 1, 2],
  ])
  expect(progress.map(({ statistics }) => statistics.layers)).toEqual([0, 0, 1, 2])
})

test('the plan of a stream states the slots that parts take, and no more are allocated', async () => {
  const { memory, stored } = await packed(await smallModel(TENSORS))
  const one = { layers: [0] }
  expect(planStream(stored, one)).toMatchObject({ leases: 1, slots: 1 })
  expect(planStream(stored, { ...one, slotBytes: 4 * MIB })).toMatchObject({ leases: 3, slots: 3, slotBytes: 4 * MIB })
  const shape = { leases: 3, slots: 2, slotBytes: 4 * MIB }
  const stream = streamLayers(stored, { ...one, slots: 2, slotBytes: 4_200_000 })
  expect(stream.shape).toMatchObject(shape)
  for await (const lease of stream) lease.release()
  expect(memory).toMatchObject({ peakBytes: 2 * 4 * MIB, allocatedBytes: 0 })
  // Slots are not longer than the longest layer.
  const { slotBytes } = planStream(stored, one)
  expect(planStream(stored, { ...one, slotBytes: 100 * MIB })).toMatchObject({ leases: 1, slotBytes })
})

test.each(['safetensors', 'GGUF'])(
  'a layer of a plain %s file that exceeds a slot is streamed in parts',
  async (format) => {
    const path = join(folder, format)
    if (format === 'GGUF') await writeDemoModel(path, { layers: 2, targetBytes: 8 * MIB })
    else writeFileSync(path, safetensorsFile(TENSORS))
    await using file = await openModelFile(path)
    await using stored = await openModelInFiles(path)
    const longest = Math.max(...file.tensors.map(({ lengthBytes }) => lengthBytes))
    // Two partial blocks around the longest tensor.
    const options = { slotBytes: longest + 8192, verify: 'off' } as const
    expect(planStream(stored, { verify: 'off' }).slotBytes).toBeGreaterThan(options.slotBytes)
    const stream = streamLayers(stored, options)
    const seen = await read(stream, file)
    expect(Object.keys(seen).filter((name) => name.startsWith('layer 0'))).toContain('layer 0 part 2 of 3')
    expect(Object.values(seen).join(' ').split(' ')).toHaveLength(file.tensors.length)
    expect(Object.keys(seen)).toHaveLength(stream.shape.leases)
  },
)

test('a flipped bit fails its part with the names of layer and tensor, after all earlier parts', async () => {
  const { memory, stored } = await packed(await smallModel(TENSORS))
  memory.media[stored.layer(0).fullRange!.storeBytes + 3 * MIB + 17]! ^= 4
  const seen: string[] = []
  const streaming = async () => {
    for await (using lease of streamLayers(stored, { slotBytes: 4 * MIB })) seen.push(lease.name)
  }
  await expect(streaming()).rejects.toMatchObject({
    code: 'ERR_GPUNVME_VERIFICATION',
    extent: 'layer 0 part 2 of 3',
    // As in the complete layer.
    chunk: 3,
    tensors: ['model.layers.0.c'],
  })
  expect(seen).toEqual(['embedding', 'layer 0 part 1 of 3'])
  expect(memory.allocatedBytes).toBe(0)
})

test('parts of a layer without its experts are named after it', async () => {
  const dense = { attn_q: [1_500_000], ffn_gate_inp: [1_500_000], ffn_up_exps: [EXPERTS, 1000] }
  const { stored } = await packed(await moeModel(dense))
  const shape = planStream(stored, { experts: false, layers: [0] })
  const names: string[] = []
  const options = { experts: false, layers: [0], slotBytes: shape.slotBytes - 1 }
  for await (using lease of streamLayers(stored, options)) names.push(lease.name)
  expect(names).toEqual(['layer 0 without experts part 1 of 2', 'layer 0 without experts part 2 of 2'])
})

test('a stream with a tensor that exceeds a slot is rejected before anything is read', async () => {
  const { memory, stored } = await packed(await moeModel())
  const slotBytes = EXPERTS * SLICE_BYTES - 1
  const neededBytes = 3 * MIB
  for (const use of [streamLayers, planStream]) {
    expect(() => use(stored, { slotBytes })).toThrow(
      expect.objectContaining({
        code: 'ERR_GPUNVME_TENSOR_TOO_LONG',
        headline: `Cannot split "layer 0" into parts of ${slotBytes} bytes: its tensor "blk.0.ffn_gate_exps.weight" has 2000000`,
        next: expect.stringMatching(`^allow parts of ${neededBytes} bytes or more; .*model.expert`) as string,
      }),
    )
  }
  expect(memory.plans).toEqual([])
  // The advice holds.
  expect(planStream(stored, { slotBytes: neededBytes }).slotBytes).toBeLessThanOrEqual(neededBytes)
})

test('an extent that exceeds a slot is rejected; its parts fit, and are requested like any extent', async () => {
  const model = await smallModel(TENSORS)
  const { stored } = await packed(model)
  await using loader = openLoader(stored, { slots: 2, slotBytes: 4 * MIB })
  const layer = stored.layer(0)
  expect(() => loader.request(layer)).toThrow(
    /4 of its 4 tensors fit on their own; the longest takes 4194304 bytes[^]*or request its parts: loader.parts\(extent\)/,
  )
  const parts = loader.parts(layer)
  expect(parts).toHaveLength(3)
  using last = await loader.request(parts[2]!, { priority: 'now' }).lease()
  expect(Buffer.compare(last.tensor('model.layers.0.d'), await tensorBytes(model, 'model.layers.0.d'))).toBe(0)
  expect(loader.parts(stored.layer(1))).toEqual([stored.layer(1)])
  for (const maxBytes of [0, -1, NaN]) expect(() => loader.parts(layer, maxBytes)).toThrow(`got ${maxBytes}`)
})

test('with memoryBytes, parts of different lengths share the memory', async () => {
  const { memory, stored } = await packed(await smallModel(TENSORS))
  await using loader = openLoader(stored, { memoryBytes: 7 * MIB })
  const parts = loader.parts(stored.layer(0), 4 * MIB)
  const lengths: number[] = []
  for (const ticket of parts.map((part) => loader.request(part))) {
    using lease = await ticket.lease()
    lengths.push(lease.memory.lengthBytes)
  }
  expect(lengths.slice(0, 2)).toEqual([3 * MIB, 4 * MIB])
  expect(lengths[2]).toBeLessThan(3 * MIB)
  expect(memory.peakBytes).toBe(7 * MIB)
  await using unlimited = openLoader(stored, { memoryBytes: Infinity })
  expect(unlimited.parts(stored.layer(0))).toEqual([stored.layer(0)])
})

test('the error of a slotBytes that is too small states a length that suffices for all layers of the stream', async () => {
  const { stored } = await packed(
    await smallModel([
      ['model.layers.0.a', 1_500_000],
      ['model.layers.0.b', 2_500_000],
      ['model.layers.1.a', 3_500_000],
      ['model.layers.1.b', 4_500_000],
    ]),
  )
  const nextOf = (options: Parameters<typeof planStream>[1]): string => {
    try {
      planStream(stored, options)
    } catch (error) {
      return (error as LoaderError).next!
    }
    return ''
  }
  const needed = Number(/^allow parts of (\d+) bytes/.exec(nextOf({ slotBytes: MIB }))![1])
  expect(planStream(stored, { slotBytes: needed }).leases).toBe(3)
  expect(nextOf({ slotBytes: needed - 1 })).toContain(`allow parts of ${needed} bytes`)
  const neededFor0 = Number(/(\d+) bytes/.exec(nextOf({ slotBytes: MIB, layers: [0] }))![1])
  expect(neededFor0).toBeLessThan(needed)
})
