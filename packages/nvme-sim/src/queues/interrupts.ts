import { INTMS } from '@gpunvme/nvme-spec'
import type { Diagnostics } from '../controller/diagnostics.js'
import type { RegisterFile } from '../controller/register-file.js'
import type { Trace } from '../controller/trace.js'
import type { ReachableMemory } from '../memory/reachable.js'
import type { LinkModel } from '../model/link.js'
import type { PciFunction } from '../pci/function.js'
import type { EventClock } from '../time/clock.js'
import type { CompletionQueue } from './queue.js'

/** One interrupt vector. Completion queues keep a reference to theirs and count in it. */
export class InterruptVector {
  readonly number: number
  /** Entries of its completion queues that the host has not released. */
  waiting = 0
  /** It has reached the host since the host's last wait. */
  hasArrived = false
  /** Coalescing Disable of Interrupt Vector Configuration. */
  isUncoalesced = false
  /** Entries being coalesced, and the time of the oldest. */
  aggregated = 0
  sinceNs = 0
  /** Created once, so that an interrupt allocates no closure. */
  readonly arrive: () => void
  readonly expire: () => void

  constructor(number: number, arrive: (vector: InterruptVector) => void, expire: (vector: InterruptVector) => void) {
    this.number = number
    this.arrive = () => arrive(this)
    this.expire = () => expire(this)
  }
}

/** Dependencies of interrupts. */
export interface InterruptParts {
  readonly clock: EventClock
  readonly link: LinkModel
  readonly memory: ReachableMemory
  readonly trace: Trace
  readonly registers: RegisterFile
  readonly pci: PciFunction
  readonly diagnostics: Diagnostics
}

const NS_PER_AGGREGATION_UNIT = 100_000

/**
 * The controller's interrupts, counted by vector: the pin, a level masked by INTMS, or MSI-X messages, masked in their
 * table (PCIe 1.2 §3.5).
 */
export class InterruptVectors {
  /** How often each vector fired; for the pin, how often it became active. */
  readonly fired: Float64Array
  /** How often a due interrupt of each vector was held back by a mask. */
  readonly masked: Float64Array
  private readonly vectors: readonly InterruptVector[]
  private readonly parts: InterruptParts
  /**
   * Called for every interrupt that reaches the host: for a message with its vector, for the pin when it becomes
   * active.
   */
  onArrival: (vector: number, kind: 'message' | 'pin') => void = () => undefined
  /** INTx is asserted. */
  isPinActive = false
  /** Interrupt Coalescing: maximum number of entries, and maximum delay, before an interrupt. */
  private maxEntries = 1
  private maxNs = 0
  /** Vectors other than 0 that were due while only the pin was enabled; each is reported once. */
  private readonly unreachable = new Set<number>()

  constructor(count: number, parts: InterruptParts) {
    this.parts = parts
    this.fired = new Float64Array(count)
    this.masked = new Float64Array(count)
    this.vectors = Array.from({ length: count }, (_, number) => {
      return new InterruptVector(
        number,
        (vector) => this.deliver(vector),
        (vector) => this.expire(vector),
      )
    })
  }

  get count(): number {
    return this.vectors.length
  }

  vector(number: number): InterruptVector | undefined {
    return this.vectors[number]
  }

  /** INTx as in configuration space: requested, whether or not CMD.ID disables it. */
  get isPinWanted(): boolean {
    const { registers, pci } = this.parts
    return !pci.isMessageSignaled && this.vectors[0]!.waiting > 0 && (registers.get32(INTMS) & 1) === 0
  }

  /** Interrupt Coalescing, from the rows of its dword (Base 2.1 §5.1.25.2.2); disabled if either is 0. */
  coalesce(threshold: number, time: number): void {
    const isOn = threshold > 0 && time > 0
    this.maxEntries = isOn ? threshold + 1 : 1
    this.maxNs = isOn ? time * NS_PER_AGGREGATION_UNIT : 0
    for (const vector of this.vectors) if (vector.aggregated > 0) this.signal(vector)
  }

  /** Interrupt Vector Configuration of one vector. */
  setUncoalesced(number: number, isUncoalesced: boolean): void {
    const vector = this.vectors[number]!
    vector.isUncoalesced = isUncoalesced
    if (isUncoalesced && vector.aggregated > 0) this.signal(vector)
  }

