import type { FileSystem, ReadOptions } from '../file-system.js'
import { treeFileSystem, type NamedNode, type Tree } from '../tree.js'
import type { Volume } from '../volume.js'
import { readDirectory } from './directory.js'
import { extentsOf } from './extent-tree.js'
import { inlineParts } from './inline-data.js'
import { INODE_FLAGS, readInode, ROOT_INODE, type Inode } from './inode.js'
import {
  EXT4_MAGIC,
  EXT4_SUPERBLOCK,
  readSuperblock,
  SUPERBLOCK_OFFSET_BYTES,
  type Ext4Superblock,
} from './superblock.js'

/** A shorter target is stored in place of the block map. */
const FAST_SYMLINK_BYTES = 60

/** Linux's PATH_MAX. */
const MAX_TARGET_BYTES = 4096

/** Returns whether the volume has a superblock of ext2, ext3 or ext4. */
export async function isExt4(volume: Volume, options: ReadOptions): Promise<boolean> {
  if (volume.sizeBytes < SUPERBLOCK_OFFSET_BYTES + EXT4_SUPERBLOCK.bytes) return false
  const data = await volume.read(SUPERBLOCK_OFFSET_BYTES, EXT4_SUPERBLOCK.bytes, options)
  return EXT4_SUPERBLOCK.view(data).MAGIC === EXT4_MAGIC
}

/** @throws FileSystemError */
export async function openExt4(volume: Volume, options: ReadOptions): Promise<FileSystem> {
  const superblock = await readSuperblock(volume, options)
  const { blockBytes, blocks, uuid, label } = superblock
  const root = await readInode(volume, superblock, ROOT_INODE, options)
  volume.require(root.kind === 'directory', 'inode 2', 'a directory', root.kind)
  const id = Buffer.from(uuid)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  const facts = { kind: 'ext4', label, id, blockBytes, totalBytes: blocks * blockBytes } as const
  return treeFileSystem(volume, facts, tree(volume, superblock, root))
}

function tree(volume: Volume, superblock: Ext4Superblock, root: Inode): Tree<Inode> {
  // `ignoreBOM` keeps a byte order mark, which may be part of a name.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  return {
    root,
    async entries(directory, options) {
      const found: NamedNode<Inode>[] = []
      for (const { name, inode } of await readDirectory(volume, superblock, directory, options)) {
        found.push({ name: decoder.decode(name), node: await readInode(volume, superblock, inode, options) })
      }
      return found
    },
    async find(directory, wanted, options) {
      // Compared as bytes: a name that is not UTF-8 must not match its replacement characters.
      const names = await readDirectory(volume, superblock, directory, options)
      const found = names.find(({ name }) => Buffer.from(wanted).equals(name))
      return found && (await readInode(volume, superblock, found.inode, options))
    },
    extents: (file, options) => extentsOf(volume, superblock, file, options),
    async target(link, options) {
      const { flags, number, sizeBytes, block } = link
      if (flags & INODE_FLAGS.ENCRYPT) throw volume.error('ENCRYPTED', `symbolic link ${number} is encrypted`)
      const isSound = sizeBytes > 0 && sizeBytes <= MAX_TARGET_BYTES
      volume.require(isSound, `i_size of symbolic link ${number}`, `1 to ${MAX_TARGET_BYTES}`, sizeBytes)
      if (flags & INODE_FLAGS.INLINE_DATA) return decoder.decode(Buffer.concat(inlineParts(volume, link).map(bytesOf)))
      if (sizeBytes < FAST_SYMLINK_BYTES) return decoder.decode(block.subarray(0, sizeBytes))
      const extents = await extentsOf(volume, superblock, link, options)
      return decoder.decode(await volume.readExtents(extents, options))
    },
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: DataView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
