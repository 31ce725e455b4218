import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec/error'
import { checkRange, type ByteSource } from './byte-source.js'
import { sizeByProbing } from './size-by-probing.js'

/** Maximum bytes per system call, so that an abort takes effect between calls. */
const MAX_READ_BYTES = 64 * 1024 * 1024

/**
 * Opens a regular file or a block device for random reads. The caller owns the source and closes it.
 *
 * @throws ModelNotFoundError, ModelAccessError, NotAModelFileError; SourceReadError for any other failure to open.
 */
export async function openFileSource(path: string): Promise<ByteSource> {
  const handle = await openHandle(path)
  try {
    return fileSource(path, handle, await sizeOf(path, handle), await revisionOf(handle))
  } catch (error) {
    await handle.close()
    throw error
  }
}

/**
 * Opens a path for access at offsets.
 * @param access open flags. Default: O_RDONLY.
 * @throws ModelNotFoundError, ModelAccessError, NotAModelFileError, SourceReadError
 */
export async function openHandle(path: string, access: number = constants.O_RDONLY): Promise<FileHandle> {
  try {
    // Without O_NONBLOCK, opening a FIFO without a writer would never return. Files and disks ignore it.
    return await open(path, access | constants.O_NONBLOCK)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new ModelNotFoundError(path, cause)
    if (code === 'EACCES' || code === 'EPERM') throw new ModelAccessError(path, cause)
    if (code === 'EISDIR') throw new NotAModelFileError(path, 'a directory')
    throw new SourceReadError(path, `it cannot be opened (${code ?? String(cause)})`, { cause })
  }
}

/** Returns the size of a regular file or a block device. @throws NotAModelFileError for anything else. */
export async function sizeOf(path: string, handle: FileHandle): Promise<number> {
  const stat = await handle.stat()
  if (stat.isFile()) return stat.size
  if (stat.isDirectory()) throw new NotAModelFileError(path, 'a directory')
  if (!stat.isBlockDevice()) throw new NotAModelFileError(path, 'a pipe, socket or character device')
  // stat reports 0 for each block device, and Node has neither lseek nor ioctl.
  const byte = new Uint8Array(1)
  return sizeByProbing(async (offsetBytes) => (await handle.read(byte, 0, 1, offsetBytes)).bytesRead === 1)
}

/** Identifies the content of a regular file; undefined for a block device, whose time of last write is not recorded. */
async function revisionOf(handle: FileHandle): Promise<string | undefined> {
  const stat = await handle.stat({ bigint: true })
  // The kernel updates ctime with each change of the bytes, and programs cannot set it back.
  return stat.isFile() ? `inode ${stat.ino}, ${stat.size} bytes, ${stat.mtimeNs} ns, ${stat.ctimeNs} ns` : undefined
}

function fileSource(path: string, handle: FileHandle, sizeBytes: number, revision: string | undefined): ByteSource {
  let closed = false
  const source: ByteSource = {
    name: path,
    sizeBytes,
    ...(revision !== undefined && {
      revision,
      async checkUnchanged() {
        if ((await revisionOf(handle)) !== revision) throw new SourceChangedError(path)
      },
    }),
    async read(offsetBytes, into, { signal } = {}) {
      checkRange(source, offsetBytes, into.byteLength)
      if (closed) throw new SourceReadError(path, 'the source is closed')
      for (let done = 0; done < into.byteLength;) {
        signal?.throwIfAborted()
        const wanted = Math.min(into.byteLength - done, MAX_READ_BYTES)
        const got = await readSome(path, handle, into, done, wanted, offsetBytes + done)
        if (got === 0) {
          const facts = [`it had ${sizeBytes} bytes when it was opened`]
          throw new SourceReadError(path, `it now ends at byte ${offsetBytes + done}`, { facts })
        }
        done += got
      }
    },
    async close() {
      if (closed) return
      closed = true
      await handle.close()
    },
    [Symbol.asyncDispose]: () => source.close(),
  }
  return source
}

async function readSome(
  path: string,
  handle: FileHandle,
  into: Uint8Array,
  at: number,
  lengthBytes: number,
  offsetBytes: number,
): Promise<number> {
  try {
    return (await handle.read(into, at, lengthBytes, offsetBytes)).bytesRead
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const what = `${lengthBytes} bytes from byte ${offsetBytes} cannot be read (${code ?? String(cause)})`
    throw new SourceReadError(path, what, { cause })
  }
}

/** Error of a path that does not exist. */
export class ModelNotFoundError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_MODEL_NOT_FOUND'
  readonly category: ErrorCategory = 'not-found'
  readonly path: string

  constructor(path: string, cause?: unknown) {
    super(`Cannot open model ${path}: no such file`, { next: 'check the spelling, or use an absolute path', cause })
    this.path = path
  }
}

/** Error of a path that this user may not read. */
export class ModelAccessError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_MODEL_ACCESS'
  readonly category: ErrorCategory = 'privilege'
  readonly path: string

  constructor(path: string, cause?: unknown) {
    const next = `ls -l ${path}, then chmod, or run as a user with read permission`
    super(`Cannot open model ${path}: permission denied`, { next, cause })
    this.path = path
  }
}

/** Error of a path without random access: a directory, a pipe, a character device. */
export class NotAModelFileError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_MODEL_NOT_A_FILE'
  readonly category: ErrorCategory = 'usage'
  readonly path: string

  constructor(path: string, kind: string) {
    const next = 'name one .gguf or .safetensors file, or a block device that starts with one'
    super(`Cannot open model ${path}: it is ${kind}`, { next })
    this.path = path
  }
}

/** Error of a file that has changed since it was opened. Bytes read so far may mix old and new content. */
export class SourceChangedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_SOURCE_CHANGED'
  readonly category: ErrorCategory = 'failure'
  readonly path: string

  constructor(path: string) {
    super(`${path} has changed since it was opened; data read so far may be wrong`, {
      next: 'wait until no process writes to it, then open it again',
    })
    this.path = path
  }
}

/** Error of an open source that could not return bytes inside its range. */
export class SourceReadError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_SOURCE_READ'
  readonly category: ErrorCategory = 'failure'
  readonly sourceName: string

  constructor(sourceName: string, what: string, details: { facts?: readonly string[]; cause?: unknown } = {}) {
    super(`Cannot read ${sourceName}: ${what}`, details)
    this.sourceName = sourceName
  }
}
