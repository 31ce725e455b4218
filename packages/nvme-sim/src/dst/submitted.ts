import type { ActionOf } from '@gpunvme/nvme-spec/faults'
import type { FaultAction } from '@gpunvme/nvme-spec/transport'
import type { BufferSlot } from './buffers.js'
import type { Range } from './medium.js'
import type { SqRing } from './rings.js'
import type { AdminOperation, IoOrder } from './scenario.js'

/** A command that the host has given to the controller, and all that is known of it. */
export class Submitted {
  readonly sq: SqRing
  readonly cid: number
  /** What it asks for, in words. */
  readonly what: string
  /** The statuses that it may end with when no fault strikes it, but for those of its namespace. */
  statuses: readonly string[]
  readonly order: IoOrder | undefined
  readonly admin: AdminOperation | 'create' | 'delete' | 'set-features' | 'abort' | undefined
  readonly slot: BufferSlot | undefined
  readonly dataBytes: number
  /** When it was given to the controller, by the medium's clock. */
  readonly began: number
  /** What really struck it. */
  readonly struck = new Map<FaultAction['kind'], FaultAction>()
  /** An Abort was sent for it; and what became of that. */
  abortedBy: Submitted | undefined
  /** What an Abort is to end. */
  target: Submitted | undefined
  isQueueDeleted = false
  /** A fault has detached its namespace while it was under way. */
  isDetached = false
  /** The host has shut the controller down while it was under way. */
  isShutDown = false
  /** The controller has forgotten it. */
  isLost = false
  /** The host waits for it no more; its buffer may be another's. */
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
    // A wrong data pointer is nothing to a command without data.
    const isAccepted = order?.flaw === undefined || order.flaw.startsWith('prp')
    return order?.operation === 'write-zeroes' && isAccepted ? order : undefined
  }

  /** How often it may complete. */
  get most(): number {
    if (this.struck.has('drop-completion')) return 0
    if (this.struck.has('hang') && !this.mayBeEnded) return 0
    return this.struck.has('duplicate-completion') ? 2 : 1
  }

  /** How often it has to complete. */
  get least(): number {
    if (this.isLost || this.isQueueDeleted || this.isShutDown || this.admin === 'event') return 0
    if (this.sq.isHalted || this.sq.cq.isWedged) return 0
    if (this.struck.has('hang') && !this.isSurelyAborted) return 0
    return this.most
  }

  /** It has been answered as often as it has to be. */
  get isSettled(): boolean {
    return this.completions >= this.least
  }

  /** A fault has held its completion back: what it does was done before. */
  get isPutOff(): boolean {
    return this.struck.has('delay-completion') || this.struck.has('reorder-completion')
  }

  /** Something may end it that does not wait for what it does. */
  private get mayBeEnded(): boolean {
    return this.abortedBy !== undefined || this.isQueueDeleted || this.isShutDown || this.isDetached
  }

  private get isSurelyAborted(): boolean {
    const { abortedBy } = this
    return abortedBy?.status === '0/00' && (abortedBy.dw0 & 1) === 0 && !abortedBy.struck.has('status')
  }
}
