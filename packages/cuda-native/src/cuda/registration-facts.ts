import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { release } from 'node:os'
import { join } from 'node:path'

/** Where to find facts about the machine, for tests. */
export interface RegistrationCircumstances {
  /** Directory with `proc` and `sys`. Default: `/`. */
  readonly root?: string
  /** Release of the kernel. Default: that of uname. */
  readonly kernelRelease?: string
}

/**
 * Returns facts that a registration with IOMEMORY depends on: variant and version of NVIDIA's kernel module, which looks up
 * the pages; the kernel, which no longer exports that look-up to non-GPL modules; the IOMMU; and the mapping of the range.
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

/** Describes the loaded module. Only the open variant names itself. */
function driverModule(root: string): string {
  const text = read(join(root, 'proc/driver/nvidia/version'))
  const line = text?.split('\n').find((each) => each.startsWith('NVRM version:'))
  if (line === undefined) return 'no NVIDIA kernel module reports its version in /proc/driver/nvidia/version'
  const version = /\s(\d+(?:\.\d+)+)\s/.exec(line)?.[1] ?? 'of unknown version'
  return line.includes('Open Kernel Module')
    ? `open kernel module ${version}`
    : `proprietary kernel module ${version}, which can look up pages of registers only on Linux before 6.10`
}

/** Linux 6.10 removed follow_pfn, which any module could use. Its replacement is exported to GPL modules only. */
function lookUpOf(kernelRelease: string): string {
  const [major = 0, minor = 0] = kernelRelease.split('.').map((part) => Number.parseInt(part, 10))
  return major > 6 || (major === 6 && minor >= 10) ? ', without follow_pfn' : ', with follow_pfn'
}

function iommuState(root: string): string {
  const groups = join(root, 'sys/kernel/iommu_groups')
  if (!existsSync(groups) || readdirSync(groups).length === 0) return 'off (no IOMMU groups)'
  const types = readdirSync(groups).map((group) => read(join(groups, group, 'type'))?.trim() ?? 'unknown')
  const kinds = [...new Set(types)].sort().join(', ')
  return `on, with groups of type ${kinds}; the driver then maps registers for the GPU unless NVreg_DmaRemapPeerMmio=0`
}

/** Describes the mapping at an address by the kernel's name for it. */
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
        ? `a region of VFIO, ${name}; read every page once before registering it`
        : `not a PCI BAR but ${name === '' ? 'anonymous memory' : name}`
    return last > to ? `${kind}, which ends before the range` : kind
  }
  return 'not mapped in this process'
}
