import type { ResidenceStatistics } from '@gpunvme/layer-loader'
import type { Rig } from '../rig/open-rig.js'
import type { Output } from '../terminal/output.js'
import { Progress } from '../terminal/progress.js'

/** Bytes by the place where their layers are between passes. `gpu`: also of host memory that takes a GPU's place. */
export interface BytesByPlace {
  readonly gpu: number
  readonly host: number
  readonly drive: number
}

/** One pass over all layers. Times are of the drive's clock, apart from `wallNs`. */
export interface PassReport {
  /** From 1. */
  readonly pass: number
  readonly layers: number
  /** Layers of which every byte was verified where they are computed on. */
  readonly layersVerified: number
  readonly bytes: BytesByPlace
  readonly elapsedNs: number
  readonly predictedNs: number
  readonly wallNs: number
  readonly driveBusyNs: number
  readonly copyBusyNs: number
  /** With both at once. */
  readonly bothBusyNs: number
  readonly waitedForDriveNs: number
  readonly waitedForCopiesNs: number
}

export interface PassesOptions {
  readonly passes: number
  readonly signal: AbortSignal
  /** Where progress is shown. */
  readonly output: Output
  readonly onPass: (pass: PassReport) => void
}

/** Takes a model through passes without computing anything, and reports on each. */
export async function runPasses(rig: Rig, { passes, signal, output, onPass }: PassesOptions): Promise<PassReport[]> {
  const reports: PassReport[] = []
  for (let pass = 1; pass <= passes; pass++) {
    // A pass over layers in memory waits for nothing: without this, no signal would arrive.
    await new Promise(setImmediate)
    const progress = new Progress(output, passes === 1 ? 'streaming' : `pass ${pass} of ${passes}:`)
    try {
      const report = await runPass(rig, pass, { isLast: pass === passes, signal }, progress)
      reports.push(report)
      progress.end()
      onPass(report)
    } finally {
      progress.end()
    }
  }
  return reports
}

async function runPass(
  { loader, placement, model, tier }: Rig,
  pass: number,
  options: { readonly isLast: boolean; readonly signal: AbortSignal },
  progress: Progress,
): Promise<PassReport> {
  const { clock } = model.store
  const totalBytes = placement.layers.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
  const bytes = { gpu: 0, host: 0, drive: 0 }
  const before = loader.statistics
  const [startNs, startMs] = [clock.now(), performance.now()]
  let layersVerified = 0
  for await (using layer of loader.pass(options)) {
    const { residence, lengthBytes, verifiedOnGpu } = layer
    bytes[residence === 'nvme' ? 'drive' : residence === 'vram' && tier > 0 ? 'gpu' : 'host'] += lengthBytes
    if (verifiedOnGpu) layersVerified++
    progress.update(bytes.gpu + bytes.host + bytes.drive, totalBytes)
  }
  const { passNs, fillNs } = placement.predicted
  const moved = difference(loader.statistics, before)
  return {
    ...{ pass, layers: moved.layers, layersVerified, bytes },
    elapsedNs: clock.now() - startNs,
    predictedNs: Math.round(pass === 1 ? passNs + fillNs : passNs),
    wallNs: Math.round((performance.now() - startMs) * 1e6),
    driveBusyNs: moved.driveBusyNs,
    copyBusyNs: moved.copyBusyNs,
    bothBusyNs: moved.bothBusyNs,
    waitedForDriveNs: moved.waitedForDriveNs,
    waitedForCopiesNs: moved.waitedForCopiesNs,
  }
}

function difference(now: ResidenceStatistics, before: ResidenceStatistics): ResidenceStatistics {
  const names = Object.keys(now) as (keyof ResidenceStatistics)[]
  return Object.fromEntries(names.map((name) => [name, now[name] - before[name]])) as unknown as ResidenceStatistics
}
