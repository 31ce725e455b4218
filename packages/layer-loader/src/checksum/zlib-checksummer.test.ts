import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { hostMemory } from '../../test/host-memory.js'
import { zlibChecksummer } from './zlib-checksummer.js'

const MIB = 1024 * 1024

test('computes CRC-32/ISO-HDLC of each chunk: cbf43926 for 123456789', async () => {
  const memory = hostMemory(new TextEncoder().encode('xx123456789123456789123'))
  const into = new Uint32Array(4).fill(7)
  await zlibChecksummer.checksum(memory, 2, 21, 9, into)
  // The last chunk is 123; its checksum is by Python's binascii.crc32.
  expect([...into]).toEqual([0xcbf43926, 0xcbf43926, 0x884863d2, 7])
})

test('computes one checksum for a chunk of several steps: 3 MiB of zeros', async () => {
  const into = new Uint32Array(1)
  await zlibChecksummer.checksum(hostMemory(new Uint8Array(3 * MIB)), 0, 3 * MIB, 2 ** 40, into)
  // By Python's binascii.crc32(bytes(3 << 20)).
  expect(into[0]).toBe(0x79724fc6)
})

test('computes no checksums of an empty range', async () => {
  const into = Uint32Array.of(7)
  await zlibChecksummer.checksum(hostMemory(new Uint8Array(8)), 8, 0, 4, into)
  expect([...into]).toEqual([7])
})

test.each([
  ['fast', 0],
  ['slow', 1000],
])('yields to the event loop after every 4 MiB on a %s machine', async (_, stepMs) => {
  let nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += stepMs))
  onTestFinished(() => void vi.restoreAllMocks())
  const immediates = vi.spyOn(globalThis, 'setImmediate')
  const into = new Uint32Array(15)
  await zlibChecksummer.checksum(hostMemory(new Uint8Array(15 * MIB)), 0, 15 * MIB, MIB, into)
  expect(immediates).toHaveBeenCalledTimes(3)
})

test('rejects with the reason of an abort between two turns', async () => {
  const abort = new AbortController()
  const into = new Uint32Array(1024)
  const sums = zlibChecksummer.checksum(hostMemory(new Uint8Array(512 * MIB)), 0, 512 * MIB, MIB / 2, into, abort)
  await turn()
  abort.abort(new Error('not now'))
  await expect(sums).rejects.toThrow('not now')
  expect(into.at(-1)).toBe(0)
  const late = zlibChecksummer.checksum(hostMemory(new Uint8Array(1)), 0, 1, 1, into, abort)
  await expect(late).rejects.toThrow('not now')
})

test('rejects ranges outside of the memory, invalid chunk lengths and a short result array', async () => {
  const memory = hostMemory(new Uint8Array(100))
  const sums = (offset: number, length: number, chunk: number, places = 100) =>
    zlibChecksummer.checksum(memory, offset, length, chunk, new Uint32Array(places))
  await expect(sums(90, 11, 1)).rejects.toThrow(
    new RangeError('memory: expected a range inside 0 to 100 bytes, got 11 bytes from 90'),
  )
  for (const [offset, length] of [
    [-1, 1],
    [0.5, 1],
    [0, -1],
    [Number.MAX_SAFE_INTEGER, 1],
    [NaN, 1],
  ] as const) {
    await expect(sums(offset, length, 1)).rejects.toThrow(RangeError)
  }
  for (const chunk of [0, -1, 0.5, NaN, Infinity]) {
    await expect(sums(0, 1, chunk)).rejects.toThrow(/^chunkBytes: expected an integer from 1 on/)
  }
  await expect(sums(0, 100, 9, 11)).rejects.toThrow(new RangeError('into: expected 12 elements, got 11'))
})

test('rejects memory without a view', async () => {
  const { view, ...hidden } = hostMemory(new Uint8Array(100))
  expect(view).toBeDefined()
  await expect(zlibChecksummer.checksum(hidden, 0, 1, 1, new Uint32Array(1))).rejects.toThrow(
    new TypeError('memory: expected memory with a view, got memory that the host cannot see'),
  )
})
