import { ClusterTable, formatSerial } from '../cluster-table.js'
import type { DeviceExtent, FileSystem, ReadOptions } from '../file-system.js'
import { treeFileSystem, type Tree, type TreeNode } from '../tree.js'
import type { Volume } from '../volume.js'
import { readBootRegion } from './boot-region.js'
import { readEntries, readVolumeFacts, type ExFatEntry, type ExFatStream } from './directory.js'
import { folded, MAX_UP_CASE_BYTES, readUpCase, type UpCase } from './up-case.js'

export { isExFat } from './boot-region.js'

interface ExFatNode extends TreeNode {
  /** Absent for the root, whose length is that of its chain. */
  readonly stream?: ExFatStream
  readonly validBytes: number
}

/** A directory is limited to 256 MB (§7.4). The caller's limit bounds what is read into memory. */
export async function openExFat(volume: Volume, options: ReadOptions): Promise<FileSystem> {
  const boot = await readBootRegion(volume, options)
  const { clusterBytes, clusters, heapOffsetBytes, totalBytes, rootCluster, serial, tableOffsetBytes } = boot
  const table = new ClusterTable(volume, {
    tableOffsetsBytes: [tableOffsetBytes],
    clusters,
    clusterBytes,
    heapOffsetBytes,
    entryMask: 0xffff_ffff,
    endOfChain: 0xffff_ffff,
  })
  const rootExtents = await table.directory(rootCluster, volume.limits.maxDirectoryBytes, options)
  const { label, upCase: place } = readVolumeFacts(volume, await volume.readExtents(rootExtents, options))
  const lengthIsSound = place.lengthBytes > 0 && place.lengthBytes <= MAX_UP_CASE_BYTES
  volume.require(lengthIsSound, 'DataLength of the up-case table', `1 to ${MAX_UP_CASE_BYTES}`, place.lengthBytes)
  const upCaseExtents = await table.file(place.firstCluster, place.lengthBytes, options)
  const upCase = readUpCase(volume, await volume.readExtents(upCaseExtents, options), place.checksum)
  return treeFileSystem(
    volume,
    { kind: 'exFAT', label, id: formatSerial(serial), blockBytes: clusterBytes, totalBytes },
    tree(volume, table, upCase, rootExtents),
  )
}

function tree(
  volume: Volume,
  table: ClusterTable,
  upCase: UpCase,
  rootExtents: readonly DeviceExtent[],
): Tree<ExFatNode> {
  const streamOf = ({ firstCluster, lengthBytes, isContiguous }: ExFatStream, options: ReadOptions) =>
    isContiguous ? table.contiguous(firstCluster, lengthBytes) : table.file(firstCluster, lengthBytes, options)
  const entriesOf = async ({ stream }: ExFatNode, options: ReadOptions) => {
    if (stream !== undefined) volume.checkDirectoryLength(stream.lengthBytes)
    const extents = stream === undefined ? rootExtents : await streamOf(stream, options)
    return readEntries(volume, await volume.readExtents(extents, options), upCase)
  }
  return {
    root: { kind: 'directory', sizeBytes: 0, validBytes: 0 },
    entries: async (directory, options) =>
      (await entriesOf(directory, options)).map((entry) => ({ name: entry.name, node: nodeOf(entry) })),
    async find(directory, wanted, options) {
      const key = folded(upCase, wanted)
      const found = (await entriesOf(directory, options)).find(({ name }) => folded(upCase, name) === key)
      return found && nodeOf(found)
    },
    async extents({ stream, sizeBytes, validBytes }, options) {
      if (validBytes < sizeBytes) {
        throw volume.error('UNWRITTEN', `a file is unwritten from byte ${validBytes} of ${sizeBytes}`)
      }
      return stream === undefined ? [] : streamOf(stream, options)
    },
  }
}

function nodeOf(entry: ExFatEntry): ExFatNode {
  const { isDirectory, lengthBytes, validBytes } = entry
  return { kind: isDirectory ? 'directory' : 'file', sizeBytes: lengthBytes, stream: entry, validBytes }
}
