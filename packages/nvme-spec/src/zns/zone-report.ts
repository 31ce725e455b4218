import { bit, bits, codes, dwordBits, n64, openBits, struct, u8 } from '../layout/index.js'

/** Types of a zone (ZNS 1.1 §3.4.2.2.3, Figure 37). */
export const ZONE_TYPE = codes(
  'ZONE_TYPE',
  { doc: 'Types of a zone', spec: 'ZNS 1.1 §3.4.2.2.3' },
  { SEQUENTIAL_WRITE_REQUIRED: 0x2 },
)

/** States of a zone (ZNS 1.1 §3.4.2.2.3, Figure 37). */
export const ZONE_STATE = codes(
  'ZONE_STATE',
  { doc: 'States of a zone', spec: 'ZNS 1.1 §3.4.2.2.3' },
  {
    EMPTY: 0x1,
    IMPLICITLY_OPENED: 0x2,
    EXPLICITLY_OPENED: 0x3,
    CLOSED: 0x4,
    READ_ONLY: 0xd,
    FULL: 0xe,
    OFFLINE: 0xf,
  },
)

/**
 * A zone in a report (ZNS 1.1 §3.4.2.2.3, Figure 37). ZRWAV, which revision 1.1 does not have, is a name of libnvme
 * 1.3.
 */
export const ZoneDescriptor = struct(
  'Zone Descriptor',
  { bytes: 64, doc: 'A zone in a report', spec: 'ZNS 1.1 §3.4.2.2.3' },
  {
    ZT: dwordBits(0, openBits(3, 0, 'Zone Type', ZONE_TYPE.values)),
    ZS: dwordBits(0, openBits(15, 12, 'Zone State', ZONE_STATE.values)),
    ZA: u8(2, 'Zone Attributes', {
      ZFC: bit(0, 'Zone Finished by Controller'),
      FZR: bit(1, 'Finish Zone Recommended'),
      RZR: bit(2, 'Reset Zone Recommended'),
      ZRWAV: bit(3, 'Zone Random Write Area Valid'),
      ZDEV: bit(7, 'Zone Descriptor Extension Valid'),
    }),
    ZAI: u8(3, 'Zone Attributes Information', {
      FZRTL: bits(1, 0, 'Finish Zone Recommended Time Limit: FRL, FRL1 to FRL3'),
      RZRTL: bits(3, 2, 'Reset Zone Recommended Time Limit: RRL, RRL1 to RRL3'),
    }),
    ZCAP: n64(8, 'Zone Capacity in logical blocks'),
    ZSLBA: n64(16, 'Zone Start Logical Block Address'),
    WP: n64(24, 'Write Pointer, an LBA'),
  },
)

/**
 * Header of Report Zones and of Extended Report Zones (ZNS 1.1 §3.4.2.2, Figures 35 and 36); named as in libnvme 1.3.
 * Zone Descriptors follow at the offsets of `zoneDescriptorOffset`.
 */
export const ReportZones = struct(
  'Report Zones',
  { bytes: 64, doc: 'Header of a report of zones', spec: 'ZNS 1.1 §3.4.2.2' },
  { NR_ZONES: n64(0, 'Number of Zones') },
)

/**
 * Returns the byte offset of the index-th Zone Descriptor in a report (ZNS 1.1 §3.4.2.2, Figures 35 and 36). In an
 * Extended Report Zones structure each is followed by a Zone Descriptor Extension of `extensionBytes` bytes.
 */
export function zoneDescriptorOffset(index: number, extensionBytes = 0): number {
  return ReportZones.bytes + index * (ZoneDescriptor.bytes + extensionBytes)
}
