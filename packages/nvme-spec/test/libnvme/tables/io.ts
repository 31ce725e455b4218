import type { Numbers, Structs } from '../table.js'

const RTYPE: Readonly<Record<string, string>> = {
  RTYPE_WE: 'WRITE_EXCLUSIVE',
  RTYPE_EA: 'EXCLUSIVE_ACCESS',
  RTYPE_WERO: 'WRITE_EXCLUSIVE_REGISTRANTS_ONLY',
  RTYPE_EARO: 'EXCLUSIVE_ACCESS_REGISTRANTS_ONLY',
  RTYPE_WEAR: 'WRITE_EXCLUSIVE_ALL_REGISTRANTS',
  RTYPE_EAAR: 'EXCLUSIVE_ACCESS_ALL_REGISTRANTS',
}

/** Commands with the same fields in Command Dword 12. */
export const READS = ['READ', 'COMPARE', 'VERIFY']
export const WRITES = ['WRITE', 'WRITE_ZEROES', 'ZONE_APPEND']

/** A field in bits 31:16 of Command Dword 12, of several commands. */
export const inDword12 = (field: string, ...commands: readonly (readonly string[])[]) =>
  commands.flat().map((command) => `${command}_${field}_MASK >> 16`)

/** The type of streams, in Command Dword 12 of several commands. */
export const inDtype = (...commands: readonly string[]) =>
  commands.map((command) => `DIRECTIVE_TYPE_STREAMS << (${command}_DTYPE_SHIFT - 16)`)

/** A bit of PRINFO, in Command Dword 12 of several commands. */
export const inPrinfo = (bit: string) =>
  [...READS, ...WRITES].map((command) => `PRINFO_${bit}_MASK << (${command}_PRINFO_SHIFT - 16)`)

