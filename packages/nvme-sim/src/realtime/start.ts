import { Worker } from 'node:worker_threads'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import type { Diagnostic } from '../controller/diagnostics.js'
import type { Statistics } from '../controller/statistics.js'
import { profileOf } from '../profiles/index.js'
import { planBar } from '../pci/function.js'
import { checkRealTimeOptions } from './check-options.js'
import { ACTIVITY, CLOSING, CONTROL_BYTES, REQUESTS, STATE, wakeSimulator } from './control.js'
import { HostClock } from './host-clock.js'
import { DEFAULT_BASE_IOVA, DMA_PAGE_BYTES, realTimeLayout, type RealTimeLayout } from './layout.js'
import { Mailbox } from './mailbox.js'
import { importNativeHost } from './native-host.js'
import { DEFAULT_IDLE, type RealTimeOptions, type SharedMemorySource, type WorkerOptions } from './options.js'
import { RegionAllocator } from './region-allocator.js'
import { SharedBar } from './shared-bar.js'
import { SharedConfigSpace, SharedInterrupts } from './shared-function.js'
import { ACTIVE, type Answer, type Answers } from './messages.js'
import { checkResetKind } from '../transport.js'

/** A simulated controller on its own thread, in real time. */
export interface RealTimeSimulator {
  /** For a host in the thread that started the simulator. Native callers use the memory according to `layout`. */
  readonly transport: Transport
  readonly layout: RealTimeLayout
  /** Returns the controller's counters. @throws RealTimeSimulatorError if it has ended. */
  readonly statistics: () => Promise<Statistics>
  /** Returns mistakes of the host, oldest first. @throws RealTimeSimulatorError if it has ended. */
  readonly diagnostics: () => Promise<readonly Diagnostic[]>
  /** Resolves after `close`; rejects with a RealTimeSimulatorError if the thread ends by itself or does not respond. */
  readonly closed: Promise<void>
  /** Ends the thread, by force if it does not end by itself. May be called again. */
  readonly close: () => Promise<void>
}

/** Time limit for the thread to end on request. */
const CLOSE_LIMIT_MS = 2_000

/**
 * Starts a simulated NVMe controller on a worker thread that polls doorbells and registers in shared memory, so that
 * native threads and GPU kernels can drive it too. Resolves when its registers are available.
 * @throws RangeError or TypeError, with its name, for an invalid option; FaultPlanError for an invalid plan; errors of
 *   the native module.
 */
export async function startRealTimeSimulator(options: RealTimeOptions): Promise<RealTimeSimulator> {
  checkRealTimeOptions(options)
  const { profile: drive = 'ideal', seed = 1, namespaces = [{}], faults, idle, responseLimitMs = 10_000 } = options
  const profile = profileOf(drive)
  const { buffer, source, ownIova } = await open(options)
  const layout = realTimeLayout(profile, buffer.byteLength, options.baseIova ?? ownIova)
  const control = new SharedArrayBuffer(CONTROL_BYTES)
  const pages = options.reach === 'all' ? undefined : new SharedArrayBuffer(layout.dmaBytes / DMA_PAGE_BYTES)
  const workerData: WorkerOptions = {
    ...{ source, layout, control, pages, profile, seed, namespaces, faults },
    idle: { ...DEFAULT_IDLE, ...idle },
  }
  // Options of this process may refer to a program on its command line, or be invalid for a thread.
  const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData, execArgv: [] })
  const thread = new SimulatorThread(worker, new Int32Array(control), responseLimitMs)
  const { vectors } = planBar(profile)
  const mailbox = new Mailbox(thread.control, thread.responseLimitMs, () => thread.giveUp())
  const bar = new SharedBar(buffer, layout, mailbox, 'address' in source ? source.address : undefined)
  thread.onEnd = () => bar.leave()
  try {
    await thread.ready
  } catch (error) {
    // The memory belongs to the caller again: nothing may be stored there after this.
    await thread.closed.catch(() => undefined)
    throw error
  }
  const dma = new RegionAllocator(buffer, layout, pages)
  const close = () => {
    dma.close()
    return thread.close()
  }
  return {
    transport: {
      name: `sim-realtime:${profile.name}`,
      bar,
      dma,
      clock: thread.clock,
      config: new SharedConfigSpace(mailbox),
      interrupts: new SharedInterrupts(vectors, mailbox, thread.clock),
      // Registers and doorbells in native memory are ordinary memory that a GPU may map.
      can: { gpuRing: 'module' in source, gpuRead: 'module' in source, dmaToVram: false },
      async reset(kind) {
        checkResetKind(kind)
        await thread.ask(kind === 'bus' ? 'reset bus' : 'reset function')
      },
      close,
      isClosed: () => dma.isClosed,
    },
    layout,
    statistics: () => thread.ask('statistics'),
    diagnostics: () => thread.ask('diagnostics'),
    closed: thread.closed,
    close,
  }
}

