import { NotApplicable, equal, fail, type Check } from '../check.js'
import type { CheckContext } from '../context.js'
import type { DriveAddon } from '../drive-addon.js'
import { pieceOf } from '../memory.js'
import { countsOf, driveWords, queueWords } from '../pattern-drive.js'
import { ratio } from './transfers.js'
import { allSucceeded } from './transfers.js'
import type { Bar, Clock, Plan, QueuePairMemory } from '@gpunvme/nvme-spec/transport'

const KIB = 1024
const PAGE_BYTES = 4 * KIB
const DEPTH = 32
const ENTRIES = 64

/** Where queues lie in a region: registers first, whose doorbells begin at 1000h as those of a controller do. */
const BAR_BYTES = 2 * PAGE_BYTES
const DOORBELLS = PAGE_BYTES
const SQ = BAR_BYTES
const CQ = SQ + PAGE_BYTES
const LISTS = CQ + PAGE_BYTES
const DATA = LISTS + DEPTH * PAGE_BYTES
const DATA_BYTES = DEPTH * PAGE_BYTES
const REGION_BYTES = DATA + DATA_BYTES

const cycles: Check = {
  id: 'cycles',
  title: 'What a submission and an empty poll cost in cycles of the GPU',
  limitMs: 60_000,
  async run(context) {
    const { cuda, scale } = context
    cuda.loadKernels(context.kernels.measure)
    const region = context.allocate(REGION_BYTES)
    const registration = cuda.register(region.address, REGION_BYTES)
    context.later(() => registration.unregister())
    const scratch = cuda.allocDevice(64 * KIB)
    context.later(() => scratch.free())
    const run = cuda.allocPinned(4096)
    context.later(() => run.free())
    const stream = cuda.stream()
    context.later(() => stream.close())
    const words = new BigUint64Array(run.buffer)
    const at = (offset: number) => registration.gpuPointer + BigInt(offset)
    for (const batch of [1, DEPTH]) {
      // struct MeasureRun of kernels/measure.cuh.
      words.set([at(SQ), at(CQ), at(DOORBELLS), at(DATA), scratch.gpuPointer])
      words.set([BigInt(ENTRIES), BigInt(scale.measureRounds), BigInt(batch), 0n, 0n], 5)
      // An entry of the first lap, with its Phase Tag at 0: there is nothing to find.
      new Uint8Array(region.buffer, CQ, PAGE_BYTES).fill(0)
      cuda.launch('gpunvme_measure', 1, 1, [run.gpuPointer], stream)
      await stream.finished(20e9)
      const [submissions, polls] = [Number(words[8]), Number(words[9])]
      if (submissions === 0 || polls === 0) fail('expected cycles, and the kernel counted none')
      const rung = (scale.measureRounds * batch) % ENTRIES
      equal('the tail that was rung last', region.load32(DOORBELLS), rung)
      const conditions = { rounds: scale.measureRounds, batch, queues: 'pinned host memory' }
      context.figure({
        ...{
          name: `submit-cycles-batch-${batch}`,
          unit: 'cycles',
          per: 'one command of 4 KiB, its share of a doorbell',
        },
        ...{ value: ratio(submissions, scale.measureRounds * batch), conditions },
      })
      if (batch === 1)
        context.figure({
          ...{ name: 'empty-poll-cycles', unit: 'cycles', per: 'one poll that finds nothing' },
          ...{ value: ratio(polls, scale.measureRounds), conditions },
        })
    }
    return { rounds: scale.measureRounds }
  },
}

