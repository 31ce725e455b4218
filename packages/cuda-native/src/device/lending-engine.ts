import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { runsOf } from '@gpunvme/nvme-spec/engine'
import type {
  DmaMemory,
  Engine,
  ExecuteOptions,
  OutcomeSummary,
  Plan,
  QueuePairMemory,
  Transport,
} from '@gpunvme/nvme-spec/transport'
import { sessionOf, type Cuda } from '../cuda/cuda.js'
import { cudaEngine, type CudaEngineOptions } from '../engine/cuda.js'
import type { KernelEngine } from '../engine/kernel-engine.js'
import { checkQueues } from '../queue-shape.js'
import { DeviceBuffer } from './device-buffer.js'
import type { DeviceWords } from './device-words.js'
import { LentQueues, type QueueState } from './lent-queues.js'
import type { QueueElements } from './queue-elements.js'
import type { Registrations } from './registrations.js'

/** Options of `DeviceQueues.engine`, as for `cudaEngine`: the writer of doorbells. */
export type LendingEngineOptions = Pick<CudaEngineOptions, 'doorbells' | 'riskBlackwellRegisters'>

/** Resources that the engines of a `DeviceQueues` share. */
export interface LendingResources {
  readonly cuda: Cuda
  /** Stream used only for copies. */
  readonly stream: number
  /** Of memory and registers for this GPU. */
  readonly registrations: Registrations
  /** The array of `gnv_queue`. */
  readonly array: DeviceWords
  readonly elements: QueueElements
  /** Engines that are not freed. */
  readonly engines: Set<LendingEngine>
}

/** Queues of a controller, as kernels see them. */
export interface LentRange {
  /** Index of the first `gnv_queue`. */
  readonly first: number
  readonly queues: readonly QueuePairMemory[]
}

/**
 * An engine that lends its queues to kernels. Until then, it executes plans as `cudaEngine` does, so that a controller opened
 * for writing can search a namespace for foreign data. After the first call of `DeviceQueues.device` with one of its namespaces,
 * the queues belong to kernels. They keep their GPU addresses, including after a recovery.
 */
export class LendingEngine implements Engine {
  readonly name = 'cuda-device'
  readonly transport: Pick<Transport, 'bar' | 'clock' | 'name'>
  readonly #resources: LendingResources
  readonly #inner: KernelEngine
  readonly #forwardsDoorbells: boolean
  #range: LentRange | undefined
  #queues: readonly QueuePairMemory[] | undefined
  #watch: (() => void) | undefined
  #lent: LentQueues | undefined
  /** Number of devices that refer to its queues. */
  #devices = 0

  /** Use `DeviceQueues.engine`. */
  constructor(
    resources: LendingResources,
    transport: Pick<Transport, 'bar' | 'clock' | 'name'>,
    options: LendingEngineOptions,
  ) {
    this.#resources = resources
    this.transport = transport
    this.#inner = cudaEngine(transport, resources.cuda, options)
    this.#forwardsDoorbells = options.doorbells === 'cpu'
    sessionOf(resources.cuda).engines.add(this)
    resources.engines.add(this)
  }

  /** Whether kernels have its queues. */
  get hasQueues(): boolean {
    return this.#lent !== undefined
  }

  /**
   * Reads the state and the counters of each queue from the GPU, even while kernels run. Empty if the host has the queues.
   * @throws CudaCallError, CudaTimeoutError
   */
  queueStates(): QueueState[] {
    return this.#lent?.states() ?? []
  }

