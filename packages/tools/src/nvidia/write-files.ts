import { mkdir, rm, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { WholeFile } from '../block-io/whole-file.js'
import { attempting } from '../command-line/file-error.js'

/** Operations that change a driver's files, each atomic. */
export interface Writer {
  /** Keeps mode and owner of an existing file, as `WholeFile` does. */
  put(path: string, bytes: Uint8Array): Promise<void>
  remove(path: string): Promise<void>
  /** Removes a directory if it is empty. */
  removeEmpty(path: string): Promise<void>
}

export const diskWriter: Writer = {
  async put(path, bytes) {
    await attempting(`create ${dirname(path)}`, () => mkdir(dirname(path), { recursive: true }))
    const file = new WholeFile(path)
    try {
      await file.write(bytes)
      file.publish()
    } finally {
      file.discard()
    }
  },

  async remove(path) {
    await attempting(`remove ${path}`, () => rm(path, { force: true }))
  },

  async removeEmpty(path) {
    await rmdir(path).catch(() => undefined) // it is not empty
  },
}
