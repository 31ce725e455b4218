import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { separateExperts, wholeTensor, type ExpertTensor, type SeparateExperts, type TensorSlice } from './experts.js'
import { describeValue, invalidArgument } from './invalid-argument.js'
import type { NamingRules } from './naming.js'
import { nearestNames } from './nearest.js'
import { quote } from './quote.js'

/** Options of `layer`. */
export interface LayerOptions {
  /** False omits the routed experts; the rest is needed for every token. Default: true. */
  readonly experts?: boolean
}

/** Slices of tensors that are loaded together. */
export interface Selection<T extends ExpertTensor> {
  /** 'layer 12', 'layer 12 without experts', 'layer 12 expert 7', a tensor's name. */
  readonly name: string
  readonly slices: readonly TensorSlice<T>[]
}

/** Finds layers, experts and tensors by name. Used for the tensors of model files and of images. */
export class ModelIndex<T extends ExpertTensor, L extends { readonly name: string; readonly tensors: readonly T[] }> {
  readonly #rules: NamingRules
  readonly #layers: ReadonlyMap<string, L>
  readonly #tensors: ReadonlyMap<string, T>
  readonly #aliases: ReadonlyMap<string, T>
  /** Computed on first use: many models have no experts, and few layers may be needed. */
  readonly #separate = new Map<L, SeparateExperts<T>>()

  constructor(layers: readonly L[], aliases: ReadonlyMap<string, T>, rules: NamingRules) {
    this.#rules = rules
    this.#aliases = aliases
    this.#layers = new Map(layers.map((layer) => [layer.name, layer]))
    // Not from pairs: half a million temporary pairs would be garbage.
    const tensors = new Map<string, T>()
    for (const layer of layers) for (const tensor of layer.tensors) tensors.set(tensor.name, tensor)
    this.#tensors = tensors
  }

  /** Names in the order of computation. */
  get layers(): readonly string[] {
    return [...this.#layers.keys()]
  }

  /** Returns a layer by name or number. @throws ExtentNotFoundError, LoaderError (INVALID_ARGUMENT) */
  find(layer: number | string): L {
    if (typeof layer !== 'string' && typeof layer !== 'number')
      throw invalidArgument('layer', 'a number or a name', typeof layer)
    const name = typeof layer === 'number' ? `layer ${layer}` : layer
    const found = this.#layers.get(name)
    if (found === undefined) throw new ExtentNotFoundError('layer', name, this.#layers.keys())
    return found
  }

  /**
   * @throws ExtentNotFoundError, LoaderError (INVALID_ARGUMENT, UNEVEN_EXPERTS). The latter only with `experts: false`.
   */
  layer(layer: number | string, options: LayerOptions = {}): Selection<T> {
    const found = this.find(layer)
    const all = { name: found.name, slices: found.tensors.map(wholeTensor) }
    if (includesExperts(options)) return all
    const { experts, dense } = this.#expertsOf(found)
    if (experts.size === 0) return all
    return { name: `${found.name} without experts`, slices: dense.map(wholeTensor) }
  }

  /** @throws ExtentNotFoundError, LoaderError (INVALID_ARGUMENT) */
  tensor(name: string): Selection<T> {
    if (typeof name !== 'string') throw invalidArgument('name', 'the name of a tensor', describeValue(name))
    const tensor = this.#tensors.get(name) ?? this.#aliases.get(name)
    if (tensor === undefined) throw new ExtentNotFoundError('tensor', name, this.#tensors.keys())
    return { name: tensor.name, slices: [wholeTensor(tensor)] }
  }

  /**
   * Returns the numbers of a layer's experts, ascending.
   * @throws ExtentNotFoundError, LoaderError (INVALID_ARGUMENT, UNEVEN_EXPERTS)
   */
  experts(layer: number | string): readonly number[] {
    return [...this.#expertsOf(this.find(layer)).experts.keys()]
  }

  /** @throws ExtentNotFoundError, LoaderError (INVALID_ARGUMENT, UNEVEN_EXPERTS) */
  expert(layer: number | string, expert: number): Selection<T> {
    const found = this.find(layer)
    if (typeof expert !== 'number') throw invalidArgument('expert', 'a number', describeValue(expert))
    const { experts } = this.#expertsOf(found)
    const nameOf = (number: number): string => `${found.name} expert ${number}`
    const slices = experts.get(expert)
    if (slices === undefined)
      throw new ExtentNotFoundError('expert', nameOf(expert), Array.from(experts.keys(), nameOf))
    return { name: nameOf(expert), slices }
  }

  #expertsOf(layer: L): SeparateExperts<T> {
    let separate = this.#separate.get(layer)
    if (separate === undefined) this.#separate.set(layer, (separate = separateExperts(layer, this.#rules)))
    return separate
  }
}

/**
 * Validates the options of `layer`. If a misspelt `experts: false` were ignored, all experts would be read, often 30
 * times the bytes of the rest.
 */
function includesExperts(options: LayerOptions): boolean {
  if (typeof options !== 'object') throw invalidArgument('layer options', '{ experts: boolean }', typeof options)
  const unknown = Object.keys(options).find((key) => key !== 'experts')
  if (unknown !== undefined)
    throw invalidArgument('layer options', '{ experts: boolean }', `the unknown option ${quote(unknown)}`)
  const { experts = true } = options
  if (typeof experts !== 'boolean') throw invalidArgument('experts', 'true or false', quote(String(experts)))
  return experts
}

/** Error of a tensor, layer or expert that the model does not have. */
export class ExtentNotFoundError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_EXTENT_NOT_FOUND'
  readonly category = 'not-found'
  /** The requested name. */
  readonly wanted: string
  /** Similar names in the model, the most similar first. */
  readonly nearest: readonly string[]

  constructor(kind: 'tensor' | 'layer' | 'expert', wanted: string, names: Iterable<string>) {
    const nearest = nearestNames(wanted, names)
    const none = kind === 'expert' ? 'this layer has no experts' : `it has no ${kind}s at all`
    const similar = nearest.length > 0 ? `similar names: ${nearest.map(quote).join(', ')}` : none
    super(`The model has no ${kind} ${quote(wanted)}`, {
      facts: [similar],
      next: 'see `layers` and `experts(layer)` of the model',
    })
    this.wanted = wanted
    this.nearest = nearest
  }
}
