import type { Bar, DmaAllocator, DmaMemory, DmaRequest, Transport } from '@gpunvme/nvme-spec/transport'

/** Wraps a transport to count its register accesses and its allocated memory. */
export class Watched {
  readonly transport: Transport
  /** Number of register accesses so far. */
  accesses = 0
  /** Number of bytes allocated and not freed. */
  bytesInUse = 0

  constructor(inner: Transport) {
    const dma: DmaAllocator = { alloc: (lengthBytes, request) => this.alloc(inner.dma, lengthBytes, request) }
    const { name, clock, config, interrupts, can } = inner
    this.transport = {
      name,
      clock,
      can,
      dma,
      bar: this.count(inner.bar),
      ...(config && { config }),
      ...(interrupts && { interrupts }),
      reset: (kind) => inner.reset!(kind),
      close: () => inner.close(),
    }
  }

  private alloc(dma: DmaAllocator, lengthBytes: number, request?: DmaRequest): DmaMemory {
    const memory = dma.alloc(lengthBytes, request)
    this.bytesInUse += lengthBytes
    const free = memory.free.bind(memory)
    return Object.assign(memory, {
      free: () => {
        free()
        this.bytesInUse -= lengthBytes
      },
    })
  }

  private count(bar: Bar): Bar {
    const counted = <R>(access: () => R): R => {
      this.accesses++
      return access()
    }
    return {
      lengthBytes: bar.lengthBytes,
      read32: (offset) => counted(() => bar.read32(offset)),
      write32: (offset, value) => counted(() => bar.write32(offset, value)),
      read64: (offset) => counted(() => bar.read64(offset)),
      write64: (offset, value) => counted(() => bar.write64(offset, value)),
    }
  }
}
