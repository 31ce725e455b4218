import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { bytes, n64, struct, u32 } from '@gpunvme/nvme-spec/layout'
import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import type { Model } from '../formats/model.js'
import { decodeChunkTable, encodeChunkTable } from '../image/chunk-table.js'
import { isMediaError } from '../image/copies.js'
import { ALIGNMENT_BYTES, chunksOf } from '../image/format.js'
import { encodeManifest } from '../image/manifest.js'
import type { Image } from '../image/open-image.js'
import { readBytes } from '../store/read-bytes.js'
import type { BlockStore, WritableBlockStore } from '../store/store.js'
import type { PackPlan } from './lay-out.js'
import type { Piece } from './pieces.js'
import { writeBytes } from './publish.js'

const MAGIC = Uint8Array.of(0x47, 0x50, 0x55, 0x4e, 0x4f, 0x54, 0x45, 0) // 'GPUNOTE', NUL
const VERSION = 1
const NOTE_BYTES = ALIGNMENT_BYTES

/** What a packing leaves for its successor, little-endian, twice: one is whole while the other is written. */
const NOTE = struct(
  'PACK_NOTE',
  { bytes: NOTE_BYTES, doc: 'How far a packing has come that was interrupted', spec: 'gpunvme image format 1' },
  {
    MAGIC: bytes(0, 8, 'GPUNOTE and a NUL'),
    VERSION: u32(8, 'Version of this structure'),
    LENGTH: u32(12, 'Bytes of this structure'),
    SEQUENCE: n64(16, 'Counts notes; the sound one with the highest counts'),
    CHUNKS: u32(24, 'Chunks that are on the media, from the first of the model on, and their checksums in its table'),
    TABLE_CRC: u32(28, 'CRC-32 of that part of the chunk table'),
    PLAN: bytes(32, 32, 'SHA-256 that names the model, its files, its place and the live image'),
    CRC: u32(4092, 'CRC-32 of bytes 0 to 4091'),
  },
)

/**
 * What is known of an earlier packing of the same model to the same place, and how far this one has come. It lies in
 * the plan's spare room, which no image leads to; there is none where a source cannot tell whether it has changed.
 */
export class Journal {
  /** CRC-32s of the chunks that an earlier packing has left, from the model's first one on. */
  readonly left: Uint32Array
  private readonly store: WritableBlockStore
  private readonly plan: PackPlan
  private readonly identity: Uint8Array | undefined
  private sequence: number
  /** From which chunk on the table on the media is not as it should be. */
  private staleFrom: number

  private constructor(
    store: WritableBlockStore,
    plan: PackPlan,
    identity: Uint8Array | undefined,
    sequence = 0,
    left: Uint32Array = new Uint32Array(0),
  ) {
    this.store = store
    this.plan = plan
    this.identity = identity
    this.sequence = sequence
    this.left = left
    this.staleFrom = left.length
  }

  /**
   * @param live the image that the packing adds to.
   * @param resumes false where nothing of an earlier packing shall be used.
   */
  static async open(
    store: WritableBlockStore,
    { model, plan, live, resumes }: { model: Model; plan: PackPlan; live: Image | undefined; resumes: boolean },
    signal: AbortSignal | undefined,
  ): Promise<Journal> {
    const options = { ...(signal && { signal }) }
    const identity = identityOf(model, plan, live)
    const note = identity && (await readNote(store, plan, identity, options))
    if (note === undefined) return new Journal(store, plan, identity)
    if (resumes) {
      return new Journal(store, plan, identity, note.sequence, await readTable(store, plan, note, options))
    }
    const journal = new Journal(store, plan, identity, note.sequence)
    // Lest a third packing find what this one was told to leave alone.
    await journal.note(new Uint32Array(0), 0, signal)
    return journal
  }

  /** Whether notes are taken. */
  get isKept(): boolean {
    return this.identity !== undefined
  }

