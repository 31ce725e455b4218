import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { writeMoe } from './moe-model.js'
import { gpunvme, json, scratch } from './gpunvme.js'

const cwd = scratch()
const PLAN = ['--vram', '2MiB', '--ram', '2MiB', '--gpu-link', '3x8', '--check-rate', '500MB']

beforeAll(async () => {
  await writeMoe(join(cwd, 'moe.gguf'), { used: 2 })
  await writeMoe(join(cwd, 'unknown.gguf'), {})
})

interface Described {
  readonly experts: Record<string, unknown> & {
    readonly predicted: { readonly passNs: number; readonly driveNs: number }
  }
  readonly layers: readonly Record<string, unknown>[]
  readonly predicted?: object
}

const run = async (...args: string[]) => json(await gpunvme([...args, '--json'], { cwd })) as Described
const text = async (...args: string[]) => (await gpunvme(args, { cwd })).stdout

describe('inspect', () => {
  test('shows the experts of each layer, the dense part and the bytes per token', async () => {
    const stdout = await text('inspect', 'moe.gguf')
    expect(stdout).toContain(
      'LAYERS WITH EXPERTS  EXPERTS  ONE EXPERT  DENSE PART\n' +
        'layer 0 to layer 2         8      64 KiB      16 KiB\n' +
        'Dense part of all layers, needed by every token: 176 KiB\n' +
        'All 24 experts: 1.5 MiB\n' +
        'A token uses 2 of 8 experts in each layer (the header): 384 KiB of experts\n',
    )
    const { experts, layers } = await run('inspect', 'moe.gguf')
    expect(experts).toEqual({
      denseBytes: 180_224,
      experts: 24,
      expertsBytes: 1_572_864,
      tokenBytes: 393_216,
      expertsUsed: 2,
      from: 'header',
    })
    expect(layers[1]).toMatchObject({ name: 'layer 0', experts: 8, expertBytes: 65_536, denseBytes: 16_384 })
    expect(layers[0]).not.toHaveProperty('experts')
  })

  test('asks for the number of experts that a token uses if the header lacks it', async () => {
    expect(await text('inspect', 'unknown.gguf')).toContain('a token uses: unknown; set --experts-used\n')
    expect((await run('inspect', 'unknown.gguf')).experts).not.toHaveProperty('expertsUsed')
    const { experts } = await run('inspect', 'unknown.gguf', '--experts-used', '4')
    expect(experts).toMatchObject({ expertsUsed: 4, from: 'option', tokenBytes: 786_432 })
  })

  test('shows nothing about experts for a dense model', async () => {
    await gpunvme(['demo', '--size', '4MiB', '--keep', 'dense.gguf'], { cwd })
    expect(await text('inspect', 'dense.gguf')).not.toMatch(/expert/i)
    expect(await run('inspect', 'dense.gguf')).not.toHaveProperty('experts')
  })

  test.each([
    ['a key of most models', '{"num_experts_per_tok": 2}', 2],
    ['a key inside text_config', '{"text_config": {"top_k_experts": 3}}', 3],
    ['no such key', '{"hidden_size": 64}', undefined],
    ['a value that is not a count', '{"num_experts_per_tok": "2"}', undefined],
    ['text that is not JSON', '{', undefined],
    ['a value that is not an object', 'null', undefined],
    ['more than 1 MiB', `{"num_experts_per_tok": 2}${' '.repeat(1024 * 1024)}`, undefined],
  ])('reads config.json beside a safetensors file: %s', async (name, config, expected) => {
    const folder = join(cwd, name)
    mkdirSync(folder)
    const shape = [4, 64]
    const entries = Array.from({ length: 4 }, (_, expert) => {
      const data_offsets = [expert * 512, (expert + 1) * 512]
      return [`model.layers.0.mlp.experts.${expert}.up_proj.weight`, { dtype: 'BF16', shape, data_offsets }]
    })
    const header = Buffer.from(JSON.stringify(Object.fromEntries(entries)))
    const length = Buffer.alloc(8)
    length.writeBigUInt64LE(BigInt(header.length))
    writeFileSync(join(folder, 'model.safetensors'), Buffer.concat([length, header, Buffer.alloc(4 * 512)]))
    writeFileSync(join(folder, 'config.json'), config)
    const { experts } = await run('inspect', join(folder, 'model.safetensors'))
    expect(experts['expertsUsed']).toBe(expected)
    expect(experts).toMatchObject({ experts: 4, expertsBytes: 2048, ...(expected && { tokenBytes: expected * 512 }) })
  })
})

