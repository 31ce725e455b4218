// Maps the numbers, by prefix of their names, and the structures of linux/nvme.h in Linux 6.1 to nvme_spec.h.
import type { Numbers, Struct, Structs, Table } from '../table.js'
import { commands } from './commands.js'
import { features } from './features.js'
import { identify, identifyStructs } from './identify.js'
import { io, ioStructs, READS } from './io.js'
import { linuxCommands } from './linux-commands.js'
import { linuxStatus } from './linux-status.js'
import { logs, logStructs } from './logs.js'
import { like, membersOf, only, same } from './reuse.js'

const FABRICS = 'NVMe over Fabrics, which fabrics.test.ts compares'
const DRIVER = 'a choice of the driver'
const LENGTH = 'a length, which is compared as the size of a member'

/** Descriptors, all of which have all types and subtypes. */
const SGL = [
  ...['SGL_DESCRIPTOR', 'SGL_DATA_BLOCK', 'SGL_BIT_BUCKET', 'SGL_SEGMENT', 'SGL_LAST_SEGMENT', 'KEYED_SGL_DATA_BLOCK'],
  'TRANSPORT_SGL_DATA_BLOCK',
]

const numbers: Readonly<Record<string, Numbers | string>> = {
  NVMF_: FABRICS,
  nvme_fabrics_: FABRICS,
  NVME_TREQ_: FABRICS,
  NVME_RDMA_: FABRICS,
  NVME_NQN_: FABRICS,
  NVME_DISC_: FABRICS,
  NVME_CONNECT_: FABRICS,
  NVME_AUTH_: FABRICS,
  MAX_DISC_LOGS: FABRICS,
  NVME_CNTLID_: FABRICS,
  NVME_AQ_: DRIVER,
  NVME_NR_AEN_COMMANDS: DRIVER,
  NVME_IDENTIFY_DATA_SIZE: LENGTH,
  NVME_MAX_CHANGED_NAMESPACES: LENGTH,
  NVME_DSM_MAX_RANGES: 'the largest NR, a 0’s based field of eight bits',
  NVME_NSID_ALL: 'all ones, which is a convention for NSID',
  NVME_ADM_SQES: 'log 2 of the size of an entry, which is a structure in nvme_spec.h',
  NVME_NVM_IO: 'log 2 of the size of an entry, which is a structure in nvme_spec.h',
  NVME_SUBSYS_RESET: { theirs: 'NVME_SUBSYS_', ours: 'NSSR_NSSRC_', as: 'number' },
  NVME_REG_: { theirs: 'NVME_', ours: '', as: 'number', names: { REG_DBS: 'DOORBELL_BASE' } },
  NVME_CMBSZ_: {
    theirs: 'NVME_CMBSZ_',
    ours: 'CMBSZ_',
    as: 'mask',
    pairs: {
      SZ_SHIFT: 'CMBSZ_SZ_SHIFT',
      SZ_MASK: 'ONES(CMBSZ_SZ)',
      SZU_SHIFT: 'CMBSZ_SZU_SHIFT',
      SZU_MASK: 'ONES(CMBSZ_SZU)',
    },
  },
  NVME_CC_: {
    theirs: 'NVME_CC_',
    ours: 'CC_',
    as: 'number',
    pairs: {
      ENABLE: 'CC_EN_MASK',
      CRIME: 'CC_CRIME_MASK',
      CSS_NVM: 'CC_CSS_NVM << CC_CSS_SHIFT',
      CSS_CSI: 'CC_CSS_IOCS << CC_CSS_SHIFT',
      AMS_RR: 'CC_AMS_ROUND_ROBIN << CC_AMS_SHIFT',
      AMS_WRRU: 'CC_AMS_WRRUPC << CC_AMS_SHIFT',
      AMS_VS: 'CC_AMS_VENDOR << CC_AMS_SHIFT',
      SHN_NONE: 'CC_SHN_NONE << CC_SHN_SHIFT',
      SHN_NORMAL: 'CC_SHN_NORMAL << CC_SHN_SHIFT',
      SHN_ABRUPT: 'CC_SHN_ABRUPT << CC_SHN_SHIFT',
      IOSQES: '__builtin_ctz(SIZE(sqe)) << CC_IOSQES_SHIFT',
      IOCQES: '__builtin_ctz(SIZE(cqe)) << CC_IOCQES_SHIFT',
    },
  },
  NVME_CSTS_: {
    theirs: 'NVME_CSTS_',
    ours: 'CSTS_',
    as: 'mask',
    names: { SHST_MASK: 'SHST' },
    pairs: {
      SHST_NORMAL: 'CSTS_SHST_NORMAL << CSTS_SHST_SHIFT',
      SHST_OCCUR: 'CSTS_SHST_OCCURRING << CSTS_SHST_SHIFT',
      SHST_CMPLT: 'CSTS_SHST_COMPLETE << CSTS_SHST_SHIFT',
    },
  },
  NVME_CMBMSC_: { theirs: 'NVME_CMBMSC_', ours: 'CMBMSC_', as: 'mask' },
  NVME_CAP_CSS_: {
    theirs: 'NVME_CAP_CSS_',
    ours: '',
    as: 'number',
    pairs: {
      NVM: 'CAP_CSS_NCSS_MASK >> CAP_CSS_NCSS_SHIFT',
      CSI: 'CAP_CSS_IOCSS_MASK >> CAP_CSS_NCSS_SHIFT',
    },
  },
  NVME_CAP_CRMS_: { theirs: 'NVME_CAP_CRMS_', ours: 'CAP_', as: 'mask' },
  NVME_PS_FLAGS_: {
    theirs: 'NVME_PS_FLAGS_',
    ours: '',
    as: 'number',
    pairs: {
      MAX_POWER_SCALE: 'POWER_STATE_DESCRIPTOR_MXPS_MASK >> 8',
      NON_OP_STATE: 'POWER_STATE_DESCRIPTOR_NOPS_MASK >> 8',
    },
  },
  NVME_CTRL_ATTR_: {
    theirs: 'NVME_CTRL_ATTR_',
    ours: 'IDENTIFY_CONTROLLER_CTRATT_',
    as: 'mask',
    names: { HID_128_BIT: 'HIDS' },
  },
  NVME_CTRL_CTRATT_: like(identify['nvme_id_ctrl_ctratt'], {
    names: only(identify['nvme_id_ctrl_ctratt'], [
      ...['128_ID', 'NON_OP_PSP', 'NVM_SETS', 'READ_RECV_LVLS', 'ENDURANCE_GROUPS', 'PREDICTABLE_LAT'],
      ...['NAMESPACE_GRANULARITY', 'UUID_LIST'],
    ]),
  }),
  NVME_CTRL_CMIC_: like(identify['nvme_id_ctrl_cmic'], {
    names: { MULTI_PORT: 'MPORTS', MULTI_CTRL: 'MCTRS', ANA: 'ANARS' },
  }),
  NVME_CTRL_ONCS_: like(identify['nvme_id_ctrl_oncs'], {
    names: only(identify['nvme_id_ctrl_oncs'], [
      ...['COMPARE', 'WRITE_UNCORRECTABLE', 'DSM', 'WRITE_ZEROES', 'RESERVATIONS', 'TIMESTAMP'],
    ]),
  }),
  NVME_CTRL_VWC_: like(identify['nvme_id_ctrl_vwc'], { names: { PRESENT: 'VWCP' } }),
  NVME_CTRL_OACS_: like(identify['nvme_id_ctrl_oacs'], {
    names: { SEC_SUPP: 'SSRS', NS_MNGT_SUPP: 'NMS', DIRECTIVES: 'DIRS', DBBUF_SUPP: 'DBCS' },
  }),
  NVME_CTRL_LPA_: like(identify['nvme_id_ctrl_lpa'], { names: { CMD_EFFECTS_LOG: 'CSES' } }),
  NVME_CTRL_: {
    theirs: 'NVME_CTRL_',
    ours: 'IDENTIFY_CONTROLLER_CNTRLTYPE_',
    as: 'number',
    names: { DISC: 'DISCOVERY', ADMIN: 'ADMINISTRATIVE' },
  },
  NVME_DCTYPE_: { theirs: 'NVME_', ours: 'IDENTIFY_CONTROLLER_', as: 'number' },
  NVME_ID_NS_NVM_: {
    theirs: 'NVME_ID_NS_NVM_',
    ours: 'IDENTIFY_NVM_NAMESPACE_ELBAF_',
    as: 'word',
    names: { STS: 'STS', GUARD: 'PIF' },
  },
  NVME_ID_CNS_: like(commands['nvme_identify_cns'], {
    theirs: 'NVME_ID_CNS_',
    names: {
      NS: 'NAMESPACE',
      CTRL: 'CONTROLLER',
      NS_ACTIVE_LIST: 'ACTIVE_NAMESPACE_LIST',
      NS_DESC_LIST: 'NAMESPACE_DESCRIPTOR_LIST',
      CS_NS: 'COMMAND_SET_NAMESPACE',
      CS_CTRL: 'COMMAND_SET_CONTROLLER',
      NS_CS_INDEP: 'INDEPENDENT_NAMESPACE',
      NS_PRESENT_LIST: 'ALLOCATED_NAMESPACE_LIST',
      NS_PRESENT: 'ALLOCATED_NAMESPACE',
      CTRL_NS_LIST: 'ATTACHED_CONTROLLER_LIST',
      CTRL_LIST: 'CONTROLLER_LIST',
      SCNDRY_CTRL_LIST: 'SECONDARY_CONTROLLER_LIST',
      NS_GRANULARITY: 'NAMESPACE_GRANULARITY_LIST',
    },
  }),
  NVME_CSI_: { theirs: 'NVME_', ours: '', as: 'number', also: ['IDENTIFY_*'] },
  NVME_DIR_: {
    theirs: 'NVME_DIR_',
    ours: '',
    as: 'number',
    names: {
      IDENTIFY: 'DIRECTIVE_TYPE_IDENTIFY',
      STREAMS: 'DIRECTIVE_TYPE_STREAMS',
      SND_ID_OP_ENABLE: 'IDENTIFY_DIRECTIVE_SEND_ENABLE_DIRECTIVE',
      SND_ST_OP_REL_ID: 'STREAMS_DIRECTIVE_SEND_RELEASE_IDENTIFIER',
      SND_ST_OP_REL_RSC: 'STREAMS_DIRECTIVE_SEND_RELEASE_RESOURCES',
      RCV_ID_OP_PARAM: 'DIRECTIVE_RECEIVE_DOPER_RETURN_PARAMETERS',
      RCV_ST_OP_PARAM: 'DIRECTIVE_RECEIVE_DOPER_RETURN_PARAMETERS',
      RCV_ST_OP_STATUS: 'DIRECTIVE_RECEIVE_DOPER_GET_STATUS',
      RCV_ST_OP_RESOURCE: 'DIRECTIVE_RECEIVE_DOPER_ALLOCATE_RESOURCES',
    },
    pairs: { ENDIR: 'ONES(ENABLE_DIRECTIVE_CDW12_ENDIR)' },
  },
  NVME_NS_FEAT_: like(identify['nvme_id_nsfeat'], { names: { THIN: 'THINP', ATOMICS: 'NSABP', IO_OPT: 'OPTPERF' } }),
  NVME_NS_ATTR_: like(identify['nvme_id_ns_attr'], { theirs: 'NVME_NS_ATTR_', names: { RO: 'CWP' } }),
  NVME_NS_FLBAS_: like(identify['nvme_id_ns_flbas'], {
    names: { LBA_MASK: 'FIDXL', LBA_UMASK: 'FIDXU', META_EXT: 'MTELBA' },
    absent: { 'the shift from bits 6:5 to bits 5:4 of the index': ['LBA_SHIFT'] },
  }),
  NVME_NS_NMIC_: like(identify['nvme_id_ns_nmic']),
  NVME_NS_DPC_: like(identify['nvme_id_ns_dpc']),
  NVME_NS_DPS_: like(identify['nvme_id_ns_dps'], {
    names: only(identify['nvme_id_ns_dps'], ['PI_TYPE1', 'PI_TYPE2', 'PI_TYPE3', 'PI_MASK', 'PI_FIRST']),
  }),
  NVME_LBAF_: { theirs: 'NVME_LBAF_', ours: 'IDENTIFY_NAMESPACE_LBAF_', as: 'number' },
  NVME_NSTAT_: { theirs: 'NVME_NSTAT_', ours: 'IDENTIFY_INDEPENDENT_NAMESPACE_NSTAT_', as: 'mask' },
  NVME_NVM_NS_: {
    theirs: 'NVME_NVM_NS_',
    ours: 'IDENTIFY_NVM_NAMESPACE_ELBAF_PIF_',
    as: 'number',
    names: { '16B_GUARD': 'GUARD_16B', '32B_GUARD': 'GUARD_32B', '64B_GUARD': 'GUARD_64B' },
  },
  NVME_MC_: {
    theirs: 'NVME_MC_',
    ours: 'IDENTIFY_NAMESPACE_MC_',
    as: 'mask',
    names: { EXTENDED_LBA: 'MTELBAS', METADATA_PTR: 'MTSBS' },
  },
  NVME_NIDT_: {
    theirs: 'NVME_',
    ours: 'NAMESPACE_ID_DESCRIPTOR_',
    as: 'number',
    absent: { [LENGTH]: ['NIDT_EUI64_LEN', 'NIDT_NGUID_LEN', 'NIDT_UUID_LEN', 'NIDT_CSI_LEN'] },
  },
  NVME_CMD_EFFECTS_: like(logs['nvme_cmd_effects']),
  NVME_ANA_: {
    theirs: 'NVME_ANA_',
    ours: 'ANA_STATE_',
    as: 'number',
    also: ['ANA_GROUP_DESCRIPTOR_ANASA_ANAS_*'],
    names: { NONOPTIMIZED: 'NON_OPTIMIZED' },
    pairs: { LOG_RGO: 'ANA_LSP_RGO_MASK' },
  },
  NVME_ZONE_TYPE_: like(io['nvme_zns_zt']),
  NVME_SMART_CRIT_: like(logs['nvme_smart_crit'], {
    names: { SPARE: 'ASCBT', TEMPERATURE: 'TTC', RELIABILITY: 'NDR', MEDIA: 'AMRO', VOLATILE_MEMORY: 'VMBF' },
  }),
  NVME_AER_: like(features['nvme_ae_type']),
  NVME_AER_TYPE_: like(features['nvme_ae_type'], {
    theirs: 'NVME_AER_TYPE_',
    names: { ERROR: 'ERROR_STATUS', SMART: 'SMART_HEALTH_STATUS' },
  }),
  NVME_AER_ERROR_: like(features['nvme_ae_info_error'], { names: { PERSIST_INT_ERR: 'PERSISTENT_INTERNAL_ERROR' } }),
  NVME_AER_NOTICE_: like(features['nvme_ae_info_notice'], {
    names: only(features['nvme_ae_info_notice'], ['NS_CHANGED', 'FW_ACT_STARTING', 'ANA', 'DISC_CHANGED']),
  }),
  NVME_AEN_: {
    theirs: 'NVME_AEN_',
    ours: '',
    as: 'number',
    names: {
      BIT_NS_ATTR: 'ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_NAN_SHIFT IDENTIFY_CONTROLLER_OAES_NSAN_SHIFT',
      BIT_FW_ACT: 'ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_FAN_SHIFT IDENTIFY_CONTROLLER_OAES_FAN_SHIFT',
      BIT_ANA_CHANGE: 'ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_ANACN_SHIFT IDENTIFY_CONTROLLER_OAES_ANACN_SHIFT',
      BIT_DISC_CHANGE: 'ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_DLPCN_SHIFT IDENTIFY_CONTROLLER_OAES_DLPCN_SHIFT',
      CFG_NS_ATTR: 'ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_NAN_MASK',
      CFG_FW_ACT: 'ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_FAN_MASK',
      CFG_ANA_CHANGE: 'ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_ANACN_MASK',
      CFG_DISC_CHANGE: 'ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_DLPCN_MASK',
    },
  },
  NVME_LBART_: like(features['nvme_lbart'], {
    names: { TYPE_FS: 'TYPE_FILESYSTEM', TYPE_SWAP: 'TYPE_PAGE_OR_SWAP_FILE' },
  }),
  NVME_SGL_FMT_: {
    theirs: 'NVME_SGL_FMT_',
    ours: 'SGL_TYPE_',
    as: 'number',
    also: SGL.map((struct) => `${struct}_SGLID_SGLDT_*`),
    names: { DATA_DESC: 'DATA_BLOCK', SEG_DESC: 'SEGMENT', LAST_SEG_DESC: 'LAST_SEGMENT' },
    pairs: {
      ADDRESS: ['SGL_SUB_TYPE_ADDRESS', ...SGL.map((struct) => `${struct}_SGLID_SGLDST_ADDRESS`)],
      OFFSET: ['SGL_SUB_TYPE_OFFSET', ...SGL.map((struct) => `${struct}_SGLID_SGLDST_OFFSET`)],
    },
    absent: { [FABRICS]: ['TRANSPORT_A', 'INVALIDATE'] },
  },
  NVME_KEY_SGL_FMT_: {
    theirs: 'NVME_KEY_SGL_FMT_',
    ours: 'SGL_TYPE_',
    as: 'number',
    also: SGL.map((struct) => `${struct}_SGLID_SGLDT_*`),
    names: { DATA_DESC: 'KEYED_DATA_BLOCK' },
  },
  NVME_TRANSPORT_SGL_: {
    theirs: 'NVME_TRANSPORT_SGL_',
    ours: 'SGL_TYPE_',
    as: 'number',
    also: SGL.map((struct) => `${struct}_SGLID_SGLDT_*`),
    names: { DATA_DESC: 'TRANSPORT_DATA_BLOCK' },
  },
  NVME_CMD_: {
    theirs: 'NVME_CMD_',
    ours: '',
    as: 'number',
    pairs: {
      FUSE_FIRST: 'SQE_FUSE_FIRST << SQE_FUSE_SHIFT',
      FUSE_SECOND: 'SQE_FUSE_SECOND << SQE_FUSE_SHIFT',
      SGL_METABUF: 'SQE_PSDT_SGL << SQE_PSDT_SHIFT',
      SGL_METASEG: 'SQE_PSDT_SGL_SEGMENT_MPTR << SQE_PSDT_SHIFT',
      SGL_ALL: 'SQE_PSDT_MASK',
    },
  },
  ...linuxCommands,
  ...linuxStatus,
}

