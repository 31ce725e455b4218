import { CC } from '@gpunvme/nvme-spec'
import type { CompletionQueueMemory, Engine, QueuePairMemory, ShadowDoorbell } from '@gpunvme/nvme-spec/transport'
import { CommandQueue } from '../commands/command-queue.js'
import { CommandTimeoutError } from '../commands/errors.js'
import { DriverError } from '../error.js'
import type { EventHub } from '../events/event-hub.js'
import { transferAllocator } from '../memory/allocate.js'
import { DmaPool } from '../memory/dma-pool.js'
import { LentMemory } from '../memory/lent-memory.js'
import {
  createCompletionQueue,
  createSubmissionQueue,
  deleteCompletionQueue,
  deleteSubmissionQueue,
  negotiateQueues,
} from './create-queues.js'
import { allocateCompletionQueue, allocateQueuePair, rewind } from '../queues/memory.js'
import { queueSizes } from '../queues/queue-sizes.js'
import type { OverdueCommand } from '../queues/queue-pair.js'
import { Salvage } from '../queues/salvage.js'
import {
  identifyController,
  identifyNamespaces,
  isSameNamespace,
  selectNvmCommandSet,
  type ControllerIdentity,
  type NamespaceIdentity,
} from './identity.js'
import type { OwnTransport } from './own-transport.js'
import { disable, enable, unsupportedController, type Limits } from './ready.js'
import { Registers } from './registers.js'
import { formatDuration, NS_PER_MS } from '../wait.js'

/**
 * Total time limit for the Admin commands of one bring-up, and for the commands of one later namespace listing. Each
 * command also has its own limit, but the controller determines the number of namespaces to identify.
 */
export const COMMANDS_TOGETHER_NS = 60_000 * NS_PER_MS

/** Options of a session, from those of `Controller.open`. */
export interface SessionOptions {
  /** Number of I/O submission queues for plans. */
  readonly queues: number
  /** Commands in flight on each queue. */
  readonly queueDepth: number
  /** Entries of each submission queue. Default: see `queueSizes`. */
  readonly queueEntries: number | undefined
  /** Number of completion queues that these share. Default: one each. */
  readonly completionQueues: number | undefined
  readonly maxTransferBytes: number
  /** Location of the rings and PRP lists of plans. */
  readonly queueMemory: 'host' | 'gpu'
  readonly commandTimeoutNs: number
  /** Whether commands may describe their data by SGLs. */
  readonly sgl: boolean
}

/**
 * A step of setting up a controller, between Identify and the creation of I/O queues, repeated after each reset. If the
 * controller refuses something optional, that is an event and not an error.
 */
export interface SetupStep {
  apply(session: Session): Promise<void>
  /** Restores the drive's previous settings before a shutdown. */
  undo?(session: Session): Promise<void>
}

/** Entries of the admin queue, which AQA limits; CAP.MQES is the limit of I/O queues. */
const ADMIN_ENTRIES = 64
const SINGLE_DEPTH = 15
/** Maximum data length of an admin command, for which one PRP list page per command in flight is enough. */
export const ADMIN_DATA_BYTES = 128 * 1024

/**
 * A controller between CC.EN = 1 and CC.EN = 0, any number of times: its queues and Identify data. Bring-up follows
 * Base 2.1 §3.5.1. Memory is allocated at the first start and reused at each later one: after CSTS.RDY = 0 the
 * controller has dropped every address.
 */
export class Session {
  readonly transport: OwnTransport
  readonly registers: Registers
  readonly limits: Limits
  readonly options: SessionOptions
  readonly hub: EventHub
  /** All memory that the controller can access, except that of callers. */
  readonly pool: DmaPool
  /** Allocator of memory for callers' transfers. */
  readonly lent: LentMemory
  /** Buffers of Doorbell Buffer Config, if a setup step configured them. */
  shadow: Omit<ShadowDoorbell, 'offsetBytes'> | undefined
  /** Executes plans on its queues, between `attachEngine` and `detachEngine`. */
  readonly engine: Engine
  /** I/O queue pairs of plans. */
  engineQueues: readonly QueuePairMemory[] = []
  /** Called while the engine waits. */
  watch: () => void = () => undefined
  /** Whether the engine has its queues. */
  isAttached = false
  private readonly steps: readonly SetupStep[]
  private made: { admin: CommandQueue; adminMemory: QueuePairMemory } | undefined
  private found: { identity: ControllerIdentity; namespaces: readonly NamespaceIdentity[] } | undefined
  /** By NSID of each active namespace. */
  private presences: ReadonlyMap<number, object> = new Map()
  private singleMemory: QueuePairMemory | undefined
  private singleQueue: CommandQueue | undefined

