import type { DescribedFunction, Shape } from '../described.js'

// Parts of machines. Names and IDs are from the list of PCI IDs; links and sizes are from manufacturers.

export const AMD = { vendor: 0x1022, vendorName: 'Advanced Micro Devices, Inc. [AMD]' }
export const INTEL = { vendor: 0x8086, vendorName: 'Intel Corporation' }
export const NVIDIA = { vendor: 0x10de, vendorName: 'NVIDIA Corporation' }
export const RADEON = { vendor: 0x1002, vendorName: 'Advanced Micro Devices, Inc. [AMD/ATI]' }
export const BROADCOM = { vendor: 0x1000, vendorName: 'Broadcom / LSI' }
export const PLX = { vendor: 0x10b5, vendorName: 'PLX Technology, Inc.' }
export const RED_HAT = { vendor: 0x1b36, vendorName: 'Red Hat, Inc.' }

export type Options = Partial<Omit<DescribedFunction, 'address'>>
/** Returns a function at an address, with changes. */
export type Part = (address: string, options?: Options) => DescribedFunction

export const CLASS = {
  hostBridge: 0x06_00_00,
  bridge: 0x06_04_00,
  display: 0x03_00_00,
  threeD: 0x03_02_00,
  nvme: 0x01_08_02,
}

export function part(fixed: Omit<DescribedFunction, 'address'>): Part {
  return (address, options = {}) => ({ address, ...fixed, ...options })
}

export const gen = (generation: number, lanes: number): Shape => ({ gen: generation, lanes })

/** ACS bits that Linux enables at ports to isolate functions. It treats client root ports as if they had them. */
export const ISOLATING = ['SV', 'RR', 'CR', 'UF']
