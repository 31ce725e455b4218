import { DOORBELL_BASE } from '@gpunvme/nvme-spec'
import type { Bar, DmaAllocator, DmaMemory, DmaRequest, TraceEvent, Transport } from '@gpunvme/nvme-spec/transport'
import { traced } from '../src/index.js'

/** A register access of the driver. */
export interface Access {
  readonly kind: 'read' | 'write'
  readonly offset: number
  readonly value: bigint
  readonly timeNs: number
}

/** Observes the register accesses, commands and memory of a driver. */
export class Watch {
  readonly transport: Transport
  readonly accesses: Access[] = []
  /** Submitted commands as text, with their queues and times. */
  readonly commands: { readonly qid: number; readonly text: string; readonly timeNs: number }[] = []
  /** Bytes allocated and not freed. */
  heldBytes = 0
  /** Number of allocations so far. */
  allocations = 0
  /** Number of the allocation that fails, from 1; 0 for none. */
  failingAllocation = 0
  private readonly held = new Set<DmaMemory>()

  constructor(inner: Transport) {
    const seen = traced(inner, (event) => this.note(event))
    this.transport = { ...seen, bar: this.watchedBar(seen.bar, () => seen.clock.now()), dma: this.watchedDma(seen.dma) }
  }

  /** Doorbell writes, in order. */
  get doorbells(): readonly Access[] {
    return this.writes.filter(({ offset }) => offset >= DOORBELL_BASE)
  }

  get writes(): readonly Access[] {
    return this.accesses.filter(({ kind }) => kind === 'write')
  }

  /** Returns the number of submitted commands with a name, on one queue or on all. */
  countOf(name: string, qid?: number): number {
    return this.commands.filter((each) => each.text.startsWith(name) && (qid ?? each.qid) === each.qid).length
  }

  /** Frees all memory that is still allocated. The controller must be unable to access it. */
  freeAll(): void {
    for (const memory of this.held) memory.free()
  }

  private note({ command, timeNs }: TraceEvent): void {
    if (command !== undefined) this.commands.push({ ...command, timeNs })
  }

  private watchedBar(bar: Bar, now: () => number): Bar {
    const note = (kind: Access['kind'], offset: number, value: number | bigint) =>
      this.accesses.push({ kind, offset, value: BigInt(value), timeNs: now() })
    return {
      lengthBytes: bar.lengthBytes,
      read32(offset) {
        const value = bar.read32(offset)
        note('read', offset, value)
        return value
      },
      write32(offset, value) {
        note('write', offset, value)
        bar.write32(offset, value)
      },
      read64(offset) {
        const value = bar.read64(offset)
        note('read', offset, value)
        return value
      },
      write64(offset, value) {
        note('write', offset, value)
        bar.write64(offset, value)
      },
    }
  }

  private watchedDma(dma: DmaAllocator): DmaAllocator {
    return {
      alloc: (lengthBytes: number, request?: DmaRequest) => {
        if (++this.allocations === this.failingAllocation) throw new RangeError('dma.alloc: no memory is left')
        const memory = dma.alloc(lengthBytes, request)
        this.heldBytes += lengthBytes
        this.held.add(memory)
        const free = memory.free.bind(memory)
        memory.free = () => {
          free()
          if (this.held.delete(memory)) this.heldBytes -= lengthBytes
        }
        return memory
      },
    }
  }
}
