import { CSTS, formatSqe, formatStatus, GpuNvmeError, SQE } from '@gpunvme/nvme-spec'
import type { DmaAllocator, DmaMemory, QueuePairMemory, Transport } from '@gpunvme/nvme-spec/transport'
import { DeviceLostError } from './bring-up.js'
import { hostView, QueuePair, type CompletionSink } from './queue-pair.js'
import { statusOutcome } from './status-word.js'

/** A command as this queue takes it: the declarations of nvme-spec all fit. */
interface Encodable<V> {
  readonly name: string
  encode(data: DataView, byteOffset: number, values: V): void
}

interface Completion {
  readonly status: number
  readonly dw0: number
}

/** One page for what Identify and its like return. */
const DATA_BYTES = 4096

/**
 * A queue pair for single commands, one at a time and each with a deadline: the admin queue, and the I/O queue of
 * what is not a read or a write.
 */
export class CommandQueue implements CompletionSink {
  readonly pair: QueuePair
  private readonly set: 'admin' | 'nvm'
  private readonly transport: Transport
  private readonly timeoutNs: number
  private readonly data: DmaMemory
  private tail: Promise<unknown> = Promise.resolve()
  private completion: Completion | undefined

  constructor(
    set: 'admin' | 'nvm',
    memory: QueuePairMemory,
    transport: Transport,
    dma: DmaAllocator,
    timeoutNs: number,
  ) {
    this.set = set
    this.pair = new QueuePair(memory, transport.bar)
    this.transport = transport
    this.timeoutNs = timeoutNs
    this.data = dma.alloc(DATA_BYTES, { contiguous: true, alignBytes: DATA_BYTES })
  }

  /**
   * Executes a command and gives DW0 of its completion.
   * @throws CommandError for any status but success, CommandTimeoutError, DeviceLostError.
   */
  async execute<V>(command: Encodable<V>, values: V): Promise<number> {
    return this.inTurn(() => this.run(command, values))
  }

  /** Executes a command that returns data, and gives a copy of its 4096 bytes. */
  async executeForData<V extends { PRP1?: number }>(command: Encodable<V>, values: V): Promise<DataView> {
    return this.inTurn(async () => {
      const view = hostView(this.data)
      const bytes = new Uint8Array(view.buffer, view.byteOffset, DATA_BYTES)
      bytes.fill(0)
      await this.run(command, { ...values, PRP1: this.data.iovaAt(0) })
      this.data.forHost(0, DATA_BYTES)
      return new DataView(bytes.slice().buffer)
    })
  }

  completed(_slot: number, status: number, dw0: number): void {
    this.completion = { status, dw0 }
  }

  private async inTurn<T>(action: () => Promise<T>): Promise<T> {
    const result = this.tail.then(action)
    this.tail = result.catch(() => undefined) // the caller has the failure; the next command does not inherit it
    return result
  }

  private async run<V>(command: Encodable<V>, values: V): Promise<number> {
    const { pair, transport } = this
    const { clock, bar, name } = transport
    // Encoded apart first: what cannot be encoded throws before an entry of the queue is claimed.
    const entry = new DataView(new ArrayBuffer(SQE.bytes))
    command.encode(entry, 0, values)
    const slot = pair.stage()
    SQE.view(entry).CID = pair.ids.cidOf(slot)
    const text = formatSqe(this.set, entry)
    const sq = hostView(pair.memory.sq)
    new Uint8Array(sq.buffer, sq.byteOffset + pair.stagedIndex * SQE.bytes, SQE.bytes).set(new Uint8Array(entry.buffer))
    const deadlineNs = clock.now() + this.timeoutNs
    pair.ring()
    for (;;) {
      pair.poll(this)
      const completion = this.takeCompletion()
      if (completion !== undefined) {
        if (completion.status !== 0) throw new CommandError(command.name, text, completion.status)
        return completion.dw0
      }
      const csts = bar.read32(CSTS.offset)
      if (csts === 0xffff_ffff || CSTS.CFS.of(csts) === 1) throw new DeviceLostError(name, csts)
      if (clock.now() >= deadlineNs) {
        pair.ids.abandon(slot)
        throw new CommandTimeoutError(command.name, text, this.timeoutNs)
      }
      await clock.idle(deadlineNs)
    }
  }

  private takeCompletion(): Completion | undefined {
    const { completion } = this
    this.completion = undefined
    return completion
  }
}

/** The controller answered a command with an error. */
export class CommandError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_COMMAND'
  readonly category = 'device'
  readonly sct: number
  readonly sc: number
  readonly dnr: boolean
  constructor(command: string, sqe: string, status: number) {
    const outcome = statusOutcome(status)
    super(`${command} failed: ${formatStatus(outcome)}`, { facts: [sqe] })
    this.sct = outcome.sct
    this.sc = outcome.sc
    this.dnr = outcome.dnr
  }
}

/** A command got no answer. What it may still write to is not given back before the controller is disabled. */
export class CommandTimeoutError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_COMMAND_TIMEOUT'
  readonly category = 'device'
  constructor(command: string, sqe: string, timeoutNs: number) {
    super(`${command} got no completion in ${timeoutNs / 1e9} s`, {
      facts: [sqe],
      next: 'open the controller again: that resets it',
    })
  }
}
