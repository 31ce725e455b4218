import { writeDemoModel } from '@gpunvme/layer-loader/formats'
import { cpSync, existsSync, readdirSync, statSync, writeFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { gpunvme, json, scratch } from './gpunvme.js'

const cwd = scratch()
const MODEL_BYTES = 4 * 1024 * 1024
const CAPACITY = ['--capacity', '32MiB']
const HEX_64 = expect.stringMatching(/^[0-9a-f]{64}$/) as string
const ANY_NUMBER = expect.any(Number) as number

beforeAll(async () => {
  await writeDemoModel(join(cwd, 'model.gguf'), { layers: 2, targetBytes: MODEL_BYTES })
  await gpunvme(['pack', 'model.gguf', '--image', 'drive.img'], { cwd })
})

test('inspect lists dtypes, layers and the alignment of tensors', async () => {
  const { code, stdout, stderr } = await gpunvme(['inspect', 'model.gguf'], { cwd })
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^model\.gguf: GGUF v3, architecture llama, named "gpunvme demo"\n21 tensors in 4 layers/)
  expect(stdout).toMatch(/\nQ4_0 +10 /)
  expect(stdout).toMatch(/\nlayer 1 +9 /)
  expect(stdout).toMatch(/\nAlignment: .* to align them:\n {2}gpunvme pack model\.gguf --image FILE\n$/)
})

test('inspect --json prints the complete catalogue', async () => {
  const ended = await gpunvme(['inspect', 'model.gguf', '--json'], { cwd })
  expect(json(ended)).toMatchObject({
    schema: 'gpunvme.inspect/1',
    file: 'model.gguf',
    format: 'gguf',
    formatVersion: 3,
    architecture: 'llama',
    unknownTypes: [],
    metadata: { 'llama.block_count': 2 },
  })
  const { tensors, layers } = json(ended) as { tensors: object[]; layers: { name: string; tensors: string[] }[] }
  expect(tensors[0]).toEqual({
    name: 'token_embd.weight',
    dtype: 'Q8_0',
    shape: [512, ANY_NUMBER],
    part: 0,
    offsetBytes: ANY_NUMBER,
    lengthBytes: ANY_NUMBER,
    opaque: false,
  })
  expect(layers.map(({ name }) => name)).toEqual(['embedding', 'layer 0', 'layer 1', 'output'])
  expect(layers.flatMap(({ tensors }) => tensors)).toHaveLength(21)
})

test('a split model is inspected, packed and loaded by any of its files', async () => {
  const part = (number: number) => `split-0000${number}-of-00003.gguf`
  for (const number of [1, 2, 3]) {
    cpSync(new URL(`../../layer-loader/test/formats/vectors/${part(number)}`, import.meta.url), join(cwd, part(number)))
  }
  const inspected = await gpunvme(['inspect', part(2)], { cwd })
  expect(inspected.stdout).toMatch(
    /GGUF v3, architecture llama, named "vector"\n8 tensors in 4 layers.* of headers in 3 files\n/,
  )
  expect(json(await gpunvme(['inspect', part(3), '--json'], { cwd }))).toMatchObject({
    fileBytes: 1568 + 832 + 736,
    parts: [1, 2, 3].map((number) => ({ file: part(number), headerBytes: ANY_NUMBER })),
  })
  const packed = json(await gpunvme(['pack', part(1), '--image', 'parts.img', '--json'], { cwd }))
  expect(packed).toMatchObject({ name: 'vector', tensors: 8 })
  const overwriting = await gpunvme(['pack', part(1), '--image', part(3), '--json'], { cwd })
  expect([overwriting.code, overwriting.stderr]).toEqual([2, expect.stringContaining('is the model itself')])
  const loaded = await gpunvme(['load', part(3), '--image', 'parts.img', '--compare', '--json'], { cwd })
  expect(loaded.code).toBe(0)
}, 120_000)

