import { LoaderError } from '../error.js'
import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { checkRange, type ByteSource } from './byte-source.js'
import { sizeByProbing } from './size-by-probing.js'

/** Maximum bytes per system call, so that an abort takes effect between calls. */
const MAX_READ_BYTES = 64 * 1024 * 1024

/**
 * Opens a regular file or a block device for random reads. The caller owns the source and closes it.
 *
 * @throws LoaderError (MODEL_NOT_FOUND, MODEL_ACCESS, MODEL_NOT_A_FILE, SOURCE_READ). The last one is any other
 * failure.
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
 * @throws LoaderError (MODEL_NOT_FOUND, MODEL_ACCESS, MODEL_NOT_A_FILE, SOURCE_READ)
 */
export async function openHandle(path: string, access: number = constants.O_RDONLY): Promise<FileHandle> {
  try {
    // Without O_NONBLOCK, opening a FIFO without a writer would never return. Files and disks ignore it.
    return await open(path, access | constants.O_NONBLOCK)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') throw modelNotFound(path, cause)
    if (code === 'EACCES' || code === 'EPERM') throw accessDenied(path, cause)
    if (code === 'EISDIR') throw notAModelFile(path, 'a directory')
    throw readFailed(path, `it cannot be opened (${code ?? String(cause)})`, { cause })
  }
}

/** Returns the size of a regular file or a block device. @throws LoaderError (MODEL_NOT_A_FILE) for anything else. */
export async function sizeOf(path: string, handle: FileHandle): Promise<number> {
  const stat = await handle.stat()
  if (stat.isFile()) return stat.size
  if (stat.isDirectory()) throw notAModelFile(path, 'a directory')
  if (!stat.isBlockDevice()) throw notAModelFile(path, 'a pipe, socket or character device')
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
        if ((await revisionOf(handle)) !== revision) throw sourceChanged(path)
      },
    }),
    async read(offsetBytes, into, { signal } = {}) {
      checkRange(source, offsetBytes, into.byteLength)
      if (closed) throw readFailed(path, 'the source is closed', { next: 'close the source only after its last read' })
      for (let done = 0; done < into.byteLength;) {
        signal?.throwIfAborted()
        const wanted = Math.min(into.byteLength - done, MAX_READ_BYTES)
        const got = await readSome(path, handle, into, done, wanted, offsetBytes + done)
        if (got === 0) {
          const facts = [`it had ${sizeBytes} bytes when it was opened`]
          throw readFailed(path, `it now ends at byte ${offsetBytes + done}`, { facts, next: NEXT_IF_CHANGED })
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
    throw readFailed(path, what, { cause })
  }
}

/** Error of a path that does not exist. */
export function modelNotFound(path: string, cause?: unknown): LoaderError {
  return new LoaderError('ERR_GPUNVME_MODEL_NOT_FOUND', 'not-found', `Cannot open model ${path}: no such file`, {
    next: 'check the spelling, or use an absolute path',
    cause,
  })
}

/** Error of a path that this user may not read. */
export function accessDenied(path: string, cause?: unknown): LoaderError {
  const next = `ls -l ${path}, then chmod, or run as a user with read permission`
  return new LoaderError('ERR_GPUNVME_MODEL_ACCESS', 'privilege', `Cannot open model ${path}: permission denied`, {
    next,
    cause,
  })
}

/** Error of a path without random access: a directory, a pipe, a character device. */
export function notAModelFile(path: string, kind: string): LoaderError {
  const next = 'name one .gguf or .safetensors file, or a block device that starts with one'
  return new LoaderError('ERR_GPUNVME_MODEL_NOT_A_FILE', 'usage', `Cannot open model ${path}: it is ${kind}`, { next })
}

/** Error of a file that has changed since it was opened. Bytes read so far may mix old and new content. */
export function sourceChanged(path: string): LoaderError {
  const headline = `${path} has changed since it was opened; data read so far may be wrong`
  return new LoaderError('ERR_GPUNVME_SOURCE_CHANGED', 'failure', headline, {
    next: NEXT_IF_CHANGED,
  })
}

/** Next step if a file has changed since it was opened. */
export const NEXT_IF_CHANGED = 'wait until no process writes to it, then open it again'

/** Error of an open source that could not return bytes inside its range. */
export function readFailed(
  sourceName: string,
  what: string,
  details: { facts?: readonly string[]; next?: string; cause?: unknown } = {},
): LoaderError {
  return new LoaderError('ERR_GPUNVME_SOURCE_READ', 'failure', `Cannot read ${sourceName}: ${what}`, details)
}
