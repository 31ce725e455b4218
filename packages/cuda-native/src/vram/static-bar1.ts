import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { gpuBar1, type GpuBar } from './pci-facts.js'
import { findPages, GPU_PAGE_BYTES, type SyncGpuAccess, type WindowView } from './find-pages.js'
import { VramRefusedError, type VramProvider, type VramRefusal } from './provider.js'
import { checkGpuRange, hex, segmentsFault } from './segments.js'
import type { StaticBar1Window } from './static-bar1-info.js'

/** Part of a BAR. */
export interface BarRun {
  /** Offset of its first byte in the BAR. */
  readonly offsetBytes: number
  readonly lengthBytes: number
}

/** Parts of a GPU's BAR, in the order of the memory that they form. */
export interface GpuBarRuns {
  /** PCI address of the GPU. */
  readonly bdf: string
  /** Number of the BAR in PCI. */
  readonly bar: number
  readonly runs: readonly BarRun[]
  /** The driver that stays bound to the GPU. */
  readonly driver: 'nvidia'
}

/** Options of `openStaticBar1`. */
export interface StaticBar1Options {
  /** Directory that contains `sys`. Default: '/'. */
  readonly sysRoot?: string
  /** PCI address of the GPU. */
  readonly gpuBdf: string
  /** Size of the GPU's memory, from cuDeviceTotalMem. The window must cover all of it. */
  readonly totalMemoryBytes: number
  /** Returns the window, by `queryStaticBar1`. */
  readonly queryWindow: () => StaticBar1Window
  /** Access to the memory that is to be mapped, such as a `CudaMemorySource` from which it was allocated. */
  readonly gpu: SyncGpuAccess
  /** Returns the CPU's view of a part of the BAR. It must stay valid as long as the provider is used. */
  readonly view: (bar: GpuBar, run: BarRun) => WindowView
  /**
   * Returns parts of the BAR as memory of the controller: `mapPeer` of a transport of `@gpunvme/host-driver/vfio`, `/sysfs` or,
   * if no IOMMU translates, `/kmod`.
   */
  readonly mapPeer: (peer: GpuBarRuns) => DmaMemory
}

const NAME = 'static BAR1'

/**
 * Returns a provider that maps GPU memory through the static window of NVIDIA's driver in BAR1. The driver reports the window;
 * each page is located in it by content, since allocations are not contiguous in the GPU's memory. For experts:
 * **nothing keeps the memory allocated**, so it must be released before it is freed, as `withVram` does. Without an IOMMU, a
 * wrong address overwrites other memory, so `probeWrites` begins with one page in the middle of its own. Tested with fixtures, QEMU
 * and a Linux guest; has not run on a GPU.
 * @throws RangeError for an invalid size of memory; VramRefusedError if the window cannot be used.
 */
export function openStaticBar1(options: StaticBar1Options): VramProvider {
  const { sysRoot = '/', gpuBdf, totalMemoryBytes, queryWindow, gpu, view, mapPeer } = options
  if (!Number.isSafeInteger(totalMemoryBytes) || totalMemoryBytes <= 0)
    throw new RangeError(`totalMemoryBytes: expected a positive integer, got ${totalMemoryBytes}`)
  const bar = gpuBar1(sysRoot, gpuBdf)
  const window = queryWindow()
  checkWindow(window, bar, totalMemoryBytes)
  const seen = view(bar, window)
  let next = 0
  return {
    name: NAME,
    map(gpuPointer, lengthBytes) {
      checkGpuRange(gpuPointer, lengthBytes)
      const inPage = Number(gpuPointer % BigInt(GPU_PAGE_BYTES))
      const pages = findPages(pagesOf(gpuPointer, lengthBytes), gpu, seen, next)
      next = (pages.at(-1)! + GPU_PAGE_BYTES) % window.lengthBytes
      const runs = joinPages(
        pages.map((offset) => window.offsetBytes + offset),
        inPage,
        lengthBytes,
      )
      const memory = mapPeer({ bdf: gpuBdf, bar: bar.number, runs, driver: 'nvidia' })
      const fault = segmentsFault(memory.segments, lengthBytes)
      if (fault !== undefined) {
        memory.free()
        throw refused('bad-segments', fault)
      }
      return { segments: memory.segments, release: () => memory.free() }
    },
  }
}

function pagesOf(gpuPointer: bigint, lengthBytes: number): bigint[] {
  const pageBytes = BigInt(GPU_PAGE_BYTES)
  const pages: bigint[] = []
  for (let page = gpuPointer - (gpuPointer % pageBytes); page < gpuPointer + BigInt(lengthBytes); page += pageBytes)
    pages.push(page)
  return pages
}

/** Returns `lengthBytes` bytes, starting at byte `inPage` of the first page, as parts of the BAR. */
function joinPages(offsets: readonly number[], inPage: number, lengthBytes: number): BarRun[] {
  const runs: { offsetBytes: number; lengthBytes: number }[] = []
  let left = lengthBytes
  for (const [index, page] of offsets.entries()) {
    const start = index === 0 ? inPage : 0
    const bytes = Math.min(left, GPU_PAGE_BYTES - start)
    const last = runs.at(-1)
    if (last !== undefined && last.offsetBytes + last.lengthBytes === page + start) last.lengthBytes += bytes
    else runs.push({ offsetBytes: page + start, lengthBytes: bytes })
    left -= bytes
  }
  return runs
}

function checkWindow(window: StaticBar1Window, bar: GpuBar, totalMemoryBytes: number): void {
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