/** Starts a drive that moves no data, on the queue pair in a region. Returns a function that ends it and checks what it saw. */
function startDrive(addon: DriveAddon, address: bigint) {
  const at = (offset: number) => address + BigInt(offset)
  const memory = (offset: number, lengthBytes: number) => ({ iova: at(offset), lengthBytes, address: at(offset) })
  const drive = driveWords({
    ...{ blocks: 2 ** 40, blockBytes: 512, maxBlocks: 8 },
    ...{ data: memory(DATA, DATA_BYTES), prpLists: memory(LISTS, DEPTH * PAGE_BYTES) },
  })
  const doorbells = { tailDoorbell: at(DOORBELLS), headDoorbell: at(DOORBELLS + 4) }
  const queue = queueWords({ sq: at(SQ), cq: at(CQ), ...doorbells, entries: ENTRIES, qid: 1 })
  const handle = addon.start(BigUint64Array.from(queue), BigUint64Array.from(drive), 1)
  return () => {
    const { commands, rings, mistakes, firstMistake } = countsOf(addon.stop(handle))
    equal('mistakes that the drive saw', [mistakes, firstMistake], [0, 'none'])
    return { commands, rings }
  }
}

interface Rate {
  readonly commandsPerSecond: number
  readonly commands: number
  readonly rings: number
}

/** The engine on a drive that moves no data: whole plans of 4 KiB reads. */
async function engineRate(context: CheckContext, addon: DriveAddon): Promise<Rate & { doorbells: number }> {
  const region = context.allocate(REGION_BYTES)
  const registration = context.cuda.register(region.address, REGION_BYTES)
  context.later(() => registration.unregister())
  const piece = (offset: number, bytes: number) => pieceOf(region.buffer, region.address, offset, bytes)
  const bar: Bar = {
    lengthBytes: BAR_BYTES,
    // CSTS: ready, and nothing wrong.
    read32: () => 1,
    read64: () => 1n,
    write32: () => undefined,
    write64: () => undefined,
    window: { address: region.address, lengthBytes: BAR_BYTES, isMemory: true },
  }
  const started = process.hrtime.bigint()
  const clock: Clock = {
    now: () => Number(process.hrtime.bigint() - started),
    idle: () => new Promise((done) => setImmediate(done)),
  }
  const pair: QueuePairMemory = {
    ...{ qid: 1, sqEntries: ENTRIES, sq: piece(SQ, PAGE_BYTES), maxInFlight: DEPTH },
    cq: { cqid: 1, entries: ENTRIES, memory: piece(CQ, PAGE_BYTES), headDoorbell: DOORBELLS + 4, head: 0, phase: 1 },
    ...{ prpLists: piece(LISTS, DEPTH * PAGE_BYTES), prpListBytes: PAGE_BYTES, pageBytes: PAGE_BYTES },
    ...{ sqTailDoorbell: DOORBELLS, sqTail: 0, generations: new Uint16Array(DEPTH) },
  }
  const engine = context.engine({
    name: 'pattern-drive',
    bar,
    clock,
    dma: undefined as never,
    can: undefined as never,
    close: () => Promise.resolve(),
  })
  const stop = startDrive(addon, region.address)
  let counts: ReturnType<typeof stop>
  let rate: number
  let doorbells: number
  try {
    engine.attach([pair])
    const plan = planOf(context.scale.speedCommands)
    const data = piece(DATA, DATA_BYTES)
    allSucceeded('warm-up', await engine.execute(planOf(DEPTH), data))
    const before = engine.statistics.doorbellWrites
    const { startNs, endNs, ...summary } = await engine.execute(plan, data)
    allSucceeded('reads without data', { startNs, endNs, ...summary })
    rate = (plan.commands * 1e9) / (endNs - startNs)
    doorbells = engine.statistics.doorbellWrites - before
    engine.detach()
  } finally {
    counts = stop()
  }
  equal('commands that the drive saw', counts.commands, context.scale.speedCommands + DEPTH)
  return { commandsPerSecond: rate, ...counts, doorbells }
}

function planOf(commands: number): Plan {
  return {
    ...{ operation: 'read', nsid: 1, blockBytes: 512, commands },
    slba: Float64Array.from({ length: commands }, (_, index) => 8 * index),
    blocks: new Uint32Array(commands).fill(8),
    offsetBytes: Float64Array.from({ length: commands }, (_, index) => PAGE_BYTES * (index % DEPTH)),
    queue: new Uint16Array(commands),
  }
}

