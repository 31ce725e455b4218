import { closeSync } from 'node:fs'
import type { Clock, HardwareHost, Interrupts } from '@gpunvme/nvme-spec/transport'

/** Maximum duration of one wait of the native host, so that closing never waits longer. */
const SLICE_NS = 100_000_000

/** Functions for eventfds. */
type EventfdHost = Pick<HardwareHost, 'eventfd' | 'drainEventfd'>

/** Eventfds that the kernel, or a program that shares them, signals until `close`. */
export class EventFds {
  readonly fds: readonly number[]
  private readonly host: EventfdHost
  private readonly announce: (fds: readonly number[]) => void

  /**
   * @param announce registers which eventfds the vectors signal, all at once; an empty list turns them off.
   * @throws errors of `announce`; nothing stays open then.
   */
  constructor(host: EventfdHost, vectors: number, announce: (fds: readonly number[]) => void) {
    this.host = host
    this.announce = announce
    const fds: number[] = []
    this.fds = fds
    try {
      while (fds.length < vectors) fds.push(host.eventfd())
      announce(fds)
    } catch (error) {
      for (const fd of fds) closeSync(fd)
      throw error
    }
  }

  /**
   * Returns whether the vector has fired since the last call. Never blocks, whatever the other side does with the
   * eventfd.
   */
  hasFired(vector: number): boolean {
    return this.host.drainEventfd(this.fds[vector]!)
  }

  close(): void {
    try {
      this.announce([])
    } finally {
      for (const fd of this.fds) closeSync(fd)
    }
  }
}

/** MSI-X vectors as interrupts of a transport, with its clock. */
export class EventInterrupts implements Interrupts {
  readonly vectors: number
  private readonly host: Pick<HardwareHost, 'waitReadable'>
  private readonly clock: Clock
  private readonly events: EventFds
  private readonly waiting = new Set<Promise<unknown>>()
  private isClosed = false

  constructor(host: Pick<HardwareHost, 'waitReadable'>, clock: Clock, events: EventFds) {
    this.host = host
    this.clock = clock
    this.events = events
    this.vectors = events.fds.length
  }

  wait(vector: number, untilNs: number): Promise<'fired' | 'deadline'> {
    if (!Number.isInteger(vector) || vector < 0 || vector >= this.vectors)
      throw new RangeError(`vector: expected an integer from 0 to ${this.vectors - 1}, got ${vector}`)
    const waiting = this.until(vector, untilNs).finally(() => this.waiting.delete(waiting))
    this.waiting.add(waiting)
    return waiting
  }

  /** Ends all waits, within 0.1 s, and only then closes their eventfds. */
  async close(): Promise<void> {
    this.isClosed = true
    await Promise.allSettled(this.waiting)
    this.events.close()
  }

  private async until(vector: number, untilNs: number): Promise<'fired' | 'deadline'> {
    while (!this.isClosed) {
      if (this.events.hasFired(vector)) return 'fired'
      const left = untilNs - this.clock.now()
      if (left <= 0) break
      await this.host.waitReadable(this.events.fds[vector]!, Math.min(left, SLICE_NS))
    }
    return 'deadline'
  }
}
