import { slotCounts } from './lay-out.js'
import type { PlacedLayer, PredictionInput } from './predict.js'

interface FirstPassInput extends PredictionInput {
  readonly readNs: (lengthBytes: number) => number
}

/**
 * Time of a pass that starts with empty slots: layer by layer, a read waits for the drive and a slot, a copy for its
 * read, the GPU's link and a slot, and the computation for its layer and its predecessor. Verification overlaps with the
 * read of the same layer.
 */
export function firstPassNs(layers: readonly PlacedLayer[], input: FirstPassInput): number {
  const { tier, cost, readNs, checkNs, computeNs = 0 } = input
  const counts = slotCounts(input)
  const free = { drive: 0, link: 0, checks: 0, compute: 0 }
  const copySlots = new Slots(counts.copies)
  const driveSlots = new Slots(counts.drive)
  for (const { residence, lengthBytes } of layers) {
    const copyNs = residence === 'vram' ? 0 : (cost.copyNs?.(lengthBytes) ?? 0)
    let readyNs = 0
    if (residence === 'nvme') {
      const startNs = Math.max(free.drive, driveSlots.freeNs)
      free.drive = startNs + readNs(lengthBytes)
      free.checks = Math.max(free.drive, Math.max(free.checks, startNs) + (checkNs?.(lengthBytes) ?? 0))
      readyNs = free.checks
      if (tier === 2) {
        // The drive's writes take their share of the link while the read lasts.
        free.link = Math.max(free.link, startNs) + copyNs
        readyNs = Math.max(readyNs, free.link)
      }
    }
    const isCopied = residence === 'ram' || (residence === 'nvme' && tier === 1)
    if (isCopied) {
      free.link = Math.max(free.link, readyNs, copySlots.freeNs) + copyNs
      readyNs = free.link
      if (residence === 'nvme') driveSlots.use(readyNs)
    }
    free.compute = Math.max(free.compute, readyNs) + computeNs
    if (isCopied) copySlots.use(free.compute)
    else if (residence === 'nvme') driveSlots.use(free.compute)
  }
  return free.compute
}

/** Slots that are used in turn. */
class Slots {
  readonly #releasedNs: number[]
  #next = 0

  constructor(count: number) {
    this.#releasedNs = Array.from({ length: count }, () => 0)
  }

  /** When the next slot is free. */
  get freeNs(): number {
    return this.#releasedNs[this.#next]!
  }

  /** Uses the next slot, until the given time. */
  use(untilNs: number): void {
    this.#releasedNs[this.#next] = untilNs
    this.#next = (this.#next + 1) % this.#releasedNs.length
  }
}
