import { describe, expect, it } from 'vitest'
import { bytesOf, dwordsOf, rowsOf } from '../../test/figures.js'
import {
  NamespaceAttachment,
  NamespaceManagement,
  NamespaceManagementDw0,
  NamespaceToCreate,
} from './namespace-management.js'

describe('Namespace Management (Base 2.1 §5.1.21, Figures 367, 368 and 371)', () => {
  it('SEL is bits 3:0 of Command Dword 10, CSI bits 31:24 of Command Dword 11', () => {
    expect(dwordsOf(NamespaceManagement, { SEL: 1, CSI: 2 })).toEqual([1, 0x0200_0000, 0, 0, 0, 0])
    expect(NamespaceManagement.fields.SEL.values).toEqual({ CREATE: 0, DELETE: 1 })
    expect(() => dwordsOf(NamespaceManagement, { SEL: 2 })).toThrow('Namespace Management.SEL (Select)')
  })

  it('NamespaceManagementDw0: Dword 0 of the completion is the NSID', () => {
    expect(rowsOf(NamespaceManagementDw0)).toEqual([['NSID', 31, 0]])
  })
})

describe('NamespaceToCreate (NVM 1.2 §4.1.6, Figure 125)', () => {
  it('has its fields at their bytes; those of a zoned namespace from byte 499 on', () => {
    expect(NamespaceToCreate.bytes).toBe(4096)
    expect(bytesOf(NamespaceToCreate)).toEqual([
      ['NSZE', 0, 8],
      ['NCAP', 8, 8],
      ['FLBAS', 26, 1],
      ['DPS', 29, 1],
      ['NMIC', 30, 1],
      ['ANAGRPID', 92, 4],
      ['NVMSETID', 100, 2],
      ['ENDGID', 102, 2],
      ['LBSTM', 384, 8],
      ['NPHNDLS', 392, 2],
      // libnvme 1.16, nvme_ns_mgmt_host_sw_specified.
      ['ZNSCO', 499, 1],
      ['RAR', 500, 4],
      ['ROR', 504, 4],
      ['RNUMZRWA', 508, 4],
      ['PHNDL', 512, 256],
    ])
    expect(NamespaceToCreate.ZNSCO.AZR.of(1)).toBe(1)
  })
})

describe('Namespace Attachment (Base 2.1 §5.1.20; libnvme 1.16 nvme_ns_attach_sel)', () => {
  it('SEL is bits 3:0 of Command Dword 10: 0h attaches, 1h detaches', () => {
    expect(dwordsOf(NamespaceAttachment, { SEL: 1 })).toEqual([1, 0, 0, 0, 0, 0])
    expect(NamespaceAttachment.fields.SEL.values).toEqual({ CONTROLLER_ATTACH: 0, CONTROLLER_DETACH: 1 })
  })
})
