import { stat } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { ByteSource } from '../../formats/byte-source.js'
import { fileOnDiskSource } from '../file-source.js'
import type { ReadOptions } from '../file-system.js'
import { EDGE_BYTES, type CapturedFile } from './capture.js'

/**
 * A captured file on its drive, as a source of its own, after its beginning and its end have been compared with what
 * they were. What was changed between them is not seen: that is
 * for checksums of the model.
 * @param source The drive, from its first byte on.
 * @throws StaleFileMapError where its edges are other bytes now; RangeError where the drive is shorter than the map.
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
      throw new StaleFileMapError(captured.path, `its ${what} ${edge.byteLength} bytes on ${source.name} are others`, [
        `expected CRC-32 0x${expected.toString(16)}`,
        `got 0x${got.toString(16)}`,
      ])
    }
  }
  return file
}

/**
 * While the file is still mounted: compares its length and the time of its last change with those of the map.
 * @throws StaleFileMapError for one that is not the same any more; errors of `fs` where it is gone.
 */
export async function checkCapturedFile(captured: CapturedFile): Promise<void> {
  const { size, mtimeNs } = await stat(captured.path, { bigint: true })
  if (size === BigInt(captured.sizeBytes) && mtimeNs === captured.mtimeNs) return
  throw new StaleFileMapError(captured.path, 'it was written to since', [
    `${captured.sizeBytes} bytes, changed ${captured.mtimeNs} ns after 1970, when it was captured`,
    `${size} bytes, changed ${mtimeNs} ns after 1970, now`,
  ])
}

/** A map says where a file was, and it is not there any more. */
export class StaleFileMapError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_FILE_MAP_STALE'
  readonly category = 'verification'
  readonly path: string

  constructor(path: string, headline: string, facts: readonly string[]) {
    const next = 'capture the file again, and nothing between that and its use may write to its file system'
    super(`The map of ${path} is out of date: ${headline}`, { facts, next })
    this.path = path
  }
}
