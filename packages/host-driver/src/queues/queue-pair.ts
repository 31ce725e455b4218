import type { Bar, QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { CommandIds } from './command-ids.js'
import type { CompletionReceiver, CompletionRing } from './completion-ring.js'
import { Doorbell } from './doorbell.js'
import type { OverdueCommand } from './overdue.js'
import { advance } from './ring.js'

/** Receiver of completions. A method on a long-lived object, so that polling creates no closures. */
export interface CompletionSink {
  /** The slot still owns its CID here and is freed on return. `status` is as `CompletionReceiver.receive` has it. */
  completed(slot: number, status: number, dw0: number): void
}

/**
 * A submission queue and its commands in flight: stage entries, ring once, and receive completions from its ring. Only
 * one object may stage and poll a queue pair at a time; the positions in the rings are in `memory`.
 */
export class QueuePair implements CompletionReceiver {
  readonly memory: QueuePairMemory
  readonly ids: CommandIds
  readonly doorbell: Doorbell
  /** SQ index of the entry that was staged last. */
  stagedIndex = 0
  /** Completions that belong to no outstanding command. Counted, and credited to none. */
  staleCompletions = 0
  private readonly sink: CompletionSink
  private overdue: { readonly command: OverdueCommand; readonly slot: number }[] = []
  private rungTail: number

  constructor(memory: QueuePairMemory, bar: Bar, ring: CompletionRing, sink: CompletionSink) {
    this.memory = memory
    this.doorbell = new Doorbell(bar, memory.sqTailDoorbell, memory.shadow)
    this.sink = sink
    this.ids = new CommandIds(memory.maxInFlight, memory.generations)
    this.rungTail = memory.sqTail
    ring.join(memory.qid, this)
  }

  /**
   * Claims the next submission queue entry, `stagedIndex`, for the caller to fill. The controller does not fetch it
   * before `ring`. Returns the command's slot, or -1 if as many commands are in flight as the queues can hold.
   */
  stage(): number {
    const slot = this.ids.take()
    if (slot < 0) return slot
    const { memory } = this
    this.stagedIndex = memory.sqTail
    memory.sqTail = advance(memory.sqTail, memory.sqEntries)
    return slot
  }

  /** Submits all staged entries with one doorbell write. */
  ring(): void {
    const { memory } = this
    if (memory.sqTail === this.rungTail) return
    memory.sq.forDevice(0, memory.sq.lengthBytes)
    this.doorbell.ring(memory.sqTail)
    this.rungTail = memory.sqTail
  }

  receive(cid: number, status: number, dw0: number): void {
    const slot = this.ids.ownerOf(cid)
    if (slot >= 0) {
      this.sink.completed(slot, status, dw0)
      this.ids.release(slot)
      return
    }
    const late = this.overdue.find(({ command }) => command.cid === cid)
    if (late === undefined) {
      this.staleCompletions++
      return
    }
    late.command.completion = { status, dw0 }
    this.overdue = this.overdue.filter((one) => one !== late)
    if (late.slot >= 0) this.ids.reclaim(late.slot)
  }

  /**
   * Watches for the completion of a command that was given up, which still determines its outcome.
   * @param slot its slot, if it was given up here; the completion frees it.
   */
  expect(command: OverdueCommand, slot = -1): void {
    this.overdue.push({ command, slot })
  }
}
