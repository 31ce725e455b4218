import { isKnown } from '../known.js'
import type { Machine } from '../machine.js'
import type { LinkShape, PciFunction } from '../pci-function.js'
import { printable } from '../../terminal/printable.js'

/** Short names of base class and subclass (PCI Code and ID Assignment; common ones only). */
const CLASSES: readonly (readonly [code: number, words: string])[] = [
  [0x0106, 'SATA'],
  [0x0107, 'SAS'],
  [0x0104, 'RAID'],
  [0x0108, 'NVMe'],
  [0x0200, 'network'],
  [0x0280, 'network'],
  [0x0300, 'display'],
  [0x0302, '3D'],
  [0x0380, 'display'],
  [0x0403, 'sound'],
  [0x0600, 'host bridge'],
  [0x0601, 'ISA bridge'],
  [0x0604, 'bridge'],
  [0x0c03, 'USB'],
  [0x0c05, 'SMBus'],
  [0x1200, 'accelerator'],
]

/** Returns '0a:00.0': without domain 0000, as in lspci. */
export function shortAddress(address: string): string {
  return address.startsWith('0000:') ? address.slice(5) : address
}

/** 'Gen3 x4'. */
export function shapeText({ gen, lanes }: LinkShape): string {
  return `Gen${gen} x${lanes}`
}

/** Returns a short description of a function, safe for a terminal. */
export function labelOf(machine: Machine, found: PciFunction): string {
  const gpu = machine.gpus.find(({ address }) => address === found.address)
  if (gpu !== undefined) return `GPU ${isKnown(gpu.model) ? printable(gpu.model) : idsOf(found)}`
  const drive = machine.drives.find(({ address }) => address === found.address)
  if (drive !== undefined) {
    const model = isKnown(drive.model) ? drive.model : (found.deviceName ?? idsOf(found))
    return `SSD ${drive.name === undefined ? '' : `${drive.name} `}${printable(model)}`
  }
  if (found.kind === 'root-port') return 'root port'
  if (found.kind === 'switch-upstream') return `switch ${nameOf(found)}`
  if (found.kind === 'switch-downstream') return 'switch port'
  return `${classOf(found)} ${nameOf(found)}`
}

export function classOf({ classCode }: PciFunction): string {
  return (
    CLASSES.find(([code]) => code === classCode >>> 8)?.[1] ??
    `class ${(classCode >>> 8).toString(16).padStart(4, '0')}h`
  )
}

function nameOf(found: PciFunction): string {
  return found.deviceName === undefined ? idsOf(found) : printable(found.deviceName)
}

/** '10de:2204'. */
function idsOf({ vendorId, deviceId }: PciFunction): string {
  return [vendorId, deviceId].map((id) => id.toString(16).padStart(4, '0')).join(':')
}
