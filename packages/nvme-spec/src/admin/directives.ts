import {
  adminCommand,
  bit,
  bits,
  cdw,
  cdwCount,
  cdwOpen,
  codes,
  struct,
  u16,
  u32,
  u8,
  word32,
  merge,
} from '../layout/index.js'

/** Directive Types (Base 2.2 §8.1.8, Figure 598). */
export const DIRECTIVE_TYPE = codes(
  'DIRECTIVE_TYPE',
  { doc: 'Directive Types', spec: 'Base 2.2 §8.1.8' },
  { IDENTIFY: 0x00, STREAMS: 0x01, DATA_PLACEMENT: 0x02, VENDOR_SPECIFIC: 0x0f },
)

/** Operations of Directive Send for the Identify Directive (Base 2.2 §8.1.8.2, Figure 600). */
export const IDENTIFY_DIRECTIVE_SEND = codes(
  'IDENTIFY_DIRECTIVE_SEND',
  { doc: 'Identify Directive: operations of Directive Send', spec: 'Base 2.2 §8.1.8.2' },
  { ENABLE_DIRECTIVE: 0x01 },
)

/** Operations of Directive Send for the Streams Directive (Base 2.2 §8.1.8.3, Figure 605). */
export const STREAMS_DIRECTIVE_SEND = codes(
  'STREAMS_DIRECTIVE_SEND',
  { doc: 'Streams Directive: operations of Directive Send', spec: 'Base 2.2 §8.1.8.3' },
  { RELEASE_IDENTIFIER: 0x01, RELEASE_RESOURCES: 0x02 },
)

const directive = {
  NUMD: cdwCount(10, 31, 0, 'Number of Dwords'),
  DTYPE: cdwOpen(11, 15, 8, 'Directive Type', DIRECTIVE_TYPE.values),
  DSPEC: cdw(11, 31, 16, 'Directive Specific'),
  CDW12: cdw(12, 31, 0, 'Directive Operation specific'),
  CDW13: cdw(13, 31, 0, 'Directive Operation specific'),
}

/** Sends data of a directive; the meaning of DOPER depends on DTYPE (Base 2.1 §5.1.7, Figures 179 and 180). */
export const DirectiveSend = adminCommand(
  'Directive Send',
  { opcode: 0x19, doc: 'Sends data of a directive', spec: 'Base 2.1 §5.1.7' },
  merge(directive, { DOPER: cdw(11, 7, 0, 'Directive Operation') }),
)

/**
 * Returns data of a directive (Base 2.1 §5.1.6, Figures 176 and 177). The names of DOPER are those of the Identify and
 * Streams Directives, which agree (Base 2.2 §8.1.8, Figures 600 and 605).
 */
export const DirectiveReceive = adminCommand(
  'Directive Receive',
  { opcode: 0x1a, doc: 'Returns data of a directive', spec: 'Base 2.1 §5.1.6' },
  merge(directive, {
    DOPER: cdwOpen(11, 7, 0, 'Directive Operation', { RETURN_PARAMETERS: 1, GET_STATUS: 2, ALLOCATE_RESOURCES: 3 }),
  }),
)

/** CDW12 of Directive Send for Enable Directive of the Identify Directive (Base 2.2 §8.1.8.2.2, Figure 602). */
export const EnableDirectiveCdw12 = word32(
  'Enable Directive.CDW12',
  { doc: 'Enables or disables a directive', spec: 'Base 2.2 §8.1.8.2.2' },
  { ENDIR: bit(0, 'Enable Directive'), DTYPE: bits(15, 8, 'Directive Type') },
)

/** CDW12 of Directive Receive for Allocate Resources of the Streams Directive (Base 2.2 §8.1.8.3.1, Figure 610). */
export const AllocateResourcesCdw12 = word32(
  'Allocate Resources.CDW12',
  { doc: 'Requested stream resources', spec: 'Base 2.2 §8.1.8.3.1' },
  { NSR: bits(15, 0, 'Namespace Streams Requested') },
)

/** Dword 0 of the completion of Allocate Resources (Base 2.2 §8.1.8.3.1, Figure 611). */
export const AllocateResourcesDw0 = word32(
  'Allocate Resources.DW0',
  { doc: 'Stream resources allocated', spec: 'Base 2.2 §8.1.8.3.1' },
  { NSA: bits(15, 0, 'Namespace Streams Allocated') },
)

/** Returned by Return Parameters of the Identify Directive (Base 2.2 §8.1.8.2.1, Figure 601). */
export const IdentifyDirectiveParameters = struct(
  'Identify Directive parameters',
  { bytes: 4096, doc: 'Directives supported and enabled', spec: 'Base 2.2 §8.1.8.2.1' },
  {
    SUPPORTED: u16(0, 'Directives Supported', {
      IDIRS: bit(0, 'Identify Directive'),
      SDIRS: bit(1, 'Streams Directive'),
      DPDIRS: bit(2, 'Data Placement Directive'),
      VSDIRS: bit(15, 'Vendor Specific Directive'),
    }),
    ENABLED: u16(32, 'Directives Enabled', {
      IDIRE: bit(0, 'Identify Directive'),
      SDIRE: bit(1, 'Streams Directive'),
      DPDIRE: bit(2, 'Data Placement Directive'),
      VSDIRE: bit(15, 'Vendor Specific Directive'),
    }),
    PERSISTENT: u16(64, 'Directive Persistent Across Controller Level Resets', {
      IDIRCLR: bit(0, 'Identify Directive'),
      SDIRCLR: bit(1, 'Streams Directive'),
      DPDIRCLR: bit(2, 'Data Placement Directive'),
      VSDIRCLR: bit(15, 'Vendor Specific Directive'),
    }),
  },
)

/** Returned by Return Parameters of the Streams Directive (Base 2.2 §8.1.8.3.1, Figure 608). */
export const StreamsDirectiveParameters = struct(
  'Streams Directive parameters',
  { bytes: 32, doc: 'Stream resources and sizes', spec: 'Base 2.2 §8.1.8.3.1' },
  {
    MSL: u16(0, 'Max Streams Limit'),
    NSSA: u16(2, 'NVM Subsystem Streams Available'),
    NSSO: u16(4, 'NVM Subsystem Streams Open'),
    NSSC: u8(6, 'NVM Subsystem Stream Capability', {
      SSID: bit(0, 'Shared Stream Identifiers'),
      SRNZID: bit(1, 'Streams Require Non-Zero Host Identifier'),
    }),
    SWS: u32(16, 'Stream Write Size'),
    SGS: u16(20, 'Stream Granularity Size in units of SWS'),
    NSA: u16(22, 'Namespace Streams Allocated'),
    NSO: u16(24, 'Namespace Streams Open'),
  },
)

/** Header of the data returned by Get Status of the Streams Directive; OSC 16-bit identifiers follow (Figure 609). */
export const StreamsDirectiveStatus = struct(
  'Streams Directive status',
  { bytes: 2, doc: 'Number of open streams', spec: 'Base 2.2 §8.1.8.3.1' },
  { OSC: u16(0, 'Open Stream Count') },
)
