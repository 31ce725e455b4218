import type { Numbers } from '../table.js'
import { commands } from './commands.js'
import { features } from './features.js'
import { inDtype, inDword12, inPrinfo, io, READS, WRITES } from './io.js'
import { logs } from './logs.js'
import { like, only, without } from './reuse.js'

const VENDOR = 'the first and last vendor specific number'

/** Opcodes, features, log pages and fields of command dwords, by prefix of the names in Linux. */
export const linuxCommands: Readonly<Record<string, Numbers | string>> = {
  nvme_admin_: {
    theirs: 'nvme_admin_',
    ours: 'ADMIN_OPCODE_',
    as: 'number',
    also: ['OPC_*'],
    names: {
      ...without(commands['nvme_admin_opcode'], [
        ...['fw_commit', 'fw_activate', 'fw_download', 'capacity_mgmt', 'discovery_info_mgmt', 'fabric_zoning_recv'],
        ...['lockdown', 'fabric_zoning_lookup', 'fabric_zoning_send', 'fabrics'],
      ]),
      activate_fw: 'FIRMWARE_COMMIT',
      download_fw: 'FIRMWARE_IMAGE_DOWNLOAD',
    },
    absent: { [VENDOR]: ['vendor_start'] },
  },
  nvme_cmd_: {
    theirs: 'nvme_',
    ours: 'OPC_',
    as: 'number',
    also: ['NVM_OPCODE_*', 'ZNS_OPCODE_*'],
    names: {
      ...only(commands['nvme_io_opcode'], [
        ...['cmd_flush', 'cmd_write', 'cmd_read', 'cmd_write_uncor', 'cmd_compare', 'cmd_write_zeroes', 'cmd_dsm'],
        ...['cmd_verify', 'cmd_resv_register', 'cmd_resv_report', 'cmd_resv_acquire', 'cmd_resv_release'],
      ]),
      cmd_zone_mgmt_send: 'ZONE_MANAGEMENT_SEND',
      cmd_zone_mgmt_recv: 'ZONE_MANAGEMENT_RECEIVE',
      cmd_zone_append: 'ZONE_APPEND',
    },
  },
  NVME_RW_: {
    theirs: 'NVME_RW_',
    ours: '',
    as: 'number',
    pairs: {
      LR: inDword12('LR', READS, WRITES),
      FUA: inDword12('FUA', READS, WRITES),
      APPEND_PIREMAP: 'ZONE_APPEND_PIREMAP_MASK >> 16',
      PRINFO_PRCHK_REF: inPrinfo('RTCHK'),
      PRINFO_PRCHK_APP: inPrinfo('ATCHK'),
      PRINFO_PRCHK_GUARD: inPrinfo('GRDCHK'),
      PRINFO_PRACT: inPrinfo('PRACT'),
      DTYPE_STREAMS: inDtype(...WRITES, 'WRITE_UNCORRECTABLE', 'COPY'),
    },
  },
  NVME_RW_DSM_: like(io['nvme_io_dsm_flags'], { theirs: 'NVME_RW_DSM_' }),
  NVME_DSMGMT_: like(io['nvme_dsm_attributes']),
  NVME_ZONE_: {
    theirs: 'NVME_ZONE_',
    ours: 'ZONE_MANAGEMENT_SEND_ZSA_',
    as: 'number',
    names: { SET_DESC_EXT: 'SET_ZONE_DESCRIPTOR_EXTENSION' },
  },
  NVME_ZRA_: {
    theirs: 'NVME_ZRA_',
    ours: 'ZONE_MANAGEMENT_RECEIVE_ZRA_',
    as: 'number',
    names: { ZONE_REPORT: 'REPORT_ZONES' },
  },
  NVME_ZRASF_: {
    theirs: 'NVME_ZRASF_',
    ours: 'ZONE_MANAGEMENT_RECEIVE_ZRASF_',
    as: 'number',
    names: {
      ZONE_REPORT_ALL: 'ALL',
      ZONE_STATE_EMPTY: 'EMPTY',
      ZONE_STATE_IMP_OPEN: 'IMPLICITLY_OPENED',
      ZONE_STATE_EXP_OPEN: 'EXPLICITLY_OPENED',
      ZONE_STATE_CLOSED: 'CLOSED',
      ZONE_STATE_FULL: 'FULL',
      ZONE_STATE_READONLY: 'READ_ONLY',
      ZONE_STATE_OFFLINE: 'OFFLINE',
    },
  },
  NVME_REPORT_ZONE_PARTIAL: {
    theirs: 'NVME_REPORT_ZONE_',
    ours: '',
    as: 'number',
    pairs: { PARTIAL: 'ONES(ZONE_MANAGEMENT_RECEIVE_PR)' },
  },
  NVME_TEMP_THRESH_: {
    theirs: 'NVME_TEMP_THRESH_',
    ours: '',
    as: 'number',
    pairs: {
      MASK: 'TEMPERATURE_THRESHOLD_CDW11_TMPTH_MASK',
      SELECT_SHIFT: 'TEMPERATURE_THRESHOLD_CDW11_TMPSEL_SHIFT',
      TYPE_UNDER: 'TEMPERATURE_THRESHOLD_CDW11_THSEL_UNDER << TEMPERATURE_THRESHOLD_CDW11_THSEL_SHIFT',
    },
  },
  NVME_HOST_MEM_: {
    theirs: 'NVME_HOST_MEM_',
    ours: 'HOST_MEMORY_BUFFER_CDW11_',
    as: 'mask',
    names: { ENABLE: 'EHM', RETURN: 'MR' },
  },
  NVME_ENABLE_: 'a value of ACRE or LBAFEE, bytes that are 1 to enable',
  NVME_QUEUE_: {
    theirs: 'NVME_QUEUE_',
    ours: '',
    as: 'mask',
    names: { PHYS_CONTIG: 'CREATE_IO_SQ_PC CREATE_IO_CQ_PC' },
  },
  NVME_CQ_: { theirs: 'NVME_CQ_', ours: 'CREATE_IO_CQ_', as: 'mask', names: { IRQ_ENABLED: 'IEN' } },
  NVME_SQ_PRIO_: {
    theirs: 'NVME_SQ_PRIO_',
    ours: '',
    as: 'number',
    pairs: {
      URGENT: 'CREATE_IO_SQ_QPRIO_URGENT << CREATE_IO_SQ_QPRIO_SHIFT',
      HIGH: 'CREATE_IO_SQ_QPRIO_HIGH << CREATE_IO_SQ_QPRIO_SHIFT',
      MEDIUM: 'CREATE_IO_SQ_QPRIO_MEDIUM << CREATE_IO_SQ_QPRIO_SHIFT',
      LOW: 'CREATE_IO_SQ_QPRIO_LOW << CREATE_IO_SQ_QPRIO_SHIFT',
    },
  },
  NVME_FEAT_: {
    ...like(features['nvme_features_id']),
    theirs: 'NVME_FEAT_',
    names: without(features['nvme_features_id'], [
      ...['LBA_STS_INTERVAL', 'ENDURANCE_EVT_CFG', 'IOCS_PROFILE', 'FDP', 'FDP_EVENTS', 'ENH_CTRL_METADATA'],
      ...['CTRL_METADATA', 'NS_METADATA'],
    ]),
    absent: { [VENDOR]: ['VENDOR_START', 'VENDOR_END'] },
  },
  NVME_LOG_: {
    ...like(logs['nvme_cmd_get_log_lid']),
    theirs: 'NVME_LOG_',
    names: {
      ...only(logs['nvme_cmd_get_log_lid'], [
        ...['ERROR', 'SMART', 'FW_SLOT', 'CHANGED_NS', 'CMD_EFFECTS', 'TELEMETRY_HOST', 'TELEMETRY_CTRL'],
        ...['ENDURANCE_GROUP', 'ANA', 'RESERVATION'],
      ]),
      DISC: 'DISCOVERY',
    },
  },
  NVME_FWACT_: {
    theirs: 'NVME_FWACT_',
    ours: '',
    as: 'number',
    pairs: {
      REPL: 'FIRMWARE_COMMIT_CA_REPLACE << FIRMWARE_COMMIT_CA_SHIFT',
      REPL_ACTV: 'FIRMWARE_COMMIT_CA_REPLACE_AND_ACTIVATE_AT_RESET << FIRMWARE_COMMIT_CA_SHIFT',
      ACTV: 'FIRMWARE_COMMIT_CA_ACTIVATE_AT_RESET << FIRMWARE_COMMIT_CA_SHIFT',
    },
  },
  NVME_NS_: {
    theirs: 'NVME_NS_',
    ours: 'NAMESPACE_WRITE_PROTECTION_CONFIG_CDW11_WPS_',
    as: 'number',
    names: {
      WRITE_PROTECT_POWER_CYCLE: 'WRITE_PROTECT_UNTIL_POWER_CYCLE',
      WRITE_PROTECT_PERMANENT: 'PERMANENT_WRITE_PROTECT',
    },
  },
}
