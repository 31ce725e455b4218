import { CommandError, throwOnFailure, WritableNamespace, type Namespace } from '@gpunvme/host-driver'
import { formatStatus } from '@gpunvme/nvme-spec'
import { CommandPairs } from '@gpunvme/nvme-spec/trace'
import type { DmaMemory, TraceCommand, TraceEvent } from '@gpunvme/nvme-spec/transport'
import { readTrace, traceChangedError } from './read-trace.js'
import { ReplayTally, type Answer } from './replay-tally.js'
import { isUnguarded, replayable, whyNot, type ReplayableCommand, type ReplayTarget } from './replayable.js'

export interface ReplayOptions {
  readonly target: ReplayTarget
  /** Drive of the trace: '', '2: '. */
  readonly drive: string
  /** Maximum commands in flight. */
  readonly depth: number
  readonly signal: AbortSignal
  /** Called with the number of processed blocks of the trace. */
  readonly onProgress: (blocks: number) => void
}

/** Maximum memory of commands in flight. */
const MAX_BYTES = 128 * 1024 * 1024
/** Maximum commands that wait for their completion in the trace. */
const MAX_OPEN = 65_536
const SUCCESS = { sct: 0, sc: 0, dnr: false }

/** A command in flight. */
interface Flight {
  readonly command: ReplayableCommand
  readonly lengthBytes: number
  /** Never rejects. */
  readonly ended: Promise<PromiseSettledResult<Answer>>
}

/**
 * Sends the commands of a trace again, in order: each when all commands that had completed before it in the trace have
 * completed, so that the depth is that of the trace, up to the limit here.
 * @throws TransferError and other errors of the drive; ToolsError (TRACE_FILE, TRACE_CHANGED), the signal's reason.
 */
export async function replayTrace(path: string, namespace: Namespace, options: ReplayOptions): Promise<ReplayTally> {
  const { target, drive, signal, onProgress } = options
  const tally = new ReplayTally()
  const pairs = new CommandPairs()
  const sender = new Sender(namespace, options)
  const flights = new Map<string, Flight>()
  let blocks = 0
  try {
    for await (const { number, event } of readTrace(path, signal)) {
      const found = pairs.add(event)
      if (found?.kind === 'submitted' && found.drive === drive) {
        const { qid, cid } = found.command
        const command = replayable(found.command)
        const reason = command === undefined ? nameOf(found.command) : whyNot(command, target)
        onProgress((blocks += command?.blocks ?? 0))
        if (command === undefined || reason !== undefined) {
          tally.skip(reason!)
          continue
        }
        if (isUnguarded(command, target)) throw traceChangedError(path)
        const key = `${qid}:${cid}`
        // A reused identifier had no completion; and a file may have any number of these.
        const lost = flights.has(key) ? key : flights.size === MAX_OPEN ? flights.keys().next().value : undefined
        if (lost !== undefined) {
          const { command: unanswered, ...flight } = flights.get(lost)!
          flights.delete(lost)
          tally.addUnanswered(unanswered, await answerOf(flight))
        }
        flights.set(key, await sender.send(qid, command))
      }
      if (found?.kind === 'completed' && found.drive === drive) {
        const { completion, submittedNs, completedNs } = found
        const key = `${completion.qid}:${completion.cid}`
        const flight = flights.get(key)
        if (flight === undefined) continue
        flights.delete(key)
        tally.add(number, flight.command, await answerOf(flight), completion, completedNs - submittedNs)
      }
      if (isUnreadable(event, drive)) tally.skip('unreadable commands')
    }
    for (const flight of flights.values()) tally.addUnanswered(flight.command, await answerOf(flight))
    return tally
  } finally {
    await sender.settle()
  }
}

/** Returns whether an event submits a command whose entry could not be read. */
function isUnreadable({ track, name, command }: TraceEvent, drive: string): boolean {
  return name === 'submit' && command === undefined && track.startsWith(`${drive}sq `)
}

