/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment, typescript/no-unsafe-call, typescript/restrict-plus-operands -- JSON changed into values that no type describes */
import { describe, expect, test } from 'vitest'
import { openImage, streamLayers } from '../src/index.js'
import { ImageContentError } from '../src/image/index.js'
import { smallModel } from './models.js'
import { tampered, type Json } from './tamper.js'

/** Opens and streams a tampered image, and returns the error. */
async function errorOf(tampering: Parameters<typeof tampered>[0]): Promise<unknown> {
  const memory = await tampered(tampering)
  try {
    for await (const lease of streamLayers((await openImage(memory.namespace)).model())) lease.release()
    return undefined
  } catch (error) {
    return error
  } finally {
    expect(memory.allocatedBytes).toBe(0)
  }
}

test('a rewritten image with valid content and checksums is accepted', async () => {
  expect(await errorOf({})).toBeUndefined()
})

describe('openImage rejects a directory', () => {
  const cases: [title: string, path: string, change: (directory: Json) => unknown][] = [
    ['that is not JSON', '', () => '{"models":['],
    ['that is not UTF-8', '', () => Buffer.from('{"models":[{"name":"\xff"}]}', 'latin1')],
    ['that is an array', '', () => []],
    ['that is null', '', () => 'null'],
    ['without models', 'models', () => ({})],
    ['whose models are inherited from __proto__', 'models', () => '{"__proto__":{"models":[]}}'],
    ['whose models are an object', 'models', (d) => void (d.models = {})],
    ['with too many models', 'models', (d) => void (d.models = Array(1025).fill(0))],
    ['with a model that is a string', 'models[0]', (d) => void (d.models[0] = 'x')],
    ['with an empty model name', 'models[0].name', (d) => void (d.models[0].name = '')],
    ['with a terminal escape sequence in a name', 'models[0].name', (d) => void (d.models[0].name = 'a\x1b[2J')],
    ['with a name that is too long', 'models[0].name', (d) => void (d.models[0].name = 'a'.repeat(256))],
    ['with a lone surrogate in a name', 'models[0].name', (d) => void (d.models[0].name = '\ud800')],
    ['with a repeated name', 'models[1].name', (d) => void d.models.push(d.models[0])],
    ['with an invalid fingerprint', 'models[0].fingerprint', (d) => void (d.models[0].fingerprint = 'F'.repeat(64))],
    ['with a short checksum', 'models[0].manifest.crc32', (d) => void (d.models[0].manifest.crc32 = 'abc')],
    ['with a checksum as a number', 'models[0].manifest.crc32', (d) => void (d.models[0].manifest.crc32 = 12345678)],
    [
      'with a manifest before the data area',
      'models[0].manifest.offsetBytes',
      (d) => void (d.models[0].manifest.offsetBytes = 0),
    ],
    [
      'with a manifest offset that is not aligned',
      'models[0].manifest.offsetBytes',
      (d) => void (d.models[0].manifest.offsetBytes += 1),
    ],
    [
      'with a manifest offset that is not an integer',
      'models[0].manifest.offsetBytes',
      (d) => void (d.models[0].manifest.offsetBytes += 0.5),
    ],
    [
      'with a manifest that starts beyond the image',
      'models[0].manifest.offsetBytes',
      (d) => void (d.models[0].manifest.offsetBytes = 2 ** 52),
    ],
    [
      'with a manifest that ends beyond the image',
      'models[0].manifest.lengthBytes',
      (d) => void (d.models[0].manifest.lengthBytes = 2 ** 40),
    ],
    ['with an empty manifest', 'models[0].manifest.lengthBytes', (d) => void (d.models[0].manifest.lengthBytes = 0)],
  ]
  test.each(cases)('%s', async (_, path, change) => {
    const error = await errorOf({ directory: change })
    expect(error).toBeInstanceOf(ImageContentError)
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_IMAGE_CONTENT', region: 'directory', path })
  })
})

