import { estimate, type Estimate } from '../report/statistics.js'
import type { CudaPeers } from '@gpunvme/cuda-native/cuda'
import type { Checked, PeerLane, PeerRig } from './peer-rig.js'

/** Result of copies between two GPUs in one or both directions. */
export interface CopyResult {
  readonly from: number
  readonly to: number
  /** 'both': concurrent copies in both directions; the rate is their sum. */
  readonly directions: 'one' | 'both'
  /** Directly between devices; otherwise the driver copies through host memory. */
  readonly isDirect: boolean
  readonly repeats: number
  /** Undefined for an invalid result. */
  readonly bytesPerSecond: Estimate | undefined
  /** Why the result is invalid. */
  readonly problem: string | undefined
}

export interface CopySettings {
  readonly lengthBytes: number
  readonly repeats: number
  readonly signal: AbortSignal
  /** Wall time in nanoseconds. */
  readonly nowNs: () => number
  /** Maximum rate between two GPUs in one direction; undefined if unknown. */
  readonly limitOf: (from: number, to: number) => number | undefined
  readonly onResult: (result: CopyResult) => void
}

/**
 * Copies between all pairs of GPUs, in each direction and in both at once, and checks each byte at its destination. The
 * destination is overwritten before each copy, to detect copies that report success without moving data.
 */
export async function copyMatrix(
  { devices }: Pick<CudaPeers, 'devices'>,
  rig: PeerRig,
  settings: CopySettings,
): Promise<CopyResult[]> {
  const results: CopyResult[] = []
  const take = (result: CopyResult) => {
    results.push(result)
    settings.onResult(result)
  }
  for (const { device: from } of devices) {
    for (const { device: to } of devices) {
      if (from === to) continue
      take(await withLanes(rig, [[from, to]], settings, { from, to, directions: 'one' }))
      if (from > to) continue
      take(await withLanes(rig, [[from, to], [to, from]], settings, { from, to, directions: 'both' })) // oxfmt-ignore
    }
  }
  return results
}

type Which = Pick<CopyResult, 'from' | 'to' | 'directions'>

async function withLanes(
  rig: PeerRig,
  pairs: readonly (readonly [from: number, to: number])[],
  settings: CopySettings,
  which: Which,
): Promise<CopyResult> {
  const lanes = pairs.map(([from, to]) => rig.lane(from, to, settings.lengthBytes))
  const result = await measure(which, lanes, settings)
  // After a failure, a copy may still be in progress: the lanes are then closed with the GPUs.
  for (const lane of lanes) lane.close()
  return result
}

async function measure(
  what: Which,
  lanes: readonly PeerLane[],
  { lengthBytes, repeats, signal, nowNs, limitOf }: CopySettings,
): Promise<CopyResult> {
  const isDirect = lanes.every(({ isDirect }) => isDirect)
  const rates: number[] = []
  // The first copy is not counted: it includes one-time setup by the driver.
  for (let turn = 0; turn <= repeats; turn++) {
    signal.throwIfAborted()
    const seed = turn + 1
    for (const lane of lanes) await lane.prepare(seed)
    const startNs = nowNs()
    await Promise.all(lanes.map((lane) => lane.copy()))
    const tookNs = nowNs() - startNs
    for (const lane of lanes) {
      const problem = wrong(await lane.check(seed), lengthBytes)
      if (problem !== undefined) return { ...what, isDirect, repeats: turn, bytesPerSecond: undefined, problem }
    }
    if (turn > 0) rates.push(((lanes.length * lengthBytes) / tookNs) * 1e9)
  }
  const limit = limitOf(what.from, what.to)
  const max = limit === undefined ? Infinity : limit * lanes.length
  if (rates.some((rate) => !(rate <= max))) {
    const problem =
      'faster than the limit of the slowest link between them: the data took another path, or the link data are wrong'
    return { ...what, isDirect, repeats, bytesPerSecond: undefined, problem }
  }
  return { ...what, isDirect, repeats, bytesPerSecond: estimate(rates), problem: undefined }
}

function wrong({ wrongBytes, firstWrongByte }: Checked, lengthBytes: number): string | undefined {
  if (wrongBytes === 0) return undefined
  const first = firstWrongByte === undefined ? '' : `, the first at ${firstWrongByte}`
  return `the copy reported success, but ${wrongBytes} of ${lengthBytes} bytes are wrong${first}`
}
