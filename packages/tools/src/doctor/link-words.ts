import { payloadLimit } from '@gpunvme/nvme-spec/pcie'
import type { LinkShape } from '../machine/pci-function.js'
import { formatRate } from '../terminal/units.js'

/** Returns the shape that both ends of a link support. */
export function narrower(a: LinkShape, b: LinkShape): LinkShape {
  return { gen: Math.min(a.gen, b.gen), lanes: Math.min(a.lanes, b.lanes) }
}

/**
 * Returns the payload limit at an MPS: '7.20 GB/s'; undefined for a link that the calculation does not support, such as
 * Gen6.
 */
export function limitOf({ gen, lanes }: LinkShape, mps: number): string | undefined {
  const known = GENERATIONS.find((each) => each === gen)
  if (known === undefined || ![1, 2, 4, 8, 16].includes(lanes)) return undefined
  return formatRate(payloadLimit({ gen: known, width: lanes, mps }), 1e9)
}

const GENERATIONS = [1, 2, 3, 4, 5] as const
