import { randomBytes } from 'node:crypto'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'

/**
 * Writes a file that gets its final name only when it is complete. Until then, it has a temporary name in the same
 * directory; if `write` fails, it is removed.
 *
 * @returns the result of `write`.
 * @throws errors of `write`, or the system's error if the file cannot be created or renamed.
 */
export async function writeAtomically<T>(path: string, write: (handle: FileHandle) => Promise<T>): Promise<T> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.part`
  const handle = await open(temporary, 'wx')
  try {
    const result = await writeAndClose(handle, write)
    await rename(temporary, path)
    return result
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

async function writeAndClose<T>(handle: FileHandle, write: (handle: FileHandle) => Promise<T>): Promise<T> {
  try {
    const result = await write(handle)
    // Without it, the rename could survive a power failure that the data does not survive.
    await handle.sync()
    return result
  } finally {
    await handle.close()
  }
}