  /** @throws RangeError, TypeError for queues that kernels cannot share; errors of `cudaEngine`. */
  attach(queues: readonly QueuePairMemory[], watch?: () => void): void {
    if (!this.#resources.engines.has(this)) throw new TypeError('this engine was freed: create another one')
    if (this.#queues !== undefined) throw new TypeError('this engine has queues already: detach() it first')
    checkQueues(queues)
    if (this.#range === undefined) this.#inner.attach(queues, watch)
    else this.#lend(queues)
    this.#queues = queues
    this.#watch = watch
  }

  /** Executes plans until the queues are lent. @throws QueuesLentError afterwards; errors of `cudaEngine`. */
  async execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    if (this.#range !== undefined) throw new QueuesLentError(this.transport.name)
    return this.#inner.execute(plan, memory, options)
  }

  /** Stops submissions. Kernels get GNV_HALTED for further commands; commands in flight end as usual. `detach` reports a failure. */
  halt(): void {
    if (this.#lent === undefined) this.#inner.halt()
    else this.#lent.halt()
  }

  /** Stops the use of GPU memory, after the context died and before its memory is freed. */
  abandon(): void {
    this.#lent?.abandon()
  }

  /**
   * Takes the queues from kernels, all of which must have ended. If a stream of this GPU still has work, all waits end
   * with GNV_LOST, and `detach` blocks until the streams are empty. If a kernel's failure has made the context unusable, no
   * kernel runs: the queues are returned without the rings' positions, which a reset of the controller restores.
   * @throws EngineFailedError if a stream still has work after 5 s, the GPU does not answer, or `halt` has failed: the memory
   *   of the queues must be kept.
   */
  detach(): void {
    if (this.#lent === undefined) this.#inner.detach()
    else this.#lent.end()
    this.#lent = undefined
    this.#queues = undefined
  }

  /**
   * Returns its part of `maxQueues` to other engines. Close the controller and free its devices first. Freeing it twice is
   * harmless.
   * @throws TypeError while it has queues, or devices refer to them.
   */
  free(): void {
    if (this.#queues !== undefined) throw new TypeError('this engine has queues: close its controller first')
    if (this.#devices > 0) throw new TypeError(`${this.#devices} devices refer to this engine: free() them first`)
    const { engines, elements } = this.#resources
    if (engines.delete(this) && this.#range !== undefined)
      elements.release(this.#range.first, this.#range.queues.length)
  }

  /** Counts devices: 1 for a new one, -1 for a freed one. */
  countDevice(change: 1 | -1): void {
    this.#devices += change
  }

  /**
   * Describes memory of this engine's transport for kernels. The memory must stay allocated until `free`.
   * @throws TypeError, RangeError for memory that PRPs cannot describe, or if the engine has no queues; CudaCallError
   */
  buffer(memory: DmaMemory): DeviceBuffer {
    const { pageBytes } = this.#attached()[0]!
    const runs = runsOf(memory, pageBytes)
    const alignBytes = runs.iovas.length === 1 ? 4 : pageBytes
    const unaligned = runs.iovas.find((iova) => iova % BigInt(alignBytes) !== 0n)
    if (unaligned !== undefined) {
      throw new RangeError(
        `memory: expected addresses that are multiples of ${alignBytes}, got 0x${unaligned.toString(16)}; allocate it with ` +
          '`dma` of the namespace',
      )
    }
    return new DeviceBuffer(this.#resources, memory, runs)
  }

  /** Whether the engine belongs to these `DeviceQueues`. */
  isOf(resources: LendingResources): boolean {
    return this.#resources === resources
  }

  /** Lends the queues, if kernels do not have them yet. @throws TypeError without queues, or while plans are in flight. */
  lend(): LentRange {
    const queues = this.#attached()
    if (this.#lent !== undefined) return this.#range!
    this.#inner.detach()
    try {
      return this.#lend(queues)
    } catch (error) {
      this.#inner.attach(queues, this.#watch)
      throw error
    }
  }

  /** The queues, lent or not. @throws TypeError without queues. */
  get queues(): readonly QueuePairMemory[] {
    return this.#attached()
  }

  #attached(): readonly QueuePairMemory[] {
    if (this.#queues !== undefined) return this.#queues
    throw new TypeError('engine: expected one with queues; pass it to Controller.open first, and await recoveries')
  }

  #lend(queues: readonly QueuePairMemory[]): LentRange {
    const { cuda, stream, registrations, array, elements } = this.#resources
    const { transport } = this
    const before = this.#range
    if (before !== undefined && before.queues.length !== queues.length) {
      throw new RangeError(
        `queues: expected ${before.queues.length} as before, since devices refer to them, got ${queues.length}; ` +
          'create another engine for a different number of queues',
      )
    }
    const first = before?.first ?? elements.reserve(queues.length)
    const forwardsDoorbells = this.#forwardsDoorbells
    const session = sessionOf(cuda)
    const place = { cuda, session, stream, registrations, transport, array, first, forwardsDoorbells }
    try {
      this.#lent = new LentQueues(queues, place)
    } catch (error) {
      if (before === undefined) elements.release(first, queues.length)
      throw error
    }
    return (this.#range = { first, queues })
  }
}

/** Error: kernels shall write a namespace that was not searched for foreign data before its queues were lent. Nothing was submitted. */
export class WritableTooLateError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_WRITABLE_TOO_LATE'
  readonly category = 'usage'

  /** @param transport name of the transport. */
  constructor(transport: string, nsid: number, cause: QueuesLentError) {
    super(
      `Namespace ${nsid} of '${transport}' cannot be searched for foreign data: its queues belong to kernels already`,
      {
        next: 'pass all writable namespaces of a controller in its first device(); to make this one writable, close the controller and open it with another engine',
        cause,
      },
    )
  }
}

/** Error: a plan was executed on a controller whose queues belong to kernels. Nothing was submitted. */
export class QueuesLentError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_QUEUES_LENT'
  readonly category = 'usage'

  /** @param transport name of the transport. */
  constructor(transport: string) {
    super(`The queues of '${transport}' belong to kernels: the host cannot execute plans on them`, {
      next: 'read and write in kernels, or on the host before the first device(); to use the host again, close the controller and open it with another engine',
    })
  }
}
