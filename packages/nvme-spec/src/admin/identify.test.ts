import { describe, expect, it } from 'vitest'
import {
  ActiveNamespaceList,
  AllocatedNamespaceList,
  CNS,
  ControllerList,
  CSI,
  DomainAttributes,
  DomainList,
  EnduranceGroupList,
  Identify,
  IDENTIFY_BYTES,
  IdentifyIndependentNamespace,
  IoCommandSets,
  IoCommandSetVector,
  NamespaceIdDescriptor,
  namespaceIds,
  namespaceRows,
  NIDT,
  NvmSetAttributes,
  NvmSetList,
  PrimaryControllerCapabilities,
  SecondaryController,
  SecondaryControllerList,
  UuidList,
  UuidListEntry,
} from './identify.js'
import { IdentifyNamespace } from '../nvm/identify.js'
import { fromHex, toHex } from '../../test/bytes.js'
import { bytesOf, dwordsOf, valuesOf } from '../../test/figures.js'
import { describeRows, wordOf } from '../../test/rows.js'

describe('identify', () => {
  describe('CNS (Base 2.1 §5.1.13.1, Figure 310; libnvme 1.3 enum nvme_identify_cns up to 1Ch)', () => {
    it.each([
      ['NAMESPACE', 0x00], // NVME_IDENTIFY_CNS_NS
      ['CONTROLLER', 0x01], // _CTRL
      ['ACTIVE_NAMESPACE_LIST', 0x02], // _NS_ACTIVE_LIST
      ['NAMESPACE_DESCRIPTOR_LIST', 0x03], // _NS_DESC_LIST
      ['NVM_SET_LIST', 0x04], // _NVMSET_LIST
      ['COMMAND_SET_NAMESPACE', 0x05], // _CSI_NS
      ['COMMAND_SET_CONTROLLER', 0x06], // _CSI_CTRL
      ['COMMAND_SET_ACTIVE_NAMESPACE_LIST', 0x07], // _CSI_NS_ACTIVE_LIST
      ['INDEPENDENT_NAMESPACE', 0x08], // _CSI_INDEPENDENT_ID_NS
      ['FORMAT_NAMESPACE', 0x09], // _NS_USER_DATA_FORMAT
      ['COMMAND_SET_FORMAT_NAMESPACE', 0x0a], // _CSI_NS_USER_DATA_FORMAT
      ['ALLOCATED_NAMESPACE_LIST', 0x10], // _ALLOCATED_NS_LIST
      ['ALLOCATED_NAMESPACE', 0x11], // _ALLOCATED_NS
      ['ATTACHED_CONTROLLER_LIST', 0x12], // _NS_CTRL_LIST
      ['CONTROLLER_LIST', 0x13], // _CTRL_LIST
      ['PRIMARY_CONTROLLER_CAPABILITIES', 0x14], // _PRIMARY_CTRL_CAP
      ['SECONDARY_CONTROLLER_LIST', 0x15], // _SECONDARY_CTRL_LIST
      ['NAMESPACE_GRANULARITY_LIST', 0x16], // _NS_GRANULARITY
      ['UUID_LIST', 0x17], // _UUID_LIST
      ['DOMAIN_LIST', 0x18], // from here on Figure 310
      ['ENDURANCE_GROUP_LIST', 0x19],
      ['COMMAND_SET_ALLOCATED_NAMESPACE_LIST', 0x1a],
      ['COMMAND_SET_ALLOCATED_NAMESPACE', 0x1b],
      ['COMMAND_SETS', 0x1c],
      ['UNDERLYING_NAMESPACE_LIST', 0x1d],
      ['PORTS_LIST', 0x1e],
      ['INDEPENDENT_ALLOCATED_NAMESPACE', 0x1f],
      ['SUPPORTED_CONTROLLER_STATE_FORMATS', 0x20],
    ] as const)('%s is %i', (name, value) => {
      expect(CNS[name]).toBe(value)
      expect(CNS.nameOf(value)).toBe(name)
    })

    it('has no other values', () => {
      expect(Object.keys(CNS.values)).toHaveLength(28)
      expect([0x0b, 0x0f, 0x21, 0xff].map((cns) => CNS.nameOf(cns))).toEqual(['0xb', '0xf', '0x21', '0xff'])
    })
  })

  describe('Command Set Identifiers (Base 2.1 §5.1.13.1, Figure 311)', () => {
    it('CSI 00h is NVM, 01h Key Value, 02h Zoned Namespace, 03h Subsystem Local Memory, 04h Computational Programs', () => {
      expect(CSI.values).toEqual({ NVM: 0x00, KV: 0x01, ZNS: 0x02, SLM: 0x03, CP: 0x04 })
    })
  })

  describe('Identify (Base 2.1 §5.1.13, Figures 307 to 309)', () => {
    it('CNS and CNTID are in Command Dword 10, CNSSID and CSI in 11, UIDX in 14', () => {
      const dwords = dwordsOf(Identify, { CNS: 0x1b, CNTID: 0x1234, CNSSID: 0x5678, CSI: 2, UIDX: 0x7f })
      expect(dwords).toEqual([0x1234_001b, 0x0200_5678, 0, 0, 0x7f, 0])
    })

    it('CSI 30h to 3Fh select vendor specific command sets', () => {
      expect(dwordsOf(Identify, { CNS: 0x05, CSI: 0x30 })[1]).toBe(0x3000_0000)
      expect(() => dwordsOf(Identify, { CSI: 0x100 })).toThrow('Identify.CSI (Command Set Identifier)')
    })
  })

  describe.each([
    ['Active Namespace ID list', ActiveNamespaceList],
    ['Allocated Namespace ID list', AllocatedNamespaceList],
  ] as const)('%s (CNS 02h and 07h, 10h and 1Ah; Base 2.1 §5.1.13.2.2 and §5.1.13.2.9)', (name, list) => {
    it('is 1,024 identifiers of 32 bits', () => {
      expect(list.name).toBe(name)
      expect(IDENTIFY_BYTES).toBe(4096)
      expect(list.bytes).toBe(4096)
      expect(bytesOf(list)).toEqual([['NSID', 0, 4096]])
      const data = new DataView(new ArrayBuffer(4096))
      data.setUint32(0, 1, true)
      data.setUint32(4092, 0xffff_fffd, true)
      const { NSID } = list.view(data)
      expect([NSID.length, NSID[0], NSID[1], NSID[1023]]).toEqual([1024, 1, 0, 0xffff_fffd])
    })

    it('is written little endian', () => {
      const { data } = list.create({ NSID: Uint32Array.from({ length: 1024 }, (_, i) => [1, 0x0102_0304][i] ?? 0) })
      expect(toHex(data, 0, 12)).toBe(toHex(fromHex('01 00 00 00 04 03 02 01 00 00 00 00')))
    })
  })
})

