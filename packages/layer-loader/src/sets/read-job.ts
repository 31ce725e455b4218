import { AbortListeners } from '@gpunvme/nvme-spec/engine'
import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { DmaMemory, ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { InFlight } from '../flow/in-flight.js'
import { piecesOf, type StoreSummary, type StoreTransfer } from '../store/store.js'
import type { MirrorMember } from './mirror-member.js'

const aborts = new AbortListeners()

/** A failed member and its error. */
export interface MemberFailure {
  readonly member: MirrorMember
  readonly error: GpuNvmeError
}

/** A part of a read that one member executes. */
export class Piece {
  readonly transfer: StoreTransfer
  /** Members that could not read it or are late: others must read it. */
  readonly refusedBy = new Set<MirrorMember>()
  /** The first failure. */
  failure: MemberFailure | undefined
  /** Whether all bytes are in memory. */
  isDone = false

  constructor(transfer: StoreTransfer) {
    this.transfer = transfer
  }

  /** Returns this piece merged with the next one; undefined if they are not adjacent, too long, or one was refused. */
  with(next: Piece, maxBytes: number): Piece | undefined {
    const { offsetBytes, lengthBytes, memoryBytes } = this.transfer
    const isNext =
      next.transfer.offsetBytes === offsetBytes + lengthBytes && next.transfer.memoryBytes === memoryBytes + lengthBytes
    const bothBytes = lengthBytes + next.transfer.lengthBytes
    if (!isNext || bothBytes > maxBytes || this.refusedBy.size + next.refusedBy.size > 0) return undefined
    return new Piece({ offsetBytes, lengthBytes: bothBytes, memoryBytes })
  }
}

/** A piece that a member reads. */
export interface Reading {
  readonly job: ReadJob
  readonly member: MirrorMember
  /** Grows until it is started. */
  piece: Piece
  /** Time at which it becomes late, by the member's clock. */
  lateNs: number
  readonly aborting: AbortController
  isLate: boolean
}

/** Abort reason for a late read that another member completed. */
const DONE_BY_ANOTHER = Symbol('read by another member')

/**
 * One call of `read`: pieces that wait for a member, and those being read. It settles when no member reads any of it,
 * whatever the outcome: only then is its memory free.
 */
export class ReadJob {
  readonly memory: DmaMemory
  readonly options: ExecuteOptions
  readonly waiting: Piece[]
  readonly readings = new Set<Reading>()
  readonly inFlight = new InFlight()
  /** Bytes and commands of each member. */
  readonly parts = new Map<MirrorMember, { bytes: number; commands: number }>()
  readonly settled: Promise<void>
  private settle!: () => void

  constructor(transfers: readonly StoreTransfer[], pieceBytes: number, memory: DmaMemory, options: ExecuteOptions) {
    this.memory = memory
    this.options = options
    this.waiting = Array.from(piecesOf(transfers, pieceBytes), (part) => new Piece(part))
    const { signal } = options
    const abort = () => this.fail(signal?.reason)
    const stopListening = aborts.listen(signal, abort)
    const over = new Promise<void>((resolve) => {
      this.settle = resolve
    })
    this.settled = over.then(() => {
      stopListening()
      return this.inFlight.drain()
    })
    if (signal?.aborted === true) abort()
    this.settleIfOver()
  }

  get waitingBytes(): number {
    return this.waiting.reduce((sum, { transfer }) => sum + transfer.lengthBytes, 0)
  }

  /** Fails the call: waiting pieces are dropped, reads in flight are aborted and awaited. The first failure counts. */
  fail(error: unknown): void {
    this.inFlight.fail(error)
    this.waiting.length = 0
    for (const { aborting } of this.readings) aborting.abort(error)
    this.settleIfOver()
  }

  /** Records a completed piece. Other readings of the same piece are aborted. */
  done(piece: Piece, member: MirrorMember, { bytes, commands }: StoreSummary): void {
    const part = this.parts.get(member) ?? { bytes: 0, commands: 0 }
    this.parts.set(member, { bytes: part.bytes + (piece.isDone ? 0 : bytes), commands: part.commands + commands })
    if (piece.isDone) return
    piece.isDone = true
    const at = this.waiting.indexOf(piece)
    if (at >= 0) this.waiting.splice(at, 1)
    for (const reading of this.readings) if (reading.piece === piece) reading.aborting.abort(DONE_BY_ANOTHER)
  }

  /**
   * Queues a piece for another member, before new ones; unless another member reads it already, or the call has failed.
   */
  again(piece: Piece): void {
    if (!piece.isDone && this.inFlight.failure === undefined && !this.waiting.includes(piece))
      this.waiting.unshift(piece)
  }

  isRead(piece: Piece): boolean {
    return [...this.readings].some((reading) => reading.piece === piece)
  }

  settleIfOver(): void {
    if (this.inFlight.size + this.waiting.length === 0) this.settle()
  }
}
