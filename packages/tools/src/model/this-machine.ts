import type { CudaStatus } from '@gpunvme/cuda-native'
import type { Link } from '@gpunvme/nvme-spec/pcie'
import { isKnown, valueOf } from '../machine/known.js'
import { functionAt, type Machine } from '../machine/index.js'
import { defaultVramBytes, driveCostOf, gpuLinkOf, type DriveCost } from './machine-cost.js'

/** Facts of the machine that a plan uses where no option overrides them; undefined if unknown. */
export interface MachineDefaults {
  readonly vramBytes: number | undefined
  /** The GPU's link to the CPU. */
  readonly gpuLink: Link | undefined
  /** Cost of reads of the named drive. */
  readonly drive: DriveCost | undefined
}

/**
 * Returns the facts of GPU 0 of CUDA, which `load` uses too, or else of the only NVIDIA GPU, and of a drive.
 * @param driveAddress PCI address of the drive that the plan reads; undefined without a real drive.
 */
export function machineDefaults(
  machine: Machine,
  cuda: CudaStatus | undefined,
  driveAddress: string | undefined,
): MachineDefaults {
  const device = cuda?.available === true ? cuda.devices[0] : undefined
  const nvidia = machine.gpus.filter(({ vendor }) => vendor === 'NVIDIA')
  const gpu = device?.bdf ?? (nvidia.length === 1 ? nvidia[0]!.address : undefined)
  const isListed = (address: string | undefined): address is string =>
    address !== undefined && functionAt(machine, address) !== undefined
  const drive = isListed(driveAddress) ? driveCostOf(machine, driveAddress) : undefined
  return {
    vramBytes: device && defaultVramBytes(device.memoryBytes),
    gpuLink: isListed(gpu) ? valueOf(gpuLinkOf(machine, gpu)) : undefined,
    drive: drive !== undefined && isKnown(drive) ? drive : undefined,
  }
}

/** Returns the origin of a drive's cost, as a plan records it. */
export function costFromOf({ preset, link }: DriveCost): `preset ${string}` | `link ${string}` {
  const shape = `Gen${link.gen} x${link.lanes}`
  return preset === undefined ? `link ${shape}` : `preset ${preset} on ${shape}`
}
