import { nextTurn } from '@gpunvme/nvme-spec/runtime'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { DmaMemory, ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import type { StoreTransfer } from '../store/store.js'
import type { MirrorMember } from './mirror-member.js'
import { ReadJob, type MemberFailure, type Piece, type Reading } from './read-job.js'

/** Shorter parts of a read cost more than they gain; longer ones end too far apart. */
const LEAST_PIECE_BYTES = 256 * 1024
const MOST_PIECE_BYTES = 1024 * 1024

/** So many pieces for each member: the last one is then a small part of the whole. */
const PIECES_PER_MEMBER = 16

/** What a member takes is known so well: for what another could do as well, it must be that much faster. */
const MARGIN = 1.1

/** How many times longer than expected a read takes that is late, beside what it may be late in any case. */
const LATE_FACTOR = 8
const MOST_EXPECTED_NS = 1e9

/** A piece, and who is to read it. */
interface Deal {
  readonly member: MirrorMember
  readonly piece: Piece
  readonly job: ReadJob
}

/** What the owner of the members is told, and decides. */
export interface ReadEvents {
  /** @param wasAborted nobody waited for it any more: that it timed out then does not say that it is lost. */
  failed(failure: MemberFailure, wasAborted: boolean): void
  stalled(member: MirrorMember, piece: Piece): void
  /** This member has read what another one could not. */
  repaired(member: MirrorMember, piece: Piece): void
  /** The error of a call of which nobody could read a part. */
  unreadable(failure: MemberFailure | undefined): Error
}

/**
 * Deals reads to the members of a mirror. The member that would have a piece first takes it, if it has room; a slower one
 * only where the others would not have the rest of the call done before it had that piece. So all end together, no call
 * ends later than it would without the slower ones, and who is slower than was thought is given less from then on.
 */
export class MirrorReads {
  private readonly members: readonly MirrorMember[]
  private readonly stallNs: number
  private readonly events: ReadEvents
  private jobs: ReadJob[] = []
  private isWatching = false

  /** @param stallNs how much later than expected a read may be before another member does it as well. */
  constructor(members: readonly MirrorMember[], stallNs: number, events: ReadEvents) {
    this.members = members
    this.stallNs = stallNs
    this.events = events
  }

  /** Reads all of it, and gives what each member has read. @throws the signal's reason; what `unreadable` gives. */
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
    return Math.max(blockBytes, Math.min(MOST_PIECE_BYTES, Math.max(LEAST_PIECE_BYTES, power)))
  }

  /** Gives out all that can be given out now; what nobody is left for fails. */
  private deal(): void {
    for (const job of this.jobs) {
      const hopeless = job.waiting.find((piece) => this.candidates(piece).length === 0 && !job.isRead(piece))
      if (hopeless !== undefined) job.fail(this.events.unreadable(hopeless.failure))
    }
    const dealt: Deal[] = []
    for (let deal = this.next(); deal !== undefined; deal = this.next()) dealt.push(deal)
    let someTakenBack = false
    for (const deal of merged(dealt)) {
      const { job, member, piece } = deal
      // A store that throws at once has ended the call before all of it was given out: its memory may be freed by now.
      if (job.hasFailed) {
        member.ended(piece.transfer.lengthBytes)
        someTakenBack = true
      } else this.give(deal)
    }
    // Other calls may have waited for that room.
    if (someTakenBack) this.deal()
    else void this.watch()
  }

  /** Takes out the piece that is to be read next, and says by whom; undefined where nobody wants any. */
  private next(): Deal | undefined {
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
          return { member, piece, job }
        }
        // What only some may read is in nobody's way; all other pieces of a call are alike.
        if (piece.refusedBy.size === 0) break
      }
    }
    return undefined
  }

  /** Who may read it. Who is late with something may only where nobody else is left. */
  private candidates({ refusedBy }: Piece): MirrorMember[] {
    const able = this.members.filter((member) => member.isLive && !refusedBy.has(member))
    const prompt = able.filter(({ stalledReads }) => stalledReads === 0)
    return prompt.length > 0 ? prompt : able
  }

  private give({ member, piece, job }: Deal): void {
    // What it was given before is counted already, and so is this.
    const expectedNs = Math.min(MOST_EXPECTED_NS, member.timeForNs(0))
    const lateNs = member.store.clock.now() + this.stallNs + LATE_FACTOR * expectedNs
    const reading: Reading = { job, piece, member, lateNs, aborting: new AbortController(), isLate: false }
    job.readings.add(reading)
    void this.run(reading)
  }

  private async run(reading: Reading): Promise<void> {
    const { job, piece, member, aborting } = reading
    const options = { ...job.options, signal: aborting.signal }
    try {
      const summary = await member.store.read([piece.transfer], job.memory, options)
      member.delivered(summary, reading.isLate)
      if (piece.failure !== undefined && !piece.isDone) this.events.repaired(member, piece)
      this.end(reading)
      job.done(piece, member, summary)
    } catch (error) {
      this.end(reading)
      // Whoever was told to stop, and has stopped, has nothing else to say.
      if (!aborting.signal.aborted || error !== aborting.signal.reason) this.fail(reading, error)
    }
    this.findStalled()
    this.deal()
    job.settleIfOver()
  }

  private end(reading: Reading): void {
    const { job, piece, member, isLate } = reading
    job.readings.delete(reading)
    member.ended(piece.transfer.lengthBytes)
    if (isLate) member.stalledReads--
  }

  private fail({ job, piece, member, aborting }: Reading, error: unknown): void {
    // What no device did - a wrong argument, say - no other device would do better.
    if (!(error instanceof GpuNvmeError)) {
      job.fail(error)
      return
    }
    piece.refusedBy.add(member)
    piece.failure ??= { member, error }
    this.events.failed({ member, error }, aborting.signal.aborted)
    if (!job.isRead(piece)) job.again(piece)
  }

  /** What is late is given to others as well: into the same memory, since both bring the same bytes. */
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

  /** What others could read if it should be late. */
  private stallable(): Reading[] {
    const running = this.jobs.flatMap(({ readings }) => [...readings])
    return running.filter(({ isLate, piece, member, aborting }) => {
      if (isLate || piece.isDone || aborting.signal.aborted) return false
      return this.members.some((other) => other !== member && other.isLive && !piece.refusedBy.has(other))
    })
  }

  /**
   * Looks for what is late while nothing else happens. As long as there is something to give out, whoever ends a piece
   * looks.
   */
  private async watch(): Promise<void> {
    if (this.isWatching) return
    this.isWatching = true
    while (this.jobs.every(({ waiting }) => waiting.length === 0)) {
      const [first] = this.stallable().sort((a, b) => a.lateNs - b.lateNs)
      if (first === undefined) break
      // Drivers that have something to do at this instant come first.
      await nextTurn()
      await first.member.store.clock.idle(first.lateNs)
      if (!this.findStalled()) continue
      this.isWatching = false
      this.deal()
      return
    }
    this.isWatching = false
  }
}

/** Neighbours that one member was dealt at once are one piece: fewer commands bring the same bytes sooner. */
function merged(dealt: readonly Deal[]): Deal[] {
  const result: Deal[] = []
  for (const { member, piece, job } of dealt) {
    const index = result.findLastIndex((deal) => deal.member === member && deal.job === job)
    const whole = result[index]?.piece.with(piece, MOST_PIECE_BYTES)
    if (whole === undefined) result.push({ member, piece, job })
    else {
      result[index] = { member, piece: whole, job }
      job.merged()
    }
  }
  return result
}

/**
 * Whether a member is to take a piece of a call: it would have it first, or surely before the others had all that is still
 * to be given out up to the end of that call.
 * @param candidates by when each would have the piece.
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
