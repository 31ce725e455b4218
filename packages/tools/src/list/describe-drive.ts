import { driverName } from '../binding/driver-choice.js'
import type { Owner } from '../binding/drive-status.js'
import { labelled } from '../terminal/labelled.js'
import { capacityOf } from '../machine/capacity.js'
import { isKnown, type Known, type Machine, functionAt, type Gpu } from '../machine/index.js'
import { linkText } from '../machine/views/link-text.js'
import { printable } from '../terminal/printable.js'
import { formatBytes } from '../terminal/units.js'
import { ago, commandText, heatOf, modelOf, useOf } from './drive-text.js'
import type { ListedDrive } from './listed-drive.js'
import { type ListOptions, gpuHint, nextOfGpu } from './tables.js'

type Row = readonly [label: string, value: string]

/** Describes one drive: what Linux reports, its users, its binding, and the next command. */
export function describeDrive(machine: Machine, drive: ListedDrive, { invocation, now }: ListOptions): string[] {
  const { address, name, serial, firmware, found, owner, bound, problem, transport, closed = '', next, undo } = drive
  const { isInUse, text } = useOf(machine, drive)
  const bytes = capacityOf(drive)
  const rows: Row[] = [
    ...known('serial', serial),
    ...known('firmware', firmware),
    ...(bytes === undefined ? [] : [['size', formatBytes(bytes)] as const]),
    ...(heatOf(drive) === '' ? [] : [['heat', heatOf(drive)] as const]),
    ['driver', `${printable(driverName(found?.driver))}${OWNERS[owner]}`],
    ['link', linkText(machine, found) ?? 'unknown'],
    isInUse === undefined
      ? ['state', text]
      : [
          'in use',
          isInUse ? `${text}; ${isKnown(drive.holders) ? 'cannot be bound' : 'run this as root'}` : `no${text}`,
        ],
  ]
  if (bound !== undefined) {
    const { since, by, process, previous } = bound
    rows.push(['bound', `${ago(since, now)} (${printable(since)}) for ${printable(by.user)}: ${printable(by.command)}`])
    rows.push(['before', driverName(previous)])
    if (owner === 'running' && process !== undefined) rows.push(['process', String(process)])
  }
  if (problem !== undefined) rows.push(['unknown', printable(problem)])
  rows.push(['transport', transport ?? `none: ${closed}`])
  if (next !== undefined) rows.push(['next', commandText(next, invocation)])
  if (undo !== undefined && undo !== next) rows.push(['undo', commandText(undo, invocation)])
  const title = [address, ...(name === undefined ? [] : [printable(name)]), modelOf(drive)].join('  ')
  return [title, ...labelled(rows)]
}

function known(label: string, value: Known<string>): Row[] {
  return isKnown(value) ? [[label, printable(value)]] : []
}

/** Text after the driver's name. */
const OWNERS: Readonly<Record<Owner, string>> = {
  linux: '',
  ours: ', by gpunvme',
  running: ', by a running gpunvme, which returns it when it ends',
  unfinished: ': gpunvme was killed before it finished',
  past: ': the binding by gpunvme has ended',
  free: '',
  foreign: ', not by gpunvme',
  unknown: '; unknown whether gpunvme bound it',
}

/** Describes one GPU: its memory and window, its driver, and the next command. */
export function describeGpu(machine: Machine, gpu: Gpu, { invocation }: ListOptions): string[] {
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
  return [title, ...labelled(rows)]
}
