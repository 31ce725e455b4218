import { bit, bits } from '../layout/bits.js'
import { u16, u32 } from '../layout/field.js'
import { struct } from '../layout/struct.js'

// The NVMe specifications describe none of these: the rows are those of Linux's header.

const header = {
  CID: bits(15, 0, 'Capability ID'),
  CVER: bits(19, 16, 'Capability Version'),
  NEXT: bits(31, 20, 'Next Pointer'),
}

const acsRows = {
  SV: bit(0, 'Source Validation'),
  TB: bit(1, 'Translation Blocking'),
  RR: bit(2, 'P2P Request Redirect: requests between functions go up to the root complex'),
  CR: bit(3, 'P2P Completion Redirect'),
  UF: bit(4, 'Upstream Forwarding'),
  EC: bit(5, 'P2P Egress Control'),
  DT: bit(6, 'Direct Translated P2P: translated requests are not redirected'),
}

/** The Access Control Services extended capability: whether a port lets its functions reach each other (PCI_ACS_*). */
export const AccessControlServices = struct(
  'Access Control Services capability',
  { bytes: 8, doc: 'PCI Express Access Control Services', spec: 'Linux 6.1 linux/pci_regs.h PCI_ACS' },
  {
    HEADER: u32(0, 'Extended capability header: Dh', header),
    ACSCAP: u16(4, 'ACS Capability', { ...acsRows, EGRESS: bits(15, 8, 'Egress Control Vector Size, in bits') }),
    ACSCTL: u16(6, 'ACS Control', acsRows),
  },
)

/** The Address Translation Services extended capability: a function that asks the IOMMU ahead (PCI_ATS_*). */
export const AddressTranslationServices = struct(
  'Address Translation Services capability',
  { bytes: 8, doc: 'PCI Express Address Translation Services', spec: 'Linux 6.1 linux/pci_regs.h PCI_ATS' },
  {
    HEADER: u32(0, 'Extended capability header: Fh', header),
    ATSCAP: u16(4, 'ATS Capability', {
      QDEP: bits(4, 0, 'Invalidate Queue Depth: 0 for 32'),
      PAGE_ALIGNED: bit(5, 'Page Aligned Request'),
    }),
    ATSCTL: u16(6, 'ATS Control', {
      STU: bits(4, 0, 'Smallest Translation Unit: 2 ^ (12 + n) bytes'),
      ENABLE: bit(15, 'ATS Enable'),
    }),
  },
)

/** One BAR of the Resizable BAR extended capability; they follow its header, one after another (PCI_REBAR_*). */
export const ResizableBarEntry = struct(
  'Resizable BAR entry',
  { bytes: 8, doc: 'One BAR of the Resizable BAR capability', spec: 'Linux 6.1 linux/pci_regs.h PCI_REBAR' },
  {
    REBARCAP: u32(0, 'Resizable BAR Capability', {
      SIZES: bits(31, 4, 'Sizes supported: bit n for 2 ^ (20 + n) bytes'),
    }),
    REBARCTL: u32(4, 'Resizable BAR Control', {
      BAR_IDX: bits(2, 0, 'BAR Index'),
      NBAR: bits(7, 5, 'Number of Resizable BARs: in the first entry'),
      BAR_SIZE: bits(12, 8, 'BAR Size: 2 ^ (20 + n) bytes'),
    }),
  },
)

/** The first registers of the Downstream Port Containment extended capability (PCI_EXP_DPC_*). */
export const DownstreamPortContainment = struct(
  'Downstream Port Containment capability',
  { bytes: 0xc, doc: 'PCI Express Downstream Port Containment', spec: 'Linux 6.1 linux/pci_regs.h PCI_EXP_DPC' },
  {
    HEADER: u32(0, 'Extended capability header: 1Dh', header),
    DPCCAP: u16(4, 'DPC Capability', {
      IRQ: bits(4, 0, 'Interrupt Message Number'),
      RP_EXT: bit(5, 'Root Port Extensions'),
      POISONED_TLP: bit(6, 'Poisoned TLP Egress Blocking Supported'),
      SW_TRIGGER: bit(7, 'Software Triggering Supported'),
      RP_PIO_LOG_SIZE: bits(11, 8, 'RP PIO Log Size, in dwords'),
      DL_ACTIVE: bit(12, 'ERR_COR signal on DL_Active supported'),
    }),
    DPCCTL: u16(6, 'DPC Control', {
      EN_FATAL: bit(0, 'Enable trigger on ERR_FATAL'),
      EN_NONFATAL: bit(1, 'Enable trigger on ERR_NONFATAL'),
      INT_EN: bit(3, 'DPC Interrupt Enable'),
    }),
    DPCSTS: u16(8, 'DPC Status', {
      TRIGGER: bit(0, 'Trigger Status: the link is held down'),
      TRIGGER_RSN: bits(2, 1, 'Trigger Reason'),
      INTERRUPT: bit(3, 'Interrupt Status'),
      RP_BUSY: bit(4, 'Root Port Busy'),
      TRIGGER_RSN_EXT: bits(6, 5, 'Trigger Reason Extension'),
      RP_PIO_FEP: bits(12, 8, 'RP PIO First Error Pointer'),
    }),
    SOURCE_ID: u16(0xa, 'Source Identifier: who sent the error message'),
  },
)
