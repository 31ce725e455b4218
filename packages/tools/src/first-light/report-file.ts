import { constants } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { attempting, isSystemError } from '../command-line/file-error.js'
import { UsageError } from '../command-line/tools-error.js'
import { printable } from '../terminal/printable.js'

const { O_CREAT, O_DIRECTORY, O_NOFOLLOW, O_RDONLY, O_TRUNC, O_WRONLY } = constants

/** A new file that always has one whole report, also after a crash of the machine. */
export class ReportFile {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  /** Creates the file. @throws UsageError if the path exists; FileError */
  static async create(path: string): Promise<ReportFile> {
    await attempting(`create ${path}`, async () => {
      try {
        await (await open(path, 'wx', 0o644)).close()
      } catch (error) {
        if (isSystemError(error) && error.code === 'EEXIST') throw existsError(path)
        throw error
      }
    })
    return new ReportFile(path)
  }

  /** Replaces the content. Resolves after it is on the disk. @throws FileError */
  async write(text: string): Promise<void> {
    const { path } = this
    const beside = `${path}.new`
    await attempting(`write ${path}`, async () => {
      const file = await open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o644)
      try {
        await file.writeFile(text)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(beside, path)
      // Without this, the machine may freeze before the new name is on the disk.
      const folder = await open(dirname(path), O_RDONLY | O_DIRECTORY)
      await folder.sync().finally(() => folder.close())
    })
  }
}

function existsError(path: string): UsageError {
  return new UsageError(`${printable(path)} exists`, { next: 'use --output with the name of a new file' })
}
