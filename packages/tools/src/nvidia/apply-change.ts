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
import { diskWriter, type Writer } from './write-files.js'
import { ToolsError } from '../command-line/tools-error.js'

/** A source file is some hundred kilobytes; originals are read back with the same limit. */
const MOST_BYTES = 4 * 1024 * 1024

/**
 * Writes a change. Before the first file: its original, and a record of what is about to become of it, so that whatever
 * happens in between, `revertChange` or the same change again brings it to an end.
 * @throws ChangedSinceError where a file is neither what it was nor what it becomes; BrokenRecordError.
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
 * Puts every file of a change back as it was, and forgets the change.
 * @returns the files that were put back; undefined where no such change is on record.
 * @throws ChangedSinceError where one was changed since; none was touched then. BrokenRecordError.
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
  // A package may have taken its tree away, and our change with it.
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

/** The record first: without it the originals are only files that are in the way. */
async function forget(root: Root, folder: string, { files }: ChangeRecord, writer: Writer): Promise<void> {
  await writer.remove(placeOf(root, `${folder}/change.json`))
  for (const index of files.keys()) await writer.remove(placeOf(root, `${folder}/${index}.original`))
  const place = placeOf(root, folder)
  for (const empty of [place, dirname(place)]) await writer.removeEmpty(empty)
}

/** What became of a change: 'interrupted' where some of its files are what they were, or its end was not noted. */
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

/** @returns undefined where there is none. @throws BrokenRecordError */
async function recordOf(root: Root, tree: string, kind: ChangeKind): Promise<ChangeRecord | undefined> {
  const folder = recordFolder(tree, kind)
  const record = await readRecord(root, folder)
  if (typeof record === 'string') throw new BrokenRecordError(folder, record)
  if (record === undefined) return undefined
  if (record.kind !== kind || record.tree !== tree)
    throw new BrokenRecordError(folder, `it is of another change, ${record.kind} in '${record.tree}'`)
  return record
}

/** What stood in the files before; undefined of a file that there was not. */
async function originalsOf(root: Root, folder: string, { files }: ChangeRecord): Promise<(Uint8Array | undefined)[]> {
  return Promise.all(
    files.map(async ({ path, originalSha256 }, index) => {
      if (originalSha256 === null) return undefined
      const bytes = await root.bytes(`${folder}/${index}.original`, MOST_BYTES)
      if (bytes === undefined || sha256(bytes) !== originalSha256)
        throw new BrokenRecordError(
          folder,
          `the original of ${path} in it is ${bytes === undefined ? 'gone' : 'damaged'}`,
        )
      return bytes
    }),
  )
}

/**
 * Which of the files are as the change makes them.
 * @throws ChangedSinceError for one that is neither that nor as it was, and for one that cannot be read: nobody knows
 *   then what is in the way.
 */
async function checkUntouched(root: Root, { tree, files }: Pick<ChangeRecord, 'tree' | 'files'>): Promise<boolean[]> {
  return Promise.all(
    files.map(async (file) => {
      const path = below(tree, file.path)
      const bytes = await root.bytes(path, MOST_BYTES)
      const why = bytes === undefined ? root.why(path).unknown : ''
      const isUnread = bytes === undefined && !why.startsWith('there is no')
      const now = bytes === undefined ? null : sha256(bytes)
      if (isUnread || (now !== file.changedSha256 && now !== file.originalSha256))
        throw new ChangedSinceError(path, file, isUnread ? why : undefined)
      return now === file.changedSha256
    }),
  )
}

async function writeRecord(root: Root, folder: string, record: ChangeRecord, writer: Writer): Promise<void> {
  const text = `${JSON.stringify(record, undefined, 2)}\n`
  await writer.put(placeOf(root, `${folder}/change.json`), Buffer.from(text))
}

/** Links are followed below the root alone, so nothing outside of it is written. */
function placeOf(root: Root, path: string): string {
  return join(root.path, root.resolve(path))
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}

/** Somebody else has changed the file. It was left alone. */
export class ChangedSinceError extends ToolsError {
  readonly code = 'ERR_GPUNVME_DRIVER_CHANGED_SINCE'
  readonly category = 'privilege'
  constructor(path: string, { originalSha256 }: ChangedFile, unread?: string) {
    super(`Refused to write /${path}: it was changed since gpunvme last looked at it`, {
      facts: [
        ...(unread === undefined ? [] : [unread]),
        originalSha256 === null ? 'it was not there before' : `it was ${originalSha256.slice(0, 16)}… by SHA-256`,
      ],
      next: 'put it back yourself (for a tree of a package: install the package again), and run the command again',
    })
  }
}

/** What was noted of a change cannot be used, so nothing is undone by it. */
export class BrokenRecordError extends ToolsError {
  readonly code = 'ERR_GPUNVME_DRIVER_RECORD'
  readonly category = 'verification'
  constructor(folder: string, reason: string) {
    super(`What was noted in /${folder} cannot be used`, {
      facts: [reason],
      next: 'install the package of the tree again, then remove that folder',
    })
  }
}
