import type { DeviceExtent } from './file-system.js'
import type { Volume } from './volume.js'

/** The runs of one file as they are found, in file order: checked, merged, and cut where the file ends. */
export class ExtentList {
  readonly #volume: Volume
  readonly #sizeBytes: number
  readonly #extents: DeviceExtent[] = []
  #endBytes = 0

  constructor(volume: Volume, sizeBytes: number) {
    this.#volume = volume
    this.#sizeBytes = sizeBytes
  }

  /** Where the next run begins in the file. */
  get endBytes(): number {
    return this.#endBytes
  }

  /** Whether the runs so far hold all of the file. */
  get isWhole(): boolean {
    return this.#endBytes === this.#sizeBytes
  }

  /**
   * Takes the next run, from byte `offsetBytes` of the volume; what is past the file's end is left out.
   * @throws FileSystemError where the volume ends before the run does, and for one run too many.
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
      const most = this.#volume.limits.maxExtents
      if (this.#extents.length === most) throw this.#volume.error('LIMIT', `a file is in more than ${most} pieces`)
      this.#extents.push({ fileOffsetBytes: this.#endBytes, deviceOffsetBytes, lengthBytes: used })
    }
    this.#endBytes += used
  }

  /** All of them. @throws FileSystemError where they end before the file does. */
  whole(): readonly DeviceExtent[] {
    if (!this.isWhole) {
      const facts = [`the file has ${this.#sizeBytes} bytes`]
      throw this.#volume.error('HOLE', `a file has a hole from byte ${this.#endBytes} to its end`, facts)
    }
    return this.#extents
  }
}
