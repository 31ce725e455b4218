import { bit, bits, inHex, openBits, struct, u16, u32, u8 } from '../layout/index.js'

const speeds = { GT_2_5: 1, GT_5: 2, GT_8: 3, GT_16: 4, GT_32: 5, GT_64: 6 } as const

/**
 * The PCI Express capability, PXCAP (PCIe 1.2 §3.8.5, Figures 47 to 57), with registers added by later PCI Express
 * specifications, and rows that read 0 in an endpoint (Linux 6.1 linux/pci_regs.h, PCI_EXP_*). Registers of slots and
 * root ports are omitted.
 */
export const PciExpressCapability = struct(
  'PCI Express capability',
  { bytes: 0x34, doc: 'PCI Express', spec: 'PCIe 1.2 §3.8.5' },
  {
    CID: inHex(u8(0x00, 'Capability ID: 10h')),
    NEXT: inHex(u8(0x01, 'Next Pointer')),
    PXCAP: u16(0x02, 'PCI Express Capabilities', {
      VER: bits(3, 0, 'Capability Version'),
      DPT: openBits(7, 4, 'Device/Port Type', {
        ENDPOINT: 0,
        LEGACY_ENDPOINT: 1,
        ROOT_PORT: 4,
        UPSTREAM: 5,
        DOWNSTREAM: 6,
        PCI_BRIDGE: 7,
        PCIE_BRIDGE: 8,
        RC_ENDPOINT: 9,
        RC_EVENT_COLLECTOR: 10,
      }),
      SI: bit(8, 'Slot Implemented'),
      IMN: bits(13, 9, 'Interrupt Message Number'),
    }),
    PXDCAP: u32(0x04, 'Device Capabilities', {
      MPS: bits(2, 0, 'Max_Payload_Size Supported: 128 * 2 ^ n bytes'),
      PFS: bits(4, 3, 'Phantom Functions Supported'),
      ETFS: bit(5, 'Extended Tag Field Supported'),
      L0SL: bits(8, 6, 'Endpoint L0s Acceptable Latency'),
      L1L: bits(11, 9, 'Endpoint L1 Acceptable Latency'),
      RER: bit(15, 'Role-based Error Reporting'),
      CSPLV: bits(25, 18, 'Captured Slot Power Limit Value'),
      CSPLS: bits(27, 26, 'Captured Slot Power Limit Scale: 10 ^ -n watts'),
      FLRC: bit(28, 'Function Level Reset Capability'),
    }),
    PXDC: u16(0x08, 'Device Control', {
      CERE: bit(0, 'Correctable Error Reporting Enable'),
      NFERE: bit(1, 'Non-Fatal Error Reporting Enable'),
      FERE: bit(2, 'Fatal Error Reporting Enable'),
      URRE: bit(3, 'Unsupported Request Reporting Enable'),
      ERO: bit(4, 'Enable Relaxed Ordering'),
      MPS: bits(7, 5, 'Max_Payload_Size: 128 * 2 ^ n bytes'),
      ETE: bit(8, 'Extended Tag Enable'),
      PFE: bit(9, 'Phantom Functions Enable'),
      APPME: bit(10, 'AUX Power PM Enable'),
      ENS: bit(11, 'Enable No Snoop'),
      MRRS: bits(14, 12, 'Max_Read_Request_Size: 128 * 2 ^ n bytes'),
      IFLR: bit(15, 'Initiate Function Level Reset'),
    }),
    PXDS: u16(0x0a, 'Device Status', {
      CED: bit(0, 'Correctable Error Detected; writing 1 clears it'),
      NFED: bit(1, 'Non-Fatal Error Detected; writing 1 clears it'),
      FED: bit(2, 'Fatal Error Detected; writing 1 clears it'),
      URD: bit(3, 'Unsupported Request Detected; writing 1 clears it'),
      APD: bit(4, 'AUX Power Detected'),
      TP: bit(5, 'Transactions Pending'),
    }),
    PXLCAP: u32(0x0c, 'Link Capabilities', {
      SLS: openBits(3, 0, 'Supported Link Speeds: the highest', speeds),
      MLW: bits(9, 4, 'Maximum Link Width, in lanes'),
      ASPMS: bits(11, 10, 'Active State Power Management Support: L0s, L1'),
      L0SEL: bits(14, 12, 'L0s Exit Latency'),
      L1EL: bits(17, 15, 'L1 Exit Latency'),
      CPM: bit(18, 'Clock Power Management'),
      SDERC: bit(19, 'Surprise Down Error Reporting Capable'),
      DLLA: bit(20, 'Data Link Layer Active Reporting Capable'),
      LBNC: bit(21, 'Link Bandwidth Notification Capability'),
      AOC: bit(22, 'ASPM Optional Compliance'),
      PN: bits(31, 24, 'Port Number'),
    }),
    PXLC: u16(0x10, 'Link Control', {
      ASPMC: bits(1, 0, 'Active State Power Management Control: L0s, L1'),
      RCB: bit(3, 'Read Completion Boundary: 128 bytes, not 64'),
      LD: bit(4, 'Link Disable'),
      RL: bit(5, 'Retrain Link'),
      CCC: bit(6, 'Common Clock Configuration'),
      ES: bit(7, 'Extended Synch'),
      ECPM: bit(8, 'Enable Clock Power Management'),
      HAWD: bit(9, 'Hardware Autonomous Width Disable'),
      LBMIE: bit(10, 'Link Bandwidth Management Interrupt Enable'),
      LABIE: bit(11, 'Link Autonomous Bandwidth Interrupt Enable'),
    }),
    PXLS: u16(0x12, 'Link Status', {
      CLS: openBits(3, 0, 'Current Link Speed', speeds),
      NLW: bits(9, 4, 'Negotiated Link Width, in lanes'),
      LT: bit(11, 'Link Training'),
      SCC: bit(12, 'Slot Clock Configuration'),
      DLLLA: bit(13, 'Data Link Layer Link Active'),
      LBMS: bit(14, 'Link Bandwidth Management Status'),
      LABS: bit(15, 'Link Autonomous Bandwidth Status'),
    }),
    PXDCAP2: u32(0x24, 'Device Capabilities 2', {
      CTRS: bits(3, 0, 'Completion Timeout Ranges Supported'),
      CTDS: bit(4, 'Completion Timeout Disable Supported'),
      ARIFS: bit(5, 'ARI Forwarding Supported'),
      AORS: bit(6, 'AtomicOp Routing Supported'),
      AOCS32: bit(7, '32-bit AtomicOp Completer Supported'),
      AOCS64: bit(8, '64-bit AtomicOp Completer Supported'),
      CCS128: bit(9, '128-bit CAS Completer Supported'),
      NPRPR: bit(10, 'No RO-enabled PR-PR Passing'),
      LTRS: bit(11, 'Latency Tolerance Reporting Supported'),
      TPHCS: bits(13, 12, 'TPH Completer Supported'),
      OBFFS: bits(19, 18, 'OBFF Supported'),
      EFFS: bit(20, 'Extended Fmt Field Supported'),
      EETPS: bit(21, 'End-End TLP Prefix Supported'),
      MEETP: bits(23, 22, 'Max End-End TLP Prefixes'),
    }),
    PXDC2: u16(0x28, 'Device Control 2', {
      CTV: bits(3, 0, 'Completion Timeout Value'),
      CTD: bit(4, 'Completion Timeout Disable'),
      ARI: bit(5, 'ARI Forwarding Enable'),
      ATOMIC_REQ: bit(6, 'AtomicOp Requester Enable'),
      ATOMIC_EGRESS_BLOCK: bit(7, 'AtomicOp Egress Blocking'),
      IDO_REQ_EN: bit(8, 'ID-based Ordering of requests'),
      IDO_CMP_EN: bit(9, 'ID-based Ordering of completions'),
      LTRME: bit(10, 'Latency Tolerance Reporting Mechanism Enable'),
      OBFFE: bits(14, 13, 'OBFF Enable'),
    }),
    PXDS2: inHex(u16(0x2a, 'Device Status 2')),
    PXLCAP2: u32(0x2c, 'Link Capabilities 2', {
      SLS_2_5GB: bit(1, 'Supports 2.5 GT/s'),
      SLS_5_0GB: bit(2, 'Supports 5 GT/s'),
      SLS_8_0GB: bit(3, 'Supports 8 GT/s'),
      SLS_16_0GB: bit(4, 'Supports 16 GT/s'),
      SLS_32_0GB: bit(5, 'Supports 32 GT/s'),
      SLS_64_0GB: bit(6, 'Supports 64 GT/s'),
      CROSSLINK: bit(8, 'Crosslink supported'),
    }),
    PXLC2: u16(0x30, 'Link Control 2', {
      TLS: openBits(3, 0, 'Target Link Speed', speeds),
      ENTER_COMP: bit(4, 'Enter Compliance'),
      HASD: bit(5, 'Hardware Autonomous Speed Disable'),
      TX_MARGIN: bits(9, 7, 'Transmit Margin'),
    }),
    PXLS2: inHex(u16(0x32, 'Link Status 2')),
  },
)

/**
 * Returns the bytes for a value of PXDCAP.MPS, PXDC.MPS or PXDC.MRRS. @throws RangeError for 6 and 7, which are
 * reserved.
 */
export function payloadBytes(code: number): number {
  if (!(Number.isInteger(code) && code >= 0 && code <= 5))
    throw new RangeError(`Max_Payload_Size or Max_Read_Request_Size: expected 0 to 5, got ${code}`)
  return 128 * 2 ** code
}
