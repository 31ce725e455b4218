import { nextTurn } from '@gpunvme/nvme-spec/runtime'
import { CSTS, Flush, STATUS, type Status } from '@gpunvme/nvme-spec'
import type { DmaMemory, ExecuteOptions, OutcomeSummary, Plan, Transport } from '@gpunvme/nvme-spec/transport'
import type { AdminCommands } from '../admin/admin-commands.js'
import { readBlockCommandLimits, type BlockCommandLimits } from '../admin/block-limits.js'
import type { ControllerIdentity } from '../bring-up/identity.js'
import { ownTransport } from '../bring-up/own-transport.js'
import { readLimits, shutdown } from '../bring-up/ready.js'
import { readPresent, Registers } from '../bring-up/registers.js'
import { Session } from '../bring-up/session.js'
import { setupSteps } from '../bring-up/setup-steps.js'
import { takeOver } from '../bring-up/take-over.js'
import type { CommandQueue } from '../commands/command-queue.js'
import { isGone } from '../commands/device-lost.js'
import { CommandError } from '../commands/errors.js'
import { HostEngine } from '../engine/host-engine.js'
import { innermost } from '../memory/innermost.js'
import { AsyncEvents } from '../bring-up/async-events.js'
import { EventHub } from '../events/event-hub.js'
import type { WriteRequest } from '../guard/guard.js'
import { DEFAULT_DEPTH, DEFAULT_TRANSFER_BYTES, type OpenOptions } from './open-options.js'
import { CommandExecutor } from '../execution/command-executor.js'
import { zeroCounters } from '../execution/counters.js'
import { Gate } from '../recovery/gate.js'
import { PlanExecutor } from '../execution/plan-executor.js'
import { Recovery, recoveryLimits } from '../recovery/recovery.js'
import { NS_PER_MS } from '../wait.js'
import { controllerClosed, namespaceChanged, shutdownIncomplete, transportClosed, wrongSerial } from './errors.js'
import { NamespacesInUse } from './namespaces-in-use.js'

/**
 * Minimum wait for a shutdown. The specification requires RTD3E, or 1 s if that is 0 (Base 2.1 §3.6.1), but drives may
 * be slower than they state.
 */
const SHORTEST_SHUTDOWN_WAIT_NS = 5_000 * NS_PER_MS

/** Maximum wait for a shutdown. RTD3E can be up to 71 minutes, but a drive that takes more than one does not finish. */
const LONGEST_SHUTDOWN_WAIT_NS = 60_000 * NS_PER_MS

/** Maximum interval of polls while events are awaited. */
const EVENT_POLL_NS = 100 * NS_PER_MS

/** Statuses of an I/O command for blocks or a format that no longer exist, or for a namespace that is not active. */
const STALE_IDENTITY = [STATUS.LBA_OUT_OF_RANGE, STATUS.INVALID_NAMESPACE_OR_FORMAT, STATUS.INVALID_FIELD_IN_COMMAND]

/** An open controller: state shared by a `Controller`, its namespaces and its `Management`. */
export class RunningController implements AdminCommands {
  readonly session: Session
  readonly recovery: Recovery
  readonly counters = zeroCounters()
  readonly inUse = new NamespacesInUse()
  /** Same as `Transport.movesData`. */
  readonly movesData: false | undefined
  state: 'open' | 'closed' | 'lost' = 'open'
  /** The transport below all wrappers. */
  private readonly innermost: Transport
  private readonly write: WriteRequest | undefined
  private readonly asyncEvents: AsyncEvents
  private readonly gate = new Gate()
  private readonly plans: PlanExecutor
  private readonly commands: CommandExecutor
  private limits: Promise<BlockCommandLimits> | undefined
  /** Calls in progress, for which `close` waits. */
  private calls = 0
  private drained: (() => void) | undefined

