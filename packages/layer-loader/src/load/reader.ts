import { zlibChecksummer } from '../checksum/zlib-checksummer.js'
import { Window } from '../flow/window.js'
import type { BlockStore, ChecksummedSummary, StoreSummary } from '../store/store.js'
import { batchBytes } from './read-batches.js'
import { bytesIn, moveBytes } from '../store/memory-bytes.js'
import { readRightCopy, replaceByRightCopy } from '../store/right-copy.js'
import { firstMismatch } from './check-units.js'
import { deferred } from './deferred.js'
import type { Job } from './job.js'
import type { LoaderOptions } from './options.js'
import type { PlacedUnit } from './load-plan.js'
import type { LoadMeter } from './statistics.js'
import { byUrgency, type Ticket } from './ticket.js'
import { VerificationError } from './verification-error.js'

/** A check that waits. */
interface WaitingCheck {
  readonly ticket: Ticket
  readonly begin: () => void
}

/** Callbacks of a reader to its scheduler. */
export interface ReaderOwner {
  /** Returns the job to read from next; undefined if there is none. */
  next(): Job | undefined
  /** Called when a read or check of the job has ended. */
  settle(job: Job): void
}

/**
 * Keeps a store busy: reads batches of jobs, checks completed ones during other reads, and moves misaligned pieces. A
 * failure is recorded in its job.
 */
export class Reader {
  private readonly model: { readonly name: string; readonly store: BlockStore }
  private readonly options: LoaderOptions
  private readonly meter: LoadMeter
  private readonly signal: AbortSignal
  private readonly owner: ReaderOwner
  /** Length of the reads between which it chooses the most urgent job. */
  readonly batchBytes: number
  private readonly window: Window
  /** Bytes read but not yet checked. */
  private uncheckedBytes = 0
  /** Checks that wait for the processor. */
  private readonly waiting: WaitingCheck[] = []
  private isChecking = false

  constructor(
    model: { readonly name: string; readonly store: BlockStore },
    options: LoaderOptions,
    meter: LoadMeter,
    signal: AbortSignal,
    owner: ReaderOwner,
  ) {
    this.model = model
    this.options = options
    this.meter = meter
    this.signal = signal
    this.owner = owner
    this.batchBytes = batchBytes(model.store)
    this.window = new Window({
      maxBytes: model.store.saturationBytes,
      pieceBytes: this.batchBytes,
      fixedBytes: options.inFlightBytes,
    })
  }

  /** Submits reads until the store is busy. If checks are behind, only jobs that will be checked first are read. */
  fill(): void {
    const { saturationBytes } = this.model.store
    while (this.window.hasRoomFor(this.batchBytes)) {
      const job = this.owner.next()
      const passes = job !== undefined && this.waiting.every(({ ticket }) => job.ticket.rank < ticket.rank)
      if (job === undefined || (this.uncheckedBytes >= saturationBytes && !passes)) {
        this.window.starve()
        return
      }
      void job.inFlight.start(
        () => this.bring(job),
        () => this.owner.settle(job),
      )
    }
  }

