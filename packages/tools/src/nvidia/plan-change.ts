import { isKnown, valueOf } from '../machine/known.js'
import type { Root } from '../machine/root.js'
import type { ChangeKind } from './change-record.js'
import type { NvidiaDriver, SourceTree } from './driver-state.js'
import { edited, type Edit } from './edits.js'
import { filesOf, P2P_ANCHORS, P2P_MARK, P2P_SINCE, p2pEdits, type P2pAnchors } from './p2p-anchors.js'
import { markOf, pfnFixEdits, type FixForm } from './pfn-fix.js'
import { KNOWN_SHAPES, shapeOf, type KnownShape } from './pfn-shapes.js'
import { flavourOfTree, lookupFileOf, readTree } from './trees.js'
import { isAtLeast, isDriverVersion } from './version.js'
import { OPTIONS_FILE, planOptions, type Goal } from './wanted-options.js'
import { ToolsError } from '../command-line/tools-error.js'

/** Planned and current contents. Nothing has been written. */
export interface PlannedChange {
  readonly kind: ChangeKind
  readonly mark: string
  /** Tree of the files, below the root; '' for the root itself. */
  readonly tree: string
  readonly files: readonly PlannedFile[]
}

export interface PlannedFile {
  /** Path below the tree. */
  readonly path: string
  /** One character per byte, so that all content is preserved; undefined if the file does not exist. */
  readonly original: string | undefined
  readonly edits: readonly Edit[]
}

/** Known sources; replaced in tests. */
export interface KnownSources {
  readonly shapes: readonly KnownShape[]
  readonly p2p: P2pAnchors
}

export const KNOWN_SOURCES: KnownSources = { shapes: KNOWN_SHAPES, p2p: P2P_ANCHORS }

const MAX_SOURCE_BYTES = 4 * 1024 * 1024

const OPEN_FLAVOUR = 'use the open flavour of the driver, 580 or later, which can register drives without a change'
const FULL_SOURCE = `use github.com/NVIDIA/open-gpu-kernel-modules at the tag of the installed version, ${P2P_SINCE} or later`

export function changedText({ original = '', edits }: PlannedFile): string {
  return edited(original, edits)
}

/** @throws ToolsError (DRIVER_TREE_NOT_FOUND, UNKNOWN_DRIVER_SOURCE) */
export async function planPfnLookup(
  root: Root,
  tree: string,
  form: FixForm,
  known: KnownSources,
): Promise<PlannedChange> {
  const path = await lookupFileOf(root, tree)
  if (path === undefined) throw treeNotFoundError(root, tree)
  const original = await sourceOf(root, tree, path)
  const flavour = await flavourOfTree(root, below(tree, path.replace(/\/os-mlock\.c$/, '')))
  if (!isKnown(flavour)) throw unknownSourceError(tree, [flavour.unknown])
  const shape = shapeOf(original, flavour, known.shapes)
  if (shape === undefined) throw unknownSourceError(tree, [`${path} matches no known release (${flavour})`])
  if (flavour === 'open')
    throw nothingToFixError(tree, 'open sources may call the functions of the kernel: upgrade instead of changing them')
  if (shape.shape === 'follow_pfn-only')
    throw nothingToFixError(
      tree,
      'it calls follow_pfn, which suffices before 6.10; it does not build for later kernels',
    )
  return {
    kind: 'pfn-lookup',
    mark: markOf(form),
    tree,
    files: [{ path, original, edits: pfnFixEdits(original, shape, form) }],
  }
}

/** @throws ToolsError (DRIVER_TREE_NOT_FOUND, UNKNOWN_DRIVER_SOURCE) */
export async function planP2p(root: Root, tree: string, known: KnownSources): Promise<PlannedChange> {
  const found = await readTree(root, tree, known.shapes)
  if (found === undefined) throw treeNotFoundError(root, tree)
  if (valueOf(found.kind) !== 'full-source')
    throw unknownSourceError(
      tree,
      ["BAR1 between GPUs is in the driver's core, whose sources are missing in this tree"],
      FULL_SOURCE,
    )
  const version = valueOf(found.version)
  if (version === undefined || !isDriverVersion(version) || !isAtLeast(version, P2P_SINCE))
    throw unknownSourceError(
      tree,
      [`${version ?? 'its version'} is not ${P2P_SINCE} or later: earlier versions lack more than this`],
      FULL_SOURCE,
    )
  const sources = new Map<string, string>()
  for (const file of filesOf(known.p2p)) sources.set(file, await sourceOf(root, tree, file))
  const { edits, problems } = p2pEdits(sources, known.p2p)
  if (problems.length > 0) throw unknownSourceError(tree, problems, FULL_SOURCE)
  const files = [...edits].map(([path, each]) => ({ path, original: sources.get(path), edits: each }))
  return { kind: 'bar1-p2p', mark: P2P_MARK, tree, files }
}

