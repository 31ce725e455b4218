import { createHash } from 'node:crypto'
import type { Root } from '../machine/root.js'

export type ChangeKind = 'pfn-lookup' | 'options' | 'bar1-p2p'

export const CHANGE_KINDS: readonly ChangeKind[] = ['pfn-lookup', 'options', 'bar1-p2p']

/** Record of a change, written by `driver apply` before any change and used by `driver revert`. */
export interface ChangeRecord {
  readonly schema: 'gpunvme.driver-change/1'
  readonly kind: ChangeKind
  /** Mark of the change: 'pfn-walk/1'. */
  readonly mark: string
  /** Tree of the files, below the root; '' for the root itself. */
  readonly tree: string
  /** Until 'applied', some files may be original and others changed. */
  readonly phase: 'applying' | 'applied' | 'reverting'
  readonly files: readonly ChangedFile[]
}

export interface ChangedFile {
  /** Path below the tree. */
  readonly path: string
  /** Null for a file that did not exist. The original is stored with the record, by its number. */
  readonly originalSha256: string | null
  readonly changedSha256: string
}

const MAX_RECORD_BYTES = 256 * 1024
const MAX_FILES = 64
const SHA256 = /^[0-9a-f]{64}$/

/**
 * Returns the directory of a change record, below the root: in a user's own tree, or in the machine's state directory.
 */
export function recordFolder(tree: string, kind: ChangeKind): string {
  if (kind === 'options') return 'var/lib/gpunvme/driver/options'
  return tree === '' ? `.gpunvme/${kind}` : `var/lib/gpunvme/driver/${kind}/${tree.replace(/[^\w.-]+/g, '_')}`
}

/** Returns the recorded changes of a tree. */
export async function changesIn(root: Root, tree: string): Promise<ChangeRecord[]> {
  const records: ChangeRecord[] = []
  for (const kind of CHANGE_KINDS) {
    if (kind === 'options') continue
    const record = await readRecord(root, recordFolder(tree, kind))
    if (typeof record === 'object') records.push(record)
  }
  return records
}

/** @returns undefined if there is none; a sentence if it is unusable. */
export async function readRecord(root: Root, folder: string): Promise<ChangeRecord | string | undefined> {
  const path = `${folder}/change.json`
  const text = await root.text(path, MAX_RECORD_BYTES)
  if (text === undefined) {
    const why = root.why(path).unknown
    return why.startsWith('there is no') ? undefined : why
  }
  try {
    const record: unknown = JSON.parse(text)
    return isRecord(record) ? record : `/${path} is not a record of a change, or its version is unknown`
  } catch {
    return `/${path} is damaged: invalid JSON`
  }
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Validates all fields, since files at its paths are written. */
function isRecord(value: unknown): value is ChangeRecord {
  if (!isObject(value) || value['schema'] !== 'gpunvme.driver-change/1') return false
  const { kind, mark, tree, phase, files } = value
  return (
    CHANGE_KINDS.some((each) => each === kind) &&
    typeof mark === 'string' &&
    typeof tree === 'string' &&
    ['applying', 'applied', 'reverting'].some((each) => each === phase) &&
    Array.isArray(files) &&
    files.length > 0 &&
    files.length <= MAX_FILES &&
    files.every(isFile)
  )
}

function isFile(value: unknown): boolean {
  if (!isObject(value)) return false
  const { path, originalSha256, changedSha256 } = value
  return (
    typeof path === 'string' &&
    /^[\w.-]+(?:\/[\w.-]+)*$/.test(path) &&
    !path.split('/').includes('..') &&
    (originalSha256 === null || isHash(originalSha256)) &&
    isHash(changedSha256)
  )
}

function isHash(value: unknown): boolean {
  return typeof value === 'string' && SHA256.test(value)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
