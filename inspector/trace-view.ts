import * as spec from '@gpunvme/nvme-spec'
import type { TraceEvent } from '@gpunvme/nvme-spec/transport'
import { create } from './element.js'
import { formatTime } from './scale.js'
import { plural } from './text.js'
import { isCommand, Timeline, type Item } from './timeline.js'
import { modelOf, type TraceModel } from './trace-model.js'

/** Number of rows added to the list at a time. */
const LIST_ROWS = 300
/** Tracks of many small events, which would hide the commands. If there are queues, they are hidden until selected. */
const NOISY = /^(?:\d+: )?(?:bar|dma|interrupt|config|[sc]q \d+)$/

/** Shows a trace: a timeline of its queues, a filter, and a list of commands and events. */
export function traceView(events: readonly TraceEvent[]): HTMLElement {
  const model = modelOf(events)
  const all: readonly Item[] = [...model.commands, ...model.marks].sort((a, b) => a.startNs - b.startNs)
  const text = create('input', { type: 'search', placeholder: 'Filter by command, field or status' })
  text.setAttribute('aria-label', 'Filter events')
  const shorten = create('input', { type: 'checkbox' })
  shorten.checked = true
  const failed = create('input', { type: 'checkbox' })
  const count = create('span', { class: 'note', role: 'status' })
  const tracks = trackBoxes(model)
  const list = create('div', { class: 'events', role: 'list', 'aria-label': 'Commands and events' })
  const detail = create('div', { class: 'detail', 'aria-live': 'polite' })
  const rows = new Map<Item, HTMLElement>()

  const choose = (item: Item) => {
    for (const [each, row] of rows) row.toggleAttribute('aria-current', each === item)
    const row = rows.get(item)
    // Not scrollIntoView, which would scroll the timeline out of sight.
    if (row !== undefined) {
      const top = row.offsetTop - list.offsetTop
      const isVisible = top >= list.scrollTop && top + row.offsetHeight <= list.scrollTop + list.clientHeight
      if (!isVisible) list.scrollTop = top - list.clientHeight / 2
    }
    detail.replaceChildren(...detailOf(item))
    timeline.highlight(item)
  }
  const timeline = new Timeline(choose)
  const fill = (items: readonly Item[]) => {
    const next = items.slice(rows.size, rows.size + LIST_ROWS)
    for (const item of next) {
      const row = rowOf(item)
      row.addEventListener('click', () => choose(item))
      rows.set(item, row)
      list.append(create('div', { role: 'listitem' }, row))
    }
    if (rows.size >= items.length) return
    const more = create('button', { type: 'button' }, `Show more: ${items.length - rows.size} left`)
    more.addEventListener('click', () => {
      more.remove()
      fill(items)
    })
    list.append(more)
  }
  const show = () => {
    const wanted = text.value.trim().toLowerCase()
    const chosen = new Set(tracks.filter(({ box }) => box.checked).map(({ name }) => name))
    const shown = all.filter(
      (item) =>
        chosen.has(item.track) && (!failed.checked || isFailed(item)) && wordsOf(item).toLowerCase().includes(wanted),
    )
    count.textContent = `${shown.length} of ${all.length}`
    timeline.show(shown, shorten.checked)
    rows.clear()
    list.replaceChildren()
    detail.replaceChildren(create('p', { class: 'note' }, 'Select a command or an event to see its fields.'))
    fill(shown)
  }
  for (const input of [text, shorten, failed, ...tracks.map(({ box }) => box)]) input.addEventListener('input', show)
  const view = create(
    'div',
    { class: 'trace' },
    create(
      'div',
      { class: 'controls tracks', role: 'group', 'aria-label': 'Tracks' },
      ...tracks.map(({ label }) => label),
    ),
    create(
      'div',
      { class: 'controls filter' },
      text,
      create('label', { class: 'choice' }, failed, 'Only failed or incomplete'),
      create('label', { class: 'choice' }, shorten, 'Shorten pauses'),
      count,
    ),
    create('div', { class: 'panel' }, timeline.view),
    create(
      'div',
      { class: 'columns' },
      create('div', { class: 'panel' }, list),
      create('div', { class: 'side panel' }, detail),
    ),
  )
  show()
  return view
}

