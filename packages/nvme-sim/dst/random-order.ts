import type { Dice } from './dice.js'
import {
  MAX_DATA_BYTES,
  type FusedOrder,
  type IoOperation,
  type IoOrder,
  type NamespaceShape,
  type SglFlaw,
  type SglShape,
} from './scenario.js'

const OPERATIONS: readonly (readonly [number, IoOperation])[] = [
  [8, 'read'],
  [8, 'write'],
  [2, 'compare'],
  [2, 'copy'],
  [1, 'write-zeroes'],
  [0.4, 'write-uncorrectable'],
  [1, 'deallocate'],
  [1, 'verify'],
  [1, 'flush'],
]

const SGL_FLAWS: readonly SglFlaw[] = ['sgl-type', 'sgl-short', 'sgl-wild', 'sgl-beyond-last', 'sgl-not-last']

/** Maximum blocks of a fused operation, and of its SLBA, so that fused operations conflict. */
const FUSED_BLOCKS = 4

export function randomOrder(dice: Dice, namespaces: readonly NamespaceShape[], salt: number): IoOrder {
  const { nsid, blockBytes, blocks: capacity } = dice.pick(namespaces)
  const max = Math.min(capacity, (MAX_DATA_BYTES / blockBytes) * dice.pick([0.0625, 0.25, 0.25, 1]))
  const blocks = dice.int(1, Math.max(1, max))
  const operation = dice.weighted(OPERATIONS)
  const sources = operation === 'copy' ? randomSources(dice, capacity, blocks) : undefined
  const total = sources ? sources.reduce((sum, source) => sum + source.blocks, 0) : blocks
  const hasData = !['write-zeroes', 'write-uncorrectable', 'verify', 'flush'].includes(operation)
  const sgl = hasData && dice.chance(0.35) ? randomSgl(dice) : undefined
  const order: IoOrder = {
    operation,
    nsid,
    slba: dice.int(0, capacity - total),
    blocks: total,
    ...(sources && { sources }),
    offsetBytes: randomOffset(dice, sgl),
    salt,
    ...(['write', 'copy', 'write-zeroes'].includes(operation) && dice.chance(0.15) && { fua: true }),
    ...(sgl && { sgl }),
  }
  // A Compare with random data would nearly always fail, so most compare with the expected contents.
  if (operation === 'compare' && dice.chance(0.7)) return { ...order, salt: 0 }
  if (!dice.chance(0.04)) return order
  return { ...order, flaw: dice.pick(['lba', 'nsid', 'opcode', ...(sgl ? SGL_FLAWS : PRP_FLAWS)]) }
}

const PRP_FLAWS = ['prp-offset', 'prp-wild'] as const

/** Returns one to three ranges of at most `blocks` blocks in total. They may overlap each other and the destination. */
function randomSources(dice: Dice, capacity: number, blocks: number): { slba: number; blocks: number }[] {
  const ranges = dice.int(1, 3)
  return Array.from({ length: ranges }, () => {
    const count = dice.int(1, Math.max(1, Math.floor(blocks / ranges)))
    return { slba: dice.int(0, capacity - count), blocks: count }
  })
}

function randomOffset(dice: Dice, sgl: SglShape | undefined): number {
  if (dice.chance(0.5)) return 0
  return sgl ? dice.int(0, 4095) : dice.int(0, 1023) * 4
}

function randomSgl(dice: Dice): SglShape {
  return {
    form: dice.pick(['block', 'segment', 'chain']),
    cuts: Array.from({ length: dice.int(0, 4) }, () => dice.int(1, 999)),
    isReversed: dice.chance(0.3),
    hasBuckets: dice.chance(0.3),
    isLonger: dice.chance(0.2),
    describesMetadata: dice.chance(0.5),
  }
}

/** Returns a fused operation that replaces the expected content of some of the first blocks, like a lock update. */
export function randomFused(dice: Dice, namespaces: readonly NamespaceShape[], salt: number): FusedOrder {
  const { nsid, blocks: capacity } = dice.pick(namespaces)
  const blocks = dice.int(1, Math.min(FUSED_BLOCKS, capacity))
  const slba = dice.int(0, Math.min(FUSED_BLOCKS, capacity - blocks))
  const common = { nsid, slba, blocks }
  const compare: IoOrder = {
    ...common,
    operation: 'compare',
    offsetBytes: randomOffset(dice, undefined),
    salt: dice.chance(0.15) ? salt : 0,
  }
  const write: IoOrder = { ...common, operation: 'write', offsetBytes: randomOffset(dice, undefined), salt }
  if (!dice.chance(0.15)) return { compare, write }
  const flaw = dice.pick(['ranges', 'no-second', 'no-first'] as const)
  const other = slba > 0 ? slba - 1 : slba + 1
  return { compare, write: flaw === 'ranges' ? { ...write, slba: other } : write, flaw }
}
