import { quote } from '../formats/quote.js'
import { alignUp, type Extent } from './format.js'
import { ImageContentError } from './json.js'
import type { Manifest } from './manifest.js'
import type { DirectoryEntry } from './directory.js'

/** An extent and its content, for messages. */
export interface NamedExtent extends Extent {
  readonly holds: string
  /** Model of the extent; undefined for the directory. */
  readonly model: string | undefined
}

/** Returns all extents of an image outside its superblocks. */
export function extentsOf(
  directory: Extent,
  models: readonly { entry: DirectoryEntry; manifest: Manifest }[],
): NamedExtent[] {
  return [
    { ...directory, holds: 'directory', model: undefined },
    ...models.flatMap(({ entry, manifest }) => {
      const of = (holds: string, { offsetBytes, lengthBytes }: Extent): NamedExtent => ({
        holds: `${holds} of ${quote(entry.name)}`,
        model: entry.name,
        offsetBytes,
        lengthBytes,
      })
      return [
        of('manifest', entry.manifest),
        of('source header', manifest.header),
        of('chunk table', manifest.chunkTable),
        ...manifest.layers.map((layer) => of(quote(layer.name), layer)),
      ]
    }),
  ]
}

/** @throws ImageContentError if two extents overlap. */
export function refuseOverlap(extents: readonly NamedExtent[]): void {
  const inOrder = extents.filter(({ lengthBytes }) => lengthBytes > 0).sort((a, b) => a.offsetBytes - b.offsetBytes)
  inOrder.forEach(({ offsetBytes, holds }, index) => {
    const before = inOrder[index - 1]
    const endBytes = before === undefined ? 0 : alignUp(before.offsetBytes + before.lengthBytes)
    if (offsetBytes >= endBytes) return
    throw new ImageContentError(
      'layout',
      holds,
      `an extent from byte ${endBytes}, after ${before!.holds}`,
      `${offsetBytes}`,
    )
  })
}
