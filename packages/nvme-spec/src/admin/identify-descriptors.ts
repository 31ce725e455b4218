import { codes, someOf, struct, u8 } from '../layout/index.js'
import { needBytes } from '../layout/placed.js'
import { IDENTIFY_BYTES } from './identify.js'

/** Namespace Identifier Types (Base 2.1 §5.1.13.2.3, Figure 315). */
export const NIDT = codes(
  'NIDT',
  { doc: 'Namespace Identifier Types', spec: 'Base 2.1 §5.1.13.2.3' },
  { EUI64: 0x1, NGUID: 0x2, UUID: 0x3, CSI: 0x4 },
)

/** Header of each identifier in the list that CNS 03h returns; NIDL bytes follow (Base 2.1 Figure 315). */
export const NamespaceIdDescriptor = struct(
  'Namespace Identification Descriptor',
  { bytes: 4, doc: 'Header of a namespace identifier', spec: 'Base 2.1 §5.1.13.2.3' },
  {
    NIDT: someOf(u8(0, 'Namespace Identifier Type'), NIDT.values),
    NIDL: u8(1, 'Namespace Identifier Length in bytes'),
  },
)

/** An identifier of a namespace. */
export interface NamespaceId {
  /** `NIDT.UUID` etc.; ignore reserved types. */
  readonly type: number
  /** A copy, in wire order: EUI-64, NGUID and UUID are big endian. */
  readonly id: Uint8Array
}

const typeLengths: Readonly<Record<number, number>> = {
  [NIDT.EUI64]: 8,
  [NIDT.NGUID]: 16,
  [NIDT.UUID]: 16,
  [NIDT.CSI]: 1,
}

/**
 * Iterates over the identifiers in the 4096 bytes that CNS 03h returns, which begin at byteOffset (Base 2.1
 * §5.1.13.2.3). The list ends with a length of 0, or with its last byte.
 * @throws RangeError if `data` is too short, and for a descriptor that exceeds the list or whose length does not match
 *   its type; TypeError if `data` is not a DataView. Errors are thrown during iteration.
 */
export function* namespaceIds(data: DataView, byteOffset = 0): Generator<NamespaceId, void, undefined> {
  const { name, bytes: headerBytes, spec } = NamespaceIdDescriptor
  needBytes(`${name} list`, IDENTIFY_BYTES, spec, data, byteOffset)
  let at = 0
  while (at + headerBytes <= IDENTIFY_BYTES) {
    const { NIDT: type, NIDL: length } = NamespaceIdDescriptor.view(data, byteOffset + at)
    if (length === 0) return
    const expected = typeLengths[type] ?? length
    if (length !== expected)
      throw new RangeError(`${name} at byte ${at}: expected NIDL ${expected} for NIDT ${type}, got ${length} (${spec})`)
    const end = at + headerBytes + length
    if (end > IDENTIFY_BYTES)
      throw new RangeError(`${name} at byte ${at}: ends at byte ${end} of a list of ${IDENTIFY_BYTES} (${spec})`)
    const from = data.byteOffset + byteOffset + at + headerBytes
    yield { type, id: new Uint8Array(data.buffer.slice(from, from + length)) }
    at = end
  }
}
