import { MachineFiles } from '@gpunvme/host-driver/machine-files'
import { parseBindingRecord, type BindingRecord } from '@gpunvme/host-driver/pci'
import { isSystemError } from '../command-line/file-error.js'
import { printable } from '../terminal/printable.js'
import type { ProcessIdentity } from './process-identity.js'
import { ToolsError } from '../command-line/tools-error.js'

export const ENTRY_SCHEMA = 'gpunvme.binding/1'

/** What is remembered of a drive that was taken from its driver: what it was, who did it, and what gives it back. */
export interface Entry {
  readonly schema: typeof ENTRY_SCHEMA
  /** What Linux called it, 'nvme0'; null where its driver had it not. */
  readonly name: string | null
  readonly serial: string | null
  readonly model: string | null
  /** Of this start of the machine (/proc/sys/kernel/random/boot_id): nothing that was bound survives the next one. */
  readonly bootId: string | null
  /** As Date.toISOString() writes it. */
  readonly since: string
  readonly by: { readonly user: string; readonly command: string }
  /** Who gives it back by itself: a process that binds it just now, or runs a command on it. Null: `unbind` does. */
  readonly holder: ProcessIdentity | null
  readonly record: BindingRecord
}

/** What this start of the machine is called; null where the tree does not say. */
export function bootIdOf(root: string): string | null {
  try {
    return new MachineFiles(root).text('proc/sys/kernel/random/boot_id').trim()
  } catch (error) {
    if (isSystemError(error)) return null
    throw error
  }
}

/** Whether the machine was started again since. */
export function isOfAnotherBoot({ bootId }: Entry, root: string): boolean {
  const now = bootIdOf(root)
  return now !== null && bootId !== null && now !== bootId
}

/** @param path for errors. @throws BindingStateError, BindingRecordError */
export function parseEntry(text: string, path: string): Entry {
  const { schema, name, serial, model, bootId, since, by, holder, record } = fieldsOf(text, path)
  if (schema !== ENTRY_SCHEMA) throw new BindingStateError(path, `it is not of the form ${ENTRY_SCHEMA}`)
  if (![name, serial, model, bootId].every((each) => each === null || typeof each === 'string'))
    throw new BindingStateError(path, 'name, serial, model and bootId have to be text or null')
  const fields = { name, serial, model, bootId } as Pick<Entry, 'name' | 'serial' | 'model' | 'bootId'>
  if (typeof since !== 'string' || Number.isNaN(Date.parse(since)))
    throw new BindingStateError(path, 'since is no point in time')
  if (!isObject(by) || typeof by['user'] !== 'string' || typeof by['command'] !== 'string')
    throw new BindingStateError(path, 'it names no owner')
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
    // What is wrong with it as JSON helps nobody: it is ours, or it is not.
  }
  throw new BindingStateError(path, 'it is no JSON object')
}

function holderOf(value: unknown, path: string): ProcessIdentity | null {
  if (value === null) return null
  if (!isObject(value)) throw new BindingStateError(path, 'its holder is no process')
  const { pid, startTicks } = value
  if (!Number.isSafeInteger(pid) || typeof startTicks !== 'string')
    throw new BindingStateError(path, 'its holder is no process')
  return { pid: pid as number, startTicks }
}

function isObject(value: unknown): value is Partial<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The file that tells of a binding was damaged, or written by another release. The drive was not touched. */
export class BindingStateError extends ToolsError {
  readonly code = 'ERR_GPUNVME_BINDING_STATE'
  readonly category = 'infeasible'
  constructor(path: string, problem: string) {
    super(`Cannot use ${printable(path)}: ${problem}`, {
      next: `the release of gpunvme that has written it; or rm ${printable(path)}, and give the drive back by hand`,
    })
  }
}
