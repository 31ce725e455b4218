import { CSTS, prpListReach, Read, Write } from '@gpunvme/nvme-spec'
import {
  AbortListeners,
  AcceptedPlan,
  checkPlan,
  EngineFailedError,
  isLost,
  prpProblem,
  runsOf,
  type MemoryRuns,
  type PlanQueue,
} from '@gpunvme/nvme-spec/engine'
import type {
  BarWindow,
  DmaMemory,
  Engine,
  EngineStatistics,
  ExecuteOptions,
  OutcomeSummary,
  Plan,
  QueuePairMemory,
  Transport,
} from '@gpunvme/nvme-spec/transport'
import type { EngineAddon, EngineHandle, ExecutorError, TableHandle } from './engine-addon.js'
import { nothingOf, summaryOf, type PlanContext } from './outcomes.js'
import { giveBack, groupsOf, layoutOf, nativeIndexes } from './queue-layout.js'
import { EngineUnsuitableError } from './unsuitable.js'

const DEFAULT_TIMEOUT_NS = 10_000_000_000

/** CSTS is looked at this often while plans are in flight, by the CPU: a GPU's read of it can take a drive off the bus. */
const TICK_MS = 10

/** A leader that has plans and gives no sign of life for so many ticks has failed, whatever others do. */
const SILENT_TICKS = 1000

/** What helps where leaders would not end: they may ring doorbells, and write where entries are, at any time. */
const END_PROCESS =
  'end this process before the controller is used again: what did not end may still ring its doorbells'

/** What runs the device code. */
export interface EngineBackend {
  readonly name: string
  readonly addon: EngineAddon
  readonly takesGpuPointers: boolean
  /** SILENT_TICKS when not given. */
  readonly silentTicks?: number
  /** Throws where it cannot run so many leaders at once. */
  check?(leaders: number): void
  /** Its native part. `onWake` is called soon after a plan is done or a leader has ended. */
  create(onWake: () => void): EngineHandle
  /** What is thrown instead of what native code threw; the same error where this is absent. */
  explain?(error: ExecutorError, window: BarWindow): Error
}

/** A plan from `execute` to its outcome. */
interface Job extends PlanContext {
  readonly id: number
  readonly memory: DmaMemory
  /** Where the memory lies; undefined where the leaders have been told before. */
  readonly runs: MemoryRuns | undefined
  readonly resolve: (summary: OutcomeSummary) => void
  readonly reject: (error: Error) => void
  /** Stops listening to the signal. */
  readonly forget: () => void
}

/** What there is between attach and detach. */
interface Attached {
  readonly handle: EngineHandle
  readonly queues: readonly QueuePairMemory[]
  readonly checks: readonly PlanQueue[]
  readonly qids: readonly number[]
  readonly pageBytes: number
  /** For each queue of a plan, its index for native code; undefined where they are the same. */
  readonly indexes: Uint16Array | undefined
  readonly tables: WeakMap<DmaMemory, TableHandle>
  readonly watch: (() => void) | undefined
}

/**
 * The engine whose commands are built, rung and polled for by the device code of `cuda/`, on whatever its backend runs
 * it. This thread posts plans, takes their outcomes, and looks at what a GPU must not look at.
 */
export class KernelEngine implements Engine {
  readonly name: string
  readonly transport: Pick<Transport, 'bar' | 'clock' | 'name'>
  private readonly backend: EngineBackend
  private attached: Attached | undefined
  private waiting: Job[] = []
  private readonly posted = new Map<number, Job>()
  private readonly aborts = new AbortListeners()
  private nextId = 0
  private timer: NodeJS.Timeout | undefined
  private stopped = false
  /** What CSTS read as when the device was found to be lost. */
  private csts = 0
  /** What runs leaders is dead, and whoever had plans was told. */
  private dead = false
  private past: EngineStatistics = { commands: 0, doorbellWrites: 0, staleCompletions: 0 }

  /** @throws EngineUnsuitableError for a transport whose registers native code cannot reach. */
  constructor(transport: Pick<Transport, 'bar' | 'clock' | 'name'>, backend: EngineBackend) {
    this.transport = transport
    this.backend = backend
    this.name = backend.name
    this.window()
  }

  /** Since the engine was made, over all queues it has had. */
  get statistics(): EngineStatistics {
    const { attached, past } = this
    if (attached === undefined) return past
    const now = this.backend.addon.engineLook(attached.handle)
    return {
      commands: past.commands + now.commands,
      doorbellWrites: past.doorbellWrites + now.doorbellWrites,
      staleCompletions: past.staleCompletions + now.staleCompletions,
    }
  }

  /** Goes up for as long as a leader lives, a lingering one that has nothing to do included; 0 without queues. */
  get heartbeat(): number {
    const { attached } = this
    return attached === undefined ? 0 : this.backend.addon.engineLook(attached.handle).heartbeat
  }

