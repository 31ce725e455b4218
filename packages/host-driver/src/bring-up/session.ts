import { CC } from '@gpunvme/nvme-spec'
import type { CompletionQueueMemory, QueuePairMemory, ShadowDoorbell } from '@gpunvme/nvme-spec/transport'
import { CommandQueue, CommandTimeoutError } from '../commands/command-queue.js'
import type { EventHub } from '../events/event-hub.js'
import { checkedAllocator } from '../memory/allocate.js'
import { DmaPool } from '../memory/dma-pool.js'
import { LentMemory } from '../memory/lent-memory.js'
import {
  createCompletionQueue,
  createSubmissionQueue,
  deleteCompletionQueue,
  deleteSubmissionQueue,
  negotiateQueues,
} from '../queues/create.js'
import { allocateCompletionQueue, allocateQueuePair, rewind } from '../queues/memory.js'
import type { OverdueCommand } from '../queues/overdue.js'
import { Salvage } from '../recovery/salvage.js'
import { identifyController, identifyNamespaces, type ControllerIdentity, type NamespaceIdentity } from './identity.js'
import { selectNvmCommandSet } from './command-sets.js'
import type { OwnTransport } from './own-transport.js'
import { disable, enable, UnsupportedControllerError, type Limits } from './ready.js'
import { Registers } from './registers.js'
import { COMMANDS_TOGETHER_NS, ControllerTooSlowError } from './too-slow.js'

/** What was asked for when the controller was opened. */
export interface SessionOptions {
  /** I/O submission queues for plans. */
  readonly queues: number
  /** Commands in flight on each. */
  readonly queueDepth: number
  /** Entries of each submission queue; one more than commands in flight when not given. */
  readonly queueEntries: number | undefined
  /** How many completion queues these share; one each when not given. */
  readonly completionQueues: number | undefined
  readonly maxTransferBytes: number
  /** Where the rings and PRP lists of plans lie. */
  readonly queueMemory: 'host' | 'gpu'
  readonly commandTimeoutNs: number
  /** Commands may describe their data by SGLs. */
  readonly sgl: boolean
}

/**
 * Part of setting a controller up between Identify and the creation of I/O queues; once more after every reset. A
 * refusal of something optional is told as an event, and not thrown.
 */
export interface SetupStep {
  apply(session: Session): Promise<void>
  /** Before a shutdown: what the drive had before. */
  undo?(session: Session): Promise<void>
}

/** CAP.MQES is of I/O queues: a controller takes an admin queue of any size that AQA can say. */
const ADMIN_ENTRIES = 64
const SINGLE_DEPTH = 15
/** The longest data of one admin command; what a page of PRP list for each command in flight is enough for. */
export const ADMIN_DATA_BYTES = 128 * 1024

/**
 * A controller between CC.EN = 1 and CC.EN = 0, any number of times: its queues, and what it said of itself. Bring-up
 * follows Base 2.1 §3.5.1. Its memory is allocated at the first start and used again at each later one: after
 * CSTS.RDY = 0 the controller has forgotten every address.
 */
export class Session {
  readonly transport: OwnTransport
  readonly registers: Registers
  readonly limits: Limits
  readonly options: SessionOptions
  readonly hub: EventHub
  /** Everything that the controller can reach and that is not a caller's. */
  readonly pool: DmaPool
  /** What callers transfer from and to. */
  readonly lent: LentMemory
  /** Of Doorbell Buffer Config, where a setup step made it. */
  shadow: Omit<ShadowDoorbell, 'offsetBytes'> | undefined
  /** I/O queue pairs of plans. */
  engineQueues: readonly QueuePairMemory[] = []
  private readonly steps: readonly SetupStep[]
  private made: { admin: CommandQueue; adminMemory: QueuePairMemory } | undefined
  private found: { identity: ControllerIdentity; namespaces: readonly NamespaceIdentity[] } | undefined
  private singleMemory: QueuePairMemory | undefined
  private singleQueue: CommandQueue | undefined

