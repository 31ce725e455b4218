import { nextTurn } from '@gpunvme/nvme-spec/runtime'
import { CSTS, Flush, STATUS, type Status } from '@gpunvme/nvme-spec'
import type { DmaMemory, Engine, ExecuteOptions, OutcomeSummary, Plan, Transport } from '@gpunvme/nvme-spec/transport'
import type { AdminCommands } from './admin/admin-commands.js'
import { readBlockCommandLimits } from './admin/identify.js'
import { ALL_ONES, DeviceLostError, isGone } from './commands/device-lost.js'
import { isSameNamespace } from './bring-up/identity.js'
import { ownTransport } from './bring-up/own-transport.js'
import { readLimits, shutdown } from './bring-up/ready.js'
import { readPresent, Registers } from './bring-up/registers.js'
import { Session } from './bring-up/session.js'
import { setupSteps } from './bring-up/setup-steps.js'
import { takeOver } from './bring-up/take-over.js'
import { CommandError } from './commands/errors.js'
import { ControllerClosedError, SerialMismatchError, ShutdownIncompleteError } from './controller-errors.js'
import { HostEngine } from './engine/host-engine.js'
import { AsyncEvents } from './events/async-events.js'
import { EventHub } from './events/event-hub.js'
import type { WriteRequest } from './guard/guard.js'
import type { NamespaceHost } from './namespace/host.js'
import { NamespacesInUse } from './namespace/in-use.js'
import type { BlockCommandLimits } from './namespace/limits.js'
import { NamespaceSet } from './namespace/namespace-set.js'
import { DEFAULT_DEPTH, DEFAULT_TRANSFER_BYTES, type OpenOptions } from './open-options.js'
import { executeOnce, executeRepeatable, type CommandExecution } from './recovery/execute-command.js'
import { executePlan } from './recovery/execute-plan.js'
import { Gate } from './recovery/gate.js'
import { Recovery, recoveryLimits } from './recovery/recovery.js'
import { zeroCounters } from './statistics.js'
import { NS_PER_MS } from './wait.js'

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

/** Implementation of `Controller`: the session, the users of its queues, bring-up and shutdown. */
export class RunningController {
  readonly session: Session
  readonly hub: EventHub
  readonly recovery: Recovery
  readonly namespaces: NamespaceSet
  readonly inUse = new NamespacesInUse()
  readonly counters = zeroCounters()
  private readonly engine: Engine
  private readonly write: WriteRequest | undefined
  private readonly asyncEvents: AsyncEvents
  private readonly gate = new Gate()
  private readonly executing = new Set<Promise<unknown>>()
  private limits: Promise<BlockCommandLimits> | undefined
  private attached = false
  state: 'open' | 'closed' | 'lost' = 'open'

