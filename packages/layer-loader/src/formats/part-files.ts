import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { ByteSource } from './byte-source.js'

/** Opens one of a model's files by its name without a folder, such as 'model-00002-of-00003.gguf'. */
export type OpenPart = (name: string) => Promise<ByteSource>

/** The files of a model as they are opened one after the other, so that all of them can be closed at once. */
export class PartFiles {
  readonly #openPart: OpenPart
  readonly #opened: ByteSource[] = []

  constructor(openPart: OpenPart) {
    this.#openPart = openPart
  }

  /** Opens the file that the caller asked for. @throws what the opener throws. */
  async open(name: string): Promise<ByteSource> {
    const source = await this.#openPart(name)
    this.#opened.push(source)
    return source
  }

  /**
   * Opens a file that belongs to one that is open.
   * @param known the name of that one.
   * @throws MissingPartError; what the opener throws apart from errors of the category 'not-found'.
   */
  async openSibling(name: string, known: string): Promise<ByteSource> {
    try {
      return await this.open(name)
    } catch (error) {
      if (error instanceof GpuNvmeError && error.category === 'not-found')
        throw new MissingPartError(name, known, error)
      throw error
    }
  }

  /** Closes every file that was opened. */
  async close(): Promise<void> {
    await Promise.all(this.#opened.map((source) => source.close()))
  }
}

/** A file of the model says that there is another one, which is not there. */
export class MissingPartError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_PART_NOT_FOUND'
  readonly category = 'not-found'
  /** Without a folder, as the opener was asked for it. */
  readonly partName: string

  constructor(partName: string, known: string, cause: GpuNvmeError) {
    super(`Cannot open the model of ${known}: its part ${partName} is missing`, {
      next: 'download the part that is missing, and put it beside the others under this name',
      cause,
    })
    this.partName = partName
  }
}
