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

/** Where the machine is of which a record tells. */
export interface RestoreOptions {
  /** Where sys/ and proc/ are; '/' when not given. */
  readonly sysRoot?: string
}

/** What a second one that wants the function is told meanwhile. */
export const CHANGING_DRIVER = 'changed by this process: its driver is being bound or given back'

/** Not created where it is missing, and not read: sysfs refuses to open bind and unbind for reading. */
export const writeToSysfs: SysfsWrite = (path, text) => writeFile(path, text, { flag: constants.O_WRONLY })

/**
 * Gives a function back to the driver that had it, by a record that `bindDriver` made: in another process, and of a
 * binding that never came to its end as well. Every step is tried, also after one has failed; doing it again does what is
 * left to do. What somebody else did to the function meanwhile stays, and a function that is gone needs nothing.
 * @throws BindingRecordError; BindError naming the first step that failed; DeviceHeldError, DeviceUseUnknownError when
 *   somebody may drive it, and nothing is done then.
 */
export function restoreBinding(record: BindingRecord, options: RestoreOptions = {}): Promise<void> {
  return restoreBindingBy(writeToSysfs, record, options)
}

/** `restoreBinding` with the kernel's side given: for tests, which have none. */
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
    // While it has our driver, or none, somebody may drive it. What somebody else bound is not touched anyway.
    const now = driverOf(sysRoot, bdf)
    if (now === undefined || now === driver) await guardController(sysRoot, { bdf })
    const [first, ...others] = await undo(write, checked, sysRoot)
    if (first !== undefined) throw new BindError(bdf, first.step, first.cause, others)
  } finally {
    release()
  }
}

/**
 * The steps that `restoreBinding` would take as things are now; none where there is nothing left to give back. Nothing is
 * touched. @throws BindingRecordError
 */
export function planRestoring(record: BindingRecord, { sysRoot = '/' }: RestoreOptions = {}): BindingStep[] {
  const checked = parseBindingRecord(record)
  if (!isThere(checked, sysRoot)) return []
  return restoringSteps(checked, sysRoot)
    .filter(({ isNeeded }) => isNeeded())
    .map(textOf)
}

/** Tries everything. @returns what failed, in the order of trying. */
export async function undo(write: SysfsWrite, record: BindingRecord, sysRoot: string): Promise<BindError[]> {
  const errors: BindError[] = []
  for (const step of restoringSteps(record, sysRoot)) {
    // What was pulled out meanwhile has no driver to go back to.
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

/** A step as data, for who only reads it. */
export function textOf({ name, path, text }: ConditionalStep): BindingStep {
  return { name, path, text }
}

/** Whether there is an NVMe controller at the address still: what else is plugged in there is nobody's to give back. */
function isThere({ bdf }: BindingRecord, sysRoot: string): boolean {
  return nvmeFunctions(sysRoot).includes(bdf)
}
