import type { Device } from '../controller/device.js'
import type { Eventfds } from './eventfds.js'

const NONE = -1

/** Where interrupts go: eventfds of the client, one for each vector of MSI-X, and one for the pin. */
export class ClientInterrupts {
  readonly eventfds: Eventfds
  private readonly device: Device
  private readonly vectors: Int32Array
  private readonly masked: Uint8Array
  private pin = NONE
  /** An eventfd by which the client unmasks the pin; -1 for none. */
  unmask = NONE
  /** The pin masks itself when it is signalled, as vfio's does. */
  private isPinMasked = false
  /** Descriptors to signal when the turn is over, each once: a count is nothing that a client looks at. */
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

  /** How many vectors of MSI-X there are. */
  get count(): number {
    return this.vectors.length
  }

  /** Gives a vector of MSI-X somewhere to go, or takes it away. The descriptor is this object's from now on. */
  setVector(vector: number, descriptor: number | undefined): void {
    this.close(this.vectors[vector]!)
    this.vectors[vector] = descriptor ?? NONE
    this.refresh(vector)
  }

  /** A vector that is masked goes nowhere, and is pending where it would have. */
  maskVector(vector: number, isMasked: boolean): void {
    this.masked[vector] = isMasked ? 1 : 0
    this.refresh(vector)
  }

  /** Messages instead of the pin. */
  enableMessages(): void {
    this.device.pci.setMessages(true)
  }

  /** No messages any more, and no vector goes anywhere. */
  disableMessages(): void {
    for (let vector = 0; vector < this.count; vector++) {
      this.masked[vector] = 0
      if (this.vectors[vector] !== NONE) this.setVector(vector, undefined)
    }
    this.device.pci.setMessages(false)
  }

  /** Where the pin goes, if anywhere. A pin that is active is signalled at once. */
  setPin(descriptor: number | undefined): void {
    this.close(this.pin)
    this.pin = descriptor ?? NONE
    this.maskPin(false)
  }

  /** The pin goes nowhere, and nobody unmasks it. */
  disablePin(): void {
    this.setPin(undefined)
    this.setUnmask(undefined)
  }

  /** Where the client says that the pin is unmasked, beside its messages. */
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

  /** Signals a vector, or the pin, as if the device had: the client tries what it has set up. */
  loopBack(vector: number | 'pin'): void {
    if (vector === 'pin') this.raisePin()
    else this.signal(this.vectors[vector]!)
  }

  /** Signals what has arrived. */
  flush(): void {
    const { due } = this
    if (due.length === 0) return
    for (let i = 0; i < due.length; i++) this.eventfds.signal(due[i]!)
    due.length = 0
  }

  /** The client is gone. */
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
