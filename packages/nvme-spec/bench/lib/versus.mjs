// Code that goes through a declaration against code written by hand that does the same, in one process.

const PER_ROUND = 1_000_000
const ROUNDS = 15

/**
 * @typedef {{ name: string, value: number, unit: string, goal?: string, met?: boolean, note?: string }} Figure
 * @typedef {(count: number) => unknown} Work
 */

/** @type {(work: Work, perRound: number) => number} nanoseconds an operation */
function time(work, perRound) {
  const start = process.hrtime.bigint()
  work(perRound)
  return Number(process.hrtime.bigint() - start) / perRound
}

/**
 * Rounds of the two alternate, and the best of each counts: what else the machine does only ever adds time.
 * @type {(name: string, declared: Work, byHand: Work, options?: { perRound?: number, limit?: number }) => Figure}
 */
export function versus(name, declared, byHand, { perRound = PER_ROUND, limit = 1.3 } = {}) {
  let declaredNs = Infinity
  let handNs = Infinity
  for (let round = 0; round < ROUNDS; round++) {
    declaredNs = Math.min(declaredNs, time(declared, perRound))
    handNs = Math.min(handNs, time(byHand, perRound))
  }
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
 * Bytes of heap an operation leaves behind. It wants --expose-gc: without it a collection in the middle would hide what
 * it collected.
 * @type {(name: string, work: Work) => Figure}
 */
export function garbage(name, work) {
  work(PER_ROUND)
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  work(PER_ROUND)
  const bytes = Math.max(0, process.memoryUsage().heapUsed - before) / PER_ROUND
  return { name, value: bytes, unit: 'bytes an operation', goal: '< 1', met: bytes < 1 }
}

/** @type {(figures: readonly Figure[]) => void} */
export function print(figures) {
  for (const { name, value, unit, goal, met, note } of figures) {
    const outcome = goal === undefined ? '' : ` (goal: ${goal}${met ? '' : ', MISSED'})`
    process.stdout.write(`${name}: ${value.toFixed(3)} ${unit}${outcome}${note === undefined ? '' : `; ${note}`}\n`)
  }
}
