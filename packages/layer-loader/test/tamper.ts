/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment, typescript/no-unsafe-argument, typescript/restrict-plus-operands -- JSON changed into values that no type describes */
import { crc32 } from 'node:zlib'
import { encodeSuperblock, type Superblock } from '../src/image/superblock.js'
import { openImage } from '../src/index.js'
import { pack } from '../src/image/index.js'
import type { Model } from '../src/formats/index.js'
import { MemoryNamespace } from './memory-namespace.js'
import { smallModel } from './models.js'

/** JSON of an image, which a test may change in any way. */
// oxlint-disable-next-line typescript/no-explicit-any -- see above
export type Json = any

interface Tampering {
  /** Default: `smallModel()`. */
  readonly model?: Model
  /** A second model, packed as 'second'. Default: none. */
  readonly second?: Model
  readonly capacityBytes?: number
  readonly directory?: (directory: Json) => unknown
  readonly manifest?: (manifest: Json) => unknown
  readonly superblock?: (superblock: Superblock) => Superblock
}

/** Free space at the end of the namespace for tampered structures of any length. */
const SPARE_BYTES = 4 << 20

/**
 * Returns a namespace with a changed image whose checksums match, so that only its content is invalid. A callback
 * changes the JSON in place, or returns a replacement; a string or bytes are stored unchanged.
 */
export async function tampered({
  directory,
  manifest,
  superblock,
  model,
  second,
  capacityBytes = 8 << 20,
}: Tampering): Promise<MemoryNamespace> {
  const memory = new MemoryNamespace({ capacityBytes })
  await pack(model ?? (await smallModel()), memory.namespace)
  if (second !== undefined) await pack(second, memory.namespace, { name: 'second' })
  const { superblock: live } = await openImage(memory.namespace)
  const { media } = memory
  const { offsetBytes, lengthBytes } = live.directory
  const directoryJson: Json = JSON.parse(Buffer.from(media.subarray(offsetBytes, offsetBytes + lengthBytes)).toString())
  const place: Json = directoryJson.models[0].manifest
  const start: number = place.offsetBytes
  const manifestJson: Json = JSON.parse(Buffer.from(media.subarray(start, start + place.lengthBytes)).toString())

  let endBytes = capacityBytes - SPARE_BYTES
  const put = (content: Json, change: ((content: Json) => unknown) | undefined) => {
    const changed = change?.(content) ?? content
    const isRaw = typeof changed === 'string' || changed instanceof Uint8Array
    const encoded = Buffer.from(isRaw ? (changed as string) : JSON.stringify(changed))
    media.set(encoded, endBytes)
    const extent = { offsetBytes: endBytes, lengthBytes: encoded.length, crc32: crc32(encoded) }
    endBytes = Math.ceil((endBytes + encoded.length) / 4096) * 4096
    return extent
  }
  const manifestExtent = put(manifestJson, manifest)
  directoryJson.models[0].manifest = { ...manifestExtent, crc32: manifestExtent.crc32.toString(16).padStart(8, '0') }
  const directoryExtent = put(directoryJson, directory)
  const changed = { ...live, directory: directoryExtent, usedEndBytes: endBytes }
  const final = superblock?.(changed) ?? changed
  media.set(encodeSuperblock('A', final), 0)
  media.set(encodeSuperblock('B', final), 1 << 20)
  return memory
}
