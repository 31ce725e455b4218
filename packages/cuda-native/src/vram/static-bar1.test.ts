import { describe, expect, it, test } from 'vitest'
import { DRIVE, fakeSysfs, GPU, resourceLine, type FakeMachine } from '../../test/vram/fake-sysfs.js'
import { VramRefusedError } from './provider.js'
import { openStaticBar1, type StaticBar1Options, type VramPage } from './static-bar1.js'

const MIB = 1024 * 1024
const GIB = 1024 * MIB
const POINTER = 0x7f00_0000_0000n

/** A 3090: 24 GiB, BAR1 of 32 GiB at 7000000000h, the window at 512 MiB. */
function open(options: Partial<StaticBar1Options> = {}, machine: FakeMachine = {}) {
  return openStaticBar1({
    sysRoot: fakeSysfs(machine),
    gpuBdf: GPU,
    controller: { bdf: DRIVE, addresses: 'bus' },
    totalMemoryBytes: 24 * GIB - 300 * MIB,
    queryWindow: () => ({ isEnabled: true, offsetBytes: 512 * MIB, lengthBytes: 24 * GIB }),
    resolvePage: (pointer) => ({ physicalAddress: Number(pointer - POINTER), isPlain: true }),
    ...options,
  })
}

/** The reason of what it throws. */
function reasonOf(call: () => unknown): string {
  try {
    call()
  } catch (error) {
    if (error instanceof VramRefusedError) return error.reason
    throw error
  }
  return 'nothing was refused'
}

/** Pages at these physical addresses, in MiB. */
const pagesAt =
  (...mib: number[]) =>
  (pointer: bigint): VramPage | undefined => {
    const at = mib[Number((pointer - POINTER) / BigInt(2 * MIB))]
    return at === undefined ? undefined : { physicalAddress: at * MIB, isPlain: true }
  }

describe('addresses', () => {
  it('are BAR1 and the window’s offset and the place in the GPU’s memory', () => {
    const { segments } = open({ resolvePage: pagesAt(100) }).map(POINTER, 2 * MIB)
    // 7000000000h + 20000000h + 6400000h
    expect(segments).toEqual([{ offsetBytes: 0, iova: 0x70_2640_0000, lengthBytes: 2_097_152 }])
  })

  test.each([
    [0, 0x70_0640_0000],
    [24, 0x70_07c0_0000],
    [1024, 0x70_4640_0000],
  ])('the offset is the one that the driver says: %i MiB', (offsetMib, iova) => {
    const queryWindow = () => ({ isEnabled: true, offsetBytes: offsetMib * MIB, lengthBytes: 24 * GIB })
    expect(open({ queryWindow, resolvePage: pagesAt(100) }).map(POINTER, 4096).segments[0]?.iova).toBe(iova)
  })

  it('each page lies where it lies: neighbours are joined, nothing is taken to be contiguous', () => {
    const { segments } = open({ resolvePage: pagesAt(10, 12, 40, 38) }).map(POINTER, 8 * MIB)
    expect(segments).toEqual([
      { offsetBytes: 0, iova: 0x70_20a0_0000, lengthBytes: 4_194_304 },
      { offsetBytes: 4_194_304, iova: 0x70_2280_0000, lengthBytes: 2_097_152 },
      { offsetBytes: 6_291_456, iova: 0x70_2260_0000, lengthBytes: 2_097_152 },
    ])
  })

  it('a range may begin and end inside pages', () => {
    const { segments } = open({ resolvePage: pagesAt(10, 40) }).map(POINTER + BigInt(MIB + 4096), MIB)
    expect(segments).toEqual([
      { offsetBytes: 0, iova: 0x70_20b0_1000, lengthBytes: 1_044_480 },
      { offsetBytes: 1_044_480, iova: 0x70_2280_0000, lengthBytes: 4096 },
    ])
  })

  it('a range that is not of whole pages of the host is none', () => {
    expect(() => open().map(POINTER + 256n, 4096)).toThrow(RangeError)
    expect(() => open().map(POINTER, 100)).toThrow(RangeError)
    expect(() => open().map(POINTER, 0)).toThrow(RangeError)
  })
})