async function open(options: SharedMemorySource): Promise<{
  readonly buffer: ArrayBufferLike
  readonly source: WorkerOptions['source']
  readonly ownIova: number
}> {
  if ('memory' in options) {
    const { memory } = options
    return { buffer: memory, source: { memory }, ownIova: DEFAULT_BASE_IOVA }
  }
  const { address, lengthBytes } = options
  const module = options.module.href
  const buffer = (await importNativeHost(module)).view(address, lengthBytes)
  return { buffer, source: { module, address, lengthBytes }, ownIova: Number(address) }
}

/** A request that the simulator has not answered yet. */
interface Pending {
  readonly resolve: (value: never) => void
  readonly reject: (reason: Error) => void
  readonly timer: NodeJS.Timeout
}

/** The simulator's thread, as seen by the host's: requests, and how it ends. */
class SimulatorThread {
  readonly control: Int32Array
  readonly clock: HostClock
  readonly responseLimitMs: number
  readonly ready: Promise<void>
  readonly closed: Promise<void>
  onEnd: () => void = () => undefined
  private readonly worker: Worker
  private readonly pending = new Map<number, Pending>()
  private nextId = 0
  private isClosing = false
  private ended: RealTimeSimulatorError | undefined
  private cause: unknown

  constructor(worker: Worker, control: Int32Array, responseLimitMs: number) {
    this.worker = worker
    this.control = control
    this.clock = new HostClock(control)
    this.responseLimitMs = responseLimitMs
    let started: () => void
    this.ready = new Promise((resolve, reject) => {
      started = resolve
      // Errors during start are passed to the caller unchanged: an invalid profile, a missing file.
      worker.once('error', reject)
      worker.once('exit', () => reject(new RealTimeSimulatorError('exited', undefined)))
    })
    this.closed = new Promise((resolve, reject) => {
      worker.on('error', (error) => (this.cause = error))
      worker.once('exit', () => {
        const error = this.end(this.isClosing ? 'closed' : this.cause === undefined ? 'exited' : 'crashed')
        if (error.reason === 'closed') resolve()
        else reject(error)
      })
    })
    // A caller that does not observe `closed` learns of the end from its next request.
    this.closed.catch(() => undefined)
    worker.on('message', (message: Answer) => {
      if (message === 'ready') {
        // A simulator that was not closed does not keep the program running.
        worker.unref()
        started()
      } else if (message === ACTIVE) this.clock.awake()
      else {
        const { id, value } = message
        this.settle(id)?.resolve(value as never)
      }
    })
  }

  /** @throws RealTimeSimulatorError if the thread has ended, or ends before it answers. */
  ask<What extends keyof Answers>(what: What): Promise<Answers[What]> {
    if (this.ended) return Promise.reject(this.ended)
    const id = this.nextId++
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.giveUp(), this.responseLimitMs)
      this.pending.set(id, { resolve, reject, timer })
      this.worker.postMessage({ id, ask: what })
      Atomics.add(this.control, REQUESTS, 1)
      wakeSimulator(this.control)
    })
  }

  /** The thread does not respond: stops waiting for it and ends it. */
  giveUp(): void {
    this.end('hung')
    void this.worker.terminate()
  }

  async close(): Promise<void> {
    if (this.ended) return
    this.isClosing = true
    Atomics.store(this.control, STATE, CLOSING)
    wakeSimulator(this.control)
    const timer = setTimeout(() => void this.worker.terminate(), CLOSE_LIMIT_MS)
    await this.closed.catch(() => undefined)
    clearTimeout(timer)
  }

  private settle(id: number): Pending | undefined {
    const question = this.pending.get(id)
    this.pending.delete(id)
    clearTimeout(question?.timer)
    return question
  }

  private end(reason: RealTimeSimulatorError['reason']): RealTimeSimulatorError {
    if (this.ended) return this.ended
    const error = new RealTimeSimulatorError(reason, this.cause)
    this.ended = error
    this.onEnd()
    Atomics.add(this.control, ACTIVITY, 1)
    this.clock.awake()
    for (const id of [...this.pending.keys()]) this.settle(id)!.reject(error)
    return error
  }
}

/** The simulator's thread has ended: its registers read as all ones, and requests fail. */
export class RealTimeSimulatorError extends Error {
  override readonly name = 'RealTimeSimulatorError'
  readonly code = 'ERR_GPUNVME_SIMULATOR_ENDED'
  readonly reason: 'crashed' | 'hung' | 'exited' | 'closed'

  constructor(reason: RealTimeSimulatorError['reason'], cause: unknown) {
    super(`The real-time simulator ${sentences[reason]}`, cause === undefined ? {} : { cause })
    this.reason = reason
  }
}

const sentences: Readonly<Record<RealTimeSimulatorError['reason'], string>> = {
  crashed: 'crashed; its error is the cause. Start another one.',
  hung: 'did not answer within responseLimitMs and was ended. Start another one; is a native yield() or a file stuck?',
  exited: 'ended its thread without being asked to. Start another one.',
  closed: 'was closed.',
}
