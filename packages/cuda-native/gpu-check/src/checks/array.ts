import { deviceOutcome, type DeviceArray } from '@gpunvme/cuda-native/cuda'
import { equal, type Check, type Fact } from '../check.js'
import { content } from '../content.js'
import { BLOCK_BYTES, KIB, MIB, type CheckContext } from '../context.js'
import { openStream, pinned } from '../gpu-memory.js'
import { lendDrive } from '../lent-drive.js'
import { ratio } from '../report.js'
import { scoped } from '../scope.js'

const LANES = 32
const WORD_BYTES = 8
/** Opcode of Read in the NVM Command Set. */
const READ = 2
const SHAPE = { queues: 4, queueEntries: 256, queueDepth: 192 }

/** Parameters of a launch of kernels/array_sum.cuh. */
interface SumOrder {
  readonly blocks: number
  readonly threads: number
  /** true: warps sum pages. false: threads sum words. */
  readonly byWarp: boolean
  readonly accesses: number
  /** Distance in words between consecutive accesses. */
  readonly step: number
}

interface SumResult {
  /** Name of each access's outcome. */
  readonly endings: readonly string[]
  /** Modulo 2^64. */
  readonly sum: bigint
  /** Time from the first access to the last outcome, by the GPU's clock. */
  readonly ns: number
}

function sumBy(context: CheckContext, array: DeviceArray, order: SumOrder): Promise<SumResult> {
  const { cuda, kernels } = context
  const { blocks, threads, byWarp, accesses, step } = order
  cuda.loadKernels(kernels.measure)
  return scoped(async (scope) => {
    const outcomes = pinned(context, WORD_BYTES * accesses, scope)
    const results = pinned(context, 3 * WORD_BYTES * blocks * threads, scope)
    const stream = openStream(context, scope)
    // struct ArraySum.
    const words = BigUint64Array.of(
      ...[BigInt(accesses), BigInt(step), byWarp ? 1n : 0n, outcomes.gpuPointer, results.gpuPointer],
    )
    cuda.launch('gpunvme_array_sum', blocks, threads, [array.argument, new Uint8Array(words.buffer)], stream)
    await stream.finished(30e9)
    // Each thread stores its sum, its start and its end.
    const column = (which: number) => new BigUint64Array(results.buffer).filter((_, index) => index % 3 === which)
    const endings = Array.from(new BigUint64Array(outcomes.buffer, 0, accesses), (word) => deviceOutcome(word).ending)
    return { endings, sum: sumOf(column(0)), ns: Number(column(2).sort().at(-1)! - column(1).sort()[0]!) }
  })
}

function sumOf(words: BigUint64Array): bigint {
  return BigInt.asUintN(
    64,
    words.reduce((sum, word) => sum + word, 0n),
  )
}

/** A launch on an empty cache, and the expected sum. */
interface SumCase {
  readonly name: string
  readonly pageBytes: number
  readonly order: SumOrder
  readonly expected: bigint
}

/** Combines two page sizes, few or many threads, and all pages by warp or scattered words by thread. */
function casesOf(driveBytes: number, words: BigUint64Array): SumCase[] {
  const scattered = { byWarp: false, accesses: driveBytes / (2 * KIB), step: 7_368_787 }
  const visited = Array.from({ length: scattered.accesses }, (_, n) => words[(n * scattered.step) % words.length]!)
  const [sumOfPages, sumOfWords] = [sumOf(words), sumOf(BigUint64Array.from(visited))]
  const grids = { few: { blocks: 1, threads: LANES }, many: { blocks: driveBytes / MIB, threads: 8 * LANES } }
  return [4 * KIB, 32 * KIB].flatMap((pageBytes) =>
    Object.entries(grids).flatMap(([grid, shape]) => {
      const step = pageBytes / WORD_BYTES
      const pages = { byWarp: true, accesses: Math.ceil(words.length / step), step }
      return [
        { name: `pages-${pageBytes}-${grid}`, pageBytes, order: { ...shape, ...pages }, expected: sumOfPages },
        { name: `words-${pageBytes}-${grid}`, pageBytes, order: { ...shape, ...scattered }, expected: sumOfWords },
      ]
    }),
  )
}

/** Runs a case, and checks its sum, its outcomes and the statistics of the array. */
async function sumOnce(context: CheckContext, cached: DeviceArray, { name, order, expected }: SumCase) {
  const { endings, sum, ns } = await sumBy(context, cached, order)
  equal(`${name}: outcomes`, [...new Set(endings)], ['success'])
  equal(`${name}: sum`, `${sum}`, `${expected}`)
  const statistics = cached.statistics()
  const { hits, misses, coalesced, evictions, busy } = statistics
  equal(`${name}: hits, misses and coalesced accesses`, hits + misses + coalesced, order.accesses)
  // The first page in a slot evicts no other.
  equal(`${name}: evictions`, evictions, misses - cached.slots)
  equal(`${name}: accesses that obtained no page`, busy, 0)
  return { statistics, ns }
}

