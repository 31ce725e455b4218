import { describe, expect, it } from 'vitest'
import { quantityOf } from '../src/explain/quantity.js'
import { everyField } from './declared.js'

/**
 * Units of values in the specification, as the docs must state them. No test of bytes detects a missing or wrong unit.
 * Typed from the figures: of Base 2.1 for power states, most of Identify Controller and Sanitize Status; of Base 2.3 for
 * the rest of the Base Specification; of NVM 1.2, ZNS 1.1 and PCIe 1.2. Comments name the source of the other rows:
 * - `Base 2.0`: its text, as public programs quote it;
 * - a header of libnvme or Linux;
 * - `from memory`: no figure with the unit could be read.
 */
const units = {
  // Registers
  'CAP.TO': '500 ms units',
  'CAP.DSTRD': '2 ^ (2 + DSTRD) bytes',
  'CAP.MPSMIN': '2 ^ (12 + MPSMIN) bytes',
  'CAP.MPSMAX': '2 ^ (12 + MPSMAX) bytes',
  'CC.MPS': '2 ^ (12 + MPS) bytes',
  'CC.IOSQES': '2 ^ n bytes',
  'CC.IOCQES': '2 ^ n bytes',
  'CMBLOC.OFST': 'in CMBSZ.SZU',
  'CMBSZ.SZU': '4 KiB * 16 ^ SZU',
  'CMBSZ.SZ': 'in SZU',
  'CMBEBS.CMBWBZ': 'in CMBSZU',
  'CMBSWTP.CMBSWTV': 'in CMBSWTU per second',
  'BPINFO.BPSZ': '128 KiB units',
  'BPRSEL.BPRSZ': '4 KiB units',
  'BPRSEL.BPROF': '4 KiB units',
  'CRTO.CRWMT': '500 ms units',
  'CRTO.CRIMT': '500 ms units',
  'PMRCAP.PMRTO': 'in PMRTU',
  'PMREBS.PMRWBZ': 'in PMRSZU',
  'PMRSWTP.PMRSWTV': 'in PMRSWTU per second',

  // PCI configuration space
  'PCI header.CLS': 'dwords', // from memory
  'MSI-X capability.MTAB.TO': 'units of 8 bytes',
  'MSI-X capability.MPBA.PBAO': 'units of 8 bytes',
  'PCI Express capability.PXDCAP.MPS': '128 * 2 ^ n bytes', // from memory
  'PCI Express capability.PXDCAP.CSPLS': '10 ^ -n watts', // from memory
  'PCI Express capability.PXDC.MPS': '128 * 2 ^ n bytes', // Linux 6.1 pci_regs.h
  'PCI Express capability.PXDC.MRRS': '128 * 2 ^ n bytes', // Linux 6.1 pci_regs.h
  'PCI Express capability.PXLCAP.MLW': 'lanes',
  'PCI Express capability.PXLC.RCB': '128 bytes, not 64', // from memory
  'PCI Express capability.PXLS.NLW': 'lanes', // Linux 6.1 pci_regs.h
  'Advanced Error Reporting capability.AERHL': 'dwords of a TLP header',
  'Resizable BAR entry.REBARCAP.SIZES': '2 ^ (20 + n) bytes', // from memory
  'Resizable BAR entry.REBARCTL.BAR_SIZE': '2 ^ (20 + n) bytes', // from memory

  // Identify
  'Identify Controller.RAB': '2 ^ n commands',
  'Identify Controller.MDTS': '2 ^ n pages of CAP.MPSMIN',
  'Identify Controller.RTD3R': 'microseconds',
  'Identify Controller.RTD3E': 'microseconds',
  'Identify Controller.NSSL': 'microseconds',
  'Identify Controller.CRDT1': 'units of 100 ms',
  'Identify Controller.CRDT2': 'units of 100 ms',
  'Identify Controller.CRDT3': 'units of 100 ms',
  'Identify Controller.WCTEMP': 'kelvins', // Base 2.0
  'Identify Controller.CCTEMP': 'kelvins', // Base 2.0
  'Identify Controller.MTFA': 'units of 100 ms', // Base 2.0
  'Identify Controller.HMPRE': 'units of 4 KiB', // Base 2.0
  'Identify Controller.HMMIN': 'units of 4 KiB', // Base 2.0
  'Identify Controller.TNVMCAP': 'bytes', // Base 2.0
  'Identify Controller.UNVMCAP': 'bytes', // Base 2.0
  'Identify Controller.RPMBS.TSZE': 'units of 128 KiB', // Base 2.0
  'Identify Controller.RPMBS.ASZE': 'units of 512 bytes', // Base 2.0
  'Identify Controller.EDSTT': 'minutes',
  'Identify Controller.FWUG': 'units of 4 KiB',
  'Identify Controller.KAS': 'units of 100 ms',
  'Identify Controller.MNTMT': 'kelvins',
  'Identify Controller.MXTMT': 'kelvins',
  'Identify Controller.HMMINDS': 'units of 4 KiB',
  'Identify Controller.ANATT': 'seconds',
  'Identify Controller.PELS': 'units of 64 KiB', // from memory
  'Identify Controller.MPTFAWR': 'units of 100 ms',
  'Identify Controller.TMPTHHA.TMPTHMH': 'kelvins',
  'Identify Controller.CQT': 'milliseconds',
  'Identify Controller.SQES.MINSQES': '2 ^ n bytes',
  'Identify Controller.SQES.MAXSQES': '2 ^ n bytes',
  'Identify Controller.CQES.MINCQES': '2 ^ n bytes',
  'Identify Controller.CQES.MAXCQES': '2 ^ n bytes',
  'Identify Controller.AWUN': 'logical blocks',
  'Identify Controller.AWUPF': 'logical blocks',
  'Identify Controller.ACWU': 'logical blocks',
  'Identify Controller.RHIRI': 'days', // libnvme 1.16
  'Identify Controller.HIRT': 'minutes', // libnvme 1.16
  'Identify Controller.IOCCSZ': 'units of 16 bytes', // libnvme 1.16
  'Identify Controller.IORCSZ': 'units of 16 bytes', // libnvme 1.16
  'Identify Controller.ICDOFF': 'units of 16 bytes', // from memory
  'Power State Descriptor.MP': 'units of MXPS',
  'Power State Descriptor.ENLAT': 'microseconds',
  'Power State Descriptor.EXLAT': 'microseconds',
  'Power State Descriptor.IDLP': 'units of IPS',
  'Power State Descriptor.ACTP': 'units of APS',
  'Power State Descriptor.EPFRT': 'units of EPFRTS',
  'Power State Descriptor.FQVT': 'units of FQVTS',
  'Power State Descriptor.EPFVT': 'units of EPFVTS',
  'Identify Namespace.NSZE': 'logical blocks',
  'Identify Namespace.NCAP': 'logical blocks',
  'Identify Namespace.NUSE': 'logical blocks',
  'Identify Namespace.FPI.RFNVM': 'percent',
  'Identify Namespace.NAWUN': 'logical blocks',
  'Identify Namespace.NAWUPF': 'logical blocks',
  'Identify Namespace.NACWU': 'logical blocks',
  'Identify Namespace.NABSN': 'logical blocks',
  'Identify Namespace.NABSPF': 'logical blocks',
  'Identify Namespace.NOIOB': 'logical blocks',
  'Identify Namespace.NVMCAP': 'bytes',
  'Identify Namespace.NPWG': 'logical blocks',
  'Identify Namespace.NPWA': 'logical blocks',
  'Identify Namespace.NPDG': 'logical blocks',
  'Identify Namespace.NPDA': 'logical blocks',
  'Identify Namespace.NOWS': 'logical blocks',
  'Identify Namespace.MSSRL': 'logical blocks',
  'Identify Namespace.MCL': 'logical blocks',
  'Identify Namespace.KPIODAAG': 'logical blocks',
  'Identify Namespace.LBAF.MS': 'bytes',
  'Identify Namespace.LBAF.LBADS': '2 ^ n bytes',
  'I/O Command Set Independent Identify Namespace.FPI.RFNVM': 'percent',
  'Namespace Identification Descriptor.NIDL': 'bytes',
  'NVM Set Attributes Entry.R4KRT': 'units of 100 ns',
  'NVM Set Attributes Entry.OWS': 'bytes',
  'NVM Set Attributes Entry.TNVMSC': 'bytes',
  'NVM Set Attributes Entry.UNVMSC': 'bytes',
  'NVM Command Set Identify Namespace.ELBAF.STS': 'in bits',
  'NVM Command Set Identify Namespace.NPDGL': 'logical blocks',
  'NVM Command Set Identify Namespace.NPRG': 'logical blocks',
  'NVM Command Set Identify Namespace.NPRA': 'logical blocks',
  'NVM Command Set Identify Namespace.NORS': 'logical blocks',
  'NVM Command Set Identify Namespace.NPDAL': 'logical blocks',
  'NVM Command Set Identify Namespace.LBAPSS': 'logical blocks',
  'NVM Command Set Identify Namespace.TLBAAG': 'logical blocks',
  'NVM Command Set Identify Controller.VSL': '2 ^ n pages of CAP.MPSMIN',
  'NVM Command Set Identify Controller.WZSL': '2 ^ n pages of CAP.MPSMIN',
  'NVM Command Set Identify Controller.WUSL': '2 ^ n pages of CAP.MPSMIN',
  'NVM Command Set Identify Controller.DMRSL': 'logical blocks',
  'NVM Command Set Identify Controller.DMSL': 'logical blocks',
  'NVM Command Set Identify Controller.WZDSL': '2 ^ n pages of CAP.MPSMIN',
  'LBA Format Extension.ZSZE': 'logical blocks',
  'LBA Format Extension.ZDES': 'units of 64 bytes',
  'Zoned Namespace Command Set Identify Namespace.RRL': 'seconds',
  'Zoned Namespace Command Set Identify Namespace.FRL': 'seconds',
  'Zoned Namespace Command Set Identify Namespace.RRL1': 'seconds',
  'Zoned Namespace Command Set Identify Namespace.RRL2': 'seconds',
  'Zoned Namespace Command Set Identify Namespace.RRL3': 'seconds',
  'Zoned Namespace Command Set Identify Namespace.FRL1': 'seconds',
  'Zoned Namespace Command Set Identify Namespace.FRL2': 'seconds',
  'Zoned Namespace Command Set Identify Namespace.FRL3': 'seconds',
  'Zoned Namespace Command Set Identify Namespace.ZRWAFG': 'logical blocks', // from memory
  'Zoned Namespace Command Set Identify Namespace.ZRWASZ': 'logical blocks', // from memory
  'Zoned Namespace Command Set Identify Controller.ZASL': '2 ^ n pages of CAP.MPSMIN',
  'Namespace Granularity Descriptor.NSG': 'bytes',
  'Namespace Granularity Descriptor.NCG': 'bytes',
  'Domain Attributes Entry.TDC': 'bytes',
  'Domain Attributes Entry.UDC': 'bytes',
  'Domain Attributes Entry.MEGDC': 'bytes', // from memory: the figure states no unit
  'Namespace Management host specified fields.NSZE': 'logical blocks',
  'Namespace Management host specified fields.NCAP': 'logical blocks',

  // Log pages
  'SMART / Health Information.CTEMP': 'kelvins',
  'SMART / Health Information.AVSP': 'percent',
  'SMART / Health Information.AVSPT': 'percent',
  'SMART / Health Information.DUR': 'units of 1,000 * 512 bytes',
  'SMART / Health Information.DUW': 'units of 1,000 * 512 bytes',
  'SMART / Health Information.CBT': 'minutes',
  'SMART / Health Information.POH': 'Hours',
  'SMART / Health Information.WCTT': 'minutes',
  'SMART / Health Information.CCTT': 'minutes',
  'SMART / Health Information.TSEN1': 'kelvins',
  'SMART / Health Information.TSEN2': 'kelvins',
  'SMART / Health Information.TSEN3': 'kelvins',
  'SMART / Health Information.TSEN4': 'kelvins',
  'SMART / Health Information.TSEN5': 'kelvins',
  'SMART / Health Information.TSEN6': 'kelvins',
  'SMART / Health Information.TSEN7': 'kelvins',
  'SMART / Health Information.TSEN8': 'kelvins',
  'SMART / Health Information.TTTMT1': 'seconds',
  'SMART / Health Information.TTTMT2': 'seconds',
  'Self-test Result.POH': 'Hours',
  'Device Self-test log.CDSTC.DSTCS': 'percent',
  'Endurance Group Information.AVSP': 'percent',
  'Endurance Group Information.AVSPT': 'percent',
  'Endurance Group Information.EE': '1,000,000,000 bytes',
  'Endurance Group Information.DUR': '1,000,000,000 bytes',
  'Endurance Group Information.DUW': '1,000,000,000 bytes',
  'Endurance Group Information.MUW': '1,000,000,000 bytes',
  'Endurance Group Information.TEGCAP': 'bytes',
  'Endurance Group Information.UEGCAP': 'bytes',
  'Rotational Media Information.NRS': 'per minute',
  'Predictable Latency Per NVM Set.DTWRT': 'units of 4 KiB',
  'Predictable Latency Per NVM Set.DTWWT': 'units of OWS',
  'Predictable Latency Per NVM Set.DTWTM': 'milliseconds',
  'Predictable Latency Per NVM Set.NTWTMH': 'milliseconds',
  'Predictable Latency Per NVM Set.NTWTML': 'milliseconds',
  'Predictable Latency Per NVM Set.DTWRE': 'units of 4 KiB',
  'Predictable Latency Per NVM Set.DTWWE': 'units of OWS',
  'Predictable Latency Per NVM Set.DTWTE': 'milliseconds',
  'Persistent Event Log header.TLL': 'bytes',
  'Persistent Event Log header.LHL': 'bytes of the header after byte 19',
  'Persistent Event Log header.POH': 'Hours',
  'Persistent Event header.EHL': 'bytes of the header after byte 2',
  'Persistent Event header.VSIL': 'bytes',
  'Persistent Event header.EL': 'bytes after the header',
  'Timestamp Change Event data.MSR': 'Milliseconds',
  'Controller Reset Information.POM': 'milliseconds',
  'Format NVM Completion Event data.SFPI': 'percent',
  'Sanitize Completion Event data.SPROG': '1/65,536',
  'Set Feature Event data.SFEL.MBC': 'bytes',
  'Thermal Excursion Event data.OTMP': 'kelvins relative to the threshold',
  'Vendor Specific Event Descriptor.VSEDL': 'bytes',
  'LBA Status Information header.LSLPLEN': 'bytes',
  'Media Unit Status Descriptor.AVSP': 'percent',
  'Media Unit Status Descriptor.CIO': 'bytes',
  'Endurance Group Configuration Descriptor.TEGCAP': 'bytes',
  'Endurance Group Configuration Descriptor.SEGCAP': 'bytes',
  'Endurance Group Configuration Descriptor.EE': '1,000,000,000 bytes',
  'Media Unit Configuration Descriptor.MUDL': 'bytes that follow',
  'Command and Feature Lockdown.LNGTH': 'bytes',
  'Boot Partition header.BPINFO.BPSZ': '128 KiB units',
  'FDP Configurations header.SZE': 'bytes',
  'FDP Configuration Descriptor.DSZE': 'bytes',
  'FDP Configuration Descriptor.VSS': 'bytes',
  'FDP Configuration Descriptor.RUNS': 'bytes',
  'FDP Configuration Descriptor.ERUTL': 'seconds',
  'Sanitize Status.SPROG': '1/65,536',
  'Sanitize Status.ETO': 'seconds',
  'Sanitize Status.ETBE': 'seconds',
  'Sanitize Status.ETCE': 'seconds',
  'Sanitize Status.ETPVDS': 'seconds',

  // Features
  'Arbitration.CDW11.AB': '2 ^ n commands',
  'Temperature Threshold.CDW11.TMPTH': 'kelvins',
  'Temperature Threshold.CDW11.TMPTHH': 'kelvins',
  'Error Recovery.CDW11.TLER': 'units of 100 ms',
  'Interrupt Coalescing.CDW11.THR': 'in completions',
  'Interrupt Coalescing.CDW11.TIME': 'units of 100 microseconds',
  'Autonomous Power State Transition Entry.ITPT': 'milliseconds',
  'Host Memory Buffer.CDW12.HSIZE': 'memory pages',
  'Host Memory Buffer Descriptor Entry.BSIZE': 'memory pages',
  'Host Memory Buffer Attributes.HSIZE': 'memory pages',
  'Timestamp data.TSTMP': 'milliseconds since 1970 or since a reset',
  'Keep Alive Timer.CDW11.KATO': 'milliseconds',
  'Host Controlled Thermal Management.CDW11.TMT1': 'kelvins',
  'Host Controlled Thermal Management.CDW11.TMT2': 'kelvins',
  'Deterministic Threshold Configuration.DTWINTT': 'milliseconds',
  'LBA Status Information Attributes.CDW11.LSIRI': '100 ms',
  'LBA Status Information Attributes.CDW11.LSIPI': '100 ms',
  'Host Identifier.CDW11.EXHID': '16 bytes, not 8',
  'Vendor Specific Performance Attribute.ATTRL': 'bytes',
  'Metadata Element Descriptor.ELEN': 'bytes',

  // Commands and what they transfer
  'SGL Data Block descriptor.LEN': 'bytes',
  'SGL Bit Bucket descriptor.LEN': 'bytes',
  'SGL Segment descriptor.LEN': 'bytes: a multiple of 16',
  'SGL Last Segment descriptor.LEN': 'bytes: a multiple of 16',
  'Keyed SGL Data Block descriptor.LEN': 'bytes',
  'Transport SGL Data Block descriptor.LEN': 'bytes',
  'Streams Directive parameters.SGS': 'units of SWS',
  'Dataset Management Range.CATTR.CASZE': 'logical blocks',
  'FDP Configuration Descriptor.FDPA.RGIF': 'in bits',
  'Reclaim Unit Handle Status Descriptor.EARUTR': 'seconds',
  'Reclaim Unit Handle Status Descriptor.RUAMW': 'logical blocks',
  'Zone Descriptor.ZCAP': 'logical blocks',
  'Get Log Page.OT': 'bytes',
  'Firmware Image Download.OFST': 'dwords',
  'Capacity Management.CAPL': 'bits 31:0 of the bytes',
  'Capacity Management.CAPU': 'bits 63:32 of the bytes',
  'Security Send.TL': 'bytes',
  'Security Receive.AL': 'bytes',
  'Get LBA Status.RL': 'logical blocks',

  // NVMe over Fabrics
  'Connect.KATO': 'milliseconds',
  'Authentication Send.TL': 'bytes',
  'Authentication Receive.AL': 'bytes',
  'DH-HMAC-CHAP_Challenge.HL': 'bytes',
  'DH-HMAC-CHAP_Challenge.DHVLEN': 'bytes',
  'DH-HMAC-CHAP_Reply.HL': 'bytes',
  'DH-HMAC-CHAP_Reply.DHVLEN': 'bytes',
  'DH-HMAC-CHAP_Success1.HL': 'bytes',
  'Discovery log header.TDLPL': 'bytes', // SPDK 26.09
  'Extended discovery log entry.TEL': 'bytes',
  'Extended Attribute header.EXATLEN': 'bytes',
  ...inEachPdu('HLEN', 'bytes'),
  ...inEachPdu('PDO', 'bytes from the start of the PDU'),
  ...inEachPdu('PLEN', 'bytes'),
  'ICReq.HPDA': 'dwords',
  'ICResp.CPDA': 'dwords',
  'ICResp.MAXH2CDATA': 'bytes per H2CData PDU',
  'H2CData.DATAO': 'bytes',
  'H2CData.DATAL': 'bytes',
  'C2HData.DATAO': 'bytes',
  'C2HData.DATAL': 'bytes',
  'R2T.R2TO': 'bytes',
  'R2T.R2TL': 'bytes',
} as const

