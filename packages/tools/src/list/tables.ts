import { commandFor } from '../command-line/advised-command.js'
import type { Invocation } from '../terminal/invocation.js'
import type { Action } from '../command-line/next-step.js'
import { capacityOf } from '../machine/capacity.js'
import { functionAt, isKnown, type Gpu, type Machine, type PciFunction } from '../machine/index.js'
import { linkText } from '../machine/views/link-text.js'
import { printable } from '../terminal/printable.js'
import { cut, formatTable } from '../terminal/table.js'
import { formatBytes } from '../terminal/units.js'
import { bindingText, commandText, heatOf, modelOf, useOf } from './drive-text.js'
import type { ListedDrive } from './listed-drive.js'

/** Models are cut to the remaining width, but not below this. */
const MIN_MODEL_COLUMNS = 10

/** Size of a window that was not enlarged; server cards have large ones by default. */
const SMALL_WINDOW_BYTES = 256 * 1024 ** 2

export interface ListOptions {
  /** Maximum length of lines; Infinity for no limit. */
  readonly columns: number
  readonly invocation: Invocation
  /** Current time in milliseconds since 1970. */
  readonly now: number
}

interface Row {
  readonly cells: readonly string[]
  readonly below: readonly string[]
}

/** Formats drives as a table: below each, its users or contents, its binding, and the next command. */
export function driveLines(
  machine: Machine,
  drives: readonly ListedDrive[],
  { columns, invocation, now }: ListOptions,
): string[] {
  if (drives.length === 0) {
    const disks = machine.otherDisks.map(({ name }) => printable(name))
    return [`No NVMe drives.${disks.length === 0 ? '' : ` Other disks: ${disks.join(', ')}.`}`]
  }
  const rows = drives.map((drive): Row => {
    const { address, name, found, next, undo } = drive
    const bytes = capacityOf(drive)
    const cells = [
      address,
      name === undefined ? '-' : printable(name),
      modelOf(drive),
      bytes === undefined ? '-' : formatBytes(bytes),
      printable(found?.driver ?? 'none'),
      linkText(machine, found) ?? '-',
    ]
    const texts = [useText(machine, drive), heatOf(drive), bindingText(drive, now), nextText(next, invocation)]
    const undoText = undo === undefined || undo === next ? [] : [`Undo: ${commandText(undo, invocation)}`]
    return { cells, below: [texts.filter((text) => text !== '').join(' '), ...undoText] }
  })
  return formatRows(['SSD', 'NAME', 'MODEL', 'SIZE', 'DRIVER', 'LINK'], rows, columns)
}

/** Formats GPUs as a table: below each, what prevents its use, or its window, and the next command. */
export function gpuLines(machine: Machine, { columns, invocation }: ListOptions): string[] {
  if (machine.gpus.length === 0) return ['No GPUs.']
  const rows = machine.gpus.map((gpu): Row => {
    const found = functionAt(machine, gpu.address)
    const cells = [
      gpu.address,
      isKnown(gpu.model) ? printable(gpu.model) : 'unknown',
      isKnown(gpu.window) ? formatBytes(gpu.window.sizeBytes) : '-',
      printable(found?.driver ?? 'none'),
      linkText(machine, found) ?? '-',
    ]
    const next = nextOfGpu(machine, gpu)
    return { cells, below: [`${gpuHint(gpu, found)} ${nextText(next, invocation)}`.trimEnd()] }
  })
  return formatRows(['GPU', 'MODEL', 'WINDOW', 'DRIVER', 'LINK'], rows, columns)
}

function useText(machine: Machine, drive: ListedDrive): string {
  const { isInUse, text } = useOf(machine, drive)
  return isInUse === undefined ? `${text}.` : isInUse ? `In use: ${text}.` : `Not in use${text}.`
}

function nextText(next: Action | undefined, invocation: Invocation): string {
  return next === undefined ? '' : `Next: ${commandText(next, invocation)}`
}

/** Formats a table with an extra line below each row; models are cut if it is too wide. */
function formatRows(titles: readonly string[], rows: readonly Row[], columns: number): string[] {
  const at = titles.indexOf('MODEL')
  const titled = titles.map((title) => (/SIZE|WINDOW/.test(title) ? { title, align: 'right' as const } : { title }))
  const widest = formatTable(
    titled,
    rows.map(({ cells }) => cells.with(at, 'MODEL')),
  ).reduce((max, { length }) => Math.max(max, length), 0)
  const spare = columns - widest + 'MODEL'.length
  if (spare < MIN_MODEL_COLUMNS && rows.some(({ cells }) => cells[0]!.startsWith('0000:')))
    return formatRows(titles, rows.map(withoutDomain), columns)
  const room = Math.max(MIN_MODEL_COLUMNS, spare)
  const [heading = '', ...lines] = formatTable(
    titled,
    rows.map(({ cells }) => cells.with(at, cut(cells[at]!, room))),
  )
  return [
    heading,
    ...lines.flatMap((line, index) => [line, ...rows[index]!.below.map((text) => `  ${text}`.trimEnd())]),
  ]
}

/** Shortens the address of a device to '0b:00.0', which is accepted too. */
function withoutDomain({ cells, below }: Row): Row {
  return { cells: cells.with(0, cells[0]!.replace(/^0000:/, '')), below }
}

/** Returns the next command for a GPU; undefined for one that is asleep or not supported. */
export function nextOfGpu(machine: Machine, gpu: Gpu): Action | undefined {
  const found = functionAt(machine, gpu.address)
  if (gpu.vendor !== 'NVIDIA' || isAsleep(found)) return undefined
  return commandFor(machine.root, found?.driver === 'nvidia' ? 'doctor' : 'driver')
}

/** Returns what prevents the use of a GPU, or a remark on its window. */
export function gpuHint(gpu: Gpu, found: PciFunction | undefined): string {
  if (isAsleep(found)) return 'Asleep in D3cold; not woken.'
  if (gpu.vendor !== 'NVIDIA') return 'Not supported: gpunvme requires an NVIDIA GPU.'
  if (found?.driver === 'nvidia') return windowText(gpu)
  const who = found?.driver === undefined ? 'No driver' : `Bound to ${found.driver}`
  return `${who}: CUDA requires NVIDIA's driver.`
}

function isAsleep(found: PciFunction | undefined): boolean {
  return found?.power.state === 'D3cold'
}

function windowText({ window }: Gpu): string {
  if (!isKnown(window)) return `BAR1 unknown: ${window.unknown}.`
  const { sizesBytes, sizeBytes } = window
  if (!isKnown(sizesBytes)) return `The supported sizes of BAR1 are unknown (${sizesBytes.unknown}).`
  const max = (sizesBytes ?? [sizeBytes]).reduce((max, each) => Math.max(max, each), 0)
  if (max > sizeBytes) return `BAR1 could be ${formatBytes(max)}: Resizable BAR is off, or firmware found no space.`
  const isSmall = sizesBytes === undefined && sizeBytes <= SMALL_WINDOW_BYTES
  return isSmall ? 'BAR1 cannot be resized.' : 'BAR1 is at its maximum size.'
}
