import { describe, expect, it } from 'vitest'
import { dwordsOf } from '../../test/figures.js'
import { VirtualizationManagement } from './virtualization.js'

describe('Virtualization Management (Base 2.1 §5.2.6, Figures 489 and 490)', () => {
  it('CNTLID, RT and ACT stand in Command Dword 10, NR in Command Dword 11', () => {
    const values = { CNTLID: 0x1234, RT: 1, ACT: 9, NR: 0x5678 }
    expect(dwordsOf(VirtualizationManagement, values)).toEqual([0x1234_0109, 0x5678, 0, 0, 0, 0])
  })

  it('ACT 1h is of the primary controller, 7h to 9h of secondary ones; RT 000b is VQ, 001b VI resources', () => {
    expect(VirtualizationManagement.fields.ACT.values).toEqual({
      ...{ PRIMARY_FLEXIBLE_ALLOCATION: 1, SECONDARY_OFFLINE: 7, SECONDARY_ASSIGN: 8, SECONDARY_ONLINE: 9 },
    })
    expect(VirtualizationManagement.fields.RT.values).toEqual({ VQ: 0, VI: 1 })
  })
})
