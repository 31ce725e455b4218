import { join } from 'node:path'
import { isKnown, valueOf } from '../machine/known.js'
import { Root } from '../machine/root.js'
import { ask, canAsk } from '../command-line/ask.js'
import type { Output } from '../terminal/output.js'
import { printable, printableLines } from '../terminal/printable.js'
import { moduleOf } from './advice.js'
import { applyChange, revertChange, stateOfChange } from './apply-change.js'
import { recordFolder, type ChangeKind } from './change-record.js'
import type { NvidiaDriver } from './driver-state.js'
import { formatDiff } from './edits.js'
import type { FixForm } from './pfn-fix.js'
import {
  below,
  changedText,
  KNOWN_SOURCES,
  nothingToFixError,
  planOptionsFile,
  planP2p,
  planPfnLookup,
  treeOfModule,
  type KnownSources,
  type PlannedChange,
} from './plan-change.js'
import type { Goal } from './wanted-options.js'
import { isDriverVersion } from './version.js'
import { ToolsError } from '../command-line/tools-error.js'

export const CHANGES = ['pfn-lookup', 'options', 'bar1-p2p'] as const satisfies readonly ChangeKind[]

/** The requested change. */
export interface ChangeRequest {
  readonly kind: ChangeKind
  readonly form: FixForm
  readonly goals: readonly Goal[]
  readonly source: string | undefined
  readonly isDryRun: boolean
  /** Whether to skip confirmation. */
  readonly yes: boolean
}

export interface ChangeContext {
  readonly output: Output
  readonly signal: AbortSignal
  readonly known?: KnownSources
}

/** Location of a change: root, tree, and the tree's name for the user. */
interface Place {
  readonly root: Root
  readonly tree: string
  readonly name: string
}

/** Outcome. Files were written only for 'applied' and 'reverted'. */
export interface ChangeResult {
  readonly outcome: 'planned' | 'applied' | 'already' | 'begun' | 'given' | 'reverted' | 'never' | 'revertible'
  /** The tree, as named by the user. */
  readonly tree: string
  /** Directory of the originals. */
  readonly originals: string
  /** Paths below the tree. */
  readonly files: readonly string[]
}

/** Plans a change, shows it, and writes it after confirmation. */
export async function changeDriver(
  machine: Root,
  driver: NvidiaDriver,
  request: ChangeRequest,
  context: ChangeContext,
): Promise<ChangeResult> {
  const { known = KNOWN_SOURCES, signal } = context
  const place = placeOf(machine, driver, request)
  const result = (outcome: ChangeResult['outcome'], change?: PlannedChange) => resultOf(place, request, outcome, change)
  const before = await stateOfChange(place.root, place.tree, request.kind)
  // The goals of options may differ from the applied ones.
  if (request.kind !== 'options' && before.state === 'applied') return result('already')
  if (before.state === 'applied') {
    const same = await plan(place, driver, request, known)
    if (same?.files.every((file) => changedText(file) === file.original) === true) return result('already')
  }
  if (before.state !== 'none' && request.isDryRun) return result('begun')
  if (before.state === 'none') {
    const change = await plan(place, driver, request, known)
    if (change === undefined) return result('given')
    context.output.verbatim([diffOf(change)].flat().join('\n'))
    if (request.isDryRun) return result('planned', change)
  }
  await agree(request, place, 'change', context)
  signal.throwIfAborted()
  // An interrupted change, or one with other goals, is reverted first, to restore the sources.
  if (before.state !== 'none') await revertChange(place.root, place.tree, request.kind)
  const change = await plan(place, driver, request, known)
  if (change === undefined) return result('given')
  await applyChange(place.root, change)
  return result('applied', change)
}

