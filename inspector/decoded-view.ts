import type { ExplainedEntry } from '@gpunvme/nvme-spec/explain'
import { Bytes } from './bytes.js'
import { create } from './element.js'
import { Fields } from './fields.js'

/** One decoded entry, with its bytes if they are shown. */
export interface Decoded {
  /** Position among entries of the same kind; undefined for a single one. */
  readonly index?: number | undefined
  readonly entry: ExplainedEntry
  /** Bytes of the entry; after a header, also the remaining bytes. */
  readonly data?: DataView
}

/** Number of entries open at first; the fields of the others are created when they are opened. */
const OPEN_ENTRIES = 4

/** Creates the view of decoded entries: fields with a filter, and the bytes of the entry with the focused field. */
export function decodedView(decoded: readonly Decoded[]): HTMLElement {
  const memory = create('div', { class: 'side' })
  const count = create('span', { class: 'note', role: 'status' })
  const text = create('input', { type: 'search', placeholder: 'Filter by name, value or description' })
  text.setAttribute('aria-label', 'Filter fields')
  const onlySet = create('input', { type: 'checkbox' })
  const bar = create(
    'div',
    { class: 'controls filter' },
    text,
    create('label', { class: 'choice' }, onlySet, 'Only nonzero fields'),
    count,
  )
  const lists = new Map<Decoded, Fields>()
  const filter = () => {
    const numbers = [...lists.values()].map((fields) => fields.filter(text.value, onlySet.checked))
    const shown = numbers.reduce((sum, number) => sum + number, 0)
    const all = [...lists.keys()].reduce((sum, { entry }) => sum + entry.lines.length, 0)
    count.textContent = `${shown} of ${all} lines`
  }

  let current: { readonly of: Decoded; readonly bytes: Bytes } | undefined
  const bytesOf = (one: Decoded): Bytes | undefined => {
    if (one.data === undefined) return undefined
    if (current?.of === one) return current.bytes
    const bytes = new Bytes(one.data, (byte) => lists.get(one)?.reveal(byte))
    current = { of: one, bytes }
    memory.replaceChildren(bytes.view)
    return bytes
  }
  const fieldsOf = (one: Decoded): HTMLElement => {
    const fields = new Fields(one.entry, ({ location }) => bytesOf(one)?.highlight(location))
    lists.set(one, fields)
    return fields.view
  }

  const sections = decoded.map((one, position) => {
    const { title, spec, lines } = one.entry
    const number = one.index === undefined ? '' : `${one.index}: `
    const heading = create('summary', {}, create('b', {}, number + title), create('span', { class: 'note' }, spec))
    const section = create('details', { class: 'panel entry' }, heading)
    const fill = () => {
      if (section.open && !lists.has(one)) {
        section.append(fieldsOf(one))
        filter()
      }
    }
    section.addEventListener('toggle', fill)
    section.open = position < OPEN_ENTRIES
    if (lines.length === 0) section.append(create('p', { class: 'note' }, 'No fields'))
    fill()
    return section
  })
  for (const input of [text, onlySet]) input.addEventListener('input', filter)
  const [first] = decoded
  if (first !== undefined) bytesOf(first)
  const main = create('div', { class: 'entries' }, bar, ...sections)
  return create('div', { class: memory.childElementCount > 0 ? 'columns' : '' }, main, memory)
}
