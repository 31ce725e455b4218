import type { DmaMemory, HardwareHost, Transport } from '@gpunvme/nvme-spec/transport'
import { VFIO_IRQ, VFIO_REGION, VfioUserDeviceInfo } from '@gpunvme/nvme-spec/vfio-user'
import { anything, checkOptions, flag, object, oneOf, text, type Checks } from '../../check-options.js'
import { fileConfigSpace } from '../../pci/config-space.js'
import { nvmeFunction } from '../../pci/function.js'
import { claimFunction, OPEN_HERE } from '../../pci/open-functions.js'
import { disableBusMaster } from '../../pci/power.js'
import { Cleanup } from '../cleanup.js'
import { DmaArena } from '../dma-arena.js'
import { HUGE_PAGE_BYTES, physicalMemory } from '../locked-memory.js'
import { openFunction } from '../open-function.js'
import { findPeer, peerAtBusAddresses, type PeerBar } from '../peer-bar.js'
import { REMOVAL_CHECK_NS, type PollingClock } from '../polling-clock.js'
import type { RegionBar } from '../region-bar.js'
import { VFIO } from './abi.js'
import { ask, callNumber } from './argument.js'
import { openDevice, type VfioMode } from './group.js'
import { eventsOf, interruptCount } from './interrupts.js'
import { mapRegion, regionInfo } from './region.js'
import { Type1Memory } from './type1-memory.js'

export type { BarRun, PeerBar } from '../peer-bar.js'
export type { VfioMode } from './group.js'

/** Options of `openVfio`. */
export interface VfioOptions {
  /** Native functions, such as those of `@gpunvme/cuda-native/host`. */
  readonly host: HardwareHost
  /** PCI address of the controller. */
  readonly bdf: string
  /** Directory with sys/, proc/ and dev/. Default: '/'. */
  readonly sysRoot?: string
  /** Mode in which the device must be bound. Default: the mode in which it is bound. */
  readonly mode?: VfioMode
  /** Allocates memory in huge pages of 2 MiB. Mode 'noiommu' always does. Default in mode 'type1': ordinary pages. */
  readonly hugePages?: boolean
  /** Maximum number of MSI-X vectors to wait on. Default: 0, a polled transport without `interrupts`. */
  readonly interrupts?: number
}

const checks: Checks<VfioOptions> = {
  host: object,
  bdf: anything,
  sysRoot: text,
  mode: oneOf('type1', 'noiommu'),
  hugePages: flag,
  interrupts: anything,
}

/** A transport that can also access memory of other devices. */
export interface VfioTransport extends Transport {
  /** Whether an IOMMU translates. */
  readonly mode: VfioMode
  /**
   * Maps a BAR of another device, or parts of it, as memory that the controller accesses directly and the CPU has no view of.
   * No kernel driver may be bound to that device, other than `peer.driver`. In mode 'type1' the parts have consecutive
   * addresses, and the controller reaches nothing else of the BAR; they stay mapped until the memory is freed or the
   * transport is closed. Not every machine routes transfers between devices: verify what arrives.
   * @throws RangeError for no such BAR or part; DriverError (DRIVER_BOUND, HARDWARE_ACCESS, CONFIG_SPACE_ACCESS, VFIO,
   *   IOVA_EXHAUSTED)
   */
  readonly mapPeer: (peer: PeerBar) => DmaMemory
}

/**
 * Opens a controller through the kernel's vfio-pci. Bind it first with `bindDriver` of `@gpunvme/host-driver/pci`. With
 * an IOMMU, the drive can access the memory that was allocated here, and no other; in mode 'noiommu', all memory.
 *
 * However this process ends, the kernel closes the device: it clears bus mastering and resets the function, so that the
 * drive no longer writes. In mode 'noiommu' that is a moment after the memory was freed, since a dying process loses
 * its memory before its files. If the device is to be removed while it is open, its registers read all ones from then
 * on, and the kernel waits until it is closed. A controller that is found enabled is disabled before it may access
 * memory; registers of others are not touched.
 * @throws RangeError, TypeError for invalid arguments; DeviceHeldError if this process has it open; DriverError for
 *   everything else, with one of these codes after `ERR_GPUNVME_`: NOT_READY if it is found enabled and does not stop;
 *   PCI_FUNCTION_NOT_FOUND, NOT_NVME for a wrong address; DRIVER_BOUND; NO_IOMMU; VFIO_MODE; VFIO_MISSING; VFIO_BUSY;
 *   GROUP_NOT_VIABLE; VFIO_UNSUPPORTED; HARDWARE_ACCESS without permission; MEMLOCK_LIMIT, HUGE_PAGES, PAGEMAP;
 *   POWER_STATE, BUS_MASTER if the drive does not wake up; VFIO for everything else that the kernel refuses.
 */
