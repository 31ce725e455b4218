import { formatBytes, plural } from '../terminal/units.js'
import { printableLines } from '../terminal/printable.js'
import type { BenchResults } from './bench-results.js'
import { distinct, findingsOf, formatSetting, sameSetting, workloadsOf, type Workload } from './findings.js'
import { headlineOf } from './headline.js'
import { missingOf } from './missing.js'
import { formatEstimate, formatQuantity } from './quantities.js'

/** Formats a summary for a pull request or README: results, a table per kind of work, missing parts, and the setup. */
export function formatMarkdown(results: BenchResults): string {
  const { claim, context, caveats } = headlineOf(results)
  const parts = [
    `**${escape(claim)}**`,
    ...(context.length === 0 ? [] : [escape(context.join(' '))]),
    ...(caveats.length === 0 ? [] : [caveats.map((caveat) => `> ${escape(caveat)}`).join('\n>\n')]),
    ...workloadsOf(findingsOf(results)).map(throughputTable),
    ...notMeasured(results),
    `<sub>${escape(setup(results))}</sub>`,
  ]
  return `${parts.join('\n\n')}\n`
}

function throughputTable({ title, findings }: Workload): string {
  const series = distinct(findings.map((finding) => finding.series))
  const settings = findings.filter(
    ({ cell }, index) => findings.findIndex((other) => sameSetting(other.cell, cell)) === index,
  )
  const names = series.map((one) => {
    const { name, kind } = findings.find((finding) => finding.series === one)!.source
    return kind === 'baseline' ? `${name} (baseline)` : name
  })
  return [
    tableRow([title, ...names]),
    `|:--|${series.map(() => '--:|').join('')}`,
    ...settings.map(({ cell }) => {
      const values = series.map((one) => {
        const found = findings.find((finding) => finding.series === one && sameSetting(finding.cell, cell))
        return found === undefined ? '-' : formatEstimate('rate', found.rate)
      })
      return tableRow([formatSetting(cell), ...values])
    }),
  ].join('\n')
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.map(escape).join(' | ')} |`
}

function notMeasured(results: BenchResults): string[] {
  const missing = missingOf(results)
  if (missing.length === 0) return []
  const lines = missing.map(({ source, what, why, next }) => {
    return `- ${escape(`${source}, ${what}: ${why}${next === undefined ? '' : ` (${next})`}`)}`
  })
  return [`Not measured:\n\n${lines.join('\n')}`]
}

function setup({ drive, machine, link, method, time, transport, version, startedAt }: BenchResults): string {
  return [
    `${drive.model} (firmware ${drive.firmware}, ${formatBytes(drive.capacityBytes)}) through ${transport}`,
    ...(link === undefined
      ? []
      : [
          `PCIe Gen${link.gen} x${link.width}, MPS ${link.mps}: ${formatQuantity('rate', link.payloadLimitBytesPerSecond)} of payload`,
        ]),
    `${machine.cpu}, ${machine.kernel}${machine.gpu === undefined ? '' : `, ${machine.gpu}`}`,
    `${plural(method.repeats, 'repeat')}${time === 'modelled' ? '' : ', ± is the 95 % confidence interval of the mean'}`,
    `${time === 'modelled' ? 'modelled' : 'wall'} time; gpunvme ${version}, ${startedAt.slice(0, 10)}`,
  ].join('; ')
}

/** Escapes names: no emphasis, links, HTML or cell separators. */
function escape(text: string): string {
  return printableLines(text)
    .join(' ')
    .replace(/[\\`*_[\]<>|~&]/g, '\\$&')
}
