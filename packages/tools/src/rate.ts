import { payloadLimit, type Link } from '@gpunvme/nvme-spec/pcie'
import { formatRate } from './units.js'

/** '3.49 GB/s, 97 % of the Gen3 x4 payload limit at MPS 256'. Without a link, the rate alone. */
export function describeRate(bytes: number, durationNs: number, link: Link | undefined): string {
  const rate = formatRate(bytes, durationNs)
  if (link === undefined || !(durationNs > 0)) return rate
  const { gen, width, mps } = link
  const percent = Math.round(shareOfLimit(bytes, durationNs, link) * 100)
  return `${rate}, ${percent} % of the Gen${gen} x${width} payload limit at MPS ${mps}`
}

export function shareOfLimit(bytes: number, durationNs: number, link: Link): number {
  return ((bytes / durationNs) * 1e9) / payloadLimit(link)
}

/** The same for JSON. */
export function describeLink(bytes: number, durationNs: number, link: Link | undefined): object {
  if (link === undefined) return {}
  const { gen, width, mps } = link
  const limit = payloadLimit(link)
  return { link: { gen, width, mps, payloadLimitBytesPerSecond: limit, share: shareOfLimit(bytes, durationNs, link) } }
}
