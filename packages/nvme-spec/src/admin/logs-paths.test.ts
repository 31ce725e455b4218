import { describe, expect, it } from 'vitest'
import {
  ANA_STATE,
  AnaGroupDescriptor,
  AnaLogHeader,
  ManagementAddressDescriptor,
  ManagementAddressList,
  ParticipatingNvmSubsystemsHeader,
  ReachabilityAssociationDescriptor,
  ReachabilityAssociationsHeader,
  ReachabilityGroupDescriptor,
  ReachabilityGroupsHeader,
} from './logs-paths.js'
import { fromHex, sparse } from '../../test/bytes.js'
import { bytesOf, rowsOf, valuesOf } from '../../test/figures.js'

describe('log ana', () => {
  // One group, 5, with namespaces 1 and 2, of which it is persistently lost.
  const log = fromHex(`
  02 00 00 00 00 00 00 00  01 00 00 00 00 00 00 00
  05 00 00 00 02 00 00 00  09 00 00 00 00 00 00 00
  04 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
  01 00 00 00 02 00 00 00
`)

  describe('Asymmetric Namespace Access (LID 0Ch, Base 2.1 §5.1.12.1.13; libnvme 1.3 nvme_ana_log)', () => {
    it('the header and a descriptor have their fields at these bytes', () => {
      expect([AnaLogHeader.bytes, ...bytesOf(AnaLogHeader)]).toEqual([16, ['CHGC', 0, 8], ['NAGD', 8, 2]])
      expect([AnaGroupDescriptor.bytes, ...bytesOf(AnaGroupDescriptor)]).toEqual([
        32,
        ['AGID', 0, 4],
        ['NNV', 4, 4],
        ['CHGC', 8, 8],
        ['ANASA', 16, 1],
      ])
      expect(rowsOf({ fields: AnaGroupDescriptor.fields.ANASA.rows })).toEqual([['ANAS', 3, 0]])
    })

    it('ANA_STATE has the values of Figure 224', () => {
      expect(ANA_STATE.values).toEqual({
        ...{ OPTIMIZED: 1, NON_OPTIMIZED: 2, INACCESSIBLE: 3, PERSISTENT_LOSS: 4, CHANGE: 15 },
      })
    })

    it('decodes a log of one group', () => {
      expect(AnaLogHeader.decode(log)).toEqual({ CHGC: 2n, NAGD: 1 })
      expect(AnaGroupDescriptor.decode(log, 16)).toEqual({ AGID: 5, NNV: 2, CHGC: 9n, ANASA: { ANAS: 4 } })
      expect(AnaGroupDescriptor.describe(log, 16)).toContain('ANASA={ ANAS=PERSISTENT_LOSS }')
      expect([log.getUint32(16 + AnaGroupDescriptor.bytes, true), log.byteLength]).toEqual([1, 56])
    })
  })
})

describe('log reachability', () => {
  describe('Reachability Groups (LID 1Ah, Base 2.3 §5.2.12.1.25)', () => {
    it('has its fields at the bytes of Figures 279 and 280', () => {
      expect([ReachabilityGroupsHeader.bytes, ...bytesOf(ReachabilityGroupsHeader)]).toEqual([
        16,
        ['CHNGC', 0, 8],
        ['NRGD', 8, 2],
      ])
      expect([ReachabilityGroupDescriptor.bytes, ...bytesOf(ReachabilityGroupDescriptor)]).toEqual([
        32,
        ['RGID', 0, 4],
        ['NNID', 4, 4],
        ['CHNGC', 8, 8],
      ])
    })

    it('decodes a page of one group of one namespace', () => {
      const page = sparse(52, { 0: '04', 8: '01', 16: '02 00 00 00 01 00 00 00 09', 48: '07' })
      expect(ReachabilityGroupsHeader.decode(page)).toEqual({ CHNGC: 4n, NRGD: 1 })
      expect(ReachabilityGroupDescriptor.decode(page, 16)).toEqual({ RGID: 2, NNID: 1, CHNGC: 9n })
      expect(page.getUint32(16 + ReachabilityGroupDescriptor.bytes, true)).toBe(7)
    })
  })

  describe('Reachability Associations (LID 1Bh, Base 2.3 §5.2.12.1.26)', () => {
    it('has its fields at the bytes of Figures 282 and 283', () => {
      expect([ReachabilityAssociationsHeader.bytes, ...bytesOf(ReachabilityAssociationsHeader)]).toEqual([
        16,
        ['CHNGC', 0, 8],
        ['NRAD', 8, 2],
      ])
      expect([ReachabilityAssociationDescriptor.bytes, ...bytesOf(ReachabilityAssociationDescriptor)]).toEqual([
        32,
        ['RASID', 0, 4],
        ['NRID', 4, 4],
        ['CHNGC', 8, 8],
        ['RAC', 16, 1],
      ])
      expect(valuesOf(ReachabilityAssociationDescriptor.fields.RAC)).toEqual({
        ...{ REACHABLE: 1, FAST_COPY: 2, NO_FAST_COPY: 3 },
      })
    })

    it('decodes a page of one association', () => {
      const page = sparse(52, { 0: '05', 8: '01', 16: '03 00 00 00 01 00 00 00 0a', 32: '02', 48: '02' })
      expect(ReachabilityAssociationsHeader.decode(page)).toEqual({ CHNGC: 5n, NRAD: 1 })
      expect(ReachabilityAssociationDescriptor.decode(page, 16)).toEqual({ RASID: 3, NRID: 1, CHNGC: 10n, RAC: 2 })
    })
  })
})

describe('log subsystem', () => {
  describe('Dispersed Namespace Participating NVM Subsystems (LID 17h, Base 2.3 §5.2.12.1.23)', () => {
    it('begins with the fields of Figure 275', () => {
      expect([ParticipatingNvmSubsystemsHeader.bytes, ...bytesOf(ParticipatingNvmSubsystemsHeader)]).toEqual([
        256,
        ['GENCTR', 0, 8],
        ['NUMPSUB', 8, 8],
      ])
      const page = sparse(768, { 0: '03', 8: '02', 256: '6e 71 6e', 512: '6e 71 6e' })
      expect(ParticipatingNvmSubsystemsHeader.decode(page)).toEqual({ GENCTR: 3n, NUMPSUB: 2n })
    })
  })

  describe('Management Address List (LID 18h, Base 2.3 §5.2.12.1.24)', () => {
    it('is eight descriptors of Figure 277', () => {
      expect([ManagementAddressList.bytes, ...bytesOf(ManagementAddressList)]).toEqual([4096, ['MAD', 0, 4096]])
      expect([ManagementAddressDescriptor.bytes, ...bytesOf(ManagementAddressDescriptor)]).toEqual([
        512,
        ['MAT', 0, 1],
        ['MADRS', 4, 508],
      ])
      expect(valuesOf(ManagementAddressDescriptor.fields.MAT)).toEqual({
        ...{ NONE: 0, NVM_SUBSYSTEM_MANAGEMENT_AGENT: 1, FABRIC_INTERFACE_MANAGER: 2, END_OF_LIST: 255 },
      })
    })

    it('decodes a list of one address', () => {
      const { MAD } = ManagementAddressList.decode(
        sparse(4096, { 0: '01', 4: '68 74 74 70 3a 2f 2f 61 00 78', 512: 'ff' }),
      )
      expect([MAD.length, MAD[0]?.MAT, MAD[0]?.MADRS, MAD[1]?.MAT]).toEqual([8, 1, 'http://a', 255])
    })
  })
})
