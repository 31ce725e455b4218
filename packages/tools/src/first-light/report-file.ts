import { attempting, isSystemError } from '../command-line/file-error.js'
import { createFile, replaceFile, syncFolderOf } from '../command-line/replace-file.js'
import { UsageError } from '../command-line/tools-error.js'
import { printable } from '../terminal/printable.js'

/** A new report file. `write` replaces its content atomically, so that a crash leaves a complete report. */
export class ReportFile {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  /** Creates the file with its first report. @throws UsageError if the path exists; FileError */
  static async create(path: string, text: string): Promise<ReportFile> {
    await attempting(`create ${path}`, async () => {
      try {
        await createFile(path, text)
      } catch (error) {
        throw isSystemError(error) && error.code === 'EEXIST' ? existsError(path) : error
      }
      await syncFolderOf(path)
    })
    return new ReportFile(path)
  }

  /** Replaces the content. Resolves after it is on the disk. @throws FileError */
  async write(text: string): Promise<void> {
    const { path } = this
    await attempting(`write ${path}`, () => replaceFile(path, text))
  }
}

function existsError(path: string): UsageError {
  return new UsageError(`Report file ${printable(path)} already exists`, { next: 'pass a new file name to --output' })
}
