import type {
  CompletionQueueMemory,
  DmaAllocator,
  DmaMemory,
  DmaRequest,
  Engine,
  ExecuteOptions,
  OutcomeSummary,
  Plan,
  QueuePairMemory,
} from '@gpunvme/nvme-spec/transport'

/** Optional operations of simulated GPU memory. */
export type GpuAbility = 'fill' | 'copyOut'

/**
 * Simulated GPU memory: host memory of a simulator whose view only `SightedEngine` gets. Other allocations are
 * unchanged.
 */
export class UnseenMemory implements DmaAllocator {
  readonly live = new Set<DmaMemory>()
  /** Number of copies out of the memory. */
  copies = 0
  private readonly dma: DmaAllocator
  private readonly abilities: readonly GpuAbility[]
  private readonly byPointer = new Map<bigint, DmaMemory>()
  private nextPointer = 0x7f00_0000_0000n

  constructor(dma: DmaAllocator, abilities: readonly GpuAbility[]) {
    this.dma = dma
    this.abilities = abilities
  }

  alloc(lengthBytes: number, request: DmaRequest = {}): DmaMemory {
    const { where, ...rest } = request
    const real = this.dma.alloc(lengthBytes, rest)
    if (where !== 'gpu') return real
    const bytes = new Uint8Array(real.view!.buffer, real.view!.byteOffset, lengthBytes)
    // All Phase Tags are 1: an uninitialized completion queue seems to be full of completions.
    bytes.fill(0xa5)
    const gpuPointer = (this.nextPointer += 0x1000_0000n)
    const memory: DmaMemory = {
      lengthBytes,
      gpuPointer,
      segments: real.segments,
      iovaAt: (offsetBytes) => real.iovaAt(offsetBytes),
      forDevice: () => undefined,
      forHost: () => undefined,
      free: () => {
        if (!this.live.delete(memory)) throw new TypeError('this memory was freed')
        real.free()
      },
      ...(this.abilities.includes('fill') && {
        fill: (byte: number, offsetBytes: number, length: number) => {
          bytes.fill(byte, offsetBytes, offsetBytes + length)
        },
      }),
      ...(this.abilities.includes('copyOut') && {
        copyOut: (offsetBytes: number, into: Uint8Array) => {
          this.copies++
          into.set(bytes.subarray(offsetBytes, offsetBytes + into.length))
        },
      }),
    }
    this.live.add(memory)
    this.byPointer.set(gpuPointer, real)
    return memory
  }

  /** Returns the same memory with its view. */
  seen(memory: DmaMemory): DmaMemory {
    return memory.gpuPointer === undefined ? memory : this.byPointer.get(memory.gpuPointer)!
  }
}

/** Wraps an engine that needs views so that it can access simulated GPU memory, as a kernel can access GPU memory. */
export class SightedEngine implements Engine {
  readonly name = 'sighted'
  private readonly engine: Engine
  private readonly memory: UnseenMemory
  private attached: { given: QueuePairMemory; seen: QueuePairMemory }[] = []

  constructor(engine: Engine, memory: UnseenMemory) {
    this.engine = engine
    this.memory = memory
  }

  attach(queues: readonly QueuePairMemory[], watch?: () => void): void {
    const cqs = new Map<CompletionQueueMemory, CompletionQueueMemory>()
    for (const { cq } of queues) cqs.set(cq, { ...cq, memory: this.memory.seen(cq.memory) })
    const attached = queues.map((given) => {
      const { sq, prpLists, cq } = given
      const memories = { sq: this.memory.seen(sq), prpLists: this.memory.seen(prpLists), cq: cqs.get(cq)! }
      return { given, seen: { ...given, ...memories } }
    })
    this.engine.attach(
      attached.map(({ seen }) => seen),
      watch,
    )
    this.attached = attached
  }

  execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    return this.engine.execute(plan, memory, options)
  }

  detach(): void {
    this.engine.detach()
    for (const { given, seen } of this.attached) {
      given.sqTail = seen.sqTail
      given.cq.head = seen.cq.head
      given.cq.phase = seen.cq.phase
    }
    this.attached = []
  }
}