/** @returns undefined if the version needs no options. @throws ToolsError (DRIVER_OPTIONS) */
export async function planOptionsFile(
  root: Root,
  goals: readonly Goal[],
  version: string,
  driver: NvidiaDriver,
): Promise<PlannedChange | undefined> {
  const others = driver.options.configured.filter(({ file }) => file !== `/${OPTIONS_FILE}`)
  const { text, problems } = planOptions(goals, version, others)
  if (problems.length > 0)
    throw new ToolsError('ERR_GPUNVME_DRIVER_OPTIONS', 'infeasible', 'These options cannot be set', {
      facts: problems,
      next: { command: ['driver'], note: 'which shows the version and the configured options' },
    })
  if (text === undefined) return undefined
  const bytes = await root.bytes(OPTIONS_FILE)
  const original = bytes === undefined ? undefined : Buffer.from(bytes).toString('latin1')
  const edits = [{ at: 0, removed: original?.length ?? 0, text }]
  return { kind: 'options', mark: 'options/1', tree: '', files: [{ path: OPTIONS_FILE, original, edits }] }
}

/**
 * Returns the source tree of the module that the running kernel would load, by version and flavour.
 * @throws ToolsError (DRIVER_TREE_NOT_FOUND) if there is none, or more than one.
 */
export function treeOfModule(root: Root, { onDisk, running, kernel, trees }: NvidiaDriver): SourceTree {
  const module = (valueOf(onDisk) ?? []).find((each) => each.kernel === valueOf(kernel))
  const contents = module === undefined ? undefined : valueOf(module.contents)
  const loaded = valueOf(running)
  const version = contents?.version ?? (loaded === undefined ? undefined : valueOf(loaded.version))
  const flavour = contents?.flavour ?? loaded?.flavour
  // Both flavours have trees of the same version and name: without the flavour, the tree is ambiguous.
  const kind = flavour === undefined || !isKnown(flavour) ? undefined : `${flavour}-interface+binary`
  const wanted = trees.filter((tree) => valueOf(tree.version) === version && valueOf(tree.kind) === kind)
  if (wanted.length !== 1 || version === undefined || kind === undefined)
    throw treeNotFoundError(
      root,
      undefined,
      wanted.map(({ path }) => path),
    )
  return wanted[0]!
}

async function sourceOf(root: Root, tree: string, path: string): Promise<string> {
  const bytes = await root.bytes(below(tree, path), MAX_SOURCE_BYTES)
  if (bytes === undefined) throw unknownSourceError(tree, [root.why(below(tree, path)).unknown])
  return Buffer.from(bytes).toString('latin1')
}

export function below(tree: string, path: string): string {
  return tree === '' ? path : `${tree}/${path}`
}

/** Error of a missing or ambiguous source tree of the driver. */
function treeNotFoundError(root: Root, tree: string | undefined, several: readonly string[] = []): ToolsError {
  const where = tree === undefined ? 'of the installed module' : `in ${tree === '' ? root.path : `/${tree}`}`
  return new ToolsError(
    'ERR_GPUNVME_DRIVER_TREE_NOT_FOUND',
    'not-found',
    `${several.length > 1 ? 'Several source trees' : 'No source tree'} ${where}`,
    {
      facts: several.map((path) => `one is ${path}`),
      next: 'use --source DIR with a tree that contains nvidia/os-mlock.c or kernel-open/; distributions install it in /usr/src with their DKMS package',
    },
  )
}

/** Error of sources that match no known release, or were changed. Nothing was written. */
function unknownSourceError(tree: string, facts: readonly string[], next = OPEN_FLAVOUR): ToolsError {
  return new ToolsError(
    'ERR_GPUNVME_UNKNOWN_DRIVER_SOURCE',
    'infeasible',
    `Refused to change ${tree === '' ? 'the tree' : `/${tree}`}: its sources are unknown`,
    {
      facts,
      next,
    },
  )
}

/** Error of a tree in which a change would not help. */
export function nothingToFixError(tree: string, reason: string): ToolsError {
  return new ToolsError(
    'ERR_GPUNVME_DRIVER_NOT_FIXABLE',
    'infeasible',
    `Nothing to change in ${tree === '' ? 'the tree' : `/${tree}`}`,
    {
      facts: [reason],
      next: { command: ['driver', 'plan'], note: 'which lists the steps for this machine' },
    },
  )
}
