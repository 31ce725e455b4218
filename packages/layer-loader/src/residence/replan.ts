import type { CostModel } from '@gpunvme/nvme-spec/transport'
import { describePlan, planResidence, type ResidenceOptions, type ResidencePlan } from './plan.js'
import { longRunNs } from './predict.js'

/** What reads have really cost. */
export interface ObservedRates {
  readonly readNsPerByte: number
}

/** What a plan has to gain that moves layers which are in memory already: they are all loaded again. */
const WORTH_MOVING = 0.95

/**
 * The plan for a drive that is not as fast as was predicted, from what was observed: what is in memory stays, and more is
 * kept in host memory where that makes passes faster and the budget has room. Only where it is worth loading layers again
 * are they moved. The same places with other times where there is nothing to gain.
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
  const grown = withMoreInHost(plan, options)
  const fresh = planResidence(plan.layers, options)
  return longRunNs(fresh.predicted) < WORTH_MOVING * longRunNs(grown.predicted) ? fresh : grown
}

/** The best of the plans that keep in memory what is there. */
function withMoreInHost({ layers }: ResidencePlan, options: ResidenceOptions): ResidencePlan {
  const onDrive = layers.flatMap(({ residence }, index) => (residence === 'nvme' ? [index] : []))
  let best = describePlan(layers, options)
  for (let more = 1; more <= onDrive.length; more++) {
    // Evenly among those on the drive, for the same reason as in the first plan.
    const step = onDrive.length / more
    const moved = new Set(Array.from({ length: more }, (_, i) => onDrive[Math.floor((i + 0.5) * step)]))
    const next = describePlan(
      layers.map((layer, index) => (moved.has(index) ? { ...layer, residence: 'ram' as const } : layer)),
      options,
    )
    if (next.vram.unusedBytes < 0 || next.ram.unusedBytes < 0) break
    if (longRunNs(next.predicted) < longRunNs(best.predicted)) best = next
  }
  return best
}
