import { describe, expect, it } from 'vitest'
import { lineRate, payloadLimit, wireBytes } from './pcie.js'

describe('PCIe payload limit', () => {
  it.each([
    [3, 3.938e9],
    [4, 7.877e9],
    [5, 15.754e9],
  ] as const)('the line rate of Gen%i x4 is %d bytes a second after 128b/130b', (gen, rate) => {
    expect(lineRate({ gen, width: 4 }) / rate).toBeCloseTo(1, 3)
  })

  it('Gen1 and Gen2 lose a fifth to 8b/10b', () => {
    expect(lineRate({ gen: 1, width: 1 })).toBe(250e6)
    expect(lineRate({ gen: 2, width: 4 })).toBe(2e9)
  })

  // Each TLP costs 24 bytes beside its payload: 4 framing with sequence number, 16 header, 4 LCRC. In GB/s.
  it.each([
    [3, 128, 3.32],
    [3, 256, 3.6],
    [3, 512, 3.76],
    [4, 128, 6.63],
    [4, 256, 7.2],
    [4, 512, 7.52],
    [5, 128, 13.27],
    [5, 256, 14.4],
    [5, 512, 15.05],
  ] as const)('Gen%i x4 at MPS %i carries %d GB/s of payload, within 1 %%', (gen, mps, gigabytes) => {
    const ratio = payloadLimit({ gen, width: 4, mps }) / (gigabytes * 1e9)
    expect(Math.abs(ratio - 1)).toBeLessThan(0.01)
  })

  it('a header of 12 bytes (32-bit addresses) costs 20 bytes a TLP', () => {
    expect(payloadLimit({ gen: 3, width: 4, mps: 128, headerBytes: 12 }) / 3.41e9).toBeCloseTo(1, 2)
    expect(wireBytes(4096, { mps: 256 })).toBe(4096 + 16 * 24)
    expect(wireBytes(4097, { mps: 256 })).toBe(4097 + 17 * 24)
    expect(wireBytes(4096, { mps: 256, headerBytes: 12 })).toBe(4096 + 16 * 20)
  })

  it.each([0, 64, 200, 8192])('there is no MPS of %i', (mps) => {
    expect(() => payloadLimit({ gen: 3, width: 4, mps })).toThrow(
      `MPS: expected 128 to 4096, a power of two, got ${mps}`,
    )
  })

  it.each([0, 3, 32])('there is no link of %i lanes', (width) => {
    expect(() => payloadLimit({ gen: 3, width, mps: 256 })).toThrow(RangeError)
  })
})
