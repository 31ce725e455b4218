import type { HardwareHost, Transport } from '@gpunvme/nvme-spec/transport'
import { checkOptions, flag, integer, object, text, type Checks } from '../../check-options.js'
import { claimFunction, OPEN_HERE } from '../../pci/open-functions.js'
import { Cleanup } from '../cleanup.js'
import { EventInterrupts } from '../event-interrupts.js'
import { disableFound } from '../found-enabled.js'
import { accessing } from '../hardware-access.js'
import { HUGE_PAGE_BYTES } from '../locked-memory.js'
import { PollingClock } from '../polling-clock.js'
import { RegionBar } from '../region-bar.js'
import { Info, MMAP_BAR0, Reset, RESET_METHOD } from './abi.js'
import { call, KmodRemovedError, setBusMaster } from './call.js'
import { kmodConfigSpace } from './config.js'
import { KmodDmaBufs } from './dma-bufs.js'
import { irqEvents, KmodWatch, type KmodDeparture } from './events.js'
import { askInfo, bdfOf, factsOf, type KmodInfo } from './info.js'
import { KmodMemory } from './memory.js'
import { closeNode, findNode, openNode } from './node.js'
import { SegmentTable } from './segment-table.js'

export { HardwareAccessError } from '../hardware-access.js'
export { HugePagesError, MemlockLimitError } from '../locked-memory.js'
export { KmodError, KmodRemovedError } from './call.js'
export { KmodConfigWriteError } from './config.js'
export type { KmodDmaBuf, KmodDmaBufs } from './dma-bufs.js'
export type { KmodDeparture } from './events.js'
export { KmodVersionError, type KmodInfo, type KmodLink } from './info.js'
export { KmodBusyError, KmodMissingError } from './node.js'
export { KmodSegmentsError } from './segment-table.js'

/** Which controller to open, and with what. */
export interface KmodOptions {
  /** What native code does for it: `@gpunvme/cuda-native` has one. */
  readonly host: HardwareHost
  /** Its node or its PCI address: '/dev/gpunvme0', '0000:0b:00.0'. */
  readonly device: string
  /** Where sys/, proc/ and dev/ are; '/' when not given. */
  readonly sysRoot?: string
  /** Data memory in huge pages of 2 MiB, which are fewer pieces without an IOMMU; ordinary pages do. */
  readonly hugePages?: boolean
  /** How many MSI-X vectors to wait on, at most; without it the transport has no `interrupts` and is polled. */
  readonly interrupts?: number
}

const checks: Checks<KmodOptions> = {
  host: object,
  device: text,
  sysRoot: text,
  hugePages: flag,
  interrupts: integer(0, 2048),
}

/** A transport that also reaches other devices' memory, by dma-bufs. */
export interface KmodTransport extends Transport {
  readonly bdf: string
  /** What the module said of the controller when it was opened. */
  readonly info: KmodInfo
  readonly dmaBufs: Pick<KmodDmaBufs, 'attach'>
  /**
   * Why all registers read as ones since: the controller was removed, or the exporter of a dma-buf took its memory back,
   * after which nothing may be sent again. Undefined as long as it is there.
   */
  readonly departure: KmodDeparture | undefined
}

/**
 * A controller by the kernel module gpunvme (kmod/): bind it with `bindDriver({ bdf, driver: 'gpunvme' })` of
 * `@gpunvme/host-driver/pci`. It needs no IOMMU and no huge pages, and works with both: memory has the addresses that the
 * kernel's DMA interface gives for it. Who opens it has it alone.
 *
 * However this process ends, the module turns bus mastering off and stops the controller before any memory is given back.
 * A controller that is removed, or unbound, while it is open reads all ones from then on; nothing has to wait for that.
 * After a reset by somebody else, sleep or PCIe error recovery it gets bus mastering back and is the driver's to recover.
 * @throws RangeError, TypeError for wrong arguments; PciFunctionNotFoundError, NotNvmeError; DriverBoundError of one that
 *   the module does not have; KmodMissingError; DeviceHeldError while this thread has it open, KmodBusyError while another
 *   or another process has; HardwareAccessError without permission; KmodVersionError; KmodRemovedError; MemlockLimitError,
 *   HugePagesError; KmodError for everything else that the module refuses. A controller that is found enabled is disabled
 *   before it may reach memory, ControllerNotReadyError where it does not stop.
 */
