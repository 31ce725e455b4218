import { constants } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { guardController } from '../guard/guard.js'
import { parseBindingRecord, type BindingRecord } from './binding-record.js'
import {
  attempt,
  BindError,
  restoringSteps,
  type BindingStep,
  type ConditionalStep,
  type SysfsWrite,
} from './binding-steps.js'
import { driverOf, functionFolder, nvmeFunctions } from './function.js'
import { claimFunction } from './open-functions.js'

/** Options of `restoreBinding`. */
export interface RestoreOptions {
  /** Directory with sys/ and proc/. Default: '/'. */
  readonly sysRoot?: string
}

/** Use that is reported to a second claimant meanwhile. */
export const CHANGING_DRIVER = 'changed by this process, which is binding or restoring its driver'

/** Not created if missing, and not read: sysfs refuses to open bind and unbind for reading. */
export const writeToSysfs: SysfsWrite = (path, text) => writeFile(path, text, { flag: constants.O_WRONLY })

/**
 * Restores a function by a record of `bindDriver`, also in another process and after a binding that was not completed.
 * Every step is tried, even after one has failed; a second call takes the steps that are left. Changes by others in the
 * meantime are kept, and a function that is gone needs nothing.
 * @throws DriverError (BINDING_RECORD); BindError for the first step that failed; DeviceHeldError or DeviceUseUnknownError,
 *   before any step, if another process may drive it.
 */
export function restoreBinding(record: BindingRecord, options: RestoreOptions = {}): Promise<void> {
  return restoreBindingBy(writeToSysfs, record, options)
}

/** `restoreBinding` with a replaceable write to sysfs, for tests. */
export async function restoreBindingBy(
  write: SysfsWrite,
  record: BindingRecord,
  { sysRoot = '/' }: RestoreOptions = {},
): Promise<void> {
  const checked = parseBindingRecord(record)
  const { bdf, driver } = checked
  if (!isThere(checked, sysRoot)) return
  const path = join(sysRoot, functionFolder(bdf))
  const release = claimFunction({ bdf, path }, CHANGING_DRIVER)
  try {
    // With a driver for user space, or none, a process may drive it. A driver that others bound is not touched anyway.
    const now = driverOf(sysRoot, bdf)
    if (now === undefined || now === driver) await guardController(sysRoot, { bdf })
    const [first, ...others] = await undo(write, checked, sysRoot)
    if (first !== undefined) throw new BindError(bdf, first.step, first.cause, others)
  } finally {
    release()
  }
}

/**
 * Returns the steps that `restoreBinding` would take now; none if nothing is left to restore. Changes nothing.
 * @throws DriverError (BINDING_RECORD)
 */
export function planRestoring(record: BindingRecord, { sysRoot = '/' }: RestoreOptions = {}): BindingStep[] {
  const checked = parseBindingRecord(record)
  if (!isThere(checked, sysRoot)) return []
  return restoringSteps(checked, sysRoot)
    .filter(({ isNeeded }) => isNeeded())
    .map(textOf)
}

/** Tries all steps. @returns the errors in order. */
export async function undo(write: SysfsWrite, record: BindingRecord, sysRoot: string): Promise<BindError[]> {
  const errors: BindError[] = []
  for (const step of restoringSteps(record, sysRoot)) {
    // A removed function has no driver to return to.
    if (!isThere(record, sysRoot)) return []
    if (!step.isNeeded()) continue
    try {
      await attempt(write, record.bdf, step)
    } catch (error) {
      errors.push(error as BindError)
    }
  }
  return errors
}

/** Returns a step as plain data. */
export function textOf({ name, path, text }: ConditionalStep): BindingStep {
  return { name, path, text }
}

/** Returns whether the NVMe controller is still at the address: another device there must not be touched. */
function isThere({ bdf }: BindingRecord, sysRoot: string): boolean {
  return nvmeFunctions(sysRoot).includes(bdf)
}
