import { chmod, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { memorySource, openFileSource, rangeSource, type ByteSource } from './index.js'
import { sizeByProbing } from './size-by-probing.js'

const content = Uint8Array.from({ length: 100 }, (_, index) => index)
const directory = scratch()
let path: string

beforeAll(async () => {
  path = join(directory, 'model.bin')
  await writeFile(path, content)
})

const sources: readonly [string, () => Promise<ByteSource>][] = [
  ['file', () => openFileSource(path)],
  ['memory', () => Promise.resolve(memorySource(content))],
  [
    'range',
    () =>
      Promise.resolve(rangeSource(memorySource(Buffer.concat([Buffer.alloc(5), content, Buffer.alloc(5)])), 5, 100)),
  ],
]

describe.each(sources)('a %s source', (_, open) => {
  test('knows its size and fills a buffer from any offset', async () => {
    await using source = await open()
    expect(source.sizeBytes).toBe(100)
    const into = new Uint8Array(3)
    await source.read(97, into)
    expect([...into]).toEqual([97, 98, 99])
    await source.read(100, new Uint8Array(0))
  })

  test.each([
    [98, 3],
    [-1, 1],
    [0.5, 1],
    [101, 0],
    [Number.MAX_SAFE_INTEGER, 1],
  ])('refuses the range from %d of %d bytes and leaves the buffer alone', async (offset, length) => {
    await using source = await open()
    const into = new Uint8Array(length).fill(0xa5)
    await expect(source.read(offset, into)).rejects.toThrow(RangeError)
    expect(into.every((byte) => byte === 0xa5)).toBe(true)
  })

  test('throws the reason of a signal that is aborted', async () => {
    await using source = await open()
    const signal = AbortSignal.abort(new Error('not now'))
    await expect(source.read(0, new Uint8Array(1), { signal })).rejects.toThrow('not now')
  })

  test('is closed twice without harm', async () => {
    const source = await open()
    await source.close()
    await source.close()
  })
})

describe('a range', () => {
  test('leaves the inner source open when it is closed', async () => {
    await using inner = await openFileSource(path)
    await rangeSource(inner, 10, 10).close()
    const into = new Uint8Array(1)
    await inner.read(50, into)
    expect(into[0]).toBe(50)
  })

  test('must lie inside the inner source', () => {
    expect(() => rangeSource(memorySource(content), 90, 11)).toThrow(
      'memory: expected a range inside 0 to 100 bytes, got 11 bytes from 90',
    )
  })
})

describe('a file', () => {
  test('that does not exist is not found', async () => {
    for (const missing of [join(directory, 'missing'), join(path, 'below-a-file')]) {
      await expect(openFileSource(missing)).rejects.toMatchObject({
        code: 'ERR_GPUNVME_MODEL_NOT_FOUND',
        category: 'not-found',
        headline: expect.stringContaining(missing) as unknown,
      })
    }
  })

  test.skipIf(process.getuid?.() === 0)(
    'that may not be read needs a privilege (not tested as root, who may read everything)',
    async () => {
      const secret = join(directory, 'secret')
      await writeFile(secret, 'x')
      await chmod(secret, 0)
      await expect(openFileSource(secret)).rejects.toMatchObject({
        code: 'ERR_GPUNVME_MODEL_ACCESS',
        category: 'privilege',
      })
    },
  )

  test('that is a directory or a character device is refused', async () => {
    await expect(openFileSource(directory)).rejects.toMatchObject({
      code: 'ERR_GPUNVME_MODEL_NOT_A_FILE',
      category: 'usage',
      message: expect.stringContaining(`Cannot open model ${directory}: it is a directory`) as string,
    })
    await expect(openFileSource('/dev/zero')).rejects.toThrow('it is a pipe, socket or character device')
  })

  test('that shrinks while it is open fails its reads with the byte where it now ends', async () => {
    const shrinking = join(directory, 'shrinking')
    await writeFile(shrinking, content)
    await using source = await openFileSource(shrinking)
    await truncate(shrinking, 60)
    await expect(source.read(50, new Uint8Array(20))).rejects.toMatchObject({
      code: 'ERR_GPUNVME_SOURCE_READ',
      message: `Cannot read ${shrinking}: it now ends at byte 60\n  it had 100 bytes when it was opened`,
    })
  })

  test('that is closed says so', async () => {
    const source = await openFileSource(path)
    await source.close()
    await expect(source.read(0, new Uint8Array(1))).rejects.toThrow(`Cannot read ${path}: the source is closed`)
  })
})

describe('a size by probing, as of a block device', () => {
  test.each([0, 1, 2, 3, 511, 512, 513, 256_060_514_304])('of %d bytes is exact', async (sizeBytes) => {
    let probes = 0
    const hasByteAt = (offset: number): Promise<boolean> => (probes++, Promise.resolve(offset < sizeBytes))
    expect(await sizeByProbing(hasByteAt)).toBe(sizeBytes)
    expect(probes).toBeLessThan(90)
  })

  test('ends for something endless', async () => {
    await expect(sizeByProbing(() => Promise.resolve(true))).rejects.toThrow(RangeError)
  })
})