test('pack creates a sparse image, and prints the fingerprint', async () => {
  const ended = await gpunvme(['pack', 'model.gguf', '--image', 'made.img', '--name', 'chat', '--json'], { cwd })
  expect(ended.code).toBe(0)
  expect(json(ended)).toMatchObject({
    schema: 'gpunvme.pack/1',
    name: 'chat',
    fingerprint: HEX_64,
    generation: 1,
    replaced: 'nothing',
    place: 'made.img',
    layers: 4,
    tensors: 21,
    driveNs: ANY_NUMBER,
    wallNs: ANY_NUMBER,
  })
  expect(statSync(join(cwd, 'made.img')).size % (1024 * 1024)).toBe(0)
})

test('pack takes the capacity of a new drive from --capacity', async () => {
  await gpunvme(['pack', 'model.gguf', '--image', 'large.img', '--capacity', '2GiB'], { cwd })
  const { size, blocks } = statSync(join(cwd, 'large.img'))
  expect(size).toBe(2 * 1024 ** 3)
  expect(blocks * 512).toBeLessThan(64 * 1024 * 1024)
})

test('pack --dry-run prints the plan and writes nothing', async () => {
  const { code, stdout } = await gpunvme(['pack', 'model.gguf', '--image', 'never.img', '--dry-run'], { cwd })
  expect(code).toBe(0)
  expect(stdout).toContain('Nothing was written')
  expect(existsSync(join(cwd, 'never.img'))).toBe(false)
  const planned = await gpunvme(['pack', 'model.gguf', '--dry-run', '--json'], { cwd })
  expect(json(planned)).toMatchObject({ schema: 'gpunvme.pack-plan/1', name: 'gpunvme demo', chunks: ANY_NUMBER })
})

test('pack --replace discards the old model, and increments the generation', async () => {
  await gpunvme(['pack', 'model.gguf', '--image', 'twice.img'], { cwd })
  const again = await gpunvme(['pack', 'model.gguf', '--image', 'twice.img', '--replace', '--json'], { cwd })
  expect(json(again)).toMatchObject({ generation: 2, replaced: 'discarded' })
})

test('load --json has the drive with its queues, the link and all passes', async () => {
  const result = json(
    await gpunvme(['load', '--image', 'drive.img', '--to', 'host', '--depth', '4', '--json'], { cwd }),
  )
  expect(result).toMatchObject({
    schema: 'gpunvme.load/1',
    problems: [],
    model: { name: 'gpunvme demo', fingerprint: HEX_64 },
    drive: { transport: 'sim', profile: 'sn740', engine: 'host', queues: 1, depth: 4, place: 'drive.img' },
    link: { gen: 3, width: 4, mps: 256, payloadLimitBytesPerSecond: ANY_NUMBER, share: ANY_NUMBER },
    layersVerified: 4,
    loaded: { layers: 4, bytes: ANY_NUMBER, elapsedNs: ANY_NUMBER, driveBusyNs: ANY_NUMBER, wallNs: ANY_NUMBER },
    passes: [{ pass: 1, layers: 4 }],
  })
})

test('load reports if the controller supports fewer or shorter queues than requested', async () => {
  const args = ['load', '--image', 'drive.img', '--queues', '64', '--depth', '4095']
  const ended = await gpunvme([...args, '--json'], { cwd })
  const { queues, depth } = (json(ended) as { drive: { queues: number; depth: number } }).drive
  // The simulated SN740 has CAP.MQES 1023, of which one entry stays empty.
  expect(depth).toBe(1023)
  expect(queues).toBeLessThan(64)
  expect(ended.stderr).toContain(
    `The controller supports ${queues} queues of 1023 commands; requested: 64 queues of 4095 commands`,
  )
})

test('load MODEL --sim packs the model onto a simulated drive in memory first', async () => {
  const { code, stdout, stderr } = await gpunvme(['load', 'model.gguf', '--sim'], { cwd })
  expect(code).toBe(0)
  expect(stderr).toContain('Packing model.gguf onto a drive in memory')
  expect(stdout).toContain('verified  4 of 4 layers')
})

test('load accepts a packed model by name or by its file', async () => {
  for (const model of ['gpunvme demo', 'model.gguf']) {
    expect((await gpunvme(['load', model, '--image', 'drive.img'], { cwd })).code).toBe(0)
  }
})

