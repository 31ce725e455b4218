import { bit, bytes, someOf, struct, u128, u16, u8 } from '../layout/index.js'
import { EnduranceGroupLog } from './log-endurance.js'

/**
 * Beginning of the data of an NVM Subsystem Hardware Error, a persistent event of type 05h (Base 2.3 §5.2.12.1.14.2.5,
 * Figures 239 and 240). What follows depends on the code: PcieHardwareError for 1 to 3, the Link Status register for 4,
 * the SMART log's Critical Warning for 6, EnduranceGroupWarning for 7, UnexpectedPowerLoss for 8, a completion queue
 * entry for 0Ah, ReadyTimeoutExceeded for 0Bh, nothing for others.
 */
export const HardwareErrorEvent = struct(
  'NVM Subsystem Hardware Error Event data',
  { bytes: 4, doc: 'Header of a hardware error event', spec: 'Base 2.3 §5.2.12.1.14.2.5' },
  {
    NSHEEC: someOf(u16(0, 'NVM Subsystem Hardware Error Event Code'), {
      PCIE_CORRECTABLE_ERROR: 0x01,
      PCIE_UNCORRECTABLE_NON_FATAL_ERROR: 0x02,
      PCIE_UNCORRECTABLE_FATAL_ERROR: 0x03,
      PCIE_LINK_STATUS_CHANGE: 0x04,
      PCIE_LINK_NOT_ACTIVE: 0x05,
      CRITICAL_WARNING_CONDITION: 0x06,
      ENDURANCE_GROUP_CRITICAL_WARNING_CONDITION: 0x07,
      UNEXPECTED_POWER_LOSS: 0x08,
      CONTROLLER_FATAL_STATUS: 0x09,
      MEDIA_AND_DATA_INTEGRITY_STATUS: 0x0a,
      CONTROLLER_READY_TIMEOUT_EXCEEDED: 0x0b,
    }),
  },
)

/**
 * Additional information of a PCIe error: registers at the time of the error (Base 2.3 §5.2.12.1.14.2.5, Figure 242).
 */
export const PcieHardwareError = struct(
  'PCIe hardware error',
  { bytes: 80, doc: 'PCI Express registers at the time of an error', spec: 'Base 2.3 §5.2.12.1.14.2.5' },
  {
    PCIEDSR: u16(0, 'PCIe Device Status Register'),
    PCIEAS: u8(2, 'PCIe AER Support', { PCIEAERS: bit(0, 'PCIe AER Supported: bytes 79:16 are reported') }),
    PCIEAES: bytes(16, 16, 'PCIe AER Error Status'),
    PCIEAEM: bytes(32, 16, 'PCIe AER Error Mask'),
    PCIEAHLR: bytes(48, 16, 'PCIe AER Header Log Register'),
    PCIEATPLR: bytes(64, 16, 'PCIe AER TLP Prefix Log Register'),
  },
)

/** Additional information of an Endurance Group Critical Warning Condition (Base 2.3 §5.2.12.1.14.2.5, Figure 240). */
export const EnduranceGroupWarning = struct(
  'Endurance Group Critical Warning Condition',
  { bytes: 4, doc: 'An Endurance Group and its critical warnings', spec: 'Base 2.3 §5.2.12.1.14.2.5' },
  {
    EGCW: u8(0, 'Endurance Group Critical Warning', EnduranceGroupLog.fields.EGCW.rows),
    EGID: u16(2, 'Endurance Group Identifier'),
  },
)

/** Additional information of an Unexpected Power Loss (Base 2.3 §5.2.12.1.14.2.5, Figure 241). */
export const UnexpectedPowerLoss = struct(
  'Unexpected Power Loss',
  { bytes: 17, doc: 'Unexpected power losses', spec: 'Base 2.3 §5.2.12.1.14.2.5' },
  {
    UPL: u128(0, 'Unexpected Power Losses, as in the SMART log'),
    UPLIA: u8(16, 'Unexpected Power Loss Information', {
      UPLOA: bit(0, 'Unexpected Power Loss Due to Out-Of-Band Activity'),
    }),
  },
)

/** Additional information of Controller Ready Timeout Exceeded (Base 2.1 §5.1.12.1.14.2.5, Figure 239). */
export const ReadyTimeoutExceeded = struct(
  'Controller Ready Timeout Exceeded',
  { bytes: 4, doc: 'Components not ready in time', spec: 'Base 2.1 §5.1.12.1.14.2.5' },
  {
    CST: u8(0, 'Controller State', {
      CRIME: bit(0, 'Controller Ready Independent of Media Enable'),
      NNR: bit(1, 'Namespace Not Ready'),
      ACMNR: bit(2, 'Admin Command Media Not Ready'),
      CNR: bit(3, 'Controller Not Ready'),
    }),
  },
)
