import { formatBytes, plural } from '../../terminal/units.js'
import type { BenchResults } from '../bench-results.js'
import { countedByDrive, type CountedByDrive } from '../device-counters.js'
import { findingsOf, formatSetting, workloadTitle } from '../findings.js'
import { percentile } from '../latencies.js'
import { formatEstimate, formatQuantity, formatSeconds, formatShare } from '../quantities.js'
import { missingOf } from '../missing.js'
import { definitions, each, foreign, html, type Content, type Markup } from './markup.js'
import { table } from './table.js'

/** Lists measurements that failed or were skipped, with reasons. Undefined if there are none. */
export function notMeasured(results: BenchResults): Markup | undefined {
  const missing = missingOf(results)
  if (missing.length === 0) return undefined
  return html`<section>
    <h2>What could not be measured</h2>
    <div class="card">
      ${table({
        caption: 'Not measured, or not shown; cells with the same reason share a row',
        columns: [{ title: 'source' }, { title: 'cells' }, { title: 'reason' }, { title: 'next step' }],
        rows: missing.map(({ source, what, why, next }) => [foreign(source), what, why, next ?? '-']),
      })}
    </div>
  </section>`
}

/** Describes drive, machine and method. */
export function howMeasured(results: BenchResults): Markup {
  const { sources, notes, time } = results
  return html`<section>
    <h2>How it was measured</h2>
    <div class="cards">
      <article class="card">${definitions(setup(results))}</article>
      <article class="card">
        ${definitions(
          sources.map(({ name, kind, description, memory }) => [
            html`${foreign(name)}${kind === 'baseline' ? ', a baseline' : undefined}`,
            html`${description}; ${memory === 'gpu' ? 'data in GPU memory' : 'data in host memory'}`,
          ]),
        )}
      </article>
      ${
        notes.length === 0
          ? undefined
          : html`<article class="card whole">
              <h3>Notes of the run</h3>
              <ul>
                ${each(notes, (note) => html`<li>${note}</li>`)}
              </ul>
            </article>`
      }
    </div>
    <p class="aside">
      Means include outliers;
      ${time === 'modelled' ? 'modelled times have no margin of error' : 'whiskers and ± are the 95 % confidence interval of the mean (Student)'}.
      The payload limit is the data rate of full-size memory writes on the drive's link, from its generation, width and
      MPS.
    </p>
  </section>`
}

function setup(results: BenchResults): [Content, Content][] {
  const { machine, drive, link, method, transport, time, command, totalSeconds, version, startedAt } = results
  const { span, seed } = method
  const each = [
    method.secondsPerRepeat !== undefined && `${formatSeconds(method.secondsPerRepeat)} each`,
    method.bytesPerRepeat !== undefined && `${formatBytes(method.bytesPerRepeat)} each`,
    method.warmUpSeconds !== undefined && `${formatSeconds(method.warmUpSeconds)} of warm-up before each`,
    method.coolDownSeconds !== undefined && `${formatSeconds(method.coolDownSeconds)} of rest between them`,
  ].filter((part) => part !== false)
  const heat = temperatures(results)
  const held = results.cells.reduce((sum, { repeats }) => {
    return sum + repeats.reduce((own, { throttledSeconds = 0 }) => own + throttledSeconds, 0)
  }, 0)
  return [
    ['command', html`<code>${command}</code>`],
    ['clock', time === 'modelled' ? "modelled: the simulator's" : 'wall time'],
    [
      'drive',
      html`${foreign(drive.model)}, firmware ${foreign(drive.firmware)}, ${formatBytes(drive.capacityBytes)} in blocks
      of ${drive.blockBytes} bytes`,
    ],
    ...optional('serial number', drive.serialEnd, (end) => html`ends with ${foreign(end)}`),
    ...optional('simulated as', drive.profile, (profile) => profile),
    ...optional('largest transfer', drive.maxTransferBytes, (bytes) => `${formatBytes(bytes)} (MDTS)`),
    ['transport', html`${transport}${drive.address === undefined ? undefined : html` at ${drive.address}`}`],
    [
      'link',
      link === undefined
        ? 'unknown'
        : `PCIe Gen${link.gen} x${link.width}, MPS ${link.mps}: ${formatQuantity('rate', link.payloadLimitBytesPerSecond)} of payload`,
    ],
    ['processor', html`${foreign(machine.cpu)}, ${plural(machine.cpus, 'logical CPU')}`],
    ...optional('GPU', machine.gpu, foreign),
    ['system', html`${foreign(machine.kernel)}, Node.js ${machine.node}, gpunvme ${version}`],
    ['repeats', [plural(method.repeats, 'repeat'), ...each].join(', ')],
    ...optional('outliers', method.outlierRule, (rule) => rule),
    ['area', `${formatBytes(span.lengthBytes)} from byte ${span.firstByte}; seed ${seed}`],
    ...optional('device counters', countedByDrive(results), describeCounters),
    ...optional('temperature', heat, (range) => range),
    ...optional('throttled', held > 0 ? held : undefined, (seconds) => formatSeconds(seconds)),
    ['duration', `${formatSeconds(totalSeconds)}, started at ${startedAt}`],
    ...optional('runs', results.runs, (runs) =>
      runs.map(({ startedAt: begun, sources }) => `${begun}: ${sources.join(', ')}`).join('; '),
    ),
  ]
}

