import { codes, feature, struct, u16, u8 } from '../../layout/index.js'
import { FID } from '../features.js'

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
