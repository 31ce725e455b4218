import { expect, test } from 'vitest'
import { memorySource, type ByteSource } from '../formats/byte-source.js'
import { fileOnDiskSource } from './file-source.js'
import type { FileOnDisk } from './file-system.js'

const device = Uint8Array.from({ length: 1000 }, (_, index) => index % 251)

/** Seven bytes at offset 500, one at 3, and two at 100. */
const file: FileOnDisk = {
  path: 'model.gguf',
  sizeBytes: 10,
  extents: [
    { fileOffsetBytes: 0, deviceOffsetBytes: 500, lengthBytes: 7 },
    { fileOffsetBytes: 7, deviceOffsetBytes: 3, lengthBytes: 1 },
    { fileOffsetBytes: 8, deviceOffsetBytes: 100, lengthBytes: 2 },
  ],
}
const content = [500, 501, 502, 503, 504, 505, 506, 3, 100, 101].map((offset) => offset % 251)

test('any range of a fragmented file is read from its extents', async () => {
  const source = fileOnDiskSource(memorySource(device), file)
  expect(source.sizeBytes).toBe(10)
  for (let from = 0; from <= 10; from++) {
    for (let to = from; to <= 10; to++) {
      const into = new Uint8Array(to - from).fill(0xa5)
      await source.read(from, into)
      expect([...into], `${from} to ${to}`).toEqual(content.slice(from, to))
    }
  }
})

test('a range beyond the end of the file is rejected', async () => {
  const source = fileOnDiskSource(memorySource(device), file)
  await expect(source.read(9, new Uint8Array(2))).rejects.toThrow(RangeError)
})

test('a failed read rejects after the reads of all other extents ended', async () => {
  const inner = memorySource(device)
  let pending = 0
  const source: ByteSource = {
    ...inner,
    async read(offsetBytes, into) {
      if (offsetBytes === 500) throw new Error('the first piece')
      pending++
      await new Promise((resolve) => setTimeout(resolve, 20))
      into.fill(1)
      pending--
    },
  }
  await expect(fileOnDiskSource(source, file).read(0, new Uint8Array(10))).rejects.toThrow('the first piece')
  expect(pending).toBe(0)
})

test('close does not close the device', async () => {
  const source = fileOnDiskSource({ ...memorySource(device), close: () => Promise.reject(new Error('closed')) }, file)
  await source.close()
})

test.each([
  ['a gap', [{ fileOffsetBytes: 1, deviceOffsetBytes: 0, lengthBytes: 9 }]],
  ['less than the file', [{ fileOffsetBytes: 0, deviceOffsetBytes: 0, lengthBytes: 9 }]],
  ['more than the file', [{ fileOffsetBytes: 0, deviceOffsetBytes: 0, lengthBytes: 11 }]],
  ['an end past the device', [{ fileOffsetBytes: 0, deviceOffsetBytes: 991, lengthBytes: 10 }]],
  ['a place before the device', [{ fileOffsetBytes: 0, deviceOffsetBytes: -1, lengthBytes: 10 }]],
])('extents with %s are rejected', (_, extents) => {
  expect(() => fileOnDiskSource(memorySource(device), { path: 'x', sizeBytes: 10, extents })).toThrow(RangeError)
})
