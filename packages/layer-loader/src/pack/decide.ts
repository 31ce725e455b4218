import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { Model } from '../formats/model.js'
import { quote } from '../formats/quote.js'
import { encodeDirectory, type DirectoryEntry } from '../image/directory.js'
import { alignUp, MAX_DIRECTORY_BYTES, MAX_MODELS, type Extent } from '../image/format.js'
import { holesBetween, sumOf } from '../image/holes.js'
import type { BlockStore } from '../store/store.js'
import { layOut, type PackPlan } from './lay-out.js'
import { planPack, refuseLongManifest, type PlanPackOptions } from './plan-pack.js'
import { firstFit, NamespaceTooSmallError } from './room.js'
import type { Target } from './target.js'

export interface DecideOptions extends PlanPackOptions {
  /**
   * Permits to give up a model of the same name (true), or also an image that cannot be used, with all of its models
   * ('image'). False when not given.
   */
  readonly replace?: boolean | 'image'
}

/** Where a model goes, and what has to make room for it. */
export interface Decision {
  readonly plan: PackPlan
  /** The models that stay, and where the last of them ends; 0 where there are none. */
  readonly beside: readonly DirectoryEntry[]
  readonly besideEndBytes: number
  /** Whether there is a model of that name, or an unusable image; and whether it can be kept until publication. */
  readonly replaced: 'nothing' | 'kept' | 'given up'
  /** Free room as it was found. */
  readonly freeBytes: number
  /** Where the directory goes that has only the models that stay, when one is given up and others stay. */
  readonly interim?: Extent
}

/**
 * Finds a place for a model beside everything that is on the store; or else, where it replaces a model, in the room
 * that this one gives up. Reads and writes nothing.
 *
 * @throws ImageExistsError, ModelExistsError, DirectoryFullError, NamespaceTooSmallError, and what `planPack` throws.
 */
export function decide(model: Model, { store, image, isUnusable }: Target, options: DecideOptions = {}): Decision {
  const alone = planPack(model, store.blockBytes, options)
  const { name } = alone
  const { replace = false } = options
  if (isUnusable && replace !== 'image') throw new ImageExistsError(store)
  const entries = image?.directory ?? []
  const beside = entries.filter((entry) => entry.name !== name)
  const isTaken = beside.length < entries.length
  if (isTaken && replace === false) throw new ModelExistsError(store, name)

  const holesAround = (extents: readonly Extent[]) => holesBetween(extents, store.capacityBytes)
  const extents = image?.extents ?? []
  const holes = holesAround(extents)
  const freeBytes = sumOf(holes)
  const staying = extents.filter((extent) => extent.model !== undefined && extent.model !== name)
  const besideEndBytes = endOf(staying)
  const plan = layOut(model, name, beside, holes)
  if (plan !== undefined) {
    refuseTooMuch(model, store, beside, plan)
    const replaced = isUnusable ? 'given up' : isTaken ? 'kept' : 'nothing'
    return { plan, beside, besideEndBytes, freeBytes, replaced }
  }
  const tooSmall = new NamespaceTooSmallError(alone.endBytes, store.capacityBytes, holes)
  if (!isTaken) throw tooSmall

  const interim = beside.length === 0 ? undefined : placeDirectory(beside, holes)
  if (beside.length > 0 && interim === undefined) throw tooSmall
  const after = layOut(model, name, beside, holesAround(interim ? [...staying, interim] : staying))
  if (after === undefined) throw tooSmall
  refuseTooMuch(model, store, beside, after)
  return { plan: after, beside, besideEndBytes, freeBytes, replaced: 'given up', ...(interim && { interim }) }
}

/** Where the last of these ends, with the rest of its last 4096 bytes; 0 where there are none. */
export function endOf(extents: readonly Extent[]): number {
  return extents.reduce((most, { offsetBytes, lengthBytes }) => Math.max(most, alignUp(offsetBytes + lengthBytes)), 0)
}

/** Room for a directory; undefined where there is none. */
export function placeDirectory(entries: readonly DirectoryEntry[], holes: readonly Extent[]): Extent | undefined {
  const { byteLength: lengthBytes } = encodeDirectory(entries)
  const offsetBytes = firstFit(holes)(lengthBytes)
  return offsetBytes === undefined ? undefined : { offsetBytes, lengthBytes }
}

/** Refuses what fits on the store, and not into the format. */
function refuseTooMuch(model: Model, store: BlockStore, beside: readonly DirectoryEntry[], plan: PackPlan): void {
  const { lengthBytes } = plan.directory
  if (beside.length >= MAX_MODELS || lengthBytes > MAX_DIRECTORY_BYTES) {
    throw new DirectoryFullError(store, beside.length + 1, lengthBytes)
  }
  refuseLongManifest(model, plan)
}

/** The store holds what is left of an image, and nobody said that it may be given up. */
export class ImageExistsError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_IMAGE_EXISTS'
  readonly category = 'privilege'

  constructor({ name }: BlockStore) {
    super(`A model image is on ${name} already, and cannot be added to; nothing was written`, {
      facts: ['it is damaged, cut off, or of a later version: all of its models would be given up'],
      next: "look at it with openImage() or verifyImage(); pass { replace: 'image' } to give up all of it",
    })
  }
}

/** The image has a model of that name, and nobody said that it may be replaced. */
export class ModelExistsError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_MODEL_EXISTS'
  readonly category = 'privilege'
  readonly model: string

  constructor(store: BlockStore, model: string) {
    super(`A model ${quote(model)} is on ${store.name} already; nothing was written`, {
      next: 'give the new one another name, or pass { replace: true } to replace the one that is there',
    })
    this.model = model
  }
}

/** The image's directory has no place for another model. Nothing was written. */
export class DirectoryFullError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_DIRECTORY_FULL'
  readonly category = 'infeasible'

  constructor({ name }: BlockStore, models: number, lengthBytes: number) {
    super(`The image on ${name} has no place for another model; nothing was written`, {
      facts: [
        `with it, ${models} models; image format 1 allows ${MAX_MODELS}`,
        `with it, a directory of ${lengthBytes} bytes; image format 1 allows ${MAX_DIRECTORY_BYTES}`,
      ],
      next: 'remove a model that is not needed',
    })
  }
}
