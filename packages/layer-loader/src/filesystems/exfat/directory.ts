import { bytes, inHex, n64, struct, u16, u32, u8 } from '@gpunvme/nvme-spec/layout'
import type { Volume } from '../volume.js'
import { folded, type UpCase } from './up-case.js'

const ENTRY_BYTES = 32

const VOLUME_LABEL = struct(
  'VOLUME_LABEL',
  { bytes: ENTRY_BYTES, doc: 'Volume Label Directory Entry', spec: 'vendor Microsoft exFAT 1.00 §7.3' },
  { CHARACTER_COUNT: u8(1, 'Characters of the label'), LABEL: bytes(2, 22, 'The label, in UTF-16') },
)
const UP_CASE_TABLE = struct(
  'UP_CASE_TABLE',
  { bytes: ENTRY_BYTES, doc: 'Up-case Table Directory Entry', spec: 'vendor Microsoft exFAT 1.00 §7.2' },
  {
    TABLE_CHECKSUM: inHex(u32(4, 'Checksum of the table')),
    FIRST_CLUSTER: u32(20, 'First cluster'),
    DATA_LENGTH: n64(24, 'Bytes of the table'),
  },
)
const FILE = struct(
  'FILE',
  { bytes: ENTRY_BYTES, doc: 'File Directory Entry', spec: 'vendor Microsoft exFAT 1.00 §7.4' },
  {
    SECONDARY_COUNT: u8(1, 'Secondary entries of this entry'),
    SET_CHECKSUM: inHex(u16(2, 'Checksum of the set without this field')),
    FILE_ATTRIBUTES: inHex(u16(4, 'Bit 4: a directory')),
  },
)
const STREAM_EXTENSION = struct(
  'STREAM_EXTENSION',
  { bytes: ENTRY_BYTES, doc: 'Stream Extension Directory Entry', spec: 'vendor Microsoft exFAT 1.00 §7.6' },
  {
    GENERAL_SECONDARY_FLAGS: inHex(u8(1, 'Bit 0 AllocationPossible, bit 1 NoFatChain')),
    NAME_LENGTH: u8(3, 'Characters of the name'),
    NAME_HASH: inHex(u16(4, 'Hash of the up-cased name')),
    VALID_DATA_LENGTH: n64(8, 'Bytes written so far'),
    FIRST_CLUSTER: u32(20, 'First cluster'),
    DATA_LENGTH: n64(24, 'Bytes of the data'),
  },
)

/** EntryType including the bit InUse. (§6.2.1) */
const TYPE = { END: 0, UP_CASE: 0x82, LABEL: 0x83, FILE: 0x85, STREAM: 0xc0, NAME: 0xc1, IN_USE: 0x80 } as const
/** A secondary entry that may be ignored: TypeImportance is set. */
const BENIGN_SECONDARY = 0xe0
const DIRECTORY = 0x10
const NO_FAT_CHAIN = 2
const NAME_CHARACTERS = 15

/** Location of a file's or table's clusters. */
export interface ExFatStream {
  readonly firstCluster: number
  readonly lengthBytes: number
  /** The clusters are contiguous; the FAT has no chain for them. */
  readonly isContiguous: boolean
}

/** A file or directory, from its entry set. */
export interface ExFatEntry extends ExFatStream {
  readonly name: string
  readonly isDirectory: boolean
  readonly validBytes: number
}

/** Data of the root directory about the volume. */
export interface ExFatVolumeFacts {
  readonly label: string
  readonly upCase: ExFatStream & { readonly checksum: number }
}

/** @throws FileSystemError unless there is exactly one up-case table. */
export function readVolumeFacts(volume: Volume, root: DataView): ExFatVolumeFacts {
  let label = ''
  let upCase: ExFatVolumeFacts['upCase'] | undefined
  for (let at = 0; at < root.byteLength && root.getUint8(at) !== TYPE.END; at += ENTRY_BYTES) {
    if (root.getUint8(at) === TYPE.LABEL) {
      const { CHARACTER_COUNT: count, LABEL: text } = VOLUME_LABEL.view(root, at)
      volume.require(count <= 11, 'CharacterCount of the volume label', 'at most 11', count)
      label = new TextDecoder('utf-16le').decode(text.subarray(0, count * 2))
    }
    if (root.getUint8(at) === TYPE.UP_CASE) {
      const {
        TABLE_CHECKSUM: checksum,
        FIRST_CLUSTER: firstCluster,
        DATA_LENGTH: lengthBytes,
      } = UP_CASE_TABLE.view(root, at)
      upCase = { checksum, firstCluster, lengthBytes, isContiguous: false }
    }
  }
  if (upCase === undefined) throw volume.error('DAMAGED', 'its root directory has no up-case table')
  return { label, upCase }
}

