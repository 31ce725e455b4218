import { closeSync } from 'node:fs'
import type { HardwareHost, Transport, VfioUserHost } from '@gpunvme/nvme-spec/transport'
import { VFIO_IRQ, VFIO_REGION } from '@gpunvme/nvme-spec/vfio-user'
import { checkOptions, having, integer, object, text, timeout, type Checks } from '../../check-options.js'
import { disableBusMaster, enableFunction } from '../../pci/power.js'
import type { Cleanup } from '../cleanup.js'
import { DmaArena } from '../dma-arena.js'
import { openFunction, type AcquiredFunction } from '../open-function.js'
import { REMOVAL_CHECK_NS } from '../polling-clock.js'
import { Channel } from './channel.js'
import { checkFunction, deviceInfo, interruptCount, negotiate } from './device.js'
import { connectionFailed, type VfioUserDeparture } from './errors.js'
import { chooseInterrupts, msixEvents, type MsixEvents } from './interrupts.js'
import { GRANULE_BYTES, SharedMemory, usualMemoryFolder } from './memory.js'
import { mapBar, regionInfo, targetConfigSpace } from './regions.js'

export { VfioUserLostError, type VfioUserDeparture } from './errors.js'

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

const socketHost = having('loadSocketHost() of @gpunvme/cuda-native/host', ['connect', 'mapForeign', 'waitReadable'])

const checks: Checks<VfioUserOptions> = {
  host: socketHost,
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
 * @throws TypeError, RangeError for invalid arguments; VfioUserLostError if the target goes away;
 *   DriverError for everything else, with one of these codes after `ERR_GPUNVME_`: NOT_READY if a controller is found
 *   enabled and does not stop; VFIO_USER_CONNECT if the connection fails; VFIO_USER_VERSION;
 *   VFIO_USER_FUNCTION if it is not an NVMe controller; VFIO_USER_PROTOCOL, VFIO_USER_REFUSED for the behaviour of the
 *   target; VFIO_USER_MEMORY; POWER_STATE, BUS_MASTER.
 */
export async function openVfioUser(options: VfioUserOptions): Promise<VfioUserTransport> {
  object('openVfioUser: options', options)
  checkOptions('openVfioUser', options, checks)
  const { host, socket, interrupts: wanted = 0, memoryFolder = usualMemoryFolder() } = options
  socketHost('host', host)
  text('socket', socket)
  let channel: Channel | undefined
  const acquire = (cleanup: Cleanup): AcquiredFunction<{ readonly departure: VfioUserDeparture | undefined }> => {
    let leave: () => void = () => undefined
    const limitNs = options.answerTimeoutNs ?? ANSWER_TIMEOUT_NS
    const target = (channel = new Channel(host, connect(host, socket), socket, limitNs, () => leave()))
    cleanup.push(() => target.close())
    const { maxMsgFds } = negotiate(target, GRANULE_BYTES)
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
    let msix: MsixEvents | undefined
    return {
      ...{ name: `vfio-user ${socket}`, host, config, dma: new DmaArena(new SharedMemory(target, host, memoryFolder)) },
      mapRegisters() {
        const registers = mapBar(target, host, region)
        closeFile()
        return registers
      },
      watch(bar, clock) {
        leave = () => bar.leaveBus()
        return clock.every(REMOVAL_CHECK_NS, () => target.look())
      },
      msix: {
        wanted,
        available: () => interruptCount(target, VFIO_IRQ.MSIX),
        events: (vectors) => (msix = msixEvents(target, host, vectors, maxMsgFds)).events,
      },
      resets: canReset ? ['function'] : [],
      reset() {
        target.ask('DEVICE_RESET', new Uint8Array(0), 0)
        // Not every target keeps them.
        msix?.announceAgain()
      },
      start(hasInterrupts) {
        chooseInterrupts(config, hasInterrupts)
        enableFunction(config)
      },
      stop() {
        disableBusMaster(config)
        // Unmapping ends the target's access.
        return true
      },
      more: {
        get departure() {
          return target.departure
        },
      },
    }
  }
  try {
    return await openFunction(acquire)
  } catch (error) {
    // If the target ends meanwhile, registers read all ones, which would be reported as another error.
    throw channel?.departure ?? error
  }
}

/** @throws DriverError (VFIO_USER_CONNECT) */
function connect(host: VfioUserHost, socket: string): number {
  try {
    return host.connect(socket)
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (code === undefined || syscall === undefined) throw error
    throw connectionFailed(socket, code, error)
  }
}