const array: Check = {
  id: 'array',
  title: 'GPU threads sum a drive through a cache one eighth its size, by page and by scattered word',
  limitMs: 120_000,
  async run(context) {
    const { kernelDriveBytes } = context.scale
    // The last page is incomplete.
    const media = content(kernelDriveBytes + 5 * BLOCK_BYTES, 16)
    const cacheBytes = kernelDriveBytes / 8
    const { drive, engine, device, allocate } = await lendDrive(context, media, {
      ...{ ...SHAPE, memoryBytes: cacheBytes + 16 * MIB },
      // Threads compete for slots: the last one obtains a slot only after most others have ended.
      timeoutNs: 15e9,
    })
    const { buffer: cache } = allocate(cacheBytes)
    const readsOf = async () => (await drive.simulator.statistics()).ioCommands[READ] ?? 0
    const readsBefore = await readsOf()
    const facts: Record<string, Fact> = {}
    let allMisses = 0
    for (const each of casesOf(kernelDriveBytes, new BigUint64Array(media.buffer))) {
      const { name, pageBytes, order } = each
      const cached = device.array({ cache, pageBytes })
      context.later(() => cached.free())
      const { statistics, ns } = await sumOnce(context, cached, each)
      allMisses += statistics.misses
      const shape = { threads: order.blocks * order.threads, pageBytes, cacheBytes, accesses: order.accesses }
      const conditions = { ...shape, ...SHAPE, controller: 'simulated, one thread', cache: 'pinned host memory' }
      const figure = order.byWarp
        ? { amount: media.length, unit: 'bytes/s', per: 'sum of all words of a drive, each page pinned by a warp' }
        : { amount: order.accesses, unit: 'accesses/s', per: 'words at scattered indices, each read by one thread' }
      const { amount, ...described } = figure
      context.figure({ name: `array-${name}`, value: ratio(amount * 1e9, ns), ...described, conditions })
      facts[name] = { ...shape, ...statistics, ns }
    }
    equal('reads received by the controller, one per miss', (await readsOf()) - readsBefore, allMisses)
    const stale = engine.queueStates().map(({ staleCompletions }) => staleCompletions)
    equal('stale completions', stale, Array(SHAPE.queues).fill(0))
    equal('host errors detected by the controller', await drive.simulator.diagnostics(), [])
    return facts
  },
}

const unanswered: Check = {
  id: 'array-unanswered',
  title: 'Accesses that wait for a lost read end at its time limit, and later accesses end immediately',
  limitMs: 60_000,
  injectsFaults: true,
  async run(context) {
    const pages = 8
    const media = content(pages * BLOCK_BYTES, 17)
    const rules = [{ match: { opcode: READ, lba: [0, 0], times: 1 }, action: { kind: 'drop-completion' } }] as const
    const timeoutNs = 300_000_000
    const { drive, device, allocate } = await lendDrive(context, media, {
      ...{ queues: 1, queueEntries: 16, queueDepth: 15, memoryBytes: 4 * MIB, timeoutNs, faults: { rules } },
    })
    const { buffer: cache } = allocate(4 * KIB)
    const cached = device.array({ cache, pageBytes: BLOCK_BYTES })
    context.later(() => cached.free())
    // A page has as many words as there are threads: all threads read words of one page, then of the next.
    const threads = BLOCK_BYTES / WORD_BYTES
    const accesses = 3 * threads
    const read = await sumBy(context, cached, { blocks: 1, threads, byWarp: false, accesses, step: 1 })
    const ofPage = (page: number) => [...new Set(read.endings.slice(page * threads, (page + 1) * threads))]
    equal('accesses to each page', [ofPage(0), ofPage(1), ofPage(2)], [['timeout'], ['halted'], ['halted']])
    const pinned = await sumBy(context, cached, {
      ...{ blocks: 1, threads, byWarp: true, accesses: pages, step: threads },
    })
    equal('pages pinned afterwards by warps', [...new Set(pinned.endings)], ['halted'])
    equal('sums of failed accesses', [`${read.sum}`, `${pinned.sum}`], ['0', '0'])
    equal('accesses that obtained no page', cached.statistics().busy, 0)
    equal('reads after the lost one', (await drive.simulator.statistics()).ioCommands[READ] ?? 0, 0)
    return { timeoutMs: timeoutNs / 1e6, tookMs: Math.round(read.ns / 1e6), tookAfterwardsMs: pinned.ns / 1e6 }
  },
}

/** GPU programs that read a drive as an array. */
export const arrayChecks: readonly Check[] = [array, unanswered]
