import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../test/scratch.js'
import { openModelInFiles, streamLayers } from '../src/index.js'
import { joinStores, namespaceStore, openFileStore } from '../src/store/index.js'
import { MemoryNamespace } from './memory-namespace.js'
import { safetensorsFile, tensorBytes } from './models.js'

const vector = (name: string) => fileURLToPath(new URL(`formats/vectors/${name}`, import.meta.url))

describe('a model split over three files', () => {
  test.each(['buffered', 'direct or buffered'])(
    'a split model is streamed in place with %s I/O, byte-identical',
    async (how) => {
      const options = how === 'buffered' ? {} : ({ direct: 'auto' } as const)
      await using model = await openModelInFiles(vector('split-00002-of-00003.gguf'), options)
      const { catalogue } = model
      const seen: string[] = []
      for await (using layer of streamLayers(model, { verify: 'off', slots: 2 })) {
        for (const { name } of layer.tensors) {
          expect(Buffer.compare(layer.tensor(name), await tensorBytes(catalogue.model, name)), name).toBe(0)
          seen.push(name)
        }
      }
      expect(seen.sort()).toEqual(catalogue.model.tensors.map(({ name }) => name).sort())
      expect(seen).toHaveLength(8)
    },
  )

  test('a split model is rejected if one of its files is missing', async () => {
    await expect(openModelInFiles(vector('split-00009-of-00003.gguf'))).rejects.toThrow()
  })
})

test('reads tensors whose offset is not that of a block without moves, and without the blocks around them', async () => {
  const path = join(scratch(), 'model.safetensors')
  writeFileSync(path, safetensorsFile([0, 1, 2].map((layer) => [`model.layers.${layer}.a`, 65_536])))
  await using model = await openModelInFiles(path)
  const stream = streamLayers(model, { verify: 'off' })
  for await (using layer of stream) expect(layer.tensors).toHaveLength(1)
  expect(stream.loaderStatistics).toMatchObject({ bytes: 3 * 65_536, movedBytes: 0 })
})

describe('joined stores', () => {
  const pair = () => {
    const drives = [1, 2].map((seed) => {
      const drive = new MemoryNamespace({ capacityBytes: 8192 })
      drive.media.forEach((_, at) => (drive.media[at] = (at * seed + (at >> 8)) % 251))
      return drive
    })
    return { drives, store: joinStores(drives.map(({ namespace }) => namespaceStore(namespace))) }
  }

  test('joined stores are read across their boundaries', async () => {
    const { drives, store } = pair()
    expect(store).toMatchObject({ capacityBytes: 16_384, starts: [0, 8192], name: 'namespace 1 and 1 more' })
    const memory = store.dma.alloc(16_384)
    const summary = await store.read(
      [
        { offsetBytes: 7680, lengthBytes: 1024, memoryBytes: 512 },
        { offsetBytes: 0, lengthBytes: 512, memoryBytes: 4096 },
      ],
      memory,
    )
    const bytes = new Uint8Array(memory.view!.buffer)
    const [first, second] = drives.map(({ media }) => media)
    expect(bytes.subarray(512, 1024)).toEqual(first!.subarray(7680))
    expect(bytes.subarray(1024, 1536)).toEqual(second!.subarray(0, 512))
    expect(bytes.subarray(4096, 4608)).toEqual(first!.subarray(0, 512))
    expect(summary).toMatchObject({ bytes: 1536, devices: [{ bytes: 1024 }, { bytes: 512 }] })
    expect(store.locate(7680, 1024)).toBe('NSID 1  LBA 0xf to 0xf; NSID 1  LBA 0x0 to 0x0')
  })

  test('report a failed read only after the reads of the other store end', async () => {
    const { drives, store } = pair()
    drives[0]!.outcome = () => ({ kind: 'status', sct: 2, sc: 0x81, dnr: true, more: false, crd: 0 })
    let resume = (): void => undefined
    drives[1]!.gate = () => new Promise((resolve) => (resume = resolve))
    let isOver = false
    const reading = store
      .read([{ offsetBytes: 7680, lengthBytes: 1024, memoryBytes: 0 }], store.dma.alloc(1024))
      .catch((error: unknown) => error)
      .finally(() => (isOver = true))
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
    expect(isOver).toBe(false)
    resume()
    expect(await reading).toMatchObject({ code: 'ERR_GPUNVME_TRANSFER' })
  })

  test('reject reads beyond their end, and capacities that are not a multiple of each block size', async () => {
    const { store } = pair()
    const memory = store.dma.alloc(1024)
    await expect(store.read([{ offsetBytes: 16_384, lengthBytes: 512, memoryBytes: 0 }], memory)).rejects.toThrow(
      RangeError,
    )
    expect(() => joinStores([])).toThrow(RangeError)
    const odd = namespaceStore(new MemoryNamespace({ capacityBytes: 512 * 3 }).namespace)
    await using file = await openFileStore(vector('split-00001-of-00003.gguf'))
    expect(() => joinStores([odd, file])).toThrow('whole blocks of 4096 bytes')
  })
})