  /** @param release called when the controller is lost; another handle may then open it. */
  constructor(transport: Transport, options: OpenOptions, release: () => void) {
    const own = ownTransport(transport, options.interrupts === true)
    const limits = readLimits(new Registers(own.bar), transport, options.readyTimeoutNs)
    const hub = new EventHub(own.name)
    this.innermost = innermost(transport)
    this.movesData = transport.movesData
    this.write = options.write
    this.asyncEvents = new AsyncEvents({
      admin: (run) => this.commands.repeat('admin', run),
      emit: (event) => hub.emit(event),
      now: () => own.clock.now(),
      namespacesChanged: () => this.identifyNamespaces(),
      namespacesOutdated: (nsids) => this.session.outdate(nsids),
    })
    this.session = new Session(
      own,
      limits,
      {
        queues: options.queues ?? 1,
        queueDepth: options.queueDepth ?? DEFAULT_DEPTH,
        queueEntries: options.queueEntries,
        completionQueues: options.completionQueues,
        queueMemory: options.queueMemory ?? 'host',
        maxTransferBytes: options.maxTransferBytes ?? DEFAULT_TRANSFER_BYTES,
        // Engines take whole nanoseconds.
        commandTimeoutNs: Math.ceil(options.commandTimeoutNs ?? 10_000 * NS_PER_MS),
        sgl: options.sgl ?? true,
      },
      options.engine ?? new HostEngine(own),
      hub,
      [...setupSteps(options), this.asyncEvents],
    )
    this.session.watch = () => this.pollAdmin()
    this.recovery = new Recovery(this.session, this.gate, recoveryLimits(options.recovery), () => {
      if (this.state === 'open') this.state = 'lost'
      release()
    })
    const isOpen = () => this.isOpen
    this.plans = new PlanExecutor(this.session, this.gate, this.recovery, this.counters, isOpen)
    this.commands = new CommandExecutor(this.session, this.gate, this.recovery, this.counters, isOpen)
  }

  get name(): string {
    return this.session.transport.name
  }

  get isOpen(): boolean {
    return this.state === 'open'
  }

  get identity(): ControllerIdentity {
    return this.session.identity
  }

  /** @throws DriverError (CONTROLLER_CLOSED, TRANSPORT_CLOSED), DeviceLostError */
  checkOpen(): void {
    if (this.state === 'closed') throw controllerClosed()
    if (this.innermost.isClosed?.() === true) throw transportClosed(this.name)
    if (this.state === 'lost') throw this.recovery.lostError()
  }

