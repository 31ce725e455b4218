import { DriverError } from '../../error.js'
import { attribute, type PciFunction } from '../../pci/function.js'

/** Number of CAP_SYS_RAWIO in linux/capability.h. */
const CAP_SYS_RAWIO = 17n

/**
 * Returns the error for an open(2) that the module refuses (EPERM) because no IOMMU translates the controller's
 * addresses: the kernel is locked down, or this process lacks CAP_SYS_RAWIO. Returns undefined for other causes, such as a
 * container that forbids the device.
 * @param sysRoot directory with sys/ and proc/.
 */
export function untranslatedRefused(
  sysRoot: string,
  { bdf, group }: Pick<PciFunction, 'bdf' | 'group'>,
  cause: unknown,
): DriverError | undefined {
  if (group !== undefined && !group.isNoIommu && group.type !== 'identity') return undefined
  const iommu = group?.isNoIommu === false ? `IOMMU group ${group.number}: identity` : 'IOMMU: none, or off'
  const level = lockdownLevel(sysRoot)
  if (level !== undefined)
    return refused(bdf, 'infeasible', `the kernel is locked down (${level})`, {
      facts: [iommu, `/sys/kernel/security/lockdown: ${level}`],
      next:
        'enable the IOMMU (in the firmware, and with the kernel parameter intel_iommu=on, without iommu=pt), ' +
        'or disable Secure Boot, which locks the kernel down',
      cause,
    })
  if (hasRawIo(sysRoot)) return undefined
  return refused(bdf, 'privilege', 'this process lacks CAP_SYS_RAWIO', {
    facts: [iommu, 'the controller could access all memory of the machine'],
    next: 'run as root or with CAP_SYS_RAWIO, or enable an IOMMU that translates (not iommu=pt)',
    cause,
  })
}

function refused(
  bdf: string,
  category: 'infeasible' | 'privilege',
  reason: string,
  details: ConstructorParameters<typeof DriverError>[3],
): DriverError {
  const headline = `Cannot open ${bdf} without a translating IOMMU: ${reason}`
  return new DriverError('ERR_GPUNVME_KMOD_UNTRANSLATED', category, headline, details)
}

/** Returns 'integrity' or 'confidentiality'; undefined if the kernel is not locked down, or does not say. */
function lockdownLevel(sysRoot: string): string | undefined {
  const level = /\[(\w+)\]/.exec(read(sysRoot, 'sys/kernel/security/lockdown'))?.[1]
  return level === 'none' ? undefined : level
}

/** Returns whether this process has CAP_SYS_RAWIO, possibly only in its user namespace. */
function hasRawIo(sysRoot: string): boolean {
  const effective = /^CapEff:\s*([\da-f]+)$/m.exec(read(sysRoot, 'proc/self/status'))?.[1] ?? '0'
  return ((BigInt(`0x${effective}`) >> CAP_SYS_RAWIO) & 1n) === 1n
}

function read(sysRoot: string, path: string): string {
  try {
    return attribute(sysRoot, path) ?? ''
  } catch {
    return '' // the refusal is reported either way
  }
}
