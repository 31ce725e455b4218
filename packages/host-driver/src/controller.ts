import { Flush, GpuNvmeError } from '@gpunvme/nvme-spec'
import type {
  DmaMemory,
  Engine,
  ExecuteOptions,
  OutcomeSummary,
  Plan,
  QueuePairMemory,
  Transport,
} from '@gpunvme/nvme-spec/transport'
import { CommandQueue, CommandTimeoutError } from './command-queue.js'
import {
  DeviceLostError,
  disable,
  enable,
  readLimits,
  shutdown,
  UnsupportedControllerError,
  type Limits,
} from './bring-up.js'
import { DmaPool } from './dma-pool.js'
import { guardController, guardNamespace, type WriteRequest } from './guard/guard.js'
import { EngineFailedError, HostEngine } from './host-engine.js'
import { identifyController, identifyNamespaces, type ControllerIdentity } from './identity.js'
import { MOST_IN_FLIGHT } from './command-ids.js'
import { createQueuePair, deleteQueuePair, negotiateQueues } from './io-queues.js'
import { Namespace, WritableNamespace, type NamespaceHost } from './namespace.js'
import { LentMemory } from './lent-memory.js'
import { allocateQueuePair } from './queue-memory.js'
import { Registers } from './registers.js'
import { isTimeout, NS_PER_MS, TIMEOUT_EXPECTED } from './wait.js'

export interface ControllerOptions {
  /** I/O queue pairs to ask for; the controller may allow fewer. 1 when not given. */
  readonly queues?: number
  /** Commands in flight on each of them. 32 when not given, and never more than the controller's queues hold. */
  readonly queueDepth?: number
  /** An upper bound for one command, below MDTS; 1 MiB when not given. Larger ones gain nothing, and cost PRP lists. */
  readonly maxTransferBytes?: number
  /** Who submits I/O. The host engine when not given. */
  readonly engine?: Engine
  /** For each wait for CSTS.RDY; when not given, what the controller states in CAP.TO and CRTO, up to 30 s. */
  readonly readyTimeoutNs?: number
  /** For each admin command and each flush. 10 s when not given. */
  readonly commandTimeoutNs?: number
  /** Where /sys and /proc are, for the guard; '/' when not given. */
  readonly sysRoot?: string
}

const MIB = 1024 * 1024
const ADMIN_ENTRIES = 32

/**
 * The specification asks a host to wait RTD3E, or 1 s where that is 0, for a shutdown (Base 2.1 §3.6.1). Drives may be
 * slower than they say, and there is nothing to gain by leaving early.
 */
const SHORTEST_SHUTDOWN_WAIT_NS = 5_000 * NS_PER_MS

/** What belongs to an enabled controller and has to be given back. */
interface Resources {
  readonly transport: Transport
  readonly registers: Registers
  readonly limits: Limits
  readonly engine: Engine
  /** Everything that the controller can reach and that is not a caller's. */
  readonly pool: DmaPool
  /** What callers transfer from and to. */
  readonly lent: LentMemory
  readonly admin: CommandQueue
  readonly ioQueues: readonly QueuePairMemory[]
  /** For I/O commands that are no part of a plan; only handles that write have it. */
  readonly single: CommandQueue | undefined
}

/**
 * An NVMe controller, enabled and owned by this process. Bring-up follows Base 2.1 §3.5.1: disable, admin queues,
 * enable, Identify, I/O queues. The transport stays the caller's, and is closed by the caller.
 */
export class Controller<N extends Namespace = Namespace> {
  readonly identity: ControllerIdentity
  readonly namespaces: readonly N[]
  /** I/O queue pairs in use. */
  readonly queues: number
  readonly queueDepth: number
  /** The longest transfer of one command. */
  readonly maxTransferBytes: number
  private readonly resources: Resources
  private readonly executing = new Set<Promise<unknown>>()
  private state: 'open' | 'closed' | 'failed' = 'open'
  private closing: Promise<void> | undefined
  private failing: Promise<void> | undefined

  /**
   * Opens for reading: no method of the handle, or of its namespaces, writes.
   * @throws DeviceHeldError when this machine uses the drive: bring-up resets the controller under it.
   */
  static open(transport: Transport, options?: ControllerOptions & { write?: never }): Promise<Controller>
  /**
   * Opens for writing. The serial number has to be the controller's own, and before the first write to a namespace it
   * is searched for data that is not ours.
   * @throws SerialMismatchError; ForeignDataError at the first write; DeviceHeldError as for reading.
   */
  static open(
    transport: Transport,
    options: ControllerOptions & { write: WriteRequest },
  ): Promise<Controller<WritableNamespace>>
  static async open(
    transport: Transport,
    options: ControllerOptions & { write?: WriteRequest } = {},
  ): Promise<Controller> {
    checkOptions(options)
    // Reading takes the controller from whoever has it just as writing does: bring-up begins with a reset.
    await guardController(options.sysRoot ?? '/', transport)
    const registers = new Registers(transport.bar)
    const limits = readLimits(registers, transport.name, options.readyTimeoutNs)
    await disable(registers, transport, limits)
    const pool = new DmaPool(transport.dma)
    const engine = options.engine ?? new HostEngine(transport)
    const start = { transport, registers, limits, pool, engine, lent: new LentMemory(transport.dma) }
    try {
      return await Controller.bringUp(start, options)
    } catch (error) {
      // What went wrong first is what the caller hears of.
      await giveBack(start).catch(() => undefined)
      throw error
    }
  }

