import type { LoadStatistics } from '../load/lease.js'

/** What a stream has done so far; counts only layers that have been loaded. */
export interface StreamStatistics extends Pick<LoadStatistics, 'bytes' | 'commands' | 'readNs' | 'verifyNs'> {
  readonly layers: number
  readonly tensors: number
  readonly tensorsVerified: number
  /** By the store's clock, from the first command's submission to the last one's end. */
  readonly elapsedNs: number
}

/** Adds up layers in their order. */
export class StatisticsCounter {
  private startNs = Infinity
  private endNs = -Infinity
  private readonly total = { bytes: 0, commands: 0, readNs: 0, verifyNs: 0, layers: 0, tensors: 0, tensorsVerified: 0 }

  get snapshot(): StreamStatistics {
    return { ...this.total, elapsedNs: this.endNs < this.startNs ? 0 : this.endNs - this.startNs }
  }

  add(tensors: number, verified: boolean, layer: LoadStatistics): void {
    const { total } = this
    total.bytes += layer.bytes
    total.commands += layer.commands
    total.readNs += layer.readNs
    total.verifyNs += layer.verifyNs
    total.layers++
    total.tensors += tensors
    if (verified) total.tensorsVerified += tensors
    this.startNs = Math.min(this.startNs, layer.startNs)
    this.endNs = Math.max(this.endNs, layer.endNs)
  }
}
