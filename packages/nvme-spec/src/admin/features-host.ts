import { FID } from './features.js'
import { ascii, bit, bits, bytes, codes, feature, struct, u16, u8 } from '../layout/index.js'

/**
 * Behavior supported by the host: one byte per item, 1 if supported (Base 2.3 §5.2.26.1.14, Figure 426; LBAFEE also in
 * NVM 1.2 §4.1.3.6, Figure 100).
 */
export const HostBehavior = struct(
  'Host Behavior',
  { bytes: 512, doc: 'Behavior supported by the host', spec: 'Base 2.3 §5.2.26.1.14' },
  {
    ACRE: u8(0, 'Advanced Command Retry Enable'),
    ETDAS: u8(1, 'Extended Telemetry Data Area 4 Supported'),
    LBAFEE: u8(2, 'LBA Format Extension Enable'),
    HDISNS: u8(3, 'Host Dispersed Namespace Support'),
    CDFE: u16(4, 'Copy Descriptor Formats Enable', {
      CDF2E: bit(2, 'Copy Descriptor Format 2h Enable'),
      CDF3E: bit(3, 'Copy Descriptor Format 3h Enable'),
      CDF4E: bit(4, 'Copy Descriptor Format 4h Enable'),
    }),
  },
)

/** Host Behavior Support (FID 16h): behavior that the host supports, as data (Base 2.1 §5.1.25.1.14). */
export const HostBehaviorSupport = feature(
  'Host Behavior Support',
  {
    fid: FID.HOST_BEHAVIOR_SUPPORT,
    doc: 'Behavior supported by the host',
    spec: 'Base 2.1 §5.1.25.1.14',
    data: HostBehavior,
  },
  {},
)

/** A URI of a management agent of the system (Base 2.1 Figure 428). */
export const EmbeddedManagementControllerAddressData = struct(
  'Embedded Management Controller Address data',
  { bytes: 512, doc: 'URI of a management agent of the system', spec: 'Base 2.1 §5.1.25.1.24' },
  { EMCA: ascii(4, 508, 'Embedded Management Controller Address', 0) },
)

/** Embedded Management Controller Address (FID 78h). */
export const EmbeddedManagementControllerAddress = feature(
  'Embedded Management Controller Address',
  {
    fid: FID.EMBEDDED_MANAGEMENT_CONTROLLER_ADDRESS,
    doc: 'Management agent of the system',
    spec: 'Base 2.1 §5.1.25.1.24',
    data: EmbeddedManagementControllerAddressData,
  },
  {},
)

/** A URI of a management agent of the host (Base 2.1 Figure 429). */
export const HostManagementAgentAddressData = struct(
  'Host Management Agent Address data',
  { bytes: 512, doc: 'URI of a management agent of the host', spec: 'Base 2.1 §5.1.25.1.25' },
  { HMAA: ascii(4, 508, 'Host Management Agent Address', 0) },
)

/** Host Management Agent Address (FID 79h). */
export const HostManagementAgentAddress = feature(
  'Host Management Agent Address',
  {
    fid: FID.HOST_MANAGEMENT_AGENT_ADDRESS,
    doc: 'Management agent of the host',
    spec: 'Base 2.1 §5.1.25.1.25',
    data: HostManagementAgentAddressData,
  },
  {},
)

/** Element types of Controller Metadata and Enhanced Controller Metadata. */
export const CONTROLLER_METADATA_ELEMENT = codes(
  'CONTROLLER_METADATA_ELEMENT',
  { doc: 'Element types of controller metadata', spec: 'libnvme 1.3 nvme_ctrl_metadata_type' },
  {
    OS_CTRL_NAME: 0x01,
    OS_DRIVER_NAME: 0x02,
    OS_DRIVER_VER: 0x03,
    PRE_BOOT_CTRL_NAME: 0x04,
    PRE_BOOT_DRIVER_NAME: 0x05,
    PRE_BOOT_DRIVER_VER: 0x06,
    SYS_PROC_MODEL: 0x07,
    CHIPSET_DRV_NAME: 0x08,
    CHIPSET_DRV_VERSION: 0x09,
    OS_NAME_AND_BUILD: 0x0a,
    SYS_PROD_NAME: 0x0b,
    FIRMWARE_VERSION: 0x0c,
    OS_DRIVER_FILENAME: 0x0d,
    DISPLAY_DRV_NAME: 0x0e,
    DISPLAY_DRV_VERSION: 0x0f,
    HOST_DET_FAIL_REC: 0x10,
  },
)

