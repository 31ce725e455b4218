import type { CheckContext } from './context.js'
import { threadsFor, type DriveAddon } from './drive-addon.js'
import { onGpu, openStream } from './gpu-memory.js'
import {
  countsOf,
  DRIVE_NSID,
  driveWords,
  QUEUE_WORDS,
  queueWords,
  type DriveCounts,
  type DriveFaults,
} from './pattern-drive.js'
import type { Scope } from './scope.js'

/** Server of the queues: a kernel, with queues and data in GPU memory, or CPU threads, with both in host memory. */
export type Server = 'kernel' | { readonly addon: DriveAddon; readonly maxThreads: number }

export interface ServedOptions extends DriveFaults {
  readonly server: Server
  readonly queues: number
  /** Entries per queue, a power of two. A queue has three quarters as many slots. Default: 1024. */
  readonly entries?: number
  readonly blockBytes: number
  /** Maximum number of blocks of a command. */
  readonly maxBlocks: number
  /** Size of the memory for data. */
  readonly dataBytes: number
  readonly timeoutNs: number
}

const PAGE = 4096
/** Distance between the doorbells of two queues: one cache line of the GPU. */
const DOORBELL_STRIDE = 128
const GNV_QUEUE_BYTES = 512
const SLOT_BYTES = 16
const WARP = 32
const LAYOUT_THREADS = 128
const TOTALS_BYTES = 13 * 8
/** Size of the drive in blocks. */
export const DRIVE_BLOCKS = 2 ** 32
export const LIMIT_NS = 30e9

/** Encodes a kernel parameter that is a structure of words. */
export function structure(words: readonly bigint[]): Uint8Array {
  return new Uint8Array(BigUint64Array.from(words).buffer)
}

/** Places arrays of these lengths one after another, each at the start of a page. */
function placed<Name extends string>(lengths: Record<Name, number>): Record<Name, number> & { readonly end: number } {
  let end = 0
  const places = Object.entries<number>(lengths).map(([name, length]) => {
    const at = end
    end += Math.ceil(length / PAGE) * PAGE
    return [name, at]
  })
  return { ...(Object.fromEntries(places) as Record<Name, number>), end }
}

/** Queues and data in memory, a `gnv_device` that uses them, and a PatternDrive that serves them. */
export class ServedQueues {
  /** Words of the `gnv_device`, of a `gnv_buffer` with all data, and of the drive. */
  readonly device: readonly bigint[]
  readonly buffer: readonly bigint[]
  readonly drive: readonly bigint[]
  /** The GPU's addresses of the data, and of the `DriveTotals`. */
  readonly data: bigint
  readonly totals: bigint
  readonly entries: number
  readonly #context: CheckContext
  readonly #options: ServedOptions
  readonly #shared
  readonly #local
  readonly #memory
  readonly #words
  readonly #stream
  readonly #slots
  readonly #listBytes

