import { bytes, inHex, struct, u16, u32, u8 } from '@gpunvme/nvme-spec/layout'
import { crc32c } from '@gpunvme/nvme-spec/crc32c'
import type { ReadOptions } from '../file-system.js'
import type { Volume } from '../volume.js'
import { checkFeatures, COMPAT, INCOMPAT, RO_COMPAT } from './features.js'

/** Offset from the start of the file system, for any block size. */
export const SUPERBLOCK_OFFSET_BYTES = 1024

/** s_magic of ext2, ext3 and ext4. */
export const EXT4_MAGIC = 0xef53

/** The fields that this reader uses. Little-endian; block counts are split in halves. */
export const EXT4_SUPERBLOCK = struct(
  'EXT4_SUPERBLOCK',
  { bytes: 1024, doc: 'The super block', spec: 'Linux 6.1 Documentation/filesystems/ext4/super.rst' },
  {
    INODES_COUNT: u32(0x0, 'Total inode count'),
    BLOCKS_COUNT_LO: u32(0x4, 'Total block count'),
    FIRST_DATA_BLOCK: u32(0x14, 'First data block'),
    LOG_BLOCK_SIZE: u32(0x18, 'Block size is 2 ^ (10 + LOG_BLOCK_SIZE)'),
    BLOCKS_PER_GROUP: u32(0x20, 'Blocks per group'),
    INODES_PER_GROUP: u32(0x28, 'Inodes per group'),
    MAGIC: inHex(u16(0x38, 'Magic signature')),
    STATE: inHex(u16(0x3a, 'File system state')),
    REV_LEVEL: u32(0x4c, 'Revision level'),
    INODE_SIZE: u16(0x58, 'Size of inode structure, in bytes'),
    FEATURE_COMPAT: inHex(u32(0x5c, 'Compatible feature set')),
    FEATURE_INCOMPAT: inHex(u32(0x60, 'Incompatible feature set')),
    FEATURE_RO_COMPAT: inHex(u32(0x64, 'Readonly-compatible feature set')),
    UUID: bytes(0x68, 16, '128-bit UUID for volume'),
    VOLUME_NAME: bytes(0x78, 16, 'Volume label'),
    LAST_ORPHAN: u32(0xe8, 'Start of list of orphaned inodes to delete'),
    DESC_SIZE: u16(0xfe, 'Size of group descriptors, in bytes, if 64BIT is set'),
    FIRST_META_BG: u32(0x104, 'First metablock block group, if META_BG is set'),
    BLOCKS_COUNT_HI: u32(0x150, 'High 32 bits of the block count'),
    CHECKSUM_TYPE: u8(0x175, 'Metadata checksum algorithm type; 1 is crc32c'),
    BACKUP_BG_0: u32(0x24c, 'First block group with a superblock backup, if SPARSE_SUPER2 is set'),
    BACKUP_BG_1: u32(0x250, 'Second block group with a superblock backup'),
    CHECKSUM_SEED: inHex(u32(0x270, 'Checksum seed, if CSUM_SEED is set')),
    CHECKSUM: inHex(u32(0x3fc, 'Superblock checksum')),
  },
)

/** Bits of STATE. */
const STATE = { CLEANLY_UNMOUNTED: 1, ERRORS: 2, ORPHANS: 4 } as const

/** Checked content of a superblock. */
export interface Ext4Superblock {
  readonly blockBytes: number
  readonly blocks: number
  readonly firstDataBlock: number
  readonly blocksPerGroup: number
  readonly inodes: number
  readonly inodesPerGroup: number
  readonly inodeBytes: number
  readonly descriptorBytes: number
  readonly firstMetaGroup: number
  /** Groups that have a copy of the superblock. */
  readonly backups: 'every group' | 'powers of 3, 5 and 7' | readonly number[]
  /** If false, only regular files use the upper half of the length. */
  readonly hasLargeDirectories: boolean
  readonly uuid: Uint8Array
  readonly label: string
  /** Seed of all metadata checksums; absent if the file system has none. */
  readonly checksumSeed?: number
}

/**
 * Reads the primary superblock. A damaged one is left to fsck, which uses the copies.
 * @throws FileSystemError for a damaged superblock, a file system that was not unmounted, or unsupported features.
 */
