import { isObject, show } from '../check-options.js'
import { DriverError } from '../error.js'

/** A range of logical blocks of a namespace. */
export interface BlockRange {
  /** First LBA. */
  readonly slba: number
  /** Number of blocks, at least 1. */
  readonly blocks: number
}

/** Checks for a list of ranges. @throws TypeError */
export function checkIsList(name: string, ranges: unknown): void {
  if (Array.isArray(ranges) && ranges.every(isObject)) return
  throw new TypeError(`${name}: expected a list of { slba, blocks }, got ${show(ranges)}`)
}

/**
 * Checks a range.
 * @throws TypeError if it does not have numbers; RangeError for a range of no blocks, or with anything but safe
 *   non-negative integers; DriverError (LBA_RANGE) if it exceeds the namespace.
 */
export function checkRange(name: string, nsid: number, available: number, { slba, blocks }: BlockRange): void {
  const isSound = Number.isSafeInteger(slba) && slba >= 0 && Number.isSafeInteger(blocks) && blocks >= 1
  if (!isSound) {
    const Wrong = typeof slba === 'number' && typeof blocks === 'number' ? RangeError : TypeError
    throw new Wrong(`${name}: expected an LBA and at least 1 block, got SLBA ${show(slba)}, ${show(blocks)} blocks`)
  }
  if (slba + blocks <= available) return
  const headline = `${rangeInWords({ slba, blocks })} are not all in namespace ${nsid}`
  const end =
    available === 0
      ? `namespace ${nsid} has no blocks, like an inactive one`
      : `the last LBA of namespace ${nsid} is 0x${(available - 1).toString(16)} (NSZE - 1)`
  throw new DriverError('ERR_GPUNVME_LBA_RANGE', 'usage', headline, { facts: [end] })
}

/** Splits a range into ranges of at most `most` blocks, in order. */
export function* splitRange({ slba, blocks }: BlockRange, max: number): Generator<BlockRange, void, undefined> {
  for (let done = 0; done < blocks; done += max) yield { slba: slba + done, blocks: Math.min(max, blocks - done) }
}

/**
 * Groups ranges for commands: at most `limits.ranges` of at most `limits.rangeBlocks` each, with at most
 * `limits.blocks` in total.
 */
export function* groupRanges(
  ranges: Iterable<BlockRange>,
  limits: { readonly ranges: number; readonly rangeBlocks: number; readonly blocks: number },
): Generator<readonly BlockRange[], void, undefined> {
  let group: BlockRange[] = []
  let room = limits.blocks
  for (const range of ranges) {
    for (let { slba, blocks: left } = range; left > 0;) {
      const blocks = Math.min(left, limits.rangeBlocks, room)
      group.push({ slba, blocks })
      slba += blocks
      left -= blocks
      room -= blocks
      if (group.length < limits.ranges && room > 0) continue
      yield group
      group = []
      room = limits.blocks
    }
  }
  if (group.length > 0) yield group
}

/** Returns the total number of blocks of ranges. */
export function totalBlocks(ranges: readonly BlockRange[]): number {
  return ranges.reduce((sum, { blocks }) => sum + blocks, 0)
}

/** Returns a range as text: 'LBAs 0x10 to 0x1f'. */
export function rangeInWords({ slba, blocks }: BlockRange): string {
  return `LBAs 0x${slba.toString(16)} to 0x${(slba + blocks - 1).toString(16)}`
}

export function overlaps(one: BlockRange, other: BlockRange): boolean {
  return one.slba < other.slba + other.blocks && other.slba < one.slba + one.blocks
}
