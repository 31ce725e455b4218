import { adminCommand, bit, cdw, cdwBit, cdwCount, word32, merge } from '../layout/index.js'

/** Commits a downloaded image to a firmware slot or Boot Partition, or activates one (Base 2.1 §5.1.8, Figure 181). */
export const FirmwareCommit = adminCommand(
  'Firmware Commit',
  { opcode: 0x10, doc: 'Stores and activates a downloaded image', spec: 'Base 2.1 §5.1.8' },
  {
    FS: cdw(10, 2, 0, 'Firmware Slot; 0 for the choice of the controller'),
    CA: cdw(10, 5, 3, 'Commit Action', {
      REPLACE: 0,
      REPLACE_AND_ACTIVATE_AT_RESET: 1,
      ACTIVATE_AT_RESET: 2,
      REPLACE_AND_ACTIVATE_IMMEDIATELY: 3,
      REPLACE_BOOT_PARTITION: 6,
      ACTIVATE_BOOT_PARTITION: 7,
    }),
    BPID: cdwBit(10, 31, 'Boot Partition ID'),
  },
)

/** Transfers a part of an image (Base 2.1 §5.1.9, Figures 185 and 186). */
export const FirmwareImageDownload = adminCommand(
  'Firmware Image Download',
  { opcode: 0x11, doc: 'Transfers a part of a firmware image', spec: 'Base 2.1 §5.1.9' },
  {
    NUMD: cdwCount(10, 31, 0, 'Number of Dwords'),
    OFST: cdw(11, 31, 0, 'Offset in dwords'),
  },
)

/** Dword 0 of the completion of both commands: Multiple Update Detected, by bit (Base 2.1 §5.1.8.1, Figure 182). */
export const FirmwareUpdateDw0 = word32(
  'Firmware Update.DW0',
  { doc: 'Overlapping firmware updates', spec: 'Base 2.1 §5.1.8.1' },
  {
    ASQFWO: bit(0, 'Admin Submission Queue FW Overlap'),
    MEFWO: bit(1, 'Management Endpoint FW Overlap'),
  },
)

/** Formats a namespace, or all of them (Base 2.1 §5.1.10, Figure 189; MSET, PI and PIL in NVM 1.2 §4.1.2, Figure 90). */
export const FormatNvm = adminCommand(
  'Format NVM',
  { opcode: 0x80, doc: 'Low level format', spec: 'Base 2.1 §5.1.10' },
  {
    LBAFL: cdw(10, 3, 0, 'LBA Format Lower: bits 3:0 of the Format Index'),
    MSET: cdwBit(10, 4, 'Metadata Settings: 1 for extended LBAs'),
    PI: cdw(10, 7, 5, 'Protection Information', { DISABLED: 0, TYPE_1: 1, TYPE_2: 2, TYPE_3: 3 }),
    PIL: cdwBit(10, 8, 'Protection Information Location: 1 for first'),
    SES: cdw(10, 11, 9, 'Secure Erase Settings', { NONE: 0, USER_DATA_ERASE: 1, CRYPTOGRAPHIC_ERASE: 2 }),
    LBAFU: cdw(10, 13, 12, 'LBA Format Upper: bits 5:4 of the Format Index'),
  },
)

/**
 * Starts a sanitize operation of the whole NVM subsystem, or exits one of its states (Base 2.1 §5.1.22, Figure 372).
 */
export const Sanitize = adminCommand(
  'Sanitize',
  { opcode: 0x84, doc: 'Erases all user data of the NVM subsystem', spec: 'Base 2.1 §5.1.22' },
  {
    SANACT: cdw(10, 2, 0, 'Sanitize Action', {
      EXIT_FAILURE_MODE: 1,
      BLOCK_ERASE: 2,
      OVERWRITE: 3,
      CRYPTO_ERASE: 4,
      EXIT_MEDIA_VERIFICATION: 5,
    }),
    AUSE: cdwBit(10, 3, 'Allow Unrestricted Sanitize Exit'),
    OWPASS: cdw(10, 7, 4, 'Overwrite Pass Count; 0 means 16 passes'),
    OIPBP: cdwBit(10, 8, 'Overwrite Invert Pattern Between Passes'),
    NDAS: cdwBit(10, 9, 'No-Deallocate After Sanitize'),
    EMVS: cdwBit(10, 10, 'Enter Media Verification State'),
    OVRPAT: cdw(11, 31, 0, 'Overwrite Pattern'),
  },
)

