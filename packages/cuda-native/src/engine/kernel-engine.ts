import { CSTS, prpListMaxTransfer, Read, Write } from '@gpunvme/nvme-spec'
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
import { giveBack, layoutOf } from './queue-layout.js'
import { EngineUnsuitableError } from './unsuitable.js'

const DEFAULT_TIMEOUT_NS = 10_000_000_000

/** Interval at which the CPU reads CSTS while plans are in flight. A GPU's read of it can take a drive off the bus. */
const TICK_MS = 10

/** A leader with plans that shows no progress for this many ticks has failed. */
const STALL_TICKS = 1000

/** Next step if leaders do not end: they may ring doorbells and write entries at any time. */
const END_PROCESS =
  'end this process before the controller is used again: leaders that still run may ring its doorbells'

/** Runs the device code for a `KernelEngine`. */
export interface EngineBackend {
  readonly name: string
  readonly addon: EngineAddon
  readonly takesGpuPointers: boolean
  /** Default: STALL_TICKS. */
  readonly stallTicks?: number
  /** Creates the native part. `onWake` is called soon after a plan completes or a leader ends. */
  create(onWake: () => void): EngineHandle
  /** Returns the error to throw instead of one of native code. */
  explain?(error: ExecutorError, window: BarWindow): Error
}

/** A plan from `execute` to its outcome. */
interface Job extends PlanContext {
  readonly id: number
  readonly memory: DmaMemory
  /** Addresses of the memory; undefined if its table exists. */
  readonly runs: MemoryRuns | undefined
  readonly resolve: (summary: OutcomeSummary) => void
  readonly reject: (error: Error) => void
  /** Stops listening to the signal. */
  readonly forget: () => void
}

/** State between attach and detach. */
interface Attached {
  readonly handle: EngineHandle
  readonly queues: readonly QueuePairMemory[]
  readonly checks: readonly PlanQueue[]
  readonly qids: readonly number[]
  readonly pageBytes: number
  readonly tables: WeakMap<DmaMemory, TableHandle>
  readonly watch: (() => void) | undefined
}

