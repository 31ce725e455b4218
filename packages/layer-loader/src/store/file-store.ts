import { openHandle, sizeOf } from '../formats/file-source.js'
import { FileBlocks } from './file-store-blocks.js'
import { DirectReadError, reopenDirect } from './file-store-direct.js'
import type { BlockStore } from './store.js'

/** How a file is read. */
export interface FileStoreOptions {
  /**
   * Past the system's cache (O_DIRECT), which saves a copy and the memory of the cache for what is read once: true, or
   * 'auto' for where the file system does it. False when not given: through the cache, which is faster for what it has.
   */
  readonly direct?: boolean | 'auto'
  /**
   * What offsets and lengths of transfers are multiples of, and past the cache places in memory too: a power of two up to
   * 65536; 4096 when not given. Past the cache no drive takes less than its own blocks, of 512 bytes or more.
   */
  readonly blockBytes?: number
}

/** A file as a store. Its owner closes it. */
export interface FileStore extends BlockStore {
  /** How it is read: through the system's cache, or past it. */
  readonly path: 'pread' | 'direct'
  /** Why it is read through the cache, where 'auto' asked for past it. */
  readonly directRefusal: DirectReadError | undefined
  /** The bytes of the file. `capacityBytes` is as many, up to whole blocks: what the last one has beyond them is zeros. */
  readonly sizeBytes: number
  /** Waits for the system calls that are under way. Twice is harmless; reading afterwards is an error. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens a regular file or a block device as a store, for users without a drive to spare. Up to four system calls are
 * under way at a time, on the threads that Node has for files, each of up to 4 MiB. The kernel takes none back: a time
 * limit (`ExecuteOptions.timeoutNs`) does not apply to them, and an abort is seen between two of them.
 * @throws ModelNotFoundError, ModelAccessError, NotAModelFileError; DirectReadError where `direct` is true and cannot be;
 *   SourceReadError for any other failure to open; TypeError, RangeError for wrong options.
 */
export async function openFileStore(path: string, options: FileStoreOptions = {}): Promise<FileStore> {
  const { direct = false, blockBytes = 4096 } = options
  if (![true, false, 'auto'].includes(direct)) {
    throw new TypeError(`direct: expected true, false or 'auto', got ${String(direct)}`)
  }
  checkBlockBytes(blockBytes)
  const handle = await openHandle(path)
  try {
    const sizeBytes = await sizeOf(path, handle)
    const found = direct === false ? undefined : await reopenDirect(path, handle, blockBytes)
    if (found instanceof DirectReadError && direct !== 'auto') throw found
    if (found === undefined || found instanceof DirectReadError) {
      return new ReadFileStore('pread', found, path, handle, { sizeBytes, blockBytes, memoryAlignBytes: 1 })
    }
    await handle.close()
    return new ReadFileStore('direct', undefined, path, found, { sizeBytes, blockBytes, memoryAlignBytes: blockBytes })
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

class ReadFileStore extends FileBlocks implements FileStore {
  readonly path: 'pread' | 'direct'
  readonly directRefusal: DirectReadError | undefined

  constructor(
    path: 'pread' | 'direct',
    directRefusal: DirectReadError | undefined,
    ...file: ConstructorParameters<typeof FileBlocks>
  ) {
    super(...file)
    this.path = path
    this.directRefusal = directRefusal
  }
}
