import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { Invocation } from '../command-line/invocation.js'
import { isSame, type ProcessIdentity } from './process-identity.js'
import { readEntry } from './state-files.js'
import { ToolsError } from '../command-line/tools-error.js'

/** The drive that is watched, and the process that is to give it back. */
export interface Watched {
  readonly root: string
  readonly bdf: string
  readonly holder: ProcessIdentity
  /** How this program was started, for the commands that the watcher prints. */
  readonly invocation: Invocation
}

/** What a watcher is told. */
export interface WatcherMessage {
  /** What runs on the drive, and has to end before the drive is given back. */
  readonly command?: ProcessIdentity
  /** There is nothing left to watch over. */
  readonly isDone?: true
}

export interface Watcher {
  /** What runs on the drive from now on. */
  watch(command: ProcessIdentity): void
  /** Ends it where there is nothing left to give back; otherwise leaves that to it, and does not wait. */
  end(): Promise<void>
}

/** How long it may take to start, on a busy machine. */
const START_MS = 30_000

/**
 * Starts the process that gives a drive back if this one cannot.
 * @param onLost called if that process ends early; this process still gives the drive back.
 * @throws WatcherNotStartedError, in which case the drive is not to be taken.
 */
export async function startWatcher(watched: Watched, onLost: (message: string) => void): Promise<Watcher> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'watcher-process.js'), JSON.stringify(watched)], {
    // In a session of its own: what the terminal sends to all of its programs does not reach it.
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  // One that is killed takes its end of the pipe with it.
  child.stdin.on('error', () => undefined)
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()).once('error', () => resolve()))
  const ready = once(child.stdout, 'data').then(() => true)
  const isReady = await Promise.race([ready, exit.then(() => false), sleep(START_MS, false, { ref: false })])
  if (!isReady) {
    child.kill('SIGKILL')
    throw new WatcherNotStartedError(watched.bdf)
  }
  child.stdout.destroy()
  const complain = () =>
    onLost(`The watcher process of ${watched.bdf} ended early; this process will give the drive back`)
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

/** Whether the drive is the holder's to give back still; also where nobody can tell. */
async function isOwed({ root, bdf, holder }: Watched): Promise<boolean> {
  try {
    return isSame((await readEntry(root, bdf))?.holder, holder)
  } catch (error) {
    if (error instanceof GpuNvmeError) return true
    throw error
  }
}

/** Nobody would give the drive back if this process were killed. It was not touched. */
export class WatcherNotStartedError extends ToolsError {
  readonly code = 'ERR_GPUNVME_WATCHER_NOT_STARTED'
  readonly category = 'failure'
  constructor(bdf: string) {
    super(`${bdf} was not taken: the process that would give it back after a crash does not start`, {
      next: 'see that this machine has memory and processes to spare (ulimit -u)',
    })
  }
}
