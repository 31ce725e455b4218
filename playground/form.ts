import { profiles, type ProfileName } from '@gpunvme/nvme-sim'
import { commandSize, size } from './format.js'
import { models } from './models.js'
import { faults, type FaultName, type Settings } from './settings.js'

const KIB = 1024

/** Choices of the selects, as value and label. */
const choices: Record<string, readonly (readonly [value: string, label: string])[]> = {
  gen: [1, 2, 3, 4, 5].map((gen) => [String(gen), `Gen${gen}`]),
  width: [1, 2, 4, 8, 16].map((lanes) => [String(lanes), `x${lanes}`]),
  mps: [128, 256, 512, 1024].map((bytes) => [String(bytes), `${bytes} bytes`]),
  queueDepth: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1023].map((depth) => [String(depth), String(depth)]),
  commandBytes: [4, 16, 64, 128, 256, 512, 1024].map((kib) => [String(kib * KIB), commandSize(kib * KIB)]),
  fault: Object.entries(faults).map(([name, { label }]) => [name, label]),
  model: [
    ...Object.entries(models).map(
      ([name, { label, layers, layerBytes }]) => [name, `${label} (${size(layers * layerBytes)})`] as const,
    ),
    ['own', 'own layers'],
  ],
}

const defaults = { drive: 'sn740', queueDepth: '32', commandBytes: String(1024 * KIB), fault: 'none', model: '70b-q4' }

/** Fills the form: choices, defaults, and what `given`, the fragment of the address, says. */
export function fillForm(form: HTMLFormElement, drives: readonly ProfileName[], given: URLSearchParams): void {
  const all = { drive: drives.map((name) => [name, name] as const), ...choices }
  for (const [name, options] of Object.entries(all)) {
    field(form, name).replaceChildren(...options.map(([value, label]) => new Option(label, value)))
  }
  const give = (name: string, value: string) => {
    field(form, name).value = value
  }
  // A value that the field does not offer leaves it as it is.
  const takeGiven = (name: string) => {
    const { value } = field(form, name)
    give(name, given.get(name) ?? value)
    if (field(form, name).value === '') give(name, value)
  }
  for (const [name, value] of Object.entries(defaults)) {
    give(name, value)
    takeGiven(name)
  }
  const takeLink = () => {
    const { gen, width, mps } = profiles[field(form, 'drive').value as ProfileName].link ?? {
      gen: 4,
      width: 4,
      mps: 256,
    }
    give('gen', String(gen))
    give('width', String(width))
    give('mps', String(mps))
  }
  const takeModel = () => {
    const shape = models[field(form, 'model').value as keyof typeof models] as (typeof models)['70b-q4'] | undefined
    if (shape === undefined) return
    give('layers', String(shape.layers))
    give('layerMegabytes', (shape.layerBytes / 1e6).toFixed(1))
  }
  takeLink()
  takeModel()
  for (const name of ['gen', 'width', 'mps', 'layers', 'layerMegabytes']) takeGiven(name)
  // Before the page's own listener, which runs with what is chosen then.
  form.addEventListener('change', ({ target }) => {
    const { name } = target as HTMLInputElement
    if (name === 'drive') takeLink()
    else if (name === 'model') takeModel()
    else if (name.startsWith('layer')) give('model', 'own')
  })
}

/** Returns what is chosen; undefined if a number is out of range, which the browser then reports. */
export function readForm(form: HTMLFormElement): Settings | undefined {
  if (!form.reportValidity()) return undefined
  const number = (name: string) => Number(field(form, name).value)
  return {
    drive: field(form, 'drive').value as ProfileName,
    gen: number('gen') as Settings['gen'],
    width: number('width'),
    mps: number('mps'),
    queueDepth: number('queueDepth'),
    commandBytes: number('commandBytes'),
    fault: field(form, 'fault').value as FaultName,
    layers: number('layers'),
    layerBytes: Math.round(number('layerMegabytes') * 1e6),
  }
}

function field(form: HTMLFormElement, name: string): HTMLSelectElement {
  return form.elements.namedItem(name) as HTMLSelectElement
}
