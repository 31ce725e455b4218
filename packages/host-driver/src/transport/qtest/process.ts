import { spawn, type ChildProcess } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { Watcher } from './watcher.js'

/** Why a QEMU is not there any more. */
export interface QemuExit {
  /** In words: `it was ended by SIGKILL`, `it gave no answer in 10 s`. */
  readonly reason: string
  /** Its exit status; null where a signal ended it, or while it is not known yet. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** What it said on standard error, the last 64 KiB of it. */
  readonly stderr: string
}

const STDERR_CHARACTERS = 65_536
const END_MS = 2_000

/** The process of a QEMU: what it says on standard error, and how it ends. It does not keep this process alive. */
export class QemuProcess {
  /** Resolves when it has ended, and everything that it said is known. */
  readonly ended: Promise<void>
  readonly #child: ChildProcess
  #stderr = ''
  #exit: Pick<QemuExit, 'reason' | 'code' | 'signal'> | undefined
  #spawnError: NodeJS.ErrnoException | undefined
  #hasEnded = false

  constructor(program: string, args: readonly string[], watcher: Watcher) {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
    this.#child = child
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_CHARACTERS)
    })
    // Its death shows elsewhere; a write to a pipe that it has left behind must not throw.
    child.stdin.on('error', () => undefined)
    this.ended = new Promise((resolve) => {
      const settle = (exit: Pick<QemuExit, 'reason' | 'code' | 'signal'>) => {
        // What was seen first says more: that it had to be ended, and why.
        this.#exit = { ...exit, reason: this.#exit?.reason ?? exit.reason }
        this.#hasEnded = true
        watcher.watch(undefined)
        resolve()
      }
      child.on('error', (error) => {
        if (child.pid !== undefined) return
        this.#spawnError = error
        settle({ reason: `it cannot be started: ${error.message}`, code: null, signal: null })
      })
      child.on('close', (code, signal) => {
        const how = signal === null ? `exited with status ${code}` : `was ended by ${signal}`
        settle({ reason: `it ${how}`, code, signal })
      })
    })
    watcher.watch(child.pid)
    for (const each of [child, child.stdin, child.stdout, child.stderr]) (each as { unref?: () => void }).unref?.()
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  get stdin(): Writable {
    return this.#child.stdin!
  }

  get stdout(): Readable {
    return this.#child.stdout!
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Why the program could not be started at all. */
  get spawnError(): NodeJS.ErrnoException | undefined {
    return this.#spawnError
  }

  get exit(): QemuExit | undefined {
    return this.#exit && { ...this.#exit, stderr: this.#stderr }
  }

  /** It is of no more use, for this reason: it is ended without being asked, if it has not ended already. */
  giveUp(reason: string): void {
    this.#exit ??= { reason, code: null, signal: null }
    this.#child.kill('SIGKILL')
  }

  /** Ends it: asked first, so that what it has not written yet is written. Resolves when it is gone. */
  async end(): Promise<void> {
    this.#child.kill('SIGTERM')
    if (await this.endsWithin(END_MS)) return
    this.#child.kill('SIGKILL')
    await this.endsWithin(END_MS)
  }

  async endsWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, ms, false)
    })
    const isOver = await Promise.race([this.ended.then(() => true), late])
    clearTimeout(timer)
    return isOver
  }
}
