import { LoaderError } from '../../error.js'
import { stat } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { ByteSource } from '../../formats/byte-source.js'
import { fileOnDiskSource } from '../file-source.js'
import type { ReadOptions } from '../file-system.js'
import { EDGE_BYTES, type CapturedFile } from './capture.js'

/**
 * Opens a captured file on its drive as a source, after comparing checksums of its beginning and end. Changes between
 * them are not detected; checksums of the model are needed for that.
 * @param source The drive, from its first byte.
 * @throws LoaderError (FILE_MAP_STALE) if the beginning or end has changed; RangeError if the drive is shorter than the
 * map requires.
 */
export async function openCapturedFile(
  source: ByteSource,
  captured: CapturedFile,
  { signal }: ReadOptions = {},
): Promise<ByteSource> {
  const file = fileOnDiskSource(source, captured)
  const { sizeBytes, firstCrc32, lastCrc32 } = captured
  const edge = new Uint8Array(Math.min(EDGE_BYTES, sizeBytes))
  for (const [what, offsetBytes, expected] of [
    ['first', 0, firstCrc32],
    ['last', sizeBytes - edge.byteLength, lastCrc32],
  ] as const) {
    await file.read(offsetBytes, edge, signal && { signal })
    const got = crc32(edge)
    if (got !== expected) {
      throw staleFileMap(captured.path, `its ${what} ${edge.byteLength} bytes on ${source.name} have changed`, [
        `expected CRC-32 0x${expected.toString(16)}`,
        `got 0x${got.toString(16)}`,
      ])
    }
  }
  return file
}

/**
 * Compares length and modification time of the mounted file with the map.
 * @throws LoaderError (FILE_MAP_STALE) if they differ; errors of `fs` if the file is gone.
 */
export async function checkCapturedFile(captured: CapturedFile): Promise<void> {
  const { size, mtimeNs } = await stat(captured.path, { bigint: true })
  if (size === BigInt(captured.sizeBytes) && mtimeNs === captured.mtimeNs) return
  throw staleFileMap(captured.path, 'it was written after the capture', [
    `${captured.sizeBytes} bytes, changed ${captured.mtimeNs} ns after 1970, when it was captured`,
    `${size} bytes, changed ${mtimeNs} ns after 1970, now`,
  ])
}

/** Error of a map whose file has changed since the capture. */
export function staleFileMap(path: string, headline: string, facts: readonly string[]): LoaderError {
  const next = 'capture the file again, and do not write to its file system until it is read'
  return new LoaderError(
    'ERR_GPUNVME_FILE_MAP_STALE',
    'verification',
    `The map of ${path} is out of date: ${headline}`,
    { facts, next },
  )
}
