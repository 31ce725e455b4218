import { describe, expect, test, vi } from 'vitest'
import { MemoryNamespace } from '../../test/memory-namespace.js'
import {
  bar1Init,
  bar1Resolve,
  layerLoaderBlockSize,
  layerLoaderDestroy,
  layerLoaderInit,
  layerLoaderMaxTransfer,
  layerLoaderNsBlocks,
  loadLayer,
  loadLayerVram,
} from './index.js'

const BDF = '0000:0b:00.0'

async function opened(memory = new MemoryNamespace({ capacityBytes: 1 << 20 })) {
  memory.media.forEach((_, at) => (memory.media[at] = at % 251))
  const close = vi.fn(() => Promise.resolve())
  const open = vi.fn(() => Promise.resolve(memory.namespace))
  const loader = await layerLoaderInit({ pciBdf: BDF, open, close, maxLayerBytes: 64 << 10 })
  return { memory, loader, open, close }
}

describe('layerLoaderInit', () => {
  test('opens the drive of pciBdf, or of GPUNVME_PCI_BDF by default', async () => {
    const { open } = await opened()
    expect(open).toHaveBeenCalledWith(BDF)
    vi.stubEnv('GPUNVME_PCI_BDF', '01:00.0')
    await layerLoaderInit({ open, maxLayerBytes: 4096 })
    expect(open).toHaveBeenLastCalledWith('0000:01:00.0')
    vi.stubEnv('GPUNVME_PCI_BDF', '')
    await expect(layerLoaderInit({ open, maxLayerBytes: 4096 })).rejects.toThrow(
      expect.objectContaining({ code: 'ERR_GPUNVME_MISSING_DRIVE' }),
    )
    await expect(layerLoaderInit({ pciBdf: 'nvme0', open, maxLayerBytes: 4096 })).rejects.toThrow('pciBdf: expected')
    vi.unstubAllEnvs()
  })

  test.each([0, -1, 1.5])('rejects maxLayerBytes: %d', async (maxLayerBytes) => {
    const open = () => Promise.reject(new Error('nothing is opened'))
    await expect(layerLoaderInit({ pciBdf: BDF, open, maxLayerBytes })).rejects.toThrow(RangeError)
  })
})

describe('loadLayer', () => {
  test('reads complete blocks from the given LBA', async () => {
    const { memory, loader } = await opened()
    const destination = memory.namespace.dma.alloc(1024)
    await loadLayer(loader, 3, 700, destination)
    const bytes = new Uint8Array(destination.view!.buffer, 0, 1024)
    expect(Array.from(bytes)).toEqual(Array.from({ length: 1024 }, (_, at) => (1536 + at) % 251))
    expect(memory.plans).toHaveLength(1)
  })

  test('rejects memory without room for the last complete block', async () => {
    const { memory, loader } = await opened()
    await expect(loadLayer(loader, 0, 700, memory.namespace.dma.alloc(700))).rejects.toThrow(RangeError)
    expect(memory.plans).toEqual([])
  })

  test('rejects after a failed read, and later loads succeed', async () => {
    const { memory, loader } = await opened()
    const destination = memory.namespace.dma.alloc(512)
    memory.outcome = () => ({ kind: 'status', sct: 2, sc: 0x81, dnr: true, more: false, crd: 0 })
    await expect(loadLayerVram(loader, 0, 512, destination)).rejects.toMatchObject({ code: 'ERR_GPUNVME_TRANSFER' })
    memory.outcome = () => ({ kind: 'success' })
    await loadLayerVram(loader, 0, 512, destination)
  })

  test.each([
    [0, 0],
    [0, 65_537],
    [2047, 1024],
    [-1, 512],
    [0.5, 512],
  ])('rejects an invalid range: LBA %d, %d bytes', async (lba, lengthBytes) => {
    const { memory, loader } = await opened()
    await expect(loadLayer(loader, lba, lengthBytes, memory.namespace.dma.alloc(1 << 17))).rejects.toThrow(RangeError)
  })

  test('rejects a concurrent load, and so does layerLoaderDestroy during a load', async () => {
    const { memory, loader, close } = await opened()
    const destination = memory.namespace.dma.alloc(512)
    let resume = (): void => undefined
    memory.gate = () => new Promise((resolve) => (resume = resolve))
    const first = loadLayer(loader, 0, 512, destination)
    await expect(loadLayer(loader, 0, 512, destination)).rejects.toThrow(
      expect.objectContaining({ code: 'ERR_GPUNVME_LOAD_IN_PROGRESS' }),
    )
    await expect(layerLoaderDestroy(loader)).rejects.toThrow(
      expect.objectContaining({ code: 'ERR_GPUNVME_LOAD_IN_PROGRESS' }),
    )
    resume()
    await first
    await layerLoaderDestroy(loader)
    await layerLoaderDestroy(loader)
    expect(close).toHaveBeenCalledTimes(1)
    await expect(loadLayer(loader, 0, 512, destination)).rejects.toThrow('destroyed')
  })
})

test('block size, maximum transfer and number of blocks are those of the drive', async () => {
  const { loader } = await opened()
  expect([layerLoaderBlockSize(loader), layerLoaderMaxTransfer(loader), layerLoaderNsBlocks(loader)]).toEqual([
    512, 1_048_576, 2048,
  ])
})

describe('bar1Resolve', () => {
  test('returns the address of memory with one segment', async () => {
    const { memory, loader } = await opened()
    bar1Init(loader)
    expect(memory.allocatedBytes).toBe(0)
    expect(bar1Resolve(memory.namespace.dma.alloc(4096, { where: 'gpu' }))).toBe(0x10_0000)
  })

  test('rejects memory with several segments', async () => {
    const { memory } = await opened()
    const one = memory.namespace.dma.alloc(8192)
    const [segment] = one.segments
    expect(() => bar1Resolve({ ...one, segments: [segment!, segment!] })).toThrow(TypeError)
  })
})
