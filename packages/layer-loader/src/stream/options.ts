import { asModel, type Loadable } from '../load/as-model.js'
import { loadPlanFor, type LoaderOptions } from '../load/options.js'
import type { StreamStatistics } from './statistics.js'

export interface StreamProgress {
  /** The layer that has just been loaded. */
  readonly layer: string
  readonly index: number
  /** How many layers were asked for, and how many bytes are read for them. */
  readonly layers: number
  readonly totalBytes: number
  readonly statistics: StreamStatistics
}

export interface StreamOptions extends Omit<LoaderOptions, 'slotBytes'> {
  /** Names of layers, or their numbers (3 is 'layer 3'), in the order wanted; one may come again. All of them when not given. */
  readonly layers?: readonly (string | number)[]
  /** Layers of those that are left out, by name or number: nothing of them is read. */
  readonly skip?: readonly (string | number)[]
  /**
   * What `next` does while leases hold every slot. 'throw' (when not given): AllSlotsHeldError, since in a plain loop
   * nobody would ever release one. 'wait': until one is released elsewhere.
   */
  readonly whenHeld?: 'throw' | 'wait'
  /** Called for each layer once it is loaded, in order. What it throws ends the stream. */
  readonly onProgress?: (progress: StreamProgress) => void
}

/** What is to be streamed, and the memory that it takes: `slots` times `slotBytes`. */
export interface StreamShape {
  readonly layers: readonly string[]
  readonly slots: number
  readonly slotBytes: number
  readonly totalBytes: number
}

/**
 * Says what a stream will take, before anything is allocated.
 * @throws RangeError for a number of slots below 1, or a layer that the model does not have.
 */
export function planStream(
  loadable: Loadable,
  options: Pick<StreamOptions, 'slots' | 'layers' | 'skip' | 'verify' | 'alignBytes'> = {},
): StreamShape {
  const { slots = 3, layers: wanted, skip = [] } = options
  const model = asModel(loadable)
  if (!Number.isSafeInteger(slots) || slots < 1) throw new RangeError(`slots: expected at least 1, got ${slots}`)
  const nameOf = (layer: string | number) => model.layer(layer).name
  const skipped = new Set(skip.map(nameOf))
  const layers = (wanted?.map(nameOf) ?? model.layers).filter((name) => !skipped.has(name))
  let slotBytes = 1
  let totalBytes = 0
  const lengths = new Map<string, { memoryBytes: number; readBytes: number }>()
  for (const name of layers) {
    let length = lengths.get(name)
    if (length === undefined) {
      const { memoryBytes, readBytes } = loadPlanFor(model.store, model.layer(name), options)
      lengths.set(name, (length = { memoryBytes, readBytes }))
    }
    slotBytes = Math.max(slotBytes, length.memoryBytes)
    totalBytes += length.readBytes
  }
  return { layers, slots: Math.min(slots, layers.length), slotBytes, totalBytes }
}
