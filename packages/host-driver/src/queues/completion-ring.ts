import { CQE } from '@gpunvme/nvme-spec'
import type { Bar, CompletionQueueMemory } from '@gpunvme/nvme-spec/transport'
import { hostView } from '../memory/reachable.js'
import { Doorbell } from './doorbell.js'
import { advance } from './ring.js'

/** A submission queue, as receiver of its completions. */
export interface CompletionReceiver {
  /**
   * @param status the Status field without the Phase Tag: SC in bits 7:0, SCT in 10:8, CRD in 12:11, M in 13, DNR in 14.
   */
  receive(cid: number, status: number, dw0: number): void
}

/** The host's side of a completion queue, to which one or more submission queues complete. */
export class CompletionRing {
  readonly memory: CompletionQueueMemory
  readonly doorbell: Doorbell
  /** Completions for a submission queue that does not complete to this queue. Counted, and credited to no command. */
  foreignCompletions = 0
  private readonly cqe: ReturnType<typeof CQE.view>
  /** For a ring without a host view: its bytes at the last poll. */
  private readonly copy: Uint8Array | undefined
  /** By submission queue identifier. */
  private readonly receivers: (CompletionReceiver | undefined)[] = []

  constructor(memory: CompletionQueueMemory, bar: Bar) {
    this.memory = memory
    this.doorbell = new Doorbell(bar, memory.headDoorbell, memory.shadow)
    const ring = memory.memory
    if (ring.view === undefined && ring.copyOut !== undefined) this.copy = new Uint8Array(ring.lengthBytes)
    this.cqe = CQE.view(this.copy === undefined ? hostView(ring) : new DataView(this.copy.buffer))
  }

  /** Directs completions of submission queue `qid` to `receiver`. */
  join(qid: number, receiver: CompletionReceiver): void {
    while (this.receivers.length <= qid) this.receivers.push(undefined)
    this.receivers[qid] = receiver
  }

  /** Delivers every posted completion, then frees the entries with one doorbell write; returns their number. */
  poll(): number {
    const { memory, cqe } = this
    memory.memory.forHost(0, memory.memory.lengthBytes)
    // At most one lap: new entries beyond it would have overwritten unread ones, which only a broken controller does.
    const max = this.copy === undefined ? memory.entries : this.lookAgain(this.copy)
    let consumed = 0
    while (consumed < max) {
      const status = cqe.at(memory.head).STATUS
      if ((status & 1) !== memory.phase) break
      const { CID, SQID, DW0 } = cqe
      memory.head = advance(memory.head, memory.entries)
      if (memory.head === 0) memory.phase = memory.phase === 1 ? 0 : 1
      consumed++
      const receiver = this.receivers[SQID]
      if (receiver === undefined) this.foreignCompletions++
      else receiver.receive(CID, status >>> 1, DW0)
    }
    if (consumed > 0) this.doorbell.ring(memory.head)
    return consumed
  }

  /**
   * Copies a ring without a host view; returns the number of new entries. A copy may catch an entry that is being
   * written and already has its Phase Tag. Entries are therefore taken from a copy that began after their Phase Tag was
   * seen.
   */
  private lookAgain(copy: Uint8Array): number {
    const { memory, cqe } = this
    memory.memory.copyOut!(0, copy)
    let found = 0
    let { head, phase }: { head: number; phase: number } = memory
    while (found < memory.entries && (cqe.at(head).STATUS & 1) === phase) {
      head = advance(head, memory.entries)
      if (head === 0) phase = 1 - phase
      found++
    }
    if (found > 0) memory.memory.copyOut!(0, copy)
    return found
  }
}
