import { ascii, codes, oneOf, openBits, someOf, struct, structs, u16, u32, u64, u8 } from '../layout/index.js'

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

/**
 * Header of Dispersed Namespace Participating NVM Subsystems (LID 17h; Base 2.3 §5.2.12.1.23, Figure 275). NUMPSUB
 * null-terminated NVMe Qualified Names of 256 bytes follow; the first is that of the responding NVM subsystem.
 */
export const ParticipatingNvmSubsystemsHeader = struct(
  'Dispersed Namespace Participating NVM Subsystems header',
  { bytes: 256, doc: 'Header of the list of NVM subsystems', spec: 'Base 2.3 §5.2.12.1.23' },
  { GENCTR: u64(0, 'Generation Counter'), NUMPSUB: u64(8, 'Number of Participating NVM Subsystems') },
)

/** Address of a management entity (Base 2.3 §5.2.12.1.24, Figure 277). */
export const ManagementAddressDescriptor = struct(
  'Management Address Descriptor',
  { bytes: 512, doc: 'Address of a management entity', spec: 'Base 2.3 §5.2.12.1.24' },
  {
    MAT: oneOf(u8(0, 'Management Address Type'), {
      NONE: 0x00,
      NVM_SUBSYSTEM_MANAGEMENT_AGENT: 0x01,
      FABRIC_INTERFACE_MANAGER: 0x02,
      END_OF_LIST: 0xff,
    }),
    MADRS: ascii(4, 508, 'Management Address: a URI', 0),
  },
)

/** Management Address List (LID 18h; Base 2.3 §5.2.12.1.24, Figure 276). Ends at END_OF_LIST, or with the page. */
export const ManagementAddressList = struct(
  'Management Address List',
  { bytes: 4096, doc: 'The log page (LID 18h)', spec: 'Base 2.3 §5.2.12.1.24' },
  { MAD: structs(0, 8, ManagementAddressDescriptor, 'Management Address Descriptors') },
)
