import { nextTurn } from '@gpunvme/nvme-spec/runtime'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { DmaMemory, ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import type { StoreTransfer } from '../store/store.js'
import type { MirrorMember } from './mirror-member.js'
import { ReadJob, type MemberFailure, type Piece, type Reading } from './read-job.js'

/** Shorter pieces cost more than they gain; longer ones end at too different times. */
const MIN_PIECE_BYTES = 256 * 1024
const MAX_PIECE_BYTES = 1024 * 1024

/** Pieces per member: the last one is then a small part of the whole. */
const PIECES_PER_MEMBER = 16

/** Uncertainty of rates: a member takes work from another one only if it is that much faster. */
const MARGIN = 1.1

/** Factor by which a read may exceed its expected time, in addition to the fixed allowance. */
const LATE_FACTOR = 8
const MAX_EXPECTED_NS = 1e9

/** Callbacks to the owner of the members. */
export interface ReadEvents {
  /** @param wasAborted the read was no longer needed: its time-out does not show that the member is lost. */
  failed(failure: MemberFailure, wasAborted: boolean): void
  stalled(member: MirrorMember, piece: Piece): void
  /** Called when a member has read what another one could not. */
  repaired(piece: Piece): void
  /** Returns the error of a call with a part that no member could read. */
  unreadable(failure: MemberFailure | undefined): Error
}

/**
 * Distributes reads over the members of a mirror. The member that would complete a piece first gets it, if it may take
 * more; a slower member only if it completes the piece before the others could complete the rest of the call. So all
 * end together, slow members delay no call, and a member that is slower than expected gets less afterwards.
 */
export class MirrorReads {
  private readonly members: readonly MirrorMember[]
  private readonly stallNs: number
  private readonly events: ReadEvents
  private jobs: ReadJob[] = []
  private isWatching = false

  /** @param stallNs allowance beyond the expected time before another member repeats a read. */
  constructor(members: readonly MirrorMember[], stallNs: number, events: ReadEvents) {
    this.members = members
    this.stallNs = stallNs
    this.events = events
  }

  /**
   * Reads all transfers, and returns the shares of the members. @throws the signal's reason; the result of
   * `unreadable`.
   */
  async read(
    transfers: readonly StoreTransfer[],
    blockBytes: number,
    memory: DmaMemory,
    options: ExecuteOptions,
  ): Promise<ReadJob['parts']> {
    const totalBytes = transfers.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
    const job = new ReadJob(transfers, this.pieceBytes(totalBytes, blockBytes), memory, options)
    this.jobs.push(job)
    this.deal()
    try {
      await job.settled
      return job.parts
    } finally {
      this.jobs = this.jobs.filter((other) => other !== job)
    }
  }

  private pieceBytes(totalBytes: number, blockBytes: number): number {
    const evenly = Math.max(1, totalBytes / (PIECES_PER_MEMBER * this.members.length))
    const power = 2 ** Math.floor(Math.log2(evenly))
    return Math.max(blockBytes, Math.min(MAX_PIECE_BYTES, Math.max(MIN_PIECE_BYTES, power)))
  }

  /** Distributes all pieces that can be given out now; pieces without a remaining member fail. */
  private deal(): void {
    for (const job of this.jobs) {
      const hopeless = job.waiting.find((piece) => this.candidates(piece).length === 0 && !job.isRead(piece))
      if (hopeless !== undefined) job.fail(this.events.unreadable(hopeless.failure))
    }
    const dealt: Reading[] = []
    for (let next = this.next(); next !== undefined; next = this.next()) {
      // Adjacent pieces of one member become one read: fewer commands are faster.
      const { job, member, piece } = next
      const last = dealt.findLast((each) => each.member === member && each.job === job)
      const whole = last?.piece.with(piece, MAX_PIECE_BYTES)
      if (whole === undefined) dealt.push(next)
      else last!.piece = whole
    }
    for (const reading of dealt) this.run(reading)
    void this.watch()
  }

  /** Removes the next piece to read, and selects its member; undefined if no member takes one. */
  private next(): Reading | undefined {
    let aheadBytes = 0
    for (const job of this.jobs) {
      aheadBytes += job.waitingBytes
      for (const [index, piece] of job.waiting.entries()) {
        const { lengthBytes } = piece.transfer
        const candidates = this.candidates(piece).sort((a, b) => a.timeForNs(lengthBytes) - b.timeForNs(lengthBytes))
        const member = candidates.find(
          (each) => each.hasRoom(lengthBytes) && wants(each, lengthBytes, aheadBytes, candidates),
        )
        if (member !== undefined) {
          job.waiting.splice(index, 1)
          member.given(lengthBytes, member.store.clock.now())
          return { job, member, piece, lateNs: Infinity, aborting: new AbortController(), isLate: false }
        }
        // A piece that only some members may read does not block others; all other pieces of a call are alike.
        if (piece.refusedBy.size === 0) break
      }
    }
    return undefined
  }

  /** Returns the members that may read a piece. Late members are used only if no other is left. */
  private candidates({ refusedBy }: Piece): MirrorMember[] {
    const able = this.members.filter((member) => member.isLive && !refusedBy.has(member))
    const prompt = able.filter(({ stalledReads }) => stalledReads === 0)
    return prompt.length > 0 ? prompt : able
  }

  private run(reading: Reading): void {
    const { job, member } = reading
    // The queue already includes this piece and all earlier ones.
    const expectedNs = Math.min(MAX_EXPECTED_NS, member.timeForNs(0))
    reading.lateNs = member.store.clock.now() + this.stallNs + LATE_FACTOR * expectedNs
    job.readings.add(reading)
    void job.inFlight.start(
      () => this.carryOut(reading),
      () => {
        this.findStalled()
        this.deal()
        job.settleIfOver()
      },
    )
  }

  /** Reads a piece and records the outcome. A member's failure does not fail the job while another can read the piece. */
  private async carryOut(reading: Reading): Promise<void> {
    const { job, piece, member, aborting } = reading
    // Async, so that a store that throws synchronously fails after all dealt pieces are recorded as being read.
    const read = async () =>
      member.store.read([piece.transfer], job.memory, { ...job.options, signal: aborting.signal })
    try {
      const summary = await read()
      member.delivered(summary, reading.isLate)
      if (piece.failure !== undefined && !piece.isDone) this.events.repaired(piece)
      this.end(reading)
      job.done(piece, member, summary)
    } catch (error) {
      this.end(reading)
      // An aborted reading has no other result.
      if (!aborting.signal.aborted || error !== aborting.signal.reason) this.fail(reading, error)
    }
  }

  private end(reading: Reading): void {
    const { job, piece, member, isLate } = reading
    job.readings.delete(reading)
    member.ended(piece.transfer.lengthBytes)
    if (isLate) member.stalledReads--
  }

  private fail({ job, piece, member, aborting }: Reading, error: unknown): void {
    // An error without a device, for example an invalid argument, would occur on all devices.
    if (!(error instanceof GpuNvmeError)) {
      job.fail(error)
      return
    }
    piece.refusedBy.add(member)
    piece.failure ??= { member, error }
    this.events.failed({ member, error }, aborting.signal.aborted)
    if (!job.isRead(piece)) job.again(piece)
  }

  /** Repeats late reads on other members, into the same memory, since both return the same bytes. */
  private findStalled(): boolean {
    const late = this.stallable().filter(({ member, lateNs }) => member.store.clock.now() >= lateNs)
    for (const reading of late) {
      const { job, piece, member } = reading
      reading.isLate = true
      member.stalledReads++
      piece.refusedBy.add(member)
      job.again(piece)
      this.events.stalled(member, piece)
    }
    return late.length > 0
  }

  /** Returns the readings that other members could repeat. */
  private stallable(): Reading[] {
    const running = this.jobs.flatMap(({ readings }) => [...readings])
    return running.filter(({ isLate, piece, member, aborting }) => {
      if (isLate || piece.isDone || aborting.signal.aborted) return false
      return this.members.some((other) => other !== member && other.isLive && !piece.refusedBy.has(other))
    })
  }

  /**
   * Checks for late reads while nothing else happens. While pieces wait, each completed piece triggers the check.
   */
  private async watch(): Promise<void> {
    if (this.isWatching) return
    this.isWatching = true
    let isStalled = false
    while (!isStalled && this.jobs.every(({ waiting }) => waiting.length === 0)) {
      const [first] = this.stallable().sort((a, b) => a.lateNs - b.lateNs)
      if (first === undefined) break
      // Drivers with work at this instant run first.
      await nextTurn()
      await first.member.store.clock.idle(first.lateNs)
      isStalled = this.findStalled()
    }
    this.isWatching = false
    if (isStalled) this.deal()
  }
}

/**
 * Returns whether a member takes a piece of a call: it would complete it first, or clearly before the others could
 * complete the rest of that call.
 * @param candidates time at which each would complete the piece.
 */
function wants(
  member: MirrorMember,
  lengthBytes: number,
  aheadBytes: number,
  candidates: readonly MirrorMember[],
): boolean {
  if (member === candidates[0]) return true
  const others = candidates.filter((other) => other !== member)
  const bytesPerNs = others.reduce((sum, { bytesPerSecond }) => sum + bytesPerSecond / 1e9, 0)
  const outstandingBytes = others.reduce((sum, other) => sum + other.outstandingBytes, 0)
  return member.timeForNs(lengthBytes) * MARGIN <= (outstandingBytes + aheadBytes) / bytesPerNs
}
