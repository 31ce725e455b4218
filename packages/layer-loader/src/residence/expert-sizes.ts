import { expertSliceCount, type ExpertTensor } from '../formats/experts.js'
import { isMtpLayer } from '../formats/layers.js'
import { rulesOf, type Naming, type NamingRules } from '../formats/naming.js'
import { sum, type LayerSize } from './predict.js'

/** Sizes of a layer with its routed experts apart. */
export interface ExpertLayer extends LayerSize {
  /** Number of routed experts; 0 for a dense layer. */
  readonly experts: number
  /** Bytes of the largest expert. */
  readonly expertBytes: number
  /** Bytes without routed experts, which every token needs; shared experts included. */
  readonly denseBytes: number
}

/** Layers with the tensors of each, as a model file and a packed model have them. */
export interface LayersWithTensors {
  readonly layers: readonly { readonly name: string; readonly tensors: readonly ExpertTensor[] }[]
  /** Naming by which experts are found. Default: the published schemes. */
  readonly naming?: Naming | undefined
}

/**
 * Returns the sizes of the layers of a pass (`isMtpLayer` are omitted), for `planExperts`. A layer whose experts cannot
 * be separated (`LoaderError (UNEVEN_EXPERTS)`) counts as dense.
 */
export function expertLayers({ layers, naming }: LayersWithTensors): ExpertLayer[] {
  const rules = rulesOf(naming)
  return layers
    .filter(({ name }) => !isMtpLayer(name))
    .map(({ name, tensors }) => {
      const lengthBytes = sum(tensors.map((tensor) => tensor.lengthBytes))
      return { name, lengthBytes, ...expertSizesOf(tensors, rules, lengthBytes) }
    })
}

/** Adds up without listing the experts: a hostile header can claim 65,536 of them in each of its tensors. */
function expertSizesOf(tensors: readonly ExpertTensor[], rules: NamingRules, lengthBytes: number) {
  const own = new Map<number, number>()
  let [stacked, sliceBytes, expertsBytes] = [0, 0, 0]
  for (const tensor of tensors) {
    const expert = rules.expertIn(tensor.name)
    // Scales of all experts have one dimension or none; they are dense.
    if (expert === undefined || (expert === 'all' && tensor.shape.length < 2)) continue
    expertsBytes += tensor.lengthBytes
    if (expert === 'all') {
      const experts = expertSliceCount(tensor, rules)
      if (experts === 0 || (stacked !== 0 && stacked !== experts))
        return { experts: 0, expertBytes: 0, denseBytes: lengthBytes }
      stacked = experts
      sliceBytes += tensor.lengthBytes / experts
    } else own.set(expert, (own.get(expert) ?? 0) + tensor.lengthBytes)
  }
  let [experts, expertBytes] = [stacked, sliceBytes]
  for (const [expert, bytes] of own) {
    if (expert >= stacked) experts++
    expertBytes = Math.max(expertBytes, bytes + (expert < stacked ? sliceBytes : 0))
  }
  return { experts, expertBytes, denseBytes: lengthBytes - expertsBytes }
}
