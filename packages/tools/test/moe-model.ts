import { writeGguf, type GgufValue } from '@gpunvme/layer-loader/formats'
import { open } from 'node:fs/promises'

/** BF16 tensors of a layer: 8 experts of 64 KiB, and 16 KiB outside experts. */
const LAYER = { 'attn_q.weight': [128, 64], 'ffn_up_exps.weight': [8, 128, 128], 'ffn_down_exps.weight': [8, 128, 128] }

/** Writes a GGUF file of three layers with experts. @param used experts per token, recorded in the header */
export async function writeMoe(path: string, { used }: { readonly used?: number }): Promise<void> {
  const metadata = new Map<string, GgufValue>([['general.architecture', 'qwen3moe']])
  if (used !== undefined) metadata.set('qwen3moe.expert_used_count', { type: 'uint32', value: used })
  const shapes: Record<string, readonly number[]> = { 'token_embd.weight': [512, 64] }
  for (let layer = 0; layer < 3; layer++)
    for (const [name, shape] of Object.entries(LAYER)) shapes[`blk.${layer}.${name}`] = shape
  shapes['output.weight'] = [512, 64]
  const tensors = Object.entries(shapes).map(([name, shape]) => {
    const bytes = new Uint8Array(2 * shape.reduce((product, length) => product * length, 1)).fill(name.length)
    return { name, dtype: 'BF16', shape, data: [bytes] }
  })
  await using file = await open(path, 'w')
  await writeGguf(file, { metadata, tensors })
}
