import {
  bindDriver,
  planRestoring,
  type BindingRecord,
  type PciFunction,
  type UserSpaceDriver,
} from '@gpunvme/host-driver/pci'
import { printable } from '../terminal/printable.js'
import { commandFor } from '../command-line/advised-command.js'
import { driveFacts } from './drive-facts.js'
import { bootIdOf, ENTRY_SCHEMA, isOfAnotherBoot, type Entry } from './entry.js'
import { withLock } from './lock.js'
import { thisProcess } from './process-identity.js'
import { forgetEntry, readEntry, writeEntry } from './state-files.js'
import { ToolsError } from '../command-line/tools-error.js'

/** A drive of a machine whose files are below `root`. */
export interface Place {
  readonly root: string
  readonly found: Pick<PciFunction, 'bdf'>
}

/** The binding, and what is recorded of it. */
export interface Taking extends Place {
  readonly driver: UserSpaceDriver
  readonly known: Pick<Entry, 'name' | 'serial' | 'model'>
  readonly by: Entry['by']
  /** Whether this process returns the drive; otherwise it stays bound until `unbind`. */
  readonly isHeld: boolean
}

/** Time to wait for another gpunvme. Binding takes as long as the kernel's driver needs to release the drive. */
const LOCK_WAIT_MS = 2_000

/**
 * Binds a drive, recording each step before it is executed. @returns the record; undefined if nothing had to be
 * changed.
 * @throws ToolsError (ALREADY_BOUND, ANOTHER_DRIVE), DriverChangingError; FileError if the record cannot be written, before
 * any change; errors of `bindDriver`.
 */
export function takeDrive(taking: Taking): Promise<Entry | undefined> {
  const { root, found, driver, known, by, isHeld } = taking
  return withLock(root, found.bdf, LOCK_WAIT_MS, async () => {
    const before = await readEntry(root, found.bdf)
    if (before !== undefined) refuseBound(root, before)
    // Another drive may have been plugged in after the confirmation.
    const { serial } = driveFacts(root, found.bdf)
    if (serial !== known.serial) throw anotherDriveError(found.bdf, known.serial, serial)
    await forgetEntry(root, found.bdf)
    const about = {
      schema: ENTRY_SCHEMA,
      ...known,
      bootId: bootIdOf(root),
      since: new Date().toISOString(),
      by,
    } as const
    let entry: Entry | undefined
    const onRecord = async (record: BindingRecord) => {
      entry = { ...about, holder: thisProcess(), record }
      await writeEntry(root, entry)
    }
    try {
      await bindDriver({ bdf: found.bdf, driver, sysRoot: root, onRecord })
    } catch (error) {
      if (entry !== undefined && planRestoring(entry.record, { sysRoot: root }).length === 0)
        await forgetEntry(root, found.bdf)
      throw error
    }
    if (entry !== undefined && !isHeld) await writeEntry(root, (entry = { ...entry, holder: null }))
    return entry
  })
}

/**
 * A record may be outdated: from before a reboot, or returned by other means.
 * @throws ToolsError (ALREADY_BOUND) if it is not.
 */
export function refuseBound(root: string, entry: Entry): void {
  const isPast = isOfAnotherBoot(entry, root) || planRestoring(entry.record, { sysRoot: root }).length === 0
  if (!isPast) throw alreadyBoundError(root, entry)
}

/**
 * Error of a drive that gpunvme has already bound: its original driver would be lost from the record. It was not
 * changed.
 */
function alreadyBoundError(root: string, { record: { bdf, driver }, since, by, holder }: Entry): ToolsError {
  return new ToolsError(
    'ERR_GPUNVME_ALREADY_BOUND',
    'privilege',
    `${bdf} is already bound by gpunvme, to ${driver ?? 'no driver'}`,
    {
      facts: [
        `since ${since}, by ${by.user}: ${by.command}`,
        ...(holder === null ? [] : [`process ${holder.pid} will return it`]),
      ],
      next: { ...commandFor(root, 'unbind', bdf), note: 'which returns it' },
    },
  )
}

/** Error of an address with another drive than the confirmed one. It was not changed. */
function anotherDriveError(bdf: string, confirmed: string | null, now: string | null): ToolsError {
  const inWords = (serial: string | null) => (serial === null ? 'unknown' : printable(serial))
  return new ToolsError(
    'ERR_GPUNVME_ANOTHER_DRIVE',
    'privilege',
    `${bdf} is not the confirmed drive: another drive is there now`,
    {
      facts: [`its serial number was ${inWords(confirmed)}, and is now ${inWords(now)}`],
      next: { command: ['list'], note: 'which lists the drives' },
    },
  )
}
