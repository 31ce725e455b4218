import { describe, expect, it } from 'vitest'
import { fromHex } from '../../test/bytes.js'
import { bytesOf } from '../../test/figures.js'
import {
  fromBigEndian,
  ProtectionInformation16,
  ProtectionInformation32,
  ProtectionInformation64,
  toBigEndian,
} from './protection-information.js'

describe('protection information (NVM 1.2 §5.3.1, Figures 147 to 151; Linux 6.1 linux/t10-pi.h)', () => {
  it.each([
    [
      ProtectionInformation16,
      8,
      [
        ['GUARD', 0, 2],
        ['AT', 2, 2],
        ['SRS', 4, 4],
      ],
    ],
    [
      ProtectionInformation32,
      16,
      [
        ['GUARD', 0, 4],
        ['AT', 4, 2],
        ['SRS', 6, 10],
      ],
    ],
    [
      ProtectionInformation64,
      16,
      [
        ['GUARD', 0, 8],
        ['AT', 8, 2],
        ['SRS', 10, 6],
      ],
    ],
  ] as const)('$name has its fields at their bytes', (format, bytes, fields) => {
    expect(format.bytes).toBe(bytes)
    expect(bytesOf(format)).toEqual(fields)
  })

  it('has the most significant byte of each field first', () => {
    const { GUARD, AT, SRS } = ProtectionInformation64.decode(
      fromHex('64 82 d3 67 eb 22 b6 4e  12 34  00 00 3b 9f 80 00'),
    )
    expect([GUARD, AT, SRS].map(fromBigEndian)).toEqual([0x6482_d367_eb22_b64en, 0x1234n, 0x3b9f_8000n])
  })

  it('is written from integers', () => {
    const values = { GUARD: toBigEndian(4, 0x98f9_4189n), AT: toBigEndian(2, 0xffffn), SRS: toBigEndian(10, 1n << 72n) }
    const { data } = ProtectionInformation32.create(values)
    expect(new Uint8Array(data.buffer)).toEqual(
      Uint8Array.of(0x98, 0xf9, 0x41, 0x89, 0xff, 0xff, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    )
  })

  it('refuses an integer that does not fit its bytes', () => {
    expect(() => toBigEndian(2, 0x1_0000n)).toThrow(
      new RangeError(
        'Protection information (a big endian field): expected an integer of 2 bytes, got 65536n (NVM 1.2 §5.3.1)',
      ),
    )
    expect(() => toBigEndian(2, -1n)).toThrow(RangeError)
    expect(() => toBigEndian(2, 1 as never)).toThrow(TypeError)
  })
})
