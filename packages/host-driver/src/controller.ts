import { GpuNvmeError, Flush } from '@gpunvme/nvme-spec'
import type { AnyFeature } from '@gpunvme/nvme-spec/layout'
import type { DmaMemory, Engine, ExecuteOptions, OutcomeSummary, Plan, Transport } from '@gpunvme/nvme-spec/transport'
import type { AdminCommands } from './admin/admin-commands.js'
import {
  featureCapabilities,
  getFeature,
  type FeatureCapabilities,
  type FeatureValue,
  type GetFeatureOptions,
} from './admin/features.js'
import { identify, readBlockCommandLimits, type Decodable, type IdentifyOptions } from './admin/identify.js'
import { errorLog, logPage, smartLog, type ErrorLog, type LogPageOptions, type SmartLog } from './admin/log-page.js'
import { Management, type ManagementHost } from './admin/management.js'
import type { ControllerIdentity, NamespaceIdentity } from './bring-up/identity.js'
import { ownTransport } from './bring-up/own-transport.js'
import { readLimits, shutdown } from './bring-up/ready.js'
import { Registers } from './bring-up/registers.js'
import { ADMIN_DATA_BYTES, Session } from './bring-up/session.js'
import { setupSteps } from './bring-up/setup-steps.js'
import { takeOver } from './bring-up/take-over.js'
import { HostEngine } from './engine/host-engine.js'
import { AsyncEvents } from './events/async-events.js'
import type { ControllerEvent } from './events/controller-event.js'
import { EventHub } from './events/event-hub.js'
import { guardController, guardErase, guardNamespace, type WriteRequest } from './guard/guard.js'
import { NamespaceNotFoundError } from './namespace/errors.js'
import type { NamespaceHost } from './namespace/host.js'
import { NamespacesInUse } from './namespace/in-use.js'
import type { BlockCommandLimits } from './namespace/limits.js'
import { Namespace } from './namespace/namespace.js'
import { WritableNamespace } from './namespace/writable-namespace.js'
import { checkOptions, DEFAULT_DEPTH, DEFAULT_TRANSFER_BYTES, type ControllerOptions } from './open-options.js'
import { executeOnce, executeRepeatable } from './recovery/execute-command.js'
import { executePlan } from './recovery/execute-plan.js'
import { Gate } from './recovery/gate.js'
import { Recovery, RECOVERY_LIMITS, type RecoveryStep } from './recovery/recovery.js'
import { zeroCounters, type Counters } from './statistics.js'
import { NS_PER_MS } from './wait.js'

/**
 * The specification asks a host to wait RTD3E, or 1 s where that is 0, for a shutdown (Base 2.1 §3.6.1). Drives may be
 * slower than they say, and there is nothing to gain by leaving early.
 */
const SHORTEST_SHUTDOWN_WAIT_NS = 5_000 * NS_PER_MS

/** While somebody waits for events, the controller is looked at this often at least. */
const EVENT_POLL_NS = 100 * NS_PER_MS

/** What a handle has done and seen since it was opened. */
export interface ControllerStatistics extends Readonly<Counters> {
  /** How often each step of a recovery was taken, and 1 for `lost` once the controller is. */
  readonly recoveries: Readonly<Record<RecoveryStep | 'lost', number>>
}

type OpenOptions = ControllerOptions & { readonly write?: WriteRequest; readonly manage?: boolean }

/** A controller that was opened with `manage`. */
export type ManagedController = Controller<WritableNamespace> & { readonly management: Management }

/**
 * An NVMe controller, enabled and owned by this process. Bring-up follows Base 2.1 §3.5.1: disable, admin queues,
 * enable, Identify, I/O queues. A controller that stops answering is brought back, or declared lost, in bounded time:
 * `recoveryBoundNs`. The transport stays the caller's, and is closed by the caller.
 */
