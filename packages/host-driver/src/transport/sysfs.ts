import { constants, existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DmaMemory, HardwareHost, Transport } from '@gpunvme/nvme-spec/transport'
import { anything, checkOptions, object, text, type Checks } from '../check-options.js'
import { DriverError } from '../error.js'
import { guardController, guardRegisters } from '../guard/guard.js'
import { sysfsConfigSpace, type OpenConfigSpace } from '../pci/config-space.js'
import {
  attribute,
  driverBound,
  driverOf,
  functionFolder,
  nvmeFunction,
  type IommuGroup,
  type PciFunction,
} from '../pci/function.js'
import { claimFunction, OPEN_HERE } from '../pci/open-functions.js'
import { disableBusMaster, hasFunctionLevelReset } from '../pci/power.js'
import { DmaArena } from './dma-arena.js'
import { accessing, accessRefused } from './hardware-access.js'
import { hugePages, hugePagesMissing, physicalMemory } from './locked-memory.js'
import { openFunction } from './open-function.js'
import { findPeer, mapResource, peerAtBusAddresses, type PeerBar } from './peer-bar.js'
import { REMOVAL_CHECK_NS } from './polling-clock.js'

export { allocateLocked } from './locked-memory.js'
export type { BarRun, PeerBar } from './peer-bar.js'

/** Options of `openSysfs`. */
export interface SysfsOptions {
  /** Native functions, such as those of `@gpunvme/cuda-native/host`. */
  readonly host: HardwareHost
  /** PCI address of the controller. */
  readonly bdf: string
  /** Directory with sys/ and proc/. Default: '/'. */
  readonly sysRoot?: string
  /** Maximum number of huge pages of 2 MiB in use at once. Default: all of the machine. */
  readonly hugePages?: number
}

const checks: Checks<SysfsOptions> = { host: object, bdf: anything, sysRoot: text, hugePages: anything }

/** A transport that can also access memory of other devices. */
export interface SysfsTransport extends Transport {
  /**
   * Returns a BAR of another device, or parts of it, as memory that the controller accesses directly and the CPU has no view
   * of. No kernel driver may be bound to that device, other than `peer.driver`. Nothing keeps the controller from a BAR:
   * it must not use the memory after `free`. Not every machine routes transfers between devices: verify what arrives.
   * @throws RangeError for no such BAR or part; DriverError (DRIVER_BOUND, HARDWARE_ACCESS, CONFIG_SPACE_ACCESS)
   */
  readonly mapPeer: (peer: PeerBar) => DmaMemory
}

/**
 * Opens a controller by its registers in sysfs and physical addresses, on machines without an IOMMU, or with one that
 * maps nothing (iommu=pt). Needs root, huge pages, and a function without a kernel driver: see `bindDriver` of
 * `@gpunvme/host-driver/pci`. The kernel does not exclude a second process, so other users of the registers are looked
 * for.
 *
 * **If the process dies, nothing stops the drive**: it goes on writing to freed memory until its queues are empty.
 * `close()` clears bus mastering first, and keeps the memory of a function that does not respond. The next `openSysfs`
 * disables the controller before it may access memory. Registers of a controller that is not enabled are not touched.
 * @throws RangeError, TypeError for invalid arguments; DeviceHeldError; DriverError for everything else, with one of
 *   these codes after `ERR_GPUNVME_`: NOT_READY if it is found enabled and does not stop; PCI_FUNCTION_NOT_FOUND,
 *   NOT_NVME for a wrong address; DRIVER_BOUND; IOMMU_ACTIVE; HARDWARE_ACCESS, CONFIG_SPACE_ACCESS without permission;
 *   HUGE_PAGES, MEMLOCK_LIMIT, PAGEMAP; POWER_STATE, BUS_MASTER if the drive does not wake up.
 */
