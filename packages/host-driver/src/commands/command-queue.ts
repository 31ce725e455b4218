import { SQE } from '@gpunvme/nvme-spec'
import { transferProblem } from '@gpunvme/nvme-spec/engine'
import type { DmaAllocator, QueuePairMemory, Transport } from '@gpunvme/nvme-spec/transport'
import { timeout } from '../check-options.js'
import { hostBytes, reachable, type ReachableMemory } from '../memory/reachable.js'
import { CompletionRing } from '../queues/completion-ring.js'
import { rewind } from '../queues/memory.js'
import { Pump } from '../queues/pump.js'
import { QueuePair, type CommandOwner } from '../queues/queue-pair.js'
import { SingleCommand, stageEntry, type CommandData, type CommandRequest } from './single-command.js'

/** Encodes a command, as each command declaration of nvme-spec does. */
export interface Encodable<V> {
  readonly name: string
  encode(data: DataView, byteOffset: number, values: V): void
}

export interface CommandOptions {
  /** Time limit from submission. Default: that of the queue. */
  readonly timeoutNs?: number | undefined
  /** Data, described by the data pointer. */
  readonly data?: CommandData | undefined
}

/** Length of the data page of each command, enough for Identify. */
export const PAGE_OF_DATA_BYTES = 4096

/**
 * A queue pair for single commands with a deadline each: the admin queue, and the I/O queue of commands outside plans.
 * Each command in flight has its own data page, so that a command that was given up does not affect others.
 */
export class CommandQueue {
  readonly memory: QueuePairMemory
  /** Latest deadline of any command, for sequences that have a common time limit. */
  deadlineNs = Infinity
  private readonly set: 'admin' | 'nvm'
  private readonly transport: Pick<Transport, 'name' | 'bar' | 'clock'>
  private readonly timeoutNs: number
  private readonly pages: ReachableMemory
  private pair!: QueuePair
  private pump!: Pump

  /** @param dma allocator of a data page for each command in flight. */
  constructor(
    set: 'admin' | 'nvm',
    memory: QueuePairMemory,
    transport: Pick<Transport, 'name' | 'bar' | 'clock'>,
    dma: DmaAllocator,
    timeoutNs: number,
  ) {
    this.memory = memory
    this.set = set
    this.transport = transport
    this.timeoutNs = timeoutNs
    const lengthBytes = memory.maxInFlight * PAGE_OF_DATA_BYTES
    this.pages = reachable(dma.alloc(lengthBytes, { alignBytes: PAGE_OF_DATA_BYTES }))
    this.resume()
  }

  /**
   * Executes a command and returns dword 0 of its completion.
   * @throws CommandError for any status but success, CommandTimeoutError, DeviceLostError; RangeError for data that the
   *   command cannot describe.
   */
  async execute<V>(command: Encodable<V>, values: V, { timeoutNs, data }: CommandOptions = {}): Promise<number> {
    if (data === undefined) return this.run(command, values, timeoutNs)
    const { memory, offsetBytes, lengthBytes } = data
    const problem = transferProblem(memory, offsetBytes, lengthBytes, this.pair)
    if (problem !== undefined) throw new RangeError(`${command.name}: expected ${problem}`)
    const point = ({ read, stagedIndex, pointer }: QueuePair, slot: number) =>
      pointer.write(read.at(stagedIndex), stagedIndex, slot, memory, offsetBytes, lengthBytes)
    return this.run(command, values, timeoutNs, { point })
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
    const collect = (slot: number) => {
      const page = slot * PAGE_OF_DATA_BYTES
      this.pages.forHost(page, PAGE_OF_DATA_BYTES)
      copy.set(hostBytes(this.pages, page, lengthBytes))
    }
    const dw0 = await this.run(command, values, timeoutNs, { point: this.pointToPage(), collect })
    return { dw0, data: new DataView(copy.buffer) }
  }

  /** Executes a command with up to a page of data for the controller. */
  async executeWithData<V extends { PRP1?: number }>(
    command: Encodable<V>,
    values: V,
    bytes: Uint8Array,
    { timeoutNs }: Pick<CommandOptions, 'timeoutNs'> = {},
  ): Promise<number> {
    return this.run(command, values, timeoutNs, { point: this.pointToPage(bytes) })
  }

  /** Submits a command that the controller may hold for any time. Returns false if the queue is full. */
  hold<V>(command: Encodable<V>, values: V, arrived: (status: number, dw0: number) => void): boolean {
    if (this.pair.ids.free === 0) return false
    const owner: CommandOwner = {
      completed: (_pair, _slot, _command, status, dw0) => arrived(status, dw0),
      givenUp: () => undefined,
    }
    stageEntry(owner, this.pair, { entry: encoded(command, values) })
    this.pair.ring()
    return true
  }

  /** Starts again on a new queue of the controller, at the beginning of the rings and without outstanding commands. */
  restart(): void {
    rewind(this.memory)
    this.resume()
  }

  /** Continues at the current ring positions, without outstanding commands. */
  resume(): void {
    const { memory, transport } = this
    const ring = new CompletionRing(memory.cq, transport.bar)
    this.pair = new QueuePair(memory, transport.bar, ring)
    this.pump = new Pump(transport, [this.pair], [ring])
  }

  /** Handles posted completions. */
  poll(): number {
    return this.pump.poll()
  }

  private async run<V>(
    command: Encodable<V>,
    values: V,
    timeoutNs = this.timeoutNs,
    how: Pick<CommandRequest, 'point' | 'collect'> = {},
  ): Promise<number> {
    timeout('timeoutNs', timeoutNs)
    const { set, pair, pump, deadlineNs: untilNs } = this
    const { clock, name: controller } = this.transport
    const request = { name: command.name, entry: encoded(command, values), timeoutNs, untilNs, ...how }
    return new Promise((resolve, reject) => {
      pump.start(new SingleCommand({ pair, clock, controller, set }, request, resolve, reject))
      // The pump may be waiting for a slow command, such as a format.
      pump.submit()
    })
  }

  /** Returns the data pointer to the page of a command, which receives these bytes and zeroes after them. */
  private pointToPage(bytes?: Uint8Array): NonNullable<CommandRequest['point']> {
    return ({ read, stagedIndex }, slot) => {
      const page = slot * PAGE_OF_DATA_BYTES
      const data = hostBytes(this.pages, page, PAGE_OF_DATA_BYTES)
      data.fill(0)
      if (bytes !== undefined) data.set(bytes)
      this.pages.forDevice(page, PAGE_OF_DATA_BYTES)
      read.at(stagedIndex).PRP1 = this.pages.iovaAt(page)
    }
  }
}

function encoded<V>(command: Encodable<V>, values: V): DataView {
  const entry = new DataView(new ArrayBuffer(SQE.bytes))
  command.encode(entry, 0, values)
  return entry
}
