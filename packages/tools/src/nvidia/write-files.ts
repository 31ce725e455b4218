import { mkdir, rm, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { WholeFile } from '../block-io/whole-file.js'
import { attempting } from '../command-line/file-error.js'

/** The only ways in which a driver's files are changed. Each is done whole or not at all. */
export interface Writer {
  /** With the mode and the owner of the file that was there, as `WholeFile` keeps them. */
  put(path: string, bytes: Uint8Array): Promise<void>
  remove(path: string): Promise<void>
  /** Of folders, those that nothing is left in. */
  removeEmpty(path: string): Promise<void>
}

export const diskWriter: Writer = {
  async put(path, bytes) {
    await attempting(`make ${dirname(path)}`, () => mkdir(dirname(path), { recursive: true }))
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
    await rmdir(path).catch(() => undefined) // whatever is in it is not ours to remove
  },
}
