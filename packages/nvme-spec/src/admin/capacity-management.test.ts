import { describe, expect, it } from 'vitest'
import { dwordsOf, rowsOf } from '../../test/figures.js'
import { CapacityManagement, CapacityManagementDw0 } from './capacity-management.js'

describe('Capacity Management (Base 2.1 §5.1.3, Figures 156 to 158 and 160)', () => {
  it('ELID and OPER stand in Command Dword 10, the capacity in Command Dwords 11 and 12', () => {
    const values = { ELID: 0x1234, OPER: 4, CAPL: 0x8765_4321, CAPU: 0x10 }
    expect(dwordsOf(CapacityManagement, values)).toEqual([0x1234_0004, 0x8765_4321, 0x10, 0, 0, 0])
  })

  it('OPER 0h to 4h are its operations', () => {
    expect(CapacityManagement.fields.OPER.values).toEqual({
      ...{ SELECT_CAPACITY_CONFIGURATION: 0, CREATE_ENDURANCE_GROUP: 1, DELETE_ENDURANCE_GROUP: 2 },
      ...{ CREATE_NVM_SET: 3, DELETE_NVM_SET: 4 },
    })
  })

  it('CapacityManagementDw0: CELID is bits 15:00 of Dword 0', () => {
    expect(rowsOf(CapacityManagementDw0)).toEqual([['CELID', 15, 0]])
  })
})
