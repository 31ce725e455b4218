import { closeSync, readSync } from 'node:fs'
import type { Clock, HardwareHost, Interrupts } from '@gpunvme/nvme-spec/transport'
import { IrqInfo, IrqSet, VFIO } from './abi.js'
import { ask, call } from './argument.js'

/** How long one wait of the native host may last, so that closing never waits longer. */
const SLICE_NS = 100_000_000

/** Eventfds that interrupts of one kind signal, until `close`. */
export class VfioEvents {
  readonly fds: readonly number[]
  private readonly host: HardwareHost
  private readonly device: number
  private readonly index: number
  private readonly count = Buffer.alloc(8)

  /** @throws VfioError; nothing stays open then. */
  constructor(host: HardwareHost, device: number, index: number, vectors: number) {
    this.host = host
    this.device = device
    this.index = index
    const fds: number[] = []
    this.fds = fds
    try {
      while (fds.length < vectors) fds.push(host.eventfd())
      this.set({ DATA_EVENTFD: 1, ACTION_TRIGGER: 1 }, fds)
    } catch (error) {
      for (const fd of fds) closeSync(fd)
      throw error
    }
  }

  /** Whether the vector has fired since it was last asked. */
  hasFired(vector: number): boolean {
    try {
      return readSync(this.fds[vector]!, this.count, 0, 8, null) === 8
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return false
      throw error
    }
  }

  close(): void {
    try {
      this.set({ DATA_NONE: 1, ACTION_TRIGGER: 1 }, [])
    } finally {
      for (const fd of this.fds) closeSync(fd)
    }
  }

  /** All vectors of the kind at once; none turns the kind off. */
  private set(flags: { DATA_NONE?: 1; DATA_EVENTFD?: 1; ACTION_TRIGGER: 1 }, fds: readonly number[]): void {
    const data = new DataView(new ArrayBuffer(IrqSet.bytes + fds.length * 4))
    IrqSet.encode(data, 0, { ARGSZ: data.byteLength, FLAGS: flags, INDEX: this.index, START: 0, COUNT: fds.length })
    for (const [vector, fd] of fds.entries()) data.setInt32(IrqSet.bytes + vector * 4, fd, true)
    call(this.host, this.device, ['DEVICE_SET_IRQS', VFIO.DEVICE_SET_IRQS], data)
  }
}

/** How many interrupts of a kind the device has; 0 where it has none, or none that signal an eventfd. @throws VfioError */
export function interruptCount(host: HardwareHost, device: number, index: number): number {
  const request = ['DEVICE_GET_IRQ_INFO', VFIO.DEVICE_GET_IRQ_INFO] as const
  const { FLAGS, COUNT } = IrqInfo.view(ask(host, device, request, IrqInfo, { INDEX: index }))
  return IrqInfo.FLAGS.EVENTFD.of(FLAGS) === 1 ? COUNT : 0
}

/** MSI-X vectors that are waited for, on the clock of their transport. */
export class VfioInterrupts implements Interrupts {
  readonly vectors: number
  private readonly host: HardwareHost
  private readonly clock: Clock
  private readonly events: VfioEvents
  private readonly waiting = new Set<Promise<unknown>>()
  private isClosed = false

  constructor(host: HardwareHost, clock: Clock, events: VfioEvents) {
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

  /** Ends all waits, within a tenth of a second, and only then closes what they wait on. */
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