/** Returns a one-line summary of a trace. */
export function summaryOf(events: readonly TraceEvent[]): string {
  const { commands, tracks } = modelOf(events)
  const queues = tracks.filter(({ isQueue }) => isQueue).length
  const failed = commands.filter((command) => command.failed).length
  const open = commands.filter(({ endNs }) => endNs === undefined).length
  const span = formatTime((events.at(-1)?.timeNs ?? 0) - (events[0]?.timeNs ?? 0))
  const on = `${plural(commands.length, 'command')} on ${plural(queues, 'queue')}`
  return `Trace of ${span}: ${plural(events.length, 'event')}, ${on}, ${failed} failed, ${open} without a completion`
}

function trackBoxes({ tracks }: TraceModel) {
  const hasQueues = tracks.some(({ isQueue }) => isQueue)
  return tracks.map(({ name, count, isQueue }) => {
    const box = create('input', { type: 'checkbox' })
    box.checked = isQueue || !hasQueues || !NOISY.test(name)
    return {
      name,
      box,
      label: create('label', { class: 'chip' }, box, name, create('span', { class: 'note' }, String(count))),
    }
  })
}

function isFailed(item: Item): boolean {
  return isCommand(item) ? item.failed || item.endNs === undefined : item.track.endsWith('fault')
}

function textOf(item: Item): string {
  if (isCommand(item)) return item.entry.slice(item.name.length).trim()
  return Object.entries(item.details ?? {})
    .map(([key, value]) => (typeof value === 'string' && value.includes('=') ? value : `${key}=${value}`))
    .join(' ')
}

function wordsOf(item: Item): string {
  return `${item.track} ${item.name} ${textOf(item)} ${isCommand(item) ? item.status : ''}`
}

function rowOf(item: Item): HTMLElement {
  const isOpen = isCommand(item) && item.endNs === undefined
  const took = item.endNs === undefined ? (isOpen ? 'open' : '') : formatTime(item.endNs - item.startNs)
  return create(
    'button',
    { type: 'button', class: isOpen ? 'event open' : isFailed(item) ? 'event failed' : 'event' },
    create('span', { class: 'time' }, formatTime(item.startNs)),
    create('span', { class: 'track' }, item.track),
    create('span', { class: 'what' }, create('b', {}, item.name), ` ${textOf(item)}`),
    create('span', { class: 'took' }, took),
  )
}

/** Matches fields in text such as that of formatSqe: `NSID=1`, `CDW11={ NSQR=1 }`, `SN="x"`. */
const FIELD = /([A-Za-z][\w.[\]]*)=(\{(?:[^{}]|\{[^{}]*\})*\}|"[^"]*"|\S+)/g

function detailOf(item: Item): HTMLElement[] {
  const facts: [string, string, string][] = [['start', formatTime(item.startNs), item.track]]
  if (item.endNs !== undefined) facts.push(['duration', formatTime(item.endNs - item.startNs), 'from start to end'])
  if (isCommand(item)) facts.push(['status', item.status || 'no completion in the trace', ''])
  const declared = declaredFields(item)
  const text = textOf(item)
  for (const [, name = '', value = ''] of text.matchAll(FIELD)) facts.push([name, value, declared[name] ?? ''])
  const list = create('dl', {})
  for (const [name, value, doc] of facts)
    list.append(
      create('dt', {}, name),
      create('dd', {}, create('span', { class: 'raw' }, value), create('span', { class: 'doc' }, doc)),
    )
  return [create('h3', {}, item.name), list]
}

/** Returns the docs of the fields of a command or of an accessed register, by name. */
function declaredFields(item: Item): Readonly<Record<string, string>> {
  const declarations = Object.values(spec as Readonly<Record<string, unknown>>).filter(
    (each): each is { name: string; doc: string; fields: Readonly<Record<string, { doc: string }>> } =>
      typeof each === 'object' && each !== null && 'fields' in each && 'name' in each,
  )
  const name = item.name.replace(/^(?:read|write) /, '')
  const found = declarations.find((each) => each.name === name)
  if (found === undefined) return {}
  const docs = Object.entries(found.fields).map(([key, { doc }]) => [key, doc])
  return { ...Object.fromEntries(docs), [found.name]: found.doc } as Record<string, string>
}
