import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { release } from 'node:os'
import { join } from 'node:path'

/** What can be told of a range of this process's memory and of this machine, where a GPU was refused registers. */
export interface RegistrationCircumstances {
  /** `/proc` and `/sys` are looked for here; `/` when not given. */
  readonly root?: string
  /** Of the kernel; uname's when not given. */
  readonly kernelRelease?: string
}

/**
 * Lines on what a registration with IOMEMORY depends on: the flavour and version of NVIDIA's kernel module, which looks
 * the pages up; the kernel, which took that look-up away from modules that are not GPL; the IOMMU; what the range is.
 */
export function registrationFacts(
  address: bigint,
  lengthBytes: number,
  { root = '/', kernelRelease = release() }: RegistrationCircumstances = {},
): string[] {
  return [
    `driver: ${driverModule(root)}`,
    `Linux ${kernelRelease}${lookUpOf(kernelRelease)}`,
    `IOMMU: ${iommuState(root)}`,
    `the range: ${mappingOf(root, address, lengthBytes)}`,
  ]
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** The running module's flavour. Its own words: only the open one says so. */
function driverModule(root: string): string {
  const text = read(join(root, 'proc/driver/nvidia/version'))
  const line = text?.split('\n').find((each) => each.startsWith('NVRM version:'))
  if (line === undefined) return 'no NVIDIA kernel module says its version in /proc/driver/nvidia/version'
  const version = /\s(\d+(?:\.\d+)+)\s/.exec(line)?.[1] ?? 'of unknown version'
  return line.includes('Open Kernel Module')
    ? `open kernel module ${version}`
    : `proprietary kernel module ${version}, which can look pages of registers up on Linux before 6.10 alone`
}

/** follow_pfn, which any module could use, went with Linux 6.10; what took its place is for modules under the GPL. */
function lookUpOf(kernelRelease: string): string {
  const [major = 0, minor = 0] = kernelRelease.split('.').map((part) => Number.parseInt(part, 10))
  return major > 6 || (major === 6 && minor >= 10) ? ', where follow_pfn is gone' : ', which has follow_pfn'
}

function iommuState(root: string): string {
  const groups = join(root, 'sys/kernel/iommu_groups')
  if (!existsSync(groups) || readdirSync(groups).length === 0) return 'off, as there are no groups'
  const types = readdirSync(groups).map((group) => read(join(groups, group, 'type'))?.trim() ?? 'unknown')
  const kinds = [...new Set(types)].sort().join(', ')
  return `on, with groups of type ${kinds}; the driver then maps registers for the GPU unless NVreg_DmaRemapPeerMmio=0`
}

/** What is mapped there, by the name that the kernel gives it. */
function mappingOf(root: string, address: bigint, lengthBytes: number): string {
  const last = address + BigInt(lengthBytes)
  for (const line of read(join(root, 'proc/self/maps'))?.split('\n') ?? []) {
    const match = /^([0-9a-f]+)-([0-9a-f]+) \S+ (\S+) \S+ \S+\s*(.*)$/.exec(line)
    if (match === null) continue
    const [from, to] = [BigInt(`0x${match[1]!}`), BigInt(`0x${match[2]!}`)]
    if (address < from || address >= to) continue
    const name = match[4]!
    const kind = /\/resource\d+(_wc)?$/.test(name)
      ? `a PCI BAR, ${name}`
      : /vfio/.test(name)
        ? `a region of VFIO, ${name}; every page of it must have been read once before it is registered`
        : `no PCI BAR but ${name === '' ? 'memory without a name' : name}`
    return last > to ? `${kind}, which ends before the range does` : kind
  }
  return 'not mapped in this process'
}
