import { openImage } from '../image/open-image.js'
import { sumOf } from '../image/holes.js'
import { alignUp } from '../image/format.js'
import { asWritableStore, type Writable } from '../store/as-store.js'
import type { WritableBlockStore } from '../store/store.js'
import { endOf, placeDirectory } from './decide.js'
import { oneAtATime } from './one-at-a-time.js'
import { checkImageId, nextGeneration, publishDirectory, type Publication } from './publish-directory.js'
import { noRoomForDirectory } from './room.js'

/** Options of `removeModel`. */
export interface RemoveOptions {
  /** 16 bytes. Default: random. */
  readonly imageId?: Uint8Array
  /** Aborts until publication begins. Publication is always completed, so that the outcome is certain. */
  readonly signal?: AbortSignal
}

/** Result of a removal. */
export interface RemoveReceipt extends Publication {
  readonly name: string
  readonly fingerprint: string
  /** Bytes of the model including padding, free for other models. The data stay until they are overwritten. */
  readonly freedBytes: number
  /** Names of the remaining models. */
  readonly models: readonly string[]
}

/**
 * Removes a model from an image atomically: after an interruption, the image has the model or not, and all others.
 * Removing the last one leaves an image without models. The data are not overwritten: this is not an erasure.
 *
 * @throws ModelNotInImageError, LoaderError (READ_ONLY, NO_ROOM_FOR_DIRECTORY, PACK_IN_PROGRESS, IMAGE_CHANGED), errors
 * of `openImage` and of writing the store, the signal's reason.
 */
export async function removeModel(target: Writable, name: string, options: RemoveOptions = {}): Promise<RemoveReceipt> {
  const store = asWritableStore(target)
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
  if (directory === undefined) throw noRoomForDirectory(store, name)
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