  private constructor(context: CheckContext, scope: Scope, options: ServedOptions) {
    const { queues, entries = 1024, blockBytes, maxBlocks, dataBytes, timeoutNs } = options
    this.#context = context
    this.#options = options
    this.entries = entries
    this.#slots = (entries / 4) * 3
    // Commands of up to two pages need no list.
    this.#listBytes = maxBlocks * blockBytes > 2 * PAGE ? PAGE : 0
    const listBytes = queues * this.#slots * this.#listBytes
    const numbers = 2 ** Math.ceil(Math.log2(this.#slots + 1))
    this.#shared = placed({
      ...{ sqs: queues * entries * 64, cqs: queues * entries * 16, doorbells: queues * DOORBELL_STRIDE },
      ...{ prpLists: listBytes, data: dataBytes },
    })
    this.#local = placed({
      ...{ queues: queues * GNV_QUEUE_BYTES, slots: queues * this.#slots * SLOT_BYTES, ready: queues * entries * 4 },
      ...{ freeSlots: queues * entries * 4, served: queues * QUEUE_WORDS * 8, inFlight: queues * numbers * 4 },
      ...{ iovas: (queues + 1) * 8, drives: 32, totals: TOTALS_BYTES },
    })
    const memoryOf = options.server === 'kernel' ? deviceMemory : hostMemory
    this.#memory = memoryOf(context, scope, this.#shared.end)
    this.#words = onGpu(context, this.#local.end, scope)
    this.#stream = openStream(context, scope)
    const own = (offset: number) => this.#words.gpuPointer + BigInt(offset)
    this.totals = own(this.#local.totals)
    this.data = this.#memory.gpuPointer + BigInt(this.#shared.data)
    // The layout's version, and one drive.
    this.device = [1n | (1n << 32n), own(this.#local.drives), own(this.#local.queues), BigInt(timeoutNs)]
    this.buffer = [own(this.#local.iovas) + BigInt(8 * queues), 63n, BigInt(dataBytes), this.data]
    const part = (offset: number, lengthBytes: number) => ({
      ...{ iova: this.#iova(offset), lengthBytes, address: this.#iova(offset) },
    })
    this.drive = driveWords({
      ...{ ...options, blocks: DRIVE_BLOCKS },
      ...{ data: part(this.#shared.data, dataBytes), prpLists: part(this.#shared.prpLists, listBytes) },
    })
  }

  /** Allocates and lays out queues, until the end of `scope`. */
  static async open(context: CheckContext, scope: Scope, options: ServedOptions): Promise<ServedQueues> {
    const queues = new ServedQueues(context, scope, options)
    await queues.#layOut()
    return queues
  }

  /** Address of shared memory for the drive, which needs no translation. */
  #iova(offset: number): bigint {
    return this.#memory.iova + BigInt(offset)
  }

  async #layOut(): Promise<void> {
    const { server, queues, blockBytes, maxBlocks } = this.#options
    await this.#memory.clear()
    await this.#words.fill(0)
    await this.#words.fill(0xff, this.#local.totals, 16)
    const gpu = (offset: number) => this.#memory.gpuPointer + BigInt(offset)
    const own = (offset: number) => this.#words.gpuPointer + BigInt(offset)
    const layout = [
      ...[queues, this.entries, this.#slots, this.#listBytes].map(BigInt),
      ...[gpu(this.#shared.sqs), gpu(this.#shared.cqs), gpu(this.#shared.doorbells), BigInt(DOORBELL_STRIDE)],
      ...[gpu(this.#shared.prpLists), this.#iova(this.#shared.prpLists)],
      ...[own(this.#local.queues), own(this.#local.slots), own(this.#local.ready), own(this.#local.freeSlots)],
      ...(server === 'kernel' ? [own(this.#local.served), own(this.#local.inFlight)] : [0n, 0n]),
      ...[own(this.#local.iovas), this.#iova(this.#shared.data)],
      // gnv_drive.
      ...[BigInt(DRIVE_BLOCKS), BigInt(DRIVE_NSID) | (BigInt(Math.log2(blockBytes)) << 32n)],
      ...[BigInt(maxBlocks), BigInt(queues)],
      own(this.#local.drives),
    ]
    const { cuda, kernels } = this.#context
    cuda.loadKernels(kernels.measure)
    const grid = Math.ceil(queues / LAYOUT_THREADS)
    cuda.launch('gpunvme_queue_layout', grid, LAYOUT_THREADS, [structure(layout)], this.#stream)
    await this.#stream.finished(LIMIT_NS)
  }

  /**
   * Serves the queues while `act` runs kernels. A serving kernel ends when `clients` warps of a load have ended. Returns the
   * counts of the drive, and the words of `DriveTotals`.
   */
  async serve(clients: number, act: () => Promise<void>): Promise<{ drive: DriveCounts; totals: BigUint64Array }> {
    const { server, queues } = this.#options
    const served = this.#words.gpuPointer + BigInt(this.#local.served)
    const stop = server === 'kernel' ? undefined : this.#startThreads(server)
    let drive: DriveCounts | undefined
    try {
      if (stop === undefined) {
        const service = [...this.drive, served, BigInt(queues), BigInt(clients), BigInt(LIMIT_NS)]
        const parameters = [structure(service), this.totals]
        this.#context.cuda.launch('gpunvme_drive_serve', queues, WARP, parameters, this.#stream)
      }
      try {
        await act()
      } finally {
        // Memory is in use until the kernel that serves ends: at its time limit, if `act` fails.
        await this.#stream.finished(2 * LIMIT_NS)
      }
    } finally {
      drive = stop?.()
    }
    const read = async (offset: number, lengthBytes: number) =>
      new BigUint64Array((await this.#words.read(offset, lengthBytes)).buffer)
    drive ??= countsOf(await read(this.#local.served, queues * QUEUE_WORDS * 8))
    return { drive, totals: await read(this.#local.totals, TOTALS_BYTES) }
  }

  /** Starts CPU threads that serve the queues. Returns a function that stops them and returns their counts. */
  #startThreads({ addon, maxThreads }: Exclude<Server, 'kernel'>): () => DriveCounts {
    const words = Array.from({ length: this.#options.queues }, (_, index) => {
      const doorbells = this.#iova(this.#shared.doorbells + index * DOORBELL_STRIDE)
      const sq = this.#iova(this.#shared.sqs + index * this.entries * 64)
      const cq = this.#iova(this.#shared.cqs + index * this.entries * 16)
      const rings = { tailDoorbell: doorbells, headDoorbell: doorbells + 4n }
      return queueWords({ sq, cq, ...rings, entries: this.entries, qid: index + 1 })
    })
    const threads = threadsFor(this.#options.queues, maxThreads)
    const handle = addon.start(BigUint64Array.from(words.flat()), BigUint64Array.from(this.drive), threads)
    return () => countsOf(addon.stop(handle))
  }
}

interface QueueMemory {
  readonly gpuPointer: bigint
  readonly iova: bigint
  readonly clear: () => Promise<void>
}

function deviceMemory(context: CheckContext, scope: Scope, lengthBytes: number): QueueMemory {
  const memory = onGpu(context, lengthBytes, scope)
  const { gpuPointer } = memory
  return { gpuPointer, iova: gpuPointer, clear: () => memory.fill(0) }
}

function hostMemory({ cuda, host }: CheckContext, scope: Scope, lengthBytes: number): QueueMemory {
  const region = host.allocate(lengthBytes, PAGE)
  scope.later(() => region.unmap())
  const registration = cuda.register(region.address, lengthBytes)
  scope.later(() => registration.unregister())
  // New pages are zeroed.
  return { gpuPointer: registration.gpuPointer, iova: region.address, clear: () => Promise.resolve() }
}
