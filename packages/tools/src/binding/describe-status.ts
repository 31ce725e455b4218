import type { Output } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { wrap } from '../terminal/table.js'
import { onMachine } from '../command-line/advised-command.js'
import { typed } from '../command-line/next-step.js'
import { openedBy } from './bind-report.js'
import { driverName } from './driver-choice.js'
import { labelled } from './labelled.js'
import type { DriveStatus, Owner } from './drive-status.js'

/**
 * Returns a drive's status as text. @param root the machine's root. @param now in milliseconds since 1970, for 'since'.
 */
export function describeStatus(
  root: string,
  drive: DriveStatus,
  now: number,
  { columns, invocation }: Pick<Output, 'columns' | 'invocation'>,
): string[] {
  const { address, name, model, serial, driver, bound, problem, transport, closed, next, owner } = drive
  const known = [name, model].filter((each) => each !== null)
  const rows: [string, string][] = [
    ...(serial === null ? [] : ([['serial', printable(serial)]] as [string, string][])),
    ['driver', `${driverName(driver)}${OWNERS[owner]}`],
    ...inUse(drive),
  ]
  if (bound !== null) {
    const { since, by, process, previous } = bound
    rows.push(['bound', `${ago(since, now)} (${since}) by ${printable(by.user)}: ${printable(by.command)}`])
    rows.push(['before', driverName(previous)])
    if (owner === 'running' && process !== null) rows.push(['process', String(process)])
  }
  if (problem !== null) rows.push(['unknown', printable(problem)])
  rows.push([
    'opened by',
    transport === null
      ? `nothing: ${closed ?? ''}`
      : openedBy(onMachine(root, 'nvme', 'identify', '--drive', address), transport, invocation),
  ])
  if (next !== null) rows.push(['next', typed(next, invocation)])
  return [...wrap([address, ...known.map(printable)].join('  '), columns, '  '), ...labelled(rows, columns)]
}

/** Users of the drive, or why they are unknown. */
function inUse({ users, useUnknown }: DriveStatus): [string, string][] {
  if (users === null) return [['in use', printable(`unknown, ${useUnknown ?? ''}; run this as root`)]]
  return users.length === 0 ? [] : [['in use', printable(`${users.join('; ')}; cannot be bound`)]]
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
  unknown: ', unknown whether by gpunvme',
}

/** Returns the elapsed time in its largest unit: '3 h ago'. */
export function ago(since: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1000))
  if (seconds < 60) return 'just now'
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86_400)} d ago`
}
