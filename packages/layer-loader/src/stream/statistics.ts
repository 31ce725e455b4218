import type { ExtentPart } from '../load/extent.js'
import type { LoadStatistics } from '../load/lease.js'

/** Totals of a stream, for loaded layers only. */
export interface StreamStatistics extends Pick<LoadStatistics, 'bytes' | 'commands' | 'readNs' | 'verifyNs'> {
  /** Complete layers: one in parts counts with its last part. */
  readonly layers: number
  readonly tensors: number
  readonly tensorsVerified: number
  /** Time from the first command's submission to the last one's end, by the store's clock. */
  readonly elapsedNs: number
}

/** Adds up layers and their parts in order. */
export class StatisticsCounter {
  private startNs = Infinity
  private endNs = -Infinity
  private readonly total = { bytes: 0, commands: 0, readNs: 0, verifyNs: 0, layers: 0, tensors: 0, tensorsVerified: 0 }

  get snapshot(): StreamStatistics {
    return { ...this.total, elapsedNs: this.endNs < this.startNs ? 0 : this.endNs - this.startNs }
  }

  add(tensors: number, verified: boolean, layer: LoadStatistics, part: ExtentPart | undefined): void {
    const { total } = this
    total.bytes += layer.bytes
    total.commands += layer.commands
    total.readNs += layer.readNs
    total.verifyNs += layer.verifyNs
    if (part === undefined || part.index + 1 === part.count) total.layers++
    total.tensors += tensors
    if (verified) total.tensorsVerified += tensors
    this.startNs = Math.min(this.startNs, layer.startNs)
    this.endNs = Math.max(this.endNs, layer.endNs)
  }
}
