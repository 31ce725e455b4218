import { BudgetInfeasibleError } from './budget-infeasible.js'
import type { ExpertLayer } from './expert-sizes.js'
import { memoryBytesOf } from './lay-out.js'
import { planResidence, type Budget, type ResidenceOptions, type ResidencePlan } from './plan.js'
import { latencyNsOf, nsPerByteOf, sum, type PassTimes, type Prediction } from './predict.js'
import { sustainedPass } from './sustained.js'

/** Options of `planExperts`. */
export interface ExpertPlanOptions extends ResidenceOptions {
  /** Number of routed experts that a token uses in each layer. */
  readonly expertsUsed: number
  /** Fraction of the used experts that are in the cache, 0 to 1. Default: 0, which reads all of them for every token. */
  readonly hitRate?: number
}

/** Memory and predicted times of a mixture of experts, whose experts are read after the router has chosen them. */
export interface ExpertPlan {
  /** Plan of everything but routed experts. Its unused memory is the cache. */
  readonly dense: ResidencePlan
  readonly expertsUsed: number
  readonly hitRate: number
  /** Number of routed experts in all layers, and their total length. */
  readonly experts: number
  readonly expertsBytes: number
  /** Slots for experts: on the GPU, one for each expert that a layer uses; in tier 1, also two in host memory for reads. */
  readonly slots: Budget
  /** Memory of the cache, and the number of experts that fit if all are as large as the largest. */
  readonly cache: Budget & { readonly experts: number }
  /** Bytes of routed experts that a token uses; the average if experts differ in size. */
  readonly tokenBytes: number
  /** Bytes that a token reads from the drive: experts that are not in the cache, and dense parts that do not fit. */
  readonly readBytes: number
  /**
   * Times of a token; `passNs` is that of a later token. The router chooses the experts of a layer only when the layer
   * is reached, so nothing is read ahead and the times of the layers add up. The busy time of each resource is a lower
   * bound, which reading ahead could at best reach. The first token has an empty cache.
   */
  readonly predicted: Prediction
}

/**
 * Plans a mixture of experts. As much of the dense part as fits stays in memory. A token reads the experts that it uses
 * and that are not in the cache. Hits are divided between GPU and host memory in proportion to the cache in each.
 * @param layers sizes from `expertLayers`
 * @throws BudgetInfeasibleError; RangeError or TypeError for invalid options.
 */
export function planExperts(layers: readonly ExpertLayer[], options: ExpertPlanOptions): ExpertPlan {
  const { tier, expertsUsed, hitRate = 0 } = options
  const routed = layers.filter(({ experts }) => experts > 0)
  checkExpertOptions(routed, options)
  const largestBytes = routed.reduce((max, { expertBytes }) => Math.max(max, expertBytes), 0)
  const slotBytes = memoryBytesOf({ lengthBytes: largestBytes })
  const slots = { vramBytes: expertsUsed * slotBytes, ramBytes: tier === 1 ? 2 * slotBytes : 0 }
  const dense = planDense(layers, slots, options)
  const cache = { vramBytes: dense.vram.unusedBytes, ramBytes: dense.ram.unusedBytes }
  const places = Math.floor(cache.vramBytes / slotBytes) + Math.floor(cache.ramBytes / slotBytes)
  const experts = sum(routed.map((layer) => layer.experts))
  const needed = routed.map((layer) => (expertsUsed / layer.experts) * (layer.lengthBytes - layer.denseBytes))
  const tokenBytes = sum(needed)
  const expertsBytes = sum(routed.map((layer) => layer.lengthBytes - layer.denseBytes))
  return {
    dense,
    expertsUsed,
    hitRate,
    experts,
    expertsBytes,
    slots,
    cache: { ...cache, experts: Math.min(experts, places) },
    tokenBytes: Math.round(tokenBytes),
    readBytes: Math.round(tokenBytes * (1 - hitRate)) + dense.readBytes,
    predicted: predictToken({ dense, hostShare: hostShareOf(cache, expertsBytes), needed }, options),
  }
}

interface TokenLoad {
  readonly dense: ResidencePlan
  /** Fraction of the hits that are in host memory. */
  readonly hostShare: number
  /** Bytes of experts that a token uses in each layer with experts. */
  readonly needed: readonly number[]
}

