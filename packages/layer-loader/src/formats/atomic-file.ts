import { randomBytes } from 'node:crypto'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'

/**
 * Writes a file that has its final name only once it is whole. Until then it lies beside it under a temporary
 * name, on the same file system, where a rename is one step; when `write` fails it is removed.
 *
 * @returns what `write` returned.
 * @throws what `write` threw, or the system's error when the file cannot be created or renamed.
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
    // Without it, the rename could outlive a power failure that the data does not.
    await handle.sync()
    return result
  } finally {
    await handle.close()
  }
}
