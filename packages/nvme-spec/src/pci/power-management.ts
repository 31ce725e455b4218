import { bit, bits, inHex, struct, u16, u8 } from '../layout/index.js'

/** The PCI Power Management capability, PMCAP (PCIe 1.2 §3.8.2, Figures 30 to 33). */
export const PowerManagementCapability = struct(
  'PCI Power Management capability',
  { bytes: 8, doc: 'PCI Power Management', spec: 'PCIe 1.2 §3.8.2' },
  {
    CID: inHex(u8(0, 'Capability ID: 1h')),
    NEXT: inHex(u8(1, 'Next Capability')),
    PC: u16(2, 'Power Management Capabilities', {
      VS: bits(2, 0, 'Version'),
      PMEC: bit(3, 'PME Clock'),
      DSI: bit(5, 'Device Specific Initialization'),
      AUXC: bits(8, 6, 'Aux_Current'),
      D1S: bit(9, 'D1_Support'),
      D2S: bit(10, 'D2_Support'),
      PSUP: bits(15, 11, 'PME Support: D0, D1, D2, D3hot, D3cold'),
    }),
    PMCS: u16(4, 'Power Management Control and Status', {
      PS: bits(1, 0, 'Power State', { D0: 0, D1: 1, D2: 2, D3HOT: 3 }),
      NSFRST: bit(3, 'No Soft Reset'),
      PMEE: bit(8, 'PME Enable'),
      DSE: bits(12, 9, 'Data Select'),
      DSC: bits(14, 13, 'Data Scale'),
      PMES: bit(15, 'PME Status; writing 1 clears it'),
    }),
  },
)
