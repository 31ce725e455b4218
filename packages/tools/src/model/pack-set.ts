import type { WritableNamespace } from '@gpunvme/host-driver'
import { DATA_START_BYTES, NamespaceTooSmallError, planPack, type Extent } from '@gpunvme/layer-loader/image'
import { namespaceStore, type WritableBlockStore } from '@gpunvme/layer-loader/store'
import {
  findUses,
  MIN_UNIT_BYTES,
  MEMBER_DATA_BYTES,
  planMirror,
  planStripe,
  type SetPlan,
  type StoreUse,
  type WritableBlockSet,
} from '@gpunvme/layer-loader/sets'
import type { Model } from '@gpunvme/layer-loader/formats'
import { ToolsError } from '../command-line/tools-error.js'
import { refuseUnknownData } from '../block-io/unknown-data.js'
import type { Output } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { Progress } from '../terminal/progress.js'
import { formatBytes } from '../terminal/units.js'
import type { PackRequest } from './pack-report.js'
import { namesOf } from './place.js'
import type { SetShape } from './set-shape.js'
import { ofDrive, refuseForeign, warn, writableSetOf, type WrittenDrive } from './with-store.js'

/** The drives of a set. */
interface Drives {
  readonly namespaces: readonly WritableNamespace[]
  readonly flags: readonly WrittenDrive[]
  /** Whether each one is a new image file. */
  readonly isNew: readonly boolean[]
}

export interface FoundSet {
  readonly set: WritableBlockSet
  readonly isCreated: boolean
}

/**
 * Opens the set of the drives, or creates it. All checks precede the first write.
 * @throws ToolsError (DRIVES_IN_USE, SET_SHAPE, DRIVE_TOO_SMALL); NamespaceTooSmallError, ForeignDataError,
 * ToolsError (UNKNOWN_DATA); errors of `writableSetOf`
 */
export async function openOrCreateSet(
  drives: Drives,
  shape: SetShape | undefined,
  model: Model,
  request: PackRequest,
  output: Output,
): Promise<FoundSet> {
  const { namespaces, flags } = drives
  const { signal } = request
  const open = async () => ({ set: await writableSetOf(namespaces, flags, signal), isCreated: false })
  if (shape === undefined) return open()
  const names = namesOf(flags)
  const uses = await findUses(
    namespaces.map((namespace, at) => namespaceStore(namespace, names[at])),
    { signal },
  )
  const isSet = isWhole(uses)
  if (isSet && hasShape(uses, shape)) return open()
  const replace = request.replace === 'image'
  if (!replace && isSet) throw setShapeError(uses, shape)
  if (!replace && uses.some(({ kind }) => kind === 'image' || kind === 'member'))
    throw drivesInUseError(uses, names, shape)
  const plan = await planFor(drives, uses, shape, model, request, output)
  signal.throwIfAborted()
  output.note(`Creating a ${shape.kind} of ${namespaces.length} drives, ${formatBytes(plan.capacityBytes)}`)
  const onProblem = (problem: Parameters<typeof warn>[0]) => warn(problem, output)
  return { set: await plan.create({ replace, signal, onProblem }), isCreated: true }
}

/** Returns whether the drives are all members of one set. */
function isWhole(uses: readonly StoreUse[]): boolean {
  const [first] = uses
  return (
    uses.every(({ member }) => member !== undefined && member.setId === first?.member?.setId) &&
    first?.member?.members === uses.length
  )
}

function hasShape([use]: readonly StoreUse[], { kind, unitBytes }: SetShape): boolean {
  return use?.member?.kind === kind && (unitBytes === undefined || use.member.unitBytes === unitBytes)
}

/** Lays out the set, and checks each drive: size, space for the model, and data that would be lost. */
async function planFor(
  { namespaces, flags, isNew }: Drives,
  uses: readonly StoreUse[],
  { kind, unitBytes }: SetShape,
  model: Model,
  { name, signal }: PackRequest,
  output: Output,
): Promise<SetPlan> {
  const names = namesOf(flags)
  const overwrite = flags[0]?.overwrite ?? []
  const stores = namespaces.map((namespace, at) => namespaceStore(namespace, names[at]))
  const minBytes = MEMBER_DATA_BYTES + Math.max(MEMBER_DATA_BYTES, unitBytes ?? MIN_UNIT_BYTES)
  for (const store of stores) if (store.capacityBytes < minBytes) throw driveTooSmallError(store, minBytes)
  const plan = kind === 'mirror' ? planMirror(stores) : planStripe(stores, unitBytes === undefined ? {} : { unitBytes })
  const { endBytes } = planPack(model, plan.blockBytes, name === undefined ? {} : { name })
  const { capacityBytes } = plan
  if (endBytes > capacityBytes)
    throw new NamespaceTooSmallError(endBytes, capacityBytes, [
      { offsetBytes: DATA_START_BYTES, lengthBytes: Math.max(0, capacityBytes - DATA_START_BYTES) },
    ])
  await refuseForeign(namespaces, names, overwrite)
  const ranges = plan.overwritten(endBytes)
  const scanned = ranges.map((runs, at) =>
    isNew[at] ? [] : runs.flatMap((run) => beyond(run, uses[at]!.claimedBytes)),
  )
  await scan(namespaces, scanned, names, overwrite, signal, output)
  noteUnused(stores, output)
  return plan
}

