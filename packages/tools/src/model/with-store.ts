import { findSignatures, ForeignDataError, type Namespace, type WritableNamespace } from '@gpunvme/host-driver'
import { asStore, namespaceStore, type BlockStore, type WritableBlockStore } from '@gpunvme/layer-loader/store'
import {
  completeLabels,
  openSet,
  type BlockSet,
  type SetProblem,
  type WritableBlockSet,
} from '@gpunvme/layer-loader/sets'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { DriveFlags, TransportFlags } from '../command-line/options.js'
import { EVERY_DRIVE, stepOf } from '../command-line/step-of.js'
import { ToolsError } from '../command-line/tools-error.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import { withReader, withTransports, withWriter, type WriteFlags } from '../drive/with-drive.js'
import type { Output } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { namesOf } from './place.js'
import { readStore } from './store-of.js'

/**
 * Opens the drive with models, or the set of several drives, names it in the output, and lends it.
 * @param drives flags of each drive, as returned by `membersOf`.
 * @throws errors of `withTransport`, `withReader` and `readStore`
 */
export function withStore<T>(
  drives: readonly TransportFlags[],
  output: Output,
  signal: AbortSignal,
  use: (store: BlockStore, opened: OpenedTransport) => Promise<T>,
): Promise<T> {
  return withTransports(drives, 'read', output, (opened) => {
    signal.throwIfAborted()
    const next = async (namespaces: readonly Namespace[]): Promise<T> => {
      const at = namespaces.length
      if (at < drives.length)
        return withReader(opened[at]!, drives[at]!, ({ namespace }) => next([...namespaces, namespace]))
      const onSetProblem = (problem: SetProblem) => warn(problem, output)
      return readStore(namespaces, { names: namesOf(drives), onSetProblem, signal }, (store) => use(store, opened[0]!))
    }
    return next([])
  })
}

/**
 * Opens drives for writing and lends their namespaces. Each real drive is confirmed first. @throws errors of
 * `withWriter`
 */
export function withWritableNamespaces<T>(
  drives: readonly (TransportFlags & WriteFlags)[],
  output: Output,
  signal: AbortSignal,
  use: (namespaces: readonly WritableNamespace[], opened: OpenedTransport) => Promise<T>,
): Promise<T> {
  return withTransports(drives, 'write', output, (opened) => {
    signal.throwIfAborted()
    const next = (namespaces: readonly WritableNamespace[]): Promise<T> => {
      const at = namespaces.length
      if (at === drives.length) return use(namespaces, opened[0]!)
      const found = ({ namespace }: { readonly namespace: WritableNamespace }) => next([...namespaces, namespace])
      return withWriter(opened[at]!, drives[at]!, output, found, signal)
    }
    return next([])
  })
}

/** Flags of a drive for writing. */
export type WrittenDrive = DriveFlags & WriteFlags

/** Returns the store to write to: one namespace, or the set of several. @throws errors of `writableSetOf` */
export async function writableStoreOf(
  namespaces: readonly WritableNamespace[],
  drives: readonly WrittenDrive[],
  signal: AbortSignal,
): Promise<WritableBlockStore> {
  return namespaces.length === 1 ? asStore(namespaces[0]!) : writableSetOf(namespaces, drives, signal)
}

/**
 * Opens the set of several drives.
 * @throws errors of `openSet` and `refuseForeign`; ToolsError (SET_DEGRADED). Nothing was written.
 */
export async function writableSetOf(
  namespaces: readonly WritableNamespace[],
  drives: readonly WrittenDrive[],
  signal: AbortSignal,
): Promise<WritableBlockSet> {
  const names = namesOf(drives)
  const problems: SetProblem[] = []
  const stores = namespaces.map((namespace, at) => namespaceStore(namespace, names[at]))
  const set = await openSet(stores, { onProblem: (problem) => problems.push(problem), signal })
  if (set.degraded) throw degradedSetError(set, problems)
  await refuseForeign(namespaces, names, drives[0]?.overwrite ?? [])
  signal.throwIfAborted()
  await completeLabels(stores)
  return set
}

/**
 * Checks all drives of a set for other data. A drive's write guard only runs before its first write, when another drive
 * may already have been written.
 */
export async function refuseForeign(
  namespaces: readonly Namespace[],
  names: readonly string[],
  overwrite: readonly string[],
): Promise<void> {
  for (const [at, namespace] of namespaces.entries()) {
    await ofDrive(names[at]!, async () => {
      const foreign = (await findSignatures(namespace)).filter(({ name }) => !overwrite.includes(name))
      if (foreign.length > 0) throw new ForeignDataError(namespace.nsid, foreign)
    })
  }
}

/** Adds the name of the drive to errors of a set. */
export async function ofDrive<T>(name: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof GpuNvmeError) || error.category === 'interrupted') throw error
    throw driveOfSetError(name, error)
  }
}

/** Prints problems of a set that is still usable. Late reads only cost time. */
export function warn({ kind, message }: SetProblem, output: Output): void {
  if (kind !== 'stalled') output.error(`Problem with the set: ${printable(message)}`)
}

/** Error of one drive of a set. */
function driveOfSetError(name: string, cause: GpuNvmeError): ToolsError {
  const { code, category, headline, facts } = cause
  return new ToolsError(code, category, `${printable(name)}: ${headline}`, { facts, next: stepOf(cause), cause })
}

/** Error of writing to a mirror with a missing or stale member, which would fall further behind. */
function degradedSetError({ name }: BlockSet, problems: readonly SetProblem[]): ToolsError {
  return new ToolsError('ERR_GPUNVME_SET_DEGRADED', 'infeasible', `The ${name} is degraded; nothing was written`, {
    facts: problems.map(({ message }) => printable(message)),
    next: [EVERY_DRIVE, 'replace a lost drive from a program: rebuildMirror() of @gpunvme/layer-loader'],
  })
}
