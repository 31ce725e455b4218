import { LoaderError } from '../../error.js'
import { DEFAULT_FILE_SYSTEM_LIMITS } from '../limits.js'
import type { DeviceExtent } from '../file-system.js'
import type { CapturedFile } from './capture.js'

const FORMAT = 'gpunvme file map 1'

/** A million runs take about 50 MB. */
const MAX_CHARACTERS = 128 * 1024 * 1024

/** Encodes a captured file as JSON. Times are strings of decimal digits; runs are pairs of offset and length. */
export function encodeFileMap(captured: CapturedFile): string {
  const { path, sizeBytes, device, partitionStartBytes, mtimeNs, firstCrc32, lastCrc32, extents } = captured
  const { disk, partition, fileSystem } = device
  return JSON.stringify({
    format: FORMAT,
    path,
    sizeBytes,
    mtimeNs: String(mtimeNs),
    firstCrc32,
    lastCrc32,
    disk,
    partition,
    fileSystem,
    partitionStartBytes,
    runs: extents.map(({ deviceOffsetBytes, lengthBytes }) => [deviceOffsetBytes, lengthBytes]),
  })
}

/** The inverse of `encodeFileMap`. @throws LoaderError (FILE_MAP) */
export function decodeFileMap(text: string): CapturedFile {
  if (text.length > MAX_CHARACTERS)
    throw invalidFileMap('the text is too long', [`at most ${MAX_CHARACTERS} characters`])
  const map = objectOf(text)
  if (map['format'] !== FORMAT) throw invalidFileMap('the format is unknown', [`expected "${FORMAT}"`])
  const sizeBytes = numberOf(map, 'sizeBytes')
  const partition = map['partition'] === undefined ? undefined : textOf(map, 'partition')
  return {
    path: textOf(map, 'path'),
    sizeBytes,
    extents: extentsOf(map['runs'], sizeBytes),
    device: {
      disk: textOf(map, 'disk'),
      ...(partition !== undefined && { partition }),
      fileSystem: textOf(map, 'fileSystem'),
    },
    partitionStartBytes: numberOf(map, 'partitionStartBytes'),
    mtimeNs: timeOf(map, 'mtimeNs'),
    firstCrc32: numberOf(map, 'firstCrc32', 0xffff_ffff),
    lastCrc32: numberOf(map, 'lastCrc32', 0xffff_ffff),
  }
}

type Members = Readonly<Record<string, unknown>>

function objectOf(text: string): Members {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw invalidFileMap('invalid JSON', [], cause)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidFileMap('it is not an object')
  return value as Members
}

function numberOf(map: Members, key: string, max = Number.MAX_SAFE_INTEGER): number {
  const value = map[key]
  if (isCount(value) && value <= max) return value
  throw invalidFileMap(`${key} is not an integer from 0 to ${max}`)
}

function textOf(map: Members, key: string): string {
  const value = map[key]
  if (typeof value === 'string' && value !== '') return value
  throw invalidFileMap(`${key} is not a string`)
}

function timeOf(map: Members, key: string): bigint {
  const text = textOf(map, key)
  if (/^-?\d{1,20}$/.test(text)) return BigInt(text)
  throw invalidFileMap(`${key} is not a time`)
}

function extentsOf(runs: unknown, sizeBytes: number): readonly DeviceExtent[] {
  const max = DEFAULT_FILE_SYSTEM_LIMITS.maxExtents
  if (!Array.isArray(runs) || runs.length > max) throw invalidFileMap(`runs is not an array of at most ${max} elements`)
  let fileOffsetBytes = 0
  const extents = runs.map((run: unknown, index) => {
    const [deviceOffsetBytes, lengthBytes, ...more] = Array.isArray(run) ? (run as unknown[]) : []
    const isRun = isCount(deviceOffsetBytes) && isCount(lengthBytes) && lengthBytes > 0 && more.length === 0
    if (!isRun) throw invalidFileMap(`run ${index} is not a pair of offset and length`)
    const extent = { fileOffsetBytes, deviceOffsetBytes, lengthBytes }
    fileOffsetBytes += lengthBytes
    return extent
  })
  if (fileOffsetBytes === sizeBytes) return extents
  throw invalidFileMap('runs do not cover the file', [`${fileOffsetBytes} of ${sizeBytes} bytes`])
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Error of a file map that cannot be decoded. */
export function invalidFileMap(headline: string, facts: readonly string[] = [], cause?: unknown): LoaderError {
  return new LoaderError('ERR_GPUNVME_FILE_MAP', 'verification', `Cannot read a file map: ${headline}`, {
    facts,
    next: 'capture the file again',
    cause,
  })
}
