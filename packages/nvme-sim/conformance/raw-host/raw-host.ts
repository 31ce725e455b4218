import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { Completion } from './entry.js'
import { HostBase } from './host-base.js'

/** DMA memory that the host can read and write. */
export type HostMemory = DmaMemory & { readonly view: DataView }

/** The raw host with plain memory of the transport, for tests and benchmarks that need no canaries. */
export class RawHost extends HostBase<HostMemory, Completion> {
  /** Allocates contiguous memory, aligned to the controller's memory page. */
  alloc(lengthBytes: number): HostMemory {
    const memory = this.transport.dma.alloc(lengthBytes, { contiguous: true, alignBytes: this.pageBytes })
    if (memory.view === undefined) throw new TypeError('the raw host needs memory with a view')
    return memory as HostMemory
  }

  /** Disables the controller and frees the rings. */
  async close(): Promise<void> {
    const rings = [...this.sqs.values(), ...this.cqs.values()]
    await this.disable()
    for (const { memory } of rings) memory.free()
  }

  protected allocRing(lengthBytes: number, fill: number): HostMemory {
    const memory = this.alloc(lengthBytes)
    const { view } = memory
    new Uint8Array(view.buffer, view.byteOffset, lengthBytes).fill(fill)
    memory.forDevice(0, lengthBytes)
    return memory
  }

  protected report(completion: Completion): Completion {
    return completion
  }
}
