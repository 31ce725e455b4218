import { inHex, struct, u16, u32 } from '@gpunvme/nvme-spec/layout'
import { crc32c } from '@gpunvme/nvme-spec/crc32c'
import type { ExtentList } from '../extent-list.js'
import type { DeviceExtent, ReadOptions } from '../file-system.js'
import type { Volume } from '../volume.js'
import { INODE_FLAGS, type Inode } from './inode.js'
import type { Ext4Superblock } from './superblock.js'

const SPEC = 'Linux 6.1 Documentation/filesystems/ext4/ifork.rst'
const EXTENT_HEADER = struct(
  'EXTENT_HEADER',
  { bytes: 12, doc: 'Header of each node of an extent tree', spec: SPEC },
  {
    MAGIC: inHex(u16(0, 'Magic number, f30ah')),
    ENTRIES: u16(2, 'Number of valid entries following the header'),
    MAX: u16(4, 'Maximum number of entries that could follow the header'),
    DEPTH: u16(6, 'Depth of this node: 0 is a leaf'),
  },
)
const EXTENT_INDEX = struct(
  'EXTENT_INDEX',
  { bytes: 12, doc: 'An entry of an interior node', spec: SPEC },
  {
    BLOCK: u32(0, 'First file block that this node covers'),
    LEAF_LO: u32(4, 'Block of the node one level down'),
    LEAF_HI: u16(8, 'Upper 16 bits of that block'),
  },
)
const EXTENT = struct(
  'EXTENT',
  { bytes: 12, doc: 'An entry of a leaf', spec: SPEC },
  {
    BLOCK: u32(0, 'First file block that this extent covers'),
    LEN: u16(4, 'Number of blocks; above 32768: unwritten, with 32768 added'),
    START_HI: u16(6, 'Upper 16 bits of the first block'),
    START_LO: u32(8, 'First block'),
  },
)
const MAGIC = 0xf30a
const MAX_DEPTH = 5
const MAX_WRITTEN = 32_768

interface Walk {
  readonly volume: Volume
  readonly superblock: Ext4Superblock
  readonly inode: Inode
  readonly options: ReadOptions
  readonly list: ExtentList
}

/**
 * Returns where the bytes of an inode are.
 * @throws FileSystemError also for a file that cannot be read in place: holes, unwritten blocks, encryption, inline
 * data, and block maps of ext2 and ext3.
 */
export async function extentsOf(
  volume: Volume,
  superblock: Ext4Superblock,
  inode: Inode,
  options: ReadOptions,
): Promise<readonly DeviceExtent[]> {
  const { flags, number, block, sizeBytes } = inode
  if (sizeBytes === 0) return []
  if (flags & INODE_FLAGS.ENCRYPT) throw volume.error('ENCRYPTED', `inode ${number} is encrypted`)
  if (flags & INODE_FLAGS.INLINE_DATA) throw volume.error('INLINE', `the data of inode ${number} is in the inode`)
  if (!(flags & INODE_FLAGS.EXTENTS)) throw volume.error('BLOCK_MAP', `inode ${number} has an ext2 block map`)
  const list = volume.extentList(sizeBytes)
  const root = new DataView(block.buffer, block.byteOffset, block.byteLength)
  await walkNode({ volume, superblock, inode, options, list }, root, undefined, 0, 2 ** 32)
  return list.whole()
}

/**
 * Walks one node and all nodes below it, which may cover only file blocks from `first` to before `end`. Each node has a
 * disjoint part of its parent's range, and only the root may be empty: the tree is never larger than its file.
 */