  /** An entry was posted to a completion queue with interrupts enabled. */
  posted(vector: InterruptVector, cq: CompletionQueue, isError: boolean): void {
    const { pci, registers, clock } = this.parts
    if (!pci.isMessageSignaled) {
      // Without host-managed MSI-X, the host's first wait enables it, and earlier entries are not missed.
      if (vector.number !== 0 && pci.hostManagesMessages) this.reportUnreachable(vector, cq)
      else if ((registers.get32(INTMS) & 1) === 1) this.masked[0]!++
      cq.expectRelease()
      this.updatePin()
      return
    }
    // Admin completions and errors are not coalesced (Base 2.3 §5.2.26.2.2, §5.2.26.2.3).
    if (this.maxEntries === 1 || vector.isUncoalesced || isError || cq.qid === 0) {
      this.signal(vector)
      return
    }
    vector.aggregated++
    if (vector.aggregated >= this.maxEntries) this.signal(vector)
    else if (vector.aggregated === 1) {
      vector.sinceNs = clock.now()
      clock.schedule(vector.sinceNs + this.maxNs, vector.expire)
    }
  }

  /** The host has released entries: updates the pin. */
  released(): void {
    this.updatePin()
  }

  /** Masks, enables or levels may have changed: sends what has become possible. */
  refresh(): void {
    const { pci } = this.parts
    this.updatePin()
    if (!pci.isMessageSignaled || !pci.maySignal || pci.isFunctionMasked || !pci.msix.hasPending()) return
    for (const vector of this.vectors) {
      if (!pci.msix.isPending(vector.number) || pci.msix.isMasked(vector.number)) continue
      pci.msix.setPending(vector.number, false)
      this.send(vector)
    }
  }

  /**
   * The controller drops its queues and their interrupts (Base 2.3 §3.7.2); configuration space and table stay. A
   * message already on the link arrives.
   */
  reset(): void {
    for (const vector of this.vectors) {
      vector.waiting = 0
      vector.aggregated = 0
      vector.hasArrived = false
    }
    this.parts.pci.msix.clearPending()
    this.updatePin()
  }

  /** Whether the vector has fired since the last call; an active pin counts as firing for as long as it is active. */
  take(number: number): boolean {
    const vector = this.vectors[number]!
    const has = vector.hasArrived || (number === 0 && this.isPinActive)
    vector.hasArrived = false
    return has
  }

  /** Marks every vector with unreleased entries as fired. */
  markWaiting(): void {
    for (const vector of this.vectors) if (vector.waiting > 0) vector.hasArrived = true
  }

  private expire(vector: InterruptVector): void {
    const { clock } = this.parts
    // Other entries may have come and gone since this was scheduled.
    if (vector.aggregated > 0 && clock.now() >= vector.sinceNs + this.maxNs) this.signal(vector)
  }

  private signal(vector: InterruptVector): void {
    const { pci } = this.parts
    const { number } = vector
    vector.aggregated = 0
    // MSI-X was disabled while entries were coalesced: no message is sent any more.
    if (!pci.isMessageSignaled) return
    if (pci.maySignal && !pci.isFunctionMasked && !pci.msix.isMasked(number)) this.send(vector)
    else {
      this.masked[number]!++
      pci.msix.setPending(number, true)
    }
  }

  private updatePin(): void {
    const { pci } = this.parts
    const isActive = this.isPinWanted && !pci.isPinDisabled && pci.isAwake
    if (isActive === this.isPinActive) return
    this.isPinActive = isActive
    if (isActive) this.send(this.vectors[0]!)
  }

  private send(vector: InterruptVector): void {
    const { link, clock, trace } = this.parts
    this.fired[vector.number]!++
    trace.interrupt(vector.number)
    const arrivalNs = link.interrupt(clock.now())
    if (arrivalNs <= clock.now()) this.deliver(vector)
    else clock.schedule(arrivalNs, vector.arrive)
  }

  /** Delivers the interrupt. A message whose address is memory is an ordinary write. */
  private deliver(vector: InterruptVector): void {
    const { pci, memory, diagnostics } = this.parts
    vector.hasArrived = true
    this.onArrival(vector.number, pci.isMessageSignaled ? 'message' : 'pin')
    if (!pci.isMessageSignaled || pci.isVirtual) return
    const { address, data } = pci.msix.message(vector.number)
    if (address === 0) {
      diagnostics.report(
        'interrupt',
        `vector ${vector.number} fired with message address 0: its MSI-X table entry was unmasked before it was filled`,
      )
      return
    }
    const bytes = memory.bytes(address, 4, 'write')
    if (bytes) new DataView(bytes.buffer, bytes.byteOffset, 4).setUint32(0, data, true)
  }

  private reportUnreachable({ number }: InterruptVector, { qid }: CompletionQueue): void {
    if (this.unreachable.has(number)) return
    this.unreachable.add(number)
    this.parts.diagnostics.report(
      'interrupt',
      `CQ ${qid} interrupts on vector ${number}, but MSI-X is disabled and the pin signals only vector 0: no interrupt arrives`,
    )
  }
}
