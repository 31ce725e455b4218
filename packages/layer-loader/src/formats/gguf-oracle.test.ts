import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GGMLQuantizationType, gguf } from '@huggingface/gguf'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GGML_TYPES, openFileSource, openModel, writeDemoModel, writeGguf } from './index.js'

/** Another implementation, by other people: it reads what our writer wrote, and we must agree on all of it. */
const byOracle = (path: string) => gguf(path, { allowLocalFile: true })

let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gpunvme-oracle-'))
})
afterAll(() => rm(directory, { recursive: true }))

/** What both say of each tensor, in our terms: the oracle keeps GGUF's order of dimensions and relative offsets. */
async function compare(path: string): Promise<void> {
  const oracle = await byOracle(path)
  await using source = await openFileSource(path)
  const model = await openModel(source)
  expect(model.parts[0].headerBytes).toBe(Number(oracle.tensorDataOffset))
  expect(model.tensors.map(({ name, dtype, shape, offsetBytes }) => ({ name, dtype, shape, offsetBytes }))).toEqual(
    oracle.tensorInfos.map(({ name, dtype, shape, offset }) => ({
      name,
      dtype: GGMLQuantizationType[dtype],
      shape: shape.map(Number).reverse(),
      offsetBytes: Number(oracle.tensorDataOffset + offset),
    })),
  )
}

describe('@huggingface/gguf and we agree', () => {
  test('on every name, type, shape and absolute offset of the demo model', async () => {
    const path = join(directory, 'demo.gguf')
    await writeDemoModel(path, { targetBytes: 2_000_000 })
    await compare(path)
  })

  test('on the hyper-parameters of the demo model', async () => {
    const path = join(directory, 'parameters.gguf')
    await writeDemoModel(path, { layers: 2, targetBytes: 2_000_000 })
    const { metadata } = await byOracle(path)
    await using source = await openFileSource(path)
    for (const [key, value] of (await openModel(source)).metadata) {
      expect([key, (metadata as Record<string, unknown>)[key]]).toEqual([key, value])
    }
  })

  test('on one tensor of every type, at an alignment of 4096', async () => {
    const path = join(directory, 'types.gguf')
    const tensors = GGML_TYPES.map(({ name, blockElements, blockBytes }) => ({
      name: `a ${name}`,
      dtype: name,
      shape: [3, 2, 2 * blockElements],
      data: [new Uint8Array(12 * blockBytes)],
    }))
    await writeGguf(path, { metadata: new Map(), tensors, alignment: 4096 })
    await compare(path)
  })

  test('on the number of every type', () => {
    const ours = GGML_TYPES.map(({ id, name }) => [id, name])
    expect(ours.filter(([id, name]) => GGMLQuantizationType[Number(id)] !== name)).toEqual([])
    const theirs = Object.values(GGMLQuantizationType).filter((id) => typeof id === 'number')
    expect(theirs.filter((id) => !ours.some(([ourId]) => ourId === id))).toEqual([])
  })
})
