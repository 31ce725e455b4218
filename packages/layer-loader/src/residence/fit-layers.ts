import { isMtpLayer } from '../formats/layers.js'
import type { LoadableModel, StoredExtent } from '../load/extent.js'
import { loadPlanFor } from '../load/options.js'
import { partsOf, type MeasureMemory } from '../load/parts.js'
import { requireModel } from '../load/require-model.js'
import { pagesOf } from '../load/slots.js'
import { BudgetInfeasibleError } from './budget-infeasible.js'
import type { LayersWithTensors } from './expert-sizes.js'
import { layOut } from './lay-out.js'
import { passLayers, type LayerReadOptions } from './layer-sizes.js'
import { planResidence, type ResidenceOptions } from './plan.js'
import { sum, type LayerSize } from './predict.js'

/** Options of a plan that determine the memory of its slots. */
export type FitOptions = Pick<ResidenceOptions, 'budget' | 'tier' | 'slots'>

/**
 * Returns the model itself if a plan for its layers exists. Otherwise, returns a view of it for `layerSizes` and
 * `openResidence`, in which each layer that exceeds a slot of the budget is replaced by parts, split between tensors:
 * 'layer 3 part 1 of 4'. They are planned, read and lent like layers.
 *
 * If a tensor exceeds a slot, no plan exists for the parts either: the error of `planResidence` states the budget that
 * the longest part needs.
 * @throws LoaderError (INVALID_ARGUMENT); RangeError or TypeError for invalid options
 */
export function fitLayers(model: LoadableModel, options: FitOptions, reading: LayerReadOptions = {}): LoadableModel {
  requireModel(model)
  const memoryOf = (extent: StoredExtent) => loadPlanFor(model.store, extent, reading).memoryBytes
  const whole = passLayers(model).map((name) => model.layer(name))
  const fitting = fit(whole, memoryOf, options)
  if (fitting === whole) return model
  const { name, store, hasChecksums } = model
  const parts = new Map(fitting.flatMap((extent) => (extent.part ? [[extent.name, extent] as const] : [])))
  const layer: LoadableModel['layer'] = (wanted, more) => parts.get(String(wanted)) ?? model.layer(wanted, more)
  return { name, store, hasChecksums, layers: fitting.map((extent) => extent.name), layer }
}

/**
 * Returns the sizes of the layers of a pass, or of their parts, as `fitLayers` splits them: for model files that are
 * not on a store. Alignment and check units are not included.
 * @throws RangeError or TypeError for invalid options
 */
export function fitLayerSizes({ layers }: Pick<LayersWithTensors, 'layers'>, options: FitOptions): LayerSize[] {
  const whole = layers
    .filter(({ name }) => !isMtpLayer(name))
    .map(({ name, tensors }): StoredExtent => {
      return { name, pieces: tensors.map((tensor) => ({ ...tensor, runs: [] })), checks: [] }
    })
  const memoryOf = ({ pieces }: StoredExtent) => sum(pieces.map(({ lengthBytes }) => lengthBytes))
  return fit(whole, memoryOf, options).map((extent) => sizeOf(extent, memoryOf))
}

/**
 * Returns the layers if they can be placed; otherwise these and parts that can, except for tensors that exceed a slot.
 */
function fit(layers: readonly StoredExtent[], memoryOf: MeasureMemory, options: FitOptions): readonly StoredExtent[] {
  if (
    isFeasible(
      layers.map((layer) => sizeOf(layer, memoryOf)),
      options,
    )
  )
    return layers
  const slotBytes = longestSlotBytes(options)
  return layers.flatMap((layer) => {
    if (memoryOf(layer) <= slotBytes) return [layer]
    const { name, pieces, checks } = layer
    const alone = pieces.map((piece) => memoryOf({ name, pieces: [piece], checks }))
    return partsOf(
      layer,
      alone.reduce((max, bytes) => Math.max(max, bytes), slotBytes),
      memoryOf,
    )
  })
}

/** Returns the longest slots of which the budget has enough for a model that is entirely on the drive. */
function longestSlotBytes(options: FitOptions): number {
  const { vramBytes, ramBytes } = options.budget
  const slots = layOut(1, 1, options, { ram: false, nvme: true })
  const bytes = Math.min(vramBytes / slots.vramBytes, slots.ramBytes === 0 ? Infinity : ramBytes / slots.ramBytes)
  const pageBytes = pagesOf(1)
  return Math.floor(bytes / pageBytes) * pageBytes
}

function isFeasible(layers: readonly LayerSize[], options: FitOptions): boolean {
  try {
    // What fits does not depend on the cost.
    planResidence(layers, { ...options, cost: { readNs: (bytes) => bytes }, costFrom: 'guess' })
    return true
  } catch (error) {
    if (error instanceof BudgetInfeasibleError) return false
    throw error
  }
}

function sizeOf(extent: StoredExtent, memoryOf: MeasureMemory): LayerSize {
  const { name, part } = extent
  return { name, lengthBytes: memoryOf(extent), ...(part && { part }) }
}