describe('pages that are refused', () => {
  it('one that nobody can place, in the middle too', () => {
    expect(reasonOf(() => open({ resolvePage: pagesAt(10) }).map(POINTER, 4 * MIB))).toBe('page-unresolved')
  })

  it('one between pages, below the memory, or behind the window', () => {
    const mapped = (...mib: number[]) => reasonOf(() => open({ resolvePage: pagesAt(...mib) }).map(POINTER, 2 * MIB))
    expect(mapped(11)).toBe('page-misplaced')
    expect(mapped(-2)).toBe('page-misplaced')
    expect(mapped(24 * 1024)).toBe('page-misplaced')
    expect(mapped(24 * 1024 - 2)).toBe('nothing was refused')
  })

  it('two at one place', () => {
    expect(reasonOf(() => open({ resolvePage: pagesAt(10, 40, 10) }).map(POINTER, 6 * MIB))).toBe('page-misplaced')
  })

  it('one that is compressed', () => {
    const resolvePage = () => ({ physicalAddress: 0, isPlain: false })
    expect(reasonOf(() => open({ resolvePage }).map(POINTER, 4096))).toBe('page-kind')
  })
})

describe('windows that are refused', () => {
  const window = (isEnabled: boolean, offsetBytes: number, lengthBytes: number, machine: FakeMachine = {}) =>
    reasonOf(() => open({ queryWindow: () => ({ isEnabled, offsetBytes, lengthBytes }) }, machine))
  const barOf = (lengthBytes: number) => ({
    resource: `${resourceLine(0xfb00_0000, 16 * MIB, 0x40200)}\n${resourceLine(2 ** 38, lengthBytes)}\n`,
  })

  it('none', () => {
    expect(window(false, 0, 0)).toBe('window-disabled')
  })

  it('one that holds a part of the memory only', () => {
    expect(window(true, 0, 256 * MIB, barOf(256 * MIB))).toBe('window-partial')
    expect(window(true, 0, 16 * GIB)).toBe('window-partial')
  })

  it('one that reaches beyond BAR1, by one page', () => {
    expect(window(true, 8 * GIB, 24 * GIB)).toBe('nothing was refused')
    expect(window(true, 8 * GIB + 2 * MIB, 24 * GIB)).toBe('window-misplaced')
  })

  it('one that is not of whole pages', () => {
    expect(window(true, MIB, 24 * GIB)).toBe('window-misplaced')
    expect(window(true, 0, 24 * GIB + 4096)).toBe('window-misplaced')
  })

  it('where there is no window and BAR1 is smaller than the memory, what helps is in the firmware', () => {
    const queryWindow = () => ({ isEnabled: false, offsetBytes: 0, lengthBytes: 0 })
    expect(() => open({ queryWindow }, barOf(256 * MIB))).toThrow(/Resizable BAR/)
    expect(() => open({ queryWindow })).toThrow(/RMForceStaticBar1=1/)
  })
})

describe('machines that are refused', () => {
  const machine = (facts: FakeMachine, options: Partial<StaticBar1Options> = {}) => reasonOf(() => open(options, facts))

  it('one whose IOMMU translates what the drive says: it would find other memory there', () => {
    expect(machine({ group: { type: 'DMA' } })).toBe('iommu')
    expect(machine({ group: { type: 'DMA-FQ' } })).toBe('iommu')
    expect(() => open({}, { group: { type: 'DMA' } })).toThrow(/translates the addresses of 0000:04:00.0[^]*iommu=pt/)
  })

  it('not one without an IOMMU, with one that passes through, nor with no-IOMMU VFIO', () => {
    expect(machine({})).toBe('nothing was refused')
    expect(machine({ group: { type: 'identity' } })).toBe('nothing was refused')
    expect(machine({ group: { name: 'vfio-noiommu' } })).toBe('nothing was refused')
  })

  it('one of which that is not known', () => {
    expect(machine({ group: {} })).toBe('iommu')
    expect(machine({}, { controller: { bdf: '0000:05:00.0', addresses: 'bus' } })).toBe('iommu')
  })

  it('a transport with addresses of its own, whatever the group says: vfio in mode type1', () => {
    const controller = { bdf: DRIVE, addresses: 'iova' } as const
    expect(machine({ group: { type: 'identity' } }, { controller })).toBe('iommu')
  })

  it('a GPU without BAR1, with one of I/O ports, or that is not there', () => {
    const bar0 = resourceLine(0xfb00_0000, 16 * MIB, 0x40200)
    expect(machine({ resource: `${bar0}\n${resourceLine(0, 0)}\n` })).toBe('no-bar1')
    expect(machine({ resource: `${bar0}\n${resourceLine(0xe000, 128, 0x40101)}\n` })).toBe('no-bar1')
    expect(machine({}, { gpuBdf: '0000:02:00.0' })).toBe('no-bar1')
    expect(() => open({ gpuBdf: '../../etc' })).toThrow(RangeError)
  })

  it('nothing is asked of the driver where the addresses could not be used', () => {
    const queryWindow = () => {
      throw new Error('the driver was asked')
    }
    expect(machine({ group: { type: 'DMA' } }, { queryWindow })).toBe('iommu')
  })
})
