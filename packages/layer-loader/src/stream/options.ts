import { describeValue, invalidArgument } from '../formats/invalid-argument.js'
import { isMtpLayer } from '../formats/layers.js'
import type { ExtentPart, StoredExtent, StoredModel } from '../load/extent.js'
import { requireModel } from '../load/require-model.js'
import { checkCount, loadPlanFor, type LoaderOptions } from '../load/options.js'
import { partsOf } from '../load/parts.js'
import type { StreamStatistics } from './statistics.js'

/** Progress of a stream. */
export interface StreamProgress {
  /** The layer that has just been loaded, or a part of it. */
  readonly layer: string
  readonly index: number
  /** Position of the part in its layer; undefined for a complete layer. */
  readonly part: ExtentPart | undefined
  /** Number of requested layers. `totalBytes` are read for them. */
  readonly layers: number
  readonly totalBytes: number
  readonly statistics: StreamStatistics
}

/** Options of `streamLayers`. */
export interface StreamOptions extends Omit<LoaderOptions, 'slotBytes' | 'memoryBytes'> {
  /**
   * Layers by name or number (3 is 'layer 3'), in order; repetitions are allowed. Default: all but those of multi-token
   * prediction (`isMtpLayer`).
   */
  readonly layers?: readonly (string | number)[]
  /** False omits the routed experts of all layers: the rest is needed for every token. Default: true. */
  readonly experts?: boolean
  /** Layers to omit, by name or number. They are not read. */
  readonly skip?: readonly (string | number)[]
  /**
   * Maximum bytes per slot. A layer that takes more is loaded in parts, split between tensors, with a lease for each:
   * see `Lease.part`. A chunk that two parts share is read for both, so that each split reads up to 1 MiB more. Default:
   * enough for any of the layers.
   */
  readonly slotBytes?: number
  /**
   * Behaviour of `next` while leases hold all slots. 'throw' (default): LoaderError (ALL_SLOTS_HELD), since a plain
   * loop would never release one. 'wait': wait until other code releases one.
   */
  readonly whenHeld?: 'throw' | 'wait'
  /** Called for each loaded layer or part, in order. An error that it throws ends the stream. */
  readonly onProgress?: (progress: StreamProgress) => void
}

/** Layers and memory of a stream: `slots` times `slotBytes`. */
export interface StreamShape {
  readonly layers: readonly string[]
  /** Number of leases: one for each layer, or for each part of a layer that exceeds the `slotBytes` option. */
  readonly leases: number
  readonly slots: number
  readonly slotBytes: number
  readonly totalBytes: number
}

/** Options that determine the memory of a stream. */
type ShapeOptions = Pick<StreamOptions, 'slots' | 'slotBytes' | 'layers' | 'experts' | 'skip' | 'verify' | 'alignBytes'>

/**
 * Returns the layers and memory of a stream, before anything is allocated.
 * @throws ExtentNotFoundError, LoaderError (INVALID_ARGUMENT, UNEVEN_EXPERTS, TENSOR_TOO_LONG), RangeError for fewer
 * than 1 slot or byte. UNEVEN_EXPERTS only if experts are to be omitted, TENSOR_TOO_LONG only with `slotBytes`.
 */
export function planStream(model: StoredModel, options: ShapeOptions = {}): StreamShape {
  const { slots = 3, slotBytes, layers: wanted, skip = [] } = options
  requireModel(model)
  checkCount('slots', slots)
  if (slotBytes !== undefined) checkCount('slotBytes', slotBytes)
  for (const [option, list] of Object.entries({ layers: wanted, skip })) {
    if (list === undefined || Array.isArray(list)) continue
    throw invalidArgument(option, 'an array of names or numbers of layers', describeValue(list))
  }
  const nameOf = (layer: string | number) => model.layer(layer).name
  const skipped = new Set(skip.map(nameOf))
  const all = wanted?.map(nameOf) ?? model.layers.filter((name) => !isMtpLayer(name))
  const layers = all.filter((name) => !skipped.has(name))
  const shape = { leases: 0, slotBytes: 1, totalBytes: 0 }
  const plans = new Map<string, { memoryBytes: number; readBytes: number }[]>()
  for (const name of layers) {
    let parts = plans.get(name)
    if (parts === undefined) {
      parts = extentsOf(model, name, options, layers).map((extent) => {
        const { memoryBytes, readBytes } = loadPlanFor(model.store, extent, options)
        return { memoryBytes, readBytes }
      })
      plans.set(name, parts)
    }
    for (const { memoryBytes, readBytes } of parts) {
      shape.leases++
      shape.slotBytes = Math.max(shape.slotBytes, memoryBytes)
      shape.totalBytes += readBytes
    }
  }
  return { layers, slots: Math.min(slots, shape.leases), ...shape }
}

/**
 * Returns the extents of a layer that a stream loads one by one: the layer, or its parts.
 * @param layers all layers of the stream, for the error of a `slotBytes` that is too small
 * @throws as `planStream` does
 */
export function extentsOf(
  model: StoredModel,
  layer: string,
  options: ShapeOptions,
  layers: readonly string[] = [layer],
): StoredExtent[] {
  const { experts = true, slotBytes } = options
  const extentOf = (name: string) => model.layer(name, { experts })
  const extent = extentOf(layer)
  if (slotBytes === undefined) return [extent]
  const memoryOf = (part: StoredExtent) => loadPlanFor(model.store, part, options).memoryBytes
  return partsOf(extent, slotBytes, memoryOf, () => layers.map(extentOf))
}
