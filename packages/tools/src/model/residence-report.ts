import type { LayerSize, PlacedLayer, Residence, ResidencePlan } from '@gpunvme/layer-loader/residence'
import type { Link } from '@gpunvme/nvme-spec/pcie'
import { printable } from '../terminal/printable.js'
import { formatTable, wrap } from '../terminal/table.js'
import { formatBytes, plural } from '../terminal/units.js'
import { describeTimes } from './time-table.js'

type PlaceNames = Readonly<Record<Residence, string>>

/** Names of the places. */
const PLACES: PlaceNames = { vram: 'GPU memory', ram: 'host memory', nvme: 'drive' }

export interface DescribeOptions {
  /** 'host': layers are used in host memory, which the plan calls GPU memory. Default: 'gpu'. */
  readonly on?: 'gpu' | 'host'
  /** Source of the other layers. Default: 'drive'. */
  readonly source?: 'drive' | 'file'
  /** The GPU's link that limits predicted copies; undefined if the plan has no such limit. */
  readonly gpuLink?: Pick<Link, 'gen' | 'width'> | undefined
}

/** Maximum lines of runs of layers. */
const MAX_RUNS = 40

/** Describes a plan: the places of layers, and the time of a pass. */
export function describePlan(
  name: string,
  plan: ResidencePlan,
  { gpuLink, on = 'gpu', source = 'drive' }: DescribeOptions = {},
): string[] {
  const { layers, tier, readBytes, copiedBytes } = plan
  const places = { ...PLACES, ...(on === 'host' && { vram: PLACES.ram }), nvme: source }
  const total = layers.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
  return [
    `Plan for "${printable(name)}": ${describeLayers(layers)}, ${formatBytes(total)}, ${on === 'gpu' ? `by tier ${tier}` : 'in host memory'}`,
    ...formatTable(
      [
        { title: 'PLACE' },
        { title: unitOf(layers) === 'layer' ? 'LAYERS' : 'PARTS', align: 'right' },
        { title: 'BYTES', align: 'right' },
        { title: 'SLOTS', align: 'right' },
        { title: 'LEFT', align: 'right' },
      ],
      rows(plan, places),
    ),
    '',
    `a pass    reads ${formatBytes(readBytes)}, copies ${formatBytes(copiedBytes)}`,
    ...time(plan, source, gpuLink),
    '',
    ...runs(layers, places),
  ]
}

/** Returns the unit in which layers are placed and counted. If some are split, a complete one counts as a part. */
export function unitOf(layers: readonly LayerSize[]): 'layer' | 'part' {
  return layers.some(({ part }) => part !== undefined) ? 'part' : 'layer'
}

/** Returns the number of layers, and how they are split: '10 layers, 8 of them in 16 parts'. */
export function describeLayers(layers: readonly LayerSize[]): string {
  const parts = layers.flatMap(({ part }) => (part === undefined ? [] : [part.extent]))
  const split = new Set(parts).size
  const count = plural(layers.length - parts.length + split, 'layer')
  return split === 0 ? count : `${count}, ${split} of them in ${plural(parts.length, 'part')}`
}

function rows({ layers, vram, ram }: ResidencePlan, places: PlaceNames): string[][] {
  const nvme = layers.filter(({ residence }) => residence === 'nvme')
  const nvmeBytes = nvme.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
  const memory = [[places.vram, vram] as const, ...(places.vram === places.ram ? [] : [[places.ram, ram] as const])]
  return [
    ...memory.map(([place, use]) => [
      place,
      String(use.layers),
      formatBytes(use.layerBytes),
      formatBytes(use.slotBytes),
      formatBytes(use.unusedBytes),
    ]),
    [places.nvme, String(nvme.length), formatBytes(nvmeBytes), '-', '-'],
  ]
}

function time(
  { predicted, costFrom, copiedBytes, options }: ResidencePlan,
  source: 'drive' | 'file',
  gpuLink: DescribeOptions['gpuLink'],
): string[] {
  const isCopyRateUnknown = options.cost.copyNs === undefined
  if (predicted.boundBy === 'nothing') {
    if (copiedBytes === 0) return ['predicted no time: a pass moves no data']
    return isCopyRateUnknown
      ? [`predicted nothing: it copies ${formatBytes(copiedBytes)} at an unknown rate (set --gpu-link)`]
      : [`predicted no time: it copies ${formatBytes(copiedBytes)}, which takes no modelled time`]
  }
  const link =
    gpuLink !== undefined
      ? `; copies at the limit of Gen${gpuLink.gen} x${gpuLink.width}`
      : isCopyRateUnknown && copiedBytes > 0
        ? "; the GPU's link is assumed to be unlimited (set --gpu-link)"
        : ''
  return [
    ...wrap(`${predictedFrom(costFrom)}${link}`, 80, ' '.repeat(10)),
    '',
    ...describeTimes('pass', predicted, source),
  ]
}

/** Returns the source of predicted times. */
export function predictedFrom(costFrom: string): string {
  if (costFrom === 'measured') return 'predicted from a measurement just made'
  if (costFrom.startsWith('link ')) return `predicted at the limit of the drive's link, ${costFrom.slice(5)}`
  return `predicted by the model of the ${costFrom}`
}

/** Groups consecutive layers in the same place on one line. */
function runs(layers: readonly PlacedLayer[], places: PlaceNames): string[] {
  const lines: string[] = []
  for (let first = 0; first < layers.length;) {
    let last = first
    while (layers[last + 1]?.residence === layers[first]!.residence) last++
    const names = [...new Set([layers[first]!, layers[last]!].map(({ name }) => printable(name)))].join(' to ')
    lines.push(`  ${places[layers[first]!.residence].padEnd(13)}${names}`)
    first = last + 1
  }
  return lines.length <= MAX_RUNS ? lines : [...lines.slice(0, MAX_RUNS), `  and ${lines.length - MAX_RUNS} more runs`]
}
