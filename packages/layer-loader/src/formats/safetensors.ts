import type { ByteSource } from './byte-source.js'
import { countBytes } from './count-bytes.js'
import type { FormatLimits, ReadOptions } from './limits.js'
import type { MetadataValue, Tensor } from './model.js'
import type { PartContent } from './part-content.js'
import { quote } from './quote.js'
import { readEntry, type SafetensorsEntry as Entry } from './safetensors-entry.js'
import { SafetensorsError, SafetensorsJson } from './safetensors-json.js'

/** Bytes of the header's length field, which precedes the header. */
const PREFIX_BYTES = 8

const METADATA_KEY = '__metadata__'

/**
 * Reads the header of a safetensors file that covers the whole source.
 *
 * @param part index of the part, recorded in its tensors.
 * @throws SafetensorsError
 */
export async function readSafetensors(
  source: ByteSource,
  part: number,
  { limits, headerOnly, signal }: ReadOptions,
): Promise<PartContent> {
  const dataStartBytes = PREFIX_BYTES + (await readHeaderLength(source, limits, signal))
  const json = new SafetensorsJson(source, PREFIX_BYTES, dataStartBytes, limits, signal)
  const { entries, metadata } = await readHeader(json, limits)
  const ordered = entries.sort((a, b) => a.beginBytes - b.beginBytes || a.endBytes - b.endBytes)
  const isHeaderOnly = headerOnly && entries.length > 0 && source.sizeBytes === dataStartBytes
  refuseUncovered(json, ordered, dataStartBytes, isHeaderOnly)
  const tensors = ordered.map(({ name, dtype, shape, beginBytes, endBytes, opaque }): Tensor => ({
    name,
    dtype,
    shape,
    part,
    offsetBytes: dataStartBytes + beginBytes,
    lengthBytes: endBytes - beginBytes,
    opaque,
  }))
  return {
    format: 'safetensors',
    formatVersion: 0,
    metadata,
    source,
    headerBytes: dataStartBytes,
    isHeaderOnly,
    tensors,
  }
}

async function readHeaderLength(source: ByteSource, limits: FormatLimits, signal?: AbortSignal): Promise<number> {
  const prefix = new Uint8Array(PREFIX_BYTES)
  await source.read(0, prefix, signal && { signal })
  const length = new DataView(prefix.buffer).getBigUint64(0, true)
  if (length > BigInt(limits.maxSafetensorsHeaderBytes)) {
    const headline = `its header has ${length} bytes; the limit is ${limits.maxSafetensorsHeaderBytes} (maxSafetensorsHeaderBytes)`
    throw new SafetensorsError('LIMIT', source.name, 0, headline)
  }
  const missing = Number(length) - (source.sizeBytes - PREFIX_BYTES)
  if (missing > 0) {
    const headline = `the file ends inside its header of ${length} bytes: ${countBytes(missing)} missing`
    throw new SafetensorsError('TRUNCATED', source.name, 0, headline)
  }
  return Number(length)
}

async function readHeader(
  json: SafetensorsJson,
  limits: FormatLimits,
): Promise<{ entries: Entry[]; metadata: Map<string, MetadataValue> }> {
  const entries: Entry[] = []
  const metadata = new Map<string, MetadataValue>()
  const names = new Set<string>()
  await json.ahead()
  // No white space may precede it, so that a safetensors file is recognised by its ninth byte.
  if (json.at() !== PREFIX_BYTES) throw json.error('JSON', PREFIX_BYTES, 'its header does not start with "{"')
  json.expect('{', 'at the start of the header')
  if (!json.accept('}')) {
    do {
      await json.ahead()
      const namePosition = json.at()
      const name = readKey(json, 'tensor name', names, limits)
      if (name === METADATA_KEY) await readMetadata(json, metadata, limits)
      else entries.push(readEntry(json, name))
      if (entries.length > limits.maxTensors) {
        const headline = `it has more tensors than the limit of ${limits.maxTensors} (maxTensors)`
        throw json.error('LIMIT', namePosition, headline)
      }
      await json.ahead()
    } while (json.more('}', 'or "," after a tensor'))
  }
  await json.end()
  return { entries, metadata }
}

async function readMetadata(
  json: SafetensorsJson,
  metadata: Map<string, MetadataValue>,
  limits: FormatLimits,
): Promise<void> {
  let keptBytes = 0
  const keys = new Set<string>()
  if (!json.accept('{')) throw json.error('METADATA', json.at(), '__metadata__ is not an object')
  if (json.accept('}')) return
  do {
    await json.ahead()
    const position = json.at()
    const key = readKey(json, 'metadata key', keys, limits)
    const valuePosition = json.at()
    if (!json.isString()) throw json.error('METADATA', valuePosition, `${quote(key)} is not a string`)
    const value = json.string('metadata value')
    metadata.set(key, value)
    keptBytes += json.at() - position
    if (keptBytes > limits.maxMetadataBytes || metadata.size > limits.maxMetadataEntries) {
      const headline = `__metadata__ takes more than the limits of ${limits.maxMetadataEntries} entries (maxMetadataEntries)`
      throw json.error('LIMIT', position, `${headline} and ${limits.maxMetadataBytes} bytes (maxMetadataBytes)`)
    }
    await json.ahead()
  } while (json.more('}', 'or "," after a metadata value'))
}

/** Reads a key, which must be new in its object, and the colon after it. */
function readKey(json: SafetensorsJson, what: string, seen: Set<string>, limits: FormatLimits): string {
  const position = json.at()
  const key = json.string(what)
  if (key.length > limits.maxKeyBytes) {
    throw json.error('LIMIT', position, `a ${what} has ${key.length} characters; the limit is ${limits.maxKeyBytes}`)
  }
  if (seen.has(key)) throw json.error('DUPLICATE_KEY', position, `the ${what} ${quote(key)} appears twice`)
  seen.add(key)
  json.expect(':', `after the ${what}`)
  return key
}

/** Checks that the tensors, in the order of their bytes, cover the data exactly, as the format requires. */
function refuseUncovered(
  json: SafetensorsJson,
  ordered: readonly Entry[],
  dataStartBytes: number,
  isHeaderOnly: boolean,
): void {
  const dataBytes = json.source.sizeBytes - dataStartBytes
  let coveredBytes = 0
  let last: Entry | undefined
  for (const entry of ordered) {
    const distance = entry.beginBytes - coveredBytes
    if (distance !== 0) {
      const [problem, what] = distance < 0 ? (['OVERLAP', 'shared'] as const) : (['HOLE', 'unused'] as const)
      const before = last ? `between ${quote(last.name)} and` : 'before'
      const headline = `the file has ${countBytes(Math.abs(distance))} of ${what} data ${before} ${quote(entry.name)}`
      throw json.error(problem, entry.offsetsPosition, headline)
    }
    coveredBytes = entry.endBytes
    last = entry
  }
  if (isHeaderOnly) return
  const missing = coveredBytes - dataBytes
  if (missing > 0 && last) {
    const headline = `the file ends before tensor ${quote(last.name)} does: ${countBytes(missing)} missing`
    throw json.error('TRUNCATED', last.offsetsPosition, headline)
  }
  if (missing < 0) {
    throw json.error(
      'EXCESS',
      dataStartBytes + coveredBytes,
      `the file has ${countBytes(-missing)} after the last tensor`,
    )
  }
}
