import { describe, expect, it } from 'vitest'
import { sparse } from '../../test/bytes.js'
import { bytesOf, rowsOf } from '../../test/figures.js'
import { FirmwareSlotLog } from './log-firmware.js'

describe('Firmware Slot Information (LID 03h, Base 2.3 §5.2.12.1.4)', () => {
  it('has a byte of slots and seven revisions', () => {
    expect([FirmwareSlotLog.bytes, ...bytesOf(FirmwareSlotLog)]).toEqual([
      512,
      ['AFI', 0, 1],
      ['FRS1', 8, 8],
      ['FRS2', 16, 8],
      ['FRS3', 24, 8],
      ['FRS4', 32, 8],
      ['FRS5', 40, 8],
      ['FRS6', 48, 8],
      ['FRS7', 56, 8],
    ])
    expect(rowsOf({ fields: FirmwareSlotLog.fields.AFI.rows })).toEqual([
      ['CAFS', 2, 0],
      ['NAFS', 6, 4],
    ])
  })

  it('decodes a page: slot 1 runs, slot 3 is next, slot 2 is empty', () => {
    const page = sparse(512, { 0: '31', 8: '31 2e 30 20 20 20 20 20', 24: '4e 38 32 30 4b 36 5a 32' })
    expect(FirmwareSlotLog.decode(page)).toEqual({
      AFI: { CAFS: 1, NAFS: 3 },
      ...{ FRS1: '1.0', FRS2: '', FRS3: 'N820K6Z2', FRS4: '', FRS5: '', FRS6: '', FRS7: '' },
    })
    expect(FirmwareSlotLog.describe(page)).toEqual(['AFI={ CAFS=1 NAFS=3 }', 'FRS1="1.0"', 'FRS3="N820K6Z2"'])
  })
})
