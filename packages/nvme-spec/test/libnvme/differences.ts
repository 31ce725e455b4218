import type { Difference } from './table.js'

/**
 * Differences between libnvme 1.3 and nvme_spec.h, by fact. A third source confirms one of the values: the text of the
 * specification if it was available, or another header.
 */
export const LIBNVME_DIFFERENCES: Readonly<Record<string, Difference>> = {
  NVME_BPRSEL_BPROF_MASK: {
    theirs: 0xfff,
    ours: 0xf_ffff,
    why: 'BPROF is bits 29:10, 20 bits (Base 2.1 §3.1.4.14, Figure 50)',
  },
  NVME_CTRL_FRMW_NR_SLOTS: {
    theirs: 0x06,
    ours: 0x0e,
    why: 'NOFS is bits 3:1, for up to seven slots; nvme-cli 2.3 prints it as (frmw & 0xe) >> 1',
  },
  NVME_NS_FEAT_IO_OPT: {
    theirs: 0x10,
    ours: 0x30,
    why: 'OPTPERF grew from bit 4 to bits 5:4 (NVM 1.2 §4.1.5.1), after libnvme 1.3',
  },
  NVME_ERR_PEL_BYTE_MASK: {
    theirs: 0x0f,
    ours: 0xff,
    why: 'the byte is bits 7:0 of Parameter Error Location: four bits could not name each of the 64 bytes of a command',
  },
  NVME_ERR_PEL_BIT_MASK: {
    theirs: 0x70,
    ours: 0x700,
    why: 'the bit is bits 10:8 of Parameter Error Location, after a byte for the byte',
  },
  NVME_CMD_EFFECTS_CSE_MASK: {
    theirs: 0x3_0000,
    ours: 0x7_0000,
    why: 'CSE is bits 18:16 (Linux 6.1 linux/nvme.h NVME_CMD_EFFECTS_CSE_MASK)',
  },
  NVME_FEAT_RRL_RRL_MASK: {
    theirs: 0xff,
    ours: 0x0f,
    why: 'RRL is bits 3:0 (Base 2.1 §5.1.25.1.11, Figure 401)',
  },
  NVME_FEAT_IOCSP_IOCSCI_MASK: {
    theirs: 0xff,
    ours: 0x1ff,
    why: 'IOCSCI is bits 8:0, an index of 512 combinations (Base 2.1 §5.1.25.1.17, Figure 410)',
  },
  NVME_FEAT_FDP_INDEX_MASK: {
    theirs: 0x0f,
    ours: 0xff,
    why: 'the index is a byte in SPDK, too (spdk/nvme_spec.h spdk_nvme_feat_fdp_cdw12); the text was not found',
  },
  'offsetof nvme_id_ns.vs': {
    theirs: 392,
    ours: 384,
    why: 'there is no LBSTM before it: NVM 1.2 §4.1.5.1, and Linux 6.1 linux/nvme.h nvme_id_ns with 3712 bytes of vs',
  },
  'sizeof nvme_id_ns.vs': {
    theirs: 3704,
    ours: 3712,
    why: 'there is no LBSTM before it: NVM 1.2 §4.1.5.1, and Linux 6.1 linux/nvme.h nvme_id_ns',
  },
  'sizeof nvme_id_ns_granularity_list.entry': {
    theirs: 256,
    ours: 1024,
    why: 'up to 64 descriptors, one for each LBA format, since there are 64 of these (NVM 1.2 §4.1.5.8)',
  },
  'sizeof nvme_format_nvm_compln_event.status_field': {
    theirs: 4,
    ours: 2,
    why: 'INFO is bytes 9:8, and bytes 11:10 are reserved (Base 2.1 §5.1.12.1.14.2.8, Figure 242)',
  },
  'sizeof(struct nvme_fdp_event_realloc)': {
    theirs: 24,
    ours: 16,
    why: 'not packed there, so that C aligns LBA: the structure is 16 bytes (NVM 1.2 §4.1.4.7.1.1, Figure 112)',
  },
  'offsetof nvme_fdp_event_realloc.lba': {
    theirs: 8,
    ours: 4,
    why: 'not packed there, so that C aligns LBA: it is bytes 11:4 (NVM 1.2 §4.1.4.7.1.1, Figure 112)',
  },
  'sizeof nvme_fdp_event.ruhid': {
    theirs: 1,
    ours: 2,
    why: 'RUHID is bytes 35:34 (Base 2.1 §5.1.12.1.31, Figure 289)',
  },
  ...swappedTags('nvme_copy_range', 28, 'Figure 39'),
  ...swappedTags('nvme_copy_range_f1', 36, 'Figure 40'),
}

function swappedTags(struct: string, elbat: number, figure: string): Record<string, Difference> {
  const why = `ELBAT comes before ELBATM (NVM 1.2 §3.3.2, ${figure}), as in Command Dword 15 of a Read`
  return {
    [`offsetof ${struct}.elbat`]: { theirs: elbat + 2, ours: elbat, why },
    [`offsetof ${struct}.elbatm`]: { theirs: elbat, ours: elbat + 2, why },
  }
}

/** Differences between the header of the Linux 6.1 kernel and nvme_spec.h. */
export const LINUX_DIFFERENCES: Readonly<Record<string, Difference>> = {
  NVME_NS_FEAT_IO_OPT: {
    theirs: 0x10,
    ours: 0x30,
    why: 'OPTPERF grew from bit 4 to bits 5:4 (NVM 1.2 §4.1.5.1), after Linux 6.1',
  },
  NVME_SC_INVALID_IO_CMD_SET: {
    theirs: 0x2c,
    ours: 0x12c,
    why: 'the code is command specific (Base 2.1 §4.2.3.2), as in libnvme 1.3; Linux lists it among the generic ones',
  },
}