/**
 * Starts or aborts a device self-test (Base 2.1 §5.1.5, Figures 170 to 173; the rows' symbol and the code of a short
 * test from libnvme 1.3 `nvme_dst_stc`). NSID FFFFFFFFh tests all attached namespaces, 0h none.
 */
export const DeviceSelfTest = adminCommand(
  'Device Self-test',
  { opcode: 0x14, doc: 'Starts or aborts a device self-test', spec: 'Base 2.1 §5.1.5' },
  {
    STC: cdw(10, 3, 0, 'Self-test Code', {
      SHORT: 0x1,
      EXTENDED: 0x2,
      HOST_INITIATED_REFRESH: 0x3,
      VENDOR_SPECIFIC: 0xe,
      ABORT: 0xf,
    }),
  },
)

/** Prohibits or allows a command or feature, by interface (Base 2.1 §5.1.15, Figures 337 and 338). */
export const Lockdown = adminCommand(
  'Lockdown',
  { opcode: 0x24, doc: 'Prohibits or allows a command or feature', spec: 'Base 2.1 §5.1.15' },
  {
    SCP: cdw(10, 3, 0, 'Scope', { ADMIN_OPCODE: 0, FEATURE: 2, MANAGEMENT_OPCODE: 3, PCIE_OPCODE: 4 }),
    PRHBT: cdwBit(10, 4, 'Prohibit'),
    IFC: cdw(10, 6, 5, 'Interface', { ADMIN_QUEUE: 0, ADMIN_QUEUE_AND_ENDPOINT: 1, ENDPOINT: 2 }),
    OFI: cdw(10, 15, 8, 'Opcode or Feature Identifier'),
    UIDX: cdw(14, 6, 0, 'UUID Index'),
  },
)

const securityProtocol = {
  NSSF: cdw(10, 7, 0, 'NVMe Security Specific Field'),
  SPSP0: cdw(10, 15, 8, 'Security Protocol Specific, bits 7:0'),
  SPSP1: cdw(10, 23, 16, 'Security Protocol Specific, bits 15:8'),
  SECP: cdw(10, 31, 24, 'Security Protocol'),
}

/** Transfers data of a security protocol to the controller (Base 2.1 §5.1.24, Figures 380 and 381). */
export const SecuritySend = adminCommand(
  'Security Send',
  { opcode: 0x81, doc: 'Sends data of a security protocol', spec: 'Base 2.1 §5.1.24' },
  merge(securityProtocol, { TL: cdw(11, 31, 0, 'Transfer Length in bytes') }),
)

/** Returns status and data of earlier Security Send commands (Base 2.1 §5.1.23, Figures 376 and 377). */
export const SecurityReceive = adminCommand(
  'Security Receive',
  { opcode: 0x82, doc: 'Returns data of a security protocol', spec: 'Base 2.1 §5.1.23' },
  merge(securityProtocol, { AL: cdw(11, 31, 0, 'Allocation Length in bytes') }),
)

// The rows are in the NVMe Management Interface specification, which was not read: the dwords are raw.
const management = {
  CDW10: cdw(10, 31, 0, 'NVMe-MI specific'),
  CDW11: cdw(11, 31, 0, 'NVMe-MI specific'),
  CDW12: cdw(12, 31, 0, 'NVMe-MI specific'),
  CDW13: cdw(13, 31, 0, 'NVMe-MI specific'),
  CDW14: cdw(14, 31, 0, 'NVMe-MI specific'),
  CDW15: cdw(15, 31, 0, 'NVMe-MI specific'),
}

/** Sends an in-band management command, as raw dwords (Base 2.1 §5.1.19). */
export const NvmeMiSend = adminCommand(
  'NVMe-MI Send',
  { opcode: 0x1d, doc: 'Sends an in-band management command', spec: 'Base 2.1 §5.1.19' },
  management,
)

/** Returns data of an in-band management command, selected by raw dwords (Base 2.1 §5.1.18). */
export const NvmeMiReceive = adminCommand(
  'NVMe-MI Receive',
  { opcode: 0x1e, doc: 'Returns data of an in-band management command', spec: 'Base 2.1 §5.1.18' },
  management,
)
