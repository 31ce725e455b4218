import { LoaderError } from '../../error.js'
import { inHex, struct, u32, u8 } from '@gpunvme/nvme-spec/layout'
import type { ByteSource } from '../../formats/byte-source.js'
import type { ReadOptions } from '../file-system.js'
import type { Partition } from './find-partitions.js'

const MBR_ENTRY = struct(
  'MBR_ENTRY',
  { bytes: 16, doc: 'Legacy MBR partition record', spec: 'vendor UEFI 2.10 §5.2.1' },
  {
    BOOT_INDICATOR: inHex(u8(0, '80h: boot partition; otherwise 0')),
    OS_TYPE: inHex(u8(4, 'Type of partition; 0 is an unused record')),
    STARTING_LBA: u32(8, 'First LBA; for a logical partition, relative to its own table'),
    SIZE_IN_LBA: u32(12, 'Count of blocks'),
  },
)
const RECORDS_OFFSET = 446
const SIGNATURE_OFFSET = 510
const PROTECTIVE = 0xee
const EXTENDED: ReadonlySet<number> = new Set([0x05, 0x0f, 0x85])

/** Number of the first logical partition, however many primary ones exist. */
const FIRST_LOGICAL = 5

/** More than Linux reads. A longer chain of tables has a cycle. */
const MAX_LOGICAL = 256

interface MbrRecord {
  readonly bootIndicator: number
  readonly type: number
  readonly startLba: number
  readonly blocks: number
}

/** Returns whether an MBR only protects a GPT. */
export function isProtective(block: DataView): boolean {
  return recordsOf(block)?.some(({ type }) => type === PROTECTIVE) ?? false
}

/**
 * Reads primary and logical partitions; returns none if the block is not an MBR. @throws LoaderError (PARTITION_TABLE)
 */
export async function readMbr(
  source: ByteSource,
  block: DataView,
  blockBytes: number,
  options: ReadOptions,
): Promise<readonly Partition[]> {
  const records = recordsOf(block)
  // Other values are boot code: of an MBR without partitions, or of a boot sector.
  if (records?.some(({ bootIndicator }) => (bootIndicator & 0x7f) !== 0) !== false) return []
  const found: Partition[] = []
  for (const [index, record] of records.entries()) {
    if (record.type === 0) continue
    found.push(partition(source, index + 1, record.startLba, record, blockBytes))
    if (EXTENDED.has(record.type))
      for (const each of await readLogical(source, record, blockBytes, options)) found.push(each)
  }
  return found.sort((one, other) => one.index - other.index)
}

/** Each logical partition has its own table, whose second record points to the next one. */
async function readLogical(
  source: ByteSource,
  extended: MbrRecord,
  blockBytes: number,
  { signal }: ReadOptions,
): Promise<Partition[]> {
  const found: Partition[] = []
  let tableLba = extended.startLba
  for (let tables = 0; ; tables++) {
    if (tables === MAX_LOGICAL)
      throw invalidPartitionTable(source.name, 'the chain of logical partitions has no end', [])
    const bytes = new Uint8Array(512)
    await source.read(tableLba * blockBytes, bytes, signal && { signal })
    const [logical, next] = recordsOf(new DataView(bytes.buffer)) ?? []
    if (logical !== undefined && logical.type !== 0) {
      found.push(partition(source, FIRST_LOGICAL + found.length, tableLba + logical.startLba, logical, blockBytes))
    }
    if (next === undefined || !EXTENDED.has(next.type)) return found
    if (next.startLba >= extended.blocks) {
      throw invalidPartitionTable(source.name, 'a logical partition is outside the extended partition', [
        `its table is in block ${next.startLba} of ${extended.blocks}`,
      ])
    }
    tableLba = extended.startLba + next.startLba
  }
}

/** Returns the four records of a table; undefined if the signature is missing. */
function recordsOf(block: DataView): readonly MbrRecord[] | undefined {
  if (block.getUint16(SIGNATURE_OFFSET, true) !== 0xaa55) return undefined
  return [0, 1, 2, 3].map((index) => {
    const record = MBR_ENTRY.view(block, RECORDS_OFFSET + index * MBR_ENTRY.bytes)
    const { BOOT_INDICATOR: bootIndicator, OS_TYPE: type, STARTING_LBA: startLba, SIZE_IN_LBA: blocks } = record
    return { bootIndicator, type, startLba, blocks }
  })
}

function partition(
  source: ByteSource,
  index: number,
  startLba: number,
  { type, blocks }: MbrRecord,
  blockBytes: number,
): Partition {
  const startBytes = startLba * blockBytes
  const lengthBytes = blocks * blockBytes
  if (startLba === 0 || blocks === 0 || startBytes + lengthBytes > source.sizeBytes) {
    const facts = [`partition ${index}: ${blocks} blocks from ${startLba}`, `the device has ${source.sizeBytes} bytes`]
    throw invalidPartitionTable(source.name, 'a partition extends past the device', facts)
  }
  return { index, startBytes, lengthBytes, type: `0x${type.toString(16).padStart(2, '0')}`, name: '' }
}

/** Error of a damaged partition table. */
export function invalidPartitionTable(sourceName: string, headline: string, facts: readonly string[]): LoaderError {
  const next =
    'check it with sfdisk --verify or gdisk; if the location of the file system is known, pass it as `partition`'
  return new LoaderError(
    'ERR_GPUNVME_PARTITION_TABLE',
    'verification',
    `Cannot read the partition table of ${sourceName}: ${headline}`,
    { facts, next },
  )
}
