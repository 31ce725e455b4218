import { describe, expect, it } from 'vitest'
import {
  CONTROLLER_METADATA_ELEMENT,
  ControllerMetadata,
  EmbeddedManagementControllerAddress,
  EmbeddedManagementControllerAddressData,
  EnhancedControllerMetadata,
  HostBehavior,
  HostBehaviorSupport,
  HostIdentifier,
  HostIdentifierData,
  HostManagementAgentAddress,
  HostManagementAgentAddressData,
  HostMetadata,
  MetadataElement,
  NAMESPACE_METADATA_ELEMENT,
  NamespaceMetadata,
  SoftwareProgressMarker,
} from './features-host.js'
import { toHex } from '../../test/bytes.js'
import { bytesOf, rowsOf } from '../../test/figures.js'

describe('host behavior support', () => {
  it('Host Behavior Support: 512 bytes of data (Base 2.3 §5.2.26.1.14, Figure 426)', () => {
    expect(HostBehaviorSupport.data).toBe(HostBehavior)
    expect(HostBehavior.bytes).toBe(512)
    expect(bytesOf(HostBehavior)).toEqual([
      ['ACRE', 0, 1],
      ['ETDAS', 1, 1],
      // NVM 1.2 §4.1.3.6, Figure 100 has this byte as well.
      ['LBAFEE', 2, 1],
      ['HDISNS', 3, 1],
      ['CDFE', 4, 2],
    ])
    expect(rowsOf({ fields: HostBehavior.fields.CDFE.rows })).toEqual([
      ['CDF2E', 2, 2],
      ['CDF3E', 3, 3],
      ['CDF4E', 4, 4],
    ])
  })
})

describe('management address', () => {
  describe('addresses of management agents (Base 2.1 §5.1.25.1.24 and §5.1.25.1.25)', () => {
    it('Embedded Management Controller Address: a URI in bytes 511:04 (Figure 428)', () => {
      expect(EmbeddedManagementControllerAddress.data).toBe(EmbeddedManagementControllerAddressData)
      expect(EmbeddedManagementControllerAddressData.bytes).toBe(512)
      expect(bytesOf(EmbeddedManagementControllerAddressData)).toEqual([['EMCA', 4, 508]])
      const { data } = EmbeddedManagementControllerAddressData.create({ EMCA: 'a:b' })
      expect(toHex(data, 0, 9)).toBe('00 00 00 00 61 3a 62 00 00')
    })

    it('Host Management Agent Address: a URI in bytes 511:04 (Figure 429)', () => {
      expect(HostManagementAgentAddress.data).toBe(HostManagementAgentAddressData)
      expect(HostManagementAgentAddressData.bytes).toBe(512)
      expect(bytesOf(HostManagementAgentAddressData)).toEqual([['HMAA', 4, 508]])
    })
  })
})

describe('host metadata', () => {
  describe('Host Metadata (Base 2.1 §5.1.25.1.26)', () => {
    it.each([EnhancedControllerMetadata, ControllerMetadata, NamespaceMetadata])(
      'the data of $name is HostMetadata',
      ({ data }) => {
        expect(data).toBe(HostMetadata)
      },
    )

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
})

describe('software progress marker', () => {
  it('Software Progress Marker: PBSLC is bits 07:00 (Base 2.1 §5.1.25.1.27, Figure 436)', () => {
    expect(rowsOf(SoftwareProgressMarker.CDW11)).toEqual([['PBSLC', 7, 0]])
  })
})

describe('host identifier', () => {
  it('Host Identifier: 16 bytes with EXHID, bit 0, and 8 without (libnvme 1.3 nvme_set_features_host_id)', () => {
    expect(rowsOf(HostIdentifier.CDW11)).toEqual([['EXHID', 0, 0]])
    expect(HostIdentifier.data).toBe(HostIdentifierData)
    expect(HostIdentifierData.bytes).toBe(16)
    expect(bytesOf(HostIdentifierData)).toEqual([['HOSTID', 0, 16]])
  })
})
