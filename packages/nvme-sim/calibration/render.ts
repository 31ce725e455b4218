import { profiles, type ProfileName } from '../src/profiles/index.js'
import type { CalibrationReport, Comparison, LinkComparison } from './report.js'

/** Renders the report as Markdown. */
export function renderCalibration({ points, checks, links }: CalibrationReport): string {
  const names = Object.keys(profiles) as ProfileName[]
  const presets = names.flatMap((name) => {
    const own = points.filter(({ preset }) => preset === name)
    return own.length === 0 ? [] : [`## ${name}`, `Source: ${profiles[name].source}`, ...pointTables(own)]
  })
  const checkRows = checks.map(({ what, expected, model, met }) => [what, expected, model, met ? 'yes' : '**no**'])
  return [
    ...presets,
    '## Checks of the model',
    table(['check', 'expected', 'model', 'met'], checkRows),
    '## Links',
    'GB/s calculated from TLPs, compared with the simulator for a drive without other costs. All x4, 64-bit addresses.',
    table(['link', 'commands', 'calculated', 'model', 'error'], links.map(linkRow)),
  ].join('\n\n')
}

function pointTables(own: readonly Comparison[]): string[] {
  return (['fitted', 'held-back'] as const).flatMap((use) => {
    const rows = own.filter((point) => point.use === use).map(pointRow)
    const title = use === 'fitted' ? '**Fitted**' : '**Held back**'
    return rows.length === 0 ? [] : [title, table(['point', 'published', 'model', 'error', 'source'], rows)]
  })
}

function pointRow({ metric, publishedValue, unit, modelValue, error, source, note }: Comparison): string[] {
  return [
    note === undefined ? metric : `${metric} — ${note}`,
    `${number(publishedValue)} ${unit}`,
    `${number(modelValue)} ${unit}`,
    percent(error),
    source,
  ]
}

function linkRow({
  operation,
  gen,
  mps,
  rcb,
  blockBytes,
  expectedBytesPerSecond,
  modelBytesPerSecond,
  error,
}: LinkComparison): string[] {
  const size = blockBytes < 1024 ? `${blockBytes} B` : `${blockBytes / 1024} KiB`
  return [
    `Gen${gen}, MPS ${mps}${operation === 'write' ? `, completions of ${rcb} B` : ''}`,
    `${operation}s of ${size}`,
    (expectedBytesPerSecond / 1e9).toFixed(2),
    (modelBytesPerSecond / 1e9).toFixed(2),
    percent(error),
  ]
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Formats a number with four significant digits and commas: 3,330 or 25.54 or 800,100. */
function number(value: number): string {
  const rounded = Number(value.toPrecision(4))
  const [whole = '', fraction] = String(rounded).split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

function percent(share: number): string {
  const text = (share * 100).toFixed(1)
  const sign = text.startsWith('-') || Number(text) === 0 ? '' : '+'
  return `${Number(text) === 0 ? '0.0' : sign + text} %`
}
