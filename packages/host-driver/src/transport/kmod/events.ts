import { hasCode } from '../../error.js'
import { EventFds } from '../event-interrupts.js'
import { REMOVAL_CHECK_NS, type PollingClock } from '../polling-clock.js'
import type { RegionBar } from '../region-bar.js'
import { Info, NO_FD, SetIrq, SetNotify } from './abi.js'
import { call, setBusMaster, unlessRemoved, type KmodNode } from './call.js'
import type { KmodDmaBufs } from './dma-bufs.js'
import { askInfo } from './info.js'

/**
 * Returns eventfds of the first MSI-X vectors, open until they are closed.
 * @throws as `call`; nothing stays open then.
 */
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

/**
 * Why registers of a transport read all ones: the controller was removed, or memory that it could access was revoked.
 */
export type KmodDeparture = 'removed' | 'revoked'

/** Watches for changes of the controller by the kernel: `departure` says when it can no longer be used. */
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

  /** Queries the kernel, since a driver that has given up may not wait for the next check. @throws as `call` */
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
   * Handles events. An external reset, suspend and PCIe error recovery leave a disabled controller with all its memory:
   * it gets bus mastering again, and the driver's recovery does the rest. After a revocation no command may be sent
   * again, since some name the revoked memory.
   * @returns whether the controller's state is known.
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
      const isRefused = (errno: string) => hasCode(error, 'ERR_GPUNVME_KMOD', errno)
      // It is being reset or removed right now.
      if (isRefused('EAGAIN')) return false
      if (isRefused('ESTALE')) this.leave('revoked')
      else if (isRefused('EIO') || hasCode(error, 'ERR_GPUNVME_KMOD_REMOVED')) this.leave('removed')
      else throw error
      return true
    }
  }

  private leave(departure: KmodDeparture): void {
    this.reason ??= departure
    this.bar.leaveBus()
  }
}
