import { describe, expect, it } from 'vitest'
import { rowsOf } from '../../../test/figures.js'
import { BootPartitionWriteProtectionConfig, NamespaceWriteProtectionConfig } from './write-protection.js'

describe('features of write protection', () => {
  it('Namespace Write Protection Config: the states of nvme_feat_nswpcfg_state (libnvme 1.3) in bits 2:0', () => {
    const { CDW11 } = NamespaceWriteProtectionConfig
    expect(rowsOf(CDW11)).toEqual([['WPS', 2, 0]])
    expect(CDW11.fields.WPS.values).toEqual({
      ...{ NO_WRITE_PROTECT: 0, WRITE_PROTECT: 1, WRITE_PROTECT_UNTIL_POWER_CYCLE: 2, PERMANENT_WRITE_PROTECT: 3 },
    })
  })

  it('Boot Partition Write Protection Config: the states of nvme_feat_bpwp_state (libnvme 1.16), one for each', () => {
    const { CDW11 } = BootPartitionWriteProtectionConfig
    expect(rowsOf(CDW11)).toEqual([
      ['BP0WPS', 2, 0],
      ['BP1WPS', 5, 3],
    ])
    for (const row of [CDW11.fields.BP0WPS, CDW11.fields.BP1WPS]) {
      expect(row.values).toEqual({
        ...{ CHANGE_NOT_REQUESTED: 0, WRITE_UNLOCKED: 1, WRITE_LOCKED: 2 },
        ...{ WRITE_LOCKED_UNTIL_POWER_CYCLE: 3, CONTROLLED_BY_RPMB: 4 },
      })
    }
  })
})
