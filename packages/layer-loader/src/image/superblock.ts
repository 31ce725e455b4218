import { crc32 } from 'node:zlib'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { ascii, bytes, formatField, inHex, n64, struct, u32 } from '@gpunvme/nvme-spec/layout'
import {
  ALIGNMENT_BYTES,
  CHUNK_BYTES,
  COPY_OFFSET_BYTES,
  DATA_START_BYTES,
  FORMAT_VERSION,
  MAX_DIRECTORY_BYTES,
  SUPERBLOCK_BYTES,
  type CheckedExtent,
  type CopyName,
} from './format.js'
import type { Remedy } from './remedy.js'

const MAGIC = Uint8Array.of(0x47, 0x50, 0x55, 0x4e, 0x56, 0x4d, 0x45, 0) // 'GPUNVME', NUL

/**
 * Both copies, little-endian. What no row names is reserved: zero when written, not looked at when read. It covers
 * byte 510 and the other places where a partition table or a file system has its magic.
 */
export const SUPERBLOCK = struct(
  'SUPERBLOCK',
  { bytes: SUPERBLOCK_BYTES, doc: 'Where an image is, and which', spec: 'gpunvme image format 1' },
  {
    MAGIC: bytes(0, 8, 'GPUNVME and a NUL'),
    VERSION: u32(8, 'Format version'),
    LENGTH: u32(12, 'Bytes of this structure'),
    GENERATION: n64(16, 'Counts publications; the valid copy with the highest is the live one'),
    IMAGE_ID: bytes(24, 16, 'Random, new with each publication'),
    REQUIRED: inHex(u32(40, 'Features that a reader must know; unknown ones set: do not read')),
    OPTIONAL: inHex(u32(44, 'Features that a reader may ignore')),
    SELF: n64(48, 'Byte offset of this copy'),
    ALIGNMENT: u32(56, 'Bytes; alignment of every extent and tensor'),
    CHUNK: u32(60, 'Bytes under one checksum'),
    DIRECTORY_OFFSET: n64(64, 'Byte offset of the directory'),
    DIRECTORY_LENGTH: u32(72, 'Bytes of the directory'),
    DIRECTORY_CRC: inHex(u32(76, 'CRC-32 of the directory')),
    USED_END: n64(80, 'Byte offset after the last extent'),
    WRITTEN_END: n64(88, 'Byte offset after the last byte that any publication of the image wrote'),
    WRITER: ascii(128, 64, 'What wrote the image, for people', 0),
    CRC: inHex(u32(4092, 'CRC-32 of bytes 0 to 4091')),
  },
)

/** Bit of OPTIONAL: WRITTEN_END is set. */
const HAS_WRITTEN_END = 1

/** A field's value as every message about images prints it: counts and byte offsets in decimal. */
function shown(field: SuperblockField, value: unknown): string {
  const { fields } = SUPERBLOCK
  return fields[field].kind === 'integer' && !fields[field].hex ? String(value) : formatField(fields[field], value)
}

/** What a superblock says, checked. */
export interface Superblock {
  readonly generation: number
  /** 32 hexadecimal digits. */
  readonly imageId: string
  readonly directory: CheckedExtent
  readonly usedEndBytes: number
  /**
   * Byte offset after the last byte that any publication of the image wrote, including models that were removed. Not less
   * than `usedEndBytes`; equal to it if the writer did not record it.
   */
  readonly writtenEndBytes: number
  readonly writer: string
}

/** The 4096 bytes of one copy. @throws RangeError for values that the structure cannot hold. */
export function encodeSuperblock(copy: CopyName, superblock: Superblock): Uint8Array {
  const { data } = SUPERBLOCK.create({
    MAGIC,
    VERSION: FORMAT_VERSION,
    LENGTH: SUPERBLOCK_BYTES,
    GENERATION: superblock.generation,
    IMAGE_ID: Buffer.from(superblock.imageId, 'hex'),
    OPTIONAL: HAS_WRITTEN_END,
    SELF: COPY_OFFSET_BYTES[copy],
    ALIGNMENT: ALIGNMENT_BYTES,
    CHUNK: CHUNK_BYTES,
    DIRECTORY_OFFSET: superblock.directory.offsetBytes,
    DIRECTORY_LENGTH: superblock.directory.lengthBytes,
    DIRECTORY_CRC: superblock.directory.crc32,
    USED_END: superblock.usedEndBytes,
    WRITTEN_END: superblock.writtenEndBytes,
    WRITER: superblock.writer,
  })
  const encoded = new Uint8Array(data.buffer)
  SUPERBLOCK.view(data).CRC = crcOf(encoded)
  return encoded
}

/** Whether these bytes start as an image of any version does. */
export function hasMagic(encoded: Uint8Array): boolean {
  return MAGIC.every((byte, index) => encoded[index] === byte)
}

