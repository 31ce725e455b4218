import type { GpuMemory, PinnedMemory } from '@gpunvme/cuda-native/cuda'
import type { DmaMemory, FaultPlan } from '@gpunvme/nvme-spec/transport'
import { equal, equalBytes, type Check, type Fact } from '../check.js'
import { content } from '../content.js'
import { BLOCK_BYTES, KIB, MIB, type CheckContext, type Drive } from '../context.js'
import { bytesOf } from '../memory.js'
import { ratio } from './transfers.js'
import { SeenEngine } from './seen-engine.js'

const DATA_BYTES = 128 * KIB
/** ChainState of kernels/block_chain.cuh. */
const STATE_BYTES = 64 * KIB
const TIMEOUT_NS = 5_000_000_000n
const NOWHERE = 2n ** 64n - 1n
/** Opcodes of the NVM Command Set: Read. */
const READ = 2
const SUCCESS = 'success'

/** What a program of the GPU is given of a drive, and what it says. */
interface Chain {
  readonly drive: Drive
  readonly data: DmaMemory
  /** Runs a kernel of a single thread to its end. */
  readonly launch: (name: string, args: readonly bigint[]) => Promise<void>
  /** The words of struct BlockChain. */
  readonly words: BigUint64Array
  readonly run: PinnedMemory
  readonly state: GpuMemory
  /** Reads so many times `bytes`, from block `first` on, and then writes; its outcomes, and what the GPU has seen. */
  readonly program: (order: ProgramOrder) => Promise<{ outcomes: string[]; kept: Uint8Array; ns: number }>
}

interface ProgramOrder {
  readonly reads: number
  readonly bytes: number
  readonly first: number
  readonly writeAt?: number
  readonly timeoutNs?: bigint
  readonly fenced?: boolean
}

/** Indices of words of struct BlockChain, in kernels/block_chain.cuh. */
const WORD = { blockBytes: 18, outcomes: 25, kept: 26, launch: 27, ns: 28, count: 29 }

/** A leader on the GPU, of a queue pair that the host's engine has made and leaves alone. */
async function chainOn(context: CheckContext, media: Uint8Array, faults?: FaultPlan): Promise<Chain> {
  const { cuda, kernels } = context
  const drive = await context.drive(media, 4 * MIB, faults, false)
  const engine = new SeenEngine(drive.transport)
  const { namespace } = await context.open(drive, { queues: 1, queueDepth: 16 }, engine)
  const [pair] = engine.queues
  const { cq } = pair!
  const { memory } = drive
  const registration = cuda.register(memory.address, memory.lengthBytes)
  context.later(() => registration.unregister())
  /** Of an address of this process, which is the controller's too. */
  const forGpu = (address: bigint | number) => registration.gpuPointer + (BigInt(address) - memory.address)
  const data = namespace.dma.alloc(DATA_BYTES)
  for (const [what, { segments }] of Object.entries({ data, 'PRP lists': pair!.prpLists })) {
    equal(`runs of the memory of ${what}`, segments.length, 1)
  }
  cuda.loadKernels(kernels.kernels)
  cuda.loadKernels(kernels.measure)
  const state = cuda.allocDevice(STATE_BYTES)
  context.later(() => state.free())
  await state.fill(0)
  const run = cuda.allocPinned(4096)
  context.later(() => run.free())
  const stream = cuda.stream()
  context.later(() => stream.close())
  const launch = async (name: string, args: readonly bigint[]) => {
    cuda.launch(name, 1, 1, args, stream)
    await stream.finished(20e9)
  }
  const registers = drive.transport.bar.window!.address
  const words = new BigUint64Array(run.buffer, 0, WORD.count)
  words.set([
    ...[forGpu(pair!.sq.iovaAt(0)), BigInt(pair!.sqEntries), BigInt(pair!.sqTail)],
    forGpu(registers + BigInt(pair!.sqTailDoorbell)),
    ...[forGpu(cq.memory.iovaAt(0)), BigInt(cq.entries), BigInt(cq.head), BigInt(cq.phase)],
    ...[forGpu(registers + BigInt(cq.headDoorbell)), BigInt(pair!.qid), BigInt(pair!.maxInFlight)],
    ...[forGpu(pair!.prpLists.iovaAt(0)), BigInt(pair!.prpLists.iovaAt(0)), BigInt(pair!.prpListBytes)],
    ...[BigInt(pair!.pageBytes), forGpu(data.iovaAt(0)), BigInt(data.iovaAt(0)), state.gpuPointer],
  ])
  await launch('gpunvme_chain_leader', [run.gpuPointer])

  const program = async (order: ProgramOrder) => {
    const { reads, bytes, first, writeAt, timeoutNs = TIMEOUT_NS, fenced = true } = order
    const outcomes = cuda.allocPinned(8 * (reads + 2))
    const kept = cuda.allocDevice(reads * bytes)
    await kept.fill(0xa5)
    const ordered = [BLOCK_BYTES, bytes / BLOCK_BYTES, reads, first].map(BigInt)
    const writeLba = writeAt === undefined ? NOWHERE : BigInt(writeAt)
    words.set(
      [...ordered, writeLba, timeoutNs, fenced ? 1n : 0n, outcomes.gpuPointer, kept.gpuPointer],
      WORD.blockBytes,
    )
    words[WORD.ns] = 0n
    // What is there already is not what is read.
    bytesOf(data).fill(0x5a)
    await launch('gpunvme_block_chain', [run.gpuPointer])
    const said = [...new BigUint64Array(outcomes.buffer, 0, reads + (writeAt === undefined ? 0 : 2))].map(outcomeOf)
    const all = await kept.read()
    outcomes.free()
    kept.free()
    return { outcomes: said, kept: all, ns: Number(words[WORD.ns]) }
  }
  return { drive, data, launch, words, run, state, program }
}

