import { describe, expect, it, test } from 'vitest'
import { peerAt } from '../../test/vram/fake-gpu.js'
import { fakeSysfs, GPU, resourceLine, type FakeMachine } from '../../test/vram/fake-sysfs.js'
import type { SyncGpuAccess, WindowView } from './find-pages.js'
import { VramRefusedError } from './provider.js'
import { openStaticBar1, type GpuBarRuns, type StaticBar1Options } from './static-bar1.js'

const MIB = 1024 * 1024
const GIB = 1024 * MIB
const POINTER = 0x7f00_0000_0000n
const PAGE = 2 * MIB

/** A GPU of 24 GiB that keeps only the words written to it. Its pages, from POINTER on, are at these offsets in MiB. */
class SparseGpu implements SyncGpuAccess {
  readonly words = new Map<number, bigint>()
  private readonly pages: readonly number[]

  constructor(mib: readonly number[]) {
    this.pages = mib
  }

  write(gpuPointer: bigint, bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += 8)
      this.words.set(this.addressOf(gpuPointer) + at, Buffer.from(bytes).readBigUInt64LE(at))
  }

  read(gpuPointer: bigint, lengthBytes: number): Uint8Array {
    const bytes = Buffer.alloc(lengthBytes)
    for (let at = 0; at < lengthBytes; at += 8)
      bytes.writeBigUInt64LE(this.words.get(this.addressOf(gpuPointer) + at) ?? 0n, at)
    return bytes
  }

  /** @param shown maps an offset of the window to the one that BAR1 shows, which differs for pages that are not linear */
  window(shown = (offsetBytes: number) => offsetBytes): WindowView {
    return { lengthBytes: 24 * GIB, load64: (offsetBytes) => this.words.get(shown(offsetBytes)) ?? 0n }
  }

  private addressOf(gpuPointer: bigint): number {
    const offset = Number(gpuPointer - POINTER)
    return this.pages[Math.floor(offset / PAGE)]! * MIB + (offset % PAGE)
  }
}

/** A 3090: 24 GiB, BAR1 of 32 GiB at 7000000000h, the window at 512 MiB. */
function open(options: Partial<StaticBar1Options> = {}, machine: FakeMachine = {}) {
  const gpu = new SparseGpu([100])
  return openStaticBar1({
    sysRoot: fakeSysfs(machine),
    gpuBdf: GPU,
    totalMemoryBytes: 24 * GIB - 300 * MIB,
    queryWindow: () => ({ isEnabled: true, offsetBytes: 512 * MIB, lengthBytes: 24 * GIB }),
    gpu,
    view: () => gpu.window(),
    mapPeer: peerAt(0x70_0000_0000),
    ...options,
  })
}

/** Opens a GPU with pages at these offsets of its memory, in MiB. */
function withPages(...mib: number[]) {
  const gpu = new SparseGpu(mib)
  return open({ gpu, view: () => gpu.window() })
}

/** Returns the reason of the VramRefusedError that a call throws. */
function reasonOf(call: () => unknown): string {
  try {
    call()
  } catch (error) {
    if (error instanceof VramRefusedError) return error.reason
    throw error
  }
  return 'no VramRefusedError'
}

