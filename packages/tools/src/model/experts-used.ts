import { readSourceHeader, type PackedModel } from '@gpunvme/layer-loader'
import { memorySource, openModel, type Model } from '@gpunvme/layer-loader/formats'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Number of routed experts of each layer that a token uses, and its source. */
export interface ExpertsUsed {
  readonly count: number
  readonly from: 'option' | 'header' | 'config.json'
}

/**
 * Keys of a config.json in the order of their frequency: most models; the original gpt-oss; Gemma 4; ERNIE 4.5. Models
 * with several encoders have them in `text_config`.
 */
const CONFIG_KEYS = ['num_experts_per_tok', 'experts_per_token', 'num_experts_per_token', 'top_k_experts', 'moe_k']

const MAX_CONFIG_BYTES = 1024 * 1024

/** Returns what the option, the GGUF header, or the config.json beside a safetensors file says; undefined if nothing. */
export async function expertsUsedOf(
  model: Pick<Model, 'format' | 'architecture' | 'metadata'>,
  path: string,
  option: number | undefined,
): Promise<ExpertsUsed | undefined> {
  if (option !== undefined) return { count: option, from: 'option' }
  if (model.format === 'safetensors') return fromConfig(join(dirname(path), 'config.json'))
  const count = countOf(model.metadata.get(`${model.architecture}.expert_used_count`))
  return count === undefined ? undefined : { count, from: 'header' }
}

/** Returns the same for a packed model, whose image has the header of its file but no config.json. */
export async function expertsUsedOfPacked(
  packed: PackedModel,
  option: number | undefined,
  signal: AbortSignal,
): Promise<ExpertsUsed | undefined> {
  if (option !== undefined || packed.manifest.source.format !== 'gguf')
    return option === undefined ? undefined : { count: option, from: 'option' }
  const header = await readSourceHeader(packed, { signal })
  const model = await openModel(memorySource(header, packed.name), { headerOnly: true, signal })
  return expertsUsedOf(model, '', undefined)
}

/** An absent, unreadable or invalid config.json says nothing: the model can be used without it. */
async function fromConfig(path: string): Promise<ExpertsUsed | undefined> {
  let config: unknown
  try {
    await using file = await open(path)
    const { size } = await file.stat()
    if (size > MAX_CONFIG_BYTES) return undefined
    config = JSON.parse(await file.readFile('utf8'))
  } catch {
    return undefined
  }
  for (const part of [config, valueOf(config, 'text_config')]) {
    for (const key of CONFIG_KEYS) {
      const count = countOf(valueOf(part, key))
      if (count !== undefined) return { count, from: 'config.json' }
    }
  }
  return undefined
}

function valueOf(object: unknown, key: string): unknown {
  return typeof object === 'object' && object !== null ? (object as Record<string, unknown>)[key] : undefined
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined
}
