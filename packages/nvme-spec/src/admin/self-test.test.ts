import { describe, expect, it } from 'vitest'
import { dwordsOf } from '../../test/figures.js'
import { DeviceSelfTest } from './self-test.js'

describe('Device Self-test (Base 2.1 §5.1.5, Figures 171 and 173; libnvme 1.16 nvme_dst_stc)', () => {
  it('STC is bits 3:0 of Command Dword 10', () => {
    expect(dwordsOf(DeviceSelfTest, { STC: 0xf })).toEqual([0x0f, 0, 0, 0, 0, 0])
  })

  it('STC 1h is short, 2h extended, 3h Host-Initiated Refresh, Eh vendor specific, Fh aborts', () => {
    expect(DeviceSelfTest.fields.STC.values).toEqual({
      ...{ SHORT: 1, EXTENDED: 2, HOST_INITIATED_REFRESH: 3, VENDOR_SPECIFIC: 14, ABORT: 15 },
    })
  })
})
