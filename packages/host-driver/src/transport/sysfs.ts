import { closeSync, constants, existsSync, openSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { HardwareHost, NativeRegion, Transport } from '@gpunvme/nvme-spec/transport'
import { sysfsConfigSpace, type OpenConfigSpace } from '../pci/config-space.js'
import { attribute, DriverBoundError, driverOf, nvmeFunction, type PciFunction } from '../pci/function.js'
import { disableBusMaster, enableFunction, hasFunctionLevelReset, wakeFunction } from '../pci/power.js'
import { DmaArena } from './dma-arena.js'
import { HugePagesError, hugePages, physicalMemory } from './locked-memory.js'
import { PollingClock } from './polling-clock.js'
import { RegionBar } from './region-bar.js'

export { HugePagesError, MemlockLimitError } from './locked-memory.js'
export { PagemapError } from './pagemap.js'

/** Which function to open, and with what. */
export interface SysfsOptions {
  /** What native code does for it: `@gpunvme/cuda-native` has one. */
  readonly host: HardwareHost
  readonly bdf: string
  /** Where sys/ and proc/ are; '/' when not given. */
  readonly sysRoot?: string
  /** How many huge pages of 2 MiB may be in use at once; as many as there are when not given. */
  readonly hugePages?: number
}

/**
 * A controller by its registers in sysfs and by physical addresses: for machines without an IOMMU, or with one that
 * maps nothing (iommu=pt). Needs root, huge pages, and a function that no kernel driver has: `bindDriver` of
 * `@gpunvme/host-driver/pci`. One process at a time; nothing keeps out a second.
 *
 * When the process dies nothing stops the drive, which goes on writing to memory that is no longer ours until its queues
 * are empty: unlike vfio, the kernel does not know. `close()` clears bus mastering first; a new `Controller.open` begins
 * by disabling the controller.
 * @throws RangeError, PciFunctionNotFoundError, NotNvmeError for a wrong address; DriverBoundError; IommuActiveError;
 *   HardwareAccessError, ConfigSpaceAccessError without permission; HugePagesError; MemlockLimitError; PagemapError;
 *   PowerStateError, BusMasterError of a drive that does not wake up. The controller's registers are not touched.
 */
export async function openSysfs({ host, bdf, sysRoot = '/', hugePages: most }: SysfsOptions): Promise<Transport> {
  if (most !== undefined && (!Number.isInteger(most) || most < 1))
    throw new RangeError(`hugePages: expected a positive integer, got ${most}`)
  const found = nvmeFunction(sysRoot, bdf)
  refuseDriver(found)
  const { group } = found
  if (group !== undefined && group.type !== 'identity') throw new IommuActiveError(bdf, group.number, group.type)
  const pages = hugePages(sysRoot)
  if (pages.free === 0) throw new HugePagesError(1, pages)
  const clock = new PollingClock()
  const config = openConfig(found)
  const dma = new DmaArena(physicalMemory(host, sysRoot, most))
  let region: NativeRegion | undefined
  try {
    // Whatever stands in the way of memory is found now, before the drive is woken.
    dma.alloc(4096).free()
    await wakeFunction(config, clock)
    enableFunction(config)
    region = mapBar0(host, found)
  } catch (error) {
    region?.unmap()
    dma.close()
    config.close()
    throw error
  }
  const bar0 = region
  const bar = new RegionBar(bar0, () => {
    clock.touched()
  })
  let closing: Promise<void> | undefined
  const close = () => {
    try {
      // What the drive still does must not reach memory that is about to be somebody else's.
      disableBusMaster(config)
    } finally {
      bar0.unmap()
      dma.close()
      config.close()
    }
  }
  return {
    name: `sysfs ${bdf}`,
    bdf,
    bar,
    dma,
    clock,
    config,
    can: { gpuRing: false, gpuRead: false, dmaToVram: false },
    ...(canReset(found, config) && { reset: (kind) => resetFunction(found, config, clock, kind) }),
    close: () =>
      (closing ??= new Promise((resolve) => {
        close()
        resolve()
      })),
  }
}

/** Drivers that do nothing with the function may stay: they serve programs like this one. */
const HARMLESS = ['uio_pci_generic', 'pci-stub']

function refuseDriver({ bdf, path }: Pick<PciFunction, 'bdf' | 'path'>): void {
  const driver = driverOf(path)
  if (driver !== undefined && !HARMLESS.includes(driver)) throw new DriverBoundError(bdf, driver, null)
}

function openConfig({ bdf, path }: PciFunction): OpenConfigSpace {
  const file = join(path, 'config')
  return accessing(bdf, file, () => sysfsConfigSpace(file))
}

function mapBar0(host: HardwareHost, { bdf, path }: PciFunction): NativeRegion {
  const file = join(path, 'resource0')
  return accessing(bdf, file, () => {
    const fd = openSync(file, 'r+')
    try {
      return host.map(fd, 0, statSync(file).size, 'read-write')
    } finally {
      closeSync(fd) // a mapping outlives the descriptor it was made by
    }
  })
}

function accessing<T>(bdf: string, file: string, access: () => T): T {
  try {
    return access()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (error instanceof GpuNvmeError || code === undefined) throw error
    throw new HardwareAccessError(bdf, file, code, error)
  }
}

/** Whether a reset through sysfs is one of this function alone. The kernel takes the first of its methods. */
function canReset({ path }: PciFunction, config: OpenConfigSpace): boolean {
  if (!existsSync(join(path, 'reset'))) return false
  const methods = attribute(join(path, 'reset_method'))
  // Before Linux 5.15 there is no such file; Function Level Reset came first there too.
  return methods === undefined ? hasFunctionLevelReset(config) : methods.split(' ')[0] === 'flr'
}

async function resetFunction(
  found: PciFunction,
  config: OpenConfigSpace,
  clock: PollingClock,
  kind: 'function' | 'bus',
): Promise<void> {
  if (kind !== 'function')
    throw new TypeError(`kind: expected 'function', got '${kind}': sysfs resets nothing else here`)
  // A reset under a driver that knows nothing of it takes the kernel down with it.
  refuseDriver(found)
  const file = join(found.path, 'reset')
  try {
    await writeFile(file, '1', { flag: constants.O_WRONLY })
  } catch (error) {
    throw new HardwareAccessError(found.bdf, file, (error as NodeJS.ErrnoException).code ?? 'failed', error)
  }
  await wakeFunction(config, clock)
  enableFunction(config)
}

/** An IOMMU translates for the function, and physical addresses mean nothing there. The function was not touched. */
export class IommuActiveError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_IOMMU_ACTIVE'
  readonly category = 'infeasible'
  constructor(bdf: string, group: string, type: string | undefined) {
    super(`The IOMMU is on for ${bdf}: physical addresses do not reach memory`, {
      facts: [`IOMMU group ${group} has a domain of type ${type ?? 'unknown'}, not identity`],
      next: `the transport vfio: bindDriver({ bdf: '${bdf}', driver: 'vfio-pci' }), then openVfio()`,
    })
  }
}

/** The kernel refused a file that the function is reached by. */
export class HardwareAccessError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_HARDWARE_ACCESS'
  readonly category: 'privilege' | 'device'
  readonly path: string
  readonly errno: string
  constructor(bdf: string, path: string, errno: string, cause?: unknown) {
    const isPrivilege = errno === 'EACCES' || errno === 'EPERM'
    super(`Cannot access ${bdf} by ${path}: ${errno}`, {
      next: isPrivilege
        ? 'run as root'
        : 'see that the drive is on the bus (lspci), and what the kernel log says (dmesg)',
      cause,
    })
    this.category = isPrivilege ? 'privilege' : 'device'
    this.path = path
    this.errno = errno
  }
}
