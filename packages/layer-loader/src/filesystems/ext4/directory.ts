import { crc32c } from '@gpunvme/nvme-spec/crc32c'
import type { ReadOptions } from '../file-system.js'
import type { Volume } from '../volume.js'
import { extentsOf } from './extent-tree.js'
import { inlineParts } from './inline-data.js'
import { INODE_FLAGS, type Inode } from './inode.js'
import type { Ext4Superblock } from './superblock.js'

/** A name and the number of its inode. */
export interface DirectoryName {
  readonly name: Uint8Array
  readonly inode: number
}

/** Bytes of an entry before its name: inode, rec_len, name_len, file_type. */
const ENTRY_HEADER_BYTES = 8

/** Type and length of the pseudo-entry that ends a block with a checksum. */
const TAIL = { FILE_TYPE: 0xde, BYTES: 12 } as const

/**
 * Returns all names of a directory except . and .., in the order of its blocks. A hash tree is read like a list: its
 * interior nodes look like free entries. Linux 6.1 Documentation/filesystems/ext4/directory.rst.
 * @throws FileSystemError
 */
export async function readDirectory(
  volume: Volume,
  superblock: Ext4Superblock,
  inode: Inode,
  options: ReadOptions,
): Promise<readonly DirectoryName[]> {
  if (inode.flags & INODE_FLAGS.ENCRYPT) {
    throw volume.error('ENCRYPTED', `the names of directory ${inode.number} are encrypted`)
  }
  volume.checkDirectoryLength(inode.sizeBytes)
  const names: DirectoryName[] = []
  const parts =
    inode.flags & INODE_FLAGS.INLINE_DATA
      ? inlineDirectory(volume, inode)
      : await blocksOf(volume, superblock, inode, options)
  for (const part of parts) readEntries(volume, inode, part, names)
  return names
}

/** The first 4 bytes are the inode number of the parent; . and .. have no entries. */
function inlineDirectory(volume: Volume, inode: Inode): DataView[] {
  const [first, ...rest] = inlineParts(volume, inode)
  if (first === undefined || first.byteLength < 4) return []
  return [new DataView(first.buffer, first.byteOffset + 4, first.byteLength - 4), ...rest]
}

async function blocksOf(
  volume: Volume,
  superblock: Ext4Superblock,
  inode: Inode,
  options: ReadOptions,
): Promise<DataView[]> {
  const { blockBytes } = superblock
  const { sizeBytes, number, checksumSeed } = inode
  volume.require(
    sizeBytes % blockBytes === 0,
    `i_size of directory ${number}`,
    `a multiple of ${blockBytes}`,
    sizeBytes,
  )
  const { buffer } = await volume.readExtents(await extentsOf(volume, superblock, inode, options), options)
  return Array.from({ length: sizeBytes / blockBytes }, (_, index) => {
    const block = new DataView(buffer, index * blockBytes, blockBytes)
    if (checksumSeed !== undefined) checkBlock(volume, inode, block, index, checksumSeed)
    return block
  })
}

function readEntries(volume: Volume, { number }: Inode, part: DataView, names: DirectoryName[]): void {
  for (let at = 0; at < part.byteLength;) {
    const rest = part.byteLength - at
    volume.require(
      rest >= ENTRY_HEADER_BYTES,
      `an entry of directory ${number}`,
      'an entry inside its block',
      `${rest} bytes`,
    )
    const inode = part.getUint32(at, true)
    const lengthBytes = recordLength(part, at)
    const nameBytes = part.getUint8(at + 6)
    const isSound = lengthBytes % 4 === 0 && lengthBytes >= ENTRY_HEADER_BYTES + nameBytes && lengthBytes <= rest
    volume.require(isSound, `rec_len in directory ${number}`, `a multiple of 4 up to ${rest}`, lengthBytes)
    const name = new Uint8Array(part.buffer, part.byteOffset + at + ENTRY_HEADER_BYTES, nameBytes)
    at += lengthBytes
    if (inode === 0 || isDots(name)) continue
    const nameIsSound = nameBytes > 0 && !name.includes(0) && !name.includes(0x2f)
    volume.require(nameIsSound, `a name in directory ${number}`, 'a name without / and NUL', `${nameBytes} bytes`)
    names.push({ name, inode })
  }
}

/** 65536, the length of an empty block of that size, does not fit 16 bits and has encodings of its own. */
function recordLength(part: DataView, at: number): number {
  const length = part.getUint16(at + 4, true)
  return part.byteLength === 65_536 && (length === 65_535 || length === 0) ? 65_536 : length
}

function isDots(name: Uint8Array): boolean {
  return (name.length === 1 || name.length === 2) && name.every((byte) => byte === 0x2e)
}

/** A block of entries ends with its checksum. In a node of a hash tree, it follows the room for the last entry. */
function checkBlock(volume: Volume, inode: Inode, block: DataView, index: number, seed: number): void {
  const bytes = new Uint8Array(block.buffer, block.byteOffset, block.byteLength)
  const limits = inode.flags & INODE_FLAGS.INDEX ? hashNodeLimits(block, index) : undefined
  const tail = limits === undefined ? block.byteLength - TAIL.BYTES : limits + 8 * block.getUint16(limits, true)
  const what = `the checksum of block ${index} of directory ${inode.number}`
  const tailIsSound =
    tail + 8 <= block.byteLength && (limits !== undefined || block.getUint8(tail + 7) === TAIL.FILE_TYPE)
  volume.require(tailIsSound, what, 'a place for the checksum', `byte ${tail}`)
  let crc
  if (limits === undefined) crc = crc32c(seed, bytes.subarray(0, tail))
  else {
    const count = block.getUint16(limits + 2, true)
    volume.require(limits + 8 * count <= tail, `dx_count of ${what}`, 'up to dx_limit', count)
    // The entries in use, then the tail with a zero checksum.
    const closing = Uint8Array.from([...bytes.subarray(tail, tail + 4), 0, 0, 0, 0])
    crc = crc32c(crc32c(seed, bytes.subarray(0, limits + 8 * count)), closing)
  }
  volume.requireValue(what, crc, block.getUint32(limits === undefined ? tail + 8 : tail + 4, true))
}

/** Returns the offset of dx_limit and dx_count in a node of a hash tree; undefined for a block of entries. */
function hashNodeLimits(block: DataView, index: number): number | undefined {
  // The root has . and .. before its own header of info_length bytes.
  if (index === 0) return 24 + block.getUint8(29)
  const isNode = block.getUint32(0, true) === 0 && recordLength(block, 0) === block.byteLength
  return isNode ? 8 : undefined
}
