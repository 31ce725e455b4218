import { findAliases } from './aliases.js'
import { checkRange } from './byte-source.js'
import type { TensorSlice } from './experts.js'
import { layOutExtent, type ExtentPiece, type ModelExtent } from './extent.js'
import { layersOf } from './layers.js'
import type { Layer, Model, Tensor } from './model.js'
import { ModelIndex, type LayerOptions } from './model-index.js'
import { rulesOf, type Naming } from './naming.js'

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
  readonly #index: ModelIndex<Tensor, Layer>

  /** @throws RangeError for an alignment that is not a power of two, or an invalid naming. */
  constructor(model: Model, { alignmentBytes = DEFAULT_ALIGNMENT_BYTES, naming }: CatalogueOptions = {}) {
    if (!Number.isSafeInteger(Math.log2(alignmentBytes)) || alignmentBytes < 1) {
      throw new RangeError(`alignmentBytes: expected a power of two, got ${alignmentBytes}`)
    }
    this.model = model
    this.aliases = findAliases(model)
    this.#alignment = alignmentBytes
    const layers = naming === undefined ? model.layers : layersOf(model, naming)
    this.#index = new ModelIndex(layers, this.aliases, rulesOf(naming ?? model.naming))
  }

  /** Names in the order of computation: 'embedding', 'layer 0', ..., 'output', and MTP layers. */
  get layers(): readonly string[] {
    return this.#index.layers
  }

  /**
   * Returns the numbers of a layer's routed experts, ascending; none for a dense layer.
   * @throws ExtentNotFoundError, LoaderError (INVALID_ARGUMENT, UNEVEN_EXPERTS)
   */
  experts(layer: number | string): readonly number[] {
    return this.#index.experts(layer)
  }

  /** Returns a tensor, by name or alias. @throws ExtentNotFoundError, LoaderError (INVALID_ARGUMENT) */
  tensor(name: string): ModelExtent {
    const { name: found, slices } = this.#index.tensor(name)
    return this.#extent(found, 'tensor', slices.map(pieceOf))
  }

  /**
   * Returns a layer, by number or name; with `experts: false` only the part that is needed for every token.
   * @throws ExtentNotFoundError, LoaderError (INVALID_ARGUMENT, UNEVEN_EXPERTS). The latter only with `experts: false`.
   */
  layer(layer: number | string, options?: LayerOptions): ModelExtent {
    const { name, slices } = this.#index.layer(layer, options)
    return this.#extent(name, 'layer', slices.map(pieceOf))
  }

  /**
   * Returns a routed expert of a layer: its own tensors, and its slices of tensors that stack all experts.
   * @throws ExtentNotFoundError, LoaderError (INVALID_ARGUMENT, UNEVEN_EXPERTS)
   */
  expert(layer: number | string, expert: number): ModelExtent {
    const { name, slices } = this.#index.expert(layer, expert)
    return this.#extent(name, 'expert', slices.map(pieceOf))
  }

  /** Returns a range of bytes of a part. @throws RangeError unless it is inside the part. */
  range(part: number, offsetBytes: number, lengthBytes: number): ModelExtent {
    const { parts } = this.model
    const source = parts[part]?.source
    if (source === undefined) throw new RangeError(`part: expected 0 to ${parts.length - 1}, got ${part}`)
    checkRange(source, offsetBytes, lengthBytes)
    const name = `part ${part} [${offsetBytes}, ${offsetBytes + lengthBytes})`
    return this.#extent(name, 'range', [
      { tensor: undefined, name, dtype: 'bytes', shape: [lengthBytes], part, offsetBytes, lengthBytes },
    ])
  }

  #extent(name: string, kind: ModelExtent['kind'], pieces: readonly Omit<ExtentPiece, 'intoBytes'>[]): ModelExtent {
    const ordered = [...pieces].sort((a, b) => a.part - b.part || a.offsetBytes - b.offsetBytes)
    return layOutExtent(name, kind, ordered, this.#alignment)
  }
}

function pieceOf({ tensor, name, shape, fromBytes, lengthBytes }: TensorSlice<Tensor>): Omit<ExtentPiece, 'intoBytes'> {
  const { dtype, part, offsetBytes } = tensor
  return { tensor, name, dtype, shape, part, offsetBytes: offsetBytes + fromBytes, lengthBytes }
}
