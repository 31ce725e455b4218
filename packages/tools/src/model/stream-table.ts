import type { OpenedTransport } from '../drive/opened-transport.js'
import { printable } from '../terminal/printable.js'
import { describeModelled } from '../terminal/rate.js'
import type { LayerReport, TotalReport } from './stream-report.js'
import { formatRow, formatTitles, type Column } from '../terminal/table.js'
import { formatBytes, formatDuration, formatRate } from '../terminal/units.js'

/** For whoever reads the table: what its times and rates mean. */
export const TABLE_LEGEND = 'Times run until a layer is in memory; rates are of all bytes until then.'

/** The table of a streamed model, printed while it grows: 80 columns with ordinary layer names. */
export class StreamTable {
  private readonly columns: readonly Column[]
  private bytes = 0

  constructor(layerNames: readonly string[], time: OpenedTransport['time']) {
    const width = layerNames.reduce((widest, name) => Math.max(widest, printable(name).length), 5)
    this.columns = [
      { title: 'LAYER', width },
      { title: 'VERIFIED', align: 'right', width: 8 },
      { title: 'BYTES', align: 'right', width: 8 },
      { title: 'CMDS', align: 'right', width: 4 },
      { title: time === 'modelled' ? 'MODELLED' : 'DRIVE', align: 'right', width: 8 },
      { title: 'RATE', align: 'right', width: 9 },
      { title: 'WALL', align: 'right', width: 7 },
      { title: 'RATE', align: 'right', width: 9 },
    ]
  }

  get titles(): string {
    return formatTitles(this.columns)
  }

  row({ name, tensors, tensorsVerified, bytes, commands, driveAtNs, wallAtNs }: LayerReport): string {
    this.bytes += bytes
    return formatRow(this.columns, [
      printable(name),
      `${tensorsVerified}/${tensors}`,
      formatBytes(bytes),
      String(commands),
      formatDuration(driveAtNs),
      formatRate(this.bytes, driveAtNs),
      formatDuration(wallAtNs),
      formatRate(this.bytes, wallAtNs),
    ])
  }
}

/**
 * What it took altogether: the drive's figures and this machine's, each by its name.
 * @param work what this machine's time was spent on, beside waiting for the drive or simulating it.
 */
export function describeTotals(
  total: TotalReport,
  { time, link }: Pick<OpenedTransport, 'time' | 'link'>,
  work: readonly string[],
): string[] {
  const { layers, tensors, tensorsVerified, bytes, commands, driveNs, wallNs } = total
  const [drive, others] = time === 'modelled' ? ['modelled', ['simulating']] : ['drive   ', ['reading']]
  const verified = tensorsVerified === tensors ? 'every byte against its CRC-32' : 'as asked for by --no-verify'
  return [
    `total     ${formatBytes(bytes)} in ${layers} layers, ${commands} commands`,
    `verified  ${tensorsVerified} of ${tensors} tensors, ${verified}`,
    `${drive}  ${describeModelled(bytes, driveNs, link)}`,
    `wall      ${formatDuration(wallNs)}, ${formatRate(bytes, wallNs)}: ${[...others, ...work].join(', ')} on this CPU`,
  ]
}
