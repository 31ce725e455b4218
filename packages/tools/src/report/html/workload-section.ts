import { formatBytes, halfUp } from '../../terminal/units.js'
import type { BenchResults } from '../bench-results.js'
import {
  atSettingOf,
  distinct,
  formatSetting,
  sameSetting,
  sourceName,
  type Finding,
  type Workload,
} from '../findings.js'
import { percentile } from '../latencies.js'
import { formatCount, formatEstimate, formatQuantity, formatShare, unitOf, type Quantity } from '../quantities.js'
import { counted, type Estimate } from '../statistics.js'
import { barChart } from './bars.js'
import { cdfChart } from './cdf-chart.js'
import { lineChart, type Line } from './line-chart.js'
import type { Series } from './marker.js'
import { each, foreign, html, type Content, type Markup } from './markup.js'
import { heatTable, tableBelow } from './table.js'

/** Shows one kind of work: 'Sequential reads'. Unmeasured parts have no chart. */
export function workloadSection(results: BenchResults, workload: Workload, index: number): Markup {
  const id = `w${index}`
  const cards = [
    throughputBars(results, workload),
    throughputByBlockSize(results, workload, id),
    iopsByDepth(workload, id),
    ...latencyCards(workload, id),
    cpuBars(results, workload),
  ]
  return html`<section>
    <h2>${workload.title}</h2>
    <div class="cards">${cards} ${everySetting(workload)}</div>
  </section>`
}

function card(title: Content, caption: Content, ...content: readonly Content[]): Markup {
  return html`<article class="card">
    <h3>${title}</h3>
    <p class="caption">${caption}</p>
    ${content}
  </article>`
}

function seriesOf({ series, source }: Finding): Series {
  return { index: series, name: source.name, kind: source.kind }
}

/** Returns each source's finding at the best setting; a source without one, at its own best setting. */
function besides({ findings, best }: Workload): Finding[] {
  const bySource = new Map<number, Finding>()
  for (const finding of findings) {
    const before = bySource.get(finding.series)
    const isThere = sameSetting(finding.cell, best.cell)
    const wasThere = before !== undefined && sameSetting(before.cell, best.cell)
    if (before === undefined || isThere || (!wasThere && finding.rate.mean > before.rate.mean))
      bySource.set(finding.series, finding)
  }
  return [...bySource.values()].sort((a, b) => a.series - b.series)
}

function throughputBars({ link }: BenchResults, workload: Workload): Markup {
  const { best } = workload
  const shown = besides(workload)
  const limit = link?.payloadLimitBytesPerSecond
  const title = `Throughput at ${formatSetting(best.cell)}`
  const chosen = `The setting where ${sourceName(best.source)} reaches its maximum, within 1 %, with the fewest bytes in flight. Dots are single repeats`
  const caption =
    limit === undefined
      ? `${chosen}.`
      : `${chosen}, the dashed line is the payload limit, ${formatQuantity('rate', limit)}.`
  return card(
    title,
    caption,
    barChart({
      title,
      ...(limit !== undefined && limit <= best.rate.mean * 4 && { limit }),
      bars: shown.map((finding) => ({
        series: seriesOf(finding),
        value: finding.rate,
        values: counted(finding.cell.repeats).map(({ bytes, seconds, outlier }) => ({
          value: bytes / seconds,
          outlier: outlier !== undefined,
        })),
        text: `${formatEstimate('rate', finding.rate, best.rate.mean)}${limit === undefined ? '' : `, ${formatShare(finding.rate.mean / limit)}`}`,
        ...(!sameSetting(finding.cell, best.cell) && {
          note: `At ${formatSetting(finding.cell)}: not measured at the setting above.`,
        }),
      })),
    }),
    estimatesTable(
      'Throughput of each source',
      shown.map((finding) => [finding, finding.rate]),
      'rate',
    ),
  )
}

function estimatesTable(caption: string, rows: readonly (readonly [Finding, Estimate])[], quantity: Quantity): Markup {
  return tableBelow({
    caption,
    columns: [
      { title: 'source' },
      { title: 'setting' },
      { title: 'mean', numeric: true },
      { title: 'repeats', numeric: true },
      { title: 'outliers', numeric: true },
    ],
    rows: rows.map(([finding, value]) => [
      foreign(finding.source.name),
      formatSetting(finding.cell),
      formatEstimate(quantity, value),
      value.count,
      finding.outliers,
    ]),
  })
}

/** With fewer settings, the table of all settings shows as much as a line would. */
const MIN_POINTS = 3

