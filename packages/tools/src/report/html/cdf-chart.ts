import { formatQuantity } from '../quantities.js'
import { percentile, type Latencies } from '../latencies.js'
import { at, legend, marker, seriesClass, type Series } from './marker.js'
import { each, html, type Markup } from './markup.js'
import { areaOf, drawAxes, drawing, type Described, type Size } from './plot.js'
import { linear, logarithmic, logTicks, type Scale } from './scale.js'

export interface Distribution {
  readonly series: Series
  readonly latencies: Latencies
}

export interface CdfChart extends Described {
  readonly distributions: readonly Distribution[]
}

const PERCENTS = [0, 25, 50, 75, 100]

/** Positions of markers on a curve, so that curves are distinguishable without colours. */
const MARKED = [0.25, 0.5, 0.75, 0.99]

/** Draws the cumulative fraction of commands over the logarithm of the time. */
export function cdfChart(chart: CdfChart): Markup {
  return html`${legend(chart.distributions.map(({ series }) => series))}${drawing(chart, (size) => ({
    content: draw(chart, size),
  }))}`
}

function draw({ distributions }: CdfChart, size: Size): Markup {
  const min = Math.max(
    1,
    distributions.reduce((min, { latencies }) => Math.min(min, latencies.minNs), Infinity),
  )
  const max = distributions.reduce((max, { latencies }) => Math.max(max, latencies.maxNs), 1)
  const { from, to, ticks } = logTicks(min, max)
  const area = areaOf(size, ['100 %'])
  const x = logarithmic([from, to], [area.left + 4, area.right - 22])
  const y = linear([0, 100], [area.bottom, area.top])
  return html`${drawAxes({
    area,
    x: ticks.map((tick) => ({ at: x(tick), text: formatTime(tick) })),
    y: PERCENTS.map((percent) => ({ at: y(percent), text: `${percent} %` })),
    xTitle: 'latency, logarithmic',
    yTitle: 'cumulative fraction of commands',
  })}${each(distributions, (distribution) => drawCurve(distribution, x, y))}`
}

function drawCurve({ series, latencies }: Distribution, x: Scale, y: Scale): Markup {
  const { minNs, cumulative } = latencies
  const place = (ns: number, share: number) => `${at(x(Math.max(1, ns)))} ${at(y(share * 100))}`
  const curve = cumulative.map(([upToNs, share]) => `L${place(Math.max(minNs, upToNs), share)}`).join('')
  return html`<g class="${seriesClass(series)}">
    <path class="line" d="M${place(minNs, 0)}${curve}" />
    ${each(MARKED, (share) => {
      const ns = Math.max(1, minNs, percentile(latencies, share))
      const reached = cumulative.find(([upToNs]) => upToNs >= ns)?.[1] ?? 1
      return marker(series, x(ns), y(reached * 100))
    })}
  </g>`
}

function formatTime(ns: number): string {
  return formatQuantity('time', ns).replace(/\.0+(?= )/, '')
}
