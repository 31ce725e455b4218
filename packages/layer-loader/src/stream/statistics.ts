import type { StoreSummary } from '../store/store.js'

/** What it took to load one layer. */
export interface LayerStatistics {
  readonly bytes: number
  readonly commands: number
  /** By the store's clock, from when this layer's commands had the drive to themselves until the last ended. */
  readonly readNs: number
  /** This processor's time for checksums, apart from any simulation. 0 when the layer was not verified. */
  readonly verifyNs: number
}

/** What a stream has done so far; counts only layers whose reading has ended well. */
export interface StreamStatistics extends LayerStatistics {
  readonly layers: number
  readonly tensors: number
  readonly tensorsVerified: number
  /** By the store's clock, from the first command's submission to the last one's end. */
  readonly elapsedNs: number
}

export class StatisticsCounter {
  private startNs = Infinity
  private endNs = -Infinity
  private total = { bytes: 0, commands: 0, readNs: 0, verifyNs: 0, layers: 0, tensors: 0, tensorsVerified: 0 }

  get snapshot(): StreamStatistics {
    return { ...this.total, elapsedNs: this.total.layers === 0 ? 0 : this.endNs - this.startNs }
  }

  /** Counts a layer that has been read; gives how long the drive was busy with it. Layers end in order. */
  read({ bytes, commands, startNs, endNs }: StoreSummary): number {
    // Plans are handed over ahead of their turn; until the layer before has ended, the drive is busy with that.
    const readNs = endNs - Math.max(startNs, Math.min(this.endNs, endNs))
    this.startNs = Math.min(this.startNs, startNs)
    this.endNs = Math.max(this.endNs, endNs)
    const { total } = this
    total.bytes += bytes
    total.commands += commands
    total.readNs += readNs
    return readNs
  }

  /** Counts a layer as loaded. */
  loaded(tensors: number, verified: boolean, verifyNs: number): void {
    const { total } = this
    total.layers++
    total.tensors += tensors
    if (verified) total.tensorsVerified += tensors
    total.verifyNs += verifyNs
  }
}
