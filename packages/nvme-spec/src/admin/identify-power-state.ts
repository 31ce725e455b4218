import { bit, bits, dwordBits, openBits, struct, u16, u32, u8 } from '../layout/index.js'

const powerScale = { NOT_REPORTED: 0, UW_100: 1, MW_10: 2 } as const

// Figure 314: powers of ten from a microsecond to a million seconds.
const timeScale = {
  ...{ US_1: 0x0, US_10: 0x1, US_100: 0x2, MS_1: 0x3, MS_10: 0x4, MS_100: 0x5, S_1: 0x6, S_10: 0x7, S_100: 0x8 },
  ...{ S_1000: 0x9, S_10000: 0xa, S_100000: 0xb, S_1000000: 0xc },
} as const

/**
 * One of the 32 power states of Identify Controller (Base 2.1 §5.1.13.2.1, Figure 313). A power is its value times its
 * scale, and is not reported if either is 0; the same applies to the three times of power loss signaling.
 */
export const PowerStateDescriptor = struct(
  'Power State Descriptor',
  { bytes: 32, doc: 'Power and latencies of one power state', spec: 'Base 2.1 §5.1.13.2.1' },
  {
    MP: u16(0, 'Maximum Power in units of MXPS'),
    MXPS: dwordBits(0, bits(24, 24, 'Max Power Scale', { MW_10: 0, UW_100: 1 })),
    NOPS: dwordBits(0, bit(25, 'Non-Operational State')),
    ENLAT: u32(4, 'Entry Latency in microseconds'),
    EXLAT: u32(8, 'Exit Latency in microseconds'),
    RRT: dwordBits(12, bits(4, 0, 'Relative Read Throughput, 0 is best')),
    RRL: dwordBits(12, bits(12, 8, 'Relative Read Latency, 0 is best')),
    RWT: dwordBits(12, bits(20, 16, 'Relative Write Throughput, 0 is best')),
    RWL: dwordBits(12, bits(28, 24, 'Relative Write Latency, 0 is best')),
    IDLP: u16(16, 'Idle Power in units of IPS'),
    IPS: dwordBits(16, bits(23, 22, 'Idle Power Scale', powerScale)),
    ACTP: u16(20, 'Active Power in units of APS'),
    APW: dwordBits(20, openBits(18, 16, 'Active Power Workload', { NO_WORKLOAD: 0, WORKLOAD_1: 1, WORKLOAD_2: 2 })),
    APS: dwordBits(20, bits(23, 22, 'Active Power Scale', powerScale)),
    EPFRT: u8(23, 'Emergency Power Fail Recovery Time'),
    FQVT: u8(24, 'Forced Quiescence Vault Time'),
    EPFVT: u8(25, 'Emergency Power Fail Vault Time'),
    EPFRTS: dwordBits(24, bits(19, 16, 'Emergency Power Fail Recovery Time Scale', timeScale)),
    FQVTS: dwordBits(24, bits(23, 20, 'Forced Quiescence Vault Time Scale', timeScale)),
    EPFVTS: dwordBits(24, bits(27, 24, 'Emergency Power Fail Vault Time Scale', timeScale)),
  },
)
