import { deviceOutcome, type GpuMemory, type QueueState } from '@gpunvme/cuda-native/cuda'
import type { DmaMemory, FaultPlan } from '@gpunvme/nvme-spec/transport'
import { equal, equalBytes, type Check, type Fact } from '../check.js'
import { content } from '../content.js'
import { BLOCK_BYTES, KIB, MIB, type CheckContext, type Drive } from '../context.js'
import { onGpu, pinned } from '../gpu-memory.js'
import { lendDrive } from '../lent-drive.js'
import { bytesOf } from '../memory.js'
import { ratio } from '../report.js'
import { scoped } from '../scope.js'

const NOWHERE = 2n ** 64n - 1n
/** Opcode of Read in the NVM Command Set. */
const READ = 2
const SUCCESS = 'success'

interface DeviceOptions {
  /** Size of the buffer for data. */
  readonly dataBytes: number
  /** Entries of each queue. */
  readonly queueEntries: number
  /** Commands in flight. */
  readonly queueDepth: number
  readonly timeoutNs?: number
  readonly faults?: FaultPlan
  readonly writable?: boolean
}

/** A gnv::Device in GPU memory, with one drive and one queue pair. */
interface Device {
  readonly drive: Drive
  readonly data: DmaMemory
  /** gnv::Device and gnv::Buffer. */
  readonly words: readonly bigint[]
  /** Runs a kernel whose parameter points to these words; returns the words as the kernel left them. */
  readonly run: (name: string, blocks: number, threads: number, words: readonly bigint[]) => Promise<BigUint64Array>
  /** Reads counters of the queue. */
  readonly counters: () => QueueState
}

/** Creates a gnv::Device on a queue pair of a simulated drive. */
async function deviceOn(context: CheckContext, media: Uint8Array, options: DeviceOptions): Promise<Device> {
  const { cuda, kernels } = context
  const { dataBytes, ...shape } = options
  const { drive, engine, device, allocate } = await lendDrive(context, media, {
    ...{ queues: 1, memoryBytes: 4 * MIB, ...shape },
    // A read of the first block after the namespace must reach the controller.
    blocksBeyond: 1,
  })
  const { memory: data, buffer } = allocate(dataBytes)
  cuda.loadKernels(kernels.measure)
  const stream = cuda.stream()
  context.later(() => stream.close())
  const run: Device['run'] = async (name, blocks, threads, words) => {
    const parameter = cuda.allocPinned(8 * words.length)
    try {
      const view = new BigUint64Array(parameter.buffer, 0, words.length)
      view.set(words)
      cuda.launch(name, blocks, threads, [parameter.gpuPointer], stream)
      await stream.finished(20e9)
      return view.slice()
    } finally {
      parameter.free()
    }
  }
  const words = [device, buffer].flatMap(({ argument }) => [...new BigUint64Array(argument.slice().buffer)])
  return { drive, data, words, run, counters: () => engine.queueStates()[0]! }
}

/** Formats an outcome: a status with SCT and SC, an invalid command with its gnv_reason. */
function describeOutcome(word: bigint): string {
  const { ending, status, reason } = deviceOutcome(word)
  if (ending === 'status') return `status ${(status & 0x7ff).toString(16)}h`
  return ending === 'invalid' ? `invalid ${reason}` : ending
}

interface ChainOrder {
  readonly reads: number
  /** Size of each read, and of the write. */
  readonly bytes: number
  /** First block of the chain. */
  readonly first: number
  /** Block at which the complement of the last read is written. If absent, nothing is written or flushed. */
  readonly writeAt?: number
}

interface ChainResult {
  readonly outcomes: string[]
  /** Data of each successful read in order, as the GPU saw them; then a5h. */
  readonly kept: Uint8Array
  readonly ns: number
}

/** Runs the program of kernels/block_chain.cuh. */
function followChain(context: CheckContext, device: Device, order: ChainOrder): Promise<ChainResult> {
  const { reads, bytes, first, writeAt } = order
  return scoped(async (scope) => {
    const outcomes = pinned(context, 8 * (reads + 2), scope)
    const kept = onGpu(context, reads * bytes, scope)
    await kept.fill(0xa5)
    bytesOf(device.data).fill(0x5a)
    const writeLba = writeAt === undefined ? NOWHERE : BigInt(writeAt)
    const words = await device.run('gpunvme_block_chain', 1, 1, [
      ...device.words,
      ...[BigInt(bytes / BLOCK_BYTES), BigInt(reads), BigInt(first), writeLba],
      ...[outcomes.gpuPointer, kept.gpuPointer, 0n],
    ])
    const changed = bytesOf(device.data)
      .subarray(bytes)
      .some((byte) => byte !== 0x5a)
    equal('bytes outside the transfers changed', changed, false)
    const count = reads + (writeAt === undefined ? 0 : 2)
    const described = Array.from(new BigUint64Array(outcomes.buffer, 0, count), describeOutcome)
    return { outcomes: described, kept: await kept.read(), ns: Number(words.at(-1)) }
  })
}