test('load by a file prefers the model with its name, and rejects it if several others have its tensors', async () => {
  const pack = (name: string[]) =>
    gpunvme(['pack', 'model.gguf', '--image', 'tuned.img', ...CAPACITY, ...name], { cwd })
  const load = (...more: string[]) => gpunvme(['load', 'model.gguf', '--image', 'tuned.img', ...more], { cwd })
  for (const name of ['base', 'tuned']) await pack(['--name', name])
  const { code, stderr } = await load()
  expect([code, stderr]).toEqual([2, expect.stringContaining('models: "base", "tuned"\n  Try: use one of these names')])
  await pack([])
  const named = json(await load('--compare', '--json'))
  expect(named).toMatchObject({ model: { name: 'gpunvme demo' } })
}, 120_000)

test('load and plan by a file take the model with its contents, whatever the names are', async () => {
  const variant = (name: string, value: number) => {
    const bytes = readFileSync(join(cwd, 'model.gguf'))
    // The file ends with tensor data.
    bytes.fill(value, bytes.length - 8)
    writeFileSync(join(cwd, name), bytes)
  }
  variant('tuned.gguf', 1)
  variant('other.gguf', 2)
  for (const name of [['model.gguf'], ['tuned.gguf', '--name', 'tuned'], ['tuned.gguf', '--name', 'again']])
    await gpunvme(['pack', ...name, '--image', 'alike.img', ...CAPACITY], { cwd })
  const run = (verb: string, ...args: string[]) => gpunvme([verb, ...args, '--image', 'alike.img'], { cwd })
  expect(json(await run('load', 'model.gguf', '--json'))).toMatchObject({ model: { name: 'gpunvme demo' } })
  expect(json(await run('plan', 'model.gguf', '--vram', '1GiB', '--json'))).toMatchObject({ model: 'gpunvme demo' })
  // Two models have these contents, neither with the name in the file.
  expect((await run('load', 'tuned.gguf')).stderr).toContain('models: "tuned", "again"')
  await gpunvme(['models', 'rm', 'again', '--image', 'alike.img'], { cwd })
  expect(json(await run('load', 'tuned.gguf', '--compare', '--json'))).toMatchObject({ model: { name: 'tuned' } })
  expect(await run('load', 'other.gguf')).toMatchObject({
    code: 6,
    stderr: expect.stringMatching(
      /does not have the model of other\.gguf\n(.*differs:\n.*: other contents.*\n){2}/,
    ) as string,
  })
}, 120_000)

test('load compares contents with the model file only with --compare', async () => {
  const args = ['load', 'model.gguf', '--image', 'drive.img']
  const plain = await gpunvme(args, { cwd })
  expect(plain.stderr).toContain('names, types and shapes; --compare also compares contents')
  const compared = await gpunvme([...args, '--compare'], { cwd })
  expect([compared.code, compared.stderr]).toEqual([0, expect.stringContaining('SHA-256 of every tensor') as string])
})

test('modelled time is reproducible for a seed', async () => {
  const run = async () => json(await gpunvme(['load', '--image', 'drive.img', '--seed', '7', '--json'], { cwd }))
  const [first, second] = (await Promise.all([run(), run()])) as { loaded: { elapsedNs: number } }[]
  expect(first?.loaded.elapsedNs).toBe(second?.loaded.elapsedNs)
})

test('the ideal profile has no link', async () => {
  const ended = await gpunvme(['load', '--image', 'drive.img', '--profile', 'ideal', '--json'], { cwd })
  expect(ended.code).toBe(0)
  expect(json(ended)).not.toHaveProperty('link')
})

test('verify of an undamaged drive reports no problems', async () => {
  const { code, stdout } = await gpunvme(['models', 'verify', '--image', 'drive.img'], { cwd })
  expect(code).toBe(0)
  expect(stdout).toContain('drive.img: sound')
  const ended = await gpunvme(['models', 'verify', '--image', 'drive.img', '--json'], { cwd })
  expect(json(ended)).toMatchObject({
    schema: 'gpunvme.verify/1',
    ok: true,
    generation: 1,
    models: [{ name: 'gpunvme demo', fingerprint: HEX_64 }],
    checked: { chunks: ANY_NUMBER, bytes: ANY_NUMBER },
    problemCount: 0,
    problems: [],
  })
})

