import { struct, u128, u16, u8 } from '../layout/index.js'

/** How Media Unit Status begins (LID 10h; Base 2.1 §5.1.12.1.16, Figure 254). NMU descriptors follow. */
export const MediaUnitStatusHeader = struct(
  'Media Unit Status header',
  { bytes: 16, doc: 'The header (LID 10h)', spec: 'Base 2.1 §5.1.12.1.16' },
  {
    NMU: u16(0, 'Number of Media Unit Status Descriptors'),
    CCHANS: u16(2, 'Number of Channels'),
    SELC: u16(4, 'Selected Configuration; 0 is none'),
  },
)

/**
 * How a Media Unit Status Descriptor begins (Base 2.1 §5.1.12.1.16, Figure 255). Its MUCS Channel Identifiers of 16 bits
 * stand CIO bytes after its beginning, and end it.
 */
export const MediaUnitStatusDescriptor = struct(
  'Media Unit Status Descriptor',
  { bytes: 14, doc: 'How the status of a Media Unit begins', spec: 'Base 2.1 §5.1.12.1.16' },
  {
    MUID: u16(0, 'Media Unit Identifier'),
    DID: u16(2, 'Domain Identifier'),
    ENDGID: u16(4, 'Endurance Group Identifier'),
    NVMSETID: u16(6, 'NVM Set Identifier'),
    CAF: u16(8, 'Capacity Adjustment Factor; 0 is not reported'),
    AVSP: u8(10, 'Available Spare in percent'),
    PUSED: u8(11, 'Percentage Used; 255 is more than 254'),
    MUCS: u8(12, 'Number of Channels'),
    CIO: u8(13, 'Channel Identifiers Offset in bytes'),
  },
)

/** How Supported Capacity Configuration List begins (LID 11h; Base 2.1 §5.1.12.1.17, Figure 256). */
export const CapacityConfigurationListHeader = struct(
  'Supported Capacity Configuration List header',
  { bytes: 16, doc: 'How Supported Capacity Configuration List begins', spec: 'Base 2.1 §5.1.12.1.17' },
  { SCCN: u8(0, 'Number of Supported Capacity Configurations') },
)

/** How a Capacity Configuration begins (Base 2.1 §5.1.12.1.17, Figure 257). EGCN Endurance Groups follow. */
export const CapacityConfigurationDescriptor = struct(
  'Capacity Configuration Descriptor',
  { bytes: 32, doc: 'How a Capacity Configuration begins', spec: 'Base 2.1 §5.1.12.1.17' },
  {
    CCID: u16(0, 'Capacity Configuration Identifier'),
    DID: u16(2, 'Domain Identifier'),
    EGCN: u16(4, 'Number of Endurance Group Configuration Descriptors'),
  },
)

/**
 * How an Endurance Group of a Capacity Configuration begins (Base 2.1 §5.1.12.1.17, Figure 258). EGSETS NVM Set
 * Identifiers of 16 bits follow, then a number of Channels of 16 bits, then these.
 */
export const EnduranceGroupConfigurationDescriptor = struct(
  'Endurance Group Configuration Descriptor',
  { bytes: 82, doc: 'Endurance Group Configuration header', spec: 'Base 2.1 §5.1.12.1.17' },
  {
    ENDGID: u16(0, 'Endurance Group Identifier'),
    CADJF: u16(2, 'Capacity Adjustment Factor; 0 is not reported'),
    TEGCAP: u128(16, 'Total Endurance Group Capacity in bytes'),
    SEGCAP: u128(32, 'Spare Endurance Group Capacity in bytes'),
    EE: u128(48, 'Endurance Estimate in 1,000,000,000 bytes'),
    EGSETS: u16(80, 'Number of NVM Sets'),
  },
)

/** How a Channel of an Endurance Group begins (Base 2.1 §5.1.12.1.17, Figure 259). CHMUS Media Units follow. */
export const ChannelConfigurationDescriptor = struct(
  'Channel Configuration Descriptor',
  { bytes: 4, doc: 'How a Channel of an Endurance Group begins', spec: 'Base 2.1 §5.1.12.1.17' },
  { CHID: u16(0, 'Channel Identifier'), CHMUS: u16(2, 'Number of Channel Media Units') },
)

/** A Media Unit of a Channel (Base 2.1 §5.1.12.1.17, Figure 260). */
export const MediaUnitConfigurationDescriptor = struct(
  'Media Unit Configuration Descriptor',
  { bytes: 8, doc: 'A Media Unit of a Channel', spec: 'Base 2.1 §5.1.12.1.17' },
  { MUID: u16(0, 'Media Unit Identifier'), MUDL: u16(6, 'Media Unit Descriptor Length: bytes that follow') },
)
