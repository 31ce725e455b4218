import { prpListReach, Read, Write, type ZeroBased } from '@gpunvme/nvme-spec'
import type { PlanQueue } from '@gpunvme/nvme-spec/engine'
import type { Bar, DmaMemory, QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { hostView } from '../memory/reachable.js'
import type { CompletionRing } from '../queues/completion-ring.js'
import { QueuePair, type CompletionSink } from '../queues/queue-pair.js'
import { DataPointer } from './data-pointer.js'
import type { Job } from './job.js'
import { LateCompletion } from './late-completion.js'

/**
 * Called for each completed command, with any status. Receives the index of its queue, its slot there (not reused
 * before), and by the transport's clock the times at which its entry was written and its completion found.
 */
export type CommandObserver = (queue: number, slot: number, submittedNs: number, completedNs: number) => void

/** A queue pair of the host engine and its commands in flight. Allocates nothing while commands run. */
export class Lane implements CompletionSink, PlanQueue {
  readonly pair: QueuePair
  /** Maximum transfer that the PRP lists of this queue can describe. */
  readonly maxTransferBytes: number
  private readonly pointer: DataPointer
  private readonly index: number
  private readonly clockNow: () => number
  private readonly read: ReturnType<typeof Read.view>
  private readonly write: ReturnType<typeof Write.view>
  private readonly jobOf: (Job | undefined)[]
  private readonly commandOf: Uint32Array
  private readonly deadlineNs: Float64Array
  private readonly submittedNs: Float64Array
  private readonly observer: CommandObserver | undefined

  constructor(
    index: number,
    memory: QueuePairMemory,
    bar: Bar,
    ring: CompletionRing,
    clockNow: () => number,
    observer?: CommandObserver,
  ) {
    this.index = index
    this.pair = new QueuePair(memory, bar, ring, this)
    this.maxTransferBytes = prpListReach(memory.prpListBytes, memory.pageBytes)
    this.clockNow = clockNow
    this.pointer = new DataPointer(memory)
    this.read = Read.view(hostView(memory.sq))
    this.write = Write.view(hostView(memory.sq))
    const { slots } = this.pair.ids
    this.jobOf = new Array<Job | undefined>(slots).fill(undefined)
    this.commandOf = new Uint32Array(slots)
    this.deadlineNs = new Float64Array(slots).fill(Infinity)
    this.submittedNs = new Float64Array(slots)
    this.observer = observer
  }

  problem(memory: DmaMemory, offsetBytes: number, lengthBytes: number): string | undefined {
    return this.pointer.problem(memory, offsetBytes, lengthBytes)
  }

  /** Stages commands of `job` until the queue is full or the job has no more for it; returns their number. */
  stageFrom(job: Job): number {
    let staged = 0
    while (this.pair.ids.free > 0) {
      const command = job.nextFor(this.index)
      if (command < 0) break
      this.stage(job, command)
      staged++
    }
    return staged
  }

  completed(slot: number, status: number): void {
    const job = this.jobOf[slot]!
    const command = this.commandOf[slot]!
    this.jobOf[slot] = undefined
    this.deadlineNs[slot] = Infinity
    this.observer?.(this.index, slot, this.submittedNs[slot]!, this.clockNow())
    if (status === 0) job.succeed(command)
    else job.failWithStatus(command, this.pair.memory.qid, this.pair.ids.cidOf(slot), status)
  }

  /** Returns the earliest deadline of the commands in flight; Infinity if there are none. */
  earliestDeadlineNs(): number {
    let earliest = Infinity
    for (let slot = 0; slot < this.deadlineNs.length; slot++) earliest = Math.min(earliest, this.deadlineNs[slot]!)
    return earliest
  }

  /** Gives up all overdue commands; every command if no time is given. */
  giveUp(outcome: 'timeout' | 'device-lost', csts: number, untilNs = Infinity): number {
    let given = 0
    for (let slot = 0; slot < this.jobOf.length; slot++) {
      const job = this.jobOf[slot]
      if (job === undefined || this.deadlineNs[slot]! > untilNs) continue
      const cid = this.pair.ids.cidOf(slot)
      this.pair.ids.abandon(slot)
      this.jobOf[slot] = undefined
      this.deadlineNs[slot] = Infinity
      const fate = outcome === 'timeout' ? { kind: outcome, afterNs: job.timeoutNs } : { kind: outcome, csts }
      const command = this.commandOf[slot]!
      const { qid } = this.pair.memory
      job.fail(command, qid, cid, fate)
      // It may still complete while other commands are in flight, which determines its outcome.
      this.pair.expect(new LateCompletion(job, command, qid, cid), slot)
      given++
    }
    return given
  }

  private stage(job: Job, command: number): void {
    const { pair } = this
    const { plan, memory } = job
    const slot = pair.stage()
    const offsetBytes = plan.offsetBytes[command]!
    const blocks = plan.blocks[command]!
    const lengthBytes = blocks * plan.blockBytes
    const entry = (plan.operation === 'read' ? this.read : this.write).at(pair.stagedIndex).begin(pair.ids.cidOf(slot))
    entry.NSID = plan.nsid
    this.pointer.write(entry, pair.stagedIndex, slot, memory, offsetBytes, lengthBytes)
    entry.SLBA = plan.slba[command]!
    entry.NLB = (blocks - 1) as ZeroBased
    if (plan.operation === 'write') memory.forDevice(offsetBytes, lengthBytes)
    this.jobOf[slot] = job
    this.commandOf[slot] = command
    const nowNs = this.clockNow()
    this.submittedNs[slot] = nowNs
    this.deadlineNs[slot] = nowNs + job.timeoutNs
    job.inFlight++
  }
}