function nameOf({ qid, name }: TraceCommand): string {
  return qid === 0 ? 'Admin commands' : `${name}, which is not replayed`
}

async function answerOf({ ended }: Pick<Flight, 'ended'>): Promise<Answer> {
  const result = await ended
  if (result.status === 'rejected') throw result.reason
  return result.value
}

/** Sends commands, as many at a time as memory and depth allow. */
class Sender {
  private readonly namespace: Namespace
  private readonly options: ReplayOptions
  private readonly pending = new Set<Flight>()
  private pendingBytes = 0

  constructor(namespace: Namespace, options: ReplayOptions) {
    this.namespace = namespace
    this.options = options
  }

  /** Resolves when the command is submitted. */
  async send(qid: number, command: ReplayableCommand): Promise<Flight> {
    const lengthBytes = command.blocks * this.namespace.blockBytes
    for (const flight of this.pending) {
      if (this.pending.size < this.options.depth && this.pendingBytes + lengthBytes <= MAX_BYTES) break
      await flight.ended
    }
    const ended = Promise.allSettled([this.execute(qid, command, lengthBytes)]).then(([result]) => {
      this.pending.delete(flight)
      this.pendingBytes -= lengthBytes
      return result
    })
    const flight: Flight = { command, lengthBytes, ended }
    this.pending.add(flight)
    this.pendingBytes += lengthBytes
    return flight
  }

  /** Resolves when no command is in flight. */
  async settle(): Promise<void> {
    await Promise.all([...this.pending].map(({ ended }) => ended))
  }

  private async execute(qid: number, command: ReplayableCommand, lengthBytes: number): Promise<Answer> {
    const { namespace } = this
    if (command.name === 'Flush') return this.flush()
    const memory = namespace.dma.alloc(lengthBytes)
    try {
      if (command.name === 'Write') fillPattern(memory, command, namespace.blockBytes)
      return await this.transfer(qid, command, memory)
    } finally {
      memory.free()
    }
  }

  private async transfer(qid: number, { name, slba, blocks }: ReplayableCommand, memory: DmaMemory): Promise<Answer> {
    const { namespace } = this
    const { signal } = this.options
    const transfers = [{ slba, blocks, offsetBytes: 0 }]
    const plan = name === 'Write' ? writable(namespace).planWrites(transfers) : namespace.planReads(transfers)
    plan.queue.fill((qid - 1) % namespace.queues)
    const summary = await namespace.execute(plan, memory, { signal })
    const latencyNs = summary.endNs - summary.startNs
    const outcome = summary.failures[0]?.outcome
    if (outcome?.kind === 'status') return { ...outcome, status: formatStatus(outcome), latencyNs }
    throwOnFailure(plan, summary, { signal })
    return { ...SUCCESS, status: formatStatus(SUCCESS), latencyNs }
  }

  private async flush(): Promise<Answer> {
    const { clock } = this.namespace
    const startNs = clock.now()
    try {
      await writable(this.namespace).flush()
      return { ...SUCCESS, status: formatStatus(SUCCESS), latencyNs: clock.now() - startNs }
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      return { sct: error.sct, sc: error.sc, status: formatStatus(error), latencyNs: clock.now() - startNs }
    }
  }
}

function writable(namespace: Namespace): WritableNamespace {
  if (namespace instanceof WritableNamespace) return namespace
  throw new TypeError('replay: expected a writable namespace')
}

/** A trace has no data: each block is filled with its LBA, 64 bits little-endian. */
function fillPattern({ view }: DmaMemory, { slba, blocks }: ReplayableCommand, blockBytes: number): void {
  for (let block = 0; block < blocks; block++) {
    const lba = BigInt(slba + block)
    for (let at = 0; at < blockBytes; at += 8) view!.setBigUint64(block * blockBytes + at, lba, true)
  }
}