/** The loop that the engine is compared with, on a drive of its own. */
async function originalRate(context: CheckContext, addon: DriveAddon): Promise<Rate> {
  const { cuda, scale } = context
  cuda.loadKernels(context.kernels.measure)
  const region = context.allocate(REGION_BYTES)
  const registration = cuda.register(region.address, REGION_BYTES)
  context.later(() => registration.unregister())
  const memory = cuda.allocPinned(4096)
  context.later(() => memory.free())
  const stream = cuda.stream()
  context.later(() => stream.close())
  const at = (offset: number) => registration.gpuPointer + BigInt(offset)
  const queueAt = 2048
  // struct OriginalQueue and struct OriginalRun of kernels/original.cuh.
  const queue = new DataView(memory.buffer, queueAt, 64)
  ;[at(SQ), at(CQ), at(DOORBELLS), at(DOORBELLS + 4)].forEach((word, index) =>
    queue.setBigUint64(8 * index, word, true),
  )
  ;[ENTRIES, 0, 0, 1, 0, 1, 512, 0].forEach((word, index) => queue.setUint32(32 + 4 * index, word, true))
  const run = new BigUint64Array(memory.buffer, 0, 8)
  const pages = BigInt(DATA_BYTES / PAGE_BYTES)
  const commands = BigInt(scale.speedCommands)
  const data = region.address + BigInt(DATA)
  run.set([memory.gpuPointer + BigInt(queueAt), data, pages, commands, BigInt(DEPTH), 5_000_000_000n, 0n, 0n])
  const stop = startDrive(addon, region.address)
  let counts: ReturnType<typeof stop>
  try {
    cuda.launch('gpunvme_original_read', 1, 1, [memory.gpuPointer], stream)
    await stream.finished(60e9)
  } finally {
    counts = stop()
  }
  equal('commands that succeeded', Number(run[6]), scale.speedCommands)
  equal('commands that the drive saw', counts.commands, scale.speedCommands)
  return { commandsPerSecond: (scale.speedCommands * 1e9) / Number(run[7]), ...counts }
}

const speed: Check = {
  id: 'speed',
  title: 'Commands per second of the engine and of the loop it is compared with, on the same controller',
  limitMs: 120_000,
  async run(context) {
    const { driveAddon: addon, scale } = context
    if (addon === undefined) throw new NotApplicable('the addon gpunvme_drive was not built')
    const original = await originalRate(context, addon)
    const engine = await engineRate(context, addon)
    const conditions = {
      queueDepth: DEPTH,
      queuePairs: 1,
      commands: scale.speedCommands,
      controller: 'answers at once, one thread',
    }
    const rate = (name: string, value: number) =>
      context.figure({ name, value: Math.round(value), unit: 'commands/s', per: '4 KiB reads', conditions })
    rate('engine-commands-per-second', engine.commandsPerSecond)
    rate('original-commands-per-second', original.commandsPerSecond)
    context.figure({
      ...{ name: 'engine-over-original', unit: 'times', per: 'commands per second of the original loop', conditions },
      value: ratio(engine.commandsPerSecond, original.commandsPerSecond),
    })
    context.figure({
      ...{ name: 'engine-doorbell-writes', unit: 'doorbell writes', per: 'one command', conditions },
      value: ratio(engine.doorbells, scale.speedCommands),
    })
    const counted = {
      engine: addon.count('engine', 4096, DEPTH),
      original: addon.count('original', 4096, DEPTH),
    }
    const all = ({ loads, stores, doorbells }: typeof counted.engine) => loads + stores + doorbells
    for (const which of ['engine', 'original'] as const)
      context.figure({
        ...{ name: `${which}-transactions`, unit: 'PCIe transactions', per: 'one 4 KiB read' },
        value: ratio(all(counted[which]), 4096),
        conditions: {
          ...conditions,
          counted: 'by the same code on a port that counts; polls that find nothing left out',
        },
      })
    return {
      ringsSeen: { engine: engine.rings, original: original.rings },
      transactions: { engine: { ...counted.engine }, original: { ...counted.original } },
    }
  },
}

/** What steps and whole commands cost. */
export const measureChecks: readonly Check[] = [cycles, speed]
