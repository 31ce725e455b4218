// node --expose-gc --min-semi-space-size=N --max-semi-space-size=N garbage-child.mjs FILE
// Prints what an operation of each of FILE's `works` allocates, as JSON. Started by garbage.mjs.
import { GCProfiler, getHeapSpaceStatistics } from 'node:v8'
import { pathToFileURL } from 'node:url'
import { inBatches, kept } from './versus.mjs'

const OPERATIONS = 1_000_000
/** Until everything is compiled as well as it ever will be. */
const WARM_UP_ROUNDS = 5
/** No object of V8 is smaller: two words, of which one is its map. */
const SMALLEST_OBJECT_BYTES = 16

/** @typedef {import('./versus.mjs').Work} Work */

/**
 * Allocates one small object an operation: what the meter has to see.
 * @type {(count: number) => void}
 */
function control(count) {
  for (let i = 0; i < count; i++) kept.last = { i }
}

/** @type {(during: () => void) => string[]} the collections that happened during it, of whatever kind */
function collections(during) {
  const profiler = new GCProfiler()
  profiler.start()
  during()
  return profiler.stop()?.statistics.map(({ gcType }) => gcType) ?? []
}

/**
 * The growth of every part of the heap that grew: where one shrank all the same, nothing is set off against it. What
 * this function itself allocates is counted too; over a million operations it is nothing.
 * @type {(name: string, work: Work) => number} bytes an operation
 */
function allocated(name, work) {
  const asked = collections(() => globalThis.gc?.())
  if (asked.length === 0) throw new Error('a collection that was asked for went unseen: is --expose-gc missing?')
  let bytes = 0
  const unasked = collections(() => {
    const before = getHeapSpaceStatistics()
    inBatches(work, OPERATIONS)
    getHeapSpaceStatistics().forEach(({ space_used_size }, i) => {
      bytes += Math.max(0, space_used_size - (before[i]?.space_used_size ?? 0))
    })
  })
  if (unasked.length > 0)
    throw new Error(`${name}: ${unasked.join(', ')} during the measured run took garbage away before it was counted`)
  return bytes / OPERATIONS
}

const file = process.argv[2]
if (file === undefined) throw new Error('expected the path of a bench that exports `works`')
const { works } = /** @type {{ works: Record<string, Work> }} */ (await import(pathToFileURL(file).href))

// All of them before any is measured, so that each is compiled with what the others taught the code that they share.
for (let round = 0; round < WARM_UP_ROUNDS; round++) {
  for (const work of [control, ...Object.values(works)]) inBatches(work, OPERATIONS)
}

const figures = Object.entries(works).map(([name, work]) => {
  const controlBytes = allocated('control', control)
  if (controlBytes < SMALLEST_OBJECT_BYTES)
    throw new Error(`${name}: the meter sees ${controlBytes} bytes where one object an operation is allocated`)
  return [name, { bytes: allocated(name, work), controlBytes }]
})
process.stdout.write(JSON.stringify(Object.fromEntries(figures)))