async function scan(
  namespaces: readonly WritableNamespace[],
  runs: readonly (readonly Extent[])[],
  names: readonly string[],
  overwrite: readonly string[],
  signal: AbortSignal,
  output: Output,
): Promise<void> {
  const lengthOf = (extents: readonly Extent[]) => extents.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
  const totalBytes = runs.reduce((sum, extents) => sum + lengthOf(extents), 0)
  const progress = new Progress(output, 'Scanning for unknown data')
  let doneBytes = 0
  try {
    for (const [at, namespace] of namespaces.entries()) {
      const before = doneBytes
      const onProgress = (bytes: number) => progress.update(before + bytes, totalBytes)
      await ofDrive(names[at]!, () => refuseUnknownData(namespace, runs[at]!, overwrite, { signal, onProgress }))
      doneBytes += lengthOf(runs[at]!)
    }
  } finally {
    progress.end()
  }
}

/** Returns the part of an extent after the bytes that the user gives up. */
function beyond({ offsetBytes, lengthBytes }: Extent, claimedBytes: number): Extent[] {
  const from = Math.max(offsetBytes, claimedBytes)
  const length = offsetBytes + lengthBytes - from
  return length > 0 ? [{ offsetBytes: from, lengthBytes: length }] : []
}

/** A set uses as much of each drive as the smallest one has. */
function noteUnused(stores: readonly WritableBlockStore[], output: Output): void {
  const minBytes = stores.reduce((min, { capacityBytes }) => Math.min(min, capacityBytes), Infinity)
  for (const { name, capacityBytes } of stores) {
    const unusedBytes = capacityBytes - minBytes
    if (unusedBytes > capacityBytes / 100)
      output.note(`${printable(name)}: ${formatBytes(unusedBytes)} remain unused, since another drive is smaller`)
  }
}

/** Error of drives with a model image or a set. Nothing was written. */
function drivesInUseError(uses: readonly StoreUse[], names: readonly string[], { kind }: SetShape): ToolsError {
  const ids = new Set(uses.flatMap(({ member }) => (member === undefined ? [] : [member.setId])))
  return new ToolsError('ERR_GPUNVME_DRIVES_IN_USE', 'privilege', `Refused to create a ${kind}: drives are in use`, {
    facts: uses.map((use, at) => `${printable(names[at]!)} ${describeUse(use)}`),
    next: [
      ids.size === 1 ? 'name every drive of that set and no other, or use free drives' : 'use free drives',
      'discard all models on them with --replace-image',
    ],
  })
}

function describeUse({ kind, member }: StoreUse): string {
  if (kind === 'image') return 'has a model image'
  if (kind !== 'member') return 'is free'
  if (member === undefined) return 'is a member of a set, and its label is damaged'
  return `is member ${member.index} of ${member.members} of ${member.kind} ${member.setId.slice(0, 8)}`
}

/** Error of drives that already form another set than requested. Nothing was written. */
function setShapeError([use]: readonly StoreUse[], { kind }: SetShape): ToolsError {
  const { kind: is, members, unitBytes } = use!.member!
  const units = is === 'stripe' ? ` with units of ${formatBytes(unitBytes)}` : ''
  return new ToolsError('ERR_GPUNVME_SET_SHAPE', 'usage', `The drives already form a ${is} of ${members}${units}`, {
    next: [
      `omit --${kind}${kind === is ? '-unit' : ''} to add the model to the ${is}`,
      `use --replace-image to create a new ${kind}, which discards all models`,
    ],
  })
}

/** Error of a drive that is too small for a set. Nothing was written. */
function driveTooSmallError({ name, capacityBytes }: WritableBlockStore, minBytes: number): ToolsError {
  return new ToolsError(
    'ERR_GPUNVME_DRIVE_TOO_SMALL',
    'infeasible',
    `${printable(name)} is too small to be a member of the set`,
    {
      facts: [`it has ${formatBytes(capacityBytes)}; a member requires at least ${formatBytes(minBytes)}`],
      next: 'use another drive',
    },
  )
}
