import { adminCommand, bit, cdw, cdwBit, cdwCount, word32 } from '../layout/index.js'

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