test('identify shows the controller and its namespaces', async () => {
  const { stdout } = await gpunvme(['nvme', 'identify', '--sim'], { cwd })
  expect(stdout).toMatch(/serial number +GPUNVME-SIM-SN740/)
  expect(stdout).toMatch(/blocks +1000215216 of 512 bytes/)
  const ended = await gpunvme(['nvme', 'identify', '--image', 'drive.img', '--json'], { cwd })
  expect(json(ended)).toMatchObject({
    schema: 'gpunvme.identify/1',
    controller: { serial: 'GPUNVME-SIM-SN740', version: '1.4.0', maxTransferBytes: 1048576, fields: { MDTS: 8 } },
    namespaces: [{ nsid: 1, blockBytes: 512, capacityBytes: statSync(join(cwd, 'drive.img')).size }],
  })
})

test('regs prints every register of the controller by offset, one per line without a terminal', async () => {
  const { stdout } = await gpunvme(['nvme', 'regs', '--sim'], { cwd })
  const lines = stdout.trimEnd().split('\n').slice(1)
  expect(lines.map((line) => line.split('=')[0])).toEqual([
    ...['0x00  CAP', '0x08  VS', '0x0c  INTMS', '0x10  INTMC', '0x14  CC', '0x1c  CSTS'],
    ...['0x24  AQA', '0x28  ASQ', '0x30  ACQ', '0x68  CRTO'],
  ])
  expect(lines[4]).toBe('0x14  CC=0x00460001 { EN=1 CSS=NVM MPS=0 AMS=ROUND_ROBIN SHN=NONE IOSQES=6 IOCQES=4 CRIME=0 }')
})

test('regs --as-found does not bring the controller up', async () => {
  const ended = await gpunvme(['nvme', 'regs', '--sim', '--as-found', '--json'], { cwd })
  const { schema, registers } = json(ended) as { schema: string; registers: { name: string }[] }
  expect(schema).toBe('gpunvme.regs/1')
  expect(registers.find(({ name }) => name === 'CC')).toMatchObject({ value: '0x00000000', fields: { EN: 0 } })
  expect(registers.find(({ name }) => name === 'CAP')).toMatchObject({ offset: '0x00', fields: { MQES: 1023 } })
})

