import type { HardwareHost, NativeRegion } from '@gpunvme/nvme-spec/transport'
import { DriverError } from '../error.js'
import { attribute } from '../pci/function.js'
import type { DmaSource } from './dma-arena.js'
import { physicalSegments } from './pagemap.js'

export const HUGE_PAGE_BYTES = 2_097_152

/** Physical addresses: without an IOMMU, they are the same for every device of this machine. */
const PHYSICAL = Object.freeze({ name: 'physical addresses' })

/** Memory functions of a native host. */
export type MemoryHost = Pick<HardwareHost, 'allocate' | 'memlockLimitBytes'>

/**
 * Allocates locked memory of a native host, with complete errors.
 * @param neededBytes what then counts against RLIMIT_MEMLOCK, if that is more.
 * @throws DriverError (HUGE_PAGES if no huge pages are left, MEMLOCK_LIMIT beyond RLIMIT_MEMLOCK).
 */
export function allocateLocked(
  host: MemoryHost,
  sysRoot: string,
  lengthBytes: number,
  pageBytes: 4096 | typeof HUGE_PAGE_BYTES,
  neededBytes = lengthBytes,
): NativeRegion {
  try {
    return host.allocate(lengthBytes, pageBytes)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EPERM' || code === 'EAGAIN') throw memlockExceeded(neededBytes, host.memlockLimitBytes(), error)
    if (code === 'ENOMEM' && pageBytes === HUGE_PAGE_BYTES)
      throw hugePagesMissing(lengthBytes / HUGE_PAGE_BYTES, hugePages(sysRoot), error)
    throw error
  }
}

/**
 * Returns a source of huge pages by physical address, for devices without an IOMMU.
 * @param maxPages maximum number of pages in use at once. Default: all of the machine.
 */
export function physicalMemory(host: MemoryHost, sysRoot: string, maxPages = Infinity): DmaSource {
  let used = 0
  return {
    granuleBytes: HUGE_PAGE_BYTES,
    addressSpace: PHYSICAL,
    chunk(lengthBytes) {
      const pages = lengthBytes / HUGE_PAGE_BYTES
      if (used + pages > maxPages)
        throw new RangeError(`hugePages: expected at most ${maxPages} in use at once, ${used + pages} are needed`)
      const region = allocateLocked(host, sysRoot, lengthBytes, HUGE_PAGE_BYTES)
      try {
        const segments = physicalSegments(sysRoot, region, HUGE_PAGE_BYTES)
        used += pages
        const release = () => {
          used -= pages
          region.unmap()
        }
        return { buffer: region.buffer, lengthBytes, segments, release }
      } catch (error) {
        region.unmap()
        throw error
      }
    },
  }
}

/** Numbers of huge pages of 2 MiB: reserved, and not in use. */
export interface HugePages {
  readonly total: number
  readonly free: number
}

/** Counts huge pages of 2 MiB. @param sysRoot directory with sys/. */
export function hugePages(sysRoot: string): HugePages {
  const folder = 'sys/kernel/mm/hugepages/hugepages-2048kB'
  const count = (name: string) => Number(attribute(sysRoot, `${folder}/${name}`) ?? 0)
  return { total: count('nr_hugepages'), free: count('free_hugepages') }
}

/** There are not enough huge pages, the only memory with stable physical addresses. */
export function hugePagesMissing(neededPages: number, { total, free }: HugePages, cause?: unknown): DriverError {
  const headline = `Not enough huge pages of 2 MiB: ${neededPages} needed, ${free} free`
  return new DriverError('ERR_GPUNVME_HUGE_PAGES', 'infeasible', headline, {
    facts: [`nr_hugepages is ${total}, free_hugepages ${free}`],
    next: `echo ${total + neededPages - free} > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages`,
    cause,
  })
}

/**
 * RLIMIT_MEMLOCK of this process is too low.
 * @param neededBytes total that would be locked.
 * @param allowedBytes RLIMIT_MEMLOCK.
 */
export function memlockExceeded(neededBytes: number, allowedBytes: number, cause: unknown): DriverError {
  const headline = `Cannot lock ${neededBytes} bytes of memory: RLIMIT_MEMLOCK allows ${allowedBytes}`
  const next = `ulimit -l ${Math.ceil(neededBytes / 1024)} (or unlimited; LimitMEMLOCK= in a systemd unit), or run as root`
  return new DriverError('ERR_GPUNVME_MEMLOCK_LIMIT', 'privilege', headline, { next, cause })
}
