import { SIGNATURE_SCAN_BYTES } from '@gpunvme/host-driver'
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

/** Queue depth of the load estimate, in chunks. */
const QUEUE_DEPTH = 32

export interface PreviewOptions extends DecideOptions, ExecuteOptions {
  /** Cost model of the drive, to estimate the load time. */
  readonly cost?: CostModel
}

/** Effect of a packing. */
export interface PackPreview {
  readonly plan: PackPlan
  /** Outcome for a model of the same name, or an unusable image. */
  readonly replaced: Decision['replaced']
  /** Models that stay. */
  readonly otherModels: readonly string[]
  /**
   * Ranges of the store that would be overwritten and that no publication of the existing image has written, in order.
   * Data there does not belong to the image. Empty if an image without a valid superblock is abandoned.
   */
  readonly neverWritten: readonly Extent[]
  /** Bytes of layers and source header. */
  readonly dataBytes: number
  /** Whether it continues an interrupted packing: the planned locations have its data. */
  readonly resumes: boolean
  /** Bytes of `dataBytes` noted by that packing: they would be read back and checked. */
  readonly resumableBytes: number
  /** Free space before packing; without an image, all space for one. */
  readonly freeBytes: number
  /** Time to read all layers once, in chunks of 1 MiB with 32 in flight, by the cost model. Absent without one. */
  readonly loadNs?: number
}

/**
 * Returns the effect of `pack` with the same arguments, and rejects what it would reject, except a read-only store:
 * it writes nothing.
 *
 * @throws the errors that `pack` throws before writing, except READ_ONLY.
 */
export async function previewPack(
  model: Model,
  target: Readable,
  { cost, name, replace = false, ...limits }: PreviewOptions = {},
): Promise<PackPreview> {
  const found = await survey(asStore(target), limits)
  const { plan, others, replaced, freeBytes } = decide(model, found, { ...(name !== undefined && { name }), replace })
  const live = replaced === 'discarded' ? undefined : found.image
  const left = await findLeftovers(found.store, { model, plan, live }, limits)
  const { layers, header } = plan.manifest
  return {
    ...{ plan, replaced, otherModels: others.map((entry) => entry.name), freeBytes },
    neverWritten: neverWrittenBy(found, plan),
    dataBytes: sumOf([...layers, header]),
    resumes: left.sequence > 0,
    resumableBytes: sumOf([...piecesOf(model, plan)].filter((piece) => isLeft(piece, left))),
    ...(cost && { loadNs: costOf(plan, cost) }),
  }
}

/**
 * Includes gaps between extents: this publication claims all bytes up to its end, and a later publication may write
 * there.
 */
function neverWrittenBy({ store, copies, isUnusable }: Target, plan: PackPlan): Extent[] {
  const { capacityBytes } = store
  const fromBytes = writtenEndOf(copies)
  if (isUnusable && fromBytes === 0) return []
  const endBytes = endOf(extentsOfPlan(plan))
  const toBytes = Math.min(capacityBytes, fromBytes === 0 ? Math.max(endBytes, DATA_START_BYTES) : endBytes)
  // If there is no image yet, packing also clears the end of the store.
  const tailBytes = fromBytes === 0 ? Math.max(toBytes, capacityBytes - SIGNATURE_SCAN_BYTES) : capacityBytes
  return [
    { offsetBytes: fromBytes, lengthBytes: toBytes - fromBytes },
    { offsetBytes: tailBytes, lengthBytes: capacityBytes - tailBytes },
  ].filter(({ lengthBytes }) => lengthBytes > 0)
}

/** Cost of whole chunks, and of the shorter one at the end of each layer. */
function costOf({ manifest }: PackPlan, cost: CostModel): number {
  return manifest.layers.reduce((sumNs, { lengthBytes }) => {
    const restBytes = lengthBytes % CHUNK_BYTES
    const wholeNs = Math.floor(lengthBytes / CHUNK_BYTES) * cost.readNs(CHUNK_BYTES, QUEUE_DEPTH)
    return sumNs + wholeNs + (restBytes === 0 ? 0 : cost.readNs(restBytes, QUEUE_DEPTH))
  }, 0)
}
