import { MachineFiles } from '@gpunvme/host-driver/machine-files'
import { parseBindingRecord, type BindingRecord } from '@gpunvme/host-driver/pci'
import { tryRead } from '../command-line/file-error.js'
import { printable } from '../terminal/printable.js'
import type { ProcessIdentity } from './process-identity.js'
import { ToolsError } from '../command-line/tools-error.js'

export const ENTRY_SCHEMA = 'gpunvme.binding/1'

/** Record of a drive that was taken from its driver: its previous state, the caller, and how to return it. */
export interface Entry {
  readonly schema: typeof ENTRY_SCHEMA
  /** Linux's name before, 'nvme0'; null if it was not bound to Linux's driver. */
  readonly name: string | null
  readonly serial: string | null
  readonly model: string | null
  /** Boot id (/proc/sys/kernel/random/boot_id): no binding survives a reboot. */
  readonly bootId: string | null
  /** In the format of Date.toISOString(). */
  readonly since: string
  readonly by: { readonly user: string; readonly command: string }
  /** Process that returns it: one that is binding it, or that runs a command on it. Null: `unbind` does. */
  readonly holder: ProcessIdentity | null
  readonly record: BindingRecord
}

/** Returns the current boot id; null if it is not available. */
export function bootIdOf(root: string): string | null {
  return tryRead(() => new MachineFiles(root).text('proc/sys/kernel/random/boot_id').trim()) ?? null
}

/** Returns whether the machine was rebooted since. */
export function isOfAnotherBoot({ bootId }: Entry, root: string): boolean {
  const now = bootIdOf(root)
  return now !== null && bootId !== null && now !== bootId
}

/** @param path for errors. @throws ToolsError (BINDING_STATE), DriverError (BINDING_RECORD) */
export function parseEntry(text: string, path: string): Entry {
  const { schema, name, serial, model, bootId, since, by, holder, record } = fieldsOf(text, path)
  if (schema !== ENTRY_SCHEMA) throw bindingStateError(path, `its schema is not ${ENTRY_SCHEMA}`)
  if (![name, serial, model, bootId].every((each) => each === null || typeof each === 'string'))
    throw bindingStateError(path, 'name, serial, model and bootId must be strings or null')
  const fields = { name, serial, model, bootId } as Pick<Entry, 'name' | 'serial' | 'model' | 'bootId'>
  if (typeof since !== 'string' || Number.isNaN(Date.parse(since))) throw bindingStateError(path, 'since is not a time')
  if (!isObject(by) || typeof by['user'] !== 'string' || typeof by['command'] !== 'string')
    throw bindingStateError(path, 'it has no owner')
  return {
    schema,
    ...fields,
    since,
    by: { user: by['user'], command: by['command'] },
    holder: holderOf(holder, path),
    record: parseBindingRecord(record),
  }
}

function fieldsOf(text: string, path: string): Partial<Record<string, unknown>> {
  try {
    const value = JSON.parse(text) as unknown
    if (isObject(value)) return value
  } catch {
    // The syntax error is of no use: only gpunvme writes such files.
  }
  throw bindingStateError(path, 'it is not a JSON object')
}

function holderOf(value: unknown, path: string): ProcessIdentity | null {
  if (value === null) return null
  if (!isObject(value)) throw bindingStateError(path, 'its holder is not a process')
  const { pid, startTicks } = value
  if (!Number.isSafeInteger(pid) || typeof startTicks !== 'string')
    throw bindingStateError(path, 'its holder is not a process')
  return { pid: pid as number, startTicks }
}

function isObject(value: unknown): value is Partial<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Error of a binding record that is damaged, or was written by another release. The drive was not changed. */
export function bindingStateError(path: string, problem: string): ToolsError {
  return new ToolsError('ERR_GPUNVME_BINDING_STATE', 'infeasible', `Cannot use ${printable(path)}: ${problem}`, {
    next: `use the release of gpunvme that wrote it; or rm ${printable(path)}, and bind the drive to its driver manually`,
  })
}
