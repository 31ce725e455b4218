import type { Namespace } from '@gpunvme/host-driver'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { UsageError, ToolsError } from '../command-line/tools-error.js'
import { formatBytes, parseBytes, plural } from '../terminal/units.js'

/** Area of a namespace, in blocks or bytes as typed. */
export interface RangeFlags {
  readonly lba?: number
  readonly blocks?: Amount
  readonly offset?: number
  readonly length?: Amount
}

/** A number of blocks or bytes, or everything up to the end. */
type Amount = number | 'all'

/** A run of bytes of a namespace, which may start and end inside a block. */
export interface ByteRange {
  readonly offsetBytes: number
  readonly lengthBytes: number
}

/** The part of a namespace that ranges are checked against. */
export type Extent = Pick<Namespace, 'nsid' | 'blocks' | 'blockBytes' | 'capacityBytes'>

/** @param words purpose of `start` and `amount`: 'the first block to read'. */
export function addRangeOptions(command: Command, words: { readonly start: string; readonly amount: string }): void {
  command
    .addOption(amountOption('--lba <n>', `${words.start}, by its number: 2048, 0x800`, count, 'an integer from 0 on'))
    .addOption(amountOption('--blocks <n>', `${words.amount}, in blocks; or 'all' up to the end`, orAll(count), COUNT))
    .addOption(amountOption('--offset <size>', `instead of --lba, in bytes: 1MiB, 0x100000`, bytes, 'a size'))
    .addOption(amountOption('--length <size>', `instead of --blocks, in bytes; or 'all'`, orAll(bytes), SIZE))
}

const COUNT = "an integer of at least 1, or 'all'"
const SIZE = "a size such as '4096', '512MiB' or 0x1000, or 'all'"

function amountOption(
  flags: string,
  description: string,
  parse: (text: string) => Amount | undefined,
  expected: string,
): Option {
  return new Option(flags, description).argParser((text) => {
    const value = parse(text)
    if (value === undefined) throw new InvalidArgumentError(`Expected ${expected}.`)
    return value
  })
}

function count(text: string): number | undefined {
  const value = /^(?:\d+|0x[0-9a-f]+)$/i.test(text) ? Number(text) : NaN
  return Number.isSafeInteger(value) ? value : undefined
}

function bytes(text: string): number | undefined {
  return count(text) ?? parseBytes(text)
}

function orAll(parse: (text: string) => number | undefined): (text: string) => Amount | undefined {
  return (text) => {
    if (text === 'all') return text
    const value = parse(text)
    return value === 0 ? undefined : value
  }
}

/** Rejects contradictory flags before a drive is opened. @throws UsageError */
export function checkRangeFlags({ lba, blocks, offset, length }: RangeFlags): void {
  const inBlocks = lba !== undefined || blocks !== undefined
  const inBytes = offset !== undefined || length !== undefined
  if (!inBlocks || !inBytes) return
  throw new UsageError('Ranges in blocks and in bytes are mutually exclusive', {
    facts: ['--lba and --blocks count blocks, --offset and --length count bytes'],
    next: 'use --lba N --blocks N, or --offset SIZE --length SIZE',
  })
}

/**
 * Returns the range of the flags. It starts at byte 0 by default.
 * @param defaultBytes default length.
 * @throws RangeOutsideError
 */
export function resolveRange(flags: RangeFlags, namespace: Extent, defaultBytes: number): ByteRange {
  const { blockBytes, capacityBytes } = namespace
  const { lba, blocks, offset, length } = flags
  const offsetBytes = offset ?? (lba ?? 0) * blockBytes
  if (blocks === 'all' || length === 'all') {
    // A start at or after the end has no bytes left; one byte is checked, which fails.
    return checkInside(namespace, { offsetBytes, lengthBytes: Math.max(1, capacityBytes - offsetBytes) })
  }
  const lengthBytes = length ?? (blocks === undefined ? defaultBytes : blocks * blockBytes)
  return checkInside(namespace, { offsetBytes, lengthBytes })
}

/** @throws RangeOutsideError for a range that passes the end of the namespace. */
export function checkInside(namespace: Extent, range: ByteRange): ByteRange {
  if (range.offsetBytes + range.lengthBytes > namespace.capacityBytes) throw new RangeOutsideError(namespace, range)
  return range
}

/** Returns the blocks that cover a range. */
export function blocksOf(
  { offsetBytes, lengthBytes }: ByteRange,
  blockBytes: number,
): { slba: number; blocks: number } {
  const slba = Math.floor(offsetBytes / blockBytes)
  return { slba, blocks: Math.ceil((offsetBytes + lengthBytes) / blockBytes) - slba }
}

/** 'LBA 0x800, 1 block of 512 bytes'; 'LBAs 0x800 to 0x8ff, 256 blocks of 512 bytes'. */
export function describeBlocks(range: ByteRange, blockBytes: number): string {
  const { slba, blocks } = blocksOf(range, blockBytes)
  return `${lbas(slba, blocks)}, ${plural(blocks, 'block')} of ${blockBytes} bytes`
}

/** 'LBA 0x800'; 'LBAs 0x800 to 0x8ff'. */
export function lbas(slba: number, blocks: number): string {
  const hex = (lba: number) => `0x${lba.toString(16)}`
  return blocks === 1 ? `LBA ${hex(slba)}` : `LBAs ${hex(slba)} to ${hex(slba + blocks - 1)}`
}

/** Error of a range outside the namespace. Nothing was read or written. */
export class RangeOutsideError extends ToolsError {
  constructor({ nsid, blocks, blockBytes, capacityBytes }: Extent, { offsetBytes, lengthBytes }: ByteRange) {
    super(
      'ERR_GPUNVME_RANGE_OUTSIDE',
      'usage',
      `Bytes ${offsetBytes} to ${offsetBytes + lengthBytes - 1} are not all inside namespace ${nsid}`,
      {
        facts: [
          `it has ${plural(blocks, 'block')} of ${blockBytes} bytes: ${capacityBytes} bytes, ${formatBytes(capacityBytes)}`,
          `its last LBA is 0x${(blocks - 1).toString(16)}`,
        ],
        next: `end at byte ${capacityBytes} at most, or use 'all' for the rest`,
      },
    )
  }
}
