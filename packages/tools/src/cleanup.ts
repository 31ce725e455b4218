import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Lends a directory that is gone afterwards, however the process ends short of SIGKILL. */
export async function withTemporaryDirectory<T>(use: (path: string) => Promise<T>): Promise<T> {
  const path = await mkdtemp(join(tmpdir(), 'gpunvme-'))
  const remove = () => {
    rmSync(path, { recursive: true, force: true })
  }
  const result = await undoOnFailure(remove, () => use(path))
  remove()
  return result
}

/** Runs `use`, and `undo` after it when it fails. */
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