  /** Executes a checked plan of a namespace. */
  async execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    const { nsid } = plan
    this.begin(nsid)
    try {
      const summary = await this.plans.execute(plan, memory, options)
      const { failures } = summary
      const isOutdated = failures.some(({ outcome }) => outcome.kind === 'status' && contradictsIdentity(outcome))
      if (isOutdated) this.retryNamespaces()
      return summary
    } finally {
      this.end(nsid)
    }
  }

  /** Sends an Admin command that may be sent twice. @throws same as `CommandExecutor.repeat`; `checkOpen`. */
  repeat<T>(run: (admin: CommandQueue) => Promise<T>): Promise<T> {
    return this.during(undefined, () => this.commands.repeat('admin', run))
  }

  /** Sends an Admin command that may not be sent twice. @throws same as `CommandExecutor.once`; `checkOpen`. */
  once(run: (admin: CommandQueue) => Promise<number>): Promise<number> {
    return this.during(undefined, () => this.commands.once('admin', run))
  }

  /**
   * Sends an I/O command outside plans that may be sent twice.
   * @param presence of the namespace for which the command was made; undefined to send it whatever the namespace is.
   * @throws same as `repeat`; `inUse.enter`; DriverError (NAMESPACE_CHANGED)
   */
  repeatIo<T>(nsid: number, run: (queue: CommandQueue) => Promise<T>, presence?: object): Promise<T> {
    return this.during(nsid, () => this.commands.repeat('io', (queue) => this.sendTo(nsid, presence, queue, run)))
  }

  /**
   * Sends an I/O command outside plans that may not be sent twice.
   * @param presence same as for `repeatIo`.
   * @throws same as `once`; `inUse.enter`; DriverError (NAMESPACE_CHANGED)
   */
  onceIo(nsid: number, run: (queue: CommandQueue) => Promise<number>, presence?: object): Promise<number> {
    return this.during(nsid, () => this.commands.once('io', (queue) => this.sendTo(nsid, presence, queue, run)))
  }

  async flush(nsid: number, timeoutNs?: number): Promise<void> {
    await this.repeatIo(nsid, (queue) => queue.execute(Flush, { NSID: nsid }, { timeoutNs }))
  }

  /** Returns the limits of I/O commands besides Read and Write. Read once: no command changes them. */
  blockCommandLimits(): Promise<BlockCommandLimits> {
    this.limits ??= readBlockCommandLimits(this, this.session.limits.mpsmin).catch((error: unknown) => {
      this.limits = undefined
      throw error
    })
    return this.limits
  }

  /** Brings the controller up; after an error, disables it as far as possible. */
  async open(): Promise<void> {
    // Exclusive, so that no event is handled and no recovery starts before the controller is up.
    await this.gate.alone(async () => {
      try {
        await this.bringUp()
      } catch (error) {
        // The first error is reported.
        if (isGone(error)) this.session.abandon()
        else await this.giveBack().catch(() => undefined)
        // Events that arrive later must not be handled: another handle may soon have the controller.
        this.session.transport.bar.cutOff()
        throw error
      }
    })
  }

  /** Lets time pass in which events may arrive; returns false if there will be no more. */
  async waitForEvents(): Promise<boolean> {
    const { clock } = this.session.transport
    if (!this.isOpen) return false
    // Behind a closed gate, the queue belongs to a recovery and may not exist.
    if (!this.gate.isClosed) this.pollAdmin()
    // Virtual time does not pass while nothing is scheduled: no event can arrive then.
    if (clock.nextNs !== Infinity || this.asyncEvents.isHoldingBack) await clock.idle(clock.now() + EVENT_POLL_NS)
    // A virtual clock may return at once; other tasks need a turn nevertheless.
    await nextTurn()
    return true
  }

  /** Handles a change of namespaces by a command of this handle. */
  async namespacesChanged(nsids: readonly number[]): Promise<void> {
    try {
      await this.during(undefined, () => this.identifyNamespaces())
    } catch (error) {
      this.asyncEvents.miss(nsids)
      throw error
    }
    this.session.hub.emit({ kind: 'namespaces-changed', timeNs: this.session.transport.clock.now(), nsids })
  }

  /** Resets the controller by the steps of a recovery, which end with a usable or a lost controller. */
  reset(): Promise<void> {
    return this.during(undefined, async () => {
      if ((await this.recovery.report({ overdue: [], from: 'controller-reset' })) === 'recovered') return
      throw this.recovery.lostError()
    })
  }

  /** @throws same as `Controller.close`. */
  async close(): Promise<void> {
    const wasLost = this.state === 'lost'
    this.state = 'closed'
    if (this.calls > 0) {
      await new Promise<void>((resolve) => {
        this.drained = resolve
      })
    }
    await this.asyncEvents.stop()
    const { transport } = this.session
    try {
      this.session.detachEngine()
    } finally {
      // Even if the engine throws, the controller must not be left running.
      if (!wasLost && !transport.bar.isCut) await this.endSession()
    }
  }

  private async endSession(): Promise<void> {
    if (this.innermost.isClosed?.() === true) {
      this.session.abandon()
      throw transportClosed(this.name)
    }
    try {
      await this.shutDown()
    } catch (error) {
      if (isGone(error)) this.session.abandon()
      throw error
    }
  }

  private async shutDown(): Promise<void> {
    const { registers, transport, identity } = this.session
    const csts = readPresent(registers, CSTS, transport.name)
    const timeoutNs = Math.min(Math.max(SHORTEST_SHUTDOWN_WAIT_NS, identity.shutdownNs), LONGEST_SHUTDOWN_WAIT_NS)
    const isRunning = CSTS.RDY.of(csts) === 1
    // A drive that does not delete a queue is still shut down: its cache matters more.
    const woundUp = isRunning ? await settled(this.session.windUp()) : undefined
    const ended = isRunning ? await settled(shutdown(registers, transport, timeoutNs)) : undefined
    // A controller that another agent has reset has nothing to shut down; the content of its cache is unknown.
    const complete = ended ?? this.write === undefined
    await this.giveBack()
    if (complete !== true) throw shutdownIncomplete(transport.name, timeoutNs, complete || woundUp)
  }

  private async bringUp(): Promise<void> {
    const { write } = this
    await takeOver(this.session, ({ serial }) => {
      if (write !== undefined && write.serial !== serial) throw wrongSerial(write.serial)
    })
    // Last, so that the engine is attached exactly if there is a controller to close.
    this.session.attachEngine()
  }

  private pollAdmin(): void {
    this.session.admin.poll()
    this.asyncEvents.resume()
  }

  private async identifyNamespaces(): Promise<void> {
    await this.commands.repeat('admin', () => this.session.identifyNamespaces())
  }

  /** Identifies namespaces again, in the background, if changes of them can have been missed. */
  retryNamespaces(): void {
    if (this.isOpen) this.asyncEvents.retryNamespaces()
  }

  /** Called behind the gate: a reset may have completed while the command waited there. */
  private sendTo<T>(
    nsid: number,
    presence: object | undefined,
    queue: CommandQueue,
    run: (queue: CommandQueue) => Promise<T>,
  ): Promise<T> {
    if (presence === undefined || presence === this.session.presenceOf(nsid)) return run(queue)
    return Promise.reject(namespaceChanged(nsid))
  }

  /**
   * Runs an action between `begin` and `end`.
   * @param nsid namespace that the action uses, if it uses one.
   */
  private async during<T>(nsid: number | undefined, action: () => Promise<T>): Promise<T> {
    this.begin(nsid)
    try {
      return await action()
    } catch (error) {
      if (nsid !== undefined && error instanceof CommandError && contradictsIdentity(error)) this.retryNamespaces()
      throw error
    } finally {
      this.end(nsid)
    }
  }

  /** Begins a call; `close` waits until its `end`. @throws same as `checkOpen`; DriverError (NAMESPACE_BUSY) */
  private begin(nsid: number | undefined): void {
    this.checkOpen()
    if (nsid !== undefined) this.inUse.enter(nsid)
    this.calls++
    this.asyncEvents.resume()
  }

  private end(nsid: number | undefined): void {
    if (nsid !== undefined) this.inUse.leave(nsid)
    if (--this.calls === 0) this.drained?.()
  }

  /**
   * Disables the controller, after which no DMA is outstanding, then frees the memory that it could access. A
   * controller that is gone or cannot be disabled may still write: its memory, and that of callers' transfers, is kept.
   * @throws same as `Session.stop`; errors of the transport.
   */
  private async giveBack(): Promise<void> {
    const { session } = this
    try {
      await session.stop()
    } catch (error) {
      session.abandon()
      throw error
    }
    // An engine that did not detach from its queues may still poll them.
    if (session.isAttached) session.lent.quarantine()
    else session.pool.freeAll()
  }
}

/** Returns whether a status may mean that the namespace has changed since it was identified. */
function contradictsIdentity({ sct, sc }: Pick<Status, 'sct' | 'sc'>): boolean {
  return STALE_IDENTITY.some((status) => status.sct === sct && status.sc === sc)
}

/** Returns the value or the error of a promise. @throws DeviceLostError if the device is lost. */
function settled<T>(work: Promise<T>): Promise<T | Error> {
  return work.catch((error: unknown) => {
    if (isGone(error)) throw error
    return error instanceof Error ? error : new Error(String(error))
  })
}
