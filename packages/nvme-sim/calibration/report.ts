import { profiles } from '../src/profiles/index.js'
import type { DriveProfile } from '../src/profiles/profile.js'
import type { PublishedPoint } from '../src/profiles/published.js'
import { runChecks, type Check } from './checks.js'
import { linkCells, linkRate, type LinkCell } from './link-table.js'
import { measure } from './measure.js'

/** A published point, with the value of the simulator. */
export interface Comparison extends PublishedPoint {
  readonly preset: string
  readonly modelValue: number
  /** (model - published) / published. */
  readonly error: number
}

/** A cell of the link table, with the value of the simulator. */
export interface LinkComparison extends LinkCell {
  readonly modelBytesPerSecond: number
  readonly error: number
}

/** All comparisons: points of the presets, checks of the model, and the link table. */
export interface CalibrationReport {
  readonly schema: 'gpunvme.calibration/1'
  readonly points: readonly Comparison[]
  readonly checks: readonly Check[]
  readonly links: readonly LinkComparison[]
}

/** Runs all comparisons in virtual time; the result is the same on every machine. */
export async function calibrate(): Promise<CalibrationReport> {
  const points: Comparison[] = []
  for (const profile of Object.values<DriveProfile>(profiles)) {
    for (const point of profile.points ?? []) points.push(await compare(profile, point))
  }
  const links: LinkComparison[] = []
  for (const cell of linkCells) {
    const modelBytesPerSecond = await linkRate(cell)
    links.push({ ...cell, modelBytesPerSecond, error: modelBytesPerSecond / cell.expectedBytesPerSecond - 1 })
  }
  return { schema: 'gpunvme.calibration/1', points, checks: await runChecks(), links }
}

async function compare(profile: DriveProfile, point: PublishedPoint): Promise<Comparison> {
  const modelValue = await measure(profile, point)
  return { preset: profile.name, ...point, modelValue, error: modelValue / point.publishedValue - 1 }
}
