import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../../test/bytes.js'
import { bytesOf, dwordsOf } from '../../test/figures.js'
import { ActiveNamespaceList, AllocatedNamespaceList, CNS, CSI, Identify, IDENTIFY_BYTES } from './identify.js'

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

  it("a vendor's command set may be asked about: CSI 30h to 3Fh", () => {
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
