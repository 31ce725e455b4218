import type { CostModel } from '@gpunvme/nvme-spec/transport'
import type { Residence } from './spread.js'
import { sustainedPass, type SustainedPass } from './sustained.js'

/** How a layer's bytes are read: what a cost model is asked about. */
export interface ReadShape {
  readonly commandBytes: number
  readonly inFlight: number
}

/** A layer and where it is. */
export interface PlacedLayer {
  readonly name: string
  readonly lengthBytes: number
  readonly residence: Residence
}

/** What a pass over all layers is predicted to take, when one follows the other and each is read ahead of. */
export interface Prediction {
  /** That the drive is busy. */
  readonly driveNs: number
  /** That the GPU's link is busy, with copies and, in tier 2, with what the drive writes; undefined where its rate is not known. */
  readonly gpuLinkNs: number | undefined
  /** That the GPU computes; 0 where nothing was said of it. */
  readonly computeNs: number
  /** The longest of these: what a pass takes at best. */
  readonly passNs: number
  /** Which of them that is; 'nothing' where no time is known to be needed. */
  readonly boundBy: 'drive' | 'gpu link' | 'compute' | 'nothing'
  /** What the first pass takes longer: until its first layer is there, when nothing has been read ahead. */
  readonly fillNs: number
  /** Where the drive gets too hot to go on like that: after how long, and what a pass then takes on average. */
  readonly sustained: SustainedPass | undefined
}

/** What a prediction is made from. */
export interface PredictionInput {
  readonly tier: 1 | 2
  readonly cost: CostModel
  readonly reads?: ReadShape
  /** For each layer. */
  readonly computeNs?: number
}

/** Pure arithmetic: each resource's time is the sum of its layers', and the busiest resource decides. */
export function predict(layers: readonly PlacedLayer[], input: PredictionInput): Prediction {
  const { tier, cost, computeNs: layerNs = 0 } = input
  const nsPerByte = nsPerByteOf(input)
  const streamed = layers.filter(({ residence }) => residence !== 'vram')
  const readBytes = sum(streamed.map(({ residence, lengthBytes }) => (residence === 'nvme' ? lengthBytes : 0)))
  const driveNs = readBytes * nsPerByte
  const copyNs = (lengthBytes: number) => cost.copyNs?.(lengthBytes) ?? 0
  // In tier 2 the drive's writes cross the GPU's link as copies do.
  const gpuLinkNs = cost.copyNs && sum(streamed.map(({ lengthBytes }) => copyNs(lengthBytes)))
  const computeNs = layerNs * layers.length
  const passNs = Math.max(driveNs, gpuLinkNs ?? 0, computeNs)
  const [first] = streamed
  const firstReadNs = first?.residence === 'nvme' ? first.lengthBytes * nsPerByte : 0
  const isCopied = first !== undefined && (tier === 1 || first.residence === 'ram')
  return {
    driveNs,
    gpuLinkNs,
    computeNs,
    passNs,
    boundBy: passNs === 0 ? 'nothing' : passNs === driveNs ? 'drive' : passNs === gpuLinkNs ? 'gpu link' : 'compute',
    fillNs: firstReadNs + (isCopied ? copyNs(first.lengthBytes) : 0),
    sustained:
      cost.throttle &&
      sustainedPass(cost.throttle, { readBytes, driveNs, otherNs: Math.max(gpuLinkNs ?? 0, computeNs) }),
  }
}

const DEFAULT_READS: ReadShape = { commandBytes: 128 * 1024, inFlight: 32 }

/** What a byte costs in a long run of reads. */
export function nsPerByteOf({ cost, reads = DEFAULT_READS }: Pick<PredictionInput, 'cost' | 'reads'>): number {
  return cost.readNs(reads.commandBytes, reads.inFlight) / reads.commandBytes
}

/** What a pass takes in the long run: that of a hot drive, where it gets hot. */
export function longRunNs({ passNs, sustained }: Prediction): number {
  return sustained?.passNs ?? passNs
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
