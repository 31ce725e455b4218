import { completionWireBytes, lineRate, payloadLimit, type Link } from '@gpunvme/nvme-spec/pcie'
import type { Shape } from './shape.js'

/**
 * Returns the upper limit of the rate on a link in bytes/s, with the smallest possible headers. Data of writes arrive
 * as completions, which have less overhead than the packets of reads.
 */
export function hardLimit(link: Link, rw: Shape['rw']): number {
  const { gen, width, mps } = link
  const upstream = payloadLimit({ ...link, headerBytes: 12 })
  const downstream = (lineRate({ gen, width }) * mps) / completionWireBytes(mps, { mps })
  switch (rw) {
    case 'read':
      return upstream
    case 'write':
      return downstream
    case 'mixed':
      return upstream + downstream
  }
}