export class Controller<N extends Namespace = Namespace> {
  private readonly session: Session
  private readonly engine: Engine
  private readonly write: WriteRequest | undefined
  private readonly hub: EventHub
  private readonly asyncEvents: AsyncEvents
  private readonly gate = new Gate()
  private readonly recovery: Recovery
  private readonly counters = zeroCounters()
  private readonly namespaceHost: NamespaceHost
  private readonly executing = new Set<Promise<unknown>>()
  private readonly inUse = new NamespacesInUse()
  private limits: Promise<BlockCommandLimits> | undefined
  private known: Namespace[] = []
  private attached = false
  private state: 'open' | 'closed' | 'lost' = 'open'
  private closing: Promise<void> | undefined

  /**
   * Opens for reading: no method of the handle, or of its namespaces, writes.
   * @throws DeviceHeldError when this machine uses the drive: bring-up resets the controller under it.
   */
  static open(
    transport: Transport,
    options?: ControllerOptions & { write?: never; manage?: never },
  ): Promise<Controller>
  /**
   * Opens for writing. The serial number has to be the controller's own, and before the first write to a namespace it
   * is searched for data that is not ours.
   * @throws SerialMismatchError; ForeignDataError at the first write; DeviceHeldError as for reading.
   */
  static open(
    transport: Transport,
    options: ControllerOptions & { write: WriteRequest; manage?: never },
  ): Promise<Controller<WritableNamespace>>
  /**
   * Opens for writing, and for what changes the drive itself: `management` has features, formats, namespaces, and
   * commands as they are.
   * @throws as for writing.
   */
  static open(
    transport: Transport,
    options: ControllerOptions & { write: WriteRequest; manage: true },
  ): Promise<ManagedController>
  static async open(transport: Transport, options: OpenOptions = {}): Promise<Controller> {
    checkOptions(options)
    if (options.manage === true && options.write === undefined) {
      throw new TypeError('manage: expected { write: { serial } } beside it, got none')
    }
    // Reading takes the controller from whoever has it just as writing does: bring-up begins with a reset.
    await guardController(options.sysRoot ?? '/', transport)
    const controller = new Controller(transport, options)
    // Alone, so that nobody takes up an event, or tries to recover, while there is no controller yet.
    await controller.gate.alone(() => controller.bringUpOrGiveBack())
    if (options.manage !== true) return controller
    return Object.assign(controller, { management: new Management(controller.managementHost()) })
  }