function throughputByBlockSize({ link }: BenchResults, { findings, best }: Workload, id: string): Markup | undefined {
  const { depth } = best.cell
  const shown = findings.filter(({ cell }) => cell.depth === depth)
  if (distinct(shown.map(({ cell }) => cell.blockBytes)).length < MIN_POINTS) return undefined
  const lines = linesOf(shown, ({ cell }) => cell.blockBytes, 'rate')
  return card(
    'Throughput by block size',
    `At queue depth ${depth}.`,
    lineChart({
      id: `${id}-throughput`,
      title: `Throughput by block size at queue depth ${depth}`,
      description: spoken(lines, 'rate', formatBytes),
      xTitle: 'block size',
      formatX: formatBytes,
      quantity: 'rate',
      lines,
      ...(link !== undefined && { limit: { value: link.payloadLimitBytesPerSecond, name: 'payload limit' } }),
    }),
    linesTable(`Throughput by block size at queue depth ${depth}`, 'block size', lines, 'rate', formatBytes),
  )
}

function iopsByDepth({ findings }: Workload, id: string): Markup | undefined {
  const sizes = distinct(findings.map(({ cell }) => cell.blockBytes))
  const depthsOf = (bytes: number) =>
    distinct(findings.filter(({ cell }) => cell.blockBytes === bytes).map(({ cell }) => cell.depth))
  const blockBytes = sizes.find((bytes) => depthsOf(bytes).length >= MIN_POINTS)
  if (blockBytes === undefined) return undefined
  const shown = findings.filter(({ cell }) => cell.blockBytes === blockBytes)
  const lines = linesOf(shown, ({ cell }) => cell.depth, 'iops')
  return card(
    'Commands per second by queue depth',
    `With blocks of ${formatBytes(blockBytes)}.`,
    lineChart({
      id: `${id}-iops`,
      title: `Commands per second by queue depth with blocks of ${formatBytes(blockBytes)}`,
      description: spoken(lines, 'iops', formatCount),
      xTitle: 'queue depth',
      formatX: formatCount,
      quantity: 'iops',
      lines,
    }),
    linesTable(`Commands per second by queue depth`, 'queue depth', lines, 'iops', formatCount),
  )
}

function linesOf(findings: readonly Finding[], xOf: (finding: Finding) => number, value: 'rate' | 'iops'): Line[] {
  return distinct(findings.map(({ series }) => series)).map((index) => {
    const own = findings.filter(({ series }) => series === index).sort((a, b) => xOf(a) - xOf(b))
    return {
      series: seriesOf(own[0]!),
      points: own.map((finding) => ({
        x: xOf(finding),
        value: finding[value],
        outliers: counted(finding.cell.repeats).flatMap(({ outlier, bytes, commands, seconds }) =>
          outlier === undefined ? [] : [(value === 'rate' ? bytes : commands) / seconds],
        ),
      })),
    }
  })
}

/** Text alternative of a chart: the first and last point of each line. */
function spoken(lines: readonly Line[], quantity: Quantity, formatX: (x: number) => string): string {
  return lines
    .map(({ series, points }) => {
      const [first, last] = [points[0]!, points.at(-1)!]
      const ends = [first, last].map(({ x, value }) => `${formatQuantity(quantity, value.mean)} at ${formatX(x)}`)
      return `${series.name}: ${first === last ? ends[0]! : `from ${ends[0]!} to ${ends[1]!}`}.`
    })
    .join(' ')
}

function linesTable(
  caption: string,
  xTitle: string,
  lines: readonly Line[],
  quantity: Quantity,
  formatX: (x: number) => string,
): Markup {
  const values = distinct(lines.flatMap(({ points }) => points.map(({ x }) => x)))
  return tableBelow({
    caption,
    columns: [{ title: xTitle }, ...lines.map(({ series }) => ({ title: foreign(series.name), numeric: true }))],
    rows: values.map((x) => [
      formatX(x),
      ...lines.map(({ points }) => {
        const point = points.find((one) => one.x === x)
        return point === undefined ? '-' : formatEstimate(quantity, point.value)
      }),
    ]),
  })
}

/** Latency without queueing, and at the setting of the highest rate; one card if they coincide. */
function latencyCards({ findings, best }: Workload, id: string): (Markup | undefined)[] {
  const lightest = [...findings].sort(
    (a, b) => a.cell.depth - b.cell.depth || a.cell.blockBytes - b.cell.blockBytes || a.series - b.series,
  )[0]!
  if (sameSetting(lightest.cell, best.cell)) return [latencyCard(findings, best, 'Latency', `${id}-latency`)]
  return [
    latencyCard(findings, lightest, 'Latency at the lightest load', `${id}-light`),
    latencyCard(findings, best, 'Latency at the highest rate', `${id}-latency`),
  ]
}

const SHARES = [0.5, 0.9, 0.99, 0.999]

