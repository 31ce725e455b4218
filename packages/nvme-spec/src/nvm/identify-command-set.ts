import { IDENTIFY_BYTES } from '../admin/identify.js'
import { bit, bits, count32, inHex, someOf, struct, u16, u32, u32Array, u64, u8 } from '../layout/index.js'

const guard = { GUARD_16B: 0, GUARD_32B: 1, GUARD_64B: 2 } as const

/** Returned by CNS 05h, 0Ah and 1Bh for the NVM Command Set (NVM 1.2 §4.1.5.3, Figures 118 and 119). */
export const IdentifyNvmNamespace = struct(
  'NVM Command Set Identify Namespace',
  { bytes: IDENTIFY_BYTES, doc: 'NVM namespaces (CNS 05h)', spec: 'NVM 1.2 §4.1.5.3' },
  {
    LBSTM: inHex(u64(0, 'Logical Block Storage Tag Mask')),
    PIC: u8(8, 'Protection Information Capabilities', {
      PISTS16B: bit(0, '16b Guard Protection Information Storage Tag Support'),
      PISTM16B: bit(1, '16b Guard Protection Information Storage Tag Mask'),
      STCRS: bit(2, 'Storage Tag Check Read Support'),
      QPIFS: bit(3, 'Qualified Protection Information Format Support'),
    }),
    PIFA: u8(9, 'Protection Information Format Attribute', {
      STMLA: bits(2, 0, 'Storage Tag Masking Level Attribute', { BIT: 0, BYTE: 1, NOT_SUPPORTED: 2 }),
    }),
    ELBAF: u32Array(12, 64, 'Extended LBA Formats 0 to 63', {
      STS: bits(6, 0, 'Storage Tag Size in bits'),
      PIF: bits(8, 7, 'Protection Information Format', { ...guard, QTYPE: 3 }),
      QPIF: bits(12, 9, 'Qualified Protection Information Format', guard),
    }),
    NPDGL: u32(268, 'Namespace Preferred Deallocate Granularity Large'),
    NPRG: count32(272, 'Namespace Preferred Read Granularity'),
    NPRA: count32(276, 'Namespace Preferred Read Alignment'),
    NORS: count32(280, 'Namespace Optimal Read Size'),
    NPDAL: u32(284, 'Namespace Preferred Deallocate Alignment Large'),
    LBAPSS: u32(288, 'LBA Format Placement Shard Size'),
    TLBAAG: u32(292, 'Tracked LBA Allocation Granularity'),
  },
)

/**
 * Returned by CNS 06h for the NVM Command Set (NVM 1.2 §4.1.5.4, Figure 120). Sizes are 2 ^ n pages of CAP.MPSMIN;
 * whether 0 means no limit or no such command depends on ONCS.
 */
export const IdentifyNvmController = struct(
  'NVM Command Set Identify Controller',
  { bytes: IDENTIFY_BYTES, doc: 'Limits of NVM commands (CNS 06h)', spec: 'NVM 1.2 §4.1.5.4' },
  {
    VSL: u8(0, 'Verify Size Limit'),
    WZSL: u8(1, 'Write Zeroes Size Limit'),
    WUSL: u8(2, 'Write Uncorrectable Size Limit'),
    DMRL: u8(3, 'Dataset Management Ranges Limit'),
    DMRSL: u32(4, 'Dataset Management Range Size Limit in logical blocks'),
    DMSL: u64(8, 'Dataset Management Size Limit in logical blocks'),
    KPIOCAP: u8(16, 'Key Per I/O Capabilities', {
      KPIOS: bit(0, 'Key Per I/O Supported'),
      KPIOSC: bit(1, 'Key Per I/O Scope'),
    }),
    WZDSL: u8(17, 'Write Zeroes With Deallocate Size Limit'),
    AOCS: u16(18, 'Admin Optional Command Support', { RALBAS: bit(0, 'Reporting Allocated LBA Supported') }),
    VER: u32(20, 'Version of the NVM Command Set', {
      TER: bits(7, 0, 'Tertiary Version'),
      MNR: bits(15, 8, 'Minor Version'),
      MJR: bits(31, 16, 'Major Version'),
    }),
    LBAMQF: someOf(u8(24, 'LBA Migration Queue Format'), { TYPE_0: 0 }),
  },
)
