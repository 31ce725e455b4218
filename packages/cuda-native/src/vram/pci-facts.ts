import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { VramRefusedError } from './provider.js'
import type { AddressRun } from './segments.js'

/** IORESOURCE_MEM and IORESOURCE_MEM_64, in the third column of sysfs' `resource` (Linux linux/ioport.h). */
const IORESOURCE_MEM = 0x200
const IORESOURCE_MEM_64 = 0x100000

/** A BAR of a GPU. */
export interface GpuBar extends AddressRun {
  /** Its number in PCI, N of `resourceN`. */
  readonly number: number
}

/**
 * Returns the bus address of what NVIDIA calls BAR1 of a GPU: the second window in `resource` of sysfs. With 64-bit registers,
 * as of H100, they take BAR0 and BAR1 of PCI, and the window is BAR2 of PCI.
 * @param sysRoot directory of /sys: '/' on a live machine.
 * @throws VramRefusedError 'no-bar1'
 */
export function gpuBar1(sysRoot: string, bdf: string): GpuBar {
  const lines = read(join(functionPath(sysRoot, bdf), 'resource'))?.split('\n')
  const [, , registers = 0] = numbersOf(lines?.[0])
  const number = (registers & IORESOURCE_MEM_64) === 0 ? 1 : 2
  const line = lines?.[number]
  const [first = 0, last = 0, flags = 0] = numbersOf(line)
  const isMemory = (flags & IORESOURCE_MEM) !== 0
  if (isMemory && last > first && Number.isSafeInteger(last))
    return { number, iova: first, lengthBytes: last - first + 1 }
  throw new VramRefusedError({
    provider: 'static BAR1',
    reason: 'no-bar1',
    found: `${bdf} has no BAR1 with memory`,
    facts: [line === undefined ? `sysfs has no list of BARs for ${bdf}` : `sysfs lists its second window as: ${line}`],
    next: 'check the PCI address; if firmware assigned none to the BAR, the kernel log says "can\'t assign; no space"',
  })
}

function numbersOf(line: string | undefined): number[] {
  return line?.trim().split(/\s+/).map(Number) ?? []
}

/** Returns the directory of a PCI function in sysfs. @throws RangeError for an invalid address. */
export function functionPath(sysRoot: string, bdf: string): string {
  if (!/^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-1][0-9a-f]\.[0-7]$/.test(bdf))
    throw new RangeError(`bdf: expected a PCI address such as 0000:0b:00.0, got ${JSON.stringify(bdf)}`)
  return join(sysRoot, 'sys/bus/pci/devices', bdf)
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trimEnd()
  } catch {
    return undefined
  }
}
