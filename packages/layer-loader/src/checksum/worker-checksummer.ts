import { nodeModule } from '@gpunvme/nvme-spec/runtime'
import type { Checksummer } from '@gpunvme/nvme-spec/transport'
import type { Worker } from 'node:worker_threads'
import { throwIfAborted } from '../throw-if-aborted.js'
import { checkPlace, zlibChecksummer } from './zlib-checksummer.js'

/** Approximate bytes of a task, in whole chunks: about 2 ms of work. */
const TASK_BYTES = 4 * 1024 * 1024

/** Maximum number of threads: more than a drive needs. */
const MAX_THREADS = 4

/** Tasks of one call in flight per thread: one is posted while another is computed. */
const TASKS_PER_THREAD = 2

/**
 * Program of a thread. It is text, since a bundler would not find a file. It reads a chunk in parts, since a Uint8Array of
 * Node 20 has at most 4 GiB.
 */
const PROGRAM = `
const { parentPort } = require('node:worker_threads')
const { crc32 } = require('node:zlib')
parentPort.on('message', ({ buffer, startBytes, lengthBytes, chunkBytes }) => {
  const sums = new Uint32Array(Math.ceil(lengthBytes / chunkBytes))
  for (let at = 0; at < lengthBytes; ) {
    const chunk = Math.floor(at / chunkBytes)
    const bytes = Math.min(${TASK_BYTES}, (chunk + 1) * chunkBytes - at, lengthBytes - at)
    sums[chunk] = crc32(new Uint8Array(buffer, startBytes + at, bytes), sums[chunk])
    at += bytes
  }
  parentPort.postMessage(sums)
})`

/** Bytes in shared memory whose chunks a thread sums. */
interface Task {
  readonly buffer: SharedArrayBuffer
  readonly startBytes: number
  readonly lengthBytes: number
  readonly chunkBytes: number
}

/** Callbacks of a task. */
interface Waiting {
  readonly resolve: (sums: Uint32Array) => void
  readonly reject: (error: Error) => void
}

/** A thread, and its tasks in the order of their results. */
interface Thread {
  readonly worker: Worker
  readonly waiting: Waiting[]
}

/** Threads of this process, started at the first use. An idle thread does not keep the process alive. */
const threads: Thread[] = []

/**
 * Checksums by Node's `zlib.crc32` on other threads, half as many as there are processors and at most four: for
 * programs without native code whose own thread computes meanwhile. Only shared memory can be read there, such as that
 * of plain files; other memory is read on the calling thread, as by `zlibChecksummer`.
 */
export const workerChecksummer: Checksummer = {
  name: 'zlib on other threads',
  async checksum(...call) {
    const [memory, offsetBytes, lengthBytes, chunkBytes, into, { signal } = {}] = call
    const { view } = memory
    if (view === undefined || !isShared(view.buffer)) return zlibChecksummer.checksum(...call)
    const { buffer, byteOffset } = view
    throwIfAborted(signal)
    checkPlace(memory, offsetBytes, lengthBytes, chunkBytes, into)
    const taskBytes = Math.max(1, Math.floor(TASK_BYTES / chunkBytes)) * chunkBytes
    let next = 0
    const lane = async () => {
      while (next < lengthBytes) {
        throwIfAborted(signal)
        const at = next
        next += taskBytes
        const startBytes = byteOffset + offsetBytes + at
        const sums = await run({ buffer, startBytes, lengthBytes: Math.min(taskBytes, lengthBytes - at), chunkBytes })
        into.set(sums, at / chunkBytes)
      }
    }
    const lanes = Array.from({ length: TASKS_PER_THREAD * threadCount() }, lane)
    // Waits for all, even if one fails: nothing may read the memory after this has settled.
    for (const ended of await Promise.allSettled(lanes)) if (ended.status === 'rejected') throw ended.reason
  },
}

function isShared(buffer: ArrayBufferLike): buffer is SharedArrayBuffer {
  return typeof SharedArrayBuffer === 'function' && buffer instanceof SharedArrayBuffer
}

function threadCount(): number {
  const { availableParallelism } = nodeModule('node:os') as typeof import('node:os')
  return Math.max(1, Math.min(MAX_THREADS, Math.floor(availableParallelism() / 2)))
}

/** Gives a task to the thread with the fewest. @throws errors of the thread */
function run(task: Task): Promise<Uint32Array> {
  while (threads.length < threadCount()) start()
  const thread = threads.reduce((min, each) => (each.waiting.length < min.waiting.length ? each : min))
  return new Promise((resolve, reject) => {
    thread.worker.ref()
    thread.waiting.push({ resolve, reject })
    thread.worker.postMessage(task)
  })
}

function start(): void {
  const workers = nodeModule('node:worker_threads') as typeof import('node:worker_threads')
  const thread: Thread = { worker: new workers.Worker(PROGRAM, { eval: true, execArgv: [] }), waiting: [] }
  const { worker, waiting } = thread
  worker.on('message', (sums: Uint32Array) => {
    waiting.shift()?.resolve(sums)
    if (waiting.length === 0) worker.unref()
  })
  const ended = (error: Error) => {
    const at = threads.indexOf(thread)
    if (at >= 0) threads.splice(at, 1)
    for (const { reject } of waiting.splice(0)) reject(error)
  }
  worker.on('error', (error) => ended(error))
  worker.on('exit', (code) => ended(new Error(`a thread that computes checksums ended with code ${code}`)))
  worker.unref()
  threads.push(thread)
}
