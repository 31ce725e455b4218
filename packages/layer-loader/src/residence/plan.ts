import type { CostModel } from '@gpunvme/nvme-spec/transport'
import { BudgetInfeasibleError } from './budget-infeasible.js'
import { layOut, memoryBytesOf, slotCounts, type SlotLayout, type SlotCounts } from './lay-out.js'
import {
  longRunNs,
  predict,
  sum,
  type LayerSize,
  type PlacedLayer,
  type Prediction,
  type ReadShape,
} from './predict.js'
import { spread } from './spread.js'

/** Memory for resident layers and slots together. */
export interface Budget {
  readonly vramBytes: number
  /** Host memory that the controller and the GPU can reach. */
  readonly ramBytes: number
}

/** Options of `planResidence`. */
export interface ResidenceOptions {
  readonly budget: Budget
  /** 1: reads go to host memory and are copied to the GPU. 2: the controller writes to GPU memory. */
  readonly tier: 1 | 2
  /** Cost of reads and copies. Without `copyNs`, the GPU's link is assumed to be unlimited. */
  readonly cost: CostModel
  /**
   * Origin of `cost`, which the plan records beside each predicted time. 'link Gen4 x4' if the drive is assumed to fill
   * its link; 'guess' for a guess, if the predicted times are not used.
   */
  readonly costFrom: `preset ${string}` | `link ${string}` | 'measured' | 'guess'
  /** Numbers of slots. Default: enough to keep both links busy. */
  readonly slots?: Partial<SlotCounts>
  /** Shape of reads. Default: commands of 128 KiB, 32 in flight. */
  readonly reads?: ReadShape
  /** Time to compute a layer, in nanoseconds. Default: 0. */
  readonly computeNs?: number
  /** Time to verify bytes that were read, in nanoseconds, for `predicted.verified`. Default: unknown. */
  readonly checkNs?: ((lengthBytes: number) => number) | undefined
}

/** Use of a budget, in bytes. */
export interface BudgetUse {
  readonly layers: number
  readonly layerBytes: number
  readonly slotBytes: number
  readonly unusedBytes: number
}

/** Place of each layer, memory, and predicted time of a pass, before anything is allocated. */
export interface ResidencePlan {
  readonly tier: 1 | 2
  /** Layers in the order of computation, each with its place. */
  readonly layers: readonly PlacedLayer[]
  readonly slots: SlotLayout
  readonly vram: BudgetUse
  readonly ram: BudgetUse
  /** Bytes that a pass reads from the drive. `copyBytes` are copied to the GPU. */
  readonly readBytes: number
  readonly copiedBytes: number
  readonly predicted: Prediction
  readonly costFrom: ResidenceOptions['costFrom']
  /** Options of the plan, for another one. */
  readonly options: ResidenceOptions
}

/**
 * Plans the place of each layer: as many as fit on the GPU, in host memory only as many as make passes faster, the rest
 * on the drive. Unused host memory is a reserve for a later plan if the drive slows down (`replan`).
 * @throws BudgetInfeasibleError; RangeError or TypeError for invalid options.
 */
export function planResidence(layers: readonly LayerSize[], options: ResidenceOptions): ResidencePlan {
  checkLayers(layers)
  checkResidenceOptions(options)
  const lanes = [
    { ram: false, nvme: false },
    { ram: true, nvme: false },
    { ram: false, nvme: true },
    { ram: true, nvme: true },
  ]
  let best: ResidencePlan | undefined
  for (const lane of lanes) {
    const plan = planWith(layers, options, lane)
    if (plan && (best === undefined || isBetter(plan, best))) best = plan
  }
  if (best !== undefined) return best
  const longest = layers.reduce((max, each) => (each.lengthBytes > max.lengthBytes ? each : max))
  const { budget } = options
  const min = minBudget(layers, { ...options, slots: FEWEST_SLOTS })
  const fits = min.vramBytes <= budget.vramBytes && min.ramBytes <= budget.ramBytes
  const fewerSlots = fits ? FEWEST_SLOTS : undefined
  throw new BudgetInfeasibleError(budget, minBudget(layers, options), longest, undefined, fewerSlots)
}

/** One slot is filled while another is used. */
const FEWEST_SLOTS: SlotCounts = { copies: 2, drive: 2 }

/** A smaller difference comes from the order of additions. */
const SAME = 1 + 1e-9

/** Limit of the search for the minimum host memory, whose time is otherwise quadratic in the number of layers. */
const MAX_PLACEMENTS = 1_000_000
const MIN_TRIES = 8

/**
 * Returns whether a plan is faster; or as fast with less host memory; or also with equal host memory and less GPU
 * memory.
 */
function isBetter(plan: ResidencePlan, than: ResidencePlan): boolean {
  const [ns, thanNs] = [longRunNs(plan.predicted), longRunNs(than.predicted)]
  if (ns > thanNs * SAME || thanNs > ns * SAME) return ns < thanNs
  const used = ({ layerBytes, slotBytes }: BudgetUse) => layerBytes + slotBytes
  const moreRam = used(plan.ram) - used(than.ram)
  return moreRam === 0 ? used(plan.vram) < used(than.vram) : moreRam < 0
}

