// Maps the numbers of linux/pci_regs.h in Linux 6.1 to nvme_spec.h, for the configuration space of NVMe controllers.
import type { Numbers, Table } from '../table.js'

const HEADER = 'PCI_HEADER_'
const PM = 'POWER_MANAGEMENT_CAPABILITY_'
const EXPRESS = 'PCI_EXPRESS_CAPABILITY_'
const AER = 'ADVANCED_ERROR_REPORTING_'
const ACS = 'ACCESS_CONTROL_SERVICES_'

const CAPABILITIES = ['pci_capability', 'power_management_capability', 'msix_capability', 'pci_express_capability']

const OTHERS =
  'a number of bridges, slots, root ports and other functions, or of capabilities that nvme-spec does not declare'
const ENCODED = 'a shifted value of a field that is declared without named values'

const masks = (theirs: string, ours: string, rest: Partial<Numbers> = {}): Numbers => ({
  ...{ theirs, ours, as: 'mask' },
  ...rest,
})

/** Returns the offsets of the members of a structure, by name without prefix. */
const at = (struct: string, members: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(members).map(([theirs, member]) => [theirs, `AT(${struct}, ${member})`]))

const speeds = { '2_5': '2_5', '5_0': '5', '8_0': '8', '16_0': '16', '32_0': '32', '64_0': '64' }
const linkSpeeds = (theirs: string, unit: string, ours: string) =>
  Object.fromEntries(Object.entries(speeds).map(([speed, gt]) => [`${theirs}_${speed}${unit}`, `${ours}_GT_${gt}`]))

