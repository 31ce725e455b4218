import { constants } from 'node:buffer'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  hasCode,
  ExtentTooLongError,
  loadTensor,
  openLoader,
  zlibChecksummer,
  type StoredExtent,
  type StoredModel,
} from '../src/index.js'
import type { BlockStore } from '../src/store/index.js'
import { hostCopies } from '../src/residence/index.js'
import { fileMemory } from '../src/store/file-store-memory.js'

const GIB = 2 ** 30
const BLOCK_BYTES = 4096

/** Tensors of the layer: one above 4 GiB between two small ones. The last one is not aligned in the store. */
const FIRST = { name: 'first', storeBytes: 0, lengthBytes: BLOCK_BYTES }
const HUGE = { name: 'huge', storeBytes: BLOCK_BYTES, lengthBytes: 5 * GIB }
const LAST = { name: 'last', storeBytes: BLOCK_BYTES + 5 * GIB + 8, lengthBytes: 3 * BLOCK_BYTES - 8 }
const LAYER_BYTES = 5 * GIB + 4 * BLOCK_BYTES

/** Zeroed pages occupy no memory until they are written, but a machine may refuse to reserve them. */
const refusal = (() => {
  try {
    fileMemory.alloc(LAYER_BYTES).free()
    return constants.MAX_LENGTH >= LAYER_BYTES ? 'arrays of this Node.js are long enough for the layer' : ''
  } catch (error) {
    return `5 GiB of memory cannot be reserved: ${(error as Error).message}`
  }
})()

/** Writes only the first and last 8 bytes of each transfer: the offset of these bytes in the store. */
function markingStore(dma: BlockStore['dma'] = fileMemory): BlockStore {
  return {
    ...{ name: 'marks', blockBytes: BLOCK_BYTES, capacityBytes: 8 * GIB, saturationBytes: GIB },
    ...{ dma, movesData: undefined },
    clock: { now: () => 0, idle: () => Promise.resolve() },
    read(transfers, { view }) {
      let bytes = 0
      for (const { offsetBytes, lengthBytes, memoryBytes } of transfers) {
        for (const at of [0, lengthBytes - 8]) view!.setFloat64(memoryBytes + at, offsetBytes + at)
        bytes += lengthBytes
      }
      return Promise.resolve({ bytes, commands: transfers.length, startNs: 0, endNs: 0 })
    },
    locate: (offsetBytes) => `byte ${offsetBytes}`,
  }
}

function largeModel(store = markingStore()): StoredModel {
  const extent = (name: string, ...tensors: (typeof FIRST)[]): StoredExtent => ({
    name,
    pieces: tensors.map(({ name, storeBytes, lengthBytes }) => {
      return { name, dtype: 'U8', shape: [lengthBytes], lengthBytes, runs: [{ storeBytes, lengthBytes }] }
    }),
    checks: [],
  })
  return {
    ...{ name: 'large', store, layers: ['layer 0'], hasChecksums: false },
    layer: () => extent('layer 0', FIRST, HUGE, LAST),
    tensor: (name) => extent(name, ...[FIRST, HUGE, LAST].filter((each) => each.name === name)),
    experts: () => [],
    expert: () => extent('layer 0 expert 0', LAST),
  }
}

const markAt = (bytes: Uint8Array, at = 0) => new DataView(bytes.buffer, bytes.byteOffset + at, 8).getFloat64(0)

