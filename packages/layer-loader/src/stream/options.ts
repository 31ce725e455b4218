import { isMtpLayer } from '../formats/layers.js'
import type { StoredModel } from '../load/extent.js'
import { requireModel } from '../load/require-model.js'
import { loadPlanFor, type LoaderOptions } from '../load/options.js'
import type { StreamStatistics } from './statistics.js'

/** Progress of a stream. */
export interface StreamProgress {
  /** The layer that has just been loaded. */
  readonly layer: string
  readonly index: number
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
   * Behaviour of `next` while leases hold all slots. 'throw' (default): LoaderError (ALL_SLOTS_HELD), since a plain
   * loop would never release one. 'wait': wait until other code releases one.
   */
  readonly whenHeld?: 'throw' | 'wait'
  /** Called for each loaded layer, in order. An error that it throws ends the stream. */
  readonly onProgress?: (progress: StreamProgress) => void
}

/** Layers and memory of a stream: `slots` times `slotBytes`. */
export interface StreamShape {
  readonly layers: readonly string[]
  readonly slots: number
  readonly slotBytes: number
  readonly totalBytes: number
}

/**
 * Returns the layers and memory of a stream, before anything is allocated.
 * @throws ExtentNotFoundError, LoaderError (INVALID_ARGUMENT, UNEVEN_EXPERTS), RangeError for fewer than 1 slot.
 * UNEVEN_EXPERTS only if experts are to be omitted.
 */
export function planStream(
  model: StoredModel,
  options: Pick<StreamOptions, 'slots' | 'layers' | 'experts' | 'skip' | 'verify' | 'alignBytes'> = {},
): StreamShape {
  const { slots = 3, layers: wanted, experts = true, skip = [] } = options
  requireModel(model)
  if (!Number.isSafeInteger(slots) || slots < 1) throw new RangeError(`slots: expected at least 1, got ${slots}`)
  const nameOf = (layer: string | number) => model.layer(layer).name
  const skipped = new Set(skip.map(nameOf))
  const all = wanted?.map(nameOf) ?? model.layers.filter((name) => !isMtpLayer(name))
  const layers = all.filter((name) => !skipped.has(name))
  let slotBytes = 1
  let totalBytes = 0
  const lengths = new Map<string, { memoryBytes: number; readBytes: number }>()
  for (const name of layers) {
    let length = lengths.get(name)
    if (length === undefined) {
      const { memoryBytes, readBytes } = loadPlanFor(model.store, model.layer(name, { experts }), options)
      lengths.set(name, (length = { memoryBytes, readBytes }))
    }
    slotBytes = Math.max(slotBytes, length.memoryBytes)
    totalBytes += length.readBytes
  }
  return { layers, slots: Math.min(slots, layers.length), slotBytes, totalBytes }
}
