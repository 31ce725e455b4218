import { formatQuantity, unitOf, type Quantity } from '../quantities.js'
import type { Estimate } from '../statistics.js'
import { at, legend, marker, outlierMark, seriesClass, type Series } from './marker.js'
import { each, html, type Content, type Markup } from './markup.js'
import { areaOf, drawAxes, drawing, type Area, type Described, type Size } from './plot.js'
import { linear, linearTicks, logarithmic, type Scale } from './scale.js'

export interface LinePoint {
  readonly x: number
  readonly value: Estimate
  readonly outliers: readonly number[]
}

export interface Line {
  readonly series: Series
  /** In ascending order of x. */
  readonly points: readonly LinePoint[]
}

export interface LineChart extends Described {
  readonly xTitle: string
  readonly formatX: (x: number) => string
  readonly quantity: Quantity
  readonly lines: readonly Line[]
  /** Upper limit of the values. */
  readonly limit?: { readonly value: number; readonly name: string }
}

/** A limit higher than this multiple of all values is not drawn, since it would compress them. */
const FAR_ABOVE = 2.5

/** Draws lines over block sizes or depths, with whiskers for confidence intervals and crosses for outliers. */
export function lineChart(chart: LineChart): Markup {
  const { lines, limit, quantity } = chart
  const points = lines.flatMap((line) => line.points)
  const max = points
    .flatMap(({ value, outliers }) => [upper(value), ...outliers])
    .reduce((max, each) => Math.max(max, each), 0)
  const near = limit !== undefined && limit.value <= max * FAR_ABOVE ? limit : undefined
  const top = Math.max(max, near?.value ?? 0)
  return html`${legend(
    lines.map(({ series }) => series),
    keys(points),
  )}${drawing(chart, (size) => ({ content: draw(chart, size, top, near) }))}${
    limit !== undefined && near === undefined
      ? html`<p class="aside">
          The ${limit.name}, ${formatQuantity(quantity, limit.value)}, is far above what is drawn here.
        </p>`
      : undefined
  }`
}

function upper({ mean, marginOfError = 0 }: Estimate): number {
  return mean + marginOfError
}

function keys(points: readonly LinePoint[]): Content[] {
  const whisker = html`<svg class="key plain" width="14" height="16" aria-hidden="true">
      <path class="whisker" d="M7 2v12m-4 -12h8m-8 12h8" /></svg
    >95 % confidence`
  const outlier = html`<svg class="key plain" width="14" height="14" aria-hidden="true">${outlierMark(7, 7)}</svg>
    outlier`
  return [
    ...(points.some(({ value }) => value.marginOfError !== undefined) ? [whisker] : []),
    ...(points.some(({ outliers }) => outliers.length > 0) ? [outlier] : []),
  ]
}

function draw(chart: LineChart, size: Size, top: number, limit: LineChart['limit']): Markup {
  const { lines, quantity, formatX, xTitle } = chart
  const unit = unitOf(quantity, top)
  const ticks = linearTicks(top / unit.factor, size.name === 'wide' ? 5 : 4)
  const yLabels = ticks.map(formatTick)
  const area = areaOf(size, yLabels)
  const y = linear([0, ticks.at(-1)! * unit.factor], [area.bottom, area.top])
  const values = [...new Set(lines.flatMap(({ points }) => points.map(({ x }) => x)))].sort((a, b) => a - b)
  const x = logarithmic([values[0]!, values.at(-1)!], [area.left + 26, area.right - 26])
  return html`${drawAxes({
    area,
    x: values.map((value) => ({ at: x(value), text: formatX(value) })),
    y: ticks.map((tick, index) => ({ at: y(tick * unit.factor), text: yLabels[index]! })),
    xTitle,
    yTitle: unit.name,
  })}${limit && drawLimit(limit, y, area, quantity)}${each(lines, (line, index) => {
    // Side by side, so that whiskers at one x are distinguishable.
    const aside = (index - (lines.length - 1) / 2) * 4
    return drawLine(line, (value) => x(value) + aside, y, values)
  })}`
}

function drawLimit({ value, name }: NonNullable<LineChart['limit']>, y: Scale, area: Area, quantity: Quantity): Markup {
  const { left, right } = area
  return html`<line class="limit" x1="${at(left)}" x2="${at(right)}" y1="${at(y(value))}" y2="${at(y(value))}" /><text
      class="limit-name"
      x="${at(left + 6)}"
      y="${at(y(value) - 6)}"
      >${name} ${formatQuantity(quantity, value)}</text
    >`
}

function drawLine({ series, points }: Line, x: Scale, y: Scale, values: readonly number[]): Markup {
  return html`<g class="${seriesClass(series)}">
    <path class="line" d="${path(points, x, y, values)}" />
    ${each(points, ({ x: place, value, outliers }) => {
      const { mean, marginOfError } = value
      const whisker =
        marginOfError !== undefined &&
        html`<path
          class="whisker"
          d="M${at(x(place))} ${at(y(Math.max(0, mean - marginOfError)))}V${at(y(mean + marginOfError))}"
        />`
      return html`${whisker || undefined}${marker(series, x(place), y(mean))}${each(outliers, (outlier) =>
        outlierMark(x(place), y(outlier)),
      )}`
    })}
  </g>`
}

/** Interrupted at unmeasured values of x. */
function path(points: readonly LinePoint[], x: Scale, y: Scale, values: readonly number[]): string {
  let before = -2
  return points
    .map((point) => {
      const index = values.indexOf(point.x)
      const step = index === before + 1 ? 'L' : 'M'
      before = index
      return `${step}${at(x(point.x))} ${at(y(point.value.mean))}`
    })
    .join('')
}

function formatTick(tick: number): string {
  return tick >= 1e6 ? tick.toExponential().replace('+', '') : String(Number(tick.toPrecision(6)))
}
