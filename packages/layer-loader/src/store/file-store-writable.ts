import { hasCode, LoaderError } from '../error.js'
import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import type { DmaMemory, ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { openHandle } from '../formats/file-source.js'
import { readCopies } from '../image/copies.js'
import { DATA_START_BYTES } from '../image/format.js'
import { checkBlockBytes } from './file-store.js'
import { FileBlocks, systemCode, type FileShape, type OpenFile, type Piece } from './file-store-blocks.js'
import { readLabel } from '../sets/read-labels.js'
import { readBytes } from './read-bytes.js'
import type { StoreSummary, StoreTransfer, WritableBlockStore } from './store.js'

/** Options of `openWritableFileStore`. */
export interface WritableFileStoreOptions {
  /** Creates a new sparse file of this size. Without it, the file must exist, and keeps its size. */
  readonly sizeBytes?: number
  /** Allows the loss of an existing file's content, even if it is not an image. */
  readonly overwrite?: boolean
  /** Block size, as in `FileStoreOptions`. The size of the file must be a multiple of it. */
  readonly blockBytes?: number
}

/** A file for images, readable and writable. The caller closes it. */
export interface WritableFileStore extends WritableBlockStore {
  readonly sizeBytes: number
  /** Waits for system calls in progress, then closes the file. Idempotent. Data that were not flushed may be lost. */
  close(): Promise<void>
  /** Same as `close`. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens a regular file to pack a model into, through the page cache. An existing file must have an image or the label
 * of a set, or begin and end with 2 MiB of zeros: this protects other files from a mistyped path. A first packing that
 * was killed may leave a file with none of these: `overwrite` opens it, and the packing resumes.
 * @throws LoaderError (FILE_TARGET, MODEL_NOT_FOUND, MODEL_ACCESS, SOURCE_READ), RangeError for invalid options.
 * FILE_TARGET: the file must not be written. SOURCE_READ: any other failure to open.
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
    const shape = { sizeBytes, blockBytes, memoryAlignBytes: 1 }
    return new WritableFileBlocks(path, handle, shape, await identityOf(handle))
  })
}

/** Returns the file's identity, whatever path it was opened by. */
async function identityOf(handle: FileHandle): Promise<string> {
  const { dev, ino } = await handle.stat({ bigint: true })
  return `file ${dev}:${ino}`
}

async function create(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx+')
  } catch (cause) {
    const code = systemCode(cause)
    if (code === 'EEXIST') throw targetRefused(path, 'it exists', 'omit sizeBytes to write to the existing file')
    throw targetRefused(path, `it cannot be created (${code})`, 'use a path in an existing directory', cause)
  }
}

async function openExisting(path: string, blockBytes: number, overwrite: boolean): Promise<WritableFileStore> {
  const handle = await openHandle(path, constants.O_RDWR).catch((error: unknown) => {
    throw asTargetError(path, error)
  })
  return closedUnless(handle, async () => {
    const stat = await handle.stat()
    if (!stat.isFile()) {
      throw targetRefused(path, 'it is not a regular file', 'open a drive as a namespace to write to it')
    }
    if (stat.size === 0 || stat.size % blockBytes !== 0) {
      const next = 'use another path with sizeBytes, to create a new file'
      throw targetRefused(path, `its size of ${stat.size} bytes is not a positive multiple of ${blockBytes}`, next)
    }
    const shape = { sizeBytes: stat.size, blockBytes, memoryAlignBytes: 1 }
    const store = new WritableFileBlocks(path, handle, shape, await identityOf(handle))
    if (!overwrite && !(await isOurs(store))) {
      throw targetRefused(path, 'it has data other than an image', 'use another path, or { overwrite: true }')
    }
    return store
  })
}

/** Returns the error of opening a target, for which `openHandle` advises as for a model. */
function asTargetError(path: string, error: unknown): unknown {
  if (hasCode(error, 'ERR_GPUNVME_MODEL_NOT_A_FILE'))
    return targetRefused(
      path,
      'it is a directory',
      'pass the path of a file in this directory, with { sizeBytes } to create it',
      error,
    )
  if (hasCode(error, 'ERR_GPUNVME_MODEL_ACCESS'))
    return new LoaderError(error.code, error.category, `Cannot open ${path} to write to it: permission denied`, {
      next: `ls -l ${path}, then chmod, or run as a user with write permission`,
      cause: error,
    })
  if (!hasCode(error, 'ERR_GPUNVME_MODEL_NOT_FOUND')) return error
  return new LoaderError(error.code, error.category, `Cannot open ${path} to write to it: no such file`, {
    next: 'pass { sizeBytes } to create it, or check the spelling',
    cause: error,
  })
}

async function isOurs(store: WritableBlockStore): Promise<boolean> {
  // Members of a set first: for a reader of images, they are an error.
  if ((await readLabel(store)).ours || (await readCopies(store)).some(({ ours }) => ours)) return true
  const { capacityBytes } = store
  const endBytes = Math.min(DATA_START_BYTES, capacityBytes)
  // Also checks the end: a download may write the parts of a file in any order.
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

/** An open file as a writable store. */
export class WritableFileBlocks extends FileBlocks implements WritableFileStore {
  readonly mediumId: string
  private readonly handle: OpenFile

  constructor(path: string, handle: OpenFile, shape: FileShape, mediumId: string) {
    super(path, handle, shape)
    this.mediumId = mediumId
    this.handle = handle
  }

  write(transfers: readonly StoreTransfer[], memory: DmaMemory, options?: ExecuteOptions): Promise<StoreSummary> {
    return this.move(transfers, memory, options, (piece) => this.writePiece(piece))
  }

  async flush(): Promise<void> {
    try {
      await this.handle.sync()
    } catch (cause) {
      throw writeFailed(this.name, `it cannot be flushed (${systemCode(cause)})`, cause)
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
        throw writeFailed(this.name, what, cause)
      }
    }
    return calls
  }
}

/** Error of a file that must not be written, or cannot be created. */
export function targetRefused(path: string, why: string, next: string, cause?: unknown): LoaderError {
  return new LoaderError('ERR_GPUNVME_FILE_TARGET', 'usage', `Refused to write to ${path}: ${why}`, { next, cause })
}

/** Error of a failed write. The content of the file at that place is unknown. */
export function writeFailed(path: string, what: string, cause: unknown): LoaderError {
  return new LoaderError('ERR_GPUNVME_FILE_WRITE', 'failure', `Cannot write to ${path}: ${what}`, {
    next: 'check with df whether its file system is full',
    cause,
  })
}