test('demo creates, packs, loads and compares a model, and removes its files', async () => {
  const temporary = scratch()
  const ended = await gpunvme(['demo', '--sim', '--size', '4MiB'], { cwd, env: { TMPDIR: temporary } })
  expect(ended.code).toBe(0)
  expect(ended.stdout).toMatch(/\nloaded {4}2 layers, [^]*\nPASS +HOST +DRIVE .*\n +1 /)
  expect(ended.stdout).toMatch(
    /\ntotal +1 pass in modelled .*; read at [^]* of\s+the\s+Gen3 x4 payload limit at MPS 256\n/,
  )
  expect(ended.stdout).toContain('verified  10 of 10 layers: every byte, against the checksums in the image')
  expect(ended.stdout).toContain('compared  all 75 tensors equal the model file, byte by byte')
  expect(ended.stderr).toContain('Next: ')
  expect(readdirSync(temporary)).toEqual([])
  const lines = `${ended.stderr}${ended.stdout}`.split('\n')
  const picture = readFileSync(join(import.meta.dirname, '../../../docs/images/demo.svg'), 'utf8')
  const recorded = [...picture.matchAll(/<text class="line"[^>]*>([^<]*)</g)].map(([, text]) => text!)
  // Indented lines differ in number, since they depend on the model's size.
  const starts = (texts: string[]) =>
    new Set(texts.map((text) => text.split(/ |&#160;/)[0]!).filter((word) => word !== ''))
  expect(starts(recorded), 'to record it again: node scripts/record-demo.mjs').toEqual(starts(lines))
})

test('demo --keep keeps the model file', async () => {
  const ended = await gpunvme(['demo', '--size', '4MiB', '--keep', 'kept.gguf', '--json'], { cwd })
  expect(json(ended)).toMatchObject({
    schema: 'gpunvme.demo/1',
    file: { tensors: 75, bytes: statSync(join(cwd, 'kept.gguf')).size },
    model: { name: 'gpunvme demo', fingerprint: HEX_64 },
    layersVerified: 10,
    passes: [{ pass: 1, layers: 10, layersVerified: 10 }],
    compared: { tensors: 75, wallNs: ANY_NUMBER },
  })
  expect((await gpunvme(['inspect', 'kept.gguf'], { cwd })).code).toBe(0)
})

test('inspect lists tensors of unknown types, which pack copies, and escapes names from a file', async () => {
  const header = JSON.stringify({
    'known.weight': { dtype: 'F32', shape: [2], data_offsets: [0, 8] },
    'evil\u001b[31m.weight': { dtype: 'F5_E9', shape: [8], data_offsets: [8, 16] },
  })
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  writeFileSync(join(cwd, 'odd.safetensors'), Buffer.concat([length, Buffer.from(header), Buffer.alloc(16)]))
  const { code, stdout } = await gpunvme(['inspect', 'odd.safetensors'], { cwd })
  expect(code).toBe(0)
  expect(stdout).toContain('1 tensor of unknown type, loaded as bytes without a check of their length:')
  expect(stdout).toContain('evil\\u{1b}[31m.weight: F5_E9')
  expect(stdout).not.toContain('\u001b')
  const packed = await gpunvme(['pack', 'odd.safetensors', '--image', 'odd.img'], { cwd })
  expect(packed.code).toBe(0)
  expect(packed.stderr + packed.stdout).not.toContain('\u001b')
  expect((await gpunvme(['load', './odd.safetensors', '--image', 'odd.img', '--compare'], { cwd })).code).toBe(0)
})

test('inspect accepts a file with only a header, and pack rejects it', async () => {
  const { parts } = json(await gpunvme(['inspect', 'model.gguf', '--json'], { cwd })) as {
    parts: { headerBytes: number; isHeaderOnly: boolean }[]
  }
  expect(parts[0]).toMatchObject({ isHeaderOnly: false })
  const whole = readFileSync(join(cwd, 'model.gguf'))
  writeFileSync(join(cwd, 'header.gguf'), whole.subarray(0, parts[0]!.headerBytes))
  const { code, stdout } = await gpunvme(['inspect', 'header.gguf'], { cwd })
  expect([code, stdout]).toEqual([0, expect.stringContaining('Header only, without tensor data: header.gguf')])
  const inspected = json(await gpunvme(['inspect', 'header.gguf', '--json'], { cwd }))
  expect(inspected).toMatchObject({ parts: [{ isHeaderOnly: true }] })
  expect((await gpunvme(['pack', 'header.gguf', '--image', 'header.img'], { cwd })).code).toBe(7)
  expect(existsSync(join(cwd, 'header.img'))).toBe(false)
})

/** Creates a model with tensors of DeepSeek-V4 of one byte each: one layer and one MTP layer. */
function writeWithMtp(name: string): void {
  const names = ['embed.weight', 'layers.0.attn.wo.weight', 'head.weight', 'mtp.0.attn.wo.weight']
  const entries = names.map((name, at) => [name, { dtype: 'U8', shape: [1], data_offsets: [at, at + 1] }])
  const header = JSON.stringify(Object.fromEntries(entries))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  writeFileSync(join(cwd, name), Buffer.concat([length, Buffer.from(header), Buffer.alloc(names.length)]))
}

test('inspect shows multi-token prediction layers, and plans and passes omit them', async () => {
  writeWithMtp('mtp.safetensors')
  const pass = ['embedding', 'layer 0', 'output']
  const { stdout } = await gpunvme(['inspect', 'mtp.safetensors'], { cwd })
  expect(stdout).toContain('Multi-token prediction, not part of a pass: mtp layer 0')
  const { layers } = json(await gpunvme(['inspect', 'mtp.safetensors', '--json'], { cwd })) as {
    layers: { name: string; inPass: boolean }[]
  }
  expect(layers.map(({ name, inPass }) => [name, inPass])).toEqual([
    ...pass.map((name) => [name, true]),
    ['mtp layer 0', false],
  ])
  const plan = json(await gpunvme(['plan', 'mtp.safetensors', '--vram', '1MiB', '--json'], { cwd })) as {
    layers: { name: string }[]
  }
  expect(plan.layers.map(({ name }) => name)).toEqual(pass)
  const load = ['load', 'mtp.safetensors', '--file', '--to', 'host', '--json']
  const loaded = json(await gpunvme(load, { cwd })) as { layers: { name: string }[] }
  expect(loaded.layers.map(({ name }) => name)).toEqual(pass)
})

test('--naming replaces the detected scheme, and is rejected for a packed model', async () => {
  writeWithMtp('named.safetensors')
  const layersOf = async (...args: string[]) => {
    const { layers } = json(await gpunvme([...args, '--json'], { cwd })) as { layers: { name: string }[] }
    return layers.map(({ name }) => name)
  }
  const naming = ['--naming', 'granite']
  expect(await layersOf('inspect', 'named.safetensors', ...naming)).toEqual(['layer 0', 'output'])
  expect(await layersOf('plan', 'named.safetensors', '--vram', '1MiB', ...naming)).toEqual(['layer 0', 'output'])
  expect(await layersOf('load', 'named.safetensors', '--file', '--to', 'host', ...naming)).toEqual([
    'layer 0',
    'output',
  ])
  const packed = await gpunvme(['pack', 'named.safetensors', '--image', 'named.img', ...naming, '--json'], { cwd })
  expect(json(packed)).toMatchObject({ layers: 2 })
  for (const verb of [['load'], ['plan', '--vram', '1MiB']]) {
    const { code, stderr } = await gpunvme([...verb, '--image', 'named.img', ...naming], { cwd })
    expect([code, stderr]).toEqual([2, expect.stringContaining('--naming does not apply to a packed model')])
  }
  const unknown = await gpunvme(['inspect', 'named.safetensors', '--naming', 'llama'], { cwd })
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('granite')])
})

test('ls lists the models of a drive, and rm removes one', async () => {
  for (const name of ['first', 'second']) {
    const packed = await gpunvme(['pack', 'model.gguf', '--image', 'two.img', '--name', name, ...CAPACITY], { cwd })
    expect(packed.code).toBe(0)
    expect(packed.stderr).toContain(`Next: gpunvme load ${name === 'second' ? 'second ' : ''}--image two.img\n`)
  }
  const listed = await gpunvme(['models', 'ls', '--image', 'two.img'], { cwd })
  expect([listed.code, listed.stderr]).toEqual([0, ''])
  expect(listed.stdout).toMatch(
    /^SIMULATED.*\nMODEL +LAYERS +TENSORS +BYTES +FINGERPRINT\nfirst +4 +21 +[\d.]+ MiB +[0-9a-f]{12}\nsecond +4 +21 /,
  )
  const before = json(await gpunvme(['models', 'ls', '--image', 'two.img', '--json'], { cwd })) as { freeBytes: number }
  expect(before).toMatchObject({
    schema: 'gpunvme.ls/1',
    generation: 2,
    models: [
      { name: 'first', fingerprint: HEX_64, layers: 4, tensors: 21, tensorBytes: ANY_NUMBER },
      { name: 'second', fingerprint: HEX_64 },
    ],
    problems: [],
  })
  const removed = await gpunvme(['models', 'rm', 'first', '--image', 'two.img', '--json'], { cwd })
  expect([removed.code, removed.stderr]).toEqual([0, expect.stringContaining('not an erasure')])
  expect(json(removed)).toMatchObject({ schema: 'gpunvme.rm/1', name: 'first', models: ['second'], generation: 3 })
  const after = json(await gpunvme(['models', 'ls', '--image', 'two.img', '--json'], { cwd })) as { freeBytes: number }
  expect(after).toMatchObject({ models: [{ name: 'second' }] })
  expect(after.freeBytes).toBeGreaterThan(before.freeBytes + MODEL_BYTES / 2)
  const { stdout } = await gpunvme(['models', 'rm', 'second', '--image', 'two.img'], { cwd })
  expect(stdout).toMatch(/\nRemoved "second" from two\.img: [\d.]+ MiB freed\n/)
  expect(stdout).toContain('left         0 models')
  expect((await gpunvme(['models', 'ls', '--image', 'two.img'], { cwd })).stdout).toMatch(
    /^SIMULATED.*\ntwo\.img has no models\nFree: /,
  )
}, 120_000)
