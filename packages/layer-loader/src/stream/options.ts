import { quote } from '../formats/quote.js'
import { ALIGNMENT_BYTES } from '../image/format.js'
import type { PackedLayer } from '../image/manifest.js'
import type { PackedModel } from '../image/open-image.js'
import type { StreamStatistics } from './statistics.js'

export interface StreamProgress {
  /** The layer that has just been loaded. */
  readonly layer: string
  readonly index: number
  /** How many layers were asked for, and how many bytes they have. */
  readonly layers: number
  readonly totalBytes: number
  readonly statistics: StreamStatistics
}

export interface StreamOptions {
  /** How many layers may be in memory at once, those being read included. 3 when not given; 1 never reads ahead. */
  readonly slots?: number
  /** Names of layers, or their numbers from 0, in the order wanted; one may come again. All of them when not given. */
  readonly layers?: readonly (string | number)[]
  /** Checks every chunk before its layer is handed out; true when not given. */
  readonly verify?: boolean
  /**
   * What `next` does while leases hold every slot. 'throw' (when not given): AllSlotsHeldError, since in a plain loop
   * nobody would ever release one. 'wait': until one is released elsewhere.
   */
  readonly whenHeld?: 'throw' | 'wait'
  /** Fills released slots with 0xa5, so that bytes used too late are seen to be wrong. False when not given. */
  readonly poison?: boolean
  readonly signal?: AbortSignal
  /** For each command, from its submission. */
  readonly timeoutNs?: number
  /** Called for each layer once it is loaded, in order. What it throws ends the stream. */
  readonly onProgress?: (progress: StreamProgress) => void
}

/** What is to be streamed, and the memory that it takes: `slots` times `slotBytes`. */
export interface StreamShape {
  readonly layers: readonly PackedLayer[]
  readonly slots: number
  readonly slotBytes: number
  readonly totalBytes: number
}

/**
 * Says what a stream will take, before anything is allocated.
 * @throws RangeError for a number of slots below 1, or a layer that the model does not have.
 */
export function planStream(
  model: Pick<PackedModel, 'name' | 'layers'>,
  { slots = 3, layers: wanted }: Pick<StreamOptions, 'slots' | 'layers'> = {},
): StreamShape {
  if (!Number.isSafeInteger(slots) || slots < 1) throw new RangeError(`slots: expected at least 1, got ${slots}`)
  const byName = new Map(model.layers.map((layer) => [layer.name, layer]))
  const layers = wanted === undefined ? model.layers : wanted.map(find)
  return {
    layers,
    slots: Math.min(slots, layers.length),
    slotBytes: layers.reduce((most, { lengthBytes }) => Math.max(most, lengthBytes), ALIGNMENT_BYTES),
    totalBytes: layers.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0),
  }

  function find(layer: string | number): PackedLayer {
    const found = typeof layer === 'number' ? model.layers[layer] : byName.get(layer)
    if (found !== undefined) return found
    const got = typeof layer === 'number' ? layer : quote(layer)
    throw new RangeError(
      `layers: expected one of the ${model.layers.length} layers of ${quote(model.name)}, got ${got}`,
    )
  }
}
