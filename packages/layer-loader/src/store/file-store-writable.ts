import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { DmaMemory, ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { openHandle } from '../formats/file-source.js'
import { readCopies } from '../image/copies.js'
import { DATA_START_BYTES } from '../image/format.js'
import { checkBlockBytes } from './file-store.js'
import { FileBlocks, systemCode, type FileShape, type OpenFile, type Piece } from './file-store-blocks.js'
import { readLabel } from '../sets/read-labels.js'
import { readBytes } from './read-bytes.js'
import type { StoreSummary, StoreTransfer, WritableBlockStore } from './store.js'

/** What file is written to. */
export interface WritableFileStoreOptions {
  /** Makes a new file of this size, sparse. Without it the file is there already, and keeps its size. */
  readonly sizeBytes?: number
  /** Loses what an existing file holds, also where that is no image. */
  readonly overwrite?: boolean
  /** As of `FileStoreOptions`. The size is a multiple of it. */
  readonly blockBytes?: number
}

/** A file that images can be packed into, and read from. Its owner closes it. */
export interface WritableFileStore extends WritableBlockStore {
  readonly sizeBytes: number
  /** Waits for the system calls that are under way. Twice is harmless. What was not flushed may be lost. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens a regular file to pack a model into, as `openFileStore` opens one to read; through the system's cache. A file
 * that is there already must hold an image, be a member of a set, or begin and end with 2 MiB of zeros: a slip of the
 * keyboard does not cost a model. A first packing that was killed may leave a file that is none of these: `overwrite`
 * opens it, and the packing goes on from where it was.
 * @throws FileTargetError for what must not be written to; ModelNotFoundError, ModelAccessError; SourceReadError for any
 *   other failure to open; RangeError for wrong options.
 */
export async function openWritableFileStore(
  path: string,
  options: WritableFileStoreOptions = {},
): Promise<WritableFileStore> {
  const { sizeBytes, overwrite = false, blockBytes = 4096 } = options
  checkBlockBytes(blockBytes)
  if (sizeBytes === undefined) return openExisting(path, blockBytes, overwrite)
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes <= 0 || sizeBytes % blockBytes !== 0) {
    throw new RangeError(`sizeBytes: expected a multiple of ${blockBytes} bytes above 0, got ${sizeBytes}`)
  }
  const handle = await create(path)
  return closedUnless(handle, async () => {
    await handle.truncate(sizeBytes)
    return new WritableFileBlocks(path, handle, { sizeBytes, blockBytes, memoryAlignBytes: 1 })
  })
}

async function create(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx+')
  } catch (cause) {
    const code = systemCode(cause)
    if (code === 'EEXIST') throw new FileTargetError(path, 'it exists', 'leave sizeBytes away to write to it as it is')
    throw new FileTargetError(path, `it cannot be made (${code})`, 'name a file in a folder that exists', cause)
  }
}

async function openExisting(path: string, blockBytes: number, overwrite: boolean): Promise<WritableFileStore> {
  const handle = await openHandle(path, constants.O_RDWR)
  return closedUnless(handle, async () => {
    const stat = await handle.stat()
    if (!stat.isFile()) {
      throw new FileTargetError(path, 'it is no regular file', 'a drive is written to as a namespace, past its guard')
    }
    if (stat.size === 0 || stat.size % blockBytes !== 0) {
      const next = 'give sizeBytes and another path, so that a new file is made'
      throw new FileTargetError(path, `it has ${stat.size} bytes, which are no blocks of ${blockBytes}`, next)
    }
    const store = new WritableFileBlocks(path, handle, { sizeBytes: stat.size, blockBytes, memoryAlignBytes: 1 })
    if (!overwrite && !(await isOurs(store))) {
      throw new FileTargetError(path, 'it holds other data than an image', 'another path, or { overwrite: true }')
    }
    return store
  })
}

async function isOurs(store: WritableBlockStore): Promise<boolean> {
  // A member of a set first: to a reader of images that is an error.
  if ((await readLabel(store)).ours || (await readCopies(store)).some(({ ours }) => ours)) return true
  const { capacityBytes } = store
  const endBytes = Math.min(DATA_START_BYTES, capacityBytes)
  // The end as well: a download may bring the parts of a file in any order.
  for (const offsetBytes of [0, capacityBytes - endBytes]) {
    const bytes = await readBytes(store, offsetBytes, endBytes)
    if (bytes.some((byte) => byte !== 0)) return false
  }
  return true
}

async function closedUnless<T>(handle: FileHandle, use: () => Promise<T>): Promise<T> {
  try {
    return await use()
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** An open file as a store, for writing too. */
export class WritableFileBlocks extends FileBlocks implements WritableFileStore {
  private readonly handle: OpenFile

  constructor(path: string, handle: OpenFile, shape: FileShape) {
    super(path, handle, shape)
    this.handle = handle
  }

  write(transfers: readonly StoreTransfer[], memory: DmaMemory, options?: ExecuteOptions): Promise<StoreSummary> {
    return this.move(transfers, memory, options, (piece) => this.writePiece(piece))
  }

  async flush(): Promise<void> {
    try {
      await this.handle.sync()
    } catch (cause) {
      throw new FileWriteError(this.name, `it cannot be flushed (${systemCode(cause)})`, cause)
    }
  }

  private async writePiece({ offsetBytes, bytes }: Piece): Promise<number> {
    let calls = 0
    for (let done = 0; done < bytes.length; calls++) {
      const from = offsetBytes + done
      const lengthBytes = bytes.length - done
      try {
        done += (await this.handle.write(bytes, done, lengthBytes, from)).bytesWritten
      } catch (cause) {
        const what = `${lengthBytes} bytes from byte ${from} cannot be written (${systemCode(cause)})`
        throw new FileWriteError(this.name, what, cause)
      }
    }
    return calls
  }
}

/** A file must not be written to, or cannot be made. */
export class FileTargetError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_FILE_TARGET'
  readonly category = 'usage'
  readonly path: string

  constructor(path: string, why: string, next: string, cause?: unknown) {
    super(`Refused to write to ${path}: ${why}`, { next, cause })
    this.path = path
  }
}

/** Bytes could not be brought to a file. What it holds there now is unknown. */
export class FileWriteError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_FILE_WRITE'
  readonly category = 'failure'
  readonly path: string

  constructor(path: string, what: string, cause: unknown) {
    super(`Cannot write to ${path}: ${what}`, { next: 'df shows whether its file system is full', cause })
    this.path = path
  }
}
