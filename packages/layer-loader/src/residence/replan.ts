import type { CostModel } from '@gpunvme/nvme-spec/transport'
import { describePlan, planResidence, type ResidenceOptions, type ResidencePlan } from './plan.js'
import { longRunNs } from './predict.js'

/** Observed cost of reads. */
export interface ObservedRates {
  readonly readNsPerByte: number
}

/** Required ratio of pass times for a plan that moves layers: they are loaded again. */
const WORTH_MOVING = 0.95

/**
 * Returns a plan for the observed rate of the drive: layers in memory stay, and more are kept in host memory if that
 * makes passes faster and the budget allows it. Layers are moved only if it is worth loading them again. Without a
 * gain, the places stay the same, with new times.
 */
export function replan(plan: ResidencePlan, { readNsPerByte }: ObservedRates): ResidencePlan {
  if (!(readNsPerByte > 0 && readNsPerByte < Infinity))
    throw new RangeError(`readNsPerByte: expected a number above 0, got ${readNsPerByte}`)
  const before = plan.options.cost
  // The observed rate already includes heat, so no throttle is added.
  const cost: CostModel = {
    readNs: (lengthBytes) => lengthBytes * readNsPerByte,
    ...(before.copyNs && { copyNs: (lengthBytes: number) => before.copyNs!(lengthBytes) }),
  }
  const options = { ...plan.options, cost, costFrom: 'measured' as const }
  const grown = withMoreInHost(plan, options)
  const fresh = planResidence(plan.layers, options)
  return longRunNs(fresh.predicted) < WORTH_MOVING * longRunNs(grown.predicted) ? fresh : grown
}

/** Returns the best of the plans that keep the layers in memory. */
function withMoreInHost({ layers }: ResidencePlan, options: ResidenceOptions): ResidencePlan {
  const onDrive = layers.flatMap(({ residence }, index) => (residence === 'nvme' ? [index] : []))
  let best = describePlan(layers, options)
  for (let more = 1; more <= onDrive.length; more++) {
    // Spread evenly over the layers on the drive, as in the first plan.
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
