// node --expose-gc --min-semi-space-size=N --max-semi-space-size=N garbage-child.mjs FILE
// Prints the bytes that an operation of each of FILE's `works` allocates, as JSON. Started by garbage.mjs.
import { GCProfiler, getHeapSpaceStatistics } from 'node:v8'
import { pathToFileURL } from 'node:url'
import { inBatches, kept } from './versus.mjs'

const OPERATIONS = 1_000_000
/** Operations until all code is optimized. */
const WARM_UP_ROUNDS = 5
/** Smallest object in V8: two words, one of them its map. */
const SMALLEST_OBJECT_BYTES = 16

/** @typedef {import('./versus.mjs').Work} Work */

/**
 * Allocates one small object per operation, which the meter must detect.
 * @type {(count: number) => void}
 */
function control(count) {
  for (let i = 0; i < count; i++) kept.last = { i }
}

/** @type {(during: () => void) => string[]} the garbage collections during the call, of any kind */
function collections(during) {
  const profiler = new GCProfiler()
  profiler.start()
  during()
  return profiler.stop()?.statistics.map(({ gcType }) => gcType) ?? []
}

/**
 * Returns the growth of all heap spaces that grew, without subtracting spaces that shrank. It includes allocations of
 * this function, which are negligible over a million operations.
 * @type {(name: string, work: Work) => number} bytes per operation
 */
function allocated(name, work) {
  const asked = collections(() => globalThis.gc?.())
  if (asked.length === 0) throw new Error('a requested collection was not detected: is --expose-gc missing?')
  let bytes = 0
  const unasked = collections(() => {
    const before = getHeapSpaceStatistics()
    inBatches(work, OPERATIONS)
    getHeapSpaceStatistics().forEach(({ space_used_size }, i) => {
      bytes += Math.max(0, space_used_size - (before[i]?.space_used_size ?? 0))
    })
  })
  if (unasked.length > 0)
    throw new Error(`${name}: ${unasked.join(', ')} during the measured run removed garbage before it was counted`)
  return bytes / OPERATIONS
}

const file = process.argv[2]
if (file === undefined) throw new Error('expected the path of a bench that exports `works`')
const { works } = /** @type {{ works: Record<string, Work> }} */ (await import(pathToFileURL(file).href))

// All functions run before the first measurement, so that shared code is compiled with the types of all of them.
for (let round = 0; round < WARM_UP_ROUNDS; round++) {
  for (const work of [control, ...Object.values(works)]) inBatches(work, OPERATIONS)
}

const figures = Object.entries(works).map(([name, work]) => {
  const controlBytes = allocated('control', control)
  if (controlBytes < SMALLEST_OBJECT_BYTES)
    throw new Error(`${name}: the meter reads ${controlBytes} bytes for one object per operation`)
  return [name, { bytes: allocated(name, work), controlBytes }]
})
process.stdout.write(JSON.stringify(Object.fromEntries(figures)))
