import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { findAliases } from './aliases.js'
import { checkRange } from './byte-source.js'
import { expertsOf, expertSliceCount, MAX_EXPERTS, type ExpertSlice } from './experts.js'
import { layOutExtent, type ExtentPiece, type ModelExtent } from './extent.js'
import { isOpaqueGgmlType } from './ggml-types.js'
import { layersOf } from './layers.js'
import type { Layer, Model, Tensor } from './model.js'
import { rulesOf, type Naming, type NamingRules } from './naming.js'
import { nearestNames } from './nearest.js'
import { quote } from './quote.js'

/** Suits kernels that read 16 bytes per thread; CUDA's own allocations have it too. */
const DEFAULT_ALIGNMENT_BYTES = 256

/** Options of `Catalogue`. */
export interface CatalogueOptions {
  /** Alignment of each piece in the destination, in bytes; a power of two. Default: 256. */
  readonly alignmentBytes?: number
  /** How layers and experts are found. Default: as when the model was opened. */
  readonly naming?: Naming | undefined
}

/**
 * Names all loadable parts of a model: tensors, layers, experts, ranges. Each is an extent: the location of its bytes
 * and their destination. Reads nothing.
 */
export class Catalogue {
  readonly model: Model
  /** Names that the model omits, each with the tensor used instead (tied weights). */
  readonly aliases: ReadonlyMap<string, Tensor>
  readonly #alignment: number
  readonly #rules: NamingRules
  readonly #layers: ReadonlyMap<string, Layer>
  readonly #tensors: ReadonlyMap<string, Tensor>
  readonly #experts = new Map<Layer, ReadonlyMap<number, readonly ExpertSlice<Tensor>[]>>()

  /** @throws RangeError for an alignment that is not a power of two, or an invalid naming. */
  constructor(model: Model, { alignmentBytes = DEFAULT_ALIGNMENT_BYTES, naming }: CatalogueOptions = {}) {
    if (!Number.isSafeInteger(Math.log2(alignmentBytes)) || alignmentBytes < 1) {
      throw new RangeError(`alignmentBytes: expected a power of two, got ${alignmentBytes}`)
    }
    this.model = model
    this.aliases = findAliases(model)
    this.#alignment = alignmentBytes
    this.#rules = rulesOf(naming ?? model.naming)
    const layers = naming === undefined ? model.layers : layersOf(model, naming)
    this.#layers = new Map(layers.map((layer) => [layer.name, layer]))
    // Not from pairs: half a million temporary pairs would be garbage.
    const tensors = new Map<string, Tensor>()
    for (const tensor of model.tensors) tensors.set(tensor.name, tensor)
    this.#tensors = tensors
  }