/** Returns the unit of a field of the PDU Common Header, for every PDU. */
function inEachPdu(field: string, unit: string): Readonly<Record<string, string>> {
  const pdus = [
    ...['PDU Common Header', 'ICReq', 'ICResp', 'H2CTermReq', 'C2HTermReq', 'CapsuleCmd', 'CapsuleResp', 'H2CData'],
    ...['C2HData', 'R2T'],
  ]
  return Object.fromEntries(pdus.map((pdu) => [`${pdu}.${field}`, unit]))
}

/** Units as the docs spell them. In names of the specification they are capitalized or followed by bit numbers. */
const unitWord = new RegExp(
  [
    String.raw`\b(?:seconds?|minutes?|[Hh]ours|days|[Mm]illiseconds|microseconds|nanoseconds|ms|us|ns)\b`,
    String.raw`\b(?:kelvins|[Cc]elsius|[Ff]ahrenheit|percent|(?:milli)?watts|lanes|in completions|units of)\b`,
    String.raw`\bbytes\b(?! \d)|(?<!Random 4 )\b[KMGT]i?B\b|\b(?:dwords|logical blocks|pages|sectors|in bits)\b`,
    String.raw`\d+ \^|1/65,536|\bin [A-Z.]*(?:SZU|TU)\b`,
  ].join('|'),
)

