import { describe, expect, it } from 'vitest'
import { steady } from '../../calibration/measure.js'
import { deriveProfile, profiles } from '../profiles/index.js'
import { costModel } from './cost-model.js'

const KIB = 1024

/** Returns the relative excess of the time of the model over that of the simulator. */
async function excess(name: keyof typeof profiles, blockBytes: number, depth: number): Promise<number> {
  const { intervalNs } = await steady(profiles[name], { operation: 'read', blockBytes, depth })
  return costModel(name).readNs(blockBytes, depth) / intervalNs - 1
}

const drives = ['sn740', 'sn530', '980pro', '990pro', 'p5800x', 'pm1753'] as const

describe.each(drives)('%s', (name) => {
  it.each([
    [4 * KIB, 1],
    [128 * KIB, 1],
    [4 * KIB, 16],
    [4 * KIB, 256],
    [128 * KIB, 32],
  ])('reads of %i bytes at queue depth %i match the simulator within 2.5 %%', async (blockBytes, depth) => {
    expect(Math.abs(await excess(name, blockBytes, depth))).toBeLessThan(0.025)
  })

  it.each([2, 4, 8])(
    'near the knee, queue depth %i at 128 KiB, the model is at most 8 %% too low and 1 %% too high',
    async (depth) => {
      const share = await excess(name, 128 * KIB, depth)
      expect(share).toBeGreaterThan(-0.08)
      expect(share).toBeLessThan(0.01)
    },
  )
})

it('reads of 1 MiB on sn740 reach 3,330 MiB/s when many are in flight', () => {
  expect(costModel('sn740').readNs(1024 * KIB, 32)).toBeCloseTo(1e9 / 3330, 3)
})

it('the slower of link and drive limits the rate', () => {
  // Gen3 x4: 3.938 GB/s on the wire; 256 of 280 bytes are data, and each command adds 160 bytes of overhead.
  const uncapped = costModel(deriveProfile('sn740', { readBytesPerSecond: Infinity }))
  expect(uncapped.readNs(1024 * KIB, 32) / ((4096 * 280 + 160) / 3.938461538)).toBeCloseTo(1, 6)
})

it('the cost rises with the length of a read, and never rises with the queue depth', () => {
  const model = costModel('980pro')
  for (let bytes = 4 * KIB; bytes < 512 * KIB; bytes *= 2) {
    expect(model.readNs(2 * bytes, 8)).toBeGreaterThan(model.readNs(bytes, 8))
    expect(model.readNs(bytes, 16)).toBeLessThanOrEqual(model.readNs(bytes, 8))
  }
})

it('a queue depth above commandSlots does not reduce the cost', () => {
  const model = costModel(deriveProfile('pm1753', { commandSlots: 16 }))
  expect(model.readNs(512, 1000)).toBe(model.readNs(512, 16))
})

it('the ideal profile has no cost', () => {
  expect(costModel('ideal').readNs(4096, 1)).toBe(0)
})

it('includes throttling only for profiles with a thermal model', () => {
  expect(costModel('sn740').throttle?.factor).toBe(1.56)
  expect('throttle' in costModel('980pro')).toBe(false)
})

it('rejects a read longer than MDTS, and an invalid length or queue depth', () => {
  const model = costModel('sn530')
  expect(() => model.readNs(512 * KIB + 512, 1)).toThrow('read: expected up to 524288 whole bytes (MDTS), got 524800')
  expect(() => model.readNs(0, 1)).toThrow(RangeError)
  for (const lengthBytes of [0.5, 4096.5, NaN, -1, '4096' as never])
    expect(() => model.readNs(lengthBytes, 1)).toThrow(RangeError)
  for (const depth of [1.5, NaN, Infinity, '1' as never])
    expect(() => model.readNs(4096, depth)).toThrow(/^queue depth/)
  expect(() => model.readNs(4096, 0)).toThrow('queue depth: expected a whole number of 1 or more, got 0')
})
