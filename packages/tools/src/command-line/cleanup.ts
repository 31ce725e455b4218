import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { attempting } from './file-error.js'

/** Lends a temporary directory in `parent`, which is removed however the process ends, except by SIGKILL. */
export async function withTemporaryDirectory<T>(parent: string, use: (path: string) => Promise<T>): Promise<T> {
  const path = await attempting(`create a temporary directory in ${parent}`, () => mkdtemp(join(parent, 'gpunvme-')))
  const remove = () => {
    rmSync(path, { recursive: true, force: true })
  }
  const result = await undoOnFailure(remove, () => use(path))
  remove()
  return result
}

/** Runs `use`, and `undo` if it fails. */
export async function undoOnFailure<T>(undo: () => void, use: () => Promise<T>): Promise<T> {
  // A second SIGINT ends the process without unwinding; exit handlers still run.
  process.on('exit', undo)
  try {
    return await use()
  } catch (error) {
    undo()
    throw error
  } finally {
    process.off('exit', undo)
  }
}
