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

/** A drive on a machine whose files are below `root`. */
export interface Place {
  readonly root: string
  readonly found: Pick<PciFunction, 'bdf'>
}

/** What to do with it, and what is remembered of it. */
export interface Taking extends Place {
  readonly driver: UserSpaceDriver
  readonly known: Pick<Entry, 'name' | 'serial' | 'model'>
  readonly by: Entry['by']
  /** Whether this process gives it back by itself; otherwise it stays bound until `unbind`. */
  readonly isHeld: boolean
}

/** How long another gpunvme may be busy with the drive. Binding takes as long as the kernel's driver to let go of it. */
const LOCK_WAIT_MS = 2_000

/**
 * Binds a drive, and remembers every step before it is taken. @returns what is remembered; undefined where nothing had to
 * be changed.
 * @throws AlreadyBoundError, AnotherDriveError, DriverChangingError; FileError where it cannot be remembered, and nothing is changed then; as
 *   `bindDriver`.
 */
export function takeDrive(taking: Taking): Promise<Entry | undefined> {
  const { root, found, driver, known, by, isHeld } = taking
  return withLock(root, found.bdf, LOCK_WAIT_MS, async () => {
    const before = await readEntry(root, found.bdf)
    if (before !== undefined) refuseBound(root, before)
    // Since it was confirmed another may have been plugged in there.
    const { serial } = driveFacts(root, found.bdf)
    if (serial !== known.serial) throw new AnotherDriveError(found.bdf, known.serial, serial)
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
 * What is remembered may be of the past: of another start of the machine, or given back by other means.
 * @throws AlreadyBoundError where it is not.
 */
export function refuseBound(root: string, entry: Entry): void {
  const isPast = isOfAnotherBoot(entry, root) || planRestoring(entry.record, { sysRoot: root }).length === 0
  if (!isPast) throw new AlreadyBoundError(root, entry)
}

/** gpunvme has taken it before, and what was there before that would be forgotten. It was not touched. */
export class AlreadyBoundError extends ToolsError {
  readonly code = 'ERR_GPUNVME_ALREADY_BOUND'
  readonly category = 'privilege'
  constructor(root: string, { record: { bdf, driver }, since, by, holder }: Entry) {
    super(`gpunvme has taken ${bdf} already: it was bound to ${driver ?? 'no driver'}`, {
      facts: [
        `since ${since}, by ${by.user}: ${by.command}`,
        ...(holder === null ? [] : [`process ${holder.pid} is to give it back`]),
      ],
      next: { ...commandFor(root, 'unbind', bdf), note: 'which gives it back' },
    })
  }
}

/** The drive at the address is not the one that was confirmed. It was not touched. */
export class AnotherDriveError extends ToolsError {
  readonly code = 'ERR_GPUNVME_ANOTHER_DRIVE'
  readonly category = 'privilege'
  constructor(bdf: string, confirmed: string | null, now: string | null) {
    const inWords = (serial: string | null) => (serial === null ? 'unknown' : printable(serial))
    super(`${bdf} is not the drive that was confirmed: another is there now`, {
      facts: [`its serial number was ${inWords(confirmed)}, and is ${inWords(now)}`],
      next: { command: ['list'], note: 'which shows the drives that there are' },
    })
  }
}
