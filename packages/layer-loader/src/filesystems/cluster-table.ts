import type { DeviceExtent, ReadOptions } from './file-system.js'
import type { Volume } from './volume.js'

/** FAT32 and exFAT number clusters from 2. */
const FIRST_CLUSTER = 2

/** Bytes of the table per read: 4096 entries, so that a chain in order needs few reads. */
const WINDOW_BYTES = 16_384

/** Location of a file allocation table and of the clusters. */
export interface ClusterGeometry {
  /** Offsets of the copies that must agree. The first one is followed. */
  readonly tableOffsetsBytes: readonly number[]
  readonly clusters: number
  readonly clusterBytes: number
  /** Offset of cluster 2. */
  readonly heapOffsetBytes: number
  /** Valid bits of an entry: 28 on FAT32. */
  readonly entryMask: number
  /** The lowest entry that ends a chain. */
  readonly endOfChain: number
}

/** A file allocation table: each entry names the next cluster of its file. */
export class ClusterTable {
  readonly clusterBytes: number
  readonly #volume: Volume
  readonly #geometry: ClusterGeometry

  /** @throws FileSystemError if the tables or the clusters are outside the volume. */
  constructor(volume: Volume, geometry: ClusterGeometry) {
    this.clusterBytes = geometry.clusterBytes
    this.#volume = volume
    this.#geometry = geometry
    const { clusters, clusterBytes, heapOffsetBytes, tableOffsetsBytes } = geometry
    for (const offsetBytes of tableOffsetsBytes) volume.checkInside(offsetBytes, (clusters + FIRST_CLUSTER) * 4)
    volume.checkInside(heapOffsetBytes, clusters * clusterBytes)
  }

  /**
   * Returns the runs of a file. Its chain must have as many clusters as its length requires; a chain with a cycle never
   * has.
   * @throws FileSystemError
   */
  async file(first: number, sizeBytes: number, options: ReadOptions): Promise<readonly DeviceExtent[]> {
    const clusters = Math.ceil(sizeBytes / this.clusterBytes)
    // Checked before following the chain: a length beyond the volume needs no reads.
    this.#volume.require(
      clusters <= this.#geometry.clusters,
      "a file's length",
      'at most the clusters of the volume',
      sizeBytes,
    )
    const list = this.#volume.extentList(sizeBytes)
    if (sizeBytes === 0) return list.whole()
    const found = await this.#follow(first, clusters, options, (cluster) => {
      list.add(this.offsetOf(cluster), this.clusterBytes)
    })
    const what = `the chain of a file from cluster ${first}`
    this.#volume.require(found === clusters, what, `${clusters} clusters`, `an end after ${found}`)
    return list.whole()
  }

  /** Returns the runs of contiguous clusters, without reading the table. @throws FileSystemError */
  contiguous(first: number, sizeBytes: number): readonly DeviceExtent[] {
    const list = this.#volume.extentList(sizeBytes)
    if (sizeBytes === 0) return list.whole()
    const clusters = Math.ceil(sizeBytes / this.clusterBytes)
    this.checkCluster(first)
    this.checkCluster(first + clusters - 1)
    list.add(this.offsetOf(first), clusters * this.clusterBytes)
    return list.whole()
  }

  /**
   * Returns the runs of a directory, whose length is that of its chain. @throws FileSystemError for more than
   * `maxBytes`.
   */
  async directory(first: number, maxBytes: number, options: ReadOptions): Promise<readonly DeviceExtent[]> {
    const offsets: number[] = []
    const max = Math.ceil(maxBytes / this.clusterBytes)
    await this.#follow(first, max, options, (cluster) => offsets.push(this.offsetOf(cluster)))
    const list = this.#volume.extentList(offsets.length * this.clusterBytes)
    for (const offset of offsets) list.add(offset, this.clusterBytes)
    return list.whole()
  }

  /** Returns the offset of a cluster in the volume. */
  offsetOf(cluster: number): number {
    const { heapOffsetBytes, clusterBytes } = this.#geometry
    return heapOffsetBytes + (cluster - FIRST_CLUSTER) * clusterBytes
  }

  /** @throws FileSystemError for an invalid cluster number: free, bad or past the last one. */
  checkCluster(cluster: number): void {
    const last = this.#geometry.clusters + FIRST_CLUSTER - 1
    const isOne = cluster >= FIRST_CLUSTER && cluster <= last
    this.#volume.require(isOne, 'a cluster number', `${FIRST_CLUSTER} to ${last}`, `0x${cluster.toString(16)}`)
  }

  /** Returns entry `index` of the first copy of the table. @throws FileSystemError if the copies differ. */
  async entry(index: number, options: ReadOptions): Promise<number> {
    return this.#entryOf(await this.#windowAt(index, options), index)
  }

  /** Passes each cluster of a chain to `visit`. @returns their number. @throws FileSystemError for more than `most`. */
  async #follow(first: number, max: number, options: ReadOptions, visit: (cluster: number) => void): Promise<number> {
    let window: Window | undefined
    let cluster = first
    for (let found = 1; ; found++) {
      this.checkCluster(cluster)
      if (found > max) {
        const facts = [`at most ${max} clusters of ${this.clusterBytes} bytes`]
        throw this.#volume.error('DAMAGED', `the chain from cluster ${first} is too long or has a cycle`, facts)
      }
      visit(cluster)
      if (window === undefined || cluster < window.first || cluster >= window.first + WINDOW_BYTES / 4) {
        window = await this.#windowAt(cluster, options)
      }
      cluster = this.#entryOf(window, cluster)
      if (cluster >= this.#geometry.endOfChain) return found
    }
  }

  async #windowAt(index: number, options: ReadOptions): Promise<Window> {
    const first = Math.floor((index * 4) / WINDOW_BYTES) * (WINDOW_BYTES / 4)
    const entries = Math.min(WINDOW_BYTES / 4, this.#geometry.clusters + FIRST_CLUSTER - first)
    const copies = this.#geometry.tableOffsetsBytes.map((offsetBytes) =>
      this.#volume.read(offsetBytes + first * 4, entries * 4, options),
    )
    return { first, copies: await Promise.all(copies) }
  }

  #entryOf({ first, copies }: Window, index: number): number {
    const [followed, ...others] = copies.map(
      (copy) => (copy.getUint32((index - first) * 4, true) & this.#geometry.entryMask) >>> 0,
    )
    for (const other of others) {
      this.#volume.requireValue(`entry ${index} of the second file allocation table`, followed!, other)
    }
    return followed!
  }
}

/** A range of entries of all copies of the table. */
interface Window {
  readonly first: number
  readonly copies: readonly DataView[]
}

/** Formats a volume's serial number as blkid does: 2457-85F9. */
export function formatSerial(serial: number): string {
  const digits = serial.toString(16).toUpperCase().padStart(8, '0')
  return `${digits.slice(0, 4)}-${digits.slice(4)}`
}
