import { describe, expect, it } from 'vitest'
import { bytesOf, rowsOf } from '../../test/figures.js'
import { SmartHealthLog } from './log-smart.js'

/** A page as a healthy drive of two sensors returns it, and one warning; the rest is zero. */
function page(): DataView {
  const data = new DataView(new ArrayBuffer(512))
  const put = (at: number, ...values: number[]) => {
    new Uint8Array(data.buffer).set(values, at)
  }
  put(0, 0x22, 0x2d, 0x01, 100, 10, 3, 0x09)
  put(32, 0x40, 0xe2, 0x01)
  put(48, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
  put(64, 0, 0, 0, 0, 0, 0, 0, 0, 0x01)
  put(128, 0x39, 0x30)
  put(144, 0x07)
  put(192, 0x05)
  put(196, 0, 0, 0, 0x80)
  put(200, 0x2d, 0x01, 0x41, 0x01)
  put(228, 0x10, 0x27)
  return data
}

describe('SMART / Health Information (LID 02h, Base 2.1 §5.1.12.1.3)', () => {
  it('is 512 bytes', () => {
    expect(SmartHealthLog.bytes).toBe(512)
  })

  it('the fields stand at the bytes of Figure 206', () => {
    expect(bytesOf(SmartHealthLog)).toEqual([
      ['CW', 0, 1],
      ['CTEMP', 1, 2],
      ['AVSP', 3, 1],
      ['AVSPT', 4, 1],
      ['PUSED', 5, 1],
      ['EGCWS', 6, 1],
      ['DUR', 32, 16],
      ['DUW', 48, 16],
      ['HRC', 64, 16],
      ['HWC', 80, 16],
      ['CBT', 96, 16],
      ['PWRC', 112, 16],
      ['POH', 128, 16],
      ['UPL', 144, 16],
      ['MDIE', 160, 16],
      ['NEILE', 176, 16],
      ['WCTT', 192, 4],
      ['CCTT', 196, 4],
      ['TSEN1', 200, 2],
      ['TSEN2', 202, 2],
      ['TSEN3', 204, 2],
      ['TSEN4', 206, 2],
      ['TSEN5', 208, 2],
      ['TSEN6', 210, 2],
      ['TSEN7', 212, 2],
      ['TSEN8', 214, 2],
      ['TMT1TC', 216, 4],
      ['TMT2TC', 220, 4],
      ['TTTMT1', 224, 4],
      ['TTTMT2', 228, 4],
    ])
  })

  it('the bits of CW and EGCWS stand where Figure 206 says', () => {
    expect(rowsOf({ fields: SmartHealthLog.fields.CW.rows })).toEqual([
      ['ASCBT', 0, 0],
      ['TTC', 1, 1],
      ['NDR', 2, 2],
      ['AMRO', 3, 3],
      ['VMBF', 4, 4],
      ['PMRRO', 5, 5],
    ])
    expect(rowsOf({ fields: SmartHealthLog.fields.EGCWS.rows })).toEqual([
      ['EGASCBT', 0, 0],
      ['EGDR', 2, 2],
      ['EGRO', 3, 3],
    ])
  })

  it('decodes a page', () => {
    const decoded = SmartHealthLog.decode(page())
    expect(decoded).toMatchObject({
      CW: { ASCBT: 0, TTC: 1, NDR: 0, AMRO: 0, VMBF: 0, PMRRO: 1 },
      ...{ CTEMP: 301, AVSP: 100, AVSPT: 10, PUSED: 3 },
      EGCWS: { EGASCBT: 1, EGDR: 0, EGRO: 1 },
      ...{ DUR: 123_456n, DUW: 340_282_366_920_938_463_463_374_607_431_768_211_455n, HRC: 18_446_744_073_709_551_616n },
      ...{ HWC: 0n, CBT: 0n, PWRC: 0n, POH: 12_345n, UPL: 7n, MDIE: 0n, NEILE: 0n, WCTT: 5, CCTT: 2_147_483_648 },
      ...{ TSEN1: 301, TSEN2: 321, TSEN3: 0, TSEN8: 0, TMT1TC: 0, TMT2TC: 0, TTTMT1: 0, TTTMT2: 10_000 },
    })
    expect(decoded.reserved).toBeUndefined()
  })

  it('prints a page, warnings by name and what is zero not at all', () => {
    expect(SmartHealthLog.describe(page())).toEqual([
      'CW={ ASCBT=0 TTC=1 NDR=0 AMRO=0 VMBF=0 PMRRO=1 }',
      'CTEMP=301',
      'AVSP=100',
      'AVSPT=10',
      'PUSED=3',
      'EGCWS={ EGASCBT=1 EGDR=0 EGRO=1 }',
      'DUR=123456',
      'DUW=340282366920938463463374607431768211455',
      'HRC=18446744073709551616',
      'POH=12345',
      'UPL=7',
      'WCTT=5',
      'CCTT=2147483648',
      'TSEN1=301',
      'TSEN2=321',
      'TTTMT2=10000',
    ])
  })

  it('reserved bytes and bits that are set are not lost', () => {
    const data = page()
    data.setUint8(511, 0xa5)
    data.setUint8(0, 0x80)
    const again = new DataView(new ArrayBuffer(512))
    SmartHealthLog.encode(again, 0, SmartHealthLog.decode(data))
    expect([again.getUint8(511), again.getUint8(0)]).toEqual([0xa5, 0x80])
    expect(SmartHealthLog.decode(data).CW).toMatchObject({ TTC: 0, reserved: 0x80 })
  })
})
