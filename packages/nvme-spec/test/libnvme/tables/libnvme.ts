// Maps each enumeration and structure of nvme/types.h in libnvme 1.3 to nvme_spec.h.
import type { Numbers, Structs, Table } from '../table.js'
import { commands } from './commands.js'
import { features } from './features.js'
import { identify, identifyStructs } from './identify.js'
import { io, ioStructs } from './io.js'
import { logs, logStructs } from './logs.js'
import { registers } from './registers.js'
import { status } from './status.js'

const FABRICS = 'NVMe over Fabrics, which fabrics.test.ts compares'
const MANAGEMENT = 'messages of NVMe-MI, which nvme-spec does not declare'

const numbersNotOurs: Readonly<Record<string, Numbers | string>> = {
  nvme_constants:
    'lengths, which are compared as sizes of structures and members; and identifiers that mean none or all',
  nvme_subsys_type: FABRICS,
  nvmf_disc_eflags: FABRICS,
  nvmf_trtype: FABRICS,
  nvmf_addr_family: FABRICS,
  nvmf_treq: FABRICS,
  nvmf_rdma_qptype: FABRICS,
  nvmf_rdma_prtype: FABRICS,
  nvmf_rdma_cms: FABRICS,
  nvmf_tcp_sectype: FABRICS,
  nvmf_log_discovery_lid_support: FABRICS,
  nvmf_log_discovery_lsp: FABRICS,
  nvmf_dim_tas: FABRICS,
  nvmf_dim_entfmt: FABRICS,
  nvmf_dim_etype: FABRICS,
  nvmf_exattype: FABRICS,
  nvme_fctype: FABRICS,
  nvme_mi_ccs: MANAGEMENT,
  nvme_mi_csts: MANAGEMENT,
  nvme_mi_cwarn: MANAGEMENT,
  nvme_mi_elem: MANAGEMENT,
}

const structsNotOurs: Readonly<Record<string, Structs>> = {
  nvmf_disc_log_entry: FABRICS,
  nvmf_discovery_log: FABRICS,
  nvmf_ext_attr: FABRICS,
  nvmf_ext_die: FABRICS,
  nvmf_dim_data: FABRICS,
  nvmf_connect_data: FABRICS,
  nvme_mi_read_nvm_ss_info: MANAGEMENT,
  nvme_mi_port_pcie: MANAGEMENT,
  nvme_mi_port_smb: MANAGEMENT,
  nvme_mi_read_port_info: MANAGEMENT,
  nvme_mi_read_ctrl_info: MANAGEMENT,
  nvme_mi_osc: MANAGEMENT,
  nvme_mi_read_sc_list: MANAGEMENT,
  nvme_mi_nvm_ss_health_status: MANAGEMENT,
  nvme_mi_ctrl_health_status: MANAGEMENT,
  nvme_mi_vpd_mra: MANAGEMENT,
  nvme_mi_vpd_ppmra: MANAGEMENT,
  nvme_mi_vpd_telem: MANAGEMENT,
  nvme_mi_vpd_tra: MANAGEMENT,
  nvme_mi_vpd_mr_common: MANAGEMENT,
  nvme_mi_vpd_hdr: MANAGEMENT,
}

export const LIBNVME: Table = {
  numbers: { ...registers, ...identify, ...logs, ...commands, ...features, ...io, ...status, ...numbersNotOurs },
  structs: { ...identifyStructs, ...logStructs, ...ioStructs, ...structsNotOurs },
}
