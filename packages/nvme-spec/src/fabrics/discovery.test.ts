import { describe, expect, it } from 'vitest'
import { placesOf, rowsOf, valuesOf } from '../../test/figures.js'
import { sparse, unwritten } from '../../test/bytes.js'
import {
  ADRFAM,
  DISCOVERY_NQN,
  discoveryEntryOffset,
  DiscoveryLidsp,
  DiscoveryLog,
  DiscoveryLogEntry,
  DiscoveryLsp,
  EXATTYPE,
  ExtendedAttribute,
  ExtendedDiscoveryLogEntry,
  RdmaAddressSubtype,
  SUBTYPE,
  TcpAddressSubtype,
  TRTYPE,
} from './discovery.js'

describe('the Discovery log', () => {
  it('DiscoveryLog has the fields of libnvme 1.3 nvmf_discovery_log, and those that SPDK 26.09 adds', () => {
    expect(DiscoveryLog.bytes).toBe(1024)
    expect(placesOf(DiscoveryLog)).toEqual({
      ...{ GENCTR: [0, 8], NUMREC: [8, 8], RECFMT: [16, 2], DLPF: [18, 1], TDLPL: [20, 4] },
    })
  })

  it('Discovery Log Page Flags have the bits of SPDK 26.09, by the names of Base 2.1 §5.1.12.3.1', () => {
    expect(rowsOf({ fields: DiscoveryLog.fields.DLPF.rows })).toEqual([
      ['EXTEND', 0, 0],
      ['PORTLCL', 1, 1],
      ['ALLSUB', 2, 2],
    ])
    const log = sparse(1024, { 0: '05', 8: '02', 18: '05 00 08 0c' })
    expect(DiscoveryLog.decode(log)).toEqual({
      ...{ GENCTR: 5n, NUMREC: 2n, RECFMT: 0, DLPF: { EXTEND: 1, PORTLCL: 0, ALLSUB: 1 }, TDLPL: 3080 },
    })
  })

  const entry = {
    ...{ TRTYPE: [0, 1], ADRFAM: [1, 1], SUBTYPE: [2, 1], TREQ: [3, 1], PORTID: [4, 2], CNTLID: [6, 2], ASQSZ: [8, 2] },
    ...{ EFLAGS: [10, 2], TRSVCID: [32, 32], SUBNQN: [256, 256], TRADDR: [512, 256], TSAS: [768, 256] },
  }
  it('DiscoveryLogEntry and ExtendedDiscoveryLogEntry have the fields of Base 2.1 Figures 294 and 295', () => {
    expect(DiscoveryLogEntry.bytes).toBe(1024)
    expect(placesOf(DiscoveryLogEntry)).toEqual(entry)
    expect(ExtendedDiscoveryLogEntry.bytes).toBe(1032)
    expect(placesOf(ExtendedDiscoveryLogEntry)).toEqual({ ...entry, TEL: [1024, 4], NUMEXAT: [1028, 2] })
  })

  it('Transport Requirements and Entry Flags have their bits (Base 2.1 Figure 294, libnvme 1.3 nvmf_disc_eflags)', () => {
    const { TREQ, EFLAGS } = DiscoveryLogEntry.fields
    expect(rowsOf({ fields: TREQ.rows })).toEqual([
      ['TSC', 1, 0],
      ['SQFCD', 2, 2],
      ['ZHIDS', 3, 3],
      ['TASC', 5, 4],
    ])
    expect(valuesOf(TREQ.rows.TSC)).toEqual({ NOT_SPECIFIED: 0b00, REQUIRED: 0b01, NOT_REQUIRED: 0b10 })
    expect(valuesOf(TREQ.rows.TASC)).toEqual({
      ...{ NOT_SPECIFIED: 0b00, AUTHENTICATION: 0b01, AUTHENTICATION_AND_SECURE_CHANNEL: 0b10 },
    })
    expect(rowsOf({ fields: EFLAGS.rows })).toEqual([
      ['DUPRETINFO', 0, 0],
      ['EPCSD', 1, 1],
      ['NCC', 2, 2],
    ])
  })

  it('numbers are those of libnvme 1.3, and of Base 2.1 Figures 294 and 499', () => {
    expect(TRTYPE.values).toEqual({ RDMA: 1, FC: 2, TCP: 3, LOOP: 254 })
    expect(ADRFAM.values).toEqual({ PCI: 0, IP4: 1, IP6: 2, IB: 3, FC: 4, LOOP: 254 })
    expect(SUBTYPE.values).toEqual({ REFERRAL: 1, NVM: 2, CURRENT_DISCOVERY: 3 })
    expect(EXATTYPE.values).toEqual({ HOST_IDENTIFIER: 1, ADMIN_LABEL_ASCII: 2, ADMIN_LABEL_UTF8: 3 })
  })

  it('DiscoveryLsp and DiscoveryLidsp have the bits of libnvme 1.3 and of Base 2.1 Figure 292', () => {
    expect(rowsOf(DiscoveryLsp)).toEqual([
      ['EXTDLPE', 0, 0],
      ['PLEO', 1, 1],
      ['ALLSUBE', 2, 2],
    ])
    expect(rowsOf(DiscoveryLidsp)).toEqual([
      ['EXTDLPES', 0, 0],
      ['PLEOS', 1, 1],
      ['ALLSUBES', 2, 2],
    ])
  })

  it('ExtendedAttribute has a type and a length (libnvme 1.3 nvmf_ext_attr)', () => {
    expect(ExtendedAttribute.bytes).toBe(4)
    expect(placesOf(ExtendedAttribute)).toEqual({ EXATTYPE: [0, 2], EXATLEN: [2, 2] })
  })

  it('entries follow the header', () => {
    expect([0, 1, 9].map(discoveryEntryOffset)).toEqual([1024, 2048, 10_240])
    expect(DISCOVERY_NQN).toBe('nqn.2014-08.org.nvmexpress.discovery')
  })
})

describe('Transport Specific Address Subtypes', () => {
  it('TcpAddressSubtype has a security type (TCP 1.0 Figure 17)', () => {
    expect(TcpAddressSubtype.bytes).toBe(256)
    expect(placesOf(TcpAddressSubtype)).toEqual({ SECTYPE: [0, 1] })
    expect(TcpAddressSubtype.fields.SECTYPE.values).toEqual({ NONE: 0, TLS_1_2: 1, TLS_1_3: 2 })
  })

  it('RdmaAddressSubtype has the fields of RDMA 1.0 Figure 3', () => {
    expect(RdmaAddressSubtype.bytes).toBe(256)
    const places = { RDMA_QPTYPE: [0, 1], RDMA_PRTYPE: [1, 1], RDMA_CMS: [2, 1], RDMA_PKEY: [8, 2] }
    expect(placesOf(RdmaAddressSubtype)).toEqual(places)
    const { RDMA_QPTYPE, RDMA_PRTYPE, RDMA_CMS } = RdmaAddressSubtype.fields
    expect(RDMA_QPTYPE.values).toEqual({ CONNECTED: 1, DATAGRAM: 2 })
    expect(RDMA_PRTYPE.values).toEqual({ NOT_SPECIFIED: 1, INFINIBAND: 2, ROCE: 3, ROCE_V2: 4, IWARP: 5 })
    expect(RDMA_CMS.values).toEqual({ RDMA_IP_CM: 1 })
  })

  it('an error of a transport structure cites the transport specification', () => {
    expect(() => TcpAddressSubtype.encode(unwritten(8), 0, {})).toThrow('TCP 1.0 §3.6.1.1')
  })
})