describe('identify descriptors', () => {
  /** Returns data of CNS 03h: these bytes, then zeroes or another filler. */
  function listOf(hex: string, filling = 0): DataView {
    const list = new Uint8Array(4096).fill(filling)
    list.set(new Uint8Array(fromHex(hex).buffer))
    return new DataView(list.buffer)
  }

  const shown = (data: DataView, byteOffset?: number) =>
    [...namespaceIds(data, byteOffset)].map(({ type, id }) => [type, toHex(new DataView(id.buffer))])

  describe('Namespace Identification Descriptor (CNS 03h, Base 2.1 §5.1.13.2.3, Figure 315)', () => {
    it('NIDT is byte 0, NIDL byte 1, and the identifier begins at byte 4', () => {
      expect(bytesOf(NamespaceIdDescriptor)).toEqual([
        ['NIDT', 0, 1],
        ['NIDL', 1, 1],
      ])
      expect(NamespaceIdDescriptor.bytes).toBe(4)
      expect(NamespaceIdDescriptor.describe(fromHex('03 10 00 00'))).toEqual(['NIDT=UUID', 'NIDL=16'])
    })

    it('types are 1h EUI-64, 2h NGUID, 3h UUID and 4h CSI', () => {
      expect(NIDT.values).toEqual({ EUI64: 0x1, NGUID: 0x2, UUID: 0x3, CSI: 0x4 })
    })
  })

  describe('namespaceIds', () => {
    // UUID 01020304-0506-0708-090a-0b0c0d0e0f10, EUI-64 5254000000000001h, NVM Command Set
    const descriptors =
      '03 10 00 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 01 08 00 00 52 54 00 00 00 00 00 01 04 01 00 00 00'

    it('yields every identifier with its type, in wire order', () => {
      expect(shown(listOf(descriptors))).toEqual([
        [3, '01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10'],
        [1, '52 54 00 00 00 00 00 01'],
        [4, '00'],
      ])
    })

    it('ends at a descriptor of length 0, whatever follows it', () => {
      expect(shown(listOf(''))).toEqual([])
      expect(shown(listOf('04 01 00 00 02 00 00 00 00', 0xff))).toEqual([[4, '02']])
    })

    it('yields reserved types too, which the caller ignores', () => {
      expect(shown(listOf('7f 03 00 00 aa bb cc 04 01 00 00 00'))).toEqual([
        [0x7f, 'aa bb cc'],
        [4, '00'],
      ])
    })

    it('reads a list without a terminator up to its last byte', () => {
      // 4096 = 15 * 259 + 211: fifteen descriptors of 255 bytes and one of 207.
      const full = ['7f ff 00 00' + ' 00'.repeat(255)].join().concat(' ').repeat(15) + '7f cf 00 00' + ' 11'.repeat(207)
      expect(shown(listOf(full))).toHaveLength(16)
      // The last three bytes are too few for another header.
      const rest = full.replace(/7f cf.*/, '7f cc 00 00' + ' 11'.repeat(204) + ' 04 01 00')
      expect(shown(listOf(rest))).toHaveLength(16)
    })

    it('yields the descriptors before one that exceeds the list, and then throws', () => {
      const data = listOf(('7f ff 00 00' + ' 00'.repeat(255) + ' ').repeat(15) + '7f d0')
      const ids = namespaceIds(data)
      for (let i = 0; i < 15; i++) expect(ids.next().done).toBe(false)
      expect(() => ids.next()).toThrow(
        new RangeError(
          'Namespace Identification Descriptor at byte 3885: ends at byte 4097 of a list of 4096 (Base 2.1 §5.1.13.2.3)',
        ),
      )
    })

    it.each([
      ['01 10 00 00', 8, 1, 16],
      ['02 08 00 00', 16, 2, 8],
      ['03 0f 00 00', 16, 3, 15],
      ['04 02 00 00', 1, 4, 2],
    ])('rejects %s: the length does not match the type', (hex, expected, type, got) => {
      const read = () => [...namespaceIds(listOf('7f 01 00 00 00 ' + hex))]
      expect(read).toThrow(RangeError)
      expect(read).toThrow(`at byte 5: expected NIDL ${expected} for NIDT ${type}, got ${got} (Base 2.1 §5.1.13.2.3)`)
    })

    it('reads a list at an offset in a larger buffer, and copies the identifiers', () => {
      const memory = new Uint8Array(8192).fill(0xff)
      memory.set(new Uint8Array(listOf(descriptors).buffer), 1001)
      const data = new DataView(memory.buffer, 1)
      const [first] = [...namespaceIds(data, 1000)]
      memory.fill(0)
      expect(toHex(new DataView(first!.id.buffer), 0, 4)).toBe('01 02 03 04')
    })

    it('rejects memory that is shorter than a list', () => {
      expect(() => shown(listOf(''), 1)).toThrow(
        'Namespace Identification Descriptor list needs 4096 bytes at offset 1, got 4096',
      )
      expect(() => shown(new DataView(new ArrayBuffer(4)))).toThrow(RangeError)
    })

    it('rejects an invalid offset, and memory of an invalid type', () => {
      const read = (data: unknown, byteOffset?: unknown) => () => [
        ...namespaceIds(data as DataView, byteOffset as number),
      ]
      for (const byteOffset of [-1, 0.5, Number.NaN]) expect(read(listOf(''), byteOffset)).toThrow(RangeError)
      expect(read(listOf(''), '0')).toThrow(TypeError)
      for (const data of [undefined, {}]) expect(read(data)).toThrow('Namespace Identification Descriptor list')
      expect(read(new Uint8Array(4096))()).toEqual([])
    })
  })
})

