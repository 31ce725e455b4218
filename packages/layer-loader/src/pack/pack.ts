import { crc32 } from 'node:zlib'
import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import type { Model } from '../formats/model.js'
import { encodeChunkTable } from '../image/chunk-table.js'
import type { DirectoryEntry } from '../image/directory.js'
import { encodeManifest, type Manifest } from '../image/manifest.js'
import { asStore, type Writable } from '../store/as-store.js'
import type { WritableBlockStore } from '../store/store.js'
import { decide, endOf, type DecideOptions, type Decision } from './decide.js'
import type { Digests } from './digests.js'
import { Journal } from './journal.js'
import { extentsOfPlan, type PackPlan } from './lay-out.js'
import { oneAtATime } from './one-at-a-time.js'
import { clearEnds, invalidate, publish, writeBytes } from './publish.js'
import { checkImageId, nextGeneration, publishDirectory, writtenEndOf } from './publish-directory.js'
import { survey, type Target } from './target.js'
import { writePieces } from './write-pieces.js'

/** A drive that stops for a flush loses some per cent of its speed where this is less, and nobody notices above. */
const DEFAULT_CHECKPOINT_BYTES = 1024 * 1024 * 1024

export interface PackProgress {
  /** Of layers and source header: all that takes time. */
  readonly doneBytes: number
  readonly totalBytes: number
}

export interface PackOptions extends DecideOptions {
  /** 16 bytes; random when not given. */
  readonly imageId?: Uint8Array
  /**
   * Called when the model that is replaced has to be given up before the new one is written, because there is no room
   * for both, or the whole image, because it cannot be used. Nothing has been destroyed before it returns; what it
   * throws ends the packing with everything as it was. Once it has returned that model is gone, whether `pack`
   * succeeds or not, and its error does not say so. Other models of a usable image stay.
   */
  readonly onGiveUp?: () => void
  /**
   * Whether to go on where an earlier packing of the same files to the same place was interrupted; true when not given.
   * Files are the same where each has the same `revision`. What that packing has left is read back from the drive and
   * checked, all of it.
   */
  readonly resume?: boolean
  /**
   * After how many bytes the drive is flushed and progress is noted on it; 1 GiB when not given. It is what an
   * interruption costs. Nothing is noted where a file has no `revision`.
   */
  readonly checkpointBytes?: number
  /** Until publication begins; that is then completed, so that the outcome is certain. */
  readonly signal?: AbortSignal
  /** Called after each write. What it throws ends the packing. */
  readonly onProgress?: (progress: PackProgress) => void
}

/** What was written, and where. */
export interface PackReceipt {
  readonly name: string
  readonly fingerprint: string
  /** Other models in the image that have the same tensors, by name. */
  readonly sameAs: readonly string[]
  readonly imageId: string
  readonly generation: number
  /** Where everything lies. */
  readonly manifest: Manifest
  /** What the model takes with padding, manifest and directory. */
  readonly imageBytes: number
  /** Of the tensors, without padding. */
  readonly tensorBytes: number
  /**
   * What became of a model of the same name, or of an image that could not be used: 'kept' until the new one was
   * published; 'given up' before, because there was no room for both, so that an interruption would have left none.
   */
  readonly replaced: Decision['replaced']
  /** Of layers, that an earlier packing had written, and that were read back instead of being written again. */
  readonly resumedBytes: number
  /** By the store's clock: modelled time in a simulation. */
  readonly elapsedNs: number
}

/**
 * Adds a model to the image on a namespace, or on another store, or makes an image of it where there is none; and
 * publishes it in one step: whenever it is interrupted, the store holds the whole of the new model, or what it held
 * before, or that without the model of the same name (see `replaced` and `onGiveUp`). Other models are not touched.
 *
 * Nothing is written before all of this is known to hold: the model can be loaded, there is room for it,
 * and no model of its name is there that may not be replaced.
 *
 * A packing that was interrupted goes on where it was, when the same is packed again (see `resume`).
 *
 * One packing at a time: a second one of the same store is refused. Other processes and hosts are kept away by
 * nothing; where one has published an image meanwhile, this one is not published.
 *
 * @throws EmptyModelError, UnloadableTensorsError, NamespaceTooSmallError, ModelExistsError, ImageExistsError,
 * DirectoryFullError and what `planPack` throws; PackInProgressError, ImageChangedError; SourceChangedError where a file
 * is written to meanwhile; what reading the model or
 * writing the store throws; the signal's reason.
 */
export function pack(model: Model, target: Writable, options: PackOptions = {}): Promise<PackReceipt> {
  const store = asStore(target)
  return oneAtATime(store, () => packAlone(model, store, options))
}

