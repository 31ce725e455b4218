import { BudgetInfeasibleError, planResidence } from '@gpunvme/layer-loader/residence'
import type { CostModel } from '@gpunvme/nvme-spec/transport'
import { isKnown, valueOf, type Known } from '../../machine/known.js'
import { functionAt } from '../../machine/index.js'
import { copyCostOf, defaultRamBytes, defaultVramBytes, driveCostOf, gpuLinkOf } from '../../model/machine-cost.js'
import type { DriveCost } from '../../model/machine-cost.js'
import { formatBytes, formatRate } from '../../terminal/units.js'
import { memoryOf, type Facts } from '../facts.js'
import type { Pair } from './judge.js'

/** Rates that a drive and a GPU are expected to reach. */
export interface Expectation {
  readonly bytesPerSecond: number
  /**
   * 'preset': of the drive's preset on this link. 'slower-link': the same, but measured on a slower link. 'link': only
   * the limit of the link, as no preset models the drive. 'small-packets': the same with the smallest packets, as their
   * size is unreadable.
   */
  readonly rateFrom: 'preset' | 'slower-link' | 'link' | 'small-packets'
  /** Times of a 70B model; empty without a GPU. */
  readonly tokens: readonly TokenTime[]
  /** Whether the size of the GPU's memory is unknown, so that every layer is read for each token. */
  readonly isMemoryUnknown: boolean
  /** Assumptions, as phrases. */
  readonly assumed: readonly string[]
}

/** Time of a token of a 70B model. */
export interface TokenTime {
  readonly quantisation: keyof typeof BITS
  /** 0 if every layer stays in GPU memory; undefined if the memory is too small. */
  readonly seconds: number | undefined
  /** The same after the drive has become hot; the same number if it does not throttle. */
  readonly hotSeconds: number | undefined
}

/** Bits per weight of ggml's Q4_K and Q6_K: blocks of 144 and 210 bytes for 256 weights. */
const BITS = { Q4: 4.5, Q6: 6.5625 } as const

/** Layers of Llama 3 70B, and the weights of each: attention with 8 key-value heads of 128, and three projections. */
const LAYERS = 80
const LAYER_WEIGHTS = 8192 * (2 * 8192 + 2 * 8 * 128) + 3 * 8192 * 28_672

/** Reads of the loader: the default shape of `planResidence`. */
const READ_BYTES = 128 * 1024
const IN_FLIGHT = 32

/** Returns the expectation of the best route of a pair; unknown if the drive's link is. */
export function expectationOf(facts: Facts, { drive, gpu, best }: Pair): Known<Expectation> {
  const known = driveCostOf(facts.machine, drive)
  if (!isKnown(known)) return known
  const nsPerByte = known.cost.readNs(READ_BYTES, IN_FLIGHT) / READ_BYTES
  const rate = { bytesPerSecond: 1e9 / nsPerByte, rateFrom: rateFrom(facts, drive, known) }
  const toGpu = best?.route === 'memory' ? undefined : gpu
  if (toGpu === undefined)
    return { ...rate, tokens: [], isMemoryUnknown: false, assumed: [describeDrive(facts, drive, known)] }
  const found = facts.machine.gpus.find(({ address }) => address === toGpu)!
  const memory = valueOf(memoryOf(facts, found))
  const ramBytes = defaultRamBytes(valueOf(facts.machine.memory.totalBytes) ?? 0)
  const link = gpuLinkOf(facts.machine, toGpu)
  const cost = { ...known.cost, ...(isKnown(link) ? copyCostOf(link) : {}) }
  const budget = memory === undefined ? undefined : { vramBytes: defaultVramBytes(memory), ramBytes }
  const tokens = (['Q4', 'Q6'] as const).map((quantisation): TokenTime => {
    const lengthBytes = layerBytes(quantisation)
    if (budget === undefined) return { quantisation, ...streamed(lengthBytes, nsPerByte, cost) }
    return { quantisation, ...planned(lengthBytes, { budget, tier: 1, cost, costFrom: 'guess' }) }
  })
  const assumed = [
    `${LAYERS} layers of ${sizes()}`,
    describeDrive(facts, drive, known),
    budget === undefined
      ? 'GPU memory unknown, so every layer is read for each token'
      : `layers take ${formatBytes(budget.vramBytes)} of GPU memory and ${formatBytes(ramBytes)} of host memory`,
    isKnown(link)
      ? `copies to the GPU at ${formatRate(1, copyCostOf(link).copyNs(1))} (Gen${link.gen} x${link.width})`
      : 'GPU link unknown, assumed not to limit',
    'computation and checksums not included',
    ...hotTimes(tokens),
  ]
  return { ...rate, tokens, isMemoryUnknown: budget === undefined, assumed }
}

