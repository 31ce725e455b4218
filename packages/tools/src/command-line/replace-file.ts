import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

const { O_DIRECTORY, O_RDONLY } = constants

/**
 * Replaces a file atomically: a crash leaves its previous or its new content. Resolves after the new content is on the
 * disk. @throws errors of the operating system; the temporary file is then removed
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const tempPath = `${path}.${randomUUID().slice(0, 8)}.new`
  await createFile(tempPath, text)
  try {
    await rename(tempPath, path)
  } catch (error) {
    await rm(tempPath, { force: true })
    throw error
  }
  await syncFolderOf(path)
}

/** Creates a file, and removes it if it cannot be written. @throws errors of the operating system, such as EEXIST */
export async function createFile(path: string, text: string): Promise<void> {
  // Never follows a link, and never opens an existing file or FIFO.
  const file = await open(path, 'wx', 0o644)
  try {
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
  } catch (error) {
    await rm(path, { force: true })
    throw error
  }
}

/** Writes the names in a file's directory to the disk: without this, a crash can undo a rename. */
export async function syncFolderOf(path: string): Promise<void> {
  const folder = await open(dirname(path), O_RDONLY | O_DIRECTORY)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
