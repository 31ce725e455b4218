import { crc32 } from 'node:zlib'
import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import type { Model } from '../formats/model.js'
import { encodeChunkTable } from '../image/chunk-table.js'
import type { DirectoryEntry } from '../image/directory.js'
import { encodeManifest, type Manifest } from '../image/manifest.js'
import { asWritableStore, type Writable } from '../store/as-store.js'
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

/** Flushing more often costs some per cent of a drive's write speed. */
const DEFAULT_CHECKPOINT_BYTES = 1024 * 1024 * 1024

/** Progress of packing. */
export interface PackProgress {
  /** Bytes of layers and source header. */
  readonly doneBytes: number
  readonly totalBytes: number
}

/** Options of `pack`. */
export interface PackOptions extends DecideOptions {
  /** 16 bytes. Default: random. */
  readonly imageId?: Uint8Array
  /**
   * Called before the replaced model is discarded, if the store cannot hold both versions, or before an unusable image
   * is discarded. Nothing has been destroyed yet: an error that it throws ends the packing without changes. After it
   * returns, the old model is lost whether `pack` succeeds or not, and errors do not say so. Other models of a usable
   * image stay.
   * @param what 'image' for an unusable image with all its models
   */
  readonly onDiscard?: (what: 'model' | 'image') => void
  /**
   * Resume an interrupted packing of the same files to the same location. Default: true. Files are the same if their
   * `revision` is. All data left by that packing are read back and checked.
   */
  readonly resume?: boolean
  /**
   * Bytes between flushes of the drive with a progress note: the maximum loss by an interruption. Default: 1 GiB.
   * Without a `revision` of the files, nothing is noted.
   */
  readonly checkpointBytes?: number
  /** Aborts until publication begins. Publication is always completed, so that the outcome is certain. */
  readonly signal?: AbortSignal
  /** Called after each write. An error that it throws ends the packing. */
  readonly onProgress?: (progress: PackProgress) => void
}

/** Result of a packing. */
export interface PackReceipt {
  readonly name: string
  readonly fingerprint: string
  /** Names of other models in the image with the same tensors. */
  readonly sameAs: readonly string[]
  readonly imageId: string
  readonly generation: number
  /** Location of all parts. */
  readonly manifest: Manifest
  /** Bytes of the model including padding, manifest and directory. */
  readonly imageBytes: number
  /** Bytes of the tensors without padding. */
  readonly tensorBytes: number
  /**
   * Outcome for a model of the same name, or an unusable image: 'kept' until the new one was published; 'discarded'
   * before, for lack of space, so that an interruption would have left neither.
   */
  readonly replaced: Decision['replaced']
  /** Bytes of layers that an earlier packing had written, and that were read back instead of written. */
  readonly resumedBytes: number
  /** Time by the store's clock, in nanoseconds: modelled in a simulation. */
  readonly elapsedNs: number
}

/**
 * Adds a model to the image on a namespace or another store, or creates an image, and publishes it atomically: after an
 * interruption, the store has the complete new model, the previous content, or the previous content without the model
 * of the same name (see `replaced` and `onDiscard`). Other models are not changed.
 *
 * Before the first write, it checks that the model can be loaded, that there is space, and that no model of its name
 * exists unless it may be replaced.
 *
 * Packing the same model again resumes an interrupted packing (see `resume`).
 *
 * Only one packing at a time: a second one on the same store or file is rejected. Other processes and hosts are not
 * locked out; if one publishes an image meanwhile, this one is not published.
 *
 * @throws LoaderError (READ_ONLY, EMPTY_MODEL, MODEL_EXISTS, IMAGE_EXISTS, DIRECTORY_FULL, PACK_IN_PROGRESS,
 * IMAGE_CHANGED, SOURCE_CHANGED), NamespaceTooSmallError, errors of `planPack`, errors of reading the model or writing
 * the store, the signal's reason. SOURCE_CHANGED: a model file is written meanwhile.
 */
export async function pack(model: Model, target: Writable, options: PackOptions = {}): Promise<PackReceipt> {
  const store = asWritableStore(target)
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
  const { plan, others, othersEndBytes, replaced } = decision
  signal?.throwIfAborted()
  const sound = await withSoundCopies(found, limits)
  const target = replaced === 'discarded' ? await giveUp(sound, decision, options) : sound
  const journal = await Journal.open(store, { model, plan, live: target.image }, resume, signal)
  if (found.image === undefined && !found.isUnusable) {
    await clearEnds(store, journal.chunkCrcs.length > 0 ? extentsOfPlan(plan) : [])
  }
  await journal.begin(signal)
  const writing = { journal, checkpointBytes, ...limits, ...(onProgress && { onProgress }) }
  const { digests, resumedBytes } = await writePieces(model, store, plan, writing)
  const { manifest, entry } = await writeManifest(store, plan, digests, signal)
  const change = {
    entries: [...others, entry],
    directory: plan.directory,
    usedEndBytes: Math.max(othersEndBytes, plan.usedEndBytes),
    // The copies no longer describe an abandoned image, but its bytes remain.
    writtenEndBytes: Math.max(endOf(extentsOfPlan(plan)), writtenEndOf(found.copies)),
    generation: nextGeneration([...found.copies, ...target.copies]),
    ...(imageId && { imageId }),
  }
  const publication = await publishDirectory(target, change, signal)
  const { name, fingerprint } = entry
  const sameAs = others.filter((other) => other.fingerprint === fingerprint).map((other) => other.name)
  const { imageBytes, tensorBytes } = plan
  return {
    ...{ name, fingerprint, sameAs, ...publication, manifest, imageBytes, tensorBytes, replaced, resumedBytes },
    elapsedNs: store.clock.now() - startNs,
  }
}

/**
 * Ensures that both superblock copies refer to the image before its free space is written: an older copy refers to that
 * space, and may be found next.
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

/** Discards a model, or an unusable image, to free its space; returns the remaining target. */
async function giveUp(
  target: Target<WritableBlockStore>,
  { others, othersEndBytes, interim }: Decision,
  { signal, onDiscard }: PackOptions,
): Promise<Target<WritableBlockStore>> {
  const { store, copies, isUnusable } = target
  onDiscard?.(isUnusable ? 'image' : 'model')
  // `onDiscard` may have aborted; nothing has been destroyed yet.
  signal?.throwIfAborted()
  if (interim === undefined) await invalidate(store, copies)
  else {
    const usedEndBytes = Math.max(othersEndBytes, endOf([interim]))
    const change = { entries: others, directory: interim, usedEndBytes, generation: nextGeneration(copies) }
    await publishDirectory(target, change, signal)
  }
  return survey(store, signal && { signal })
}

/** Writes the chunk table, and the manifest with all digests. */
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