export async function readSuperblock(volume: Volume, options: ReadOptions): Promise<Ext4Superblock> {
  const data = await volume.read(SUPERBLOCK_OFFSET_BYTES, EXT4_SUPERBLOCK.bytes, options)
  const view = EXT4_SUPERBLOCK.view(data)
  const incompat = view.FEATURE_INCOMPAT
  const readOnly = view.FEATURE_RO_COMPAT
  const hasChecksums = (readOnly & RO_COMPAT.METADATA_CSUM) !== 0
  // Checked before all other fields: a flipped bit must not look like an unknown feature.
  if (hasChecksums) {
    volume.require(view.CHECKSUM_TYPE === 1, 's_checksum_type', '1 (crc32c)', view.CHECKSUM_TYPE)
    const crc = crc32c(~0, new Uint8Array(data.buffer, 0, EXT4_SUPERBLOCK.CHECKSUM.offset))
    volume.requireValue('s_checksum', crc, view.CHECKSUM)
  }
  if (view.REV_LEVEL !== 1) throw volume.error('UNSUPPORTED', `it is ext2 revision ${view.REV_LEVEL}`)
  checkFeatures(volume, incompat)
  checkState(volume, incompat, readOnly, view.STATE, view.LAST_ORPHAN)

  const logBlock = view.LOG_BLOCK_SIZE
  volume.require(logBlock <= 6, 's_log_block_size', '0 to 6', logBlock)
  const blockBytes = 1024 << logBlock
  const has64Bit = (incompat & INCOMPAT['64BIT']) !== 0
  const blocks = view.BLOCKS_COUNT_LO + (has64Bit ? view.BLOCKS_COUNT_HI * 2 ** 32 : 0)
  const max = Math.floor(volume.sizeBytes / blockBytes)
  volume.require(blocks > 0 && blocks <= max, 's_blocks_count', `1 to ${max}, the length of the device`, blocks)
  const firstDataBlock = view.FIRST_DATA_BLOCK
  volume.require(firstDataBlock <= 1, 's_first_data_block', '0 or 1', firstDataBlock)
  const blocksPerGroup = view.BLOCKS_PER_GROUP
  volume.require(blocksPerGroup > 0, 's_blocks_per_group', 'at least 1', blocksPerGroup)
  const inodesPerGroup = view.INODES_PER_GROUP
  const groups = Math.ceil((blocks - firstDataBlock) / blocksPerGroup)
  volume.require(inodesPerGroup > 0, 's_inodes_per_group', 'at least 1', inodesPerGroup)
  const inodes = view.INODES_COUNT
  volume.require(inodes <= groups * inodesPerGroup, 's_inodes_count', `at most ${groups * inodesPerGroup}`, inodes)
  const inodeBytes = view.INODE_SIZE
  const inodeIsSound = inodeBytes >= 128 && inodeBytes <= blockBytes && isPowerOfTwo(inodeBytes)
  volume.require(inodeIsSound, 's_inode_size', `a power of two from 128 to ${blockBytes}`, inodeBytes)
  const descriptorBytes = has64Bit ? view.DESC_SIZE : 32
  const descriptorIsSound = descriptorBytes >= 32 && descriptorBytes <= 1024 && isPowerOfTwo(descriptorBytes)
  volume.require(descriptorIsSound, 's_desc_size', 'a power of two from 32 to 1024', descriptorBytes)
  return {
    blockBytes,
    blocks,
    firstDataBlock,
    blocksPerGroup,
    inodes,
    inodesPerGroup,
    inodeBytes,
    descriptorBytes,
    firstMetaGroup: incompat & INCOMPAT.META_BG ? view.FIRST_META_BG : Infinity,
    backups: backupsOf(view),
    hasLargeDirectories: (incompat & INCOMPAT.LARGEDIR) !== 0,
    uuid: view.UUID,
    label: new TextDecoder().decode(view.VOLUME_NAME).replace(/\0.*$/s, ''),
    ...(hasChecksums && {
      checksumSeed: incompat & INCOMPAT.CSUM_SEED ? view.CHECKSUM_SEED : crc32c(~0, view.UUID),
    }),
  }
}

/** With an unreplayed journal or pending deletions, the other structures are not up to date. */
function checkState(volume: Volume, incompat: number, readOnly: number, state: number, lastOrphan: number): void {
  const unclean = (why: string) => volume.error('UNCLEAN', why, [`s_state ${state}`])
  if (incompat & INCOMPAT.RECOVER) {
    throw unclean('its journal has not been replayed (needs_recovery): it is mounted, or was not unmounted')
  }
  if (state & STATE.ERRORS) throw unclean('Linux recorded errors in it (s_state)')
  if (!(state & STATE.CLEANLY_UNMOUNTED)) throw unclean('it was not unmounted (s_state)')
  if (state & STATE.ORPHANS || lastOrphan !== 0 || readOnly & RO_COMPAT.ORPHAN_PRESENT) {
    throw unclean('deletions of files are pending (orphans)')
  }
}

function backupsOf(view: {
  FEATURE_COMPAT: number
  FEATURE_RO_COMPAT: number
  BACKUP_BG_0: number
  BACKUP_BG_1: number
}) {
  if (view.FEATURE_COMPAT & COMPAT.SPARSE_SUPER2) return [view.BACKUP_BG_0, view.BACKUP_BG_1]
  return view.FEATURE_RO_COMPAT & RO_COMPAT.SPARSE_SUPER ? 'powers of 3, 5 and 7' : 'every group'
}

function isPowerOfTwo(value: number): boolean {
  return (value & (value - 1)) === 0
}