  /** Whether an earlier packing has left all of a piece. */
  has({ firstChunk, lengthBytes }: Piece): boolean {
    return firstChunk >= 0 && firstChunk + chunksOf(lengthBytes) <= this.left.length
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
    const { data } = NOTE.create({
      ...{ MAGIC, VERSION, LENGTH: NOTE_BYTES, SEQUENCE: this.sequence },
      ...{ CHUNKS: chunks, TABLE_CRC: crc32(table), PLAN: identity },
    })
    const encoded = new Uint8Array(data.buffer)
    NOTE.view(data).CRC = crcOf(encoded)
    await writeBytes(store, plan.spare.offsetBytes + (this.sequence % 2) * NOTE_BYTES, encoded, signal)
    await store.flush()
  }
}

interface Note {
  readonly sequence: number
  readonly chunks: number
  readonly tableCrc: number
}

/** The last sound note that is of this very packing. */
async function readNote(
  store: BlockStore,
  { spare, chunks }: PackPlan,
  identity: Uint8Array,
  options?: ExecuteOptions,
): Promise<Note | undefined> {
  const notes: Note[] = []
  for (const slot of [0, 1]) {
    const encoded = await readIfPossible(store, spare.offsetBytes + slot * NOTE_BYTES, NOTE_BYTES, options)
    if (encoded === undefined) continue
    const view = NOTE.view(new DataView(encoded.buffer, encoded.byteOffset, encoded.byteLength))
    const isSound =
      Buffer.compare(view.MAGIC, MAGIC) === 0 &&
      view.CRC === crcOf(encoded) &&
      view.VERSION === VERSION &&
      view.LENGTH === NOTE_BYTES &&
      Number.isSafeInteger(view.SEQUENCE)
    if (!isSound || Buffer.compare(view.PLAN, identity) !== 0 || view.CHUNKS > chunks) continue
    notes.push({ sequence: view.SEQUENCE, chunks: view.CHUNKS, tableCrc: view.TABLE_CRC })
  }
  return notes.sort((a, b) => b.sequence - a.sequence)[0]
}

/** The checksums that a note speaks of; none where they are not what it says, so that nothing is left of it. */
async function readTable(
  store: BlockStore,
  { manifest }: PackPlan,
  { chunks, tableCrc }: Note,
  options?: ExecuteOptions,
): Promise<Uint32Array> {
  const encoded = await readIfPossible(store, manifest.chunkTable.offsetBytes, chunks * 4, options)
  return encoded !== undefined && crc32(encoded) === tableCrc ? decodeChunkTable(encoded) : new Uint32Array(0)
}

/** Bytes of a store; undefined where the media cannot give them, since nothing depends on it. */
async function readIfPossible(
  store: BlockStore,
  offsetBytes: number,
  lengthBytes: number,
  options?: ExecuteOptions,
): Promise<Uint8Array | undefined> {
  try {
    return await readBytes(store, offsetBytes, lengthBytes, options)
  } catch (error) {
    if (isMediaError(error)) return undefined
    throw error
  }
}

/**
 * Names a packing: the same files, unchanged, laid out in the same places beside the same live image. Undefined where
 * a file cannot tell whether it has changed: what is on the media might be of another one that looks alike.
 */
function identityOf(model: Model, { manifest, spare }: PackPlan, live: Image | undefined): Uint8Array | undefined {
  const files = model.parts.map(({ source }) => source.revision)
  if (files.includes(undefined)) return undefined
  const tensors = model.layers.flatMap((layer) =>
    layer.tensors.map(({ part, offsetBytes, lengthBytes }) => [part, offsetBytes, lengthBytes]),
  )
  const publication = live && [live.superblock.generation, live.superblock.imageId]
  return createHash('sha256')
    .update(JSON.stringify({ files, tensors, publication: publication ?? null, spare }))
    .update(encodeManifest(manifest))
    .digest()
}

function crcOf(encoded: Uint8Array): number {
  return crc32(encoded.subarray(0, NOTE.CRC.offset))
}
