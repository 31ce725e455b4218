import { bit, bits, count, inHex, struct, u16, u32, u8 } from '../layout/index.js'

/** The MSI-X capability, MSIXCAP (PCIe 1.2 §3.8.4, Figures 42 to 46). */
export const MsixCapability = struct(
  'MSI-X capability',
  { bytes: 12, doc: 'MSI-X', spec: 'PCIe 1.2 §3.8.4' },
  {
    CID: inHex(u8(0, 'Capability ID: 11h')),
    NEXT: inHex(u8(1, 'Next Pointer')),
    MXC: u16(2, 'MSI-X Message Control', {
      TS: count(10, 0, 'Table Size'),
      FM: bit(14, 'Function Mask'),
      MXE: bit(15, 'MSI-X Enable'),
    }),
    MTAB: u32(4, 'Table Offset and Table BIR', {
      TBIR: bits(2, 0, 'Table BIR: index of the BAR'),
      TO: bits(31, 3, 'Table Offset in units of 8 bytes'),
    }),
    MPBA: u32(8, 'PBA Offset and PBA BIR', {
      PBIR: bits(2, 0, 'PBA BIR: index of the BAR'),
      PBAO: bits(31, 3, 'PBA Offset in units of 8 bytes'),
    }),
  },
)

/** One entry of the MSI-X Table: address and data of a vector's interrupt message (Linux 6.1 PCI_MSIX_ENTRY_*). */
export const MsixTableEntry = struct(
  'MSI-X Table entry',
  { bytes: 16, doc: 'One vector of the MSI-X Table', spec: 'Linux 6.1 linux/pci_regs.h PCI_MSIX_ENTRY' },
  {
    LOWER_ADDR: inHex(u32(0, 'Message Address')),
    UPPER_ADDR: inHex(u32(4, 'Message Upper Address')),
    DATA: inHex(u32(8, 'Message Data')),
    VECTOR_CTRL: u32(12, 'Vector Control', { MASKBIT: bit(0, 'Masked') }),
  },
)

/** Locations of the MSI-X Table and the Pending Bit Array, in bytes from the start of their BARs. */
export interface MsixPlaces {
  readonly vectors: number
  readonly table: { readonly bar: number; readonly offset: number }
  readonly pending: { readonly bar: number; readonly offset: number }
}

/** Decodes an MSI-X capability at byteOffset of configuration space. @throws RangeError if `config` is too short. */
export function msixPlaces(config: DataView, byteOffset: number): MsixPlaces {
  const { MXC, MTAB, MPBA } = MsixCapability.view(config, byteOffset)
  const { TBIR, TO } = MsixCapability.MTAB
  const { PBIR, PBAO } = MsixCapability.MPBA
  return {
    vectors: MsixCapability.MXC.TS.of(MXC) + 1,
    table: { bar: TBIR.of(MTAB), offset: TO.of(MTAB) * 8 },
    pending: { bar: PBIR.of(MPBA), offset: PBAO.of(MPBA) * 8 },
  }
}
