/**
 * Maps names and descriptions of nvme-cli to those of the specification, and lists known mistakes of nvme-cli 2.3. The
 * tables are complete: the test fails for a key or a bit that is not listed, and for an unused entry.
 */
import { IdentifyNamespace, lbaFormatIndex } from '../../src/nvm/identify.js'
import type { Fields } from './compare.js'

/** A known mistake by which nvme-cli prints another number than nvme-spec decodes. */
export interface Slip {
  readonly why: string
  /** Names of the affected fields, or of bits as `FIELD[msb:lsb]`. */
  readonly where: readonly string[]
  /** Returns whether the slip turns `ours` into `printed`; `raw` is the entire field if `ours` is some of its bits. */
  readonly explains: (printed: bigint, ours: bigint, raw: bigint) => boolean
}

/** Names of a structure. */
export interface Names {
  /** Fields by nvme-cli's key, if it is not the specification's name in lower case. */
  readonly keys: Readonly<Record<string, string>>
  /** The same inside the elements of an array, by field. */
  readonly parts: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Keys that are only printed under a condition. */
  readonly printedIf: Readonly<Record<string, (raw: DataView) => boolean>>
  /** Values that nvme-cli derives or formats: returns the expected text, for element `index`. */
  readonly derived: Readonly<Record<string, (view: Fields, index: number) => string>>
  /** Fields that nvme-cli 2.3 does not print, with the reason. */
  readonly notPrinted: Readonly<Record<string, string>>
  /** Description of each declared row in the output of `-H`. */
  readonly bits: Readonly<Record<string, Readonly<Record<string, RegExp>>>>
  /** Rows added or extended after nvme-cli 2.3, which calls their new bits reserved. */
  readonly newerBits: Readonly<Record<string, string>>
  /** Fields declared without rows whose bits nvme-cli explains: only positions and values are compared. */
  readonly declaredWhole: readonly string[]
  /** Fields whose rows nvme-cli 2.3 does not distinguish. */
  readonly notExplained: Readonly<Record<string, string>>
  /** Differences in JSON, and in the text of `-H`. */
  readonly jsonSlips: readonly Slip[]
  readonly humanSlips: readonly Slip[]
}

const isSigned = (printed: bigint, ours: bigint) => printed < 0n && BigInt.asUintN(32, printed) === ours

const WHOLE_BYTE_RP: Slip = {
  why: 'the six reserved bits above RP are printed with it',
  where: ['LBAF.RP'],
  explains: (printed, ours) => (printed & 3n) === ours,
}

const WHOLE = 'printed as one number, also with -H'
const NEWER = 'newer than nvme-cli 2.3, which treats its bytes as reserved'
const RAW = 'printed as a hexadecimal dump on request (-v), and not in JSON'

const u16At = (offset: number) => (raw: DataView) => raw.getUint16(offset, true) !== 0
const hasPreferredSizes = (raw: DataView) => (raw.getUint8(24) & 0x10) !== 0

