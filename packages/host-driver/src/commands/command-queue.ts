import { CSTS, formatSqe, formatStatus, GpuNvmeError, layPrps, SQE } from '@gpunvme/nvme-spec'
import { isLost, statusOutcome } from '@gpunvme/nvme-spec/engine'
import type { Clock, DmaAllocator, DmaMemory, QueuePairMemory, Transport } from '@gpunvme/nvme-spec/transport'
import { DeviceLostError } from '../bring-up/device-lost.js'
import { hostBytes, reachable, type ReachableMemory } from '../memory/reachable.js'
import { CompletionRing } from '../queues/completion-ring.js'
import type { OverdueCommand } from '../queues/overdue.js'
import { rewind } from '../queues/memory.js'
import { QueuePair, type CompletionSink } from '../queues/queue-pair.js'
import { checkTimeout, NS_PER_MS } from '../wait.js'

/** Encodes a command, as each command declaration of nvme-spec does. */
export interface Encodable<V> {
  readonly name: string
  encode(data: DataView, byteOffset: number, values: V): void
}

/** Location of a command's data. */
export interface CommandData {
  readonly memory: DmaMemory
  readonly offsetBytes: number
  readonly lengthBytes: number
}

export interface CommandOptions {
  /** Time limit from submission. Default: that of the queue. */
  readonly timeoutNs?: number | undefined
  /** Data, described by PRPs. */
  readonly data?: CommandData | undefined
}

/** A command in flight. */
interface Waiter {
  completion?: { readonly status: number; readonly dw0: number }
  /** Called on completion, while the command still owns its slot and page. */
  readonly arrived?: ((status: number, dw0: number) => void) | undefined
}

/** Length of the data page of each command, enough for Identify. */
export const PAGE_OF_DATA_BYTES = 4096

/** Interval of CSTS checks while a command is in flight: a removed device is detected before the deadline. */
const HEALTH_CHECK_NS = 10 * NS_PER_MS

/**
 * A queue pair for single commands with a deadline each: the admin queue, and the I/O queue of commands outside plans.
 * Each command in flight has its own data page, so that a command that was given up does not affect others.
 */
export class CommandQueue implements CompletionSink {
  pair: QueuePair
  /** Latest deadline of any command, for sequences that have a common time limit. */
  deadlineNs = Infinity
  private ring: CompletionRing
  private readonly set: 'admin' | 'nvm'
  private readonly transport: Pick<Transport, 'name' | 'bar' | 'clock'>
  private readonly timeoutNs: number
  private readonly pages: ReachableMemory
  private readonly lists: ReachableMemory
  private readonly waiters: (Waiter | undefined)[]

  /** @param dma allocator of a data page for each command in flight. */
  constructor(
    set: 'admin' | 'nvm',
    memory: QueuePairMemory,
    transport: Pick<Transport, 'name' | 'bar' | 'clock'>,
    dma: DmaAllocator,
    timeoutNs: number,
  ) {
    this.set = set
    this.ring = new CompletionRing(memory.cq, transport.bar)
    this.pair = new QueuePair(memory, transport.bar, this.ring, this)
    this.transport = transport
    this.timeoutNs = timeoutNs
    const lengthBytes = memory.maxInFlight * PAGE_OF_DATA_BYTES
    this.pages = reachable(dma.alloc(lengthBytes, { alignBytes: PAGE_OF_DATA_BYTES }))
    this.lists = reachable(memory.prpLists)
    this.waiters = new Array<Waiter | undefined>(memory.maxInFlight).fill(undefined)
  }

  /**
   * Executes a command and returns dword 0 of its completion.
   * @throws CommandError for any status but success, CommandTimeoutError, DeviceLostError.
   */
  async execute<V>(command: Encodable<V>, values: V, { timeoutNs, data }: CommandOptions = {}): Promise<number> {
    const place = (slot: number) => (data === undefined ? values : { ...values, ...this.pointTo(data, slot) })
    return this.run(command, place, timeoutNs)
  }

  /** Executes a command that returns data; returns a copy of the first `lengthBytes` bytes, up to a page. */
  async executeForData<V extends { PRP1?: number }>(
    command: Encodable<V>,
    values: V,
    options?: { timeoutNs?: number | undefined; lengthBytes?: number },
  ): Promise<DataView> {
    return (await this.exchange(command, values, options)).data
  }