describe('openImage and a manifest', () => {
  const tensor = (change: (tensor: Json) => unknown) => (manifest: Json) => change(manifest.layers[0].tensors[0])
  const layer = (change: (layer: Json) => unknown) => (manifest: Json) => change(manifest.layers[0])
  const cases: [title: string, path: string, change: (manifest: Json) => unknown][] = [
    ['of another model', 'name', (m) => void (m.name = 'other')],
    ['with another fingerprint', 'fingerprint', (m) => void (m.fingerprint = '0'.repeat(64))],
    ['whose tensors do not match its fingerprint', 'fingerprint', tensor((t) => void (t.sha256 = '0'.repeat(64)))],
    ['without a source', 'source', (m) => void (m.source = undefined)],
    ['with a source version below 0', 'source.formatVersion', (m) => void (m.source.formatVersion = -1)],
    ['with an architecture that is a number', 'source.architecture', (m) => void (m.source.architecture = 7)],
    ['with a header beyond the image', 'header.lengthBytes', (m) => void (m.header.lengthBytes = 1e9)],
    ['with a chunk table that is too short', 'chunkTable.lengthBytes', (m) => void (m.chunkTable.lengthBytes -= 4)],
    ['with a chunk table that is too long', 'chunkTable.lengthBytes', (m) => void (m.chunkTable.lengthBytes += 4)],
    ['with an unaligned chunk table', 'chunkTable.offsetBytes', (m) => void (m.chunkTable.offsetBytes += 512)],
    ['with a number as layers', 'layers', (m) => void (m.layers = 4)],
    ['with a layer before the data area', 'layers[0].offsetBytes', layer((l) => void (l.offsetBytes = 4096))],
    ['with an unaligned layer', 'layers[0].offsetBytes', layer((l) => void (l.offsetBytes += 1))],
    ['with a layer of unaligned length', 'layers[0].lengthBytes', layer((l) => void (l.lengthBytes -= 1))],
    ['with a layer beyond the image', 'layers[0].lengthBytes', layer((l) => void (l.lengthBytes = 2 ** 50))],
    ['with a layer of negative length', 'layers[0].lengthBytes', layer((l) => void (l.lengthBytes = -4096))],
    ['with two layers of the same name', 'layers[1].name', (m) => void (m.layers[1].name = m.layers[0].name)],
    [
      'with two tensors of the same name',
      'layers[1].tensors[0].name',
      (m) => void (m.layers[1].tensors[0].name = m.layers[0].tensors[0].name),
    ],
    [
      'with a tensor name that is too long',
      'layers[0].tensors[0].name',
      tensor((t) => void (t.name = 'a'.repeat(65_536))),
    ],
    ['with a tensor before its layer', 'layers[0].tensors[0].offsetBytes', tensor((t) => void (t.offsetBytes = -4096))],
    ['with an unaligned tensor', 'layers[0].tensors[0].offsetBytes', tensor((t) => void (t.offsetBytes = 8))],
    ['with a tensor beyond its layer', 'layers[0].tensors[0].lengthBytes', tensor((t) => void (t.lengthBytes = 9000))],
    [
      'with a tensor that starts beyond its layer',
      'layers[0].tensors[0].offsetBytes',
      tensor((t) => void (t.offsetBytes = 12_288)),
    ],
    [
      'with tensors that overlap',
      'layers[1].tensors[1].offsetBytes',
      (m) => void (m.layers[1].tensors[1].offsetBytes = 0),
    ],
    [
      'with a tensor shorter than its shape',
      'layers[0].tensors[0].lengthBytes',
      tensor((t) => void (t.lengthBytes = 100)),
    ],
    ['with negative dimensions', 'layers[0].tensors[0].shape[0]', tensor((t) => void (t.shape = [-1, -5000]))],
    ['with too many dimensions', 'layers[0].tensors[0].shape', tensor((t) => void (t.shape = Array(65).fill(1)))],
    [
      'with a shape whose product exceeds 2^53',
      'layers[0].tensors[0].lengthBytes',
      tensor((t) => void (t.shape = [2 ** 52, 2 ** 52])),
    ],
    ['with a number as slices', 'layers[0].tensors[0].slices', tensor((t) => void (t.slices = 7))],
    ['with empty slices', 'layers[0].tensors[0].slices', tensor((t) => void (t.slices = ''))],
    [
      'with slices in upper-case hexadecimal',
      'layers[0].tensors[0].slices',
      tensor((t) => void (t.slices = 'ABCDEF01')),
    ],
    ['with an incomplete slice', 'layers[0].tensors[0].slices', tensor((t) => void (t.slices = '0'.repeat(12)))],
    [
      'with slices that do not divide the tensor evenly',
      'layers[0].tensors[0].slices',
      tensor((t) => void (t.slices = '0'.repeat(24))),
    ],
    ['with more slices than bytes', 'layers[0].tensors[0].slices', tensor((t) => void (t.slices = '0'.repeat(80_000)))],
    ['without a dtype', 'layers[0].tensors[0].dtype', tensor((t) => void (t.dtype = undefined))],
  ]
  test.each(cases)('rejects one %s', async (_, path, change) => {
    const error = await errorOf({ manifest: change })
    expect(error).toBeInstanceOf(ImageContentError)
    expect(error).toMatchObject({ region: 'manifest of "small.safetensors"', path })
  })

  test('accepts unknown members, which a later version may add', async () => {
    const add = (manifest: Json) => {
      manifest.later = manifest.layers[0].later = manifest.layers[0].tensors[0].later = { any: [1, 'thing'] }
    }
    expect(await errorOf({ manifest: add })).toBeUndefined()
  })
})

