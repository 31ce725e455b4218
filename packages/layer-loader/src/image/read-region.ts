import { crc32 } from 'node:zlib'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { readBytes } from '../store/read-bytes.js'
import { readRightCopy } from '../store/right-copy.js'
import type { BlockStore } from '../store/store.js'
import { encodeCrc } from './extent.js'
import type { CheckedExtent } from './format.js'
import type { Remedy } from './remedy.js'

/**
 * Reads an extent with one checksum, and checks it.
 * @throws ImageChecksumError; errors of reading the store.
 */
export async function readRegion(
  store: BlockStore,
  region: string,
  extent: CheckedExtent,
  options?: ExecuteOptions,
): Promise<Uint8Array> {
  const content = await readBytes(store, extent.offsetBytes, extent.lengthBytes, options)
  const crc = crc32(content)
  const right = crc === extent.crc32 ? content : await readRightCopy(store, extent, options)
  if (right === undefined) throw new ImageChecksumError(store, region, extent, crc)
  return right
}

/** @throws ImageChecksumError */
export function checkRegion(store: BlockStore, region: string, extent: CheckedExtent, crc: number): void {
  if (crc !== extent.crc32) throw new ImageChecksumError(store, region, extent, crc)
}

/** Error of a directory, manifest, chunk table or source header whose checksum does not match. */
export class ImageChecksumError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_IMAGE_CHECKSUM'
  readonly category = 'verification'
  readonly remedy: Remedy = 'replace-image'
  readonly region: string
  readonly extent: CheckedExtent
  /** Expected CRC-32. */
  readonly expected: number
  readonly got: number

  constructor(store: BlockStore, region: string, extent: CheckedExtent, got: number) {
    super(`The image's ${region} is damaged: its CRC-32 does not match`, {
      facts: [
        store.locate(extent.offsetBytes, extent.lengthBytes),
        `expected ${encodeCrc(extent.crc32)}`,
        `got ${encodeCrc(got)}`,
      ],
      next: "check the rest with verifyImage(); pack the models again, the first with { replace: 'image' }, which discards the image",
    })
    this.region = region
    this.extent = extent
    this.expected = extent.crc32
    this.got = got
  }
}
