import { bytes, inHex, struct, u16, u32 } from '@gpunvme/nvme-spec/layout'
import { crc32c } from '@gpunvme/nvme-spec/crc32c'
import { crc32cNumber } from './crc32c-number.js'
import type { EntryKind, ReadOptions } from '../file-system.js'
import type { TreeNode } from '../tree.js'
import type { Volume } from '../volume.js'
import { inodeTableOf } from './groups.js'
import type { Ext4Superblock } from './superblock.js'

export const ROOT_INODE = 2

/** The fields of the first 128 bytes that this reader uses. */
const INODE = struct(
  'INODE',
  { bytes: 128, doc: 'Index node', spec: 'Linux 6.1 Documentation/filesystems/ext4/inodes.rst' },
  {
    MODE: inHex(u16(0x0, 'File mode')),
    SIZE_LO: u32(0x4, 'Size in bytes'),
    LINKS_COUNT: u16(0x1a, 'Hard link count'),
    FLAGS: inHex(u32(0x20, 'Inode flags')),
    BLOCK: bytes(0x28, 60, 'Block map, extent tree, or inline data'),
    GENERATION: bytes(0x64, 4, 'File version'),
    SIZE_HIGH: u32(0x6c, 'High 32 bits of the size'),
    CHECKSUM_LO: inHex(u16(0x7c, 'Low 16 bits of the inode checksum')),
  },
)
const EXTRA_ISIZE_OFFSET = 0x80
const CHECKSUM_HI_OFFSET = 0x82

/** i_flags */
export const INODE_FLAGS = {
  ENCRYPT: 0x800,
  INDEX: 0x1000,
  EXTENTS: 0x80000,
  EA_INODE: 0x200000,
  INLINE_DATA: 0x10000000,
} as const

const KINDS: Readonly<Record<number, EntryKind>> = { 0x4: 'directory', 0x8: 'file', 0xa: 'symlink' }

/** A file, directory or link, with the information to find its bytes. */
export interface Inode extends TreeNode {
  readonly number: number
  readonly flags: number
  /** All bytes of the inode: `i_block` and, after the fields, extended attributes. */
  readonly data: DataView
  readonly block: Uint8Array
  /** Offset of extended attributes in `data`. */
  readonly attributesOffsetBytes: number
  /** Seed of checksums of its blocks; absent if the file system has none. */
  readonly checksumSeed?: number
}

/** @throws FileSystemError for an invalid inode number, and for an inode that is damaged or unused. */
export async function readInode(
  volume: Volume,
  superblock: Ext4Superblock,
  number: number,
  options: ReadOptions,
): Promise<Inode> {
  const { inodes, inodesPerGroup, inodeBytes } = superblock
  volume.require(number > 0 && number <= inodes, 'an inode number', `1 to ${inodes}`, number)
  const table = await inodeTableOf(volume, superblock, Math.floor((number - 1) / inodesPerGroup), options)
  const data = await volume.read(table + ((number - 1) % inodesPerGroup) * inodeBytes, inodeBytes, options)
  const view = INODE.view(data)
  const extraBytes = inodeBytes > INODE.bytes ? data.getUint16(EXTRA_ISIZE_OFFSET, true) : 0
  const extraIsSound = extraBytes % 4 === 0 && INODE.bytes + extraBytes <= inodeBytes
  volume.require(extraIsSound, `i_extra_isize of inode ${number}`, 'a multiple of 4 inside it', extraBytes)
  const seed = superblock.checksumSeed
  const checksumSeed = seed === undefined ? undefined : crc32c(crc32cNumber(seed, number), view.GENERATION)
  if (checksumSeed !== undefined) checkInode(volume, number, data, extraBytes, checksumSeed)
  volume.require(view.MODE !== 0 && view.LINKS_COUNT > 0, `inode ${number}`, 'an inode in use', 'a free inode')
  const kind = KINDS[view.MODE >>> 12] ?? 'other'
  const hasHigh = kind === 'file' || superblock.hasLargeDirectories
  const sizeBytes = view.SIZE_LO + (hasHigh ? view.SIZE_HIGH * 2 ** 32 : 0)
  volume.require(Number.isSafeInteger(sizeBytes), `i_size of inode ${number}`, 'below 2^53', sizeBytes)
  return {
    kind,
    sizeBytes,
    number,
    flags: view.FLAGS,
    data,
    block: view.BLOCK,
    attributesOffsetBytes: INODE.bytes + extraBytes,
    ...(checksumSeed !== undefined && { checksumSeed }),
  }
}

/**
 * The checksum covers the inode with zero checksum fields. An inode without room for the upper half has only the lower
 * one.
 */
function checkInode(volume: Volume, number: number, data: DataView, extraBytes: number, seed: number): void {
  const hasHigh = extraBytes >= 4
  const zeroed = new Uint8Array(data.buffer.slice(0))
  zeroed.fill(0, INODE.CHECKSUM_LO.offset, INODE.CHECKSUM_LO.offset + 2)
  if (hasHigh) zeroed.fill(0, CHECKSUM_HI_OFFSET, CHECKSUM_HI_OFFSET + 2)
  const crc = crc32c(seed, zeroed)
  const expected = hasHigh ? crc : crc & 0xffff
  const high = hasHigh ? data.getUint16(CHECKSUM_HI_OFFSET, true) : 0
  const got = INODE.view(data).CHECKSUM_LO + high * 2 ** 16
  volume.requireValue(`i_checksum of inode ${number}`, expected, got)
}
