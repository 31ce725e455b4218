import { at } from './marker.js'
import { each, html, type Markup } from './markup.js'
import { fitting, type Label } from './scale.js'

/** Drawings are made for narrow and for wide screens, so that their text has the size of the page's. */
export interface Size {
  readonly name: 'wide' | 'narrow'
  readonly width: number
  readonly height: number
}

const SIZES: readonly Size[] = [
  { name: 'wide', width: 620, height: 330 },
  { name: 'narrow', width: 336, height: 290 },
]

/** Maximum width of a letter or digit in a drawing. */
export const LETTER = 8.3

/** Text alternative of a drawing. */
export interface Described {
  /** Unique in the page. */
  readonly id: string
  readonly title: string
  /** Content of the drawing in one or two sentences. */
  readonly description: string
}

/** Returns both sizes of a drawing; the style sheet shows the one that fits. */
export function drawing({ id, title, description }: Described, draw: (size: Size) => Drawn): Markup {
  return html`<div class="drawing">
    ${each(SIZES, (size) => {
      const { content, height = size.height } = draw(size)
      const own = `${id}-${size.name}`
      return html`<svg
        class="${size.name}"
        role="img"
        aria-labelledby="${own}-title ${own}-desc"
        viewBox="0 0 ${size.width} ${at(height)}"
      >
        <title id="${own}-title">${title}</title>
        <desc id="${own}-desc">${description}</desc>
        ${content}
      </svg>`
    })}
  </div>`
}

export interface Drawn {
  readonly content: Markup
  /** Present if it differs from that of the size. */
  readonly height?: number
}

/** The data area of a drawing, between its axes. */
export interface Area {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

export function areaOf({ width, height }: Size, yLabels: readonly string[]): Area {
  const longest = yLabels.reduce((max, label) => Math.max(max, label.length), 0)
  return { left: Math.max(48, longest * LETTER + 14), right: width - 14, top: 30, bottom: height - 48 }
}

export interface Axes {
  readonly area: Area
  readonly x: readonly Label[]
  readonly y: readonly Label[]
  /** Title of the horizontal axis: 'block size'. */
  readonly xTitle: string
  /** Title above the vertical axis. */
  readonly yTitle: string
}

/** Draws grid, ticks and titles. */
export function drawAxes({ area, x, y, xTitle, yTitle }: Axes): Markup {
  const { left, right, top, bottom } = area
  return html`<g class="grid">
      ${each(y, (tick) => html`<line x1="${at(left)}" x2="${at(right)}" y1="${at(tick.at)}" y2="${at(tick.at)}" />`)}
    </g>
    <line class="axis" x1="${at(left)}" x2="${at(right)}" y1="${at(bottom)}" y2="${at(bottom)}" />
    <g class="ticks" text-anchor="end">
      ${each(y, (tick) => html`<text x="${at(left - 8)}" y="${at(tick.at + 4)}">${tick.text}</text>`)}
    </g>
    <g class="ticks" text-anchor="middle">
      ${each(x, (tick) => html`<line class="axis" x1="${at(tick.at)}" x2="${at(tick.at)}" y1="${at(bottom)}" y2="${at(bottom + 4)}" />`)}
      ${each(fitting(x, LETTER), (tick) => html`<text x="${at(tick.at)}" y="${at(bottom + 18)}">${tick.text}</text>`)}
    </g>
    <text class="axis-title" x="${at((left + right) / 2)}" y="${at(bottom + 40)}" text-anchor="middle">${xTitle}</text>
    <text class="axis-title" x="2" y="${at(top - 14)}">${yTitle}</text>`
}
