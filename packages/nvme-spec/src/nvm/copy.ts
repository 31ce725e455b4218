import {
  bit,
  bits,
  bytes,
  cdw,
  cdw64,
  cdwBit,
  cdwCount,
  count16,
  dwordBits,
  n64,
  nvmCommand,
  struct,
  u16,
  u32,
} from '../layout/index.js'

/**
 * Copies ranges of logical blocks to one (NVM 1.2 §3.3.2, Figures 31 to 37). DESFMT is the format of the ranges. Format
 * 4h belongs to the Subsystem Local Memory Command Set and is not declared here.
 */
export const Copy = nvmCommand(
  'Copy',
  { opcode: 0x19, doc: 'Copies ranges of logical blocks to one', spec: 'NVM 1.2 §3.3.2' },
  {
    SDLBA: cdw64(10, 'Starting Destination LBA'),
    NR: cdwCount(12, 7, 0, 'Number of Ranges'),
    DESFMT: cdw(12, 11, 8, 'Descriptor Format'),
    PRINFOR: cdw(12, 15, 12, 'Protection Information Read'),
    CETYPE: cdw(12, 19, 16, 'Command Extension Type'),
    DTYPE: cdw(12, 23, 20, 'Directive Type'),
    STCW: cdwBit(12, 24, 'Storage Tag Check Write'),
    STCR: cdwBit(12, 25, 'Storage Tag Check Read'),
    PRINFOW: cdw(12, 29, 26, 'Protection Information Write'),
    FUA: cdwBit(12, 30, 'Force Unit Access'),
    LR: cdwBit(12, 31, 'Limited Retry'),
    CEV: cdw(13, 15, 0, 'Command Extension Value'),
    DSPEC: cdw(13, 31, 16, 'Directive Specific'),
    LBTU2: cdw(2, 15, 0, 'Logical Block Tags Upper, bits 47:32'),
    LBTU3: cdw(3, 31, 0, 'Logical Block Tags Upper, bits 31:00'),
    LBTL: cdw(14, 31, 0, 'Logical Block Tags Lower'),
    LBAT: cdw(15, 15, 0, 'Logical Block Application Tag'),
    LBATM: cdw(15, 31, 16, 'Logical Block Application Tag Mask'),
  },
)

/** Beginning of every format, without the namespace. NLB and CETYPE are the rows of RPARS. */
const source = {
  SLBA: n64(8, 'Starting LBA'),
  NLB: count16(16, 'Number of Logical Blocks'),
  CETYPE: dwordBits(16, bits(19, 16, 'Command Extension Type')),
  CEV: u16(20, 'Command Extension Value'),
}

/** Additional fields of formats 2h and 3h: the namespace to copy from. */
const otherNamespace = {
  SNSID: u32(0, 'Source Namespace Identifier'),
  SOPT: u16(22, 'Source Options', { FCO: bit(15, 'Fast Copy Only') }),
}

const tags8 = {
  ELBT: u32(24, 'Expected Logical Block Tags'),
  ELBAT: u16(28, 'Expected Logical Block Application Tag'),
  ELBATM: u16(30, 'Expected Logical Block Application Tag Mask'),
}

const tags16 = {
  ELBT: bytes(26, 10, 'Expected Logical Block Tags'),
  ELBAT: u16(36, 'Expected Logical Block Application Tag'),
  ELBATM: u16(38, 'Expected Logical Block Application Tag Mask'),
}

/** Copy Descriptor Format 0h: 16b guards, the same namespace (NVM 1.2 §3.3.2, Figure 39). */
export const CopyRange0 = struct(
  'Copy Source Range Format 0h',
  { bytes: 32, doc: 'A range to copy, 16b guards', spec: 'NVM 1.2 §3.3.2' },
  { ...source, ...tags8 },
)

/** Copy Descriptor Format 1h: 32b and 64b guards, the same namespace (NVM 1.2 §3.3.2, Figure 40). */
export const CopyRange1 = struct(
  'Copy Source Range Format 1h',
  { bytes: 40, doc: 'A range to copy, 32b or 64b guards', spec: 'NVM 1.2 §3.3.2' },
  { ...source, ...tags16 },
)

/** Copy Descriptor Format 2h: 16b guards, any namespace (NVM 1.2 §3.3.2, Figure 39). */
export const CopyRange2 = struct(
  'Copy Source Range Format 2h',
  { bytes: 32, doc: 'Source range of a namespace, 16b guards', spec: 'NVM 1.2 §3.3.2' },
  { ...otherNamespace, ...source, ...tags8 },
)

/** Copy Descriptor Format 3h: 32b and 64b guards, any namespace (NVM 1.2 §3.3.2, Figure 40). */
export const CopyRange3 = struct(
  'Copy Source Range Format 3h',
  { bytes: 40, doc: 'Source range of a namespace, long guards', spec: 'NVM 1.2 §3.3.2' },
  { ...otherNamespace, ...source, ...tags16 },
)
