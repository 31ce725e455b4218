import type { Invocation } from '../terminal/invocation.js'
import { renderStep, type Action } from '../command-line/next-step.js'
import { describeContents } from '../machine/contents.js'
import { isKnown, type Drive, type Machine } from '../machine/index.js'
import { printable, printableLine } from '../terminal/printable.js'
import type { ListedDrive } from './listed-drive.js'

/** Degrees below the drive's limit from which a warning is printed. */
const CLOSE_CELSIUS = 5

/** Returns the model, or the name in the list of PCI IDs; printable. */
export function modelOf({ model, found }: Pick<ListedDrive, 'model' | 'found'>): string {
  return isKnown(model) ? printable(model) : printable(found?.deviceName ?? 'unknown')
}

/** Returns a warning for a drive close to its temperature limit. */
export function heatOf({ temperature }: Drive): string {
  if (!isKnown(temperature) || temperature.warningCelsius === undefined) return ''
  const { celsius, warningCelsius } = temperature
  return celsius < warningCelsius - CLOSE_CELSIUS ? '' : `Hot: ${celsius} °C; warning threshold ${warningCelsius} °C.`
}

/** Returns a step as text on one line. */
export function commandText(step: Action, invocation: Invocation): string {
  return printableLine(renderStep(step, invocation))
}

/** Describes how gpunvme bound a drive; '' for a drive without a record of a binding. */
export function bindingText({ bound, owner, problem, transport }: ListedDrive, now: number): string {
  if (problem !== undefined) return `Unknown whether gpunvme bound it: ${printable(problem)}.`
  const opened = transport === undefined || owner === 'free' ? '' : `Opened by transport ${transport}.`
  if (bound === undefined) return opened
  const [since, user] = [ago(bound.since, now), printable(bound.by.user)]
  const by = `${since} for ${user}`
  if (owner === 'ours') return `Bound by gpunvme ${by}. ${opened}`.trimEnd()
  if (owner === 'running')
    return `Bound by gpunvme ${by}; process ${bound.process} returns it when it ends. ${opened}`.trimEnd()
  return owner === 'unfinished'
    ? `Binding interrupted: gpunvme was killed (started ${since} by ${user}).`
    : `gpunvme bound it ${by}; that binding has ended.`
}

/** Use of a drive. `isInUse` is undefined for a drive that does not work. */
interface Use {
  readonly isInUse: boolean | undefined
  readonly text: string
}

/** Returns the users of a drive, or its contents if it is not in use: ', 4 partitions: ntfs, ext4'. */
export function useOf(machine: Machine, { holders, state, namespaces, found }: ListedDrive): Use {
  if (found === undefined) return { isInUse: undefined, text: 'Gone from the bus' }
  if (!found.isResponding) return { isInUse: undefined, text: 'Off the bus: configuration space reads as all ones' }
  if (state !== undefined && state !== 'live')
    return { isInUse: undefined, text: `State in the driver: '${printable(state)}'` }
  if (!isKnown(holders)) return { isInUse: true, text: `unknown, ${holders.unknown}` }
  if (holders.length > 0)
    return { isInUse: true, text: holders.map(({ device, use }) => printable(`${device} ${use}`)).join('; ') }
  const asleep = found.power.state?.startsWith('D3') ? `, asleep in ${found.power.state}` : ''
  const view = machine.virtualisation.container === undefined ? '' : ' as seen from this container'
  return { isInUse: false, text: `${view}${asleep}, ${describeContents(namespaces)}` }
}

/** Returns the elapsed time in its largest unit: '3 h ago'. */
export function ago(since: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1000))
  if (seconds < 60) return 'just now'
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86_400)} d ago`
}
