import { statusOf, type DriveStatus, type Remembered } from '../binding/drive-status.js'
import { commandFor, onMachine } from '../command-line/advised-command.js'
import type { Action, CommandStep } from '../command-line/next-step.js'
import { functionAt, isKnown, unknown, type Drive, type Machine, type PciFunction } from '../machine/index.js'

/** A drive as `gpunvme list` shows it: what the machine reports, its binding, and the next command. */
export interface ListedDrive extends Drive, DriveStatus {
  /** Undefined for a drive that is gone from the bus, of which only the record of its binding is left. */
  readonly found: PciFunction | undefined
  readonly next: Action | undefined
  /** Command that returns the drive to its previous driver; undefined if gpunvme did not bind it. */
  readonly undo: CommandStep | undefined
}

/**
 * Returns the drives of a machine, and those that are gone but recorded, by address. Name, model and serial number are
 * those from before a binding where Linux no longer reports them.
 */
export function listDrives(machine: Machine, remembered: ReadonlyMap<string, Remembered>): ListedDrive[] {
  const present = new Map(machine.drives.map((drive) => [drive.address, drive]))
  const addresses = [...new Set([...present.keys(), ...remembered.keys()])].sort()
  return addresses.map((address) => {
    const record = remembered.get(address) ?? {}
    const found = functionAt(machine, address)
    const drive = withRecord(present.get(address) ?? goneDrive(address), record)
    const status = statusOf(machine, found, drive.holders, record)
    const listed = { ...drive, ...status, found, undo: undoOf(machine, address, status) }
    return { ...listed, next: nextOf(machine, listed) }
  })
}

function withRecord(drive: Drive, { entry }: Remembered): Drive {
  if (entry === undefined) return drive
  const { name, model, serial } = entry
  return {
    ...drive,
    // A record of a copy may have any text as the name.
    name: drive.name ?? (/^nvme\d+$/.test(name ?? '') ? name! : undefined),
    model: isKnown(drive.model) ? drive.model : (model ?? drive.model),
    serial: isKnown(drive.serial) ? drive.serial : (serial ?? drive.serial),
  }
}

function goneDrive(address: string): Drive {
  const reason = unknown('it is gone from the bus')
  const nothing = { model: reason, serial: reason, firmware: reason, namespaces: reason, temperature: reason }
  return { address, name: undefined, state: undefined, queues: undefined, ...nothing, holders: [], hostMemoryBuffer: reason } // oxfmt-ignore
}

function undoOf({ root }: Machine, address: string, { owner }: DriveStatus): CommandStep | undefined {
  const isRecorded = owner === 'ours' || owner === 'unfinished' || owner === 'past'
  return isRecorded ? onMachine(root, 'unbind', address) : undefined
}

function nextOf({ root, virtualisation }: Machine, drive: Omit<ListedDrive, 'next'>): Action | undefined {
  const { address, name = address, found, owner, holders, state, transport, undo } = drive
  if (found === undefined || owner === 'unfinished' || owner === 'past') return undo
  if (!found.isResponding || (state !== undefined && state !== 'live')) return commandFor(root, 'doctor')
  if (!isKnown(holders)) return { ...onMachine(root, 'list'), asRoot: true }
  if (holders.length > 0 || owner === 'unknown' || owner === 'running') return undefined
  if (transport !== undefined && found.driver !== undefined)
    return onMachine(root, 'nvme', 'identify', '--drive', address)
  if (owner !== 'linux' && owner !== 'free') return undefined
  return virtualisation.container === undefined
    ? onMachine(root, 'bind', name)
    : { words: ['on the host: ', { command: ['bind', name], isElsewhere: true }] }
}
