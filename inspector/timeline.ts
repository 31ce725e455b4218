import { create, draw } from './element.js'
import { formatTime, scaleOf, type Scale } from './scale.js'
import type { Command, Mark } from './trace-model.js'

/** An item on the timeline. */
export type Item = Command | Mark

/** Returns whether an item is a command. */
export function isCommand(item: Item): item is Command {
  return 'entry' in item
}

const ROW = 13
const BAR = 10
const HEAD = 22
/** Maximum rows of a track; further overlapping commands share the last row. */
const MAX_ROWS = 12
const MIN_BAR = 2.5

/** A timeline of tracks, with buttons and keys to zoom and scroll. */
export class Timeline {
  readonly view: HTMLElement
  private readonly frame = create('div', { class: 'timeline scroll', tabindex: '0', 'aria-label': 'Timeline' })
  private readonly select: (item: Item) => void
  private items: readonly Item[] = []
  private scale: Scale = scaleOf([], false)
  private from = 0
  private to = 1
  private selected: Item | undefined

  /** @param select called with a clicked item. */
  constructor(select: (item: Item) => void) {
    this.select = select
    const button = (text: string, label: string, act: () => void) => {
      const made = create('button', { type: 'button', 'aria-label': label, title: label }, text)
      made.addEventListener('click', act)
      return made
    }
    const buttons = [
      button('−', 'Zoom out', () => this.zoom(2)),
      button('+', 'Zoom in', () => this.zoom(0.5)),
      button('‹', 'Earlier', () => this.move(-0.5)),
      button('›', 'Later', () => this.move(0.5)),
      button('Fit', 'Show all', () => this.fit()),
    ]
    const legend = [
      ['done', 'completed'],
      ['failed', 'failed'],
      ['open', 'no completion'],
      ['mark', 'event'],
    ].map(([state, label]) => create('span', { class: state! }, label!))
    const tools = create('div', { class: 'controls' }, ...buttons, create('div', { class: 'legend note' }, ...legend))
    this.view = create('div', {}, tools, this.frame)
    const keys: Readonly<Record<string, () => void>> = {
      '+': () => this.zoom(0.5),
      '=': () => this.zoom(0.5),
      '-': () => this.zoom(2),
      '0': () => this.fit(),
      ArrowLeft: () => this.move(-0.25),
      ArrowRight: () => this.move(0.25),
    }
    this.frame.addEventListener('keydown', (event) => {
      const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key]
      if (act === undefined) return
      event.preventDefault()
      act()
    })
    new ResizeObserver(() => this.draw()).observe(this.frame)
  }

  /** Shows these items over their whole time range. */
  show(items: readonly Item[], shorten: boolean): void {
    this.items = items
    const times = items.flatMap(({ startNs, endNs }) => (endNs === undefined ? [startNs] : [startNs, endNs]))
    this.scale = scaleOf(times, shorten)
    this.fit()
  }

  /** Highlights an item and scrolls to it. */
  highlight(item: Item | undefined): void {
    this.selected = item
    if (item !== undefined) {
      const at = this.scale.at(item.startNs)
      if (at < this.from || at > this.to) this.move((at - (this.from + this.to) / 2) / (this.to - this.from))
    }
    this.draw()
  }

  private fit(): void {
    this.from = 0
    this.to = 1
    this.draw()
  }

  private zoom(factor: number): void {
    const middle = this.selected === undefined ? (this.from + this.to) / 2 : this.scale.at(this.selected.startNs)
    const width = Math.min(1, Math.max(1e-6, (this.to - this.from) * factor))
    this.from = Math.min(1 - width, Math.max(0, middle - width / 2))
    this.to = this.from + width
    this.draw()
  }

  private move(share: number): void {
    const width = this.to - this.from
    this.from = Math.min(1 - width, Math.max(0, this.from + share * width))
    this.to = this.from + width
    this.draw()
  }

  private draw(): void {
    const width = this.frame.clientWidth
    if (width === 0) return
    const left = width < 500 ? 66 : 96
    const right = 8
    const x = (ns: number) => left + ((this.scale.at(ns) - this.from) / (this.to - this.from)) * (width - left - right)
    const parts: SVGElement[] = []
    let top = HEAD
    for (const [track, items] of groupOf(this.items)) {
      const rows = rowsOf(items)
      const count = Math.max(...rows) + 1
      parts.push(draw('line', { class: 'rule', x1: 0, x2: width, y1: top - 2.5, y2: top - 2.5 }))
      parts.push(draw('text', { class: 'track', x: 8, y: top + BAR }, track))
      for (const [i, item] of items.entries()) {
        const start = x(item.startNs)
        const end = isCommand(item) && item.endNs === undefined ? width - right : x(item.endNs ?? item.startNs)
        if (end < left || start > width) continue
        parts.push(this.bar(item, Math.max(left, start), end, top + rows[i]! * ROW))
      }
      top += count * ROW + 5
    }
    const svg = draw('svg', { width, height: top, viewBox: `0 0 ${width} ${top}`, role: 'img' })
    svg.setAttribute('aria-label', `Timeline of ${this.items.length} commands and events; all are in the list below`)
    svg.append(...this.axis(x, left, width - right, top), ...parts)
    this.frame.replaceChildren(svg)
  }

  private bar(item: Item, start: number, end: number, y: number): SVGElement {
    const state = !isCommand(item)
      ? item.track.endsWith('fault')
        ? 'failed'
        : 'mark'
      : item.endNs === undefined
        ? 'open'
        : item.failed
          ? 'failed'
          : 'done'
    const selected = item === this.selected ? ' selected' : ''
    const width = Math.max(MIN_BAR, end - start)
    const made = draw('rect', { class: `bar ${state}${selected}`, x: start, y, width, height: BAR, rx: 1.5 })
    const duration = item.endNs === undefined ? '' : `, ${formatTime(item.endNs - item.startNs)}`
    made.append(draw('title', {}, `${item.name}, ${formatTime(item.startNs)}${duration}`))
    made.addEventListener('click', () => this.select(item))
    return made
  }

  private axis(x: (ns: number) => number, left: number, right: number, bottom: number): SVGElement[] {
    const parts: SVGElement[] = []
    const count = Math.max(1, Math.floor((right - left) / 150))
    for (let i = 0; i <= count; i++) {
      const at = left + ((right - left) * i) / count
      const ns = this.scale.timeAt(this.from + ((this.to - this.from) * i) / count)
      const anchor = i === 0 ? 'start' : i === count ? 'end' : 'middle'
      parts.push(draw('line', { class: 'rule', x1: at, x2: at, y1: HEAD - 5, y2: bottom }))
      parts.push(draw('text', { x: at, y: 13, 'text-anchor': anchor }, formatTime(ns)))
    }
    for (const { fromNs, toNs } of this.scale.breaks) {
      const at = (x(fromNs) + x(toNs)) / 2
      if (at < left || at > right) continue
      const line = draw('line', { class: 'break', x1: at, x2: at, y1: HEAD - 5, y2: bottom })
      line.append(draw('title', {}, `Shortened pause of ${formatTime(toNs - fromNs)}`))
      parts.push(line)
    }
    return parts
  }
}

function groupOf(items: readonly Item[]): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(item.track)
    if (group === undefined) groups.set(item.track, [item])
    else group.push(item)
  }
  return groups
}

/** Returns a row for each item, such that items of a row do not overlap. */
function rowsOf(items: readonly Item[]): number[] {
  const ends: number[] = []
  return items.map(({ startNs, endNs, ...item }) => {
    if (endNs === undefined && !('entry' in item)) return 0
    let row = ends.findIndex((end) => end <= startNs)
    if (row === -1) row = Math.min(ends.length, MAX_ROWS - 1)
    ends[row] = Math.max(ends[row] ?? 0, endNs ?? Infinity)
    return row
  })
}
