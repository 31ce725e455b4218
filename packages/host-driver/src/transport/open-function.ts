import type { ConfigSpace, DmaAllocator, Transport, TransportCapabilities } from '@gpunvme/nvme-spec/transport'
import { Cleanup } from './cleanup.js'
import type { EventInterrupts } from './event-interrupts.js'
import { disableFound } from './found-enabled.js'
import type { PollingClock } from './polling-clock.js'
import type { RegionBar } from './region-bar.js'

/** Kind of reset, as of `Transport.reset`. */
export type ResetKind = 'function' | 'bus'

/** DMA memory of a transport. */
interface ClosableMemory extends DmaAllocator {
  close(): void
  /** Keeps the memory: the drive may still write to it. Absent if closing ends the drive's access. */
  abandon?(): void
}

/** A controller's function while it is being opened, and later while it is closed. */
export class Opening {
  readonly cleanup = new Cleanup()
  /** Whether the drive can no longer access memory. */
  isStopped = true

  /** Takes memory, and proves that it can be allocated before the drive is touched. */
  useMemory<M extends ClosableMemory>(dma: M): M {
    this.cleanup.push(() => {
      if (this.isStopped || dma.abandon === undefined) dma.close()
      else dma.abandon()
    })
    dma.alloc(4096).free()
    return dma
  }

  /** Takes interrupts, if there are any. */
  useInterrupts(interrupts: EventInterrupts | undefined): EventInterrupts | undefined {
    if (interrupts !== undefined) this.cleanup.push(() => interrupts.close())
    return interrupts
  }
}

/** What a kind of transport provides of a function. Its registers are accessible, and the drive cannot access memory. */
export interface OpenedFunction<More extends object> {
  readonly name: string
  readonly bar: RegionBar
  readonly dma: ClosableMemory
  readonly clock: PollingClock
  readonly config: ConfigSpace
  readonly interrupts?: EventInterrupts | undefined
  readonly can: TransportCapabilities
  /** Resets that this function supports. */
  readonly resets: readonly ResetKind[]
  /** Resets the function; the drive can access memory again afterwards. */
  reset(kind: ResetKind): Promise<void>
  /** Lets the drive access memory. */
  start(): void
  /** Ends the drive's access; returns whether it has ended. Absent if something else does when the function is closed. */
  stop?(): boolean
  /** Further properties of the transport; getters stay getters. */
  readonly more: More
}

/**
 * Opens a controller's function. `open` acquires it; what follows is the same for every transport with registers: a
 * controller that is found enabled is disabled before the drive may access memory, and everything is released in
 * reverse order on close or after an error, the drive's access to memory first.
 * @throws errors of `open`; ControllerNotReadyError if the controller is found enabled and does not stop.
 */
export async function openFunction<More extends object>(
  open: (opening: Opening) => Promise<OpenedFunction<More>>,
): Promise<Transport & More> {
  const opening = new Opening()
  const { cleanup } = opening
  try {
    const opened = await open(opening)
    const { name, bar, dma, clock, config, interrupts, can, resets, more } = opened
    const reset = async (kind: ResetKind) => {
      if (!resets.includes(kind))
        throw new TypeError(
          `kind: expected ${resets.map((each) => `'${each}'`).join(' or ')} for ${name}, got '${kind}'`,
        )
      await opened.reset(kind)
    }
    const canReset = resets.includes('function')
    if (opened.stop !== undefined) {
      // Last, so that it is undone first: the drive must not access memory that is being freed.
      cleanup.push(() => {
        opening.isStopped = opened.stop!()
      })
      opening.isStopped = false
    }
    await disableFound({ name, bar, clock, config }, canReset ? () => reset('function') : undefined)
    opened.start()
    const transport: Transport = {
      ...{ name, bar, dma, clock, config, can },
      ...(interrupts !== undefined && { interrupts }),
      ...(canReset && { reset }),
      close: () => cleanup.run(),
    }
    return Object.defineProperties(transport, Object.getOwnPropertyDescriptors(more)) as Transport & More
  } catch (error) {
    await cleanup.run().catch(() => undefined) // the first error is reported
    throw error
  }
}
