import { CQE } from '@gpunvme/nvme-spec'
import type { Bar, CompletionQueueMemory } from '@gpunvme/nvme-spec/transport'
import { hostView } from '../memory/reachable.js'
import { Doorbell } from './doorbell.js'
import { advance } from './ring.js'

/** A submission queue, told of the completions that name it. */
export interface CompletionReceiver {
  /**
   * @param status the Status field without the Phase Tag: SC in bits 7:0, SCT in 10:8, CRD in 12:11, M in 13, DNR in 14.
   */
  receive(cid: number, status: number, dw0: number): void
}

/** The host's half of a completion queue, which one or several submission queues complete to. */
export class CompletionRing {
  readonly memory: CompletionQueueMemory
  readonly doorbell: Doorbell
  /** Completions that name a submission queue that does not complete to this queue. Counted, and credited to nobody. */
  foreignCompletions = 0
  private readonly cqe: ReturnType<typeof CQE.view>
  /** Of a ring that the host has no view of, its bytes as they were when it was looked at last. */
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

  /** Completions of submission queue `qid` go to `receiver` from now on. */
  join(qid: number, receiver: CompletionReceiver): void {
    while (this.receivers.length <= qid) this.receivers.push(undefined)
    this.receivers[qid] = receiver
  }

  /** Hands on every completion that has been posted, then frees their entries with one doorbell. Gives how many. */
  poll(): number {
    const { memory, cqe } = this
    memory.memory.forHost(0, memory.memory.lengthBytes)
    // No more than a lap: what is new beyond it overwrote what was not consumed, and only a broken controller does that.
    const most = this.copy === undefined ? memory.entries : this.lookAgain(this.copy)
    let consumed = 0
    while (consumed < most) {
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
   * Looks at a ring that the host has no view of; gives how many entries are new. A copy may catch an entry that is being
   * written, with its Phase Tag there already: what has one is taken from a copy that was begun after it was seen.
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