/** Reverts a change after confirmation. */
export async function revertDriver(
  machine: Root,
  driver: NvidiaDriver,
  request: ChangeRequest,
  context: ChangeContext,
): Promise<ChangeResult> {
  const place = placeOf(machine, driver, request)
  const before = await stateOfChange(place.root, place.tree, request.kind)
  if (before.state === 'none') return resultOf(place, request, 'never')
  if (request.isDryRun) return resultOf(place, request, 'revertible')
  await agree(request, place, 'restore', context)
  context.signal.throwIfAborted()
  const files = (await revertChange(place.root, place.tree, request.kind)) ?? []
  return { ...resultOf(place, request, 'reverted'), files }
}

function resultOf(
  { root, tree, name }: Place,
  { kind }: ChangeRequest,
  outcome: ChangeResult['outcome'],
  change?: PlannedChange,
): ChangeResult {
  const folder = recordFolder(tree, kind)
  const files = change?.files.map(({ path }) => path) ?? []
  return {
    outcome,
    tree: name,
    originals: tree === '' && kind !== 'options' ? `${root.path}/${folder}` : `/${folder}`,
    files,
  }
}

function placeOf(machine: Root, driver: NvidiaDriver, { kind, source }: ChangeRequest): Place {
  if (source !== undefined) return { root: new Root(source), tree: '', name: source }
  if (kind === 'options') return { root: machine, tree: '', name: join(machine.path, 'etc/modprobe.d') }
  const { path } = treeOfModule(machine, driver)
  return { root: machine, tree: path.replace(/^\//, ''), name: path }
}

function plan(
  place: Place,
  driver: NvidiaDriver,
  request: ChangeRequest,
  known: KnownSources,
): Promise<PlannedChange | undefined> {
  const { root, tree } = place
  if (request.kind === 'bar1-p2p') return planP2p(root, tree, known)
  if (request.kind === 'options') return planOptionsFile(root, request.goals, versionOf(driver), driver)
  const contents = moduleOf(driver)
  const lookup = contents !== undefined && isKnown(contents) ? contents.pfnLookup : 'none'
  // An explicit tree may be for another kernel.
  if (request.source === undefined && lookup !== 'none')
    throw nothingToFixError(tree, `the installed module looks up registers by ${lookup}`)
  return planPfnLookup(root, tree, request.form, known)
}

/** Version of the module that is loaded next, which determines the meaning of keys. @throws ToolsError (DRIVER_VERSION) */
function versionOf(driver: NvidiaDriver): string {
  const contents = moduleOf(driver)
  const running = valueOf(driver.running)
  const onDisk = contents !== undefined && isKnown(contents) ? contents.version : undefined
  const version = onDisk ?? (running === undefined ? undefined : valueOf(running.version))
  if (version === undefined || !isDriverVersion(version))
    throw new ToolsError(
      'ERR_GPUNVME_DRIVER_VERSION',
      'infeasible',
      `The version of the driver is ${version === undefined ? 'unknown' : `not supported: '${printable(version)}'`}`,
      {
        next: { command: ['driver'], note: 'which shows the installed version' },
      },
    )
  return version
}

async function agree(
  { yes }: ChangeRequest,
  { name }: Place,
  verb: string,
  { output, signal }: ChangeContext,
): Promise<void> {
  if (yes) return
  if (!canAsk(output)) throw notAgreedError(verb, name)
  const answer = await ask(`Type yes to ${verb} ${printable(name)}: `, output.io, signal)
  if (answer !== 'yes') throw notAgreedError(verb, name)
}

function diffOf({ tree, files }: PlannedChange): string[] {
  return files
    .flatMap(({ path, original = '', edits }) => formatDiff(below(tree, path), original, edits))
    .map((line) => line.split('\t').flatMap(printableLines).join('\t'))
}

/** Error of a change without confirmation. Nothing was written. */
function notAgreedError(verb: string, name: string): ToolsError {
  return new ToolsError(
    'ERR_GPUNVME_DRIVER_NOT_AGREED',
    'privilege',
    `Nothing was written: ${verb} ${printable(name)} was not confirmed`,
    {
      next: 'show the change with --dry-run, or skip the confirmation with --yes',
    },
  )
}
