import { describe, expect, it } from 'vitest'
import { bytesOf } from '../../../test/figures.js'
import {
  CONTROLLER_METADATA_ELEMENT,
  ControllerMetadata,
  EnhancedControllerMetadata,
  HostMetadata,
  MetadataElement,
  NAMESPACE_METADATA_ELEMENT,
  NamespaceMetadata,
} from './host-metadata.js'

describe('Host Metadata (Base 2.1 §5.1.25.1.26)', () => {
  it.each([EnhancedControllerMetadata, ControllerMetadata, NamespaceMetadata])('$name is data', ({ data }) => {
    expect(data).toBe(HostMetadata)
  })

  it('HostMetadata is a count and a reserved byte, then elements (libnvme 1.3 nvme_host_metadata)', () => {
    expect(HostMetadata.bytes).toBe(2)
    expect(bytesOf(HostMetadata)).toEqual([['NDESC', 0, 1]])
  })

  it('MetadataElement: type, rev and len of nvme_metadata_element_desc (libnvme 1.3), then the value', () => {
    expect(MetadataElement.bytes).toBe(4)
    expect(bytesOf(MetadataElement)).toEqual([
      ['ET', 0, 1],
      ['ER', 1, 1],
      ['ELEN', 2, 2],
    ])
  })

  it('CONTROLLER_METADATA_ELEMENT: the values of nvme_ctrl_metadata_type (libnvme 1.3)', () => {
    expect(CONTROLLER_METADATA_ELEMENT.values).toEqual({
      ...{ OS_CTRL_NAME: 1, OS_DRIVER_NAME: 2, OS_DRIVER_VER: 3, PRE_BOOT_CTRL_NAME: 4, PRE_BOOT_DRIVER_NAME: 5 },
      ...{ PRE_BOOT_DRIVER_VER: 6, SYS_PROC_MODEL: 7, CHIPSET_DRV_NAME: 8, CHIPSET_DRV_VERSION: 9 },
      ...{ OS_NAME_AND_BUILD: 10, SYS_PROD_NAME: 11, FIRMWARE_VERSION: 12, OS_DRIVER_FILENAME: 13 },
      ...{ DISPLAY_DRV_NAME: 14, DISPLAY_DRV_VERSION: 15, HOST_DET_FAIL_REC: 16 },
    })
  })

  it('NAMESPACE_METADATA_ELEMENT: names in the OS and before it, and two qualifiers (Figure 435)', () => {
    expect(NAMESPACE_METADATA_ELEMENT.values).toEqual({
      ...{ OS_NS_NAME: 1, PRE_BOOT_NS_NAME: 2, OS_NS_QUAL_1: 3, OS_NS_QUAL_2: 4 },
    })
  })
})