  /** Same as `executeForData`, for a command that also returns a value in dword 0 of its completion. */
  async exchange<V extends { PRP1?: number }>(
    command: Encodable<V>,
    values: V,
    { timeoutNs, lengthBytes = PAGE_OF_DATA_BYTES }: { timeoutNs?: number | undefined; lengthBytes?: number } = {},
  ): Promise<{ readonly dw0: number; readonly data: DataView }> {
    const copy = new Uint8Array(lengthBytes)
    let page = 0
    const place = (slot: number) => {
      page = slot * PAGE_OF_DATA_BYTES
      return { ...values, PRP1: this.fillPage(page) }
    }
    const collect = () => {
      this.pages.forHost(page, PAGE_OF_DATA_BYTES)
      copy.set(hostBytes(this.pages, page, lengthBytes))
    }
    const dw0 = await this.run(command, place, timeoutNs, collect)
    return { dw0, data: new DataView(copy.buffer) }
  }

  /** Executes a command with up to a page of data for the controller. */
  async executeWithData<V extends { PRP1?: number }>(
    command: Encodable<V>,
    values: V,
    bytes: Uint8Array,
    { timeoutNs }: Pick<CommandOptions, 'timeoutNs'> = {},
  ): Promise<number> {
    const place = (slot: number) => ({ ...values, PRP1: this.fillPage(slot * PAGE_OF_DATA_BYTES, bytes) })
    return this.run(command, place, timeoutNs)
  }

  /** Submits a command that the controller may hold for any time. Returns false if the queue is full. */
  hold<V>(command: Encodable<V>, values: V, arrived: (status: number, dw0: number) => void): boolean {
    if (this.pair.ids.free === 0) return false
    this.submit(command, () => values, { arrived })
    return true
  }

  /** Starts again on a new queue of the controller, at the beginning of the rings and without outstanding commands. */
  restart(): void {
    rewind(this.pair.memory)
    this.resume()
  }

  /** Continues at the current ring positions, without outstanding commands. */
  resume(): void {
    const { memory } = this.pair
    this.ring = new CompletionRing(memory.cq, this.transport.bar)
    this.pair = new QueuePair(memory, this.transport.bar, this.ring, this)
    this.waiters.fill(undefined)
  }

  /** Handles posted completions. */
  poll(): number {
    return this.ring.poll()
  }

  completed(slot: number, status: number, dw0: number): void {
    const waiter = this.waiters[slot]!
    this.waiters[slot] = undefined
    waiter.completion = { status, dw0 }
    waiter.arrived?.(status, dw0)
  }

  private async run<V>(
    command: Encodable<V>,
    place: (slot: number) => V,
    timeoutNs = this.timeoutNs,
    arrived?: Waiter['arrived'],
  ): Promise<number> {
    checkTimeout('timeoutNs', timeoutNs)
    const { clock, name } = this.transport
    const roomByNs = Math.min(this.deadlineNs, clock.now() + timeoutNs)
    // The same completions let other commands continue, which may take the slot first.
    while (this.pair.ids.free === 0) await this.room(roomByNs, timeoutNs)
    const waiter: Waiter = { arrived }
    const sentNs = clock.now()
    const deadlineNs = Math.min(this.deadlineNs, sentNs + timeoutNs)
    const { slot, text } = this.submit(command, place, waiter)
    for (;;) {
      this.poll()
      const { completion } = waiter
      if (completion !== undefined) {
        if (completion.status !== 0)
          throw new CommandError(command.name, text, completion.status, completion.dw0, deadlineNs)
        return completion.dw0
      }
      const csts = this.lostStatus()
      if (csts !== undefined) {
        const lost = new DeviceLostError(name, csts)
        lost.overdue = this.giveUp(slot)
        throw lost
      }
      if (clock.now() >= deadlineNs) {
        throw new CommandTimeoutError(command.name, name, text, clock.now() - sentNs, this.giveUp(slot))
      }
      await idle(clock, deadlineNs)
    }
  }

  /** Waits while the queue is full. */
  private async room(deadlineNs: number, timeoutNs: number): Promise<void> {
    const { clock, name } = this.transport
    while (this.pair.ids.free === 0) {
      const csts = this.lostStatus()
      if (csts !== undefined) throw new DeviceLostError(name, csts)
      if (clock.now() >= deadlineNs) throw new QueueFullError(timeoutNs)
      await idle(clock, deadlineNs)
      this.poll()
    }
  }

