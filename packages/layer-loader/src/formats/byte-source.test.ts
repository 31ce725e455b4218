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
  test('the source has a size and reads from any offset', async () => {
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
  ])('rejects the range at %d of %d bytes without changing the buffer', async (offset, length) => {
    await using source = await open()
    const into = new Uint8Array(length).fill(0xa5)
    await expect(source.read(offset, into)).rejects.toThrow(RangeError)
    expect(into.every((byte) => byte === 0xa5)).toBe(true)
  })

  test('rejects with the reason of an aborted signal', async () => {
    await using source = await open()
    const signal = AbortSignal.abort(new Error('not now'))
    await expect(source.read(0, new Uint8Array(1), { signal })).rejects.toThrow('not now')
  })

  test('the source can be closed twice', async () => {
    const source = await open()
    await source.close()
    await source.close()
  })
})

describe('rangeSource', () => {
  test('rangeSource does not close the inner source', async () => {
    await using inner = await openFileSource(path)
    await rangeSource(inner, 10, 10).close()
    const into = new Uint8Array(1)
    await inner.read(50, into)
    expect(into[0]).toBe(50)
  })

  test('rejects a range outside of the inner source', () => {
    expect(() => rangeSource(memorySource(content), 90, 11)).toThrow(
      'memory: expected a range inside 0 to 100 bytes, got 11 bytes from 90',
    )
  })
})

describe('openFileSource', () => {
  test('rejects a missing file', async () => {
    for (const missing of [join(directory, 'missing'), join(path, 'below-a-file')]) {
      await expect(openFileSource(missing)).rejects.toMatchObject({
        code: 'ERR_GPUNVME_MODEL_NOT_FOUND',
        category: 'not-found',
        headline: expect.stringContaining(missing) as unknown,
      })
    }
  })

  test.skipIf(process.getuid?.() === 0)(
    'rejects an unreadable file (skipped as root, which can read all files)',
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

  test('rejects a directory and a character device', async () => {
    await expect(openFileSource(directory)).rejects.toMatchObject({
      code: 'ERR_GPUNVME_MODEL_NOT_A_FILE',
      category: 'usage',
      message: expect.stringContaining(`Cannot open model ${directory}: it is a directory`) as string,
    })
    await expect(openFileSource('/dev/zero')).rejects.toThrow('it is a pipe, socket or character device')
  })

  test('returns a source that reports the new end of a truncated file', async () => {
    const shrinking = join(directory, 'shrinking')
    await writeFile(shrinking, content)
    await using source = await openFileSource(shrinking)
    await truncate(shrinking, 60)
    await expect(source.read(50, new Uint8Array(20))).rejects.toMatchObject({
      code: 'ERR_GPUNVME_SOURCE_READ',
      message: `Cannot read ${shrinking}: it now ends at byte 60\n  it had 100 bytes when it was opened\n  Try: wait until no process writes to it, then open it again`,
    })
  })

  test('returns a source that rejects reads after close', async () => {
    const source = await openFileSource(path)
    await source.close()
    await expect(source.read(0, new Uint8Array(1))).rejects.toThrow(`Cannot read ${path}: the source is closed`)
  })
})

describe('sizeByProbing', () => {
  test.each([0, 1, 2, 3, 511, 512, 513, 256_060_514_304])(
    'finds a size of %d bytes in less than 90 probes',
    async (sizeBytes) => {
      let probes = 0
      const hasByteAt = (offset: number): Promise<boolean> => (probes++, Promise.resolve(offset < sizeBytes))
      expect(await sizeByProbing(hasByteAt)).toBe(sizeBytes)
      expect(probes).toBeLessThan(90)
    },
  )

  test('rejects an endless source', async () => {
    await expect(sizeByProbing(() => Promise.resolve(true))).rejects.toThrow(RangeError)
  })
})
