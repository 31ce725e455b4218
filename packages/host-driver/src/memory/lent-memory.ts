import type { DmaAllocator, DmaMemory, DmaRequest, DmaSegment, Transport } from '@gpunvme/nvme-spec/transport'
import { innermost } from './innermost.js'

/**
 * Allocates memory for callers' transfers. `free` takes effect when the last call that uses the memory has ended: until
 * then, its commands may write there. If a controller could not be stopped, it may go on writing, so that nothing is
 * returned to the system any more. Freed memory has no addresses, since they may belong to other memory by then.
 */
export class LentMemory implements DmaAllocator {
  private readonly dma: DmaAllocator
  private readonly transport: Transport | undefined
  private withheld = false

  /** @param transport of the controller that can access the memory. Default: that of the memory of `dma`, if known. */
  constructor(dma: DmaAllocator, transport?: Transport) {
    this.dma = dma
    this.transport = transport
  }

  get addressSpace(): object | undefined {
    return this.dma.addressSpace
  }

  alloc(lengthBytes: number, request?: DmaRequest): DmaMemory {
    const memory = this.dma.alloc(lengthBytes, request)
    return new Loan(memory, this.transport ?? transportOf(memory), () => this.withheld)
  }

  /** Returns whether memory is known to be of another controller, at addresses that this one does not share. */
  isForeign(memory: DmaMemory): boolean {
    const theirs = transportOf(memory)
    const { transport: ours } = this
    return theirs !== undefined && ours !== undefined && theirs !== ours && !shareMemory(theirs, ours)
  }

  /** Stops returning freed memory to the transport. */
  quarantine(): void {
    this.withheld = true
  }
}

class Loan implements DmaMemory {
  readonly lengthBytes: number
  readonly view?: DataView
  readonly gpuPointer?: bigint
  readonly fill?: NonNullable<DmaMemory['fill']>
  readonly copyOut?: NonNullable<DmaMemory['copyOut']>
  readonly segments: readonly DmaSegment[]
  readonly transport: Transport | undefined
  private readonly memory: DmaMemory
  private readonly isWithheld: () => boolean
  /** Calls that use the memory. */
  private uses = 0
  private isFree = false

  constructor(memory: DmaMemory, transport: Transport | undefined, isWithheld: () => boolean) {
    this.memory = memory
    this.transport = transport
    this.isWithheld = isWithheld
    this.lengthBytes = memory.lengthBytes
    this.segments = memory.segments
    if (memory.view !== undefined) this.view = memory.view
    if (memory.gpuPointer !== undefined) this.gpuPointer = memory.gpuPointer
    if (memory.fill !== undefined)
      this.fill = (byte, offsetBytes, lengthBytes) => {
        this.checkHeld()
        memory.fill!(byte, offsetBytes, lengthBytes)
      }
    if (memory.copyOut !== undefined)
      this.copyOut = (offsetBytes, into) => {
        this.checkHeld()
        memory.copyOut!(offsetBytes, into)
      }
  }

  iovaAt(offsetBytes: number): number {
    this.checkHeld()
    return this.memory.iovaAt(offsetBytes)
  }

  forDevice(offsetBytes: number, lengthBytes: number): void {
    this.checkHeld()
    this.memory.forDevice(offsetBytes, lengthBytes)
  }

  forHost(offsetBytes: number, lengthBytes: number): void {
    this.checkHeld()
    this.memory.forHost(offsetBytes, lengthBytes)
  }

  /** Takes effect when the last call that uses the memory has ended. No new call may use it. */
  free(): void {
    this.checkNotFreed()
    this.isFree = true
    if (this.uses === 0) this.giveBack()
  }

  hold(): void {
    this.checkNotFreed()
    this.uses++
  }

  release(): void {
    if (--this.uses === 0 && this.isFree) this.giveBack()
  }

  private giveBack(): void {
    if (!this.isWithheld()) this.memory.free()
  }

  private checkHeld(): void {
    if (this.uses === 0) this.checkNotFreed()
  }

  private checkNotFreed(): void {
    if (this.isFree) throw new TypeError('this memory was freed')
  }
}

/**
 * Postpones `free` of memory that a controller lent until `release`: a call begins that lets the controller access it.
 * Has no effect on other memory, which its owner must keep during the call.
 * @throws TypeError if the memory was freed.
 */
export function hold(memory: DmaMemory): void {
  if (memory instanceof Loan) memory.hold()
}

/** Ends the effect of one `hold`. */
export function release(memory: DmaMemory): void {
  if (memory instanceof Loan) memory.release()
}

function transportOf(memory: DmaMemory): Transport | undefined {
  return memory instanceof Loan ? memory.transport : undefined
}

/** Returns whether two transports have the same controller, or addresses that both controllers can access. */
function shareMemory(a: Transport, b: Transport): boolean {
  if (a.dma === b.dma || innermost(a).bar === innermost(b).bar) return true
  return a.dma.addressSpace !== undefined && a.dma.addressSpace === b.dma.addressSpace
}
