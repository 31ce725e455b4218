import type { DescribedFunction, Shape } from '../described.js'

// What machines are put together from. Names and numbers as the list of PCI IDs has them; links and sizes as their
// makers give them.

export const AMD = { vendor: 0x1022, vendorName: 'Advanced Micro Devices, Inc. [AMD]' }
export const INTEL = { vendor: 0x8086, vendorName: 'Intel Corporation' }
export const NVIDIA = { vendor: 0x10de, vendorName: 'NVIDIA Corporation' }
export const RADEON = { vendor: 0x1002, vendorName: 'Advanced Micro Devices, Inc. [AMD/ATI]' }
export const BROADCOM = { vendor: 0x1000, vendorName: 'Broadcom / LSI' }
export const PLX = { vendor: 0x10b5, vendorName: 'PLX Technology, Inc.' }
export const RED_HAT = { vendor: 0x1b36, vendorName: 'Red Hat, Inc.' }

export type Options = Partial<Omit<DescribedFunction, 'address'>>
/** Makes a function at an address, with what is particular about it here. */
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

/** What Linux turns on at ports when it isolates functions; client root ports are treated as if they had it. */
export const ISOLATING = ['SV', 'RR', 'CR', 'UF']
