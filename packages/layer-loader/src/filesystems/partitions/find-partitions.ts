import type { ByteSource } from '../../formats/byte-source.js'
import { isExFat } from '../exfat/exfat.js'
import { isFat } from '../fat/fat32.js'
import type { ReadOptions } from '../file-system.js'
import { Volume } from '../volume.js'
import { readGpt } from './gpt.js'
import { isProtective, PartitionTableError, readMbr } from './mbr.js'

/** A part of a device, as `openFileSystem` takes it. */
export interface Partition {
  /** As Linux counts: nvme0n1p3 is 3. */
  readonly index: number
  readonly startBytes: number
  readonly lengthBytes: number
  /** Of a GPT its type's GUID in lower case, of an MBR `0x` and two digits. */
  readonly type: string
  /** Empty where it has none; partitions of an MBR never have. */
  readonly name: string
}

/** How a device is divided. */
export interface PartitionTable {
  readonly kind: 'GPT' | 'MBR' | 'none'
  /** What the table counts in. */
  readonly blockBytes: number
  /** By their index. */
  readonly partitions: readonly Partition[]
  /** Why the backup at the device's end was read instead of the primary table; absent where that was sound. */
  readonly damage?: string
}

export interface FindPartitionsOptions extends ReadOptions {
  /** The device's logical block; 512 and then 4096 when not given, and 512 for an MBR, which does not say. */
  readonly blockBytes?: number
}

const USUAL_BLOCKS_BYTES = [512, 4096] as const

/**
 * Reads the partition table of a device: a GPT, or where there is none, an MBR with its logical partitions. A device
 * without a table, as one that a file system has to itself, is `none`.
 * @throws PartitionTableError for a GPT of which both copies are damaged, and for an MBR that cannot be; RangeError for
 *   blocks that no device has.
 */
export async function findPartitions(source: ByteSource, options: FindPartitionsOptions = {}): Promise<PartitionTable> {
  const { blockBytes } = options
  if (blockBytes !== undefined && !(Number.isInteger(Math.log2(blockBytes)) && blockBytes >= 512)) {
    throw new RangeError(`blockBytes: expected a power of two of at least 512, got ${blockBytes}`)
  }
  const first = await firstBlock(source, options)
  if (first === undefined) return { kind: 'none', blockBytes: blockBytes ?? 512, partitions: [] }
  const problems: string[] = []
  for (const size of blockBytes === undefined ? USUAL_BLOCKS_BYTES : [blockBytes]) {
    const { table, problem } = await readGpt(source, size, options)
    if (table !== undefined) return table
    problems.push(`with blocks of ${size} bytes: ${problem}`)
  }
  if (isProtective(first)) throw new PartitionTableError(source.name, 'both copies of its GPT are damaged', problems)
  // A boot sector ends as an MBR does, and has code where that has its table.
  const volume = new Volume(source)
  const isFileSystem = (await isFat(volume, options)) || (await isExFat(volume, options))
  const size = blockBytes ?? 512
  if (isFileSystem) return { kind: 'none', blockBytes: size, partitions: [] }
  const partitions = await readMbr(source, first, size, options)
  return { kind: partitions.length > 0 ? 'MBR' : 'none', blockBytes: size, partitions }
}

async function firstBlock(source: ByteSource, { signal }: ReadOptions): Promise<DataView | undefined> {
  if (source.sizeBytes < 512) return undefined
  const bytes = new Uint8Array(512)
  await source.read(0, bytes, signal && { signal })
  return new DataView(bytes.buffer)
}
