import type { ExpertLayer, ExpertPlan } from '@gpunvme/layer-loader/residence'
import { printable } from '../terminal/printable.js'
import { formatTable } from '../terminal/table.js'
import { formatBytes, plural } from '../terminal/units.js'
import type { ExpertsUsed } from './experts-used.js'
import { predictedFrom } from './residence-report.js'
import { describeTimes } from './time-table.js'

/** Total sizes of the experts of a model and of the rest. */
export interface ExpertTotals {
  readonly denseBytes: number
  readonly experts: number
  readonly expertsBytes: number
  /** Bytes of the experts that a token uses; undefined if their number is unknown. */
  readonly tokenBytes: number | undefined
}

export function expertTotals(layers: readonly ExpertLayer[], used: ExpertsUsed | undefined): ExpertTotals {
  const sum = (of: (layer: ExpertLayer) => number) => layers.reduce((total, layer) => total + of(layer), 0)
  const ofExperts = ({ lengthBytes, denseBytes }: ExpertLayer) => lengthBytes - denseBytes
  const perToken = (layer: ExpertLayer) =>
    layer.experts === 0 ? 0 : Math.round((Math.min(used!.count, layer.experts) / layer.experts) * ofExperts(layer))
  return {
    denseBytes: sum(({ denseBytes }) => denseBytes),
    experts: sum(({ experts }) => experts),
    expertsBytes: sum(ofExperts),
    tokenBytes: used && sum(perToken),
  }
}

/** Describes the experts of a model: a row for consecutive layers of equal sizes, and totals. Empty for a dense model. */
export function describeExperts(layers: readonly ExpertLayer[], used: ExpertsUsed | undefined): string[] {
  const runs = runsOf(layers)
  if (runs.length === 0) return []
  const { denseBytes, experts, expertsBytes, tokenBytes } = expertTotals(layers, used)
  const right = (title: string) => ({ title, align: 'right' }) as const
  return [
    ...formatTable(
      [{ title: 'LAYERS WITH EXPERTS' }, right('EXPERTS'), right('ONE EXPERT'), right('DENSE PART')],
      runs.map(([first, last]) => [
        first === last ? printable(first.name) : `${printable(first.name)} to ${printable(last.name)}`,
        String(first.experts),
        formatBytes(first.expertBytes),
        formatBytes(first.denseBytes),
      ]),
    ),
    `Dense part of all layers, needed by every token: ${formatBytes(denseBytes)}`,
    `All ${plural(experts, 'expert')}: ${formatBytes(expertsBytes)}`,
    tokenBytes === undefined
      ? 'Experts that a token uses: unknown; set --experts-used'
      : `A token uses ${usedText(runs, used!)}: ${formatBytes(tokenBytes)} of experts`,
    '',
  ]
}

/** Describes a plan with experts: where the dense part and the experts are, the bytes of a token, its predicted times. */
export function describeExpertPlan(plan: ExpertPlan, layers: readonly ExpertLayer[], used: ExpertsUsed): string[] {
  const { dense, slots, cache, hitRate, tokenBytes, readBytes, predicted, experts } = plan
  const denseBytes = layers.reduce((total, layer) => total + layer.denseBytes, 0)
  const places = [
    ...(dense.vram.layers > 0 ? [`${formatBytes(dense.vram.layerBytes)} in GPU memory`] : []),
    ...(dense.ram.layers > 0 ? [`${formatBytes(dense.ram.layerBytes)} in host memory`] : []),
    ...(dense.readBytes > 0 ? [`${formatBytes(dense.readBytes)} read for each token`] : []),
  ]
  const inHost = slots.ramBytes > 0 ? `, ${formatBytes(slots.ramBytes)} of host memory` : ''
  return [
    `A token uses ${usedText(runsOf(layers), used)}`,
    `dense     ${places.length > 1 ? `${formatBytes(denseBytes)}: ` : ''}${places.join(', ')}`,
    `slots     ${formatBytes(slots.vramBytes)} of GPU memory${inHost}`,
    `cache     ${formatBytes(cache.vramBytes)} of GPU memory, ${formatBytes(cache.ramBytes)} of host memory: ${cache.experts} of ${plural(experts, 'expert')}${cache.experts === experts && hitRate === 1 ? ', each read only once' : ''}`,
    `reads     ${formatBytes(readBytes)} a token: ${formatBytes(tokenBytes)} of experts at a hit rate of ${hitRate}${dense.readBytes > 0 ? ', and the dense part on the drive' : ''}`,
    '',
    ...(predicted.boundBy === 'nothing'
      ? ['predicted no time: a token moves no data, or only copies at an unknown rate']
      : [
          predictedFrom(dense.costFrom),
          '',
          ...describeTimes('token', predicted, 'drive'),
          `Tokens per second: ${rates(plan)}.`,
        ]),
  ]
}

/** Returns the rates of later tokens, with and without verification if they differ. */
function rates({ predicted }: ExpertPlan): string {
  const rate = (passNs: number) => {
    const perSecond = 1e9 / passNs
    return perSecond >= 100 ? perSecond.toFixed(0) : String(Number(perSecond.toPrecision(3)))
  }
  const { verified } = predicted
  const [unverified, checked] = [rate(predicted.passNs), verified && rate(verified.passNs)]
  return checked === undefined || checked === unverified ? unverified : `${unverified}, ${checked} verified`
}

function usedText(runs: readonly (readonly [ExpertLayer, ExpertLayer])[], { count, from }: ExpertsUsed): string {
  const counts = [...new Set(runs.map(([{ experts }]) => experts))].sort((a, b) => a - b)
  const source = { option: '--experts-used', header: 'the header', 'config.json': 'config.json' }[from]
  return `${count} of ${counts.join(' or ')} experts in each layer (${source})`
}

/** Returns the first and last of consecutive layers whose experts have the same number and sizes. */
function runsOf(layers: readonly ExpertLayer[]): [ExpertLayer, ExpertLayer][] {
  const runs: [ExpertLayer, ExpertLayer][] = []
  let last: ExpertLayer | undefined
  for (const layer of layers) {
    const isSame =
      last !== undefined &&
      (['experts', 'expertBytes', 'denseBytes', 'lengthBytes'] as const).every((key) => last![key] === layer[key])
    last = layer
    if (layer.experts === 0) continue
    if (isSame) runs.at(-1)![1] = layer
    else runs.push([layer, layer])
  }
  return runs
}