export async function openVfio(options: VfioOptions): Promise<VfioTransport> {
  object('openVfio: options', options)
  checkOptions('openVfio', options, checks)
  const { host, bdf, sysRoot = '/', interrupts: wanted = 0 } = options
  if (!Number.isInteger(wanted) || wanted < 0 || wanted > 2048)
    throw new RangeError(`interrupts: expected an integer from 0 to 2048, got ${wanted}`)
  const found = nvmeFunction(sysRoot, bdf)
  return openFunction((cleanup) => {
    cleanup.push(claimFunction(found, OPEN_HERE))
    const { mode, container, device, close: closeDevice } = openDevice(host, sysRoot, found, options.mode)
    cleanup.push(closeDevice)
    const config = fileConfigSpace(device, regionInfo(host, device, VFIO_REGION.CONFIG).fileOffset)
    const type1 =
      mode === 'type1'
        ? new Type1Memory(host, sysRoot, container, options.hugePages === true ? HUGE_PAGE_BYTES : 4096)
        : undefined
    const peers = new Cleanup()
    cleanup.push(() => peers.run())
    const request = ['DEVICE_GET_INFO', VFIO.DEVICE_GET_INFO] as const
    const { FLAGS } = VfioUserDeviceInfo.view(ask(host, device, request, VfioUserDeviceInfo))
    return {
      ...{ name: `vfio ${bdf}`, host, config, dma: new DmaArena(type1 ?? physicalMemory(host, sysRoot)) },
      dmaToVram: true,
      mapRegisters: () => mapRegion(host, device, regionInfo(host, device, VFIO_REGION.BAR0)),
      watch: (bar, clock) => watchRemoval(host, device, clock, bar),
      msix: {
        wanted,
        available: () => interruptCount(host, device, VFIO_IRQ.MSIX),
        events: (vectors) => eventsOf(host, device, VFIO_IRQ.MSIX, vectors),
      },
      resets: VfioUserDeviceInfo.FLAGS.RESET.of(FLAGS) === 1 ? ['function'] : [],
      reset() {
        callNumber(host, device, ['DEVICE_RESET', VFIO.DEVICE_RESET])
      },
      // With an IOMMU, unmapping ends the drive's access, whether it responds or not.
      stop: () => disableBusMaster(config) || mode === 'type1',
      more: { bdf, mode, mapPeer: (peer: PeerBar) => mapPeer(sysRoot, type1, peer, peers) },
    }
  })
}

/**
 * Watches for the kernel's request to release a device that is to be removed or unbound. The kernel waits until it is
 * closed. There is no other sign, since its registers go on working.
 */
function watchRemoval(host: HardwareHost, device: number, clock: PollingClock, bar: RegionBar): () => void {
  if (interruptCount(host, device, VFIO_IRQ.REQ) === 0) return () => undefined
  const events = eventsOf(host, device, VFIO_IRQ.REQ, 1)
  const stop = clock.every(REMOVAL_CHECK_NS, () => {
    if (events.hasFired(0)) bar.leaveBus()
  })
  return () => {
    stop()
    events.close()
  }
}

function mapPeer(sysRoot: string, type1: Type1Memory | undefined, peer: PeerBar, peers: Cleanup): DmaMemory {
  const found = findPeer(sysRoot, peer)
  return type1 === undefined ? peerAtBusAddresses(found) : type1.mapPeer(peer.bdf, found, peers)
}
