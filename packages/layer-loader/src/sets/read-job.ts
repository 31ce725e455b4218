import { AbortListeners } from '@gpunvme/nvme-spec/engine'
import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { DmaMemory, ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import type { StoreSummary, StoreTransfer } from '../store/store.js'
import { piecesOf } from './bounced-store.js'
import type { MirrorMember } from './mirror-member.js'

const aborts = new AbortListeners()

/** A member that failed, and with what. */
export interface MemberFailure {
  readonly member: MirrorMember
  readonly error: GpuNvmeError
}

/** A part of a read that one member does at once. */
export class Piece {
  readonly transfer: StoreTransfer
  /** Who could not read it, or is late with it: others are to. */
  readonly refusedBy = new Set<MirrorMember>()
  /** The first who could not. */
  failure: MemberFailure | undefined
  /** All of it is in memory. */
  isDone = false

  constructor(transfer: StoreTransfer) {
    this.transfer = transfer
  }

  /** This piece and the one behind it; undefined where they are no neighbours, too long, or have a story of their own. */
  with(next: Piece, mostBytes: number): Piece | undefined {
    const { offsetBytes, lengthBytes, memoryBytes } = this.transfer
    const isNext =
      next.transfer.offsetBytes === offsetBytes + lengthBytes && next.transfer.memoryBytes === memoryBytes + lengthBytes
    const bothBytes = lengthBytes + next.transfer.lengthBytes
    if (!isNext || bothBytes > mostBytes || this.refusedBy.size + next.refusedBy.size > 0) return undefined
    return new Piece({ offsetBytes, lengthBytes: bothBytes, memoryBytes })
  }
}

/** A piece that a member reads. */
export interface Reading {
  readonly job: ReadJob
  readonly piece: Piece
  readonly member: MirrorMember
  /** From when on it is late, by the clock of the member. */
  readonly lateNs: number
  readonly aborting: AbortController
  isLate: boolean
}

/** The reason with which a member that is late is told that another one was faster. */
const DONE_BY_ANOTHER = Symbol('read by another member')

/**
 * One call of `read`: pieces that wait for a member, and those that members read. It settles when nobody reads any of it
 * any more, well or not: only then nothing touches its memory.
 */
export class ReadJob {
  readonly memory: DmaMemory
  readonly options: ExecuteOptions
  readonly waiting: Piece[]
  readonly readings = new Set<Reading>()
  /** What each member has read of it. */
  readonly parts = new Map<MirrorMember, { bytes: number; commands: number }>()
  readonly settled: Promise<void>
  private failure: { readonly error: unknown } | undefined
  private undonePieces: number
  private settle!: () => void

  constructor(transfers: readonly StoreTransfer[], pieceBytes: number, memory: DmaMemory, options: ExecuteOptions) {
    this.memory = memory
    this.options = options
    this.waiting = transfers.flatMap((whole) => Array.from(piecesOf(whole, pieceBytes), (part) => new Piece(part)))
    this.undonePieces = this.waiting.length
    const { signal } = options
    const abort = () => this.fail(signal?.reason)
    const stopListening = aborts.listen(signal, abort)
    this.settled = new Promise((resolve, reject) => {
      this.settle = () => {
        stopListening()
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- a signal's reason may be anything
        if (this.failure !== undefined) reject(this.failure.error)
        else resolve()
      }
    })
    if (signal?.aborted === true) abort()
    this.settleIfOver()
  }

  /** Nothing of it is to be begun any more. */
  get hasFailed(): boolean {
    return this.failure !== undefined
  }

  get waitingBytes(): number {
    return this.waiting.reduce((sum, { transfer }) => sum + transfer.lengthBytes, 0)
  }

  /** Ends it: what waits is dropped, what is read is told to stop, and waited for. The first failure counts. */
  fail(error: unknown): void {
    this.failure ??= { error }
    this.waiting.length = 0
    for (const { aborting } of this.readings) aborting.abort(error)
    this.settleIfOver()
  }

  /** A member has read a piece. Whoever else reads it has no need to go on. */
  done(piece: Piece, member: MirrorMember, { bytes, commands }: StoreSummary): void {
    const part = this.parts.get(member) ?? { bytes: 0, commands: 0 }
    this.parts.set(member, { bytes: part.bytes + (piece.isDone ? 0 : bytes), commands: part.commands + commands })
    if (piece.isDone) return
    piece.isDone = true
    this.undonePieces--
    const at = this.waiting.indexOf(piece)
    if (at >= 0) this.waiting.splice(at, 1)
    for (const reading of this.readings) if (reading.piece === piece) reading.aborting.abort(DONE_BY_ANOTHER)
  }

  /** Two pieces have become one. */
  merged(): void {
    this.undonePieces--
  }

  /** Another member is to read it, before all that was never begun; unless one does already, or it is of no use. */
  again(piece: Piece): void {
    if (!piece.isDone && this.failure === undefined && !this.waiting.includes(piece)) this.waiting.unshift(piece)
  }

  isRead(piece: Piece): boolean {
    for (const reading of this.readings) if (reading.piece === piece) return true
    return false
  }

  /** To be called when a reading has ended, and all that follows from it was done. */
  settleIfOver(): void {
    if (this.readings.size === 0 && (this.undonePieces === 0 || this.failure !== undefined)) this.settle()
  }
}
