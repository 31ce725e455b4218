import type { Estimate } from '../statistics.js'
import { marker, outlierMark, seriesClass, type Series } from './marker.js'
import { each, foreign, html, type Content, type Markup } from './markup.js'

export interface Bar {
  readonly series: Series
  readonly value: Estimate
  /** One per repeat. */
  readonly values: readonly { readonly value: number; readonly outlier: boolean }[]
  /** Text at its end: '3.49 ± 0.01 GB/s, 97 %'. */
  readonly text: string
  /** Remark, for example on a different setting. */
  readonly note?: Content
}

export interface BarChart {
  readonly title: string
  readonly bars: readonly Bar[]
  readonly limit?: number
}

/** The bar and, below it, the repeats. */
const HEIGHT = 26
const MIDDLE = 8
const DOTS = 21

/** Draws one bar below the other, with a dot per repeat. It fills the width of its container. */
export function barChart({ title, bars, limit }: BarChart): Markup {
  const max = bars
    .flatMap(({ value, values }) => [value.mean + (value.marginOfError ?? 0), ...values.map((one) => one.value)])
    .reduce((max, each) => Math.max(max, each), limit ?? 0)
  const place = (value: number) => `${Math.round((max === 0 ? 0 : value / max) * 9700) / 100}%`
  return html`<ul class="bars" aria-label="${title}">
    ${each(
      bars,
      (bar) =>
        html`<li>
          <div class="bar-text">
            <span class="bar-name"
              ><svg class="key ${seriesClass(bar.series)}" width="14" height="14" aria-hidden="true">
                ${marker(bar.series, 7, 7)}</svg
              >${foreign(bar.series.name)}${bar.series.kind === 'baseline' ? html` <span class="kind">baseline</span>` : undefined}</span
            ><span class="bar-value">${bar.text}</span>
          </div>
          <svg class="bar ${seriesClass(bar.series)}" width="100%" height="${HEIGHT}" aria-hidden="true">
            <rect class="track" width="100%" height="12" y="2" />
            <rect class="fill" width="${place(bar.value.mean)}" height="12" y="2" />
            ${limit === undefined ? undefined : html`<line class="limit" x1="${place(limit)}" x2="${place(limit)}" y1="0" y2="16" />`}
            ${drawMargin(bar.value, place)}
            ${each(bar.values, ({ value, outlier }) =>
              outlier
                ? html`<svg x="${place(value)}" overflow="visible">${outlierMark(0, DOTS)}</svg>`
                : html`<circle class="dot" cx="${place(value)}" cy="${DOTS}" r="2.2" />`,
            )}
          </svg>
          ${bar.note === undefined ? undefined : html`<p class="aside">${bar.note}</p>`}
        </li>`,
    )}
  </ul>`
}

function drawMargin({ mean, marginOfError }: Estimate, place: (value: number) => string): Markup | undefined {
  if (marginOfError === undefined) return undefined
  const from = place(Math.max(0, mean - marginOfError))
  const to = place(mean + marginOfError)
  return html`<line class="whisker" x1="${from}" x2="${to}" y1="${MIDDLE}" y2="${MIDDLE}" />${each(
      [from, to],
      (end) => html`<line class="whisker" x1="${end}" x2="${end}" y1="${MIDDLE - 5}" y2="${MIDDLE + 5}" />`,
    )}`
}