describe('openImage rejects overlapping extents:', () => {
  const cases: [title: string, change: (manifest: Json) => unknown][] = [
    ['two layers', (m) => void (m.layers[1].offsetBytes = m.layers[0].offsetBytes + 4096)],
    ['a layer and the chunk table', (m) => void (m.chunkTable.offsetBytes = m.layers[0].offsetBytes)],
    ['a layer and the manifest itself', (m) => void (m.layers[0].offsetBytes = 4 << 20)],
    ['the header and the end of the last layer', (m) => void (m.header.offsetBytes = m.layers.at(-1).offsetBytes)],
  ]
  test.each(cases)('%s', async (_, change) => {
    const error = await errorOf({ manifest: change })
    expect(error).toBeInstanceOf(ImageContentError)
    expect(error).toMatchObject({ region: 'layout' })
  })
})

test('openImage rejects superblock copies of one generation with different contents', async () => {
  const memory = await tampered({})
  const other = await tampered({ superblock: (superblock) => ({ ...superblock, imageId: 'ab'.repeat(16) }) })
  memory.media.set(other.media.subarray(1 << 20, (1 << 20) + 4096), 1 << 20)
  await expect(openImage(memory.namespace)).rejects.toMatchObject({ copy: 'B', field: 'GENERATION' })
})

describe('openImage and an image of two models', () => {
  const errorOfTwo = async (change: Pick<Parameters<typeof tampered>[0], 'directory' | 'manifest'>) => {
    const memory = await tampered({ second: await smallModel(undefined, 2), ...change })
    return openImage(memory.namespace).catch((error: unknown) => error)
  }

  test('accepts a valid one', async () => {
    expect(await errorOfTwo({})).toMatchObject({ models: [{ name: 'small.safetensors' }, { name: 'second' }] })
  })

  const cases: [title: string, error: object, change: Parameters<typeof errorOfTwo>[0]][] = [
    [
      'with the same name',
      { region: 'directory', path: 'models[1].name' },
      { directory: (d) => void (d.models[1].name = d.models[0].name) },
    ],
    [
      'with the same manifest',
      { region: 'manifest of "second"', path: 'name' },
      { directory: (d) => void (d.models[1].manifest = d.models[0].manifest) },
    ],
    [
      'with exchanged names',
      { region: 'manifest of "second"', path: 'name', got: '"small.safetensors"' },
      { directory: (d) => void ([d.models[0].name, d.models[1].name] = [d.models[1].name, d.models[0].name]) },
    ],
    [
      'with the same fingerprint',
      { region: 'manifest of "second"', path: 'fingerprint' },
      { directory: (d) => void (d.models[1].fingerprint = d.models[0].fingerprint) },
    ],
    ['whose layers overlap', { region: 'layout' }, { manifest: (m) => void (m.layers[0].offsetBytes = 3 << 20) }],
    [
      'where a chunk table overlaps a layer of the other',
      { region: 'layout' },
      { manifest: (m) => void (m.chunkTable.offsetBytes = (3 << 20) + 4096) },
    ],
    ['repeated 1025 times', { path: 'models' }, { directory: (d) => void (d.models = Array(1025).fill(d.models[1])) }],
  ]
  test.each(cases)('rejects models %s', async (_, expected, change) => {
    const error = await errorOfTwo(change)
    expect(error).toBeInstanceOf(ImageContentError)
    expect(error).toMatchObject(expected)
  })
})

test('openImage accepts an image without models, which removeModel leaves', async () => {
  const memory = await tampered({ directory: (d) => void (d.models = []) })
  expect((await openImage(memory.namespace)).models).toEqual([])
})
