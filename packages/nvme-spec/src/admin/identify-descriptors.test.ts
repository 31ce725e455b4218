import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../../test/bytes.js'
import { bytesOf } from '../../test/figures.js'
import { NamespaceIdDescriptor, namespaceIds, NIDT } from './identify-descriptors.js'

/** What CNS 03h returns: these bytes, then zeroes or another filling. */
function listOf(hex: string, filling = 0): DataView {
  const list = new Uint8Array(4096).fill(filling)
  list.set(new Uint8Array(fromHex(hex).buffer))
  return new DataView(list.buffer)
}

const shown = (data: DataView, byteOffset?: number) =>
  [...namespaceIds(data, byteOffset)].map(({ type, id }) => [type, toHex(new DataView(id.buffer))])

describe('Namespace Identification Descriptor (CNS 03h, Base 2.1 §5.1.13.2.3, Figure 315)', () => {
  it('NIDT is byte 0, NIDL byte 1, and the identifier begins at byte 4', () => {
    expect(bytesOf(NamespaceIdDescriptor)).toEqual([
      ['NIDT', 0, 1],
      ['NIDL', 1, 1],
    ])
    expect(NamespaceIdDescriptor.bytes).toBe(4)
    expect(NamespaceIdDescriptor.describe(fromHex('03 10 00 00'))).toEqual(['NIDT=UUID', 'NIDL=16'])
  })

  it('types are 1h EUI-64, 2h NGUID, 3h UUID and 4h CSI', () => {
    expect(NIDT.values).toEqual({ EUI64: 0x1, NGUID: 0x2, UUID: 0x3, CSI: 0x4 })
  })
})

describe('namespaceIds', () => {
  // UUID 01020304-0506-0708-090a-0b0c0d0e0f10, EUI-64 5254000000000001h, NVM Command Set
  const descriptors =
    '03 10 00 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 01 08 00 00 52 54 00 00 00 00 00 01 04 01 00 00 00'

  it('gives every identifier with its type, in the order of the wire', () => {
    expect(shown(listOf(descriptors))).toEqual([
      [3, '01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10'],
      [1, '52 54 00 00 00 00 00 01'],
      [4, '00'],
    ])
  })

  it('ends at a length of 0, whatever follows it', () => {
    expect(shown(listOf(''))).toEqual([])
    expect(shown(listOf('04 01 00 00 02 00 00 00 00', 0xff))).toEqual([[4, '02']])
  })

  it('gives types that the specification reserves, which a host is to ignore', () => {
    expect(shown(listOf('7f 03 00 00 aa bb cc 04 01 00 00 00'))).toEqual([
      [0x7f, 'aa bb cc'],
      [4, '00'],
    ])
  })

  it('ends with the last byte of the list', () => {
    // 4096 = 15 * 259 + 211: fifteen descriptors of 255 bytes and one of 207.
    const full = ['7f ff 00 00' + ' 00'.repeat(255)].join().concat(' ').repeat(15) + '7f cf 00 00' + ' 11'.repeat(207)
    expect(shown(listOf(full))).toHaveLength(16)
    // Three bytes too few for another header are no descriptor.
    const rest = full.replace(/7f cf.*/, '7f cc 00 00' + ' 11'.repeat(204) + ' 04 01 00')
    expect(shown(listOf(rest))).toHaveLength(16)
  })

  it('gives what stands before a descriptor that leaves the list, and then throws', () => {
    const data = listOf(('7f ff 00 00' + ' 00'.repeat(255) + ' ').repeat(15) + '7f d0')
    const ids = namespaceIds(data)
    for (let i = 0; i < 15; i++) expect(ids.next().done).toBe(false)
    expect(() => ids.next()).toThrow(
      new RangeError(
        'Namespace Identification Descriptor at byte 3885: ends at byte 4097 of a list of 4096 (Base 2.1 §5.1.13.2.3)',
      ),
    )
  })

  it.each([
    ['01 10 00 00', 8, 1, 16],
    ['02 08 00 00', 16, 2, 8],
    ['03 0f 00 00', 16, 3, 15],
    ['04 02 00 00', 1, 4, 2],
  ])('refuses %s: a length that is not the one of its type', (hex, expected, type, got) => {
    const read = () => [...namespaceIds(listOf('7f 01 00 00 00 ' + hex))]
    expect(read).toThrow(RangeError)
    expect(read).toThrow(`at byte 5: expected NIDL ${expected} for NIDT ${type}, got ${got} (Base 2.1 §5.1.13.2.3)`)
  })

  it('reads a list in the middle of other memory, and copies the identifiers', () => {
    const memory = new Uint8Array(8192).fill(0xff)
    memory.set(new Uint8Array(listOf(descriptors).buffer), 1001)
    const data = new DataView(memory.buffer, 1)
    const [first] = [...namespaceIds(data, 1000)]
    memory.fill(0)
    expect(toHex(new DataView(first!.id.buffer), 0, 4)).toBe('01 02 03 04')
  })

  it('throws for less than a list', () => {
    expect(() => shown(listOf(''), 1)).toThrow(
      'Namespace Identification Descriptor list needs 4096 bytes at offset 1, the view has 4096',
    )
    expect(() => shown(new DataView(new ArrayBuffer(4)))).toThrow(RangeError)
  })

  it('refuses an offset that is none, and what is no DataView', () => {
    const read = (data: unknown, byteOffset?: unknown) => () => [
      ...namespaceIds(data as DataView, byteOffset as number),
    ]
    for (const byteOffset of [-1, 0.5, Number.NaN]) expect(read(listOf(''), byteOffset)).toThrow(RangeError)
    expect(read(listOf(''), '0')).toThrow(TypeError)
    for (const data of [undefined, {}]) expect(read(data)).toThrow('Namespace Identification Descriptor list')
    expect(read(new Uint8Array(4096))).toThrow(TypeError)
  })
})
