import { closeSync } from 'node:fs'
import type { HardwareHost, Transport, VfioUserHost } from '@gpunvme/nvme-spec/transport'
import { VFIO_IRQ, VFIO_REGION } from '@gpunvme/nvme-spec/vfio-user'
import { checkOptions, integer, object, text, timeout, type Checks } from '../../check-options.js'
import { disableBusMaster, enableFunction, enableMemorySpace, wakeFunction } from '../../pci/power.js'
import { Cleanup } from '../cleanup.js'
import { DmaArena } from '../dma-arena.js'
import { EventInterrupts } from '../event-interrupts.js'
import { disableFound } from '../found-enabled.js'
import { PollingClock, REMOVAL_CHECK_NS } from '../polling-clock.js'
import { RegionBar } from '../region-bar.js'
import { Channel } from './channel.js'
import { checkFunction, deviceInfo, exactly, interruptCount, negotiate, regionInfo } from './device.js'
import { VfioUserConnectError, type VfioUserDeparture } from './errors.js'
import { chooseInterrupts, msixEvents } from './interrupts.js'
import { GRANULE_BYTES, SharedMemory, usualMemoryFolder } from './memory.js'
import { barWindow, targetConfigSpace } from './regions.js'

export {
  VfioUserConnectError,
  VfioUserFunctionError,
  VfioUserLostError,
  VfioUserMemoryError,
  VfioUserProtocolError,
  VfioUserRefusedError,
  VfioUserVersionError,
  type VfioUserDeparture,
} from './errors.js'

/** Options of `openVfioUser`. */
export interface VfioUserOptions {
  /** Native functions, such as those that `loadSocketHost` of `@gpunvme/cuda-native/host` returns. */
  readonly host: VfioUserHost & Pick<HardwareHost, 'waitReadable'>
  /** Path of the target's socket. */
  readonly socket: string
  /** Maximum number of MSI-X vectors to wait on. Default: 0, a polled transport without `interrupts`. */
  readonly interrupts?: number
  /**
   * Time limit of an answer of the target, for which this thread waits. A target that exceeds it counts as gone.
   * Default: 10 s.
   */
  readonly answerTimeoutNs?: number
  /**
   * Folder for DMA memory, which consists of unnamed files. Default: /dev/shm, or else the folder for temporary files.
   * Drives served by `startVfioUserServer` accept only files on tmpfs and hugetlbfs.
   */
  readonly memoryFolder?: string
}

const checks: Checks<VfioUserOptions> = {
  host: object,
  socket: text,
  interrupts: integer(0, 2048),
  answerTimeoutNs: timeout,
  memoryFolder: text,
}

const ANSWER_TIMEOUT_NS = 10e9

/** A transport that says why its device is gone. */
export interface VfioUserTransport extends Transport {
  /** Why all registers read all ones; undefined while the target is present. */
  readonly departure: VfioUserDeparture | undefined
}

/**
 * Opens a controller that another program presents by vfio-user: the simulator of `gpunvme sim serve`, or any other
 * target. The only privilege needed is access to the socket. The target can access the memory that was allocated here,
 * and no other.
 *
 * Each register access is a message, for whose answer this thread waits; doorbells are stores if the target lets them
 * be mapped. A target that closes the connection, is silent for longer than `answerTimeoutNs` or violates the protocol
 * is treated as a device that has left the bus: its registers read all ones at once. Its own requests are refused.
 * @throws TypeError, RangeError for invalid arguments; VfioUserConnectError if the connection fails;
 *   VfioUserVersionError; VfioUserFunctionError if it is not an NVMe controller; VfioUserLostError,
 *   VfioUserProtocolError, VfioUserRefusedError for the behaviour of the target; VfioUserMemoryError; PowerStateError,
 *   BusMasterError; ControllerNotReadyError if a controller is found enabled and does not stop.
 */
export async function openVfioUser(options: VfioUserOptions): Promise<VfioUserTransport> {
  object('openVfioUser: options', options)
  checkOptions('openVfioUser', options, checks)
  const { host, socket, interrupts: wanted = 0, memoryFolder = usualMemoryFolder() } = options
  object('host', host)
  text('socket', socket)
  const cleanup = new Cleanup()
  let channel: Channel | undefined
  try {
    let leave: () => void = () => undefined
    const limitNs = options.answerTimeoutNs ?? ANSWER_TIMEOUT_NS
    const target = (channel = new Channel(host, connect(host, socket), socket, limitNs, () => leave()))
    cleanup.push(() => target.close())
    const capabilities = negotiate(target, GRANULE_BYTES)
    const { canReset } = deviceInfo(target)
    const { fd: unwanted, lengthBytes: configBytes } = regionInfo(target, VFIO_REGION.CONFIG)
    if (unwanted !== undefined) closeSync(unwanted)
    const region = regionInfo(target, VFIO_REGION.BAR0)
    const { fd } = region
    const closeFile = cleanup.push(() => {
      if (fd !== undefined) closeSync(fd)
    })
    checkFunction(target, region, configBytes)
    const config = targetConfigSpace(target, configBytes)
    const dma = new DmaArena(new SharedMemory(target, host, memoryFolder))
    cleanup.push(() => dma.close())
    // Memory problems are found now, before the controller is touched.
    dma.alloc(4096).free()
    const clock = new PollingClock()
    await wakeFunction(config, clock)
    enableMemorySpace(config)
    const window = barWindow(target, host, region)
    cleanup.push(() => window.unmap())
    closeFile()
    const bar = new RegionBar(window, clock, window.mapped)
    leave = () => bar.leaveBus()
    cleanup.push(clock.every(REMOVAL_CHECK_NS, () => target.look()))
    const vectors = wanted === 0 ? 0 : Math.min(wanted, interruptCount(target, VFIO_IRQ.MSIX))
    const msix = vectors === 0 ? undefined : msixEvents(target, host, vectors, capabilities.maxMsgFds)
    const interrupts = msix && new EventInterrupts(host, clock, msix.events)
    if (interrupts !== undefined) cleanup.push(() => interrupts.close())
    const name = `vfio-user ${socket}`
    const reset = async (kind: 'function' | 'bus') => {
      if (kind !== 'function') throw new TypeError(`kind: expected 'function', got '${kind}': there is no bus to reset`)
      target.ask('DEVICE_RESET', new Uint8Array(0), exactly(0))
      // Not every target keeps them.
      msix?.announceAgain()
      await wakeFunction(config, clock)
      chooseInterrupts(config, msix !== undefined)
      enableFunction(config)
    }
    cleanup.push(() => {
      disableBusMaster(config)
    })
    await disableFound({ name, bar, clock, config }, canReset ? () => reset('function') : undefined)
    chooseInterrupts(config, msix !== undefined)
    enableFunction(config)
    return {
      name,
      bar,
      dma,
      clock,
      config,
      ...(interrupts !== undefined && { interrupts }),
      can: { gpuRing: false, gpuRead: false, dmaToVram: false },
      ...(canReset && { reset }),
      get departure() {
        return target.departure
      },
      close: () => cleanup.run(),
    }
  } catch (error) {
    await cleanup.run().catch(() => undefined) // the first error is reported
    // If the target ends meanwhile, registers read all ones, which would be reported as another error.
    throw channel?.departure ?? error
  }
}

/** @throws VfioUserConnectError */
function connect(host: VfioUserHost, socket: string): number {
  try {
    return host.connect(socket)
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (code === undefined || syscall === undefined) throw error
    throw new VfioUserConnectError(socket, code, error)
  }
}
