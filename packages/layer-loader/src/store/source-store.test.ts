import { expect, test } from 'vitest'
import { hostMemory } from '../../test/host-memory.js'
import { memorySource, type ByteSource } from '../formats/byte-source.js'
import { HttpSourceError } from '../formats/http-error.js'
import { sourceStore } from './source-store.js'

const bytes = Uint8Array.from({ length: 10_000 }, (_, index) => (index * 7) & 0xff)
const whole = { offsetBytes: 0, lengthBytes: 12_288, memoryBytes: 0 }

test('sourceStore reads complete blocks, with zeros after the end of the source', async () => {
  const store = sourceStore(memorySource(bytes))
  expect([store.capacityBytes, store.blockBytes]).toEqual([12_288, 4096])
  const memory = new Uint8Array(12_288).fill(0xa5)
  await store.read([whole], hostMemory(memory))
  expect(Buffer.compare(memory.subarray(0, 10_000), bytes)).toBe(0)
  expect(memory.subarray(10_000).every((byte) => byte === 0)).toBe(true)
})

test('sourceStore passes on errors of the source', async () => {
  const error = new HttpSourceError('CHANGED', 'http://localhost/m', 'the file has changed since it was opened')
  const store = sourceStore({ ...memorySource(bytes), read: () => Promise.reject(error) })
  await expect(store.read([whole], hostMemory(new Uint8Array(12_288)))).rejects.toBe(error)
})

test('sourceStore aborts a read in flight', async () => {
  const source: ByteSource = {
    ...memorySource(bytes),
    read: (_offset, _into, { signal } = {}) =>
      new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error))),
  }
  const abort = new AbortController()
  const read = sourceStore(source).read([whole], hostMemory(new Uint8Array(12_288)), { signal: abort.signal })
  await new Promise(setImmediate)
  abort.abort(new Error('read aborted'))
  await expect(read).rejects.toThrow('read aborted')
})
