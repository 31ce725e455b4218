import { quote } from './quote.js'

/** What is asked of a tensor to find its experts. */
export interface ExpertTensor {
  readonly name: string
  /** Outermost dimension first. */
  readonly shape: readonly number[]
  readonly lengthBytes: number
}

/** One expert's part of a tensor. */
export interface ExpertSlice<T extends ExpertTensor> {
  readonly tensor: T
  readonly expert: number
  /** Which of the tensor's slices it is, and of how many; 0 of 1 for a tensor that is one expert's alone. */
  readonly slice: number
  readonly slices: number
  /** The tensor's own name, or with the slice: 'blk.3.ffn_up_exps.weight[7]'. */
  readonly name: string
  /** Of the slice: without the dimension that counts experts. */
  readonly shape: readonly number[]
  /** From the start of the tensor. */
  readonly fromBytes: number
  readonly lengthBytes: number
}

/** How publishers name the tensors of routed experts. A group is the expert's number; without one, it is all experts'. */
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
 * Whose a tensor is by its name: the number of an expert, 'all' where it may stack all of them, undefined for what
 * every token needs. That includes shared experts: neither `ffn_up_shexp` nor `shared_experts.up_proj` is routed.
 *
 * @param rule a group that it captures is the number; a match without one means 'all'.
 * @throws RangeError when what the rule captures is no number.
 */
export function expertIn(name: string, rule = PUBLISHED): number | 'all' | undefined {
  const match = rule.exec(name)
  if (match === null) return undefined
  // Where no group took part, they are all undefined, whatever the types say.
  const digits = match.slice(1).find((group: string | undefined) => group !== undefined)
  if (digits === undefined) return 'all'
  if (/^\d{1,6}$/.test(digits)) return Number(digits)
  throw new RangeError(`naming.expert: expected it to capture a number, got ${quote(digits)} in ${quote(name)}`)
}

/** Experts of a layer, at most. Published models have 512 or fewer; a hostile header can claim 2^40. */
export const MAX_EXPERTS = 65_536

/** In how many equal slices, of which each is one expert's, a tensor lies; 0 for one that belongs to no single expert. */
export function expertSliceCount({ name, shape, lengthBytes }: ExpertTensor, rule?: RegExp): number {
  const expert = expertIn(name, rule)
  if (expert !== 'all') return expert === undefined ? 0 : 1
  const [experts = 0] = shape
  const stacked = shape.length > 1 && experts > 0 && experts <= MAX_EXPERTS
  return stacked && lengthBytes % experts === 0 ? experts : 0
}

/** Every expert's part of the tensors of a layer, by the expert's number. */
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

/** One expert of those that `expertsOf` has found in a layer. @throws RangeError where the layer has no such expert. */
export function expertSlices<T extends ExpertTensor>(
  experts: ReadonlyMap<number, readonly ExpertSlice<T>[]>,
  layer: string,
  expert: number,
): readonly ExpertSlice<T>[] {
  const found = experts.get(expert)
  if (found !== undefined) return found
  const has = experts.size === 0 ? 'which has no experts' : `which has ${experts.size}`
  throw new RangeError(`expert: expected one of ${quote(layer)}, ${has}, got ${expert}`)
}
