import { decodedView, type Decoded } from './decoded-view.js'
import { create, element } from './element.js'
import { examples } from './examples.js'
import { readFile, readText, type Input } from './input.js'
import { explainRegister, guessKind, kindOf, kinds, viewOf, type Kind } from './kinds.js'
import { plural } from './text.js'
import { summaryOf, traceView } from './trace-view.js'

/** Maximum length of a file: a longer one would block the browser for too long. */
const MAX_BYTES = 64 * 1024 * 1024
const MAX_ENTRIES = 4096
const AUTOMATIC = 'automatic'

const text = element('text') as HTMLTextAreaElement
const select = element('kind') as HTMLSelectElement
const picker = element('file') as HTMLInputElement
const result = element('result')
const status = element('status')
const alert = element('error')

/** The opened or dropped file; undefined if the text field is the input. */
let file: { readonly name: string; readonly bytes: Uint8Array } | undefined

function update(): void {
  alert.hidden = true
  result.replaceChildren()
  status.textContent = ''
  try {
    show(file === undefined ? readText(text.value) : readFile(file.bytes, file.name))
  } catch (error) {
    // Errors of nvme-spec have a one-line headline and may have a next step.
    const { headline, message, next } = error as Error & { headline?: string; next?: string }
    alert.textContent = [headline ?? message, next].filter((part) => part !== undefined).join('. Try: ')
    alert.hidden = false
  }
}

function show(input: Input): void {
  const prefix = file === undefined ? '' : `${file.name}: `
  if (input.kind === 'nothing') result.append(introduction())
  else if (input.kind === 'trace') {
    status.textContent = prefix + summaryOf(input.events)
    result.append(traceView(input.events))
  } else if (input.kind === 'registers') {
    status.textContent = `${prefix}${plural(input.values.length, 'register value')}`
    const decoded = input.values.map(({ register, value }) => ({ entry: explainRegister(register, value) }))
    result.append(decodedView(decoded))
  } else showBytes(input.bytes, prefix)
}

function showBytes(bytes: Uint8Array, prefix: string): void {
  const kind = select.value === AUTOMATIC ? guessKind(bytes) : kindOf(select.value)
  if (kind === undefined) {
    alert.textContent = `Cannot recognize ${plural(bytes.length, 'byte')} by length. Select a structure under “Decode as”.`
    alert.hidden = false
    return
  }
  const { lengthBytes, repeats, label } = kind
  if (bytes.length < lengthBytes) {
    alert.textContent = `${label}: expected ${plural(lengthBytes, 'byte')}, got ${bytes.length}`
    alert.hidden = false
    return
  }
  const count = repeats ? Math.min(MAX_ENTRIES, Math.floor(bytes.length / lengthBytes)) : 1
  const rest = bytes.length - count * lengthBytes
  const guessed = select.value === AUTOMATIC ? ', by length' : ''
  const more = rest > 0 ? `; ${plural(rest, 'byte')} not decoded` : ''
  status.textContent = `${prefix}${plural(bytes.length, 'byte')}: ${label}${guessed}${more}`
  result.append(decodedView(Array.from({ length: count }, (_, i) => decode(kind, bytes, i, repeats))))
}

function decode(kind: Kind, bytes: Uint8Array, index: number, repeats: boolean): Decoded {
  const start = index * kind.lengthBytes
  const data = viewOf(bytes)
  const own = bytes.subarray(start, repeats ? start + kind.lengthBytes : undefined)
  return {
    index: repeats && bytes.length > kind.lengthBytes ? index : undefined,
    entry: kind.explain(data, start),
    data: viewOf(own),
  }
}

async function take(given: File): Promise<void> {
  if (given.size > MAX_BYTES) {
    alert.textContent = `${given.name}: expected at most ${MAX_BYTES} bytes, got ${given.size}`
    alert.hidden = false
    return
  }
  file = { name: given.name, bytes: new Uint8Array(await given.arrayBuffer()) }
  text.value = ''
  update()
}

function type(value: string): void {
  file = undefined
  text.value = value
  update()
}

/** Creates the introduction: supported inputs, their sources, and buttons for examples. */
function introduction(): HTMLElement {
  const sources: readonly (readonly [string, string, string])[] = [
    ['Identify data and log pages', 'binary, or a hex dump', 'nvme id-ctrl /dev/nvme0 --raw-binary > controller.bin'],
    ['Registers', 'values, or names with values', 'gpunvme nvme regs, or nvme show-regs /dev/nvme0'],
    ['Queue entries', '64 or 16 bytes each, in memory order', ''],
    ['Traces', 'JSONL', 'gpunvme nvme trace --format jsonl -o trace.jsonl -- VERB'],
  ]
  const list = create('dl', {})
  for (const [what, form, command] of sources)
    list.append(create('dt', {}, what), create('dd', {}, form, create('code', {}, command)))
  const buttons = Object.entries(examples).map(([name, make]) => {
    const button = create('button', { type: 'button' }, name)
    button.addEventListener('click', () => {
      select.value = AUTOMATIC
      type(make())
      text.focus()
      text.setSelectionRange(0, 0)
      text.scrollTo(0, 0)
    })
    return button
  })
  return create('div', { class: 'intro panel' }, list, create('div', { class: 'controls' }, 'Examples', ...buttons))
}

function fillSelect(): void {
  select.append(create('option', { value: AUTOMATIC }, 'Automatic'))
  for (const group of new Set(kinds.map((kind) => kind.group))) {
    const members = kinds.filter((kind) => kind.group === group)
    const options = members.map(({ id, label }) => create('option', { value: id }, label))
    select.append(create('optgroup', { label: group }, ...options))
  }
}

fillSelect()
select.addEventListener('change', update)
text.addEventListener('input', () => {
  file = undefined
  update()
})
element('clear').addEventListener('click', () => {
  select.value = AUTOMATIC
  type('')
  text.focus()
})
element('open').addEventListener('click', () => picker.click())
picker.addEventListener('change', () => {
  const [given] = picker.files ?? []
  picker.value = ''
  if (given !== undefined) void take(given)
})
addEventListener('dragover', (event) => {
  event.preventDefault()
  document.body.classList.add('dropping')
})
addEventListener('dragleave', (event) => {
  if (event.relatedTarget === null) document.body.classList.remove('dropping')
})
addEventListener('drop', (event) => {
  event.preventDefault()
  document.body.classList.remove('dropping')
  const [given] = event.dataTransfer?.files ?? []
  if (given !== undefined) void take(given)
  else type(event.dataTransfer?.getData('text/plain') ?? '')
})
update()