  /** Stages and fills in one turn, since the entry staged last is the one that is filled. */
  private submit<V>(command: Encodable<V>, place: (slot: number) => V, waiter: Waiter): { slot: number; text: string } {
    const { pair } = this
    // Encoded separately first: an encoding error must not leave a claimed entry.
    const entry = new DataView(new ArrayBuffer(SQE.bytes))
    command.encode(entry, 0, place(pair.ids.next))
    const slot = pair.stage()
    SQE.view(entry).CID = pair.ids.cidOf(slot)
    hostBytes(pair.memory.sq, pair.stagedIndex * SQE.bytes, SQE.bytes).set(new Uint8Array(entry.buffer))
    this.waiters[slot] = waiter
    pair.ring()
    return { slot, text: formatSqe(this.set, entry) }
  }

  private fillPage(page: number, bytes?: Uint8Array): number {
    const data = hostBytes(this.pages, page, PAGE_OF_DATA_BYTES)
    data.fill(0)
    if (bytes !== undefined) data.set(bytes)
    this.pages.forDevice(page, PAGE_OF_DATA_BYTES)
    return this.pages.iovaAt(page)
  }

  private pointTo({ memory, offsetBytes, lengthBytes }: CommandData, slot: number) {
    const { pageBytes, prpListBytes } = this.pair.memory
    const PRP2 = layPrps(memory, offsetBytes, lengthBytes, pageBytes, this.lists, slot * prpListBytes)
    this.lists.forDevice(slot * prpListBytes, prpListBytes)
    return { PRP1: memory.iovaAt(offsetBytes), PRP2 }
  }

  private giveUp(slot: number): OverdueCommand {
    const { pair } = this
    const overdue = { qid: pair.memory.qid, cid: pair.ids.cidOf(slot) }
    this.waiters[slot] = undefined
    pair.ids.abandon(slot)
    pair.expect(overdue, slot)
    return overdue
  }

  /** Returns CSTS of a controller that is gone, has failed or was reset; undefined otherwise. */
  private lostStatus(): number | undefined {
    const csts = this.transport.bar.read32(CSTS.offset)
    return isLost(csts) ? csts : undefined
  }
}

function idle(clock: Clock, deadlineNs: number): Promise<void> {
  return clock.idle(Math.min(deadlineNs, clock.now() + HEALTH_CHECK_NS))
}

/** The controller completed a command with an error. */
export class CommandError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_COMMAND'
  readonly category = 'device'
  /** Status Code Type. */
  readonly sct: number
  /** Status Code. */
  readonly sc: number
  /** Do Not Retry. */
  readonly dnr: boolean
  /** Name and codes of the status, without the command: 'Invalid Field in Command (SCT 0h, SC 02h)'. */
  readonly statusText: string
  /** Command Retry Delay, 0 to 3. */
  readonly crd: number
  /** The Error Information log page has more details. */
  readonly more: boolean
  /** Dword 0 of the completion. */
  readonly dw0: number
  /** Deadline of the command, by the clock of the transport; undefined if it had none. @internal */
  readonly deadlineNs: number | undefined
  constructor(command: string, sqe: string, status: number, dw0 = 0, deadlineNs?: number) {
    const outcome = statusOutcome(status)
    const statusText = formatStatus(outcome)
    super(`${command} failed: ${statusText}`, { facts: [sqe] })
    this.statusText = statusText
    this.sct = outcome.sct
    this.sc = outcome.sc
    this.dnr = outcome.dnr
    this.crd = outcome.crd
    this.more = outcome.more
    this.dw0 = dw0
    this.deadlineNs = deadlineNs
  }
}

/** A command got no completion within its time limit. It may or may not have been executed. */
export class CommandTimeoutError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_COMMAND_TIMEOUT'
  readonly category = 'device'
  /** Identity of the command, for a recovery. */
  readonly overdue: OverdueCommand
  constructor(command: string, controller: string, sqe: string, waitedNs: number, overdue: OverdueCommand) {
    super(
      `${command} got no completion in ${Number((waitedNs / 1e9).toPrecision(4))} s from controller ${controller}`,
      {
        facts: [sqe],
        next: 'check the events of the recovery; the command may or may not have been executed',
      },
    )
    this.overdue = overdue
  }
}

/** The queue was full, and none of its commands completed in time. */
export class QueueFullError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_QUEUE_FULL'
  readonly category = 'device'
  constructor(waitedNs: number) {
    super(`Submission queue full for ${waitedNs / 1e9} s`, { next: 'send fewer commands at a time' })
  }
}
