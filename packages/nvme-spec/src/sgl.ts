import {
  bits,
  bytes,
  codes,
  dwordBits,
  encodeFields,
  inHex,
  n64,
  openBits,
  rejectValue,
  struct,
  u32,
  u8,
  type Decoded,
  type Layout,
  type Memory,
} from './layout/index.js'
import { isPlain } from './layout/facts.js'

/** SGL Descriptor Types (Base 2.1 §4.3.2, Figure 115). */
export const SGL_TYPE = codes(
  'SGL_TYPE',
  { doc: 'SGL Descriptor Types', spec: 'Base 2.1 §4.3.2' },
  {
    DATA_BLOCK: 0x0,
    BIT_BUCKET: 0x1,
    SEGMENT: 0x2,
    LAST_SEGMENT: 0x3,
    KEYED_DATA_BLOCK: 0x4,
    TRANSPORT_DATA_BLOCK: 0x5,
    VENDOR: 0xf,
  },
)

/**
 * SGL Descriptor Sub Types (Base 2.1 §4.3.2, Figure 116): the meaning of an address. PCIe controllers support only
 * addresses; Ah to Fh belong to the transport.
 */
export const SGL_SUB_TYPE = codes(
  'SGL_SUB_TYPE',
  { doc: 'SGL Descriptor Sub Types', spec: 'Base 2.1 §4.3.2' },
  { ADDRESS: 0x0, OFFSET: 0x1 },
)

/** Byte offset of SGL1 in a submission queue entry whose PSDT is not PRP (Base 2.1 §4.1.1, Figure 92). */
export const SGL1_OFFSET = 24

/** Length of an SGL descriptor in bytes. */
export const SGL_DESCRIPTOR_BYTES = 16

const sglId = u8(15, 'SGL Identifier', {
  SGLDST: openBits(3, 0, 'SGL Descriptor Sub Type', SGL_SUB_TYPE.values),
  SGLDT: openBits(7, 4, 'SGL Descriptor Type', SGL_TYPE.values),
})

// `encode` and `create` of a typed descriptor store its type. SGLDST is 0h unless SGLID has it. 0h is reserved for a
// Transport SGL Data Block: store the sub type of the transport, such as `TCP_SGL_SUB_TYPE.COMMAND_DATA_BUFFER`.

/** Any SGL descriptor, before its type is known, or one of a reserved or vendor specific type (Figure 114). */
export const SglDescriptor = struct(
  'SGL descriptor',
  { bytes: SGL_DESCRIPTOR_BYTES, doc: 'Generic SGL descriptor', spec: 'Base 2.1 §4.3.2' },
  { DTS: bytes(0, 15, 'Descriptor Type Specific'), SGLID: sglId },
)

/** A range of memory to be read or written; if all zero, a NULL descriptor (Base 2.1 Figure 117). */
export const SglDataBlock = struct(
  'SGL Data Block descriptor',
  { bytes: SGL_DESCRIPTOR_BYTES, doc: 'A data block', spec: 'Base 2.1 §4.3.2' },
  { ADDR: n64(0, 'Address'), LEN: u32(8, 'Length, in bytes'), SGLID: sglId },
)

/** Source data to be discarded; no effect on data to the controller (Base 2.2 Figure 119). */
export const SglBitBucket = struct(
  'SGL Bit Bucket descriptor',
  { bytes: SGL_DESCRIPTOR_BYTES, doc: 'Source data to be discarded', spec: 'Base 2.2 §4.3.2' },
  { LEN: u32(8, 'Length, in bytes'), SGLID: sglId },
  { SGLID: { SGLDT: SGL_TYPE.BIT_BUCKET } },
)

/** Location of the next segment, which is not the last one (Base 2.2 Figure 120). */
export const SglSegment = struct(
  'SGL Segment descriptor',
  { bytes: SGL_DESCRIPTOR_BYTES, doc: 'The next segment, not the last', spec: 'Base 2.2 §4.3.2' },
  {
    ADDR: n64(0, 'Address of the next segment'),
    LEN: u32(8, 'Length of the next segment, in bytes: a multiple of 16'),
    SGLID: sglId,
  },
  { SGLID: { SGLDT: SGL_TYPE.SEGMENT } },
)

/** Location of the next segment, which is the last one (Base 2.2 Figure 121). */
export const SglLastSegment = struct(
  'SGL Last Segment descriptor',
  { bytes: SGL_DESCRIPTOR_BYTES, doc: 'The next and last segment', spec: 'Base 2.2 §4.3.2' },
  {
    ADDR: n64(0, 'Address of the last segment'),
    LEN: u32(8, 'Length of the last segment, in bytes: a multiple of 16'),
    SGLID: sglId,
  },
  { SGLID: { SGLDT: SGL_TYPE.LAST_SEGMENT } },
)

/** A data block with a key for remote access (Base 2.2 Figure 122). */
export const KeyedSglDataBlock = struct(
  'Keyed SGL Data Block descriptor',
  { bytes: SGL_DESCRIPTOR_BYTES, doc: 'A data block with a key', spec: 'Base 2.2 §4.3.2' },
  {
    ADDR: n64(0, 'Address'),
    LEN: dwordBits(8, bits(23, 0, 'Length, in bytes')),
    KEY: inHex(u32(11, 'Key')),
    SGLID: sglId,
  },
  { SGLID: { SGLDT: SGL_TYPE.KEYED_DATA_BLOCK } },
)

