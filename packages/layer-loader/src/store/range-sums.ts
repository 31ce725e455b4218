import type { ReadChecksums } from '@gpunvme/nvme-spec/transport'
import type { MemoryRange } from './store.js'

/** Checksums of the part of the ranges that one piece of a read completes. */
interface Part extends ReadChecksums {
  /** Records the checksums: the piece has been read. */
  done(): void
}

/** Checksums of ranges of memory, computed by the reads that fill them. */
export class RangeSums {
  /** In the order of the ranges; undefined until it is known. */
  readonly crc32s: (number | undefined)[]
  private readonly ranges: readonly MemoryRange[]

  /** @param ranges in the order of memory */
  constructor(ranges: readonly MemoryRange[]) {
    this.ranges = ranges
    this.crc32s = new Array<number | undefined>(ranges.length).fill(undefined)
  }

  /** Returns the ranges from the start of a piece that follow each other, are equally long except for the last, and end in it. */
  partOf(memoryBytes: number, lengthBytes: number): Part {
    const first = this.ranges.findIndex((range) => range.memoryBytes === memoryBytes && range.lengthBytes > 0)
    const chunkBytes = this.ranges[first]?.lengthBytes ?? 1
    let summedBytes = 0
    let end = Math.max(first, 0)
    while (first !== -1 && summedBytes === (end - first) * chunkBytes) {
      const next = this.ranges[end]
      if (next?.memoryBytes !== memoryBytes + summedBytes) break
      if (next.lengthBytes > chunkBytes || summedBytes + next.lengthBytes > lengthBytes) break
      summedBytes += next.lengthBytes
      end++
    }
    const into = new Uint32Array(end - Math.max(first, 0))
    const done = () => {
      for (const [index, crc32] of into.entries()) this.crc32s[first + index] = crc32
    }
    return { chunkBytes, summedBytes, into, done }
  }
}
