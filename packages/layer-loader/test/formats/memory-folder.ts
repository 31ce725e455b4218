import { LoaderError } from '../../src/index.js'
import { memorySource, type ByteSource } from '../../src/formats/index.js'

/** A folder of files in memory, which tracks the open ones. */
export class MemoryFolder {
  readonly files: Record<string, Uint8Array>
  /** Names of open files, in the order of opening. */
  readonly opened: string[] = []

  constructor(files: Record<string, Uint8Array>) {
    this.files = files
  }

  readonly open = (name: string): Promise<ByteSource> => {
    const bytes = this.files[name]
    if (bytes === undefined)
      return Promise.reject(new LoaderError('ERR_GPUNVME_MODEL_NOT_FOUND', 'not-found', `no file ${name}`))
    this.opened.push(name)
    const close = (): Promise<void> => {
      const index = this.opened.indexOf(name)
      if (index >= 0) this.opened.splice(index, 1)
      return Promise.resolve()
    }
    return Promise.resolve({ ...memorySource(bytes, name), close, [Symbol.asyncDispose]: close })
  }
}
