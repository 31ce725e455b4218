import { ascii, bits, struct, u8 } from '../layout/index.js'

/** Firmware Slot Information (LID 03h; Base 2.3 §5.2.12.1.4, Figure 212). A slot without firmware reads as ''. */
export const FirmwareSlotLog = struct(
  'Firmware Slot Information',
  { bytes: 512, doc: 'The log page (LID 03h)', spec: 'Base 2.3 §5.2.12.1.4' },
  {
    AFI: u8(0, 'Active Firmware Info', {
      CAFS: bits(2, 0, 'Current Active Firmware Slot'),
      NAFS: bits(6, 4, 'Next Active Firmware Slot; 0 means not reported'),
    }),
    FRS1: ascii(8, 8, 'Firmware Revision for Slot 1'),
    FRS2: ascii(16, 8, 'Firmware Revision for Slot 2'),
    FRS3: ascii(24, 8, 'Firmware Revision for Slot 3'),
    FRS4: ascii(32, 8, 'Firmware Revision for Slot 4'),
    FRS5: ascii(40, 8, 'Firmware Revision for Slot 5'),
    FRS6: ascii(48, 8, 'Firmware Revision for Slot 6'),
    FRS7: ascii(56, 8, 'Firmware Revision for Slot 7'),
  },
)