  private constructor(transport: Transport, options: OpenOptions) {
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
        commandTimeoutNs: options.commandTimeoutNs ?? 10_000 * NS_PER_MS,
        sgl: options.sgl ?? true,
      },
      this.hub,
      [...setupSteps(options), this.asyncEvents],
    )
    const users = {
      suspend: () => this.detachEngine(),
      resume: () => this.resume(),
      abandon: () => this.abandon(),
    }
    const recoveryLimits = { ...RECOVERY_LIMITS, ...options.recovery }
    this.recovery = new Recovery(this.session, this.gate, this.hub, recoveryLimits, users)
    const { session } = this
    this.namespaceHost = {
      dma: session.lent,
      clock: own.clock,
      movesData: transport.movesData,
      get queues() {
        return session.engineQueues.length
      },
      get maxTransferBytes() {
        return session.maxTransferBytes
      },
      execute: (plan, memory, executeOptions) => this.execute(plan, memory, executeOptions),
      flush: (nsid) => this.flush(nsid),
      commands: {
        pageBytes: session.limits.pageBytes,
        limits: () => this.blockCommandLimits(),
        repeat: (nsid, run) => this.using(nsid, () => executeRepeatable(this.commands, 'io', (queue) => run(queue))),
        once: (nsid, run) => this.using(nsid, () => executeOnce(this.commands, 'io', run)),
      },
    }
  }

  /** What the controller said of itself. */
  get identity(): ControllerIdentity {
    return this.session.identity
  }

  /** The active namespaces as they are now, in increasing order of NSID. */
  get namespaces(): readonly N[] {
    return this.known.filter(({ identity }) => identity.attached) as readonly Namespace[] as readonly N[]
  }

  /** I/O queue pairs that plans are spread over. */
  get queues(): number {
    return this.session.engineQueues.length
  }

  /** Commands in flight on each of them. */
  get queueDepth(): number {
    return this.session.engineQueues[0]!.maxInFlight
  }

  /** The longest transfer of one command. */
  get maxTransferBytes(): number {
    return this.session.maxTransferBytes
  }

  /** The longest that a recovery may take, when every one of its steps is taken and fails. */
  get recoveryBoundNs(): number {
    return this.recovery.boundNs
  }

  get statistics(): ControllerStatistics {
    return { ...this.counters, recoveries: { ...this.recovery.counts } }
  }

  /** The controller's registers, by their declarations, to look at. */
  get registers(): Pick<Registers, 'read' | 'format'> {
    return this.session.registers
  }

  /** @throws NamespaceNotFoundError naming the ones there are. */
  namespace(nsid: number): N {
    const found = this.namespaces.find((namespace) => namespace.nsid === nsid)
    if (found === undefined) throw new NamespaceNotFoundError(nsid, this.namespaces)
    return found
  }

  /**
   * What Identify returns, decoded: `identify(CNS.NAMESPACE, IdentifyNamespace, { nsid: 1 })`, by declarations of
   * nvme-spec.
   * @throws CommandError
   */
  async identify<T>(cns: number, structure: Decodable<T>, options?: IdentifyOptions): Promise<T> {
    return structure.decode(await identify(this.adminCommands, cns, options))
  }

  /** SMART / Health Information of the controller. Temperatures are in kelvins, long counters bigints. */
  smartLog(): Promise<SmartLog> {
    return smartLog(this.adminCommands)
  }

  /** The latest errors that the controller has logged, the most recent first, at most `entries` of them. */
  errorLog(entries?: number): Promise<ErrorLog[]> {
    return errorLog(this.adminCommands, entries)
  }

  /**
   * Bytes of any log page, read 4 KiB at a time; events that the page belongs to are retained.
   * @param lid `LID` of nvme-spec.
   * @throws RangeError, UnsupportedCommandError for a part that only an offset reaches (LPA.LPEDS), CommandError.
   */
  logPage(lid: number, options: LogPageOptions): Promise<DataView> {
    return logPage(this.adminCommands, lid, options)
  }

  /**
   * The value of a feature, by its declaration in nvme-spec: `getFeature(TemperatureThreshold)`.
   * @throws CommandError; UnsupportedCommandError for another value than the current one (ONCS.SSFS).
   */
  getFeature<F extends AnyFeature>(feature: F, options?: GetFeatureOptions<F>): Promise<FeatureValue<F>> {
    return getFeature(this.adminCommands, feature, options)
  }

  /** Whether a feature can be changed, saved, or is of a namespace. @throws as `getFeature`. */
  featureCapabilities(feature: AnyFeature, options?: { readonly nsid?: number }): Promise<FeatureCapabilities> {
    return featureCapabilities(this.adminCommands, feature, options)
  }

  /**
   * What happens to the controller from now on: recoveries, health, namespaces that come and go. It ends when the
   * controller is closed or lost. Asynchronous events are noticed while commands are in flight, and while the next
   * event is waited for.
   */
  events(): AsyncIterableIterator<ControllerEvent> {
    const { clock } = this.session.transport
    return this.hub.subscribe(async () => {
      if (this.state !== 'open') return false
      // Behind a closed gate the queue is a recovery's, and may not exist at the moment.
      if (!this.gate.isClosed) this.session.admin.poll()
      await clock.idle(clock.now() + EVENT_POLL_NS)
      // A clock that is not the machine's own may come back at once: others get their turn all the same.
      await new Promise(setImmediate)
      return true
    })
  }

  /**
   * Shuts the controller down as the specification asks, and gives all its memory back. Waits for what is in flight,
   * which is bounded by its own deadlines. Closing twice is harmless.
   * @throws ShutdownIncompleteError when the drive does not finish; everything is given back all the same.
   * DeviceLostError, ControllerNotReadyError when it cannot even be disabled; then its memory is kept.
   */
  close(): Promise<void> {
    return (this.closing ??= this.shutDown())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  private get commands() {
    const users = { suspend: () => this.detachEngine(), resume: () => this.attachEngine() }
    return { session: this.session, gate: this.gate, recovery: this.recovery, counters: this.counters, users }
  }

  private get adminCommands(): AdminCommands {
    return {
      identity: this.identity,
      repeat: (run) => this.whileOpen(() => executeRepeatable(this.commands, 'admin', run)),
      once: (run) => this.whileOpen(() => executeOnce(this.commands, 'admin', run)),
    }
  }

  private managementHost(): ManagementHost {
    const { session, inUse, adminCommands: admin } = this
    const namespaces = () => this.namespaces.filter((each) => each instanceof WritableNamespace)
    return {
      admin,
      dma: session.lent,
      pageBytes: session.limits.pageBytes,
      mostBytes: { admin: Math.min(ADMIN_DATA_BYTES, session.maxTransferBytes), io: session.maxTransferBytes },
      inUse,
      get namespaces() {
        return namespaces()
      },
      onceIo: (run) => this.whileOpen(() => executeOnce(this.commands, 'io', run)),
      guardErase: (nsid) => guardErase(this.attachedOrNot(nsid), this.write!),
      changed: (nsids) => this.namespacesChanged(nsids),
    }
  }

  /** A namespace that is not attached is one that cannot be read. */
  private attachedOrNot(nsid: number): Namespace {
    const known = this.namespaces.find((namespace) => namespace.nsid === nsid)
    if (known !== undefined) return known
    const raw = new DataView(new ArrayBuffer(0))
    const unsupported = 'it is not attached to this controller'
    return new Namespace(this.namespaceHost, {
      nsid,
      attached: false,
      blocks: 2 ** 32,
      blockBytes: 512,
      unsupported,
      raw,
    })
  }

  /** Asked for once: no command changes it. */
  private blockCommandLimits(): Promise<BlockCommandLimits> {
    this.limits ??= readBlockCommandLimits(this.adminCommands, this.session.limits.mpsmin).catch((error: unknown) => {
      this.limits = undefined
      throw error
    })
    return this.limits
  }

  private async bringUpOrGiveBack(): Promise<void> {
    try {
      await this.bringUp()
    } catch (error) {
      // What went wrong first is what the caller hears of.
      await this.giveBack().catch(() => undefined)
      // An event that came meanwhile is nobody's any more: the controller may be another handle's soon.
      this.session.transport.bar.cutOff()
      throw error
    }
  }

  private async bringUp(): Promise<void> {
    const { session, write } = this
    await takeOver(session, ({ serial }) => {
      if (write !== undefined && write.serial !== serial) throw new SerialMismatchError(write.serial, serial)
    })
    this.takeNamespaces(session.namespaces)
    // Last, so that an engine is ours to detach exactly when there is a controller to close.
    this.attachEngine()
  }

  private resume(): void {
    this.takeNamespaces(this.session.namespaces)
    this.attachEngine()
  }

  private attachEngine(): void {
    if (this.attached) return
    this.engine.attach(this.session.engineQueues, () => this.session.admin.poll())
    this.attached = true
  }

  private detachEngine(): void {
    if (this.attached) this.engine.detach()
    this.attached = false
  }

  private abandon(): void {
    if (this.state === 'open') this.state = 'lost'
  }

  private takeNamespaces(found: readonly NamespaceIdentity[]): void {
    for (const identity of found) {
      const known = this.known.find(({ nsid }) => nsid === identity.nsid)
      if (known === undefined) this.known.push(this.makeNamespace(identity))
      else known.changeTo(identity)
    }
    for (const namespace of this.known) {
      if (found.some(({ nsid }) => nsid === namespace.nsid)) continue
      namespace.changeTo({ ...namespace.identity, attached: false, unsupported: 'it is no longer attached' })
    }
    this.known.sort((a, b) => a.nsid - b.nsid)
  }

  private makeNamespace(identity: NamespaceIdentity): Namespace {
    const { namespaceHost, write } = this
    return write === undefined
      ? new Namespace(namespaceHost, identity)
      : new WritableNamespace(namespaceHost, identity, (target) =>
          guardNamespace(target, write, { timeoutNs: this.session.options.commandTimeoutNs }),
        )
  }

  private async identifyNamespaces(): Promise<void> {
    await executeRepeatable(this.commands, 'admin', () => this.session.identifyNamespaces())
    this.takeNamespaces(this.session.namespaces)
  }

  private async namespacesChanged(nsids: readonly number[]): Promise<void> {
    await this.whileOpen(() => this.identifyNamespaces())
    this.hub.emit({ kind: 'namespaces-changed', timeNs: this.session.transport.clock.now(), nsids })
  }

  private async flush(nsid: number): Promise<void> {
    await this.using(nsid, () =>
      executeRepeatable(this.commands, 'io', (queue) => queue.execute(Flush, { NSID: nsid })),
    )
  }

  private async execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    const stillFits = ({ nsid, blockBytes }: Plan) =>
      this.namespaces.some((namespace) => namespace.nsid === nsid && namespace.blockBytes === blockBytes)
    const host = { ...this.commands, engine: this.engine, stillFits }
    return this.using(plan.nsid, () => executePlan(host, plan, memory, options))
  }

  private using<T>(nsid: number, action: () => Promise<T>): Promise<T> {
    return this.inUse.during(nsid, () => this.whileOpen(action))
  }

  /** What is under way when the handle is closed is waited for. */
  private async whileOpen<T>(action: () => Promise<T>): Promise<T> {
    if (this.state !== 'open') throw new ControllerClosedError(this.state)
    const work = action()
    this.executing.add(work)
    try {
      return await work
    } finally {
      this.executing.delete(work)
    }
  }

  private async shutDown(): Promise<void> {
    const wasLost = this.state === 'lost'
    this.state = 'closed'
    await Promise.allSettled(this.executing)
    await this.asyncEvents.stop()
    this.detachEngine()
    if (wasLost || this.session.transport.bar.isCut) return
    const { registers, transport, identity } = this.session
    const timeoutNs = Math.max(SHORTEST_SHUTDOWN_WAIT_NS, identity.shutdownNs)
    // A drive that will not delete a queue is told of the shutdown all the same: its cache matters more.
    const [woundUp] = await Promise.allSettled([this.session.windUp()])
    const complete = await shutdown(registers, transport.clock, timeoutNs).finally(() => this.giveBack())
    if (woundUp.status === 'rejected') throw woundUp.reason
    if (!complete) throw new ShutdownIncompleteError(transport.name, timeoutNs)
  }

  /**
   * Disables the controller, after which no DMA is outstanding, and only then frees what it could reach. A controller
   * that is gone, or will not be disabled, may still write there: its memory, and what callers transfer to, is kept.
   * @throws DeviceLostError, ControllerNotReadyError, and whatever the transport throws.
   */
  private async giveBack(): Promise<void> {
    const { session } = this
    try {
      await session.stop()
    } catch (error) {
      session.abandon()
      throw error
    }
    session.pool.freeAll()
  }
}

