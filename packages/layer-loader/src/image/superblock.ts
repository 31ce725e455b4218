import { LoaderError } from '../error.js'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { ascii, bytes, inHex, n64, struct, u32 } from '@gpunvme/nvme-spec/layout'
import {
  ALIGNMENT_BYTES,
  CHUNK_BYTES,
  COPY_OFFSET_BYTES,
  DATA_START_BYTES,
  FORMAT_VERSION,
  MAX_DIRECTORY_BYTES,
  RECORD_BYTES,
  type CheckedExtent,
  type CopyName,
} from './format.js'
import type { Remedy } from './remedy.js'
import { hex, SealedRecord } from './sealed-record.js'

const MAGIC = Uint8Array.of(0x47, 0x50, 0x55, 0x4e, 0x56, 0x4d, 0x45, 0) // 'GPUNVME', NUL

/**
 * Layout of both copies, little-endian. Other bytes are reserved: written as zero, ignored by readers. They include
 * byte 510 and other places where partition tables and file systems have their magic.
 */
export const SUPERBLOCK = struct(
  'SUPERBLOCK',
  { bytes: RECORD_BYTES, doc: 'Superblock of an image', spec: 'gpunvme image format 1' },
  {
    MAGIC: bytes(0, 8, 'GPUNVME and a NUL'),
    VERSION: u32(8, 'Format version'),
    LENGTH: u32(12, 'Bytes of this structure'),
    GENERATION: n64(16, 'Number of publications; the valid copy with the highest is live'),
    IMAGE_ID: bytes(24, 16, 'Random, new with each publication'),
    REQUIRED: inHex(u32(40, 'Features that a reader must know')),
    OPTIONAL: inHex(u32(44, 'Features that a reader may ignore')),
    SELF: n64(48, 'Byte offset of this copy'),
    ALIGNMENT: u32(56, 'Alignment of extents and tensors, in bytes'),
    CHUNK: u32(60, 'Bytes per checksum'),
    DIRECTORY_OFFSET: n64(64, 'Byte offset of the directory'),
    DIRECTORY_LENGTH: u32(72, 'Bytes of the directory'),
    DIRECTORY_CRC: inHex(u32(76, 'CRC-32 of the directory')),
    USED_END: n64(80, 'Byte offset after the last extent'),
    WRITTEN_END: n64(88, 'Byte offset after the last byte that any publication of the image wrote'),
    WRITER: ascii(128, 64, 'Writer of the image, for information', 0),
    CRC: inHex(u32(4092, 'CRC-32 of bytes 0 to 4091')),
  },
)

/** Bit of OPTIONAL: WRITTEN_END is set. */
const HAS_WRITTEN_END = 1

/** Checked content of a superblock. */
export interface Superblock {
  readonly generation: number
  /** 32 hexadecimal digits. */
  readonly imageId: string
  readonly directory: CheckedExtent
  readonly usedEndBytes: number
  /**
   * Byte offset after the last byte that any publication of the image wrote, including models that were removed. Not
   * less than `usedEndBytes`; equal to it if the writer did not record it.
   */
  readonly writtenEndBytes: number
  readonly writer: string
}

