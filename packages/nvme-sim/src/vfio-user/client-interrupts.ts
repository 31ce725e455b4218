import type { Device } from '../controller/device.js'
import type { Eventfds } from './eventfds.js'

const NONE = -1

/** Targets of interrupts: eventfds of the client, one per MSI-X vector, and one for the pin. */
export class ClientInterrupts {
  readonly eventfds: Eventfds
  private readonly device: Device
  private readonly vectors: Int32Array
  private readonly masked: Uint8Array
  private pin = NONE
  /** An eventfd by which the client unmasks the pin; -1 for none. */
  unmask = NONE
  /** The pin is masked automatically when signalled, as with vfio. */
  private isPinMasked = false
  /** Descriptors to signal at the end of the turn, each once: clients do not use the count. */
  private readonly due: number[] = []

  constructor(device: Device, descriptors: Eventfds) {
    this.device = device
    this.eventfds = descriptors
    this.vectors = new Int32Array(device.interrupts.count).fill(NONE)
    this.masked = new Uint8Array(this.vectors.length)
    device.interrupts.onArrival = (vector, kind) => {
      if (kind === 'pin') this.raisePin()
      else this.signal(this.vectors[vector]!)
    }
  }

  /** Number of MSI-X vectors. */
  get count(): number {
    return this.vectors.length
  }

  /** Sets or removes the target of an MSI-X vector. Takes ownership of the descriptor. */
  setVector(vector: number, descriptor: number | undefined): void {
    this.close(this.vectors[vector]!)
    this.vectors[vector] = descriptor ?? NONE
    this.refresh(vector)
  }

  /** Masks or unmasks a vector; a masked one becomes pending instead of being signalled. */
  maskVector(vector: number, isMasked: boolean): void {
    this.masked[vector] = isMasked ? 1 : 0
    this.refresh(vector)
  }

  /** Switches from the pin to messages. */
  enableMessages(): void {
    this.device.pci.setMessages(true)
  }

  /** Disables messages and removes the targets of all vectors. */
  disableMessages(): void {
    for (let vector = 0; vector < this.count; vector++) {
      this.masked[vector] = 0
      if (this.vectors[vector] !== NONE) this.setVector(vector, undefined)
    }
    this.device.pci.setMessages(false)
  }

  /** Sets or removes the target of the pin. An active pin is signalled at once. */
  setPin(descriptor: number | undefined): void {
    this.close(this.pin)
    this.pin = descriptor ?? NONE
    this.maskPin(false)
  }

  /** Removes the target of the pin and the eventfd that unmasks it. */
  disablePin(): void {
    this.setPin(undefined)
    this.setUnmask(undefined)
  }

  /** Sets the eventfd by which the client unmasks the pin, in addition to messages. */
  setUnmask(descriptor: number | undefined): void {
    this.close(this.unmask)
    this.unmask = descriptor ?? NONE
  }

  /** The client has signalled `unmask`. */
  takeUnmask(): void {
    this.eventfds.drain(this.unmask)
    this.maskPin(false)
  }

  maskPin(isMasked: boolean): void {
    this.isPinMasked = isMasked
    if (!isMasked && this.device.interrupts.isPinActive) this.raisePin()
  }

  /** Signals a vector or the pin as if the device had, for a client that tests its setup. */
  loopBack(vector: number | 'pin'): void {
    if (vector === 'pin') this.raisePin()
    else this.signal(this.vectors[vector]!)
  }

  /** Signals interrupts that have arrived. */
  flush(): void {
    const { due } = this
    if (due.length === 0) return
    for (let i = 0; i < due.length; i++) this.eventfds.signal(due[i]!)
    due.length = 0
  }

  /** The client has disconnected. */
  clear(): void {
    this.due.length = 0
    this.disableMessages()
    this.disablePin()
  }

  private refresh(vector: number): void {
    this.device.pci.setVector(vector, this.vectors[vector] !== NONE && this.masked[vector] === 0)
  }

  private raisePin(): void {
    if (this.pin === NONE || this.isPinMasked) return
    this.isPinMasked = true
    this.signal(this.pin)
  }

  private signal(descriptor: number): void {
    if (descriptor !== NONE && !this.due.includes(descriptor)) this.due.push(descriptor)
  }

  private close(descriptor: number): void {
    if (descriptor === NONE) return
    const at = this.due.indexOf(descriptor)
    if (at >= 0) this.due.splice(at, 1)
    this.eventfds.close(descriptor)
  }
}
