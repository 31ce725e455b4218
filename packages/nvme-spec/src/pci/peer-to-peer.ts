import { bit, bits, struct, u16, u32 } from '../layout/index.js'

// Not described by the NVMe specifications: offsets and rows are those of Linux's header. Each extended capability
// begins with `PciExtendedCapability`, which is omitted here.

const acsRows = {
  SV: bit(0, 'Source Validation'),
  TB: bit(1, 'Translation Blocking'),
  RR: bit(2, 'P2P Request Redirect: to the root complex'),
  CR: bit(3, 'P2P Completion Redirect'),
  UF: bit(4, 'Upstream Forwarding'),
  EC: bit(5, 'P2P Egress Control'),
  DT: bit(6, 'Direct Translated P2P'),
}

/** The Access Control Services extended capability: whether a port lets its functions reach each other (PCI_ACS_*). */
export const AccessControlServices = struct(
  'Access Control Services capability',
  { bytes: 8, doc: 'PCI Express Access Control Services', spec: 'Linux 6.1 linux/pci_regs.h PCI_ACS' },
  { ACSCAP: u16(4, 'ACS Capability', acsRows), ACSCTL: u16(6, 'ACS Control', acsRows) },
)

/**
 * The Address Translation Services extended capability: lets a function request translations from the IOMMU
 * (PCI_ATS_*).
 */
export const AddressTranslationServices = struct(
  'Address Translation Services capability',
  { bytes: 8, doc: 'PCI Express Address Translation Services', spec: 'Linux 6.1 linux/pci_regs.h PCI_ATS' },
  { ATSCTL: u16(6, 'ATS Control', { ENABLE: bit(15, 'ATS Enable') }) },
)

/** One BAR of the Resizable BAR extended capability; the entries follow its header (PCI_REBAR_*). */
export const ResizableBarEntry = struct(
  'Resizable BAR entry',
  { bytes: 8, doc: 'One BAR of the Resizable BAR capability', spec: 'Linux 6.1 linux/pci_regs.h PCI_REBAR' },
  {
    REBARCAP: u32(0, 'Resizable BAR Capability', { SIZES: bits(31, 4, 'Sizes: bit n for 2 ^ (20 + n) bytes') }),
    REBARCTL: u32(4, 'Resizable BAR Control', {
      BAR_IDX: bits(2, 0, 'BAR Index'),
      NBAR: bits(7, 5, 'Number of Resizable BARs, in the first entry'),
      BAR_SIZE: bits(12, 8, 'BAR Size: 2 ^ (20 + n) bytes'),
    }),
  },
)

/**
 * The Downstream Port Containment extended capability, as far as needed to tell whether the link is down
 * (PCI_EXP_DPC_*).
 */
export const DownstreamPortContainment = struct(
  'Downstream Port Containment capability',
  { bytes: 12, doc: 'PCI Express Downstream Port Containment', spec: 'Linux 6.1 linux/pci_regs.h PCI_EXP_DPC' },
  {
    DPCCTL: u16(6, 'DPC Control', {
      EN_FATAL: bit(0, 'Trigger on ERR_FATAL'),
      EN_NONFATAL: bit(1, 'Trigger on ERR_NONFATAL'),
    }),
    DPCSTS: u16(8, 'DPC Status', { TRIGGER: bit(0, 'Trigger Status: the link is held down') }),
  },
)
