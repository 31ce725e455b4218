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

/** The part of a tensor that belongs to one expert. */
export interface ExpertSlice<T extends ExpertTensor> {
  readonly tensor: T
  readonly expert: number
  /** Index and number of the slices; 0 of 1 for a tensor of a single expert. */
  readonly slice: number
  readonly slices: number
  /** Name of the tensor, with the slice if there are several: 'blk.3.ffn_up_exps.weight[7]'. */
  readonly name: string
  /** Shape of the slice, without the dimension of experts. */
  readonly shape: readonly number[]
  /** Offset from the start of the tensor. */
  readonly fromBytes: number
  readonly lengthBytes: number
}

/** Maximum experts of a layer. Published models have 512 or fewer; a hostile header can claim 2^40. */
export const MAX_EXPERTS = 65_536

/**
 * Returns the number of equal slices of a tensor, one for each expert; 0 if it belongs to no single expert. A stack of
 * opaque type counts as 0, since padding may follow its last expert.
 */
export function expertSliceCount(tensor: ExpertTensor, rules: NamingRules = rulesOf()): number {
  const { name, dtype, shape, lengthBytes } = tensor
  const expert = rules.expertIn(name)
  if (expert !== 'all') return expert === undefined ? 0 : 1
  const [experts = 0] = shape
  const stacked = shape.length > 1 && experts > 0 && experts <= MAX_EXPERTS && !isOpaqueGgmlType(dtype)
  return stacked && lengthBytes % experts === 0 ? experts : 0
}

/** Returns each expert's parts of the tensors of a layer, by the number of the expert. */
export function expertsOf<T extends ExpertTensor>(
  tensors: readonly T[],
  rules: NamingRules = rulesOf(),
): ReadonlyMap<number, readonly ExpertSlice<T>[]> {
  const experts = new Map<number, ExpertSlice<T>[]>()
  const add = (slice: ExpertSlice<T>) => {
    const found = experts.get(slice.expert)
    if (found === undefined) experts.set(slice.expert, [slice])
    else found.push(slice)
  }
  for (const tensor of tensors) {
    const { name, shape, lengthBytes } = tensor
    const slices = expertSliceCount(tensor, rules)
    const expert = rules.expertIn(name)
    if (typeof expert === 'number') {
      add({ tensor, expert, slice: 0, slices: 1, name, shape, fromBytes: 0, lengthBytes })
      continue
    }
    const sliceBytes = lengthBytes / slices
    for (let slice = 0; slice < slices; slice++) {
      const place = { fromBytes: slice * sliceBytes, lengthBytes: sliceBytes }
      add({ tensor, expert: slice, slice, slices, name: `${name}[${slice}]`, shape: shape.slice(1), ...place })
    }
  }
  return experts
}

/** Returns one expert of the result of `expertsOf`. @throws RangeError if the layer has no such expert. */
export function expertSlices<T extends ExpertTensor>(
  experts: ReadonlyMap<number, readonly ExpertSlice<T>[]>,
  layer: string,
  expert: number,
): readonly ExpertSlice<T>[] {
  const found = experts.get(expert)
  if (found !== undefined) return found
  const has = experts.size === 0 ? 'which has no experts' : `which has ${experts.size}`
  throw new RangeError(`expert: expected an expert of ${quote(layer)}, ${has}, got ${expert}`)
}
