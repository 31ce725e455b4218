import { gpuBar1, iommuMode, type IommuMode } from './pci-facts.js'
import { VramRefusedError, type VramProvider, type VramRefusal } from './provider.js'
import { checkGpuRange, hex, joinRuns, segmentsFault, type AddressRun } from './segments.js'
import type { StaticBar1Window } from './static-bar1-info.js'

/** Page size of the window and of large allocations. Pages of an allocation can be in any order. */
export const GPU_PAGE_BYTES = 2 * 1024 * 1024

/** Location of a 2 MiB page of GPU memory. */
export interface VramPage {
  /** Address in the GPU's own memory, from 0 on. */
  readonly physicalAddress: number
  /** Whether the page is linear and uncompressed, so that the window shows what kernels see. */
  readonly isPlain: boolean
}

/** Options of `openStaticBar1`. */
export interface StaticBar1Options {
  /** Directory that contains `sys`. Default: '/'. */
  readonly sysRoot?: string
  /** PCI address of the GPU. */
  readonly gpuBdf: string
  /** The controller that accesses the memory. */
  readonly controller: {
    /** PCI address of the controller. */
    readonly bdf: string
    /** Kind of addresses that its transport uses: bus addresses, or those of an IOMMU, as vfio in mode 'type1'. */
    readonly addresses: 'bus' | 'iova'
  }
  /** Size of the GPU's memory, from cuDeviceTotalMem. The window must cover all of it. */
  readonly totalMemoryBytes: number
  /** Returns the window, by `queryStaticBar1`. */
  readonly queryWindow: () => StaticBar1Window
  /**
   * Returns the location of the 2 MiB page at an address of kernels; undefined if it is unknown. It is called for each page,
   * since allocations are not contiguous in the GPU's memory.
   */
  readonly resolvePage: (gpuPointer: bigint) => VramPage | undefined
}

const NAME = 'static BAR1'

/**
 * Returns a provider that maps GPU memory through the static window of NVIDIA's driver in BAR1. It computes addresses from what
 * the system and the driver report. For experts: **nothing keeps the memory allocated**, so the caller must not free it while
 * the controller may write to it. A wrong address hits other memory, so `probeWrites` begins with one page in the middle of
 * its own. Tested with fixtures and QEMU; has not run on a GPU.
 * @throws VramRefusedError if the window cannot be used.
 */
export function openStaticBar1(options: StaticBar1Options): VramProvider {
  const { sysRoot = '/', gpuBdf, controller, totalMemoryBytes, queryWindow, resolvePage } = options
  if (!Number.isSafeInteger(totalMemoryBytes) || totalMemoryBytes <= 0)
    throw new RangeError(`totalMemoryBytes: expected a positive integer, got ${totalMemoryBytes}`)
  const bar = gpuBar1(sysRoot, gpuBdf)
  refuseTranslation(controller, controller.addresses === 'iova' ? 'translated' : iommuMode(sysRoot, controller.bdf))
  const window = queryWindow()
  checkWindow(window, bar, totalMemoryBytes)
  return {
    name: NAME,
    map(gpuPointer, lengthBytes) {
      checkGpuRange(gpuPointer, lengthBytes)
      const segments = joinRuns(runs(gpuPointer, lengthBytes, { bar, window, resolvePage }))
      const fault = segmentsFault(segments, lengthBytes)
      if (fault !== undefined) throw refused('page-misplaced', fault)
      return {
        segments,
        // The window is always accessible: there is nothing to release.
        release: () => undefined,
      }
    },
  }
}

interface Arithmetic {
  readonly bar: AddressRun
  readonly window: StaticBar1Window
  readonly resolvePage: StaticBar1Options['resolvePage']
}

