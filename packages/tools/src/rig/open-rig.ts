import { Controller, type ControllerOptions, type Namespace } from '@gpunvme/host-driver'
import { type StoredModel } from '@gpunvme/layer-loader'
import {
  openResidence,
  type PlacedLayer,
  type ResidencePlan,
  type ResidentModel,
} from '@gpunvme/layer-loader/residence'
import type { Tier } from '@gpunvme/cuda-native/vram'
import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import { openTransport } from '../drive/by-name.js'
import { namespaceOf } from '../drive/namespace-of.js'
import { openReal } from '../drive/open-real.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import type { SimOptions } from '../drive/sim-transport.js'
import type { FindOptions } from '../model/same-catalogue.js'
import type { Choice } from './choice.js'
import { openDriven } from './engine.js'
import { openTarget, type Target } from './gpu.js'
import { LentGpu } from './lent-gpu.js'
import type { StoreOptions } from '../model/store-of.js'
import { openInFiles, openOnDrives, packOnto, type FoundModel } from './model.js'
import type { ComposeOptions, RigDrive, RigOptions } from './options.js'
import { place, readOptions } from './placement.js'
import { Teardown } from './teardown.js'
import { findReach as findAll, type FindReach } from './reach.js'
import { reachTier, throughHost, type ReachedTier } from './tier.js'

/** A model with all decisions on it, before any of it is in memory. */
export interface RigPlan {
  readonly model: StoredModel
  /** Names of all models found with it. */
  readonly models: readonly string[]
  readonly fingerprint?: string
  /** Damage to the image that does not prevent loading. */
  readonly problems: readonly GpuNvmeError[]
  /** Name of the GPU; absent without one. */
  readonly gpu?: string
  /** 0: layers stay in host memory. 1: they are copied to the GPU. 2 and 3: the drive writes to GPU memory. */
  readonly tier: Tier | 0
  /**
   * Place of each layer between passes, and the predicted time of a pass. In tier 0, the plan's GPU memory is host
   * memory.
   */
  readonly placement: ResidencePlan
  /** Each decision with its reason and the rejected alternatives. */
  readonly decisions: readonly Choice[]
  /** Controllers of the drives, in the given order; empty for a model in files. */
  readonly controllers: readonly Controller[]
}

/** A model that is ready for use, layer by layer, in GPU memory. */
export interface Rig extends RigPlan {
  /** Provides the layers: `for await (using layer of rig.loader.pass()) compute(layer.memory.gpuPointer)`. */
  readonly loader: ResidentModel
  /** The resident layers, and the time to load them: by the drive's clock, and by this machine's. */
  readonly loaded: {
    readonly layers: number
    readonly bytes: number
    readonly elapsedNs: number
    /** Part of `elapsedNs` in which the drive was busy; the rest is copies and checksums. */
    readonly driveBusyNs: number
    readonly wallNs: number
  }
  /** Releases layers, GPU memory, controllers and transports. Idempotent. */
  close(): Promise<void>
  /** Same as `close`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** Hooks for the command and for tests. */
export interface ComposeParts extends Pick<StoreOptions, 'names' | 'onSetProblem'> {
  readonly findReach?: FindReach
  /** Called with a packed model that was found by a model file, and with that file. */
  readonly onFile?: FindOptions['onFile']
  /** Called before layers are loaded. */
  readonly onPlanned?: (plan: RigPlan) => void
}

/**
 * Opens a model for computation on a GPU: transports and controllers of its drives, a suitable engine, GPU memory of
 * the highest tier whose probe passes, and the loader with its placement.
 *
 * ```ts
 * await using rig = await openRig({ drives: ['0000:0b:00.0'], vram: 20 * 2 ** 30 })
 * for await (using layer of rig.loader.pass()) await compute(layer.memory.gpuPointer, layer.tensors)
 * ```
 *
 * If the model has checksums, every byte is verified after its read and again after its copy to the GPU; otherwise only
 * the copies are verified. If a step fails, everything opened before is closed.
 * @throws TypeError, RangeError for invalid options; UsageError, ToolsError (DRIVE_NOT_FOUND, DRIVE_IN_USE); errors of
 * `openTransport`, `Controller.open`, `openImage`, `openSet`, `planResidence` and `openResidence`; CudaUnavailableError
 * for a requested GPU
 */
export async function openRig({ drives = [], sim, ...options }: RigOptions): Promise<Rig> {
  const all = [...drives, ...(sim === undefined ? [] : [{ transport: 'sim', ...sim } as const])]
  const opened: OpenedTransport[] = []
  const teardown = new Teardown()
  const closing = (transport: OpenedTransport) => {
    teardown.add(() => transport.close())
    opened.push(transport)
  }
  try {
    for (const drive of all) closing(await openDrive(drive))
    const [first] = all
    const isEmpty = typeof first === 'object' && first.transport === 'sim' && first.image === undefined
    if (isEmpty && options.model !== undefined && options.inPlace !== true)
      await packInto(opened[0]!, options.model, options)
    const rig = await composeRig(opened, options)
    teardown.add(() => rig.close())
    const close = () => teardown.run()
    return { ...rig, close, [Symbol.asyncDispose]: close }
  } catch (error) {
    return teardown.undo(error)
  }
}

/** Packs a model file onto an empty drive. */
export async function packInto(
  { transport, serial }: OpenedTransport,
  path: string,
  options: Pick<ComposeOptions, 'naming' | 'signal' | 'onProgress' | 'queueDepth'>,
): Promise<void> {
  if (serial === undefined) throw new TypeError('sim: expected a simulated drive, got a real one')
  const { queueDepth = 32 } = options
  await using controller = await Controller.open(transport, { queueDepth, write: { serial } })
  await packOnto(path, controller.namespace(controller.namespaces[0]!.identity.nsid), options)
}

/** Like `openRig`, with transports that the caller has opened and closes. Without transports, the model is in files. */
export async function composeRig(
  opened: readonly OpenedTransport[],
  options: ComposeOptions,
  parts: ComposeParts = {},
): Promise<Rig> {
  checkOptions(opened, options)
  const teardown = new Teardown()
  const close = () => teardown.run()
  try {
    const lent = new LentGpu(teardown)
    const drives = new Drives(options, lent)
    const [target, gpuChoice] = openTarget(options.gpu, lent.gpu)
    const { found, tier } = await openModel(opened, drives, { target, options, parts, teardown })
    const { model } = found
    const [verification, reading] = readOptions(model, target, tier, options)
    const { layers, placement, choices } = await place(model, opened, { target, tier, reading, options })
    const decisions = [gpuChoice, ...drives.choices, tier.choice, verification, ...choices]
    const controllers = [...lent.controllers]
    const gpuName = target.gpu === undefined ? {} : { gpu: target.name }
    const plan = { ...found, ...gpuName, tier: tier.tier, placement, decisions, controllers }
    parts.onPlanned?.(plan)
    const { clock } = model.store
    const [startNs, startMs] = [clock.now(), performance.now()]
    const loader = await openResidence(layers, placement, {
      ...reading,
      copies: target.copies,
      withoutGpu: tier.tier === 0,
      ...(options.signal && { signal: options.signal }),
      onLoaded: countLoaded(placement, options),
    })
    teardown.add(() => loader.close())
    const { vram, ram } = placement
    const bytes = vram.layerBytes + ram.layerBytes
    const wallNs = Math.round((performance.now() - startMs) * 1e6)
    const times = { elapsedNs: clock.now() - startNs, driveBusyNs: loader.statistics.driveBusyNs, wallNs }
    const loaded = { layers: vram.layers + ram.layers, bytes, ...times }
    return { ...plan, loader, loaded, close, [Symbol.asyncDispose]: close }
  } catch (error) {
    return teardown.undo(error)
  }
}

function countLoaded({ vram, ram }: ResidencePlan, { onProgress }: ComposeOptions): (layer: PlacedLayer) => void {
  const totalBytes = vram.layerBytes + ram.layerBytes
  let doneBytes = 0
  return ({ lengthBytes }) => {
    doneBytes += lengthBytes
    onProgress?.({ stage: 'loading', doneBytes, totalBytes })
  }
}

/** @throws TypeError, RangeError for options that the parts of a rig do not check themselves */
function checkOptions(opened: readonly OpenedTransport[], { tier, inPlace, model }: ComposeOptions): void {
  if (tier !== undefined && ![1, 2, 3].includes(tier)) throw new RangeError(`tier: expected 1, 2 or 3, got ${tier}`)
  if (opened.length === 0 && model === undefined)
    throw new TypeError('model: expected a path if no drive is given, got undefined')
  if (opened.length === 0 && inPlace === true) throw new TypeError('inPlace: expected a drive with the file, got none')
}

/** Opens controllers that access the GPU. */
class Drives {
  /** Choice of the engine of each controller. */
  choices: Choice[] = []
  readonly lent: LentGpu
  private readonly options: ComposeOptions

