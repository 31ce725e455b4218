import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { attempting, isSystemError } from '../command-line/file-error.js'
import { bindingStateError } from './entry.js'
import { isAlive, thisProcess, type ProcessIdentity } from './process-identity.js'
import { lockFile } from './state-files.js'
import { ToolsError } from '../command-line/tools-error.js'

/** Interval between attempts to take a lock. */
const RETRY_MS = 100

/** Content of a lock file: its holder, and the number of this acquisition. */
interface Holding extends ProcessIdentity {
  readonly taking: number
}

let takings = 0

/**
 * Lends a drive to one process at a time while its driver changes. The lock is a file in a directory of root. The lock
 * of a process that has ended is not removed, since two processes might do so at once, and the second would remove the
 * first one's new lock. Instead, the successor creates a file named after it, which only one process can. The last file
 * in that chain is the lock; its holder removes the whole chain, starting with the oldest.
 * @param waitMs time to wait for another process.
 * @throws DriverChangingError, FileError, ToolsError (BINDING_STATE)
 */
export async function withLock<T>(root: string, bdf: string, waitMs: number, use: () => Promise<T>): Promise<T> {
  const path = lockFile(root, bdf)
  const line = await attempting(`create ${path}`, () => take(path, bdf, waitMs))
  try {
    return await use()
  } finally {
    for (const place of line) await rm(place, { force: true })
  }
}

async function take(path: string, bdf: string, waitMs: number): Promise<readonly string[]> {
  const until = performance.now() + waitMs
  const own: Holding = { ...thisProcess(), taking: ++takings }
  const tempPath = `${path}.${nameOf(own)}`
  await mkdir(dirname(path), { recursive: true, mode: 0o755 })
  await writeFile(tempPath, `${own.pid} ${own.startTicks} ${own.taking}`, { mode: 0o644 })
  try {
    for (;;) {
      const before = await lineOf(path)
      const last = before.at(-1)
      if (last === undefined || !isAlive(last.holding)) {
        const line = await succeed(path, last, tempPath)
        if (line !== undefined) return line
      }
      if (performance.now() >= until) throw new DriverChangingError(bdf, path, last?.holding.pid)
      await sleep(RETRY_MS)
    }
  } finally {
    await rm(tempPath, { force: true })
  }
}

interface Place {
  readonly path: string
  readonly holding: Holding
}

/**
 * Returns all acquisitions that were not released, in order: the last one holds the lock, unless its process has ended.
 */
async function lineOf(path: string): Promise<readonly Place[]> {
  const line: Place[] = []
  for (let place = path; ;) {
    const holding = await holdingIn(place)
    if (holding === undefined) return line
    line.push({ path: place, holding })
    place = after(path, holding)
  }
}

/** @returns the lock's files after taking it; undefined if another process was faster. */
async function succeed(
  path: string,
  last: Place | undefined,
  tempPath: string,
): Promise<readonly string[] | undefined> {
  const place = last === undefined ? path : after(path, last.holding)
  try {
    await link(tempPath, place)
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') return undefined
    throw error
  }
  // The chain may have been removed meanwhile: a file named after it would be ineffective.
  const line = await lineOf(path)
  if (line.at(-1)?.path === place) return line.map((each) => each.path)
  await rm(place, { force: true })
  return undefined
}

async function holdingIn(path: string): Promise<Holding | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined
    throw error
  }
  const [, pid, startTicks, taking] = /^(\d+) (\d*) (\d+)$/.exec(text) ?? []
  if (pid === undefined) throw bindingStateError(path, 'it has no process id')
  return { pid: Number(pid), startTicks: startTicks!, taking: Number(taking) }
}

function after(path: string, holding: Holding): string {
  return `${path}.after-${nameOf(holding)}`
}

function nameOf({ pid, startTicks, taking }: Holding): string {
  return `${pid}-${startTicks}-${taking}`
}

/** Error of a drive whose driver another gpunvme is changing. Nothing was changed. */
export class DriverChangingError extends ToolsError {
  constructor(bdf: string, path: string, pid: number | undefined) {
    super('ERR_GPUNVME_DRIVER_CHANGING', 'privilege', `Another gpunvme is changing the driver of ${bdf}`, {
      facts: pid === undefined ? [] : [`process ${pid} holds ${path}`],
      next: 'try again in a moment',
    })
  }
}