export async function openKmod(options: KmodOptions): Promise<KmodTransport> {
  object('openKmod: options', options)
  checkOptions('openKmod', options, checks)
  const { host, device, sysRoot = '/', interrupts: wanted = 0, hugePages = false } = options
  object('host', host)
  const place = findNode(sysRoot, device)
  const { bdf } = place.found
  const cleanup = new Cleanup()
  cleanup.push(claimFunction(place.found, OPEN_HERE))
  try {
    const node = await openNode(host, sysRoot, place)
    cleanup.push(() => closeNode(node))
    const answer = askInfo(node)
    // Nodes are numbered anew when controllers come and go: since it was found it may have become another's.
    if (bdfOf(answer) !== bdf) throw new KmodRemovedError(bdf)
    const config = kmodConfigSpace(node)
    const table = new SegmentTable(node)
    cleanup.push(() => table.unmap())
    const dma = new KmodMemory(node, table, sysRoot, hugePages ? HUGE_PAGE_BYTES : 4096)
    cleanup.push(() => dma.close())
    // Whatever stands in the way of memory is found now, before the controller is touched.
    dma.alloc(4096).free()
    dma.alloc(4096, { contiguous: true }).free()
    const clock = new PollingClock()
    const registers = accessing(bdf, place.path, () =>
      host.map(node.fd, MMAP_BAR0, answer.BAR0_MAPPABLE_LENGTH, 'read-write'),
    )
    cleanup.push(() => registers.unmap())
    const bar = new RegionBar(registers, clock, registers)
    const dmaBufs = new KmodDmaBufs(node, table)
    const watch = new KmodWatch(node, clock, bar, dmaBufs)
    cleanup.push(() => watch.close())
    const vectors = Math.min(wanted, answer.IRQ_VECTORS)
    const interrupts = vectors === 0 ? undefined : new EventInterrupts(host, clock, irqEvents(node, vectors))
    if (interrupts !== undefined) cleanup.push(() => interrupts.close())
    const name = `kmod ${bdf}`
    const reset = (kind: 'function' | 'bus') => {
      const isThere = kind === 'function' ? Info.RESET_METHODS.FUNCTION : Info.RESET_METHODS.BUS
      if (isThere.of(answer.RESET_METHODS) === 0)
        return Promise.reject(new TypeError(`kind: expected what ${name} can be reset by, got '${kind}'`))
      const METHOD = kind === 'function' ? RESET_METHOD.FUNCTION : RESET_METHOD.BUS
      return Promise.resolve().then(() => {
        call(node, 'RESET', Reset.create({ SIZE: Reset.bytes, METHOD }).data)
        setBusMaster(node, true)
      })
    }
    const canReset = Info.RESET_METHODS.FUNCTION.of(answer.RESET_METHODS) === 1
    // The module has disabled it. One that does not follow may have queues of somebody who is gone.
    await disableFound({ name, bar, clock, config }, canReset ? () => reset('function') : undefined)
    setBusMaster(node, true)
    return {
      name,
      bdf,
      info: factsOf(answer),
      bar,
      dma,
      clock,
      config,
      ...(interrupts !== undefined && { interrupts }),
      // That it arrives, and that a GPU reaches these registers, nobody knows before it was tried.
      can: { gpuRing: false, gpuRead: false, dmaToVram: true },
      ...(canReset && { reset }),
      dmaBufs,
      get departure() {
        return watch.departure
      },
      close: () => cleanup.run(),
    }
  } catch (error) {
    await cleanup.run().catch(() => undefined) // what went wrong first is what the caller hears of
    throw error
  }
}
