import { ClusterTable, formatSerial } from '../cluster-table.js'
import type { FileSystem, ReadOptions } from '../file-system.js'
import { treeFileSystem, type Tree, type TreeNode } from '../tree.js'
import type { Volume } from '../volume.js'
import { readBootSector, type Fat32BootSector } from './boot-sector.js'
import { labelOf, readEntries, type FatEntry } from './directory.js'

export { isFat } from './boot-sector.js'

/** Maximum length of a directory: 65536 entries of 32 bytes. ("FAT Directory Structure") */
const MAX_DIRECTORY_BYTES = 65_536 * 32

/** FAT[1]: cleared while the volume is in use, and after a disk error. ("FAT Data Structure") */
const CLEAN_SHUTDOWN = 0x0800_0000
const NO_HARD_ERRORS = 0x0400_0000

interface FatNode extends TreeNode {
  readonly firstCluster: number
}

/** @throws FileSystemError */
export async function openFat32(volume: Volume, options: ReadOptions): Promise<FileSystem> {
  const boot = await readBootSector(volume, options)
  const { clusterBytes, clusters, heapOffsetBytes, tableOffsetsBytes, totalBytes, serial } = boot
  const table = new ClusterTable(volume, {
    tableOffsetsBytes,
    clusters,
    clusterBytes,
    heapOffsetBytes,
    entryMask: 0x0fff_ffff,
    endOfChain: 0x0fff_fff8,
  })
  if (!volume.allowDirty) await checkUnmounted(volume, boot, table, options)
  const root: FatNode = { kind: 'directory', sizeBytes: 0, firstCluster: boot.rootCluster }
  const label = labelOf(await readDirectory(volume, table, root, options)) ?? boot.label
  return treeFileSystem(
    volume,
    { kind: 'FAT32', label, id: formatSerial(serial), blockBytes: clusterBytes, totalBytes },
    tree(volume, table, root),
  )
}

async function checkUnmounted(
  volume: Volume,
  { isMarkedMounted }: Fat32BootSector,
  table: ClusterTable,
  options: ReadOptions,
): Promise<void> {
  const flags = await table.entry(1, options)
  const facts = [`FAT[1] 0x${flags.toString(16)}`]
  if (!(flags & NO_HARD_ERRORS)) throw volume.error('UNCLEAN', 'disk errors were recorded while it was mounted', facts)
  if (isMarkedMounted || !(flags & CLEAN_SHUTDOWN)) throw volume.error('UNCLEAN', 'it was not unmounted', facts)
}

function tree(volume: Volume, table: ClusterTable, root: FatNode): Tree<FatNode> {
  const entriesOf = async (directory: FatNode, options: ReadOptions) =>
    readEntries(await readDirectory(volume, table, directory, options))
  return {
    root,
    entries: async (directory, options) =>
      (await entriesOf(directory, options)).map((entry) => ({ name: entry.name, node: nodeOf(entry) })),
    async find(directory, wanted, options) {
      const key = folded(wanted)
      const entries = await entriesOf(directory, options)
      const found = entries.find(({ names }) => names.some((name) => folded(name) === key))
      return found && nodeOf(found)
    },
    extents: ({ firstCluster, sizeBytes }, options) => table.file(firstCluster, sizeBytes, options),
  }
}

function nodeOf({ isDirectory, sizeBytes, firstCluster }: FatEntry): FatNode {
  return { kind: isDirectory ? 'directory' : 'file', sizeBytes, firstCluster }
}

async function readDirectory(
  volume: Volume,
  table: ClusterTable,
  { firstCluster }: FatNode,
  options: ReadOptions,
): Promise<DataView> {
  const max = Math.min(MAX_DIRECTORY_BYTES, volume.limits.maxDirectoryBytes)
  return volume.readExtents(await table.directory(firstCluster, max, options), options)
}

/**
 * Returns the folded form of a name. The specification leaves case to a code page; here, each character with a
 * one-character upper-case form is replaced by it, as Windows' table does for most.
 */
function folded(name: string): string {
  return Array.from({ length: name.length }, (_, index) => {
    const upper = name.charAt(index).toUpperCase()
    return upper.length === 1 ? upper : name.charAt(index)
  }).join('')
}