  /** Whether it has queues: from `attach` to `detach`. */
  get hasQueues(): boolean {
    return this.attached !== undefined
  }

  attach(queues: readonly QueuePairMemory[], watch?: () => void): void {
    if (this.attached !== undefined) throw new TypeError('this engine has queues already: detach() it first')
    const { addon, takesGpuPointers } = this.backend
    const window = this.window()
    this.backend.check?.(groupsOf(queues).length)
    // Whoever forgets an engine that has queues has its leaders ended with it: native code does not keep it.
    const self = new WeakRef(this)
    const handle = this.backend.create(() => self.deref()?.poll())
    try {
      const leaders = layoutOf(queues, { addon, engine: handle, window, takesGpuPointers })
      const { address, lengthBytes, isMemory = false } = window
      const registers = { address, lengthBytes, onDevice: false }
      addon.engineAttach(handle, { registers, registersAreMemory: isMemory, leaders })
    } catch (error) {
      addon.engineClose(handle)
      throw this.explained(error, window)
    }
    const indexes = nativeIndexes(queues)
    this.attached = {
      handle,
      queues,
      checks: queues.map(planQueue),
      qids: queues.map(({ qid }) => qid),
      pageBytes: queues[0]?.pageBytes ?? 4096,
      indexes: indexes.every((native, index) => native === index) ? undefined : indexes,
      tables: new WeakMap(),
      watch,
    }
    this.stopped = false
  }

  detach(): void {
    if (this.posted.size + this.waiting.length > 0) {
      throw new TypeError('this engine has plans in flight: await them before detach()')
    }
    const { attached } = this
    if (attached === undefined) return
    const { addon } = this.backend
    const counted = this.statistics
    try {
      giveBack(attached.queues, addon.engineDetach(attached.handle))
    } catch (cause) {
      if (!isDeath(cause)) throw new EngineFailedError(this.name, cause, END_PROCESS)
      // Nothing runs any more: all is given back but the rings' positions, which nobody knows.
      this.letGo(attached, counted)
      if (!this.dead) throw new EngineFailedError(this.name, this.explained(cause, this.window()), END_PROCESS)
      return
    }
    this.letGo(attached, counted)
  }

  private letGo({ handle }: Attached, counted: EngineStatistics): void {
    this.backend.addon.engineClose(handle)
    this.past = counted
    this.attached = undefined
  }

  async execute(given: Plan, memory: DmaMemory, options: ExecuteOptions = {}): Promise<OutcomeSummary> {
    const { attached, transport } = this
    const plan = AcceptedPlan.of(given)
    checkPlan(plan, memory, attached?.checks ?? [])
    const { signal, timeoutNs = DEFAULT_TIMEOUT_NS } = options
    if (!Number.isSafeInteger(timeoutNs) || timeoutNs < 1) {
      throw new RangeError(`timeoutNs: expected whole nanoseconds, 1 or more, got ${timeoutNs}`)
    }
    // Refused here, where nothing of it was posted: later it would look like a failure of the engine.
    const runs = attached!.tables.has(memory) ? undefined : runsOf(memory, attached!.pageBytes)
    const startNs = transport.clock.now()
    if (plan.commands === 0 || this.stopped || signal?.aborted === true) return nothingOf(plan, startNs, startNs)
    return new Promise((resolve, reject) => {
      const id = this.nextId++ >>> 0
      const forget = this.aborts.listen(signal, () => this.cancel(id))
      const { qids } = attached!
      this.waiting.push({ id, plan, memory, runs, qids, timeoutNs, startNs, resolve, reject, forget })
      if (plan.operation === 'write') memory.forDevice(0, memory.lengthBytes)
      this.attempt(() => this.post())
    })
  }

  /** Posts plans in their order, as far as the queues have room for more. */
  private post(): void {
    const { attached, backend, waiting } = this
    while (waiting.length > 0) {
      const job = waiting[0]!
      const table = this.tableOf(job)
      if (table === null || !backend.addon.enginePost(attached!.handle, job.id, this.nativePlan(job), table)) break
      this.posted.set(job.id, job)
      waiting.shift()
    }
    this.watchOver()
  }

  private nativePlan({ plan, timeoutNs }: Job) {
    const { indexes } = this.attached!
    const { nsid, blockBytes, commands, slba, blocks, offsetBytes } = plan
    const opcode = plan.operation === 'read' ? Read.opcode : Write.opcode
    const queue = indexes === undefined ? plan.queue : plan.queue.map((index) => indexes[index]!)
    return { opcode, nsid, blockBytes, commands, timeoutNs, slba, blocks, offsetBytes, queue }
  }

