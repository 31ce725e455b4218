import { crc32 } from 'node:zlib'
import { TransferError } from '@gpunvme/host-driver'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import {
  formatField,
  type Encodable,
  type Field,
  type FieldMap,
  type Struct,
  type Values,
} from '@gpunvme/nvme-spec/layout'
import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { hasCode } from '../error.js'
import { behindMember } from '../sets/member-error.js'
import { systemCode } from '../store/file-store-blocks.js'
import { readBytes } from '../store/read-bytes.js'
import type { BlockStore } from '../store/store.js'
import { COPY_OFFSET_BYTES, RECORD_BYTES, type CopyName } from './format.js'

/** Fields that every record has. The checksum is last, and covers all bytes before it. */
export type RecordFields = FieldMap & {
  readonly MAGIC: Field<Uint8Array>
  readonly VERSION: Field<number>
  readonly LENGTH: Field<number>
  readonly REQUIRED: Field<number>
  readonly SELF: Field<number>
  readonly WRITER: Field<string>
  readonly CRC: Field<number>
}

/** Rejects a copy unless the condition on its field holds. */
export type Require<F> = (field: keyof F & string, holds: boolean, expected: string) => void

/** A kind of record, and its errors. */
export interface RecordFormat<F extends RecordFields, T> {
  readonly struct: Struct<F>
  readonly magic: Uint8Array
  readonly version: number
  /** Decodes the fields that only this kind has. */
  readonly parse: (view: Values<F>, require: Require<F>) => T
  readonly damaged: (copy: CopyName, field: keyof F & string, expected: string, got: string) => GpuNvmeError
  readonly unsupported: (copy: CopyName, what: string) => GpuNvmeError
}

/** Content at the location of one copy. */
export interface RecordCopy<T> {
  readonly copy: CopyName
  /** Absent if the copy is unusable. */
  readonly content?: T
  /** Why it is unusable; also absent if the store ends before the copy does. */
  readonly problem?: GpuNvmeError
  /** Whether it has the magic of this kind, or cannot be read and so might. */
  readonly ours: boolean
  /** Bytes there; absent if the store ends before the copy, or they cannot be read. */
  readonly encoded?: Uint8Array
}

/**
 * A record with which this package marks a store as its own: the superblock of an image, the label of a set's member.
 * A store has two copies. They are written one after the other, so that at least one is valid at any time. Each has a
 * checksum and its own offset.
 */
export class SealedRecord<F extends RecordFields, T> {
  private readonly format: RecordFormat<F, T>

  constructor(format: RecordFormat<F, T>) {
    this.format = format
  }

  /** Returns whether the bytes have the magic of this kind, of any version. */
  isIn(encoded: Uint8Array): boolean {
    return this.format.magic.every((byte, index) => encoded[index] === byte)
  }

  /** Encodes one copy. @throws RangeError for values that the structure cannot represent. */
  encode(copy: CopyName, values: Partial<Encodable<F>>): Uint8Array {
    const { struct, magic, version } = this.format
    const head = { MAGIC: magic, VERSION: version, LENGTH: RECORD_BYTES, SELF: COPY_OFFSET_BYTES[copy] }
    const { data } = struct.create({ ...values, ...head })
    const encoded = new Uint8Array(data.buffer)
    new DataView(data.buffer).setUint32(struct.fields.CRC.offset, this.crcOf(encoded), true)
    return encoded
  }

  /**
   * Decodes one untrusted copy. The capacity of the store is not compared: a copy on a smaller drive is still valid.
   * @throws the error of `RecordFormat.damaged`; that of `RecordFormat.unsupported` for a valid copy of a later version, or
   * with unknown required features.
   */
  decode(copy: CopyName, encoded: Uint8Array): T {
    const { struct, magic, version, parse, damaged, unsupported } = this.format
    const view = struct.view(encoded) as Values<RecordFields>
    const require: Require<F> = (field, holds, expected) => {
      if (!holds) throw damaged(copy, field, expected, shown(struct.fields[field]!, view[field]))
    }
    require('MAGIC', this.isIn(encoded), hex(magic))
    // Checked before all other fields: a flipped bit must not look like a later version.
    const crc = this.crcOf(encoded)
    require('CRC', view.CRC === crc, shown(struct.fields.CRC, crc))
    if (view.VERSION !== version) throw unsupported(copy, `it has version ${view.VERSION}`)
    if (view.REQUIRED !== 0)
      throw unsupported(copy, `it requires features ${shown(struct.fields.REQUIRED, view.REQUIRED)}`)
    require('LENGTH', view.LENGTH === RECORD_BYTES, String(RECORD_BYTES))
    require('SELF', view.SELF === COPY_OFFSET_BYTES[copy], String(COPY_OFFSET_BYTES[copy]))
    require('WRITER', /^[\x20-\x7e]*$/.test(view.WRITER), 'printable ASCII')
    return parse(view as Values<F>, require)
  }

  /** Reads and decodes one copy. An invalid copy, and a media error, become `problem`; other errors are thrown. */
  async read(store: BlockStore, copy: CopyName, options?: ExecuteOptions): Promise<RecordCopy<T>> {
    const offsetBytes = COPY_OFFSET_BYTES[copy]
    const lengthBytes = Math.min(RECORD_BYTES, store.capacityBytes - offsetBytes)
    if (lengthBytes <= 0) return { copy, ours: false }
    let encoded: Uint8Array
    try {
      encoded = await readBytes(store, offsetBytes, lengthBytes, options)
    } catch (problem) {
      if (isMediaError(problem)) return { copy, problem, ours: true }
      throw problem
    }
    const found = { copy, encoded, ours: this.isIn(encoded) }
    if (lengthBytes < RECORD_BYTES) return found
    try {
      return { ...found, content: this.decode(copy, encoded) }
    } catch (problem) {
      // One of the format's errors: decoding has no others.
      if (problem instanceof GpuNvmeError) return { ...found, problem }
      throw problem
    }
  }

  private crcOf(encoded: Uint8Array): number {
    return crc32(encoded.subarray(0, this.format.struct.fields.CRC.offset))
  }
}

/** Formats a field for messages: counts and byte offsets in decimal. */
function shown(field: Field, value: unknown): string {
  return field.kind === 'integer' && !field.hex ? String(value) : formatField(field, value)
}

/** Returns hexadecimal digits. */
export function hex(data: Uint8Array): string {
  return Buffer.from(data).toString('hex')
}

/** Status Code Type 2h: Media and Data Integrity Errors (Base 2.1 Figure 106). */
const MEDIA_ERRORS = 2

/**
 * Returns whether the controller reported a media error for these blocks, or the system a read error: other blocks may
 * still be readable.
 */
export function isMediaError(error: unknown): error is GpuNvmeError {
  const behind = behindMember(error)
  if (hasCode(behind, 'ERR_GPUNVME_SOURCE_READ')) return systemCode(behind.cause) === 'EIO'
  return (
    behind instanceof TransferError &&
    behind.failures.every(({ outcome }) => outcome.kind === 'status' && outcome.sct === MEDIA_ERRORS)
  )
}