const CHAIN = { dataBytes: 128 * KIB, queueEntries: 16, queueDepth: 15 }
const PLACES = 32

/** Generates `places` places of `bytes`. Each starts with the block number of the next place to read. */
function chained(places: number, bytes: number) {
  const media = content(places * bytes, 14)
  const view = new DataView(media.buffer)
  // Visits every place, since `step` and `places` have no common divisor.
  const step = 5
  for (let place = 0; place < places; place++) {
    view.setBigUint64(place * bytes, BigInt((((place + step) % places) * bytes) / BLOCK_BYTES), true)
  }
  const expected = (reads: number) => {
    const all = new Uint8Array(reads * bytes)
    for (let read = 0; read < reads; read++) {
      const place = (read * step) % places
      all.set(media.subarray(place * bytes, (place + 1) * bytes), read * bytes)
    }
    return all
  }
  return { media, expected }
}

const blockIo: Check = {
  id: 'block-io',
  title: 'A GPU program follows a chain of blocks, writes and flushes without the host',
  limitMs: 60_000,
  async run(context) {
    const facts: Record<string, Fact> = {}
    for (const [bytes, reads] of [
      [4 * KIB, 4 * PLACES],
      // With a PRP list.
      [128 * KIB, 8],
    ] as const) {
      const { media, expected } = chained(PLACES, bytes)
      // The write follows the chain.
      const stored = new Uint8Array(media.length + bytes)
      stored.set(media)
      const device = await deviceOn(context, stored, { ...CHAIN, writable: true })
      const writeAt = media.length / BLOCK_BYTES
      const { outcomes, kept, ns } = await followChain(context, device, { reads, bytes, first: 0, writeAt })
      const what = `${reads} reads of ${bytes} bytes`
      equal(`${what}, a write and a flush: outcomes`, [...new Set(outcomes)], [SUCCESS])
      equalBytes(what, kept, expected(reads))
      stored.set(
        kept.subarray(-bytes).map((byte) => ~byte),
        media.length,
      )
      equalBytes('the written blocks, and all others', device.drive.stored(), stored)
      await failingReads(context, device, media, stored.length / BLOCK_BYTES)
      equal('host errors detected by the controller', await device.drive.simulator.diagnostics(), [])
      equal('stale completions', device.counters().staleCompletions, 0)
      const microseconds = ratio(ns, reads * 1000)
      facts[`of${bytes}Bytes`] = { reads, microseconds }
      const conditions = {
        reads,
        inFlight: 1,
        controller: 'simulated, one thread',
        timeIncludes: 'data transfer by the CPU',
      }
      const per = `one read of ${bytes} bytes by a GPU program`
      context.figure({ name: `block-io-${bytes}`, value: microseconds, unit: 'microseconds', per, conditions })
    }
    return facts
  },
}

/** Checks a read that the controller rejects, one that is not submitted, and a later one that succeeds. */
async function failingReads(context: CheckContext, device: Device, media: Uint8Array, end: number): Promise<void> {
  const read = async (first: number) => {
    const { outcomes, kept } = await followChain(context, device, { reads: 1, bytes: BLOCK_BYTES, first })
    return { outcome: outcomes[0], kept }
  }
  equal('a read of the block after the last one (LBA Out of Range)', (await read(end)).outcome, 'status 80h')
  equal('a read beyond the size in gnv_drive (GNV_BAD_RANGE)', (await read(end + 1)).outcome, 'invalid 3')
  const { outcome, kept } = await read(3)
  equal('a later read', outcome, SUCCESS)
  equalBytes('a read of one block', kept, media.subarray(3 * BLOCK_BYTES, 4 * BLOCK_BYTES))
}

