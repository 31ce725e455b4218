import { planRestoring } from '@gpunvme/host-driver/pci'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { Known } from '../machine/known.js'
import { isKnown } from '../machine/known.js'
import type { Drive, Machine } from '../machine/machine.js'
import type { PciFunction } from '../machine/pci-function.js'
import { openingOf, type Opening } from './driver-choice.js'
import { isOfAnotherBoot, type Entry } from './entry.js'
import { isAlive } from './process-identity.js'
import { readEntry, rememberedAddresses, stateFile } from './state-files.js'

/**
 * Owner of a drive's binding. 'linux': its own driver. 'ours': bound until `unbind`. 'running': bound by a running
 * gpunvme, which returns it. 'unfinished': that process was killed before it finished. 'past': the recorded binding has
 * ended. 'free': no driver. 'foreign': bound to user space or another driver by other means. 'unknown': the record
 * cannot be read.
 */
export type Owner = 'linux' | 'ours' | 'running' | 'unfinished' | 'past' | 'free' | 'foreign' | 'unknown'

/** How a drive is bound, and how it can be opened: part of a drive in `gpunvme list --json`. */
export interface DriveStatus {
  readonly owner: Owner
  /** Data of a binding by gpunvme. */
  readonly bound?: {
    readonly since: string
    readonly by: Entry['by']
    /** Process that returns the drive; undefined if `unbind` does. */
    readonly process: number | undefined
    /** Drivers during the binding and before it; undefined for none. */
    readonly driver: string | undefined
    readonly previous: string | undefined
    readonly stateFile: string
  }
  /** Why the record of the binding cannot be read. */
  readonly problem?: string
  /** Transport that can open the drive now. */
  readonly transport?: 'sysfs' | 'vfio' | 'kmod'
  /** Why no transport can open it. */
  readonly closed?: string
}

/** Record of a drive's binding, or why it cannot be read. */
export interface Remembered {
  readonly entry?: Entry
  readonly problem?: string
}

/** Returns the records of all drives that gpunvme bound, by address. A damaged record does not hide the others. */
export async function readRemembered(root: string): Promise<Map<string, Remembered>> {
  const addresses = await rememberedAddresses(root)
  return new Map(await Promise.all(addresses.map(async (each) => [each, await recall(root, each)] as const)))
}

async function recall(root: string, bdf: string): Promise<Remembered> {
  try {
    const entry = await readEntry(root, bdf)
    return entry === undefined ? {} : { entry }
  } catch (error) {
    if (!(error instanceof GpuNvmeError)) throw error
    return { problem: error.headline }
  }
}

/** @param found undefined if the drive is gone from the bus. */
export function statusOf(
  machine: Machine,
  found: PciFunction | undefined,
  holders: Drive['holders'],
  { entry, problem }: Remembered,
): DriveStatus {
  const opening = openingNow(machine, found, holders)
  return {
    owner: problem === undefined ? ownerOf(machine.root, found, entry) : 'unknown',
    ...(entry !== undefined && { bound: boundOf(machine.root, entry) }),
    ...(problem !== undefined && { problem }),
    ...('none' in opening ? { closed: opening.none } : { transport: opening.transport }),
  }
}

/** Returns how a drive can be opened now. A drive in use by a program cannot be opened by another. */
function openingNow({ iommu }: Machine, found: PciFunction | undefined, holders: Known<readonly unknown[]>): Opening {
  if (found === undefined) return { none: 'it is gone from the bus' }
  if (!found.isResponding) return { none: 'it is off the bus: configuration space reads as all ones' }
  const group = iommu.groups.find(({ number }) => number === found.group) ?? { type: undefined }
  const opening = openingOf({ driver: found.driver, group: found.group === undefined ? undefined : group })
  const isInUse = isKnown(holders) && holders.length > 0
  return isInUse && 'transport' in opening ? { none: 'it is in use' } : opening
}

function ownerOf(root: string, found: PciFunction | undefined, entry: Entry | undefined): Owner {
  const driver = found?.driver
  if (entry === undefined) return driver === undefined ? 'free' : driver === 'nvme' ? 'linux' : 'foreign'
  const { holder, record } = entry
  if (holder !== null && isAlive(holder)) return 'running'
  if (isOfAnotherBoot(entry, root) || planRestoring(record, { sysRoot: root }).length === 0) return 'past'
  return holder === null && driver === (record.driver ?? undefined) ? 'ours' : 'unfinished'
}

function boundOf(root: string, { since, by, holder, record }: Entry): NonNullable<DriveStatus['bound']> {
  const { driver, previous } = record
  return {
    ...{ since, by },
    process: holder?.pid,
    driver: driver ?? undefined,
    previous: previous ?? undefined,
    stateFile: stateFile(root, record.bdf),
  }
}