/** A data block that is transferred in a transport specific way (Base 2.2 Figure 123). */
export const TransportSglDataBlock = struct(
  'Transport SGL Data Block descriptor',
  { bytes: SGL_DESCRIPTOR_BYTES, doc: 'A transport specific data block', spec: 'Base 2.2 §4.3.2' },
  { LEN: u32(8, 'Length, in bytes'), SGLID: sglId },
  { SGLID: { SGLDT: SGL_TYPE.TRANSPORT_DATA_BLOCK } },
)

const declared = {
  DATA_BLOCK: SglDataBlock,
  BIT_BUCKET: SglBitBucket,
  SEGMENT: SglSegment,
  LAST_SEGMENT: SglLastSegment,
  KEYED_DATA_BLOCK: KeyedSglDataBlock,
  TRANSPORT_DATA_BLOCK: TransportSglDataBlock,
}

/** An SGL descriptor as an object: its type by name of SGL_TYPE, and the fields of this type. */
export type DecodedSglDescriptor =
  | { readonly type: 'DATA_BLOCK'; readonly fields: Decoded<(typeof SglDataBlock)['fields']> }
  | { readonly type: 'BIT_BUCKET'; readonly fields: Decoded<(typeof SglBitBucket)['fields']> }
  | { readonly type: 'SEGMENT'; readonly fields: Decoded<(typeof SglSegment)['fields']> }
  | { readonly type: 'LAST_SEGMENT'; readonly fields: Decoded<(typeof SglLastSegment)['fields']> }
  | { readonly type: 'KEYED_DATA_BLOCK'; readonly fields: Decoded<(typeof KeyedSglDataBlock)['fields']> }
  | { readonly type: 'TRANSPORT_DATA_BLOCK'; readonly fields: Decoded<(typeof TransportSglDataBlock)['fields']> }
  | { readonly type: 'VENDOR' | 'RESERVED'; readonly fields: Decoded<(typeof SglDescriptor)['fields']> }

/**
 * Decodes the SGL descriptor at byteOffset according to its type (Base 2.1 §4.3.2).
 * @throws RangeError if `memory` ends before the 16 bytes of the descriptor do.
 */
export function decodeSglDescriptor(memory: Memory, byteOffset = 0): DecodedSglDescriptor {
  const type = typeOf(memory, byteOffset)
  const fields = structOf(type).decode(memory, byteOffset)
  return { type, fields } as DecodedSglDescriptor
}

/**
 * Encodes a result of `decodeSglDescriptor`; values that the specification reserves are stored unchanged.
 * @throws TypeError or RangeError for a value that does not fit; nothing is written then.
 */
export function encodeSglDescriptor(memory: Memory, byteOffset: number, descriptor: DecodedSglDescriptor): void {
  const { type, fields } = isPlain(descriptor) ? descriptor : ({} as Partial<DecodedSglDescriptor>)
  const where = { name: 'SGL descriptor', spec: SglDescriptor.spec }
  if (typeof type !== 'string' || !['RESERVED', ...Object.keys(SGL_TYPE.values)].includes(type))
    rejectValue(where, 'type', 'a name of SGL_TYPE, or RESERVED', type, 'string')
  const layout = structOf(type)
  const fresh = new DataView(new ArrayBuffer(layout.bytes))
  encodeFields(layout, fresh, 0, fields, { allowReserved: true })
  if (typeOf(fresh, 0) !== type) rejectValue(where, 'type', `SGLID of ${type}`, fresh.getUint8(layout.bytes - 1))
  encodeFields(layout, memory, byteOffset, fields, { allowReserved: true })
}

/**
 * Formats the SGL descriptor at byteOffset according to its type: `SGL Data Block descriptor ADDR=0x7000 LEN=4096`.
 * @throws RangeError if `memory` ends before the 16 bytes of the descriptor do.
 */
export function formatSglDescriptor(memory: Memory, byteOffset = 0): string {
  const layout = structOf(typeOf(memory, byteOffset))
  return [layout.name, ...layout.describe(memory, byteOffset)].join(' ')
}

/**
 * Returns the layout of the SGL descriptor at byteOffset, according to its type.
 * @throws RangeError if `memory` ends before the 16 bytes of the descriptor do.
 */
export function sglLayout(memory: Memory, byteOffset = 0): Layout {
  return structOf(typeOf(memory, byteOffset))
}

function typeOf(memory: Memory, byteOffset: number): DecodedSglDescriptor['type'] {
  const type = SglDescriptor.SGLID.SGLDT.of(SglDescriptor.view(memory, byteOffset).SGLID)
  return (SGL_TYPE.values as Record<string, number>)[SGL_TYPE.nameOf(type)] === type
    ? (SGL_TYPE.nameOf(type) as DecodedSglDescriptor['type'])
    : 'RESERVED'
}

function structOf(type: DecodedSglDescriptor['type']) {
  return type === 'VENDOR' || type === 'RESERVED' ? SglDescriptor : declared[type]
}
