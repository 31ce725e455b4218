import { LoaderError } from '../error.js'
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
   * Allows the replacement of a model of the same name (true), or also of an unusable image with all its models
   * ('image'). Default: false.
   */
  readonly replace?: boolean | 'image'
}

/** Location of a model, and what is removed for it. */
export interface Decision {
  readonly plan: PackPlan
  /** Models that stay. `othersEndBytes` is the end of their last extent; 0 without models. */
  readonly others: readonly DirectoryEntry[]
  readonly othersEndBytes: number
  /** Whether a model of that name, or an unusable image, exists, and whether it can be kept until publication. */
  readonly replaced: 'nothing' | 'kept' | 'discarded'
  /** Free space before packing, in bytes. */
  readonly freeBytes: number
  /** Location of an interim directory with the remaining models, if a model is given up and others stay. */
  readonly interim?: Extent
}

/**
 * Finds space for a model beside all others on the store or, if it replaces a model, in the space of that one. Reads
 * and writes nothing.
 *
 * @throws LoaderError (IMAGE_EXISTS, MODEL_EXISTS, DIRECTORY_FULL), NamespaceTooSmallError, and errors of `planPack`.
 */
export function decide(model: Model, { store, image, isUnusable }: Target, options: DecideOptions = {}): Decision {
  const alone = planPack(model, store.blockBytes, options)
  const { name } = alone
  const { replace = false } = options
  if (isUnusable && replace !== 'image') throw imageExists(store)
  const entries = image?.directory ?? []
  const others = entries.filter((entry) => entry.name !== name)
  const isTaken = others.length < entries.length
  if (isTaken && replace === false) throw modelExists(store, name)

  const holesAround = (extents: readonly Extent[]) => holesBetween(extents, store.capacityBytes)
  const extents = image?.extents ?? []
  const holes = holesAround(extents)
  const freeBytes = sumOf(holes)
  const staying = extents.filter((extent) => extent.model !== undefined && extent.model !== name)
  const othersEndBytes = endOf(staying)
  const plan = layOut(model, name, others, holes)
  if (plan !== undefined) {
    refuseTooMuch(model, store, others, plan)
    const replaced = isUnusable ? 'discarded' : isTaken ? 'kept' : 'nothing'
    return { plan, others, othersEndBytes, freeBytes, replaced }
  }
  const tooSmall = new NamespaceTooSmallError(alone.endBytes, store.capacityBytes, holes)
  if (!isTaken) throw tooSmall

  const interim = others.length === 0 ? undefined : placeDirectory(others, holes)
  if (others.length > 0 && interim === undefined) throw tooSmall
  const after = layOut(model, name, others, holesAround(interim ? [...staying, interim] : staying))
  if (after === undefined) throw tooSmall
  refuseTooMuch(model, store, others, after)
  return { plan: after, others, othersEndBytes, freeBytes, replaced: 'discarded', ...(interim && { interim }) }
}

/** Returns the end of the last extent, rounded up to 4096 bytes; 0 without extents. */
export function endOf(extents: readonly Extent[]): number {
  return extents.reduce((max, { offsetBytes, lengthBytes }) => Math.max(max, alignUp(offsetBytes + lengthBytes)), 0)
}

/** Returns space for a directory; undefined if there is none. */
export function placeDirectory(entries: readonly DirectoryEntry[], holes: readonly Extent[]): Extent | undefined {
  const { byteLength: lengthBytes } = encodeDirectory(entries)
  const offsetBytes = firstFit(holes)(lengthBytes)
  return offsetBytes === undefined ? undefined : { offsetBytes, lengthBytes }
}

/** Rejects a model that fits on the store but not into the format. */
function refuseTooMuch(model: Model, store: BlockStore, others: readonly DirectoryEntry[], plan: PackPlan): void {
  const { lengthBytes } = plan.directory
  if (others.length >= MAX_MODELS || lengthBytes > MAX_DIRECTORY_BYTES) {
    throw directoryFull(store, others.length + 1, lengthBytes)
  }
  refuseLongManifest(model, plan)
}

/** Error of packing onto an unusable image without permission to replace it. */
export function imageExists({ name }: BlockStore): LoaderError {
  const headline = `${name} has a model image that cannot be added to; nothing was written`
  return new LoaderError('ERR_GPUNVME_IMAGE_EXISTS', 'privilege', headline, {
    facts: ['it is damaged, truncated, or has a later version: all its models would be lost'],
    next: "check it with openImage() or verifyImage(); pass { replace: 'image' } to discard all of it",
  })
}

/** Error of packing a model under an existing name without permission to replace it. */
export function modelExists(store: BlockStore, model: string): LoaderError {
  const headline = `${store.name} already has a model ${quote(model)}; nothing was written`
  return new LoaderError('ERR_GPUNVME_MODEL_EXISTS', 'privilege', headline, {
    next: 'choose another name, or pass { replace: true } to replace the existing model',
  })
}

/** Error of an image whose directory cannot hold another model. Nothing was written. */
export function directoryFull({ name }: BlockStore, models: number, lengthBytes: number): LoaderError {
  const headline = `The image on ${name} cannot hold another model; nothing was written`
  return new LoaderError('ERR_GPUNVME_DIRECTORY_FULL', 'infeasible', headline, {
    facts: [
      `with it, ${models} models; image format 1 allows ${MAX_MODELS}`,
      `with it, a directory of ${lengthBytes} bytes; image format 1 allows ${MAX_DIRECTORY_BYTES}`,
    ],
    next: 'remove a model',
  })
}