/** Element types of Namespace Metadata (Base 2.1 Figure 435). */
export const NAMESPACE_METADATA_ELEMENT = codes(
  'NAMESPACE_METADATA_ELEMENT',
  { doc: 'Element types of namespace metadata', spec: 'Base 2.1 §5.1.25.1.26.3' },
  { OS_NS_NAME: 0x01, PRE_BOOT_NS_NAME: 0x02, OS_NS_QUAL_1: 0x03, OS_NS_QUAL_2: 0x04 },
)

/** Header of the data of the three features; NDESC elements of different lengths follow. */
export const HostMetadata = struct(
  'Host Metadata',
  { bytes: 2, doc: 'Number of elements', spec: 'libnvme 1.3 nvme_host_metadata' },
  { NDESC: u8(0, 'Number of Metadata Element Descriptors') },
)

/** Header of an element; ELEN bytes of UTF-8 follow. */
export const MetadataElement = struct(
  'Metadata Element Descriptor',
  { bytes: 4, doc: 'Type and length of an element', spec: 'libnvme 1.3 nvme_metadata_element_desc' },
  { ET: u8(0, 'Element Type'), ER: u8(1, 'Element Revision'), ELEN: u16(2, 'Element Length in bytes') },
)

/** Enhanced Controller Metadata (FID 7Dh), as data. */
export const EnhancedControllerMetadata = feature(
  'Enhanced Controller Metadata',
  {
    fid: FID.ENHANCED_CONTROLLER_METADATA,
    doc: 'Controller metadata from the host',
    spec: 'Base 2.1 §5.1.25.1.26',
    data: HostMetadata,
  },
  {},
)

/** Controller Metadata (FID 7Eh), as data. */
export const ControllerMetadata = feature(
  'Controller Metadata',
  {
    fid: FID.CONTROLLER_METADATA,
    doc: 'Controller metadata from the host',
    spec: 'Base 2.1 §5.1.25.1.26',
    data: HostMetadata,
  },
  {},
)

/** Namespace Metadata (FID 7Fh), as data. */
export const NamespaceMetadata = feature(
  'Namespace Metadata',
  {
    fid: FID.NAMESPACE_METADATA,
    doc: 'Namespace metadata from the host',
    spec: 'Base 2.1 §5.1.25.1.26.3',
    data: HostMetadata,
  },
  {},
)

/** Software Progress Marker (FID 80h): number of boots that did not reach an OS (Base 2.1 Figure 436). */
export const SoftwareProgressMarker = feature(
  'Software Progress Marker',
  { fid: FID.SOFTWARE_PROGRESS_MARKER, doc: 'Progress of booting', spec: 'Base 2.1 §5.1.25.1.27' },
  { CDW11: { PBSLC: bits(7, 0, 'Pre-boot Software Load Count') } },
)

/** Identifier of the host; without EXHID only the first 8 bytes are transferred (`nvme_set_features_host_id`). */
export const HostIdentifierData = struct(
  'Host Identifier data',
  { bytes: 16, doc: 'Identifier of the host', spec: 'libnvme 1.3 NVME_FEAT_HOSTID_EXHID_SHIFT' },
  { HOSTID: bytes(0, 16, 'Host Identifier') },
)

/** Host Identifier (FID 81h), as data (Base 2.1 §5.1.25.1.28). */
export const HostIdentifier = feature(
  'Host Identifier',
  {
    fid: FID.HOST_IDENTIFIER,
    doc: 'Identifier of the host',
    spec: 'libnvme 1.3 NVME_FEAT_HOSTID_EXHID_SHIFT',
    data: HostIdentifierData,
  },
  { CDW11: { EXHID: bit(0, 'Enable Extended Host Identifier: 16 bytes, not 8') } },
)
