import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { end } from './run-program.js'

const KEPT_MS = 24 * 60 * 60 * 1000

/**
 * Objects of sources, each compiled once for as long as what the compiler reads of it and its flags stay the same: most of
 * a program with a planted bug is what the program without it is made of. They are kept for a day, for all test files.
 */
export class Objects {
  private readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  /** @returns the object's path. Throws what g++ says, also where it only warns. */
  async of(source: string, flags: readonly string[]): Promise<string> {
    const text = await compiler([...flags, '-E', '-P', source])
    const key = createHash('sha256')
      .update(JSON.stringify(flags.filter((flag) => !flag.startsWith('-I'))))
      .update(text)
    const path = join(this.folder, `${key.digest('hex')}.o`)
    if (existsSync(path)) {
      const now = new Date()
      utimesSync(path, now, now)
      return path
    }
    mkdirSync(this.folder, { recursive: true })
    // Another process may compile the same: it is there as a whole, or not.
    const unfinished = `${path}.${process.pid}`
    await compiler([...flags, '-c', '-o', unfinished, source])
    renameSync(unfinished, path)
    return path
  }

  /** Removes what nobody has asked for since yesterday. */
  tidy(): void {
    if (!existsSync(this.folder)) return
    for (const name of readdirSync(this.folder)) {
      const path = join(this.folder, name)
      const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Infinity }
      if (mtimeMs < Date.now() - KEPT_MS) rmSync(path, { force: true })
    }
  }
}

/** Runs g++, and gives what it printed. */
export async function compiler(args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await end('g++', args, { timeoutMs: 180_000 })
  if (status !== 0) throw new Error(`g++ ${args.join(' ')}\n${stderr}`)
  return stdout
}
