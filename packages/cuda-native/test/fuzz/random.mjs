import { randomStream } from '@gpunvme/nvme-spec/faults'

/**
 * Random choices, determined by the seed alone.
 *
 * @param {number} seed
 */
export function randomOf(seed) {
  const next = randomStream(seed, 'addon-arguments')
  const below = (/** @type {number} */ count) => Math.floor(next() * count)
  return {
    below,
    onceIn: (/** @type {number} */ count) => below(count) === 0,
    /** @type {<T>(list: readonly T[]) => T} */
    pick: (list) => /** @type {any} */ (list[below(list.length)]),
  }
}
