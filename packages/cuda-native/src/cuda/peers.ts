import { CudaUnavailableError } from './cuda.js'
import { findDriver } from './driver.js'

/** A GPU, as CUDA numbers it in this process. */
export interface CudaPeer {
  readonly device: number
  readonly name: string
  /** Its PCI address as sysfs writes it: '0000:0b:00.0'. */
  readonly bdf: string
  readonly memoryBytes: number
}

/** What the driver says of one GPU and the memory of another. */
export interface CudaReach {
  readonly from: number
  readonly to: number
  /** Whether it may be asked for access. What then arrives has to be looked at: copies have succeeded and moved nothing. */
  readonly supported: boolean
  /** The driver's rank of the way between them: 0 is the best. */
  readonly performanceRank: number
  readonly nativeAtomics: boolean
}

/** The GPUs of a machine, and what they are to each other. */
export interface CudaPeers {
  readonly devices: readonly CudaPeer[]
  /** For each two of them, in both directions. */
  readonly reaches: readonly CudaReach[]
}

/**
 * Asks the driver which GPUs may reach each other's memory. None is opened.
 * @throws NativeAddonError without the addon; CudaUnavailableError without a driver, or a GPU; CudaCallError.
 */
export function cudaPeers(): CudaPeers {
  const found = findDriver()
  if (found.state === 'addon-missing') throw found.cause
  if (found.state !== 'available') throw new CudaUnavailableError(found)
  return {
    devices: found.devices.map(({ name, bdf, memoryBytes }, device) => ({
      device,
      name,
      // The driver writes it in upper case, with a domain of eight digits or of four.
      bdf: bdf.toLowerCase().replace(/^0000(?=[0-9a-f]{4}:)/, ''),
      memoryBytes,
    })),
    reaches: found.addon.peers(found.library).map(([from, to, supported, performanceRank, atomics]) => ({
      ...{ from, to, supported: supported !== 0, performanceRank, nativeAtomics: atomics !== 0 },
    })),
  }
}