  /** Names in the order of computation: 'embedding', 'layer 0', ..., 'output', and MTP layers. */
  get layers(): readonly string[] {
    return [...this.#layers.keys()]
  }

  /**
   * Returns the numbers of a layer's routed experts, ascending; none for a dense layer. @throws the errors of `expert`.
   */
  experts(layer: number | string): readonly number[] {
    return [...this.#expertsOf(this.#layer(layer)).keys()].sort((a, b) => a - b)
  }

  /** Returns a tensor, by name or alias. @throws ExtentNotFoundError */
  tensor(name: string): ModelExtent {
    const tensor = this.#tensors.get(name) ?? this.aliases.get(name)
    if (tensor === undefined) throw new ExtentNotFoundError('tensor', name, this.#tensors.keys())
    return this.#extent(tensor.name, 'tensor', [whole(tensor)])
  }

  /**
   * Returns a layer, by number or name.
   * @param options `experts: false` omits the routed experts; the rest is needed for every token. Default: true.
   * @throws ExtentNotFoundError; UnevenExpertsError if experts are to be omitted.
   */
  layer(layer: number | string, { experts = true }: { readonly experts?: boolean } = {}): ModelExtent {
    const found = this.#layer(layer)
    if (experts) return this.#extent(found.name, 'layer', found.tensors.map(whole))
    refuseUnevenExperts(found, this.#rules)
    const rest = found.tensors.filter((tensor) => expertSliceCount(tensor, this.#rules) === 0)
    return this.#extent(`${found.name} without experts`, 'layer', rest.map(whole))
  }

  /**
   * Returns a routed expert of a layer: its own tensors, and its slices of tensors that stack all experts.
   * @throws ExtentNotFoundError, UnevenExpertsError
   */
  expert(layer: number | string, expert: number): ModelExtent {
    const found = this.#layer(layer)
    const experts = this.#expertsOf(found)
    const nameOf = (number: number): string => `${found.name} expert ${number}`
    const slices = experts.get(expert)
    if (slices === undefined)
      throw new ExtentNotFoundError('expert', nameOf(expert), Array.from(experts.keys(), nameOf))
    const pieces = slices.map(({ tensor, fromBytes, lengthBytes }) => {
      return { tensor, part: tensor.part, offsetBytes: tensor.offsetBytes + fromBytes, lengthBytes }
    })
    return this.#extent(nameOf(expert), 'expert', pieces)
  }

  /** Returns a range of bytes of a part. @throws RangeError unless it is inside the part. */
  range(part: number, offsetBytes: number, lengthBytes: number): ModelExtent {
    const { parts } = this.model
    const source = parts[part]?.source
    if (source === undefined) throw new RangeError(`part: expected 0 to ${parts.length - 1}, got ${part}`)
    checkRange(source, offsetBytes, lengthBytes)
    const name = `part ${part} [${offsetBytes}, ${offsetBytes + lengthBytes})`
    return this.#extent(name, 'range', [{ tensor: undefined, part, offsetBytes, lengthBytes }])
  }

  #layer(layer: number | string): Layer {
    const name = typeof layer === 'number' ? `layer ${layer}` : layer
    const found = this.#layers.get(name)
    if (found === undefined) throw new ExtentNotFoundError('layer', name, this.#layers.keys())
    return found
  }

  /** Computed on first use: many models have no experts, and few layers may be needed. */
  #expertsOf(layer: Layer): ReadonlyMap<number, readonly ExpertSlice<Tensor>[]> {
    const known = this.#experts.get(layer)
    if (known !== undefined) return known
    refuseUnevenExperts(layer, this.#rules)
    const experts = expertsOf(layer.tensors, this.#rules)
    this.#experts.set(layer, experts)
    return experts
  }

  #extent(name: string, kind: ModelExtent['kind'], pieces: readonly Omit<ExtentPiece, 'intoBytes'>[]): ModelExtent {
    const ordered = [...pieces].sort((a, b) => a.part - b.part || a.offsetBytes - b.offsetBytes)
    return layOutExtent(name, kind, ordered, this.#alignment)
  }
}

function whole(tensor: Tensor): Omit<ExtentPiece, 'intoBytes'> {
  const { part, offsetBytes, lengthBytes } = tensor
  return { tensor, part, offsetBytes, lengthBytes }
}

/** Checks that all stacked tensors have equally many experts and can be cut between them. */
function refuseUnevenExperts(layer: Layer, rules: NamingRules): void {
  let first: Tensor | undefined
  for (const tensor of layer.tensors) {
    const { name, dtype, shape } = tensor
    // For example, a scale for all experts has one dimension or none.
    if (shape.length < 2 || rules.expertIn(name) !== 'all') continue
    if (isOpaqueGgmlType(dtype))
      throw new UnevenExpertsError(layer, `${quote(name)} is ${quote(dtype)}, so the length of an expert is unknown`)
    const slices = expertSliceCount(tensor, rules)
    if (shape[0]! > MAX_EXPERTS)
      throw new UnevenExpertsError(layer, `${quote(name)} has ${shape[0]} experts; the limit is ${MAX_EXPERTS}`)
    if (slices === 0)
      throw new UnevenExpertsError(layer, `${quote(name)} does not divide into ${shape[0]} equal runs of bytes`)
    first ??= tensor
    if (first.shape[0] !== slices) {
      throw new UnevenExpertsError(
        layer,
        `${quote(first.name)} has ${first.shape[0]} experts and ${quote(name)} has ${slices}`,
      )
    }
  }
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
    const there = nearest.length > 0 ? `nearest: ${nearest.map(quote).join(', ')}` : `it has no ${kind}s there`
    super(`The model has no ${kind} ${quote(wanted)}`, {
      facts: [there],
      next: 'see `layers` and `experts(layer)` of the catalogue, or `tensors` of its model',
    })
    this.wanted = wanted
    this.nearest = nearest
  }
}

/** Error of experts that cannot be separated. The layer as a whole can be loaded. */
export class UnevenExpertsError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_UNEVEN_EXPERTS'
  readonly category = 'infeasible'
  readonly layerName: string

  constructor(layer: Layer, what: string) {
    super(`Cannot separate the experts of ${quote(layer.name)}: ${what}`, {
      next: 'load the whole layer, or name the tensors of experts with the option `naming`',
    })
    this.layerName = layer.name
  }
}
