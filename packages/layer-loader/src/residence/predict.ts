import type { CostModel } from '@gpunvme/nvme-spec/transport'
import type { Residence } from './spread.js'
import { sustainedPass, type SustainedPass } from './sustained.js'

/** Shape of the reads of a layer, for a cost model. */
export interface ReadShape {
  readonly commandBytes: number
  readonly inFlight: number
}

/** A layer and its place. */
export interface PlacedLayer {
  readonly name: string
  readonly lengthBytes: number
  readonly residence: Residence
}

/** Predicted times of a pass over all layers, if passes follow each other and layers are read ahead. */
export interface Prediction {
  /** Busy time of the drive. */
  readonly driveNs: number
  /**
   * Busy time of the GPU's link, by copies and, in tier 2, by writes of the drive; undefined if its rate is unknown.
   */
  readonly gpuLinkNs: number | undefined
  /** Compute time of the GPU; 0 if not given. */
  readonly computeNs: number
  /** The longest of these: the shortest time of a pass. */
  readonly passNs: number
  /** The resource with the longest time; 'nothing' if no time is known. */
  readonly boundBy: 'drive' | 'gpu link' | 'compute' | 'nothing'
  /** Extra time of the first pass, until its first layer is loaded. */
  readonly fillNs: number
  /** Set if the drive throttles: the time until then, and the average time of a pass afterwards. */
  readonly sustained: SustainedPass | undefined
}

/** Input of a prediction. */
export interface PredictionInput {
  readonly tier: 1 | 2
  readonly cost: CostModel
  readonly reads?: ReadShape
  /** Compute time per layer, in nanoseconds. */
  readonly computeNs?: number
}

/** Predicts the time of a pass: each resource's time is the sum over its layers, and the busiest resource decides. */
export function predict(layers: readonly PlacedLayer[], input: PredictionInput): Prediction {
  const { tier, cost, computeNs: layerNs = 0 } = input
  const nsPerByte = nsPerByteOf(input)
  const streamed = layers.filter(({ residence }) => residence !== 'vram')
  const readBytes = sum(streamed.map(({ residence, lengthBytes }) => (residence === 'nvme' ? lengthBytes : 0)))
  const driveNs = readBytes * nsPerByte
  const copyNs = (lengthBytes: number) => cost.copyNs?.(lengthBytes) ?? 0
  // In tier 2, writes of the drive use the GPU's link as copies do.
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

/** Cost of a byte in a long run of reads. */
export function nsPerByteOf({ cost, reads = DEFAULT_READS }: Pick<PredictionInput, 'cost' | 'reads'>): number {
  return cost.readNs(reads.commandBytes, reads.inFlight) / reads.commandBytes
}

/** Time of a pass in the long run, with a hot drive if it throttles. */
export function longRunNs({ passNs, sustained }: Prediction): number {
  return sustained?.passNs ?? passNs
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