  constructor(
    transport: OwnTransport,
    limits: Limits,
    options: SessionOptions,
    engine: Engine,
    hub: EventHub,
    steps: readonly SetupStep[],
  ) {
    this.transport = transport
    this.engine = engine
    this.registers = new Registers(transport.bar)
    this.limits = limits
    this.options = options
    this.hub = hub
    this.steps = steps
    this.pool = new DmaPool(transport.whole.dma)
    this.lent = new LentMemory(transferAllocator(transport.whole.dma, limits.pageBytes), transport.whole)
  }

  get admin(): CommandQueue {
    if (this.made === undefined) throw new TypeError('the controller was not started')
    return this.made.admin
  }

  get identity(): ControllerIdentity {
    if (this.found === undefined) throw new TypeError('the controller was not identified')
    return this.found.identity
  }

  get namespaces(): readonly NamespaceIdentity[] {
    return this.found?.namespaces ?? []
  }

  /** Returns an active namespace; undefined if there is none. */
  namespaceOf(nsid: number): NamespaceIdentity | undefined {
    for (const namespace of this.namespaces) if (namespace.nsid === nsid) return namespace
    return undefined
  }

  /**
   * Returns an object that stays the same while a namespace is active with the same identity and size. After a
   * replacement, resize or detachment it is another object, even if the namespace looks unchanged. Undefined if the
   * namespace is not active, or is outdated.
   */
  presenceOf(nsid: number): object | undefined {
    return this.presences.get(nsid)
  }

  /**
   * Marks namespaces that may have changed but could not be identified, until they are. I/O that assumes an old block
   * size would transfer a wrong length without an error.
   * @param nsids undefined for all.
   */
  outdate(nsids: Iterable<number> = this.presences.keys()): void {
    const outdated = new Set(nsids)
    const namespaces = this.namespaces.map((each) => (outdated.has(each.nsid) ? { ...each, outdated: true } : each))
    this.found = { identity: this.identity, namespaces }
    this.presences = new Map([...this.presences].filter(([nsid]) => !outdated.has(nsid)))
  }

  /** All I/O queue pairs that exist on the controller. */
  get pairs(): readonly QueuePairMemory[] {
    return this.singleMemory === undefined ? this.engineQueues : [...this.engineQueues, this.singleMemory]
  }

  /** Queue of commands outside plans; undefined if the controller allows only one I/O queue pair. */
  get single(): CommandQueue | undefined {
    return this.singleMemory === undefined ? undefined : this.singleQueue
  }

  /** Maximum transfer of one command, in bytes. */
  get maxTransferBytes(): number {
    return Math.min(this.options.maxTransferBytes, this.identity.maxTransferBytes ?? Infinity)
  }

  /**
   * Enables a disabled controller, identifies it, sets it up and creates its queues.
   * @param withinNs total time limit of its admin commands; each also has its own.
   * @param check called after Identify Controller and before other commands; throws to refuse the controller.
   * @throws DriverError (CONTROLLER_TOO_SLOW after `withinNs`, NAMESPACE_LIST, UNSUPPORTED_CONTROLLER); errors of
   *   `enable` and `check`; CommandError, CommandTimeoutError, DeviceLostError.
   */
  async start(withinNs: number, check: (identity: ControllerIdentity) => void = () => undefined): Promise<void> {
    const { transport, limits } = this
    const { admin, adminMemory } = this.adminQueue()
    await enable(this.registers, transport, limits, adminMemory)
    admin.deadlineNs = transport.clock.now() + withinNs
    try {
      const identity = await identifyController(admin, transport.name, limits.mpsmin)
      check(identity)
      const before = this.found?.identity
      if (before !== undefined && before.serial !== identity.serial) {
        throw unsupportedController(transport.name, `after a reset its serial number is ${identity.serial}`)
      }
      this.found = { identity, namespaces: this.namespaces }
      if (limits.commandSets === CC.CSS.IOCS) await selectNvmCommandSet(admin, transport.name)
      this.take(identity, await identifyNamespaces(admin, identity.raw, limits.commandSets))
      for (const step of this.steps) await step.apply(this)
      await this.createQueues()
    } catch (error) {
      const isOver = error instanceof CommandTimeoutError && transport.clock.now() >= admin.deadlineNs
      throw isOver ? tooSlow(transport.name, 'bring-up', withinNs, error) : error
    } finally {
      admin.deadlineNs = Infinity
    }
  }

