import type { CudaEngineOptions } from '@gpunvme/cuda-native/cuda'
import type { Bar, Clock, Plan, QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { equal } from './check.js'
import { allSucceeded } from './plans.js'
import { driveAddonOf, type CheckContext } from './context.js'
import type { DriveAddon } from './drive-addon.js'
import { pieceOf } from './memory.js'
import { countsOf, driveWords, queueWords, type DriveCounts } from './pattern-drive.js'

const PAGE = 4096
export const DEPTH = 32
export const ENTRIES = 64

/** A region starts with the registers. As on a controller, the doorbells start at 1000h. */
const BAR_BYTES = 2 * PAGE
const DOORBELLS = PAGE
const DATA_BYTES = DEPTH * PAGE

/** Offsets of the parts of a queue pair from its start in the region, and its size. */
export const PAIR = {
  sq: 0,
  cq: PAGE,
  lists: 2 * PAGE,
  data: 2 * PAGE + DEPTH * PAGE,
  bytes: 2 * PAGE + DEPTH * PAGE + DATA_BYTES,
} as const

/** A memory region with registers and queue pairs that the GPU can access. CPU threads can serve it as a drive. */
export class DriveRegion {
  readonly #context: CheckContext
  readonly #pairs: number
  readonly #region
  /** The GPU's address of the region. */
  readonly gpuPointer: bigint

  constructor(context: CheckContext, pairs: number) {
    this.#context = context
    this.#pairs = pairs
    this.#region = context.allocate(BAR_BYTES + pairs * PAIR.bytes)
    const registration = context.cuda.register(this.#region.address, BAR_BYTES + pairs * PAIR.bytes)
    context.later(() => registration.unregister())
    this.gpuPointer = registration.gpuPointer
  }

  /** Offset of a part of a pair. */
  at(pair: number, part: number): number {
    return BAR_BYTES + pair * PAIR.bytes + part
  }

  /** Offset of a pair's tail doorbell. The head doorbell comes 4 bytes after it. */
  doorbell(pair: number): number {
    return DOORBELLS + 8 * pair
  }

  /** Address in this process, which is also the drive's. */
  address(offset: number): bigint {
    return this.#region.address + BigInt(offset)
  }

  piece(offset: number, lengthBytes: number) {
    return pieceOf(this.#region.buffer, this.#region.address, offset, lengthBytes)
  }

  load32(offset: number): number {
    return this.#region.load32(offset)
  }

  /** Registers of a controller that is ready (CSTS.RDY) and has no error. */
  get bar(): Bar {
    return {
      ...{ lengthBytes: BAR_BYTES, read32: () => 1, read64: () => 1n },
      ...{ write32: () => undefined, write64: () => undefined },
      window: { address: this.#region.address, lengthBytes: BAR_BYTES, isMemory: true },
    }
  }

  get pairs(): QueuePairMemory[] {
    return Array.from({ length: this.#pairs }, (_, pair) => {
      const doorbell = this.doorbell(pair)
      const cq = { cqid: pair + 1, entries: ENTRIES, memory: this.piece(this.at(pair, PAIR.cq), PAGE), head: 0 }
      return {
        ...{ qid: pair + 1, sqEntries: ENTRIES, sq: this.piece(this.at(pair, PAIR.sq), PAGE), maxInFlight: DEPTH },
        cq: { ...cq, headDoorbell: doorbell + 4, phase: 1 },
        ...{ prpLists: this.piece(this.at(pair, PAIR.lists), DEPTH * PAGE), prpListBytes: PAGE, pageBytes: PAGE },
        ...{ sqTailDoorbell: doorbell, sqTail: 0, generations: new Uint16Array(DEPTH) },
      }
    })
  }

  /** Starts a drive that moves no data. Returns a function that stops it, and checks that it detected no host errors. */
  serve(addon: DriveAddon, threads: number): () => { readonly commands: number; readonly rings: number } {
    const everything = { iova: this.address(0), lengthBytes: this.at(this.#pairs, 0), address: this.address(0) }
    const drive = driveWords({ blocks: 2 ** 40, blockBytes: 512, maxBlocks: 8, data: everything, prpLists: everything })
    const queues = Array.from({ length: this.#pairs }, (_, pair) => {
      const doorbell = this.doorbell(pair)
      return queueWords({
        ...{ sq: this.address(this.at(pair, PAIR.sq)), cq: this.address(this.at(pair, PAIR.cq)) },
        ...{ tailDoorbell: this.address(doorbell), headDoorbell: this.address(doorbell + 4) },
        ...{ entries: ENTRIES, qid: pair + 1 },
      })
    })
    const handle = addon.start(BigUint64Array.from(queues.flat()), BigUint64Array.from(drive), threads)
    let counts: DriveCounts | undefined
    const stop = () => (counts ??= countsOf(addon.stop(handle)))
    // A check that is given up at its time limit does not stop the threads, and the region is unmapped then.
    this.#context.later(stop)
    return () => {
      const { commands, rings, mistakes, firstMistake } = stop()
      equal('host errors detected by the drive', [mistakes, firstMistake], [0, 'none'])
      return { commands, rings }
    }
  }
}

/**
 * Attaches an engine `cuda` to the queue pairs of a region, with one leader per pair. The end of the check detaches it if it
 * still has queues.
 */
export function engineOn(context: CheckContext, region: DriveRegion, options?: CudaEngineOptions) {
  const started = process.hrtime.bigint()
  const clock: Clock = {
    now: () => Number(process.hrtime.bigint() - started),
    idle: () => new Promise((done) => setImmediate(done)),
  }
  const unused = { dma: undefined as never, can: undefined as never, close: () => Promise.resolve() }
  const engine = context.engine({ name: 'pattern-drive', bar: region.bar, clock, ...unused }, options)
  engine.attach(region.pairs)
  context.later(() => engine.detach())
  return engine
}

/** Creates a plan of 4 KiB reads that are distributed round-robin over the queue pairs. */
export function readsOf(commands: number, pairs = 1): Plan {
  return {
    ...{ operation: 'read', nsid: 1, blockBytes: 512, commands },
    slba: Float64Array.from({ length: commands }, (_, index) => 8 * index),
    blocks: new Uint32Array(commands).fill(8),
    offsetBytes: Float64Array.from({ length: commands }, (_, index) => PAGE * (index % DEPTH)),
    queue: Uint16Array.from({ length: commands }, (_, index) => index % pairs),
  }
}

export interface EngineRun {
  readonly pairs: number
  readonly commandsPerPair: number
  /** CPU threads that serve the queues. */
  readonly threads: number
  readonly options?: CudaEngineOptions
}

/** Executes a plan of 4 KiB reads on a drive that moves no data, after a warm-up, and checks all outcomes. */
export async function runEngine(context: CheckContext, { pairs, commandsPerPair, threads, options }: EngineRun) {
  const region = new DriveRegion(context, pairs)
  const stop = region.serve(driveAddonOf(context), threads)
  const commands = pairs * commandsPerPair
  let counts: ReturnType<typeof stop>
  let measured: { commandsPerSecond: number; doorbellWrites: number }
  try {
    const engine = engineOn(context, region, options)
    const data = region.piece(region.at(0, PAIR.data), DATA_BYTES)
    allSucceeded('warm-up', await engine.execute(readsOf(DEPTH * pairs, pairs), data))
    const before = engine.statistics.doorbellWrites
    const summary = await engine.execute(readsOf(commands, pairs), data)
    allSucceeded(`reads on ${pairs} queue pairs`, summary)
    const commandsPerSecond = (commands * 1e9) / (summary.endNs - summary.startNs)
    measured = { commandsPerSecond, doorbellWrites: engine.statistics.doorbellWrites - before }
    engine.detach()
  } finally {
    counts = stop()
  }
  equal('commands received by the drive', counts.commands, commands + DEPTH * pairs)
  return { ...measured, ...counts }
}