function predictToken(load: TokenLoad, options: ExpertPlanOptions): Prediction {
  const { cost, hitRate = 0, checkNs } = options
  const { dense, needed } = load
  const cool = tokenOf(load, options, { hitRate })
  const { driveNs, gpuLinkNs, computeNs } = dense.predicted
  const busy = {
    driveNs: driveNs + cool.driveNs,
    gpuLinkNs: gpuLinkNs === undefined ? undefined : gpuLinkNs + cool.linkNs,
    computeNs,
    checkNs: checkNs && (dense.predicted.checkNs ?? 0) + cool.checkNs,
  }
  const timesWith = (isVerified: boolean): PassTimes => {
    const timeOf = (change: { readonly hitRate: number; readonly slowdown?: number }) =>
      tokenOf(load, options, { ...change, isVerified }).timeNs
    const denseTimes = (isVerified && dense.predicted.verified) || dense.predicted
    const passNs = denseTimes.passNs + timeOf({ hitRate })
    const named = [
      ['drive', busy.driveNs],
      ['gpu link', busy.gpuLinkNs ?? 0],
      ['checks', isVerified ? (busy.checkNs ?? 0) : 0],
      ['compute', computeNs],
    ] as const
    const [boundBy, maxNs] = named.reduce((max, each) => (each[1] > max[1] ? each : max))
    const { throttle } = cost
    return {
      firstNs: denseTimes.firstNs + timeOf({ hitRate: 0 }),
      passNs,
      boundBy: maxNs === 0 ? 'nothing' : boundBy,
      sustained:
        throttle &&
        sustainedPass(throttle, {
          readBytes: sum(needed) * (1 - hitRate) + dense.readBytes,
          coolNs: passNs,
          hotNs:
            Math.max(denseTimes.passNs, driveNs * throttle.factor) + timeOf({ hitRate, slowdown: throttle.factor }),
        }),
    }
  }
  return { ...busy, ...timesWith(false), verified: checkNs && timesWith(true) }
}

/** Returns the time of a token without its dense part, and the time for which its experts occupy each resource. */
function tokenOf(
  { hostShare, needed }: TokenLoad,
  options: ExpertPlanOptions,
  { hitRate, slowdown = 1, isVerified = false }: { hitRate: number; slowdown?: number; isVerified?: boolean },
): { readonly timeNs: number; readonly driveNs: number; readonly linkNs: number; readonly checkNs: number } {
  const { tier, cost, expertsUsed, checkNs } = options
  const nsPerByte = nsPerByteOf(options)
  const copyNs = (bytes: number) => (bytes > 0 ? (cost.copyNs?.(bytes) ?? 0) : 0)
  // The drive's latency is paid once per layer, unless all experts that the layer uses are in the cache.
  const latencyNs = latencyNsOf(options) * (1 - hitRate ** expertsUsed)
  const total = { timeNs: 0, driveNs: 0, linkNs: 0, checkNs: 0 }
  for (const bytes of needed) {
    const missedBytes = bytes * (1 - hitRate)
    const driveNs = (missedBytes * nsPerByte + latencyNs) * slowdown
    const checksNs = missedBytes > 0 ? (checkNs?.(missedBytes) ?? 0) : 0
    const linkNs = copyNs(missedBytes) + copyNs(bytes * hitRate * hostShare)
    const readNs = isVerified ? Math.max(driveNs, checksNs) : driveNs
    // In tier 1, an expert is copied while the next one is read. The last copy, or the first read, overlaps with nothing.
    total.timeNs +=
      tier === 2
        ? Math.max(readNs, linkNs)
        : Math.max(readNs, linkNs) + Math.min(readNs, copyNs(missedBytes)) / expertsUsed
    total.driveNs += driveNs
    total.linkNs += linkNs
    total.checkNs += checksNs
  }
  return total
}

/** Returns the fraction of cached experts that are in host memory. The cache in GPU memory is filled first. */
function hostShareOf({ vramBytes, ramBytes }: Budget, expertsBytes: number): number {
  const onGpu = Math.min(vramBytes, expertsBytes)
  const inHost = Math.min(ramBytes, expertsBytes - onGpu)
  return inHost === 0 ? 0 : inHost / (onGpu + inHost)
}

/** Plans the dense part in the budget without `slots`. @throws BudgetInfeasibleError, whose minimum includes `slots` */
function planDense(layers: readonly ExpertLayer[], slots: Budget, options: ExpertPlanOptions): ResidencePlan {
  const { budget } = options
  const sizes = layers.map(({ name, denseBytes }) => ({ name, lengthBytes: denseBytes }))
  const rest = {
    vramBytes: Math.max(0, budget.vramBytes - slots.vramBytes),
    ramBytes: Math.max(0, budget.ramBytes - slots.ramBytes),
  }
  try {
    // A budget below the slots leaves no memory, for which no plan is feasible.
    return planResidence(sizes, { ...options, budget: rest })
  } catch (error) {
    if (!(error instanceof BudgetInfeasibleError)) throw error
    const { minimum, longest } = error
    const min = {
      vramBytes: minimum.vramBytes + slots.vramBytes,
      ramBytes: minimum.ramBytes + slots.ramBytes,
    }
    throw new BudgetInfeasibleError(budget, min, longest, slots)
  }
}

function checkExpertOptions(routed: readonly ExpertLayer[], { expertsUsed, hitRate = 0 }: ExpertPlanOptions): void {
  if (routed.length === 0) throw new RangeError('layers: expected at least one with experts, got none')
  const fewest = routed.reduce((min, { experts }) => Math.min(min, experts), Infinity)
  if (!Number.isSafeInteger(expertsUsed) || expertsUsed < 1 || expertsUsed > fewest)
    throw new RangeError(`expertsUsed: expected 1 to ${fewest}, got ${expertsUsed}`)
  if (!(hitRate >= 0 && hitRate <= 1)) throw new RangeError(`hitRate: expected 0 to 1, got ${hitRate}`)
}
