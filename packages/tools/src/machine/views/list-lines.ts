import { commandFor, onMachine } from '../../command-line/advised-command.js'
import type { Invocation } from '../../command-line/invocation.js'
import { renderStep, type Action } from '../../command-line/next-step.js'
import { formatBytes } from '../../terminal/units.js'
import { printable, printableLines } from '../../terminal/printable.js'
import { formatTable } from '../../terminal/table.js'
import { capacityOf } from '../capacity.js'
import { describeContents } from '../contents.js'
import { isKnown } from '../known.js'
import type { Drive, Gpu, Machine } from '../machine.js'
import type { PciFunction } from '../pci-function.js'
import { bestOf, functionAt, nowOf } from '../tree.js'
import { hanging, shapeText } from './names.js'

/** Models are cut to the remaining width, but not below this. */
const MIN_MODEL_COLUMNS = 10

/** Degrees below the drive's limit from which a warning is printed. */
const CLOSE_CELSIUS = 5

/** Size of a window that was not enlarged; server cards have large ones by default. */
const SMALL_WINDOW_BYTES = 256 * 1024 ** 2

/** A blank without line break: commands must be copyable. */
const KEPT = '\u00a0'

interface Row {
  readonly cells: readonly string[]
  readonly below: string
}

export function driveLines(machine: Machine, columns: number, invocation: Invocation): string[] {
  if (machine.drives.length === 0) {
    const disks = machine.otherDisks.map(({ name }) => printable(name))
    return [`No NVMe drives.${disks.length === 0 ? '' : ` Other disks: ${disks.join(', ')}.`}`]
  }
  const rows = machine.drives.map((drive): Row => {
    const found = functionAt(machine, drive.address)
    const model = isKnown(drive.model) ? printable(drive.model) : (found?.deviceName ?? 'unknown')
    const bytes = capacityOf(drive)
    const cells = [
      drive.address,
      drive.name ?? '-',
      model,
      bytes === undefined ? '-' : formatBytes(bytes),
      found?.driver ?? 'none',
      linkText(machine, found),
    ]
    return {
      cells,
      below: sentences(
        useOf(machine, drive, found),
        heatOf(drive),
        nextText(nextOfDrive(machine, drive, found), invocation),
      ),
    }
  })
  const titles = ['SSD', 'NAME', 'MODEL', 'SIZE', 'DRIVER', 'LINK']
  return formatRows(titles, rows, columns)
}

export function gpuLines(machine: Machine, columns: number, invocation: Invocation): string[] {
  if (machine.gpus.length === 0) return ['No GPUs.']
  const rows = machine.gpus.map((gpu): Row => {
    const found = functionAt(machine, gpu.address)
    const cells = [
      gpu.address,
      isKnown(gpu.model) ? printable(gpu.model) : 'unknown',
      isKnown(gpu.window) ? formatBytes(gpu.window.sizeBytes) : '-',
      found?.driver ?? 'none',
      linkText(machine, found),
    ]
    return { cells, below: sentences(gpuHint(gpu, found), nextText(nextOfGpu(machine, gpu, found), invocation)) }
  })
  return formatRows(['GPU', 'MODEL', 'WINDOW', 'DRIVER', 'LINK'], rows, columns)
}

function sentences(...all: readonly string[]): string {
  return all.filter((text) => text !== '').join(' ')
}

/** Returns 'Next: gpunvme doctor'; '' without a next step. */
function nextText(next: Action | undefined, invocation: Invocation): string {
  if (next === undefined) return ''
  return `Next: ${printableLines(renderStep(next, invocation)).join(' ').replaceAll(' ', KEPT)}`
}

/** Formats a table with an extra line below each row; models are cut if it is too wide. */
function formatRows(titles: readonly string[], rows: readonly Row[], columns: number): string[] {
  const at = titles.indexOf('MODEL')
  const titled = titles.map((title) => (/SIZE|WINDOW/.test(title) ? { title, align: 'right' as const } : { title }))
  const widest = formatTable(
    titled,
    rows.map(({ cells }) => cells.with(at, 'MODEL')),
  ).reduce((most, { length }) => Math.max(most, length), 0)
  const room = Math.max(MIN_MODEL_COLUMNS, columns - widest + 'MODEL'.length)
  const [heading = '', ...lines] = formatTable(
    titled,
    rows.map(({ cells }) => cells.with(at, cut(cells[at]!, room))),
  )
  return [
    heading,
    ...lines.flatMap((line, index) => [
      line,
      ...hanging('  ', rows[index]!.below, columns).map((text) => text.replaceAll(KEPT, ' ')),
    ]),
  ]
}

