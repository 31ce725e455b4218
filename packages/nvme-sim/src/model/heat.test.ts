import { describe, expect, it } from 'vitest'
import { Heat } from './heat.js'

const S = 1e9
const thermal = { factor: 2, limitBytes: 100, recoveredBytes: 40, coolingBytesPerSecond: 10 }

describe('heat', () => {
  it('rises with the bytes transferred and falls with time', () => {
    const heat = new Heat(thermal)
    heat.add(0, 50)
    expect(heat.share(0)).toBe(0.5)
    expect(heat.share(2 * S)).toBe(0.3)
    expect(heat.share(60 * S)).toBe(0)
  })

  it('throttles the drive from the limit until it falls to the recovery level', () => {
    const heat = new Heat(thermal)
    heat.add(0, 99)
    expect(heat.slowdown(0)).toBe(1)
    heat.add(0, 1)
    expect([heat.slowdown(0), heat.slowdown(5.9 * S), heat.slowdown(6 * S)]).toEqual([2, 2, 1])
  })

  it('never exceeds the limit, so that recovery takes the same time after any run', () => {
    const heat = new Heat(thermal)
    heat.add(0, 1e6)
    expect(heat.share(0)).toBe(1)
    expect(heat.slowdown(6 * S)).toBe(1)
  })

  it('accepts a transfer that begins earlier than the last one', () => {
    const heat = new Heat(thermal)
    heat.add(4 * S, 50)
    heat.add(1 * S, 10)
    expect(heat.share(4 * S)).toBe(0.6)
  })

  it('stays 0 for a drive without a thermal model', () => {
    const heat = new Heat(undefined)
    heat.add(0, 1e15)
    expect([heat.share(0), heat.slowdown(0)]).toEqual([0, 1])
  })
})

describe('a forced throttle', () => {
  it('lasts until its end, or until another replaces it', () => {
    const heat = new Heat(undefined)
    heat.force(3, 100)
    expect([heat.slowdown(0), heat.slowdown(99), heat.slowdown(100)]).toEqual([3, 3, 1])
    heat.force(1.5, 300)
    expect(heat.slowdown(99)).toBe(1.5)
  })

  it('is not combined with thermal throttling: the larger factor applies', () => {
    const heat = new Heat(thermal)
    heat.add(0, 100)
    heat.force(3, S)
    expect([heat.slowdown(0), heat.slowdown(S)]).toEqual([3, 2])
  })

  it.each([0.5, 0, -1, NaN, Infinity])('rejects a factor of %d', (factor) => {
    expect(() => new Heat(undefined).force(factor, 1)).toThrow(
      `throttle: expected a factor of 1 or more, got ${factor}`,
    )
  })
})
