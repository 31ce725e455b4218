import { describe, expect, it } from 'vitest'
import { dwordsOf, rowsOf } from '../../test/figures.js'
import { zeroBased } from '../layout/zero-based.js'
import { FirmwareCommit, FirmwareImageDownload, FirmwareUpdateDw0 } from './firmware.js'

describe('Firmware Commit (Base 2.1 §5.1.8, Figures 181 and 182)', () => {
  it.each([
    ['FS', 7, 0x0000_0007],
    ['CA', 7, 0x0000_0038],
    ['BPID', 1, 0x8000_0000],
  ])('%s stands in its bits of Command Dword 10', (symbol, value, dword) => {
    expect(dwordsOf(FirmwareCommit, { [symbol]: value })).toEqual([dword, 0, 0, 0, 0, 0])
  })

  it('CA 000b to 011b place and activate an image, 110b and 111b are of Boot Partitions, 100b and 101b reserved', () => {
    expect(FirmwareCommit.fields.CA.values).toEqual({
      ...{ REPLACE: 0, REPLACE_AND_ACTIVATE_AT_RESET: 1, ACTIVATE_AT_RESET: 2, REPLACE_AND_ACTIVATE_IMMEDIATELY: 3 },
      ...{ REPLACE_BOOT_PARTITION: 6, ACTIVATE_BOOT_PARTITION: 7 },
    })
    expect(() => dwordsOf(FirmwareCommit, { CA: 4 })).toThrow('Firmware Commit.CA (Commit Action)')
  })

  it('FirmwareUpdateDw0: Multiple Update Detected is bits 01:00 of Dword 0', () => {
    expect(rowsOf(FirmwareUpdateDw0)).toEqual([
      ['ASQFWO', 0, 0],
      ['MEFWO', 1, 1],
    ])
  })
})

describe('Firmware Image Download (Base 2.1 §5.1.9, Figures 185 and 186)', () => {
  it("NUMD is a 0's based count of 32 bits, OFST an offset in dwords", () => {
    const values = { NUMD: zeroBased(0x0800), OFST: 0x1234_5678 }
    expect(dwordsOf(FirmwareImageDownload, values)).toEqual([0x07ff, 0x1234_5678, 0, 0, 0, 0])
    expect(dwordsOf(FirmwareImageDownload, { NUMD: zeroBased(2 ** 32) })[0]).toBe(0xffff_ffff)
  })
})
