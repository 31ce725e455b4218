import { isMtpLayer } from '../formats/layers.js'
import type { StoredModel } from '../load/extent.js'
import { requireModel } from '../load/require-model.js'
import { openLoader } from '../load/loader.js'
import { loadPlanFor, type LoaderOptions } from '../load/options.js'
import { CopyCheck } from './copy-check.js'
import type { LayerSize } from './plan.js'
import type { LayerSource } from './source.js'

/** Options for reading layers. The plan sets the slots. */
export interface LoaderSourceOptions extends Omit<LoaderOptions, 'slots' | 'slotBytes' | 'where' | 'signal' | 'dma'> {
  /** Options for slots on the GPU, in which this CPU can neither check nor move bytes. */
  readonly onGpu?: Pick<LoaderOptions, 'verify' | 'checksummer' | 'move' | 'dma'>
}

/**
 * Returns the layers of a pass with their memory, for `planResidence`: all but those of multi-token prediction
 * (`isMtpLayer`).
 */
export function layerSizes(model: StoredModel, options: LoaderSourceOptions = {}): LayerSize[] {
  requireModel(model)
  const names = model.layers.filter((name) => !isMtpLayer(name))
  return names.map((name) => ({
    name,
    lengthBytes: loadPlanFor(model.store, model.layer(name), options).memoryBytes,
  }))
}

/** Returns a model as a source for `openResidence`: loaders read, check and place its layers. */
export function loaderSource(model: StoredModel, { onGpu, ...options }: LoaderSourceOptions = {}): LayerSource {
  requireModel(model)
  return {
    clock: model.store.clock,
    open(room) {
      const loader = openLoader(model, { ...options, ...(room.where === 'gpu' && onGpu), ...room })
      return {
        async load(layer, signal) {
          const extent = model.layer(layer)
          const lease = await loader.request(extent, { signal }).lease()
          const { memory, tensors, verified, statistics } = lease
          const { bytes, endNs, readNs } = statistics
          const plan = loader.plan(extent)
          const check = new CopyCheck(model.name, layer, { memory, plan, checksummer: options.checksummer })
          return {
            memory,
            lengthBytes: plan.memoryBytes,
            tensors,
            verified,
            read: { bytes, startNs: endNs - readNs, endNs },
            checkCopy: (...call) => check.run(...call),
            release: () => lease.release(),
          }
        },
        close: () => loader.close(),
      }
    },
  }
}