describe('addresses', () => {
  it('are the sum of the address of BAR1, the offset of the window, and the offset of the page', () => {
    // 7000000000h + 20000000h + 6400000h
    expect(withPages(100).map(POINTER, PAGE).segments).toEqual([
      { offsetBytes: 0, iova: 0x70_2640_0000, lengthBytes: 2_097_152 },
    ])
  })

  test.each([
    [0, 0x70_0640_0000],
    [24, 0x70_07c0_0000],
    [1024, 0x70_4640_0000],
  ])('the offset of the window is the one that the driver reports: %i MiB', (offsetMib, iova) => {
    const queryWindow = () => ({ isEnabled: true, offsetBytes: offsetMib * MIB, lengthBytes: 24 * GIB })
    expect(open({ queryWindow }).map(POINTER, 4096).segments[0]?.iova).toBe(iova)
  })

  it('are found for each page separately, and adjacent pages are joined', () => {
    expect(withPages(10, 12, 40, 38).map(POINTER, 4 * PAGE).segments).toEqual([
      { offsetBytes: 0, iova: 0x70_20a0_0000, lengthBytes: 4_194_304 },
      { offsetBytes: 4_194_304, iova: 0x70_2280_0000, lengthBytes: 2_097_152 },
      { offsetBytes: 6_291_456, iova: 0x70_2260_0000, lengthBytes: 2_097_152 },
    ])
  })

  it('a range may begin and end inside pages', () => {
    expect(withPages(10, 40).map(POINTER + BigInt(MIB + 4096), MIB).segments).toEqual([
      { offsetBytes: 0, iova: 0x70_20b0_1000, lengthBytes: 1_044_480 },
      { offsetBytes: 1_044_480, iova: 0x70_2280_0000, lengthBytes: 4096 },
    ])
  })

  it('are found at both ends of the window, including before those of an earlier mapping', () => {
    const provider = withPages(24 * 1024 - 2, 0)
    expect(provider.map(POINTER, PAGE).segments[0]?.iova).toBe(0x76_1fe0_0000)
    expect(provider.map(POINTER + BigInt(PAGE), PAGE).segments[0]?.iova).toBe(0x70_2000_0000)
    expect(provider.map(POINTER, PAGE).segments[0]?.iova).toBe(0x76_1fe0_0000)
  })

  it('are mapped as parts of BAR1 of the GPU, whose driver stays bound', () => {
    const asked: GpuBarRuns[] = []
    const mapPeer = (peer: GpuBarRuns) => {
      asked.push(peer)
      return peerAt(0)(peer)
    }
    open({ mapPeer }).map(POINTER, PAGE)
    const runs = [{ offsetBytes: 0x2640_0000, lengthBytes: PAGE }]
    expect(asked).toEqual([{ bdf: GPU, bar: 1, driver: 'nvidia', runs }])
  })

  it('reject a range that does not consist of whole host pages', () => {
    expect(() => open().map(POINTER + 256n, 4096)).toThrow(RangeError)
    expect(() => open().map(POINTER, 100)).toThrow(RangeError)
    expect(() => open().map(POINTER, 0)).toThrow(RangeError)
  })
})

describe('the content of pages', () => {
  it('is restored after a search, including a failed one', () => {
    const gpu = new SparseGpu([10, 40])
    const before = Buffer.from('content that lies where a mark is written').subarray(0, 16)
    gpu.write(POINTER + BigInt(PAGE), before)
    open({ gpu, view: () => gpu.window() }).map(POINTER, 2 * PAGE)
    expect(gpu.read(POINTER + BigInt(PAGE), 16)).toEqual(before)
    const blind = { lengthBytes: 24 * GIB, load64: () => 0n }
    expect(reasonOf(() => open({ gpu, view: () => blind }).map(POINTER, 2 * PAGE))).toBe('page-unresolved')
    expect(gpu.read(POINTER + BigInt(PAGE), 16)).toEqual(before)
  })

  it('is rejected if a page is not in the window, including the last of several', () => {
    const gpu = new SparseGpu([10, 24 * 1024])
    expect(reasonOf(() => open({ gpu, view: () => gpu.window() }).map(POINTER, 2 * PAGE))).toBe('page-unresolved')
  })

  it('is rejected if BAR1 and kernels see different bytes', () => {
    const gpu = new SparseGpu([100])
    // The first 64 KiB are in place; the others are in reverse order.
    const tiled = (offset: number) => {
      const inPage = offset % PAGE
      return inPage < 65_536 ? offset : offset - inPage + (PAGE - 8 - inPage)
    }
    expect(reasonOf(() => open({ gpu, view: () => gpu.window(tiled) }).map(POINTER, PAGE))).toBe('page-kind')
  })

  it('is found despite a mark with the index of a page that does not exist', () => {
    const gpu = new SparseGpu([100])
    const window = gpu.window()
    // Like a copy of a mark of a larger allocation: the same first word, another index.
    const doubled = (offset: number) =>
      offset < PAGE ? window.load64(100 * MIB + offset) ^ (offset % PAGE === 8 ? 7n : 0n) : window.load64(offset)
    const view = () => ({ lengthBytes: window.lengthBytes, load64: doubled })
    expect(open({ gpu, view }).map(POINTER, PAGE).segments[0]?.iova).toBe(0x70_2640_0000)
  })

  it('frees memory whose addresses are invalid', () => {
    let freed = 0
    const mapPeer = (peer: GpuBarRuns) => ({ ...peerAt(4)(peer), free: () => (freed += 1) })
    expect(reasonOf(() => open({ mapPeer }).map(POINTER, PAGE))).toBe('bad-segments')
    expect(freed).toBe(1)
  })

  it('release frees the mapped memory', () => {
    let freed = 0
    const mapPeer = (peer: GpuBarRuns) => ({ ...peerAt(0)(peer), free: () => (freed += 1) })
    open({ mapPeer }).map(POINTER, PAGE).release()
    expect(freed).toBe(1)
  })
})

