import { crc32 } from 'node:zlib'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { readBytes } from '../store/read-bytes.js'
import type { BlockStore } from '../store/store.js'
import { encodeCrc } from './extent.js'
import type { CheckedExtent } from './format.js'
import type { Remedy } from './remedy.js'

/**
 * Reads an extent that has one checksum, and checks it.
 * @throws ImageChecksumError, and what reading the store throws.
 */
export async function readRegion(
  store: BlockStore,
  region: string,
  extent: CheckedExtent,
  options?: ExecuteOptions,
): Promise<Uint8Array> {
  const content = await readBytes(store, extent.offsetBytes, extent.lengthBytes, options)
  checkRegion(region, extent, crc32(content))
  return content
}

/** @throws ImageChecksumError */
export function checkRegion(region: string, extent: CheckedExtent, crc: number): void {
  if (crc !== extent.crc32) throw new ImageChecksumError(region, extent, crc)
}

/** A directory, manifest, chunk table or source header is not what was written. */
export class ImageChecksumError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_IMAGE_CHECKSUM'
  readonly category = 'verification'
  readonly remedy: Remedy = 'replace-image'
  readonly region: string
  readonly extent: CheckedExtent
  /** CRC-32s. */
  readonly expected: number
  readonly got: number

  constructor(region: string, extent: CheckedExtent, got: number) {
    super(`The image's ${region} is damaged: its CRC-32 does not match`, {
      facts: [
        `${extent.lengthBytes} bytes from byte ${extent.offsetBytes}`,
        `expected ${encodeCrc(extent.crc32)}`,
        `got ${encodeCrc(got)}`,
      ],
      next: "look at the rest with verifyImage(); pack the models again, the first with { replace: 'image' }, which gives up all",
    })
    this.region = region
    this.extent = extent
    this.expected = extent.crc32
    this.got = got
  }
}