/**
 * Reads one copy and trusts nothing in it. Whether the namespace is as long as it says is not looked at: a copy on a
 * drive that is too short is sound all the same.
 * @throws SuperblockError for a copy that is damaged; UnsupportedImageError for one that is sound, but not ours to read.
 */
export function decodeSuperblock(copy: CopyName, encoded: Uint8Array): Superblock {
  const view = SUPERBLOCK.view(new DataView(encoded.buffer, encoded.byteOffset, encoded.byteLength))
  const require = (field: SuperblockField, holds: boolean, expected: string): void => {
    if (!holds) throw new SuperblockError(copy, field, expected, shown(field, view[field]))
  }
  require('MAGIC', hasMagic(encoded), hex(MAGIC))
  // Before every other field: a flipped bit must not look like a version that is yet to come.
  const crc = crcOf(encoded)
  require('CRC', view.CRC === crc, shown('CRC', crc))
  if (view.VERSION !== FORMAT_VERSION) throw new UnsupportedImageError(copy, `it is of version ${view.VERSION}`)
  if (view.REQUIRED !== 0)
    throw new UnsupportedImageError(copy, `it requires features ${shown('REQUIRED', view.REQUIRED)}`)
  require('LENGTH', view.LENGTH === SUPERBLOCK_BYTES, String(SUPERBLOCK_BYTES))
  require('SELF', view.SELF === COPY_OFFSET_BYTES[copy], String(COPY_OFFSET_BYTES[copy]))
  require('GENERATION', Number.isSafeInteger(view.GENERATION) && view.GENERATION > 0, '1 to 2^53 - 1')
  require('ALIGNMENT', view.ALIGNMENT === ALIGNMENT_BYTES, String(ALIGNMENT_BYTES))
  require('CHUNK', view.CHUNK === CHUNK_BYTES, String(CHUNK_BYTES))
  const usedEnd = view.USED_END
  require('USED_END', Number.isSafeInteger(usedEnd) &&
    usedEnd > DATA_START_BYTES, `${DATA_START_BYTES + 1} to 2^53 - 1`)
  const offset = view.DIRECTORY_OFFSET
  const length = view.DIRECTORY_LENGTH
  const offsetIsSound = Number.isSafeInteger(offset) && offset >= DATA_START_BYTES && offset % ALIGNMENT_BYTES === 0
  require('DIRECTORY_OFFSET', offsetIsSound, `a multiple of ${ALIGNMENT_BYTES} of at least ${DATA_START_BYTES}`)
  const longest = Math.min(MAX_DIRECTORY_BYTES, usedEnd - offset)
  require('DIRECTORY_LENGTH', length > 0 && length <= longest, `1 to ${longest}`)
  // A wrong value causes only a wrong question about unknown data.
  const hasWrittenEnd = (view.OPTIONAL & HAS_WRITTEN_END) !== 0 && Number.isSafeInteger(view.WRITTEN_END)
  require('WRITER', /^[\x20-\x7e]*$/.test(view.WRITER), 'printable ASCII')
  return {
    generation: view.GENERATION,
    imageId: hex(view.IMAGE_ID),
    directory: { offsetBytes: offset, lengthBytes: length, crc32: view.DIRECTORY_CRC },
    usedEndBytes: usedEnd,
    writtenEndBytes: hasWrittenEnd ? Math.max(usedEnd, view.WRITTEN_END) : usedEnd,
    writer: view.WRITER,
  }
}

/** The rows of the figure, by name. */
export type SuperblockField = keyof typeof SUPERBLOCK.fields

function crcOf(encoded: Uint8Array): number {
  return crc32(encoded.subarray(0, SUPERBLOCK.CRC.offset))
}

function hex(data: Uint8Array): string {
  return Buffer.from(data).toString('hex')
}

/** A copy of the superblock is damaged, half-written, or claims what cannot be. */
export class SuperblockError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_IMAGE_SUPERBLOCK'
  readonly category = 'verification'
  readonly remedy: Remedy = 'replace-model'
  readonly copy: CopyName
  readonly field: SuperblockField
  readonly expected: string
  readonly got: string

  constructor(copy: CopyName, field: SuperblockField, expected: string, got: string) {
    super(`Superblock copy ${copy} is damaged: ${field}`, {
      facts: [`copy ${copy} at byte ${COPY_OFFSET_BYTES[copy]}`, `expected ${expected}`, `got ${got}`],
      next: 'the other copy is used where it is sound; pack the model again with { replace: true } to repair this one',
    })
    this.copy = copy
    this.field = field
    this.expected = expected
    this.got = got
  }
}

/** The image is sound and newer than this reader. */
export class UnsupportedImageError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_IMAGE_UNSUPPORTED'
  readonly category = 'infeasible'

  constructor(copy: CopyName, what: string) {
    super(`This image cannot be read by this version of @gpunvme/layer-loader: ${what}`, {
      facts: [`superblock copy ${copy}`, `this reader knows version ${FORMAT_VERSION}, and no required features`],
      next: 'use a newer @gpunvme/layer-loader',
    })
  }
}