export async function openSysfs(options: SysfsOptions): Promise<SysfsTransport> {
  object('openSysfs: options', options)
  checkOptions('openSysfs', options, checks)
  const { host, bdf, sysRoot = '/', hugePages: max } = options
  if (max !== undefined && (!Number.isInteger(max) || max < 1))
    throw new RangeError(`hugePages: expected a positive integer, got ${max}`)
  const found = nvmeFunction(sysRoot, bdf)
  refuseDriver(sysRoot, found.bdf)
  const { group } = found
  if (group !== undefined && group.type !== 'identity') throw iommuActive(bdf, group)
  // The kernel does not exclude a second process, and the cleanup of a failed open would take the drive from it.
  await guardController(sysRoot, { bdf })
  return openFunction((cleanup) => {
    cleanup.push(claimFunction(found, OPEN_HERE))
    // The driver may have returned since the first check.
    refuseDriver(sysRoot, found.bdf)
    const pages = hugePages(sysRoot)
    if (pages.free === 0) throw hugePagesMissing(1, pages)
    const config = openConfig(found)
    cleanup.push(config.close)
    return {
      ...{ name: `sysfs ${bdf}`, host, config, dma: new DmaArena(physicalMemory(host, sysRoot, max)) },
      dmaToVram: true,
      async mapRegisters() {
        const { region, close } = mapResource(host, bdf, join(found.path, 'resource0'))
        try {
          await guardRegisters(sysRoot, bdf)
          // A process that returns the drive first looks for open registers: from here on it finds these.
          refuseDriver(sysRoot, found.bdf)
        } catch (error) {
          close()
          throw error
        }
        return { window: region, mapped: region, unmap: close }
      },
      // Registers of a removed function need not read all ones: something else may respond there.
      watch: (bar, clock) =>
        clock.every(REMOVAL_CHECK_NS, () => {
          if (!existsSync(found.path)) bar.leaveBus()
        }),
      resets: canReset(sysRoot, found, config) ? ['function'] : [],
      reset: () => resetFunction(sysRoot, found),
      stop: () => disableBusMaster(config),
      more: {
        bdf,
        mapPeer: (peer: PeerBar) => peerAtBusAddresses(findPeer(sysRoot, peer)),
      },
    }
  })
}

/** Drivers that do nothing with the function: they serve programs like this one. */
const HARMLESS = ['uio_pci_generic', 'pci-stub']

function refuseDriver(sysRoot: string, bdf: string): void {
  const driver = driverOf(sysRoot, bdf)
  if (driver !== undefined && !HARMLESS.includes(driver)) throw driverBound(bdf, driver, null)
}

function openConfig({ bdf, path }: PciFunction): OpenConfigSpace {
  const file = join(path, 'config')
  return accessing(bdf, file, () => sysfsConfigSpace(file))
}

/** Returns whether a reset through sysfs affects only this function. The kernel uses the first of its methods. */
function canReset(sysRoot: string, { bdf, path }: PciFunction, config: OpenConfigSpace): boolean {
  if (!existsSync(join(path, 'reset'))) return false
  const methods = attribute(sysRoot, `${functionFolder(bdf)}/reset_method`)
  // Linux before 5.15 has no such file; Function Level Reset came first there too.
  return methods === undefined ? hasFunctionLevelReset(config) : methods.split(' ')[0] === 'flr'
}

async function resetFunction(sysRoot: string, found: PciFunction): Promise<void> {
  // A reset behind the back of another driver can crash the kernel.
  refuseDriver(sysRoot, found.bdf)
  const file = join(found.path, 'reset')
  try {
    await writeFile(file, '1', { flag: constants.O_WRONLY })
  } catch (error) {
    throw accessRefused(found.bdf, file, (error as NodeJS.ErrnoException).code ?? 'failed', error)
  }
}

/** An IOMMU translates for the function, so physical addresses do not work. The function was not touched. */
function iommuActive(bdf: string, { number, type = 'unknown' }: IommuGroup): DriverError {
  const headline = `An IOMMU translates for ${bdf}: physical addresses do not reach memory`
  return new DriverError('ERR_GPUNVME_IOMMU_ACTIVE', 'infeasible', headline, {
    facts: [`IOMMU group ${number} has a domain of type ${type}, not identity`],
    next: `use the transport vfio: bindDriver({ bdf: '${bdf}', driver: 'vfio-pci' }), then openVfio()`,
  })
}