describe('plan', () => {
  test('shows the needs of a token beside the pass over all experts', async () => {
    const stdout = await text('plan', 'moe.gguf', ...PLAN, '--hit-rate', '0.5')
    expect(stdout).toContain('A pass reads all experts of every layer; a token needs fewer.\n')
    expect(stdout).toContain(
      'A token uses 2 of 8 experts in each layer (the header)\ndense     176 KiB in GPU memory\n',
    )
    expect(stdout).toContain(': 24 of 24 experts\n')
    expect(stdout).toContain('reads     192 KiB a token: 384 KiB of experts at a hit rate of 0.5\n')
    expect(stdout).toMatch(/\nfirst, from a cold drive and an empty cache +[\d.]+ µs +[\d.]+ µs\nlater +/)
    expect(stdout).toMatch(/\nTokens per second: [\d.]+, [\d.]+ verified\.\n\nVerification: 500 MB\/s\n$/)
  })

  test('reads all used experts with a hit rate of 0, none with 1, and fewer with fewer used', async () => {
    const all = await run('plan', 'moe.gguf', ...PLAN, '--hit-rate', '0')
    expect(all.experts).toMatchObject({ expertsUsed: 2, hitRate: 0, tokenBytes: 393_216, readBytes: 393_216 })
    expect(all.experts).toMatchObject({ dense: { vramBytes: 180_224, ramBytes: 0, driveBytes: 0 } })
    const half = await run('plan', 'moe.gguf', ...PLAN, '--hit-rate', '0.5')
    expect(half.experts['readBytes']).toBe(196_608)
    expect(half.experts.predicted.passNs).toBeLessThan(all.experts.predicted.passNs)
    const none = await run('plan', 'moe.gguf', ...PLAN, '--hit-rate', '1')
    expect(none.experts).toMatchObject({ readBytes: 0, predicted: { driveNs: 0 } })
    const one = await run('plan', 'moe.gguf', ...PLAN, '--experts-used', '1', '--hit-rate', '0')
    expect(one.experts).toMatchObject({ from: 'option', tokenBytes: 196_608, readBytes: 196_608 })
  })

  test('assumes a hit rate of 1 if the cache holds all experts, otherwise 0', async () => {
    expect((await run('plan', 'moe.gguf', ...PLAN)).experts).toMatchObject({ hitRate: 1, readBytes: 0 })
    const small = ['--vram', '1MiB', '--ram', '256KiB', '--check-rate', '1GB']
    expect((await run('plan', 'moe.gguf', ...small)).experts).toMatchObject({ hitRate: 0, readBytes: 393_216 })
  })

  test('plans single experts in a budget that is too small for layers', async () => {
    const small = ['--vram', '1MiB', '--ram', '256KiB', '--check-rate', '1GB']
    const { experts, predicted } = await run('plan', 'moe.gguf', ...small)
    expect([predicted, experts['readBytes']]).toEqual([undefined, 393_216])
    expect(await text('plan', 'moe.gguf', ...small)).toMatch(
      /single experts fit into this budget; layers do not, even if they are split between tensors/,
    )
    const { code, stderr } = await gpunvme(['plan', 'unknown.gguf', ...small], { cwd })
    expect([code, stderr]).toEqual([7, expect.stringContaining('do not fit into this budget')])
  })

  test('states the memory of the slots for experts if the budget is too small for them', async () => {
    const { code, stderr } = await gpunvme(['plan', 'moe.gguf', '--experts-used', '4', '--vram', '1KiB'], { cwd })
    expect([code, stderr]).toEqual([
      7,
      expect.stringMatching(
        /GPU memory: .* at least, 1 KiB given\n {2}this includes slots for experts: 256 KiB of GPU memory, 128 KiB of host memory\n[^]*Try: raise --vram to at least that\n$/,
      ),
    ])
  })

  test('asks for the number of used experts if it is unknown', async () => {
    expect(await text('plan', 'unknown.gguf', ...PLAN)).toContain('a token uses: unknown; set --experts-used\n')
  })

  test('knows the experts of a packed model by the header of its file', async () => {
    expect((await gpunvme(['pack', 'moe.gguf', '--image', 'moe.img'], { cwd })).code).toBe(0)
    const { experts } = await run('plan', '--image', 'moe.img', ...PLAN)
    expect(experts).toMatchObject({ expertsUsed: 2, from: 'header', tokenBytes: 393_216, experts: 24 })
  })

  test.each([
    [['moe.gguf', '--experts-used', '9'], 'A layer has 8 experts: a token cannot use 9'],
    [['moe.gguf', '--hit-rate', '1.5'], 'expected a number from 0 to 1'],
    [['moe.gguf', '--hit-rate', ''], 'expected a number from 0 to 1'],
    [['dense.gguf', '--hit-rate', '0.5'], '--hit-rate requires a model with experts'],
    [['dense.gguf', '--experts-used', '2'], '--experts-used requires a model with experts'],
  ])('rejects %j', async (args, message) => {
    const { code, stderr } = await gpunvme(['plan', ...args, ...PLAN], { cwd })
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })

  test('plan has one column of times unless verification is the bottleneck', async () => {
    const plan = (rate: string) => text('plan', 'dense.gguf', '--vram', '3MiB', '--ram', '3MiB', '--check-rate', rate)
    expect(await plan('100GB')).toMatch(/\nA PASS +TIME\nfirst, from a cold drive +[\d.]+ µs\nlater +[\d.]+ µs\n/)
    expect(await plan('100MB')).toMatch(/\nA PASS +UNVERIFIED +VERIFIED\nfirst, /)
    expect(await plan('100MB')).toMatch(/\nLower bounds: drive [\d.]+ µs; with verification, checks [\d.]+ ms\.\n/)
  })
})
