import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { DEMO_MODEL, memorySource, openModel, writeDemoModel, type Model } from './index.js'

const TARGET_BYTES = 2_000_000

const directory = scratch()
let bytes: Buffer
let model: Model

beforeAll(async () => {
  const path = join(directory, 'small.gguf')
  await writeDemoModel(path, { targetBytes: TARGET_BYTES })
  bytes = await readFile(path)
  model = await openModel(memorySource(bytes))
})

describe('the demo model', () => {
  test('the demo model has reproducible bytes', () => {
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(
      '1e2e17f6c9ee8bc4b08185f149c3162a910e10fcc38d0ff3de4a3c291e7f1805',
    )
  })

  test('the demo model is at most as long as targetBytes, and shorter by less than 80,000 bytes', () => {
    expect(bytes.byteLength).toBeLessThanOrEqual(TARGET_BYTES)
    expect(bytes.byteLength).toBeGreaterThan(TARGET_BYTES - 80_000)
  })

  test('the demo model is a llama model with 8 layers', () => {
    expect(model).toMatchObject({ name: DEMO_MODEL.name, architecture: 'llama' })
    expect(model.metadata.get('llama.block_count')).toBe(8)
    const blocks = Array.from({ length: 8 }, (_, number) => `layer ${number}`)
    expect(model.layers.map(({ name }) => name)).toEqual(['embedding', ...blocks, 'output'])
  })

  test('the demo model has shapes that fit its hyper-parameters', () => {
    const parameter = (key: string): number => model.metadata.get(`llama.${key}`) as number
    const embedding = parameter('embedding_length')
    const headElements = embedding / parameter('attention.head_count')
    const shapes = new Map(model.tensors.map(({ name, shape }) => [name, shape]))
    expect(shapes.get('token_embd.weight')).toEqual([parameter('vocab_size'), embedding])
    expect(shapes.get('blk.0.attn_k.weight')).toEqual([headElements * parameter('attention.head_count_kv'), embedding])
    expect(shapes.get('blk.7.ffn_down.weight')).toEqual([embedding, parameter('feed_forward_length')])
    expect(headElements).toBe(parameter('rope.dimension_count'))
    expect(model.metadata.get('tokenizer.ggml.tokens')).toHaveLength(parameter('vocab_size'))
  })

  test('mixes Q4_0, Q8_0 and F32 in every block', () => {
    for (const { tensors } of model.layers.slice(1, -1)) {
      expect(new Set(tensors.map(({ dtype }) => dtype))).toEqual(new Set(['F32', 'Q4_0', 'Q8_0']))
    }
  })

  test('the demo model has small, finite and varied weights after dequantisation', () => {
    for (const { dtype, offsetBytes, lengthBytes } of model.tensors) {
      const data = bytes.subarray(offsetBytes, offsetBytes + lengthBytes)
      const values = dtype === 'F32' ? floats(data) : scales(data, dtype === 'Q4_0' ? 18 : 34)
      const [min, greatest] = dtype === 'F32' ? [1, 1.125] : dtype === 'Q4_0' ? [2 ** -7, 2 ** -6] : [2 ** -10, 2 ** -9]
      expect(values.every((value) => value >= min && value < greatest)).toBe(true)
      expect(new Set(values).size).toBeGreaterThan(20)
    }
  })

  test('the demo model has different bytes at the start of every tensor', () => {
    const starts = model.tensors.map(({ offsetBytes }) => bytes.toString('hex', offsetBytes + 2, offsetBytes + 18))
    expect(new Set(starts).size).toBe(model.tensors.length)
  })
})

test('writeDemoModel rejects a targetBytes that is too small with the minimum', async () => {
  const path = join(directory, 'never.gguf')
  await expect(writeDemoModel(path, { targetBytes: 1000 })).rejects.toThrow(
    /expected at least \d+ for 8 layers, got 1000/,
  )
  await expect(writeDemoModel(path, { layers: 0 })).rejects.toThrow(RangeError)
})

test('an abort stops writeDemoModel between two pieces, and removes the file', async () => {
  const folder = scratch()
  const signal = abortedAfter(3)
  await expect(writeDemoModel(join(folder, 'model.gguf'), { targetBytes: TARGET_BYTES, signal })).rejects.toThrow(
    'enough',
  )
  expect(await readdir(folder)).toEqual([])
})

/** Returns a signal whose `throwIfAborted` throws after this many calls. */
function abortedAfter(times: number): AbortSignal {
  const { signal } = new AbortController()
  let asked = 0
  signal.throwIfAborted = () => {
    if (asked++ >= times) throw new Error('enough')
  }
  return signal
}

function floats(data: Buffer): number[] {
  return Array.from({ length: data.byteLength / 4 }, (_, index) => data.readFloatLE(4 * index))
}

/** Returns the half-precision scale at the start of each block. An exponent of all ones gives NaN. */
function scales(data: Buffer, blockBytes: number): number[] {
  return Array.from({ length: data.byteLength / blockBytes }, (_, index) => {
    const half = data.readUInt16LE(index * blockBytes)
    const exponent = (half >> 10) & 0x1f
    const sign = half >> 15 === 0 ? 1 : -1
    return exponent === 0x1f ? NaN : sign * 2 ** (exponent - 15) * (1 + (half & 0x3ff) / 1024)
  })
}
