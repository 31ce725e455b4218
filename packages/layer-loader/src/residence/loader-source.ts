import { asModel, type Loadable } from '../load/as-model.js'
import { openLoader } from '../load/loader.js'
import { loadPlanFor, type LoaderOptions } from '../load/options.js'
import { CopyCheck } from './copy-check.js'
import type { LayerSize } from './plan.js'
import type { LayerSource } from './source.js'

/** How layers are read; slots are the plan's. */
export interface LoaderSourceOptions extends Omit<LoaderOptions, 'slots' | 'slotBytes' | 'where' | 'signal' | 'dma'> {
  /** What is different for slots on the GPU, which this processor can neither check nor move bytes in. */
  readonly onGpu?: Pick<LoaderOptions, 'verify' | 'checksummer' | 'move' | 'dma'>
}

/** A model's layers with the memory that each takes, for `planResidence`. */
export function layerSizes(model: Loadable, options: LoaderSourceOptions = {}): LayerSize[] {
  const stored = asModel(model)
  return stored.layers.map((name) => ({
    name,
    lengthBytes: loadPlanFor(stored.store, stored.layer(name), options).memoryBytes,
  }))
}

/** A model as residence takes it: its layers are read, checked and placed in slots by loaders. */
export function loaderSource(model: Loadable, { onGpu, ...options }: LoaderSourceOptions = {}): LayerSource {
  const stored = asModel(model)
  return {
    clock: stored.store.clock,
    open(room) {
      const loader = openLoader(stored, { ...options, ...(room.where === 'gpu' && onGpu), ...room })
      return {
        async load(layer, signal) {
          const extent = stored.layer(layer)
          const lease = await loader.request(extent, { signal }).lease()
          const { memory, tensors, verified, statistics } = lease
          const { bytes, endNs, readNs } = statistics
          const plan = loader.plan(extent)
          const check = new CopyCheck(stored.name, layer, { memory, plan, checksummer: options.checksummer })
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
