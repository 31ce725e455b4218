import { completionWireBytes, lineRate, payloadLimit, type Link } from '@gpunvme/nvme-spec/pcie'
import type { Shape } from './shape.js'

/**
 * Bytes per second that no drive on that link can pass, whatever is measured: with the smallest headers that there are.
 * A write's data come as completions, which have less around them than what a read sends.
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