async function packAlone(model: Model, store: WritableBlockStore, options: PackOptions): Promise<PackReceipt> {
  const { imageId, signal, onProgress, resume = true, checkpointBytes = DEFAULT_CHECKPOINT_BYTES } = options
  checkImageId(imageId)
  if (!(checkpointBytes > 0)) throw new RangeError(`checkpointBytes: expected more than 0, got ${checkpointBytes}`)
  signal?.throwIfAborted()
  const startNs = store.clock.now()
  const limits = { ...(signal && { signal }) }
  const found = await survey(store, limits)
  const decision = decide(model, found, options)
  const { plan, beside, besideEndBytes, replaced } = decision
  signal?.throwIfAborted()
  const sound = await withSoundCopies(found, limits)
  const target = replaced === 'given up' ? await giveUp(sound, decision, options) : sound
  const journal = await Journal.open(store, { model, plan, live: target.image }, resume, signal)
  if (found.image === undefined && !found.isUnusable) {
    await clearEnds(store, journal.chunkCrcs.length > 0 ? extentsOfPlan(plan) : [])
  }
  await journal.begin(signal)
  const writing = { journal, checkpointBytes, ...limits, ...(onProgress && { onProgress }) }
  const { digests, resumedBytes } = await writePieces(model, store, plan, writing)
  const { manifest, entry } = await writeManifest(store, plan, digests, signal)
  const change = {
    entries: [...beside, entry],
    directory: plan.directory,
    usedEndBytes: Math.max(besideEndBytes, plan.usedEndBytes),
    // The copies no longer describe an abandoned image, but its bytes remain.
    writtenEndBytes: Math.max(endOf(extentsOfPlan(plan)), writtenEndOf(found.copies)),
    generation: nextGeneration([...found.copies, ...target.copies]),
    ...(imageId && { imageId }),
  }
  const publication = await publishDirectory(target, change, signal)
  const { name, fingerprint } = entry
  const sameAs = beside.filter((other) => other.fingerprint === fingerprint).map((other) => other.name)
  const { imageBytes, tensorBytes } = plan
  return {
    ...{ name, fingerprint, sameAs, ...publication, manifest, imageBytes, tensorBytes, replaced, resumedBytes },
    elapsedNs: store.clock.now() - startNs,
  }
}

/**
 * Sees to it that both copies of the superblock lead to the image, before anything is written to room that it leaves:
 * an older copy leads there, and may be the one that is found next.
 */
async function withSoundCopies(
  found: Target<WritableBlockStore>,
  limits: ExecuteOptions,
): Promise<Target<WritableBlockStore>> {
  const { store, copies, image } = found
  const isStale = copies.some(
    ({ superblock }) => (superblock?.generation ?? Infinity) < (image?.superblock.generation ?? 0),
  )
  if (image === undefined || !isStale) return found
  await publish(store, image.superblock, copies)
  return survey(store, limits)
}

/** Makes room by the loss of a model, or of an image that nobody can use; and looks at what is left. */
async function giveUp(
  target: Target<WritableBlockStore>,
  { beside, besideEndBytes, interim }: Decision,
  { signal, onGiveUp }: PackOptions,
): Promise<Target<WritableBlockStore>> {
  const { store, copies } = target
  onGiveUp?.()
  // Whoever was told may have answered with an abort; this is the last moment at which it costs nothing.
  signal?.throwIfAborted()
  if (interim === undefined) await invalidate(store, copies)
  else {
    const usedEndBytes = Math.max(besideEndBytes, endOf([interim]))
    const change = { entries: beside, directory: interim, usedEndBytes, generation: nextGeneration(copies) }
    await publishDirectory(target, change, signal)
  }
  return survey(store, signal && { signal })
}

/** Writes the chunk table and the manifest with every digest in its place. */
async function writeManifest(
  store: WritableBlockStore,
  plan: PackPlan,
  digests: Digests,
  signal: AbortSignal | undefined,
): Promise<{ manifest: Manifest; entry: DirectoryEntry }> {
  const table = encodeChunkTable(digests.chunkCrcs)
  const manifest = digests.complete(plan.manifest, crc32(table))
  const encoded = encodeManifest(manifest)
  await writeBytes(store, manifest.chunkTable.offsetBytes, table, signal)
  await writeBytes(store, plan.entry.manifest.offsetBytes, encoded, signal)
  const { name, fingerprint } = manifest
  return { manifest, entry: { name, fingerprint, manifest: { ...plan.entry.manifest, crc32: crc32(encoded) } } }
}