function describeCounters({ repeats, reportedCommands, deviceCommands }: CountedByDrive): string {
  return `SMART counted ${deviceCommands} commands where ${reportedCommands} were reported, over ${plural(repeats, 'repeat')}`
}

function optional<T>(name: string, value: T | undefined, show: (value: T) => Content): [Content, Content][] {
  return value === undefined ? [] : [[name, show(value)]]
}

function temperatures({ cells }: BenchResults): string | undefined {
  const all = cells.flatMap(({ repeats }) =>
    repeats.flatMap(({ temperatureCelsius: t }) => (t === undefined ? [] : [t.before, t.after])),
  )
  if (all.length === 0) return undefined
  const lowest = all.reduce((min, each) => Math.min(min, each))
  const highest = all.reduce((max, each) => Math.max(max, each))
  return lowest === highest ? `${lowest} °C` : `${lowest} to ${highest} °C`
}

/** Lists all cells in a collapsed table. */
export function everyCell(results: BenchResults): Markup | undefined {
  const findings = findingsOf(results)
  if (findings.length === 0) return undefined
  const limit = results.link?.payloadLimitBytesPerSecond
  const titles = ['throughput', 'of the limit', 'commands/s', '50 %', '99 %', 'CPU', 'repeats', 'outliers']
  return html`<section>
    <h2>Every number</h2>
    <div class="card">
      <details>
        <summary>${plural(findings.length, 'cell')}</summary>
        ${table({
          caption: 'Every cell that was measured',
          columns: [
            { title: 'source' },
            { title: 'work' },
            { title: 'setting' },
            ...titles.map((title) => ({ title, numeric: true })),
          ],
          rows: findings.map(({ cell, source, rate, iops, latencies, cpu, outliers }) => [
            foreign(source.name),
            workloadTitle(cell),
            formatSetting(cell),
            formatEstimate('rate', rate),
            limit === undefined ? '-' : formatShare(rate.mean / limit),
            formatEstimate('iops', iops),
            latencies === undefined ? '-' : formatQuantity('time', percentile(latencies, 0.5)),
            latencies === undefined ? '-' : formatQuantity('time', percentile(latencies, 0.99)),
            cpu === undefined || results.time === 'modelled' ? '-' : formatEstimate('cpu', cpu),
            rate.count,
            outliers,
          ]),
        })}
      </details>
      <p class="aside">
        The results as they were read, repeat by repeat, are in this page as JSON: in a browser's console,
        <code>JSON.parse(document.querySelector('#results').textContent)</code>.
      </p>
    </div>
  </section>`
}
