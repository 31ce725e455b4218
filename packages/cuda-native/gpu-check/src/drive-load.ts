import type { CheckContext } from './context.js'
import type { DriveAddon } from './drive-addon.js'
import {
  countsOf,
  DRIVE_NSID,
  driveWords,
  QUEUE_WORDS,
  queueWords,
  type DriveCounts,
  type DriveFaults,
  type DriveOptions,
} from './pattern-drive.js'

/** Who serves the queues: a kernel, with queues and data in GPU memory; or CPU threads, with both in host memory. */
export type Server = 'kernel' | { readonly addon: DriveAddon; readonly threads: number }

/** Code that submits and completes commands: gnv::Device, or the re-creation of BaM's in kernels/ticket_queue.cuh. */
export type Protocol = 'gnv' | 'tickets'

export interface LoadOptions extends DriveFaults {
  readonly server: Server
  /** Default: 'gnv'. */
  readonly protocol?: Protocol
  readonly queues: number
  /** Warps that submit. */
  readonly warps: number
  /** Commands of each of their threads, one after another. */
  readonly rounds: number
  readonly blockBytes: number
  /** Blocks of each command. */
  readonly blocks: number
  readonly timeoutNs: number
  /** Entries of each queue, a power of two; three quarters of them are slots. Default: 1024. */
  readonly entries?: number
}

export interface LoadResult {
  readonly commandsPerSecond: number
  /** From the first start of a warp to the last end, by the GPU's clock. */
  readonly ns: number
  /** Number of outcomes, by the name of their `gnv_ending`. */
  readonly endings: Readonly<Record<string, number>>
  /** 64-bit words that differ from the drive's. */
  readonly wrongWords: number
  readonly drive: DriveCounts
}

const ENDINGS = ['pending', 'success', 'status', 'timeout', 'lost', 'halted', 'busy', 'invalid']
const PAGE = 4096
/** Distance of two queues' doorbells: a cache line of the GPU each. */
const DOORBELL_STRIDE = 128
const GNV_QUEUE_BYTES = 512
const SLOT_BYTES = 16
/** Size of a `TicketWords`. */
const TICKET_WORDS_BYTES = 640
const WARP = 32
const BLOCK_THREADS = 128
/** Blocks of the drive. */
const DRIVE_BLOCKS = 2 ** 32
const TOTALS_BYTES = 13 * 8
const LIMIT_NS = 30e9

/** Places arrays of these lengths one behind the other, each at the start of a page. */
function placed<Name extends string>(lengths: Record<Name, number>): Record<Name, number> & { readonly end: number } {
  let end = 0
  const places = Object.entries<number>(lengths).map(([name, length]) => {
    const at = end
    end += Math.ceil(length / PAGE) * PAGE
    return [name, at]
  })
  return { ...(Object.fromEntries(places) as Record<Name, number>), end }
}

