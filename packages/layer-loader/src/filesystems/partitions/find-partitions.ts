import type { ByteSource } from '../../formats/byte-source.js'
import { isExFat } from '../exfat/exfat.js'
import { isFat } from '../fat/fat32.js'
import type { ReadOptions } from '../file-system.js'
import { Volume } from '../volume.js'
import { readGpt } from './gpt.js'
import { isProtective, invalidPartitionTable, readMbr } from './mbr.js'

/** A partition of a device, for `openFileSystem`. */
export interface Partition {
  /** Linux's number: 3 for nvme0n1p3. */
  readonly index: number
  readonly startBytes: number
  readonly lengthBytes: number
  /** Partition type: for GPT, the GUID in lower case; for MBR, `0x` and two digits. */
  readonly type: string
  /** Partition name; empty if there is none, and always for MBR. */
  readonly name: string
}

/** The partition table of a device. */
export interface PartitionTable {
  readonly kind: 'GPT' | 'MBR' | 'none'
  /** Logical block size that the table uses. */
  readonly blockBytes: number
  /** In the order of `index`. */
  readonly partitions: readonly Partition[]
  /** Why the backup table at the end of the device was used; absent if the primary table is valid. */
  readonly damage?: string
}

/** Options of `findPartitions`. */
export interface FindPartitionsOptions extends ReadOptions {
  /** Logical block size of the device. Default: 512, then 4096; for MBR, 512, since it does not record the size. */
  readonly blockBytes?: number
}

const USUAL_BLOCKS_BYTES = [512, 4096] as const

/**
 * Reads the partition table of a device: GPT or, if there is none, MBR including logical partitions. The table is
 * `none` if a file system uses the whole device.
 * @throws LoaderError (PARTITION_TABLE) for a GPT with both copies damaged, and for an invalid MBR; RangeError for an
 * invalid `blockBytes`.
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
    problems.push(`with ${size}-byte blocks: ${problem}`)
  }
  if (isProtective(first)) throw invalidPartitionTable(source.name, 'both copies of the GPT are damaged', problems)
  // A boot sector has the signature of an MBR, and code in place of its table.
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