  /** Disables the controller. After that no DMA is outstanding. @throws DeviceLostError, DriverError (NOT_READY) */
  async stop(): Promise<void> {
    await disable(this.registers, this.transport, this.limits)
  }

  /** Prepares a shutdown: undoes the setup steps and deletes the I/O queues. */
  async windUp(): Promise<void> {
    for (const step of this.steps.toReversed()) await step.undo?.(this)
    for (const pair of this.pairs) await deleteSubmissionQueue(this.admin, pair)
    for (const cq of new Set(this.pairs.map((pair) => pair.cq))) await deleteCompletionQueue(this.admin, cq)
  }

  /**
   * Lists and identifies the namespaces again.
   * @throws DriverError (CONTROLLER_TOO_SLOW, NAMESPACE_LIST); errors of commands.
   */
  async identifyNamespaces(): Promise<void> {
    const { admin, identity, limits } = this
    const { clock, name } = this.transport
    const deadlineNs = clock.now() + COMMANDS_TOGETHER_NS
    const bounded: Pick<CommandQueue, 'executeForData'> = {
      executeForData: (command, values) => {
        if (clock.now() < deadlineNs) return admin.executeForData(command, values)
        throw tooSlow(name, 'listing its namespaces', COMMANDS_TOGETHER_NS)
      },
    }
    this.take(identity, await identifyNamespaces(bounded, identity.raw, limits.commandSets))
  }

  /** Deletes and creates a completion queue and all submission queues that complete to it. */
  async recreate(cq: CompletionQueueMemory, overdue: readonly OverdueCommand[], deadlineNs: number): Promise<void> {
    const { admin, transport } = this
    const pairs = this.pairs.filter((pair) => pair.cq === cq)
    admin.deadlineNs = deadlineNs
    try {
      for (const pair of pairs) await deleteSubmissionQueue(admin, pair)
      // Completions before or by the deletion were posted before the deletion completed.
      new Salvage(pairs, transport.bar, overdue).poll()
      await deleteCompletionQueue(admin, cq)
      for (const pair of pairs) rewind(pair)
      await createCompletionQueue(admin, cq, transport.vector)
      for (const pair of pairs) await createSubmissionQueue(admin, pair)
    } finally {
      admin.deadlineNs = Infinity
    }
    this.singleQueue?.resume()
  }

  /** Handles completions on the queue of commands outside plans. */
  pollSingle(): void {
    this.single?.poll()
  }

  /**
   * Returns the queue of commands outside plans. If there is none, returns the first queue of plans, which needs
   * exclusive use.
   */
  borrowSingle(): CommandQueue {
    if (this.single !== undefined) return this.single
    this.singleQueue ??= this.commandQueue(this.engineQueues[0]!)
    this.singleQueue.resume()
    return this.singleQueue
  }

  /** Gives the engine its queues, which must exist on the controller. Has no effect if it has them. */
  attachEngine(): void {
    if (this.isAttached) return
    this.engine.attach(this.engineQueues, this.watch)
    this.isAttached = true
  }

  /** Takes the queues from the engine. */
  detachEngine(): void {
    if (this.isAttached) this.engine.detach()
    this.isAttached = false
  }

  /** Keeps all memory of a controller that cannot be disabled: it may still write there, and to memory of callers. */
  abandon(): void {
    this.transport.bar.cutOff()
    this.lent.withhold()
  }

  /** Stores a new list of the active namespaces. */
  private take(identity: ControllerIdentity, namespaces: readonly NamespaceIdentity[]): void {
    const presences = new Map<number, object>()
    for (const found of namespaces) {
      const before = this.namespaceOf(found.nsid)
      const isSame = before !== undefined && isSameNamespace(before, found) && before.blocks === found.blocks
      presences.set(found.nsid, (isSame ? this.presences.get(found.nsid) : undefined) ?? {})
    }
    this.found = { identity, namespaces }
    this.presences = presences
  }

