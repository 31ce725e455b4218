import { labelled } from '../binding/labelled.js'
import { functionAt, isKnown, type Gpu, type Machine } from '../machine/index.js'
import { linkText } from '../machine/views/link-text.js'
import { printable } from '../terminal/printable.js'
import { wrap } from '../terminal/table.js'
import { formatBytes } from '../terminal/units.js'
import { commandText } from './drive-text.js'
import { gpuHint, nextOfGpu, type ListOptions } from './tables.js'

/** Describes one GPU: its memory and window, its driver, and the next command. */
export function describeGpu(machine: Machine, gpu: Gpu, { columns, invocation }: ListOptions): string[] {
  const { address, model, memoryBytes, window } = gpu
  const found = functionAt(machine, address)
  const next = nextOfGpu(machine, gpu)
  const rows: (readonly [label: string, value: string])[] = [
    ['memory', isKnown(memoryBytes) ? formatBytes(memoryBytes) : `unknown: ${memoryBytes.unknown}`],
    ['window', isKnown(window) ? `${formatBytes(window.sizeBytes)} (BAR1)` : `unknown: ${window.unknown}`],
    ['driver', printable(found?.driver ?? 'none')],
    ['link', linkText(machine, found) ?? 'unknown'],
    ['state', gpuHint(gpu, found)],
    ...(next === undefined ? [] : [['next', commandText(next, invocation)] as const]),
  ]
  const title = `${address}  ${isKnown(model) ? printable(model) : 'unknown model'}`
  return [...wrap(title, columns, '  '), ...labelled(rows, columns)]
}