  private static async bringUp(
    start: Omit<Resources, 'admin' | 'ioQueues' | 'single'>,
    options: ControllerOptions & { write?: WriteRequest },
  ): Promise<Controller> {
    const { transport, registers, limits, pool, engine } = start
    const { write, queues = 1, queueDepth = 32 } = options
    const timeoutNs = options.commandTimeoutNs ?? 10_000 * NS_PER_MS
    const shape = { dstrd: limits.dstrd, pageBytes: limits.pageBytes }
    const adminShape = { ...shape, qid: 0, entries: ADMIN_ENTRIES, maxTransferBytes: limits.pageBytes }
    const adminMemory = allocateQueuePair(pool, adminShape)
    const admin = new CommandQueue('admin', adminMemory, transport, pool, timeoutNs)
    await enable(registers, transport, limits, adminMemory)
    const identity = await identifyController(admin, limits.mpsmin)
    if (write !== undefined && write.serial !== identity.serial) {
      throw new SerialMismatchError(write.serial, identity.serial)
    }
    const maxTransferBytes = Math.min(options.maxTransferBytes ?? MIB, identity.maxTransferBytes ?? Infinity)
    const entries = Math.min(queueDepth + 1, limits.maxQueueEntries)
    // A handle that writes keeps one queue pair beside the engine's: Flush is no part of a plan.
    const beside = write === undefined ? 0 : 1
    const allowed = await negotiateQueues(admin, queues + beside)
    if (allowed <= beside) {
      throw new UnsupportedControllerError(transport.name, 'writing takes two I/O queue pairs, and it allows one')
    }
    const ioQueues: QueuePairMemory[] = []
    for (let qid = 1; qid <= allowed; qid++) {
      const memory = allocateQueuePair(pool, { ...shape, qid, entries, maxTransferBytes })
      await createQueuePair(admin, memory)
      ioQueues.push(memory)
    }
    const single = write && new CommandQueue('nvm', ioQueues.at(-1)!, transport, pool, timeoutNs)
    const resources = { ...start, admin, ioQueues, single }
    const controller = new Controller(resources, identity, await identifyNamespaces(admin), maxTransferBytes, write)
    // Last, so that an engine is ours to detach exactly when there is a controller to close.
    engine.attach(ioQueues.slice(0, allowed - beside))
    return controller
  }

  private constructor(
    resources: Resources,
    identity: ControllerIdentity,
    found: Awaited<ReturnType<typeof identifyNamespaces>>,
    maxTransferBytes: number,
    write: WriteRequest | undefined,
  ) {
    const { ioQueues, transport } = resources
    this.resources = resources
    this.identity = identity
    this.queues = ioQueues.length - (resources.single === undefined ? 0 : 1)
    this.queueDepth = ioQueues[0]!.sqEntries - 1
    this.maxTransferBytes = maxTransferBytes
    const host: NamespaceHost = {
      dma: resources.lent,
      clock: transport.clock,
      queues: this.queues,
      maxTransferBytes,
      movesData: transport.movesData,
      execute: (plan, memory, options) => this.execute(plan, memory, options),
      flush: (nsid) => this.flush(nsid),
    }
    this.namespaces = found.map((namespace) =>
      write === undefined
        ? new Namespace(host, namespace)
        : new WritableNamespace(host, namespace, (target) => guardNamespace(target, write)),
    ) as readonly Namespace[] as readonly N[]
  }

  /** @throws NamespaceNotFoundError naming the ones there are. */
  namespace(nsid: number): N {
    const found = this.namespaces.find((namespace) => namespace.nsid === nsid)
    if (found === undefined) throw new NamespaceNotFoundError(nsid, this.namespaces)
    return found
  }

