import { crc32 } from 'node:zlib'
import { ascii, bytes, inHex, n64, struct, u32 } from '@gpunvme/nvme-spec/layout'
import type { ByteSource } from '../../formats/byte-source.js'
import type { ReadOptions } from '../file-system.js'
import type { Partition, PartitionTable } from './find-partitions.js'

const GPT_HEADER = struct(
  'GPT_HEADER',
  { bytes: 92, doc: 'GPT header', spec: 'vendor UEFI 2.10 §5.3.2' },
  {
    SIGNATURE: ascii(0, 8, 'EFI PART'),
    REVISION: inHex(u32(8, 'Revision, 1.0 is 10000h')),
    HEADER_SIZE: u32(12, 'Size in bytes of the header'),
    HEADER_CRC32: inHex(u32(16, 'CRC32 of the header with this field as zero')),
    MY_LBA: n64(24, 'The LBA that contains this header'),
    FIRST_USABLE_LBA: n64(40, 'The first LBA that a partition may have'),
    LAST_USABLE_LBA: n64(48, 'The last LBA that a partition may have'),
    PARTITION_ENTRY_LBA: n64(72, 'The starting LBA of the entries'),
    NUMBER_OF_ENTRIES: u32(80, 'The number of entries'),
    SIZE_OF_ENTRY: u32(84, 'Bytes of one entry: 128 x 2 ^ n'),
    ENTRIES_CRC32: inHex(u32(88, 'CRC32 of the entries')),
  },
)
const GPT_ENTRY = struct(
  'GPT_ENTRY',
  { bytes: 128, doc: 'GPT partition entry', spec: 'vendor UEFI 2.10 §5.3.3' },
  {
    TYPE_GUID: bytes(0, 16, 'Partition type; zero is an unused entry'),
    STARTING_LBA: n64(32, 'First LBA'),
    ENDING_LBA: n64(40, 'Last LBA'),
    NAME: bytes(56, 72, 'Name in UTF-16, null-terminated'),
  },
)

/** 8192 entries of the usual size; tools create 128. */
const MAX_ENTRIES_BYTES = 1024 * 1024

/** A valid table, or the problem found. */
type Found = { readonly table: PartitionTable; readonly problem?: never } | { readonly table?: never; problem: string }

/** Reads the primary table or, if it is damaged, the backup in the last block. */
export async function readGpt(source: ByteSource, blockBytes: number, options: ReadOptions): Promise<Found> {
  const lastLba = Math.floor(source.sizeBytes / blockBytes) - 1
  if (lastLba < 2) return { problem: 'the device is too short' }
  const primary = await readCopy(source, 1, lastLba, blockBytes, options)
  if (primary.table !== undefined) return primary
  const backup = await readCopy(source, lastLba, lastLba, blockBytes, options)
  if (backup.table !== undefined) return { table: { ...backup.table, damage: primary.problem } }
  return { problem: `${primary.problem}; ${backup.problem}` }
}

async function readCopy(
  source: ByteSource,
  lba: number,
  lastLba: number,
  blockBytes: number,
  { signal }: ReadOptions,
): Promise<Found> {
  const problem = (what: string) => ({ problem: `the header in LBA ${lba} ${what}` })
  const block = new Uint8Array(blockBytes)
  await source.read(lba * blockBytes, block, signal && { signal })
  const header = GPT_HEADER.view(new DataView(block.buffer))
  if (header.SIGNATURE !== 'EFI PART') return problem('lacks the signature EFI PART')
  const headerBytes = header.HEADER_SIZE
  if (headerBytes < GPT_HEADER.bytes || headerBytes > blockBytes)
    return problem(`claims a length of ${headerBytes} bytes`)
  const crc = header.HEADER_CRC32
  header.HEADER_CRC32 = 0
  if (crc32(block.subarray(0, headerBytes)) !== crc) return problem('has a wrong checksum')
  if (header.MY_LBA !== lba) return problem(`claims to be in LBA ${header.MY_LBA}`)
  const { NUMBER_OF_ENTRIES: count, SIZE_OF_ENTRY: entryBytes, PARTITION_ENTRY_LBA: entriesLba } = header
  const sizeIsSound = entryBytes >= GPT_ENTRY.bytes && Number.isInteger(Math.log2(entryBytes))
  if (!sizeIsSound || count * entryBytes > MAX_ENTRIES_BYTES)
    return problem(`has ${count} entries of ${entryBytes} bytes`)
  const entriesEnd = entriesLba * blockBytes + count * entryBytes
  if (entriesLba < 2 || entriesEnd > source.sizeBytes) return problem(`claims entries in LBA ${entriesLba}`)
  const entries = new Uint8Array(count * entryBytes)
  await source.read(entriesLba * blockBytes, entries, signal && { signal })
  if (crc32(entries) !== header.ENTRIES_CRC32) return problem('has entries with a wrong checksum')
  const { FIRST_USABLE_LBA: firstUsable, LAST_USABLE_LBA: lastUsable } = header
  const partitions: Partition[] = []
  for (let index = 0; index < count; index++) {
    const entry = GPT_ENTRY.view(new DataView(entries.buffer), index * entryBytes)
    if (entry.TYPE_GUID.every((byte) => byte === 0)) continue
    const { STARTING_LBA: first, ENDING_LBA: last } = entry
    const isInside = first >= firstUsable && first <= last && last <= Math.min(lastUsable, lastLba)
    if (!isInside) return problem(`has a partition ${index + 1} from LBA ${first} to ${last}`)
    partitions.push({
      index: index + 1,
      startBytes: first * blockBytes,
      lengthBytes: (last - first + 1) * blockBytes,
      type: guid(entry.TYPE_GUID),
      name: new TextDecoder('utf-16le').decode(entry.NAME).replace(/\0.*$/s, ''),
    })
  }
  return { table: { kind: 'GPT', blockBytes, partitions } }
}

/** The first three groups are stored in little-endian order. (UEFI 2.10, Appendix A) */
function guid(bytes: Uint8Array): string {
  const hex = (from: number, to: number) => Buffer.from(bytes.subarray(from, to)).toString('hex')
  const swapped = (from: number, to: number) => Buffer.from(bytes.slice(from, to).reverse()).toString('hex')
  return [swapped(0, 4), swapped(4, 6), swapped(6, 8), hex(8, 10), hex(10, 16)].join('-')
}