/**
 * An engine whose backend runs the device code of `cuda/`, which builds entries, rings doorbells and polls for completions.
 * This thread posts plans, collects outcomes and reads CSTS, which a GPU must not read.
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
  /** Value of CSTS when the device was found to be lost. */
  private csts = 0
  /** The executor is dead, and all plans were rejected. */
  private dead = false
  private past: EngineStatistics = { commands: 0, doorbellWrites: 0, staleCompletions: 0 }

  /** @throws EngineUnsuitableError if native code cannot access the transport's registers. */
  constructor(transport: Pick<Transport, 'bar' | 'clock' | 'name'>, backend: EngineBackend) {
    this.transport = transport
    this.backend = backend
    this.name = backend.name
    this.window()
  }

  /** Counters since the engine was created, over all its queues. */
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

  /** Increases while a leader is alive, even one without work; 0 without queues. */
  get heartbeat(): number {
    const { attached } = this
    return attached === undefined ? 0 : this.backend.addon.engineLook(attached.handle).heartbeat
  }

  /** Whether the engine has queues: from `attach` to `detach`. */
  get hasQueues(): boolean {
    return this.attached !== undefined
  }

  attach(queues: readonly QueuePairMemory[], watch?: () => void): void {
    if (this.attached !== undefined) throw new TypeError('this engine has queues already: detach() it first')
    const { addon, takesGpuPointers } = this.backend
    const window = this.window()
    // A weak reference: collecting an engine that has queues must end its leaders.
    const self = new WeakRef(this)
    const handle = this.backend.create(() => self.deref()?.poll())
    try {
      const layouts = layoutOf(queues, { addon, engine: handle, window, takesGpuPointers })
      const { address, lengthBytes, isMemory = false } = window
      const registers = { address, lengthBytes, onDevice: false }
      addon.engineAttach(handle, { registers, registersAreMemory: isMemory, queues: layouts })
    } catch (error) {
      addon.engineClose(handle)
      throw this.explained(error, window)
    }
    this.attached = {
      handle,
      queues,
      checks: queues.map(planQueue),
      qids: queues.map(({ qid }) => qid),
      pageBytes: queues[0]?.pageBytes ?? 4096,
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
      // All launches have ended. The rings' positions are lost; everything else is returned.
      this.closeSession(attached, counted)
      if (!this.dead) throw new EngineFailedError(this.name, this.explained(cause, this.window()), END_PROCESS)
      return
    }
    this.closeSession(attached, counted)
  }

  private closeSession({ handle }: Attached, counted: EngineStatistics): void {
    this.backend.addon.engineClose(handle)
    this.past = counted
    this.attached = undefined
  }

  async execute(request: Plan, memory: DmaMemory, options: ExecuteOptions = {}): Promise<OutcomeSummary> {
    const { attached, transport } = this
    const plan = AcceptedPlan.of(request)
    checkPlan(plan, memory, attached?.checks ?? [])
    const { signal, timeoutNs = DEFAULT_TIMEOUT_NS } = options
    if (!Number.isSafeInteger(timeoutNs) || timeoutNs < 1) {
      throw new RangeError(`timeoutNs: expected whole nanoseconds, 1 or more, got ${timeoutNs}`)
    }
    // Invalid memory is rejected before anything is posted; later it would look like a failure of the engine.
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

  /** Stops submission until the next `attach`. */
  halt(): void {
    if (this.attached === undefined || this.stopped) return
    this.attempt(() => this.stop(false))
    this.giveUpWaiting()
  }

  /** Posts plans in order while the queues have room. */
  private post(): void {
    const { attached, backend, waiting } = this
    while (waiting.length > 0) {
      const job = waiting[0]!
      const table = this.tableOf(job)
      if (table === null || !backend.addon.enginePost(attached!.handle, job.id, this.nativePlan(job), table)) break
      this.posted.set(job.id, job)
      waiting.shift()
    }
    this.updateTimer()
  }

  private nativePlan({ plan, timeoutNs }: Job) {
    const { nsid, blockBytes, commands, slba, blocks, offsetBytes, queue } = plan
    const opcode = plan.operation === 'read' ? Read.opcode : Write.opcode
    return { opcode, nsid, blockBytes, commands, timeoutNs, slba, blocks, offsetBytes, queue }
  }

  /** Returns the table of a memory, created once; null if there is no room until other plans complete. */
  private tableOf({ memory, runs }: Job): TableHandle | null {
    const { tables, handle } = this.attached!
    const known = tables.get(memory)
    if (known !== undefined) return known
    const { iovas, shift } = runs!
    const table = this.backend.addon.engineDescribe(handle, iovas, shift, memory.lengthBytes)
    if (table !== null) tables.set(memory, table)
    return table
  }

  /** Settles completed plans, and posts plans that waited for room. */
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
        // Already rejected after a failure.
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
      const { stallTicks = STALL_TICKS } = backend
      if (backend.addon.engineWatch(attached.handle) > stallTicks) {
        throw new Error(`a leader made no progress for ${(stallTicks * TICK_MS) / 1000} s`)
      }
    })
    this.poll()
  }

  private cancel(id: number): void {
    const waiting = this.waiting.findIndex((job) => job.id === id)
    if (waiting >= 0) this.settleUnsubmitted(this.waiting.splice(waiting, 1))
    else if (this.posted.has(id)) this.attempt(() => this.backend.addon.engineCancel(this.attached!.handle, id))
    this.updateTimer()
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
   * Runs the timer while plans are in flight. It does not use `clock.idle`, which may block the event loop for a millisecond:
   * outcomes arrive by the event loop.
   */
  private updateTimer(): void {
    const busy = this.posted.size + this.waiting.length > 0
    if (busy === (this.timer !== undefined)) return
    if (busy) {
      this.timer = setInterval(() => this.tick(), TICK_MS)
    } else {
      clearInterval(this.timer)
      this.timer = undefined
    }
  }

  /** Runs an action. If native code or the transport fails, rejects all plans: their state is unknown. */
  private attempt(action: () => void): void {
    try {
      action()
    } catch (cause) {
      this.stopped = true
      this.dead ||= isDeath(cause) && this.posted.size + this.waiting.length > 0
      // Leaders must not wait for commands of rejected plans.
      if (this.attached !== undefined) this.backend.addon.engineHalt(this.attached.handle, true)
      const { window } = this.transport.bar
      const error = new EngineFailedError(this.name, window === undefined ? cause : this.explained(cause, window))
      const jobs = [...this.posted.values(), ...this.waiting.splice(0)]
      this.posted.clear()
      for (const { forget, reject } of jobs) {
        forget()
        reject(error)
      }
      this.updateTimer()
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
    maxTransferBytes: prpListMaxTransfer(prpListBytes, pageBytes),
    problem: (memory, offsetBytes, lengthBytes) => prpProblem(memory, offsetBytes, lengthBytes, pageBytes),
  }
}
