import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { inHex, struct, u32, u8 } from '@gpunvme/nvme-spec/layout'
import type { ByteSource } from '../../formats/byte-source.js'
import type { ReadOptions } from '../file-system.js'
import type { Partition } from './find-partitions.js'

const MBR_ENTRY = struct(
  'MBR_ENTRY',
  { bytes: 16, doc: 'Legacy MBR partition record', spec: 'vendor UEFI 2.10 §5.2.1' },
  {
    BOOT_INDICATOR: inHex(u8(0, '80h: the partition that is booted; 0 otherwise')),
    OS_TYPE: inHex(u8(4, 'Type of partition; 0 is an unused record')),
    STARTING_LBA: u32(8, 'First LBA; of a logical partition, from its own table on'),
    SIZE_IN_LBA: u32(12, 'Count of blocks'),
  },
)
const RECORDS_OFFSET = 446
const SIGNATURE_OFFSET = 510
const PROTECTIVE = 0xee
const EXTENDED: ReadonlySet<number> = new Set([0x05, 0x0f, 0x85])

/** The first logical partition, however many primary ones there are. */
const FIRST_LOGICAL = 5

/** More than Linux reads; a chain of tables that is longer goes in a circle. */
const MAX_LOGICAL = 256

interface MbrRecord {
  readonly bootIndicator: number
  readonly type: number
  readonly startLba: number
  readonly blocks: number
}

/** Whether an MBR is there to keep others away from a GPT. */
export function isProtective(block: DataView): boolean {
  return recordsOf(block)?.some(({ type }) => type === PROTECTIVE) ?? false
}

/** Primary and logical partitions; none where this block is no MBR. @throws PartitionTableError */
export async function readMbr(
  source: ByteSource,
  block: DataView,
  blockBytes: number,
  options: ReadOptions,
): Promise<readonly Partition[]> {
  const records = recordsOf(block)
  // What has other values here is boot code, of an MBR that nobody divided or of something else.
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

/** Each logical partition has a table of its own, whose second record leads to the next. */
async function readLogical(
  source: ByteSource,
  extended: MbrRecord,
  blockBytes: number,
  { signal }: ReadOptions,
): Promise<Partition[]> {
  const found: Partition[] = []
  let tableLba = extended.startLba
  for (let tables = 0; ; tables++) {
    if (tables === MAX_LOGICAL) throw new PartitionTableError(source.name, 'its logical partitions have no end', [])
    const bytes = new Uint8Array(512)
    await source.read(tableLba * blockBytes, bytes, signal && { signal })
    const [logical, next] = recordsOf(new DataView(bytes.buffer)) ?? []
    if (logical !== undefined && logical.type !== 0) {
      found.push(partition(source, FIRST_LOGICAL + found.length, tableLba + logical.startLba, logical, blockBytes))
    }
    if (next === undefined || !EXTENDED.has(next.type)) return found
    if (next.startLba >= extended.blocks) {
      throw new PartitionTableError(source.name, 'a logical partition is outside of the extended one', [
        `its table is in block ${next.startLba} of ${extended.blocks}`,
      ])
    }
    tableLba = extended.startLba + next.startLba
  }
}

/** The four records of a table; undefined where its signature is missing. */
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
    throw new PartitionTableError(source.name, 'a partition is not inside the device', facts)
  }
  return { index, startBytes, lengthBytes, type: `0x${type.toString(16).padStart(2, '0')}`, name: '' }
}

/** A device has a partition table that is damaged. */
export class PartitionTableError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_PARTITION_TABLE'
  readonly category = 'verification'
  readonly sourceName: string

  constructor(sourceName: string, headline: string, facts: readonly string[]) {
    const next = 'look at it with sfdisk --verify or gdisk; where you know where the file system is, give its place'
    super(`Cannot read the partition table of ${sourceName}: ${headline}`, { facts, next })
    this.sourceName = sourceName
  }
}
