import { expect, test } from 'vitest'
import { segments } from '../../test/segments.js'
import { runsOf } from './memory-runs.js'

test('memory of one segment is one run, whose shift takes every offset to it', () => {
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

test('the longest power of two that no run leaves its segment by: the segments begin at 0, 16 and 24 KiB', () => {
  const { iovas, shift } = runsOf(segments([0x1_0000, 0x4000], [0x8_0000, 0x2000], [0x4_0000, 0x6000]), 4096)
  expect(shift).toBe(13)
  expect([...iovas]).toEqual([0x1_0000n, 0x1_2000n, 0x8_0000n, 0x4_0000n, 0x4_2000n, 0x4_4000n])
})

test('huge pages are runs of 2 MiB, and the last run may be shorter', () => {
  const { iovas, shift } = runsOf(segments([0x4000_0000, 0x20_0000], [0x8000_0000, 0x20_1000]), 4096)
  expect(shift).toBe(21)
  expect([...iovas]).toEqual([0x4000_0000n, 0x8000_0000n, 0x8020_0000n])
})

test('addresses above 2^32, and a start inside a page, are kept', () => {
  const { iovas, shift } = runsOf(segments([0xff_ffff_ee00, 8192], [0x10_0000_0000, 8192]), 4096)
  expect(shift).toBe(13)
  expect([...iovas]).toEqual([0xff_ffff_ee00n, 0x10_0000_0000n])
})

test('every byte is where the memory itself says that it is', () => {
  const memory = segments([0x1_0000, 0x4000], [0x8_0000, 0x2000], [0x4_0000, 0x6000])
  const { iovas, shift } = runsOf(memory, 4096)
  for (let offset = 0; offset < memory.lengthBytes; offset += 508) {
    const iova = iovas[offset >> shift]! + BigInt(offset & (2 ** shift - 1))
    expect(iova).toBe(BigInt(memory.iovaAt(offset)))
  }
})

test('memory is refused whose runs would be shorter than a page', () => {
  const memory = segments([0x1_0000, 4096], [0x8_0000, 512], [0x4_0000, 4096])
  expect(() => runsOf(memory, 4096)).toThrow(
    new RangeError('memory: expected segments that begin at multiples of 4096 bytes, got one at byte 4608'),
  )
  expect(() => runsOf(segments([0x1_0000, 4096], [0x8_0000, 4096]), 8192)).toThrow('multiples of 8192 bytes')
})