export const PCI: Table = {
  numbers: {
    // Offsets in the header.
    PCI_: {
      theirs: 'PCI_',
      ours: '',
      as: 'number',
      pairs: {
        ...at('pci_header', {
          VENDOR_ID: 'vid',
          DEVICE_ID: 'did',
          COMMAND: 'cmd',
          STATUS: 'sts',
          CLASS_REVISION: 'rid',
          REVISION_ID: 'rid',
          CLASS_PROG: 'pi',
          CLASS_DEVICE: 'scc',
          CACHE_LINE_SIZE: 'cls',
          LATENCY_TIMER: 'mlt',
          HEADER_TYPE: 'htype',
          BIST: 'bist',
          BASE_ADDRESS_0: 'bar',
          CARDBUS_CIS: 'ccptr',
          SUBSYSTEM_VENDOR_ID: 'ssvid',
          SUBSYSTEM_ID: 'ssid',
          ROM_ADDRESS: 'erom',
          CAPABILITY_LIST: 'cap',
          INTERRUPT_LINE: 'iline',
          INTERRUPT_PIN: 'ipin',
          MIN_GNT: 'mgnt',
          MAX_LAT: 'mlat',
        }),
        STD_HEADER_SIZEOF: 'SIZE(pci_header)',
        STD_NUM_BARS: 'BITS(pci_header, bar) / 32',
        BASE_ADDRESS_1: 'AT(pci_header, bar) + 4',
        BASE_ADDRESS_2: 'AT(pci_header, bar) + 8',
        BASE_ADDRESS_3: 'AT(pci_header, bar) + 12',
        BASE_ADDRESS_4: 'AT(pci_header, bar) + 16',
        BASE_ADDRESS_5: 'AT(pci_header, bar) + 20',
      },
      absent: { [OTHERS]: ['*'] },
    },
    PCI_COMMAND_: masks('PCI_COMMAND_', `${HEADER}CMD_`, {
      names: {
        IO: 'IOSE',
        MEMORY: 'MSE',
        MASTER: 'BME',
        SPECIAL: 'SCE',
        INVALIDATE: 'MWIE',
        VGA_PALETTE: 'VGA',
        PARITY: 'PEE',
        WAIT: 'ISWCC',
        SERR: 'SEE',
        FAST_BACK: 'FBE',
        INTX_DISABLE: 'ID',
      },
    }),
    PCI_STATUS_: masks('PCI_STATUS_', `${HEADER}STS_`, {
      names: {
        IMM_READY: 'IR',
        INTERRUPT: 'IS',
        CAP_LIST: 'CL',
        '66MHZ': 'C66',
        FAST_BACK: 'FBC',
        PARITY: 'DPD',
        DEVSEL_MASK: 'DEVT',
        SIG_TARGET_ABORT: 'STA',
        REC_TARGET_ABORT: 'RTA',
        REC_MASTER_ABORT: 'RMA',
        SIG_SYSTEM_ERROR: 'SSE',
        DETECTED_PARITY: 'DPE',
      },
      absent: { [ENCODED]: ['DEVSEL_*'], 'removed from PCI 2.2 on': ['UDF'] },
    }),
    PCI_HEADER_TYPE_: masks('PCI_HEADER_TYPE_', `${HEADER}HTYPE_`, {
      names: { MASK: 'HL' },
      absent: { [ENCODED]: ['NORMAL', 'BRIDGE', 'CARDBUS'] },
    }),
    PCI_BIST_: masks('PCI_BIST_', `${HEADER}BIST_`, { names: { CODE_MASK: 'CC', START: 'SB', CAPABLE: 'BC' } }),
    PCI_BASE_ADDRESS_SPACE: masks('PCI_BASE_ADDRESS_', `${HEADER}BAR_`, {
      names: { SPACE: 'RTE', SPACE_IO: 'RTE' },
      absent: { [ENCODED]: ['SPACE_MEMORY'] },
    }),
    PCI_BASE_ADDRESS_MEM_: masks('PCI_BASE_ADDRESS_MEM_', `${HEADER}BAR_`, {
      names: { TYPE_MASK: 'TP', PREFETCH: 'PF', MASK: 'BA' },
      absent: { [ENCODED]: ['TYPE_*'] },
    }),
    PCI_CAP_LIST_: {
      theirs: 'PCI_CAP_LIST_',
      ours: '',
      as: 'number',
      // Every capability begins with these two.
      pairs: {
        ID: CAPABILITIES.map((struct) => `AT(${struct}, cid)`),
        NEXT: CAPABILITIES.map((struct) => `AT(${struct}, next)`),
      },
    },
    PCI_CAP_ID_: {
      theirs: 'PCI_CAP_ID_',
      ours: 'PCI_CAPABILITY_',
      as: 'number',
      names: {
        PM: 'POWER_MANAGEMENT',
        VPD: 'VITAL_PRODUCT_DATA',
        VNDR: 'VENDOR_SPECIFIC',
        EXP: 'PCI_EXPRESS',
        MSIX: 'MSI_X',
        EA: 'ENHANCED_ALLOCATION',
      },
      absent: {
        [OTHERS]: ['AGP*', 'SLOTID', 'CHSWP', 'PCIX', 'HT', 'DBG', 'CCRC', 'SHPC', 'SSVID', 'SECDEV', 'SATA', 'AF'],
        'the maximum of the others': ['MAX'],
      },
    },
    PCI_PM_: masks('PCI_PM_', PM, {
      names: {
        CAP_VER_MASK: 'PC_VS',
        CAP_PME_CLOCK: 'PC_PMEC',
        CAP_DSI: 'PC_DSI',
        CAP_AUX_POWER: 'PC_AUXC',
        CAP_D1: 'PC_D1S',
        CAP_D2: 'PC_D2S',
        CAP_PME_MASK: 'PC_PSUP',
        CTRL_STATE_MASK: 'PMCS_PS',
        CTRL_NO_SOFT_RESET: 'PMCS_NSFRST',
        CTRL_PME_ENABLE: 'PMCS_PMEE',
        CTRL_DATA_SEL_MASK: 'PMCS_DSE',
        CTRL_DATA_SCALE_MASK: 'PMCS_DSC',
        CTRL_PME_STATUS: 'PMCS_PMES',
      },
      pairs: {
        ...at('power_management_capability', { PMC: 'pc', CTRL: 'pmcs' }),
        SIZEOF: 'SIZE(power_management_capability)',
        CAP_PME_SHIFT: `${PM}PC_PSUP_SHIFT`,
      },
      absent: {
        [ENCODED]: ['CAP_PME', 'CAP_PME_D*'],
        'reserved, or used by bridges': ['CAP_RESERVED', 'PPB_*', 'BPCC_*'],
        'the last bytes, which NVMe does not use': ['DATA_REGISTER'],
      },
    }),
    PCI_MSIX_: masks('PCI_MSIX_', 'MSIX_CAPABILITY_', {
      names: {
        FLAGS_QSIZE: 'MXC_TS',
        FLAGS_MASKALL: 'MXC_FM',
        FLAGS_ENABLE: 'MXC_MXE',
        TABLE_BIR: 'MTAB_TBIR',
        TABLE_OFFSET: 'MTAB_TO',
        PBA_BIR: 'MPBA_PBIR',
        PBA_OFFSET: 'MPBA_PBAO',
        FLAGS_BIRMASK: 'MPBA_PBIR',
      },
      pairs: {
        ...at('msix_capability', { FLAGS: 'mxc', TABLE: 'mtab', PBA: 'mpba' }),
        ...at('msix_table_entry', {
          ENTRY_LOWER_ADDR: 'lower_addr',
          ENTRY_UPPER_ADDR: 'upper_addr',
          ENTRY_DATA: 'data',
          ENTRY_VECTOR_CTRL: 'vector_ctrl',
        }),
        ENTRY_SIZE: 'SIZE(msix_table_entry)',
        ENTRY_CTRL_MASKBIT: 'MSIX_TABLE_ENTRY_VECTOR_CTRL_MASKBIT_MASK',
      },
    }),
    PCI_CAP_MSIX_SIZEOF: {
      theirs: 'PCI_CAP_MSIX_',
      ours: '',
      as: 'number',
      pairs: { SIZEOF: 'SIZE(msix_capability)' },
    },
    // Offsets in the PCI Express capability.
    PCI_EXP_: {
      theirs: 'PCI_EXP_',
      ours: '',
      as: 'number',
      pairs: at('pci_express_capability', {
        FLAGS: 'pxcap',
        DEVCAP: 'pxdcap',
        DEVCTL: 'pxdc',
        DEVSTA: 'pxds',
        LNKCAP: 'pxlcap',
        LNKCTL: 'pxlc',
        LNKSTA: 'pxls',
        DEVCAP2: 'pxdcap2',
        DEVCTL2: 'pxdc2',
        DEVSTA2: 'pxds2',
        LNKCAP2: 'pxlcap2',
        LNKCTL2: 'pxlc2',
        LNKSTA2: 'pxls2',
      }),
      absent: { [OTHERS]: ['SLT*', 'RT*', 'DPC_*'] },
    },
    PCI_EXP_FLAGS_: masks('PCI_EXP_FLAGS_', `${EXPRESS}PXCAP_`, {
      names: { VERS: 'VER', TYPE: 'DPT', SLOT: 'SI', IRQ: 'IMN' },
    }),
    PCI_EXP_TYPE_: {
      theirs: 'PCI_EXP_TYPE_',
      ours: `${EXPRESS}PXCAP_DPT_`,
      as: 'number',
      names: { LEG_END: 'LEGACY_ENDPOINT', RC_END: 'RC_ENDPOINT', RC_EC: 'RC_EVENT_COLLECTOR' },
    },
    PCI_EXP_DEVCAP_: masks('PCI_EXP_DEVCAP_', `${EXPRESS}PXDCAP_`, {
      names: {
        PAYLOAD: 'MPS',
        PHANTOM: 'PFS',
        EXT_TAG: 'ETFS',
        L0S: 'L0SL',
        L1: 'L1L',
        RBER: 'RER',
        PWR_VAL: 'CSPLV',
        PWR_SCL: 'CSPLS',
        FLR: 'FLRC',
      },
      absent: { 'defined by PCI Express 1.0 only': ['ATN_*', 'PWR_IND'] },
    }),
    PCI_EXP_DEVCTL_: masks('PCI_EXP_DEVCTL_', `${EXPRESS}PXDC_`, {
      names: {
        RELAX_EN: 'ERO',
        PAYLOAD: 'MPS',
        EXT_TAG: 'ETE',
        PHANTOM: 'PFE',
        AUX_PME: 'APPME',
        NOSNOOP_EN: 'ENS',
        READRQ: 'MRRS',
        BCR_FLR: 'IFLR',
      },
      absent: { [ENCODED]: ['PAYLOAD_*', 'READRQ_*'] },
    }),
    PCI_EXP_DEVSTA_: masks('PCI_EXP_DEVSTA_', `${EXPRESS}PXDS_`, { names: { AUXPD: 'APD', TRPND: 'TP' } }),
    PCI_EXP_LNKCAP_: masks('PCI_EXP_LNKCAP_', `${EXPRESS}PXLCAP_`, {
      names: { CLKPM: 'CPM', DLLLARC: 'DLLA' },
      pairs: linkSpeeds('SLS', 'GB', `${EXPRESS}PXLCAP_SLS`),
      absent: { [ENCODED]: ['ASPM_*'] },
    }),
    PCI_EXP_LNKCTL_: masks('PCI_EXP_LNKCTL_', `${EXPRESS}PXLC_`, {
      names: { CLKREQ_EN: 'ECPM' },
      absent: { [ENCODED]: ['ASPM_*'] },
    }),
    PCI_EXP_LNKSTA_: masks('PCI_EXP_LNKSTA_', `${EXPRESS}PXLS_`, {
      names: { SLC: 'SCC' },
      pairs: { ...linkSpeeds('CLS', 'GB', `${EXPRESS}PXLS_CLS`), NLW_SHIFT: `${EXPRESS}PXLS_NLW_SHIFT` },
      absent: { [ENCODED]: ['NLW_X*'] },
    }),
    PCI_EXP_DEVCAP2_: masks('PCI_EXP_DEVCAP2_', `${EXPRESS}PXDCAP2_`, {
      names: {
        COMP_TMOUT_DIS: 'CTDS',
        ARI: 'ARIFS',
        ATOMIC_ROUTE: 'AORS',
        ATOMIC_COMP32: 'AOCS32',
        ATOMIC_COMP64: 'AOCS64',
        ATOMIC_COMP128: 'CCS128',
        LTR: 'LTRS',
        OBFF_MASK: 'OBFFS',
        EE_PREFIX: 'EETPS',
      },
      absent: { [ENCODED]: ['OBFF_MSG', 'OBFF_WAKE'] },
    }),
    PCI_EXP_DEVCTL2_: masks('PCI_EXP_DEVCTL2_', `${EXPRESS}PXDC2_`, {
      names: { COMP_TIMEOUT: 'CTV', COMP_TMOUT_DIS: 'CTD', LTR_EN: 'LTRME', OBFF_WAKE_EN: 'OBFFE' },
      absent: { [ENCODED]: ['OBFF_MSG*'] },
    }),
    PCI_EXP_LNKCAP2_: masks('PCI_EXP_LNKCAP2_', `${EXPRESS}PXLCAP2_`),
    PCI_EXP_LNKCTL2_: masks('PCI_EXP_LNKCTL2_', `${EXPRESS}PXLC2_`, {
      pairs: linkSpeeds('TLS', 'GT', `${EXPRESS}PXLC2_TLS`),
    }),
    PCI_EXT_CAP_ID_: {
      theirs: 'PCI_EXT_CAP_ID_',
      ours: 'PCI_EXTENDED_CAPABILITY_',
      as: 'number',
      names: {
        ERR: 'ADVANCED_ERROR_REPORTING',
        VC: 'VIRTUAL_CHANNEL',
        DSN: 'DEVICE_SERIAL_NUMBER',
        PWR: 'POWER_BUDGETING',
        VNDR: 'VENDOR_SPECIFIC',
        ACS: 'ACCESS_CONTROL_SERVICES',
        ARI: 'ALTERNATIVE_ROUTING_ID',
        ATS: 'ADDRESS_TRANSLATION_SERVICES',
        SRIOV: 'SINGLE_ROOT_IO_VIRTUALIZATION',
        REBAR: 'RESIZABLE_BAR',
        DPA: 'DYNAMIC_POWER_ALLOCATION',
        LTR: 'LATENCY_TOLERANCE_REPORTING',
        SECPCI: 'SECONDARY_PCI_EXPRESS',
        L1SS: 'L1_PM_SUBSTATES',
        PTM: 'PRECISION_TIME_MEASUREMENT',
        DVSEC: 'DESIGNATED_VENDOR_SPECIFIC',
        DLF: 'DATA_LINK_FEATURE',
        PL_16GT: 'PHYSICAL_LAYER_16_GT',
        DPC: 'DOWNSTREAM_PORT_CONTAINMENT',
        DOE: 'DATA_OBJECT_EXCHANGE',
      },
      absent: {
        [OTHERS]: ['RC*', 'MFVC', 'VC9', 'CAC', 'MRIOV', 'MCAST', 'PRI', 'AMD_XXX', 'TPH', 'PMUX', 'PASID'],
        'the maximum of the others': ['MAX'],
      },
    },
    PCI_ERR_: {
      theirs: 'PCI_ERR_',
      ours: '',
      as: 'number',
      pairs: at('advanced_error_reporting', {
        UNCOR_STATUS: 'aeruces',
        UNCOR_MASK: 'aerucem',
        UNCOR_SEVER: 'aerucesv',
        CAP: 'aercc',
        HEADER_LOG: 'aerhl',
      }),
      absent: { [OTHERS]: ['ROOT_*'] },
    },
    // Bits of the status, mask and severity registers.
    PCI_ERR_UNC_: masks('PCI_ERR_UNC_', AER, {
      names: {
        DLP: 'AERUCES_DLPES AERUCEM_DLPEM AERUCESV_DLPESEV',
        POISON_TLP: 'AERUCES_PTS AERUCEM_PTM AERUCESV_PTSEV',
        FCP: 'AERUCES_FCPES AERUCEM_FCPEM AERUCESV_FCPESEV',
        COMP_TIME: 'AERUCES_CTS AERUCEM_CTM AERUCESV_CTSEV',
        COMP_ABORT: 'AERUCES_CAS AERUCEM_CAM AERUCESV_CASEV',
        UNX_COMP: 'AERUCES_UCS AERUCEM_UCM AERUCESV_UCSEV',
        RX_OVER: 'AERUCES_ROS AERUCEM_ROM AERUCESV_ROSEV',
        MALF_TLP: 'AERUCES_MTS AERUCEM_MTM AERUCESV_MTSV',
        ECRC: 'AERUCES_ECRCES AERUCEM_ECRCM AERUCESV_ECRCSEV',
        UNSUP: 'AERUCES_URES AERUCEM_UREM AERUCESV_URESEV',
        ACSV: 'AERUCES_ACSSVS AERUCEM_ACVM AERUCESV_ACSVSEV',
        INTN: 'AERUCES_UIES AERUCEM_UIEM AERUCESV_UIESEV',
        MCBTLP: 'AERUCES_MCBTS AERUCEM_MCBTM AERUCESV_MCBTSEV',
        ATOMEG: 'AERUCES_AOEBS AERUCEM_AOEBM AERUCESV_AOEBSEV',
        TLPPRE: 'AERUCES_TPBES AERUCEM_TPBEM AERUCESV_TPBESEV',
      },
      absent: { 'undefined, or used by ports': ['UND', 'SURPDN'] },
    }),
    PCI_ERR_COR_: masks('PCI_ERR_COR_', AER, {
      names: {
        RCVR: 'AERCES_RES AERCEM_REM',
        BAD_TLP: 'AERCES_BTS AERCEM_BTM',
        BAD_DLLP: 'AERCES_BDS AERCEM_BDM',
        REP_ROLL: 'AERCES_RRS AERCEM_RRM',
        REP_TIMER: 'AERCES_RTS AERCEM_RTM',
        ADV_NFAT: 'AERCES_ANFES AERCEM_ANFEM',
        INTERNAL: 'AERCES_CIES AERCEM_CIEM',
        LOG_OVER: 'AERCES_HLOS AERCEM_HLOM',
      },
      pairs: at('advanced_error_reporting', { STATUS: 'aerces', MASK: 'aercem' }),
    }),
    PCI_ERR_CAP_: masks('PCI_ERR_CAP_', `${AER}AERCC_`, {
      names: { ECRC_GENC: 'EGC', ECRC_GENE: 'EGE', ECRC_CHKC: 'ECC', ECRC_CHKE: 'ECE' },
    }),
    PCI_ACS_: masks('PCI_ACS_', `${ACS}ACSCTL_`, {
      pairs: {
        ...at('access_control_services', { CAP: 'acscap', CTRL: 'acsctl' }),
        ...Object.fromEntries(
          ['SV', 'TB', 'RR', 'CR', 'UF', 'EC', 'DT'].map((name) => [
            name,
            [`${ACS}ACSCAP_${name}_MASK`, `${ACS}ACSCTL_${name}_MASK`],
          ]),
        ),
      },
      absent: { 'a vector of reachable ports that no gpunvme driver reads': ['EGRESS_*'] },
    }),
    PCI_ATS_: masks('PCI_ATS_', 'ADDRESS_TRANSLATION_SERVICES_ATSCTL_', {
      names: { CTRL_ENABLE: 'ENABLE' },
      pairs: at('address_translation_services', { CTRL: 'atsctl' }),
      absent: { 'parameters of requests from the function to the IOMMU': ['CAP*', 'MAX_QDEP', 'MIN_STU'] },
    }),
    PCI_REBAR_CTRL_: masks('PCI_REBAR_CTRL_', 'RESIZABLE_BAR_ENTRY_REBARCTL_', {
      names: { NBAR_MASK: 'NBAR' },
      pairs: {
        NBAR_SHIFT: 'RESIZABLE_BAR_ENTRY_REBARCTL_NBAR_SHIFT',
        BAR_SHIFT: 'RESIZABLE_BAR_ENTRY_REBARCTL_BAR_SIZE_SHIFT',
      },
    }),
    // Only these of the other registers.
    PCI_EXP_DPC_CTL: {
      theirs: 'PCI_EXP_DPC_',
      ours: '',
      as: 'number',
      pairs: at('downstream_port_containment', { CTL: 'dpcctl' }),
    },
    PCI_EXP_DPC_CTL_: masks('PCI_EXP_DPC_CTL_', 'DOWNSTREAM_PORT_CONTAINMENT_DPCCTL_', {
      absent: { 'whether it signals an interrupt': ['INT_EN'] },
    }),
    PCI_EXP_DPC_STATUS: masks('PCI_EXP_DPC_STATUS', 'DOWNSTREAM_PORT_CONTAINMENT_DPCSTS', {
      pairs: { '': 'AT(downstream_port_containment, dpcsts)' },
      absent: { 'the reason of the trigger, and whether an interrupt is pending': ['_TRIGGER_RSN*', '_INTERRUPT'] },
    }),
  },
  structs: {},
}

