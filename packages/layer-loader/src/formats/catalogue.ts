import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { findAliases } from './aliases.js'
import { checkRange } from './byte-source.js'
import { expertIn, expertsOf, expertSliceCount, MAX_EXPERTS, type ExpertSlice } from './experts.js'
import { layOutExtent, type ExtentPiece, type ModelExtent } from './extent.js'
import { groupLayers } from './layers.js'
import type { Layer, Model, Tensor } from './model.js'
import { nearestNames } from './nearest.js'
import { quote } from './quote.js'

/** Kernels that read 16 bytes a thread, and CUDA's own allocations, are at home on 256 bytes. */
const DEFAULT_ALIGNMENT_BYTES = 256

/** For models whose publisher follows no rule that this package knows. */
export interface TensorNaming {
  /** Its first group is the number of the layer, as in `/^decoder\.(\d+)\./`. What it does not match is no layer's. */
  readonly layer?: RegExp
  /**
   * Matches the tensors of routed experts. What a group captures is the expert's number; where it captures nothing,
   * the tensor is of all experts, stacked in its outermost dimension.
   */
  readonly expert?: RegExp
}

export interface CatalogueOptions {
  /** Every piece starts in the destination at a multiple of this; a power of two. Default 256. */
  readonly alignmentBytes?: number
  readonly naming?: TensorNaming
}

/**
 * What can be loaded of a model, by name: any tensor, layer, expert or range. Each is an extent, which says where its
 * bytes are and where they go. Nothing is read.
 */
export class Catalogue {
  readonly model: Model
  /** Names that the model leaves out, each with the tensor that stands for it: tied weights. */
  readonly aliases: ReadonlyMap<string, Tensor>
  readonly #alignment: number
  readonly #expertRule: RegExp | undefined
  readonly #layers: ReadonlyMap<string, Layer>
  readonly #tensors: ReadonlyMap<string, Tensor>
  readonly #experts = new Map<Layer, ReadonlyMap<number, readonly ExpertSlice<Tensor>[]>>()

  /** @throws RangeError for an alignment that is no power of two, or a `naming.layer` that finds no numbers. */
  constructor(model: Model, { alignmentBytes = DEFAULT_ALIGNMENT_BYTES, naming = {} }: CatalogueOptions = {}) {
    if (!Number.isSafeInteger(Math.log2(alignmentBytes)) || alignmentBytes < 1) {
      throw new RangeError(`alignmentBytes: expected a power of two, got ${alignmentBytes}`)
    }
    this.model = model
    this.aliases = findAliases(model)
    this.#alignment = alignmentBytes
    this.#expertRule = naming.expert && stateless(naming.expert)
    const layers = naming.layer ? groupLayers(model.tensors, stateless(naming.layer)) : model.layers
    this.#layers = new Map(layers.map((layer) => [layer.name, layer]))
    // Not from pairs: half a million of them would be garbage at once.
    const tensors = new Map<string, Tensor>()
    for (const tensor of model.tensors) tensors.set(tensor.name, tensor)
    this.#tensors = tensors
  }

