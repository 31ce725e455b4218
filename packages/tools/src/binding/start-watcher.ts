import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { ProcessIdentity } from './process-identity.js'

/** The drive that is watched, and the process that is to give it back. */
export interface Watched {
  readonly root: string
  readonly bdf: string
  readonly holder: ProcessIdentity
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
  /** Ends it: the drive was given back, or will be by hand. */
  end(): Promise<void>
}

/** Starts the process that gives a drive back if this one cannot. */
export function startWatcher(watched: Watched): Watcher {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'watcher-process.js'), JSON.stringify(watched)], {
    // In a session of its own: what the terminal sends to all of its programs does not reach it.
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  // One that is killed, or never started, takes its end of the pipe with it; the drive is given back without it.
  const exit = once(child, 'exit').catch(() => undefined)
  child.stdin.on('error', () => undefined)
  const tell = (message: WatcherMessage) => child.stdin.write(`${JSON.stringify(message)}\n`)
  return {
    watch: (command) => void tell({ command }),
    async end() {
      tell({ isDone: true })
      child.stdin.end()
      await exit
    },
  }
}
