/**
 * Adds files, fragmented if requested, to an image of mkfs.exfat. It shares no code with the reader; tests verify its
 * images with fsck.exfat.
 */
export class ExFatWriter {
  readonly clusterBytes: number
  private readonly image: Buffer
  private readonly fatBytes: number
  private readonly heapBytes: number
  private readonly bitmapBytes: number
  private readonly root: Directory
  private next: number

  constructor(image: Buffer) {
    this.image = image
    const sectorBytes = 1 << image[108]!
    this.clusterBytes = sectorBytes << image[109]!
    this.fatBytes = image.readUInt32LE(80) * sectorBytes
    this.heapBytes = image.readUInt32LE(88) * sectorBytes
    this.root = { clusters: [image.readUInt32LE(96)], usedBytes: 0 }
    const rootBytes = this.offsetOf(this.root.clusters[0]!)
    // mkfs.exfat leaves some entries at the start, up to the first of type 0.
    let bitmapCluster = 0
    while (image[rootBytes + this.root.usedBytes] !== 0) {
      const entry = rootBytes + this.root.usedBytes
      if (image[entry] === 0x81) bitmapCluster = image.readUInt32LE(entry + 20)
      this.root.usedBytes += 32
    }
    this.bitmapBytes = this.offsetOf(bitmapCluster)
    this.next = 2
  }

  offsetOf(cluster: number): number {
    return this.heapBytes + (cluster - 2) * this.clusterBytes
  }

  get rootDirectory(): Directory {
    return this.root
  }

  /** Creates a directory of this many clusters. Several clusters are not adjacent. */
  directory(parent: Directory, name: string, clusters = 1): Directory {
    const taken = this.take(clusters, clusters > 1)
    for (const cluster of taken) this.image.fill(0, this.offsetOf(cluster), this.offsetOf(cluster) + this.clusterBytes)
    const isContiguous = clusters === 1
    if (!isContiguous) this.chain(taken)
    this.enter(parent, name, { attributes: 0x10, lengthBytes: clusters * this.clusterBytes, taken, isContiguous })
    return { clusters: taken, usedBytes: 0 }
  }

  /** @returns the clusters that hold the file. */
  file(
    parent: Directory,
    name: string,
    content: Buffer,
    how: 'contiguous' | 'in pieces' | 'in order',
  ): readonly number[] {
    const taken = this.take(Math.ceil(content.byteLength / this.clusterBytes), how === 'in pieces')
    taken.forEach((cluster, index) => {
      content.copy(this.image, this.offsetOf(cluster), index * this.clusterBytes, (index + 1) * this.clusterBytes)
    })
    // Contiguous clusters may also have a chain, for example after Linux has appended to a fragmented file.
    const isContiguous = how === 'contiguous'
    if (!isContiguous) this.chain(taken)
    this.enter(parent, name, { attributes: 0x20, lengthBytes: content.byteLength, taken, isContiguous })
    return taken
  }

  private isFree(cluster: number): boolean {
    return (this.image[this.bitmapBytes + ((cluster - 2) >> 3)]! & (1 << ((cluster - 2) & 7))) === 0
  }

  private take(count: number, inPieces: boolean): number[] {
    const taken: number[] = []
    while (taken.length < count) {
      if (this.isFree(this.next)) {
        taken.push(this.next)
        this.image[this.bitmapBytes + ((this.next - 2) >> 3)]! |= 1 << ((this.next - 2) & 7)
        // Alternates fragments of one and of two clusters.
        if (inPieces && taken.length % 3 !== 1) this.next += 1
      }
      this.next += 1
    }
    return taken
  }

  private chain(clusters: readonly number[]): void {
    clusters.forEach((cluster, index) => {
      this.image.writeUInt32LE(clusters[index + 1] ?? 0xffffffff, this.fatBytes + cluster * 4)
    })
  }

  private enter(parent: Directory, name: string, { attributes, lengthBytes, taken, isContiguous }: Contents): void {
    const names = Math.ceil(name.length / 15)
    // JavaScript's upper case of ß is SS; the up-case table maps ß to itself.
    const upCased = name.replace(/[^ß]+/g, (part) => part.toUpperCase())
    const set = Buffer.alloc((2 + names) * 32)
    set[0] = 0x85
    set[1] = 1 + names
    set.writeUInt16LE(attributes, 4)
    // 2026-11-22, as created, modified and accessed: year - 1980, month, day from bit 25 on.
    for (const offset of [8, 12, 16]) set.writeUInt32LE(((46 << 25) | (11 << 21) | (22 << 16)) >>> 0, offset)
    set[32] = 0xc0
    set[33] = taken.length === 0 ? 0 : isContiguous ? 3 : 1
    set[35] = name.length
    set.writeUInt16LE(checksum16(Buffer.from(upCased, 'utf16le')), 36)
    set.writeBigUInt64LE(BigInt(lengthBytes), 40)
    set.writeUInt32LE(taken[0] ?? 0, 52)
    set.writeBigUInt64LE(BigInt(lengthBytes), 56)
    for (let index = 0; index < names; index++) {
      set[64 + index * 32] = 0xc1
      set.write(name.slice(index * 15, index * 15 + 15), 66 + index * 32, 'utf16le')
    }
    set.writeUInt16LE(checksum16(Buffer.concat([set.subarray(0, 2), set.subarray(4)])), 2)
    for (let at = 0; at < set.byteLength; at += 32) {
      const cluster = parent.clusters[Math.floor(parent.usedBytes / this.clusterBytes)]!
      set.copy(this.image, this.offsetOf(cluster) + (parent.usedBytes % this.clusterBytes), at, at + 32)
      parent.usedBytes += 32
    }
  }
}

/** A directory to which entries are added. */
export interface Directory {
  readonly clusters: readonly number[]
  usedBytes: number
}

interface Contents {
  readonly attributes: number
  readonly lengthBytes: number
  readonly taken: readonly number[]
  readonly isContiguous: boolean
}

/** Returns the checksum of entry sets and the hash of names: rotate right, then add. */
export function checksum16(bytes: Buffer): number {
  return bytes.reduce((sum, byte) => (((sum << 15) | (sum >>> 1)) + byte) & 0xffff, 0)
}
