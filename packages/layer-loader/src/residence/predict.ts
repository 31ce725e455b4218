import type { CostModel } from '@gpunvme/nvme-spec/transport'
import type { ExtentPart } from '../load/extent.js'
import { firstPassNs } from './first-pass.js'
import type { SlotCounts } from './lay-out.js'
import type { Residence } from './spread.js'
import { sustainedPass, type SustainedPass } from './sustained.js'

/** Shape of the reads of a layer, for a cost model. */
export interface ReadShape {
  readonly commandBytes: number
  readonly inFlight: number
}

/** A layer to place, with its memory. Layers are in the order of computation. */
export interface LayerSize {
  readonly name: string
  readonly lengthBytes: number
  /** Present in a part of a layer: see `fitLayers`. */
  readonly part?: ExtentPart
}

/** A layer and its place. */
export interface PlacedLayer extends LayerSize {
  readonly residence: Residence
}

/** Predicted times of passes over all layers, which is a token of a dense model. */
export interface PassTimes {
  /** Time of the first pass: layers in memory are in place, the drive is cold, and nothing has been read ahead. */
  readonly firstNs: number
  /**
   * Time of each later pass with a cool drive and layers read ahead: the busy time of the busiest resource. It is also
   * the lower bound of every pass.
   */
  readonly passNs: number
  /** The resource with the longest time; 'nothing' if no time is known. */
  readonly boundBy: 'drive' | 'gpu link' | 'compute' | 'checks' | 'nothing'
  /** Set if the drive throttles: the time until then, and the average time of a pass afterwards. */
  readonly sustained: SustainedPass | undefined
}

/** Predicted times of passes without verification, which `verified` adds, and the busy time of each resource. */
export interface Prediction extends PassTimes {
  /** Busy time of the drive. */
  readonly driveNs: number
  /**
   * Busy time of the GPU's link, by copies and, in tier 2, by writes of the drive; undefined if its rate is unknown.
   */
  readonly gpuLinkNs: number | undefined
  /** Compute time of the GPU; 0 if not given. */
  readonly computeNs: number
  /** Time of the checksums of the bytes read; undefined if their rate is unknown. */
  readonly checkNs: number | undefined
  /** Times with verification of all bytes read; undefined if the rate of checksums is unknown. */
  readonly verified: PassTimes | undefined
}

/** Input of a prediction. */
export interface PredictionInput {
  readonly tier: 1 | 2
  readonly cost: CostModel
  readonly reads?: ReadShape
  readonly slots?: Partial<SlotCounts>
  /** Compute time per layer, in nanoseconds. */
  readonly computeNs?: number
  /** Time to verify bytes that were read, in nanoseconds, while others are read. Default: unknown. */
  readonly checkNs?: ((lengthBytes: number) => number) | undefined
}

/** Predicts the time of passes: each resource's time is the sum over its layers, and the busiest resource decides. */
export function predict(layers: readonly PlacedLayer[], input: PredictionInput): Prediction {
  const { cost, computeNs: layerNs = 0 } = input
  const nsPerByte = nsPerByteOf(input)
  const streamed = layers.filter(({ residence }) => residence !== 'vram')
  const onDrive = streamed.filter(({ residence }) => residence === 'nvme')
  const readBytes = sum(onDrive.map(({ lengthBytes }) => lengthBytes))
  const driveNs = readBytes * nsPerByte
  // In tier 2, writes of the drive use the GPU's link as copies do.
  const gpuLinkNs = cost.copyNs && sum(streamed.map(({ lengthBytes }) => cost.copyNs!(lengthBytes)))
  const computeNs = layerNs * layers.length
  const checkNs = input.checkNs && sum(onDrive.map(({ lengthBytes }) => input.checkNs!(lengthBytes)))

  const timesWith = (checksNs: number): PassTimes => {
    const otherNs = Math.max(gpuLinkNs ?? 0, computeNs, checksNs)
    const passNs = Math.max(driveNs, otherNs)
    const boundBy = (
      [
        ['nothing', 0],
        ['drive', driveNs],
        ['gpu link', gpuLinkNs],
        ['checks', checksNs],
        ['compute', computeNs],
      ] as const
    ).find(([, ns]) => ns === passNs)![0]
    const checks = checksNs > 0 ? input.checkNs : undefined
    return {
      // Sums in another order may differ in their last digit.
      firstNs: Math.max(
        passNs,
        firstPassNs(layers, { ...input, checkNs: checks, readNs: (bytes) => bytes * nsPerByte }),
      ),
      passNs,
      boundBy,
      sustained:
        cost.throttle &&
        sustainedPass(cost.throttle, {
          readBytes,
          coolNs: passNs,
          hotNs: Math.max(driveNs * cost.throttle.factor, otherNs),
        }),
    }
  }
  const verified = checkNs === undefined ? undefined : timesWith(checkNs)
  return { driveNs, gpuLinkNs, computeNs, checkNs, ...timesWith(0), verified }
}

const DEFAULT_READS: ReadShape = { commandBytes: 128 * 1024, inFlight: 32 }

/** Cost of a byte in a long run of reads. */
export function nsPerByteOf({ cost, reads = DEFAULT_READS }: Pick<PredictionInput, 'cost' | 'reads'>): number {
  return cost.readNs(reads.commandBytes, reads.inFlight) / reads.commandBytes
}

/** Time from the first command of an idle drive to its first data, beyond the cost of the bytes. */
export function latencyNsOf({ cost, reads = DEFAULT_READS }: Pick<PredictionInput, 'cost' | 'reads'>): number {
  const { commandBytes, inFlight } = reads
  return Math.max(0, cost.readNs(commandBytes, 1) - cost.readNs(commandBytes, inFlight))
}

/** Time of a pass in the long run, with a hot drive if it throttles. */
export function longRunNs({ passNs, sustained }: PassTimes): number {
  return sustained?.passNs ?? passNs
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
