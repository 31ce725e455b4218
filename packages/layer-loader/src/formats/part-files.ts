import { LoaderError } from '../error.js'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { ByteSource } from './byte-source.js'

/** Opens a file of a model by its name without directory, for example 'model-00002-of-00003.gguf'. */
export type OpenPart = (name: string) => Promise<ByteSource>

/** The files of a model, opened one after the other and closed together. */
export class PartFiles {
  readonly #openPart: OpenPart
  readonly #opened: ByteSource[] = []

  constructor(openPart: OpenPart) {
    this.#openPart = openPart
  }

  /** Opens the file that the caller named. @throws errors of the opener. */
  async open(name: string): Promise<ByteSource> {
    const source = await this.#openPart(name)
    this.#opened.push(source)
    return source
  }

  /**
   * Opens another file of the same model.
   * @param known name of a file that is open.
   * @throws LoaderError (PART_NOT_FOUND); errors of the opener other than those of category 'not-found'.
   */
  async openSibling(name: string, known: string): Promise<ByteSource> {
    try {
      return await this.open(name)
    } catch (error) {
      if (error instanceof GpuNvmeError && error.category === 'not-found') throw missingPart(name, known, error)
      throw error
    }
  }

  /** Closes all opened files. */
  async close(): Promise<void> {
    await Promise.all(this.#opened.map((source) => source.close()))
  }
}

/** Error of a file that another file of the model refers to, but that does not exist. */
export function missingPart(partName: string, known: string, cause: GpuNvmeError): LoaderError {
  const headline = `Cannot open the model of ${known}: its part ${partName} is missing`
  return new LoaderError('ERR_GPUNVME_PART_NOT_FOUND', 'not-found', headline, {
    next: 'download the missing part, and store it beside the others under this name',
    cause,
  })
}
