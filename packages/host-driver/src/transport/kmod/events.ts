import { EventFds } from '../event-interrupts.js'
import { REMOVAL_CHECK_NS, type PollingClock } from '../polling-clock.js'
import type { RegionBar } from '../region-bar.js'
import { Info, NO_FD, SetIrq, SetNotify } from './abi.js'
import { call, KmodError, KmodRemovedError, setBusMaster, unlessRemoved, type KmodNode } from './call.js'
import type { KmodDmaBufs } from './dma-bufs.js'
import { askInfo } from './info.js'

/** Eventfds of the first MSI-X vectors, until they are closed. @throws as `call`; nothing stays open then. */
export function irqEvents(node: KmodNode, vectors: number): EventFds {
  const set = (vector: number, fd: number) =>
    call(node, 'SET_IRQ', SetIrq.create({ SIZE: SetIrq.bytes, VECTOR: vector, FD: fd }).data)
  const armed: number[] = []
  const disarm = () => {
    for (const vector of armed.splice(0)) unlessRemoved(() => set(vector, NO_FD))
  }
  return new EventFds(node.host, vectors, (fds) => {
    if (fds.length === 0) {
      disarm()
      return
    }
    try {
      for (const [vector, fd] of fds.entries()) {
        set(vector, fd)
        armed.push(vector)
      }
    } catch (error) {
      disarm()
      throw error
    }
  })
}

/** Why a transport gives all ones from its registers: the controller has gone, or memory that it had has. */
export type KmodDeparture = 'removed' | 'revoked'

/** Looks after what the kernel does to the controller while it is open: `departure` says when it is over. */
export class KmodWatch {
  private reason: KmodDeparture | undefined
  private isClosed = false
  private readonly node: KmodNode
  private readonly bar: Pick<RegionBar, 'leaveBus'>
  private readonly dmaBufs: KmodDmaBufs
  private readonly events: EventFds
  private readonly stop: () => void
  private isDue = false

  /** @throws as `call` */
  constructor(node: KmodNode, clock: PollingClock, bar: Pick<RegionBar, 'leaveBus'>, dmaBufs: KmodDmaBufs) {
    this.node = node
    this.bar = bar
    this.dmaBufs = dmaBufs
    this.events = new EventFds(node.host, 1, ([fd = NO_FD]) => {
      unlessRemoved(() => call(node, 'SET_NOTIFY', SetNotify.create({ SIZE: SetNotify.bytes, FD: fd }).data))
    })
    this.stop = clock.every(REMOVAL_CHECK_NS, () => {
      this.isDue ||= this.events.hasFired(0)
      if (this.isDue) this.isDue = !this.look()
    })
  }

  /** Asked of the kernel: a driver that has given up may not wait for the next look. @throws as `call` */
  get departure(): KmodDeparture | undefined {
    if (this.reason === undefined && !this.isClosed) this.isDue = !this.look()
    return this.reason
  }

  close(): void {
    this.isClosed = true
    this.stop()
    this.events.close()
  }

  /**
   * A reset by somebody else, sleep and PCIe error recovery leave a controller that is disabled, with all its memory: it
   * may access that again, and the driver's own recovery does the rest. Where memory is gone no command may be sent
   * again: some of them name it. @returns whether it is known how the controller stands.
   */
  private look(): boolean {
    try {
      const { EVENTS, BUS_MASTER } = askInfo(this.node)
      if (Info.EVENTS.REVOKED.of(EVENTS) === 1) {
        this.dmaBufs.look()
        this.leave('revoked')
      } else if (BUS_MASTER === 0) setBusMaster(this.node, true)
      return true
    } catch (error) {
      const errno = error instanceof KmodError ? error.errno : undefined
      // It is being reset or removed at this moment.
      if (errno === 'EAGAIN') return false
      if (errno === 'ESTALE') this.leave('revoked')
      else if (errno === 'EIO' || error instanceof KmodRemovedError) this.leave('removed')
      else throw error
      return true
    }
  }

  private leave(departure: KmodDeparture): void {
    this.reason ??= departure
    this.bar.leaveBus()
  }
}