  constructor(options: ComposeOptions, lent: LentGpu) {
    this.options = options
    this.lent = lent
  }

  async open(transport: Transport, target: Target, more: ControllerOptions = {}): Promise<Namespace> {
    const { engine, queues = 1, queueDepth = 32, nsid } = this.options
    const settings = { queues, queueDepth, nsid, ...more }
    const { controller, choice } = await openDriven(transport, engine, target, settings, this.lent.controllers)
    this.choices.push(choice)
    return namespaceOf(controller, nsid)
  }

  /** Stops all controllers, so that they can be opened again. */
  async stop(): Promise<void> {
    await this.lent.stop()
    this.choices = []
  }
}

interface Opening {
  readonly target: Target
  readonly options: ComposeOptions
  readonly parts: ComposeParts
  readonly teardown: Teardown
}

async function openModel(
  opened: readonly OpenedTransport[],
  drives: Drives,
  { target, options, parts, teardown }: Opening,
): Promise<{ readonly found: FoundModel; readonly tier: ReachedTier }> {
  const [first, ...others] = opened.map(({ transport }) => transport)
  if (first === undefined) {
    const found = await openInFiles(options.model!, options, teardown)
    return { found, tier: throughHost(target, options, 'files are read through host memory') }
  }
  let namespace = await drives.open(first, target)
  const members: Namespace[] = []
  for (const transport of others) members.push(await drives.open(transport, target))
  const { findReach = findAll } = parts
  const input = { transport: first, namespace, target, options, findReach }
  const tier =
    members.length > 0
      ? throughHost(target, options, 'a set of drives is read through host memory')
      : await reachTier(input, drives.lent.memory)
  if (tier.tier === 3) {
    await drives.stop()
    namespace = await drives.open({ ...first, dma: tier.vram! }, target, { queueMemory: 'gpu' })
  }
  const found = await openOnDrives([namespace, ...members], { ...options, ...parts }, teardown)
  return { found, tier }
}

/** @throws errors of `openReal` and `openTransport` */
async function openDrive(drive: RigDrive): Promise<OpenedTransport> {
  if (typeof drive === 'string') return openReal(drive)
  const { transport, ...options } = drive
  // The overloads of `openTransport` pair each name with its options, as `RigDrive` does.
  return openTransport(transport as 'sim', options as SimOptions)
}
