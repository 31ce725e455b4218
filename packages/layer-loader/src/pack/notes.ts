import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { bytes, n64, struct, u32 } from '@gpunvme/nvme-spec/layout'
import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import type { Model } from '../formats/model.js'
import { decodeChunkTable } from '../image/chunk-table.js'
import { isMediaError } from '../image/sealed-record.js'
import { ALIGNMENT_BYTES, chunksOf } from '../image/format.js'
import { encodeManifest } from '../image/manifest.js'
import type { Image } from '../image/open-image.js'
import { readBytes } from '../store/read-bytes.js'
import type { BlockStore } from '../store/store.js'
import type { PackPlan } from './lay-out.js'
import type { Piece } from './pieces.js'

const MAGIC = Uint8Array.of(0x47, 0x50, 0x55, 0x4e, 0x4f, 0x54, 0x45, 0) // 'GPUNOTE', NUL
const VERSION = 1
export const NOTE_BYTES = ALIGNMENT_BYTES

/** Progress note of a packing, little-endian, in two copies: one is valid while the other is written. */
const NOTE = struct(
  'PACK_NOTE',
  { bytes: NOTE_BYTES, doc: 'Progress of an interrupted packing', spec: 'gpunvme image format 1' },
  {
    MAGIC: bytes(0, 8, 'GPUNOTE and a NUL'),
    VERSION: u32(8, 'Version of this structure'),
    LENGTH: u32(12, 'Bytes of this structure'),
    SEQUENCE: n64(16, 'Number of the note; the valid note with the highest number counts'),
    CHUNKS: u32(24, 'Chunks on the media, from the first of the model, with their checksums in its table'),
    TABLE_CRC: u32(28, 'CRC-32 of that part of the chunk table'),
    PLAN: bytes(32, 32, 'SHA-256 of the model, its files, its location and the live image'),
    CRC: u32(4092, 'CRC-32 of bytes 0 to 4091'),
  },
)

/** A model to pack, and its location. */
export interface Packing {
  readonly model: Model
  readonly plan: PackPlan
  /** The image that the model is added to. */
  readonly live: Image | undefined
}

/** Data left by an earlier packing. */
export interface Leftovers {
  /** Identifies the packing; undefined if a file has no `revision`, so that nothing can be resumed. */
  readonly identity: Uint8Array | undefined
  /** Number of the last note; 0 if such a packing has not begun. */
  readonly sequence: number
  /** CRC-32s of the chunks on the media, from the model's first chunk. */
  readonly chunkCrcs: Uint32Array
}

/** Finds data left by an earlier packing of the same files to the same location. */
export async function findLeftovers(
  store: BlockStore,
  { model, plan, live }: Packing,
  options?: ExecuteOptions,
): Promise<Leftovers> {
  const identity = identityOf(model, plan, live)
  const note = identity && (await readNote(store, plan, identity, options))
  if (note === undefined) return { identity, sequence: 0, chunkCrcs: new Uint32Array(0) }
  return { identity, sequence: note.sequence, chunkCrcs: await readTable(store, plan, note, options) }
}

/** Returns whether an earlier packing wrote all of a piece. */
export function isLeft({ firstChunk, lengthBytes }: Piece, { chunkCrcs }: Pick<Leftovers, 'chunkCrcs'>): boolean {
  return firstChunk >= 0 && firstChunk + chunksOf(lengthBytes) <= chunkCrcs.length
}

export interface Note {
  readonly sequence: number
  /** Number of chunks on the media, from the model's first one. */
  readonly chunks: number
  readonly tableCrc: number
}

export function encodeNote(identity: Uint8Array, { sequence, chunks, tableCrc }: Note): Uint8Array {
  const { data } = NOTE.create({
    ...{ MAGIC, VERSION, LENGTH: NOTE_BYTES, SEQUENCE: sequence },
    ...{ CHUNKS: chunks, TABLE_CRC: tableCrc, PLAN: identity },
  })
  const encoded = new Uint8Array(data.buffer)
  NOTE.view(data).CRC = crcOf(encoded)
  return encoded
}

/** Reads the last valid note of this packing. */
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

/** Reads the checksums listed by a note; none if they do not match it, so that nothing is resumed. */
async function readTable(
  store: BlockStore,
  { manifest }: PackPlan,
  { chunks, tableCrc }: Note,
  options?: ExecuteOptions,
): Promise<Uint32Array> {
  const encoded = await readIfPossible(store, manifest.chunkTable.offsetBytes, chunks * 4, options)
  return encoded !== undefined && crc32(encoded) === tableCrc ? decodeChunkTable(encoded) : new Uint32Array(0)
}

/** Reads bytes of a store; undefined after a media error, since they are optional. */
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
 * Identifies a packing: the same unchanged files, laid out in the same places beside the same live image. Undefined if
 * a file has no `revision`: data on the media might come from a different version.
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
