import type { Clock, Interrupts } from '@gpunvme/nvme-spec/transport'
import type { Device } from '../controller/device.js'

/** Address of a PC's messages: the local APIC. It is not memory of the simulation. */
const INTERRUPT_CONTROLLER = 0xfee0_0000

/**
 * Interrupts as seen by a user-space driver (VFIO's eventfds). The first wait enables MSI-X with all vectors unmasked,
 * unless the host has written Message Control in configuration space: then its settings apply, and with MSI-X off
 * `wait(0)` waits for the pin. A vector that fired before the wait is not missed.
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
   * The caller's work before `await` comes first: time passes only during the wait.
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

/** The device side, for a host in this thread or in another. */
export class InterruptTaker {
  private readonly device: Device

  constructor(device: Device) {
    this.device = device
  }

  /** Whether the vector has fired since the last call. */
  take(vector: number): boolean {
    this.enable()
    return this.device.interrupts.take(vector)
  }

  private enable(): void {
    const { pci, interrupts } = this.device
    if (pci.isMessageSignaled || !pci.isOnBus || pci.hostManagesMessages) return
    pci.enableMessages(INTERRUPT_CONTROLLER)
    // Covers entries posted before MSI-X was enabled: a driver checks its queues once after that.
    interrupts.markWaiting()
  }
}

/** @throws RangeError for a vector that does not exist. */
export function checkVector(vector: number, count: number): void {
  if (!Number.isInteger(vector) || vector < 0 || vector >= count) {
    throw new RangeError(`wait: expected a vector from 0 to ${count - 1}, got ${vector}`)
  }
}
