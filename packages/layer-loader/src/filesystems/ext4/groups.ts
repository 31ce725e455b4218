import { inHex, struct, u16, u32 } from '@gpunvme/nvme-spec/layout'
import { crc32c } from '@gpunvme/nvme-spec/crc32c'
import { crc32cNumber } from './crc32c-number.js'
import type { ReadOptions } from '../file-system.js'
import type { Volume } from '../volume.js'
import { SUPERBLOCK_OFFSET_BYTES, type Ext4Superblock } from './superblock.js'

/** The fields that this reader uses. Descriptors of 64 bytes and more have the high half. */
const GROUP_DESCRIPTOR = struct(
  'GROUP_DESCRIPTOR',
  { bytes: 32, doc: 'Block group descriptor', spec: 'Linux 6.1 Documentation/filesystems/ext4/group_descr.rst' },
  {
    INODE_TABLE_LO: u32(0x8, 'Location of inode table'),
    CHECKSUM: inHex(u16(0x1e, 'Group descriptor checksum')),
  },
)
const INODE_TABLE_HI_OFFSET = 0x28

/** Returns the offset of a group's inode table in the volume. @throws FileSystemError */
export async function inodeTableOf(
  volume: Volume,
  superblock: Ext4Superblock,
  group: number,
  options: ReadOptions,
): Promise<number> {
  const { blockBytes, blocks, descriptorBytes, checksumSeed, inodesPerGroup, inodeBytes } = superblock
  const perBlock = blockBytes / descriptorBytes
  const offsetBytes = descriptorBlock(superblock, Math.floor(group / perBlock), perBlock) * blockBytes
  const data = await volume.read(offsetBytes + (group % perBlock) * descriptorBytes, descriptorBytes, options)
  const view = GROUP_DESCRIPTOR.view(data)
  if (checksumSeed !== undefined) {
    const got = view.CHECKSUM
    view.CHECKSUM = 0
    const crc = crc32c(crc32cNumber(checksumSeed, group), new Uint8Array(data.buffer)) & 0xffff
    volume.requireValue(`bg_checksum of group ${group}`, crc, got)
  }
  const high = descriptorBytes >= 64 ? data.getUint32(INODE_TABLE_HI_OFFSET, true) : 0
  const block = view.INODE_TABLE_LO + high * 2 ** 32
  const tableBlocks = Math.ceil((inodesPerGroup * inodeBytes) / blockBytes)
  const isSound = block > superblock.firstDataBlock && block + tableBlocks <= blocks
  volume.require(isSound, `bg_inode_table of group ${group}`, `a block before ${blocks}`, block)
  return block * blockBytes
}

/**
 * Returns the location of the n-th block of descriptors: all follow the superblock, or, with META_BG, each is in its
 * own groups.
 */
function descriptorBlock(superblock: Ext4Superblock, index: number, perBlock: number): number {
  const { blockBytes, blocksPerGroup, firstDataBlock, firstMetaGroup } = superblock
  const superblockBlock = Math.floor(SUPERBLOCK_OFFSET_BYTES / blockBytes)
  if (index < firstMetaGroup) return superblockBlock + 1 + index
  const group = index * perBlock
  const groupStart = firstDataBlock + group * blocksPerGroup
  // With 1 KiB blocks counted from 0, as bigalloc requires, the boot block precedes the superblock.
  const bootBlocks = group === 0 ? superblockBlock - firstDataBlock : 0
  return groupStart + bootBlocks + (hasBackup(superblock, group) ? 1 : 0)
}

/** Returns whether a group has a copy of the superblock: Linux 6.1 Documentation/filesystems/ext4/blockgroup.rst. */
function hasBackup({ backups }: Ext4Superblock, group: number): boolean {
  if (group === 0 || backups === 'every group') return true
  if (backups !== 'powers of 3, 5 and 7') return backups.includes(group)
  return [3, 5, 7].some((base) => {
    let power = 1
    while (power < group) power *= base
    return power === group
  })
}
