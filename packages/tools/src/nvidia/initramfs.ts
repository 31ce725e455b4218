import { unknown, type Known } from '../machine/known.js'
import { ByteSource } from './byte-source.js'
import { compressionOf, unpacked, unpackWhole, UnpackError } from './unpack.js'

const HEADER_BYTES = 110
const MAX_NAME_BYTES = 4096
const MAX_ENTRIES = 1_000_000
/** Above the largest initramfs with all of NVIDIA's firmware. */
const MAX_UNPACKED_BYTES = 4 * 1024 ** 3
export const MAX_MODULE_BYTES = 256 * 1024 ** 2

/** nvidia.ko in the directories of modprobe, possibly compressed. */
const MODULE = /(?:^|\/)lib\/modules\/[^/]+\/(?:.*\/)?nvidia\.ko(?:\.(?:xz|zst|gz))?$/

/**
 * Finds nvidia.ko in an initramfs: consecutive cpio archives in "newc" format, of which the last may be compressed
 * (Linux, Documentation/driver-api/early-userspace/buffer-format.rst).
 * @returns the unpacked module; undefined if there is none.
 */
export async function moduleInInitramfs(image: Buffer): Promise<Known<Buffer | undefined>> {
  try {
    const found = await search(image)
    if (found === undefined) return undefined
    const compression = compressionOf(found)
    return compression === undefined ? found : await unpackWhole(found, compression, MAX_MODULE_BYTES)
  } catch (error) {
    if (error instanceof UnpackError || error instanceof NotCpio) return unknown(error.message)
    throw error
  }
}

async function search(image: Buffer): Promise<Buffer | undefined> {
  let at = 0
  for (;;) {
    while (at < image.length && image[at] === 0) at++
    if (at >= image.length) return undefined
    const rest = image.subarray(at)
    const compression = compressionOf(rest)
    if (compression !== undefined) {
      const source = new ByteSource(unpacked(rest, compression), MAX_UNPACKED_BYTES)
      try {
        return await searchArchives(source)
      } finally {
        await source.close()
      }
    }
    const source = new ByteSource([rest], MAX_UNPACKED_BYTES)
    const found = await searchArchive(source)
    if (found !== undefined) return found
    at += source.position
  }
}

/** Searches consecutive archives, separated by zeros. */
async function searchArchives(source: ByteSource): Promise<Buffer | undefined> {
  for (;;) {
    const found = await searchArchive(source)
    if (found !== undefined) return found
    if (!(await source.skipZeros())) return undefined
  }
}

/** Searches one archive, up to its trailer. */
async function searchArchive(source: ByteSource): Promise<Buffer | undefined> {
  for (let entries = 0; entries < MAX_ENTRIES; entries++) {
    const header = (await need(source, HEADER_BYTES)).toString('latin1')
    if (!/^07070[12][0-9a-f]{104}$/i.test(header)) throw new NotCpio('it contains something other than a cpio archive')
    const field = (index: number) => Number.parseInt(header.slice(6 + 8 * index, 14 + 8 * index), 16)
    const [fileBytes, nameBytes] = [field(6), field(11)]
    if (nameBytes === 0 || nameBytes > MAX_NAME_BYTES) throw new NotCpio(`a name in it has ${nameBytes} bytes`)
    const name = (await need(source, nameBytes)).toString('utf8', 0, nameBytes - 1)
    await source.skip(padding(HEADER_BYTES + nameBytes))
    if (name === 'TRAILER!!!') return undefined
    if (MODULE.test(name)) {
      if (fileBytes > MAX_MODULE_BYTES) throw new NotCpio(`${name} in it claims ${fileBytes} bytes`)
      return need(source, fileBytes)
    }
    if (!(await source.skip(fileBytes + padding(fileBytes)))) throw new NotCpio('it is truncated')
  }
  throw new NotCpio(`it has more than ${MAX_ENTRIES} files`)
}

async function need(source: ByteSource, lengthBytes: number): Promise<Buffer> {
  const bytes = await source.take(lengthBytes)
  if (bytes === undefined) throw new NotCpio('it is truncated')
  return bytes
}

/** Returns the bytes up to the next multiple of four. */
function padding(lengthBytes: number): number {
  return (4 - (lengthBytes % 4)) % 4
}

class NotCpio extends Error {}
