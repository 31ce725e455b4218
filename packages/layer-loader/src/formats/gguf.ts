import type { ByteSource } from './byte-source.js'
import { MIN_ENTRY_BYTES, readMetadata } from './gguf-metadata.js'
import { GgufReader } from './gguf-reader.js'
import { MIN_TENSOR_INFO_BYTES, placeTensors, readTensorInfos } from './gguf-tensors.js'
import type { ReadOptions } from './limits.js'
import type { PartContent } from './part-content.js'

const MAGIC_BYTES = 4

/**
 * Reads the header of a little-endian GGUF, version 2 or 3, that starts at byte 0 of the source. The caller has checked
 * the magic.
 *
 * @param part index of the part, recorded in its tensors.
 * @throws GgufError
 */
export async function readGguf(
  source: ByteSource,
  part: number,
  { limits, headerOnly, signal }: ReadOptions,
): Promise<PartContent> {
  const reader = new GgufReader(source, limits, signal)
  await reader.ahead()
  reader.skip(MAGIC_BYTES, 'magic')
  const formatVersion = readVersion(reader)
  const tensorCount = readCount(reader, 'tensor', limits.maxTensors, MIN_TENSOR_INFO_BYTES)
  const entryCount = readCount(reader, 'metadata entry', limits.maxMetadataEntries, MIN_ENTRY_BYTES)

  const { values, alignment } = await readMetadata(reader, entryCount, limits)
  const infos = await readTensorInfos(reader, tensorCount, alignment)
  // From the start of the GGUF, not of the disk that holds it: hence sources with a base.
  const dataStartBytes = Math.ceil(reader.positionBytes / alignment) * alignment
  const isHeaderOnly = headerOnly && infos.length > 0 && source.sizeBytes <= dataStartBytes
  const tensors = placeTensors(reader, infos, { dataStartBytes, part, isHeaderOnly })

  return {
    format: 'gguf',
    formatVersion,
    metadata: values,
    source,
    // A file without tensors (a vocabulary) may end before the data section would start.
    headerBytes: tensors.length === 0 ? source.sizeBytes : dataStartBytes,
    isHeaderOnly,
    tensors,
  }
}

function readVersion(reader: GgufReader): number {
  const position = reader.positionBytes
  const version = reader.u32('version')
  if (version === 2 || version === 3) return version
  // Big-endian files have no mark, but their version 3 reads as 0x03000000.
  if (version !== 0 && (version & 0xffff) === 0) {
    throw reader.error('BIG_ENDIAN', position, `the version reads 0x${version.toString(16)}: the file is big-endian`)
  }
  const next = version > 3 ? 'update gpunvme: this version does not know the format of the file' : undefined
  throw reader.error('VERSION', position, `it is version ${version}; versions 2 and 3 are supported`, [], next)
}

/** Reads a count. It is rejected if its entries could not fit in the source, before memory is allocated. */
function readCount(reader: GgufReader, what: string, limit: number, minEntryBytes: number): number {
  const position = reader.positionBytes
  const count = reader.u64(`${what} count`)
  if (count > limit) throw reader.error('LIMIT', position, `the ${what} count is ${count}; the limit is ${limit}`)
  const neededBytes = count * minEntryBytes
  if (neededBytes > reader.remainingBytes) {
    const headline = `the ${what} count is ${count}, which takes at least ${neededBytes} bytes; ${reader.remainingBytes} remain`
    throw reader.error('TRUNCATED', position, headline)
  }
  return count
}
