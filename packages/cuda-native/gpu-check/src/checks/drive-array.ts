import { deviceOutcome } from '@gpunvme/cuda-native/cuda'
import { equal, type Check, type Fact } from '../check.js'
import { KIB, type CheckContext } from '../context.js'
import { onGpu, openStream } from '../gpu-memory.js'
import { pieceOf } from '../memory.js'
import { DRIVE_SEED } from '../pattern-drive.js'
import { scoped, type Scope } from '../scope.js'
import { LIMIT_NS, ServedQueues, structure } from '../served-queues.js'
import { ratio } from '../report.js'

const BLOCK_BYTES = 4 * KIB
const WAYS = 16
const WORD_BYTES = 8
/** Bytes of a `gnv_page_set`. */
const SET_BYTES = 64
const PASSES = 3
/** Number of copies from host memory to the GPU, started together. */
const COPIES = 8

/** Sums an array on a drive that a kernel serves, one page per access. Returns the bytes per second. */
async function sumArray(context: CheckContext, scope: Scope, pageBytes: number): Promise<number> {
  const { lengthBytes, cacheBytes, queues, blocks, threads } = context.scale.array
  const maxBlocks = pageBytes / BLOCK_BYTES
  const accesses = lengthBytes / pageBytes
  const slots = cacheBytes / pageBytes
  const sets = slots / WAYS
  const shape = { server: 'kernel', queues, blockBytes: BLOCK_BYTES, maxBlocks, dataBytes: cacheBytes } as const
  const served = await ServedQueues.open(context, scope, { ...shape, timeoutNs: 5e9, movesData: true })
  const cache = onGpu(context, sets * SET_BYTES + 2 * slots * WORD_BYTES, scope)
  const results = onGpu(context, (accesses + 3 * blocks * threads) * WORD_BYTES, scope)
  const stream = openStream(context, scope)
  await cache.fill(0)
  const words = cache.gpuPointer + BigInt(sets * SET_BYTES)
  // gnv_array: version 1, drive 0, the whole extent, and its cache.
  const array = [
    ...[1n, ...served.device, 0n, BigInt(lengthBytes), ...served.buffer],
    ...[cache.gpuPointer, words, words + BigInt(slots * WORD_BYTES)],
    BigInt(Math.log2(pageBytes)) | (BigInt(Math.log2(BLOCK_BYTES)) << 32n),
    BigInt(Math.log2(sets)) | (BigInt(WAYS) << 32n),
  ]
  // ArraySum: each page once, by warp.
  const ofThreads = results.gpuPointer + BigInt(accesses * WORD_BYTES)
  const run = [BigInt(accesses), BigInt(pageBytes / WORD_BYTES), 1n, results.gpuPointer, ofThreads]
  const { drive } = await served.serve(1, async () => {
    context.cuda.launch('gpunvme_array_sum', blocks, threads, [structure(array), structure(run)], stream)
    context.cuda.launch('gpunvme_drive_end', 1, 1, [served.totals], stream)
    await stream.finished(LIMIT_NS)
  })
  const what = `an array with pages of ${pageBytes} bytes`
  equal(`${what}: host errors detected by the drive`, [drive.mistakes, drive.firstMistake], [0, 'none'])
  equal(`${what}: reads, one per page`, drive.commands, accesses)
  const bytes = await results.read()
  const endings = new Set(new BigUint64Array(bytes.buffer, 0, accesses))
  equal(`${what}: outcomes`, [...new Set(Array.from(endings, (word) => deviceOutcome(word).ending))], ['success'])
  // An ArrayThread per thread: sum, start and end.
  const column = (which: number) =>
    new BigUint64Array(bytes.buffer, accesses * WORD_BYTES).filter((_, index) => index % 3 === which)
  const sum = BigInt.asUintN(
    64,
    column(0).reduce((all, each) => all + each, 0n),
  )
  equal(`${what}: sum`, `${sum}`, `${await expectedSum(context, scope)}`)
  return (lengthBytes * 1e9) / Number(column(2).sort().at(-1)! - column(1).sort()[0]!)
}

/** Computes the sum of the array's words with a kernel that reads no drive. */
async function expectedSum(context: CheckContext, scope: Scope): Promise<bigint> {
  const sum = onGpu(context, WORD_BYTES, scope)
  const stream = openStream(context, scope)
  await sum.fill(0)
  const words = BigInt(context.scale.array.lengthBytes / WORD_BYTES)
  context.cuda.launch('gpunvme_sum_pattern', 64, 256, [DRIVE_SEED, words, sum.gpuPointer], stream)
  await stream.finished(LIMIT_NS)
  return new BigUint64Array((await sum.read()).buffer)[0]!
}

/** Measures the bytes per second of copies from locked host memory to the GPU: the throughput of the link. */
async function copyRate(context: CheckContext): Promise<number> {
  const { copyBytes } = context.scale.array
  const region = context.allocate(copyBytes)
  const memory = pieceOf(region.buffer, region.address, 0, copyBytes)
  return scoped(async (scope) => {
    const copies = context.cuda.copyEngine()
    scope.later(() => copies.close())
    const target = copies.alloc(copyBytes)
    scope.later(() => target.free())
    scope.later(() => copies.forget(memory))
    await copies.copy(memory, 0, target, 0, copyBytes)
    const startNs = process.hrtime.bigint()
    // All are begun before the first ends: the end of each would be noticed up to a millisecond late.
    await Promise.all(Array.from({ length: COPIES }, () => copies.copy(memory, 0, target, 0, copyBytes)))
    return (COPIES * copyBytes * 1e9) / Number(process.hrtime.bigint() - startNs)
  })
}

const arrayRate: Check = {
  id: 'drive-array-rate',
  title: 'GPU threads sum a gnv::Array through its page cache, on a drive that a kernel serves, and the sum is correct',
  limitMs: 120_000,
  async run(context) {
    const { lengthBytes, cacheBytes, copyBytes, ...shape } = context.scale.array
    const facts: Record<string, Fact> = {}
    const copied = await copyRate(context)
    const figure = (name: string, value: number, unit: string, per: string, conditions: Record<string, Fact>) =>
      context.figure({ name, value, unit, per, conditions })
    figure('copy-to-gpu-rate', ratio(copied, 1e9), 'GB/s', 'copies from locked host memory to the GPU', {
      ...{ copyBytes, copies: COPIES },
    })
    facts['copyGBps'] = ratio(copied, 1e9)
    for (const pageBytes of [BLOCK_BYTES, 16 * BLOCK_BYTES]) {
      let rate = 0
      for (let pass = 0; pass < PASSES; pass++) {
        rate = Math.max(rate, await scoped((scope) => sumArray(context, scope, pageBytes)))
      }
      const conditions = {
        ...{ lengthBytes, cacheBytes, pageBytes, ...shape },
        ...{ controller: 'served by a kernel, which generates the data', memory: 'all in GPU memory' },
        of: `the fastest of ${PASSES} passes`,
      }
      const per = 'all words of an array, each page pinned by a warp'
      figure(`drive-array-rate-${pageBytes}`, ratio(rate, 1e9), 'GB/s', per, conditions)
      const over = `rate of the array divided by the rate of copies from host memory to the GPU`
      figure(`drive-array-over-copy-${pageBytes}`, ratio(rate, copied), 'times', over, conditions)
      facts[`pagesOf${pageBytes}GBps`] = ratio(rate, 1e9)
    }
    return facts
  },
}

/** Arrays on drives that a kernel serves. */
export const driveArrayChecks: readonly Check[] = [arrayRate]
