import { estimate, type Estimate } from '../report/statistics.js'
import type { CudaPeers } from '@gpunvme/cuda-native/cuda'
import type { Checked, PeerLane, PeerRig } from './peer-rig.js'

/** One pair of GPUs in one or both directions. */
export interface CopyResult {
  readonly from: number
  readonly to: number
  /** 'both': there and back at once, and the rate is that of both together. */
  readonly directions: 'one' | 'both'
  /** Straight from device to device; otherwise the driver copies over host memory. */
  readonly isDirect: boolean
  readonly repeats: number
  /** Undefined where it is not to be believed. */
  readonly bytesPerSecond: Estimate | undefined
  /** Why it is not to be believed. */
  readonly problem: string | undefined
}

export interface CopySettings {
  readonly lengthBytes: number
  readonly repeats: number
  readonly signal: AbortSignal
  /** Nanoseconds of the wall. */
  readonly nowNs: () => number
  /** What copies between two GPUs can have at most in one direction; undefined where that is not known. */
  readonly limitOf: (from: number, to: number) => number | undefined
  readonly onResult: (result: CopyResult) => void
}

/**
 * Copies between every two GPUs, one way each and both ways at once, every byte of each copy checked where it arrived.
 * Before each, the destination holds something else: a copy that moves nothing, and says that it is done, is found.
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
      take(await withLanes(rig, [[from, to], [to, from]], settings, { from, to, directions: 'both' })) // prettier-ignore
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
  // After a failure there may be a copy under way still: then all goes with its GPUs.
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
  // The first is not counted: it has the driver make ready what it makes ready once.
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
  const most = limit === undefined ? Infinity : limit * lanes.length
  if (rates.some((rate) => !(rate <= most))) {
    const problem =
      'faster than the slowest link between them can be: it did not come that way, or that link is another'
    return { ...what, isDirect, repeats, bytesPerSecond: undefined, problem }
  }
  return { ...what, isDirect, repeats, bytesPerSecond: estimate(rates), problem: undefined }
}

function wrong({ wrongBytes, firstWrongByte }: Checked, lengthBytes: number): string | undefined {
  if (wrongBytes === 0) return undefined
  const first = firstWrongByte === undefined ? '' : `, the first at ${firstWrongByte}`
  return `the copy reported success, and ${wrongBytes} of ${lengthBytes} bytes are not those that were sent${first}`
}