/** An outcome as cuda/share.cuh has it; of a status SCT and SC. */
function outcomeOf(word: bigint): string {
  const kinds = ['not submitted', SUCCESS, 'status', 'timeout', 'lost']
  const kind = kinds[Number(word >> 32n)] ?? `ending ${word >> 32n}`
  return kind === 'status' ? `status ${(word & 0x7ffn).toString(16)}h` : kind
}

/** A drive of places of `bytes`, each of which begins with the block that the next read is of. */
function chained(places: number, bytes: number) {
  const media = content(places * bytes, 14)
  const view = new DataView(media.buffer)
  // From each to the one so many on: all of them once, as that many and `places` have no common divisor.
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

const PLACES = 32

const blockIo: Check = {
  id: 'block-io',
  title:
    'A program of the GPU reads blocks of which each says where the next is, writes one and flushes, and no host helps',
  limitMs: 60_000,
  async run(context) {
    const facts: Record<string, Fact> = {}
    for (const [bytes, reads] of [
      [4 * KIB, 4 * PLACES],
      // With a PRP list.
      [DATA_BYTES, 8],
    ] as const) {
      const { media, expected } = chained(PLACES, bytes)
      // Where nobody reads, for what is written.
      const whole = new Uint8Array(media.length + bytes)
      whole.set(media)
      const chain = await chainOn(context, whole)
      await launchedSingly(chain, media, bytes)
      const order = { reads, bytes, first: 0 }
      const { outcomes, kept, ns } = await chain.program({ ...order, writeAt: media.length / BLOCK_BYTES })
      const what = `${reads} reads of ${bytes} bytes`
      equal(`${what}, a write and a flush: outcomes`, [...new Set(outcomes)], [SUCCESS])
      equalBytes(what, kept, expected(reads))
      whole.set(
        kept.subarray(-bytes).map((byte) => ~byte),
        media.length,
      )
      equalBytes('what was written, and all else', chain.drive.stored(), whole)
      equal('mistakes that the controller saw', await chain.drive.simulator.diagnostics(), [])
      const { kept: unfenced } = await chain.program({ ...order, fenced: false })
      const stale = differing(unfenced, expected(reads), bytes)
      const microseconds = ratio(ns, reads * 1000)
      facts[`of${bytes}Bytes`] = { reads, microseconds, readsThatSawOldDataWithoutFence: stale }
      const conditions = {
        reads,
        inFlight: 1,
        controller: 'simulated, one thread',
        timeIncludes: 'its data, by the CPU',
      }
      const per = `one read of ${bytes} bytes, by a program of the GPU`
      context.figure({ name: `block-io-${bytes}`, value: microseconds, unit: 'microseconds', per, conditions })
    }
    return facts
  },
}

/** How many pieces of `bytes` are not what is expected. */
function differing(got: Uint8Array, expected: Uint8Array, bytes: number): number {
  let pieces = 0
  for (let at = 0; at < got.length; at += bytes) {
    if (Buffer.compare(got.subarray(at, at + bytes), expected.subarray(at, at + bytes)) !== 0) pieces++
  }
  return pieces
}

/** The kernel that is shipped, on the same leader: the host says what, and looks at the data. */
async function launchedSingly(chain: Chain, media: Uint8Array, mostBytes: number): Promise<void> {
  const { data, launch, words, run, state, drive } = chain
  const at = 2048
  const io = new DataView(run.buffer, at, 512)
  const read = async (slba: number, bytes: number) => {
    bytesOf(data).fill(0xa5)
    new Uint8Array(run.buffer, at, 512).fill(0)
    // struct BlockIo of cuda/block_io.cuh: command, memory, timeout_ns, pair, opcode, nsid, block_bytes; outcome. The
    // data is one run, whose address stands behind it.
    const iova = at + 1024
    new BigUint64Array(run.buffer, iova, 1).set([BigInt(data.iovaAt(0))])
    io.setBigUint64(0, BigInt(slba), true)
    io.setUint32(16, bytes / BLOCK_BYTES, true)
    io.setBigUint64(24, run.gpuPointer + BigInt(iova), true)
    io.setBigUint64(32, 63n, true)
    io.setBigUint64(40, TIMEOUT_NS, true)
    ;[0, READ, 1, BLOCK_BYTES].forEach((word, index) => io.setUint32(48 + 4 * index, word, true))
    await launch('gpunvme_block_io', [state.gpuPointer, ++words[WORD.launch]!, run.gpuPointer + BigInt(at)])
    return outcomeOf(io.getBigUint64(64, true))
  }
  for (const [slba, bytes] of [
    [3, BLOCK_BYTES],
    [8, 4 * KIB],
    [1, 64 * KIB],
  ] as const) {
    if (bytes > mostBytes) continue
    equal(`gpunvme_block_io of ${bytes} bytes: outcome`, await read(slba, bytes), SUCCESS)
    const seen = bytesOf(data)
    equalBytes(
      `gpunvme_block_io of ${bytes} bytes`,
      seen.subarray(0, bytes),
      media.subarray(slba * BLOCK_BYTES).subarray(0, bytes),
    )
    equal(
      'bytes beyond that changed',
      seen.subarray(bytes).some((byte) => byte !== 0xa5),
      false,
    )
  }
  // LBA Out of Range: a status of the command, and no end of the queue.
  const end = drive.stored().length / BLOCK_BYTES
  equal('gpunvme_block_io beyond the end: outcome', await read(end, BLOCK_BYTES), 'status 80h')
  equal('gpunvme_block_io after that: outcome', await read(0, BLOCK_BYTES), SUCCESS)
}

const unanswered: Check = {
  id: 'block-io-unanswered',
  title:
    'A single read of a program that gets no answer is given up by its time-out, and nothing is submitted after it',
  limitMs: 60_000,
  provokes: true,
  async run(context) {
    const bytes = 4 * KIB
    const { media, expected } = chained(PLACES, bytes)
    // Of the second place of the chain.
    const struck = (5 * bytes) / BLOCK_BYTES
    const rules = [
      { match: { opcode: READ, lba: [struck, struck], times: 1 }, action: { kind: 'drop-completion' } },
    ] as const
    const { program } = await chainOn(context, media, { rules })
    const timeoutNs = 50_000_000n
    const { outcomes, kept, ns } = await program({ reads: 4, bytes, first: 0, timeoutNs })
    equal('outcomes', outcomes, [SUCCESS, 'timeout', 'not submitted', 'not submitted'])
    equalBytes('the read before', kept.subarray(0, bytes), expected(1))
    equal(
      'bytes kept of others',
      kept.subarray(bytes).some((byte) => byte !== 0xa5),
      false,
    )
    return { timeoutMs: Number(timeoutNs) / 1e6, tookMs: Math.round(ns / 1e6) }
  },
}

/** Blocks that programs of the GPU ask for by themselves. */
export const blockIoChecks: readonly Check[] = [blockIo, unanswered]
