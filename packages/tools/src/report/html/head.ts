import type { BenchResults } from '../bench-results.js'
import { atSettingOf, bestOf, findingsOf, formatSetting, sourceName } from '../findings.js'
import { headlineOf, subjectOf } from '../headline.js'
import { percentile } from '../latencies.js'
import { formatQuantity, formatShare } from '../quantities.js'
import { ratio } from '../statistics.js'
import { each, foreign, html, type Content, type Markup } from './markup.js'

/** The first section: the headline, its context, four numbers, and reservations. */
export function head(results: BenchResults): Markup {
  const { claim, context, caveats } = headlineOf(results)
  const { drive, time, transport, startedAt } = results
  return html`<header>
    <p class="eyebrow">
      <span class="badge ${time}">${time === 'modelled' ? 'modelled time' : 'wall time'}</span>
      <span>${foreign(drive.model)}</span>
      <span>through ${transport}</span>
      <time datetime="${startedAt}">${startedAt.slice(0, 10)}</time>
    </p>
    <h1>${unbroken(claim)}</h1>
    ${context.length === 0 ? undefined : html`<p class="context">${unbroken(context.join(' '))}</p>`}
    ${
      caveats.length === 0
        ? undefined
        : html`<ul class="caveats">
            ${each(caveats, (caveat) => html`<li>${caveat}</li>`)}
          </ul>`
    }
    ${tiles(results)}
  </header>`
}

/** No line break between a value and its margin, or a number and its unit. */
function unbroken(sentence: string): string {
  return sentence.replace(/ ± (?=\d|<)/g, '\u00a0±\u00a0').replace(/(?<=\d) (?=[kMGT]?B\/s|[KMG]iB|%)/g, '\u00a0')
}

interface Tile {
  readonly what: Content
  readonly value: string
  readonly more: Content
}

function tiles(results: BenchResults): Markup | undefined {
  const findings = findingsOf(results)
  const subject = subjectOf(findings)
  if (subject === undefined) return undefined
  const { cell, source, rate, cpu, latencies } = subject
  const shown: Tile[] = [
    { what: sourceName(source), value: formatQuantity('rate', rate.mean), more: formatSetting(cell) },
  ]
  if (results.link !== undefined) {
    const { payloadLimitBytesPerSecond: limit, gen, width } = results.link
    shown.push({
      what: 'share of the payload limit',
      value: formatShare(rate.mean / limit),
      more: `${formatQuantity('rate', limit)}, Gen${gen} x${width}`,
    })
  }
  const baselines = atSettingOf(findings, cell).filter((one) => one.source.kind === 'baseline')
  if (source.kind === 'engine' && baselines.length > 0) {
    const { source: other, rate: otherRate } = bestOf(baselines)
    shown.push({
      what: html`against ${foreign(other.name)}`,
      value: `${formatQuantity('times', ratio(rate, otherRate).mean)} ×`,
      more: `${formatQuantity('rate', otherRate.mean)} there`,
    })
  }
  if (latencies !== undefined)
    shown.push({
      what: `99 % of ${source.latencyOf}s within`,
      value: formatQuantity('time', percentile(latencies, 0.99)),
      more: `half within ${formatQuantity('time', percentile(latencies, 0.5))}`,
    })
  if (cpu !== undefined && results.time === 'wall')
    shown.push({ what: 'CPU time', value: formatQuantity('cpu', cpu.mean), more: 'all threads, including system time' })
  return html`<ul class="tiles">
    ${each(
      shown,
      ({ what, value, more }) =>
        html`<li>
          <span class="what">${what}</span> <span class="value">${value}</span> <span class="more">${more}</span>
        </li>`,
    )}
  </ul>`
}
