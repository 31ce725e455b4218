import { payloadLimit } from '@gpunvme/nvme-spec/pcie'
import type { LinkShape } from '../machine/pci-function.js'
import { formatRate } from '../terminal/units.js'

/** 'Gen4 x4'. */
export function shapeOf({ gen, lanes }: LinkShape): string {
  return `Gen${gen} x${lanes}`
}

/** What both ends of a link can at most. */
export function narrower(a: LinkShape, b: LinkShape): LinkShape {
  return { gen: Math.min(a.gen, b.gen), lanes: Math.min(a.lanes, b.lanes) }
}

/** '7.20 GB/s': the payload limit at an MPS; undefined of a link that the arithmetic does not know, as Gen6. */
export function limitOf({ gen, lanes }: LinkShape, mps: number): string | undefined {
  const known = GENERATIONS.find((each) => each === gen)
  if (known === undefined || ![1, 2, 4, 8, 16].includes(lanes)) return undefined
  return formatRate(payloadLimit({ gen: known, width: lanes, mps }), 1e9)
}

const GENERATIONS = [1, 2, 3, 4, 5] as const