/** Returns the best plan that uses the given places; VRAM is always used. */
function planWith(layers: readonly LayerSize[], options: ResidenceOptions, lane: { ram: boolean; nvme: boolean }) {
  const { vramBytes, ramBytes } = options.budget
  const lengths = layers.map(memoryBytesOf)
  const maxBytes = lengths.reduce((max, each) => Math.max(max, each), 0)
  const taken = layOut(maxBytes, maxBytes, options, lane)
  const room = { vramBytes: vramBytes - taken.vramBytes, ramBytes: lane.ram ? ramBytes - taken.ramBytes : 0 }
  if (room.vramBytes < 0 || taken.ramBytes > ramBytes || room.ramBytes < 0) return undefined

  const withRam = (max: number): ResidencePlan | undefined => {
    const places = spread(lengths, { ...room, ramBytes: Math.min(room.ramBytes, max), nvme: lane.nvme })
    return (
      places &&
      describePlan(
        layers.map((layer, index) => ({ ...layer, residence: places[index]! })),
        options,
      )
    )
  }
  const max = withRam(Infinity)
  if (max === undefined || !lane.nvme) return max
  // Takes no more host memory than needed: the first plan that is as fast as with all of it.
  const enoughNs = longRunNs(max.predicted) * SAME
  const usableBytes = Math.min(room.ramBytes, sum(lengths))
  const tries = Math.max(MIN_TRIES, Math.floor(MAX_PLACEMENTS / lengths.length))
  const step = Math.max(1, Math.ceil(usableBytes / maxBytes / tries))
  for (let ramLayers = 0; ramLayers * maxBytes < usableBytes; ramLayers += step) {
    const plan = withRam(ramLayers * maxBytes)
    if (plan && longRunNs(plan.predicted) <= enoughNs) return plan
  }
  return max
}

/** Returns the plan for layers in these places. */
export function describePlan(layers: readonly PlacedLayer[], options: ResidenceOptions): ResidencePlan {
  const { budget, tier, costFrom } = options
  const bytesIn = (...places: readonly string[]) =>
    layers.filter(({ residence }) => places.includes(residence)).map(memoryBytesOf)
  const [vram, ram, nvme] = [bytesIn('vram'), bytesIn('ram'), bytesIn('nvme')]
  const longest = (lengths: readonly number[]) => lengths.reduce((max, each) => Math.max(max, each), 0)
  const lane = { ram: ram.length > 0, nvme: nvme.length > 0 }
  // In tier 1, reads go through slots in host memory, also those of layers that stay on the GPU.
  const slots =
    tier === 1
      ? layOut(longest([...ram, ...nvme]), longest([...vram, ...nvme]), options, lane)
      : layOut(longest(ram), longest(nvme), options, lane)
  const use = (lengths: readonly number[], slotBytes: number, budgetBytes: number): BudgetUse => {
    const layerBytes = sum(lengths)
    return { layers: lengths.length, layerBytes, slotBytes, unusedBytes: budgetBytes - layerBytes - slotBytes }
  }
  return {
    tier,
    layers,
    slots,
    vram: use(vram, slots.vramBytes, budget.vramBytes),
    ram: use(ram, slots.ramBytes, budget.ramBytes),
    readBytes: sum(layers.map(({ residence, lengthBytes }) => (residence === 'nvme' ? lengthBytes : 0))),
    copiedBytes: sum(
      layers.map(({ residence, lengthBytes }) =>
        residence === 'ram' || (residence === 'nvme' && tier === 1) ? lengthBytes : 0,
      ),
    ),
    predicted: predict(layers, options),
    costFrom,
    options,
  }
}

/** Everything on the drive, or, for a model shorter than the slots, everything on the GPU: the minimum. */
function minBudget(layers: readonly LayerSize[], options: ResidenceOptions): Budget {
  const lengths = layers.map(memoryBytesOf)
  const maxBytes = lengths.reduce((max, each) => Math.max(max, each), 0)
  const onDrive = layOut(maxBytes, maxBytes, options, { ram: false, nvme: true })
  const onGpu = layOut(0, maxBytes, options, { ram: false, nvme: false })
  const onGpuBytes = sum(lengths) + onGpu.vramBytes
  if (onGpuBytes < onDrive.vramBytes) return { vramBytes: onGpuBytes, ramBytes: onGpu.ramBytes }
  return { vramBytes: onDrive.vramBytes, ramBytes: onDrive.ramBytes }
}

function checkLayers(layers: readonly LayerSize[]): void {
  if (layers.length === 0) throw new RangeError('layers: expected at least one, got none')
  const names = new Set<string>()
  for (const { name, lengthBytes } of layers) {
    if (!Number.isSafeInteger(lengthBytes) || lengthBytes < 0)
      throw new RangeError(`layers: expected an integer number of bytes for '${name}', got ${lengthBytes}`)
    if (names.has(name)) throw new RangeError(`layers: expected each name once, got '${name}' twice`)
    names.add(name)
  }
}

function checkResidenceOptions(options: ResidenceOptions): void {
  const { budget, tier, slots = {}, computeNs = 0 } = options
  for (const name of ['vramBytes', 'ramBytes'] as const) {
    if (!(budget[name] >= 0)) throw new RangeError(`budget.${name}: expected 0 or more, got ${budget[name]}`)
  }
  if (![1, 2].includes(tier)) throw new RangeError(`tier: expected 1 or 2, got ${String(tier)}`)
  if (!(computeNs >= 0 && computeNs < Infinity)) throw new RangeError(`computeNs: expected 0 or more, got ${computeNs}`)
  for (const [name, count] of Object.entries({ ...slotCounts(options), ...slots })) {
    if (!Number.isSafeInteger(count) || count < 2)
      throw new RangeError(`slots.${name}: expected 2 or more (one is filled while another is used), got ${count}`)
  }
}