  /** Moves the misaligned pieces of a job, after all of it has been read and verified. */
  async arrange({ plan, slot }: Job): Promise<void> {
    if (plan.moves.length === 0) return
    const { memory } = slot
    if (memory.view === undefined) await this.options.move!(memory, plan.moves)
    else for (const move of plan.moves) moveBytes(memory, move)
    this.meter.add(
      'movedBytes',
      plan.moves.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0),
    )
  }

  /** Reads the next batch of a job, and checks the units that it completes. */
  private async bring(job: Job): Promise<void> {
    const units = await this.readBite(job)
    if (units.length === 0 || job.isOver) return
    const bytes = units.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
    this.uncheckedBytes += bytes
    try {
      await this.check(job, units)
    } finally {
      this.uncheckedBytes -= bytes
      this.fill()
    }
  }

  private async readBite(job: Job): Promise<readonly PlacedUnit[]> {
    const [batch, number, units] = job.take()
    const { store } = this.model
    const { timeoutNs, trace } = this.options
    this.window.begin(batch.bytes)
    let summary: StoreSummary | undefined
    this.meter.readBegins()
    try {
      const limits = { signal: this.signal, ...(timeoutNs !== undefined && { timeoutNs }) }
      const { transfers } = batch
      const { memory } = job.slot
      let checked: ChecksummedSummary | undefined
      if (units.length === 0 || store.readChecksummed === undefined)
        summary = await store.read(transfers, memory, limits)
      else summary = checked = await store.readChecksummed(transfers, memory, units, limits)
      job.readNs += this.meter.readEnds(summary)
      const { startNs, endNs, bytes, commands } = summary
      const details = { bytes, commands }
      trace?.({ timeNs: startNs, durationNs: endNs - startNs, track: 'read', name: job.ticket.extent.name, details })
      if (checked !== undefined && !job.isOver) this.verify(job, units, checked)
      return job.arrive(number, summary)
    } catch (error) {
      // A read whose bytes are wrong has been counted.
      if (summary === undefined) this.meter.readEnds()
      throw error
    } finally {
      this.window.end(batch.bytes, summary)
      this.fill()
    }
  }

  /** Verifies those units of a batch whose checksums the store has computed. */
  private verify(job: Job, units: readonly PlacedUnit[], { crc32s }: ChecksummedSummary): void {
    for (const [index, unit] of units.entries()) {
      const got = crc32s[index]
      if (got === undefined) continue
      if (got !== unit.crc32) throw new VerificationError(this.model, job.ticket.extent, unit, got)
      job.verify(unit)
    }
  }

  /** A checksummer on this thread runs one check at a time, the most urgent first; others run all at once. */
  private async check(job: Job, units: readonly PlacedUnit[]): Promise<void> {
    const { checksummer = zlibChecksummer } = this.options
    if (checksummer.blocks !== true) return this.compare(job, units)
    const { ticket } = job
    const turn = deferred<undefined>()
    this.waiting.push({ ticket, begin: () => turn.resolve(undefined) })
    this.nextCheck()
    await turn.promise
    try {
      await this.compare(job, units)
    } finally {
      this.isChecking = false
      this.nextCheck()
    }
  }

  private nextCheck(): void {
    if (this.isChecking) return
    // Sorting is stable: among equals, the earliest comes first.
    const [next] = this.waiting.sort((a, b) => byUrgency(a.ticket, b.ticket))
    if (next === undefined) return
    this.waiting.shift()
    this.isChecking = true
    next.begin()
  }

  private async compare(job: Job, units: readonly PlacedUnit[]): Promise<void> {
    if (job.isOver) return
    const { checksummer = zlibChecksummer, trace } = this.options
    const { extent } = job.ticket
    const { clock } = this.model.store
    const timeNs = clock.now()
    const startMs = performance.now()
    const target = { memory: job.slot.memory, checksummer, signal: this.signal }
    let replacingMs = 0
    let left = units
    let replaced: PlacedUnit | undefined
    for (let wrong = await firstMismatch(left, target); wrong; wrong = await firstMismatch(left, target)) {
      const { unit, got } = wrong
      const fromMs = performance.now()
      if (unit === replaced || !(await this.replace(job, unit)))
        throw new VerificationError(this.model, extent, unit, got)
      replacingMs += performance.now() - fromMs
      // Those before it are right.
      left = left.slice(left.indexOf(unit))
      replaced = unit
    }
    const spentNs = (performance.now() - startMs - replacingMs) * 1e6
    job.verifyNs += spentNs
    this.meter.add('verifyNs', spentNs)
    const details = { chunks: units.length }
    trace?.({ timeNs, durationNs: clock.now() - timeNs, track: 'verify', name: extent.name, details })
  }

  /** Replaces a unit with a wrong checksum by the bytes of another copy. Returns false if there is none. */
  private async replace({ slot }: Job, { storeBytes, memoryBytes, lengthBytes, crc32 }: PlacedUnit): Promise<boolean> {
    const { store } = this.model
    const { timeoutNs, checksummer } = this.options
    const limits = { signal: this.signal, ...(timeoutNs !== undefined && { timeoutNs }) }
    const range = { offsetBytes: storeBytes, lengthBytes, crc32 }
    const { memory } = slot
    if (memory.view === undefined) {
      // Only the drive can write to it: whole blocks, also those of other units.
      const isWhole = storeBytes % store.blockBytes === 0 && lengthBytes % store.blockBytes === 0
      return isWhole && replaceByRightCopy(store, range, { memory, memoryBytes }, limits, checksummer!)
    }
    const bytes = await readRightCopy(store, range, limits, checksummer)
    if (bytes !== undefined) bytesIn(memory, memoryBytes, lengthBytes).set(bytes)
    return bytes !== undefined
  }
}
