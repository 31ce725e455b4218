import { describe, expect, it } from 'vitest'
import { sparse } from '../../test/bytes.js'
import { bytesOf, valuesOf } from '../../test/figures.js'
import {
  ReachabilityAssociationDescriptor,
  ReachabilityAssociationsHeader,
  ReachabilityGroupDescriptor,
  ReachabilityGroupsHeader,
} from './log-reachability.js'

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
