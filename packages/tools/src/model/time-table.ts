import type { PassTimes, Prediction } from '@gpunvme/layer-loader/residence'
import { formatTable } from '../terminal/table.js'
import { formatDuration } from '../terminal/units.js'

/**
 * Returns the table of predicted times, with one column if verification changes nothing, and the busy time of each
 * resource as lower bounds.
 */
export function describeTimes(what: 'pass' | 'token', predicted: Prediction, source: 'drive' | 'file'): string[] {
  const { driveNs, gpuLinkNs, computeNs, checkNs, verified } = predicted
  const unverified = column(what, predicted)
  const checked = verified && column(what, verified)
  const hasBoth = checked?.some(([, time], index) => time !== unverified[index]?.[1]) ?? false
  const busy = [
    [source, driveNs],
    ['GPU link', gpuLinkNs],
    ['compute', computeNs],
  ] as const
  const bounds = busy.flatMap(([name, ns = 0]) => (ns > 0 ? [`${name} ${formatDuration(ns)}`] : []))
  const checks = checkNs ? `${bounds.length > 0 ? '; ' : ''}with verification, checks ${formatDuration(checkNs)}` : ''
  const titles = hasBoth ? ['UNVERIFIED', 'VERIFIED'] : ['TIME']
  const labels = [...new Set([...unverified, ...(checked ?? [])].map(([label]) => label))]
  const cell = (times: typeof unverified | undefined, label: string) =>
    times?.find(([each]) => each === label)?.[1] ?? '-'
  return [
    ...formatTable(
      [{ title: `A ${what.toUpperCase()}` }, ...titles.map((title) => ({ title, align: 'right' }) as const)],
      labels.map((label) => [label, cell(unverified, label), ...(hasBoth ? [cell(checked, label)] : [])]),
    ),
    `Lower bounds: ${bounds.join(', ')}${checks}.`,
  ]
}

function column(what: string, { firstNs, passNs, sustained }: PassTimes): (readonly [string, string])[] {
  return [
    [`first, from a cold ${what === 'token' ? 'drive and an empty cache' : 'drive'}`, formatDuration(firstNs)],
    ['later', formatDuration(passNs)],
    ...(sustained === undefined
      ? []
      : ([
          ['later, once the drive throttles', formatDuration(sustained.passNs)],
          ['throttles after', formatDuration(sustained.afterNs)],
        ] as const)),
  ]
}
