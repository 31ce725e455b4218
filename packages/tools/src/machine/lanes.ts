import type { Machine } from './machine.js'
import type { PciFunction } from './pci-function.js'
import { ancestorsOf } from './tree.js'

/** Whose lanes a function hangs on, and what says so. */
export interface Lanes {
  readonly of: 'cpu' | 'chipset' | 'unknown'
  readonly evidence: string
  /** Of the chipset: the function whose link all that is behind it shares. */
  readonly uplink: string | undefined
}

const AMD = 0x1022
const INTEL = 0x8086

/** Upstream ports of the switches that AMD's chipsets are, by device ID, as the list of PCI IDs names them. */
const AMD_CHIPSETS = new Map<number, string>([
  [0x43b0, 'X370 series'],
  [0x43b1, 'X399 series'],
  [0x43b4, '300 series'],
  [0x43c6, '400 series'],
  [0x43e9, '500 series'],
  [0x43f4, '600 series'],
  [0x57ad, 'X570'],
])

/** Whose lanes lead to a function: those of the processor, or those of the chipset, which share one link to it. */
export function lanesOf(machine: Machine, address: string): Lanes {
  const above = ancestorsOf(machine, address)
  const rootPort = above.at(-1)
  const nothing = { of: 'unknown', uplink: undefined } as const
  if (machine.virtualisation.hypervisor !== undefined)
    return { ...nothing, evidence: 'the hypervisor made this topology up' }
  if (rootPort === undefined) return { ...nothing, evidence: 'no root port leads to it' }
  if (rootPort.vendorId === AMD) return amdLanes(above, rootPort)
  if (rootPort.vendorId === INTEL) return intelLanes(above)
  return { ...nothing, evidence: `root port ${rootPort.address} is of neither AMD nor Intel` }
}

function amdLanes(above: readonly PciFunction[], rootPort: PciFunction): Lanes {
  const chipset = above.find(({ vendorId, deviceId }) => vendorId === AMD && AMD_CHIPSETS.has(deviceId))
  if (chipset !== undefined) {
    const name = AMD_CHIPSETS.get(chipset.deviceId)!
    return { of: 'chipset', evidence: `behind ${chipset.address}, an AMD ${name} chipset`, uplink: chipset.address }
  }
  const evidence = `root port ${rootPort.address} is AMD's, with no chipset below it`
  return { of: 'cpu', evidence, uplink: undefined }
}

/** On Intel's platforms root ports of the chipset are devices 1Ah to 1Fh of bus 0; behind VMD they keep their numbers. */
function intelLanes(above: readonly PciFunction[]): Lanes {
  const rootPort = above.findLast(({ kind }) => kind === 'root-port') ?? above.at(-1)!
  const device = Number.parseInt(rootPort.address.slice(-4, -2), 16)
  const isFirstBus = /^0000:00$|^1\d{4}:/.test(rootPort.address.slice(0, -5))
  const place = `root port ${rootPort.address} is Intel's`
  if (isFirstBus && device >= 0x1a)
    return { of: 'chipset', evidence: `${place}, at a device number of the chipset`, uplink: undefined }
  return { of: 'cpu', evidence: `${place}, at a place of the processor's`, uplink: undefined }
}
