import type { CompletionQueueMemory, QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { CommandQueue } from '../commands/command-queue.js'
import type { DmaPool } from '../memory/dma-pool.js'
import { allocateCompletionQueue, allocateQueuePair, rewind, type QueueSetting } from '../queues/memory.js'
import type { OverdueCommand } from '../queues/queue-pair.js'
import { queueSizes } from '../queues/queue-sizes.js'
import { Salvage } from '../queues/salvage.js'
import {
  createCompletionQueue,
  createSubmissionQueue,
  deleteCompletionQueue,
  deleteSubmissionQueue,
  negotiateQueues,
} from './create-queues.js'
import type { OwnTransport } from './own-transport.js'
import { unsupportedController, type Limits } from './ready.js'

/** Depth of the queue of commands outside plans. */
const SINGLE_DEPTH = 15

/** Options of the queues, from those of `Controller.open`. */
export interface QueueOptions {
  /** Number of I/O submission queues for plans. */
  readonly queues: number
  /** Commands in flight on each queue. */
  readonly queueDepth: number
  /** Entries of each submission queue. Default: see `queueSizes`. */
  readonly queueEntries: number | undefined
  /** Number of completion queues that these share. Default: one each. */
  readonly completionQueues: number | undefined
  /** Location of the rings and PRP lists of plans. */
  readonly queueMemory: 'host' | 'gpu'
  readonly commandTimeoutNs: number
}

/** Settings of queues that the controller and its setup determine. */
type TransferSetting = Pick<QueueSetting, 'maxTransferBytes' | 'sgl' | 'shadow'>

/** The I/O queues of a session: those of plans, and one for commands outside plans if the controller allows it. */
export class IoQueues {
  /** Queue pairs of plans. */
  forPlans: readonly QueuePairMemory[] = []
  private readonly transport: OwnTransport
  private readonly limits: Limits
  private readonly options: QueueOptions
  private readonly pool: DmaPool
  private singleMemory: QueuePairMemory | undefined
  private singleQueue: CommandQueue | undefined

  constructor(transport: OwnTransport, limits: Limits, options: QueueOptions, pool: DmaPool) {
    this.transport = transport
    this.limits = limits
    this.options = options
    this.pool = pool
  }

  /** All I/O queue pairs that exist on the controller. */
  get pairs(): readonly QueuePairMemory[] {
    return this.singleMemory === undefined ? this.forPlans : [...this.forPlans, this.singleMemory]
  }

  /** Queue of commands outside plans; undefined if the controller allows only one I/O queue pair. */
  get single(): CommandQueue | undefined {
    return this.singleMemory === undefined ? undefined : this.singleQueue
  }

  /**
   * Creates the queues on the controller. Their memory is allocated the first time.
   * @throws DriverError (UNSUPPORTED_CONTROLLER); errors of commands.
   */
  async create(admin: CommandQueue, transfer: TransferSetting): Promise<void> {
    const { options, transport } = this
    const wanted = options.queues + 1
    const completionQueues = Math.min(options.completionQueues ?? options.queues, options.queues)
    const allowed = await negotiateQueues(admin, wanted, completionQueues + 1)
    if (this.forPlans.length === 0) this.allocate(transfer, allowed, completionQueues)
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

  /** Deletes the queues on the controller. */
  async delete(admin: CommandQueue): Promise<void> {
    const { pairs } = this
    for (const pair of pairs) await deleteSubmissionQueue(admin, pair)
    for (const cq of new Set(pairs.map((pair) => pair.cq))) await deleteCompletionQueue(admin, cq)
  }

  /** Deletes and creates a completion queue and all submission queues that complete to it. */
  async recreate(
    admin: CommandQueue,
    cq: CompletionQueueMemory,
    overdue: readonly OverdueCommand[],
    deadlineNs: number,
  ): Promise<void> {
    const { transport } = this
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
    this.singleQueue ??= this.commandQueue(this.forPlans[0]!)
    this.singleQueue.resume()
    return this.singleQueue
  }

  private allocate(
    transfer: TransferSetting,
    allowed: { submission: number; completion: number },
    completionQueues: number,
  ): void {
    const { options, pool, limits, transport } = this
    const setting = { ...limits, ...transfer }
    const engineSetting = { ...setting, where: options.queueMemory }
    // One pair is for commands outside plans; if the controller allows one pair in all, both take turns.
    const hasOwnPair = allowed.submission > 1 && allowed.completion > 1
    const granted = Math.min(options.queues, allowed.submission - (hasOwnPair ? 1 : 0))
    const shared = Math.min(completionQueues, allowed.completion - (hasOwnPair ? 1 : 0), granted)
    // A completion queue has room for at least one command of each submission queue.
    const engines = Math.min(granted, shared * (limits.maxQueueEntries - 1))
    const sharers = Math.ceil(engines / shared)
    const { sqEntries, cqEntries, inFlight } = queueSizes({ ...options, ...limits, sharers })
    const cqs = Array.from({ length: shared }, (_, i) => allocateCompletionQueue(pool, engineSetting, i + 1, cqEntries))
    this.forPlans = Array.from({ length: engines }, (_, i) =>
      allocateQueuePair(pool, engineSetting, { qid: i + 1, sqEntries, depth: inFlight }, cqs[i % shared]!),
    )
    if (!hasOwnPair) {
      const [{ sq, cq }] = this.forPlans as [QueuePairMemory]
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
