import { gpuBar1, iommuMode, type IommuMode } from './pci-facts.js'
import { VramRefusedError, type VramProvider, type VramRefusal } from './provider.js'
import { checkGpuRange, hex, joinRuns, segmentsFault, type AddressRun } from './segments.js'
import type { StaticBar1Window } from './static-bar1-info.js'

/** What the window is mapped in, and what a large allocation is made of. Nothing is known of the order of the pages. */
export const GPU_PAGE_BYTES = 2 * 1024 * 1024

/** Where 2 MiB of GPU memory lie. */
export interface VramPage {
  /** In the GPU's own memory, from 0 on. */
  readonly physicalAddress: number
  /** Neither compressed nor otherwise laid out than its bytes are counted: then the window shows what kernels see. */
  readonly isPlain: boolean
}

/** Whose BAR, whose addresses, and who answers for the driver. */
export interface StaticBar1Options {
  /** Where /sys is; '/' when not given. */
  readonly sysRoot?: string
  readonly gpuBdf: string
  readonly controller: {
    readonly bdf: string
    /** What its transport hands it: addresses of the bus, or, as vfio in mode 'type1', those of an IOMMU. */
    readonly addresses: 'bus' | 'iova'
  }
  /** The GPU's memory as cuDeviceTotalMem gives it. A window that holds less holds not all that may be allocated. */
  readonly totalMemoryBytes: number
  /** `queryStaticBar1` over the driver. */
  readonly queryWindow: () => StaticBar1Window
  /**
   * Where the 2 MiB page at this address of kernels lies; undefined where nobody knows. Each page is asked for by
   * itself: what the driver gives out in one piece is not in one piece in memory.
   */
  readonly resolvePage: (gpuPointer: bigint) => VramPage | undefined
}

const NAME = 'static BAR1'

/**
 * GPU memory through the window that NVIDIA's driver keeps open in BAR1: pure arithmetic on what the system and the
 * driver say, and for experts. Nothing pins the memory, and nobody is told when it goes: while the controller may write
 * to it, it must stay allocated. A wrong address is somebody else's memory, which is why `probeWrites` begins with one page
 * in the middle of its own. The arithmetic is tested on fixtures and on QEMU; it has not run on a GPU.
 * @throws VramRefusedError where the window cannot be used.
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
        // The window is there for everybody, always: nothing ends with a mapping.
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
      throw refused('page-unresolved', `the driver does not resolve the page at ${hex(page)}`, {
        next: 'memory of cuMemAlloc or cuMemCreate in whole 2 MiB pages, and the GPU that it was allocated on',
      })
    const { physicalAddress, isPlain } = lies
    if (!isPlain)
      throw refused('page-kind', `the page at ${hex(page)} is compressed or laid out otherwise`, {
        next: 'allocate without compression',
      })
    if (!Number.isSafeInteger(physicalAddress) || physicalAddress < 0 || physicalAddress % GPU_PAGE_BYTES !== 0)
      throw refused('page-misplaced', `the page at ${hex(page)} is said to lie at ${physicalAddress}, between pages`)
    if (physicalAddress + GPU_PAGE_BYTES > window.lengthBytes)
      throw refused('page-misplaced', `the page at ${hex(page)} lies outside the window`, {
        facts: [`it lies at ${hex(physicalAddress)}, the window ends at ${hex(window.lengthBytes)}`],
      })
    const bytes = Math.min(left, GPU_PAGE_BYTES - offsetInPage)
    yield { iova: bar.iova + window.offsetBytes + physicalAddress + offsetInPage, lengthBytes: bytes }
    left -= bytes
    offsetInPage = 0
  }
}

function refuseTranslation({ bdf, addresses }: StaticBar1Options['controller'], mode: IommuMode): void {
  if (mode === 'none' || mode === 'passthrough') return
  const known = addresses === 'iova' ? 'its transport gives it addresses of an IOMMU' : 'by its IOMMU group in sysfs'
  throw refused(
    'iommu',
    mode === 'unknown'
      ? `unknown whether addresses of ${bdf} equal bus addresses`
      : `the addresses of ${bdf} are translated, and those of a BAR would mean other memory to it`,
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
    throw refused('window-disabled', 'the driver keeps no static window', {
      facts: facts.slice(1),
      next:
        bar.lengthBytes < totalMemoryBytes
          ? 'turn on Resizable BAR and Above 4G Decoding in the firmware: BAR1 is smaller than the memory'
          : 'the open driver 565.77 or newer, with NVreg_RegistryDwords="RMForceStaticBar1=1"',
    })
  if (offsetBytes % GPU_PAGE_BYTES !== 0 || lengthBytes % GPU_PAGE_BYTES !== 0 || bar.iova % GPU_PAGE_BYTES !== 0)
    throw refused('window-misplaced', 'the window is not made of whole 2 MiB pages', { facts })
  if (lengthBytes < totalMemoryBytes)
    throw refused('window-partial', 'the window holds only a part of the memory', {
      facts,
      next: 'a BAR1 at least as large as the memory: Resizable BAR and Above 4G Decoding in the firmware',
    })
  if (offsetBytes + lengthBytes > bar.lengthBytes)
    throw refused('window-misplaced', 'the window reaches beyond BAR1', { facts })
}

function refused(
  reason: VramRefusal,
  found: string,
  details: { facts?: readonly string[]; next?: string } = {},
): VramRefusedError {
  return new VramRefusedError({ provider: NAME, reason, found, ...details })
}
