import { createCipheriv } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { ReadChecksums } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { hostMemory } from '../../test/host-memory.js'
import { FileBlocks, type OpenFile } from './file-store-blocks.js'

const MIB = 1024 * 1024
/** The key stream of AES: reproducible bytes without a pattern. */
const content = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(36 * MIB + 700))

/** A file in memory whose reads a test can delay, shorten or fail. */
class FakeFile implements OpenFile {
  sizeBytes = content.length
  /** Maximum number of bytes that a call returns. */
  maxBytes = Infinity
  /** Returns a promise that the call at this offset waits for. */
  gate: (offsetBytes: number) => Promise<void> = () => Promise.resolve()
  readonly calls: number[] = []
  inFlight = 0
  peakInFlight = 0

  async read(into: Uint8Array, at: number, lengthBytes: number, offsetBytes: number) {
    this.calls.push(offsetBytes)
    this.peakInFlight = Math.max(this.peakInFlight, ++this.inFlight)
    try {
      await this.gate(offsetBytes)
      const bytesRead = Math.max(0, Math.min(lengthBytes, this.maxBytes, this.sizeBytes - offsetBytes))
      into.set(content.subarray(offsetBytes, offsetBytes + bytesRead), at)
      return { bytesRead }
    } finally {
      this.inFlight--
    }
  }

  write(): never {
    throw new Error('expected no write through a read-only store')
  }

  sync = () => Promise.resolve()
  close = () => Promise.resolve()
}

function rig(memoryBytes = 40 * MIB) {
  const file = new FakeFile()
  const shape = { sizeBytes: content.length, blockBytes: 512, memoryAlignBytes: 1 }
  const bytes = new Uint8Array(memoryBytes).fill(0xa5)
  return { file, bytes, memory: hostMemory(bytes), store: new FileBlocks('model.bin', file, shape) }
}

const all = { offsetBytes: 0, lengthBytes: 36 * MIB + 1024, memoryBytes: 0 }

/** A file that computes checksums while it reads. */
class SummingFile extends FakeFile {
  /** False for memory that it cannot access. */
  canAccess = true
  summedBytes = 0

  readChecksummed(into: Uint8Array, offsetBytes: number, { chunkBytes, summedBytes, into: sums }: ReadChecksums) {
    if (!this.canAccess) return undefined
    return this.read(into, 0, into.length, offsetBytes).then(({ bytesRead }) => {
      for (let at = 0; at < summedBytes; at += chunkBytes) {
        sums[at / chunkBytes] = crc32(into.subarray(at, Math.min(at + chunkBytes, summedBytes)))
      }
      this.summedBytes += summedBytes
      return bytesRead
    })
  }
}

function summingRig() {
  const file = new SummingFile()
  const shape = { sizeBytes: content.length, blockBytes: 512, memoryAlignBytes: 1 }
  const bytes = new Uint8Array(40 * MIB)
  return { file, bytes, memory: hostMemory(bytes), store: new FileBlocks('model.bin', file, shape) }
}

/** Consecutive ranges of memory from its start. */
function rangesOf(...lengths: number[]) {
  let memoryBytes = 0
  return lengths.map((lengthBytes) => ({ lengthBytes, memoryBytes: (memoryBytes += lengthBytes) - lengthBytes }))
}

test('a read is split into calls of at most 8 MiB, of which at most 4 are in flight', async () => {
  const { file, bytes, memory, store } = rig()
  file.gate = () => new Promise(setImmediate)
  const [summary] = await Promise.all([
    store.read([all], memory),
    store.read([{ ...all, lengthBytes: 16 * MIB }], hostMemory(new Uint8Array(16 * MIB))),
  ])
  expect(summary).toMatchObject({ bytes: 36 * MIB + 1024, commands: 5 })
  expect(Buffer.compare(bytes.subarray(0, content.length), content)).toBe(0)
  expect(file.calls).toHaveLength(7)
  expect(file.peakInFlight).toBe(4)
  expect(store.saturationBytes).toBe(32 * MIB)
})

test('checksums of ranges inside one call are computed while it reads, those of others are undefined', async () => {
  const { file, bytes, memory, store } = summingRig()
  // The third range is in two calls. The last one ends with the file, inside a block.
  const ranges = rangesOf(5 * MIB, 2 * MIB, 3 * MIB, 6 * MIB, ...Array<number>(20).fill(MIB), 700)
  const { crc32s, commands } = await store.readChecksummed!([all], memory, ranges)
  expect(Buffer.compare(bytes.subarray(0, content.length), content)).toBe(0)
  expect(commands).toBe(5)
  expect(crc32s).toEqual(
    ranges.map(({ memoryBytes, lengthBytes }, index) =>
      // The second call begins in the middle of the third range.
      index === 2 || index === 3 ? undefined : crc32(content.subarray(memoryBytes, memoryBytes + lengthBytes)),
    ),
  )
  expect(file.summedBytes).toBe(7 * MIB + 20 * MIB + 700)
})

test('memory that the reader cannot access is read without checksums', async () => {
  const { file, bytes, memory, store } = summingRig()
  file.canAccess = false
  const { crc32s } = await store.readChecksummed!([all], memory, rangesOf(MIB, MIB))
  expect(crc32s).toEqual([undefined, undefined])
  expect(Buffer.compare(bytes.subarray(0, content.length), content)).toBe(0)
})

test('a store whose file computes no checksums has no readChecksummed', () => {
  expect(rig().store.readChecksummed).toBeUndefined()
})

