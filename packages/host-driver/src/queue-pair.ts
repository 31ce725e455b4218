import { CQE } from '@gpunvme/nvme-spec'
import type { Bar, DmaMemory, QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { CommandIds } from './command-ids.js'
import { advance } from './ring.js'

/** Who is told of a completion. A method on a long-lived object, so that polling makes no closures. */
export interface CompletionSink {
  /**
   * The slot still owns its CID here and is freed on return.
   * @param status the Status field without the Phase Tag: SC in bits 7:0, SCT in 10:8, M in 13, DNR in 14.
   */
  completed(slot: number, status: number, dw0: number): void
}

/**
 * The host's half of a submission and a completion queue: stage entries, ring once, poll completions.
 * One object may stage and poll a queue pair at a time; the rings' positions live in `memory`.
 */
export class QueuePair {
  readonly memory: QueuePairMemory
  readonly ids: CommandIds
  /** SQ index of the entry that was staged last. */
  stagedIndex = 0
  /** Completions that belonged to no outstanding command. They are counted, and credited to nobody. */
  staleCompletions = 0
  doorbellWrites = 0
  private readonly bar: Bar
  private readonly cqe: ReturnType<typeof CQE.view>
  private rungTail: number

  constructor(memory: QueuePairMemory, bar: Bar) {
    this.memory = memory
    this.bar = bar
    this.cqe = CQE.view(hostView(memory.cq))
    // With one entry fewer in flight than the SQ has, tail never meets head, and a CQ as deep never overflows.
    this.ids = new CommandIds(Math.min(memory.sqEntries, memory.cqEntries) - 1)
    this.rungTail = memory.sqTail
  }

  /**
   * Claims the next submission queue entry, `stagedIndex`, for the caller to fill. The controller does not look at
   * it before `ring`. Gives the command's slot, or -1 when as many commands are in flight as the queues can hold.
   */
  stage(): number {
    const slot = this.ids.take()
    if (slot < 0) return slot
    const { memory } = this
    this.stagedIndex = memory.sqTail
    memory.sqTail = advance(memory.sqTail, memory.sqEntries)
    return slot
  }

  /** Tells the controller of everything staged, with one doorbell write. */
  ring(): void {
    const { memory } = this
    if (memory.sqTail === this.rungTail) return
    memory.sq.forDevice(0, memory.sq.lengthBytes)
    this.bar.write32(memory.sqTailDoorbell, memory.sqTail)
    this.rungTail = memory.sqTail
    this.doorbellWrites++
  }

  /** Hands every completion that has been posted to `sink`, then frees their entries with one doorbell write. */
  poll(sink: CompletionSink): number {
    const { memory, cqe, ids } = this
    memory.cq.forHost(0, memory.cq.lengthBytes)
    let consumed = 0
    for (;;) {
      const status = cqe.at(memory.cqHead).STATUS
      if ((status & 1) !== memory.phase) break
      const slot = ids.ownerOf(cqe.CID)
      const dw0 = cqe.DW0
      memory.cqHead = advance(memory.cqHead, memory.cqEntries)
      if (memory.cqHead === 0) memory.phase = memory.phase === 1 ? 0 : 1
      consumed++
      if (slot < 0) {
        this.staleCompletions++
      } else {
        sink.completed(slot, status >>> 1, dw0)
        ids.release(slot)
      }
    }
    if (consumed > 0) {
      this.bar.write32(memory.cqHeadDoorbell, memory.cqHead)
      this.doorbellWrites++
    }
    return consumed
  }
}

/** Memory that the CPU can reach. */
export type ReachableMemory = DmaMemory & { readonly view: DataView }

/** @throws TypeError for memory that the CPU cannot reach. */
export function reachable(memory: DmaMemory): ReachableMemory {
  if (!hasView(memory)) {
    throw new TypeError('queue memory must be reachable by the CPU: allocate it with where: "host"')
  }
  return memory
}

/** The host's view of memory that this driver itself must read and write. @throws TypeError as `reachable`. */
export function hostView(memory: DmaMemory): DataView {
  return reachable(memory).view
}

function hasView(memory: DmaMemory): memory is ReachableMemory {
  return memory.view !== undefined
}
