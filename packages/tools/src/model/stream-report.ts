import { streamLayers, type PackedModel } from '@gpunvme/layer-loader'
import type { Output } from '../terminal/output.js'
import { Progress } from '../terminal/progress.js'

/**
 * A layer that has arrived. Layers are read ahead of their turn and overlap, so that none has a duration of its own;
 * what is known of each is when all of it was there.
 */
export interface LayerReport {
  readonly name: string
  /** As read from the drive, padding between tensors included. */
  readonly bytes: number
  readonly commands: number
  readonly tensors: number
  readonly tensorsVerified: number
  /** From the first command until this layer was in memory, by the transport's clock. */
  readonly driveAtNs: number
  /** From the start until this layer could be used, by this machine's clock: simulating, checking and all. */
  readonly wallAtNs: number
}

export interface TotalReport {
  readonly layers: number
  readonly bytes: number
  readonly commands: number
  readonly tensors: number
  readonly tensorsVerified: number
  readonly driveNs: number
  readonly wallNs: number
}

export interface StreamOptions {
  readonly slots: number
  readonly verify: boolean
  readonly signal: AbortSignal
  /** Where progress is shown. */
  readonly output: Output
  /** Called with each layer as soon as it is in memory. */
  readonly onLayer: (layer: LayerReport) => void
}

/** Streams a model, one layer after the other, and says what each of them and all of them took. */
export async function streamAndReport(model: PackedModel, options: StreamOptions): Promise<TotalReport> {
  const { slots, verify, signal, output, onLayer } = options
  const progress = new Progress(output, 'streaming')
  const startMs = performance.now()
  const elapsedNs = () => Math.round((performance.now() - startMs) * 1e6)
  const driveAtNs: number[] = []
  const stream = streamLayers(model, {
    slots,
    verify: verify ? 'full' : 'off',
    signal,
    onProgress({ index, statistics, totalBytes }) {
      driveAtNs[index] = statistics.elapsedNs
      progress.update(statistics.bytes, totalBytes)
    },
  })
  try {
    for await (const lease of stream) {
      const { name, index, tensors, verified, statistics } = lease
      const { bytes, commands } = statistics
      const counts = { bytes, commands, tensors: tensors.length, tensorsVerified: verified ? tensors.length : 0 }
      onLayer({ name, ...counts, driveAtNs: driveAtNs[index] ?? 0, wallAtNs: elapsedNs() })
      lease.release()
    }
  } finally {
    progress.end()
  }
  const { elapsedNs: driveNs, layers, bytes, commands, tensors, tensorsVerified } = stream.statistics
  return { layers, bytes, commands, tensors, tensorsVerified, driveNs, wallNs: elapsedNs() }
}
