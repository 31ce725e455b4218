import { constants, existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { DmaMemory, HardwareHost, Transport } from '@gpunvme/nvme-spec/transport'
import { anything, checkOptions, object, text, type Checks } from '../check-options.js'
import { guardController, guardRegisters } from '../guard/guard.js'
import { sysfsConfigSpace, type OpenConfigSpace } from '../pci/config-space.js'
import {
  attribute,
  DriverBoundError,
  driverOf,
  functionFolder,
  nvmeFunction,
  type PciFunction,
} from '../pci/function.js'
import { claimFunction, OPEN_HERE } from '../pci/open-functions.js'
import {
  disableBusMaster,
  enableFunction,
  enableMemorySpace,
  hasFunctionLevelReset,
  wakeFunction,
} from '../pci/power.js'
import { Cleanup } from './cleanup.js'
import { DmaArena } from './dma-arena.js'
import { disableFound } from './found-enabled.js'
import { accessing, HardwareAccessError } from './hardware-access.js'
import { HugePagesError, hugePages, physicalMemory } from './locked-memory.js'
import { mapPeerBar, mapResource, type PeerBar } from './peer-bar.js'
import { PollingClock, REMOVAL_CHECK_NS } from './polling-clock.js'
import { RegionBar } from './region-bar.js'
import { wholeRegion } from './segmented-memory.js'

export { HardwareAccessError } from './hardware-access.js'
export { HugePagesError, MemlockLimitError } from './locked-memory.js'
export { PagemapError } from './pagemap.js'
export type { PeerBar } from './peer-bar.js'

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

const checks: Checks<SysfsOptions> = { host: object, bdf: anything, sysRoot: text, hugePages: anything }

/** A transport that also reaches other devices' memory. */
export interface SysfsTransport extends Transport {
  /**
   * Memory on another device that the controller reads and writes directly: a BAR of a function that no kernel driver
   * has. It stays mapped until it is freed or the transport is closed. Not every machine routes from one device to
   * another: verify what arrives.
   * @throws RangeError for no such BAR, DriverBoundError, HardwareAccessError
   */
  mapPeer(peer: PeerBar): DmaMemory
}

/**
 * A controller by its registers in sysfs and by physical addresses: for machines without an IOMMU, or with one that
 * maps nothing (iommu=pt). Needs root, huge pages, and a function that no kernel driver has: `bindDriver` of
 * `@gpunvme/host-driver/pci`. One process at a time: the kernel keeps nobody out, so it is looked who has the registers
 * open.
 *
 * When the process dies nothing stops the drive, which goes on writing to memory that is no longer ours until its queues
 * are empty: unlike vfio, the kernel does not know. `close()` clears bus mastering first, and keeps memory of a function
 * that does not answer any more; the next `openSysfs` disables the controller before it lets it reach memory.
 * @throws RangeError, PciFunctionNotFoundError, NotNvmeError for a wrong address; DriverBoundError; DeviceHeldError;
 *   IommuActiveError; HardwareAccessError, ConfigSpaceAccessError without permission; HugePagesError; MemlockLimitError;
 *   PagemapError; PowerStateError, BusMasterError of a drive that does not wake up; ControllerNotReadyError of one that
 *   is found enabled and does not stop. The registers of one that is not enabled are not touched.
 */
export async function openSysfs(options: SysfsOptions): Promise<SysfsTransport> {
  object('openSysfs: options', options)
  checkOptions('openSysfs', options, checks)
  const { host, bdf, sysRoot = '/', hugePages: most } = options
  if (most !== undefined && (!Number.isInteger(most) || most < 1))
    throw new RangeError(`hugePages: expected a positive integer, got ${most}`)
  const found = nvmeFunction(sysRoot, bdf)
  refuseDriver(sysRoot, found.bdf)
  const { group } = found
  if (group !== undefined && group.type !== 'identity') throw new IommuActiveError(bdf, group.number, group.type)
  // Nothing in the kernel keeps a second process out, and to let go of the drive here would take it from that one.
  await guardController(sysRoot, { bdf })
  const cleanup = new Cleanup()
  cleanup.push(claimFunction(found, OPEN_HERE))
  try {
    // Since it was looked at the driver may have come back.
    refuseDriver(sysRoot, found.bdf)
    const pages = hugePages(sysRoot)
    if (pages.free === 0) throw new HugePagesError(1, pages)
    const clock = new PollingClock()
    const config = openConfig(found)
    cleanup.push(config.close)
    const dma = new DmaArena(physicalMemory(host, sysRoot, most))
    let isStopped = true
    cleanup.push(() => {
      if (isStopped) dma.close()
      else dma.abandon()
    })
    // Whatever stands in the way of memory is found now, before the drive is woken.
    dma.alloc(4096).free()
    const { region, close } = mapResource(host, bdf, join(found.path, 'resource0'))
    cleanup.push(close)
    await guardRegisters(sysRoot, bdf)
    // Who gives the drive back looks for open registers first: from here on it finds ours.
    refuseDriver(sysRoot, found.bdf)
    const bar = new RegionBar(region, clock, region)
    // The registers of a function that was pulled out need not read all ones: what answers there then is not it.
    const stop = clock.every(REMOVAL_CHECK_NS, () => {
      if (!existsSync(found.path)) bar.leaveBus()
    })
    cleanup.push(stop)
    const peers = new Cleanup()
    cleanup.push(() => peers.run())
    await wakeFunction(config, clock)
    enableMemorySpace(config)
    const name = `sysfs ${bdf}`
    const reset = canReset(sysRoot, found, config)
      ? (kind: 'function' | 'bus') => resetFunction(sysRoot, found, config, clock, kind)
      : undefined
    // Last, and so first of all that is undone: what the drive still does must not reach memory that is given back.
    cleanup.push(() => {
      isStopped = disableBusMaster(config)
    })
    isStopped = false
    await disableFound({ name, bar, clock, config }, reset && (() => reset('function')))
    enableFunction(config)
    return {
      name,
      bdf,
      bar,
      dma,
      clock,
      config,
      can: { gpuRing: false, gpuRead: false, dmaToVram: false },
      ...(reset !== undefined && { reset }),
      mapPeer: (peer) => {
        const { region: memory, physicalAddress, close: unmap } = mapPeerBar(host, sysRoot, peer)
        return wholeRegion(memory, physicalAddress, peers.push(unmap))
      },
      close: () => cleanup.run(),
    }
  } catch (error) {
    await cleanup.run().catch(() => undefined) // what went wrong first is what the caller hears of
    throw error
  }
}

/** Drivers that do nothing with the function may stay: they serve programs like this one. */
const HARMLESS = ['uio_pci_generic', 'pci-stub']

function refuseDriver(sysRoot: string, bdf: string): void {
  const driver = driverOf(sysRoot, bdf)
  if (driver !== undefined && !HARMLESS.includes(driver)) throw new DriverBoundError(bdf, driver, null)
}

function openConfig({ bdf, path }: PciFunction): OpenConfigSpace {
  const file = join(path, 'config')
  return accessing(bdf, file, () => sysfsConfigSpace(file))
}

/** Whether a reset through sysfs is one of this function alone. The kernel takes the first of its methods. */
function canReset(sysRoot: string, { bdf, path }: PciFunction, config: OpenConfigSpace): boolean {
  if (!existsSync(join(path, 'reset'))) return false
  const methods = attribute(sysRoot, `${functionFolder(bdf)}/reset_method`)
  // Before Linux 5.15 there is no such file; Function Level Reset came first there too.
  return methods === undefined ? hasFunctionLevelReset(config) : methods.split(' ')[0] === 'flr'
}

async function resetFunction(
  sysRoot: string,
  found: PciFunction,
  config: OpenConfigSpace,
  clock: PollingClock,
  kind: 'function' | 'bus',
): Promise<void> {
  if (kind !== 'function')
    throw new TypeError(`kind: expected 'function', got '${kind}': sysfs resets nothing else here`)
  // A reset under a driver that knows nothing of it takes the kernel down with it.
  refuseDriver(sysRoot, found.bdf)
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
