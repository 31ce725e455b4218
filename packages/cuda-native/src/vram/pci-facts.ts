import { readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { VramRefusedError } from './provider.js'
import type { AddressRun } from './segments.js'

/** IORESOURCE_MEM and IORESOURCE_MEM_64, in the third column of sysfs' `resource` (Linux linux/ioport.h). */
const IORESOURCE_MEM = 0x200
const IORESOURCE_MEM_64 = 0x100000

/**
 * What NVIDIA calls BAR1 of a GPU, on the bus: the second window that `resource` of sysfs lists. The registers before it
 * are in BAR0 alone or, where they have a 64-bit address as of H100, in BAR0 and BAR1 of PCI: then it is BAR2 of PCI.
 * @param sysRoot where /sys is: '/' on a live machine.
 * @throws VramRefusedError 'no-bar1'
 */
export function gpuBar1(sysRoot: string, bdf: string): AddressRun {
  const lines = read(join(functionPath(sysRoot, bdf), 'resource'))?.split('\n')
  const [, , registers = 0] = numbersOf(lines?.[0])
  const line = lines?.[(registers & IORESOURCE_MEM_64) === 0 ? 1 : 2]
  const [first = 0, last = 0, flags = 0] = numbersOf(line)
  const isMemory = (flags & IORESOURCE_MEM) !== 0
  if (isMemory && last > first && Number.isSafeInteger(last)) return { iova: first, lengthBytes: last - first + 1 }
  throw new VramRefusedError({
    provider: 'static BAR1',
    reason: 'no-bar1',
    found: `${bdf} has no BAR1 that memory could be behind`,
    facts: [line === undefined ? `${bdf} has no list of its BARs in sysfs` : `its second window is listed as: ${line}`],
    next: 'check the address; a BAR that firmware left without one is "can\'t assign; no space" in the kernel log',
  })
}

function numbersOf(line: string | undefined): number[] {
  return line?.trim().split(/\s+/).map(Number) ?? []
}

/** What stands between a function and the addresses of the bus. */
export type IommuMode = 'none' | 'passthrough' | 'translated' | 'unknown'

/** How the kernel's IOMMU treats a function, by its group in sysfs. Groups of no-IOMMU VFIO have no IOMMU behind them. */
export function iommuMode(sysRoot: string, bdf: string): IommuMode {
  const path = functionPath(sysRoot, bdf)
  const group = join(path, 'iommu_group')
  try {
    readlinkSync(group)
  } catch (error) {
    // No link is no group, where the function itself is there to have one.
    const isThere = read(join(path, 'resource')) !== undefined || read(join(path, 'class')) !== undefined
    return isThere && (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'none' : 'unknown'
  }
  if (read(join(group, 'name')) === 'vfio-noiommu') return 'none'
  const type = read(join(group, 'type'))
  if (type === undefined) return 'unknown'
  return type === 'identity' ? 'passthrough' : 'translated'
}

function functionPath(sysRoot: string, bdf: string): string {
  if (!/^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-1][0-9a-f]\.[0-7]$/.test(bdf))
    throw new RangeError(`bdf: expected a PCI address as 0000:0b:00.0, got ${JSON.stringify(bdf)}`)
  return join(sysRoot, 'sys/bus/pci/devices', bdf)
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trimEnd()
  } catch {
    return undefined
  }
}
