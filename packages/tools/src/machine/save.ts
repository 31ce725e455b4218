import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { attempting } from '../command-line/file-error.js'
import { readMachine } from './read-machine.js'
import { recordHolders } from './record-holders.js'
import { Root, type Recorded } from './root.js'

export interface SaveOptions {
  /** Further readers, whose files are copied too. */
  readonly also?: readonly ((root: Root) => Promise<unknown>)[]
}

/** Totals of a copy. */
export interface Saved {
  readonly files: number
  readonly bytes: number
}

/**
 * Copies the files that are read of a machine to a new directory, to read them elsewhere with `readMachine(into)`. The
 * directory is created atomically.
 * @param root the machine to copy: '/' on a live machine.
 * @param into a directory that does not exist yet.
 * @throws FileError; MachineNotFoundError if `root` has no files of a machine.
 */
export async function writeLiveTree(root: string, into: string, { also = [] }: SaveOptions = {}): Promise<Saved> {
  const recorded = new Map<string, Recorded>()
  const recording = new Root(root, recorded)
  await readMachine(recording)
  await recordHolders(recording)
  for (const read of also) await read(recording)
  const attempt = `create the directory ${into}`
  return attempting(attempt, async () => {
    const target = resolve(into)
    const tempPath = await mkdtemp(join(dirname(target), `.${basename(target)}-`))
    try {
      const bytes = await writeRecorded(recorded, tempPath)
      // Fails if it exists: an empty directory would otherwise be replaced silently.
      await mkdir(target)
      await rename(tempPath, target)
      return { files: recorded.size, bytes }
    } catch (error) {
      await rm(tempPath, { recursive: true, force: true })
      throw error
    }
  })
}

async function writeRecorded(recorded: ReadonlyMap<string, Recorded>, into: string): Promise<number> {
  let bytes = 0
  for (const [place, found] of recorded) {
    const path = join(into, place)
    if (found.kind === 'folder') {
      await mkdir(path, { recursive: true })
      continue
    }
    await mkdir(dirname(path), { recursive: true })
    if (found.kind === 'link') await symlink(found.to, path)
    else await writeFile(path, found.kind === 'file' ? found.bytes : '')
    if (found.kind === 'file') bytes += found.bytes.length
  }
  return bytes
}
