import type { PassTimes, ResidencePlan, ResidenceStatistics, ResidentLease } from '@gpunvme/layer-loader/residence'
import type { Rig } from '../rig/open-rig.js'
import type { Output } from '../terminal/output.js'
import { Progress } from '../terminal/progress.js'

/** Bytes by the place of their layers between passes. `drive` includes files. */
export interface BytesByPlace {
  readonly gpu: number
  readonly host: number
  readonly drive: number
}

/** A pass over all layers. Times are by the drive's clock, except `wallNs`. */
export interface PassReport {
  /** From 1. */
  readonly pass: number
  readonly layers: number
  /** Layers with all bytes verified in the memory where they are used. */
  readonly layersVerified: number
  readonly bytes: BytesByPlace
  readonly elapsedNs: number
  readonly predictedNs: number
  readonly wallNs: number
  readonly driveBusyNs: number
  readonly copyBusyNs: number
  /** Time with both busy. */
  readonly bothBusyNs: number
  readonly waitedForDriveNs: number
  readonly waitedForCopiesNs: number
}

export interface PassesOptions {
  readonly passes: number
  readonly signal: AbortSignal
  /** Output for progress. */
  readonly output: Output
  readonly onPass: (pass: PassReport) => void
}

/** Runs passes of a model without computing, and reports each. */
export async function runPasses(rig: Rig, { passes, signal, output, onPass }: PassesOptions): Promise<PassReport[]> {
  const reports: PassReport[] = []
  let before = momentOf(rig)
  for (let pass = 1; pass <= passes; pass++) {
    // A pass over layers in memory never waits: without this, signals would not be delivered.
    await new Promise(setImmediate)
    const progress = new Progress(output, `pass ${pass} of ${passes}:`)
    const handedOut = await handOut(rig, { isLast: pass === passes, signal }, progress)
    const after = momentOf(rig)
    const report = { pass, ...handedOut, predictedNs: predictedFor(rig, pass), ...between(before, after) }
    // Reads ahead may end between passes: the next pass begins where this one ended.
    before = after
    reports.push(report)
    onPass(report)
  }
  return reports
}

/** Runs one pass. @param use called with each layer while it is in memory */
export async function handOut(
  { loader, placement, gpu }: Rig,
  options: { readonly isLast: boolean; readonly signal: AbortSignal },
  progress: Progress,
  use?: (layer: ResidentLease) => Promise<void>,
): Promise<Pick<PassReport, 'layers' | 'layersVerified' | 'bytes'>> {
  const totalBytes = placement.layers.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
  const bytes = { gpu: 0, host: 0, drive: 0 }
  let [layers, layersVerified] = [0, 0]
  try {
    for await (using layer of loader.pass(options)) {
      await use?.(layer)
      const { residence, lengthBytes, verifiedOnGpu } = layer
      bytes[residence === 'nvme' ? 'drive' : residence === 'vram' && gpu !== undefined ? 'gpu' : 'host'] += lengthBytes
      layers++
      if (verifiedOnGpu) layersVerified++
      progress.update(bytes.gpu + bytes.host + bytes.drive, totalBytes)
    }
  } finally {
    progress.end()
  }
  return { layers, layersVerified, bytes }
}

/** Returns the predicted times of passes as they are run: with verification if its rate is known. */
export function timesOf({ predicted }: ResidencePlan): PassTimes {
  return predicted.verified ?? predicted
}

function predictedFor({ placement }: Rig, pass: number): number {
  const { passNs, firstNs } = timesOf(placement)
  return Math.round(pass === 1 ? firstNs : passNs)
}

interface Moment {
  readonly statistics: ResidenceStatistics
  readonly clockNs: number
  readonly wallMs: number
}

function momentOf({ loader, model }: Rig): Moment {
  return { statistics: loader.statistics, clockNs: model.store.clock.now(), wallMs: performance.now() }
}

function between(before: Moment, after: Moment) {
  const passed = (name: keyof ResidenceStatistics) => after.statistics[name] - before.statistics[name]
  return {
    elapsedNs: after.clockNs - before.clockNs,
    wallNs: Math.round((after.wallMs - before.wallMs) * 1e6),
    driveBusyNs: passed('driveBusyNs'),
    copyBusyNs: passed('copyBusyNs'),
    bothBusyNs: passed('bothBusyNs'),
    waitedForDriveNs: passed('waitedForDriveNs'),
    waitedForCopiesNs: passed('waitedForCopiesNs'),
  }
}
