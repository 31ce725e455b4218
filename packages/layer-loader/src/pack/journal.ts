import { crc32 } from 'node:zlib'
import { encodeChunkTable } from '../image/chunk-table.js'
import { ALIGNMENT_BYTES } from '../image/format.js'
import type { WritableBlockStore } from '../store/store.js'
import type { PackPlan } from './lay-out.js'
import { encodeNote, findLeftovers, NOTE_BYTES, type Leftovers, type Packing } from './notes.js'
import { writeBytes } from './publish.js'

/**
 * Records the progress of a packing, and knows that of an earlier one of the same model to the same place. It is in the
 * plan's spare space, outside any image. A source without `revision` has no journal.
 */
export class Journal implements Pick<Leftovers, 'chunkCrcs'> {
  /** CRC-32s of the chunks that an earlier packing wrote, from the model's first chunk. */
  readonly chunkCrcs: Uint32Array
  private readonly store: WritableBlockStore
  private readonly plan: PackPlan
  private readonly identity: Uint8Array | undefined
  private sequence: number
  /** First chunk whose entry in the table on the media is outdated. */
  private staleFrom: number

  private constructor(store: WritableBlockStore, plan: PackPlan, { identity, sequence, chunkCrcs }: Leftovers) {
    this.store = store
    this.plan = plan
    this.identity = identity
    this.sequence = sequence
    this.chunkCrcs = chunkCrcs
    this.staleFrom = chunkCrcs.length
  }

  /** @param resumes false to ignore an earlier packing. */
  static async open(
    store: WritableBlockStore,
    packing: Packing,
    resumes: boolean,
    signal: AbortSignal | undefined,
  ): Promise<Journal> {
    const left = await findLeftovers(store, packing, signal && { signal })
    return new Journal(store, packing.plan, resumes ? left : { ...left, chunkCrcs: new Uint32Array(0) })
  }

  /** Whether notes are written. */
  get isKept(): boolean {
    return this.identity !== undefined
  }

  /**
   * Records the start of a packing unless it resumes: chunks on the media are then known to be its own, and earlier
   * notes are void.
   */
  async begin(signal: AbortSignal | undefined): Promise<void> {
    if (this.chunkCrcs.length === 0) await this.note(this.chunkCrcs, 0, signal)
  }

  /** Records that a chunk differs from the earlier note, so that the table is rewritten from there. */
  corrected(chunk: number): void {
    this.staleFrom = Math.min(this.staleFrom, chunk)
  }

  /**
   * Flushes all writes and records them.
   * @param chunks number of written chunks, from the model's first one.
   */
  async note(chunkCrcs: Uint32Array, chunks: number, signal: AbortSignal | undefined): Promise<void> {
    const { store, plan, identity } = this
    if (identity === undefined) return
    const table = encodeChunkTable(chunkCrcs.subarray(0, chunks))
    const from = Math.floor((this.staleFrom * 4) / ALIGNMENT_BYTES) * ALIGNMENT_BYTES
    // Earlier entries of the first page are written again with it, so that a torn write loses none.
    await writeBytes(store, plan.manifest.chunkTable.offsetBytes + from, table.subarray(from), signal)
    await store.flush()
    this.staleFrom = chunks
    this.sequence++
    const encoded = encodeNote(identity, { sequence: this.sequence, chunks, tableCrc: crc32(table) })
    await writeBytes(store, plan.spare.offsetBytes + (this.sequence % 2) * NOTE_BYTES, encoded, signal)
    await store.flush()
  }
}
