import type { Clock, Interrupts } from '@gpunvme/nvme-spec/transport'
import type { Device } from '../controller/device.js'

/** Where a PC's messages go: the local APIC. No memory of the simulation lies there. */
const INTERRUPT_CONTROLLER = 0xfee0_0000

/**
 * Interrupts as a user-space driver has them (VFIO's eventfds): the first wait turns MSI-X on, with every vector
 * unmasked, unless the host has written Message Control in configuration space itself: then its own settings count, and with
 * MSI-X off `wait(0)` waits for the pin. A vector that fired before it is waited for is not missed.
 */
export class HostInterrupts implements Interrupts {
  readonly vectors: number
  private readonly clock: Clock
  private readonly taken: InterruptTaker

  constructor(device: Device, clock: Clock) {
    this.clock = clock
    this.taken = new InterruptTaker(device)
    this.vectors = device.interrupts.count
  }

  /**
   * What the caller does before it awaits happens first: time passes only then.
   * @throws RangeError for a vector that does not exist.
   */
  async wait(vector: number, untilNs: number): Promise<'fired' | 'deadline'> {
    checkVector(vector, this.vectors)
    await Promise.resolve()
    for (;;) {
      if (this.taken.take(vector)) return 'fired'
      if (this.clock.now() >= untilNs) return 'deadline'
      await this.clock.idle(untilNs)
    }
  }
}

/** The device's side of it, for a host in this thread or in another. */
export class InterruptTaker {
  private readonly device: Device

  constructor(device: Device) {
    this.device = device
  }

  /** Whether the vector has fired since this was last asked. */
  take(vector: number): boolean {
    this.enable()
    return this.device.interrupts.take(vector)
  }

  private enable(): void {
    const { pci, interrupts } = this.device
    if (pci.isMessageSignaled || !pci.isOnBus || pci.hostManagesMessages) return
    pci.enableMessages(INTERRUPT_CONTROLLER)
    // What was posted before there were messages: a driver looks at its queues once after it enables them.
    interrupts.markWaiting()
  }
}

/** @throws RangeError for a vector that does not exist. */
export function checkVector(vector: number, count: number): void {
  if (!Number.isInteger(vector) || vector < 0 || vector >= count) {
    throw new RangeError(`wait: expected a vector from 0 to ${count - 1}, got ${vector}`)
  }
}
