import { expect, test } from 'vitest'
import { openModelParts, writeGguf, type GgufValue, type OpenedModel } from '../src/formats/index.js'
import { loadTensor, openImage, readSourceHeader } from '../src/index.js'
import { pack, verifyImage } from '../src/image/index.js'
import { concat } from './formats/bytes.js'
import { MemoryFolder } from './formats/memory-folder.js'
import { MemoryNamespace } from './memory-namespace.js'
import { tensorBytes } from './models.js'

/** Tensors of each file: layer 1 is in two files, the embedding in the last one. */
const PARTS = [
  ['blk.0.attn_q.weight', 'blk.1.attn_q.weight'],
  ['blk.1.ffn_up.weight', 'output.weight'],
  ['token_embd.weight'],
]
const FLOATS = 1500

async function partFile(index: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  const write = (bytes: Uint8Array) => {
    pieces.push(bytes.slice())
    return Promise.resolve({ bytesWritten: bytes.byteLength })
  }
  const metadata = new Map<string, GgufValue>([
    ...(index === 0 ? [['general.architecture', 'llama'] as const] : []),
    ['split.no', { type: 'uint16', value: index }],
    ['split.count', { type: 'uint16', value: PARTS.length }],
    ['split.tensors.count', { type: 'int32', value: 5 }],
  ])
  const tensors = PARTS[index]!.map((name, position) => {
    const data = [Buffer.alloc(FLOATS * 4, `part ${index} tensor ${position} `)]
    return { name, dtype: 'F32', shape: [FLOATS], data }
  })
  await writeGguf({ write }, { metadata, tensors })
  return concat(...pieces)
}

async function openParts(): Promise<{ model: OpenedModel; files: Record<string, Uint8Array> }> {
  const files: Record<string, Uint8Array> = {}
  for (const index of PARTS.keys()) files[`m-0000${index + 1}-of-00003.gguf`] = await partFile(index)
  return { model: await openModelParts('m-00001-of-00003.gguf', new MemoryFolder(files).open), files }
}

test('a split model is packed as one model with complete layers and the header of its first file', async () => {
  const { namespace } = new MemoryNamespace()
  const { model, files } = await openParts()
  await pack(model, namespace, { name: 'm' })
  const packed = (await openImage(namespace)).model('m')
  expect(packed.manifest.layers.map(({ name, tensors }) => [name, tensors.map((tensor) => tensor.name)])).toEqual([
    ['embedding', ['token_embd.weight']],
    ['layer 0', ['blk.0.attn_q.weight']],
    ['layer 1', ['blk.1.attn_q.weight', 'blk.1.ffn_up.weight']],
    ['output', ['output.weight']],
  ])
  for (const name of PARTS.flat()) {
    const loaded = await loadTensor(packed, name)
    expect(Buffer.compare(loaded, await tensorBytes(model, name)), name).toBe(0)
    expect(Buffer.from(loaded.subarray(0, 4)).toString()).toBe('part')
  }
  const header = await readSourceHeader(packed)
  expect(header.byteLength).toBe(model.parts[0].headerBytes)
  expect(Buffer.compare(header, files['m-00001-of-00003.gguf']!.subarray(0, header.byteLength))).toBe(0)
  expect(await verifyImage(namespace)).toMatchObject({ ok: true })
})

test('a split model has the fingerprint of the same tensors in one file', async () => {
  const { model } = await openParts()
  const { namespace } = new MemoryNamespace()
  const { fingerprint } = await pack(model, namespace, { name: 'parts' })
  const pieces: Uint8Array[] = []
  const write = (bytes: Uint8Array) => {
    pieces.push(bytes.slice())
    return Promise.resolve({ bytesWritten: bytes.byteLength })
  }
  const tensors = await Promise.all(
    model.tensors.map(async ({ name, dtype, shape }) => ({
      name,
      dtype,
      shape,
      data: [await tensorBytes(model, name)],
    })),
  )
  await writeGguf({ write }, { metadata: new Map(), tensors })
  const whole = await openModelParts('whole.gguf', new MemoryFolder({ 'whole.gguf': concat(...pieces) }).open)
  expect(await pack(whole, namespace, { name: 'whole' })).toMatchObject({ fingerprint, sameAs: ['parts'] })
})

test('packing a split model is resumed only if the revisions of all its files match', async () => {
  const { model } = await openParts()
  const revised = (revisions: readonly (string | undefined)[]) => {
    const parts = model.parts.map((part, index) => {
      const revision = revisions[index]
      return { ...part, source: { ...part.source, ...(revision !== undefined && { revision }) } }
    })
    return { ...model, parts: [parts[0]!, ...parts.slice(1)] as const satisfies readonly unknown[] }
  }
  const interrupted = async (revisions: readonly (string | undefined)[]) => {
    const memory = new MemoryNamespace()
    const controller = new AbortController()
    let pieces = 0
    const onProgress = () => {
      if (++pieces === 3) controller.abort('killed')
    }
    const request = { name: 'm', checkpointBytes: 1 }
    const { signal } = controller
    await expect(pack(revised(['1', '2', '3']), memory.namespace, { ...request, signal, onProgress })).rejects.toBe(
      'killed',
    )
    return (await pack(revised(revisions), memory.namespace, request)).resumedBytes
  }
  expect(await interrupted(['1', '2', '3'])).toBeGreaterThan(0)
  expect(await interrupted(['1', '2', '4'])).toBe(0)
  expect(await interrupted(['1', '2', undefined])).toBe(0)
})
