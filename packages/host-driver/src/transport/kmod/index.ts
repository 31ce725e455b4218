import type { DmaMemory, HardwareHost, Transport } from '@gpunvme/nvme-spec/transport'
import { checkOptions, flag, integer, object, text, type Checks } from '../../check-options.js'
import { claimFunction, OPEN_HERE } from '../../pci/open-functions.js'
import { accessing } from '../hardware-access.js'
import { HUGE_PAGE_BYTES } from '../locked-memory.js'
import { openFunction } from '../open-function.js'
import { findPeer, peerAtBusAddresses, type PeerBar } from '../peer-bar.js'
import { Info, MMAP_BAR0, Reset, RESET_METHOD } from './abi.js'
import { call, kmodRemoved, setBusMaster } from './call.js'
import { kmodConfigSpace } from './config.js'
import { KmodDmaBufs } from './dma-bufs.js'
import { irqEvents, KmodWatch, type KmodDeparture } from './events.js'
import { askInfo, bdfOf, factsOf, type KmodInfo } from './info.js'
import { KmodMemory } from './memory.js'
import { closeNode, findNode, openNode } from './node.js'
import { SegmentTable } from './segment-table.js'

export type { BarRun, PeerBar } from '../peer-bar.js'
export type { KmodDmaBuf, KmodDmaBufs } from './dma-bufs.js'
export type { KmodDeparture } from './events.js'
export type { KmodInfo, KmodLink } from './info.js'

/** Options of `openKmod`. */
export interface KmodOptions {
  /** Native functions, such as those of `@gpunvme/cuda-native/host`. */
  readonly host: HardwareHost
  /** Node or PCI address of the controller: '/dev/gpunvme0', '0000:0b:00.0'. */
  readonly device: string
  /** Directory with sys/, proc/ and dev/. Default: '/'. */
  readonly sysRoot?: string
  /** Allocates data memory in huge pages of 2 MiB, which gives fewer segments without an IOMMU. Default: false. */
  readonly hugePages?: boolean
  /** Maximum number of MSI-X vectors to wait on. Default: 0, a polled transport without `interrupts`. */
  readonly interrupts?: number
}

const checks: Checks<KmodOptions> = {
  host: object,
  device: text,
  sysRoot: text,
  hugePages: flag,
  interrupts: integer(0, 2048),
}

/** A transport that can also access memory of other devices. */
export interface KmodTransport extends Transport {
  readonly bdf: string
  /** Properties of the controller when it was opened. */
  readonly info: KmodInfo
  /** Maps dma-bufs for the controller. */
  readonly dmaBufs: Pick<KmodDmaBufs, 'attach'>
  /**
   * Returns a BAR of another device, or parts of it, as memory of the controller, like `mapPeer` of a `/sysfs` transport.
   * Absent if an IOMMU translates: the module then maps memory of other devices only by dma-bufs.
   */
  readonly mapPeer?: (peer: PeerBar) => DmaMemory
  /**
   * Why all registers read all ones: the controller was removed, or the exporter of a dma-buf revoked its memory, after
   * which no command may be sent again. Undefined while the controller is usable.
   */
  readonly departure: KmodDeparture | undefined
}

/**
 * Opens a controller through the kernel module gpunvme (kmod/). Bind it first with
 * `bindDriver({ bdf, driver: 'gpunvme' })` of `@gpunvme/host-driver/pci`. Needs neither an IOMMU nor huge pages, and
 * works with both: memory has the addresses of the kernel's DMA interface. Unless an IOMMU translates them, the
 * controller can access all memory: opening it then requires CAP_SYS_RAWIO and a kernel that is not locked down, and taints
 * the kernel. Only one user at a time can open a controller.
 *
 * However this process ends, the module disables bus mastering and stops the controller before it frees memory. A
 * controller that is removed or unbound while it is open reads all ones from then on; the kernel waits until it is
 * closed, since a GPU may have its registers mapped. After an external reset, suspend or PCIe error recovery, bus mastering
 * is enabled again and the driver recovers the controller. A controller that is found enabled is disabled before it may
 * access memory.
 * @throws RangeError, TypeError for invalid arguments; DeviceHeldError if this thread has it open;
 *   DriverError for everything else, with one of these codes after `ERR_GPUNVME_`: NOT_READY if it is found enabled and
 *   does not stop; PCI_FUNCTION_NOT_FOUND, NOT_NVME; DRIVER_BOUND if the module does not have it;
 *   KMOD_MISSING; KMOD_BUSY if another thread or process has it open; KMOD_UNTRANSLATED without a translating IOMMU, if the
 *   process lacks CAP_SYS_RAWIO or the kernel is locked down; HARDWARE_ACCESS without permission; KMOD_VERSION;
 *   KMOD_REMOVED; MEMLOCK_LIMIT, HUGE_PAGES; KMOD for everything else that the module refuses.
 */
export async function openKmod(options: KmodOptions): Promise<KmodTransport> {
  object('openKmod: options', options)
  checkOptions('openKmod', options, checks)
  const { host, device, sysRoot = '/', interrupts: wanted = 0, hugePages = false } = options
  object('host', host)
  const place = findNode(sysRoot, device)
  const { bdf } = place.found
  return openFunction(async (cleanup) => {
    cleanup.push(claimFunction(place.found, OPEN_HERE))
    const node = await openNode(host, sysRoot, place)
    cleanup.push(() => closeNode(node))
    const answer = askInfo(node)
    // Nodes are renumbered when controllers come and go: it may have become another controller's.
    if (bdfOf(answer) !== bdf) throw kmodRemoved(bdf)
    const table = new SegmentTable(node)
    cleanup.push(() => table.unmap())
    const dmaBufs = new KmodDmaBufs(node, table)
    const info = factsOf(answer)
    let watch: KmodWatch | undefined
    const { FUNCTION, BUS } = Info.RESET_METHODS
    const has = (method: typeof FUNCTION) => method.of(answer.RESET_METHODS) === 1
    return {
      ...{ name: `kmod ${bdf}`, host, config: kmodConfigSpace(node), isAwake: true },
      ...{ dma: new KmodMemory(node, table, sysRoot, hugePages ? HUGE_PAGE_BYTES : 4096), dmaToVram: true },
      mapRegisters() {
        const region = accessing(bdf, place.path, () =>
          host.map(node.fd, MMAP_BAR0, answer.BAR0_MAPPABLE_LENGTH, 'read-write'),
        )
        return { window: region, mapped: region, unmap: () => region.unmap() }
      },
      watch(bar, clock) {
        const opened = (watch = new KmodWatch(node, clock, bar, dmaBufs))
        return () => opened.close()
      },
      msix: { wanted, available: () => answer.IRQ_VECTORS, events: (vectors) => irqEvents(node, vectors) },
      resets: [...(has(FUNCTION) ? (['function'] as const) : []), ...(has(BUS) ? (['bus'] as const) : [])],
      async reset(kind) {
        // Not in the caller's turn: the call blocks.
        await Promise.resolve()
        const METHOD = kind === 'function' ? RESET_METHOD.FUNCTION : RESET_METHOD.BUS
        call(node, 'RESET', Reset.create({ SIZE: Reset.bytes, METHOD }).data)
      },
      // The module ends its access when the node is closed.
      start: () => setBusMaster(node, true),
      more: {
        bdf,
        info,
        dmaBufs,
        ...(info.iommu !== 'translated' && {
          mapPeer: (peer: PeerBar) => peerAtBusAddresses(findPeer(sysRoot, peer)),
        }),
        get departure() {
          return watch?.departure
        },
      },
    }
  })
}