/** A handle was used after it was closed, or after its controller was lost. */
export class ControllerClosedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_CONTROLLER_CLOSED'
  readonly category = 'usage'
  constructor(state: 'closed' | 'lost') {
    super(
      state === 'closed'
        ? 'This controller handle is closed'
        : 'This controller was lost: no step of its recovery brought it back',
      { next: 'Controller.open() again' },
    )
  }
}

/** The drive did not say in time that its shutdown is complete. What was written after the last flush may be lost. */
export class ShutdownIncompleteError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_SHUTDOWN_INCOMPLETE'
  readonly category = 'device'
  constructor(name: string, waitedNs: number) {
    super(`Controller ${name} did not complete its shutdown in ${waitedNs / 1e9} s: CSTS.SHST is not 10b`, {
      facts: ['it was disabled all the same, and its memory was given back'],
      next: 'treat what was written since the last flush() as lost',
    })
  }
}

/** The serial number given for writing is not that of the controller behind the transport. Nothing was written. */
export class SerialMismatchError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_SERIAL_MISMATCH'
  readonly category = 'privilege'
  constructor(given: string, found: string) {
    super(
      `Refused to open for writing: serial number ${JSON.stringify(given)} was given, the controller's is ${JSON.stringify(found)}`,
      {
        next: 'check which drive this is; give its own serial number if it is the one to be overwritten',
      },
    )
  }
}
