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
 * Whose a drive is. 'linux': its own driver's. 'ours': bound until `unbind`. 'running': of a gpunvme that runs, and gives
 * it back. 'unfinished': that one was killed in the middle. 'past': what is remembered is over. 'free': no driver's.
 * 'foreign': given to user space, or to another driver, by somebody else. 'unknown': what is remembered cannot be read.
 */
export type Owner = 'linux' | 'ours' | 'running' | 'unfinished' | 'past' | 'free' | 'foreign' | 'unknown'

/** What `gpunvme status` says of a drive: the fields of its JSON, which has `next` as text. */
export interface DriveStatus {
  readonly address: string
  /** Linux's name for it, 'nvme0', now or before it was bound; null where none is known. */
  readonly name: string | null
  readonly model: string | null
  readonly serial: string | null
  /** Whether it is on the bus. */
  readonly present: boolean
  readonly driver: string | null
  /** Its IOMMU group; null without one. */
  readonly group: string | null
  /** Whether its configuration space is read; false of what is off the bus, and reads all ones. */
  readonly answers: boolean
  /** Who uses it: 'nvme0n1p1 mounted on /home'; null where `useUnknown` says why that cannot be seen. */
  readonly users: readonly string[] | null
  readonly useUnknown: string | null
  readonly owner: Owner
  /** Of what gpunvme has bound. */
  readonly bound: {
    readonly since: string
    readonly by: Entry['by']
    /** The process that gives it back; null where `unbind` does. */
    readonly process: number | null
    readonly driver: string | null
    readonly previous: string | null
    readonly stateFile: string
  } | null
  /** Why what is remembered of it cannot be read; null where it can, or there is nothing. */
  readonly problem: string | null
  /** What opens it as it is: 'sysfs', 'vfio', 'kmod'; null where nothing does. */
  readonly transport: 'sysfs' | 'vfio' | 'kmod' | null
  /** Why nothing opens it. */
  readonly closed: string | null
  /** The command that takes it, or gives it back; null where neither is of use. */
  readonly next: CommandStep | null
}

/** What is remembered of a drive: an entry, or why that cannot be read. */
export interface Remembered {
  readonly entry?: Entry
  readonly problem?: string
}

/** What was seen of a drive: whether it answers, and who uses it. */
export type Seen = Pick<Drive, 'holders'> & { readonly answers: boolean }

/** @param found undefined of a drive that is gone from the bus. @param seen as `list` sees it. */
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

/** What opens it now: a program's drive is closed to a second one. */
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
