import { openImage } from '../image/open-image.js'
import { sumOf } from '../image/holes.js'
import { alignUp } from '../image/format.js'
import { asStore, type Writable } from '../store/as-store.js'
import type { WritableBlockStore } from '../store/store.js'
import { endOf, placeDirectory } from './decide.js'
import { oneAtATime } from './one-at-a-time.js'
import { checkImageId, nextGeneration, publishDirectory, type Publication } from './publish-directory.js'
import { NoRoomForDirectoryError } from './room.js'

export interface RemoveOptions {
  /** 16 bytes; random when not given. */
  readonly imageId?: Uint8Array
  /** Until publication begins; that is then completed, so that the outcome is certain. */
  readonly signal?: AbortSignal
}

/** What was removed, and what that leaves. */
export interface RemoveReceipt extends Publication {
  readonly name: string
  readonly fingerprint: string
  /** What it took with padding, which other models may take now. Its bytes stay until then. */
  readonly freedBytes: number
  /** The models that stay, by name. */
  readonly models: readonly string[]
}

/**
 * Removes a model from an image, in one step: whenever it is interrupted, the image has the model or does not, and
 * all others. The last one leaves an image without models. No byte of a model is written over: this is no erasure.
 *
 * @throws ModelNotInImageError, NoRoomForDirectoryError; PackInProgressError, ImageChangedError; what `openImage` and
 * writing the store throw; the signal's reason.
 */
export function removeModel(target: Writable, name: string, options: RemoveOptions = {}): Promise<RemoveReceipt> {
  const store = asStore(target)
  return oneAtATime(store, () => removeAlone(store, name, options))
}

async function removeAlone(
  store: WritableBlockStore,
  name: string,
  { imageId, signal }: RemoveOptions,
): Promise<RemoveReceipt> {
  checkImageId(imageId)
  const image = await openImage(store, signal && { signal })
  const { fingerprint } = image.model(name)
  const entries = image.directory.filter((entry) => entry.name !== name)
  const directory = placeDirectory(entries, image.holes)
  if (directory === undefined) throw new NoRoomForDirectoryError(store, name)
  const { copies, extents } = image
  const staying = extents.filter((extent) => extent.model !== undefined && extent.model !== name)
  const change = {
    ...{ entries, directory, generation: nextGeneration(copies) },
    usedEndBytes: endOf([...staying, directory]),
    ...(imageId && { imageId }),
  }
  const publication = await publishDirectory({ store, copies, image, isUnusable: false }, change, signal)
  const freed = extents.filter(({ model }) => model === name)
  const freedBytes = sumOf(freed.map(({ lengthBytes }) => ({ lengthBytes: alignUp(lengthBytes) })))
  return { name, fingerprint, ...publication, freedBytes, models: entries.map((entry) => entry.name) }
}
