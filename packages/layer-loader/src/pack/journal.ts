import { crc32 } from 'node:zlib'
import { encodeChunkTable } from '../image/chunk-table.js'
import { ALIGNMENT_BYTES } from '../image/format.js'
import type { WritableBlockStore } from '../store/store.js'
import type { PackPlan } from './lay-out.js'
import { encodeNote, findLeftovers, NOTE_BYTES, type Leftovers, type Packing } from './notes.js'
import { writeBytes } from './publish.js'

/**
 * What is known of an earlier packing of the same model to the same place, and how far this one has come. It lies in
 * the plan's spare room, which no image leads to; there is none where a source cannot tell whether it has changed.
 */
export class Journal implements Pick<Leftovers, 'chunkCrcs'> {
  /** CRC-32s of the chunks that an earlier packing has left, from the model's first one on. */
  readonly chunkCrcs: Uint32Array
  private readonly store: WritableBlockStore
  private readonly plan: PackPlan
  private readonly identity: Uint8Array | undefined
  private sequence: number
  /** From which chunk on the table on the media is not as it should be. */
  private staleFrom: number

  private constructor(store: WritableBlockStore, plan: PackPlan, { identity, sequence, chunkCrcs }: Leftovers) {
    this.store = store
    this.plan = plan
    this.identity = identity
    this.sequence = sequence
    this.chunkCrcs = chunkCrcs
    this.staleFrom = chunkCrcs.length
  }

  /** @param resumes false where nothing of an earlier packing shall be used. */
  static async open(
    store: WritableBlockStore,
    packing: Packing,
    resumes: boolean,
    signal: AbortSignal | undefined,
  ): Promise<Journal> {
    const left = await findLeftovers(store, packing, signal && { signal })
    return new Journal(store, packing.plan, resumes ? left : { ...left, chunkCrcs: new Uint32Array(0) })
  }

  /** Whether notes are taken. */
  get isKept(): boolean {
    return this.identity !== undefined
  }

  /**
   * Notes that a packing begins, unless it goes on: what will lie on the media is then known to be its own, and
   * what an earlier one has noted counts no more.
   */
  async begin(signal: AbortSignal | undefined): Promise<void> {
    if (this.chunkCrcs.length === 0) await this.note(this.chunkCrcs, 0, signal)
  }

  /** That a chunk is not what an earlier packing has noted, so that the table must be written from there on. */
  corrected(chunk: number): void {
    this.staleFrom = Math.min(this.staleFrom, chunk)
  }

  /**
   * Makes all that was written durable, and notes it.
   * @param chunks how many, from the model's first one on, are written.
   */
  async note(chunkCrcs: Uint32Array, chunks: number, signal: AbortSignal | undefined): Promise<void> {
    const { store, plan, identity } = this
    if (identity === undefined) return
    const table = encodeChunkTable(chunkCrcs.subarray(0, chunks))
    const from = Math.floor((this.staleFrom * 4) / ALIGNMENT_BYTES) * ALIGNMENT_BYTES
    // What the last of these pages held of the table stands in it again, so that a torn write loses none of it.
    await writeBytes(store, plan.manifest.chunkTable.offsetBytes + from, table.subarray(from), signal)
    await store.flush()
    this.staleFrom = chunks
    this.sequence++
    const encoded = encodeNote(identity, { sequence: this.sequence, chunks, tableCrc: crc32(table) })
    await writeBytes(store, plan.spare.offsetBytes + (this.sequence % 2) * NOTE_BYTES, encoded, signal)
    await store.flush()
  }
}
