import { planRestoring, type PciFunction } from '@gpunvme/host-driver/pci'
import { onMachine } from '../command-line/advised-command.js'
import type { CommandStep } from '../command-line/next-step.js'
import { isKnown, valueOf } from '../machine/known.js'
import type { Drive } from '../machine/machine.js'
import { driveFacts, linuxNameOf } from './drive-facts.js'
import { openingOf, type Opening } from './driver-choice.js'
import { isOfAnotherBoot, type Entry } from './entry.js'
import { isAlive } from './process-identity.js'
import { stateFile } from './state-files.js'

/**
 * Owner of a drive's binding. 'linux': its own driver. 'ours': bound until `unbind`. 'running': bound by a running
 * gpunvme, which returns it. 'unfinished': that process was killed before it finished. 'past': the recorded binding has
 * ended. 'free': no driver. 'foreign': bound to user space or another driver by other means. 'unknown': the record
 * cannot be read.
 */
export type Owner = 'linux' | 'ours' | 'running' | 'unfinished' | 'past' | 'free' | 'foreign' | 'unknown'

/** Status of a drive: the fields of `gpunvme status --json`, where `next` is text. */
export interface DriveStatus {
  readonly address: string
  /** Linux's name, 'nvme0', current or before it was bound; null if unknown. */
  readonly name: string | null
  readonly model: string | null
  readonly serial: string | null
  /** Whether it is on the bus. */
  readonly present: boolean
  readonly driver: string | null
  /** Its IOMMU group; null without one. */
  readonly group: string | null
  /** Whether its configuration space is readable; false if it is off the bus and reads all ones. */
  readonly answers: boolean
  /** Users of the drive: 'nvme0n1p1 mounted on /home'; null if `useUnknown` is set. */
  readonly users: readonly string[] | null
  readonly useUnknown: string | null
  readonly owner: Owner
  /** Data of a binding by gpunvme. */
  readonly bound: {
    readonly since: string
    readonly by: Entry['by']
    /** Process that returns the drive; null if `unbind` does. */
    readonly process: number | null
    readonly driver: string | null
    readonly previous: string | null
    readonly stateFile: string
  } | null
  /** Why the record cannot be read; null if it can, or if there is none. */
  readonly problem: string | null
  /** Transport that can open it now: 'sysfs', 'vfio', 'kmod'; null if none. */
  readonly transport: 'sysfs' | 'vfio' | 'kmod' | null
  /** Why no transport can open it. */
  readonly closed: string | null
  /** Command that binds or returns it; null if neither applies. */
  readonly next: CommandStep | null
}

/** Record of a drive's binding, or why it cannot be read. */
export interface Remembered {
  readonly entry?: Entry
  readonly problem?: string
}

/** Current state of a drive: whether it responds, and its users. */
export type Seen = Pick<Drive, 'holders'> & { readonly answers: boolean }

/** @param found undefined if the drive is gone from the bus. @param seen state as in `list`. */
export function statusOf(
  root: string,
  bdf: string,
  found: PciFunction | undefined,
  { answers, holders }: Seen,
  { entry, problem }: Remembered,
): DriveStatus {
  const linuxName = found && linuxNameOf(root, bdf)
  const facts = found && driveFacts(root, bdf)
  const users = valueOf(holders)?.map(({ device, use }) => `${device} ${use}`)
  const opening = openingNow(found, answers, users ?? [])
  const owner = problem === undefined ? ownerOf(root, found, entry) : 'unknown'
  return {
    address: bdf,
    name: linuxName ?? entry?.name ?? null,
    model: facts?.model ?? entry?.model ?? null,
    serial: facts?.serial ?? entry?.serial ?? null,
    present: found !== undefined,
    driver: found?.driver ?? null,
    group: found?.group?.number ?? null,
    ...{ owner, answers, users: users ?? null, useUnknown: isKnown(holders) ? null : holders.unknown },
    bound: boundOf(root, entry),
    problem: problem ?? null,
    transport: 'none' in opening ? null : opening.transport,
    closed: 'none' in opening ? opening.none : null,
    next: nextFor(root, bdf, owner, answers && users?.length === 0),
  }
}

/** Returns how it can be opened now. A drive in use by a program cannot be opened by another. */
function openingNow(found: PciFunction | undefined, answers: boolean, users: readonly string[]): Opening {
  if (found === undefined) return { none: 'it is gone from the bus' }
  if (!answers) return { none: 'it is off the bus: it reads all ones' }
  const opening = openingOf(found)
  return users.length > 0 && 'transport' in opening ? { none: 'it is in use' } : opening
}

function ownerOf(root: string, found: PciFunction | undefined, entry: Entry | undefined): Owner {
  const driver = found?.driver
  if (entry === undefined) return driver === undefined ? 'free' : driver === 'nvme' ? 'linux' : 'foreign'
  const { holder, record } = entry
  if (holder !== null && isAlive(holder)) return 'running'
  if (isOfAnotherBoot(entry, root) || planRestoring(record, { sysRoot: root }).length === 0) return 'past'
  return holder === null && driver === (record.driver ?? undefined) ? 'ours' : 'unfinished'
}

function boundOf(root: string, entry: Entry | undefined): DriveStatus['bound'] {
  if (entry === undefined) return null
  const { since, by, holder, record } = entry
  const { driver, previous } = record
  return { since, by, process: holder?.pid ?? null, driver, previous, stateFile: stateFile(root, record.bdf) }
}

function nextFor(root: string, bdf: string, owner: Owner, isFree: boolean): CommandStep | null {
  if (owner === 'ours' || owner === 'unfinished' || owner === 'past') return onMachine(root, 'unbind', bdf)
  return isFree && (owner === 'linux' || owner === 'free') ? onMachine(root, 'bind', bdf) : null
}