const OPAQUE = 'a dword of a command, whose fields are compared as numbers or with libnvme'
const COMMON: Readonly<Record<string, string>> = {
  opcode: 'opc',
  flags: 'bits_1',
  command_id: 'cid',
  nsid: 'nsid',
  metadata: 'mptr',
  dptr: 'prp1-prp2',
  prp1: 'prp1',
  prp2: 'prp2',
}
/** Returns the names of a command: common members, and its fields. */
const command = (
  members: readonly string[],
  fields: Readonly<Record<string, string>> = {},
  rest: Partial<Struct> = {},
) => ({
  ours: 'sqe',
  names: { ...Object.fromEntries(members.map((name) => [name, COMMON[name] ?? name])), ...fields },
  ...rest,
})
/** Returns the names of a field that several commands share. */
const of = (field: string, ...commandNames: readonly (readonly string[])[]) =>
  commandNames
    .flat()
    .map((name) => `${name}_${field}`)
    .join(' ')
const FIRST = ['opcode', 'flags', 'command_id']
const DIRECTIVES = ['DIRECTIVE_SEND', 'DIRECTIVE_RECEIVE']
const NS = [...FIRST, 'nsid']

const structs: Readonly<Record<string, Structs>> = {
  nvme_id_power_state: {
    ours: 'power_state_descriptor',
    names: {
      max_power: 'mp',
      flags: 'bits_2:POWER_STATE_DESCRIPTOR_MXPS',
      entry_lat: 'enlat',
      exit_lat: 'exlat',
      read_tput: 'bits_12:POWER_STATE_DESCRIPTOR_RRT',
      read_lat: 'bits_12:POWER_STATE_DESCRIPTOR_RRL',
      write_tput: 'bits_12:POWER_STATE_DESCRIPTOR_RWT',
      write_lat: 'bits_12:POWER_STATE_DESCRIPTOR_RWL',
      idle_power: 'idlp',
      idle_scale: 'bits_18:POWER_STATE_DESCRIPTOR_IPS',
      active_power: 'actp',
      active_work_scale: 'bits_22:POWER_STATE_DESCRIPTOR_APW',
    },
  },
  nvme_id_ctrl: { ours: 'identify_controller', names: { nvscc: 'icsvscc', ctrattr: 'fcatt' } },
  nvme_lbaf: same(identifyStructs, 'nvme_lbaf'),
  nvme_id_ns: { ours: 'identify_namespace' },
  nvme_id_ns_cs_indep: { ours: 'identify_independent_namespace' },
  nvme_zns_lbafe: { ours: 'zoned_lba_format' },
  nvme_id_ns_zns: { ours: 'identify_zoned_namespace' },
  nvme_id_ctrl_zns: { ours: 'identify_zoned_controller' },
  nvme_id_ns_nvm: { ours: 'identify_nvm_namespace' },
  nvme_id_ctrl_nvm: { ours: 'identify_nvm_controller' },
  nvme_ns_id_desc: { ours: 'namespace_id_descriptor' },
  nvme_smart_log: { ours: 'smart_health_log', names: membersOf(logStructs['nvme_smart_log']) },
  nvme_fw_slot_info_log: { ours: 'firmware_slot_log', names: { frs: 'frs1-frs7' } },
  nvme_effects_log: { ours: 'command_effects_log' },
  nvme_ana_group_desc: { ours: 'ana_group_descriptor', names: membersOf(logStructs['nvme_ana_group_desc']) },
  nvme_ana_rsp_hdr: { ours: 'ana_log_header', names: { chgcnt: 'chgc', ngrps: 'nagd' } },
  nvme_zone_descriptor: { ours: 'zone_descriptor', names: membersOf(ioStructs['nvme_zns_desc']) },
  nvme_zone_report: { ours: 'report_zones', names: { entries: '.end' } },
  nvme_lba_range_type: { ours: 'lba_range', names: { attributes: 'attrb' } },
  nvme_reservation_status: { ours: 'reservation_status', names: { regctl: 'regstrnt', regctl_ds: '.end' } },
  nvme_sgl_desc: ['sgl_data_block', 'sgl_segment', 'sgl_last_segment'].map((ours) => ({
    ours,
    names: { length: 'len', type: 'sglid' },
  })),
  nvme_keyed_sgl_desc: { ours: 'keyed_sgl_data_block', names: { length: 'len', type: 'sglid' } },
  nvme_common_command: command([...NS, 'metadata', 'dptr'], { cdw2: 'cdw2-cdw3' }, { absent: { [OPAQUE]: ['cdws'] } }),
  // Read, Write, Compare, Verify, Write Uncorrectable and Zone Append.
  nvme_rw_command: command(
    [...NS, 'metadata', 'dptr'],
    {
      slba: `${of('SLBA', READS, ['WRITE', 'WRITE_UNCORRECTABLE'])} ZONE_APPEND_ZSLBA`,
      length: of('NLB', READS, ['WRITE', 'WRITE_UNCORRECTABLE', 'ZONE_APPEND']),
      reftag: `${of('ELBTL', READS)} ${of('LBTL', ['WRITE', 'ZONE_APPEND'])}`,
      apptag: `${of('ELBAT', READS)} ${of('LBAT', ['WRITE', 'ZONE_APPEND'])}`,
      appmask: `${of('ELBATM', READS)} ${of('LBATM', ['WRITE', 'ZONE_APPEND'])}`,
    },
    { absent: { [OPAQUE]: ['control', 'dsmgmt'] } },
  ),
  nvme_dsm_cmd: command([...NS, 'dptr'], {}, { absent: { [OPAQUE]: ['nr', 'attributes'] } }),
  nvme_dsm_range: { ours: 'dataset_management_range', names: { nlb: 'llb' } },
  nvme_write_zeroes_cmd: command(
    [...NS, 'metadata', 'dptr'],
    {
      slba: 'WRITE_ZEROES_SLBA',
      length: 'WRITE_ZEROES_NLB',
      reftag: 'WRITE_ZEROES_LBTL',
      apptag: 'WRITE_ZEROES_LBAT',
      appmask: 'WRITE_ZEROES_LBATM',
    },
    { absent: { [OPAQUE]: ['control', 'dsmgmt'] } },
  ),
  nvme_zone_mgmt_send_cmd: command(
    [...NS, 'metadata', 'dptr'],
    {
      cdw2: 'cdw2-cdw3',
      slba: 'ZONE_MANAGEMENT_SEND_SLBA',
      zsa: 'ZONE_MANAGEMENT_SEND_ZSA',
      cdw14: 'cdw14-cdw15',
    },
    { absent: { 'a byte, of which nvme-spec declares bit 0': ['select_all'] } },
  ),
  nvme_zone_mgmt_recv_cmd: command(
    [...NS, 'dptr'],
    {
      slba: 'ZONE_MANAGEMENT_RECEIVE_SLBA',
      numd: 'ZONE_MANAGEMENT_RECEIVE_NUMD',
      zra: 'ZONE_MANAGEMENT_RECEIVE_ZRA',
      zrasf: 'ZONE_MANAGEMENT_RECEIVE_ZRASF',
      cdw14: 'cdw14-cdw15',
    },
    { absent: { 'a byte, of which nvme-spec declares bit 0': ['pr'] } },
  ),
  nvme_feat_auto_pst: { ours: 'autonomous_power_state_transitions', names: { entries: 'apst' } },
  nvme_feat_host_behavior: { ours: 'host_behavior' },
  nvme_identify: command([...NS, 'dptr'], { cns: 'IDENTIFY_CNS', ctrlid: 'IDENTIFY_CNTID', csi: 'IDENTIFY_CSI' }),
  nvme_features: command(
    [...NS, 'dptr'],
    {
      dword11: 'SET_FEATURES_CDW11 GET_FEATURES_CDW11',
      dword12: 'SET_FEATURES_CDW12',
      dword13: 'SET_FEATURES_CDW13',
      dword14: 'SET_FEATURES_CDW14',
      dword15: 'SET_FEATURES_CDW15',
    },
    { absent: { [OPAQUE]: ['fid'] } },
  ),
  nvme_host_mem_buf_desc: { ours: 'host_memory_buffer_descriptor', names: { addr: 'badd', size: 'bsize' } },
  nvme_create_cq: command(
    [...FIRST, 'prp1'],
    { cqid: 'CREATE_IO_CQ_QID', qsize: 'CREATE_IO_CQ_QSIZE', irq_vector: 'CREATE_IO_CQ_IV' },
    { absent: { [OPAQUE]: ['cq_flags'] } },
  ),
  nvme_create_sq: command(
    [...FIRST, 'prp1'],
    { sqid: 'CREATE_IO_SQ_QID', qsize: 'CREATE_IO_SQ_QSIZE', cqid: 'CREATE_IO_SQ_CQID' },
    { absent: { [OPAQUE]: ['sq_flags'] } },
  ),
  nvme_delete_queue: command(FIRST, { qid: 'DELETE_IO_SQ_QID DELETE_IO_CQ_QID' }),
  nvme_abort_cmd: command(FIRST, { sqid: 'ABORT_SQID', cid: 'ABORT_ABORTED_CID' }),
  nvme_download_firmware: command([...FIRST, 'dptr'], {
    numd: 'FIRMWARE_IMAGE_DOWNLOAD_NUMD',
    offset: 'FIRMWARE_IMAGE_DOWNLOAD_OFST',
  }),
  nvme_format_cmd: command([...NS], { cdw10: 'cdw10' }),
  nvme_get_log_page_command: command(
    [...NS, 'dptr'],
    {
      lid: 'GET_LOG_PAGE_LID',
      numdl: 'GET_LOG_PAGE_NUMDL',
      numdu: 'GET_LOG_PAGE_NUMDU',
      lpol: 'GET_LOG_PAGE_LPOL',
      lpou: 'GET_LOG_PAGE_LPOU',
      csi: 'GET_LOG_PAGE_CSI',
    },
    { absent: { 'a byte, of which bits 6:0 are LSP and bit 7 is RAE': ['lsp'], 'LPOL and LPOU together': ['lpo'] } },
  ),
  nvme_directive_cmd: command(
    [...NS, 'dptr'],
    {
      numd: of('NUMD', DIRECTIVES),
      doper: of('DOPER', DIRECTIVES),
      dtype: of('DTYPE', DIRECTIVES),
      dspec: of('DSPEC', DIRECTIVES),
    },
    { absent: { 'bytes of Command Dword 12, whose rows are EnableDirectiveCdw12': ['endir', 'tdtype'] } },
  ),
  nvme_dbbuf: command([...FIRST, 'prp1', 'prp2']),
  streams_directive_params: { ours: 'streams_directive_parameters' },
  nvme_command: 'all commands in one union',
  nvme_error_slot: {
    ours: 'error_log_entry',
    names: {
      error_count: 'ecnt',
      cmdid: 'cid',
      status_field: 'sts',
      param_error_location: 'pel',
      vs: 'vsia',
      cs: 'csinfo',
    },
  },
  nvme_completion: {
    ours: 'cqe',
    names: { result: 'dw0-dw1', sq_head: 'sqhd', sq_id: 'sqid', command_id: 'cid' },
  },
}

/** Structures of NVMe over Fabrics. */
const fabrics = Object.fromEntries(
  [
    ...['nvmf_common_command', 'nvmf_disc_rsp_page_entry', 'nvmf_disc_rsp_page_hdr', 'nvmf_connect_command'],
    ...['nvmf_connect_data', 'nvmf_property_set_command', 'nvmf_property_get_command', 'nvmf_auth_common_command'],
    ...['nvmf_auth_send_command', 'nvmf_auth_receive_command', 'nvmf_auth_dhchap_protocol_descriptor'],
    ...['nvmf_auth_dhchap_negotiate_data', 'nvmf_auth_dhchap_challenge_data', 'nvmf_auth_dhchap_reply_data'],
    ...['nvmf_auth_dhchap_success1_data', 'nvmf_auth_dhchap_success2_data', 'nvmf_auth_dhchap_failure_data'],
  ].map((name) => [name, FABRICS]),
)

export const LINUX: Table = { numbers, structs: { ...structs, ...fabrics } }
