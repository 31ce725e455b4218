import type { Checksummer, DmaAllocator } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import {
  openExpertCache,
  openImage,
  openLoader,
  streamLayers,
  zlibChecksummer,
  type LoaderOptions,
  type StreamOptions,
} from '../src/index.js'
import { pack } from '../src/image/index.js'
import { hostMemory } from './host-memory.js'
import { MemoryNamespace } from './memory-namespace.js'
import { smallModel, tensorBytes, type TensorSize } from './models.js'

const MIB = 1 << 20
const LENGTHS = [1, 4, 2, 1]

/** Four layers of different lengths, and a loader whose allocations are counted. */
async function opened(options: LoaderOptions, limitBytes = Infinity) {
  const memory = new MemoryNamespace({ capacityBytes: 32 * MIB })
  const sizes = LENGTHS.map((mib, layer): TensorSize => [`model.layers.${layer}.weight`, mib * MIB])
  const file = await smallModel(sizes)
  await pack(file, memory.namespace)
  const model = (await openImage(memory.namespace)).model()
  const allocated: number[] = []
  const dma: DmaAllocator = {
    alloc(lengthBytes, request) {
      if (allocated.reduce((sum, bytes) => sum + bytes, lengthBytes) > limitBytes)
        throw new RangeError('no memory left')
      const slot = model.store.dma.alloc(lengthBytes, request)
      const free = slot.free.bind(slot)
      allocated.push(lengthBytes)
      return Object.assign(slot, {
        free() {
          free()
          allocated.splice(allocated.indexOf(lengthBytes), 1)
        },
      })
    },
  }
  return { file, model, allocated, loader: openLoader(model, { ...options, dma }) }
}

test('with memoryBytes, each extent gets memory of its own length, which is freed on release', async () => {
  const { file, model, allocated, loader } = await opened({ memoryBytes: 8 * MIB })
  const leases = await Promise.all(LENGTHS.map((_, layer) => loader.request(model.layer(layer)).lease()))
  expect([...allocated].sort()).toEqual([1 * MIB, 1 * MIB, 2 * MIB, 4 * MIB])
  for (const [layer, lease] of leases.entries()) {
    const name = `model.layers.${layer}.weight`
    expect(Buffer.compare(lease.tensor(name), await tensorBytes(file, name))).toBe(0)
    lease.release()
  }
  expect(allocated).toEqual([])
  await loader.close()
})

test('an extent that does not fit waits for a release, and so do all requests after it', async () => {
  const { model, loader } = await opened({ memoryBytes: 5 * MIB })
  const [first, long, short] = [0, 1, 3].map((layer) => loader.request(model.layer(layer)))
  const held = await Promise.all([first!.lease(), long!.lease()])
  expect(short!.state).toBe('waiting')
  held[1].release()
  await short!.ready()
  await loader.close()
})

test('an urgent request takes the memory of as few unleased requests as it needs', async () => {
  const { model, loader } = await opened({ memoryBytes: 5 * MIB })
  const ahead = [0, 2, 3].map((layer) => loader.request(model.layer(layer), { priority: 'ahead' }))
  await Promise.all(ahead.map((ticket) => ticket.ready()))
  using lease = await loader.request(model.layer(1), { priority: 'now' }).lease()
  expect(lease.verified).toBe(true)
  // The two least urgent requests lost their memory; the first one kept it.
  expect(ahead.map(({ state }) => state)).toEqual(['ready', 'waiting', 'waiting'])
  lease.release()
  await Promise.all(ahead.map((ticket) => ticket.ready()))
  await loader.close()
})

test('an extent without memory fails with its length; others are loaded', async () => {
  const { model, loader, allocated } = await opened({ memoryBytes: 8 * MIB }, 3 * MIB)
  const [fits, fails, fitsToo] = [0, 1, 2].map((layer) => loader.request(model.layer(layer)))
  await expect(fails!.lease()).rejects.toMatchObject({
    code: 'ERR_GPUNVME_SLOT_MEMORY',
    message: expect.stringContaining('Cannot allocate 4194304 bytes for "layer 1"') as string,
  })
  await Promise.all([fits!.ready(), fitsToo!.ready()])
  await loader.close()
  expect(allocated).toEqual([])
})

