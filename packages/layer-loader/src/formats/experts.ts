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

/** All experts of a layer in one tensor, the outermost dimension counting them: GGUF's `blk.3.ffn_up_exps.weight`. */
const STACKED = /(?:^|\.)ffn_(?:gate|up|down|gate_up)_exps\.[a-z_]+$/

/** Tensors of one expert: `blk.3.ffn_up.7.weight` of early GGUFs, `...mlp.experts.7.up_proj.weight` of safetensors. */
const SEPARATE = /(?:^|\.)(?:experts\.(\d{1,6})\.|ffn_(?:gate|up|down)\.(\d{1,6})\.)/

/** In how many equal slices, of which each is one expert's, a tensor lies; 0 for one that belongs to no single expert. */
export function expertSliceCount({ name, shape, lengthBytes }: ExpertTensor): number {
  if (SEPARATE.test(name)) return 1
  const [experts = 0] = shape
  const stacked = STACKED.test(name) && shape.length > 1 && experts > 0
  return stacked && lengthBytes % experts === 0 ? experts : 0
}

/** Every expert's part of the tensors of a layer, by the expert's number. */
export function expertsOf<T extends ExpertTensor>(tensors: readonly T[]): ReadonlyMap<number, readonly ExpertSlice<T>[]> {
  const experts = new Map<number, ExpertSlice<T>[]>()
  const add = (slice: ExpertSlice<T>) => {
    const found = experts.get(slice.expert)
    if (found === undefined) experts.set(slice.expert, [slice])
    else found.push(slice)
  }
  for (const tensor of tensors) {
    const { name, shape, lengthBytes } = tensor
    const slices = expertSliceCount(tensor)
    const [, a, b] = SEPARATE.exec(name) ?? []
    const own = a ?? b
    if (own !== undefined) {
      add({ tensor, expert: Number(own), slice: 0, slices: 1, name, shape, fromBytes: 0, lengthBytes })
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

/** One expert's part of the tensors of a layer. @throws RangeError where the layer has no such expert. */
export function expertSlices<T extends ExpertTensor>(
  tensors: readonly T[],
  layer: string,
  expert: number,
): readonly ExpertSlice<T>[] {
  const experts = expertsOf(tensors)
  const found = experts.get(expert)
  if (found !== undefined) return found
  const has = experts.size === 0 ? 'which has no experts' : `which has ${experts.size}`
  throw new RangeError(`expert: expected one of ${quote(layer)}, ${has}, got ${expert}`)
}
