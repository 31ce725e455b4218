import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { GpuNvmeError } from '@gpunvme/nvme-spec'

/** An answer that has not come by then does not come: QEMU hangs, or somebody stopped it. */
export const ANSWER_MS = 10_000
/** Writes whose answers are not awaited; far fewer than fill a FIFO of 64 KiB, in which `writeSync` would then block. */
const POSTED = 64
/** An answer usually comes in 10 us. Whoever sleeps for it wakes up after 50, whoever never sleeps starves QEMU. */
const SPIN_MS = 0.2

/**
 * The line to QEMU's test server: a line of text a request, and one for its answer, over two FIFOs, since these are
 * what Node can read and write while it waits. Requests are answered in order.
 *
 * QEMU's end is the end of the channel, never an exception: from then on requests are dropped and have no answer.
 */
export class Channel {
  readonly #requests: number
  readonly #onLost: (reason: string) => void
  readonly #buffer = Buffer.alloc(16_384)
  readonly #pause = new Int32Array(new SharedArrayBuffer(4))
  readonly #path: string
  #answers: number
  #unread = ''
  #owed = 0
  #lost = false

  /** `path`.in and `path`.out are the FIFOs, which QEMU may not have opened yet. */
  constructor(path: string, onLost: (reason: string) => void) {
    this.#path = path
    this.#onLost = onLost
    // For reading and writing both, so that neither side waits for the other to open its end.
    this.#requests = openSync(`${path}.in`, constants.O_RDWR)
    try {
      this.#answers = openSync(`${path}.out`, constants.O_RDWR | constants.O_NONBLOCK)
    } catch (error) {
      closeSync(this.#requests)
      throw error
    }
  }

  /** QEMU is gone, or this side has let go of it. */
  get lost(): boolean {
    return this.#lost
  }

  /** Resolves when QEMU answers for the first time; gives up at `isOver`, which is asked now and then. */
  async opened(isOver: () => boolean): Promise<boolean> {
    this.#send('inb 0x80')
    while (this.#line() === undefined) {
      if (isOver()) return false
      if (!this.#receive()) await sleep(1)
    }
    this.#owed = 0
    // QEMU has its end open. Ours that can write is closed, so that QEMU's death is an end of file.
    const answers = openSync(`${this.#path}.out`, constants.O_RDONLY | constants.O_NONBLOCK)
    closeSync(this.#answers)
    this.#answers = answers
    return true
  }

  /** Sends a request, and gives the value of its answer; undefined where QEMU is gone. */
  ask(request: string): string | undefined {
    this.#send(request)
    return this.#settle()
  }

  /** Sends a request that has no value, a write: its answer is taken off before the next one that is asked for. */
  post(request: string): void {
    if (this.#owed >= POSTED) this.#settle()
    this.#send(request)
  }

  /** Ends it from this side. */
  close(): void {
    if (this.#answers === -1) return
    this.#lost = true
    closeSync(this.#requests)
    closeSync(this.#answers)
    this.#answers = -1
  }

  #send(request: string): void {
    if (this.#lost) return
    writeSync(this.#requests, `${request}\n`)
    this.#owed++
  }

  /** Takes off all answers that are due; gives the value of the last. */
  #settle(): string | undefined {
    let value: string | undefined
    for (; this.#owed > 0; this.#owed--) {
      value = this.#answer()
      if (value === undefined) return undefined
    }
    return value
  }

  #answer(): string | undefined {
    let sinceMs: number | undefined
    for (;;) {
      const value = this.#line()
      if (value !== undefined) return value
      if (this.#lost) return undefined
      if (this.#receive()) continue
      const nowMs = performance.now()
      sinceMs ??= nowMs
      if (nowMs - sinceMs > ANSWER_MS) this.#lose(`it gave no answer in ${ANSWER_MS / 1000} s`)
      else if (nowMs - sinceMs > SPIN_MS) Atomics.wait(this.#pause, 0, 0, 0.05)
    }
  }

  /** The value of the next answer that is there whole. */
  #line(): string | undefined {
    for (;;) {
      const end = this.#unread.indexOf('\n')
      if (end < 0) return undefined
      const line = this.#unread.slice(0, end)
      this.#unread = this.#unread.slice(end + 1)
      if (line.startsWith('OK')) return line.slice(3)
      if (line.startsWith('FAIL')) throw new QtestRefusedError(line)
      // an interrupt's line, which nobody asked for
    }
  }

  /** Whether something came, be it the end. */
  #receive(): boolean {
    if (this.#lost) return true
    try {
      const length = readSync(this.#answers, this.#buffer)
      if (length === 0) this.#lose('it closed its end of the channel')
      this.#unread += this.#buffer.toString('latin1', 0, length)
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      return false
    }
  }

  #lose(reason: string): void {
    this.#lost = true
    this.#owed = 0
    this.#unread = ''
    this.#onLost(reason)
  }
}

/** QEMU's test server did not take a request. No request of ours is of that kind, so that this is a defect. */
export class QtestRefusedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_QTEST_REFUSED'
  readonly category = 'failure'
  constructor(answer: string) {
    super("QEMU's test server refused a request", { facts: [answer], next: 'report it, with the version of QEMU' })
  }
}
