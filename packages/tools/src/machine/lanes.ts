import type { Machine } from './machine.js'
import type { PciFunction } from './pci-function.js'
import { ancestorsOf } from './tree.js'

/** Owner of the lanes to a function, with evidence. */
export interface Lanes {
  readonly of: 'cpu' | 'chipset' | 'unknown'
  readonly evidence: string
  /** For the chipset: the function whose link is shared by all functions behind it. */
  readonly uplink: string | undefined
}

const AMD = 0x1022
const INTEL = 0x8086

/** Upstream ports of AMD's chipset switches, by device ID, as in the list of PCI IDs. */
const AMD_CHIPSETS = new Map<number, string>([
  [0x43b0, 'X370 series'],
  [0x43b1, 'X399 series'],
  [0x43b4, '300 series'],
  [0x43c6, '400 series'],
  [0x43e9, '500 series'],
  [0x43f4, '600 series'],
  [0x57ad, 'X570'],
])

/**
 * Returns whether the lanes to a function belong to the CPU, or to the chipset, whose functions share one link to the
 * CPU.
 */
export function lanesOf(machine: Machine, address: string): Lanes {
  const above = ancestorsOf(machine, address)
  const rootPort = above.at(-1)
  const nothing = { of: 'unknown', uplink: undefined } as const
  if (machine.virtualisation.hypervisor !== undefined)
    return { ...nothing, evidence: 'the topology is emulated by the hypervisor' }
  if (rootPort === undefined) return { ...nothing, evidence: 'it is not below a root port' }
  if (rootPort.vendorId === AMD) return amdLanes(above, rootPort)
  if (rootPort.vendorId === INTEL) return intelLanes(above)
  return { ...nothing, evidence: `root port ${rootPort.address} belongs to neither AMD nor Intel` }
}

function amdLanes(above: readonly PciFunction[], rootPort: PciFunction): Lanes {
  const chipset = above.find(({ vendorId, deviceId }) => vendorId === AMD && AMD_CHIPSETS.has(deviceId))
  if (chipset !== undefined) {
    const name = AMD_CHIPSETS.get(chipset.deviceId)!
    return { of: 'chipset', evidence: `behind ${chipset.address}, an AMD ${name} chipset`, uplink: chipset.address }
  }
  const evidence = `root port ${rootPort.address} is AMD's, without a chipset below it`
  return { of: 'cpu', evidence, uplink: undefined }
}

/**
 * On Intel's platforms, root ports of the chipset are devices 1Ah to 1Fh of bus 0; behind VMD they keep their numbers.
 */
function intelLanes(above: readonly PciFunction[]): Lanes {
  const rootPort = above.findLast(({ kind }) => kind === 'root-port') ?? above.at(-1)!
  const device = Number.parseInt(rootPort.address.slice(-4, -2), 16)
  const isFirstBus = /^0000:00$|^1\d{4}:/.test(rootPort.address.slice(0, -5))
  const place = `root port ${rootPort.address} is Intel's`
  if (isFirstBus && device >= 0x1a)
    return { of: 'chipset', evidence: `${place}, at a device number of the chipset`, uplink: undefined }
  return { of: 'cpu', evidence: `${place}, at a device number of the processor`, uplink: undefined }
}
