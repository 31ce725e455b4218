import type { ConfigSpace, DmaAllocator, HardwareHost, Transport } from '@gpunvme/nvme-spec/transport'
import { enableFunction, enableMemorySpace, wakeFunction } from '../pci/power.js'
import { Cleanup } from './cleanup.js'
import { EventInterrupts, type EventFds } from './event-interrupts.js'
import { disableFound } from './found-enabled.js'
import { PollingClock } from './polling-clock.js'
import { RegionBar, type MappedRegisters } from './region-bar.js'

/** Kind of reset, as of `Transport.reset`. */
export type ResetKind = 'function' | 'bus'

/** DMA memory of a transport. */
interface ClosableMemory extends DmaAllocator {
  close(): void
  /** Keeps the memory: the drive may still write to it. Absent if closing ends the drive's access. */
  abandon?(): void
}

/** A function that a transport has acquired: everything that differs between kinds of transport. */
export interface AcquiredFunction<More extends object> {
  readonly name: string
  readonly host: Pick<HardwareHost, 'waitReadable'>
  readonly config: ConfigSpace
  /** Whether the kernel has woken the function and enables its memory space. Default: false. */
  readonly isAwake?: boolean
  readonly dma: ClosableMemory
  /**
   * Whether GPU memory can be mapped, if a provider is given; only a probe shows whether data arrives. Default: false.
   */
  readonly dmaToVram?: boolean
  /** Maps the registers, which may not be accessible yet. */
  mapRegisters(): MappedRegisters | Promise<MappedRegisters>
  /** Watches whether the function leaves the bus, for `bar.leaveBus()`. @returns a function that ends it. */
  watch(bar: RegionBar, clock: PollingClock): () => void
  /** MSI-X vectors: how many are wanted and available, and their eventfds. Absent for a polled transport. */
  readonly msix?: {
    readonly wanted: number
    available(): number
    events(vectors: number): EventFds
  }
  /** Resets that the function supports. */
  readonly resets: readonly ResetKind[]
  /** Resets the function, which is then woken and started again. */
  reset(kind: ResetKind): void | Promise<void>
  /** Lets the drive access memory. Default: memory space and bus mastering are enabled in configuration space. */
  start?(hasInterrupts: boolean): void
  /**
   * Ends the drive's access; returns whether it has ended. Absent if something else does when the function is closed.
   */
  stop?(): boolean
  /** Further properties of the transport; getters stay getters. */
  readonly more: More
}

/**
 * Opens a controller's function. `acquire` acquires it, without access to its registers. The other steps are the
 * same for every transport: memory is proven to be available before the drive is touched, and a controller that is
 * found enabled is disabled before the drive may access memory. After an error and on close, everything is released in
 * reverse order, the drive's access to memory first.
 * @throws errors of `acquire`; DriverError (NOT_READY) if the controller is found enabled and does not stop.
 */
export async function openFunction<More extends object>(
  acquire: (cleanup: Cleanup) => AcquiredFunction<More> | Promise<AcquiredFunction<More>>,
): Promise<Transport & More> {
  const cleanup = new Cleanup()
  try {
    const acquired = await acquire(cleanup)
    const { name, host, config, isAwake = false, dma, dmaToVram = false, msix, resets, more } = acquired
    const clock = new PollingClock()
    let isStopped = true
    let isClosed = false
    cleanup.push(() => {
      if (isStopped || dma.abandon === undefined) dma.close()
      else dma.abandon()
    })
    for (const contiguous of [false, true]) dma.alloc(4096, { contiguous }).free()

    const registers = await acquired.mapRegisters()
    cleanup.push(() => registers.unmap())
    const bar = new RegionBar(registers.window, clock, registers.mapped)
    cleanup.push(acquired.watch(bar, clock))
    const wake = () => (isAwake ? undefined : wakeFunction(config, clock))
    await wake()
    if (!isAwake) enableMemorySpace(config)

    const vectors = msix === undefined || msix.wanted === 0 ? 0 : Math.min(msix.wanted, msix.available())
    const interrupts = vectors === 0 ? undefined : new EventInterrupts(host, clock, msix!.events(vectors))
    if (interrupts !== undefined) cleanup.push(() => interrupts.close())
    const start = () => {
      if (acquired.start === undefined) enableFunction(config)
      else acquired.start(interrupts !== undefined)
    }
    const reset = async (kind: ResetKind) => {
      if (!resets.includes(kind))
        throw new TypeError(
          `kind: expected ${resets.map((each) => `'${each}'`).join(' or ')} for ${name}, got '${kind}'`,
        )
      await acquired.reset(kind)
      await wake()
      start()
    }
    const canReset = resets.includes('function')
    if (acquired.stop !== undefined) {
      // Last, so that it is undone first: the drive must not access memory that is being freed.
      cleanup.push(() => {
        isStopped = acquired.stop!()
      })
      isStopped = false
    }
    await disableFound({ name, bar, clock, config }, canReset ? () => reset('function') : undefined)
    start()
    const transport: Transport = {
      ...{ name, bar, dma, clock, config, can: { gpuRing: false, gpuRead: false, dmaToVram } },
      ...(interrupts !== undefined && { interrupts }),
      ...(canReset && { reset }),
      close() {
        isClosed = true
        return cleanup.run()
      },
      isClosed: () => isClosed,
    }
    return Object.defineProperties(transport, Object.getOwnPropertyDescriptors(more)) as Transport & More
  } catch (error) {
    await cleanup.run().catch(() => undefined) // the first error is reported
    throw error
  }
}
