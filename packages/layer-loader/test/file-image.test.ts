import { closeSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../test/scratch.js'
import { modelInPlace, openImage, openLoader, streamLayers, zlibChecksummer } from '../src/index.js'
import { pack, removeModel, verifyImage } from '../src/image/index.js'
import { createStripe, eraseSet } from '../src/sets/index.js'
import { openFileStore, openWritableFileStore, type WritableBlockStore } from '../src/store/index.js'
import { Catalogue, openFileSource, openModel } from '../src/formats/index.js'
import { layeredModel, safetensorsFile, tensorBytes } from './models.js'

const MIB = 1024 * 1024
const folder = scratch()

describe('an image in a plain file', () => {
  const path = join(folder, 'image')

  test('an image in a file is streamed byte-identical, buffered and with direct I/O', async () => {
    const model = await layeredModel(3, 5 * MIB + 4096)
    {
      await using store = await openWritableFileStore(path, { sizeBytes: 32 * MIB })
      await pack(model, store)
      expect(await verifyImage(store)).toMatchObject({ ok: true, problems: [] })
    }
    for (const direct of [false, 'auto'] as const) {
      await using store = await openFileStore(path, { direct })
      const seen: string[] = []
      for await (using layer of streamLayers((await openImage(store)).model())) {
        for (const { name } of layer.tensors) {
          expect(Buffer.compare(layer.tensor(name), await tensorBytes(model, name)), name).toBe(0)
          seen.push(name)
        }
      }
      expect(seen).toHaveLength(3)
    }
  }, 60_000)

  test('an image in a plain file is replaced in place, and never extends the file', async () => {
    await using store = await openWritableFileStore(path)
    const other = await layeredModel(2, MIB, 7)
    await pack(other, store, { replace: true })
    const layers = (await openImage(store)).model().layers
    expect(layers).toHaveLength(2)
    await expect(pack(await layeredModel(40, MIB), store, { replace: true })).rejects.toMatchObject({
      code: 'ERR_GPUNVME_NAMESPACE_TOO_SMALL',
    })
    expect(statSync(path).size).toBe(32 * MIB)
  }, 60_000)

  test('an image in a file with changed bytes fails verification with their range in the file', async () => {
    await using store = await openFileStore(path)
    const model = (await openImage(store)).model()
    const at = model.manifest.layers[1]!.offsetBytes + 1234
    const fd = openSync(path, 'r+')
    writeSync(fd, Uint8Array.of(0x5a, 0xa5, 0x5a), 0, 3, at)
    closeSync(fd)
    const read = async () => {
      for await (const layer of streamLayers(model)) layer.release()
    }
    const from = model.manifest.layers[1]!.offsetBytes
    await expect(read()).rejects.toMatchObject({
      code: 'ERR_GPUNVME_VERIFICATION',
      message: expect.stringContaining(`${path}  bytes ${from} to ${from + MIB - 1}`) as string,
    })
  }, 60_000)

  test('an image in a plain file is rejected if the file ends before the image', async () => {
    await using store = await openFileStore(path)
    const memory = store.dma.alloc(4 * MIB)
    await store.read([{ offsetBytes: 0, lengthBytes: 4 * MIB, memoryBytes: 0 }], memory)
    const short = join(folder, 'short')
    writeFileSync(short, new Uint8Array(memory.view!.buffer, 0, 2 * MIB + 4096))
    await using truncated = await openFileStore(short)
    await expect(openImage(truncated)).rejects.toMatchObject({ code: 'ERR_GPUNVME_IMAGE_TRUNCATED' })
  }, 60_000)

  test('a store that was opened for reading rejects all writes with the function that opens it for writing', async () => {
    await using store = await openFileStore(path)
    const writable = store as unknown as WritableBlockStore
    const model = await layeredModel(2, MIB)
    for (const call of [
      () => pack(model, writable, { name: 'another' }),
      () => pack(model, writable, { replace: 'image' }),
      () => removeModel(writable, model.name ?? 'small.safetensors'),
      () => eraseSet([writable]),
      () => createStripe([writable, Object.create(writable) as WritableBlockStore], { replace: true }),
    ]) {
      await expect(call()).rejects.toMatchObject({
        code: 'ERR_GPUNVME_READ_ONLY',
        category: 'usage',
        message: `Cannot write to ${path}: it was opened for reading\n  Try: open the controller with { write: { serial } }; for a file, use openWritableFileStore(path)`,
      })
    }
  })

  test('chunks of an image in a file match its chunk table, computed in the memory of the store', async () => {
    await using store = await openFileStore(path)
    const model = (await openImage(store)).model()
    const { offsetBytes, lengthBytes, firstChunk } = model.manifest.layers[0]!
    const wholeBytes = Math.ceil(lengthBytes / 4096) * 4096
    const memory = store.dma.alloc(wholeBytes)
    await store.read([{ offsetBytes, lengthBytes: wholeBytes, memoryBytes: 0 }], memory)
    const into = new Uint32Array(Math.ceil(lengthBytes / MIB))
    await zlibChecksummer.checksum(memory, 0, lengthBytes, MIB, into)
    expect([...into]).toEqual([...model.chunkCrcs.subarray(firstChunk, firstChunk + into.length)])
  }, 60_000)
})

test('a model file is loaded in place to its last byte, buffered and with direct I/O', async () => {
  const path = join(folder, 'model.safetensors')
  writeFileSync(
    path,
    safetensorsFile([
      ['model.layers.0.weight', 3 * MIB + 5],
      ['model.layers.1.weight', 777],
    ]),
  )
  await using source = await openFileSource(path)
  const file = await openModel(source)
  for (const direct of [false, 'auto'] as const) {
    await using store = await openFileStore(path, { direct })
    const whole = { fileOffsetBytes: 0, deviceOffsetBytes: 0, lengthBytes: store.sizeBytes }
    const model = modelInPlace(new Catalogue(file), store, [[whole]])
    await using loader = openLoader(model, { verify: 'off' })
    for (const { name } of file.tensors) {
      const lease = await loader.request(model.tensor(name)).lease()
      expect(Buffer.compare(lease.tensor(name), await tensorBytes(file, name)), name).toBe(0)
      lease.release()
    }
  }
}, 60_000)