/**
 * Returns all files and directories of a directory.
 * @throws FileSystemError for an incomplete set, or a wrong checksum or name hash.
 */
export function readEntries(volume: Volume, directory: DataView, upCase: UpCase): readonly ExFatEntry[] {
  const found: ExFatEntry[] = []
  for (let at = 0; at < directory.byteLength && directory.getUint8(at) !== TYPE.END;) {
    if (directory.getUint8(at) !== TYPE.FILE) {
      at += ENTRY_BYTES
      continue
    }
    const count = FILE.view(directory, at).SECONDARY_COUNT
    const setBytes = (1 + count) * ENTRY_BYTES
    const isWhole = count >= 2 && setBytes <= directory.byteLength - at
    volume.require(isWhole, `SecondaryCount of the entry at byte ${at}`, 'at least 2, inside the directory', count)
    found.push(readSet(volume, new DataView(directory.buffer, directory.byteOffset + at, setBytes), upCase))
    at += setBytes
  }
  return found
}

function readSet(volume: Volume, set: DataView, upCase: UpCase): ExFatEntry {
  const file = FILE.view(set)
  volume.requireValue('the SetChecksum of a file', setChecksum(set), file.SET_CHECKSUM)
  const secondary = (index: number) => set.getUint8(index * ENTRY_BYTES)
  volume.requireValue('the type of the entry after that of a file', TYPE.STREAM, secondary(1))
  const stream = STREAM_EXTENSION.view(set, ENTRY_BYTES)
  const characters = stream.NAME_LENGTH
  const names = Math.ceil(characters / NAME_CHARACTERS)
  const count = file.SECONDARY_COUNT
  volume.require(names > 0 && 1 + names <= count, 'the NameLength of a file', `1 to ${(count - 1) * 15}`, characters)
  let name = ''
  for (let index = 2; index <= count; index++) {
    const type = secondary(index)
    if (index < 2 + names) {
      volume.requireValue('the type of a file name entry', TYPE.NAME, type)
      for (let character = 0; character < NAME_CHARACTERS && name.length < characters; character++) {
        name += String.fromCharCode(set.getUint16(index * ENTRY_BYTES + 2 + character * 2, true))
      }
    } else if (type < BENIGN_SECONDARY) {
      throw volume.error('UNSUPPORTED', `a file has an entry of type 0x${type.toString(16)}, which must not be ignored`)
    }
  }
  volume.requireValue('the NameHash of a file', nameHash(folded(upCase, name)), stream.NAME_HASH)
  const { DATA_LENGTH: lengthBytes, VALID_DATA_LENGTH: validBytes } = stream
  const lengthIsSound = Number.isSafeInteger(lengthBytes) && validBytes <= lengthBytes
  volume.require(lengthIsSound, 'the ValidDataLength of a file', `up to ${lengthBytes}`, validBytes)
  return {
    name,
    isDirectory: (file.FILE_ATTRIBUTES & DIRECTORY) !== 0,
    firstCluster: stream.FIRST_CLUSTER,
    lengthBytes,
    validBytes,
    isContiguous: (stream.GENERAL_SECONDARY_FLAGS & NO_FAT_CHAIN) !== 0,
  }
}

/** §6.3.3 */
function setChecksum(set: DataView): number {
  let sum = 0
  for (let at = 0; at < set.byteLength; at++) {
    if (at !== 2 && at !== 3) sum = (((sum & 1) << 15) + (sum >>> 1) + set.getUint8(at)) & 0xffff
  }
  return sum
}

/** §7.6.4 */
function nameHash(upCased: string): number {
  let hash = 0
  for (let index = 0; index < upCased.length; index++) {
    const unit = upCased.charCodeAt(index)
    for (const byte of [unit & 0xff, unit >>> 8]) hash = (((hash & 1) << 15) + (hash >>> 1) + byte) & 0xffff
  }
  return hash
}