  /** @param letGo called when the controller is lost; another handle may then open it. */
  constructor(transport: Transport, options: OpenOptions, letGo: () => void) {
    const own = ownTransport(transport, options.interrupts === true)
    const limits = readLimits(new Registers(own.bar), transport, options.readyTimeoutNs)
    this.hub = new EventHub(own.name)
    this.write = options.write
    this.engine = options.engine ?? new HostEngine(own)
    this.asyncEvents = new AsyncEvents({
      admin: (run) => executeRepeatable(this.commands, 'admin', run),
      emit: (event) => this.hub.emit(event),
      now: () => own.clock.now(),
      namespacesChanged: () => this.identifyNamespaces(),
    })
    const commandTimeoutNs = options.commandTimeoutNs ?? 10_000 * NS_PER_MS
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
        commandTimeoutNs,
        sgl: options.sgl ?? true,
      },
      this.hub,
      [...setupSteps(options), this.asyncEvents],
    )
    const users = {
      suspend: () => this.detachEngine(),
      resume: () => this.takeQueues(),
      abandon: () => {
        if (this.state === 'open') this.state = 'lost'
        letGo()
      },
    }
    this.recovery = new Recovery(this.session, this.gate, this.hub, recoveryLimits(options.recovery), users)
    this.namespaces = new NamespaceSet(this.namespaceHost(transport), options.write, commandTimeoutNs)
  }

  get name(): string {
    return this.session.transport.name
  }

  get isOpen(): boolean {
    return this.state === 'open'
  }

  /** @throws ControllerClosedError */
  checkOpen(): void {
    if (this.state !== 'open') throw new ControllerClosedError(this.state === 'lost' ? this.recovery.loss : undefined)
  }

  get adminCommands(): AdminCommands {
    return {
      identity: this.session.identity,
      repeat: (run) => this.whileOpen(() => executeRepeatable(this.commands, 'admin', run)),
      once: (run) => this.whileOpen(() => executeOnce(this.commands, 'admin', run)),
    }
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

  /** Sends an I/O command outside plans that may not be sent twice. */
  onceIo(run: Parameters<typeof executeOnce>[2]): Promise<number> {
    return this.whileOpen(() => executeOnce(this.commands, 'io', run))
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
    await this.whileOpen(() => this.identifyNamespaces())
    this.hub.emit({ kind: 'namespaces-changed', timeNs: this.session.transport.clock.now(), nsids })
  }

  /** Resets the controller by the steps of a recovery, which end with a usable or a lost controller. */
  reset(): Promise<void> {
    return this.whileOpen(async () => {
      if ((await this.recovery.report({ overdue: [], from: 'controller-reset' })) === 'recovered') return
      const { csts, reason } = this.recovery.loss ?? { csts: ALL_ONES, reason: undefined }
      throw new DeviceLostError(this.name, csts, reason)
    })
  }

  /** @throws same as `Controller.close`. */
  async close(): Promise<void> {
    const wasLost = this.state === 'lost'
    this.state = 'closed'
    await Promise.allSettled(this.executing)
    await this.asyncEvents.stop()
    const { transport } = this.session
    try {
      this.detachEngine()
    } finally {
      // Even if the engine throws, the controller must not be left running.
      if (!wasLost && !transport.bar.isCut) await this.endSession()
    }
  }

  private async endSession(): Promise<void> {
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
    if (complete !== true) throw new ShutdownIncompleteError(transport.name, timeoutNs, complete || woundUp)
  }

  private get commands(): CommandExecution {
    const users = { suspend: () => this.detachEngine(), resume: () => this.attachEngine() }
    const { session, gate, recovery, counters } = this
    return { session, gate, recovery, counters, users, isOpen: () => this.isOpen }
  }

  private namespaceHost({ movesData }: Transport): NamespaceHost {
    const { session } = this
    return {
      dma: session.lent,
      clock: session.transport.clock,
      movesData,
      get queues() {
        return session.engineQueues.length
      },
      get maxTransferBytes() {
        return session.maxTransferBytes
      },
      execute: (plan, memory, options) => this.execute(plan, memory, options),
      flush: (nsid, timeoutNs) => this.flush(nsid, timeoutNs),
      commands: {
        pageBytes: session.limits.pageBytes,
        limits: () => this.blockCommandLimits(),
        repeat: (nsid, run) => this.using(nsid, () => executeRepeatable(this.commands, 'io', (queue) => run(queue))),
        once: (nsid, run) => this.using(nsid, () => executeOnce(this.commands, 'io', run)),
      },
    }
  }

  /** Read once: no command changes them. */
  private blockCommandLimits(): Promise<BlockCommandLimits> {
    this.limits ??= readBlockCommandLimits(this.adminCommands, this.session.limits.mpsmin).catch((error: unknown) => {
      this.limits = undefined
      throw error
    })
    return this.limits
  }

  private async bringUp(): Promise<void> {
    const { write } = this
    await takeOver(this.session, ({ serial }) => {
      if (write !== undefined && write.serial !== serial) throw new SerialMismatchError(write.serial)
    })
    // Last, so that the engine is attached exactly if there is a controller to close.
    this.takeQueues()
  }

  private takeQueues(): void {
    this.namespaces.take(this.session.namespaces)
    this.attachEngine()
  }

  private attachEngine(): void {
    if (this.attached) return
    this.engine.attach(this.session.engineQueues, () => this.pollAdmin())
    this.attached = true
  }

  private pollAdmin(): void {
    this.session.admin.poll()
    this.asyncEvents.resume()
  }

  private detachEngine(): void {
    if (this.attached) this.engine.detach()
    this.attached = false
  }

  private async identifyNamespaces(): Promise<void> {
    await executeRepeatable(this.commands, 'admin', () => this.session.identifyNamespaces())
    this.namespaces.take(this.session.namespaces)
  }

  private async flush(nsid: number, timeoutNs?: number): Promise<void> {
    const flush = () =>
      executeRepeatable(this.commands, 'io', (queue) => queue.execute(Flush, { NSID: nsid }, { timeoutNs }))
    await this.using(nsid, flush)
  }

  private async execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    const identityNow = () => this.namespaces.active.find(({ nsid }) => nsid === plan.nsid)?.identity
    const planned = identityNow()
    const stillFits = () => {
      const current = identityNow()
      return planned !== undefined && current !== undefined && isSameNamespace(planned, current)
    }
    const host = { ...this.commands, engine: this.engine, stillFits }
    const summary = await this.using(plan.nsid, () => executePlan(host, plan, memory, options))
    if (summary.failures.some(({ outcome }) => outcome.kind === 'status' && contradictsIdentity(outcome)))
      this.retryNamespaces()
    return summary
  }

  private async using<T>(nsid: number, action: () => Promise<T>): Promise<T> {
    try {
      return await this.inUse.during(nsid, () => this.whileOpen(action))
    } catch (error) {
      if (error instanceof CommandError && contradictsIdentity(error)) this.retryNamespaces()
      throw error
    }
  }

  private retryNamespaces(): void {
    if (this.isOpen) this.asyncEvents.retryNamespaces()
  }

  /** Runs an action that `close` waits for. */
  private async whileOpen<T>(action: () => Promise<T>): Promise<T> {
    this.checkOpen()
    this.asyncEvents.resume()
    const work = action()
    this.executing.add(work)
    try {
      return await work
    } finally {
      this.executing.delete(work)
    }
  }

  /**
   * Disables the controller, after which no DMA is outstanding, then frees the memory that it could access. A
   * controller that is gone or cannot be disabled may still write: its memory, and that of callers' transfers, is kept.
   * @throws DeviceLostError, ControllerNotReadyError; errors of the transport.
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
    if (this.attached) session.lent.withhold()
    else session.pool.freeAll()
  }
}

/** Returns whether a status may mean that the namespace differs from what the driver identified. */
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