/** Lays out queues, runs one load of kernels/drive_load.cuh on them, and returns what it and the drive counted. */
export async function runLoad(context: CheckContext, options: LoadOptions): Promise<LoadResult> {
  const { cuda } = context
  const { server, queues, warps, rounds, blockBytes, blocks, timeoutNs } = options
  const { entries = 1024, movesData = false, protocol = 'gnv' } = options
  const bytes = blocks * blockBytes
  const slots = (entries / 4) * 3
  const numbers = 2 ** Math.ceil(Math.log2(slots + 1))
  // Commands of up to two pages need no list.
  const listBytes = bytes > 2 * PAGE ? PAGE : 0
  const places = movesData ? warps * WARP : WARP
  const shared = placed({
    ...{ sqs: queues * entries * 64, cqs: queues * entries * 16, doorbells: queues * DOORBELL_STRIDE },
    ...{ prpLists: queues * slots * listBytes, data: places * bytes },
  })
  const local = placed({
    ...{ queues: queues * GNV_QUEUE_BYTES, slots: queues * slots * SLOT_BYTES, ready: queues * entries * 4 },
    ...{ freeSlots: queues * entries * 4, served: queues * QUEUE_WORDS * 8, inFlight: queues * numbers * 4 },
    ...{ iovas: (queues + 1) * 8, drives: 32, totals: TOTALS_BYTES },
    tickets: protocol === 'tickets' ? queues * (TICKET_WORDS_BYTES + 4 * entries * 4) : 0,
  })
  const memory = server === 'kernel' ? deviceMemory(context, shared.end) : hostMemory(context, shared.end)
  const words = cuda.allocDevice(local.end)
  const stream = cuda.stream()
  const drives = cuda.stream()
  try {
    await memory.clear()
    await words.fill(0)
    await words.fill(0xff, local.totals, 16)
    const gpu = (offset: number) => memory.gpuPointer + BigInt(offset)
    const iova = (offset: number) => memory.iova + BigInt(offset)
    const own = (offset: number) => words.gpuPointer + BigInt(offset)
    const layout = [
      ...[queues, entries, slots, listBytes].map(BigInt),
      ...[gpu(shared.sqs), gpu(shared.cqs), gpu(shared.doorbells), BigInt(DOORBELL_STRIDE)],
      ...[gpu(shared.prpLists), iova(shared.prpLists)],
      ...[own(local.queues), own(local.slots), own(local.ready), own(local.freeSlots)],
      ...(server === 'kernel' ? [own(local.served), own(local.inFlight)] : [0n, 0n]),
      ...[own(local.iovas), iova(shared.data)],
      // gnv_drive.
      ...[BigInt(DRIVE_BLOCKS), BigInt(DRIVE_NSID) | (BigInt(Math.log2(blockBytes)) << 32n)],
      ...[BigInt(blocks), BigInt(queues)],
      own(local.drives),
    ]
    cuda.launch('gpunvme_queue_layout', Math.ceil(queues / BLOCK_THREADS), BLOCK_THREADS, [structure(layout)], stream)
    await stream.finished(LIMIT_NS)

    const part = (offset: number, lengthBytes: number) => ({
      ...{ iova: iova(offset), lengthBytes, address: memory.iova + BigInt(offset) },
    })
    const drive = driveWords({
      ...options,
      ...{ blocks: DRIVE_BLOCKS, maxBlocks: blocks },
      ...{ data: part(shared.data, places * bytes), prpLists: part(shared.prpLists, queues * slots * listBytes) },
    } satisfies DriveOptions)
    const totals = own(local.totals)
    // A block may have fewer threads than 128: the whole load is `warps` warps.
    const threads = Math.min(warps * WARP, BLOCK_THREADS)
    const clients = BigInt(warps)
    const service = [...drive, own(local.served), BigInt(queues), clients, BigInt(LIMIT_NS)]
    const load = [
      // gnv_device: the layout's version and one drive, and gnv_buffer.
      ...[1n | (1n << 32n), own(local.drives), own(local.queues), BigInt(timeoutNs)],
      ...[own(local.iovas) + BigInt(8 * queues), 63n, BigInt(places * bytes), gpu(shared.data)],
      ...[...drive, ...[rounds, blocks, places].map(BigInt)],
    ]
    const served = server === 'kernel' ? undefined : startThreads(server, drive, options, memory.iova, shared, entries)
    let counts: DriveCounts | undefined
    try {
      if (server === 'kernel') cuda.launch('gpunvme_drive_serve', queues, WARP, [structure(service), totals], drives)
      const blockCount = (warps * WARP) / threads
      if (protocol === 'gnv') {
        cuda.launch('gpunvme_drive_load', blockCount, threads, [structure(load), totals], stream)
      } else {
        const parameters = [structure(load), totals, own(local.tickets)]
        cuda.launch('gpunvme_ticket_load', blockCount, threads, parameters, stream)
      }
      await stream.finished(LIMIT_NS)
      await drives.finished(LIMIT_NS)
    } finally {
      counts = served?.()
    }
    counts ??= countsOf(new BigUint64Array((await words.read(local.served, queues * QUEUE_WORDS * 8)).buffer))
    return resultOf(
      new BigUint64Array((await words.read(local.totals, TOTALS_BYTES)).buffer),
      rounds * warps * WARP,
      counts,
    )
  } finally {
    stream.close()
    drives.close()
    words.free()
    memory.free()
  }
}

function resultOf(totals: BigUint64Array, commands: number, drive: DriveCounts): LoadResult {
  const ns = Number(2n ** 64n - 1n - totals[1]! - totals[0]!)
  const counted = ENDINGS.map((name, ending) => [name, Number(totals[4 + ending])] as const)
  return {
    ...{ commandsPerSecond: (commands * 1e9) / ns, ns, drive, wrongWords: Number(totals[12]) },
    endings: Object.fromEntries(counted.filter(([, count]) => count > 0)),
  }
}

/** A parameter of a kernel, from its words. */
function structure(words: readonly bigint[]): Uint8Array {
  return new Uint8Array(BigUint64Array.from(words).buffer)
}

/** Memory for queues and data. */
interface LoadMemory {
  readonly gpuPointer: bigint
  /** As the drive addresses it: its own addresses. */
  readonly iova: bigint
  readonly clear: () => Promise<void>
  readonly free: () => void
}

function deviceMemory({ cuda }: CheckContext, lengthBytes: number): LoadMemory {
  const memory = cuda.allocDevice(lengthBytes)
  const { gpuPointer } = memory
  return { gpuPointer, iova: gpuPointer, clear: () => memory.fill(0), free: () => memory.free() }
}

function hostMemory({ cuda, host }: CheckContext, lengthBytes: number): LoadMemory {
  const region = host.allocate(lengthBytes, PAGE)
  const registration = cuda.register(region.address, lengthBytes)
  return {
    ...{ gpuPointer: registration.gpuPointer, iova: region.address },
    clear: () => Promise.resolve(),
    free: () => {
      registration.unregister()
      region.unmap()
    },
  }
}

/** Serves the queues by CPU threads. Returns a function that ends them and returns their counts. */
function startThreads(
  { addon, threads }: Exclude<Server, 'kernel'>,
  drive: readonly bigint[],
  { queues }: LoadOptions,
  address: bigint,
  places: { readonly sqs: number; readonly cqs: number; readonly doorbells: number },
  entries: number,
): () => DriveCounts {
  const at = (offset: number) => address + BigInt(offset)
  const words = Array.from({ length: queues }, (_, index) => {
    const doorbells = places.doorbells + index * DOORBELL_STRIDE
    return queueWords({
      ...{ sq: at(places.sqs + index * entries * 64), cq: at(places.cqs + index * entries * 16) },
      ...{ tailDoorbell: at(doorbells), headDoorbell: at(doorbells + 4), entries, qid: index + 1 },
    })
  })
  const handle = addon.start(BigUint64Array.from(words.flat()), BigUint64Array.from(drive), threads)
  return () => countsOf(addon.stop(handle))
}
