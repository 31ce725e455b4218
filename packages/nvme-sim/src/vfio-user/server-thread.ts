import { closeSync, writeSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { Answer, Answers } from './messages.js'
import { CLOSING, REQUESTS, STATE } from './options.js'

/** Time limit for a response: a thread delayed by its disk keeps serving, and answers the next request. */
const RESPONSE_LIMIT_MS = 30_000
/** Time limit for a thread to end on request: it flushes its image first. */
const CLOSE_LIMIT_MS = 10_000

/** Further time limit until it is abandoned: it may block in a system call, which cannot be interrupted. */
const END_LIMIT_MS = 5_000

/** Written to an eventfd: 1, as a host-endian 64-bit number. */
const ONE = new Uint8Array(new BigUint64Array([1n]).buffer)

/** A request that the server has not answered yet. */
interface Pending {
  readonly resolve: (value: never) => void
  readonly reject: (reason: Error) => void
  readonly timer: NodeJS.Timeout
}

/** The server's thread, as seen by its caller: requests, and how it ends. */
export class ServerThread {
  /** Resolves when it listens; rejects with the error that prevents it. */
  readonly ready: Promise<void>
  /** Resolves after `close`; rejects if the thread ends by itself, or with an error while it ends. */
  readonly closed: Promise<void>
  private readonly worker: Worker
  private readonly control: Int32Array
  private readonly wakeFd: number
  private readonly pending = new Map<number, Pending>()
  private nextId = 0
  private isClosing = false
  private isOver = false
  private cause: unknown
  private settleClosed: (reason: Error | undefined) => void = () => undefined

  /** @param wakeFd an eventfd, which is closed when the thread has ended. */
  constructor(worker: Worker, control: Int32Array, wakeFd: number) {
    this.worker = worker
    this.control = control
    this.wakeFd = wakeFd
    let started: () => void
    this.ready = new Promise((resolve, reject) => {
      started = resolve
      worker.once('error', reject)
      worker.once('exit', () => reject(new VfioUserServerError('exited', undefined)))
    })
    this.closed = new Promise((resolve, reject) => {
      worker.on('error', (error) => (this.cause = error))
      this.settleClosed = (reason) => (reason === undefined ? resolve() : reject(reason))
    })
    worker.once('exit', () => {
      closeSync(wakeFd)
      this.end()
    })
    // A caller that does not observe `closed` learns of the end from its next request.
    this.closed.catch(() => undefined)
    worker.on('message', (message: Answer) => {
      if (message === 'ready') started()
      else this.settle(message.id)?.resolve(message.value as never)
    })
  }

  /** @throws VfioUserServerError if the thread has ended, ends before it answers, or does not answer in time. */
  ask<What extends keyof Answers>(what: What): Promise<Answers[What]> {
    if (this.isOver) return Promise.reject(new VfioUserServerError(this.isClosing ? 'closed' : 'exited', this.cause))
    const id = this.nextId++
    return new Promise((resolve, reject) => {
      const late = () => this.settle(id)!.reject(new VfioUserServerError('late', undefined))
      const timer = setTimeout(late, RESPONSE_LIMIT_MS)
      this.pending.set(id, { resolve, reject, timer })
      this.worker.postMessage({ id, ask: what })
      Atomics.add(this.control, REQUESTS, 1)
      this.wake()
    })
  }

  async close(): Promise<void> {
    if (!this.isOver) {
      this.isClosing = true
      Atomics.store(this.control, STATE, CLOSING)
      this.wake()
      const timer = setTimeout(() => this.giveUp(), CLOSE_LIMIT_MS)
      await this.closed.finally(() => clearTimeout(timer))
    }
    return this.closed
  }

  /** It did not end on request. */
  private giveUp(): void {
    this.cause ??= new Error('the thread did not end in time')
    void this.worker.terminate()
    setTimeout(() => this.end(), END_LIMIT_MS)
  }

  private wake(): void {
    writeSync(this.wakeFd, ONE)
  }

  private settle(id: number): Pending | undefined {
    const question = this.pending.get(id)
    this.pending.delete(id)
    clearTimeout(question?.timer)
    return question
  }

  /** The thread has ended, or is abandoned. */
  private end(): void {
    if (this.isOver) return
    this.isOver = true
    const isCalm = this.isClosing && this.cause === undefined
    const reason = isCalm ? 'closed' : this.cause === undefined ? 'exited' : 'crashed'
    const error = new VfioUserServerError(reason, this.cause)
    for (const id of [...this.pending.keys()]) this.settle(id)!.reject(error)
    this.settleClosed(isCalm ? undefined : error)
  }
}

/** The server's thread has ended, and nothing is served; or, if `reason` is 'late', it did not answer. */
export class VfioUserServerError extends GpuNvmeError {
  override readonly code = 'ERR_GPUNVME_SIMULATOR_ENDED'
  override readonly category = 'failure'
  /** How it ended; 'late' if it has not ended. */
  readonly reason: 'crashed' | 'exited' | 'closed' | 'late'

  constructor(reason: VfioUserServerError['reason'], cause: unknown) {
    super(`The vfio-user server ${sentences[reason]}`, {
      cause,
      next: reason === 'late' ? 'retry' : 'start another server',
    })
    this.reason = reason
  }
}

const sentences: Readonly<Record<VfioUserServerError['reason'], string>> = {
  crashed: 'crashed; see the cause.',
  exited: 'exited unexpectedly.',
  closed: 'was closed.',
  late: 'did not answer in time; it is still running.',
}
