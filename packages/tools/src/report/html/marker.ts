import { each, html, type Content, type Markup } from './markup.js'

/** Colours of the style sheet: --s0 to --s5. Further sources reuse them with other markers. */
const COLOURS = 6

type Shape = (x: number, y: number) => Markup

const polygon = (points: readonly (readonly [number, number])[]): Shape => {
  return (x, y) => html`<polygon points="${points.map(([dx, dy]) => `${at(x + dx)},${at(y + dy)}`).join(' ')}" />`
}

// Of equal visual size, within a circle of radius 5.
const SHAPES: readonly Shape[] = [
  (x, y) => html`<circle cx="${at(x)}" cy="${at(y)}" r="4" />`,
  polygon([
    [-3.6, -3.6],
    [3.6, -3.6],
    [3.6, 3.6],
    [-3.6, 3.6],
  ]),
  polygon([
    [0, -4.8],
    [4.6, 3.4],
    [-4.6, 3.4],
  ]),
  polygon([
    [0, -5],
    [5, 0],
    [0, 5],
    [-5, 0],
  ]),
  polygon([
    [0, 4.8],
    [4.6, -3.4],
    [-4.6, -3.4],
  ]),
  polygon([
    [-1.5, -4.5],
    [1.5, -4.5],
    [1.5, -1.5],
    [4.5, -1.5],
    [4.5, 1.5],
    [1.5, 1.5],
    [1.5, 4.5],
    [-1.5, 4.5],
    [-1.5, 1.5],
    [-4.5, 1.5],
    [-4.5, -1.5],
    [-1.5, -1.5],
  ]),
]

/** Source of a mark. */
export interface Series {
  /** Index among all sources. */
  readonly index: number
  readonly name: string
  /** Baselines are dashed and hollow. */
  readonly kind: 'engine' | 'baseline'
}

/** Returns the CSS class of a series. */
export function seriesClass({ index, kind }: Series): string {
  return `s${index % COLOURS} ${kind}`
}

export function marker({ index }: Series, x: number, y: number): Markup {
  const shape = SHAPES[(index + Math.floor(index / COLOURS)) % SHAPES.length]!
  return html`<g class="marker">${shape(x, y)}</g>`
}

/** Draws a cross through an outlier. */
export function outlierMark(x: number, y: number): Markup {
  return html`<path class="outlier" d="M${at(x - 3)} ${at(y - 3)}l6 6m0 -6l-6 6" />`
}

/** Draws a legend above a chart; `also` has further entries. */
export function legend(series: readonly Series[], also: readonly Content[] = []): Markup {
  return html`<ul class="legend">
    ${each(
      series,
      (one) =>
        html`<li>
          <svg class="key ${seriesClass(one)}" width="34" height="14" aria-hidden="true">
            <line class="line" x1="1" y1="7" x2="33" y2="7" />
            ${marker(one, 17, 7)}</svg
          ><bdi>${one.name}</bdi>${one.kind === 'baseline' ? html` <span class="kind">baseline</span>` : undefined}
        </li>`,
    )}${each(also, (entry) => html`<li>${entry}</li>`)}
  </ul>`
}

/** Formats a coordinate as briefly as possible. */
export function at(place: number): string {
  return String(Math.round(place * 10) / 10)
}
