import { nativeFileReader, NativeAddonError } from '@gpunvme/cuda-native/host'
import type { FileReader } from '@gpunvme/nvme-spec/transport'
import { fstatSync } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../test/scratch.js'
import { openImage, openLoader, streamLayers, VerificationError } from '../src/index.js'
import { pack } from '../src/image/index.js'
import { openFileStore, openWritableFileStore } from '../src/store/index.js'
import { layeredModel, tensorBytes } from './models.js'

const MIB = 1024 * 1024

const reader = ((): FileReader | undefined => {
  try {
    return nativeFileReader()
  } catch (error) {
    if (error instanceof NativeAddonError) return undefined
    throw error
  }
})()
const skipped = reader === undefined ? ' (skipped: [native] gpunvme_host is not built)' : ''

describe.skipIf(reader === undefined)(`loading through a native reader of files${skipped}`, () => {
  const folder = scratch()

  /** Counts the checksums that are not computed while reading. */
  const counting = () => {
    const counter = { calls: 0 }
    const checksummer = {
      name: 'counting',
      checksum: () => {
        counter.calls++
        return Promise.resolve()
      },
    }
    return { counter, checksummer }
  }

  test.for([{ direct: false }, { direct: 'auto' }] as const)(
    'all layers are byte-identical and verified by the reads alone, direct: $direct',
    async ({ direct }) => {
      const path = join(folder, `image, direct ${direct}`)
      const model = await layeredModel(3, 17 * MIB + 4096)
      await using writable = await openWritableFileStore(path, { sizeBytes: 64 * MIB })
      await pack(model, writable)
      await using store = await openFileStore(path, { direct, reader: reader! })
      const { counter, checksummer } = counting()
      let tensors = 0
      for await (using layer of streamLayers((await openImage(store)).model(), { checksummer })) {
        expect(layer.verified).toBe(true)
        for (const { name } of layer.tensors) {
          expect(Buffer.compare(layer.tensor(name), await tensorBytes(model, name)), name).toBe(0)
          tensors++
        }
      }
      expect([tensors, counter.calls]).toEqual([3, 0])
    },
  )

  test('a file that does not end with a block is read whole, direct: auto', async () => {
    const path = join(folder, 'odd')
    const content = Uint8Array.from({ length: 3 * MIB + 777 }, (_, index) => index % 251)
    await writeFile(path, content)
    await using store = await openFileStore(path, { direct: 'auto', reader: reader! })
    const memory = store.dma.alloc(store.capacityBytes)
    const transfer = { offsetBytes: 0, lengthBytes: store.capacityBytes, memoryBytes: 0 }
    const ranges = [{ memoryBytes: 0, lengthBytes: content.length }]
    const { crc32s } = await store.readChecksummed!([transfer], memory, ranges)
    expect(crc32s).toEqual([crc32(content)])
    const bytes = new Uint8Array(memory.view!.buffer, 0, store.capacityBytes)
    expect(Buffer.compare(bytes.subarray(0, content.length), content)).toBe(0)
    expect(bytes.subarray(content.length).every((byte) => byte === 0)).toBe(true)
  })

  test('corruption is found by the reads, with chunk and location', async () => {
    const path = join(folder, 'corrupt')
    await using writable = await openWritableFileStore(path, { sizeBytes: 64 * MIB })
    const { manifest } = await pack(await layeredModel(3, 9 * MIB), writable)
    const [, layer] = manifest.layers
    const file = await open(path, 'r+')
    await file.write(Uint8Array.of(0x5a, 0xa5), 0, 2, layer!.offsetBytes + 8 * MIB + 77)
    await file.close()
    await using store = await openFileStore(path, { reader: reader! })
    const image = (await openImage(store)).model()
    await using loader = openLoader(image)
    await using good = await loader.request(image.layer(0)).lease()
    expect(good.verified).toBe(true)
    const error = await loader
      .request(image.layer(1))
      .lease()
      .catch((error: unknown) => error)
    expect(error).toBeInstanceOf(VerificationError)
    expect(error).toMatchObject({ chunk: 8, offsetBytes: layer!.offsetBytes + 8 * MIB, lengthBytes: MIB })
  })
})

test('closing a file store waits for reads in flight of its reader', async () => {
  const path = join(scratch(), 'file')
  await writeFile(path, new Uint8Array(4096))
  const order: string[] = []
  let open: (() => void) | undefined
  const waiting: FileReader = {
    read: (fd, _fileOffsetBytes, _view, _offsetBytes, lengthBytes) => {
      order.push('begun')
      return new Promise<number>((resolve) => {
        open = () => resolve(lengthBytes)
      }).finally(() => order.push(`ended with the file ${isOpen(fd) ? 'open' : 'closed'}`))
    },
  }
  const store = await openFileStore(path, { reader: waiting })
  const read = store.read([{ offsetBytes: 0, lengthBytes: 4096, memoryBytes: 0 }], store.dma.alloc(4096))
  while (open === undefined) await turn()
  const closed = store.close().then(() => order.push('closed'))
  await turn()
  open()
  await Promise.all([read, closed])
  expect(order).toEqual(['begun', 'ended with the file open', 'closed'])
})

function isOpen(fd: number): boolean {
  try {
    fstatSync(fd)
    return true
  } catch {
    return false
  }
}
