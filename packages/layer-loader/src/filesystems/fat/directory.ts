import { bytes, inHex, struct, u16, u32, u8 } from '@gpunvme/nvme-spec/layout'

const SHORT_ENTRY = struct(
  'SHORT_ENTRY',
  { bytes: 32, doc: 'Directory entry', spec: 'vendor Microsoft FAT32 1.03 FAT Directory Structure' },
  {
    NAME: bytes(0, 11, 'Short name: 8 characters and 3, padded with spaces'),
    ATTR: inHex(u8(11, 'File attributes')),
    NTRES: inHex(u8(12, 'Windows NT: bit 3, lower-case name; bit 4, lower-case extension')),
    FSTCLUSHI: u16(20, "High word of this entry's first cluster number"),
    FSTCLUSLO: u16(26, "Low word of this entry's first cluster number"),
    FILESIZE: u32(28, "This file's size in bytes"),
  },
)
const LONG_ENTRY = struct(
  'LONG_ENTRY',
  { bytes: 32, doc: 'Long directory entry', spec: 'vendor Microsoft FAT32 1.03 FAT Long Directory Entries' },
  {
    ORD: u8(0, 'Order of this entry, from 1; the last one is stored first and has bit 6 set'),
    CHKSUM: u8(13, 'Checksum of the short name that follows this set'),
  },
)

/** Offsets of the 13 two-byte characters in a long entry. */
const CHARACTER_OFFSETS = [1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30] as const
const LAST_LONG_ENTRY = 0x40
const MAX_LONG_ENTRIES = 20
const ATTR = { VOLUME_ID: 0x08, DIRECTORY: 0x10, LONG_NAME: 0x0f, LONG_NAME_MASK: 0x3f } as const
const FREE = 0xe5
const END = 0x00
/** Replacement for a character of an unknown code page. */
const UNKNOWN = '\ufffd'
const LOWER = { NAME: 0x08, EXTENSION: 0x10 } as const

/** A file or directory, from its entry. */
export interface FatEntry {
  /** The long name if there is one, else the short name. */
  readonly name: string
  /** Names that find the entry: the long name, and the short name if it is ASCII. */
  readonly names: readonly string[]
  readonly isDirectory: boolean
  readonly firstCluster: number
  /** 0 for a directory. */
  readonly sizeBytes: number
}

/**
 * Returns all entries of a directory except . and .. Long names that do not belong to the following short name are
 * ignored, as the specification requires: a system without long names has changed the directory.
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

/** Returns the label of the volume from the root directory. */
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

/** A long name while its entries are read, last part first. */
interface LongName {
  readonly text: string
  readonly checksum: number
  /** Order of the latest entry; 1 is the beginning of the name. */
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
    if (order < 1 || order > MAX_LONG_ENTRIES) return undefined
    // A name that does not fill its last entry ends with a NUL.
    return { text: part.replace(/\0.*$/s, ''), checksum, order }
  }
  if (long?.order !== order + 1 || long.checksum !== checksum) return undefined
  return { text: part + long.text, checksum, order }
}

/** Returns the long name if it is complete and belongs to this short name. */
function longNameOf(long: LongName | undefined, shortName: Uint8Array): string | undefined {
  if (long?.order !== 1) return undefined
  const sum = shortName.reduce((sum, byte) => (((sum & 1) << 7) + (sum >>> 1) + byte) & 0xff, 0)
  const isName = long.text !== '' && !/[\0/]/.test(long.text) && long.text !== '.' && long.text !== '..'
  return sum === long.checksum && isName ? long.text : undefined
}

function shortNameOf(name: Uint8Array, flags: number): string {
  // 05h stands for a first byte of e5h, which would mark a free entry.
  const text = asText(name[0] === 0x05 ? name.with(0, FREE) : name)
  const [base, extension] = [text.slice(0, 8).trimEnd(), text.slice(8).trimEnd()]
  const shown = [
    flags & LOWER.NAME ? base.toLowerCase() : base,
    flags & LOWER.EXTENSION ? extension.toLowerCase() : extension,
  ]
  return shown.filter((part) => part !== '').join('.')
}

/** Characters above 7fh depend on a code page that no field names. */
function asText(name: Uint8Array): string {
  return Array.from(name, (byte) => (byte < 0x80 ? String.fromCharCode(byte) : UNKNOWN)).join('')
}
