import { describe, expect, it } from 'vitest'
import {
  checkLink,
  commandLimit,
  commandWireBytes,
  completionWireBytes,
  lineRate,
  payloadLimit,
  requestWireBytes,
  wireBytes,
} from './pcie.js'

describe('PCIe payload limit', () => {
  it.each([
    [3, 3.938e9],
    [4, 7.877e9],
    [5, 15.754e9],
  ] as const)('the line rate of Gen%i x4 is %d bytes per second after 128b/130b', (gen, rate) => {
    expect(lineRate({ gen, width: 4 }) / rate).toBeCloseTo(1, 3)
  })

  it('Gen1 and Gen2 lose a fifth to 8b/10b', () => {
    expect(lineRate({ gen: 1, width: 1 })).toBe(250e6)
    expect(lineRate({ gen: 2, width: 4 })).toBe(2e9)
  })

  // Each TLP costs 24 bytes in addition to its payload: 4 framing with sequence number, 16 header, 4 LCRC. In GB/s.
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

  it('a header of 12 bytes (32-bit addresses) costs 20 bytes per TLP', () => {
    expect(payloadLimit({ gen: 3, width: 4, mps: 128, headerBytes: 12 }) / 3.41e9).toBeCloseTo(1, 2)
    expect(wireBytes(4096, { mps: 256 })).toBe(4096 + 16 * 24)
    expect(wireBytes(4097, { mps: 256 })).toBe(4097 + 17 * 24)
    expect(wireBytes(4096, { mps: 256, headerBytes: 12 })).toBe(4096 + 16 * 20)
  })

  it.each([0, 64, 200, 8192])('rejects an MPS of %i', (mps) => {
    expect(() => payloadLimit({ gen: 3, width: 4, mps })).toThrow(
      `MPS: expected 128 to 4096, a power of two, got ${mps}`,
    )
  })

  it.each([0, 3, 32])('rejects a link of %i lanes', (width) => {
    expect(() => payloadLimit({ gen: 3, width, mps: 256 })).toThrow(RangeError)
  })
})

// Per command upstream: 24 bytes for the request of the entry, 40 for the completion entry. Downstream: 84 for the
// entry, 28 for each doorbell. A Read of 512 bytes adds two packets of 256 bytes at MPS 256.
describe('bytes on the wire of a command', () => {
  const gen3 = { gen: 3, width: 4, mps: 256 } as const

  it('a Read of 512 bytes is 624 bytes upstream and 140 downstream at MPS 256', () => {
    expect(commandWireBytes('read', 512, gen3)).toEqual({ upstreamBytes: 624, downstreamBytes: 140 })
  })

  it('one MSI-X message adds 28 bytes upstream', () => {
    const { upstreamBytes, downstreamBytes } = commandWireBytes('read', 512, gen3, { interrupt: true })
    expect([upstreamBytes, downstreamBytes]).toEqual([652, 140])
  })

  it('a Write of 4 KiB is answered in 64 completions of 84 bytes at an RCB of 64, and in 16 of 276 at MPS 256', () => {
    // Eight requests of 512 bytes each, in addition to that of the entry.
    expect(commandWireBytes('write', 4096, { ...gen3, rcb: 64 })).toEqual({
      upstreamBytes: 24 + 40 + 8 * 24,
      downstreamBytes: 140 + 64 * 84,
    })
    expect(commandWireBytes('write', 4096, gen3).downstreamBytes).toBe(140 + 16 * 276)
  })

  it('a Read of 1 MiB fetches a PRP list of 255 entries: 2,040 bytes, four requests, eight completions at MPS 256', () => {
    const { upstreamBytes, downstreamBytes } = commandWireBytes('read', 1024 * 1024, gen3)
    expect(upstreamBytes).toBe(4096 * 280 + 64 + 4 * 24)
    expect(downstreamBytes).toBe(140 + 2040 + 8 * 20)
  })

  it('headers of 12 bytes save 4 bytes per request and per write, and none per completion', () => {
    const { upstreamBytes, downstreamBytes } = commandWireBytes('read', 512, { ...gen3, headerBytes: 12 })
    expect([upstreamBytes, downstreamBytes]).toEqual([624 - 4 * 4, 140 - 2 * 4])
  })

  it('a completion carries at most MPS, whatever the RCB', () => {
    expect(completionWireBytes(512, { mps: 128, rcb: 256 })).toBe(4 * 148)
  })

  it('a request reads at most Max_Read_Request_Size', () => {
    expect(requestWireBytes(4096, { maxReadRequestBytes: 128 })).toBe(32 * 24)
    expect(requestWireBytes(0, {})).toBe(0)
  })

  // In GB/s and millions of commands per second; all within 1 %.
  it.each([
    [3, 4096, 3.55, 0.87],
    [4, 4096, 7.1, 1.73],
    [5, 4096, 14.2, 3.47],
    [3, 512, 3.23, 6.3],
    [4, 512, 6.46, 12.6],
    [5, 512, 12.9, 25],
  ] as const)(
    'Gen%i x4 at MPS 256 carries reads of %i bytes at %d GB/s: %d million per second',
    (gen, bytes, gbs, millions) => {
      const limit = commandLimit('read', bytes, { gen, width: 4, mps: 256 })
      expect(Math.abs((limit * bytes) / (gbs * 1e9) - 1)).toBeLessThan(0.01)
      expect(Math.abs(limit / (millions * 1e6) - 1)).toBeLessThan(0.01)
    },
  )

  it.each([
    [3, 64, 2.99],
    [3, 128, 3.4],
    [3, 256, 3.64],
    [4, 64, 5.98],
    [4, 128, 6.79],
    [4, 256, 7.28],
    [5, 64, 11.97],
    [5, 128, 13.6],
    [5, 256, 14.6],
  ] as const)('Gen%i x4 with an RCB of %i bytes carries writes of 128 KiB at %d GB/s', (gen, rcb, gbs) => {
    const limit = commandLimit('write', 131_072, { gen, width: 4, mps: 256, rcb })
    expect(Math.abs((limit * 131_072) / (gbs * 1e9) - 1)).toBeLessThan(0.01)
  })

  it('rejects an RCB or a Max_Read_Request_Size that PCIe does not define', () => {
    expect(() => checkLink({ ...gen3, rcb: 32 })).toThrow('RCB: expected 64 to 4096, a power of two, got 32')
    expect(() => checkLink({ ...gen3, maxReadRequestBytes: 64 })).toThrow(
      'Max_Read_Request_Size: expected 128 to 4096, a power of two, got 64',
    )
  })
})
