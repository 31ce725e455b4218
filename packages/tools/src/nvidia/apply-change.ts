import { dirname, join } from 'node:path'
import type { Root } from '../machine/root.js'
import {
  readRecord,
  recordFolder,
  sha256,
  type ChangedFile,
  type ChangeKind,
  type ChangeRecord,
} from './change-record.js'
import { below, changedText, type PlannedChange } from './plan-change.js'
import { ToolsError } from '../command-line/tools-error.js'
import { mkdir, rm, rmdir } from 'node:fs/promises'
import { WholeFile } from '../block-io/whole-file.js'
import { attempting } from '../command-line/file-error.js'

/** Maximum length of a file. A source file has some hundred kilobytes. */
const MAX_BYTES = 4 * 1024 * 1024

/**
 * Writes a change. The originals and a record are written first, so that after an interruption, `revertChange` or the
 * same change can complete it.
 * @throws ToolsError (DRIVER_CHANGED_SINCE) for a file that is neither original nor changed; ToolsError (DRIVER_RECORD).
 */
export async function applyChange(root: Root, change: PlannedChange, writer: Writer = diskWriter): Promise<void> {
  const folder = recordFolder(change.tree, change.kind)
  const place = (path: string) => placeOf(root, path)
  const files = change.files.map((file) => ({
    path: file.path,
    originalSha256: file.original === undefined ? null : sha256(bytesOf(file.original)),
    changedSha256: sha256(bytesOf(changedText(file))),
  }))
  const record: ChangeRecord = {
    schema: 'gpunvme.driver-change/1',
    kind: change.kind,
    mark: change.mark,
    tree: change.tree,
    phase: 'applying',
    files,
  }
  await checkUntouched(root, record)
  for (const [index, { original }] of change.files.entries()) {
    if (original !== undefined) await writer.put(place(`${folder}/${index}.original`), bytesOf(original))
  }
  await writeRecord(root, folder, record, writer)
  for (const file of change.files) {
    await writer.put(place(below(change.tree, file.path)), bytesOf(changedText(file)))
  }
  await writeRecord(root, folder, { ...record, phase: 'applied' }, writer)
}

/**
 * Restores all files of a change, and deletes its record.
 * @returns the restored files; undefined without a record.
 * @throws ToolsError (DRIVER_CHANGED_SINCE) if a file has been changed since, before any is restored; ToolsError (DRIVER_RECORD).
 */
export async function revertChange(
  root: Root,
  tree: string,
  kind: ChangeKind,
  writer: Writer = diskWriter,
): Promise<readonly string[] | undefined> {
  const folder = recordFolder(tree, kind)
  const record = await recordOf(root, tree, kind)
  if (record === undefined) return undefined
  // A package may have removed its tree, with the change.
  if (tree !== '' && !(await root.exists(tree))) {
    await forget(root, folder, record, writer)
    return []
  }
  await checkUntouched(root, record)
  const originals = await originalsOf(root, folder, record)
  await writeRecord(root, folder, { ...record, phase: 'reverting' }, writer)
  for (const [index, { path }] of record.files.entries()) {
    const place = placeOf(root, below(tree, path))
    const original = originals[index]
    if (original === undefined) await writer.remove(place)
    else await writer.put(place, original)
  }
  await forget(root, folder, record, writer)
  return record.files.map(({ path }) => path)
}

/** The record first: without it, the originals are only leftovers. */
async function forget(root: Root, folder: string, { files }: ChangeRecord, writer: Writer): Promise<void> {
  await writer.remove(placeOf(root, `${folder}/change.json`))
  for (const index of files.keys()) await writer.remove(placeOf(root, `${folder}/${index}.original`))
  const place = placeOf(root, folder)
  for (const empty of [place, dirname(place)]) await writer.removeEmpty(empty)
}

/** Returns the state of a change: 'interrupted' if some files are original, or its completion was not recorded. */
export async function stateOfChange(
  root: Root,
  tree: string,
  kind: ChangeKind,
): Promise<{ state: 'none' } | { state: 'applied' | 'interrupted'; mark: string }> {
  const record = await recordOf(root, tree, kind)
  if (record === undefined) return { state: 'none' }
  const changed = await checkUntouched(root, record)
  const isWhole = record.phase === 'applied' && changed.every((each) => each)
  return { state: isWhole ? 'applied' : 'interrupted', mark: record.mark }
}

