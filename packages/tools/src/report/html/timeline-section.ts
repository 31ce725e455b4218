import { formatBytes, plural } from '../../terminal/units.js'
import type { BenchCommand, BenchResults } from '../bench-results.js'
import { formatSetting, workloadTitle } from '../findings.js'
import { formatQuantity } from '../quantities.js'
import { definitions, html, type Content, type Markup } from './markup.js'
import { lanesOf, timelineChart } from './timeline-chart.js'

/** A time span of one cell, command by command. Undefined without records. */
export function timelineSection({ timeline, cells }: BenchResults): Markup | undefined {
  if (timeline === undefined || timeline.commands.length === 0) return undefined
  const cell = cells[timeline.cell]!
  const title = `Commands of ${cell.source} in flight`
  const about = `${workloadTitle(cell)} of ${formatSetting(cell)}: a bar is a command, from its submission to its completion.`
  return html`<section>
    <h2>A moment of it</h2>
    <div class="cards">
      <article class="card">
        <h3>${title}</h3>
        <p class="caption">${about}</p>
        ${timelineChart(timeline.commands, { id: 'timeline', title, description: about })}
      </article>
      <article class="card">
        <h3>That moment in numbers</h3>
        ${definitions(momentOf(timeline.commands))}
      </article>
    </div>
  </section>`
}

function momentOf(commands: readonly BenchCommand[]): [Content, Content][] {
  const latencies = commands.map(({ startNs, endNs }) => endNs - startNs).sort((a, b) => a - b)
  const lengthNs = commands.reduce((max, { endNs }) => Math.max(max, endNs), 0) - commands[0]!.startNs
  const bytes = commands.reduce((sum, command) => sum + command.bytes, 0)
  const busyNs = latencies.reduce((sum, ns) => sum + ns, 0)
  const queues = new Set(commands.map(({ queue }) => queue)).size
  return [
    ['commands', `${commands.length} in ${plural(queues, 'queue')}, ${formatBytes(bytes)}`],
    ['length', formatQuantity('time', lengthNs)],
    ...(lengthNs > 0
      ? (
          [
            ['throughput', formatQuantity('rate', (bytes / lengthNs) * 1e9)],
            ['in flight', `${(busyNs / lengthNs).toFixed(1)} on average, ${lanesOf(commands).length} at most`],
          ] as const
        ).map(([name, value]): [Content, Content] => [name, value])
      : []),
    ['shortest', formatQuantity('time', latencies[0]!)],
    ['median', formatQuantity('time', latencies[latencies.length >> 1]!)],
    ['longest', formatQuantity('time', latencies.at(-1)!)],
  ]
}