  constructor(
    transport: OwnTransport,
    limits: Limits,
    options: SessionOptions,
    hub: EventHub,
    steps: readonly SetupStep[],
  ) {
    this.transport = transport
    this.registers = new Registers(transport.bar)
    this.limits = limits
    this.options = options
    this.hub = hub
    this.steps = steps
    this.pool = new DmaPool(transport.whole.dma)
    this.lent = new LentMemory(checkedAllocator(transport.whole.dma))
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

  /** All I/O queue pairs that exist on the controller. */
  get pairs(): readonly QueuePairMemory[] {
    return this.singleMemory === undefined ? this.engineQueues : [...this.engineQueues, this.singleMemory]
  }

  /** For commands that are no part of a plan; undefined where the controller allows one I/O queue pair only. */
  get single(): CommandQueue | undefined {
    return this.singleMemory === undefined ? undefined : this.singleQueue
  }

  /** The longest transfer of one command. */
  get maxTransferBytes(): number {
    return Math.min(this.options.maxTransferBytes, this.identity.maxTransferBytes ?? Infinity)
  }

  /**
   * Enables a controller that is disabled, identifies it, sets it up and creates its queues.
   * @param withinNs for its admin commands, all together; each has its own limit beside it.
   * @param check what must hold before anything but Identify is sent; throws otherwise.
   * @throws ControllerTooSlowError after `withinNs`; errors of `enable` and `check`; NamespaceListError,
   *   UnsupportedControllerError, CommandError, CommandTimeoutError, DeviceLostError.
   */
  async start(withinNs: number, check: (identity: ControllerIdentity) => void = () => undefined): Promise<void> {
    const { transport, limits } = this
    const { admin, adminMemory } = this.adminQueue()
    await enable(this.registers, transport, limits, adminMemory)
    admin.deadlineNs = transport.clock.now() + withinNs
    try {
      const identity = await identifyController(admin, limits.mpsmin)
      check(identity)
      const before = this.found?.identity
      if (before !== undefined && before.serial !== identity.serial) {
        throw new UnsupportedControllerError(transport.name, `after a reset it is another: serial ${identity.serial}`)
      }
      this.found = { identity, namespaces: this.namespaces }
      if (limits.commandSets === CC.CSS.IOCS) await selectNvmCommandSet(admin, transport.name)
      this.found = { identity, namespaces: await identifyNamespaces(admin, identity.raw, limits.commandSets) }
      for (const step of this.steps) await step.apply(this)
      await this.createQueues()
    } catch (error) {
      const isOver = error instanceof CommandTimeoutError && transport.clock.now() >= admin.deadlineNs
      throw isOver ? new ControllerTooSlowError(transport.name, 'bring-up', withinNs, error) : error
    } finally {
      admin.deadlineNs = Infinity
    }
  }

  /** Disables the controller. After that no DMA is outstanding. @throws DeviceLostError, ControllerNotReadyError */
  async stop(): Promise<void> {
    await disable(this.registers, this.transport, this.limits)
  }

  /** Before a shutdown: gives back what the setup took from the drive, and deletes the I/O queues. */
  async windUp(): Promise<void> {
    for (const step of this.steps.toReversed()) await step.undo?.(this)
    for (const pair of this.pairs) await deleteSubmissionQueue(this.admin, pair)
    for (const cq of new Set(this.pairs.map((pair) => pair.cq))) await deleteCompletionQueue(this.admin, cq)
  }

  /**
   * Lists and identifies the namespaces again.
   * @throws ControllerTooSlowError, NamespaceListError; errors of commands.
   */
  async identifyNamespaces(): Promise<void> {
    const { admin, identity, limits } = this
    const { clock, name } = this.transport
    const deadlineNs = clock.now() + COMMANDS_TOGETHER_NS
    const bounded: Pick<CommandQueue, 'executeForData'> = {
      executeForData: (command, values) => {
        if (clock.now() < deadlineNs) return admin.executeForData(command, values)
        throw new ControllerTooSlowError(name, 'listing its namespaces', COMMANDS_TOGETHER_NS)
      },
    }
    this.found = { identity, namespaces: await identifyNamespaces(bounded, identity.raw, limits.commandSets) }
  }

  /** Deletes and creates a completion queue and all submission queues that complete to it. */
  async recreate(cq: CompletionQueueMemory, overdue: readonly OverdueCommand[], deadlineNs: number): Promise<void> {
    const { admin, transport } = this
    const pairs = this.pairs.filter((pair) => pair.cq === cq)
    admin.deadlineNs = deadlineNs
    try {
      for (const pair of pairs) await deleteSubmissionQueue(admin, pair)
      // What completed before the deletion, or by it, was posted before the deletion was answered.
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

  /** Takes what has completed on the queue of single commands. */
  pollSingle(): void {
    this.single?.poll()
  }

  /** The queue pair of single commands, or where there is none the first of plans, which nobody else may use meanwhile. */
  borrowSingle(): CommandQueue {
    if (this.single !== undefined) return this.single
    this.singleQueue ??= this.commandQueue(this.engineQueues[0]!)
    this.singleQueue.resume()
    return this.singleQueue
  }

  /** Lets go of a controller that cannot even be disabled: it may go on writing to its memory, and to that of callers. */
  abandon(): void {
    this.transport.bar.cutOff()
    this.lent.withhold()
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
      throw new UnsupportedControllerError(
        transport.name,
        `after a reset it allows ${allowed.submission} I/O queues, where it allowed ${this.pairs.length}`,
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
    // One is for commands that are no part of a plan; where the controller allows one in all, they take turns.
    const apart = allowed.submission > 1 && allowed.completion > 1
    const engines = Math.min(options.queues, allowed.submission - (apart ? 1 : 0))
    const shared = Math.min(completionQueues, allowed.completion - (apart ? 1 : 0), engines)
    const sqEntries = Math.min(options.queueEntries ?? options.queueDepth + 1, limits.maxQueueEntries)
    const sharers = Math.ceil(engines / shared)
    const depth = Math.min(options.queueDepth, sqEntries - 1)
    const cqEntries = Math.min(Math.max(depth * sharers + 1, options.queueEntries ?? 2), limits.maxQueueEntries)
    const cqs = Array.from({ length: shared }, (_, i) => allocateCompletionQueue(pool, engineSetting, i + 1, cqEntries))
    const each = Math.max(1, Math.min(depth, Math.floor((cqEntries - 1) / sharers)))
    this.engineQueues = Array.from({ length: engines }, (_, i) =>
      allocateQueuePair(pool, engineSetting, { qid: i + 1, sqEntries, depth: each }, cqs[i % shared]!),
    )
    if (!apart) {
      const [{ sq, cq }] = this.engineQueues as [QueuePairMemory]
      if (sq.view !== undefined && cq.memory.view !== undefined) return
      const reason = 'it allows one I/O queue pair, which other commands than those of plans need in memory of the host'
      throw new UnsupportedControllerError(transport.name, reason, 'queueMemory: expected host, got gpu')
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
