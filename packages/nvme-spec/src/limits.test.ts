import { describe, expect, it } from 'vitest'
import { MAX_BLOCKS_PER_COMMAND, maxTransferBytes, memoryPageBytes } from './limits.js'

describe('limits', () => {
  it.each([
    // MDTS, CAP.MPSMIN, bytes = 2 ^ MDTS * 2 ^ (12 + MPSMIN)
    [5, 0, 131_072],
    [7, 0, 524_288],
    [9, 0, 2_097_152],
    [1, 4, 131_072],
    [20, 15, 2 ** 47],
  ])('an MDTS of %i in units of MPSMIN %i is %i bytes', (mdts, mpsmin, bytes) => {
    expect(maxTransferBytes(mdts, mpsmin)).toBe(bytes)
  })

  it('an MDTS of 0h is no limit', () => {
    expect(maxTransferBytes(0, 0)).toBeUndefined()
  })

  it('memory pages are 4 KiB at 0h and 128 MiB at Fh', () => {
    expect(memoryPageBytes(0)).toBe(4096)
    expect(memoryPageBytes(15)).toBe(134_217_728)
  })

  it("NLB of FFFFh, 0's based, is 65,536 blocks", () => {
    expect(MAX_BLOCKS_PER_COMMAND).toBe(65_536)
  })
})
