import { planRestoring, type PciFunction } from '@gpunvme/host-driver/pci'
import { commandFor } from './command-line.js'
import { driveFacts, linuxNameOf } from './drive-facts.js'
import { openingOf } from './driver-choice.js'
import { isOfAnotherBoot, type Entry } from './entry.js'
import { isAlive } from './process-identity.js'
import { stateFile } from './state-files.js'

/**
 * Whose a drive is. 'linux': its own driver's. 'ours': bound until `unbind`. 'running': of a gpunvme that runs, and gives
 * it back. 'unfinished': that one was killed in the middle. 'past': what is remembered is over. 'free': no driver's.
 * 'foreign': given to user space, or to another driver, by somebody else.
 */
export type Owner = 'linux' | 'ours' | 'running' | 'unfinished' | 'past' | 'free' | 'foreign'

/** What `gpunvme status` says of a drive: the fields of its JSON. */
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
  /** What opens it as it is: 'sysfs', 'vfio', 'kmod'; null where nothing does. */
  readonly transport: 'sysfs' | 'vfio' | 'kmod' | null
  /** Why nothing opens it. */
  readonly closed: string | null
  /** The command that takes it, or gives it back; null where neither is of use. */
  readonly next: string | null
}

/** @param entry what is remembered of the drive. */
export function statusOf(root: string, found: PciFunction, entry: Entry | undefined): DriveStatus {
  const { bdf, path, driver, group } = found
  const linuxName = linuxNameOf(path)
  const { model, serial } = driveFacts(path, linuxName)
  const opening = openingOf(found)
  const owner = ownerOf(root, driver, entry)
  return {
    address: bdf,
    name: linuxName ?? entry?.name ?? null,
    model: model ?? entry?.model ?? null,
    serial: serial ?? entry?.serial ?? null,
    present: true,
    driver: driver ?? null,
    group: group?.number ?? null,
    owner,
    bound: boundOf(root, entry),
    transport: 'none' in opening ? null : opening.transport,
    closed: 'none' in opening ? opening.none : null,
    next: nextFor(root, bdf, owner),
  }
}

/** Of a drive that is gone from the bus. */
export function statusOfMissing(root: string, entry: Entry): DriveStatus {
  const { name, model, serial, record } = entry
  return {
    address: record.bdf,
    ...{ name, model, serial },
    present: false,
    driver: null,
    group: null,
    owner: 'past',
    bound: boundOf(root, entry),
    transport: null,
    closed: 'it is gone from the bus',
    next: nextFor(root, record.bdf, 'past'),
  }
}

function ownerOf(root: string, driver: string | undefined, entry: Entry | undefined): Owner {
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

function nextFor(root: string, bdf: string, owner: Owner): string | null {
  if (owner === 'ours' || owner === 'unfinished' || owner === 'past') return commandFor(root, 'unbind', bdf)
  return owner === 'linux' || owner === 'free' ? commandFor(root, 'bind', bdf) : null
}
