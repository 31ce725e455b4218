import type { CheckContext } from './context.js'
import { onGpu, openStream } from './gpu-memory.js'
import type { DriveCounts, DriveFaults } from './pattern-drive.js'
import { scoped, type Scope } from './scope.js'
import { LIMIT_NS, ServedQueues, structure, type Server } from './served-queues.js'

/** Queue protocol of the GPU threads: gnv::Device, or that of BaM as re-created in kernels/ticket_queue.cuh. */
export type Protocol = 'gnv' | 'tickets'

export interface LoadOptions extends DriveFaults {
  readonly server: Server
  /** Default: 'gnv'. */
  readonly protocol?: Protocol
  readonly queues: number
  /** Number of warps that submit. */
  readonly warps: number
  /** Commands that each thread executes, one after another. */
  readonly rounds: number
  readonly blockBytes: number
  /** Blocks per command. */
  readonly blocks: number
  readonly timeoutNs: number
  readonly entries?: number
}

export interface LoadResult {
  readonly commandsPerSecond: number
  /** Time from the first start of a warp to the last end, by the GPU's clock. */
  readonly ns: number
  /** Number of outcomes by name of `gnv_ending`. */
  readonly endings: Readonly<Record<string, number>>
  /** Number of 64-bit words that differ from the drive's data. */
  readonly wrongWords: number
  readonly drive: DriveCounts
}

const ENDINGS = ['pending', 'success', 'status', 'timeout', 'lost', 'halted', 'busy', 'invalid']
/** Size of a `TicketWords`. */
const TICKET_WORDS_BYTES = 640
const WARP = 32
const BLOCK_THREADS = 128

/** Sets up queues, runs one load of kernels/drive_load.cuh on them, and returns the counts of the load and the drive. */
export function runLoad(context: CheckContext, options: LoadOptions): Promise<LoadResult> {
  return scoped((scope) => runIn(context, scope, options))
}

async function runIn(context: CheckContext, scope: Scope, options: LoadOptions): Promise<LoadResult> {
  const { warps, rounds, blockBytes, blocks, movesData = false, protocol = 'gnv' } = options
  const places = movesData ? warps * WARP : WARP
  const served = await ServedQueues.open(context, scope, {
    ...{ ...options, maxBlocks: blocks, dataBytes: places * blocks * blockBytes },
  })
  const ticketBytes = options.queues * (TICKET_WORDS_BYTES + 4 * 4 * served.entries)
  const tickets = protocol === 'tickets' ? onGpu(context, ticketBytes, scope) : undefined
  const stream = openStream(context, scope)
  await tickets?.fill(0)
  const load = [...served.device, ...served.buffer, ...served.drive, ...[rounds, blocks, places].map(BigInt)]
  // The load has `warps` warps in total, in blocks of up to four.
  const threads = Math.min(warps * WARP, BLOCK_THREADS)
  const { drive, totals } = await served.serve(warps, async () => {
    const parameters = [structure(load), served.totals, ...(tickets === undefined ? [] : [tickets.gpuPointer])]
    const kernel = tickets === undefined ? 'gpunvme_drive_load' : 'gpunvme_ticket_load'
    context.cuda.launch(kernel, (warps * WARP) / threads, threads, parameters, stream)
    await stream.finished(LIMIT_NS)
  })
  return resultOf(totals, rounds * warps * WARP, drive)
}

function resultOf(totals: BigUint64Array, commands: number, drive: DriveCounts): LoadResult {
  const ns = Number(2n ** 64n - 1n - totals[1]! - totals[0]!)
  const counted = ENDINGS.map((name, ending) => [name, Number(totals[4 + ending])] as const)
  return {
    ...{ commandsPerSecond: (commands * 1e9) / ns, ns, drive, wrongWords: Number(totals[12]) },
    endings: Object.fromEntries(counted.filter(([, count]) => count > 0)),
  }
}
