import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { DriverError } from '../../error.js'

/** Time limit of an answer, after which QEMU is taken to hang or to be stopped. */
export const ANSWER_MS = 10_000
/**
 * Maximum number of writes without an awaited answer: far fewer than fill a FIFO of 64 KiB, where `writeSync` would
 * block.
 */
const POSTED = 64
/** Time to spin for an answer, which usually takes 10 us. A sleep takes 50 us; without sleeping, QEMU would starve. */
const SPIN_MS = 0.2

/**
 * Connection to QEMU's test server: one line per request and one per answer, over two FIFOs, which Node can access
 * synchronously. Requests are answered in order.
 *
 * The end of QEMU is the end of the channel, not an exception: later requests are dropped and have no answer.
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

  /** `path`.in and `path`.out are the FIFOs; QEMU need not have opened them yet. */
  constructor(path: string, onLost: (reason: string) => void) {
    this.#path = path
    this.#onLost = onLost
    // Opened for reading and writing, so that neither side waits for the other to open its end.
    this.#requests = openSync(`${path}.in`, constants.O_RDWR)
    try {
      this.#answers = openSync(`${path}.out`, constants.O_RDWR | constants.O_NONBLOCK)
    } catch (error) {
      closeSync(this.#requests)
      throw error
    }
  }

  /** Whether QEMU is gone, or this side has closed the channel. */
  get lost(): boolean {
    return this.#lost
  }

  /** Resolves at QEMU's first answer; gives up when `isOver`, which is called repeatedly, returns true. */
  async opened(isOver: () => boolean): Promise<boolean> {
    this.#send('inb 0x80')
    while (this.#line() === undefined) {
      if (isOver()) return false
      if (!this.#receive()) await sleep(1)
    }
    this.#owed = 0
    // QEMU has opened its end. The writable one on this side is closed, so that QEMU's death is an end of file.
    const answers = openSync(`${this.#path}.out`, constants.O_RDONLY | constants.O_NONBLOCK)
    closeSync(this.#answers)
    this.#answers = answers
    return true
  }

  /** Sends a request and returns the value of its answer; undefined if QEMU is gone. */
  ask(request: string): string | undefined {
    this.#send(request)
    return this.#settle()
  }

  /** Sends a write, which has no value. Its answer is consumed before that of the next `ask`. */
  post(request: string): void {
    if (this.#owed >= POSTED) this.#settle()
    this.#send(request)
  }

  /** Closes this side. */
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

  /** Consumes all answers that are due; returns the value of the last. */
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

  /** Returns the value of the next complete answer. */
  #line(): string | undefined {
    for (;;) {
      const end = this.#unread.indexOf('\n')
      if (end < 0) return undefined
      const line = this.#unread.slice(0, end)
      this.#unread = this.#unread.slice(end + 1)
      if (line.startsWith('OK')) return line.slice(3)
      if (line.startsWith('FAIL')) throw requestRefused(line)
      // an unsolicited line about an interrupt
    }
  }

  /** Returns whether anything arrived, including the end of file. */
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

/** This package sends only valid requests, so this is a defect. */
function requestRefused(answer: string): DriverError {
  const headline = "QEMU's test server refused a request"
  const next = 'report it, with the version of QEMU'
  return new DriverError('ERR_GPUNVME_QTEST_REFUSED', 'failure', headline, { facts: [answer], next })
}
