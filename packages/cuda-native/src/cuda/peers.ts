import { CudaUnavailableError } from './cuda.js'
import { findDriver } from './driver.js'

/** A GPU. */
export interface CudaPeer {
  /** CUDA's number of it in this process. */
  readonly device: number
  readonly name: string
  /** PCI address as in sysfs, such as '0000:0b:00.0'. */
  readonly bdf: string
  readonly memoryBytes: number
}

/** The driver's information about access of one GPU to the memory of another. */
export interface CudaPeerAccess {
  /** Number of the GPU that accesses. */
  readonly from: number
  /** Number of the GPU whose memory is accessed. */
  readonly to: number
  /** Whether access can be enabled. Verify what arrives: copies are known to succeed without moving data. */
  readonly supported: boolean
  /** The driver's rank of the link between them; 0 is best. */
  readonly performanceRank: number
  /** Whether the link supports native atomic operations. */
  readonly nativeAtomics: boolean
}

/** The GPUs of a machine, and their access to each other. */
export interface CudaPeers {
  readonly devices: readonly CudaPeer[]
  /** One entry per pair and direction. */
  readonly access: readonly CudaPeerAccess[]
}

/**
 * Returns which GPUs can access each other's memory, according to the driver. Opens none.
 * @throws NativeAddonError if the addon cannot be loaded; CudaUnavailableError without a driver or a GPU; CudaCallError.
 */
export function cudaPeers(): CudaPeers {
  const found = findDriver()
  if (found.state === 'addon-missing') throw found.cause
  if (found.state !== 'available') throw new CudaUnavailableError(found)
  return {
    devices: found.devices.map(({ name, bdf, memoryBytes }, device) => ({
      device,
      name,
      // The driver returns upper case, with a domain of eight or four digits.
      bdf: bdf.toLowerCase().replace(/^0000(?=[0-9a-f]{4}:)/, ''),
      memoryBytes,
    })),
    access: found.addon.peers(found.library).map(([from, to, supported, performanceRank, atomics]) => ({
      ...{ from, to, supported: supported !== 0, performanceRank, nativeAtomics: atomics !== 0 },
    })),
  }
}