/** Items of nvme_spec.h without a number in linux/pci_regs.h. */
export const NOT_IN_LINUX: Readonly<Record<string, readonly string[]>> = {
  'Linux reads it through a macro with an argument (PCI_EXT_CAP_ID, PCI_EXT_CAP_VER, PCI_EXT_CAP_NEXT, PCI_ERR_CAP_FEP)':
    [
      'ADVANCED_ERROR_REPORTING_AERCC_FEP',
      'ADVANCED_ERROR_REPORTING_AERID_CID',
      'ADVANCED_ERROR_REPORTING_AERID_CVER',
      'ADVANCED_ERROR_REPORTING_AERID_NEXT',
      'PCI_EXTENDED_CAPABILITY_HEADER_CID',
      'PCI_EXTENDED_CAPABILITY_HEADER_CVER',
      'PCI_EXTENDED_CAPABILITY_HEADER_NEXT',
    ],
  'Linux declares them in another header (PCI_D0 to PCI_D3hot of the kernel’s own linux/pci.h)': [
    'POWER_MANAGEMENT_CAPABILITY_PMCS_PS_D0',
    'POWER_MANAGEMENT_CAPABILITY_PMCS_PS_D1',
    'POWER_MANAGEMENT_CAPABILITY_PMCS_PS_D2',
    'POWER_MANAGEMENT_CAPABILITY_PMCS_PS_D3HOT',
  ],
  'Linux 6.1 has no number for it': [
    'ADVANCED_ERROR_REPORTING_AERCC_MHRC',
    'ADVANCED_ERROR_REPORTING_AERCC_MHRE',
    'ADVANCED_ERROR_REPORTING_AERCC_TPLP',
    'PCI_EXPRESS_CAPABILITY_PXDCAP2_CTRS',
    'PCI_EXPRESS_CAPABILITY_PXDCAP2_EFFS',
    'PCI_EXPRESS_CAPABILITY_PXDCAP2_MEETP',
    'PCI_EXPRESS_CAPABILITY_PXDCAP2_NPRPR',
    'PCI_EXPRESS_CAPABILITY_PXDCAP2_TPHCS',
    'PCI_EXPRESS_CAPABILITY_PXLCAP_AOC',
    'PCI_HEADER_HTYPE_MFD',
    'advanced_error_reporting.aertlp',
  ],
  'Linux 6.1 has the sizes up to 512 GiB, later releases up to 128 TiB': ['RESIZABLE_BAR_ENTRY_REBARCAP_SIZES'],
  'an offset that Linux counts from elsewhere, or has no number for': [
    'resizable_bar_entry.rebarcap',
    'resizable_bar_entry.rebarctl',
  ],
  'bytes 0Bh:0Ah are one word in Linux, PCI_CLASS_DEVICE': ['pci_header.bcc'],
  'a size or the offset 0, for which Linux has no number': [
    'access_control_services',
    'address_translation_services',
    'downstream_port_containment',
    'resizable_bar_entry',
    'advanced_error_reporting',
    'advanced_error_reporting.aerid',
    'pci_capability',
    'pci_express_capability',
    'pci_extended_capability',
    'pci_extended_capability.header',
  ],
}
