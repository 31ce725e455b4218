import { spawn, type ChildProcess } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { Watcher } from './watcher.js'

/** Why QEMU has ended. */
export interface QemuExit {
  /** Reason as text: `it was ended by SIGKILL`, `it gave no answer in 10 s`. */
  readonly reason: string
  /** Exit status; null if a signal ended it, or if it is not known yet. */
  readonly code: number | null
  /** Signal that ended it, if any. */
  readonly signal: NodeJS.Signals | null
  /** Last 64 KiB of its standard error. */
  readonly stderr: string
}

const STDERR_CHARACTERS = 65_536
const END_MS = 2_000

/** A process of QEMU: its standard error, and how it ends. Does not keep this process alive. */
export class QemuProcess {
  /** Resolves when it has ended and all of its output was read. */
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
    // Its end is detected elsewhere; a write to its closed pipe must not throw.
    child.stdin.on('error', () => undefined)
    this.ended = new Promise((resolve) => {
      const settle = (exit: Pick<QemuExit, 'reason' | 'code' | 'signal'>) => {
        // The first reason says more: that it had to be ended, and why.
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

  /** Why the program could not be started. */
  get spawnError(): NodeJS.ErrnoException | undefined {
    return this.#spawnError
  }

  get exit(): QemuExit | undefined {
    return this.#exit && { ...this.#exit, stderr: this.#stderr }
  }

  /** Kills QEMU for this reason, unless it has ended. */
  giveUp(reason: string): void {
    this.#exit ??= { reason, code: null, signal: null }
    this.#child.kill('SIGKILL')
  }

  /** Ends QEMU, at first by a request, so that it writes pending data. Resolves when it has ended. */
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
