import type { Numbers } from '../table.js'
import { CODES, FABRICS, STATUSES } from './status.js'

/** Names of Linux that differ, with those of libnvme. */
const RENAMED: Readonly<Record<string, string>> = {
  ATOMIC_WU_EXCEEDED: 'AWU_EXCEEDED',
  HOST_ID_INCONSIST: 'HOSTID_FORMAT',
  KA_TIMEOUT_EXPIRED: 'KAT_EXPIRED',
  KA_TIMEOUT_INVALID: 'KAT_INVALID',
  ABORTED_PREEMPT_ABORT: 'CMD_ABORTED_PREMEPT',
  CMD_NOT_SUP_CMB_QUEUE: 'CMD_IN_CMBQ_NOT_SUPP',
  TRANSIENT_TR_ERR: 'TRAN_TPORT_ERROR',
  ADMIN_COMMAND_MEDIA_NOT_READY: 'ADMIN_CMD_MEDIA_NOT_READY',
  INVALID_IO_CMD_SET: 'INVALID_IOCS',
  SELT_TEST_IN_PROGRESS: 'SELF_TEST_IN_PROGRESS',
  CTRL_ID_INVALID: 'INVALID_CTRL_ID',
  SEC_CTRL_STATE_INVALID: 'INVALID_SEC_CTRL_STATE',
  CTRL_RES_NUM_INVALID: 'INVALID_CTRL_RESOURCES',
  RES_ID_INVALID: 'INVALID_RESOURCE_ID',
  ONCS_NOT_SUPPORTED: 'CMD_SIZE_LIMIT_EXCEEDED',
  ZONE_BOUNDARY_ERROR: 'ZNS_BOUNDARY_ERROR',
  ZONE_FULL: 'ZNS_FULL',
  ZONE_READ_ONLY: 'ZNS_READ_ONLY',
  ZONE_OFFLINE: 'ZNS_OFFLINE',
  ZONE_INVALID_WRITE: 'ZNS_INVALID_WRITE',
  ZONE_TOO_MANY_ACTIVE: 'ZNS_TOO_MANY_ACTIVE',
  ZONE_TOO_MANY_OPEN: 'ZNS_TOO_MANY_OPENS',
  ZONE_INVALID_TRANSITION: 'ZNS_INVAL_TRANSITION',
  INTERNAL_PATH_ERROR: 'ANA_INTERNAL_PATH_ERROR',
  HOST_ABORTED_CMD: 'CMD_ABORTED_BY_HOST',
}

/** Codes that Linux 6.1 does not name, or names differently. */
const NOT_IN_LINUX = new Set([
  ...Object.values(RENAMED),
  ...['PROHIBITED_BY_CMD_AND_FEAT', 'INSUFFICIENT_CAP', 'NS_ATTACHMENT_LIMIT_EXCEEDED'],
  ...['PROHIBIT_CMD_EXEC_NOT_SUPPORTED', 'IOCS_NOT_SUPPORTED', 'IOCS_NOT_ENABLED', 'IOCS_COMBINATION_REJECTED'],
  ...['ID_UNAVAILABLE', 'INVALID_DISCOVERY_INFO', 'ZONING_DATA_STRUCT_LOCKED', 'ZONING_DATA_STRUCT_NOTFND'],
  ...['INSUFFICIENT_DISC_RES', 'REQSTD_FUNCTION_DISABLED', 'ZONEGRP_ORIGINATOR_INVLD', 'ZNS_INVALID_OP_REQUEST'],
  ...['ZNS_ZRWA_RESOURCES_UNAVAILABLE', 'STORAGE_TAG_CHECK', 'DISCONNECT_INVALID_QTYPE'],
])

const inLinux = (names: Readonly<Record<string, string>>, prefix: string) =>
  Object.fromEntries(
    Object.entries(names)
      .filter(([name]) => !NOT_IN_LINUX.has(name))
      .map(([name, ours]) => [name, prefix + ours]),
  )

/** Statuses, the Status Code Type in bits 10:8, and the bits above. */
export const linuxStatus: Readonly<Record<string, Numbers | string>> = {
  NVME_SC_: {
    theirs: 'NVME_SC_',
    ours: '',
    as: 'number',
    names: {
      ...inLinux(CODES, 'STATUS_'),
      ...inLinux(FABRICS, 'FABRICS_STATUS_'),
      ...Object.fromEntries(Object.entries(RENAMED).map(([name, libnvme]) => [name, `STATUS_${CODES[libnvme] ?? ''}`])),
    },
    absent: {
      'a value that is reserved': ['RESERVED'],
      'removed from the specification before Base 2.0: 104h is reserved': ['ABORT_MISSING'],
    },
  },
  NVME_STATUS_: {
    theirs: 'NVME_STATUS_',
    ours: '',
    as: 'number',
    // The status of Linux has no Phase Tag: it is bits 15:1 of the word that nvme_spec.h declares.
    pairs: {
      CRD: STATUSES.map((status) => `${status}_CRD_MASK >> 1`),
      MORE: STATUSES.map((status) => `${status}_M_MASK >> 1`),
      DNR: STATUSES.map((status) => `${status}_DNR_MASK >> 1`),
    },
  },
}