export const CONTROLLER: Names = {
  keys: { domainid: 'DID', ocfs: 'CDFS', psds: 'PSD' },
  parts: {
    PSD: {
      max_power: 'MP',
      mxps: 'MXPS',
      nops: 'NOPS',
      entry_lat: 'ENLAT',
      exit_lat: 'EXLAT',
      read_tput: 'RRT',
      read_lat: 'RRL',
      write_tput: 'RWT',
      write_lat: 'RWL',
      idle_power: 'IDLP',
      idle_scale: 'IPS',
      active_power: 'ACTP',
      active_power_work: 'APW',
      active_scale: 'APS',
    },
  },
  printedIf: { subnqn: (raw) => raw.getUint8(768) !== 0 },
  // An OUI is printed with its most significant byte first, but stored in reverse order.
  derived: {
    ieee: ({ IEEE }) =>
      Buffer.from(IEEE as Uint8Array)
        .reverse()
        .toString('hex'),
  },
  notPrinted: {
    BPCAP: NEWER,
    NSSL: NEWER,
    PLSI: NEWER,
    CRCAP: NEWER,
    KPIOC: NEWER,
    MPTFAWR: NEWER,
    TMPTHHA: NEWER,
    CQT: NEWER,
    OAQD: NEWER,
    RHIRI: NEWER,
    HIRT: NEWER,
    CMMRTD: NEWER,
    NMMRTD: NEWER,
    MINMRTG: NEWER,
    MAXMRTG: NEWER,
    TRATTR: NEWER,
    MCUDMQ: NEWER,
    MNSUDMQ: NEWER,
    MCMR: NEWER,
    NMCMR: NEWER,
    MCDQPC: NEWER,
    DCTYPE: 'for Discovery controllers; nvme-cli 2.3 does not print it',
    VS: RAW,
  },
  bits: {
    OAES: {
      NSAN: /^Namespace Attribute Changed Event /,
      FAN: /^Firmware Activation Notices /,
      ANACN: /^Asymmetric Namespace Access Change Notices /,
      PLEAN: /^Predictable Latency Event Aggregate Log Change Notices /,
      LSIAN: /^LBA Status Information Notices /,
      EGEAN: /^Endurance Group Event Aggregate Log Page Change Notice /,
      NNSS: /^Normal NSS Shutdown Event /,
      ZDCN: /^Zone Descriptor Changed Notices /,
      DLPCN: /^Discovery Log Change Notice /,
    },
    CTRATT: {
      HIDS: /^128-bit Host Identifier /,
      NOPSPM: /^Non-Operational Power State Permissive /,
      NSETS: /^NVM Sets /,
      RRLVLS: /^Read Recovery Levels /,
      EGS: /^Endurance Groups /,
      PLM: /^Predictable Latency Mode /,
      TBKAS: /^Traffic Based Keep Alive /,
      NG: /^Namespace Granularity /,
      SQA: /^SQ Associations /,
      ULIST: /^UUID List /,
      MDS: /^Multi Domain Subsystem /,
      FCM: /^Fixed Capacity Management /,
      VCM: /^Variable Capacity Management /,
      DEG: /^Delete Endurance Group /,
      DNVMS: /^Delete NVM Set /,
      ELBAS: /^Extended LBA Formats /,
      FDPS: /^Flexible Data Placement /,
    },
    NVMSR: { NVMESD: /part of an Storage Device$/, NVMEE: /part of an Enclosure$/ },
    VWCI: { VWCR: /^VPD Write Cycles Remaining$/, VWCRV: /^VPD Write Cycles Remaining field is (Not )?valid\.$/ },
    MEC: { SMBUSME: /on an SMBus\/I2C port$/, PCIEME: /on a PCIe port$/ },
    AVSCC: { VSCF: /^Admin Vendor Specific Commands uses (NVMe|Vendor Specific) Format$/ },
    APSTA: { APTS: /^Autonomous Power State Transitions / },
    RPMBS: {
      NRPMBU: /^Number of RPMB Units$/,
      AUTHM: /^Authentication Method$/,
      TSZE: /^Total Size$/,
      ASZE: /^Access Size$/,
    },
    HCTMA: { HCTMS: /^Host Controlled Thermal Management / },
    SANICAP: {
      CES: /^Crypto Erase Sanitize Operation /,
      BES: /^Block Erase Sanitize Operation /,
      OWS: /^Overwrite Sanitize Operation /,
      NDI: /^No-Deallocate After Sanitize bit in Sanitize command /,
      NODMMAS: /(^Additional media modification|^Media is (not )?additionally modified|^Reserved$)/,
    },
    ANACAP: {
      RANAOS: /^ANA Optimized state /,
      RANANOS: /^ANA Non-optimized state /,
      RANAIS: /^ANA Inaccessible state /,
      RANAPLS: /^ANA Persistent Loss state /,
      RANACS: /^ANA Change state /,
      ANAGIDLWAS: /^Group ID does (not )?change$/,
      ANAGIDS: /^Non-zero group ID /,
    },
    ICSVSCC: { SNVSCF: /^NVM Vendor Specific Commands uses (NVMe|Vendor Specific) Format$/ },
    NWPC: {
      NWPWPS: /^No Write Protect and Write Protect Namespace /,
      WPUPCS: /^Write Protect Until Power Supply /,
      PWPS: /^Permanent Write Protect /,
    },
    CDFS: { CDF0S: /^Controller Copy Format 0h /, CDF1S: /^Controller Copy Format 1h / },
    FCATT: { CM: /^(Static|Dynamic) Controller Model$/ },
    OFCS: { DCS: /^Disconnect command / },
    CMIC: {
      MPORTS: /^(Multi|Single) Port$/,
      MCTRS: /^(Multi|Single) Controller$/,
      FT: /^(SR-IOV|PCI)$/,
      ANARS: /^ANA /,
    },
    OACS: {
      SSRS: /^Security Send and Receive /,
      FNVMS: /^Format NVM /,
      FWDS: /^FW Commit and Download /,
      NMS: /^NS Management and Attachment /,
      DSTS: /^Device Self-test /,
      DIRS: /^Directives /,
      NSRS: /^NVMe-MI Send and Receive /,
      VMS: /^Virtualization Management /,
      DBCS: /^Doorbell Buffer Config /,
      GLSS: /^Get LBA Status Capability /,
      CFLS: /^Lockdown Command and Feature /,
    },
    FRMW: {
      FFSRO: /^Firmware Slot 1 Read/,
      NOFS: /^Number of Firmware Slots$/,
      FAWR: /^Firmware Activate Without Reset /,
      SMUD: /^Multiple FW or Boot Update Detection /,
    },
    LPA: {
      SMARTS: /^SMART\/Health Log Page per NS /,
      CSES: /^Command Effects Log Page /,
      LPEDS: /^Extended data for Get Log Page /,
      TS: /^Telemetry host\/controller initiated log page /,
      PES: /^Persistent Event log /,
      MLPS: /^LID 0x0, Scope of each command in LID 0x5, 0x12, 0x13 /,
      DA4S: /^Telemetry Log Data Area 4 /,
    },
    SQES: { MINSQES: /^Min SQ Entry Size/, MAXSQES: /^Max SQ Entry Size/ },
    CQES: { MINCQES: /^Min CQ Entry Size/, MAXCQES: /^Max CQ Entry Size/ },
    ONCS: {
      NVMCMPS: /^Compare /,
      NVMWUSV: /^Write Uncorrectable /,
      NVMDSMSV: /^Data Set Management /,
      NVMWZSV: /^Write Zeroes /,
      SSFS: /^Save and Select /,
      RESERVS: /^Reservations /,
      TSS: /^Timestamp /,
      NVMVFYS: /^Verify /,
      NVMCPYS: /^Copy /,
    },
    FUSES: { FCWS: /^Fused Compare and Write / },
    FNA: {
      FNS: /^Format Applies to /,
      SENS: /^Crypto Erase Applies to /,
      CRYES: /^Crypto Erase .*as part of Secure Erase$/,
      FNVMBS: /^Format NVM Broadcast NSID/,
    },
    VWC: { VWCP: /^Volatile Write Cache /, FB: /(^The Flush command|FFFFFFFFh is not indicated$|^Reserved$)/ },
    SGLS: {
      SGLS: /(^Scatter-Gather Lists|^Reserved$)/,
      KSDBDS: /^Keyed SGL Data Block descriptor /,
      SDT: /^SGL Descriptor Threshold$/,
      SBBDS: /^SGL Bit-Bucket /,
      MBA: /^Byte-Aligned Contig\. MD Buffer /,
      LLDTS: /^SGL Length Larger than Buffer /,
      MSDS: /^Metadata Pointer Containing SGL Descriptor /,
      SAOS: /^Address Offsets /,
      TSDBDS: /^Transport SGL Data Block Descriptor /,
    },
  },
  newerBits: {
    'OAES.TTHR': 'Base 2.1',
    'OAES.RGCNS': 'Base 2.1',
    'OAES.ANSAN': 'Base 2.1',
    'CTRATT.MEM': 'Base 2.1',
    'CTRATT.HMBR': 'Base 2.1',
    'CTRATT.RHII': 'Base 2.1',
    'OACS.HMLMS': 'Base 2.1',
    'SANICAP.VERS': 'Base 2.1',
    'ONCS.NVMCSA': 'Base 2.1',
    'ONCS.NVMAFC': 'Base 2.1',
    'ONCS.MAXWZD': 'Base 2.1',
    'ONCS.NSZS': 'Base 2.1',
    'CDFS.CDF2S': 'Base 2.1',
    'CDFS.CDF3S': 'Base 2.1',
    'CDFS.CDF4S': 'Base 2.1',
    'PSD.EPFRT': 'Base 2.1',
    'PSD.FQVT': 'Base 2.1',
    'PSD.EPFVT': 'Base 2.1',
    'PSD.EPFRTS': 'Base 2.1',
    'PSD.FQVTS': 'Base 2.1',
    'PSD.EPFVTS': 'Base 2.1',
  },
  // Declared as a byte, of which nvme-cli calls six bits reserved.
  declaredWhole: ['CNTRLTYPE'],
  notExplained: { VER: WHOLE, RRLS: WHOLE, DSTO: WHOLE },
  jsonSlips: [
    {
      why: 'JSON has 32-bit fields as signed integers',
      where: [
        ...['VER', 'RTD3R', 'RTD3E', 'OAES', 'CTRATT', 'HMPRE', 'HMMIN', 'RPMBS', 'SANICAP', 'HMMINDS', 'ANAGRPMAX'],
        ...['NANAGRPID', 'PELS', 'NN', 'SGLS', 'MNAN', 'MAXCNA', 'IOCCSZ', 'IORCSZ', 'PSD.ENLAT', 'PSD.EXLAT'],
      ],
      explains: isSigned,
    },
    {
      why: 'JSON has the entire byte of a field whose upper three bits are reserved',
      where: ['PSD.RRT', 'PSD.RRL', 'PSD.RWT', 'PSD.RWL'],
      explains: (printed, ours) => (printed & 0x1fn) === ours,
    },
  ],
  humanSlips: [
    { why: 'printed with %d, as a signed integer', where: ['HMPRE', 'HMMIN', 'NN'], explains: isSigned },
    {
      why: 'the entire byte is printed in place of its lower two bits',
      where: ['CNTRLTYPE[1:0]'],
      explains: (printed, _, raw) => printed === raw,
    },
    {
      why: 'two of the reserved bits are masked off after the shift',
      where: ['NVMSR[7:2]', 'MEC[7:2]'],
      explains: (printed, ours) => printed === (ours & 0xfcn),
    },
    {
      why: 'the mask of the remaining cycles is FEh instead of 7Fh',
      where: ['VWCI[6:0]'],
      explains: (printed, _, raw) => printed === (raw & 0xfen),
    },
    {
      why: 'only the low byte of the reserved bits is read',
      where: ['FUSES[15:1]'],
      explains: (printed, ours) => printed === (ours & 0x7fn),
    },
  ],
}

