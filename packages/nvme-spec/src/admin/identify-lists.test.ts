import { describe, expect, it } from 'vitest'
import { toHex } from '../../test/bytes.js'
import { bytesOf, valuesOf } from '../../test/figures.js'
import {
  ControllerList,
  DomainAttributes,
  DomainList,
  EnduranceGroupList,
  IoCommandSets,
  IoCommandSetVector,
  NvmSetAttributes,
  NvmSetList,
  UuidList,
  UuidListEntry,
} from './identify-lists.js'

describe.each([
  [
    'ControllerList',
    ControllerList,
    4096,
    [
      ['NUMCIDS', 0, 2],
      ['CNTLID', 2, 4094],
    ],
  ], // Figure 137
  [
    'NvmSetAttributes', // Figure 318
    NvmSetAttributes,
    128,
    [
      ['NSETID', 0, 2],
      ['ENDGID', 2, 2],
      ['R4KRT', 8, 4],
      ['OWS', 12, 4],
      ['TNVMSC', 16, 16],
      ['UNVMSC', 32, 16],
    ],
  ],
  [
    'NvmSetList',
    NvmSetList,
    4096,
    [
      ['NUMENT', 0, 1],
      ['ENTRY', 128, 3968],
    ],
  ], // Figure 317
  [
    'UuidListEntry',
    UuidListEntry,
    32,
    [
      ['IDASC', 0, 4],
      ['UUID', 16, 16],
    ],
  ], // libnvme 1.3 nvme_id_uuid_list_entry
  ['UuidList', UuidList, 4096, [['ENTRY', 32, 4064]]], // libnvme 1.3 nvme_id_uuid_list
  [
    'DomainAttributes', // Figure 324
    DomainAttributes,
    128,
    [
      ['DID', 0, 2],
      ['TDC', 16, 16],
      ['UDC', 32, 16],
      ['MEGDC', 48, 16],
    ],
  ],
  [
    'DomainList',
    DomainList,
    4096,
    [
      ['NUMENT', 0, 1],
      ['ENTRY', 128, 3968],
    ],
  ], // Figure 323
  [
    'EnduranceGroupList',
    EnduranceGroupList,
    4096,
    [
      ['NEGIDS', 0, 2],
      ['ENDGID', 2, 4094],
    ],
  ], // Figure 326
  ['IoCommandSets', IoCommandSets, 4096, [['IOCSC', 0, 4096]]], // Figure 327
] as const)('%s', (_, declared, bytes, figure) => {
  it('has its fields at the bytes of the figure', () => {
    expect(declared.bytes).toBe(bytes)
    expect(bytesOf(declared)).toEqual(figure)
  })
})

describe('lists that Identify returns', () => {
  it('the Controller List begins with a count (Base 2.1 §4.6.1)', () => {
    const CNTLID = new Uint16Array(2047)
    CNTLID.set([0x0001, 0x0203])
    const { data } = ControllerList.create({ NUMCIDS: 2, CNTLID })
    expect(toHex(data, 0, 8)).toBe('02 00 01 00 03 02 00 00')
  })

  it('entries of 128 bytes begin at byte 128 of the NVM Set List and of the Domain List', () => {
    const sets = NvmSetList.create({ NUMENT: 31 })
    sets.ENTRY.at(30).NSETID = 0x1234
    expect(sets.data.getUint16(3968, true)).toBe(0x1234)
    const domains = DomainList.create({ NUMENT: 2, ENTRY: [{}, { DID: 2, TDC: (1n << 64n) + 7n }] })
    expect(DomainList.describe(domains.data)).toEqual(['NUMENT=2', 'ENTRY[1]={ DID=2 TDC=18446744073709551623 }'])
    expect(toHex(domains.data, 256 + 16, 16)).toBe('07 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00')
  })

  it("UUID 1 is at bytes 63:32, and says whether it is the vendor's or the subsystem vendor's", () => {
    expect(valuesOf(UuidListEntry.fields.IDASC)).toEqual({ NONE: 0, VENDOR: 1, SUBSYSTEM_VENDOR: 2 })
    const list = UuidList.create()
    const first = list.ENTRY.at(0)
    first.IDASC = UuidListEntry.IDASC.VENDOR
    first.UUID[0] = 0xab
    expect(toHex(list.data, 32, 17)).toBe('01' + ' 00'.repeat(15) + ' ab')
    expect(UuidList.describe(list.data)).toEqual(['ENTRY[0]={ IDASC=VENDOR UUID=ab000000000000000000000000000000 }'])
  })

  it('the Endurance Group List begins with a count', () => {
    const ENDGID = new Uint16Array(2047)
    ENDGID[2046] = 0xffff
    expect(EnduranceGroupList.create({ ENDGID }).data.getUint32(4092, true)).toBe(0xffff_0000)
  })

  it.each([
    ['NVMCS', 0x01],
    ['KVCS', 0x02],
    ['ZNSCS', 0x04],
    ['SLMCS', 0x08],
    ['CPNCS', 0x10],
  ] as const)('%s is a bit of an I/O Command Set Vector of 64 bits', (symbol, word) => {
    expect(IoCommandSetVector.bytes).toBe(8)
    const { data } = IoCommandSetVector.create({ [symbol]: 1 })
    expect(data.getBigUint64(0, true)).toBe(BigInt(word))
    expect(IoCommandSetVector.describe(data)).toEqual([`${symbol}=1`])
  })

  it('a controller with NVM alone, or NVM and Zoned Namespaces at once', () => {
    const sets = IoCommandSets.create({ IOCSC: [{ NVMCS: 1 }, { NVMCS: 1, ZNSCS: 1 }] })
    expect(toHex(sets.data, 0, 16)).toBe('01 00 00 00 00 00 00 00 05 00 00 00 00 00 00 00')
    expect(IoCommandSets.describe(sets.data)).toEqual(['IOCSC[0]={ NVMCS=1 }', 'IOCSC[1]={ NVMCS=1 ZNSCS=1 }'])
  })
})