const unanswered: Check = {
  id: 'block-io-unanswered',
  title: 'An unanswered read of a GPU program ends at its time limit, and no later command is submitted',
  limitMs: 60_000,
  injectsFaults: true,
  async run(context) {
    const bytes = 4 * KIB
    const { media, expected } = chained(PLACES, bytes)
    // The second place of the chain.
    const lostBlock = (5 * bytes) / BLOCK_BYTES
    const rules = [
      { match: { opcode: READ, lba: [lostBlock, lostBlock], times: 1 }, action: { kind: 'drop-completion' } },
    ] as const
    const timeoutNs = 50_000_000
    const device = await deviceOn(context, media, { ...CHAIN, timeoutNs, faults: { rules } })
    const { outcomes, kept, ns } = await followChain(context, device, { reads: 4, bytes, first: 0 })
    equal('outcomes', outcomes, [SUCCESS, 'timeout', 'halted', 'halted'])
    equalBytes('the read before the lost one', kept.subarray(0, bytes), expected(1))
    equal(
      'whether other reads stored data',
      kept.subarray(bytes).some((byte) => byte !== 0xa5),
      false,
    )
    return { timeoutMs: timeoutNs / 1e6, tookMs: Math.round(ns / 1e6) }
  },
}

const LANES = 32
const WARPS = 32
const THREADS = LANES * WARPS
const ROUNDS = 3

const threads: Check = {
  id: 'block-io-threads',
  title: `${THREADS} GPU threads each read a block on one queue, individually and by warp, and every byte is correct`,
  limitMs: 60_000,
  async run(context) {
    const media = content(THREADS * BLOCK_BYTES, 15)
    const options = { dataBytes: media.length, queueEntries: 256, queueDepth: 192 }
    const device = await deviceOn(context, media, options)
    const kept = context.cuda.allocDevice(media.length)
    context.later(() => kept.free())
    const facts: Record<string, Fact> = {}
    for (const [how, byWarp] of [
      ['alone', 0n],
      ['by-warp', 1n],
    ] as const) {
      const before = device.counters()
      const rates: number[] = []
      for (let round = 0; round < ROUNDS; round++) {
        rates.push(ratio(THREADS * 1e9, await readByThreads(context, device, media, kept, byWarp)))
      }
      const after = device.counters()
      equal('stale completions', after.staleCompletions, 0)
      const conditions = {
        ...{ threads: THREADS, queues: 1, inFlight: options.queueDepth, rounds: ROUNDS, commands: ROUNDS * THREADS },
        tailDoorbellWrites: after.tailDoorbellWrites - before.tailDoorbellWrites,
        headDoorbellWrites: after.headDoorbellWrites - before.headDoorbellWrites,
        ...{ controller: 'simulated, one thread', timeIncludes: 'data transfer by the CPU' },
      }
      const value = rates.sort((a, b) => a - b)[(ROUNDS - 1) / 2]!
      const per = `reads of ${BLOCK_BYTES} bytes by GPU threads, ${byWarp === 0n ? 'individually' : 'by warp'}`
      context.figure({ name: `block-io-threads-${how}`, value, unit: 'commands/s', per, conditions })
      facts[byWarp === 0n ? 'alone' : 'byWarp'] = { ...conditions, commandsPerSecond: value }
    }
    equal('host errors detected by the controller', await device.drive.simulator.diagnostics(), [])
    return facts
  },
}

/**
 * Runs the program of kernels/block_threads.cuh, and checks the data that it read. Returns the time from the first submission
 * to the last outcome, in nanoseconds.
 */
async function readByThreads(
  context: CheckContext,
  device: Device,
  media: Uint8Array,
  kept: GpuMemory,
  byWarp: bigint,
): Promise<number> {
  const words = context.cuda.allocPinned(8 * 3 * THREADS)
  try {
    bytesOf(device.data).fill(0x5a)
    await device.run('gpunvme_block_threads', WARPS, LANES, [
      ...[...device.words, byWarp, words.gpuPointer],
      ...[words.gpuPointer + BigInt(8 * THREADS), kept.gpuPointer],
    ])
    const outcomes = Array.from(new BigUint64Array(words.buffer, 0, THREADS), describeOutcome)
    equal('outcomes', [...new Set(outcomes)], [SUCCESS])
    const what = byWarp === 0n ? 'reads by thread' : 'reads by warp'
    equalBytes(`${what}: memory`, bytesOf(device.data), media)
    equalBytes(`${what}: data seen by the threads`, await kept.read(), media)
    const times = new BigUint64Array(words.buffer, 8 * THREADS, 2 * THREADS)
    // Each thread has its own start and end.
    const sorted = (rest: number) => times.filter((_, index) => index % 2 === rest).sort()
    return Number(sorted(1).at(-1)! - sorted(0)[0]!)
  } finally {
    words.free()
  }
}

/** GPU programs that submit commands through gnv::Device. */
export const blockIoChecks: readonly Check[] = [blockIo, unanswered, threads]
