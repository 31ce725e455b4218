import type { StoredModel } from '@gpunvme/layer-loader'
import {
  BudgetInfeasibleError,
  fitLayers,
  layerSizes,
  measureCost,
  planResidence,
  type Budget,
  type LayerSize,
  type LayerReadOptions,
  type LoadableModel,
  type ResidenceOptions,
  type ResidencePlan,
} from '@gpunvme/layer-loader/residence'
import { totalmem } from 'node:os'
import type { OpenedTransport } from '../drive/opened-transport.js'
import { measureCheckRate } from '../model/check-rate.js'
import { defaultRamBytes } from '../model/machine-cost.js'
import { describeLayers } from '../model/residence-report.js'
import { ToolsError } from '../command-line/tools-error.js'
import { REAL_TIME_MEMORY_BYTES } from '../drive/real-time-memory.js'
import { formatBytes } from '../terminal/units.js'
import type { Choice } from './choice.js'
import { hostChecksummer, type Target } from './gpu.js'
import type { ComposeOptions } from './options.js'
import type { ReachedTier } from './tier.js'

/** Bytes read and copied to measure their cost. */
const SAMPLE_BYTES = 32 * 1024 * 1024

/** Parameters of a placement, in addition to the model and its drives. */
interface PlacementParts {
  readonly target: Target
  readonly options: ComposeOptions
  readonly tier: ReachedTier
  readonly reading: LayerReadOptions
}

/** Returns which data are verified, and where. */
export function readOptions(
  { hasChecksums }: StoredModel,
  { checksummer, name }: Target,
  { tier, vram }: ReachedTier,
  { verify = true }: ComposeOptions,
): [Choice, LayerReadOptions] {
  const checks = verify && hasChecksums
  const choice = (chosen: string, reason: string): Choice => ({ subject: 'verification', chosen, reason, rejected: [] })
  const where = { 0: 'in host memory', 1: 'after the read and after the copy', 2: 'in GPU memory', 3: 'in GPU memory' }
  const decided = !verify
    ? choice('off', 'requested')
    : hasChecksums
      ? choice('every byte', `against the checksums in the image, ${where[tier]}`)
      : tier === 0
        ? choice('none', 'these files have no checksums')
        : choice('copies', `these files have no checksums: ${name} is compared with host memory`)
  const host = checks ? ({ verify: 'full', checksummer: hostChecksummer() } as const) : ({ verify: 'off' } as const)
  const onGpu = { ...(verify && { checksummer }), ...(vram && { dma: vram }) }
  return [decided, { ...host, onGpu }]
}

/** Placeholder cost for plans that only decide what fits. */
const ANY_COST = { readNs: (bytes: number) => bytes, copyNs: (bytes: number) => bytes }

/** The layers to load, their places, and the decisions on them. */
interface Placed {
  /** The model, or its layers in parts. */
  readonly layers: LoadableModel
  readonly placement: ResidencePlan
  readonly choices: readonly Choice[]
}

/**
 * Places the layers, with measured costs if they matter. Layers that do not fit are split.
 * @throws BudgetInfeasibleError, or ToolsError (REAL_TIME_MEMORY) if no budget is enough; errors of `measureCost`
 */
export async function place(
  model: StoredModel,
  opened: readonly OpenedTransport[],
  parts: PlacementParts,
): Promise<Placed> {
  const { target, options, tier, reading } = parts
  const budget = budgetOf(opened, parts)
  const planned = { budget, tier: tier.tier === 1 ? 1 : 2 } as const
  const fitted = fitLayers(model, planned, reading)
  const layers = layerSizes(fitted, reading)
  const split = fitted === model ? [] : [splitChoice(layers)]
  const placed = (placement: ResidencePlan, chosen: string, reason: string): Placed => {
    return { layers: fitted, placement, choices: [...split, { subject: 'cost', chosen, reason, rejected: [] }] }
  }
  const guess = refuseBeyondDrive(opened, () =>
    planFor(tier, layers, { ...planned, cost: ANY_COST, costFrom: 'guess' }),
  )
  if (guess.readBytes + guess.copiedBytes === 0) {
    const where = tier.tier === 0 ? target.name : 'GPU memory'
    return placed(guess, 'not measured', `every layer stays in ${where}`)
  }
  const { store } = model
  const half = Math.floor(store.capacityBytes / 2 / store.blockBytes) * store.blockBytes
  const sampleBytes = Math.min(SAMPLE_BYTES, half)
  const copies = tier.tier === 0 ? undefined : target.copies
  const measuring = { sampleBytes, ...(copies && { copies }), ...(options.signal && { signal: options.signal }) }
  // A store of a single block is too small to measure.
  const cost = sampleBytes > 0 ? await measureCost(store, measuring) : { readNs: () => 0 }
  const isModelled = opened[0]?.time === 'modelled'
  // Checksums take no modelled time; their rate on a GPU is not known.
  const isChecked = reading.verify === 'full' && !isModelled && tier.vram === undefined
  const checkNs = isChecked ? await measureChecks(reading) : undefined
  const plan = planResidence(layers, { ...planned, cost, costFrom: 'measured', checkNs })
  const what = ['reads', ...(copies ? ['copies'] : []), ...(checkNs ? ['checksums'] : [])].join(', ')
  return placed(plan, 'measured', `${formatBytes(sampleBytes)} of ${what}, ${isModelled ? 'modelled' : 'wall'} time`)
}

