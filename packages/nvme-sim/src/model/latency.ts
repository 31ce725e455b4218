import type { Random } from '@gpunvme/nvme-spec/faults'

/** A latency distribution by its quantiles at 0, 50, 90, 99 and 100 %, in nanoseconds, with linear interpolation. */
export type LatencyNs = readonly [min: number, p50: number, p90: number, p99: number, max: number]

const QUANTILES = [0, 0.5, 0.9, 0.99, 1] as const

/** Draws one value of a distribution. A constant takes no number from the stream. */
export function drawLatency(latency: LatencyNs, random: Random): number {
  if (latency[0] === latency[4]) return latency[0]
  const quantile = random()
  let i = 1
  while (quantile > QUANTILES[i]!) i++
  const from = QUANTILES[i - 1]!
  const share = (quantile - from) / (QUANTILES[i]! - from)
  return latency[i - 1]! + share * (latency[i]! - latency[i - 1]!)
}

/** Returns the mean of a distribution. */
export function meanLatency(latency: LatencyNs): number {
  let mean = 0
  for (let i = 1; i < QUANTILES.length; i++) {
    mean += (QUANTILES[i]! - QUANTILES[i - 1]!) * ((latency[i]! + latency[i - 1]!) / 2)
  }
  return mean
}
