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

  it('an MDTS of 0h means no limit', () => {
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

describe('arguments of limits', () => {
  it.each([
    [() => maxTransferBytes(256, 0), 'MDTS: expected an integer from 0 to 255, got 256'],
    [() => maxTransferBytes(5, 16), 'CAP.MPSMIN: expected an integer from 0 to 15, got 16'],
    [() => maxTransferBytes(1.5, 0), 'MDTS: expected an integer from 0 to 255, got 1.5'],
    [() => memoryPageBytes(-1), 'CC.MPS: expected an integer from 0 to 15, got -1'],
    [() => memoryPageBytes(Number.NaN), 'CC.MPS: expected an integer from 0 to 15, got NaN'],
  ])('rejects %s', (call, message) => {
    expect(call).toThrow(new RangeError(message))
  })

  it('rejects values that are not numbers with a TypeError', () => {
    expect(() => maxTransferBytes('5' as never, 0)).toThrow(
      new TypeError('MDTS: expected an integer from 0 to 255, got "5"'),
    )
    expect(() => maxTransferBytes(0, undefined as never)).toThrow(TypeError)
    expect(() => memoryPageBytes(0n as never)).toThrow(
      new TypeError('CC.MPS: expected an integer from 0 to 15, got 0n'),
    )
  })
})
