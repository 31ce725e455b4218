import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  fromBigEndian,
  type GuardBits,
  type LogicalBlockTags,
  packTags,
  ProtectionInformation16,
  ProtectionInformation32,
  ProtectionInformation64,
  type TagDwords,
  toBigEndian,
  unpackTags,
} from './protection.js'
import { fromHex } from '../../test/bytes.js'
import { bytesOf } from '../../test/figures.js'

describe('protection information', () => {
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

    it('is created from integers with toBigEndian', () => {
      const values = {
        GUARD: toBigEndian(4, 0x98f9_4189n),
        AT: toBigEndian(2, 0xffffn),
        SRS: toBigEndian(10, 1n << 72n),
      }
      const { data } = ProtectionInformation32.create(values)
      expect(new Uint8Array(data.buffer)).toEqual(
        Uint8Array.of(0x98, 0xf9, 0x41, 0x89, 0xff, 0xff, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0),
      )
    })

    it('rejects an integer that does not fit its bytes', () => {
      expect(() => toBigEndian(2, 0x1_0000n)).toThrow(
        new RangeError(
          'Protection information (a big endian field): expected an integer of 2 bytes, got 65536n (NVM 1.2 §5.3.1)',
        ),
      )
      expect(() => toBigEndian(2, -1n)).toThrow(RangeError)
      expect(() => toBigEndian(2, 1 as never)).toThrow(TypeError)
    })
  })
})

describe('logical block tags', () => {
  // Bits placed by hand as in the examples of the figures; libnvme 1.3 produces the same dwords.
  const examples: [figure: string, GuardBits, STS: number, LogicalBlockTags, TagDwords][] = [
    [
      'Figure 160, 16b guards without Storage Tag',
      ...([16, 0] as const),
      { storageTag: 0n, referenceTag: 0x1122_3344n },
      { CDW2: 0, CDW3: 0, CDW14: 0x1122_3344 },
    ],
    [
      'Figure 162, 32b guards with 32 bits of Storage Tag',
      ...([32, 32] as const),
      { storageTag: 0x8899_aabbn, referenceTag: 0x1122_3344_5566n },
      { CDW2: 0x8899, CDW3: 0xaabb_1122, CDW14: 0x3344_5566 },
    ],
    [
      'Figure 164, 64b guards with 18 bits of Storage Tag',
      ...([64, 18] as const),
      { storageTag: 0x2_aaabn, referenceTag: 0x1555_5555n },
      { CDW2: 0, CDW3: 0xaaaa, CDW14: 0xd555_5555 },
    ],
    [
      'Figure 157, 32b guards with the largest Storage Tag',
      ...([32, 64] as const),
      { storageTag: 0x0102_0304_0506_0708n, referenceTag: 0x1122n },
      { CDW2: 0x0102, CDW3: 0x0304_0506, CDW14: 0x0708_1122 },
    ],
    [
      'Figure 157, 32b guards with the smallest Storage Tag',
      ...([32, 16] as const),
      { storageTag: 0xaabbn, referenceTag: 0x1122_3344_5566_7788n },
      { CDW2: 0xaabb, CDW3: 0x1122_3344, CDW14: 0x5566_7788 },
    ],
  ]

  describe('logical block tags in Command Dwords 2, 3 and 14 (NVM 1.2 §5.3.1.4.1)', () => {
    it.each(examples)('%s', (_, guardBits, STS, tags, dwords) => {
      expect(packTags(guardBits, STS, tags)).toEqual(dwords)
      expect(unpackTags(guardBits, STS, dwords)).toEqual(tags)
    })

    it('of 16b and 64b guards ignore the bits that the controller ignores (Figure 159)', () => {
      const dwords = { CDW2: 0xffff, CDW3: 0xffff_0000, CDW14: 1 }
      expect(unpackTags(16, 0, dwords)).toEqual({ storageTag: 0n, referenceTag: 1n })
      expect(unpackTags(64, 0, dwords)).toEqual({ storageTag: 0n, referenceTag: 1n })
    })

    it('are unpacked to the packed values, at any size', () => {
      const sizes = fc.oneof(
        fc.tuple(fc.constant(16 as const), fc.integer({ min: 0, max: 32 }), fc.constant(32)),
        fc.tuple(fc.constant(32 as const), fc.integer({ min: 16, max: 64 }), fc.constant(80)),
        fc.tuple(fc.constant(64 as const), fc.integer({ min: 0, max: 48 }), fc.constant(48)),
      )
      fc.assert(
        fc.property(
          sizes,
          fc.bigInt(0n, 2n ** 64n - 1n),
          fc.bigInt(0n, 2n ** 64n - 1n),
          ([guard, STS, space], a, b) => {
            const tags = { storageTag: BigInt.asUintN(STS, a), referenceTag: BigInt.asUintN(space - STS, b) }
            expect(unpackTags(guard, STS, packTags(guard, STS, tags))).toEqual(tags)
          },
        ),
      )
    })

    it('are rejected for a Storage Tag Size that the format does not allow (Figure 157)', () => {
      const tags = { storageTag: 0n, referenceTag: 0n }
      expect(() => packTags(32, 15, tags)).toThrow(
        new RangeError(
          'Logical block tags (Storage Tag Size): expected an integer from 16 to 64 with 32b guards, got 15 (NVM 1.2 §5.3.1.4.1)',
        ),
      )
      expect(() => packTags(16, 33, tags)).toThrow(RangeError)
      expect(() => packTags(64, 49, tags)).toThrow(RangeError)
      expect(() => unpackTags(64, 0.5, { CDW2: 0, CDW3: 0, CDW14: 0 })).toThrow(RangeError)
    })

    it('are rejected for a guard width other than 16, 32 or 64 bits, and for dwords that are not 32-bit integers', () => {
      expect(() => packTags(17 as never, 8, { storageTag: 0n, referenceTag: 0n })).toThrow(
        new RangeError('Logical block tags (Guard): expected 16, 32 or 64 bits, got 17 (NVM 1.2 §5.3.1.4.1)'),
      )
      const dwords = { CDW2: 0, CDW3: 0, CDW14: 0 }
      expect(() => unpackTags(16, 8, { ...dwords, CDW14: -1 })).toThrow(
        new RangeError('CDW14: expected an integer from 0 to 4294967295, got -1'),
      )
      expect(() => unpackTags(32, 16, { ...dwords, CDW2: 2 ** 32 })).toThrow(RangeError)
      expect(() => unpackTags(32, 16, { ...dwords, CDW3: undefined as never })).toThrow(TypeError)
    })

    it('are rejected if they exceed their size, instead of overlapping', () => {
      expect(() => packTags(16, 8, { storageTag: 256n, referenceTag: 0n })).toThrow(
        'Logical block tags (Storage Tag): expected an integer of 8 bits, got 256n',
      )
      expect(() => packTags(16, 8, { storageTag: 0n, referenceTag: 1n << 24n })).toThrow(RangeError)
      expect(() => packTags(16, 8, { storageTag: 0n, referenceTag: 1 as never })).toThrow(TypeError)
    })
  })
})