function cut(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`
}

function linkText(machine: Machine, found: PciFunction | undefined): string {
  const now = found && nowOf(found)
  const best = found && bestOf(machine, found)
  if (best === undefined) return '-'
  if (now === undefined) return found?.power.state === 'D3cold' ? 'asleep' : 'down'
  return now.gen === best.gen && now.lanes === best.lanes ? shapeText(now) : `${shapeText(now)} of ${shapeText(best)}`
}

/** Returns the users of a drive, or its content if it is not in use. */
function useOf(machine: Machine, { holders, state, namespaces }: Drive, found: PciFunction | undefined): string {
  if (found?.answers === false) return 'Off the bus: it reads all ones.'
  if (state !== undefined && state !== 'live') return `State in the driver: '${printable(state)}'.`
  if (!isKnown(holders)) return `In use: unknown, ${holders.unknown}.`
  if (holders.length > 0)
    return `In use: ${holders.map(({ device, use }) => printable(`${device} ${use}`)).join('; ')}.`
  const asleep = found?.power.state?.startsWith('D3') ? `, asleep in ${found.power.state}` : ''
  const view = machine.virtualisation.container === undefined ? '' : ' as seen from this container'
  return `Not in use${view}${asleep}, ${describeContents(namespaces)}.`
}

/** Returns a warning for a drive close to its temperature limit. */
function heatOf({ temperature }: Drive): string {
  if (!isKnown(temperature) || temperature.warningCelsius === undefined) return ''
  const { celsius, warningCelsius } = temperature
  return celsius < warningCelsius - CLOSE_CELSIUS ? '' : `Hot: ${celsius} °C; it throttles from ${warningCelsius} °C.`
}

function nextOfDrive(machine: Machine, drive: Drive, found: PciFunction | undefined): Action | undefined {
  const { root, virtualisation } = machine
  const { address, name = address, holders, state } = drive
  if (found?.answers === false || (state !== undefined && state !== 'live')) return commandFor(root, 'doctor')
  if (!isKnown(holders)) return { ...onMachine(root, 'list'), asRoot: true }
  if (holders.length > 0) return undefined
  if (found?.driver === 'vfio-pci' || found?.driver === 'gpunvme')
    return onMachine(root, 'nvme', 'identify', '--drive', address)
  return virtualisation.container === undefined
    ? onMachine(root, 'bind', name)
    : { words: ['on the host: ', { command: ['bind', name], isElsewhere: true }] }
}

function nextOfGpu({ root }: Machine, gpu: Gpu, found: PciFunction | undefined): Action | undefined {
  if (gpu.vendor !== 'NVIDIA' || isAsleep(found)) return undefined
  return commandFor(root, found?.driver === 'nvidia' ? 'doctor' : 'driver')
}

function gpuHint(gpu: Gpu, found: PciFunction | undefined): string {
  if (isAsleep(found)) return 'Asleep in D3cold; not woken.'
  if (gpu.vendor !== 'NVIDIA') return 'Not supported: only NVIDIA GPUs are.'
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
  const most = (sizesBytes ?? [sizeBytes]).reduce((most, each) => Math.max(most, each), 0)
  if (most > sizeBytes) return `BAR1 could be ${formatBytes(most)}: Resizable BAR is off, or firmware found no space.`
  const isSmall = sizesBytes === undefined && sizeBytes <= SMALL_WINDOW_BYTES
  return isSmall ? 'BAR1 cannot be resized.' : 'BAR1 has its maximum size.'
}

/** Returns the same data for JSON. */
export function listed(machine: Machine, invocation: Invocation): object {
  const more = (found: PciFunction | undefined, next: Action | undefined) => ({
    driver: found?.driver,
    link: { now: found && nowOf(found), best: found && bestOf(machine, found) },
    ...(next !== undefined && { next: renderStep(next, invocation) }),
  })
  return {
    drives: machine.drives.map((drive) => {
      const found = functionAt(machine, drive.address)
      return { ...drive, ...more(found, nextOfDrive(machine, drive, found)) }
    }),
    gpus: machine.gpus.map((gpu) => {
      const found = functionAt(machine, gpu.address)
      return { ...gpu, ...more(found, nextOfGpu(machine, gpu, found)) }
    }),
    otherDisks: machine.otherDisks,
  }
}
