import { describe, expect, test } from 'vitest'
import { firstBreakInPage, prpProblem, runsOf, segmentAt } from './memory.js'
import { segments } from '../../test/segments.js'

describe('runsOf', () => {
  test('one segment is one run, with a shift that maps every offset to it', () => {
    expect(runsOf(segments([0x12_3456_7200, 12_800]), 4096)).toEqual({
      iovas: new BigUint64Array([0x12_3456_7200n]),
      shift: 63,
    })
  })

  test('segments of a page each are runs of a page', () => {
    const { iovas, shift } = runsOf(segments([0x5000, 4096], [0x9000, 4096], [0x7000, 4096]), 4096)
    expect(shift).toBe(12)
    expect([...iovas]).toEqual([0x5000n, 0x9000n, 0x7000n])
  })

  test('a run is the largest power of two that crosses no segment: 8 KiB for segments at 0, 16 and 24 KiB', () => {
    const { iovas, shift } = runsOf(segments([0x1_0000, 0x4000], [0x8_0000, 0x2000], [0x4_0000, 0x6000]), 4096)
    expect(shift).toBe(13)
    expect([...iovas]).toEqual([0x1_0000n, 0x1_2000n, 0x8_0000n, 0x4_0000n, 0x4_2000n, 0x4_4000n])
  })

  test('huge pages are runs of 2 MiB, and the last run may be shorter', () => {
    const { iovas, shift } = runsOf(segments([0x4000_0000, 0x20_0000], [0x8000_0000, 0x20_1000]), 4096)
    expect(shift).toBe(21)
    expect([...iovas]).toEqual([0x4000_0000n, 0x8000_0000n, 0x8020_0000n])
  })

  test('keeps addresses above 2^32 and a start inside a page', () => {
    const { iovas, shift } = runsOf(segments([0xff_ffff_ee00, 8192], [0x10_0000_0000, 8192]), 4096)
    expect(shift).toBe(13)
    expect([...iovas]).toEqual([0xff_ffff_ee00n, 0x10_0000_0000n])
  })

  test('maps every byte to the address that iovaAt returns', () => {
    const memory = segments([0x1_0000, 0x4000], [0x8_0000, 0x2000], [0x4_0000, 0x6000])
    const { iovas, shift } = runsOf(memory, 4096)
    for (let offset = 0; offset < memory.lengthBytes; offset += 508) {
      const iova = iovas[offset >> shift]! + BigInt(offset & (2 ** shift - 1))
      expect(iova).toBe(BigInt(memory.iovaAt(offset)))
    }
  })

  test('rejects memory whose runs would be shorter than a page', () => {
    const memory = segments([0x1_0000, 4096], [0x8_0000, 512], [0x4_0000, 4096])
    expect(() => runsOf(memory, 4096)).toThrow(
      new RangeError('memory: expected segments that begin at multiples of 4096 bytes, got one at byte 4608'),
    )
    expect(() => runsOf(segments([0x1_0000, 4096], [0x8_0000, 4096]), 8192)).toThrow('multiples of 8192 bytes')
  })
})

describe('segments', () => {
  test('the segment of a byte is the last one that starts at or before it', () => {
    const { segments: three } = segments([0x1000, 512], [0x9000, 1024], [0x5000, 512])
    expect([0, 511, 512, 1535, 1536, 2047].map((byte) => segmentAt(three, byte))).toEqual([0, 0, 1, 1, 2, 2])
    expect(segmentAt(segments([0x1000, 512]).segments, 511)).toBe(0)
  })

  test('PRPs can describe segments that meet at page boundaries, with partial first and last pages', () => {
    const memory = segments([0x1e00, 512], [0x9000, 8192], [0x5000, 512])
    expect(prpProblem(memory, 0, memory.lengthBytes, 4096)).toBeUndefined()
    expect(firstBreakInPage(memory.segments, 0, memory.lengthBytes, 4096)).toBeUndefined()
  })

  test('PRPs cannot describe a segment that begins inside a page (Base 2.1 §4.3.1)', () => {
    const memory = segments([0x1000, 4096], [0x9200, 4096])
    expect(prpProblem(memory, 0, 4608, 4096)).toBe(
      'segments that meet at ends of 4096-byte pages, as PRPs require, got one at 0x9200',
    )
  })

  test('PRPs cannot describe a segment that ends inside a page, followed by another one', () => {
    const memory = segments([0x1000, 512], [0x9000, 4096])
    expect(prpProblem(memory, 0, 1024, 4096)).toContain('got one at 0x9000')
    expect(firstBreakInPage(memory.segments, 0, 1024, 4096)).toEqual({
      offsetBytes: 512,
      iova: 0x9000,
      lengthBytes: 4096,
    })
  })

  test('segments outside the transfer are ignored', () => {
    const memory = segments([0x1000, 512], [0x9000, 4096], [0x5000, 512])
    expect(prpProblem(memory, 0, 512, 4096)).toBeUndefined()
    expect(prpProblem(memory, 512, 4608, 4096)).toBeUndefined()
  })

  test('uses the given page length', () => {
    const memory = segments([0x1000, 4096], [0x9000, 4096])
    expect(prpProblem(memory, 0, 8192, 4096)).toBeUndefined()
    expect(prpProblem(memory, 0, 8192, 8192)).toContain('8192-byte pages')
  })
})
