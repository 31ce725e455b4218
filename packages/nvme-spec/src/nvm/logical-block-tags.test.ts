import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packTags, unpackTags, type GuardBits, type LogicalBlockTags, type TagDwords } from './logical-block-tags.js'

// Bits placed by hand as the examples of the figures place them; the last column of dwords is what libnvme 1.3 makes.
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
    'Figure 157, 32b guards with the most Storage Tag',
    ...([32, 64] as const),
    { storageTag: 0x0102_0304_0506_0708n, referenceTag: 0x1122n },
    { CDW2: 0x0102, CDW3: 0x0304_0506, CDW14: 0x0708_1122 },
  ],
  [
    'Figure 157, 32b guards with the least Storage Tag',
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

  it('of 16b and 64b guards ignore what the controller ignores (Figure 159)', () => {
    const dwords = { CDW2: 0xffff, CDW3: 0xffff_0000, CDW14: 1 }
    expect(unpackTags(16, 0, dwords)).toEqual({ storageTag: 0n, referenceTag: 1n })
    expect(unpackTags(64, 0, dwords)).toEqual({ storageTag: 0n, referenceTag: 1n })
  })

  it('unpack to what was packed, whatever their sizes', () => {
    const sizes = fc.oneof(
      fc.tuple(fc.constant(16 as const), fc.integer({ min: 0, max: 32 }), fc.constant(32)),
      fc.tuple(fc.constant(32 as const), fc.integer({ min: 16, max: 64 }), fc.constant(80)),
      fc.tuple(fc.constant(64 as const), fc.integer({ min: 0, max: 48 }), fc.constant(48)),
    )
    fc.assert(
      fc.property(sizes, fc.bigInt(0n, 2n ** 64n - 1n), fc.bigInt(0n, 2n ** 64n - 1n), ([guard, STS, space], a, b) => {
        const tags = { storageTag: BigInt.asUintN(STS, a), referenceTag: BigInt.asUintN(space - STS, b) }
        expect(unpackTags(guard, STS, packTags(guard, STS, tags))).toEqual(tags)
      }),
    )
  })

  it('are refused with a Storage Tag Size that the format does not have (Figure 157)', () => {
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

  it('are refused where they do not fit, instead of running into one another', () => {
    expect(() => packTags(16, 8, { storageTag: 256n, referenceTag: 0n })).toThrow(
      'Logical block tags (Storage Tag): expected an integer of 8 bits, got 256n',
    )
    expect(() => packTags(16, 8, { storageTag: 0n, referenceTag: 1n << 24n })).toThrow(RangeError)
    expect(() => packTags(16, 8, { storageTag: 0n, referenceTag: 1 as never })).toThrow(TypeError)
  })
})
