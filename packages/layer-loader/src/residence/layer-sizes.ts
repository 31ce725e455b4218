import { isMtpLayer } from '../formats/layers.js'
import type { LoadableModel } from '../load/extent.js'
import { loadPlanFor, type LoaderOptions } from '../load/options.js'
import { requireModel } from '../load/require-model.js'
import type { LayerSize } from './predict.js'

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

/** Returns the names of the layers of a pass: all but those of multi-token prediction (`isMtpLayer`). */
export function passLayers({ layers }: LoadableModel): readonly string[] {
  return layers.filter((name) => !isMtpLayer(name))
}

/** Returns the layers of a pass with their memory, for `planResidence`: all but those of multi-token prediction. */
export function layerSizes(model: LoadableModel, options: LayerReadOptions = {}): LayerSize[] {
  requireModel(model)
  return passLayers(model).map((name) => {
    const extent = model.layer(name)
    const { memoryBytes: lengthBytes } = loadPlanFor(model.store, extent, options)
    return { name, lengthBytes, ...(extent.part && { part: extent.part }) }
  })
}
