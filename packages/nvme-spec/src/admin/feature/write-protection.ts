import { bits, feature } from '../../layout/index.js'
import { FID } from '../features.js'

/** Namespace Write Protection Config (FID 84h): the write protection state of a namespace. */
export const NamespaceWriteProtectionConfig = feature(
  'Namespace Write Protection Config',
  {
    fid: FID.NAMESPACE_WRITE_PROTECTION_CONFIG,
    doc: 'Write protection of a namespace',
    spec: 'libnvme 1.3 nvme_feat_nswpcfg_state',
  },
  {
    CDW11: {
      WPS: bits(2, 0, 'Write Protection State', {
        NO_WRITE_PROTECT: 0,
        WRITE_PROTECT: 1,
        WRITE_PROTECT_UNTIL_POWER_CYCLE: 2,
        PERMANENT_WRITE_PROTECT: 3,
      }),
    },
  },
)

const states = {
  CHANGE_NOT_REQUESTED: 0,
  WRITE_UNLOCKED: 1,
  WRITE_LOCKED: 2,
  WRITE_LOCKED_UNTIL_POWER_CYCLE: 3,
  CONTROLLED_BY_RPMB: 4,
}

/**
 * Boot Partition Write Protection Config (FID 85h): the states of both partitions; bits of
 * NVME_FEAT_BPWPC_BP0WPS_SHIFT.
 */
export const BootPartitionWriteProtectionConfig = feature(
  'Boot Partition Write Protection Config',
  {
    fid: FID.BOOT_PARTITION_WRITE_PROTECTION_CONFIG,
    doc: 'Write protection of Boot Partitions',
    spec: 'libnvme 1.16 nvme_feat_bpwp_state',
  },
  {
    CDW11: {
      BP0WPS: bits(2, 0, 'Boot Partition 0 Write Protection State', states),
      BP1WPS: bits(5, 3, 'Boot Partition 1 Write Protection State', states),
    },
  },
)
