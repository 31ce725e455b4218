import { memorySource, openModel, type Model } from '../src/formats/index.js'
import { concat, safetensors } from './formats/bytes.js'

export const LAYERS = 2
export const EXPERTS = 8
/** Length of an expert's slice of each stack. Slices start inside chunks of an image. */
export const SLICE_BYTES = 250_000
export const STACKS = ['ffn_gate_exps', 'ffn_up_exps', 'ffn_down_exps'] as const
export const EXPERT_BYTES = STACKS.length * SLICE_BYTES
/** Tensors that every token needs, on both sides of the stacks. */
export const DENSE = ['attn_q', 'ffn_gate_inp', 'ffn_up_shexp'] as const
const DENSE_BYTES = 10_001

/** Shapes of the tensors of layer 0; other layers have the same. */
type Shapes = Readonly<Record<string, readonly number[]>>

const SHAPES: Shapes = {
  attn_q: [DENSE_BYTES],
  ffn_gate_inp: [DENSE_BYTES],
  ...Object.fromEntries(STACKS.map((stack) => [stack, [EXPERTS, SLICE_BYTES]])),
  ffn_up_shexp: [DENSE_BYTES],
}

/** A safetensors file of layers with stacked experts, and an embedding. */
export function moeFile(shapes: Shapes = SHAPES): Uint8Array {
  let end = 0
  const place = (name: string, shape: readonly number[]) => {
    const begin = end
    end += shape.reduce((product, length) => product * length, 1)
    return [name, { dtype: 'U8', shape, data_offsets: [begin, end] }] as const
  }
  const layers = Array.from({ length: LAYERS }, (_, layer) =>
    Object.entries(shapes).map(([name, shape]) => place(`blk.${layer}.${name}.weight`, shape)),
  )
  const header = Object.fromEntries([place('token_embd.weight', [5000]), ...layers.flat()])
  const data = Uint8Array.from({ length: end }, (_, index) => (Math.imul(index, 2_654_435_761) >>> 13) & 0xff)
  return concat(safetensors(JSON.stringify(header)), data)
}

export function moeModel(shapes?: Shapes): Promise<Model> {
  return openModel(memorySource(moeFile(shapes), 'moe.safetensors'))
}
