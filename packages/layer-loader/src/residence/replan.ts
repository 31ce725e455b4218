import type { CostModel } from '@gpunvme/nvme-spec/transport'
import { describePlan, type ResidencePlan } from './plan.js'
import { longRunNs } from './predict.js'

/** What reads have really cost. */
export interface ObservedRates {
  readonly readNsPerByte: number
}

/**
 * The plan for a drive that is not as fast as was predicted: from what was observed, with what is on the GPU left where
 * it is, what is in host memory too, and more beside it where that makes passes faster and the budget has room.
 * The same plan with other times where it does not.
 */
export function replan(plan: ResidencePlan, { readNsPerByte }: ObservedRates): ResidencePlan {
  if (!(readNsPerByte > 0 && readNsPerByte < Infinity))
    throw new RangeError(`readNsPerByte: expected a number above 0, got ${readNsPerByte}`)
  const before = plan.options.cost
  // What is observed is the heat already: no throttle on top of it.
  const cost: CostModel = {
    readNs: (lengthBytes) => lengthBytes * readNsPerByte,
    ...(before.copyNs && { copyNs: (lengthBytes: number) => before.copyNs!(lengthBytes) }),
  }
  const options = { ...plan.options, cost, costFrom: 'measured' as const }
  const onDrive = plan.layers.flatMap(({ residence }, index) => (residence === 'nvme' ? [index] : []))

  let best = describePlan(plan.layers, options)
  for (let more = 1; more <= onDrive.length; more++) {
    // Evenly among those on the drive, for the same reason as in the first plan.
    const moved = new Set(
      Array.from({ length: more }, (_, i) => onDrive[Math.floor(((i + 0.5) * onDrive.length) / more)]),
    )
    const layers = plan.layers.map((layer, index) =>
      moved.has(index) ? { ...layer, residence: 'ram' as const } : layer,
    )
    const next = describePlan(layers, options)
    if (next.vram.unusedBytes < 0 || next.ram.unusedBytes < 0) break
    if (longRunNs(next.predicted) < longRunNs(best.predicted)) best = next
  }
  return best
}
