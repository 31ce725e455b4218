import type { ActionOf } from '@gpunvme/nvme-spec/faults'
import type { FaultAction } from '@gpunvme/nvme-spec/transport'
import type { BufferSlot } from './buffers.js'
import type { Range } from './medium.js'
import type { SqRing } from './rings.js'
import type { AdminOperation, IoOrder } from './scenario.js'

/** A submitted command, and its state. */
export class Submitted {
  readonly sq: SqRing
  readonly cid: number
  /** Description of the command. */
  readonly what: string
  /** The statuses that it may end with if no fault strikes it, except those of its namespace. */
  statuses: readonly string[]
  readonly order: IoOrder | undefined
  readonly admin: AdminOperation | 'create' | 'delete' | 'set-features' | 'abort' | undefined
  readonly slot: BufferSlot | undefined
  readonly dataBytes: number
  /** Time of submission, by the medium's clock. */
  readonly began: number
  /** Faults that struck it. */
  readonly struck = new Map<FaultAction['kind'], FaultAction>()
  /** The Abort that was sent for it, and its result. */
  abortedBy: Submitted | undefined
  /** The command that an Abort is for. */
  target: Submitted | undefined
  isQueueDeleted = false
  /** A fault has detached its namespace while it was in progress. */
  isDetached = false
  /** The host has shut the controller down while it was in progress. */
  isShutDown = false
  /** The controller has lost it. */
  isLost = false
  /** The host no longer waits for it; its buffer may be reused. */
  isForgotten = false
  completions = 0
  status: string | undefined
  dw0 = 0

  constructor(
    facts: Pick<Submitted, 'sq' | 'cid' | 'what' | 'statuses' | 'began'> &
      Partial<Pick<Submitted, 'order' | 'admin' | 'slot' | 'dataBytes'>>,
  ) {
    this.sq = facts.sq
    this.cid = facts.cid
    this.what = facts.what
    this.statuses = facts.statuses
    this.began = facts.began
    this.order = facts.order
    this.admin = facts.admin
    this.slot = facts.slot
    this.dataBytes = facts.dataBytes ?? 0
  }

  get name(): string {
    return `SQ ${this.sq.qid} CID ${this.cid} (${this.what})`
  }

  strike<K extends FaultAction['kind']>(kind: K): ActionOf<K> | undefined {
    return this.struck.get(kind) as ActionOf<K> | undefined
  }

  /** The blocks that it changes. */
  get changes(): Range | undefined {
    const { order } = this
    if (order?.operation === 'write' || order?.operation === 'deallocate') {
      return order.flaw === undefined ? order : undefined
    }
    // A wrong data pointer is ignored by a command without data.
    const isAccepted = order?.flaw === undefined || order.flaw.startsWith('prp')
    return order?.operation === 'write-zeroes' && isAccepted ? order : undefined
  }

  /** Maximum number of completions. */
  get most(): number {
    if (this.struck.has('drop-completion')) return 0
    if (this.struck.has('hang') && !this.mayBeEnded) return 0
    return this.struck.has('duplicate-completion') ? 2 : 1
  }

  /** Required number of completions. */
  get least(): number {
    if (this.isLost || this.isQueueDeleted || this.isShutDown || this.admin === 'event') return 0
    if (this.sq.isHalted || this.sq.cq.isWedged) return 0
    if (this.struck.has('hang') && !this.isSurelyAborted) return 0
    return this.most
  }

  /** It has the required number of completions. */
  get isSettled(): boolean {
    return this.completions >= this.least
  }

  /** A fault has delayed its completion: it took effect before. */
  get isPutOff(): boolean {
    return this.struck.has('delay-completion') || this.struck.has('reorder-completion')
  }

  /** Something may end it before it takes effect. */
  private get mayBeEnded(): boolean {
    return this.abortedBy !== undefined || this.isQueueDeleted || this.isShutDown || this.isDetached
  }

  private get isSurelyAborted(): boolean {
    const { abortedBy } = this
    return abortedBy?.status === '0/00' && (abortedBy.dw0 & 1) === 0 && !abortedBy.struck.has('status')
  }
}
