import type { CostModel, ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import type { Model } from '../formats/model.js'
import { CHUNK_BYTES } from '../image/format.js'
import { sumOf } from '../image/holes.js'
import { asStore, type Readable } from '../store/as-store.js'
import { decide, type DecideOptions, type Decision } from './decide.js'
import type { PackPlan } from './lay-out.js'
import { findLeftovers, isLeft } from './notes.js'
import { piecesOf } from './pieces.js'
import { survey } from './target.js'

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
    dataBytes: sumOf([...layers, header]),
    continues: left.sequence > 0,
    resumableBytes: sumOf([...piecesOf(model, plan)].filter((piece) => isLeft(piece, left))),
    ...(cost && { loadNs: costOf(plan, cost) }),
  }
}

/** Whole chunks, and for each layer the shorter one at its end. */
function costOf({ manifest }: PackPlan, cost: CostModel): number {
  return manifest.layers.reduce((sumNs, { lengthBytes }) => {
    const restBytes = lengthBytes % CHUNK_BYTES
    const wholeNs = Math.floor(lengthBytes / CHUNK_BYTES) * cost.readNs(CHUNK_BYTES, QUEUE_DEPTH)
    return sumNs + wholeNs + (restBytes === 0 ? 0 : cost.readNs(restBytes, QUEUE_DEPTH))
  }, 0)
}