export const NAMESPACE: Names = {
  keys: { lbafs: 'LBAF' },
  parts: { LBAF: { ms: 'MS', ds: 'LBADS', rp: 'RP' } },
  printedIf: {
    npwg: hasPreferredSizes,
    npwa: hasPreferredSizes,
    npdg: hasPreferredSizes,
    npda: hasPreferredSizes,
    nows: hasPreferredSizes,
  },
  derived: {
    'in use': ({ FLBAS, NLBAF, NULBAF }) =>
      String(lbaFormatIndex(FLBAS as number, (NLBAF as number) + 1 + (NULBAF as number))),
    // The size is a C int, so sizes of 2^32 bytes and more are printed as the result of an x86 shift.
    'lbafs.bytes': ({ LBAF }, index) => String(1 << IdentifyNamespace.LBAF.LBADS.of((LBAF as Uint32Array)[index]!)),
    // If a reserved bit above RP is set, nvme-cli prints the description of 0.
    'lbafs.quality': ({ LBAF }, index) => {
      const { RP } = IdentifyNamespace.LBAF
      const format = (LBAF as Uint32Array)[index]!
      const quality = RP.nameOf(format >>> 26 === 0 ? RP.of(format) : 0)
      return quality.charAt(0) + quality.slice(1).toLowerCase()
    },
  },
  notPrinted: { KPIOS: NEWER, KPIODAAG: NEWER, VS: RAW },
  bits: {
    NSFEAT: {
      THINP: /^Thin Provisioning /,
      NSABP: /^Namespace uses N?AWUN, N?AWUPF, and N?ACWU$/,
      DAE: /^Deallocated or Unwritten Logical Block error /,
      UIDREUSE: /^NGUID and EUI64 fields if non-zero, /,
      OPTPERF: /^NPWG, NPWA, NPDG, NPDA, and NOWS are /,
    },
    FLBAS: {
      FIDXL: /^Least significant 4 bits of Current LBA Format Selected$/,
      MTELBA: /^Metadata Transferred (at End of Data LBA|in Separate Contiguous Buffer)$/,
      FIDXU: /^Most significant 2 bits of Current LBA Format Selected$/,
    },
    MC: { MTELBAS: /^Metadata as Part of Extended Data LBA /, MTSBS: /^Metadata Pointer / },
    DPC: {
      PIT1S: /^Protection Information Type 1 /,
      PIT2S: /^Protection Information Type 2 /,
      PIT3S: /^Protection Information Type 3 /,
      PIIFB: /^Protection Information Transferred as First 8 Bytes of Metadata /,
      PIILB: /^Protection Information Transferred as Last 8 Bytes of Metadata /,
    },
    NMIC: { SHRNS: /^Namespace Multipath / },
    RESCAP: {
      PTPL: /^Persist Through Power Loss /,
      WE: /^Write Exclusive (Not )?Supported$/,
      EA: /^Exclusive Access (Not )?Supported$/,
      WERO: /^Write Exclusive - Registrants Only /,
      EARO: /^Exclusive Access - Registrants Only /,
      WEAR: /^Write Exclusive - All Registrants /,
      EAAR: /^Exclusive Access - All Registrants /,
      IEK: /^Ignore Existing Key - /,
    },
    FPI: { RFNVM: /^Format Progress Indicator \(Remaining /, FPIS: /^Format Progress Indicator (Not )?Supported$/ },
    DLFEAT: {
      DRB: /^Bytes Read From a Deallocated Logical Block and its Metadata are /,
      WZDS: /^Deallocate Bit in the Write Zeroes Command is /,
      GDS: /^Guard Field of Deallocated Logical Blocks is set to /,
    },
    DPS: {
      PIT: /^Protection Information (Type \d Enabled|Disabled|Reserved Enabled)$/,
      PIP: /^Protection Information is Transferred as (First|Last) 8 Bytes of Metadata$/,
    },
  },
  newerBits: {
    'NSFEAT.OPTPERF': 'NVM 1.2 made bit 4 the lower of two',
    'NSFEAT.MAM': 'NVM 1.2',
    'NSFEAT.OPTRPERF': 'NVM 1.2',
    'NMIC.DISNS': 'Base 2.1',
  },
  declaredWhole: [],
  notExplained: { NSATTR: WHOLE },
  jsonSlips: [
    { why: 'JSON has 32-bit fields as signed integers', where: ['MCL', 'ANAGRPID'], explains: isSigned },
    WHOLE_BYTE_RP,
  ],
  humanSlips: [WHOLE_BYTE_RP],
}

export const HEALTH: Names = {
  keys: {
    critical_warning: 'CW',
    temperature: 'CTEMP',
    avail_spare: 'AVSP',
    spare_thresh: 'AVSPT',
    percent_used: 'PUSED',
    endurance_grp_critical_warning_summary: 'EGCWS',
    data_units_read: 'DUR',
    data_units_written: 'DUW',
    host_read_commands: 'HRC',
    host_write_commands: 'HWC',
    controller_busy_time: 'CBT',
    power_cycles: 'PWRC',
    power_on_hours: 'POH',
    unsafe_shutdowns: 'UPL',
    media_errors: 'MDIE',
    num_err_log_entries: 'NEILE',
    warning_temp_time: 'WCTT',
    critical_comp_time: 'CCTT',
    temperature_sensor_1: 'TSEN1',
    temperature_sensor_2: 'TSEN2',
    temperature_sensor_3: 'TSEN3',
    temperature_sensor_4: 'TSEN4',
    temperature_sensor_5: 'TSEN5',
    temperature_sensor_6: 'TSEN6',
    temperature_sensor_7: 'TSEN7',
    temperature_sensor_8: 'TSEN8',
    thm_temp1_trans_count: 'TMT1TC',
    thm_temp2_trans_count: 'TMT2TC',
    thm_temp1_total_time: 'TTTMT1',
    thm_temp2_total_time: 'TTTMT2',
    // Labels in the output of -H.
    available_spare: 'AVSP',
    available_spare_threshold: 'AVSPT',
    percentage_used: 'PUSED',
    'endurance group critical warning summary': 'EGCWS',
    'Data Units Read': 'DUR',
    'Data Units Written': 'DUW',
    'Warning Temperature Time': 'WCTT',
    'Critical Composite Temperature Time': 'CCTT',
    'Temperature Sensor 1': 'TSEN1',
    'Temperature Sensor 2': 'TSEN2',
    'Temperature Sensor 3': 'TSEN3',
    'Temperature Sensor 4': 'TSEN4',
    'Temperature Sensor 5': 'TSEN5',
    'Temperature Sensor 6': 'TSEN6',
    'Temperature Sensor 7': 'TSEN7',
    'Temperature Sensor 8': 'TSEN8',
    'Thermal Management T1 Trans Count': 'TMT1TC',
    'Thermal Management T2 Trans Count': 'TMT2TC',
    'Thermal Management T1 Total Time': 'TTTMT1',
    'Thermal Management T2 Total Time': 'TTTMT2',
  },
  parts: {},
  printedIf: {
    temperature_sensor_1: u16At(200),
    temperature_sensor_2: u16At(202),
    temperature_sensor_3: u16At(204),
    temperature_sensor_4: u16At(206),
    temperature_sensor_5: u16At(208),
    temperature_sensor_6: u16At(210),
    temperature_sensor_7: u16At(212),
    temperature_sensor_8: u16At(214),
  },
  derived: {},
  notPrinted: {},
  bits: {
    CW: {
      ASCBT: /^Available Spare$/,
      TTC: /^Temp\. Threshold$/,
      NDR: /^NVM subsystem Reliability$/,
      AMRO: /^Read-only$/,
      VMBF: /^Volatile mem\. backup failed$/,
      PMRRO: /^Persistent Mem\. RO$/,
    },
  },
  newerBits: {},
  declaredWhole: [],
  notExplained: { EGCWS: WHOLE },
  jsonSlips: [
    {
      why: 'JSON has 32-bit fields as signed integers',
      where: ['WCTT', 'CCTT', 'TMT1TC', 'TMT2TC', 'TTTMT1', 'TTTMT2'],
      explains: isSigned,
    },
  ],
  humanSlips: [],
}
