import type { DmaAllocator, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { expect, it } from 'vitest'
import { FakeGpu, type BackingMemory } from '../../test/vram/fake-gpu.js'
import type { VramProvider } from './provider.js'
import { VramRefusedError } from './provider.js'
import { VramKeptError, withVram } from './with-vram.js'

const MIB = 1024 * 1024
const PAGE = 2 * MIB

/** Returns a fixture: memory behind a 16 MiB BAR, and a journal of releases and frees. */
function made({ lengthBytes = 16 * MIB, map }: { lengthBytes?: number; map?: VramProvider['map'] } = {}) {
  const bytes = new Uint8Array(lengthBytes).fill(0xa5)
  const backing: BackingMemory = {
    iova: 0x80_0000_0000,
    lengthBytes,
    read: (offsetBytes, length) => bytes.slice(offsetBytes, offsetBytes + length),
    write: (offsetBytes, from) => bytes.set(from, offsetBytes),
  }
  const gpu = new FakeGpu(backing)
  const journal: string[] = []
  const source = {
    fill: (pointer: bigint, length: number, byte: number) => gpu.fill(pointer, length, byte),
    copyOut: (pointer: bigint, into: Uint8Array) => into.set(gpu.read(pointer, into.length)),
    alloc: (length: number) => {
      const memory = gpu.alloc(length)
      return {
        ...memory,
        free: () => {
          journal.push('free')
          memory.free()
        },
      }
    },
  }
  const scattered: VramProvider['map'] = (pointer, length) => ({
    segments: Array.from({ length: length / PAGE }, (_, index) => ({
      offsetBytes: index * PAGE,
      iova: backing.iova + gpu.pages.get(pointer + BigInt(index * PAGE))!,
      lengthBytes: PAGE,
    })),
    release: () => journal.push('release'),
  })
  const host: DmaAllocator = { alloc: () => ({ lengthBytes: 1 }) as DmaMemory }
  const provider = { name: 'fixture', map: map ?? scattered }
  return { gpu, bytes, journal, host, source, provider, dma: withVram(host, provider, source) }
}

const inGpu = { where: 'gpu' } as const

it('GPU memory has no view, but addresses for kernels and for the controller', () => {
  const { dma, gpu } = made()
  const memory = dma.alloc(3 * MIB, inGpu)
  expect(memory.view).toBeUndefined()
  expect(memory.lengthBytes).toBe(3_145_728)
  expect(gpu.pages.has(memory.gpuPointer!)).toBe(true)
  expect(memory.segments).toEqual([
    { offsetBytes: 0, iova: 0x80_00e0_0000, lengthBytes: 2_097_152 },
    { offsetBytes: 2_097_152, iova: 0x80_0080_0000, lengthBytes: 1_048_576 },
  ])
  expect(memory.iovaAt(2_097_151)).toBe(0x80_00ff_ffff)
  expect(memory.iovaAt(2_097_152)).toBe(0x80_0080_0000)
  expect(() => memory.iovaAt(3_145_728)).toThrow(RangeError)
  expect(() => memory.iovaAt(-1)).toThrow(RangeError)
})

it('GPU memory is zeroed, and shares no GPU page with other allocations', () => {
  const { dma, gpu } = made()
  const [first, second] = [dma.alloc(4096, inGpu), dma.alloc(4096, inGpu)]
  expect(gpu.read(first.gpuPointer!, PAGE).every((byte) => byte === 0)).toBe(true)
  expect(Math.floor(first.iovaAt(0) / PAGE)).not.toBe(Math.floor(second.iovaAt(0) / PAGE))
})

it('other requests return memory of the transport', () => {
  const { dma, gpu } = made()
  expect(dma.alloc(10).lengthBytes).toBe(1)
  expect(dma.alloc(10, { where: 'host' }).lengthBytes).toBe(1)
  expect(gpu.pages.size).toBe(0)
})

it('an allocation that starts inside a page is used from the next page', () => {
  const { dma, gpu } = made()
  gpu.misalignment = 512n
  const memory = dma.alloc(PAGE, inGpu)
  expect(memory.gpuPointer! % BigInt(PAGE)).toBe(0n)
  expect(memory.iovaAt(0) % PAGE).toBe(0)
  memory.free()
  expect(gpu.pages.size).toBe(0)
})

it('the first address has the requested alignment, also above the GPU page size', () => {
  for (const alignBytes of [4096, 65_536, PAGE, 4 * MIB])
    expect(
      made()
        .dma.alloc(4096, { ...inGpu, alignBytes })
        .iovaAt(0) % alignBytes,
    ).toBe(0)
})

it('a contiguous request succeeds if one segment fits; otherwise the error states the longest run, and nothing is kept', () => {
  const { dma, gpu, journal } = made()
  expect(dma.alloc(PAGE, { ...inGpu, contiguous: true }).segments).toHaveLength(1)
  const before = gpu.pages.size
  expect(() => dma.alloc(2 * PAGE, { ...inGpu, contiguous: true })).toThrow(
    /in one segment.*longest run.*2097152 bytes/,
  )
  expect(gpu.pages.size).toBe(before)
  expect(journal).toEqual(['release', 'free'])
})

it('free releases the mapping first, then the GPU memory', () => {
  const { dma, journal } = made()
  const memory = dma.alloc(4096, inGpu)
  memory.free()
  expect(journal).toEqual(['release', 'free'])
})

it('freed memory has no addresses, and cannot be freed again', () => {
  const { dma, journal } = made()
  const memory = dma.alloc(4096, inGpu)
  memory.free()
  expect(() => memory.free()).toThrow(TypeError)
  expect(() => memory.iovaAt(0)).toThrow(TypeError)
  expect(() => memory.forHost(0, 1)).toThrow(TypeError)
  expect(() => memory.forDevice(0, 1)).toThrow(TypeError)
  expect(journal).toEqual(['release', 'free'])
})

it('GPU memory is kept if its mapping cannot be released, since the controller may still write there', () => {
  const stuck = { release: () => fail('it does not detach') }
  const { dma, journal, gpu } = made({
    map: (_, lengthBytes) => ({ segments: [{ offsetBytes: 0, iova: 0x80_0000_0000, lengthBytes }], ...stuck }),
  })
  const memory = dma.alloc(4096, inGpu)
  expect(() => memory.free()).toThrow('it does not detach')
  expect(memory.iovaAt(0)).toBe(0x80_0000_0000)
  expect(() => dma.close()).toThrow('it does not detach')
  expect(journal).toEqual([])
  expect(gpu.freed).toEqual([])
})

it('segments that do not cover the memory are rejected; if they cannot be released, the memory is kept', () => {
  const wrong = [{ offsetBytes: 0, iova: 0x80_0000_0000, lengthBytes: 4096 }]
  const { dma, journal } = made({ map: () => ({ segments: wrong, release: () => undefined }) })
  expect(() => dma.alloc(4096, inGpu)).toThrow(VramRefusedError)
  expect(journal).toEqual(['free'])
  const stuck = made({ map: () => ({ segments: wrong, release: () => fail('it does not detach') }) })
  expect(() => stuck.dma.alloc(4096, inGpu)).toThrow(VramKeptError)
  expect(stuck.journal).toEqual([])
})

it('a failing provider leaves no GPU memory allocated', () => {
  const { dma, gpu } = made({ map: () => fail('there is no way') })
  expect(() => dma.alloc(4096, inGpu)).toThrow('there is no way')
  expect(gpu.pages.size).toBe(0)
})

it('invalid requests are rejected before the driver is called', () => {
  const { dma, gpu } = made()
  expect(() => dma.alloc(0, inGpu)).toThrow(RangeError)
  expect(() => dma.alloc(1.5, inGpu)).toThrow(RangeError)
  expect(() => dma.alloc(1, { ...inGpu, alignBytes: 3 })).toThrow(RangeError)
  expect(gpu.pages.size).toBe(0)
})

it('fill and copyOut access the bytes of the memory and no others', () => {
  const { dma, gpu, host, provider, source } = made()
  const memory = dma.alloc(8192, inGpu)
  memory.fill!(0xff, 4096, 4096)
  const into = new Uint8Array(3)
  memory.copyOut!(4095, into)
  expect([...into]).toEqual([0, 255, 255])
  expect([...gpu.read(memory.gpuPointer! + 8191n, 2)]).toEqual([255, 0])
  for (const [offset, length] of [
    [8000, 193],
    [-1, 1],
    [0.5, 1],
  ] as const) {
    expect(() => memory.fill!(0, offset, length)).toThrow(RangeError)
    expect(() => memory.copyOut!(offset, new Uint8Array(length))).toThrow(RangeError)
  }
  memory.free()
  expect(() => memory.fill!(0, 0, 1)).toThrow(TypeError)
  expect(() => memory.copyOut!(0, into)).toThrow(TypeError)
  const { alloc, fill } = source
  const blind = withVram(host, provider, { alloc, fill }).alloc(4096, inGpu)
  expect(Reflect.get(blind, 'copyOut')).toBeUndefined()
})

it('forHost flushes what the controller wrote; forDevice does not', () => {
  const { host, provider, source } = made()
  let flushes = 0
  const memory = withVram(host, provider, source, { flush: () => flushes++ }).alloc(4096, inGpu)
  memory.forDevice(0, 4096)
  expect(flushes).toBe(0)
  memory.forHost(0, 4096)
  expect(flushes).toBe(1)
})

it('close frees remaining memory; later GPU allocations fail', () => {
  const { dma, gpu } = made()
  dma.alloc(4096, inGpu)
  dma.alloc(4096, inGpu).free()
  dma.close()
  expect(gpu.pages.size).toBe(0)
  expect(() => dma.alloc(4096, inGpu)).toThrow(TypeError)
  expect(dma.alloc(1).lengthBytes).toBe(1)
  dma.close()
})

it('abandon frees nothing, even by a later free, since the controller could not be stopped', () => {
  const { dma, gpu, journal } = made()
  const memory = dma.alloc(4096, inGpu)
  dma.abandon()
  memory.free()
  dma.close()
  expect(journal).toEqual([])
  expect(gpu.pages.size).toBe(1)
  expect(() => memory.free()).toThrow(TypeError)
  expect(() => dma.alloc(4096, inGpu)).toThrow(TypeError)
})

function fail(message: string): never {
  throw new Error(message)
}
