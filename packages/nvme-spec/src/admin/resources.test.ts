import { describe, expect, it } from 'vitest'
import {
  CapacityManagement,
  CapacityManagementDw0,
  GetLbaStatus,
  LbaStatusDescriptor,
  LbaStatusDescriptorList,
  NamespaceAttachment,
  NamespaceManagement,
  NamespaceManagementDw0,
  NamespaceToCreate,
  VirtualizationManagement,
} from './resources.js'
import { zeroBased } from '../layout/rows.js'
import { fromHex } from '../../test/bytes.js'
import { bytesOf, dwordsOf, rowsOf } from '../../test/figures.js'

describe('namespace management', () => {
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

  describe('Namespace Attachment (Base 2.1 §5.1.20, Base 2.3 §5.2.20)', () => {
    it('SEL is bits 3:0 of Command Dword 10: 0h attaches, 1h detaches', () => {
      expect(dwordsOf(NamespaceAttachment, { SEL: 1 })).toEqual([1, 0, 0, 0, 0, 0])
      expect(NamespaceAttachment.fields.SEL.values).toEqual({ CONTROLLER_ATTACH: 0, CONTROLLER_DETACH: 1 })
    })
  })
})

describe('capacity management', () => {
  describe('Capacity Management (Base 2.1 §5.1.3, Figures 156 to 158 and 160)', () => {
    it('ELID and OPER are in Command Dword 10, the capacity in Command Dwords 11 and 12', () => {
      const values = { ELID: 0x1234, OPER: 4, CAPL: 0x8765_4321, CAPU: 0x10 }
      expect(dwordsOf(CapacityManagement, values)).toEqual([0x1234_0004, 0x8765_4321, 0x10, 0, 0, 0])
    })

    it('OPER has the values 0h to 4h', () => {
      expect(CapacityManagement.fields.OPER.values).toEqual({
        ...{ SELECT_CAPACITY_CONFIGURATION: 0, CREATE_ENDURANCE_GROUP: 1, DELETE_ENDURANCE_GROUP: 2 },
        ...{ CREATE_NVM_SET: 3, DELETE_NVM_SET: 4 },
      })
    })

    it('CapacityManagementDw0: CELID is bits 15:00 of Dword 0', () => {
      expect(rowsOf(CapacityManagementDw0)).toEqual([['CELID', 15, 0]])
    })
  })
})

describe('virtualization', () => {
  describe('Virtualization Management (Base 2.1 §5.2.6, Figures 489 and 490)', () => {
    it('CNTLID, RT and ACT are in Command Dword 10, NR in Command Dword 11', () => {
      const values = { CNTLID: 0x1234, RT: 1, ACT: 9, NR: 0x5678 }
      expect(dwordsOf(VirtualizationManagement, values)).toEqual([0x1234_0109, 0x5678, 0, 0, 0, 0])
    })

    it('ACT 1h applies to the primary controller, 7h to 9h to secondary controllers; RT 000b is VQ, 001b VI resources', () => {
      expect(VirtualizationManagement.fields.ACT.values).toEqual({
        ...{ PRIMARY_FLEXIBLE_ALLOCATION: 1, SECONDARY_OFFLINE: 7, SECONDARY_ASSIGN: 8, SECONDARY_ONLINE: 9 },
      })
      expect(VirtualizationManagement.fields.RT.values).toEqual({ VQ: 0, VI: 1 })
    })
  })
})

describe('get lba status', () => {
  describe('Get LBA Status (NVM 1.2 §4.2.1, Figures 128 to 130)', () => {
    it("SLBA is Command Dwords 10 and 11, MNDW a 0's based count, RL and ATYPE in Command Dword 13", () => {
      const values = { SLBA: 0x1_2345_6789, MNDW: zeroBased(1024), RL: 0xabcd, ATYPE: 0x11 }
      expect(dwordsOf(GetLbaStatus, values)).toEqual([0x2345_6789, 1, 1023, 0x1100_abcd, 0, 0])
    })

    it('ATYPE 02h selects allocated blocks, 10h a scan, 11h tracked blocks', () => {
      expect(GetLbaStatus.fields.ATYPE.values).toEqual({ ALLOCATED: 0x02, SCAN: 0x10, TRACKED: 0x11 })
    })
  })

  describe('data returned by Get LBA Status (NVM 1.2 §4.2.1.2, Figures 131 and 132)', () => {
    it('is an LbaStatusDescriptorList of 8 bytes, then entries of 16 bytes', () => {
      expect(LbaStatusDescriptorList.bytes).toBe(8)
      expect(bytesOf(LbaStatusDescriptorList)).toEqual([
        ['NLSD', 0, 4],
        ['CMPC', 4, 1],
      ])
      expect(LbaStatusDescriptorList.fields.CMPC.values).toEqual({ NOT_INDICATED: 0, INCOMPLETE: 1, COMPLETE: 2 })
      expect(LbaStatusDescriptor.bytes).toBe(16)
      expect(bytesOf(LbaStatusDescriptor)).toEqual([
        ['DSLBA', 0, 8],
        ['NLB', 8, 4],
        ['STAS', 13, 1],
      ])
      const { rows } = LbaStatusDescriptor.fields.STAS
      expect(rowsOf({ fields: rows })).toEqual([['LBARS', 2, 0]])
      expect(rows.LBARS.values).toEqual({
        ...{ MAY_BE_UNRECOVERABLE: 0, UNRECOVERABLE: 1, ALLOCATED: 2, WRITTEN_UNCORRECTABLE: 3 },
      })
    })

    it('is read entry by entry, starting at byte 8', () => {
      const data = fromHex(`02 00 00 00  02 00 00 00
      10 00 00 00 00 00 00 00  07 00 00 00  00 01 00 00
      80 00 00 00 01 00 00 00  00 00 00 00  00 02 00 00`)
      const { NLSD, CMPC } = LbaStatusDescriptorList.view(data)
      expect([NLSD, LbaStatusDescriptorList.CMPC.nameOf(CMPC)]).toEqual([2, 'COMPLETE'])
      const entry = LbaStatusDescriptor.view(data, LbaStatusDescriptorList.bytes)
      expect([entry.at(0).DSLBA, entry.NLB, entry.STAS]).toEqual([0x10, 7, 1])
      expect([entry.at(1).DSLBA, entry.NLB, entry.STAS]).toEqual([0x1_0000_0080, 0, 2])
    })
  })
})
