// Code that goes through a declaration against code written by hand that does the same, in one process.

const PER_ROUND = 1_000_000
const ROUNDS = 15
const BATCH = 1000

/**
 * @typedef {{ name: string, value: number, unit: string, goal?: string, met?: boolean, note?: string }} Figure
 * @typedef {(count: number) => unknown} Work
 */

/**
 * What was made last, for work that makes objects: a compiler leaves out those that nobody can see.
 * @type {{ last: unknown }}
 */
export const kept = { last: undefined }

/**
 * In batches, as a driver calls its own functions: a call that loops a million times starts in code of the lowest tier
 * and is replaced in mid-loop, each time anew, and such code boxes numbers.
 * @type {(work: Work, operations: number) => void}
 */
export function inBatches(work, operations) {
  for (let left = operations; left > 0; left -= BATCH) kept.last = work(Math.min(left, BATCH))
}

/** @type {(work: Work, perRound: number) => number} nanoseconds an operation */
function time(work, perRound) {
  const start = process.hrtime.bigint()
  inBatches(work, perRound)
  return Number(process.hrtime.bigint() - start) / perRound
}

/**
 * Rounds of the two alternate, and the best of each counts: what else the machine does only ever adds time.
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
 * What the declared code costs as a multiple of the hand-written: a figure with a goal.
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
    note: `${declaredNs.toFixed(1)} ns against ${handNs.toFixed(1)} ns`,
  }
}

/**
 * What an operation costs, for what is convenient rather than fast: a figure without a goal.
 * @type {(name: string, work: Work, options: { perRound: number, unit?: 'ns' | 'µs', note?: string }) => Figure}
 */
export function cost(name, work, { perRound, unit = 'ns', note }) {
  let ns = Infinity
  for (let round = 0; round < ROUNDS; round++) ns = Math.min(ns, time(work, perRound))
  return { name, value: unit === 'ns' ? ns : ns / 1000, unit, ...(note === undefined ? {} : { note }) }
}

/**
 * The same beside code written by hand: `rival` says which, and what it leaves out.
 * @type {(name: string, declared: Work, byHand: Work, options: { perRound: number, rival: string }) => Figure}
 */
export function costBeside(name, declared, byHand, { perRound, rival }) {
  const { declaredNs, handNs } = best(declared, byHand, perRound)
  const note = `no goal; ${rival}: ${handNs.toFixed(0)} ns, a ratio of ${(declaredNs / handNs).toFixed(1)}×`
  return { name, value: declaredNs, unit: 'ns', note }
}

/** @type {(figures: readonly Figure[]) => void} */
export function print(figures) {
  for (const { name, value, unit, goal, met, note } of figures) {
    const outcome = goal === undefined ? '' : ` (goal: ${goal}${met ? '' : ', MISSED'})`
    process.stdout.write(`${name}: ${value.toFixed(3)} ${unit}${outcome}${note === undefined ? '' : `; ${note}`}\n`)
  }
}
