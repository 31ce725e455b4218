import { bytes, inHex, struct, u16, u32, u8 } from '@gpunvme/nvme-spec/layout'

const SHORT_ENTRY = struct(
  'SHORT_ENTRY',
  { bytes: 32, doc: 'Directory entry', spec: 'vendor Microsoft FAT32 1.03 FAT Directory Structure' },
  {
    NAME: bytes(0, 11, 'Short name: 8 characters and 3, padded with spaces'),
    ATTR: inHex(u8(11, 'File attributes')),
    NTRES: inHex(u8(12, 'Windows NT: bit 3, the name is lower case; bit 4, the extension is')),
    FSTCLUSHI: u16(20, "High word of this entry's first cluster number"),
    FSTCLUSLO: u16(26, "Low word of this entry's first cluster number"),
    FILESIZE: u32(28, "This file's size in bytes"),
  },
)
const LONG_ENTRY = struct(
  'LONG_ENTRY',
  { bytes: 32, doc: 'Long directory entry', spec: 'vendor Microsoft FAT32 1.03 FAT Long Directory Entries' },
  {
    ORD: u8(0, 'Order of this entry, from 1; the last, which comes first, has bit 6 set'),
    CHKSUM: u8(13, 'Checksum of the name in the short entry at the end of this set'),
  },
)

/** Where a long entry has its 13 characters of two bytes. */
const CHARACTER_OFFSETS = [1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30] as const
const LAST_LONG_ENTRY = 0x40
const MOST_LONG_ENTRIES = 20
const ATTR = { VOLUME_ID: 0x08, DIRECTORY: 0x10, LONG_NAME: 0x0f, LONG_NAME_MASK: 0x3f } as const
const FREE = 0xe5
const END = 0x00
/** What stands for a character of a code page that nobody names. */
const UNKNOWN = '\ufffd'
const LOWER = { NAME: 0x08, EXTENSION: 0x10 } as const

/** A file or directory as its entry has it. */
export interface FatEntry {
  /** The long name, where there is one. */
  readonly name: string
  /** What it is found by: its long name, and its short one where that is ASCII. */
  readonly names: readonly string[]
  readonly isDirectory: boolean
  readonly firstCluster: number
  /** 0 of a directory. */
  readonly sizeBytes: number
}

/**
 * All entries of a directory but . and .. Long names that do not belong to the short one behind them are left out, as
 * the specification says: a system that does not know them has changed the directory.
 */
export function readEntries(directory: DataView): readonly FatEntry[] {
  const found: FatEntry[] = []
  let long: LongName | undefined
  const entry = SHORT_ENTRY.view(directory)
  for (let index = 0; index < directory.byteLength / SHORT_ENTRY.bytes; index++) {
    const name = entry.at(index).NAME
    if (name[0] === END) break
    if (name[0] === FREE) long = undefined
    else if ((entry.ATTR & ATTR.LONG_NAME_MASK) === ATTR.LONG_NAME) long = goOn(long, directory, index)
    else {
      const shortName = shortNameOf(name, entry.NTRES)
      const isName = !(entry.ATTR & ATTR.VOLUME_ID) && shortName !== '.' && shortName !== '..'
      const isDirectory = (entry.ATTR & ATTR.DIRECTORY) !== 0
      if (isName) {
        const longName = longNameOf(long, name)
        found.push({
          name: longName ?? shortName,
          names: [...(longName === undefined ? [] : [longName]), ...(shortName.includes(UNKNOWN) ? [] : [shortName])],
          isDirectory,
          firstCluster: ((entry.FSTCLUSHI << 16) >>> 0) + entry.FSTCLUSLO,
          sizeBytes: isDirectory ? 0 : entry.FILESIZE,
        })
      }
      long = undefined
    }
  }
  return found
}

/** The volume's label, as the root directory has it. */
export function labelOf(root: DataView): string | undefined {
  const entry = SHORT_ENTRY.view(root)
  for (let index = 0; index < root.byteLength / SHORT_ENTRY.bytes; index++) {
    const name = entry.at(index).NAME
    if (name[0] === END) return undefined
    const isLong = (entry.ATTR & ATTR.LONG_NAME_MASK) === ATTR.LONG_NAME
    if (name[0] !== FREE && !isLong && entry.ATTR & ATTR.VOLUME_ID) return asText(name).trimEnd()
  }
  return undefined
}

/** A long name as its entries are met: the last part first. */
interface LongName {
  readonly text: string
  readonly checksum: number
  /** The order of the entry that was met last; 1 is the beginning of the name. */
  readonly order: number
}

function goOn(long: LongName | undefined, directory: DataView, index: number): LongName | undefined {
  const entry = LONG_ENTRY.view(directory).at(index)
  const order = entry.ORD & ~LAST_LONG_ENTRY
  const checksum = entry.CHKSUM
  const part = CHARACTER_OFFSETS.map((offset) =>
    String.fromCharCode(directory.getUint16(index * LONG_ENTRY.bytes + offset, true)),
  ).join('')
  if (entry.ORD & LAST_LONG_ENTRY) {
    if (order < 1 || order > MOST_LONG_ENTRIES) return undefined
    // The name ends in a NUL, where it does not fill its last entry.
    return { text: part.replace(/\0.*$/s, ''), checksum, order }
  }
  if (long?.order !== order + 1 || long.checksum !== checksum) return undefined
  return { text: part + long.text, checksum, order }
}

/** The long name that was read, if it is whole and belongs to this short one. */
function longNameOf(long: LongName | undefined, shortName: Uint8Array): string | undefined {
  if (long?.order !== 1) return undefined
  const sum = shortName.reduce((sum, byte) => (((sum & 1) << 7) + (sum >>> 1) + byte) & 0xff, 0)
  const isName = long.text !== '' && !/[\0/]/.test(long.text) && long.text !== '.' && long.text !== '..'
  return sum === long.checksum && isName ? long.text : undefined
}

function shortNameOf(name: Uint8Array, flags: number): string {
  // 05h stands for a first byte of e5h, which would mean a free entry.
  const text = asText(name[0] === 0x05 ? name.with(0, FREE) : name)
  const [base, extension] = [text.slice(0, 8).trimEnd(), text.slice(8).trimEnd()]
  const shown = [
    flags & LOWER.NAME ? base.toLowerCase() : base,
    flags & LOWER.EXTENSION ? extension.toLowerCase() : extension,
  ]
  return shown.filter((part) => part !== '').join('.')
}

/** What is above 7fh depends on a code page, which no field names. */
function asText(name: Uint8Array): string {
  return Array.from(name, (byte) => (byte < 0x80 ? String.fromCharCode(byte) : UNKNOWN)).join('')
}