function* runs(
  gpuPointer: bigint,
  lengthBytes: number,
  { bar, window, resolvePage }: Arithmetic,
): Generator<AddressRun> {
  let offsetInPage = Number(gpuPointer % BigInt(GPU_PAGE_BYTES))
  let page = gpuPointer - BigInt(offsetInPage)
  for (let left = lengthBytes; left > 0; page += BigInt(GPU_PAGE_BYTES)) {
    const lies = resolvePage(page)
    if (lies === undefined)
      throw refused('page-unresolved', `the location of the page at ${hex(page)} is unknown`, {
        next: 'use memory of cuMemAlloc or cuMemCreate in whole 2 MiB pages, and the GPU on which it was allocated',
      })
    const { physicalAddress, isPlain } = lies
    if (!isPlain)
      throw refused('page-kind', `the page at ${hex(page)} is compressed or not linear`, {
        next: 'allocate without compression',
      })
    if (!Number.isSafeInteger(physicalAddress) || physicalAddress < 0 || physicalAddress % GPU_PAGE_BYTES !== 0)
      throw refused(
        'page-misplaced',
        `the location ${physicalAddress} of the page at ${hex(page)} is not a multiple of 2 MiB`,
      )
    if (physicalAddress + GPU_PAGE_BYTES > window.lengthBytes)
      throw refused('page-misplaced', `the page at ${hex(page)} is outside the window`, {
        facts: [`location ${hex(physicalAddress)}, end of the window ${hex(window.lengthBytes)}`],
      })
    const bytes = Math.min(left, GPU_PAGE_BYTES - offsetInPage)
    yield { iova: bar.iova + window.offsetBytes + physicalAddress + offsetInPage, lengthBytes: bytes }
    left -= bytes
    offsetInPage = 0
  }
}

function refuseTranslation({ bdf, addresses }: StaticBar1Options['controller'], mode: IommuMode): void {
  if (mode === 'none' || mode === 'passthrough') return
  const known = addresses === 'iova' ? 'its transport uses IOMMU addresses' : 'source: its IOMMU group in sysfs'
  throw refused(
    'iommu',
    mode === 'unknown'
      ? `unknown whether addresses of ${bdf} equal bus addresses`
      : `an IOMMU translates the addresses of ${bdf}, so an address of a BAR would access other memory`,
    { facts: [known], next: 'boot with iommu=pt or without an IOMMU, or map GPU memory by dma-buf' },
  )
}

function checkWindow(window: StaticBar1Window, bar: AddressRun, totalMemoryBytes: number): void {
  const { isEnabled, offsetBytes, lengthBytes } = window
  const facts = [
    `window: ${hex(lengthBytes)} bytes at ${hex(offsetBytes)} of BAR1`,
    `BAR1: ${hex(bar.lengthBytes)} bytes at ${hex(bar.iova)}`,
    `GPU memory: ${hex(totalMemoryBytes)} bytes`,
  ]
  if (!isEnabled)
    throw refused('window-disabled', 'the driver has no static window', {
      facts: facts.slice(1),
      next:
        bar.lengthBytes < totalMemoryBytes
          ? 'enable Resizable BAR and Above 4G Decoding in the firmware: BAR1 is smaller than the memory'
          : 'use the open driver 565.77 or newer, with NVreg_RegistryDwords="RMForceStaticBar1=1"',
    })
  if (offsetBytes % GPU_PAGE_BYTES !== 0 || lengthBytes % GPU_PAGE_BYTES !== 0 || bar.iova % GPU_PAGE_BYTES !== 0)
    throw refused('window-misplaced', 'the window does not consist of whole 2 MiB pages', { facts })
  if (lengthBytes < totalMemoryBytes)
    throw refused('window-partial', 'the window covers only a part of the memory', {
      facts,
      next: 'make BAR1 at least as large as the memory: enable Resizable BAR and Above 4G Decoding in the firmware',
    })
  if (offsetBytes + lengthBytes > bar.lengthBytes)
    throw refused('window-misplaced', 'the window extends beyond BAR1', { facts })
}

function refused(
  reason: VramRefusal,
  found: string,
  details: { facts?: readonly string[]; next?: string } = {},
): VramRefusedError {
  return new VramRefusedError({ provider: NAME, reason, found, ...details })
}