test('memory is allocated shortly before an extent is read, not for all requests at once', async () => {
  const { model, loader, allocated } = await opened({ memoryBytes: 64 * MIB, inFlightBytes: 1 })
  const tickets = LENGTHS.map((_, layer) => loader.request(model.layer(layer)))
  expect(allocated).toHaveLength(3)
  await Promise.all(tickets.map((ticket) => ticket.ready()))
  expect(allocated).toHaveLength(4)
  await loader.close()
})

test('an extent that exceeds memoryBytes is rejected with its length', async () => {
  const { model, loader } = await opened({ memoryBytes: 3 * MIB })
  expect(() => loader.request(model.layer(1))).toThrow('takes 4194304 bytes of memory; the loader has 3145728')
  await loader.close()
  await expect(opened({ memoryBytes: 0 })).rejects.toThrow('memoryBytes: expected a number of bytes, at least 1, got 0')
  // With null, no extent would ever get memory.
  for (const [memoryBytes, got] of [
    [null, 'null'],
    ['4096', '"4096"'],
  ] as unknown as [number, string][])
    expect(() => openLoader(model, { memoryBytes })).toThrow(`expected a number of bytes, at least 1, got ${got}`)
})

test('memoryBytes is rejected where slots are counted: it would wait for a slot that never comes', async () => {
  const { model, loader } = await opened({ memoryBytes: 8 * MIB })
  const message = 'memoryBytes: expected neither slots nor slotBytes with it'
  expect(() => openLoader(model, { memoryBytes: MIB, slots: 2 })).toThrow(message)
  expect(() => openLoader(model, { memoryBytes: MIB, slotBytes: MIB })).toThrow(message)
  expect(() => streamLayers(model, { memoryBytes: MIB } as StreamOptions)).toThrow(message)
  const cacheBytes = 8 * MIB
  expect(() => openExpertCache(loader, { cacheBytes })).toThrow('loader: expected a loader with slots')
  await loader.close()
})

test('rejects an extent whose pages do not fit into memoryBytes, and states enough memory', async () => {
  const memory = new MemoryNamespace({ capacityBytes: 8 * MIB })
  await pack(await smallModel([['model.layers.0.weight', 100]]), memory.namespace)
  const model = (await openImage(memory.namespace)).model()
  const extent = model.tensor('model.layers.0.weight')
  await using small = openLoader(model, { verify: 'off', memoryBytes: 512 })
  expect(small.plan(extent).memoryBytes).toBe(512)
  expect(() => small.request(extent)).toThrow('open the loader with { memoryBytes: 4096 } or more')
  await using loader = openLoader(model, { verify: 'off', memoryBytes: 4096 })
  using lease = await loader.request(extent).lease()
  expect(lease.lengthBytes).toBe(512)
})

test('reads on while the checks of extents are in progress', async () => {
  const memory = new MemoryNamespace({ capacityBytes: 32 * MIB })
  const layers = Array.from({ length: 12 }, (_, layer): TensorSize => [`model.layers.${layer}.weight`, MIB])
  await pack(await smallModel(layers), memory.namespace)
  const model = (await openImage(memory.namespace)).model()
  let finish = (): void => undefined
  const finished = new Promise<void>((resolve) => (finish = resolve))
  const checksummer: Checksummer = {
    name: 'slow',
    checksum: (...call) => finished.then(() => zlibChecksummer.checksum(...call)),
  }
  await using loader = openLoader(model, { memoryBytes: 64 * MIB, inFlightBytes: 3 * MIB, checksummer })
  memory.plans.splice(0)
  const leases = layers.map((_, layer) => loader.request(model.layer(layer)).lease())
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
  const reads = memory.plans.length
  finish()
  await Promise.all(leases)
  expect(reads).toBe(layers.length)
})

test('with poison, memory is filled before it is freed', async () => {
  const { model } = await opened({})
  const bytes = new Uint8Array(MIB)
  const dma: DmaAllocator = { alloc: () => ({ ...hostMemory(bytes), free: () => undefined }) }
  await using loader = openLoader(model, { memoryBytes: MIB, poison: true, dma })
  const lease = await loader.request(model.layer(0)).lease()
  expect(bytes.every((byte) => byte === 0xa5)).toBe(false)
  lease.release()
  expect(bytes.every((byte) => byte === 0xa5)).toBe(true)
})
