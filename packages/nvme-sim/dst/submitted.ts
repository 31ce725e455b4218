import type { ActionOf } from '@gpunvme/nvme-spec/faults'
import type { FaultAction } from '@gpunvme/nvme-spec/transport'
import type { BufferSlot } from './buffers.js'
import type { Range } from './medium.js'
import { changesOf } from './orders.js'
import type { Content } from './pattern.js'
import type { Piece } from './placement.js'
import type { SqRing } from './rings.js'
import type { AdminOperation, IoOrder } from './scenario.js'
import type { Space } from './spaces.js'

/** Admin commands other than `AdminOperation`. */
type FurtherAdmin = 'create' | 'delete' | 'set-features' | 'abort' | 'doorbell-buffer' | 'manage'

/** A submitted command, and its state. */
export class Submitted {
  readonly sq: SqRing
  readonly cid: number
  /** Description for messages. */
  readonly what: string
  /** Allowed statuses, apart from those that faults, aborts, deletions and shutdowns cause. */
  statuses: readonly string[]
  readonly order: IoOrder | undefined
  /** State of its namespace at submission. */
  readonly space: Space | undefined
  readonly admin: AdminOperation | FurtherAdmin | undefined
  readonly slot: BufferSlot | undefined
  /** Pieces of its data in the buffer. */
  readonly pieces: readonly Piece[]
  /** The blocks that it changes. */
  readonly changes: Range | undefined
  /** Time of submission, on the logical clock of `Medium`. */
  readonly began: number
  /** The content of each block that it writes or compares with. */
  contents: readonly Content[] = []
  /** Faults of this command, by kind. */
  readonly injected = new Map<FaultAction['kind'], FaultAction>()
  /** The Abort that was sent for this command. */
  abortedBy: Submitted | undefined
  /** Target of an Abort. */
  target: Submitted | undefined
  /** The other half of a fused operation, and which half this is. */
  partner: Submitted | undefined
  half: 'first' | 'second' | undefined
  isQueueDeleted = false
  /** Whether its namespace was detached while it was in progress. */
  isDetached = false
  /** Whether the host requested a shutdown while it was in progress. */
  isShutDown = false
  /** Whether a reset or a removal of the controller has ended it. */
  isLost = false
  /** Whether the host has stopped waiting for it; its buffer may be reused. */
  isForgotten = false
  completions = 0
  status: string | undefined
  dw0 = 0

  constructor(
    facts: Pick<Submitted, 'sq' | 'cid' | 'what' | 'statuses' | 'began'> &
      Partial<Pick<Submitted, 'order' | 'space' | 'admin' | 'slot' | 'pieces'>>,
  ) {
    this.sq = facts.sq
    this.cid = facts.cid
    this.what = facts.what
    this.statuses = facts.statuses
    this.began = facts.began
    this.order = facts.order
    this.space = facts.space
    this.admin = facts.admin
    this.slot = facts.slot
    this.pieces = facts.pieces ?? []
    this.changes = changesOf(facts.order)
  }

  get name(): string {
    return `SQ ${this.sq.qid} CID ${this.cid} (${this.what})`
  }

  injectedFault<K extends FaultAction['kind']>(kind: K): ActionOf<K> | undefined {
    return this.injected.get(kind) as ActionOf<K> | undefined
  }

  /** Maximum number of completions. */
  get maxCompletions(): number {
    if (this.injected.has('drop-completion')) return 0
    if (this.injected.has('hang') && !this.mayBeEnded) return 0
    return this.injected.has('duplicate-completion') ? 2 : 1
  }

  /** Required number of completions. */
  get minCompletions(): number {
    if (this.isLost || this.isQueueDeleted || this.isShutDown || this.admin === 'event') return 0
    if (this.sq.isHalted || this.sq.cq.isWedged) return 0
    if (this.isHanging) return 0
    // Both halves of a fused operation take effect together.
    if (this.partner?.isHanging === true && !this.isSurelyAborted) return 0
    return this.maxCompletions
  }

  /** Whether a fault makes it hang, and no Abort has ended it. */
  get isHanging(): boolean {
    return this.injected.has('hang') && !this.isSurelyAborted
  }

  /** Whether it has the required number of completions. */
  get isSettled(): boolean {
    return this.completions >= this.minCompletions
  }

  /** Whether a fault has delayed its completion; the command has taken effect before. */
  get isDelayed(): boolean {
    return this.injected.has('delay-completion') || this.injected.has('reorder-completion')
  }

  /** Whether an abort, a deletion, a shutdown or a detachment may end it before it takes effect. */
  private get mayBeEnded(): boolean {
    return this.abortedBy !== undefined || this.isQueueDeleted || this.isShutDown || this.isDetached
  }

  private get isSurelyAborted(): boolean {
    const { abortedBy } = this
    return abortedBy?.status === '0/00' && (abortedBy.dw0 & 1) === 0 && !abortedBy.injected.has('status')
  }
}
