import { EventEmitter } from 'node:events'
import { openSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Question } from './messages.js'
import { ServerThread, VfioUserServerError } from './server-thread.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Simulates a worker thread; tests send its answers. */
class FakeWorker extends EventEmitter {
  readonly asked: Question[] = []
  terminated = 0

  postMessage(question: Question): void {
    this.asked.push(question)
  }

  terminate(): Promise<number> {
    this.terminated++
    this.emit('exit', 1)
    return Promise.resolve(1)
  }
}

function started(): { worker: FakeWorker; thread: ServerThread } {
  const worker = new FakeWorker()
  const control = new Int32Array(new SharedArrayBuffer(8))
  const thread = new ServerThread(worker as unknown as Worker, control, openSync('/dev/null', 'r+'))
  worker.emit('message', 'ready')
  return { worker, thread }
}

it('rejects a question that is not answered in time, keeps the thread, and ignores the late answer', async () => {
  const { worker, thread } = started()
  const late = thread.ask('diagnostics').catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await late).toBeInstanceOf(VfioUserServerError)
  expect(await late).toMatchObject({ reason: 'late', message: expect.stringContaining('Try: retry') as string })
  expect(worker.terminated).toBe(0)
  const next = thread.ask('diagnostics')
  // The late answer is ignored.
  for (const { id } of worker.asked) worker.emit('message', { id, value: [`answer ${id}`] })
  expect(await next).toEqual(['answer 1'])
  worker.emit('exit', 0)
})

it('terminates a thread that does not end after close()', async () => {
  const { worker, thread } = started()
  const closed = thread.close().catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(9000)
  expect(worker.terminated).toBe(0)
  await vi.advanceTimersByTimeAsync(2000)
  expect(worker.terminated).toBe(1)
  expect(await closed).toMatchObject({ reason: 'crashed' })
})