describe('memory above 4 GiB', () => {
  beforeEach(({ skip }) => skip(refusal !== '', refusal))

  test('a layer above 4 GiB is loaded, and its tensors and ranges are accessible at any offset', async () => {
    await using loader = openLoader(largeModel(), { slots: 1, verify: 'off' })
    using lease = await loader.request(largeModel().layer(0)).lease()
    expect(lease.statistics.bytes).toBe(LAYER_BYTES)
    expect(markAt(lease.tensor('first'))).toBe(0)
    // Transfers of a quarter of `saturationBytes` begin here.
    for (const at of [GIB, 4 * GIB, 5 * GIB]) expect(markAt(lease.range(at, 8))).toBe(at)
    // Moved to the next multiple of 32 in memory, above the limit of an array.
    const last = lease.tensor('last')
    expect([last.length, last.byteOffset]).toEqual([LAST.lengthBytes, BLOCK_BYTES + 5 * GIB + 32])
    expect(markAt(last, LAST.lengthBytes - 8)).toBe(LAYER_BYTES - 8)
    expect(() => lease.range(lease.lengthBytes, 1)).toThrow(RangeError)
  })

  test('access to more bytes than an array can hold throws and suggests tensor and range', async () => {
    await using loader = openLoader(largeModel(), { slots: 1, verify: 'off' })
    using lease = await loader.request(largeModel().layer(0)).lease()
    for (const [use, lengthBytes] of [
      [() => lease.bytes, lease.lengthBytes],
      [() => lease.tensor('huge'), 5 * GIB],
      [() => lease.range(0, constants.MAX_LENGTH + 1), constants.MAX_LENGTH + 1],
    ] as const) {
      const error = thrownBy(use)
      expect(hasCode(error, 'ERR_GPUNVME_ARRAY_TOO_LONG')).toBe(true)
      expect(error).toMatchObject({
        headline: expect.stringContaining(`: ${lengthBytes} bytes`) as string,
        facts: [`a Uint8Array of this runtime has at most ${constants.MAX_LENGTH} bytes`],
        next: 'take parts from a lease of openLoader: lease.tensor(name), or lease.range(offsetBytes, lengthBytes)',
      })
    }
    await expect(loadTensor(largeModel(), 'huge', { verify: 'off' })).rejects.toMatchObject({
      code: 'ERR_GPUNVME_ARRAY_TOO_LONG',
    })
  })

  test('zlibChecksummer supports offsets above 4 GiB', async () => {
    const memory = fileMemory.alloc(LAYER_BYTES)
    memory.view!.setUint8(5 * GIB + 7, 0x31)
    const into = new Uint32Array(1)
    await zlibChecksummer.checksum(memory, 5 * GIB + 7, 1, 1, into)
    // CRC-32 of '1', by Python's binascii.crc32.
    expect(into[0]).toBe(0x83dcefb7)
  })

  test('hostCopies supports offsets above 4 GiB', async () => {
    const copies = hostCopies()
    const [from, to] = [fileMemory.alloc(LAYER_BYTES), copies.alloc(LAYER_BYTES)]
    from.view!.setFloat64(5 * GIB, 1234)
    await copies.copy(from, 5 * GIB, to, 5 * GIB + 16, 8)
    expect(markAt(to.range(5 * GIB + 16, 8))).toBe(1234)
  })
})

test('a failed slot allocation reports the required bytes and how many slots fit', async () => {
  const allocated: DmaMemory[] = []
  const failing: BlockStore['dma'] = {
    alloc(lengthBytes) {
      if (allocated.length === 2) throw new RangeError('Array buffer allocation failed')
      const memory = fileMemory.alloc(lengthBytes)
      allocated.push(memory)
      return memory
    },
  }
  const model = largeModel(markingStore(failing))
  await using loader = openLoader(model, { slots: 5, slotBytes: 65_536, verify: 'off' })
  const error = await loader
    .request(model.tensor('last'))
    .lease()
    .then(String, (reason: unknown) => reason)
  expect(hasCode(error, 'ERR_GPUNVME_SLOT_MEMORY')).toBe(true)
  expect(error).toMatchObject({
    headline: 'Cannot allocate 5 slots of 65536 bytes, 327680 bytes in all',
    facts: ['Array buffer allocation failed', '2 of 5 could be allocated'],
    next: 'use { slots: 2 }; or use a smaller { slotBytes }: streamLayers then splits layers; with a loader, request loader.parts(extent), tensors or experts',
  })
  expect(() => allocated[0]!.free()).toThrow('this memory was freed')
})

test('slots longer than any machine memory fail with ERR_GPUNVME_SLOT_MEMORY', async () => {
  const model = largeModel()
  await using loader = openLoader(model, { slots: 2, slotBytes: 2 ** 50, verify: 'off' })
  const error = await loader
    .request(model.tensor('last'))
    .lease()
    .then(String, (reason: unknown) => reason)
  expect(error).toMatchObject({
    code: 'ERR_GPUNVME_SLOT_MEMORY',
    facts: { 1: '0 of 2 could be allocated' },
    next: expect.stringMatching(/^use a smaller { slotBytes }/) as string,
  })
})

test('an extent longer than a slot is rejected with the number of its tensors that fit', async () => {
  const model = largeModel()
  await using loader = openLoader(model, { slotBytes: 65_536, verify: 'off' })
  const error = thrownBy(() => loader.request(model.layer(0)))
  expect(error).toBeInstanceOf(ExtentTooLongError)
  expect((error as ExtentTooLongError).facts).toEqual([
    '2 of its 3 tensors fit on their own; the longest takes 5368709120 bytes',
  ])
  expect((error as ExtentTooLongError).next).toContain('model.tensor(name), model.expert(layer, n)')
  expect((thrownBy(() => loader.request(model.tensor('huge'))) as ExtentTooLongError).facts).toEqual([])
})

function thrownBy(use: () => unknown): unknown {
  try {
    use()
  } catch (error) {
    return error
  }
  return undefined
}