  /** The controller's registers, by their declarations, to look at. */
  get registers(): Pick<Registers, 'read' | 'format'> {
    return this.resources.registers
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

  private async flush(nsid: number): Promise<void> {
    if (this.state !== 'open') throw new ControllerClosedError(this.state)
    const { single } = this.resources
    if (single === undefined) throw new TypeError('this handle only reads: there is nothing to flush')
    const flushing = single.execute(Flush, { NSID: nsid })
    this.executing.add(flushing)
    try {
      await flushing
    } catch (error) {
      if (error instanceof CommandTimeoutError || error instanceof DeviceLostError) await this.fail()
      throw error
    } finally {
      this.executing.delete(flushing)
    }
  }

  private async execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    if (this.state !== 'open') throw new ControllerClosedError(this.state)
    const execution = this.resources.engine.execute(plan, memory, options)
    this.executing.add(execution)
    try {
      const summary = await execution
      const fatal = summary.failures.some(({ outcome }) => outcome.kind === 'timeout' || outcome.kind === 'device-lost')
      if (fatal) await this.fail()
      return summary
    } catch (error) {
      if (error instanceof EngineFailedError) await this.fail()
      throw error
    } finally {
      this.executing.delete(execution)
    }
  }

  private async shutDown(): Promise<void> {
    this.state = 'closed'
    await Promise.allSettled(this.executing)
    if (this.failing !== undefined) return this.failing
    this.resources.engine.detach()
    const timeoutNs = Math.max(SHORTEST_SHUTDOWN_WAIT_NS, this.identity.shutdownNs)
    const complete = await this.notifyShutdown(timeoutNs).finally(() => giveBack(this.resources))
    if (!complete) throw new ShutdownIncompleteError(this.resources.transport.name, timeoutNs)
  }

  private async notifyShutdown(timeoutNs: number): Promise<boolean> {
    const { registers, transport } = this.resources
    const deletion = this.deleteQueues()
    // A drive that will not delete a queue is told of the shutdown all the same: its cache matters more.
    await Promise.allSettled([deletion])
    const complete = await shutdown(registers, transport.clock, timeoutNs)
    await deletion
    return complete
  }

  private async deleteQueues(): Promise<void> {
    const { admin, ioQueues } = this.resources
    for (const memory of ioQueues) await deleteQueuePair(admin, memory)
  }

  /**
   * A command got no answer, so the controller may still write to its memory at any time. Disabling it ends that -
   * after the engine, which has stopped, is done with the queues.
   */
  private fail(): Promise<void> {
    if (this.state === 'open') this.state = 'failed'
    this.failing ??= (async () => {
      await Promise.allSettled(this.executing)
      this.resources.engine.detach()
      // The caller hears of what went wrong first; that the controller cannot be disabled either adds nothing.
      await giveBack(this.resources).catch(() => undefined)
    })()
    return this.failing
  }
}

function checkOptions(options: ControllerOptions): void {
  const { queues = 1, queueDepth = 32, maxTransferBytes = MIB, readyTimeoutNs, commandTimeoutNs } = options
  for (const [name, value] of Object.entries({ readyTimeoutNs, commandTimeoutNs })) {
    if (value !== undefined && !isTimeout(value)) throw new RangeError(`${name}: ${TIMEOUT_EXPECTED}, got ${value}`)
  }
  const expect = (name: string, value: number, from: number, to: number) => {
    if (!Number.isInteger(value) || value < from || value > to) {
      throw new RangeError(`${name}: expected an integer from ${from} to ${to}, got ${value}`)
    }
  }
  expect('queues', queues, 1, 65_534)
  expect('queueDepth', queueDepth, 1, MOST_IN_FLIGHT)
  expect('maxTransferBytes', maxTransferBytes, 4096, 2 ** 32)
}

/**
 * Disables the controller, after which no DMA is outstanding, and only then frees what it could reach. A controller
 * that is gone, or will not be disabled, may still write there: its memory, and what callers transfer to, is kept.
 * @throws DeviceLostError, ControllerNotReadyError, and whatever the transport throws.
 */
async function giveBack({
  registers,
  transport,
  limits,
  pool,
  lent,
}: Pick<Resources, 'registers' | 'transport' | 'limits' | 'pool' | 'lent'>): Promise<void> {
  try {
    await disable(registers, transport, limits)
  } catch (error) {
    lent.withhold()
    throw error
  }
  pool.freeAll()
}

/** A handle was used after it was closed, or after a failure that took the controller down. */
export class ControllerClosedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_CONTROLLER_CLOSED'
  readonly category = 'usage'
  constructor(state: 'closed' | 'failed') {
    super(
      state === 'closed'
        ? 'This controller handle is closed'
        : 'This controller was taken down after a command got no completion',
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

/** There is no active namespace of that number. */
export class NamespaceNotFoundError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NAMESPACE_NOT_FOUND'
  readonly category = 'not-found'
  constructor(nsid: number, active: readonly Namespace[]) {
    const found = active.map((namespace) => namespace.nsid).join(', ')
    super(`Namespace ${nsid} is not active`, { facts: [`active: ${found || 'none'}`] })
  }
}
