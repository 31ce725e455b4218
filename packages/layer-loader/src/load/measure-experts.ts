import { hasCode, type LoaderError } from '../error.js'
import { invalidArgument } from '../formats/invalid-argument.js'
import { quote } from '../formats/quote.js'
import type { StoredModel } from './extent.js'
import { loadPlanFor, type LoaderOptions } from './options.js'

/**
 * Counts the experts of a model, and finds the memory of the largest one. Layers whose experts cannot be separated are
 * omitted.
 * @throws LoaderError (INVALID_ARGUMENT, UNEVEN_EXPERTS): the model has no experts, or those of no layer can be separated.
 */
export function measureExperts(model: StoredModel, options: LoaderOptions): { count: number; largestBytes: number } {
  let [count, largestBytes] = [0, 0]
  let uneven: LoaderError | undefined
  for (const layer of model.layers) {
    try {
      for (const expert of model.experts(layer)) {
        count++
        const { memoryBytes } = loadPlanFor(model.store, model.expert(layer, expert), options)
        largestBytes = Math.max(largestBytes, memoryBytes)
      }
    } catch (error) {
      if (!hasCode(error, 'ERR_GPUNVME_UNEVEN_EXPERTS')) throw error
      uneven ??= error
    }
  }
  if (count > 0) return { count, largestBytes }
  if (uneven !== undefined) throw uneven
  const next = 'load its layers with streamLayers() or openLoader()'
  throw invalidArgument('model', 'a model with routed experts', `${quote(model.name)} without experts`, next)
}
