import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { Model } from '../formats/model.js'
import { encodeChunkTable } from '../image/chunk-table.js'
import { readCopies } from '../image/copies.js'
import { encodeDirectory } from '../image/directory.js'
import { encodeManifest, type Manifest } from '../image/manifest.js'
import { asStore, type Writable } from '../store/as-store.js'
import type { BlockStore, WritableBlockStore } from '../store/store.js'
import { refuseIfChanged } from './changed-meanwhile.js'
import { oneAtATime } from './one-at-a-time.js'
import { planPack } from './plan-pack.js'
import { clearEnds, invalidate, publish, writeBytes } from './publish.js'
import { findLive, findRoom } from './room.js'
import { writePieces } from './write-pieces.js'

/** So that whoever finds the image knows whom to ask. */
const WRITER = '@gpunvme/layer-loader'

const IMAGE_ID_BYTES = 16

export interface PackProgress {
  /** Of layers and source header: all that takes time. */
  readonly doneBytes: number
  readonly totalBytes: number
}

export interface PackOptions {
  /** The model's name in the image; when not given, what its file calls it, or the file's own name. */
  readonly name?: string
  /** 16 bytes; random when not given. */
  readonly imageId?: Uint8Array
  /** Permits to give up an image that is on the store already. False when not given. */
  readonly replace?: boolean
  /**
   * Called when the image that is there has to be given up before the new one is written, because both do not fit or
   * because it cannot be used. Nothing has been destroyed before it returns; what it throws ends the packing with the
   * old image as it was. Once it has returned there is no image until `pack` has succeeded: a packing that fails or is
   * aborted leaves none, and its error does not say so.
   */
  readonly onGiveUp?: () => void
  /** Until publication begins; that is then completed, so that the outcome is certain. */
  readonly signal?: AbortSignal
  /** Called after each write. What it throws ends the packing. */
  readonly onProgress?: (progress: PackProgress) => void
}

/** What was written, and where. */
export interface PackReceipt {
  readonly name: string
  readonly fingerprint: string
  readonly imageId: string
  readonly generation: number
  /** Where everything lies. */
  readonly manifest: Manifest
  /** From the first extent to the end of the last. */
  readonly imageBytes: number
  /** Of the tensors, without padding. */
  readonly tensorBytes: number
  /**
   * What became of an image that was there: 'kept' until the new one was published; 'given up' before, because both
   * did not fit, so that an interruption would have left none.
   */
  readonly replaced: 'nothing' | 'kept' | 'given up'
  /** By the store's clock: modelled time in a simulation. */
  readonly elapsedNs: number
}

/**
 * Writes a model to a namespace, or another store, as an image, and publishes it in one step: whenever it is interrupted, the store
 * holds the whole of the new image, or the whole of the old one, or none (see `replaced` and `onGiveUp`).
 *
 * Nothing is written before all of this is known to hold: the model can be loaded, the store is large enough,
 * and no image is there that may not be replaced.
 *
 * One packing at a time: a second one of the same store is refused. Other processes and hosts are kept away by
 * nothing; where one has published an image meanwhile, this one is not published.
 *
 * @throws EmptyModelError, UnloadableTensorsError, NamespaceTooSmallError, ImageExistsError and what `planPack`
 * throws; PackInProgressError, ImageChangedError; what reading the model or writing the store throws; the
 * signal's reason.
 */
export function pack(model: Model, target: Writable, options: PackOptions = {}): Promise<PackReceipt> {
  const store = asStore(target)
  return oneAtATime(store, () => packAlone(model, store, options))
}

async function packAlone(model: Model, store: WritableBlockStore, options: PackOptions): Promise<PackReceipt> {
  const { imageId = randomBytes(IMAGE_ID_BYTES), replace = false, signal, onGiveUp, onProgress } = options
  if (imageId.length !== IMAGE_ID_BYTES) {
    throw new RangeError(`imageId: expected ${IMAGE_ID_BYTES} bytes, got ${imageId.length}`)
  }
  signal?.throwIfAborted()
  const startNs = store.clock.now()
  const { blockBytes, capacityBytes } = store
  const naming = options.name === undefined ? {} : { name: options.name }
  const draft = planPack(model, blockBytes, naming)
  const imageBytes = draft.endBytes - draft.startBytes
  findRoom(imageBytes, capacityBytes, [])

  const copies = await readCopies(store, { ...(signal && { signal }) })
  const occupied = copies.some(({ ours }) => ours)
  if (occupied && !replace) throw new ImageExistsError(store)
  const live = occupied ? await findLive(store) : []
  const room = findRoom(imageBytes, capacityBytes, live ?? [])
  const keepsLive = room.keepsLive && live !== undefined
  const plan = planPack(model, blockBytes, { ...naming, startBytes: room.startBytes })

  signal?.throwIfAborted()
  if (!occupied) await clearEnds(store)
  else if (!keepsLive) {
    onGiveUp?.()
    // Whoever was told may have answered with an abort; this is the last moment at which it costs nothing.
    signal?.throwIfAborted()
    await invalidate(store, copies)
  }
  const digests = await writePieces(model, store, plan, signal, onProgress)

  const table = encodeChunkTable(digests.chunkCrcs)
  const manifest = digests.complete(plan.manifest, crc32(table))
  const encodedManifest = encodeManifest(manifest)
  const { name, fingerprint, chunkTable } = manifest
  const entry = { name, fingerprint, manifest: { ...plan.entry.manifest, crc32: crc32(encodedManifest) } }
  const encodedDirectory = encodeDirectory([entry])
  await writeBytes(store, chunkTable.offsetBytes, table, signal)
  await writeBytes(store, entry.manifest.offsetBytes, encodedManifest, signal)
  await writeBytes(store, plan.directory.offsetBytes, encodedDirectory, signal)

  await refuseIfChanged(store, occupied && keepsLive ? copies : undefined, { ...(signal && { signal }) })
  signal?.throwIfAborted()
  const superblock = {
    generation: 1 + Math.max(0, ...copies.map(({ superblock }) => superblock?.generation ?? 0)),
    imageId: Buffer.from(imageId).toString('hex'),
    directory: { ...plan.directory, crc32: crc32(encodedDirectory) },
    usedEndBytes: plan.endBytes,
    writer: WRITER,
  }
  await publish(store, superblock, copies)
  return {
    name,
    fingerprint,
    imageId: superblock.imageId,
    generation: superblock.generation,
    manifest,
    imageBytes,
    tensorBytes: plan.tensorBytes,
    replaced: !occupied ? 'nothing' : keepsLive ? 'kept' : 'given up',
    elapsedNs: store.clock.now() - startNs,
  }
}

/** The store holds an image, or what is left of one, and nobody said that it may be replaced. */
export class ImageExistsError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_IMAGE_EXISTS'
  readonly category = 'privilege'

  constructor({ name }: BlockStore) {
    super(`A model image is on ${name} already; nothing was written`, {
      next: 'look at it with openImage() or verifyImage(); pass { replace: true } to give it up',
    })
  }
}