/** Docs that state a unit, by the path of the field or row. */
const said = new Map(
  everyField()
    .filter(({ doc }) => unitWord.test(doc))
    .map(({ path, doc }) => [path, doc]),
)

describe('units', () => {
  it('are stated in the docs of exactly the values that have a unit in the specification', () => {
    expect([...said.keys()].toSorted()).toEqual(Object.keys(units).toSorted())
  })

  it.each(Object.entries(units))('%s: %s', (path, unit) => {
    // No other unit may precede or follow it.
    const parts = (said.get(path) ?? '').split(unit)
    expect(parts).toHaveLength(2)
    expect(parts[0]).toMatch(/(?:^|[^\d] )$/)
    expect(parts[1]).toMatch(/^(?:$|[:;,]| )/)
    expect(parts.join('')).not.toMatch(unitWord)
  })

  it('are applied by `explain`, except to values that are not amounts', () => {
    const around = { nameOf: () => 'MIB', memoryPageBytes: 4096 }
    const without = Object.keys(units).filter((path) => quantityOf(said.get(path) ?? '', 3, around) === undefined)
    expect(without).toEqual([
      // In units of another field with a numeric value.
      'CMBLOC.OFST',
      // A table of sizes, single bits, and halves of a 64-bit number.
      'CMBSZ.SZU',
      'PCI Express capability.PXLC.RCB',
      'Resizable BAR entry.REBARCAP.SIZES',
      'Host Identifier.CDW11.EXHID',
      'Get Log Page.OT',
      'Capacity Management.CAPL',
      'Capacity Management.CAPU',
    ])
  })
})
