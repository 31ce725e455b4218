import { codes, openBits, struct, u16, u32, u64, u8 } from '../layout/index.js'

/** Asymmetric Namespace Access states (Base 2.1 §5.1.12.1.13, Figure 224). */
export const ANA_STATE = codes(
  'ANA_STATE',
  { doc: 'Asymmetric Namespace Access states', spec: 'Base 2.1 §5.1.12.1.13' },
  { OPTIMIZED: 0x1, NON_OPTIMIZED: 0x2, INACCESSIBLE: 0x3, PERSISTENT_LOSS: 0x4, CHANGE: 0xf },
)

/**
 * Header of Asymmetric Namespace Access (LID 0Ch; Base 2.3 §5.2.12.1.13, Figure 227). NAGD descriptors follow, each
 * with its own list of namespaces.
 */
export const AnaLogHeader = struct(
  'Asymmetric Namespace Access header',
  { bytes: 16, doc: 'The header (LID 0Ch)', spec: 'Base 2.3 §5.2.12.1.13' },
  { CHGC: u64(0, 'Change Count'), NAGD: u16(8, 'Number of ANA Group Descriptors') },
)

/** Header of an ANA Group Descriptor (Base 2.1 §5.1.12.1.13, Figure 224). NNV 32-bit identifiers follow. */
export const AnaGroupDescriptor = struct(
  'ANA Group Descriptor',
  { bytes: 32, doc: 'Header of an ANA Group Descriptor', spec: 'Base 2.1 §5.1.12.1.13' },
  {
    AGID: u32(0, 'ANA Group ID'),
    NNV: u32(4, 'Number of NSID Values'),
    CHGC: u64(8, 'Change Count; 0 means not reported'),
    ANASA: u8(16, 'Asymmetric Namespace Access State Attributes', {
      ANAS: openBits(3, 0, 'Asymmetric Namespace Access State', ANA_STATE.values),
    }),
  },
)
