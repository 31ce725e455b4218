import { bit, cdw64, cdwBit, cdwCount, cdwOpen, word32, znsCommand } from '../layout/index.js'

/**
 * Opens, closes, finishes, resets or takes zones offline (ZNS 1.1 §3.4.3, Figures 38 and 39). Select All has no symbol
 * in the figure; SELECT_ALL, ZSASO and ZRWA_FLUSH, which are not in revision 1.1, are names of libnvme 1.3.
 */
export const ZoneManagementSend = znsCommand(
  'Zone Management Send',
  { opcode: 0x79, doc: 'Changes the state of zones', spec: 'ZNS 1.1 §3.4.3' },
  {
    SLBA: cdw64(10, 'Starting LBA of the zone'),
    ZSA: cdwOpen(13, 7, 0, 'Zone Send Action', {
      CLOSE: 0x01,
      FINISH: 0x02,
      OPEN: 0x03,
      RESET: 0x04,
      OFFLINE: 0x05,
      SET_ZONE_DESCRIPTOR_EXTENSION: 0x10,
      ZRWA_FLUSH: 0x11,
    }),
    SELECT_ALL: cdwBit(13, 8, 'Select All; SLBA is ignored'),
    ZSASO: cdwBit(13, 9, 'Zone Send Action Specific Option'),
  },
)

/** Dword 0 of the completion of Zone Management Send; the initials are ours (ZNS 1.1 §3.4.3.2, Figure 41). */
export const ZoneManagementSendDw0 = word32(
  'ZoneManagementSend.DW0',
  { doc: 'Completion of Zone Management Send', spec: 'ZNS 1.1 §3.4.3.2' },
  { ZCC: bit(0, 'Zone Capacity Changed') },
)

/**
 * Reports zones (ZNS 1.1 §3.4.2, Figures 31 to 34). NUMD, ZRASF and PR, which have no symbols in the figures, are named
 * as in Linux 6.1.
 */
export const ZoneManagementReceive = znsCommand(
  'Zone Management Receive',
  { opcode: 0x7a, doc: 'Reports zones', spec: 'ZNS 1.1 §3.4.2' },
  {
    SLBA: cdw64(10, 'An LBA in the first zone'),
    NUMD: cdwCount(12, 31, 0, 'Number of Dwords'),
    ZRA: cdwOpen(13, 7, 0, 'Zone Receive Action', { REPORT_ZONES: 0, EXTENDED_REPORT_ZONES: 1 }),
    ZRASF: cdwOpen(13, 15, 8, 'Reporting Options: zone states to report', {
      ALL: 0,
      EMPTY: 1,
      IMPLICITLY_OPENED: 2,
      EXPLICITLY_OPENED: 3,
      CLOSED: 4,
      FULL: 5,
      READ_ONLY: 6,
      OFFLINE: 7,
      WITH_ATTRIBUTES: 9,
    }),
    PR: cdwBit(13, 16, 'Partial Report'),
  },
)
