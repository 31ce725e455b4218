/**
 * Random choices that depend on the seed alone (mulberry32).
 *
 * @param {number} seed
 */
export function randomOf(seed) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let word = Math.imul(state ^ (state >>> 15), state | 1)
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61)
    return (word ^ (word >>> 14)) >>> 0
  }
  const below = (/** @type {number} */ count) => next() % count
  return {
    below,
    onceIn: (/** @type {number} */ count) => below(count) === 0,
    /** @type {<T>(list: readonly T[]) => T} */
    pick: (list) => /** @type {any} */ (list[below(list.length)]),
  }
}
