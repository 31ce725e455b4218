import { LoaderError } from '../error.js'
import { isOpaqueGgmlType } from './ggml-types.js'
import { rulesOf, type NamingRules } from './naming.js'
import { quote } from './quote.js'

/** Tensor attributes that expert grouping needs. */
export interface ExpertTensor {
  readonly name: string
  readonly dtype: string
  /** Outermost dimension first. */
  readonly shape: readonly number[]
  readonly lengthBytes: number
}

/** A tensor, or the part of it that belongs to one expert. */
export interface TensorSlice<T extends ExpertTensor> {
  readonly tensor: T
  /** Index and number of the slices; 0 of 1 for a complete tensor. */
  readonly slice: number
  readonly slices: number
  /** Name of the tensor, with the slice of a stack: 'blk.3.ffn_up_exps.weight[7]'. */
  readonly name: string
  /** Shape of the slice, without the dimension of experts. */
  readonly shape: readonly number[]
  /** Offset from the start of the tensor. */
  readonly fromBytes: number
  readonly lengthBytes: number
}

/** A layer, separated into its routed experts and the rest. */
export interface SeparateExperts<T extends ExpertTensor> {
  /** Slices of each expert, by its number, ascending. */
  readonly experts: ReadonlyMap<number, readonly TensorSlice<T>[]>
  /** Tensors that every token needs. */
  readonly dense: readonly T[]
}

/** Maximum experts of a layer. Published models have 512 or fewer; a hostile header can claim 2^40. */
const MAX_EXPERTS = 65_536

/**
 * Returns the number of experts in a tensor: 1 for a tensor of one expert, n for a stack that divides into n equal
 * slices, 0 for any other tensor. A stack of an opaque type has 0, since its length may include padding.
 */
export function expertSliceCount(tensor: ExpertTensor, rules: NamingRules = rulesOf()): number {
  const { name, dtype, shape, lengthBytes } = tensor
  const expert = rules.expertIn(name)
  if (expert !== 'all') return expert === undefined ? 0 : 1
  const [experts = 0] = shape
  const stacked = shape.length > 1 && experts > 0 && experts <= MAX_EXPERTS && !isOpaqueGgmlType(dtype)
  return stacked && lengthBytes % experts === 0 ? experts : 0
}

/** Returns a complete tensor as a slice. */
export function wholeTensor<T extends ExpertTensor>(tensor: T): TensorSlice<T> {
  const { name, shape, lengthBytes } = tensor
  return { tensor, slice: 0, slices: 1, name, shape, fromBytes: 0, lengthBytes }
}

/**
 * Separates the routed experts of a layer from the rest.
 * @throws LoaderError (UNEVEN_EXPERTS) if stacks have different numbers of experts, or do not divide into equal slices.
 */
export function separateExperts<T extends ExpertTensor>(
  layer: { readonly name: string; readonly tensors: readonly T[] },
  rules: NamingRules,
): SeparateExperts<T> {
  refuseUnevenExperts(layer, rules)
  const experts = new Map<number, TensorSlice<T>[]>()
  const dense: T[] = []
  const add = (expert: number, slice: TensorSlice<T>) => {
    const found = experts.get(expert)
    if (found === undefined) experts.set(expert, [slice])
    else found.push(slice)
  }
  for (const tensor of layer.tensors) {
    const slices = expertSliceCount(tensor, rules)
    const expert = rules.expertIn(tensor.name)
    if (typeof expert === 'number') add(expert, wholeTensor(tensor))
    else if (slices === 0) dense.push(tensor)
    else {
      const lengthBytes = tensor.lengthBytes / slices
      const shape = tensor.shape.slice(1)
      for (let slice = 0; slice < slices; slice++) {
        const name = `${tensor.name}[${slice}]`
        add(slice, { tensor, slice, slices, name, shape, fromBytes: slice * lengthBytes, lengthBytes })
      }
    }
  }
  return { experts: new Map([...experts].sort(([a], [b]) => a - b)), dense }
}

/** Checks that all stacked tensors have the same number of experts and divide into equal slices. */
function refuseUnevenExperts(
  layer: { readonly name: string; readonly tensors: readonly ExpertTensor[] },
  rules: NamingRules,
): void {
  let first: ExpertTensor | undefined
  for (const tensor of layer.tensors) {
    const { name, dtype, shape } = tensor
    // A tensor with fewer dimensions is not a stack: for example, the scales of all experts.
    if (shape.length < 2 || rules.expertIn(name) !== 'all') continue
    if (isOpaqueGgmlType(dtype))
      throw unevenExperts(layer, `${quote(name)} is ${quote(dtype)}, so the length of an expert is unknown`)
    const slices = expertSliceCount(tensor, rules)
    if (shape[0]! > MAX_EXPERTS)
      throw unevenExperts(layer, `${quote(name)} has ${shape[0]} experts; the limit is ${MAX_EXPERTS}`)
    if (slices === 0) throw unevenExperts(layer, `${quote(name)} does not divide into ${shape[0]} equal runs of bytes`)
    first ??= tensor
    if (first.shape[0] !== slices) {
      throw unevenExperts(layer, `${quote(first.name)} has ${first.shape[0]} experts and ${quote(name)} has ${slices}`)
    }
  }
}

/** Error of experts that cannot be separated. The layer as a whole can be loaded. */
export function unevenExperts(layer: { readonly name: string }, what: string): LoaderError {
  const headline = `Cannot separate the experts of ${quote(layer.name)}: ${what}`
  return new LoaderError('ERR_GPUNVME_UNEVEN_EXPERTS', 'infeasible', headline, {
    next: 'load the whole layer, or name the tensors of experts with the option `naming`',
  })
}
