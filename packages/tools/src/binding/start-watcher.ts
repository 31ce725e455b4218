import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { Invocation } from '../terminal/invocation.js'
import { isSame, type ProcessIdentity } from './process-identity.js'
import { readEntry } from './state-files.js'
import { ToolsError } from '../command-line/tools-error.js'

/** The watched drive, and the process that should return it. */
export interface Watched {
  readonly root: string
  readonly bdf: string
  readonly holder: ProcessIdentity
  /** How this program was started, for commands printed by the watcher. */
  readonly invocation: Invocation
}

/** Message to a watcher. */
export interface WatcherMessage {
  /** Command that uses the drive, to end before the drive is returned. */
  readonly command?: ProcessIdentity
  /** Nothing is left to watch. */
  readonly isDone?: true
}

export interface Watcher {
  /** Sets the command that uses the drive. */
  watch(command: ProcessIdentity): void
  /** Ends the watcher if nothing is left to return; otherwise leaves that to it, without waiting. */
  end(): Promise<void>
}

/** Time limit of its start, on a busy machine. */
const START_MS = 30_000

/**
 * Starts the process that returns a drive if this one cannot.
 * @param onLost called if that process ends early; this process still returns the drive.
 * @throws ToolsError (WATCHER_NOT_STARTED); then the drive must not be bound.
 */
export async function startWatcher(watched: Watched, onLost: (message: string) => void): Promise<Watcher> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'watcher-process.js'), JSON.stringify(watched)], {
    // In its own session, so that the terminal's signals do not reach it.
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  // A killed watcher closes its end of the pipe.
  child.stdin.on('error', () => undefined)
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()).once('error', () => resolve()))
  const ready = once(child.stdout, 'data').then(() => true)
  const isReady = await Promise.race([ready, exit.then(() => false), sleep(START_MS, false, { ref: false })])
  if (!isReady) {
    child.kill('SIGKILL')
    throw new ToolsError(
      'ERR_GPUNVME_WATCHER_NOT_STARTED',
      'failure',
      `${watched.bdf} was not bound: the process that would return it after a crash does not start`,
      {
        next: 'check free memory and the process limit (ulimit -u)',
      },
    )
  }
  child.stdout.destroy()
  const complain = () => onLost(`The watcher process of ${watched.bdf} ended early; this process will return the drive`)
  child.once('exit', complain)
  const tell = (message: WatcherMessage) => child.stdin.write(`${JSON.stringify(message)}\n`)
  return {
    watch: (command) => void tell({ command }),
    async end() {
      child.off('exit', complain)
      if (await isOwed(watched)) {
        child.stdin.end()
        child.unref()
        return
      }
      tell({ isDone: true })
      child.stdin.end()
      await exit
    },
  }
}

/** Returns whether the holder still has to return the drive; also true if that is unknown. */
async function isOwed({ root, bdf, holder }: Watched): Promise<boolean> {
  try {
    return isSame((await readEntry(root, bdf))?.holder, holder)
  } catch (error) {
    if (error instanceof GpuNvmeError) return true
    throw error
  }
}