async function walkNode(
  walk: Walk,
  node: DataView,
  depth: number | undefined,
  first: number,
  end: number,
): Promise<void> {
  const { volume, superblock, inode, options, list } = walk
  const { blockBytes } = superblock
  const header = EXTENT_HEADER.view(node)
  const of = `of inode ${inode.number}`
  volume.requireValue(`eh_magic ${of}`, MAGIC, header.MAGIC)
  const depthIsSound = depth === undefined ? header.DEPTH <= MAX_DEPTH : header.DEPTH === depth
  volume.require(
    depthIsSound,
    `eh_depth ${of}`,
    depth === undefined ? `0 to ${MAX_DEPTH}` : String(depth),
    header.DEPTH,
  )
  const room = Math.floor((node.byteLength - EXTENT_HEADER.bytes) / EXTENT.bytes)
  const entries = header.ENTRIES
  const entriesAreSound = entries <= room && (entries > 0 || (depth === undefined && header.DEPTH === 0))
  volume.require(entriesAreSound, `eh_entries ${of}`, `1 to ${room}`, entries)
  if (header.DEPTH === 0) {
    for (let index = 0; index < entries; index++) addExtent(walk, node, index, first, end)
    return
  }
  const view = EXTENT_INDEX.view(node, EXTENT_HEADER.bytes)
  for (let index = 0; index < entries && !list.isWhole; index++) {
    const from = view.at(index).BLOCK
    const child = view.LEAF_LO + view.LEAF_HI * 2 ** 32
    const to = index + 1 < entries ? view.at(index + 1).BLOCK : end
    volume.require(from >= first && from < to && to <= end, `ei_block ${of}`, `${first} to before ${end}`, from)
    volume.require(isDataBlock(superblock, child, 1), `ei_leaf ${of}`, `a block before ${superblock.blocks}`, child)
    const below = await volume.read(child * blockBytes, blockBytes, options)
    if (inode.checksumSeed !== undefined) checkBlock(volume, inode, below, inode.checksumSeed)
    await walkNode(walk, below, header.DEPTH - 1, from, to)
  }
}

function addExtent(
  { volume, superblock, inode, list }: Walk,
  leaf: DataView,
  index: number,
  first: number,
  end: number,
) {
  if (list.isWhole) return
  const { blockBytes, blocks } = superblock
  const extent = EXTENT.view(leaf, EXTENT_HEADER.bytes).at(index)
  const of = `of inode ${inode.number}`
  const isUnwritten = extent.LEN > MAX_WRITTEN
  const count = isUnwritten ? extent.LEN - MAX_WRITTEN : extent.LEN
  const from = extent.BLOCK
  const isInside = count > 0 && from >= first && from + count <= end
  volume.require(isInside, `ee_block and ee_len ${of}`, `blocks ${first} to before ${end}`, `${count} from ${from}`)
  const nextBlock = list.endBytes / blockBytes
  volume.require(from >= nextBlock, `ee_block ${of}`, `${nextBlock} or later`, from)
  if (from > nextBlock) throw volume.error('HOLE', `inode ${inode.number} has a hole before file block ${from}`)
  if (isUnwritten) throw volume.error('UNWRITTEN', `inode ${inode.number} is unwritten from file block ${from}`)
  const start = extent.START_LO + extent.START_HI * 2 ** 32
  volume.require(isDataBlock(superblock, start, count), `ee_start ${of}`, `blocks before ${blocks}`, start)
  list.add(start * blockBytes, count * blockBytes)
}

function isDataBlock({ blocks, firstDataBlock }: Ext4Superblock, start: number, count: number): boolean {
  return start > firstDataBlock && start + count <= blocks
}

/** The checksum follows the room for the last entry. */
function checkBlock(volume: Volume, inode: Inode, block: DataView, seed: number): void {
  const tail = EXTENT_HEADER.bytes + EXTENT_HEADER.view(block).MAX * EXTENT.bytes
  const of = `of an extent block of inode ${inode.number}`
  volume.require(
    tail + 4 <= block.byteLength,
    `eh_max ${of}`,
    'at most the entries that fit',
    EXTENT_HEADER.view(block).MAX,
  )
  const crc = crc32c(seed, new Uint8Array(block.buffer, 0, tail))
  volume.requireValue(`et_checksum ${of}`, crc, block.getUint32(tail, true))
}
