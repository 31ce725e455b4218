import type { FileHandle } from 'node:fs/promises'
import type { FileReader } from '@gpunvme/nvme-spec/transport'
import type { LoaderError } from '../error.js'
import { hasCode } from '../error.js'
import { InFlight } from '../flow/in-flight.js'
import { openHandle, sizeOf } from '../formats/file-source.js'
import { FileBlocks, type ReadableFile } from './file-store-blocks.js'
import { reopenDirect } from './file-store-direct.js'
import type { BlockStore } from './store.js'

/** Options of `openFileStore`. */
export interface FileStoreOptions {
  /**
   * Bypasses the page cache (O_DIRECT), which saves a copy and memory for data that are read once: true, or 'auto' to
   * fall back to the cache if the file system does not support it. Default: false, which is faster for cached data.
   */
  readonly direct?: boolean | 'auto'
  /**
   * Alignment of offsets and lengths of transfers, and with O_DIRECT also of memory addresses: a power of two up to
   * 65536. Default: 4096; for `openModelInFiles` with `direct: false`, 1. O_DIRECT requires at least the drive's block size, 512 bytes or more.
   */
  readonly blockBytes?: number
  /**
   * Reads into memory that it can access, and computes checksums on the way, for example `nativeFileReader()` of cuda-native.
   * Other memory, and by default all, is read by `node:fs`. Checksums are computed of equal chunks, as layers have. A loader's
   * `checksummer` computes all others: of single experts whose slices do not begin with a block, and of samples.
   */
  readonly reader?: FileReader
}

/** A file as a store. The caller closes it. */
export interface FileStore extends BlockStore {
  /** Whether reads go through the page cache ('pread') or bypass it ('direct'). */
  readonly path: 'pread' | 'direct'
  /** With `direct: 'auto'`, why the page cache is used. */
  readonly directRefusal: LoaderError | undefined
  /** Length of the file. `capacityBytes` is rounded up to whole blocks; bytes past the end read as zero. */
  readonly sizeBytes: number
  /** Waits for system calls in progress, then closes the file. Idempotent; reading afterwards is an error. */
  close(): Promise<void>
  /** Same as `close`. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens a regular file or a block device as a store, for users without a spare drive. Up to four reads of up to
 * 8 MiB each are in progress at a time, on Node's thread pool. The kernel cannot cancel them:
 * `ExecuteOptions.timeoutNs` does not apply, and an abort takes effect between calls.
 * @throws LoaderError (MODEL_NOT_FOUND, MODEL_ACCESS, MODEL_NOT_A_FILE, DIRECT_READ, SOURCE_READ), TypeError or
 * RangeError for invalid options. DIRECT_READ: `direct` is true and not supported. SOURCE_READ: any other failure to
 * open.
 */
export async function openFileStore(path: string, options: FileStoreOptions = {}): Promise<FileStore> {
  const { direct = false, blockBytes = 4096, reader } = options
  if (![true, false, 'auto'].includes(direct)) {
    throw new TypeError(`direct: expected true, false or 'auto', got ${String(direct)}`)
  }
  checkBlockBytes(blockBytes)
  const handle = await openHandle(path)
  try {
    const sizeBytes = await sizeOf(path, handle)
    const found = direct === false ? undefined : await reopenDirect(path, handle, blockBytes)
    if (hasCode(found, 'ERR_GPUNVME_DIRECT_READ') && direct !== 'auto') throw found
    if (found === undefined || hasCode(found, 'ERR_GPUNVME_DIRECT_READ')) {
      return new ReadFileStore('pread', found, path, readBy(handle, reader), {
        sizeBytes,
        blockBytes,
        memoryAlignBytes: 1,
      })
    }
    await handle.close()
    const file = readBy(found, reader)
    return new ReadFileStore('direct', undefined, path, file, { sizeBytes, blockBytes, memoryAlignBytes: blockBytes })
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** @throws RangeError */
export function checkBlockBytes(blockBytes: number): void {
  if (Number.isInteger(Math.log2(blockBytes)) && blockBytes >= 1 && blockBytes <= 65_536) return
  throw new RangeError(`blockBytes: expected a power of two from 1 to 65536, got ${blockBytes}`)
}

/** Returns the file, read by `reader` where it can. */
function readBy(handle: FileHandle, reader: FileReader | undefined): ReadableFile {
  if (reader === undefined) return handle
  const reads = new InFlight()
  return {
    read: (into, at, lengthBytes, offsetBytes) => handle.read(into, at, lengthBytes, offsetBytes),
    readChecksummed: ({ buffer, byteOffset, length }, offsetBytes, checksums) => {
      const read = reader.read(handle.fd, offsetBytes, new DataView(buffer), byteOffset, length, checksums)
      return read && reads.start(() => read)
    },
    // The handle does not know of these reads, and another file may get its descriptor.
    close: async () => {
      await reads.settled()
      await handle.close()
    },
  }
}

class ReadFileStore extends FileBlocks implements FileStore {
  readonly path: 'pread' | 'direct'
  readonly directRefusal: LoaderError | undefined

  constructor(
    path: 'pread' | 'direct',
    directRefusal: LoaderError | undefined,
    ...file: ConstructorParameters<typeof FileBlocks>
  ) {
    super(...file)
    this.path = path
    this.directRefusal = directRefusal
  }
}
