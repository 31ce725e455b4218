import { formatLocation, type ExplainedEntry, type ExplainedLine } from '@gpunvme/nvme-spec/explain'
import { create } from './element.js'

/** Returns whether the value of a line is zero or empty. */
function isUnset({ raw }: ExplainedLine): boolean {
  if (raw instanceof Uint8Array) return raw.every((byte) => byte === 0)
  return raw === 0 || raw === 0n || raw === ''
}

interface Row {
  readonly line: ExplainedLine
  readonly view: HTMLElement
  readonly words: string
}

/** The lines of one explained entry, as a list with a filter and arrow-key navigation. */
export class Fields {
  readonly view: HTMLElement
  private readonly rows: readonly Row[]

  /** @param focus called with the line that gets the focus or is under the pointer. */
  constructor(entry: ExplainedEntry, focus: (line: ExplainedLine) => void) {
    const above: ExplainedLine[] = []
    this.rows = entry.lines.map((line) => {
      above[line.depth] = line
      const within = above[line.depth - 1]?.location
      const view = rowOf(line, formatLocation(line.location, within))
      view.addEventListener('focus', () => focus(line))
      view.addEventListener('pointerenter', () => focus(line))
      return { line, view, words: `${line.path} ${line.text} ${line.meaning} ${line.doc}`.toLowerCase() }
    })
    this.rows[0]?.view.setAttribute('tabindex', '0')
    this.view = create('div', { class: 'fields', role: 'list', 'aria-label': entry.title })
    this.view.append(...this.rows.map(({ view }) => view))
    this.view.addEventListener('keydown', (event) => this.step(event))
  }

  /**
   * Shows the lines that match a text, and their parent lines; `onlySet` hides zero lines.
   * @returns the number of lines shown.
   */
  filter(text: string, onlySet: boolean): number {
    const wanted = text.trim().toLowerCase()
    let shown = 0
    // From the end, since a matching line also shows its parents.
    let neededDepth = 0
    for (const { line, view, words } of this.rows.toReversed()) {
      const matches = words.includes(wanted) && !(onlySet && isUnset(line))
      const isNeeded = matches || line.depth < neededDepth
      if (isNeeded) neededDepth = line.depth
      view.hidden = !isNeeded
      if (isNeeded) shown++
    }
    return shown
  }

  /** Scrolls to the innermost line that contains a byte, and focuses it. */
  reveal(byte: number): void {
    const containing = this.rows.filter(
      ({ line: { location }, view }) =>
        !view.hidden && byte >= location.offset && byte < location.offset + location.lengthBytes,
    )
    const found = containing.filter(({ line }) => line.location.bits === undefined).at(-1) ?? containing[0]
    found?.view.scrollIntoView({ block: 'nearest' })
    found?.view.focus({ preventScroll: true })
  }

  private step(event: KeyboardEvent): void {
    const visible = this.rows.filter(({ view }) => !view.hidden)
    const at = visible.findIndex(({ view }) => view === document.activeElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: visible.length - 1 }[event.key]
    if (to === undefined || at === -1) return
    event.preventDefault()
    const next = visible[Math.min(visible.length - 1, Math.max(0, to))]!.view
    visible[at]!.view.setAttribute('tabindex', '-1')
    next.setAttribute('tabindex', '0')
    next.focus()
  }
}

function rowOf(line: ExplainedLine, place: string): HTMLElement {
  const { path, depth, text, meaning, doc } = line
  const name = path.slice(path.lastIndexOf('.') + 1)
  const isReserved = name === 'reserved'
  const state = isReserved ? ' reserved' : isUnset(line) ? ' unset' : ''
  return create(
    'div',
    { class: `row depth-${Math.min(depth, 5)}${state}`, role: 'listitem', tabindex: '-1', title: path },
    create('span', { class: 'place' }, place),
    create(
      'span',
      { class: 'value' },
      create('b', {}, name),
      ...(text === '' ? [] : [create('span', { class: 'raw' }, text)]),
      ...(meaning === '' ? [] : [create('span', { class: 'meaning' }, meaning)]),
    ),
    create('span', { class: 'doc' }, doc),
  )
}
