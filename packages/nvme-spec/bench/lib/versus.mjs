// Compares code that uses a declaration with equivalent hand-written code, in one process.

const PER_ROUND = 1_000_000
const ROUNDS = 15
const BATCH = 1000

/**
 * @typedef {{ name: string, value: number, unit: string, goal?: string, met?: boolean, note?: string }} Figure
 * @typedef {(count: number) => unknown} Work
 */

/**
 * Holds the last object, since a compiler omits unused objects.
 * @type {{ last: unknown }}
 */
export const kept = { last: undefined }

/**
 * Runs a work in batches, as a driver calls its functions: a call that loops a million times starts in the lowest tier
 * and is replaced inside the loop, and such code boxes numbers.
 * @type {(work: Work, operations: number) => void}
 */
export function inBatches(work, operations) {
  for (let left = operations; left > 0; left -= BATCH) kept.last = work(Math.min(left, BATCH))
}

/** @type {(work: Work, perRound: number) => number} nanoseconds per operation */
function time(work, perRound) {
  const start = process.hrtime.bigint()
  inBatches(work, perRound)
  return Number(process.hrtime.bigint() - start) / perRound
}

/**
 * Alternates rounds of the two and returns the best of each: other load on the machine only adds time.
 * @type {(declared: Work, byHand: Work, perRound: number) => { declaredNs: number, handNs: number }}
 */
function best(declared, byHand, perRound) {
  let declaredNs = Infinity
  let handNs = Infinity
  for (let round = 0; round < ROUNDS; round++) {
    declaredNs = Math.min(declaredNs, time(declared, perRound))
    handNs = Math.min(handNs, time(byHand, perRound))
  }
  return { declaredNs, handNs }
}

/**
 * Returns the cost of the declared code as a multiple of the hand-written code: a figure with a goal.
 * @type {(name: string, declared: Work, byHand: Work, options?: { perRound?: number, limit?: number }) => Figure}
 */
export function versus(name, declared, byHand, { perRound = PER_ROUND, limit = 1.3 } = {}) {
  const { declaredNs, handNs } = best(declared, byHand, perRound)
  const ratio = declaredNs / handNs
  return {
    name,
    value: ratio,
    unit: '×',
    goal: `≤ ${limit}`,
    met: ratio <= limit,
    note: `${declaredNs.toFixed(1)} ns and ${handNs.toFixed(1)} ns`,
  }
}

/**
 * Returns the cost of an operation: a figure without a goal.
 * @type {(name: string, work: Work, options: { perRound: number, unit?: 'ns' | 'µs', note?: string }) => Figure}
 */
export function cost(name, work, { perRound, unit = 'ns', note }) {
  let ns = Infinity
  for (let round = 0; round < ROUNDS; round++) ns = Math.min(ns, time(work, perRound))
  return { name, value: unit === 'ns' ? ns : ns / 1000, unit, ...(note === undefined ? {} : { note }) }
}

/**
 * Returns the cost of an operation, with that of hand-written code in the note; `rival` describes that code.
 * @type {(name: string, declared: Work, byHand: Work, options: { perRound: number, rival: string }) => Figure}
 */
export function costBeside(name, declared, byHand, { perRound, rival }) {
  const { declaredNs, handNs } = best(declared, byHand, perRound)
  const note = `no goal; ${rival}: ${handNs.toFixed(0)} ns (${(declaredNs / handNs).toFixed(1)} ×)`
  return { name, value: declaredNs, unit: 'ns', note }
}

/** @type {(figures: readonly Figure[]) => void} */
export function print(figures) {
  for (const { name, value, unit, goal, met, note } of figures) {
    const outcome = goal === undefined ? '' : ` (goal: ${goal}${met ? '' : ', MISSED'})`
    process.stdout.write(`${name}: ${value.toFixed(3)} ${unit}${outcome}${note === undefined ? '' : `; ${note}`}\n`)
  }
}