/** Fields of I/O commands and their completions: reads and writes, datasets, reservations, copies, zones. */
export const io: Readonly<Record<string, Numbers | string>> = {
  // Bits 31:16 of Command Dword 12.
  nvme_io_control_flags: {
    theirs: 'NVME_IO_',
    ours: '',
    as: 'number',
    pairs: {
      DTYPE_STREAMS: inDtype(...WRITES, 'WRITE_UNCORRECTABLE', 'COPY'),
      STC: inDword12('STC', READS, WRITES),
      DEAC: 'WRITE_ZEROES_DEAC_MASK >> 16',
      ZNS_APPEND_PIREMAP: 'ZONE_APPEND_PIREMAP_MASK >> 16',
      PRINFO_PRCHK_REF: inPrinfo('RTCHK'),
      PRINFO_PRCHK_APP: inPrinfo('ATCHK'),
      PRINFO_PRCHK_GUARD: inPrinfo('GRDCHK'),
      PRINFO_PRACT: inPrinfo('PRACT'),
      FUA: inDword12('FUA', READS, WRITES),
      LR: inDword12('LR', READS, WRITES),
    },
  },
  nvme_io_dsm_flags: {
    theirs: 'NVME_IO_DSM_',
    ours: 'DSM_AF_',
    as: 'number',
    names: {
      FREQ_UNSPEC: 'NONE',
      FREQ_TYPICAL: 'TYPICAL',
      FREQ_RARE: 'INFREQUENT',
      FREQ_READS: 'FREQUENT_READS',
      FREQ_WRITES: 'FREQUENT_WRITES',
      FREQ_RW: 'FREQUENT',
      FREQ_ONCE: 'ONE_TIME',
      FREQ_PREFETCH: 'SPECULATIVE',
      FREQ_TEMP: 'SOON_OVERWRITTEN',
    },
    pairs: {
      LATENCY_NONE: 'DSM_AL_NONE << DSM_AL_SHIFT',
      LATENCY_IDLE: 'DSM_AL_IDLE << DSM_AL_SHIFT',
      LATENCY_NORM: 'DSM_AL_NORMAL << DSM_AL_SHIFT',
      LATENCY_LOW: 'DSM_AL_LOW << DSM_AL_SHIFT',
      SEQ_REQ: 'DSM_SEQREQ_MASK',
      COMPRESSED: 'DSM_INCPRS_MASK',
    },
  },
  nvme_dsm_attributes: { theirs: 'NVME_DSMGMT_', ours: 'DATASET_MANAGEMENT_', as: 'mask' },
  nvme_resv_rtype: {
    theirs: 'NVME_RESERVATION_',
    ours: 'RESERVATION_TYPE_',
    as: 'number',
    also: [
      'RESERVATION_ACQUIRE_RTYPE_*',
      'RESERVATION_RELEASE_RTYPE_*',
      'RESERVATION_STATUS_RTYPE_*',
      'RESERVATION_STATUS_EXTENDED_RTYPE_*',
    ],
    names: RTYPE,
  },
  nvme_resv_racqa: { theirs: 'NVME_RESERVATION_', ours: 'RESERVATION_ACQUIRE_', as: 'number' },
  nvme_resv_rrega: {
    theirs: 'NVME_RESERVATION_',
    ours: 'RESERVATION_REGISTER_',
    as: 'number',
    names: {
      RREGA_REGISTER_KEY: 'RREGA_REGISTER',
      RREGA_UNREGISTER_KEY: 'RREGA_UNREGISTER',
      RREGA_REPLACE_KEY: 'RREGA_REPLACE',
    },
  },
  nvme_resv_cptpl: {
    theirs: 'NVME_RESERVATION_',
    ours: 'RESERVATION_REGISTER_',
    as: 'number',
    names: { CPTPL_PERSIST: 'CPTPL_SET' },
  },
  nvme_resv_rrela: { theirs: 'NVME_RESERVATION_', ours: 'RESERVATION_RELEASE_', as: 'number' },
  nvme_io_mgmt_recv_mo: {
    theirs: 'NVME_IO_MGMT_RECV_',
    ours: 'IO_MANAGEMENT_RECEIVE_MO_',
    as: 'number',
    names: { RUH_STATUS: 'RECLAIM_UNIT_HANDLE_STATUS' },
  },
  nvme_io_mgmt_send_mo: {
    theirs: 'NVME_IO_MGMT_SEND_',
    ours: 'IO_MANAGEMENT_SEND_MO_',
    as: 'number',
    names: { RUH_UPDATE: 'RECLAIM_UNIT_HANDLE_UPDATE' },
  },
  nvme_zns_send_action: {
    theirs: 'NVME_ZNS_',
    ours: 'ZONE_MANAGEMENT_SEND_',
    as: 'number',
    names: { ZSA_SET_DESC_EXT: 'ZSA_SET_ZONE_DESCRIPTOR_EXTENSION' },
  },
  nvme_zns_recv_action: { theirs: 'NVME_ZNS_', ours: 'ZONE_MANAGEMENT_RECEIVE_', as: 'number' },
  nvme_zns_report_options: {
    theirs: 'NVME_ZNS_ZRAS_REPORT_',
    ours: 'ZONE_MANAGEMENT_RECEIVE_ZRASF_',
    as: 'number',
    names: { IMPL_OPENED: 'IMPLICITLY_OPENED', EXPL_OPENED: 'EXPLICITLY_OPENED' },
  },
  nvme_zns_zt: {
    theirs: 'NVME_ZONE_TYPE_',
    ours: 'ZONE_TYPE_',
    as: 'number',
    also: ['ZONE_DESCRIPTOR_ZT_*'],
    names: { SEQWRITE_REQ: 'SEQUENTIAL_WRITE_REQUIRED' },
  },
  nvme_zns_za: { theirs: 'NVME_ZNS_ZA_', ours: 'ZONE_DESCRIPTOR_ZA_', as: 'mask' },
  nvme_zns_zs: {
    theirs: 'NVME_ZNS_ZS_',
    ours: 'ZONE_STATE_',
    as: 'number',
    also: ['ZONE_DESCRIPTOR_ZS_*'],
    names: { IMPL_OPEN: 'IMPLICITLY_OPENED', EXPL_OPEN: 'EXPLICITLY_OPENED' },
  },
}

