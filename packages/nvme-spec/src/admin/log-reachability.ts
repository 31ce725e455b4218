import { someOf, struct, u16, u32, u64, u8 } from '../layout/index.js'

/** Header of Reachability Groups (LID 1Ah; Base 2.3 §5.2.12.1.25, Figure 279). NRGD descriptors follow. */
export const ReachabilityGroupsHeader = struct(
  'Reachability Groups header',
  { bytes: 16, doc: 'The header (LID 1Ah)', spec: 'Base 2.3 §5.2.12.1.25' },
  { CHNGC: u64(0, 'Change Count'), NRGD: u16(8, 'Number of Reachability Group Descriptors') },
)

/** Header of a Reachability Group (Base 2.3 §5.2.12.1.25, Figure 280). NNID 32-bit identifiers follow. */
export const ReachabilityGroupDescriptor = struct(
  'Reachability Group Descriptor',
  { bytes: 32, doc: 'Header of a Reachability Group', spec: 'Base 2.3 §5.2.12.1.25' },
  {
    RGID: u32(0, 'Reachability Group ID'),
    NNID: u32(4, 'Number of NSID Values'),
    CHNGC: u64(8, 'Change Count; 0 means not reported'),
  },
)

/** Header of Reachability Associations (LID 1Bh; Base 2.3 §5.2.12.1.26, Figure 282). NRAD descriptors follow. */
export const ReachabilityAssociationsHeader = struct(
  'Reachability Associations header',
  { bytes: 16, doc: 'The header (LID 1Bh)', spec: 'Base 2.3 §5.2.12.1.26' },
  { CHNGC: u64(0, 'Change Count'), NRAD: u16(8, 'Number of Reachability Association Descriptors') },
)

/** Header of a Reachability Association (Base 2.3 §5.2.12.1.26, Figure 283). NRID group identifiers follow. */
export const ReachabilityAssociationDescriptor = struct(
  'Reachability Association Descriptor',
  { bytes: 32, doc: 'Header of a Reachability Association', spec: 'Base 2.3 §5.2.12.1.26' },
  {
    RASID: u32(0, 'Reachability Association ID'),
    NRID: u32(4, 'Number of RGID Values'),
    CHNGC: u64(8, 'Change Count; 0 means not reported'),
    RAC: someOf(u8(16, 'Reachability Association Characteristics'), {
      REACHABLE: 1,
      FAST_COPY: 2,
      NO_FAST_COPY: 3,
    }),
  },
)
