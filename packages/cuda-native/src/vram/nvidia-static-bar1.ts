import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { DmaMemory, HardwareHost, NativeRegion } from '@gpunvme/nvme-spec/transport'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { isKnownVersion, ResourceManager, type RmGpu } from '../rm/index.js'
import type { SyncGpuAccess, WindowView } from './find-pages.js'
import type { ProviderCandidate } from './negotiate.js'
import { functionPath, type GpuBar } from './pci-facts.js'
import { VramRefusedError } from './provider.js'
import { openStaticBar1, type BarRun, type GpuBarRuns } from './static-bar1.js'
import { queryStaticBar1, type StaticBar1Window } from './static-bar1-info.js'

/** Options of `nvidiaStaticBar1`. */
export interface NvidiaStaticBar1Options {
  /** Native functions, of `@gpunvme/cuda-native/host`. */
  readonly host: Pick<HardwareHost, 'ioctl' | 'allocate' | 'map'>
  /** Directory that contains `sys` and `dev`. Default: '/'. */
  readonly sysRoot?: string
  /** The GPU, with the size of its memory from cuDeviceTotalMem. */
  readonly gpu: RmGpu & { readonly memoryBytes: number }
  /** Version of the loaded module, of /proc/driver/nvidia/version: '580.142'. */
  readonly driverVersion: string
  /** Access to the memory that is to be mapped, such as a `CudaMemorySource` from which it was allocated. */
  readonly memory: SyncGpuAccess
  /** `mapPeer` of a transport of `@gpunvme/host-driver/vfio` or `/sysfs`. */
  readonly mapPeer: (peer: GpuBarRuns) => DmaMemory
}

/** A provider to try, with the resources that it holds. */
export interface StaticBar1Candidate extends ProviderCandidate {
  /** Unmaps BAR1 from this process. The provider must not be used afterwards. */
  close(): void
}

/**
 * Returns a candidate for the provider that `openStaticBar1` describes. Opening it queries the window from NVIDIA's driver
 * with one read-only control, and maps BAR1 into this process for reading. Needs root. The driver's interface was compared
 * with its published headers; it was tested only on a stand-in.
 */
export function nvidiaStaticBar1(options: NvidiaStaticBar1Options): StaticBar1Candidate {
  const { host, sysRoot = '/', gpu, memory, mapPeer } = options
  let view: MappedWindow | undefined
  return {
    name: 'static BAR1',
    open: () =>
      openStaticBar1({
        sysRoot,
        gpuBdf: gpu.bdf,
        totalMemoryBytes: gpu.memoryBytes,
        queryWindow: () => queryDriver(options, sysRoot),
        gpu: memory,
        view: (bar, run) => (view = new MappedWindow(host, sysRoot, gpu.bdf, bar, run)),
        mapPeer,
      }),
    close: () => view?.close(),
  }
}

function queryDriver({ host, driverVersion, gpu }: NvidiaStaticBar1Options, sysRoot: string): StaticBar1Window {
  if (!isKnownVersion(driverVersion))
    throw queryFailed(`the structures of driver ${driverVersion} are not known`, {
      next: 'use a driver from 565 to 595, whose structures were compared with its headers',
    })
  let manager: ResourceManager | undefined
  try {
    manager = new ResourceManager(host, sysRoot, driverVersion, gpu)
    return queryStaticBar1(manager.controlSubdevice)
  } catch (cause) {
    if (cause instanceof VramRefusedError) throw cause
    if (cause instanceof GpuNvmeError) throw queryFailed(cause.headline, { next: cause.next, cause })
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === undefined) throw cause
    throw queryFailed(message, { next: code === 'EACCES' ? 'run as root' : undefined, cause })
  } finally {
    manager?.close()
  }
}

function queryFailed(
  found: string,
  details: { readonly next?: string | undefined; readonly cause?: unknown },
): VramRefusedError {
  const { next, cause } = details
  const more = { ...(next !== undefined && { next }), ...(cause !== undefined && { cause }) }
  return new VramRefusedError({ provider: 'static BAR1', reason: 'query-failed', found, ...more })
}

/** Bytes of BAR1 that are mapped at a time: mapping fills page tables in proportion. */
const PIECE_BYTES = 256 * 1024 * 1024

/** A part of BAR1 that is mapped piece by piece as it is read. */
class MappedWindow implements WindowView {
  readonly lengthBytes: number
  readonly #host: Pick<HardwareHost, 'map'>
  readonly #fd: number
  readonly #offsetBytes: number
  #piece: { readonly region: NativeRegion; readonly start: number } | undefined

  /** @throws VramRefusedError if the kernel refuses access to the file of the BAR */
  constructor(host: Pick<HardwareHost, 'map'>, sysRoot: string, bdf: string, bar: GpuBar, run: BarRun) {
    const file = join(functionPath(sysRoot, bdf), `resource${bar.number}`)
    try {
      this.#fd = openSync(file, 'r')
    } catch (cause) {
      throw queryFailed(`cannot open ${file}: ${(cause as NodeJS.ErrnoException).code}`, { next: 'run as root', cause })
    }
    this.#host = host
    this.#offsetBytes = run.offsetBytes
    this.lengthBytes = run.lengthBytes
  }

  load64(offsetBytes: number): bigint {
    const start = offsetBytes - (offsetBytes % PIECE_BYTES)
    if (this.#piece?.start !== start) {
      this.#piece?.region.unmap()
      this.#piece = undefined
      const bytes = Math.min(PIECE_BYTES, this.lengthBytes - start)
      this.#piece = { start, region: this.#map(this.#offsetBytes + start, bytes) }
    }
    return this.#piece.region.load64(offsetBytes - start)
  }

  #map(offsetBytes: number, lengthBytes: number): NativeRegion {
    try {
      return this.#host.map(this.#fd, offsetBytes, lengthBytes, 'read')
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      if (code === undefined || code.startsWith('ERR_')) throw cause
      throw queryFailed(`the kernel does not map BAR1 for the CPU: ${code}`, {
        next: 'disable Secure Boot, or boot with iomem=relaxed; otherwise do not use static BAR1',
        cause,
      })
    }
  }

  close(): void {
    this.#piece?.region.unmap()
    this.#piece = undefined
    closeSync(this.#fd)
  }
}