  private adminQueue() {
    if (this.made !== undefined) {
      this.made.admin.restart()
      return this.made
    }
    const { pool, limits, options, transport } = this
    const setting = { ...limits, maxTransferBytes: ADMIN_DATA_BYTES }
    const cq = allocateCompletionQueue(pool, setting, 0, ADMIN_ENTRIES)
    const shape = { qid: 0, sqEntries: ADMIN_ENTRIES, depth: ADMIN_ENTRIES - 1 }
    const adminMemory = allocateQueuePair(pool, setting, shape, cq)
    const admin = new CommandQueue('admin', adminMemory, transport, pool, options.commandTimeoutNs)
    return (this.made = { admin, adminMemory })
  }

  private async createQueues(): Promise<void> {
    const { options, admin, transport } = this
    const wanted = options.queues + 1
    const completionQueues = Math.min(options.completionQueues ?? options.queues, options.queues)
    const allowed = await negotiateQueues(admin, wanted, completionQueues + 1)
    if (this.engineQueues.length === 0) this.allocateQueues(allowed, completionQueues)
    else if (this.pairs.length > allowed.submission) {
      throw unsupportedController(
        transport.name,
        `after a reset it allows ${allowed.submission} I/O queues instead of ${this.pairs.length}`,
      )
    }
    const { pairs } = this
    for (const pair of pairs) rewind(pair)
    for (const cq of new Set(pairs.map((pair) => pair.cq))) await createCompletionQueue(admin, cq, transport.vector)
    for (const pair of pairs) await createSubmissionQueue(admin, pair)
    this.singleQueue?.resume()
  }

  private allocateQueues(allowed: { submission: number; completion: number }, completionQueues: number): void {
    const { options, pool, limits, transport } = this
    const setting = {
      ...limits,
      maxTransferBytes: this.maxTransferBytes,
      sgl: options.sgl ? this.identity.sgl : undefined,
      shadow: this.shadow,
    }
    const engineSetting = { ...setting, where: options.queueMemory }
    // One pair is for commands outside plans; if the controller allows one pair in all, both take turns.
    const apart = allowed.submission > 1 && allowed.completion > 1
    const granted = Math.min(options.queues, allowed.submission - (apart ? 1 : 0))
    const shared = Math.min(completionQueues, allowed.completion - (apart ? 1 : 0), granted)
    // A completion queue has room for at least one command of each submission queue.
    const engines = Math.min(granted, shared * (limits.maxQueueEntries - 1))
    const sharers = Math.ceil(engines / shared)
    const { sqEntries, cqEntries, inFlight } = queueSizes({ ...options, ...limits, sharers })
    const cqs = Array.from({ length: shared }, (_, i) => allocateCompletionQueue(pool, engineSetting, i + 1, cqEntries))
    this.engineQueues = Array.from({ length: engines }, (_, i) =>
      allocateQueuePair(pool, engineSetting, { qid: i + 1, sqEntries, depth: inFlight }, cqs[i % shared]!),
    )
    if (!apart) {
      const [{ sq, cq }] = this.engineQueues as [QueuePairMemory]
      if (sq.view !== undefined && cq.memory.view !== undefined) return
      const reason = 'it allows one I/O queue pair, which commands outside plans need in host memory'
      throw unsupportedController(transport.name, reason, 'queueMemory: expected host, got gpu')
    }
    const entries = Math.min(SINGLE_DEPTH + 1, limits.maxQueueEntries)
    const cq = allocateCompletionQueue(pool, setting, shared + 1, entries)
    const shape = { qid: engines + 1, sqEntries: entries, depth: SINGLE_DEPTH }
    this.singleMemory = allocateQueuePair(pool, setting, shape, cq)
    this.singleQueue = this.commandQueue(this.singleMemory)
  }

  private commandQueue(memory: QueuePairMemory): CommandQueue {
    return new CommandQueue('nvm', memory, this.transport, this.pool, this.options.commandTimeoutNs)
  }
}

/** A controller completed each command in time, but all commands together exceeded the total time limit. */
function tooSlow(name: string, what: 'bring-up' | 'listing its namespaces', limitNs: number, cause?: unknown) {
  const headline = `Controller ${name} did not complete ${what} in ${formatDuration(limitNs)}`
  return new DriverError('ERR_GPUNVME_CONTROLLER_TOO_SLOW', 'device', headline, {
    next: 'power-cycle the drive and open it again; if it is still too slow, use another drive',
    cause,
  })
}
