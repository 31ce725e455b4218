import { ascii, oneOf, struct, structs, u64, u8 } from '../layout/index.js'

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