  /** Made once for each memory; null where there is no room for it before other plans are done. */
  private tableOf({ memory, runs }: Job): TableHandle | null {
    const { tables, handle } = this.attached!
    const known = tables.get(memory)
    if (known !== undefined) return known
    const { iovas, shift } = runs!
    const table = this.backend.addon.engineDescribe(handle, iovas, shift, memory.lengthBytes)
    if (table !== null) tables.set(memory, table)
    return table
  }

  /** Something may be done: settles what is, and posts what waited for room. */
  private poll(): void {
    const { attached } = this
    if (attached === undefined) return
    this.attempt(() => {
      const { addon } = this.backend
      const finished = addon.enginePoll(attached.handle)
      if (!this.stopped && addon.engineLook(attached.handle).halted) this.stop(false)
      const endNs = this.transport.clock.now()
      for (const each of finished) {
        const job = this.posted.get(each.id)
        // After a failure nobody waits for it any more.
        if (job === undefined) continue
        this.posted.delete(each.id)
        job.forget()
        if (job.plan.operation === 'read') job.memory.forHost(0, job.memory.lengthBytes)
        job.resolve(summaryOf(each, job, this.csts, endNs))
      }
      if (this.stopped) this.giveUpWaiting()
      this.post()
    })
  }

  /** Every 10 ms while plans are in flight. */
  private tick(): void {
    const { attached, backend, transport } = this
    if (attached === undefined) return
    this.attempt(() => {
      attached.watch?.()
      const csts = transport.bar.read32(CSTS.offset)
      if (isLost(csts)) {
        this.csts = csts
        this.stop(true)
      }
      const { silentTicks = SILENT_TICKS } = backend
      if (backend.addon.engineWatch(attached.handle) > silentTicks) {
        throw new Error(`one of its leaders gave no sign of life for ${(silentTicks * TICK_MS) / 1000} s`)
      }
    })
    this.poll()
  }

  private cancel(id: number): void {
    const waiting = this.waiting.findIndex((job) => job.id === id)
    if (waiting >= 0) this.settleUnsubmitted(this.waiting.splice(waiting, 1))
    else if (this.posted.has(id)) this.attempt(() => this.backend.addon.engineCancel(this.attached!.handle, id))
    this.watchOver()
  }

  private stop(lost: boolean): void {
    this.stopped = true
    this.backend.addon.engineHalt(this.attached!.handle, lost)
  }

  private giveUpWaiting(): void {
    this.settleUnsubmitted(this.waiting.splice(0))
  }

  private settleUnsubmitted(jobs: readonly Job[]): void {
    const endNs = this.transport.clock.now()
    for (const { forget, resolve, plan, startNs } of jobs) {
      forget()
      resolve(nothingOf(plan, startNs, endNs))
    }
  }

  /**
   * The timer runs while plans are in flight. It is a timer of the event loop and no `clock.idle`: outcomes come by way
   * of that loop, and a clock may block it for as long as a millisecond.
   */
  private watchOver(): void {
    const busy = this.posted.size + this.waiting.length > 0
    if (busy === (this.timer !== undefined)) return
    if (busy) {
      this.timer = setInterval(() => this.tick(), TICK_MS)
    } else {
      clearInterval(this.timer)
      this.timer = undefined
    }
  }

  /** Native code or the transport failed: what is in flight is unknown, and nobody may be left waiting for it. */
  private attempt(action: () => void): void {
    try {
      action()
    } catch (cause) {
      this.stopped = true
      this.dead ||= isDeath(cause) && this.posted.size + this.waiting.length > 0
      // Leaders shall not wait for what nobody waits for any more.
      if (this.attached !== undefined) this.backend.addon.engineHalt(this.attached.handle, true)
      const { window } = this.transport.bar
      const error = new EngineFailedError(this.name, window === undefined ? cause : this.explained(cause, window))
      const jobs = [...this.posted.values(), ...this.waiting.splice(0)]
      this.posted.clear()
      for (const { forget, reject } of jobs) {
        forget()
        reject(error)
      }
      this.watchOver()
    }
  }

  private explained(error: unknown, window: BarWindow): unknown {
    const isExecutors = error instanceof Error && 'resultCode' in error
    return isExecutors ? (this.backend.explain?.(error as ExecutorError, window) ?? error) : error
  }

  private window(): BarWindow {
    const { bar, name } = this.transport
    if (bar.window === undefined) throw new EngineUnsuitableError(this.backend.name, name)
    return bar.window
  }
}

function isDeath(error: unknown): boolean {
  return error instanceof Error && (error as Partial<ExecutorError>).dead === true
}

function planQueue({ prpListBytes, pageBytes }: QueuePairMemory): PlanQueue {
  return {
    maxTransferBytes: prpListReach(prpListBytes, pageBytes),
    problem: (memory, offsetBytes, lengthBytes) => prpProblem(memory, offsetBytes, lengthBytes, pageBytes),
  }
}