describe('rejects a window that', () => {
  const window = (isEnabled: boolean, offsetBytes: number, lengthBytes: number, machine: FakeMachine = {}) =>
    reasonOf(() => open({ queryWindow: () => ({ isEnabled, offsetBytes, lengthBytes }) }, machine))
  const barOf = (lengthBytes: number) => ({
    resource: `${resourceLine(0xfb00_0000, 16 * MIB, 0x40200)}\n${resourceLine(2 ** 38, lengthBytes)}\n`,
  })

  it('is disabled', () => {
    expect(window(false, 0, 0)).toBe('window-disabled')
  })

  it('contains only part of the memory', () => {
    expect(window(true, 0, 256 * MIB, barOf(256 * MIB))).toBe('window-partial')
    expect(window(true, 0, 16 * GIB)).toBe('window-partial')
  })

  it('extends beyond BAR1 by one page', () => {
    expect(window(true, 8 * GIB, 24 * GIB)).toBe('no VramRefusedError')
    expect(window(true, 8 * GIB + 2 * MIB, 24 * GIB)).toBe('window-misplaced')
  })

  it('does not consist of whole pages', () => {
    expect(window(true, MIB, 24 * GIB)).toBe('window-misplaced')
    expect(window(true, 0, 24 * GIB + 4096)).toBe('window-misplaced')
  })

  it('is disabled; the next step depends on whether BAR1 is smaller than the memory', () => {
    const queryWindow = () => ({ isEnabled: false, offsetBytes: 0, lengthBytes: 0 })
    expect(() => open({ queryWindow }, barOf(256 * MIB))).toThrow(/Resizable BAR/)
    expect(() => open({ queryWindow })).toThrow(/RMForceStaticBar1=1/)
  })
})

describe('rejects a machine with', () => {
  const machine = (facts: FakeMachine, options: Partial<StaticBar1Options> = {}) => reasonOf(() => open(options, facts))

  it('a GPU without BAR1, with an I/O port BAR, or without a GPU', () => {
    const bar0 = resourceLine(0xfb00_0000, 16 * MIB, 0x40200)
    expect(machine({ resource: `${bar0}\n${resourceLine(0, 0)}\n` })).toBe('no-bar1')
    expect(machine({ resource: `${bar0}\n${resourceLine(0xe000, 128, 0x40101)}\n` })).toBe('no-bar1')
    expect(machine({}, { gpuBdf: '0000:02:00.0' })).toBe('no-bar1')
    expect(() => open({ gpuBdf: '../../etc' })).toThrow(RangeError)
  })

  it('a GPU with an invalid memory size', () => {
    expect(() => open({ totalMemoryBytes: 0 })).toThrow(/^totalMemoryBytes: expected a positive integer, got 0/)
  })
})
