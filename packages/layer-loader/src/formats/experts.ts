import { isOpaqueGgmlType } from './ggml-types.js'
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

/**
 * Published names of tensors of routed experts. A group captures the number of the expert; without one, the tensor
 * stacks all experts.
 */
const PUBLISHED_NAMES = [
  // GGUF since 2024: blk.3.ffn_down_exps.weight
  String.raw`ffn_(?:gate|up|down|gate_up)_exps\.[a-z_]+$`,
  // GGUF of 2023: blk.3.ffn_down.7.weight
  String.raw`ffn_(?:gate|up|down)\.(\d{1,6})\.`,
  // Mixtral, DeepSeek, Qwen, Kimi: model.layers.3.mlp.experts.7.down_proj.weight
  String.raw`experts\.(\d{1,6})\.`,
  // Llama 4, gpt-oss: model.layers.3.mlp.experts.down_proj, or down_proj_bias, or down_proj_blocks
  String.raw`experts\.(?:gate|up|down|gate_up)_proj(?:_[a-z]+)?(?:\.[a-z_]+)?$`,
]
const PUBLISHED = new RegExp(String.raw`(?:^|\.)(?:${PUBLISHED_NAMES.join('|')})`)

/**
 * Returns the expert that a tensor belongs to, by name: a number, 'all' if it may stack all experts, undefined for a
 * tensor that every token needs. That includes shared experts: `ffn_up_shexp` and `shared_experts.up_proj` are not
 * routed.
 *
 * @param rule a group captures the number; a match without one means 'all'.
 * @throws RangeError if the captured text is not a number.
 */
export function expertIn(name: string, rule = PUBLISHED): number | 'all' | undefined {
  const match = rule.exec(name)
  if (match === null) return undefined
  // If no group took part, all are undefined, despite the types.
  const digits = match.slice(1).find((group: string | undefined) => group !== undefined)
  if (digits === undefined) return 'all'
  if (/^\d{1,6}$/.test(digits)) return Number(digits)
  throw new RangeError(`naming.expert: expected it to capture a number, got ${quote(digits)} in ${quote(name)}`)
}

/** Maximum experts of a layer. Published models have 512 or fewer; a hostile header can claim 2^40. */
export const MAX_EXPERTS = 65_536

/**
 * Returns the number of equal slices of a tensor, one for each expert; 0 if it belongs to no single expert. A stack of
 * opaque type counts as 0, since padding may follow its last expert.
 */
export function expertSliceCount({ name, dtype, shape, lengthBytes }: ExpertTensor, rule?: RegExp): number {
  const expert = expertIn(name, rule)
  if (expert !== 'all') return expert === undefined ? 0 : 1
  const [experts = 0] = shape
  const stacked = shape.length > 1 && experts > 0 && experts <= MAX_EXPERTS && !isOpaqueGgmlType(dtype)
  return stacked && lengthBytes % experts === 0 ? experts : 0
}

/** Returns each expert's parts of the tensors of a layer, by the number of the expert. */
export function expertsOf<T extends ExpertTensor>(
  tensors: readonly T[],
  rule?: RegExp,
): ReadonlyMap<number, readonly ExpertSlice<T>[]> {
  const experts = new Map<number, ExpertSlice<T>[]>()
  const add = (slice: ExpertSlice<T>) => {
    const found = experts.get(slice.expert)
    if (found === undefined) experts.set(slice.expert, [slice])
    else found.push(slice)
  }
  for (const tensor of tensors) {
    const { name, shape, lengthBytes } = tensor
    const slices = expertSliceCount(tensor, rule)
    const expert = expertIn(name, rule)
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
