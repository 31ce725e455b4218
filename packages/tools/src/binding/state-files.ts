import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { MachineFileError, MachineFiles } from '@gpunvme/host-driver/machine-files'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { attempting, isSystemError, tryRead } from '../command-line/file-error.js'
import { replaceFile } from '../command-line/replace-file.js'
import { bindingStateError, parseEntry, type Entry } from './entry.js'
import { ToolsError } from '../command-line/tools-error.js'

/** Path relative to the root. */
const FOLDER = 'run/gpunvme'

/** Maximum length of an entry. An entry takes a few hundred bytes. */
const MAX_BYTES = 64 * 1024

/** Returns the path of a drive's binding record, in /run, since a binding does not survive a reboot. */
export function stateFile(root: string, bdf: string): string {
  return join(folderOf(root), `${bdf}.json`)
}

/** Returns the path of the lock held while a drive's driver changes. */
export function lockFile(root: string, bdf: string): string {
  return join(folderOf(root), `${bdf}.lock`)
}

/**
 * Returns the record of a drive; undefined if there is none.
 * @throws ToolsError (BINDING_STATE), DriverError (BINDING_RECORD), FileError
 */
export async function readEntry(root: string, bdf: string): Promise<Entry | undefined> {
  const path = stateFile(root, bdf)
  return attempting(`read ${path}`, () => {
    const entry = entryIn(root, `${bdf}.json`)
    if (entry !== undefined && entry.record.bdf !== bdf)
      throw bindingStateError(path, `it is the record of ${entry.record.bdf}`)
    return Promise.resolve(entry)
  })
}

/** Returns the addresses of all drives with a record. */
export async function rememberedAddresses(root: string): Promise<string[]> {
  const names = await attempting(`read ${folderOf(root)}`, () => Promise.resolve(namesIn(root)))
  return names.flatMap((name) => /^([0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7])\.json$/.exec(name)?.[1] ?? []).sort()
}

/**
 * Returns the address of the drive with this Linux name, nvme0, before it was bound; undefined if there is none.
 * @throws ToolsError (SEVERAL_OF_THAT_NAME)
 */
export function boundAs(root: string, name: string): string | undefined {
  const entries = unlessUnreadable(() => namesIn(root)) ?? []
  const addresses = entries
    .filter((file) => file.endsWith('.json'))
    .map((file) => unlessUnreadable(() => entryIn(root, file)))
    .flatMap((entry) => (entry?.name === name ? entry.record.bdf : []))
  if (addresses.length > 1) throw severalOfThatNameError(name, addresses.sort())
  return addresses[0]
}

/** Ignores unreadable records: `list` and `unbind` report them. */
function unlessUnreadable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof GpuNvmeError || isSystemError(error)) return undefined
    throw error
  }
}

/** Writes a record atomically: if the process is killed, the previous one remains. */
export async function writeEntry(root: string, entry: Entry): Promise<void> {
  const path = stateFile(root, entry.record.bdf)
  await attempting(`write ${path}`, async () => {
    await mkdir(folderOf(root), { recursive: true, mode: 0o755 })
    await replaceFile(path, `${JSON.stringify(entry, null, 2)}\n`)
  })
}

export async function forgetEntry(root: string, bdf: string): Promise<void> {
  const path = stateFile(root, bdf)
  await attempting(`remove ${path}`, () => rm(path, { force: true }))
}

function folderOf(root: string): string {
  return join(root, FOLDER)
}

function namesIn(root: string): string[] {
  return tryRead(() => new MachineFiles(root).list(FOLDER), 'ENOENT') ?? []
}

/** @param name of a file in the directory. */
function entryIn(root: string, name: string): Entry | undefined {
  const path = join(folderOf(root), name)
  try {
    const text = tryRead(() => new MachineFiles(root).text(`${FOLDER}/${name}`, MAX_BYTES), 'ENOENT')
    return text === undefined ? undefined : parseEntry(text, path)
  } catch (error) {
    throw error instanceof MachineFileError ? bindingStateError(path, error.problem) : error
  }
}

/** Error of a name that Linux gave to several drives, each of which was bound. None was changed. */
function severalOfThatNameError(name: string, addresses: readonly string[]): ToolsError {
  return new ToolsError(
    'ERR_GPUNVME_SEVERAL_OF_THAT_NAME',
    'usage',
    `several drives bound by gpunvme were named ${name}`,
    {
      facts: [addresses.join(', ')],
      next: { command: ['list'], note: 'which lists drive addresses' },
    },
  )
}
