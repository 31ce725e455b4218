import { IdentifyController } from '@gpunvme/nvme-spec'
import { describe, expect, test } from 'vitest'
import { blockCommandLimits, copyLimits, zeroesDeallocate } from './block-limits.js'

// Offsets and meanings: NVM 1.2 §4.1.5.4, Figure 120; ONCS is at byte 520 of Identify Controller, CDFS at 534.

function controller(oncs: number, cdfs = 0): DataView {
  const page = new DataView(new ArrayBuffer(IdentifyController.bytes))
  page.setUint16(520, oncs, true)
  page.setUint16(534, cdfs, true)
  return page
}

function nvm(bytes: Readonly<Record<number, number>>): DataView {
  const page = new DataView(new ArrayBuffer(4096))
  for (const [offset, value] of Object.entries(bytes)) page.setUint8(Number(offset), value)
  return page
}

test('a controller that reports no support has none of these commands', () => {
  expect(blockCommandLimits(controller(0), undefined, 0)).toEqual({
    compare: false,
    verifyBytes: undefined,
    writeZeroesBytes: undefined,
    writeZeroesDeallocateBytes: undefined,
    deallocate: undefined,
    copy: false,
  })
})

test('ONCS alone implies only the limits of the command format', () => {
  expect(blockCommandLimits(controller(0b1_1000_1101, 1), nvm({}), 0)).toEqual({
    compare: true,
    verifyBytes: Infinity,
    writeZeroesBytes: Infinity,
    writeZeroesDeallocateBytes: Infinity,
    deallocate: { ranges: 256, rangeBlocks: 0xffff_ffff, blocks: Infinity },
    copy: true,
  })
})

describe.each([0, 0b1_1000_1100])('reported limits, with ONCS %i', (oncs) => {
  test('VSL and WZSL are powers of two in units of CAP.MPSMIN, and imply support of the command', () => {
    const limits = blockCommandLimits(controller(oncs), nvm({ 0: 7, 1: 5 }), 0)
    expect(limits).toMatchObject({ verifyBytes: 512 * 1024, writeZeroesBytes: 128 * 1024 })
    expect(limits.writeZeroesDeallocateBytes).toBe(128 * 1024)
    expect(blockCommandLimits(controller(oncs), nvm({ 0: 1 }), 4).verifyBytes).toBe(128 * 1024)
  })

  test('DMRL, DMRSL and DMSL limit ranges, blocks per range, and blocks', () => {
    const limits = blockCommandLimits(controller(oncs), nvm({ 3: 255, 5: 1, 8: 0, 10: 2 }), 0)
    expect(limits.deallocate).toEqual({ ranges: 255, rangeBlocks: 256, blocks: 131_072 })
  })
})

test('with ONCS.MAXWZD, WZDSL is the limit with Deallocate', () => {
  const limits = blockCommandLimits(controller(1 << 11), nvm({ 1: 5, 17: 9 }), 0)
  expect(limits).toMatchObject({ writeZeroesBytes: 128 * 1024, writeZeroesDeallocateBytes: 2 * 1024 * 1024 })
  const without = blockCommandLimits(controller(0), nvm({ 1: 5, 17: 9 }), 0)
  expect(without.writeZeroesDeallocateBytes).toBe(128 * 1024)
})

test('copy requires source range format 0h', () => {
  expect(blockCommandLimits(controller(1 << 8, 0b10), undefined, 0).copy).toBe(false)
  expect(blockCommandLimits(controller(1 << 8, 0b11), undefined, 0).copy).toBe(true)
})

test('MSSRL, MCL and MSRC of a namespace limit its copies', () => {
  const page = new DataView(new ArrayBuffer(4096))
  expect(copyLimits(page)).toEqual({ ranges: 1, rangeBlocks: 65_536, blocks: Infinity })
  page.setUint16(74, 128, true)
  page.setUint32(76, 1024, true)
  page.setUint8(80, 7)
  expect(copyLimits(page)).toEqual({ ranges: 8, rangeBlocks: 128, blocks: 1024 })
  page.setUint8(80, 255)
  // The page that carries the ranges holds 128 of 32 bytes.
  expect(copyLimits(page).ranges).toBe(128)
})

test('bit 3 of DLFEAT reports whether Write Zeroes may deallocate', () => {
  const page = new DataView(new ArrayBuffer(4096))
  page.setUint8(33, 0b0_0001)
  expect(zeroesDeallocate(page)).toBe(false)
  page.setUint8(33, 0b0_1001)
  expect(zeroesDeallocate(page)).toBe(true)
})