function splitChoice(layers: readonly LayerSize[]): Choice {
  const longestBytes = layers.reduce((max, { part, lengthBytes }) => (part ? Math.max(max, lengthBytes) : max), 0)
  const reason = `${describeLayers(layers)} of at most ${formatBytes(longestBytes)}; memory is too small for slots of whole layers`
  return { subject: 'layers', chosen: 'split', reason, rejected: [] }
}

async function measureChecks({ checksummer }: LayerReadOptions): Promise<(lengthBytes: number) => number> {
  const bytesPerSecond = await measureCheckRate(checksummer!)
  return (lengthBytes) => (lengthBytes / bytesPerSecond) * 1e9
}

/** @throws BudgetInfeasibleError in terms of the user's memory */
function planFor({ tier }: ReachedTier, layers: readonly LayerSize[], options: ResidenceOptions): ResidencePlan {
  try {
    return planResidence(layers, options)
  } catch (error) {
    if (!(error instanceof BudgetInfeasibleError) || tier > 0) throw error
    const inHost = ({ vramBytes }: Budget): Budget => ({ vramBytes: 0, ramBytes: vramBytes })
    throw new BudgetInfeasibleError(inHost(error.budget), inHost(error.minimum), error.longest)
  }
}

/**
 * Runs `planFor` for these drives. @throws ToolsError (REAL_TIME_MEMORY) if no budget is enough; errors of `planFor`
 */
function refuseBeyondDrive(opened: readonly OpenedTransport[], run: () => ResidencePlan): ResidencePlan {
  try {
    return run()
  } catch (error) {
    const isBeyond = error instanceof BudgetInfeasibleError && error.minimum.ramBytes > REAL_TIME_MEMORY_BYTES
    throw isBeyond && isRealTimeSim(opened) ? realTimeMemoryError(error) : error
  }
}

function isRealTimeSim(opened: readonly OpenedTransport[]): boolean {
  return opened.some(({ name, time }) => name === 'sim' && time === 'wall')
}

function budgetOf(opened: readonly OpenedTransport[], { target, options, tier }: PlacementParts): Budget {
  const ramBytes = options.ram ?? defaultRamBytes(isRealTimeSim(opened) ? REAL_TIME_MEMORY_BYTES : totalmem())
  // Without a GPU, layers are used in host memory: the planner's GPU memory.
  if (tier.tier === 0) return { vramBytes: ramBytes, ramBytes: 0 }
  return { vramBytes: options.vram ?? target.defaultVramBytes, ramBytes }
}

/** Error of slots that are larger than the memory of a simulated drive in real time, whatever the budget. */
function realTimeMemoryError(cause: BudgetInfeasibleError): ToolsError {
  const { minimum, longest } = cause
  return new ToolsError(
    'ERR_GPUNVME_REAL_TIME_MEMORY',
    'infeasible',
    'The layers do not fit into the memory of a simulated drive in real time',
    {
      facts: [
        `host memory: ${formatBytes(minimum.ramBytes)} at least, the drive has ${formatBytes(REAL_TIME_MEMORY_BYTES)}`,
        `the longest layer takes ${formatBytes(longest.lengthBytes)}: "${longest.name}"`,
      ],
      next: 'omit --real-time',
      cause,
    },
  )
}
