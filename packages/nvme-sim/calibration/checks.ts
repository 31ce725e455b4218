import type { LatencyNs } from '../src/model/latency.js'
import { deriveProfile, type ProfileChanges } from '../src/profiles/index.js'
import type { DriveProfile } from '../src/profiles/profile.js'
import { KIB, MIB } from '../src/profiles/units.js'
import { steady } from './measure.js'

/** A property of the model itself, independent of presets. */
export interface Check {
  readonly what: string
  readonly expected: string
  readonly model: string
  readonly met: boolean
}

const always = (ns: number): LatencyNs => [ns, ns, ns, ns, ns]

/** Returns a drive with only the given costs, behind a link without propagation delay. */
const bare = (gen: 3 | 4 | 5, changes: ProfileChanges = {}): DriveProfile =>
  deriveProfile('ideal', {
    link: { gen, width: 4, mps: 256, propagationNs: 0, maxReadRequestBytes: 512 },
    mediaUnits: 1024,
    ...changes,
  })

/** Runs the checks in a fixed order, in virtual time. */
export async function runChecks(): Promise<readonly Check[]> {
  return [await nvmevirt(), ...(await cells()), ...(await knees())]
}

/** Checks a drive with the parameters of NVMeVirt's 970 Pro: a read is the sum of firmware, flash and transfer time. */
async function nvmevirt(): Promise<Check> {
  const drive = bare(3, {
    controllerNs: always(21_500),
    readNs: [30_000, 36_000, 40_800, 41_880, 42_000],
    readBytesPerSecond: 3_360e6,
  })
  const { latencyNs } = await steady(drive, { operation: 'read', blockBytes: 4 * KIB, depth: 1 })
  return {
    what: '4 KiB at depth 1, with NVMeVirt’s figures of the 970 Pro (firmware 21.5 µs, flash 36 ± 6 µs, 3,360 MB/s)',
    expected: '60 µs ± 15 %',
    model: `${(latencyNs / 1e3).toFixed(1)} µs`,
    met: Math.abs(latencyNs / 60e3 - 1) <= 0.15,
  }
}

/** Read times in ns, means over FEMU's page types: 40; 56.5, 77.5 and 106; 47.9, 76.2, 134.6 and 228.1 µs. */
const flash = [
  ['no media delay', 0],
  ['SLC', 40_000],
  ['TLC', 80_000],
  ['QLC', 121_700],
] as const

async function cells(): Promise<Check[]> {
  const found: Check[] = []
  let fasterNs = 0
  let faster = ''
  for (const [name, readNs] of flash) {
    const drive = bare(3, { readNs: always(readNs) })
    const { latencyNs } = await steady(drive, { operation: 'read', blockBytes: 4 * KIB, depth: 1 })
    found.push({
      what: `${name}: 4 KiB at depth 1, mean over FEMU’s page types`,
      expected: faster === '' ? 'fastest' : `slower than ${faster}`,
      model: `${(latencyNs / 1e3).toFixed(1)} µs`,
      met: latencyNs > fasterNs,
    })
    fasterNs = latencyNs
    faster = name
  }
  return found
}

/** Minimum depths that saturate the link, by bandwidth × delay: generation, media latency in ns, block size, depth. */
const kneeTable = [
  [3, 80_000, 4 * KIB, 71],
  [3, 80_000, 128 * KIB, 4],
  [3, 80_000, MIB, 2],
  [5, 60_000, 4 * KIB, 209],
  [5, 60_000, 128 * KIB, 8],
] as const

async function knees(): Promise<Check[]> {
  const found: Check[] = []
  for (const [gen, latencyNs, blockBytes, depth] of kneeTable) {
    const knee = await kneeOf(bare(gen, { readNs: always(latencyNs) }), blockBytes)
    found.push({
      what: `minimum depth that saturates Gen${gen} x4 at MPS 256: ${blockBytes / KIB} KiB reads, media latency ${latencyNs / 1e3} µs`,
      expected: `${depth} ± 1`,
      model: `${knee}`,
      met: Math.abs(knee - depth) <= 1,
    })
  }
  return found
}

/** Returns the smallest depth within half a percent of the maximum rate. */
async function kneeOf(drive: DriveProfile, blockBytes: number): Promise<number> {
  const intervalAt = async (depth: number) => (await steady(drive, { operation: 'read', blockBytes, depth })).intervalNs
  let [tooLow, enough] = [0, 512]
  const fullNs = await intervalAt(enough)
  while (enough - tooLow > 1) {
    const depth = (tooLow + enough) >> 1
    if ((await intervalAt(depth)) <= fullNs * 1.005) enough = depth
    else tooLow = depth
  }
  return enough
}
