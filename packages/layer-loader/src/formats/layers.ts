import type { Layer, Model, Tensor } from './model.js'
import { rulesOf, type Naming } from './naming.js'

/** Options of `groupLayers`. */
export interface GroupOptions {
  /** Default: all published schemes. */
  readonly naming?: Naming | undefined
  /** Number of the first MTP layer of the main stack, if the file records it. */
  readonly firstMtpLayer?: number | undefined
}

/**
 * Groups tensors into layers in the order of computation: 'embedding', 'layer 0' to 'layer N-1' by number, and 'output'
 * for all others. Then follow the layers of multi-token prediction, 'mtp layer 0' or 'mtp layer 61' by their published
 * number, and 'mtp' for what they share. Groups without tensors are omitted.
 *
 * In a file with several stacks of blocks (an image encoder and a language model), the stack with the most bytes has
 * the plain names. The other stacks feed it, so they come first, named with their prefix.
 *
 * @throws RangeError for an invalid naming.
 */
export function groupLayers(tensors: readonly Tensor[], { naming, firstMtpLayer }: GroupOptions = {}): Layer[] {
  const rules = rulesOf(naming)
  const embedding: Tensor[] = []
  const output: Tensor[] = []
  const mtpShared: Tensor[] = []
  const mtp = new Map<number, Tensor[]>()
  const stacks = new Map<string, Map<number, Tensor[]>>()
  for (const tensor of tensors) {
    const place = rules.placeOf(tensor.name)
    if (place.at === 'embedding') embedding.push(tensor)
    else if (place.at === 'output') output.push(tensor)
    else if (place.at === 'layer') {
      const blocks = entry(stacks, place.stack, () => new Map<number, Tensor[]>())
      entry(blocks, place.number, (): Tensor[] => []).push(tensor)
    } else if (place.number === undefined) mtpShared.push(tensor)
    else entry(mtp, place.number, (): Tensor[] => []).push(tensor)
  }

  const main = largestStack(stacks)
  const blocks = main === undefined ? [] : [...stacks.get(main)!]
  const isMtp = ([number, members]: [number, Tensor[]]) =>
    (firstMtpLayer !== undefined && number >= firstMtpLayer) || members.some(({ name }) => rules.marksMtp(name))
  // A file with MTP layers only is a draft model: they are its pass.
  const isDraft = blocks.every(isMtp)
  const mainLayers: Layer[] = []
  for (const block of blocks.sort(byNumber)) {
    const [number, members] = block
    if (!isDraft && isMtp(block)) mtp.set(number, [...(mtp.get(number) ?? []), ...members])
    else mainLayers.push(layer(`layer ${number}`, members))
  }
  const feeding = [...stacks].flatMap(([stack, others]) =>
    stack === main
      ? []
      : [...others].sort(byNumber).map(([number, members]) => layer(`${stack} layer ${number}`, members)),
  )
  const mtpLayers = [...mtp].sort(byNumber).map(([number, members]) => layer(`mtp layer ${number}`, members))
  const all = [
    layer('embedding', embedding),
    ...feeding,
    ...mainLayers,
    layer('output', output),
    ...mtpLayers,
    layer('mtp', mtpShared),
  ]
  return all.filter(({ tensors }) => tensors.length > 0)
}

/** Groups the tensors of a model. The last `nextn_predict_layers` blocks of a GGUF are MTP layers. */
export function layersOf(
  { format, architecture, metadata, tensors }: Pick<Model, 'format' | 'architecture' | 'metadata' | 'tensors'>,
  naming: Naming | undefined,
): Layer[] {
  const numberOf = (key: string): number => {
    const value = format === 'gguf' ? metadata.get(`${architecture}.${key}`) : undefined
    return typeof value === 'number' ? value : 0
  }
  const mtpLayers = numberOf('nextn_predict_layers')
  const firstMtpLayer = mtpLayers > 0 ? numberOf('block_count') - mtpLayers : undefined
  return groupLayers(tensors, { naming, firstMtpLayer })
}

/** Returns whether a layer is for multi-token prediction. A pass over a model omits it unless it is requested. */
export function isMtpLayer(name: string): boolean {
  return /^mtp(?:$| layer )/.test(name)
}

function byNumber([a]: readonly [number, unknown], [b]: readonly [number, unknown]): number {
  return a - b
}

function largestStack(stacks: ReadonlyMap<string, ReadonlyMap<number, readonly Tensor[]>>): string | undefined {
  let largest: string | undefined
  let largestBytes = -1
  for (const [prefix, blocks] of stacks) {
    const lengthBytes = totalBytes([...blocks.values()].flat())
    if (lengthBytes > largestBytes) [largest, largestBytes] = [prefix, lengthBytes]
  }
  return largest
}

function layer(name: string, tensors: readonly Tensor[]): Layer {
  return { name, tensors, lengthBytes: totalBytes(tensors) }
}

function totalBytes(tensors: readonly Tensor[]): number {
  return tensors.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
}

function entry<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  let value = map.get(key)
  if (value === undefined) map.set(key, (value = create()))
  return value
}