/** @returns undefined if there is none. @throws ToolsError (DRIVER_RECORD) */
async function recordOf(root: Root, tree: string, kind: ChangeKind): Promise<ChangeRecord | undefined> {
  const folder = recordFolder(tree, kind)
  const record = await readRecord(root, folder)
  if (typeof record === 'string') throw brokenRecordError(folder, record)
  if (record === undefined) return undefined
  if (record.kind !== kind || record.tree !== tree)
    throw brokenRecordError(folder, `it belongs to another change, ${record.kind} in '${record.tree}'`)
  return record
}

/** Returns the original contents; undefined for a file that did not exist. */
async function originalsOf(root: Root, folder: string, { files }: ChangeRecord): Promise<(Uint8Array | undefined)[]> {
  return Promise.all(
    files.map(async ({ path, originalSha256 }, index) => {
      if (originalSha256 === null) return undefined
      const bytes = await root.bytes(`${folder}/${index}.original`, MAX_BYTES)
      if (bytes === undefined || sha256(bytes) !== originalSha256)
        throw brokenRecordError(folder, `the original of ${path} in it is ${bytes === undefined ? 'gone' : 'damaged'}`)
      return bytes
    }),
  )
}

/**
 * Returns which files have the change.
 * @throws ToolsError (DRIVER_CHANGED_SINCE) for one that is neither original nor changed, and for an unreadable one, whose state is
 * unknown.
 */
async function checkUntouched(root: Root, { tree, files }: Pick<ChangeRecord, 'tree' | 'files'>): Promise<boolean[]> {
  return Promise.all(
    files.map(async (file) => {
      const path = below(tree, file.path)
      const bytes = await root.bytes(path, MAX_BYTES)
      const why = bytes === undefined ? root.why(path).unknown : ''
      const isUnread = bytes === undefined && !why.startsWith('there is no')
      const now = bytes === undefined ? null : sha256(bytes)
      if (isUnread || (now !== file.changedSha256 && now !== file.originalSha256))
        throw changedSinceError(path, file, isUnread ? why : undefined)
      return now === file.changedSha256
    }),
  )
}

async function writeRecord(root: Root, folder: string, record: ChangeRecord, writer: Writer): Promise<void> {
  const text = `${JSON.stringify(record, undefined, 2)}\n`
  await writer.put(placeOf(root, `${folder}/change.json`), Buffer.from(text))
}

/** Links are resolved below the root, so nothing outside of it is written. */
function placeOf(root: Root, path: string): string {
  return join(root.path, root.resolve(path))
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}

/** Error of a file that was changed by other means. It was not written. */
function changedSinceError(path: string, { originalSha256 }: ChangedFile, unread?: string): ToolsError {
  return new ToolsError(
    'ERR_GPUNVME_DRIVER_CHANGED_SINCE',
    'privilege',
    `Refused to write /${path}: it has changed since gpunvme last read it`,
    {
      facts: [
        ...(unread === undefined ? [] : [unread]),
        originalSha256 === null ? 'it did not exist before' : `it was ${originalSha256.slice(0, 16)}… by SHA-256`,
      ],
      next: 'restore it (for a packaged tree, reinstall the package), then run the command again',
    },
  )
}

/** Error of a change record that is unusable, so that nothing can be reverted. */
function brokenRecordError(folder: string, reason: string): ToolsError {
  return new ToolsError('ERR_GPUNVME_DRIVER_RECORD', 'verification', `The record in /${folder} cannot be used`, {
    facts: [reason],
    next: 'reinstall the package of the tree, then remove that directory',
  })
}

/** Operations that change a driver's files, each atomic. */
export interface Writer {
  /** Keeps mode and owner of an existing file, as `WholeFile` does. */
  put(path: string, bytes: Uint8Array): Promise<void>
  remove(path: string): Promise<void>
  /** Removes a directory if it is empty. */
  removeEmpty(path: string): Promise<void>
}

export const diskWriter: Writer = {
  async put(path, bytes) {
    await attempting(`create ${dirname(path)}`, () => mkdir(dirname(path), { recursive: true }))
    const file = new WholeFile(path)
    try {
      await file.write(bytes)
      file.publish()
    } finally {
      file.discard()
    }
  },

  async remove(path) {
    await attempting(`remove ${path}`, () => rm(path, { force: true }))
  },

  async removeEmpty(path) {
    await rmdir(path).catch(() => undefined) // it is not empty
  },
}