test('errors of reads with checksums are those of other reads', async () => {
  const { file, memory, store } = summingRig()
  file.gate = () => Promise.reject(Object.assign(new Error('i/o error'), { code: 'EIO' }))
  await expect(store.readChecksummed!([{ ...all, lengthBytes: MIB }], memory, rangesOf(MIB))).rejects.toThrow(
    'Cannot read model.bin: 1048576 bytes from byte 0 cannot be read (EIO)',
  )
  file.gate = () => Promise.resolve()
  file.sizeBytes = MIB + 5
  await expect(store.readChecksummed!([{ ...all, lengthBytes: 2 * MIB }], memory, rangesOf(MIB))).rejects.toThrow(
    /it now ends at byte 1048581[^]*it had 37749436 bytes when it was opened/,
  )
})

test('the last block is padded with zeros, even if the file has grown', async () => {
  const { file, bytes, memory, store } = rig()
  expect(store.capacityBytes).toBe(36 * MIB + 1024)
  file.sizeBytes += 100
  await store.read([{ offsetBytes: 36 * MIB, lengthBytes: 1024, memoryBytes: 3 }], memory)
  expect(Buffer.compare(bytes.subarray(3, 703), content.subarray(36 * MIB))).toBe(0)
  expect(bytes.subarray(703, 1027).every((byte) => byte === 0)).toBe(true)
  expect([bytes[2], bytes[1027]]).toEqual([0xa5, 0xa5])
})

test('short reads are continued and counted', async () => {
  const { file, bytes, memory, store } = rig()
  file.maxBytes = 300
  const summary = await store.read([{ offsetBytes: 1024, lengthBytes: 1024, memoryBytes: 0 }], memory)
  expect(summary.commands).toBe(4)
  expect(file.calls).toEqual([1024, 1324, 1624, 1924])
  expect(Buffer.compare(bytes.subarray(0, 1024), content.subarray(1024, 2048))).toBe(0)
})

test('a failed read names file and range, stops the others, and leaves nothing in flight', async () => {
  const { file, memory, store } = rig()
  file.gate = async (offsetBytes) => {
    await new Promise(setImmediate)
    if (offsetBytes === 8 * MIB) throw Object.assign(new Error('i/o error'), { code: 'EIO' })
    await new Promise(setImmediate)
  }
  await expect(store.read([all], memory)).rejects.toMatchObject({
    code: 'ERR_GPUNVME_SOURCE_READ',
    message: expect.stringContaining(
      'Cannot read model.bin: 8388608 bytes from byte 8388608 cannot be read (EIO)',
    ) as string,
  })
  expect(file.inFlight).toBe(0)
  expect(file.calls.length).toBeLessThan(5)
  // The store is still usable.
  await store.read([{ ...all, lengthBytes: MIB }], memory)
})

test('a truncated file is an error with its old and new length', async () => {
  const { file, memory, store } = rig()
  file.sizeBytes = MIB + 5
  await expect(store.read([{ ...all, lengthBytes: 2 * MIB }], memory)).rejects.toThrow(
    /it now ends at byte 1048581[^]*it had 37749436 bytes when it was opened/,
  )
})

test('an abort stops further calls and waits for those in flight', async () => {
  const { file, memory, store } = rig()
  const abort = new AbortController()
  file.gate = () => new Promise(setImmediate)
  const read = store.read([all], memory, { signal: abort.signal })
  abort.abort(new Error('not now'))
  await expect(read).rejects.toThrow('not now')
  expect(file.calls.length).toBeLessThanOrEqual(4)
  expect(file.inFlight).toBe(0)
  await expect(store.read([all], memory, { signal: abort.signal })).rejects.toThrow('not now')
})

test('a transfer of partial blocks, or outside of file or memory, is rejected', async () => {
  const { memory, store } = rig(1024)
  for (const transfer of [
    { offsetBytes: 1, lengthBytes: 512, memoryBytes: 0 },
    { offsetBytes: 0, lengthBytes: 513, memoryBytes: 0 },
    { offsetBytes: 36 * MIB + 512, lengthBytes: 1024, memoryBytes: 0 },
    { offsetBytes: 0, lengthBytes: 1024, memoryBytes: 1 },
  ]) {
    await expect(store.read([transfer], memory)).rejects.toThrow(RangeError)
  }
})

test('memory without a view and freed memory are rejected', async () => {
  const { store } = rig()
  const { view, ...hidden } = hostMemory(new Uint8Array(512))
  expect(view).toBeDefined()
  const block = { offsetBytes: 0, lengthBytes: 512, memoryBytes: 0 }
  await expect(store.read([block], hidden)).rejects.toThrow(
    new TypeError('model.bin: expected host memory, got memory without a view'),
  )
  const memory = store.dma.alloc(512)
  memory.free()
  await expect(store.read([block], memory)).rejects.toThrow(new TypeError('this memory was freed'))
})

test('a closed store rejects reads; a second close has no effect', async () => {
  const { memory, store } = rig()
  await store.close()
  await store.close()
  await expect(store.read([{ ...all, lengthBytes: 512 }], memory)).rejects.toThrow(
    'Cannot read model.bin: the store is closed',
  )
})

test('locate names file and range, and the clock advances', async () => {
  const { store } = rig()
  expect(store.locate(4096, 512)).toBe('model.bin  bytes 4096 to 4607')
  const beforeNs = store.clock.now()
  expect(Number.isInteger(beforeNs)).toBe(true)
  await store.clock.idle(beforeNs + 2e6)
  await store.clock.idle(0)
  expect(store.clock.now()).toBeGreaterThan(beforeNs)
})
