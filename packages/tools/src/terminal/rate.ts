import { payloadLimit, type Link } from '@gpunvme/nvme-spec/pcie'
import { formatDuration, formatRate } from './units.js'

/** '3.49 GB/s, 97 % of the Gen3 x4 payload limit at MPS 256'. Without a link, the rate alone. */
export function describeRate(bytes: number, durationNs: number, link: Link | undefined): string {
  const rate = formatRate(bytes, durationNs)
  if (link === undefined) return rate
  const { gen, width, mps } = link
  const percent = Math.round(shareOfLimit(bytes, durationNs, link) * 100)
  return `${rate}, ${percent} % of the Gen${gen} x${width} payload limit at MPS ${mps}`
}

/**
 * Describes the drive's part of a transfer: '77.1 ms, 3.47 GB/s, ...'. The ideal profile takes no time, and has no
 * rate.
 */
export function describeModelled(bytes: number, durationNs: number, link: Link | undefined): string {
  if (!(durationNs > 0)) return 'no time: this profile has no latency'
  return `${formatDuration(durationNs)}, ${describeRate(bytes, durationNs, link)}`
}

function shareOfLimit(bytes: number, durationNs: number, link: Link): number {
  return ((bytes / durationNs) * 1e9) / payloadLimit(link)
}

/** Returns the same data for JSON. */
export function describeLink(bytes: number, durationNs: number, link: Link | undefined) {
  if (link === undefined) return {}
  const { gen, width, mps } = link
  const limit = payloadLimit(link)
  return { link: { gen, width, mps, payloadLimitBytesPerSecond: limit, share: shareOfLimit(bytes, durationNs, link) } }
}
