import { isMtpLayer } from '../formats/layers.js'
import type { StoredModel } from '../load/extent.js'
import { loadPlanFor, type LoaderOptions } from '../load/options.js'
import { requireModel } from '../load/require-model.js'
import type { LayerSize } from './plan.js'

/** How layers are read, aligned and verified. A plan sets their memory. */
export interface LayerReadOptions extends Omit<
  LoaderOptions,
  'slots' | 'slotBytes' | 'memoryBytes' | 'where' | 'signal' | 'dma'
> {
  /**
   * Options for memory on the GPU. Its checksummer, for example `cudaChecksummer`, also compares each copy with its
   * source; without one, copies are not checked.
   */
  readonly onGpu?: Pick<LoaderOptions, 'verify' | 'checksummer' | 'move' | 'dma'>
}

/**
 * Returns the layers of a pass with their memory, for `planResidence`: all but those of multi-token prediction
 * (`isMtpLayer`).
 */
export function layerSizes(model: StoredModel, options: LayerReadOptions = {}): LayerSize[] {
  requireModel(model)
  const names = model.layers.filter((name) => !isMtpLayer(name))
  return names.map((name) => ({
    name,
    lengthBytes: loadPlanFor(model.store, model.layer(name), options).memoryBytes,
  }))
}