/** Data of I/O commands, and of features and directives. */
export const ioStructs: Readonly<Record<string, Structs>> = {
  nvme_dsm_range: { ours: 'dataset_management_range', names: { nlb: 'llb' } },
  nvme_copy_range: [
    { ours: 'copy_range0', names: { eilbrt: 'elbt' } },
    { ours: 'copy_range2', names: { eilbrt: 'elbt' } },
  ],
  nvme_copy_range_f1: [{ ours: 'copy_range1' }, { ours: 'copy_range3' }],
  nvme_registered_ctrl: { ours: 'registrant' },
  nvme_registered_ctrl_ext: { ours: 'registrant_extended' },
  nvme_resv_status: {
    ours: 'reservation_status_extended',
    names: { regctl: 'regstrnt', regctl_eds: '.end', regctl_ds: 'reservation_status.end' },
  },
  nvme_fdp_ruh_status_desc: { ours: 'reclaim_unit_handle_status_descriptor' },
  nvme_fdp_ruh_status: { ours: 'reclaim_unit_handle_status', names: { ruhss: '.end' } },
  nvme_lba_status_desc: { ours: 'lba_status_descriptor', names: { status: 'stas' } },
  nvme_lba_status: { ours: 'lba_status_descriptor_list', names: { descs: '.end' } },
  nvme_zns_desc: {
    ours: 'zone_descriptor',
    names: { zt: 'bits_0:ZONE_DESCRIPTOR_ZT', zs: 'bits_0:ZONE_DESCRIPTOR_ZS' },
  },
  nvme_zone_report: { ours: 'report_zones', names: { entries: '.end' } },
  nvme_feat_auto_pst: { ours: 'autonomous_power_state_transitions', names: { apst_entry: 'apst' } },
  nvme_metadata_element_desc: { ours: 'metadata_element', names: { type: 'et', rev: 'er', len: 'elen', val: '.end' } },
  nvme_host_metadata: {
    ours: 'host_metadata',
    names: { descs: '.end', descs_buf: '.end' },
    absent: { 'nvme_spec.h has the header without elements': ['sizeof'] },
  },
  nvme_lba_range_type_entry: { ours: 'lba_range', names: { attributes: 'attrb' } },
  nvme_lba_range_type: { ours: 'lba_ranges', names: { entry: 'range' } },
  nvme_plm_config: { ours: 'deterministic_threshold_configuration' },
  nvme_feat_host_behavior: { ours: 'host_behavior' },
  nvme_streams_directive_params: { ours: 'streams_directive_parameters' },
  nvme_streams_directive_status: { ours: 'streams_directive_status', names: { sid: '.end' } },
  // Only the first bits of each bitmap have names, so nvme_spec.h declares only its first bytes.
  nvme_id_directives: {
    ours: 'identify_directive_parameters',
    names: { supported: '@supported', enabled: '@enabled' },
  },
  nvme_host_mem_buf_attrs: { ours: 'host_memory_buffer_attributes' },
  nvme_timestamp: { ours: 'timestamp_data', names: { timestamp: 'tstmp', attr: 'tstmps' } },
  nvme_feat_fdp_events_cdw11: {
    ours: 'supported_fdp_event',
    names: {
      phndl: ':FLEXIBLE_DATA_PLACEMENT_EVENTS_CDW11_PHNDL',
      noet: ':FLEXIBLE_DATA_PLACEMENT_EVENTS_CDW11_NOET',
    },
    absent: { 'Command Dword 11 of the feature': ['sizeof'] },
  },
  nvme_fdp_supported_event_desc: { ours: 'supported_fdp_event', names: { evt: 'fdpet', evta: 'fdpeta' } },
}