describe('identify lists', () => {
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

  describe('lists returned by Identify', () => {
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

    it('UUID 1 is at bytes 63:32, with an association: none, vendor or subsystem vendor', () => {
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

    it('decodes combinations of NVM alone, and of NVM with Zoned Namespaces', () => {
      const sets = IoCommandSets.create({ IOCSC: [{ NVMCS: 1 }, { NVMCS: 1, ZNSCS: 1 }] })
      expect(toHex(sets.data, 0, 16)).toBe('01 00 00 00 00 00 00 00 05 00 00 00 00 00 00 00')
      expect(IoCommandSets.describe(sets.data)).toEqual(['IOCSC[0]={ NVMCS=1 }', 'IOCSC[1]={ NVMCS=1 ZNSCS=1 }'])
    })
  })
})

describe('identify independent', () => {
  describe('I/O Command Set Independent Identify Namespace (CNS 08h, Base 2.1 §5.1.13.2.8, Figure 319)', () => {
    it('is 4096 bytes, with its fields at the bytes of the figure', () => {
      expect(IdentifyIndependentNamespace.bytes).toBe(4096)
      expect(bytesOf(IdentifyIndependentNamespace)).toEqual([
        ['NSFEAT', 0, 1], // 0 to 2 as in libnvme 1.3 nvme_id_independent_id_ns
        ['NMIC', 1, 1],
        ['RESCAP', 2, 1],
        ['FPI', 3, 1],
        ['ANAGRPID', 4, 4],
        ['NSATTR', 8, 1],
        ['NVMSETID', 10, 2],
        ['ENDGID', 12, 2],
        ['NSTAT', 14, 1],
        ['KPIOS', 15, 1],
        ['MAXKT', 16, 2],
        ['RGRPID', 20, 4],
      ])
    })

    describeRows([
      // Bits 3 and 4 as nvme-cli 2.3 explains them.
      [wordOf(IdentifyIndependentNamespace, 'NSFEAT'), { UIDREUSE: 0x08n, RMEDIA: 0x10n, VWCNP: 0x20n }],
      [wordOf(IdentifyIndependentNamespace, 'NMIC'), { SHRNS: 0x01n, DISNS: 0x02n }],
      [
        wordOf(IdentifyIndependentNamespace, 'RESCAP'), // libnvme 1.3 enum nvme_id_ns_rescap
        { PTPL: 0x01n, WE: 0x02n, EA: 0x04n, WERO: 0x08n, EARO: 0x10n, WEAR: 0x20n, EAAR: 0x40n, IEK: 0x80n },
      ],
      [wordOf(IdentifyIndependentNamespace, 'FPI'), { RFNVM: 0x7fn, FPIS: 0x80n }],
      [wordOf(IdentifyIndependentNamespace, 'NSATTR'), { CWP: 0x01n }],
      [wordOf(IdentifyIndependentNamespace, 'NSTAT'), { NRDY: 0x01n, IOI: 0x06n }],
      [wordOf(IdentifyIndependentNamespace, 'KPIOS'), { KPIOENS: 0x01n, KPIOSNS: 0x02n }],
    ])

    it('performance is not reported, not degraded or degraded', () => {
      const { IOI } = IdentifyIndependentNamespace.fields.NSTAT.rows
      expect(valuesOf(IOI)).toEqual({ NOT_REPORTED: 0, NOT_DEGRADED: 2, DEGRADED: 3 })
    })

    it('describes a shared namespace that is ready', () => {
      const { data } = IdentifyIndependentNamespace.create({ NMIC: 0x01, NSTAT: 0x05, ENDGID: 1 })
      expect(IdentifyIndependentNamespace.describe(data)).toEqual([
        'NMIC={ SHRNS=1 DISNS=0 }',
        'ENDGID=1',
        'NSTAT={ NRDY=1 IOI=NOT_DEGRADED }',
      ])
    })

    it('has the same rows in these words as Identify Namespace (NVM 1.2 §4.1.5.1)', () => {
      expect(Object.keys(namespaceRows)).toEqual(['NMIC', 'RESCAP', 'FPI', 'NSATTR', 'KPIOS'])
      expect(IdentifyNamespace.RESCAP.EAAR.of(0x40)).toBe(1)
    })
  })
})

describe('identify virtualization', () => {
  describe('Primary Controller Capabilities (CNS 14h, libnvme 1.3 nvme_primary_ctrl_cap)', () => {
    it('is 4096 bytes, with its fields at the bytes of the header', () => {
      expect(PrimaryControllerCapabilities.bytes).toBe(4096)
      expect(bytesOf(PrimaryControllerCapabilities)).toEqual([
        ['CNTLID', 0, 2],
        ['PORTID', 2, 2],
        ['CRT', 4, 1],
        ['VQFRT', 32, 4],
        ['VQRFA', 36, 4],
        ['VQRFAP', 40, 2],
        ['VQPRT', 42, 2],
        ['VQFRSM', 44, 2],
        ['VQGRAN', 46, 2],
        ['VIFRT', 64, 4],
        ['VIRFA', 68, 4],
        ['VIRFAP', 72, 2],
        ['VIPRT', 74, 2],
        ['VIFRSM', 76, 2],
        ['VIGRAN', 78, 2],
      ])
    })

    // As nvme-cli 2.3 explains them.
    describeRows([[wordOf(PrimaryControllerCapabilities, 'CRT'), { VQ: 0x01n, VI: 0x02n }]])
  })

  describe('Secondary Controller List (CNS 15h, libnvme 1.3 nvme_secondary_ctrl_list)', () => {
    it('has entries of 32 bytes, starting at byte 32', () => {
      expect([SecondaryController.bytes, SecondaryControllerList.bytes]).toEqual([32, 4096])
      expect(bytesOf(SecondaryControllerList)).toEqual([
        ['NUMID', 0, 1],
        ['ENTRY', 32, 4064],
      ])
      expect(bytesOf(SecondaryController)).toEqual([
        ['SCID', 0, 2],
        ['PCID', 2, 2],
        ['SCS', 4, 1],
        ['VFN', 8, 2],
        ['NVQ', 10, 2],
        ['NVI', 12, 2],
      ])
    })

    it('a secondary controller is offline or online', () => {
      expect(valuesOf(SecondaryController.fields.SCS.rows.STATE)).toEqual({ OFFLINE: 0, ONLINE: 1 })
      const { data } = SecondaryControllerList.create({
        NUMID: 1,
        ENTRY: [{ SCID: 1, SCS: { STATE: 1 }, VFN: 1, NVQ: 2 }],
      })
      expect(data.getUint8(32 + 4)).toBe(1)
      expect(SecondaryControllerList.describe(data)).toEqual([
        'NUMID=1',
        'ENTRY[0]={ SCID=1 SCS={ STATE=ONLINE } VFN=1 NVQ=2 }',
      ])
    })
  })
})
