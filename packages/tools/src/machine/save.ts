import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { attempting } from '../command-line/file-error.js'
import { readMachine } from './read-machine.js'
import { recordHolders } from './record-holders.js'
import { Root, type Recorded } from './root.js'

export interface SaveOptions {
  /** Further readers, whose files are copied as well. */
  readonly also?: readonly ((root: Root) => Promise<unknown>)[]
}

/** What was copied. */
export interface Saved {
  readonly files: number
  readonly bytes: number
}

/**
 * Copies what is read of a machine, and no more, into a new folder: to be read again as `readMachine(into)`, elsewhere.
 * The folder is there as a whole or not at all: it is written beside its place, and gets its name at the end.
 * @param root what is copied: '/' on a live machine.
 * @param into a folder that does not exist yet.
 * @throws FileError; MachineNotFoundError where `root` holds no machine's files.
 */
export async function writeLiveTree(root: string, into: string, { also = [] }: SaveOptions = {}): Promise<Saved> {
  const recorded = new Map<string, Recorded>()
  const recording = new Root(root, recorded)
  await readMachine(recording)
  await recordHolders(recording)
  for (const read of also) await read(recording)
  const attempt = `make the folder ${into}`
  return attempting(attempt, async () => {
    const target = resolve(into)
    const beside = await mkdtemp(join(dirname(target), `.${basename(target)}-`))
    try {
      const bytes = await writeRecorded(recorded, beside)
      // An empty folder would be replaced without a word, and a full one refused: neither is ours.
      await mkdir(target)
      await rename(beside, target)
      return { files: recorded.size, bytes }
    } catch (error) {
      await rm(beside, { recursive: true, force: true })
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