  /** Names in the order of computation: 'embedding', 'layer 0', 'layer 1', ..., 'output'. */
  get layers(): readonly string[] {
    return [...this.#layers.keys()]
  }

  /** Numbers of a layer's routed experts, ascending; none in a dense layer. @throws as `expert` does. */
  experts(layer: number | string): readonly number[] {
    return [...this.#expertsOf(this.#layer(layer)).keys()].sort((a, b) => a - b)
  }

  /** A tensor, by its name or by one of the aliases. @throws ExtentNotFoundError, UnknownTensorTypeError */
  tensor(name: string): ModelExtent {
    const tensor = this.#tensors.get(name) ?? this.aliases.get(name)
    if (tensor === undefined) throw new ExtentNotFoundError('tensor', name, this.#tensors.keys())
    return this.#extent(tensor.name, 'tensor', [whole(tensor)])
  }

  /**
   * A layer, by its number or its name.
   * @param options.experts false leaves the routed experts out: what is left is wanted for every token. Default true.
   * @throws ExtentNotFoundError, UnknownTensorTypeError; UnevenExpertsError when experts are to be left out.
   */
  layer(layer: number | string, { experts = true }: { readonly experts?: boolean } = {}): ModelExtent {
    const found = this.#layer(layer)
    if (experts) return this.#extent(found.name, 'layer', found.tensors.map(whole))
    refuseUnevenExperts(found, this.#expertRule)
    const rest = found.tensors.filter((tensor) => expertSliceCount(tensor, this.#expertRule) === 0)
    return this.#extent(`${found.name} without experts`, 'layer', rest.map(whole))
  }

  /**
   * One routed expert of a layer: its own tensors, and its slices of those that stack all experts.
   * @throws ExtentNotFoundError, UnknownTensorTypeError, UnevenExpertsError
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

  /** Any bytes of a part. @throws RangeError when they are not all inside it. */
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

  /** Found when they are first asked for: many models have none, and of others few layers' may be wanted. */
  #expertsOf(layer: Layer): ReadonlyMap<number, readonly ExpertSlice<Tensor>[]> {
    const known = this.#experts.get(layer)
    if (known !== undefined) return known
    refuseUnevenExperts(layer, this.#expertRule)
    const experts = expertsOf(layer.tensors, this.#expertRule)
    this.#experts.set(layer, experts)
    return experts
  }

  #extent(name: string, kind: ModelExtent['kind'], pieces: readonly Omit<ExtentPiece, 'intoBytes'>[]): ModelExtent {
    refuseUnknownTypes(pieces.flatMap(({ tensor }) => tensor ?? []))
    const ordered = [...pieces].sort((a, b) => a.part - b.part || a.offsetBytes - b.offsetBytes)
    return layOutExtent(name, kind, ordered, this.#alignment)
  }
}

function whole(tensor: Tensor): Omit<ExtentPiece, 'intoBytes'> {
  const { part, offsetBytes, lengthBytes } = tensor
  return { tensor, part, offsetBytes, lengthBytes }
}

/** With the flag g or y, a regular expression would start its next search where the last one ended. */
function stateless(expression: RegExp): RegExp {
  return new RegExp(expression.source, expression.flags.replace(/[gy]/g, ''))
}

/** Sees to it that all tensors that stack experts are of equally many, and can be cut between any two of them. */
function refuseUnevenExperts(layer: Layer, rule: RegExp | undefined): void {
  let first: Tensor | undefined
  for (const tensor of layer.tensors) {
    const { name, shape } = tensor
    // A scale for all experts, say, has one dimension or none.
    if (shape.length < 2 || expertIn(name, rule) !== 'all') continue
    // Where it ends is not known, so neither is where its slices do.
    refuseUnknownTypes([tensor])
    const slices = expertSliceCount(tensor, rule)
    if (shape[0]! > MAX_EXPERTS)
      throw new UnevenExpertsError(layer, `${quote(name)} has ${shape[0]} experts, and the limit is ${MAX_EXPERTS}`)
    if (slices === 0)
      throw new UnevenExpertsError(layer, `${quote(name)} does not divide into ${shape[0]} equal runs of bytes`)
    first ??= tensor
    if (first.shape[0] !== slices) {
      throw new UnevenExpertsError(
        layer,
        `${quote(first.name)} is of ${first.shape[0]} experts and ${quote(name)} of ${slices}`,
      )
    }
  }
}

function refuseUnknownTypes(tensors: readonly Tensor[]): void {
  const unknown = tensors.filter(({ loadable }) => !loadable)
  if (unknown.length > 0) throw new UnknownTensorTypeError(unknown)
}

/** The model has no such tensor, layer or expert. */
export class ExtentNotFoundError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_EXTENT_NOT_FOUND'
  readonly category = 'not-found'
  /** What was asked for. */
  readonly wanted: string
  /** Names that the model has, the most similar first. */
  readonly nearest: readonly string[]

  constructor(kind: 'tensor' | 'layer' | 'expert', wanted: string, names: Iterable<string>) {
    const nearest = nearestNames(wanted, names)
    const there = nearest.length > 0 ? `nearest: ${nearest.map(quote).join(', ')}` : `it has no ${kind}s there at all`
    super(`The model has no ${kind} ${quote(wanted)}`, {
      facts: [there],
      next: 'look at `layers` and `experts(layer)` of the catalogue, or at `tensors` of its model',
    })
    this.wanted = wanted
    this.nearest = nearest
  }
}

/** The experts of a layer cannot be taken apart; the layer as a whole can be loaded. */
export class UnevenExpertsError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_UNEVEN_EXPERTS'
  readonly category = 'infeasible'
  readonly layerName: string

  constructor(layer: Layer, what: string) {
    super(`Cannot take the experts of ${quote(layer.name)} apart: ${what}`, {
      next: 'load the layer as a whole, or say with the option `naming` which tensors are of experts',
    })
    this.layerName = layer.name
  }
}

/** Tensors whose type is unknown or retired: they are listed, and nobody could use their bytes. */
export class UnknownTensorTypeError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_UNKNOWN_TENSOR_TYPE'
  readonly category = 'infeasible'
  readonly tensors: readonly Tensor[]

  constructor(tensors: readonly Tensor[]) {
    const [first] = tensors
    const more = tensors.length > 1 ? ` and ${tensors.length - 1} more are` : ' is'
    super(`Cannot load tensor ${quote(first!.name)}:${more} of a type that is not known, ${quote(first!.dtype)}`, {
      next: 'convert the model with a current tool, or use a newer @gpunvme/layer-loader',
    })
    this.tensors = tensors
  }
}