/** Superblocks on a store. */
export const SUPERBLOCKS = new SealedRecord({
  struct: SUPERBLOCK,
  magic: MAGIC,
  version: FORMAT_VERSION,
  damaged: (copy, field: SuperblockField, expected, got) => new SuperblockError(copy, field, expected, got),
  unsupported: unsupportedImage,
  parse(view, require): Superblock {
    require('GENERATION', Number.isSafeInteger(view.GENERATION) && view.GENERATION > 0, '1 to 2^53 - 1')
    require('ALIGNMENT', view.ALIGNMENT === ALIGNMENT_BYTES, String(ALIGNMENT_BYTES))
    require('CHUNK', view.CHUNK === CHUNK_BYTES, String(CHUNK_BYTES))
    const { USED_END: usedEnd, DIRECTORY_OFFSET: offset, DIRECTORY_LENGTH: length } = view
    const endIsSound = Number.isSafeInteger(usedEnd) && usedEnd > DATA_START_BYTES
    require('USED_END', endIsSound, `${DATA_START_BYTES + 1} to 2^53 - 1`)
    const offsetIsSound = Number.isSafeInteger(offset) && offset >= DATA_START_BYTES && offset % ALIGNMENT_BYTES === 0
    require('DIRECTORY_OFFSET', offsetIsSound, `a multiple of ${ALIGNMENT_BYTES} of at least ${DATA_START_BYTES}`)
    const longest = Math.min(MAX_DIRECTORY_BYTES, usedEnd - offset)
    require('DIRECTORY_LENGTH', length > 0 && length <= longest, `1 to ${longest}`)
    // A wrong value only causes an unnecessary question about unknown data.
    const hasWrittenEnd = (view.OPTIONAL & HAS_WRITTEN_END) !== 0 && Number.isSafeInteger(view.WRITTEN_END)
    return {
      generation: view.GENERATION,
      imageId: hex(view.IMAGE_ID),
      directory: { offsetBytes: offset, lengthBytes: length, crc32: view.DIRECTORY_CRC },
      usedEndBytes: usedEnd,
      writtenEndBytes: hasWrittenEnd ? Math.max(usedEnd, view.WRITTEN_END) : usedEnd,
      writer: view.WRITER,
    }
  },
})

/** Encodes one copy. @throws RangeError for values that the structure cannot represent. */
export function encodeSuperblock(copy: CopyName, superblock: Superblock): Uint8Array {
  return SUPERBLOCKS.encode(copy, {
    GENERATION: superblock.generation,
    IMAGE_ID: Buffer.from(superblock.imageId, 'hex'),
    OPTIONAL: HAS_WRITTEN_END,
    ALIGNMENT: ALIGNMENT_BYTES,
    CHUNK: CHUNK_BYTES,
    DIRECTORY_OFFSET: superblock.directory.offsetBytes,
    DIRECTORY_LENGTH: superblock.directory.lengthBytes,
    DIRECTORY_CRC: superblock.directory.crc32,
    USED_END: superblock.usedEndBytes,
    WRITTEN_END: superblock.writtenEndBytes,
    WRITER: superblock.writer,
  })
}

/** Names of the fields. */
export type SuperblockField = keyof typeof SUPERBLOCK.fields

/**
 * Error of a superblock copy that is damaged, incomplete or has invalid values.
 * @param remedy 'replace-image' if no other copy is valid.
 */
export class SuperblockError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_IMAGE_SUPERBLOCK'
  readonly category = 'verification'
  readonly remedy: Remedy
  readonly copy: CopyName
  readonly field: SuperblockField
  readonly expected: string
  readonly got: string

  constructor(copy: CopyName, field: SuperblockField, expected: string, got: string, remedy: Remedy = 'replace-model') {
    super(`Superblock copy ${copy} is damaged: ${field}`, {
      facts: [`copy ${copy} at byte ${COPY_OFFSET_BYTES[copy]}`, `expected ${expected}`, `got ${got}`],
      next:
        remedy === 'replace-model'
          ? 'the other copy is used if it is valid; pack the model again with { replace: true } to repair this one'
          : "pack all models again, the first with { replace: 'image' }",
    })
    this.remedy = remedy
    this.copy = copy
    this.field = field
    this.expected = expected
    this.got = got
  }
}

/** Error of a valid image that requires a newer reader. */
export function unsupportedImage(copy: CopyName, what: string): LoaderError {
  const headline = `This version of @gpunvme/layer-loader cannot read the image: ${what}`
  return new LoaderError('ERR_GPUNVME_IMAGE_UNSUPPORTED', 'infeasible', headline, {
    facts: [`superblock copy ${copy}`, `this reader supports version ${FORMAT_VERSION}, and no required features`],
    next: 'use a newer @gpunvme/layer-loader',
  })
}
