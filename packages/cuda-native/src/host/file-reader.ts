import type { FileReader } from '@gpunvme/nvme-spec/transport'
import { loadAddon } from './addon.js'

/**
 * Reads files by pread(2) on the thread pool of Node.js, and computes checksums of a few hundred KiB at a time, while they are
 * in the processor's cache. It reads into regions and SharedArrayBuffers.
 * @throws NativeAddonError as `nativeChecksummer`.
 */
export function nativeFileReader(): FileReader {
  const addon = loadAddon()
  return {
    read: (fd, fileOffsetBytes, view, offsetBytes, lengthBytes, { chunkBytes, summedBytes, into }) =>
      addon.readFile(fd, fileOffsetBytes, view, offsetBytes, lengthBytes, chunkBytes, summedBytes, into),
  }
}
