import type { Numbers } from '../table.js'

const word = (name: string, rest: Omit<Numbers, 'theirs' | 'ours' | 'as'> = {}): Numbers => ({
  theirs: `NVME_${name}_`,
  ours: `${name}_`,
  as: 'word',
  ...rest,
})

/** Registers of controllers. */
export const registers: Readonly<Record<string, Numbers | string>> = {
  nvme_register_offsets: { theirs: 'NVME_', ours: '', as: 'number' },
  nvme_cap: word('CAP', {
    names: { NSSRC: 'NSSRS' },
    pairs: {
      AMS_SHIFT: 'CAP_AMS_WRRUPC_SHIFT',
      AMS_MASK: '(CAP_AMS_WRRUPC_MASK | CAP_AMS_VS_MASK) >> CAP_AMS_WRRUPC_SHIFT',
      AMS_WRR: 'CAP_AMS_WRRUPC_MASK >> CAP_AMS_WRRUPC_SHIFT',
      AMS_VS: 'CAP_AMS_VS_MASK >> CAP_AMS_WRRUPC_SHIFT',
      CSS_SHIFT: 'CAP_CSS_NCSS_SHIFT',
      CSS_NVM: 'CAP_CSS_NCSS_MASK >> CAP_CSS_NCSS_SHIFT',
      CSS_CSI: 'CAP_CSS_IOCSS_MASK >> CAP_CSS_NCSS_SHIFT',
      CSS_ADMIN: 'CAP_CSS_NOIOCSS_MASK >> CAP_CSS_NCSS_SHIFT',
      CRMS_SHIFT: 'CAP_CRWMS_SHIFT',
      CRMS_MASK: '(CAP_CRWMS_MASK | CAP_CRIMS_MASK) >> CAP_CRWMS_SHIFT',
      CRWMS: 'CAP_CRWMS_MASK >> CAP_CRWMS_SHIFT',
      CRIMS: 'CAP_CRIMS_MASK >> CAP_CRWMS_SHIFT',
    },
    absent: { 'CSS is declared bit by bit, its reserved bits have no row': ['CSS_MASK'] },
  }),
  nvme_vs: word('VS', { also: ['IDENTIFY_CONTROLLER_VER_*', 'IDENTIFY_NVM_CONTROLLER_VER_*'] }),
  nvme_cc: word('CC', {
    names: { CSS_CSI: 'CSS_IOCS', CSS_ADMIN: 'CSS_ADMIN_ONLY' },
    pairs: {
      AMS_RR: 'CC_AMS_ROUND_ROBIN',
      AMS_WRRU: 'CC_AMS_WRRUPC',
      AMS_VS: 'CC_AMS_VENDOR',
      CRIME: 'CC_CRIME_MASK >> CC_CRIME_SHIFT',
    },
    absent: { 'the name of a bit that is 0: CRIME is a bit without named values': ['CRWME'] },
  }),
  nvme_csts: word('CSTS', {
    names: { SHST_OCCUR: 'SHST_OCCURRING', SHST_CMPLT: 'SHST_COMPLETE', SHN: 'SHST' },
  }),
  nvme_aqa: word('AQA'),
  nvme_cmbloc: word('CMBLOC', { names: { CDPLMS: 'CDPMLS' } }),
  nvme_cmbsz: word('CMBSZ', {
    names: {
      SZU_4K: 'SZU_KIB_4',
      SZU_64K: 'SZU_KIB_64',
      SZU_1M: 'SZU_MIB_1',
      SZU_16M: 'SZU_MIB_16',
      SZU_256M: 'SZU_MIB_256',
      SZU_4G: 'SZU_GIB_4',
      SZU_64G: 'SZU_GIB_64',
    },
  }),
  nvme_bpinfo: word('BPINFO', {
    also: ['BOOT_PARTITION_HEADER_BPINFO_*'],
    names: { BRS_READ_IN_PROGRESS: 'BRS_IN_PROGRESS', BRS_READ_SUCCESS: 'BRS_SUCCESS', BRS_READ_ERROR: 'BRS_ERROR' },
  }),
  nvme_bprsel: word('BPRSEL'),
  nvme_cmbmsc: word('CMBMSC'),
  NVME_CMBMSC_: word('CMBMSC'),
  nvme_cmbsts: word('CMBSTS'),
  nvme_crto: word('CRTO', { pairs: { CRIMT_MASK: 'CRTO_CRIMT_MASK', CRWMT_MASK: 'CRTO_CRWMT_MASK' } }),
  nvme_pmrcap: word('PMRCAP', {
    names: { PMRTU_500MS: 'PMRTU_MS_500', PMRTU_60S: 'PMRTU_MINUTES' },
    pairs: { PMRWMB_SHIFT: 'PMRCAP_PMRWBM_CMR_SHIFT' },
    absent: { 'PMRWBM is declared bit by bit, its reserved bits have no row': ['PMRWMB_MASK'] },
  }),
  nvme_pmrctl: word('PMRCTL'),
  nvme_pmrsts: word('PMRSTS'),
  nvme_pmrebs: word('PMREBS', {
    names: {
      RBB: 'PMRRBB',
      PMRSZU_B: 'PMRSZU_BYTES',
      PMRSZU_1K: 'PMRSZU_KIB',
      PMRSZU_1M: 'PMRSZU_MIB',
      PMRSZU_1G: 'PMRSZU_GIB',
    },
  }),
  nvme_pmrswtp: word('PMRSWTP', {
    names: {
      PMRSWTU_BPS: 'PMRSWTU_BYTES',
      PMRSWTU_KBPS: 'PMRSWTU_KIB',
      PMRSWTU_MBPS: 'PMRSWTU_MIB',
      PMRSWTU_GBPS: 'PMRSWTU_GIB',
    },
  }),
  // The 32-bit registers PMRMSCL and PMRMSCU are one 64-bit register in libnvme.
  nvme_pmrmsc: { ...word('PMRMSCL'), theirs: 'NVME_PMRMSC_' },
  NVME_PMRMSC_: {
    theirs: 'NVME_PMRMSC_',
    ours: 'PMRMSCL_',
    as: 'word',
    pairs: { CBA_MASK: '(PMRMSCU_CBA_MASK * 4294967296ULL + PMRMSCL_CBA_MASK) >> PMRMSCL_CBA_SHIFT' },
  },
}