function layerBytes(quantisation: keyof typeof BITS): number {
  return (LAYER_WEIGHTS * BITS[quantisation]) / 8
}

function sizes(): string {
  const [q4, q6] = (['Q4', 'Q6'] as const).map((each) => formatBytes(layerBytes(each)))
  return `${q4} at Q4, ${q6} at Q6`
}

function rateFrom({ machine }: Facts, address: string, { preset, isLeast }: DriveCost): Expectation['rateFrom'] {
  if (preset !== undefined) return isLeast ? 'slower-link' : 'preset'
  const packets = functionAt(machine, address)?.packets
  return packets === undefined || isKnown(packets) ? 'link' : 'small-packets'
}

/** Every layer is read for each token. */
function streamed(lengthBytes: number, nsPerByte: number, cost: CostModel) {
  const copyNs = cost.copyNs?.(lengthBytes) ?? 0
  const secondsAt = (readNs: number) => (LAYERS * Math.max(readNs, copyNs)) / 1e9
  const readNs = lengthBytes * nsPerByte
  return { seconds: secondsAt(readNs), hotSeconds: secondsAt(readNs * (cost.throttle?.factor ?? 1)) }
}

function planned(
  lengthBytes: number,
  options: Parameters<typeof planResidence>[1],
): Pick<TokenTime, 'seconds' | 'hotSeconds'> {
  const layers = Array.from({ length: LAYERS }, (_, index) => ({ name: String(index), lengthBytes }))
  try {
    const { passNs, sustained } = planResidence(layers, options).predicted
    return { seconds: passNs / 1e9, hotSeconds: (sustained?.passNs ?? passNs) / 1e9 }
  } catch (error) {
    if (error instanceof BudgetInfeasibleError) return { seconds: undefined, hotSeconds: undefined }
    throw error
  }
}

function describeDrive({ machine }: Facts, address: string, { preset, link }: DriveCost): string {
  const { gen, lanes, maxPayloadBytes } = link
  const packets = functionAt(machine, address)?.packets
  const how =
    packets === undefined || isKnown(packets)
      ? ''
      : packets.unknown.startsWith('needs root')
        ? ': only root can read their size'
        : ': their size is unreadable'
  const where = `(Gen${gen} x${lanes}, packets of ${maxPayloadBytes} bytes${how})`
  return preset === undefined
    ? `the drive fills its link ${where}`
    : `the drive performs like preset ${preset} ${where}`
}

function hotTimes(tokens: readonly TokenTime[]): string[] {
  const hot = tokens.flatMap(({ quantisation, seconds, hotSeconds }) =>
    hotSeconds === undefined || hotSeconds === seconds ? [] : [`${secondsText(hotSeconds)} at ${quantisation}`],
  )
  return hot.length === 0 ? [] : [`no throttling (${hot.join(' and ')} once the drive throttles)`]
}

/** '4.1 s'; '11 s'. Predictions deserve no more digits. */
export function secondsText(seconds: number): string {
  return `${seconds < 10 ? Number(seconds.toPrecision(2)) : Math.round(seconds)} s`
}
