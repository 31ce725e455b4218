import type { DeviceExtent } from './file-system.js'
import type { Volume } from './volume.js'

/** The runs of one file in file order: checked, merged, and cut at the end of the file. */
export class ExtentList {
  readonly #volume: Volume
  readonly #sizeBytes: number
  readonly #extents: DeviceExtent[] = []
  #endBytes = 0

  constructor(volume: Volume, sizeBytes: number) {
    this.#volume = volume
    this.#sizeBytes = sizeBytes
  }

  /** Offset in the file where the next run begins. */
  get endBytes(): number {
    return this.#endBytes
  }

  /** Whether the runs so far cover the whole file. */
  get isWhole(): boolean {
    return this.#endBytes === this.#sizeBytes
  }

  /**
   * Adds the next run, from byte `offsetBytes` of the volume. Bytes past the end of the file are dropped.
   * @throws FileSystemError if the run extends past the volume, and for too many runs.
   */
  add(offsetBytes: number, lengthBytes: number): void {
    this.#volume.checkInside(offsetBytes, lengthBytes)
    const used = Math.min(lengthBytes, this.#sizeBytes - this.#endBytes)
    if (used === 0) return
    const deviceOffsetBytes = this.#volume.startBytes + offsetBytes
    const last = this.#extents.at(-1)
    if (last !== undefined && last.deviceOffsetBytes + last.lengthBytes === deviceOffsetBytes) {
      this.#extents[this.#extents.length - 1] = { ...last, lengthBytes: last.lengthBytes + used }
    } else {
      const max = this.#volume.limits.maxExtents
      if (this.#extents.length === max) throw this.#volume.error('LIMIT', `a file is in more than ${max} pieces`)
      this.#extents.push({ fileOffsetBytes: this.#endBytes, deviceOffsetBytes, lengthBytes: used })
    }
    this.#endBytes += used
  }

  /** Returns all runs. @throws FileSystemError if they do not cover the file. */
  whole(): readonly DeviceExtent[] {
    if (!this.isWhole) {
      const facts = [`the file has ${this.#sizeBytes} bytes`]
      throw this.#volume.error('HOLE', `a file has a hole from byte ${this.#endBytes} to its end`, facts)
    }
    return this.#extents
  }
}