function latencyCard(findings: readonly Finding[], of: Finding, title: string, id: string): Markup | undefined {
  const shown = atSettingOf(findings, of.cell).flatMap((finding) =>
    finding.latencies === undefined ? [] : [{ finding, latencies: finding.latencies }],
  )
  if (shown.length === 0) return undefined
  const setting = formatSetting(of.cell)
  const description = shown.map(
    ({ finding, latencies }) =>
      `${finding.source.name}: median ${formatQuantity('time', percentile(latencies, 0.5))}, 99th percentile ${formatQuantity('time', percentile(latencies, 0.99))}.`,
  )
  return card(
    title,
    `At ${setting}. ${whatIsTimed(shown.map(({ finding }) => finding))}`,
    cdfChart({
      id,
      title: `${title}: cumulative fraction of commands, at ${setting}`,
      description: description.join(' '),
      distributions: shown.map(({ finding, latencies }) => ({ series: seriesOf(finding), latencies })),
    }),
    tableBelow({
      caption: `${title} at ${setting}; percentiles are upper bounds, exact to the width of a bucket`,
      columns: [
        { title: 'source' },
        ...['min', '50 %', '90 %', '99 %', '99.9 %', 'max', 'count'].map((name) => ({
          title: name,
          numeric: true,
        })),
      ],
      rows: shown.map(({ finding, latencies }) => [
        foreign(finding.source.name),
        ...[latencies.minNs, ...SHARES.map((share) => percentile(latencies, share)), latencies.maxNs].map((ns) =>
          formatQuantity('time', ns),
        ),
        latencies.count,
      ]),
    }),
  )
}

/** Describes the unit of latencies. Sources with different units are named, since they are not comparable. */
function whatIsTimed(findings: readonly Finding[]): string {
  const kinds = [...new Set(findings.map(({ source }) => source.latencyOf))]
  const names = { command: 'one NVMe command', plan: 'a plan of several commands', call: 'one call of the system' }
  if (kinds.length === 1) return `Of ${names[kinds[0]!]}.`
  const each = kinds.map((kind) => {
    const own = findings.filter(({ source }) => source.latencyOf === kind).map(({ source }) => source.name)
    return `of ${names[kind]} for ${own.join(', ')}`
  })
  return `Units of latency differ: ${each.join('; ')}.`
}

function cpuBars({ time }: BenchResults, workload: Workload): Markup | undefined {
  const shown = besides(workload).flatMap((finding) =>
    finding.cpu === undefined ? [] : [{ finding, cpu: finding.cpu }],
  )
  // The CPU time of a simulator is not that of a drive.
  if (time === 'modelled' || shown.length === 0) return undefined
  const { cell } = workload.best
  const title = 'CPU time per 10⁹ bytes'
  const max = shown.reduce((max, { cpu }) => Math.max(max, cpu.mean), 0)
  return card(
    title,
    `At ${formatSetting(cell)}. Lower is better; all threads, including system time.`,
    barChart({
      title,
      bars: shown.map(({ finding, cpu }) => ({
        series: seriesOf(finding),
        value: cpu,
        values: counted(finding.cell.repeats).flatMap(({ cpuSeconds, bytes, outlier }) =>
          cpuSeconds === undefined || bytes === 0
            ? []
            : [{ value: (cpuSeconds / bytes) * 1e9, outlier: outlier !== undefined }],
        ),
        text: formatEstimate('cpu', cpu, max),
        ...(!sameSetting(finding.cell, cell) && { note: `At ${formatSetting(finding.cell)}.` }),
      })),
    }),
    estimatesTable(
      title,
      shown.map(({ finding, cpu }) => [finding, cpu]),
      'cpu',
    ),
  )
}

/** A table of block sizes and depths for each source; undefined with a single setting. */
function everySetting({ findings, best }: Workload): Markup | undefined {
  const sizes = distinct(findings.map(({ cell }) => cell.blockBytes))
  const depths = distinct(findings.map(({ cell }) => cell.depth))
  if (sizes.length * depths.length < 2) return undefined
  const max = findings.reduce((max, { rate }) => Math.max(max, rate.mean), 0)
  const unit = unitOf('rate', best.rate.mean)
  const series = distinct(findings.map((finding) => finding.series))
  return html`<article class="card settings${series.length > 1 ? ' whole' : undefined}">
    <h3>Throughput at every setting</h3>
    <p class="caption">In ${unit.name}: block sizes downwards, queue depths across; the higher, the darker.</p>
    <div class="heats">
      ${each(series, (one) => {
        const own = findings.filter((finding) => finding.series === one)
        return html`<div>
          <h4>${foreign(own[0]!.source.name)}</h4>
          ${heatTable({
            caption: `Throughput of ${own[0]!.source.name} in ${unit.name}, by block size and queue depth`,
            corner: 'depth',
            columns: depths.map(formatCount),
            rows: sizes.map((bytes) => ({
              title: formatBytes(bytes),
              cells: depths.map((depth) => {
                const found = own.find(({ cell }) => cell.blockBytes === bytes && cell.depth === depth)
                return found && { text: heatText(found.rate.mean / unit.factor), share: found.rate.mean / max }
              }),
            })),
          })}
        </div>`
      })}
    </div>
  </article>`
}

function heatText(value: number): string {
  return value >= 0.0095
    ? Number(halfUp(value).toPrecision(3)).toFixed(value >= 99.5 ? 0 : value >= 9.95 ? 1 : 2)
    : '< 0.01'
}
