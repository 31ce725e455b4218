import { struct, u128, u16, u8 } from '../layout/index.js'

/** Header of Media Unit Status (LID 10h; Base 2.1 §5.1.12.1.16, Figure 254). NMU descriptors follow. */
export const MediaUnitStatusHeader = struct(
  'Media Unit Status header',
  { bytes: 16, doc: 'The header (LID 10h)', spec: 'Base 2.1 §5.1.12.1.16' },
  {
    NMU: u16(0, 'Number of Media Unit Status Descriptors'),
    CCHANS: u16(2, 'Number of Channels'),
    SELC: u16(4, 'Selected Configuration; 0 for none'),
  },
)

/**
 * Header of a Media Unit Status Descriptor (Base 2.1 §5.1.12.1.16, Figure 255). The MUCS 16-bit Channel Identifiers are
 * at its end, CIO bytes after its beginning.
 */
export const MediaUnitStatusDescriptor = struct(
  'Media Unit Status Descriptor',
  { bytes: 14, doc: 'Header of a Media Unit Status Descriptor', spec: 'Base 2.1 §5.1.12.1.16' },
  {
    MUID: u16(0, 'Media Unit Identifier'),
    DID: u16(2, 'Domain Identifier'),
    ENDGID: u16(4, 'Endurance Group Identifier'),
    NVMSETID: u16(6, 'NVM Set Identifier'),
    CAF: u16(8, 'Capacity Adjustment Factor; 0 means not reported'),
    AVSP: u8(10, 'Available Spare in percent'),
    PUSED: u8(11, 'Percentage Used; 255 means more than 254'),
    MUCS: u8(12, 'Number of Channels'),
    CIO: u8(13, 'Channel Identifiers Offset in bytes'),
  },
)

/** Header of Supported Capacity Configuration List (LID 11h; Base 2.1 §5.1.12.1.17, Figure 256). */
export const CapacityConfigurationListHeader = struct(
  'Supported Capacity Configuration List header',
  { bytes: 16, doc: 'The header (LID 11h)', spec: 'Base 2.1 §5.1.12.1.17' },
  { SCCN: u8(0, 'Number of Supported Capacity Configurations') },
)

/** Header of a Capacity Configuration (Base 2.1 §5.1.12.1.17, Figure 257). EGCN Endurance Groups follow. */
export const CapacityConfigurationDescriptor = struct(
  'Capacity Configuration Descriptor',
  { bytes: 32, doc: 'Header of a Capacity Configuration', spec: 'Base 2.1 §5.1.12.1.17' },
  {
    CCID: u16(0, 'Capacity Configuration Identifier'),
    DID: u16(2, 'Domain Identifier'),
    EGCN: u16(4, 'Number of Endurance Group Configuration Descriptors'),
  },
)

/**
 * Header of an Endurance Group of a Capacity Configuration (Base 2.1 §5.1.12.1.17, Figure 258). EGSETS 16-bit NVM Set
 * Identifiers follow, then a 16-bit number of Channels, then the Channels.
 */
export const EnduranceGroupConfigurationDescriptor = struct(
  'Endurance Group Configuration Descriptor',
  { bytes: 82, doc: 'Endurance Group Configuration header', spec: 'Base 2.1 §5.1.12.1.17' },
  {
    ENDGID: u16(0, 'Endurance Group Identifier'),
    CADJF: u16(2, 'Capacity Adjustment Factor; 0 means not reported'),
    TEGCAP: u128(16, 'Total Endurance Group Capacity in bytes'),
    SEGCAP: u128(32, 'Spare Endurance Group Capacity in bytes'),
    EE: u128(48, 'Endurance Estimate in 1,000,000,000 bytes'),
    EGSETS: u16(80, 'Number of NVM Sets'),
  },
)

/** Header of a Channel of an Endurance Group (Base 2.1 §5.1.12.1.17, Figure 259). CHMUS Media Units follow. */
export const ChannelConfigurationDescriptor = struct(
  'Channel Configuration Descriptor',
  { bytes: 4, doc: 'Header of a Channel of an Endurance Group', spec: 'Base 2.1 §5.1.12.1.17' },
  { CHID: u16(0, 'Channel Identifier'), CHMUS: u16(2, 'Number of Channel Media Units') },
)

/** A Media Unit of a Channel (Base 2.1 §5.1.12.1.17, Figure 260). */
export const MediaUnitConfigurationDescriptor = struct(
  'Media Unit Configuration Descriptor',
  { bytes: 8, doc: 'A Media Unit of a Channel', spec: 'Base 2.1 §5.1.12.1.17' },
  { MUID: u16(0, 'Media Unit Identifier'), MUDL: u16(6, 'Media Unit Descriptor Length: bytes that follow') },
)
