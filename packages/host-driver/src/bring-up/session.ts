import { CC } from '@gpunvme/nvme-spec'
import type { Engine, QueuePairMemory, ShadowDoorbell } from '@gpunvme/nvme-spec/transport'
import { CommandQueue } from '../commands/command-queue.js'
import { CommandTimeoutError } from '../commands/errors.js'
import { DriverError } from '../error.js'
import type { EventHub } from '../events/event-hub.js'
import { transferAllocator } from '../memory/allocate.js'
import { DmaPool } from '../memory/dma-pool.js'
import { LentMemory } from '../memory/lent-memory.js'
import { allocateCompletionQueue, allocateQueuePair } from '../queues/memory.js'
import {
  identifyController,
  identifyNamespaces,
  isSameNamespace,
  selectNvmCommandSet,
  type ControllerIdentity,
  type NamespaceIdentity,
} from './identity.js'
import { IoQueues, type QueueOptions } from './io-queues.js'
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
export interface SessionOptions extends QueueOptions {
  readonly maxTransferBytes: number
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
  /** I/O queues. */
  readonly queues: IoQueues
  /** Allocator of memory for callers' transfers. */
  readonly lent: LentMemory
  /** Buffers of Doorbell Buffer Config, if a setup step configured them. */
  shadow: Omit<ShadowDoorbell, 'offsetBytes'> | undefined
  /** Executes plans on its queues, between `attachEngine` and `detachEngine`. */
  readonly engine: Engine
  /** Called while the engine waits. */
  watch: () => void = () => undefined
  /** Whether the engine has its queues. */
  isAttached = false
  private readonly steps: readonly SetupStep[]
  private made: { admin: CommandQueue; adminMemory: QueuePairMemory } | undefined
  private found: { identity: ControllerIdentity; namespaces: readonly NamespaceIdentity[] } | undefined
  /** By NSID of each active namespace. */
  private presences: ReadonlyMap<number, object> = new Map()

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
    this.pool = new DmaPool(transport.underlying.dma)
    this.queues = new IoQueues(transport, limits, options, this.pool)
    this.lent = new LentMemory(transferAllocator(transport.underlying.dma, limits.pageBytes), transport.underlying)
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
      const { maxTransferBytes, shadow, options } = this
      await this.queues.create(admin, { maxTransferBytes, shadow, sgl: options.sgl ? identity.sgl : undefined })
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
    await this.queues.delete(this.admin)
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

  /** Gives the engine its queues, which must exist on the controller. Has no effect if it has them. */
  attachEngine(): void {
    if (this.isAttached) return
    this.engine.attach(this.queues.forPlans, this.watch)
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
    this.lent.quarantine()
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
}

/** A controller completed each command in time, but all commands together exceeded the total time limit. */
function tooSlow(name: string, what: 'bring-up' | 'listing its namespaces', limitNs: number, cause?: unknown) {
  const headline = `Controller ${name} did not complete ${what} in ${formatDuration(limitNs)}`
  return new DriverError('ERR_GPUNVME_CONTROLLER_TOO_SLOW', 'device', headline, {
    next: 'power-cycle the drive and open it again; if it is still too slow, use another drive',
    cause,
  })
}
