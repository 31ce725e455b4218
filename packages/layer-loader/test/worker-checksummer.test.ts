import { execFileSync } from 'node:child_process'
import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { hostMemory } from './host-memory.js'
import { fileMemory } from '../src/store/file-store-memory.js'
import { workerChecksummer } from '../src/checksum/worker-checksummer.js'

const MIB = 1024 * 1024

/** Shared memory with different bytes in each chunk. */
function filled(lengthBytes: number) {
  const memory = fileMemory.alloc(lengthBytes)
  const bytes = new Uint8Array(memory.view!.buffer, 0, lengthBytes)
  for (let at = 0; at < lengthBytes; at += 1000) bytes[at] = at * 31
  return { memory, bytes }
}

test('computes the checksum of each chunk of shared memory', async () => {
  const { memory, bytes } = filled(21 * MIB + 5)
  const into = new Uint32Array(23)
  await workerChecksummer.checksum(memory, 3, 21 * MIB, MIB - 1, into)
  const expected = Array.from({ length: 22 }, (_, chunk) => {
    const at = 3 + chunk * (MIB - 1)
    return crc32(bytes.subarray(at, Math.min(at + MIB - 1, 3 + 21 * MIB)))
  })
  expect([...into]).toEqual([...expected, 0])
})

test('computes a chunk that is longer than a task at once', async () => {
  const { memory, bytes } = filled(9 * MIB)
  const into = new Uint32Array(1)
  await workerChecksummer.checksum(memory, 0, 9 * MIB, 2 ** 40, into)
  expect(into[0]).toBe(crc32(bytes))
})

test('computes concurrent calls', async () => {
  const { memory, bytes } = filled(8 * MIB)
  const sums = await Promise.all(
    Array.from({ length: 40 }, async (_, call) => {
      const into = new Uint32Array(1)
      await workerChecksummer.checksum(memory, call * 1000, 4 * MIB, 4 * MIB, into)
      return into[0]
    }),
  )
  expect(sums).toEqual(
    Array.from({ length: 40 }, (_, call) => crc32(bytes.subarray(call * 1000, call * 1000 + 4 * MIB))),
  )
})

test('leaves the calling thread free', async () => {
  const { memory } = filled(64 * MIB)
  const order: string[] = []
  const summed = workerChecksummer.checksum(memory, 0, 64 * MIB, 64 * MIB, new Uint32Array(1))
  setImmediate(() => order.push('another turn'))
  await summed.then(() => order.push('summed'))
  expect(order).toEqual(['another turn', 'summed'])
})

test('computes checksums of other memory on the calling thread', async () => {
  const into = new Uint32Array(1)
  await workerChecksummer.checksum(hostMemory(new TextEncoder().encode('123456789')), 0, 9, 9, into)
  expect(into[0]).toBe(0xcbf43926)
})

test('throws the reason of an abort after the tasks in flight', async () => {
  const { memory } = filled(256 * MIB)
  const abort = new AbortController()
  const into = new Uint32Array(256)
  const sums = workerChecksummer.checksum(memory, 0, 256 * MIB, MIB, into, abort)
  abort.abort(new Error('no longer needed'))
  await expect(sums).rejects.toThrow('no longer needed')
  expect(into.at(-1)).toBe(0)
  await expect(workerChecksummer.checksum(memory, 0, 1, 1, into, abort)).rejects.toThrow('no longer needed')
})

test('rejects bytes outside the memory, and too few elements', async () => {
  const { memory } = filled(4096)
  const checksum = (...[offset, length, elements]: readonly number[]) =>
    workerChecksummer.checksum(memory, offset!, length!, 100, new Uint32Array(elements!))
  await expect(checksum(4000, 97, 1)).rejects.toThrow('memory: expected a range inside 0 to 4096 bytes')
  await expect(checksum(0, 101, 1)).rejects.toThrow('into: expected 2 elements, got 1')
})

test('its threads keep a program alive during a call, not after it', () => {
  const program = `
    import { workerChecksummer } from '@gpunvme/layer-loader'
    const view = new DataView(new SharedArrayBuffer(9))
    new Uint8Array(view.buffer).set(new TextEncoder().encode('123456789'))
    const into = new Uint32Array(1)
    await workerChecksummer.checksum({ lengthBytes: 9, view }, 0, 9, 9, into)
    console.log(into[0].toString(16))`
  const options = { cwd: import.meta.dirname, encoding: 'utf8', timeout: 60_000 } as const
  expect(execFileSync(process.execPath, ['--input-type=module', '-e', program], options)).toBe('cbf43926\n')
})
