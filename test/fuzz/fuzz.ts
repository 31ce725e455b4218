import { openSync, writeFileSync, writeSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Dice } from './mutator.js'

/** Extent of a run: either a number of seeds or a time. */
export interface FuzzRun {
  /** The first seed. */
  readonly seed: number
  readonly seeds?: number
  readonly seconds?: number
}

export interface FuzzResult {
  readonly cases: number
  /** Number of cases by ending: 'accepted', or the code of an error. */
  readonly endings: Readonly<Record<string, number>>
  /** Distinct failures, each with its first seed and its number of cases. */
  readonly failures: readonly Failure[]
}

export interface Failure {
  readonly seed: number
  readonly problem: string
  readonly cases: number
}

/** A fuzzer. Equal seeds give equal inputs. */
export interface Fuzzer {
  readonly name: string
  readonly run: (run: FuzzRun) => Promise<FuzzResult>
}

/** Runs one input and returns its ending. Throws for an ending that is not allowed. */
export type FuzzCase = (dice: Dice) => string | Promise<string>

/** Limits of one case. They are far above the needs of any input, since the machine may be busy. */
const MAX_CASE_MS = 60_000
const MAX_GROWTH_KIB = 512 * 1024

/** Number of distinct failures after which a run ends. */
const MAX_FAILURES = 20

/** Number of stack lines reported for a failure. */
const STACK_LINES = 6

/** Set by scripts/fuzz.mjs: the extent of the run, and a file for the seed of the current case. */
const asked = process.env['GPUNVME_FUZZ']
const order = asked === undefined ? undefined : (JSON.parse(asked) as FuzzRun & { readonly progress: string })
const progress = order && openSync(order.progress, 'w')

/** Creates a fuzzer from a function that runs one case with the given dice and returns its ending. */
export function fuzzer(name: string, once: FuzzCase): Fuzzer {
  return { name, run: (run) => runCases(name, once, run) }
}

async function runCases(name: string, once: FuzzCase, { seed: first, seeds = Infinity, seconds = Infinity }: FuzzRun) {
  const endMs = performance.now() + seconds * 1000
  const endings: Record<string, number> = {}
  const failures = new Map<string, { seed: number; problem: string; cases: number }>()
  let cases = 0
  for (; cases < seeds && performance.now() < endMs && failures.size < MAX_FAILURES; cases++) {
    const seed = first + cases
    note(seed)
    const beforeKiB = process.resourceUsage().maxRSS
    try {
      const ending = await bounded(once(new Dice(seed, name)))
      endings[ending] = (endings[ending] ?? 0) + 1
      const grownKiB = process.resourceUsage().maxRSS - beforeKiB
      // The first cases load modules and compile.
      if (cases > 0 && grownKiB > MAX_GROWTH_KIB) throw new Error(`took ${Math.round(grownKiB / 1024)} MiB of memory`)
    } catch (error) {
      const { stack = String(error) } = error as Error
      const problem = stack.split('\n').slice(0, STACK_LINES).join('\n')
      const known = failures.get(problem)
      if (known === undefined) failures.set(problem, { seed, problem, cases: 1 })
      else known.cases++
    }
  }
  return { cases, endings, failures: [...failures.values()] }
}

/** Records the seed, which the parent process reads if this process hangs or crashes. */
function note(seed: number): void {
  if (progress !== undefined) writeSync(progress, String(seed).padEnd(16), 0)
}

async function bounded<T>(running: T | Promise<T>): Promise<T> {
  if (!(running instanceof Promise)) return running
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`did not end within ${MAX_CASE_MS / 1000} s`)), MAX_CASE_MS)
  })
  try {
    return await Promise.race([running, late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Returns the code of an error of this project, and rethrows any other error. Recognizes the project's errors by `code`
 * and `category`: sources and builds have different `GpuNvmeError` classes, and errors of Node have no category.
 */
export function codeOf(error: unknown): string {
  if (error instanceof Error && error.constructor !== Error && 'code' in error && 'category' in error)
    return String(error.code)
  throw error
}

/** Runs `use`; returns 'accepted', or the code of the typed error that it threw. */
export async function endingOf(use: () => unknown): Promise<string> {
  try {
    await use()
    return 'accepted'
  } catch (error) {
    return codeOf(error)
  }
}

/**
 * Declares the test of a fuzzer: `seeds` inputs in CI; as many as the time allows in `npm run fuzz`.
 * @param reached endings that must occur in CI, which show that inputs pass the first checks.
 * @param lacks the reason why the fuzzer cannot run on this machine, in the form that scripts/test-summary.mjs parses.
 */
export function testFuzzer(
  { name, run }: Fuzzer,
  seeds: number,
  reached: readonly (string | RegExp)[] = ['accepted'],
  lacks?: string,
): void {
  describe.skipIf(lacks !== undefined)(`fuzz ${name} ${lacks === undefined ? '' : `(skipped: ${lacks})`}`, () => {
    test(
      'every input ends in success or a typed error, in bounded time and memory',
      async () => {
        const result = await run(order ?? { seed: 1, seeds })
        if (order !== undefined) writeFileSync(`${order.progress}.json`, JSON.stringify(result))
        const replay = result.failures.map(({ seed }) => `npm run fuzz -- --only ${name} --seed ${seed} --seeds 1`)
        expect(result.failures.map(({ problem }, index) => `${replay[index]}\n${problem}`).join('\n\n')).toBe('')
        if (order !== undefined) return
        const found = Object.keys(result.endings)
        for (const ending of reached)
          expect(found).toContainEqual(typeof ending === 'string' ? ending : expect.stringMatching(ending))
      },
      order?.seconds === undefined ? 600_000 : order.seconds * 1000 + 600_000,
    )
  })
}
