import { formatSqe, SQE } from '@gpunvme/nvme-spec'
import { EngineFailedError } from '@gpunvme/nvme-spec/engine'
import type { Clock, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { DeviceLostError } from './device-lost.js'
import { DriverError } from '../error.js'
import { hostBytes } from '../memory/reachable.js'
import type { Work } from '../queues/pump.js'
import type { CommandOwner, OverdueCommand, QueuePair } from '../queues/queue-pair.js'
import { formatDuration } from '../wait.js'
import { CommandError, CommandTimeoutError } from './errors.js'

/** Location of a command's data. */
export interface CommandData {
  readonly memory: DmaMemory
  readonly offsetBytes: number
  readonly lengthBytes: number
}

/** A command to send. */
export interface CommandRequest {
  /** Name of the command, for errors. */
  readonly name: string
  /** The encoded entry, without CID and, if there is data, without data pointer. */
  readonly entry: DataView
  /** Writes the data pointer into the staged entry. */
  readonly point?: ((pair: QueuePair, slot: number) => void) | undefined
  /** Copies the command's data while it still owns its slot. */
  readonly collect?: ((slot: number) => void) | undefined
  readonly timeoutNs: number
  /** Latest deadline, by the clock of the transport. */
  readonly untilNs: number
}

/** Parts of its queue that a single command uses. */
export interface CommandChannel {
  readonly pair: QueuePair
  readonly clock: Clock
  /** Name of the controller, for errors. */
  readonly controller: string
  readonly set: 'admin' | 'nvm'
}

/** A command outside plans: waits for room in its queue, is staged once, and ends with DW0 or an error. */
export class SingleCommand implements Work {
  isFinished = false
  readonly hasOverdue = false
  /** Until it is staged: the time at which it stops waiting for room. */
  wakeNs: number
  private readonly channel: CommandChannel
  private readonly request: CommandRequest
  private readonly resolve: (dw0: number) => void
  private readonly reject: (error: unknown) => void
  private submittedNs: number | undefined
  private dw0 = 0
  private error: unknown

  constructor(
    channel: CommandChannel,
    request: CommandRequest,
    resolve: SingleCommand['resolve'],
    reject: SingleCommand['reject'],
  ) {
    this.channel = channel
    this.request = request
    this.resolve = resolve
    this.reject = reject
    this.wakeNs = Math.min(request.untilNs, channel.clock.now() + request.timeoutNs)
  }

  stage(): number {
    if (this.submittedNs !== undefined || this.isFinished) return 0
    const { pair, clock } = this.channel
    const nowNs = clock.now()
    if (pair.ids.free === 0) {
      if (nowNs >= this.wakeNs) this.end(queueFull(this.request.timeoutNs))
      return 0
    }
    const { timeoutNs, untilNs } = this.request
    this.wakeNs = Infinity
    let slot: number
    try {
      slot = stageEntry(this, pair, this.request)
    } catch (error) {
      // Fails only this command: if rethrown, the error would end all commands of the pump.
      this.end(error)
      return 0
    }
    this.submittedNs = nowNs
    pair.submittedNs[slot] = nowNs
    pair.deadlinesNs[slot] = Math.min(untilNs, nowNs + timeoutNs)
    return 1
  }

  completed(_pair: QueuePair, slot: number, _command: number, status: number, dw0: number): void {
    const { name, timeoutNs, collect } = this.request
    this.dw0 = dw0
    if (status !== 0) {
      this.end(new CommandError(name, this.text, status, dw0, timeoutNs))
      return
    }
    try {
      collect?.(slot)
      this.end(undefined)
    } catch (error) {
      // As in `stage`.
      this.end(error)
    }
  }

  givenUp(_command: number, overdue: OverdueCommand, csts: number | undefined): void {
    const { clock, controller } = this.channel
    const { name, timeoutNs } = this.request
    const limits = { waitedNs: clock.now() - this.submittedNs!, timeoutNs }
    if (csts === undefined) this.end(new CommandTimeoutError(name, controller, this.text, limits, overdue))
    else this.end(Object.assign(new DeviceLostError(controller, csts), { overdue }))
  }

  settle(): void {
    if (this.error === undefined) this.resolve(this.dw0)
    else this.reject(this.error)
  }

  halt(csts: number | undefined): void {
    const isWaiting = this.submittedNs === undefined && !this.isFinished
    if (isWaiting && csts !== undefined) this.end(new DeviceLostError(this.channel.controller, csts))
  }

  fail(cause: unknown): void {
    this.reject(new EngineFailedError('host', cause))
  }

  private end(error: unknown): void {
    this.error = error
    this.isFinished = true
  }

  private get text(): string {
    return formatSqe(this.channel.set, this.request.entry)
  }
}

/**
 * Stages an encoded entry and adds its CID and data pointer; updates `entry`, for errors. Returns the slot.
 * @throws errors of `point`, such as for memory that was freed; nothing is staged then.
 */
export function stageEntry(
  owner: CommandOwner,
  pair: QueuePair,
  { entry, point }: Pick<CommandRequest, 'entry' | 'point'>,
): number {
  const slot = pair.stage(owner, 0)
  SQE.view(entry).CID = pair.ids.cidOf(slot)
  const bytes = new Uint8Array(entry.buffer, entry.byteOffset, SQE.bytes)
  const staged = hostBytes(pair.memory.sq, pair.stagedIndex * SQE.bytes, SQE.bytes)
  staged.set(bytes)
  if (point === undefined) return slot
  try {
    point(pair, slot)
  } catch (error) {
    pair.withdraw(slot)
    throw error
  }
  bytes.set(staged)
  return slot
}

function queueFull(waitedNs: number): DriverError {
  return new DriverError('ERR_GPUNVME_QUEUE_FULL', 'device', `Submission queue full for ${formatDuration(waitedNs)}`, {
    next: 'send fewer commands at a time',
  })
}
