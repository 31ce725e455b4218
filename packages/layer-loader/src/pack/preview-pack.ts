import { SIGNATURE_REACH_BYTES } from '@gpunvme/host-driver'
import type { CostModel, ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import type { Model } from '../formats/model.js'
import { CHUNK_BYTES, DATA_START_BYTES, type Extent } from '../image/format.js'
import { sumOf } from '../image/holes.js'
import { asStore, type Readable } from '../store/as-store.js'
import { decide, endOf, type DecideOptions, type Decision } from './decide.js'
import { extentsOfPlan, type PackPlan } from './lay-out.js'
import { findLeftovers, isLeft } from './notes.js'
import { piecesOf } from './pieces.js'
import { writtenEndOf } from './publish-directory.js'
import { survey, type Target } from './target.js'

/** How many chunks a loader asks for at a time. */
const QUEUE_DEPTH = 32

export interface PreviewOptions extends DecideOptions, ExecuteOptions {
  /** Of the drive, for an estimate of what loading will take. */
  readonly cost?: CostModel
}

/** What a packing would do. */
export interface PackPreview {
  readonly plan: PackPlan
  /** What would become of a model of the same name, or of an image that cannot be used. */
  readonly replaced: Decision['replaced']
  /** Models that are there and stay. */
  readonly beside: readonly string[]
  /**
   * Ranges of the store that would be overwritten and that no publication of the existing image has written, in order. Data
   * there does not belong to the image. Empty if an image without a valid superblock is abandoned.
   */
  readonly neverWritten: readonly Extent[]
  /** Of layers and source header. */
  readonly dataBytes: number
  /** Whether an earlier packing of the same has begun and was interrupted: what lies in the plan's places is its own. */
  readonly continues: boolean
  /** What that one has left of `dataBytes`, by its notes: it would be read back and checked. */
  readonly resumableBytes: number
  /** Free room before; without an image all that one could have. */
  readonly freeBytes: number
  /** By the cost model: to read all layers once, in chunks of 1 MiB with 32 in flight. Absent without one. */
  readonly loadNs?: number
}

/**
 * Says what `pack` would do with the same arguments, and refuses what it would refuse. Nothing is written: a store
 * that cannot be written to will do.
 *
 * @throws what `pack` throws before it writes.
 */
export async function previewPack(
  model: Model,
  target: Readable,
  { cost, name, replace = false, ...limits }: PreviewOptions = {},
): Promise<PackPreview> {
  const found = await survey(asStore(target), limits)
  const { plan, beside, replaced, freeBytes } = decide(model, found, { ...(name !== undefined && { name }), replace })
  const live = replaced === 'given up' ? undefined : found.image
  const left = await findLeftovers(found.store, { model, plan, live }, limits)
  const { layers, header } = plan.manifest
  return {
    ...{ plan, replaced, beside: beside.map((entry) => entry.name), freeBytes },
    neverWritten: neverWrittenBy(found, plan),
    dataBytes: sumOf([...layers, header]),
    continues: left.sequence > 0,
    resumableBytes: sumOf([...piecesOf(model, plan)].filter((piece) => isLeft(piece, left))),
    ...(cost && { loadNs: costOf(plan, cost) }),
  }
}

/**
 * Includes gaps between extents: this publication claims all bytes up to its end, and a later publication may write there.
 */
function neverWrittenBy({ store, copies, isUnusable }: Target, plan: PackPlan): Extent[] {
  const { capacityBytes } = store
  const fromBytes = writtenEndOf(copies)
  if (isUnusable && fromBytes === 0) return []
  const endBytes = endOf(extentsOfPlan(plan))
  const toBytes = Math.min(capacityBytes, fromBytes === 0 ? Math.max(endBytes, DATA_START_BYTES) : endBytes)
  // If there is no image yet, packing also clears the end of the store.
  const tailBytes = fromBytes === 0 ? Math.max(toBytes, capacityBytes - SIGNATURE_REACH_BYTES) : capacityBytes
  return [
    { offsetBytes: fromBytes, lengthBytes: toBytes - fromBytes },
    { offsetBytes: tailBytes, lengthBytes: capacityBytes - tailBytes },
  ].filter(({ lengthBytes }) => lengthBytes > 0)
}

/** Whole chunks, and for each layer the shorter one at its end. */
function costOf({ manifest }: PackPlan, cost: CostModel): number {
  return manifest.layers.reduce((sumNs, { lengthBytes }) => {
    const restBytes = lengthBytes % CHUNK_BYTES
    const wholeNs = Math.floor(lengthBytes / CHUNK_BYTES) * cost.readNs(CHUNK_BYTES, QUEUE_DEPTH)
    return sumNs + wholeNs + (restBytes === 0 ? 0 : cost.readNs(restBytes, QUEUE_DEPTH))
  }, 0)
}
