/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The NVMe wire format for C11, C++17, CUDA and Linux kernel modules.
 * Generated from the declarations in packages/nvme-spec/src; edit those, then run: pnpm gen
 *
 * Names are derived from the exports of @gpunvme/nvme-spec: CreateIoSq is GPUNVME_CREATE_IO_SQ, IdentifyController is
 * struct gpunvme_identify_controller.
 *
 * Bits: X_SHIFT is the position of the lowest bit. X_MASK is a mask in position, as of GENMASK(), for Linux's
 * FIELD_PREP() and FIELD_GET(). Named values are not shifted. Bits of a register are numbered in that register; bits of
 * a structure in the member that holds them, or in the little-endian integer that a member of bytes represents; bits of
 * a command in dword X_DWORD of its entry, for example cdw10 of struct gpunvme_sqe for 10. A field of more than one
 * dword has X_BITS instead, and its low dword is X_DWORD.
 *
 * Structures have C's natural alignment, without bit-fields or packing: fields that the specification does not align,
 * and reserved ranges, are arrays of bytes. Members named bits_N hold rows that share bytes. An entry of a list may be
 * at an unaligned address: copy it first. Text ends with its array and is not null-terminated.
 */
#ifndef GPUNVME_NVME_SPEC_H
#define GPUNVME_NVME_SPEC_H

#ifdef __KERNEL__
#include <linux/stddef.h>
#include <linux/types.h>
#else
#include <stddef.h>
#include <stdint.h>
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "gpunvme/nvme_spec.h accesses device memory without byte swapping: it supports only little-endian processors"
#endif

#if defined(__cplusplus)
#define GPUNVME_ALIGNED(n) alignas(n)
#define GPUNVME_ASSERT(condition, text) static_assert(condition, text)
#else
#define GPUNVME_ALIGNED(n) _Alignas(n)
#define GPUNVME_ASSERT(condition, text) _Static_assert(condition, text)
#endif
#define GPUNVME_ASSERT_SIZE(type, bytes) GPUNVME_ASSERT(sizeof(type) == (bytes), #type " is not " #bytes " bytes")
#define GPUNVME_ASSERT_OFFSET(type, member, bytes) \
	GPUNVME_ASSERT(offsetof(type, member) == (bytes), #member " of " #type " is not at byte " #bytes)

/* The bits of a field, given by its name without _MASK: GPUNVME_FIELD_PREP(GPUNVME_CC_MPS, 0) */
#define GPUNVME_FIELD_PREP(field, value) (((((field##_MASK) & 0) | (value)) << (field##_SHIFT)) & (field##_MASK))
/* The value of a field in a word: GPUNVME_FIELD_GET(GPUNVME_CSTS_SHST, csts) */
#define GPUNVME_FIELD_GET(field, word) (((word) & (field##_MASK)) >> (field##_SHIFT))

/* CAP: Controller Capabilities (ro, 64 bits; Base 2.1 §3.1.4.1) */
#define GPUNVME_REG_CAP 0x0u
#define GPUNVME_CAP_MQES_SHIFT 0 /* Maximum Queue Entries Supported, 0's based */
#define GPUNVME_CAP_MQES_MASK 0xffffULL
#define GPUNVME_CAP_CQR_SHIFT 16 /* Contiguous Queues Required */
#define GPUNVME_CAP_CQR_MASK 0x10000ULL
#define GPUNVME_CAP_AMS_WRRUPC_SHIFT 17 /* Arbitration: Weighted Round Robin with Urgent Priority Class */
#define GPUNVME_CAP_AMS_WRRUPC_MASK 0x20000ULL
#define GPUNVME_CAP_AMS_VS_SHIFT 18 /* Arbitration: Vendor Specific */
#define GPUNVME_CAP_AMS_VS_MASK 0x40000ULL
#define GPUNVME_CAP_TO_SHIFT 24 /* Timeout for CSTS.RDY to follow CC.EN, in 500 ms units */
#define GPUNVME_CAP_TO_MASK 0xff000000ULL
#define GPUNVME_CAP_DSTRD_SHIFT 32 /* Doorbell Stride: 2 ^ (2 + DSTRD) bytes */
#define GPUNVME_CAP_DSTRD_MASK 0xf00000000ULL
#define GPUNVME_CAP_NSSRS_SHIFT 36 /* NVM Subsystem Reset Supported */
#define GPUNVME_CAP_NSSRS_MASK 0x1000000000ULL
#define GPUNVME_CAP_CSS_NCSS_SHIFT 37 /* NVM Command Set Support */
#define GPUNVME_CAP_CSS_NCSS_MASK 0x2000000000ULL
#define GPUNVME_CAP_CSS_IOCSS_SHIFT 43 /* I/O Command Set Support: Identify I/O Command Set supported */
#define GPUNVME_CAP_CSS_IOCSS_MASK 0x80000000000ULL
#define GPUNVME_CAP_CSS_NOIOCSS_SHIFT 44 /* No I/O Command Set Support: Admin commands only */
#define GPUNVME_CAP_CSS_NOIOCSS_MASK 0x100000000000ULL
#define GPUNVME_CAP_BPS_SHIFT 45 /* Boot Partition Support */
#define GPUNVME_CAP_BPS_MASK 0x200000000000ULL
#define GPUNVME_CAP_CPS_SHIFT 46 /* Controller Power Scope */
#define GPUNVME_CAP_CPS_MASK 0xc00000000000ULL
#define GPUNVME_CAP_CPS_NOT_REPORTED 0x0u
#define GPUNVME_CAP_CPS_CONTROLLER 0x1u
#define GPUNVME_CAP_CPS_DOMAIN 0x2u
#define GPUNVME_CAP_CPS_NVM_SUBSYSTEM 0x3u
#define GPUNVME_CAP_MPSMIN_SHIFT 48 /* Memory Page Size Minimum: 2 ^ (12 + MPSMIN) bytes */
#define GPUNVME_CAP_MPSMIN_MASK 0xf000000000000ULL
#define GPUNVME_CAP_MPSMAX_SHIFT 52 /* Memory Page Size Maximum: 2 ^ (12 + MPSMAX) bytes */
#define GPUNVME_CAP_MPSMAX_MASK 0xf0000000000000ULL
#define GPUNVME_CAP_PMRS_SHIFT 56 /* Persistent Memory Region Supported */
#define GPUNVME_CAP_PMRS_MASK 0x100000000000000ULL
#define GPUNVME_CAP_CMBS_SHIFT 57 /* Controller Memory Buffer Supported */
#define GPUNVME_CAP_CMBS_MASK 0x200000000000000ULL
#define GPUNVME_CAP_NSSS_SHIFT 58 /* NVM Subsystem Shutdown Supported */
#define GPUNVME_CAP_NSSS_MASK 0x400000000000000ULL
#define GPUNVME_CAP_CRWMS_SHIFT 59 /* Controller Ready With Media Support */
#define GPUNVME_CAP_CRWMS_MASK 0x800000000000000ULL
#define GPUNVME_CAP_CRIMS_SHIFT 60 /* Controller Ready Independent of Media Support */
#define GPUNVME_CAP_CRIMS_MASK 0x1000000000000000ULL
#define GPUNVME_CAP_NSSES_SHIFT 61 /* NVM Subsystem Shutdown Enhancements Supported */
#define GPUNVME_CAP_NSSES_MASK 0x2000000000000000ULL

/* VS: Version (ro, 32 bits; Base 2.1 §3.1.4.2) */
#define GPUNVME_REG_VS 0x8u
#define GPUNVME_VS_TER_SHIFT 0 /* Tertiary Version */
#define GPUNVME_VS_TER_MASK 0xffu
#define GPUNVME_VS_MNR_SHIFT 8 /* Minor Version */
#define GPUNVME_VS_MNR_MASK 0xff00u
#define GPUNVME_VS_MJR_SHIFT 16 /* Major Version */
#define GPUNVME_VS_MJR_MASK 0xffff0000u

/* INTMS: Interrupt Mask Set (rw1s, 32 bits; Base 2.1 §3.1.4.3) */
#define GPUNVME_REG_INTMS 0xcu
#define GPUNVME_INTMS_IVMS_SHIFT 0 /* Interrupt Vector Mask Set */
#define GPUNVME_INTMS_IVMS_MASK 0xffffffffu

/* INTMC: Interrupt Mask Clear (rw1c, 32 bits; Base 2.1 §3.1.4.4) */
#define GPUNVME_REG_INTMC 0x10u
#define GPUNVME_INTMC_IVMC_SHIFT 0 /* Interrupt Vector Mask Clear */
#define GPUNVME_INTMC_IVMC_MASK 0xffffffffu

/* CC: Controller Configuration (rw, 32 bits; Base 2.1 §3.1.4.5) */
#define GPUNVME_REG_CC 0x14u
#define GPUNVME_CC_EN_SHIFT 0 /* Enable */
#define GPUNVME_CC_EN_MASK 0x1u
#define GPUNVME_CC_CSS_SHIFT 4 /* I/O Command Set Selected */
#define GPUNVME_CC_CSS_MASK 0x70u
#define GPUNVME_CC_CSS_NVM 0x0u
#define GPUNVME_CC_CSS_IOCS 0x6u
#define GPUNVME_CC_CSS_ADMIN_ONLY 0x7u
#define GPUNVME_CC_MPS_SHIFT 7 /* Memory Page Size: 2 ^ (12 + MPS) bytes */
#define GPUNVME_CC_MPS_MASK 0x780u
#define GPUNVME_CC_AMS_SHIFT 11 /* Arbitration Mechanism Selected */
#define GPUNVME_CC_AMS_MASK 0x3800u
#define GPUNVME_CC_AMS_ROUND_ROBIN 0x0u
#define GPUNVME_CC_AMS_WRRUPC 0x1u
#define GPUNVME_CC_AMS_VENDOR 0x7u
#define GPUNVME_CC_SHN_SHIFT 14 /* Shutdown Notification */
#define GPUNVME_CC_SHN_MASK 0xc000u
#define GPUNVME_CC_SHN_NONE 0x0u
#define GPUNVME_CC_SHN_NORMAL 0x1u
#define GPUNVME_CC_SHN_ABRUPT 0x2u
#define GPUNVME_CC_IOSQES_SHIFT 16 /* I/O Submission Queue Entry Size: 2 ^ n bytes */
#define GPUNVME_CC_IOSQES_MASK 0xf0000u
#define GPUNVME_CC_IOCQES_SHIFT 20 /* I/O Completion Queue Entry Size: 2 ^ n bytes */
#define GPUNVME_CC_IOCQES_MASK 0xf00000u
#define GPUNVME_CC_CRIME_SHIFT 24 /* Controller Ready Independent of Media Enable */
#define GPUNVME_CC_CRIME_MASK 0x1000000u

/* CSTS: Controller Status; only NSSRO is writable (rw1c, 32 bits; Base 2.1 §3.1.4.6) */
#define GPUNVME_REG_CSTS 0x1cu
#define GPUNVME_CSTS_RDY_SHIFT 0 /* Ready */
#define GPUNVME_CSTS_RDY_MASK 0x1u
#define GPUNVME_CSTS_CFS_SHIFT 1 /* Controller Fatal Status */
#define GPUNVME_CSTS_CFS_MASK 0x2u
#define GPUNVME_CSTS_SHST_SHIFT 2 /* Shutdown Status */
#define GPUNVME_CSTS_SHST_MASK 0xcu
#define GPUNVME_CSTS_SHST_NORMAL 0x0u
#define GPUNVME_CSTS_SHST_OCCURRING 0x1u
#define GPUNVME_CSTS_SHST_COMPLETE 0x2u
#define GPUNVME_CSTS_NSSRO_SHIFT 4 /* NVM Subsystem Reset Occurred; writing 1 clears it */
#define GPUNVME_CSTS_NSSRO_MASK 0x10u
#define GPUNVME_CSTS_PP_SHIFT 5 /* Processing Paused */
#define GPUNVME_CSTS_PP_MASK 0x20u
#define GPUNVME_CSTS_ST_SHIFT 6 /* Shutdown Type: 1 if SHST refers to the NVM subsystem */
#define GPUNVME_CSTS_ST_MASK 0x40u

/* NSSR: NVM Subsystem Reset (rw, 32 bits; Base 2.1 §3.1.4.7) */
#define GPUNVME_REG_NSSR 0x20u
#define GPUNVME_NSSR_NSSRC_SHIFT 0 /* NVM Subsystem Reset Control */
#define GPUNVME_NSSR_NSSRC_MASK 0xffffffffu
#define GPUNVME_NSSR_NSSRC_RESET 0x4e564d65u

/* AQA: Admin Queue Attributes (rw, 32 bits; Base 2.1 §3.1.4.8) */
#define GPUNVME_REG_AQA 0x24u
#define GPUNVME_AQA_ASQS_SHIFT 0 /* Admin Submission Queue Size, 0's based */
#define GPUNVME_AQA_ASQS_MASK 0xfffu
#define GPUNVME_AQA_ACQS_SHIFT 16 /* Admin Completion Queue Size, 0's based */
#define GPUNVME_AQA_ACQS_MASK 0xfff0000u

/* ASQ: Admin Submission Queue Base Address (rw, 64 bits; Base 2.1 §3.1.4.9) */
#define GPUNVME_REG_ASQ 0x28u
#define GPUNVME_ASQ_ASQB_SHIFT 12 /* Admin Submission Queue Base: address bits 63:12 */
#define GPUNVME_ASQ_ASQB_MASK 0xfffffffffffff000ULL

/* ACQ: Admin Completion Queue Base Address (rw, 64 bits; Base 2.1 §3.1.4.10) */
#define GPUNVME_REG_ACQ 0x30u
#define GPUNVME_ACQ_ACQB_SHIFT 12 /* Admin Completion Queue Base: address bits 63:12 */
#define GPUNVME_ACQ_ACQB_MASK 0xfffffffffffff000ULL

/* CMBLOC: CMB Location (ro, 32 bits; Base 2.1 §3.1.4.11) */
#define GPUNVME_REG_CMBLOC 0x38u
#define GPUNVME_CMBLOC_BIR_SHIFT 0 /* Base Indicator Register: index of the BAR */
#define GPUNVME_CMBLOC_BIR_MASK 0x7u
#define GPUNVME_CMBLOC_CQMMS_SHIFT 3 /* CMB Queue Mixed Memory Support */
#define GPUNVME_CMBLOC_CQMMS_MASK 0x8u
#define GPUNVME_CMBLOC_CQPDS_SHIFT 4 /* CMB Queue Physically Discontiguous Support */
#define GPUNVME_CMBLOC_CQPDS_MASK 0x10u
#define GPUNVME_CMBLOC_CDPMLS_SHIFT 5 /* CMB Data Pointer Mixed Locations Support */
#define GPUNVME_CMBLOC_CDPMLS_MASK 0x20u
#define GPUNVME_CMBLOC_CDPCILS_SHIFT 6 /* CMB Data Pointer and Command Independent Locations Support */
#define GPUNVME_CMBLOC_CDPCILS_MASK 0x40u
#define GPUNVME_CMBLOC_CDMMMS_SHIFT 7 /* CMB Data Metadata Mixed Memory Support */
#define GPUNVME_CMBLOC_CDMMMS_MASK 0x80u
#define GPUNVME_CMBLOC_CQDA_SHIFT 8 /* CMB Queue Dword Alignment */
#define GPUNVME_CMBLOC_CQDA_MASK 0x100u
#define GPUNVME_CMBLOC_OFST_SHIFT 12 /* Offset in the BAR, in CMBSZ.SZU */
#define GPUNVME_CMBLOC_OFST_MASK 0xfffff000u

/* CMBSZ: CMB Size (ro, 32 bits; Base 2.1 §3.1.4.12) */
#define GPUNVME_REG_CMBSZ 0x3cu
#define GPUNVME_CMBSZ_SQS_SHIFT 0 /* Submission Queue Support */
#define GPUNVME_CMBSZ_SQS_MASK 0x1u
#define GPUNVME_CMBSZ_CQS_SHIFT 1 /* Completion Queue Support */
#define GPUNVME_CMBSZ_CQS_MASK 0x2u
#define GPUNVME_CMBSZ_LISTS_SHIFT 2 /* PRP SGL List Support */
#define GPUNVME_CMBSZ_LISTS_MASK 0x4u
#define GPUNVME_CMBSZ_RDS_SHIFT 3 /* Read Data Support */
#define GPUNVME_CMBSZ_RDS_MASK 0x8u
#define GPUNVME_CMBSZ_WDS_SHIFT 4 /* Write Data Support */
#define GPUNVME_CMBSZ_WDS_MASK 0x10u
#define GPUNVME_CMBSZ_SZU_SHIFT 8 /* Size Units: 4 KiB * 16 ^ SZU */
#define GPUNVME_CMBSZ_SZU_MASK 0xf00u
#define GPUNVME_CMBSZ_SZU_KIB_4 0x0u
#define GPUNVME_CMBSZ_SZU_KIB_64 0x1u
#define GPUNVME_CMBSZ_SZU_MIB_1 0x2u
#define GPUNVME_CMBSZ_SZU_MIB_16 0x3u
#define GPUNVME_CMBSZ_SZU_MIB_256 0x4u
#define GPUNVME_CMBSZ_SZU_GIB_4 0x5u
#define GPUNVME_CMBSZ_SZU_GIB_64 0x6u
#define GPUNVME_CMBSZ_SZ_SHIFT 12 /* Size, in SZU */
#define GPUNVME_CMBSZ_SZ_MASK 0xfffff000u

/* BPINFO: Boot Partition Information (ro, 32 bits; Base 2.1 §3.1.4.13) */
#define GPUNVME_REG_BPINFO 0x40u
#define GPUNVME_BPINFO_BPSZ_SHIFT 0 /* Boot Partition Size, in 128 KiB units */
#define GPUNVME_BPINFO_BPSZ_MASK 0x7fffu
#define GPUNVME_BPINFO_BRS_SHIFT 24 /* Boot Read Status */
#define GPUNVME_BPINFO_BRS_MASK 0x3000000u
#define GPUNVME_BPINFO_BRS_NONE 0x0u
#define GPUNVME_BPINFO_BRS_IN_PROGRESS 0x1u
#define GPUNVME_BPINFO_BRS_SUCCESS 0x2u
#define GPUNVME_BPINFO_BRS_ERROR 0x3u
#define GPUNVME_BPINFO_ABPID_SHIFT 31 /* Active Boot Partition ID */
#define GPUNVME_BPINFO_ABPID_MASK 0x80000000u

/* BPRSEL: Boot Partition Read Select (rw, 32 bits; Base 2.1 §3.1.4.14) */
#define GPUNVME_REG_BPRSEL 0x44u
#define GPUNVME_BPRSEL_BPRSZ_SHIFT 0 /* Read Size, in 4 KiB units */
#define GPUNVME_BPRSEL_BPRSZ_MASK 0x3ffu
#define GPUNVME_BPRSEL_BPROF_SHIFT 10 /* Read Offset, in 4 KiB units */
#define GPUNVME_BPRSEL_BPROF_MASK 0x3ffffc00u
#define GPUNVME_BPRSEL_BPID_SHIFT 31 /* Boot Partition Identifier */
#define GPUNVME_BPRSEL_BPID_MASK 0x80000000u

/* BPMBL: Boot Partition Memory Buffer Location (rw, 64 bits; Base 2.1 §3.1.4.15) */
#define GPUNVME_REG_BPMBL 0x48u
#define GPUNVME_BPMBL_BMBBA_SHIFT 12 /* Base Address: address bits 63:12 */
#define GPUNVME_BPMBL_BMBBA_MASK 0xfffffffffffff000ULL

/* CMBMSC: CMB Memory Space Control (rw, 64 bits; Base 2.1 §3.1.4.16) */
#define GPUNVME_REG_CMBMSC 0x50u
#define GPUNVME_CMBMSC_CRE_SHIFT 0 /* Capabilities Registers Enabled: CMBLOC and CMBSZ */
#define GPUNVME_CMBMSC_CRE_MASK 0x1ULL
#define GPUNVME_CMBMSC_CMSE_SHIFT 1 /* Controller Memory Space Enable */
#define GPUNVME_CMBMSC_CMSE_MASK 0x2ULL
#define GPUNVME_CMBMSC_CBA_SHIFT 12 /* Controller Base Address: address bits 63:12 */
#define GPUNVME_CMBMSC_CBA_MASK 0xfffffffffffff000ULL

/* CMBSTS: CMB Status (ro, 32 bits; Base 2.1 §3.1.4.17) */
#define GPUNVME_REG_CMBSTS 0x58u
#define GPUNVME_CMBSTS_CBAI_SHIFT 0 /* Controller Base Address Invalid */
#define GPUNVME_CMBSTS_CBAI_MASK 0x1u

/* CMBEBS: CMB Elasticity Buffer Size (ro, 32 bits; Base 2.1 §3.1.4.18) */
#define GPUNVME_REG_CMBEBS 0x5cu
#define GPUNVME_CMBEBS_CMBSZU_SHIFT 0 /* CMB Elasticity Buffer Size Units */
#define GPUNVME_CMBEBS_CMBSZU_MASK 0xfu
#define GPUNVME_CMBEBS_CMBSZU_BYTES 0x0u
#define GPUNVME_CMBEBS_CMBSZU_KIB 0x1u
#define GPUNVME_CMBEBS_CMBSZU_MIB 0x2u
#define GPUNVME_CMBEBS_CMBSZU_GIB 0x3u
#define GPUNVME_CMBEBS_CMBRBB_SHIFT 4 /* CMB Read Bypass Behavior */
#define GPUNVME_CMBEBS_CMBRBB_MASK 0x10u
#define GPUNVME_CMBEBS_CMBWBZ_SHIFT 8 /* CMB Elasticity Buffer Size Base, in CMBSZU */
#define GPUNVME_CMBEBS_CMBWBZ_MASK 0xffffff00u

/* CMBSWTP: CMB Sustained Write Throughput (ro, 32 bits; Base 2.1 §3.1.4.19) */
#define GPUNVME_REG_CMBSWTP 0x60u
#define GPUNVME_CMBSWTP_CMBSWTU_SHIFT 0 /* CMB Sustained Write Throughput Units */
#define GPUNVME_CMBSWTP_CMBSWTU_MASK 0xfu
#define GPUNVME_CMBSWTP_CMBSWTU_BYTES 0x0u
#define GPUNVME_CMBSWTP_CMBSWTU_KIB 0x1u
#define GPUNVME_CMBSWTP_CMBSWTU_MIB 0x2u
#define GPUNVME_CMBSWTP_CMBSWTU_GIB 0x3u
#define GPUNVME_CMBSWTP_CMBSWTV_SHIFT 8 /* CMB Sustained Write Throughput, in CMBSWTU per second */
#define GPUNVME_CMBSWTP_CMBSWTV_MASK 0xffffff00u

/* NSSD: NVM Subsystem Shutdown (rw, 32 bits; Base 2.1 §3.1.4.20) */
#define GPUNVME_REG_NSSD 0x64u
#define GPUNVME_NSSD_NSSC_SHIFT 0 /* NVM Subsystem Shutdown Control */
#define GPUNVME_NSSD_NSSC_MASK 0xffffffffu
#define GPUNVME_NSSD_NSSC_NORMAL 0x4e726d6cu
#define GPUNVME_NSSD_NSSC_ABRUPT 0x41627074u

/* CRTO: Controller Ready Timeouts (ro, 32 bits; Base 2.1 §3.1.4.21) */
#define GPUNVME_REG_CRTO 0x68u
#define GPUNVME_CRTO_CRWMT_SHIFT 0 /* Controller Ready With Media Timeout, in 500 ms units */
#define GPUNVME_CRTO_CRWMT_MASK 0xffffu
#define GPUNVME_CRTO_CRIMT_SHIFT 16 /* Controller Ready Independent of Media Timeout, in 500 ms units */
#define GPUNVME_CRTO_CRIMT_MASK 0xffff0000u

/* PMRCAP: PMR Capabilities (ro, 32 bits; Base 2.1 §3.1.4.22) */
#define GPUNVME_REG_PMRCAP 0xe00u
#define GPUNVME_PMRCAP_RDS_SHIFT 3 /* Read Data Support */
#define GPUNVME_PMRCAP_RDS_MASK 0x8u
#define GPUNVME_PMRCAP_WDS_SHIFT 4 /* Write Data Support */
#define GPUNVME_PMRCAP_WDS_MASK 0x10u
#define GPUNVME_PMRCAP_BIR_SHIFT 5 /* Base Indicator Register: index of the BAR */
#define GPUNVME_PMRCAP_BIR_MASK 0xe0u
#define GPUNVME_PMRCAP_PMRTU_SHIFT 8 /* PMR Time Units */
#define GPUNVME_PMRCAP_PMRTU_MASK 0x300u
#define GPUNVME_PMRCAP_PMRTU_MS_500 0x0u
#define GPUNVME_PMRCAP_PMRTU_MINUTES 0x1u
#define GPUNVME_PMRCAP_PMRWBM_CMR_SHIFT 10 /* Write Barrier: Completion of Memory Read */
#define GPUNVME_PMRCAP_PMRWBM_CMR_MASK 0x400u
#define GPUNVME_PMRCAP_PMRWBM_CPMTSTSR_SHIFT 11 /* Write Barrier: Completion of PMRSTS Read */
#define GPUNVME_PMRCAP_PMRWBM_CPMTSTSR_MASK 0x800u
#define GPUNVME_PMRCAP_PMRTO_SHIFT 16 /* PMR Timeout, in PMRTU */
#define GPUNVME_PMRCAP_PMRTO_MASK 0xff0000u
#define GPUNVME_PMRCAP_CMSS_SHIFT 24 /* Controller Memory Space Supported */
#define GPUNVME_PMRCAP_CMSS_MASK 0x1000000u

/* PMRCTL: PMR Control (rw, 32 bits; Base 2.1 §3.1.4.23) */
#define GPUNVME_REG_PMRCTL 0xe04u
#define GPUNVME_PMRCTL_EN_SHIFT 0 /* Enable */
#define GPUNVME_PMRCTL_EN_MASK 0x1u

/* PMRSTS: PMR Status (ro, 32 bits; Base 2.1 §3.1.4.24) */
#define GPUNVME_REG_PMRSTS 0xe08u
#define GPUNVME_PMRSTS_ERR_SHIFT 0 /* Error: vendor specific if not 0 */
#define GPUNVME_PMRSTS_ERR_MASK 0xffu
#define GPUNVME_PMRSTS_NRDY_SHIFT 8 /* Not Ready */
#define GPUNVME_PMRSTS_NRDY_MASK 0x100u
#define GPUNVME_PMRSTS_HSTS_SHIFT 9 /* Health Status */
#define GPUNVME_PMRSTS_HSTS_MASK 0xe00u
#define GPUNVME_PMRSTS_HSTS_NORMAL 0x0u
#define GPUNVME_PMRSTS_HSTS_RESTORE_ERROR 0x1u
#define GPUNVME_PMRSTS_HSTS_READ_ONLY 0x2u
#define GPUNVME_PMRSTS_HSTS_UNRELIABLE 0x3u
#define GPUNVME_PMRSTS_CBAI_SHIFT 12 /* Controller Base Address Invalid */
#define GPUNVME_PMRSTS_CBAI_MASK 0x1000u

/* PMREBS: PMR Elasticity Buffer Size (ro, 32 bits; Base 2.2 §3.1.4.25) */
#define GPUNVME_REG_PMREBS 0xe0cu
#define GPUNVME_PMREBS_PMRSZU_SHIFT 0 /* PMR Elasticity Buffer Size Units */
#define GPUNVME_PMREBS_PMRSZU_MASK 0xfu
#define GPUNVME_PMREBS_PMRSZU_BYTES 0x0u
#define GPUNVME_PMREBS_PMRSZU_KIB 0x1u
#define GPUNVME_PMREBS_PMRSZU_MIB 0x2u
#define GPUNVME_PMREBS_PMRSZU_GIB 0x3u
#define GPUNVME_PMREBS_PMRRBB_SHIFT 4 /* PMR Read Bypass Behavior */
#define GPUNVME_PMREBS_PMRRBB_MASK 0x10u
#define GPUNVME_PMREBS_PMRWBZ_SHIFT 8 /* PMR Elasticity Buffer Size Base, in PMRSZU */
#define GPUNVME_PMREBS_PMRWBZ_MASK 0xffffff00u

/* PMRSWTP: PMR Sustained Write Throughput (ro, 32 bits; Base 2.2 §3.1.4.26) */
#define GPUNVME_REG_PMRSWTP 0xe10u
#define GPUNVME_PMRSWTP_PMRSWTU_SHIFT 0 /* PMR Sustained Write Throughput Units */
#define GPUNVME_PMRSWTP_PMRSWTU_MASK 0xfu
#define GPUNVME_PMRSWTP_PMRSWTU_BYTES 0x0u
#define GPUNVME_PMRSWTP_PMRSWTU_KIB 0x1u
#define GPUNVME_PMRSWTP_PMRSWTU_MIB 0x2u
#define GPUNVME_PMRSWTP_PMRSWTU_GIB 0x3u
#define GPUNVME_PMRSWTP_PMRSWTV_SHIFT 8 /* PMR Sustained Write Throughput, in PMRSWTU per second */
#define GPUNVME_PMRSWTP_PMRSWTV_MASK 0xffffff00u

/* PMRMSCL: PMR Memory Space Control Lower (rw, 32 bits; Base 2.2 §3.1.4.27) */
#define GPUNVME_REG_PMRMSCL 0xe14u
#define GPUNVME_PMRMSCL_CMSE_SHIFT 1 /* Controller Memory Space Enable */
#define GPUNVME_PMRMSCL_CMSE_MASK 0x2u
#define GPUNVME_PMRMSCL_CBA_SHIFT 12 /* Controller Base Address: address bits 31:12 */
#define GPUNVME_PMRMSCL_CBA_MASK 0xfffff000u

/* PMRMSCU: PMR Memory Space Control Upper (rw, 32 bits; Base 2.2 §3.1.4.28) */
#define GPUNVME_REG_PMRMSCU 0xe18u
#define GPUNVME_PMRMSCU_CBA_SHIFT 0 /* Controller Base Address: address bits 63:32 */
#define GPUNVME_PMRMSCU_CBA_MASK 0xffffffffu

/* Doorbells: 64-bit byte offset in BAR0 of the doorbell of queue qid; dstrd is CAP.DSTRD (PCIe 1.2 §3.1.2) */
#define GPUNVME_SQ_TAIL_DOORBELL(qid, dstrd) (GPUNVME_DOORBELL_BASE + ((2ULL * (qid)) << (2 + (dstrd))))
#define GPUNVME_CQ_HEAD_DOORBELL(qid, dstrd) (GPUNVME_DOORBELL_BASE + ((2ULL * (qid) + 1) << (2 + (dstrd))))
#define GPUNVME_DOORBELL_BASE 0x1000u

/* SQE: Submission Queue Entry (Base 2.1 §4.1.1) */
struct gpunvme_sqe {
	GPUNVME_ALIGNED(16) uint8_t opc; /* Opcode */
	uint8_t bits_1; /* FUSE PSDT */
	uint16_t cid; /* Command Identifier */
	uint32_t nsid; /* Namespace Identifier */
	uint32_t cdw2; /* Command Dword 2 */
	uint32_t cdw3; /* Command Dword 3 */
	uint64_t mptr; /* Metadata Pointer */
	uint64_t prp1; /* PRP Entry 1 */
	uint64_t prp2; /* PRP Entry 2 */
	uint32_t cdw10; /* Command Dword 10 */
	uint32_t cdw11; /* Command Dword 11 */
	uint32_t cdw12; /* Command Dword 12 */
	uint32_t cdw13; /* Command Dword 13 */
	uint32_t cdw14; /* Command Dword 14 */
	uint32_t cdw15; /* Command Dword 15 */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_sqe, 64);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sqe, opc, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sqe, bits_1, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sqe, cid, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sqe, nsid, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sqe, cdw2, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sqe, cdw3, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sqe, mptr, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sqe, prp1, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sqe, prp2, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sqe, cdw10, 40);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sqe, cdw11, 44);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sqe, cdw12, 48);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sqe, cdw13, 52);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sqe, cdw14, 56);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sqe, cdw15, 60);
#define GPUNVME_SQE_FUSE_SHIFT 0 /* Fused Operation */
#define GPUNVME_SQE_FUSE_MASK 0x3u
#define GPUNVME_SQE_FUSE_NORMAL 0x0u
#define GPUNVME_SQE_FUSE_FIRST 0x1u
#define GPUNVME_SQE_FUSE_SECOND 0x2u
#define GPUNVME_SQE_PSDT_SHIFT 6 /* PRP or SGL for Data Transfer */
#define GPUNVME_SQE_PSDT_MASK 0xc0u
#define GPUNVME_SQE_PSDT_PRP 0x0u
#define GPUNVME_SQE_PSDT_SGL 0x1u
#define GPUNVME_SQE_PSDT_SGL_SEGMENT_MPTR 0x2u

/* CQE: Completion Queue Entry (Base 2.1 §4.2.1) */
struct gpunvme_cqe {
	GPUNVME_ALIGNED(16) uint32_t dw0; /* Command Specific */
	uint32_t dw1; /* Command Specific */
	uint16_t sqhd; /* SQ Head Pointer */
	uint16_t sqid; /* SQ Identifier */
	uint16_t cid; /* Command Identifier */
	uint16_t status; /* Phase Tag and Status */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_cqe, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_cqe, dw0, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_cqe, dw1, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_cqe, sqhd, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_cqe, sqid, 10);
GPUNVME_ASSERT_OFFSET(struct gpunvme_cqe, cid, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_cqe, status, 14);
#define GPUNVME_CQE_STATUS_P_SHIFT 0 /* Phase Tag */
#define GPUNVME_CQE_STATUS_P_MASK 0x1u
#define GPUNVME_CQE_STATUS_SC_SHIFT 1 /* Status Code */
#define GPUNVME_CQE_STATUS_SC_MASK 0x1feu
#define GPUNVME_CQE_STATUS_SCT_SHIFT 9 /* Status Code Type */
#define GPUNVME_CQE_STATUS_SCT_MASK 0xe00u
#define GPUNVME_CQE_STATUS_CRD_SHIFT 12 /* Command Retry Delay */
#define GPUNVME_CQE_STATUS_CRD_MASK 0x3000u
#define GPUNVME_CQE_STATUS_M_SHIFT 14 /* More */
#define GPUNVME_CQE_STATUS_M_MASK 0x4000u
#define GPUNVME_CQE_STATUS_DNR_SHIFT 15 /* Do Not Retry */
#define GPUNVME_CQE_STATUS_DNR_MASK 0x8000u

/* SglDescriptor: Generic SGL descriptor (Base 2.1 §4.3.2) */
struct gpunvme_sgl_descriptor {
	uint8_t dts[15]; /* Descriptor Type Specific */
	uint8_t sglid; /* SGL Identifier */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_sgl_descriptor, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sgl_descriptor, dts, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sgl_descriptor, sglid, 15);
#define GPUNVME_SGL_DESCRIPTOR_SGLID_SGLDST_SHIFT 0 /* SGL Descriptor Sub Type */
#define GPUNVME_SGL_DESCRIPTOR_SGLID_SGLDST_MASK 0xfu
#define GPUNVME_SGL_DESCRIPTOR_SGLID_SGLDST_ADDRESS 0x0u
#define GPUNVME_SGL_DESCRIPTOR_SGLID_SGLDST_OFFSET 0x1u
#define GPUNVME_SGL_DESCRIPTOR_SGLID_SGLDT_SHIFT 4 /* SGL Descriptor Type */
#define GPUNVME_SGL_DESCRIPTOR_SGLID_SGLDT_MASK 0xf0u
#define GPUNVME_SGL_DESCRIPTOR_SGLID_SGLDT_DATA_BLOCK 0x0u
#define GPUNVME_SGL_DESCRIPTOR_SGLID_SGLDT_BIT_BUCKET 0x1u
#define GPUNVME_SGL_DESCRIPTOR_SGLID_SGLDT_SEGMENT 0x2u
#define GPUNVME_SGL_DESCRIPTOR_SGLID_SGLDT_LAST_SEGMENT 0x3u
#define GPUNVME_SGL_DESCRIPTOR_SGLID_SGLDT_KEYED_DATA_BLOCK 0x4u
#define GPUNVME_SGL_DESCRIPTOR_SGLID_SGLDT_TRANSPORT_DATA_BLOCK 0x5u
#define GPUNVME_SGL_DESCRIPTOR_SGLID_SGLDT_VENDOR 0xfu

/* SglDataBlock: A data block (Base 2.1 §4.3.2) */
struct gpunvme_sgl_data_block {
	uint64_t addr; /* Address */
	uint32_t len; /* Length, in bytes */
	uint8_t reserved_12[3];
	uint8_t sglid; /* SGL Identifier */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_sgl_data_block, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sgl_data_block, addr, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sgl_data_block, len, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sgl_data_block, reserved_12, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sgl_data_block, sglid, 15);
#define GPUNVME_SGL_DATA_BLOCK_SGLID_SGLDST_SHIFT 0 /* SGL Descriptor Sub Type */
#define GPUNVME_SGL_DATA_BLOCK_SGLID_SGLDST_MASK 0xfu
#define GPUNVME_SGL_DATA_BLOCK_SGLID_SGLDST_ADDRESS 0x0u
#define GPUNVME_SGL_DATA_BLOCK_SGLID_SGLDST_OFFSET 0x1u
#define GPUNVME_SGL_DATA_BLOCK_SGLID_SGLDT_SHIFT 4 /* SGL Descriptor Type */
#define GPUNVME_SGL_DATA_BLOCK_SGLID_SGLDT_MASK 0xf0u
#define GPUNVME_SGL_DATA_BLOCK_SGLID_SGLDT_DATA_BLOCK 0x0u
#define GPUNVME_SGL_DATA_BLOCK_SGLID_SGLDT_BIT_BUCKET 0x1u
#define GPUNVME_SGL_DATA_BLOCK_SGLID_SGLDT_SEGMENT 0x2u
#define GPUNVME_SGL_DATA_BLOCK_SGLID_SGLDT_LAST_SEGMENT 0x3u
#define GPUNVME_SGL_DATA_BLOCK_SGLID_SGLDT_KEYED_DATA_BLOCK 0x4u
#define GPUNVME_SGL_DATA_BLOCK_SGLID_SGLDT_TRANSPORT_DATA_BLOCK 0x5u
#define GPUNVME_SGL_DATA_BLOCK_SGLID_SGLDT_VENDOR 0xfu

/* SglBitBucket: Source data to be discarded (Base 2.2 §4.3.2) */
struct gpunvme_sgl_bit_bucket {
	uint8_t reserved_0[8];
	uint32_t len; /* Length, in bytes */
	uint8_t reserved_12[3];
	uint8_t sglid; /* SGL Identifier */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_sgl_bit_bucket, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sgl_bit_bucket, reserved_0, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sgl_bit_bucket, len, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sgl_bit_bucket, reserved_12, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sgl_bit_bucket, sglid, 15);
#define GPUNVME_SGL_BIT_BUCKET_SGLID_SGLDST_SHIFT 0 /* SGL Descriptor Sub Type */
#define GPUNVME_SGL_BIT_BUCKET_SGLID_SGLDST_MASK 0xfu
#define GPUNVME_SGL_BIT_BUCKET_SGLID_SGLDST_ADDRESS 0x0u
#define GPUNVME_SGL_BIT_BUCKET_SGLID_SGLDST_OFFSET 0x1u
#define GPUNVME_SGL_BIT_BUCKET_SGLID_SGLDT_SHIFT 4 /* SGL Descriptor Type */
#define GPUNVME_SGL_BIT_BUCKET_SGLID_SGLDT_MASK 0xf0u
#define GPUNVME_SGL_BIT_BUCKET_SGLID_SGLDT_DATA_BLOCK 0x0u
#define GPUNVME_SGL_BIT_BUCKET_SGLID_SGLDT_BIT_BUCKET 0x1u
#define GPUNVME_SGL_BIT_BUCKET_SGLID_SGLDT_SEGMENT 0x2u
#define GPUNVME_SGL_BIT_BUCKET_SGLID_SGLDT_LAST_SEGMENT 0x3u
#define GPUNVME_SGL_BIT_BUCKET_SGLID_SGLDT_KEYED_DATA_BLOCK 0x4u
#define GPUNVME_SGL_BIT_BUCKET_SGLID_SGLDT_TRANSPORT_DATA_BLOCK 0x5u
#define GPUNVME_SGL_BIT_BUCKET_SGLID_SGLDT_VENDOR 0xfu

/* SglSegment: The next segment, not the last (Base 2.2 §4.3.2) */
struct gpunvme_sgl_segment {
	uint64_t addr; /* Address of the next segment */
	uint32_t len; /* Length of the next segment, in bytes: a multiple of 16 */
	uint8_t reserved_12[3];
	uint8_t sglid; /* SGL Identifier */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_sgl_segment, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sgl_segment, addr, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sgl_segment, len, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sgl_segment, reserved_12, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sgl_segment, sglid, 15);
#define GPUNVME_SGL_SEGMENT_SGLID_SGLDST_SHIFT 0 /* SGL Descriptor Sub Type */
#define GPUNVME_SGL_SEGMENT_SGLID_SGLDST_MASK 0xfu
#define GPUNVME_SGL_SEGMENT_SGLID_SGLDST_ADDRESS 0x0u
#define GPUNVME_SGL_SEGMENT_SGLID_SGLDST_OFFSET 0x1u
#define GPUNVME_SGL_SEGMENT_SGLID_SGLDT_SHIFT 4 /* SGL Descriptor Type */
#define GPUNVME_SGL_SEGMENT_SGLID_SGLDT_MASK 0xf0u
#define GPUNVME_SGL_SEGMENT_SGLID_SGLDT_DATA_BLOCK 0x0u
#define GPUNVME_SGL_SEGMENT_SGLID_SGLDT_BIT_BUCKET 0x1u
#define GPUNVME_SGL_SEGMENT_SGLID_SGLDT_SEGMENT 0x2u
#define GPUNVME_SGL_SEGMENT_SGLID_SGLDT_LAST_SEGMENT 0x3u
#define GPUNVME_SGL_SEGMENT_SGLID_SGLDT_KEYED_DATA_BLOCK 0x4u
#define GPUNVME_SGL_SEGMENT_SGLID_SGLDT_TRANSPORT_DATA_BLOCK 0x5u
#define GPUNVME_SGL_SEGMENT_SGLID_SGLDT_VENDOR 0xfu

/* SglLastSegment: The next and last segment (Base 2.2 §4.3.2) */
struct gpunvme_sgl_last_segment {
	uint64_t addr; /* Address of the last segment */
	uint32_t len; /* Length of the last segment, in bytes: a multiple of 16 */
	uint8_t reserved_12[3];
	uint8_t sglid; /* SGL Identifier */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_sgl_last_segment, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sgl_last_segment, addr, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sgl_last_segment, len, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sgl_last_segment, reserved_12, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sgl_last_segment, sglid, 15);
#define GPUNVME_SGL_LAST_SEGMENT_SGLID_SGLDST_SHIFT 0 /* SGL Descriptor Sub Type */
#define GPUNVME_SGL_LAST_SEGMENT_SGLID_SGLDST_MASK 0xfu
#define GPUNVME_SGL_LAST_SEGMENT_SGLID_SGLDST_ADDRESS 0x0u
#define GPUNVME_SGL_LAST_SEGMENT_SGLID_SGLDST_OFFSET 0x1u
#define GPUNVME_SGL_LAST_SEGMENT_SGLID_SGLDT_SHIFT 4 /* SGL Descriptor Type */
#define GPUNVME_SGL_LAST_SEGMENT_SGLID_SGLDT_MASK 0xf0u
#define GPUNVME_SGL_LAST_SEGMENT_SGLID_SGLDT_DATA_BLOCK 0x0u
#define GPUNVME_SGL_LAST_SEGMENT_SGLID_SGLDT_BIT_BUCKET 0x1u
#define GPUNVME_SGL_LAST_SEGMENT_SGLID_SGLDT_SEGMENT 0x2u
#define GPUNVME_SGL_LAST_SEGMENT_SGLID_SGLDT_LAST_SEGMENT 0x3u
#define GPUNVME_SGL_LAST_SEGMENT_SGLID_SGLDT_KEYED_DATA_BLOCK 0x4u
#define GPUNVME_SGL_LAST_SEGMENT_SGLID_SGLDT_TRANSPORT_DATA_BLOCK 0x5u
#define GPUNVME_SGL_LAST_SEGMENT_SGLID_SGLDT_VENDOR 0xfu

/* KeyedSglDataBlock: A data block with a key (Base 2.2 §4.3.2) */
struct gpunvme_keyed_sgl_data_block {
	uint64_t addr; /* Address */
	uint8_t len[3]; /* Length, in bytes */
	uint8_t key[4]; /* Key */
	uint8_t sglid; /* SGL Identifier */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_keyed_sgl_data_block, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_keyed_sgl_data_block, addr, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_keyed_sgl_data_block, len, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_keyed_sgl_data_block, key, 11);
GPUNVME_ASSERT_OFFSET(struct gpunvme_keyed_sgl_data_block, sglid, 15);
#define GPUNVME_KEYED_SGL_DATA_BLOCK_SGLID_SGLDST_SHIFT 0 /* SGL Descriptor Sub Type */
#define GPUNVME_KEYED_SGL_DATA_BLOCK_SGLID_SGLDST_MASK 0xfu
#define GPUNVME_KEYED_SGL_DATA_BLOCK_SGLID_SGLDST_ADDRESS 0x0u
#define GPUNVME_KEYED_SGL_DATA_BLOCK_SGLID_SGLDST_OFFSET 0x1u
#define GPUNVME_KEYED_SGL_DATA_BLOCK_SGLID_SGLDT_SHIFT 4 /* SGL Descriptor Type */
#define GPUNVME_KEYED_SGL_DATA_BLOCK_SGLID_SGLDT_MASK 0xf0u
#define GPUNVME_KEYED_SGL_DATA_BLOCK_SGLID_SGLDT_DATA_BLOCK 0x0u
#define GPUNVME_KEYED_SGL_DATA_BLOCK_SGLID_SGLDT_BIT_BUCKET 0x1u
#define GPUNVME_KEYED_SGL_DATA_BLOCK_SGLID_SGLDT_SEGMENT 0x2u
#define GPUNVME_KEYED_SGL_DATA_BLOCK_SGLID_SGLDT_LAST_SEGMENT 0x3u
#define GPUNVME_KEYED_SGL_DATA_BLOCK_SGLID_SGLDT_KEYED_DATA_BLOCK 0x4u
#define GPUNVME_KEYED_SGL_DATA_BLOCK_SGLID_SGLDT_TRANSPORT_DATA_BLOCK 0x5u
#define GPUNVME_KEYED_SGL_DATA_BLOCK_SGLID_SGLDT_VENDOR 0xfu

/* TransportSglDataBlock: A transport specific data block (Base 2.2 §4.3.2) */
struct gpunvme_transport_sgl_data_block {
	uint8_t reserved_0[8];
	uint32_t len; /* Length, in bytes */
	uint8_t reserved_12[3];
	uint8_t sglid; /* SGL Identifier */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_transport_sgl_data_block, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_transport_sgl_data_block, reserved_0, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_transport_sgl_data_block, len, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_transport_sgl_data_block, reserved_12, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_transport_sgl_data_block, sglid, 15);
#define GPUNVME_TRANSPORT_SGL_DATA_BLOCK_SGLID_SGLDST_SHIFT 0 /* SGL Descriptor Sub Type */
#define GPUNVME_TRANSPORT_SGL_DATA_BLOCK_SGLID_SGLDST_MASK 0xfu
#define GPUNVME_TRANSPORT_SGL_DATA_BLOCK_SGLID_SGLDST_ADDRESS 0x0u
#define GPUNVME_TRANSPORT_SGL_DATA_BLOCK_SGLID_SGLDST_OFFSET 0x1u
#define GPUNVME_TRANSPORT_SGL_DATA_BLOCK_SGLID_SGLDT_SHIFT 4 /* SGL Descriptor Type */
#define GPUNVME_TRANSPORT_SGL_DATA_BLOCK_SGLID_SGLDT_MASK 0xf0u
#define GPUNVME_TRANSPORT_SGL_DATA_BLOCK_SGLID_SGLDT_DATA_BLOCK 0x0u
#define GPUNVME_TRANSPORT_SGL_DATA_BLOCK_SGLID_SGLDT_BIT_BUCKET 0x1u
#define GPUNVME_TRANSPORT_SGL_DATA_BLOCK_SGLID_SGLDT_SEGMENT 0x2u
#define GPUNVME_TRANSPORT_SGL_DATA_BLOCK_SGLID_SGLDT_LAST_SEGMENT 0x3u
#define GPUNVME_TRANSPORT_SGL_DATA_BLOCK_SGLID_SGLDT_KEYED_DATA_BLOCK 0x4u
#define GPUNVME_TRANSPORT_SGL_DATA_BLOCK_SGLID_SGLDT_TRANSPORT_DATA_BLOCK 0x5u
#define GPUNVME_TRANSPORT_SGL_DATA_BLOCK_SGLID_SGLDT_VENDOR 0xfu

/* ActiveNamespaceList: Up to 1024 active namespace identifiers (CNS 02h) (Base 2.1 §5.1.13.2.2) */
struct gpunvme_active_namespace_list {
	uint32_t nsid[1024]; /* Namespace Identifiers */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_active_namespace_list, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_active_namespace_list, nsid, 0);

/* AllocatedNamespaceList: Up to 1024 allocated namespace identifiers (Base 2.1 §5.1.13.2.9) */
struct gpunvme_allocated_namespace_list {
	uint32_t nsid[1024]; /* Namespace Identifiers */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_allocated_namespace_list, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_allocated_namespace_list, nsid, 0);

/* NamespaceIdDescriptor: Header of a namespace identifier (Base 2.1 §5.1.13.2.3) */
struct gpunvme_namespace_id_descriptor {
	uint8_t nidt; /* Namespace Identifier Type */
	uint8_t nidl; /* Namespace Identifier Length in bytes */
	uint8_t reserved_2[2];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_namespace_id_descriptor, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_id_descriptor, nidt, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_id_descriptor, nidl, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_id_descriptor, reserved_2, 2);
#define GPUNVME_NAMESPACE_ID_DESCRIPTOR_NIDT_EUI64 0x1u
#define GPUNVME_NAMESPACE_ID_DESCRIPTOR_NIDT_NGUID 0x2u
#define GPUNVME_NAMESPACE_ID_DESCRIPTOR_NIDT_UUID 0x3u
#define GPUNVME_NAMESPACE_ID_DESCRIPTOR_NIDT_CSI 0x4u

/* ControllerList: Up to 2047 controller identifiers (Base 2.1 §4.6.1) */
struct gpunvme_controller_list {
	uint16_t numcids; /* Number of Controller Identifiers */
	uint16_t cntlid[2047]; /* Controller Identifiers */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_controller_list, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_controller_list, numcids, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_controller_list, cntlid, 2);

/* NvmSetAttributes: An NVM Set (Base 2.1 §5.1.13.2.4) */
struct gpunvme_nvm_set_attributes {
	uint16_t nsetid; /* NVM Set Identifier */
	uint16_t endgid; /* Endurance Group Identifier */
	uint8_t reserved_4[4];
	uint32_t r4krt; /* Random 4 KiB Read Typical in units of 100 ns */
	uint32_t ows; /* Optimal Write Size in bytes */
	uint64_t tnvmsc[2]; /* Total NVM Set Capacity in bytes */
	uint64_t unvmsc[2]; /* Unallocated NVM Set Capacity in bytes */
	uint8_t reserved_48[80];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_nvm_set_attributes, 128);
GPUNVME_ASSERT_OFFSET(struct gpunvme_nvm_set_attributes, nsetid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_nvm_set_attributes, endgid, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_nvm_set_attributes, reserved_4, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_nvm_set_attributes, r4krt, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_nvm_set_attributes, ows, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_nvm_set_attributes, tnvmsc, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_nvm_set_attributes, unvmsc, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_nvm_set_attributes, reserved_48, 48);

/* NvmSetList: Up to 31 NVM Sets (Base 2.1 §5.1.13.2.4) */
struct gpunvme_nvm_set_list {
	uint8_t nument; /* Number of Entries */
	uint8_t reserved_1[127];
	struct gpunvme_nvm_set_attributes entry[31]; /* NVM Sets */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_nvm_set_list, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_nvm_set_list, nument, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_nvm_set_list, reserved_1, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_nvm_set_list, entry, 128);

/* UuidListEntry: A UUID and its association (libnvme 1.3 nvme_id_uuid_list_entry) */
struct gpunvme_uuid_list_entry {
	uint32_t bits_0; /* IDASC */
	uint8_t reserved_4[12];
	uint8_t uuid[16]; /* UUID, big endian */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_uuid_list_entry, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_uuid_list_entry, bits_0, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_uuid_list_entry, reserved_4, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_uuid_list_entry, uuid, 16);
#define GPUNVME_UUID_LIST_ENTRY_IDASC_SHIFT 0 /* Identifier Association */
#define GPUNVME_UUID_LIST_ENTRY_IDASC_MASK 0x3u
#define GPUNVME_UUID_LIST_ENTRY_IDASC_NONE 0x0u
#define GPUNVME_UUID_LIST_ENTRY_IDASC_VENDOR 0x1u
#define GPUNVME_UUID_LIST_ENTRY_IDASC_SUBSYSTEM_VENDOR 0x2u

/* UuidList: Up to 127 UUIDs (libnvme 1.3 nvme_id_uuid_list) */
struct gpunvme_uuid_list {
	uint8_t reserved_0[32];
	struct gpunvme_uuid_list_entry entry[127]; /* UUIDs, from UUID Index 1 */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_uuid_list, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_uuid_list, reserved_0, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_uuid_list, entry, 32);

/* DomainAttributes: A domain (Base 2.1 §5.1.13.2.15) */
struct gpunvme_domain_attributes {
	uint16_t did; /* Domain Identifier */
	uint8_t reserved_2[14];
	uint64_t tdc[2]; /* Total Domain Capacity in bytes */
	uint64_t udc[2]; /* Unallocated Domain Capacity in bytes */
	uint64_t megdc[2]; /* Max Endurance Group Domain Capacity in bytes */
	uint8_t reserved_64[64];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_domain_attributes, 128);
GPUNVME_ASSERT_OFFSET(struct gpunvme_domain_attributes, did, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_domain_attributes, reserved_2, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_domain_attributes, tdc, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_domain_attributes, udc, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_domain_attributes, megdc, 48);
GPUNVME_ASSERT_OFFSET(struct gpunvme_domain_attributes, reserved_64, 64);

/* DomainList: Up to 31 domains (Base 2.1 §5.1.13.2.15) */
struct gpunvme_domain_list {
	uint8_t nument; /* Number of Entries */
	uint8_t reserved_1[127];
	struct gpunvme_domain_attributes entry[31]; /* Domains */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_domain_list, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_domain_list, nument, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_domain_list, reserved_1, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_domain_list, entry, 128);

/* EnduranceGroupList: Up to 2047 Endurance Group Identifiers (Base 2.1 §5.1.13.2.16) */
struct gpunvme_endurance_group_list {
	uint16_t negids; /* Number of Endurance Group Identifiers */
	uint16_t endgid[2047]; /* Endurance Group Identifiers */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_endurance_group_list, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_list, negids, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_list, endgid, 2);

/* IoCommandSetVector: Command sets that can be used together (Base 2.3 §5.2.13.2.19) */
struct gpunvme_io_command_set_vector {
	uint32_t bits_0; /* NVMCS KVCS ZNSCS SLMCS CPNCS */
	uint8_t reserved_4[4];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_io_command_set_vector, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_io_command_set_vector, bits_0, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_io_command_set_vector, reserved_4, 4);
#define GPUNVME_IO_COMMAND_SET_VECTOR_NVMCS_SHIFT 0 /* NVM Command Set */
#define GPUNVME_IO_COMMAND_SET_VECTOR_NVMCS_MASK 0x1u
#define GPUNVME_IO_COMMAND_SET_VECTOR_KVCS_SHIFT 1 /* Key Value Command Set */
#define GPUNVME_IO_COMMAND_SET_VECTOR_KVCS_MASK 0x2u
#define GPUNVME_IO_COMMAND_SET_VECTOR_ZNSCS_SHIFT 2 /* Zoned Namespace Command Set */
#define GPUNVME_IO_COMMAND_SET_VECTOR_ZNSCS_MASK 0x4u
#define GPUNVME_IO_COMMAND_SET_VECTOR_SLMCS_SHIFT 3 /* Subsystem Local Memory Command Set */
#define GPUNVME_IO_COMMAND_SET_VECTOR_SLMCS_MASK 0x8u
#define GPUNVME_IO_COMMAND_SET_VECTOR_CPNCS_SHIFT 4 /* Computational Programs Command Set */
#define GPUNVME_IO_COMMAND_SET_VECTOR_CPNCS_MASK 0x10u

/* IoCommandSets: Combinations of command sets (Base 2.1 §5.1.13.2.19) */
struct gpunvme_io_command_sets {
	struct gpunvme_io_command_set_vector iocsc[512]; /* I/O Command Set Combinations */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_io_command_sets, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_io_command_sets, iocsc, 0);

/* IdentifyIndependentNamespace: Namespace data common to all command sets (Base 2.1 §5.1.13.2.8) */
struct gpunvme_identify_independent_namespace {
	uint8_t nsfeat; /* Common Namespace Features */
	uint8_t nmic; /* Namespace Multi-path I/O and Namespace Sharing Capabilities */
	uint8_t rescap; /* Reservation Capabilities */
	uint8_t fpi; /* Format Progress Indicator */
	uint32_t anagrpid; /* ANA Group Identifier */
	uint8_t nsattr; /* Namespace Attributes */
	uint8_t reserved_9;
	uint16_t nvmsetid; /* NVM Set Identifier */
	uint16_t endgid; /* Endurance Group Identifier */
	uint8_t nstat; /* Namespace Status */
	uint8_t kpios; /* Key Per I/O Status */
	uint16_t maxkt; /* Maximum Key Tag */
	uint8_t reserved_18[2];
	uint32_t rgrpid; /* Reachability Group Identifier */
	uint8_t reserved_24[4072];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_identify_independent_namespace, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_independent_namespace, nsfeat, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_independent_namespace, nmic, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_independent_namespace, rescap, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_independent_namespace, fpi, 3);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_independent_namespace, anagrpid, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_independent_namespace, nsattr, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_independent_namespace, reserved_9, 9);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_independent_namespace, nvmsetid, 10);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_independent_namespace, endgid, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_independent_namespace, nstat, 14);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_independent_namespace, kpios, 15);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_independent_namespace, maxkt, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_independent_namespace, reserved_18, 18);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_independent_namespace, rgrpid, 20);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_independent_namespace, reserved_24, 24);
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_NSFEAT_UIDREUSE_SHIFT 3 /* UID Reuse */
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_NSFEAT_UIDREUSE_MASK 0x8u
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_NSFEAT_RMEDIA_SHIFT 4 /* Rotational Media */
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_NSFEAT_RMEDIA_MASK 0x10u
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_NSFEAT_VWCNP_SHIFT 5 /* Volatile Write Cache Not Present */
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_NSFEAT_VWCNP_MASK 0x20u
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_NMIC_SHRNS_SHIFT 0 /* Shared Namespace */
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_NMIC_SHRNS_MASK 0x1u
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_NMIC_DISNS_SHIFT 1 /* Dispersed Namespace */
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_NMIC_DISNS_MASK 0x2u
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_RESCAP_PTPL_SHIFT 0 /* Persist Through Power Loss */
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_RESCAP_PTPL_MASK 0x1u
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_RESCAP_WE_SHIFT 1 /* Write Exclusive */
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_RESCAP_WE_MASK 0x2u
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_RESCAP_EA_SHIFT 2 /* Exclusive Access */
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_RESCAP_EA_MASK 0x4u
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_RESCAP_WERO_SHIFT 3 /* Write Exclusive - Registrants Only */
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_RESCAP_WERO_MASK 0x8u
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_RESCAP_EARO_SHIFT 4 /* Exclusive Access - Registrants Only */
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_RESCAP_EARO_MASK 0x10u
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_RESCAP_WEAR_SHIFT 5 /* Write Exclusive - All Registrants */
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_RESCAP_WEAR_MASK 0x20u
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_RESCAP_EAAR_SHIFT 6 /* Exclusive Access - All Registrants */
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_RESCAP_EAAR_MASK 0x40u
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_RESCAP_IEK_SHIFT 7 /* Ignore Existing Key as in 1.3 and later */
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_RESCAP_IEK_MASK 0x80u
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_FPI_RFNVM_SHIFT 0 /* Remaining Format NVM in percent */
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_FPI_RFNVM_MASK 0x7fu
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_FPI_FPIS_SHIFT 7 /* Format Progress Indicator Support */
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_FPI_FPIS_MASK 0x80u
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_NSATTR_CWP_SHIFT 0 /* Currently Write Protected */
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_NSATTR_CWP_MASK 0x1u
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_NSTAT_NRDY_SHIFT 0 /* Namespace Ready */
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_NSTAT_NRDY_MASK 0x1u
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_NSTAT_IOI_SHIFT 1 /* I/O Impacted */
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_NSTAT_IOI_MASK 0x6u
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_NSTAT_IOI_NOT_REPORTED 0x0u
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_NSTAT_IOI_NOT_DEGRADED 0x2u
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_NSTAT_IOI_DEGRADED 0x3u
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_KPIOS_KPIOENS_SHIFT 0 /* Key Per I/O Enabled in Namespace */
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_KPIOS_KPIOENS_MASK 0x1u
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_KPIOS_KPIOSNS_SHIFT 1 /* Key Per I/O Supported in Namespace */
#define GPUNVME_IDENTIFY_INDEPENDENT_NAMESPACE_KPIOS_KPIOSNS_MASK 0x2u

/* PrimaryControllerCapabilities: Flexible resources of a primary controller (libnvme 1.3 nvme_primary_ctrl_cap) */
struct gpunvme_primary_controller_capabilities {
	uint16_t cntlid; /* Controller Identifier */
	uint16_t portid; /* Port Identifier */
	uint8_t crt; /* Controller Resource Types */
	uint8_t reserved_5[27];
	uint32_t vqfrt; /* VQ Resources Flexible Total */
	uint32_t vqrfa; /* VQ Resources Flexible Assigned */
	uint16_t vqrfap; /* VQ Resources Flexible Allocated to Primary */
	uint16_t vqprt; /* VQ Resources Private Total */
	uint16_t vqfrsm; /* VQ Resources Flexible Secondary Maximum */
	uint16_t vqgran; /* VQ Flexible Resource Preferred Granularity */
	uint8_t reserved_48[16];
	uint32_t vifrt; /* VI Resources Flexible Total */
	uint32_t virfa; /* VI Resources Flexible Assigned */
	uint16_t virfap; /* VI Resources Flexible Allocated to Primary */
	uint16_t viprt; /* VI Resources Private Total */
	uint16_t vifrsm; /* VI Resources Flexible Secondary Maximum */
	uint16_t vigran; /* VI Flexible Resource Preferred Granularity */
	uint8_t reserved_80[4016];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_primary_controller_capabilities, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_primary_controller_capabilities, cntlid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_primary_controller_capabilities, portid, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_primary_controller_capabilities, crt, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_primary_controller_capabilities, reserved_5, 5);
GPUNVME_ASSERT_OFFSET(struct gpunvme_primary_controller_capabilities, vqfrt, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_primary_controller_capabilities, vqrfa, 36);
GPUNVME_ASSERT_OFFSET(struct gpunvme_primary_controller_capabilities, vqrfap, 40);
GPUNVME_ASSERT_OFFSET(struct gpunvme_primary_controller_capabilities, vqprt, 42);
GPUNVME_ASSERT_OFFSET(struct gpunvme_primary_controller_capabilities, vqfrsm, 44);
GPUNVME_ASSERT_OFFSET(struct gpunvme_primary_controller_capabilities, vqgran, 46);
GPUNVME_ASSERT_OFFSET(struct gpunvme_primary_controller_capabilities, reserved_48, 48);
GPUNVME_ASSERT_OFFSET(struct gpunvme_primary_controller_capabilities, vifrt, 64);
GPUNVME_ASSERT_OFFSET(struct gpunvme_primary_controller_capabilities, virfa, 68);
GPUNVME_ASSERT_OFFSET(struct gpunvme_primary_controller_capabilities, virfap, 72);
GPUNVME_ASSERT_OFFSET(struct gpunvme_primary_controller_capabilities, viprt, 74);
GPUNVME_ASSERT_OFFSET(struct gpunvme_primary_controller_capabilities, vifrsm, 76);
GPUNVME_ASSERT_OFFSET(struct gpunvme_primary_controller_capabilities, vigran, 78);
GPUNVME_ASSERT_OFFSET(struct gpunvme_primary_controller_capabilities, reserved_80, 80);
#define GPUNVME_PRIMARY_CONTROLLER_CAPABILITIES_CRT_VQ_SHIFT 0 /* VQ Resources supported */
#define GPUNVME_PRIMARY_CONTROLLER_CAPABILITIES_CRT_VQ_MASK 0x1u
#define GPUNVME_PRIMARY_CONTROLLER_CAPABILITIES_CRT_VI_SHIFT 1 /* VI Resources supported */
#define GPUNVME_PRIMARY_CONTROLLER_CAPABILITIES_CRT_VI_MASK 0x2u

/* SecondaryController: A secondary controller (libnvme 1.3 nvme_secondary_ctrl) */
struct gpunvme_secondary_controller {
	uint16_t scid; /* Secondary Controller Identifier */
	uint16_t pcid; /* Primary Controller Identifier */
	uint8_t scs; /* Secondary Controller State */
	uint8_t reserved_5[3];
	uint16_t vfn; /* Virtual Function Number */
	uint16_t nvq; /* Number of VQ Flexible Resources Assigned */
	uint16_t nvi; /* Number of VI Flexible Resources Assigned */
	uint8_t reserved_14[18];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_secondary_controller, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_secondary_controller, scid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_secondary_controller, pcid, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_secondary_controller, scs, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_secondary_controller, reserved_5, 5);
GPUNVME_ASSERT_OFFSET(struct gpunvme_secondary_controller, vfn, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_secondary_controller, nvq, 10);
GPUNVME_ASSERT_OFFSET(struct gpunvme_secondary_controller, nvi, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_secondary_controller, reserved_14, 14);
#define GPUNVME_SECONDARY_CONTROLLER_SCS_STATE_SHIFT 0 /* State */
#define GPUNVME_SECONDARY_CONTROLLER_SCS_STATE_MASK 0x1u
#define GPUNVME_SECONDARY_CONTROLLER_SCS_STATE_OFFLINE 0x0u
#define GPUNVME_SECONDARY_CONTROLLER_SCS_STATE_ONLINE 0x1u

/* SecondaryControllerList: Up to 127 secondary controllers (libnvme 1.3 nvme_secondary_ctrl_list) */
struct gpunvme_secondary_controller_list {
	uint8_t numid; /* Number of Identifiers */
	uint8_t reserved_1[31];
	struct gpunvme_secondary_controller entry[127]; /* Secondary controllers */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_secondary_controller_list, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_secondary_controller_list, numid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_secondary_controller_list, reserved_1, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_secondary_controller_list, entry, 32);

/* PowerStateDescriptor: Power and latencies of one power state (Base 2.1 §5.1.13.2.1) */
struct gpunvme_power_state_descriptor {
	uint16_t mp; /* Maximum Power in units of MXPS */
	uint16_t bits_2; /* MXPS NOPS */
	uint32_t enlat; /* Entry Latency in microseconds */
	uint32_t exlat; /* Exit Latency in microseconds */
	uint32_t bits_12; /* RRT RRL RWT RWL */
	uint16_t idlp; /* Idle Power in units of IPS */
	uint16_t bits_18; /* IPS */
	uint16_t actp; /* Active Power in units of APS */
	uint8_t bits_22; /* APW APS */
	uint8_t epfrt; /* Emergency Power Fail Recovery Time in units of EPFRTS */
	uint8_t fqvt; /* Forced Quiescence Vault Time in units of FQVTS */
	uint8_t epfvt; /* Emergency Power Fail Vault Time in units of EPFVTS */
	uint16_t bits_26; /* EPFRTS FQVTS EPFVTS */
	uint8_t reserved_28[4];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_power_state_descriptor, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_power_state_descriptor, mp, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_power_state_descriptor, bits_2, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_power_state_descriptor, enlat, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_power_state_descriptor, exlat, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_power_state_descriptor, bits_12, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_power_state_descriptor, idlp, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_power_state_descriptor, bits_18, 18);
GPUNVME_ASSERT_OFFSET(struct gpunvme_power_state_descriptor, actp, 20);
GPUNVME_ASSERT_OFFSET(struct gpunvme_power_state_descriptor, bits_22, 22);
GPUNVME_ASSERT_OFFSET(struct gpunvme_power_state_descriptor, epfrt, 23);
GPUNVME_ASSERT_OFFSET(struct gpunvme_power_state_descriptor, fqvt, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_power_state_descriptor, epfvt, 25);
GPUNVME_ASSERT_OFFSET(struct gpunvme_power_state_descriptor, bits_26, 26);
GPUNVME_ASSERT_OFFSET(struct gpunvme_power_state_descriptor, reserved_28, 28);
#define GPUNVME_POWER_STATE_DESCRIPTOR_MXPS_SHIFT 8 /* Max Power Scale */
#define GPUNVME_POWER_STATE_DESCRIPTOR_MXPS_MASK 0x100u
#define GPUNVME_POWER_STATE_DESCRIPTOR_MXPS_MW_10 0x0u
#define GPUNVME_POWER_STATE_DESCRIPTOR_MXPS_UW_100 0x1u
#define GPUNVME_POWER_STATE_DESCRIPTOR_NOPS_SHIFT 9 /* Non-Operational State */
#define GPUNVME_POWER_STATE_DESCRIPTOR_NOPS_MASK 0x200u
#define GPUNVME_POWER_STATE_DESCRIPTOR_RRT_SHIFT 0 /* Relative Read Throughput, 0 is best */
#define GPUNVME_POWER_STATE_DESCRIPTOR_RRT_MASK 0x1fu
#define GPUNVME_POWER_STATE_DESCRIPTOR_RRL_SHIFT 8 /* Relative Read Latency, 0 is best */
#define GPUNVME_POWER_STATE_DESCRIPTOR_RRL_MASK 0x1f00u
#define GPUNVME_POWER_STATE_DESCRIPTOR_RWT_SHIFT 16 /* Relative Write Throughput, 0 is best */
#define GPUNVME_POWER_STATE_DESCRIPTOR_RWT_MASK 0x1f0000u
#define GPUNVME_POWER_STATE_DESCRIPTOR_RWL_SHIFT 24 /* Relative Write Latency, 0 is best */
#define GPUNVME_POWER_STATE_DESCRIPTOR_RWL_MASK 0x1f000000u
#define GPUNVME_POWER_STATE_DESCRIPTOR_IPS_SHIFT 6 /* Idle Power Scale */
#define GPUNVME_POWER_STATE_DESCRIPTOR_IPS_MASK 0xc0u
#define GPUNVME_POWER_STATE_DESCRIPTOR_IPS_NOT_REPORTED 0x0u
#define GPUNVME_POWER_STATE_DESCRIPTOR_IPS_UW_100 0x1u
#define GPUNVME_POWER_STATE_DESCRIPTOR_IPS_MW_10 0x2u
#define GPUNVME_POWER_STATE_DESCRIPTOR_APW_SHIFT 0 /* Active Power Workload */
#define GPUNVME_POWER_STATE_DESCRIPTOR_APW_MASK 0x7u
#define GPUNVME_POWER_STATE_DESCRIPTOR_APW_NO_WORKLOAD 0x0u
#define GPUNVME_POWER_STATE_DESCRIPTOR_APW_WORKLOAD_1 0x1u
#define GPUNVME_POWER_STATE_DESCRIPTOR_APW_WORKLOAD_2 0x2u
#define GPUNVME_POWER_STATE_DESCRIPTOR_APS_SHIFT 6 /* Active Power Scale */
#define GPUNVME_POWER_STATE_DESCRIPTOR_APS_MASK 0xc0u
#define GPUNVME_POWER_STATE_DESCRIPTOR_APS_NOT_REPORTED 0x0u
#define GPUNVME_POWER_STATE_DESCRIPTOR_APS_UW_100 0x1u
#define GPUNVME_POWER_STATE_DESCRIPTOR_APS_MW_10 0x2u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFRTS_SHIFT 0 /* Emergency Power Fail Recovery Time Scale */
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFRTS_MASK 0xfu
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFRTS_US_1 0x0u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFRTS_US_10 0x1u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFRTS_US_100 0x2u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFRTS_MS_1 0x3u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFRTS_MS_10 0x4u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFRTS_MS_100 0x5u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFRTS_S_1 0x6u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFRTS_S_10 0x7u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFRTS_S_100 0x8u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFRTS_S_1000 0x9u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFRTS_S_10000 0xau
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFRTS_S_100000 0xbu
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFRTS_S_1000000 0xcu
#define GPUNVME_POWER_STATE_DESCRIPTOR_FQVTS_SHIFT 4 /* Forced Quiescence Vault Time Scale */
#define GPUNVME_POWER_STATE_DESCRIPTOR_FQVTS_MASK 0xf0u
#define GPUNVME_POWER_STATE_DESCRIPTOR_FQVTS_US_1 0x0u
#define GPUNVME_POWER_STATE_DESCRIPTOR_FQVTS_US_10 0x1u
#define GPUNVME_POWER_STATE_DESCRIPTOR_FQVTS_US_100 0x2u
#define GPUNVME_POWER_STATE_DESCRIPTOR_FQVTS_MS_1 0x3u
#define GPUNVME_POWER_STATE_DESCRIPTOR_FQVTS_MS_10 0x4u
#define GPUNVME_POWER_STATE_DESCRIPTOR_FQVTS_MS_100 0x5u
#define GPUNVME_POWER_STATE_DESCRIPTOR_FQVTS_S_1 0x6u
#define GPUNVME_POWER_STATE_DESCRIPTOR_FQVTS_S_10 0x7u
#define GPUNVME_POWER_STATE_DESCRIPTOR_FQVTS_S_100 0x8u
#define GPUNVME_POWER_STATE_DESCRIPTOR_FQVTS_S_1000 0x9u
#define GPUNVME_POWER_STATE_DESCRIPTOR_FQVTS_S_10000 0xau
#define GPUNVME_POWER_STATE_DESCRIPTOR_FQVTS_S_100000 0xbu
#define GPUNVME_POWER_STATE_DESCRIPTOR_FQVTS_S_1000000 0xcu
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFVTS_SHIFT 8 /* Emergency Power Fail Vault Time Scale */
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFVTS_MASK 0xf00u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFVTS_US_1 0x0u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFVTS_US_10 0x1u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFVTS_US_100 0x2u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFVTS_MS_1 0x3u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFVTS_MS_10 0x4u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFVTS_MS_100 0x5u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFVTS_S_1 0x6u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFVTS_S_10 0x7u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFVTS_S_100 0x8u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFVTS_S_1000 0x9u
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFVTS_S_10000 0xau
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFVTS_S_100000 0xbu
#define GPUNVME_POWER_STATE_DESCRIPTOR_EPFVTS_S_1000000 0xcu

/* IdentifyController: Identify Controller data structure (CNS 01h) (Base 2.1 §5.1.13.2.1) */
struct gpunvme_identify_controller {
	uint16_t vid; /* PCI Vendor ID */
	uint16_t ssvid; /* PCI Subsystem Vendor ID */
	char sn[20]; /* Serial Number */
	char mn[40]; /* Model Number */
	char fr[8]; /* Firmware Revision */
	uint8_t rab; /* Recommended Arbitration Burst: 2 ^ n commands */
	uint8_t ieee[3]; /* IEEE OUI Identifier */
	uint8_t cmic; /* Controller Multi-Path I/O and Namespace Sharing Capabilities */
	uint8_t mdts; /* Maximum Data Transfer Size: 2 ^ n pages of CAP.MPSMIN; 0 means no limit */
	uint16_t cntlid; /* Controller ID */
	uint32_t ver; /* Version, as in VS */
	uint32_t rtd3r; /* RTD3 Resume Latency, microseconds */
	uint32_t rtd3e; /* RTD3 Entry Latency, microseconds */
	uint32_t oaes; /* Optional Asynchronous Events Supported */
	uint32_t ctratt; /* Controller Attributes */
	uint16_t rrls; /* Read Recovery Levels Supported */
	uint8_t bpcap; /* Boot Partition Capabilities */
	uint8_t reserved_103;
	uint32_t nssl; /* NVM Subsystem Shutdown Latency, microseconds */
	uint8_t reserved_108[2];
	uint8_t plsi; /* Power Loss Signaling Information */
	uint8_t cntrltype; /* Controller Type */
	uint8_t fguid[16]; /* FRU Globally Unique Identifier, big endian */
	uint16_t crdt1; /* Command Retry Delay Time 1 in units of 100 ms */
	uint16_t crdt2; /* Command Retry Delay Time 2 in units of 100 ms */
	uint16_t crdt3; /* Command Retry Delay Time 3 in units of 100 ms */
	uint8_t crcap; /* Controller Reachability Capabilities */
	uint8_t reserved_135[118];
	uint8_t nvmsr; /* NVM Subsystem Report */
	uint8_t vwci; /* VPD Write Cycle Information */
	uint8_t mec; /* Management Endpoint Capabilities */
	uint16_t oacs; /* Optional Admin Command Support */
	uint8_t acl; /* Abort Command Limit, 0's based */
	uint8_t aerl; /* Asynchronous Event Request Limit, 0's based */
	uint8_t frmw; /* Firmware Updates */
	uint8_t lpa; /* Log Page Attributes */
	uint8_t elpe; /* Error Log Page Entries, 0's based */
	uint8_t npss; /* Number of Power States Support, 0's based */
	uint8_t avscc; /* Admin Vendor Specific Command Configuration */
	uint8_t apsta; /* Autonomous Power State Transition Attributes */
	uint16_t wctemp; /* Warning Composite Temperature Threshold in kelvins */
	uint16_t cctemp; /* Critical Composite Temperature Threshold in kelvins */
	uint16_t mtfa; /* Maximum Time for Firmware Activation in units of 100 ms */
	uint32_t hmpre; /* Host Memory Buffer Preferred Size in units of 4 KiB */
	uint32_t hmmin; /* Host Memory Buffer Minimum Size in units of 4 KiB */
	uint64_t tnvmcap[2]; /* Total NVM Capacity in bytes */
	uint64_t unvmcap[2]; /* Unallocated NVM Capacity in bytes */
	uint32_t rpmbs; /* Replay Protected Memory Block Support */
	uint16_t edstt; /* Extended Device Self-test Time in minutes */
	uint8_t dsto; /* Device Self-test Options */
	uint8_t fwug; /* Firmware Update Granularity in units of 4 KiB */
	uint16_t kas; /* Keep Alive Support in units of 100 ms */
	uint16_t hctma; /* Host Controlled Thermal Management Attributes */
	uint16_t mntmt; /* Minimum Thermal Management Temperature in kelvins */
	uint16_t mxtmt; /* Maximum Thermal Management Temperature in kelvins */
	uint32_t sanicap; /* Sanitize Capabilities */
	uint32_t hmminds; /* Host Memory Buffer Minimum Descriptor Entry Size in units of 4 KiB */
	uint16_t hmmaxd; /* Host Memory Maximum Descriptors Entries */
	uint16_t nsetidmax; /* NVM Set Identifier Maximum */
	uint16_t endgidmax; /* Endurance Group Identifier Maximum */
	uint8_t anatt; /* ANA Transition Time in seconds */
	uint8_t anacap; /* Asymmetric Namespace Access Capabilities */
	uint32_t anagrpmax; /* ANA Group Identifier Maximum */
	uint32_t nanagrpid; /* Number of ANA Group Identifiers */
	uint32_t pels; /* Persistent Event Log Size in units of 64 KiB */
	uint16_t did; /* Domain Identifier */
	uint8_t kpioc; /* Key Per I/O Capabilities */
	uint8_t reserved_359;
	uint16_t mptfawr; /* Maximum Processing Time for Firmware Activation Without Reset in units of 100 ms */
	uint8_t reserved_362[6];
	uint64_t megcap[2]; /* Max Endurance Group Capacity */
	uint8_t tmpthha; /* Temperature Threshold Hysteresis Attributes */
	uint8_t reserved_385;
	uint16_t cqt; /* Command Quiesce Time in milliseconds */
	uint8_t reserved_388[124];
	uint8_t sqes; /* Submission Queue Entry Size */
	uint8_t cqes; /* Completion Queue Entry Size */
	uint16_t maxcmd; /* Maximum Outstanding Commands per queue */
	uint32_t nn; /* Number of Namespaces: the largest valid NSID */
	uint16_t oncs; /* Optional NVM Command Support */
	uint16_t fuses; /* Fused Operation Support */
	uint8_t fna; /* Format NVM Attributes */
	uint8_t vwc; /* Volatile Write Cache */
	uint16_t awun; /* Atomic Write Unit Normal in logical blocks, 0's based */
	uint16_t awupf; /* Atomic Write Unit Power Fail in logical blocks, 0's based */
	uint8_t icsvscc; /* I/O Command Set Vendor Specific Command Configuration */
	uint8_t nwpc; /* Namespace Write Protection Capabilities */
	uint16_t acwu; /* Atomic Compare & Write Unit in logical blocks, 0's based */
	uint16_t cdfs; /* Copy Descriptor Formats Supported */
	uint32_t sgls; /* SGL Support */
	uint32_t mnan; /* Maximum Number of Allowed Namespaces */
	uint64_t maxdna[2]; /* Maximum Domain Namespace Attachments */
	uint32_t maxcna; /* Maximum I/O Controller Namespace Attachments */
	uint32_t oaqd; /* Optimal Aggregated Queue Depth */
	uint8_t rhiri; /* Recommended Host-Initiated Refresh Interval in days */
	uint8_t hirt; /* Host-Initiated Refresh Time in minutes */
	uint16_t cmmrtd; /* Controller Maximum Memory Range Tracking Descriptors */
	uint16_t nmmrtd; /* NVM Subsystem Maximum Memory Range Tracking Descriptors */
	uint8_t minmrtg; /* Minimum Memory Range Tracking Granularity */
	uint8_t maxmrtg; /* Maximum Memory Range Tracking Granularity */
	uint8_t trattr; /* Tracking Attributes */
	uint8_t reserved_577;
	uint16_t mcudmq; /* Maximum Controller User Data Migration Queues */
	uint16_t mnsudmq; /* Maximum NVM Subsystem User Data Migration Queues */
	uint16_t mcmr; /* Maximum CDQ Memory Ranges */
	uint16_t nmcmr; /* NVM Subsystem Maximum CDQ Memory Ranges */
	uint16_t mcdqpc; /* Maximum Controller Data Queue PRP Count */
	uint8_t reserved_588[180];
	char subnqn[256]; /* NVM Subsystem NVMe Qualified Name, null terminated */
	uint8_t reserved_1024[768];
	uint32_t ioccsz; /* I/O Queue Command Capsule Supported Size in units of 16 bytes */
	uint32_t iorcsz; /* I/O Queue Response Capsule Supported Size in units of 16 bytes */
	uint16_t icdoff; /* In Capsule Data Offset in units of 16 bytes */
	uint8_t fcatt; /* Fabrics Controller Attributes */
	uint8_t msdbd; /* Maximum SGL Data Block Descriptors */
	uint16_t ofcs; /* Optional Fabrics Commands Support */
	uint8_t dctype; /* Discovery Controller Type */
	uint8_t reserved_1807[241];
	struct gpunvme_power_state_descriptor psd[32]; /* Power State Descriptors 0 to 31 */
	uint8_t vs[1024]; /* Vendor Specific */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_identify_controller, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, vid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, ssvid, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, sn, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, mn, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, fr, 64);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, rab, 72);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, ieee, 73);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, cmic, 76);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, mdts, 77);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, cntlid, 78);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, ver, 80);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, rtd3r, 84);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, rtd3e, 88);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, oaes, 92);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, ctratt, 96);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, rrls, 100);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, bpcap, 102);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, reserved_103, 103);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, nssl, 104);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, reserved_108, 108);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, plsi, 110);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, cntrltype, 111);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, fguid, 112);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, crdt1, 128);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, crdt2, 130);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, crdt3, 132);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, crcap, 134);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, reserved_135, 135);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, nvmsr, 253);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, vwci, 254);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, mec, 255);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, oacs, 256);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, acl, 258);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, aerl, 259);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, frmw, 260);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, lpa, 261);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, elpe, 262);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, npss, 263);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, avscc, 264);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, apsta, 265);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, wctemp, 266);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, cctemp, 268);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, mtfa, 270);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, hmpre, 272);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, hmmin, 276);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, tnvmcap, 280);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, unvmcap, 296);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, rpmbs, 312);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, edstt, 316);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, dsto, 318);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, fwug, 319);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, kas, 320);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, hctma, 322);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, mntmt, 324);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, mxtmt, 326);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, sanicap, 328);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, hmminds, 332);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, hmmaxd, 336);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, nsetidmax, 338);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, endgidmax, 340);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, anatt, 342);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, anacap, 343);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, anagrpmax, 344);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, nanagrpid, 348);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, pels, 352);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, did, 356);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, kpioc, 358);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, reserved_359, 359);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, mptfawr, 360);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, reserved_362, 362);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, megcap, 368);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, tmpthha, 384);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, reserved_385, 385);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, cqt, 386);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, reserved_388, 388);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, sqes, 512);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, cqes, 513);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, maxcmd, 514);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, nn, 516);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, oncs, 520);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, fuses, 522);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, fna, 524);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, vwc, 525);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, awun, 526);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, awupf, 528);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, icsvscc, 530);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, nwpc, 531);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, acwu, 532);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, cdfs, 534);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, sgls, 536);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, mnan, 540);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, maxdna, 544);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, maxcna, 560);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, oaqd, 564);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, rhiri, 568);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, hirt, 569);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, cmmrtd, 570);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, nmmrtd, 572);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, minmrtg, 574);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, maxmrtg, 575);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, trattr, 576);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, reserved_577, 577);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, mcudmq, 578);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, mnsudmq, 580);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, mcmr, 582);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, nmcmr, 584);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, mcdqpc, 586);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, reserved_588, 588);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, subnqn, 768);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, reserved_1024, 1024);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, ioccsz, 1792);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, iorcsz, 1796);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, icdoff, 1800);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, fcatt, 1802);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, msdbd, 1803);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, ofcs, 1804);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, dctype, 1806);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, reserved_1807, 1807);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, psd, 2048);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_controller, vs, 3072);
#define GPUNVME_IDENTIFY_CONTROLLER_CMIC_MPORTS_SHIFT 0 /* Multiple Ports */
#define GPUNVME_IDENTIFY_CONTROLLER_CMIC_MPORTS_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_CMIC_MCTRS_SHIFT 1 /* Multiple Controllers */
#define GPUNVME_IDENTIFY_CONTROLLER_CMIC_MCTRS_MASK 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_CMIC_FT_SHIFT 2 /* Function Type */
#define GPUNVME_IDENTIFY_CONTROLLER_CMIC_FT_MASK 0x4u
#define GPUNVME_IDENTIFY_CONTROLLER_CMIC_ANARS_SHIFT 3 /* Asymmetric Namespace Access Reporting Support */
#define GPUNVME_IDENTIFY_CONTROLLER_CMIC_ANARS_MASK 0x8u
#define GPUNVME_IDENTIFY_CONTROLLER_VER_TER_SHIFT 0 /* Tertiary Version */
#define GPUNVME_IDENTIFY_CONTROLLER_VER_TER_MASK 0xffu
#define GPUNVME_IDENTIFY_CONTROLLER_VER_MNR_SHIFT 8 /* Minor Version */
#define GPUNVME_IDENTIFY_CONTROLLER_VER_MNR_MASK 0xff00u
#define GPUNVME_IDENTIFY_CONTROLLER_VER_MJR_SHIFT 16 /* Major Version */
#define GPUNVME_IDENTIFY_CONTROLLER_VER_MJR_MASK 0xffff0000u
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_NSAN_SHIFT 8 /* Attached Namespace Attribute Notices */
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_NSAN_MASK 0x100u
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_FAN_SHIFT 9 /* Firmware Activation Notices */
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_FAN_MASK 0x200u
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_ANACN_SHIFT 11 /* Asymmetric Namespace Access Change Notices */
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_ANACN_MASK 0x800u
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_PLEAN_SHIFT 12 /* Predictable Latency Event Aggregate Log Change Notices */
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_PLEAN_MASK 0x1000u
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_LSIAN_SHIFT 13 /* LBA Status Information Alert Notices */
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_LSIAN_MASK 0x2000u
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_EGEAN_SHIFT 14 /* Endurance Group Event Aggregate Log Page Change Notices */
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_EGEAN_MASK 0x4000u
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_NNSS_SHIFT 15 /* Normal NVM Subsystem Shutdown */
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_NNSS_MASK 0x8000u
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_TTHR_SHIFT 16 /* Temperature Threshold Hysteresis Recovery */
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_TTHR_MASK 0x10000u
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_RGCNS_SHIFT 17 /* Reachability Groups Change Notices Support */
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_RGCNS_MASK 0x20000u
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_ANSAN_SHIFT 19 /* Allocated Namespace Attribute Notices */
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_ANSAN_MASK 0x80000u
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_ZDCN_SHIFT 27 /* Zone Descriptor Changed Notices */
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_ZDCN_MASK 0x8000000u
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_DLPCN_SHIFT 31 /* Discovery Log Page Change Notification */
#define GPUNVME_IDENTIFY_CONTROLLER_OAES_DLPCN_MASK 0x80000000u
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_HIDS_SHIFT 0 /* Host Identifier Support: 128 bits */
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_HIDS_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_NOPSPM_SHIFT 1 /* Non-Operational Power State Permissive Mode */
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_NOPSPM_MASK 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_NSETS_SHIFT 2 /* NVM Sets */
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_NSETS_MASK 0x4u
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_RRLVLS_SHIFT 3 /* Read Recovery Levels */
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_RRLVLS_MASK 0x8u
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_EGS_SHIFT 4 /* Endurance Groups */
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_EGS_MASK 0x10u
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_PLM_SHIFT 5 /* Predictable Latency Mode */
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_PLM_MASK 0x20u
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_TBKAS_SHIFT 6 /* Traffic Based Keep Alive Support */
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_TBKAS_MASK 0x40u
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_NG_SHIFT 7 /* Namespace Granularity */
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_NG_MASK 0x80u
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_SQA_SHIFT 8 /* SQ Associations */
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_SQA_MASK 0x100u
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_ULIST_SHIFT 9 /* UUID List */
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_ULIST_MASK 0x200u
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_MDS_SHIFT 10 /* Multi-Domain Subsystem */
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_MDS_MASK 0x400u
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_FCM_SHIFT 11 /* Fixed Capacity Management */
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_FCM_MASK 0x800u
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_VCM_SHIFT 12 /* Variable Capacity Management */
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_VCM_MASK 0x1000u
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_DEG_SHIFT 13 /* Delete Endurance Group */
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_DEG_MASK 0x2000u
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_DNVMS_SHIFT 14 /* Delete NVM Set */
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_DNVMS_MASK 0x4000u
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_ELBAS_SHIFT 15 /* Extended LBA Formats Supported */
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_ELBAS_MASK 0x8000u
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_MEM_SHIFT 16 /* MDTS and Size Limits Exclude Metadata */
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_MEM_MASK 0x10000u
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_HMBR_SHIFT 17 /* HMB Restrict Non-Operational Power State Access */
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_HMBR_MASK 0x20000u
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_RHII_SHIFT 18 /* Reservations and Host Identifier Interaction */
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_RHII_MASK 0x40000u
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_FDPS_SHIFT 19 /* Flexible Data Placement Support */
#define GPUNVME_IDENTIFY_CONTROLLER_CTRATT_FDPS_MASK 0x80000u
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL0_SHIFT 0 /* Level 0 */
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL0_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL1_SHIFT 1 /* Level 1 */
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL1_MASK 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL2_SHIFT 2 /* Level 2 */
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL2_MASK 0x4u
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL3_SHIFT 3 /* Level 3 */
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL3_MASK 0x8u
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL4_SHIFT 4 /* Level 4: default */
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL4_MASK 0x10u
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL5_SHIFT 5 /* Level 5 */
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL5_MASK 0x20u
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL6_SHIFT 6 /* Level 6 */
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL6_MASK 0x40u
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL7_SHIFT 7 /* Level 7 */
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL7_MASK 0x80u
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL8_SHIFT 8 /* Level 8 */
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL8_MASK 0x100u
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL9_SHIFT 9 /* Level 9 */
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL9_MASK 0x200u
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL10_SHIFT 10 /* Level 10 */
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL10_MASK 0x400u
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL11_SHIFT 11 /* Level 11 */
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL11_MASK 0x800u
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL12_SHIFT 12 /* Level 12 */
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL12_MASK 0x1000u
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL13_SHIFT 13 /* Level 13 */
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL13_MASK 0x2000u
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL14_SHIFT 14 /* Level 14 */
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL14_MASK 0x4000u
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL15_SHIFT 15 /* Level 15: fast fail */
#define GPUNVME_IDENTIFY_CONTROLLER_RRLS_RRL15_MASK 0x8000u
#define GPUNVME_IDENTIFY_CONTROLLER_BPCAP_RPMBBPWPS_SHIFT 0 /* RPMB Boot Partition Write Protection Support */
#define GPUNVME_IDENTIFY_CONTROLLER_BPCAP_RPMBBPWPS_MASK 0x3u
#define GPUNVME_IDENTIFY_CONTROLLER_BPCAP_RPMBBPWPS_NOT_SPECIFIED 0x0u
#define GPUNVME_IDENTIFY_CONTROLLER_BPCAP_RPMBBPWPS_NOT_SUPPORTED 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_BPCAP_RPMBBPWPS_SUPPORTED 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_BPCAP_SFBPWPS_SHIFT 2 /* Set Features Boot Partition Write Protection Support */
#define GPUNVME_IDENTIFY_CONTROLLER_BPCAP_SFBPWPS_MASK 0x4u
#define GPUNVME_IDENTIFY_CONTROLLER_PLSI_PLSEPF_SHIFT 0 /* PLS Emergency Power Fail */
#define GPUNVME_IDENTIFY_CONTROLLER_PLSI_PLSEPF_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_PLSI_PLSFQ_SHIFT 1 /* PLS Forced Quiescence */
#define GPUNVME_IDENTIFY_CONTROLLER_PLSI_PLSFQ_MASK 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_CNTRLTYPE_NOT_REPORTED 0x0u
#define GPUNVME_IDENTIFY_CONTROLLER_CNTRLTYPE_IO 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_CNTRLTYPE_DISCOVERY 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_CNTRLTYPE_ADMINISTRATIVE 0x3u
#define GPUNVME_IDENTIFY_CONTROLLER_CRCAP_RRSUP_SHIFT 0 /* Reachability Reporting Supported */
#define GPUNVME_IDENTIFY_CONTROLLER_CRCAP_RRSUP_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_CRCAP_RGIDC_SHIFT 1 /* Reachability Group ID Changeable */
#define GPUNVME_IDENTIFY_CONTROLLER_CRCAP_RGIDC_MASK 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_NVMSR_NVMESD_SHIFT 0 /* NVMe Storage Device */
#define GPUNVME_IDENTIFY_CONTROLLER_NVMSR_NVMESD_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_NVMSR_NVMEE_SHIFT 1 /* NVMe Enclosure */
#define GPUNVME_IDENTIFY_CONTROLLER_NVMSR_NVMEE_MASK 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_VWCI_VWCR_SHIFT 0 /* VPD Write Cycles Remaining; 7Fh means 127 or more */
#define GPUNVME_IDENTIFY_CONTROLLER_VWCI_VWCR_MASK 0x7fu
#define GPUNVME_IDENTIFY_CONTROLLER_VWCI_VWCRV_SHIFT 7 /* VPD Write Cycles Remaining Valid */
#define GPUNVME_IDENTIFY_CONTROLLER_VWCI_VWCRV_MASK 0x80u
#define GPUNVME_IDENTIFY_CONTROLLER_MEC_SMBUSME_SHIFT 0 /* SMBus/I2C Port Management Endpoint */
#define GPUNVME_IDENTIFY_CONTROLLER_MEC_SMBUSME_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_MEC_PCIEME_SHIFT 1 /* PCIe Port Management Endpoint */
#define GPUNVME_IDENTIFY_CONTROLLER_MEC_PCIEME_MASK 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_SSRS_SHIFT 0 /* Security Send Receive Supported */
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_SSRS_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_FNVMS_SHIFT 1 /* Format NVM Supported */
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_FNVMS_MASK 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_FWDS_SHIFT 2 /* Firmware Download Supported */
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_FWDS_MASK 0x4u
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_NMS_SHIFT 3 /* Namespace Management Supported */
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_NMS_MASK 0x8u
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_DSTS_SHIFT 4 /* Device Self-test Supported */
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_DSTS_MASK 0x10u
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_DIRS_SHIFT 5 /* Directives Supported */
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_DIRS_MASK 0x20u
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_NSRS_SHIFT 6 /* NVMe-MI Send Receive Supported */
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_NSRS_MASK 0x40u
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_VMS_SHIFT 7 /* Virtualization Management Supported */
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_VMS_MASK 0x80u
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_DBCS_SHIFT 8 /* Doorbell Buffer Config Supported */
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_DBCS_MASK 0x100u
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_GLSS_SHIFT 9 /* Get LBA Status Supported */
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_GLSS_MASK 0x200u
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_CFLS_SHIFT 10 /* Command and Feature Lockdown Supported */
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_CFLS_MASK 0x400u
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_HMLMS_SHIFT 11 /* Host Managed Live Migration Support */
#define GPUNVME_IDENTIFY_CONTROLLER_OACS_HMLMS_MASK 0x800u
#define GPUNVME_IDENTIFY_CONTROLLER_FRMW_FFSRO_SHIFT 0 /* First Firmware Slot Read Only */
#define GPUNVME_IDENTIFY_CONTROLLER_FRMW_FFSRO_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_FRMW_NOFS_SHIFT 1 /* Number Of Firmware Slots */
#define GPUNVME_IDENTIFY_CONTROLLER_FRMW_NOFS_MASK 0xeu
#define GPUNVME_IDENTIFY_CONTROLLER_FRMW_FAWR_SHIFT 4 /* Firmware Activation Without Reset */
#define GPUNVME_IDENTIFY_CONTROLLER_FRMW_FAWR_MASK 0x10u
#define GPUNVME_IDENTIFY_CONTROLLER_FRMW_SMUD_SHIFT 5 /* Support Multiple Update Detection */
#define GPUNVME_IDENTIFY_CONTROLLER_FRMW_SMUD_MASK 0x20u
#define GPUNVME_IDENTIFY_CONTROLLER_LPA_SMARTS_SHIFT 0 /* SMART Support per namespace */
#define GPUNVME_IDENTIFY_CONTROLLER_LPA_SMARTS_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_LPA_CSES_SHIFT 1 /* Commands Supported and Effects Support */
#define GPUNVME_IDENTIFY_CONTROLLER_LPA_CSES_MASK 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_LPA_LPEDS_SHIFT 2 /* Log Page Extended Data Support */
#define GPUNVME_IDENTIFY_CONTROLLER_LPA_LPEDS_MASK 0x4u
#define GPUNVME_IDENTIFY_CONTROLLER_LPA_TS_SHIFT 3 /* Telemetry Support */
#define GPUNVME_IDENTIFY_CONTROLLER_LPA_TS_MASK 0x8u
#define GPUNVME_IDENTIFY_CONTROLLER_LPA_PES_SHIFT 4 /* Persistent Event Support */
#define GPUNVME_IDENTIFY_CONTROLLER_LPA_PES_MASK 0x10u
#define GPUNVME_IDENTIFY_CONTROLLER_LPA_MLPS_SHIFT 5 /* Miscellaneous Log Page Support */
#define GPUNVME_IDENTIFY_CONTROLLER_LPA_MLPS_MASK 0x20u
#define GPUNVME_IDENTIFY_CONTROLLER_LPA_DA4S_SHIFT 6 /* Data Area 4 Support */
#define GPUNVME_IDENTIFY_CONTROLLER_LPA_DA4S_MASK 0x40u
#define GPUNVME_IDENTIFY_CONTROLLER_AVSCC_VSCF_SHIFT 0 /* Vendor Specific Command Format */
#define GPUNVME_IDENTIFY_CONTROLLER_AVSCC_VSCF_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_APSTA_APTS_SHIFT 0 /* Autonomous Power State Transition Support */
#define GPUNVME_IDENTIFY_CONTROLLER_APSTA_APTS_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_RPMBS_NRPMBU_SHIFT 0 /* Number of RPMB Units */
#define GPUNVME_IDENTIFY_CONTROLLER_RPMBS_NRPMBU_MASK 0x7u
#define GPUNVME_IDENTIFY_CONTROLLER_RPMBS_AUTHM_SHIFT 3 /* Authentication Method */
#define GPUNVME_IDENTIFY_CONTROLLER_RPMBS_AUTHM_MASK 0x38u
#define GPUNVME_IDENTIFY_CONTROLLER_RPMBS_AUTHM_HMAC_SHA_256 0x0u
#define GPUNVME_IDENTIFY_CONTROLLER_RPMBS_TSZE_SHIFT 16 /* Total Size in units of 128 KiB, 0's based */
#define GPUNVME_IDENTIFY_CONTROLLER_RPMBS_TSZE_MASK 0xff0000u
#define GPUNVME_IDENTIFY_CONTROLLER_RPMBS_ASZE_SHIFT 24 /* Access Size in units of 512 bytes, 0's based */
#define GPUNVME_IDENTIFY_CONTROLLER_RPMBS_ASZE_MASK 0xff000000u
#define GPUNVME_IDENTIFY_CONTROLLER_DSTO_SDSO_SHIFT 0 /* Single Device Self-test Operation */
#define GPUNVME_IDENTIFY_CONTROLLER_DSTO_SDSO_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_DSTO_HIRS_SHIFT 1 /* Host-Initiated Refresh Support */
#define GPUNVME_IDENTIFY_CONTROLLER_DSTO_HIRS_MASK 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_HCTMA_HCTMS_SHIFT 0 /* Host Controlled Thermal Management Support */
#define GPUNVME_IDENTIFY_CONTROLLER_HCTMA_HCTMS_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_SANICAP_CES_SHIFT 0 /* Crypto Erase Support */
#define GPUNVME_IDENTIFY_CONTROLLER_SANICAP_CES_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_SANICAP_BES_SHIFT 1 /* Block Erase Support */
#define GPUNVME_IDENTIFY_CONTROLLER_SANICAP_BES_MASK 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_SANICAP_OWS_SHIFT 2 /* Overwrite Support */
#define GPUNVME_IDENTIFY_CONTROLLER_SANICAP_OWS_MASK 0x4u
#define GPUNVME_IDENTIFY_CONTROLLER_SANICAP_VERS_SHIFT 3 /* Verification Support */
#define GPUNVME_IDENTIFY_CONTROLLER_SANICAP_VERS_MASK 0x8u
#define GPUNVME_IDENTIFY_CONTROLLER_SANICAP_NDI_SHIFT 29 /* No-Deallocate Inhibited */
#define GPUNVME_IDENTIFY_CONTROLLER_SANICAP_NDI_MASK 0x20000000u
#define GPUNVME_IDENTIFY_CONTROLLER_SANICAP_NODMMAS_SHIFT 30 /* No-Deallocate Modifies Media After Sanitize */
#define GPUNVME_IDENTIFY_CONTROLLER_SANICAP_NODMMAS_MASK 0xc0000000u
#define GPUNVME_IDENTIFY_CONTROLLER_SANICAP_NODMMAS_NOT_DEFINED 0x0u
#define GPUNVME_IDENTIFY_CONTROLLER_SANICAP_NODMMAS_NOT_MODIFIED 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_SANICAP_NODMMAS_MODIFIED 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_ANACAP_RANAOS_SHIFT 0 /* Report ANA Optimized State */
#define GPUNVME_IDENTIFY_CONTROLLER_ANACAP_RANAOS_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_ANACAP_RANANOS_SHIFT 1 /* Report ANA Non-Optimized State */
#define GPUNVME_IDENTIFY_CONTROLLER_ANACAP_RANANOS_MASK 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_ANACAP_RANAIS_SHIFT 2 /* Report ANA Inaccessible State */
#define GPUNVME_IDENTIFY_CONTROLLER_ANACAP_RANAIS_MASK 0x4u
#define GPUNVME_IDENTIFY_CONTROLLER_ANACAP_RANAPLS_SHIFT 3 /* Report ANA Persistent Loss State */
#define GPUNVME_IDENTIFY_CONTROLLER_ANACAP_RANAPLS_MASK 0x8u
#define GPUNVME_IDENTIFY_CONTROLLER_ANACAP_RANACS_SHIFT 4 /* Report ANA Change State */
#define GPUNVME_IDENTIFY_CONTROLLER_ANACAP_RANACS_MASK 0x10u
#define GPUNVME_IDENTIFY_CONTROLLER_ANACAP_ANAGIDLWAS_SHIFT 6 /* ANA Group ID Locked When Attached Support */
#define GPUNVME_IDENTIFY_CONTROLLER_ANACAP_ANAGIDLWAS_MASK 0x40u
#define GPUNVME_IDENTIFY_CONTROLLER_ANACAP_ANAGIDS_SHIFT 7 /* ANA Group ID Support */
#define GPUNVME_IDENTIFY_CONTROLLER_ANACAP_ANAGIDS_MASK 0x80u
#define GPUNVME_IDENTIFY_CONTROLLER_KPIOC_KPIOS_SHIFT 0 /* Key Per I/O Supported */
#define GPUNVME_IDENTIFY_CONTROLLER_KPIOC_KPIOS_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_KPIOC_KPIOSC_SHIFT 1 /* Key Per I/O Scope */
#define GPUNVME_IDENTIFY_CONTROLLER_KPIOC_KPIOSC_MASK 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_TMPTHHA_TMPTHMH_SHIFT 0 /* Temperature Threshold Maximum Hysteresis in kelvins */
#define GPUNVME_IDENTIFY_CONTROLLER_TMPTHHA_TMPTHMH_MASK 0x7u
#define GPUNVME_IDENTIFY_CONTROLLER_SQES_MINSQES_SHIFT 0 /* Minimum: 2 ^ n bytes */
#define GPUNVME_IDENTIFY_CONTROLLER_SQES_MINSQES_MASK 0xfu
#define GPUNVME_IDENTIFY_CONTROLLER_SQES_MAXSQES_SHIFT 4 /* Maximum: 2 ^ n bytes */
#define GPUNVME_IDENTIFY_CONTROLLER_SQES_MAXSQES_MASK 0xf0u
#define GPUNVME_IDENTIFY_CONTROLLER_CQES_MINCQES_SHIFT 0 /* Minimum: 2 ^ n bytes */
#define GPUNVME_IDENTIFY_CONTROLLER_CQES_MINCQES_MASK 0xfu
#define GPUNVME_IDENTIFY_CONTROLLER_CQES_MAXCQES_SHIFT 4 /* Maximum: 2 ^ n bytes */
#define GPUNVME_IDENTIFY_CONTROLLER_CQES_MAXCQES_MASK 0xf0u
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_NVMCMPS_SHIFT 0 /* Compare Command Support */
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_NVMCMPS_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_NVMWUSV_SHIFT 1 /* Write Uncorrectable Support Variants */
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_NVMWUSV_MASK 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_NVMDSMSV_SHIFT 2 /* Dataset Management Support Variants */
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_NVMDSMSV_MASK 0x4u
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_NVMWZSV_SHIFT 3 /* Write Zeroes Support Variants */
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_NVMWZSV_MASK 0x8u
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_SSFS_SHIFT 4 /* Save and Select Feature Support */
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_SSFS_MASK 0x10u
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_RESERVS_SHIFT 5 /* Reservations Support */
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_RESERVS_MASK 0x20u
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_TSS_SHIFT 6 /* Timestamp Support */
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_TSS_MASK 0x40u
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_NVMVFYS_SHIFT 7 /* Verify Support */
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_NVMVFYS_MASK 0x80u
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_NVMCPYS_SHIFT 8 /* Copy Support */
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_NVMCPYS_MASK 0x100u
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_NVMCSA_SHIFT 9 /* Copy Single Atomicity */
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_NVMCSA_MASK 0x200u
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_NVMAFC_SHIFT 10 /* All Fast Copy */
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_NVMAFC_MASK 0x400u
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_MAXWZD_SHIFT 11 /* Maximum Write Zeroes with Deallocate */
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_MAXWZD_MASK 0x800u
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_NSZS_SHIFT 12 /* Namespace Zeroes Support */
#define GPUNVME_IDENTIFY_CONTROLLER_ONCS_NSZS_MASK 0x1000u
#define GPUNVME_IDENTIFY_CONTROLLER_FUSES_FCWS_SHIFT 0 /* Fused Compare and Write Supported */
#define GPUNVME_IDENTIFY_CONTROLLER_FUSES_FCWS_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_FNA_FNS_SHIFT 0 /* Format Namespace Scope */
#define GPUNVME_IDENTIFY_CONTROLLER_FNA_FNS_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_FNA_SENS_SHIFT 1 /* Secure Erase Namespace Scope */
#define GPUNVME_IDENTIFY_CONTROLLER_FNA_SENS_MASK 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_FNA_CRYES_SHIFT 2 /* Cryptographic Erase Supported */
#define GPUNVME_IDENTIFY_CONTROLLER_FNA_CRYES_MASK 0x4u
#define GPUNVME_IDENTIFY_CONTROLLER_FNA_FNVMBS_SHIFT 3 /* Format NVM Broadcast Support */
#define GPUNVME_IDENTIFY_CONTROLLER_FNA_FNVMBS_MASK 0x8u
#define GPUNVME_IDENTIFY_CONTROLLER_VWC_VWCP_SHIFT 0 /* Volatile Write Cache Present */
#define GPUNVME_IDENTIFY_CONTROLLER_VWC_VWCP_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_VWC_FB_SHIFT 1 /* Flush Behavior for NSID FFFFFFFFh */
#define GPUNVME_IDENTIFY_CONTROLLER_VWC_FB_MASK 0x6u
#define GPUNVME_IDENTIFY_CONTROLLER_VWC_FB_NOT_INDICATED 0x0u
#define GPUNVME_IDENTIFY_CONTROLLER_VWC_FB_NOT_SUPPORTED 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_VWC_FB_SUPPORTED 0x3u
#define GPUNVME_IDENTIFY_CONTROLLER_ICSVSCC_SNVSCF_SHIFT 0 /* Same NVM Vendor Specific Command Format */
#define GPUNVME_IDENTIFY_CONTROLLER_ICSVSCC_SNVSCF_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_NWPC_NWPWPS_SHIFT 0 /* No Write Protect and Write Protect Support */
#define GPUNVME_IDENTIFY_CONTROLLER_NWPC_NWPWPS_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_NWPC_WPUPCS_SHIFT 1 /* Write Protect Until Power Cycle Support */
#define GPUNVME_IDENTIFY_CONTROLLER_NWPC_WPUPCS_MASK 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_NWPC_PWPS_SHIFT 2 /* Permanent Write Protect Support */
#define GPUNVME_IDENTIFY_CONTROLLER_NWPC_PWPS_MASK 0x4u
#define GPUNVME_IDENTIFY_CONTROLLER_CDFS_CDF0S_SHIFT 0 /* Copy Descriptor Format 0h Support */
#define GPUNVME_IDENTIFY_CONTROLLER_CDFS_CDF0S_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_CDFS_CDF1S_SHIFT 1 /* Copy Descriptor Format 1h Support */
#define GPUNVME_IDENTIFY_CONTROLLER_CDFS_CDF1S_MASK 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_CDFS_CDF2S_SHIFT 2 /* Copy Descriptor Format 2h Support */
#define GPUNVME_IDENTIFY_CONTROLLER_CDFS_CDF2S_MASK 0x4u
#define GPUNVME_IDENTIFY_CONTROLLER_CDFS_CDF3S_SHIFT 3 /* Copy Descriptor Format 3h Support */
#define GPUNVME_IDENTIFY_CONTROLLER_CDFS_CDF3S_MASK 0x8u
#define GPUNVME_IDENTIFY_CONTROLLER_CDFS_CDF4S_SHIFT 4 /* Copy Descriptor Format 4h Support */
#define GPUNVME_IDENTIFY_CONTROLLER_CDFS_CDF4S_MASK 0x10u
#define GPUNVME_IDENTIFY_CONTROLLER_SGLS_SGLS_SHIFT 0 /* SGL Support */
#define GPUNVME_IDENTIFY_CONTROLLER_SGLS_SGLS_MASK 0x3u
#define GPUNVME_IDENTIFY_CONTROLLER_SGLS_SGLS_NOT_SUPPORTED 0x0u
#define GPUNVME_IDENTIFY_CONTROLLER_SGLS_SGLS_SUPPORTED 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_SGLS_SGLS_DWORD_ALIGNED 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_SGLS_KSDBDS_SHIFT 2 /* Keyed SGL Data Block Descriptor Support */
#define GPUNVME_IDENTIFY_CONTROLLER_SGLS_KSDBDS_MASK 0x4u
#define GPUNVME_IDENTIFY_CONTROLLER_SGLS_SDT_SHIFT 8 /* SGL Descriptor Threshold */
#define GPUNVME_IDENTIFY_CONTROLLER_SGLS_SDT_MASK 0xff00u
#define GPUNVME_IDENTIFY_CONTROLLER_SGLS_SBBDS_SHIFT 16 /* SGL Bit Bucket Descriptor Supported */
#define GPUNVME_IDENTIFY_CONTROLLER_SGLS_SBBDS_MASK 0x10000u
#define GPUNVME_IDENTIFY_CONTROLLER_SGLS_MBA_SHIFT 17 /* Metadata Buffer Alignment */
#define GPUNVME_IDENTIFY_CONTROLLER_SGLS_MBA_MASK 0x20000u
#define GPUNVME_IDENTIFY_CONTROLLER_SGLS_LLDTS_SHIFT 18 /* Length Larger than Data Transfer Support */
#define GPUNVME_IDENTIFY_CONTROLLER_SGLS_LLDTS_MASK 0x40000u
#define GPUNVME_IDENTIFY_CONTROLLER_SGLS_MSDS_SHIFT 19 /* MPTR SGL Descriptor Support */
#define GPUNVME_IDENTIFY_CONTROLLER_SGLS_MSDS_MASK 0x80000u
#define GPUNVME_IDENTIFY_CONTROLLER_SGLS_SAOS_SHIFT 20 /* SGL Address Offset Supported */
#define GPUNVME_IDENTIFY_CONTROLLER_SGLS_SAOS_MASK 0x100000u
#define GPUNVME_IDENTIFY_CONTROLLER_SGLS_TSDBDS_SHIFT 21 /* Transport SGL Data Block Descriptor Support */
#define GPUNVME_IDENTIFY_CONTROLLER_SGLS_TSDBDS_MASK 0x200000u
#define GPUNVME_IDENTIFY_CONTROLLER_TRATTR_THMCS_SHIFT 0 /* Track Host Memory Changes Support */
#define GPUNVME_IDENTIFY_CONTROLLER_TRATTR_THMCS_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_TRATTR_TUDCS_SHIFT 1 /* Track User Data Changes Support */
#define GPUNVME_IDENTIFY_CONTROLLER_TRATTR_TUDCS_MASK 0x2u
#define GPUNVME_IDENTIFY_CONTROLLER_TRATTR_MRTLL_SHIFT 2 /* Memory Range Tracking Length Limit */
#define GPUNVME_IDENTIFY_CONTROLLER_TRATTR_MRTLL_MASK 0x4u
#define GPUNVME_IDENTIFY_CONTROLLER_FCATT_CM_SHIFT 0 /* Controller Model */
#define GPUNVME_IDENTIFY_CONTROLLER_FCATT_CM_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_FCATT_CM_DYNAMIC 0x0u
#define GPUNVME_IDENTIFY_CONTROLLER_FCATT_CM_STATIC 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_OFCS_DCS_SHIFT 0 /* Disconnect Command Support */
#define GPUNVME_IDENTIFY_CONTROLLER_OFCS_DCS_MASK 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_DCTYPE_NOT_REPORTED 0x0u
#define GPUNVME_IDENTIFY_CONTROLLER_DCTYPE_DDC 0x1u
#define GPUNVME_IDENTIFY_CONTROLLER_DCTYPE_CDC 0x2u

/* AutonomousPowerStateTransitionEntry: Target and idle time of a transition (Base 2.1 §5.1.25.1.6) */
struct gpunvme_autonomous_power_state_transition_entry {
	uint8_t bits_0; /* ITPS */
	uint8_t itpt[3]; /* Idle Time Prior to Transition in milliseconds */
	uint8_t reserved_4[4];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_autonomous_power_state_transition_entry, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_autonomous_power_state_transition_entry, bits_0, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_autonomous_power_state_transition_entry, itpt, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_autonomous_power_state_transition_entry, reserved_4, 4);
#define GPUNVME_AUTONOMOUS_POWER_STATE_TRANSITION_ENTRY_ITPS_SHIFT 3 /* Idle Transition Power State */
#define GPUNVME_AUTONOMOUS_POWER_STATE_TRANSITION_ENTRY_ITPS_MASK 0xf8u

/* AutonomousPowerStateTransitions: One entry per power state (Base 2.1 §5.1.25.1.6) */
struct gpunvme_autonomous_power_state_transitions {
	struct gpunvme_autonomous_power_state_transition_entry apst[32]; /* Entries by power state */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_autonomous_power_state_transitions, 256);
GPUNVME_ASSERT_OFFSET(struct gpunvme_autonomous_power_state_transitions, apst, 0);

/* HostMemoryBufferDescriptor: Contiguous memory pages (Linux 6.1 linux/nvme.h nvme_host_mem_buf_desc) */
struct gpunvme_host_memory_buffer_descriptor {
	uint64_t badd; /* Buffer Address */
	uint32_t bsize; /* Buffer Size in memory pages */
	uint8_t reserved_12[4];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_host_memory_buffer_descriptor, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_host_memory_buffer_descriptor, badd, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_host_memory_buffer_descriptor, bsize, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_host_memory_buffer_descriptor, reserved_12, 12);

/* HostMemoryBufferAttributes: Location of the Host Memory Buffer (libnvme 1.3 nvme_host_mem_buf_attrs) */
struct gpunvme_host_memory_buffer_attributes {
	uint32_t hsize; /* Host Memory Buffer Size in memory pages */
	uint32_t hmdlal; /* Host Memory Descriptor List Address Lower */
	uint32_t hmdlau; /* Host Memory Descriptor List Address Upper */
	uint32_t hmdlec; /* Host Memory Descriptor List Entry Count */
	uint8_t reserved_16[4080];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_host_memory_buffer_attributes, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_host_memory_buffer_attributes, hsize, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_host_memory_buffer_attributes, hmdlal, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_host_memory_buffer_attributes, hmdlau, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_host_memory_buffer_attributes, hmdlec, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_host_memory_buffer_attributes, reserved_16, 16);

/* TimestampData: A time and its origin (Base 2.1 §5.1.25.1.7) */
struct gpunvme_timestamp_data {
	uint8_t tstmp[6]; /* Timestamp in milliseconds since 1970 or since a reset */
	uint8_t tstmps; /* Timestamp Attribute */
	uint8_t reserved_7;
};
GPUNVME_ASSERT_SIZE(struct gpunvme_timestamp_data, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_timestamp_data, tstmp, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_timestamp_data, tstmps, 6);
GPUNVME_ASSERT_OFFSET(struct gpunvme_timestamp_data, reserved_7, 7);
#define GPUNVME_TIMESTAMP_DATA_TSTMPS_SYNC_SHIFT 0 /* Synch: the clock may have stopped */
#define GPUNVME_TIMESTAMP_DATA_TSTMPS_SYNC_MASK 0x1u
#define GPUNVME_TIMESTAMP_DATA_TSTMPS_TSTMPO_SHIFT 1 /* Timestamp Origin */
#define GPUNVME_TIMESTAMP_DATA_TSTMPS_TSTMPO_MASK 0xeu
#define GPUNVME_TIMESTAMP_DATA_TSTMPS_TSTMPO_RESET 0x0u
#define GPUNVME_TIMESTAMP_DATA_TSTMPS_TSTMPO_SET_FEATURES 0x1u

/* ControllerDataQueueData: Head and trigger of a Controller Data Queue (Base 2.1 §5.1.25.1.23) */
struct gpunvme_controller_data_queue_data {
	uint32_t hp; /* Head Pointer */
	uint32_t tpt; /* Tail Pointer Trigger */
	uint8_t reserved_8[504];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_controller_data_queue_data, 512);
GPUNVME_ASSERT_OFFSET(struct gpunvme_controller_data_queue_data, hp, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_controller_data_queue_data, tpt, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_controller_data_queue_data, reserved_8, 8);

/* DeterministicThresholdConfiguration: Thresholds of a Deterministic Window (libnvme 1.3 nvme_plm_config) */
struct gpunvme_deterministic_threshold_configuration {
	uint16_t ee; /* Enable Event */
	uint8_t reserved_2[30];
	uint64_t dtwinrt; /* DTWIN Reads Threshold */
	uint64_t dtwinwt; /* DTWIN Writes Threshold */
	uint64_t dtwintt; /* DTWIN Time Threshold in milliseconds */
	uint8_t reserved_56[456];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_deterministic_threshold_configuration, 512);
GPUNVME_ASSERT_OFFSET(struct gpunvme_deterministic_threshold_configuration, ee, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_deterministic_threshold_configuration, reserved_2, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_deterministic_threshold_configuration, dtwinrt, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_deterministic_threshold_configuration, dtwinwt, 40);
GPUNVME_ASSERT_OFFSET(struct gpunvme_deterministic_threshold_configuration, dtwintt, 48);
GPUNVME_ASSERT_OFFSET(struct gpunvme_deterministic_threshold_configuration, reserved_56, 56);

/* SupportedFdpEvent: A type of FDP event and whether it is enabled (Base 2.1 §5.1.25.1.21) */
struct gpunvme_supported_fdp_event {
	uint8_t fdpet; /* FDP Event Type */
	uint8_t fdpeta; /* FDP Event Type Attributes */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_supported_fdp_event, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_supported_fdp_event, fdpet, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_supported_fdp_event, fdpeta, 1);
#define GPUNVME_SUPPORTED_FDP_EVENT_FDPETA_FDPEE_SHIFT 0 /* FDP Event Enable */
#define GPUNVME_SUPPORTED_FDP_EVENT_FDPETA_FDPEE_MASK 0x1u

/* HostBehavior: Behavior supported by the host (Base 2.3 §5.2.26.1.14) */
struct gpunvme_host_behavior {
	uint8_t acre; /* Advanced Command Retry Enable */
	uint8_t etdas; /* Extended Telemetry Data Area 4 Supported */
	uint8_t lbafee; /* LBA Format Extension Enable */
	uint8_t hdisns; /* Host Dispersed Namespace Support */
	uint16_t cdfe; /* Copy Descriptor Formats Enable */
	uint8_t reserved_6[506];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_host_behavior, 512);
GPUNVME_ASSERT_OFFSET(struct gpunvme_host_behavior, acre, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_host_behavior, etdas, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_host_behavior, lbafee, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_host_behavior, hdisns, 3);
GPUNVME_ASSERT_OFFSET(struct gpunvme_host_behavior, cdfe, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_host_behavior, reserved_6, 6);
#define GPUNVME_HOST_BEHAVIOR_CDFE_CDF2E_SHIFT 2 /* Copy Descriptor Format 2h Enable */
#define GPUNVME_HOST_BEHAVIOR_CDFE_CDF2E_MASK 0x4u
#define GPUNVME_HOST_BEHAVIOR_CDFE_CDF3E_SHIFT 3 /* Copy Descriptor Format 3h Enable */
#define GPUNVME_HOST_BEHAVIOR_CDFE_CDF3E_MASK 0x8u
#define GPUNVME_HOST_BEHAVIOR_CDFE_CDF4E_SHIFT 4 /* Copy Descriptor Format 4h Enable */
#define GPUNVME_HOST_BEHAVIOR_CDFE_CDF4E_MASK 0x10u

/* EmbeddedManagementControllerAddressData: URI of a management agent of the system (Base 2.1 §5.1.25.1.24) */
struct gpunvme_embedded_management_controller_address_data {
	uint8_t reserved_0[4];
	char emca[508]; /* Embedded Management Controller Address */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_embedded_management_controller_address_data, 512);
GPUNVME_ASSERT_OFFSET(struct gpunvme_embedded_management_controller_address_data, reserved_0, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_embedded_management_controller_address_data, emca, 4);

/* HostManagementAgentAddressData: URI of a management agent of the host (Base 2.1 §5.1.25.1.25) */
struct gpunvme_host_management_agent_address_data {
	uint8_t reserved_0[4];
	char hmaa[508]; /* Host Management Agent Address */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_host_management_agent_address_data, 512);
GPUNVME_ASSERT_OFFSET(struct gpunvme_host_management_agent_address_data, reserved_0, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_host_management_agent_address_data, hmaa, 4);

/* HostMetadata: Number of elements (libnvme 1.3 nvme_host_metadata) */
struct gpunvme_host_metadata {
	uint8_t ndesc; /* Number of Metadata Element Descriptors */
	uint8_t reserved_1;
};
GPUNVME_ASSERT_SIZE(struct gpunvme_host_metadata, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_host_metadata, ndesc, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_host_metadata, reserved_1, 1);

/* MetadataElement: Type and length of an element (libnvme 1.3 nvme_metadata_element_desc) */
struct gpunvme_metadata_element {
	uint8_t et; /* Element Type */
	uint8_t er; /* Element Revision */
	uint16_t elen; /* Element Length in bytes */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_metadata_element, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_metadata_element, et, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_metadata_element, er, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_metadata_element, elen, 2);

/* HostIdentifierData: Identifier of the host (libnvme 1.3 NVME_FEAT_HOSTID_EXHID_SHIFT) */
struct gpunvme_host_identifier_data {
	uint8_t hostid[16]; /* Host Identifier */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_host_identifier_data, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_host_identifier_data, hostid, 0);

/* SupportedLogPages: Supported log pages (LID 00h) (Base 2.1 §5.1.12.1.1) */
struct gpunvme_supported_log_pages {
	uint32_t lids[256]; /* Log Page Identifier Supported, by LID */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_supported_log_pages, 1024);
GPUNVME_ASSERT_OFFSET(struct gpunvme_supported_log_pages, lids, 0);
#define GPUNVME_SUPPORTED_LOG_PAGES_LIDS_LSUPP_SHIFT 0 /* LID Supported */
#define GPUNVME_SUPPORTED_LOG_PAGES_LIDS_LSUPP_MASK 0x1u
#define GPUNVME_SUPPORTED_LOG_PAGES_LIDS_IOS_SHIFT 1 /* Index Offset Supported */
#define GPUNVME_SUPPORTED_LOG_PAGES_LIDS_IOS_MASK 0x2u
#define GPUNVME_SUPPORTED_LOG_PAGES_LIDS_LIDSP_SHIFT 16 /* LID Specific Parameter */
#define GPUNVME_SUPPORTED_LOG_PAGES_LIDS_LIDSP_MASK 0xffff0000u

/* ErrorLogEntry: An error log entry (LID 01h) (Base 2.3 §5.2.12.1.2) */
struct gpunvme_error_log_entry {
	uint64_t ecnt; /* Error Count; 0 means no entry */
	uint16_t sqid; /* Submission Queue ID */
	uint16_t cid; /* Command ID */
	uint16_t sts; /* Status Info */
	uint16_t pel; /* Parameter Error Location */
	uint64_t lba; /* Logical Block Address */
	uint32_t nsid; /* Namespace Identifier */
	uint8_t vsia; /* LID of Vendor Specific Information Available */
	uint8_t trtype; /* Transport Type */
	uint8_t csi; /* Command Set Indicator */
	uint8_t opc; /* Opcode */
	uint64_t csinfo; /* Command Specific Information */
	uint16_t ttsi; /* Transport Type Specific Information */
	uint8_t reserved_42[21];
	uint8_t lpver; /* Log Page Version */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_error_log_entry, 64);
GPUNVME_ASSERT_OFFSET(struct gpunvme_error_log_entry, ecnt, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_error_log_entry, sqid, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_error_log_entry, cid, 10);
GPUNVME_ASSERT_OFFSET(struct gpunvme_error_log_entry, sts, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_error_log_entry, pel, 14);
GPUNVME_ASSERT_OFFSET(struct gpunvme_error_log_entry, lba, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_error_log_entry, nsid, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_error_log_entry, vsia, 28);
GPUNVME_ASSERT_OFFSET(struct gpunvme_error_log_entry, trtype, 29);
GPUNVME_ASSERT_OFFSET(struct gpunvme_error_log_entry, csi, 30);
GPUNVME_ASSERT_OFFSET(struct gpunvme_error_log_entry, opc, 31);
GPUNVME_ASSERT_OFFSET(struct gpunvme_error_log_entry, csinfo, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_error_log_entry, ttsi, 40);
GPUNVME_ASSERT_OFFSET(struct gpunvme_error_log_entry, reserved_42, 42);
GPUNVME_ASSERT_OFFSET(struct gpunvme_error_log_entry, lpver, 63);
#define GPUNVME_ERROR_LOG_ENTRY_STS_P_SHIFT 0 /* Phase Tag */
#define GPUNVME_ERROR_LOG_ENTRY_STS_P_MASK 0x1u
#define GPUNVME_ERROR_LOG_ENTRY_STS_SC_SHIFT 1 /* Status Code */
#define GPUNVME_ERROR_LOG_ENTRY_STS_SC_MASK 0x1feu
#define GPUNVME_ERROR_LOG_ENTRY_STS_SCT_SHIFT 9 /* Status Code Type */
#define GPUNVME_ERROR_LOG_ENTRY_STS_SCT_MASK 0xe00u
#define GPUNVME_ERROR_LOG_ENTRY_STS_CRD_SHIFT 12 /* Command Retry Delay */
#define GPUNVME_ERROR_LOG_ENTRY_STS_CRD_MASK 0x3000u
#define GPUNVME_ERROR_LOG_ENTRY_STS_M_SHIFT 14 /* More */
#define GPUNVME_ERROR_LOG_ENTRY_STS_M_MASK 0x4000u
#define GPUNVME_ERROR_LOG_ENTRY_STS_DNR_SHIFT 15 /* Do Not Retry */
#define GPUNVME_ERROR_LOG_ENTRY_STS_DNR_MASK 0x8000u
#define GPUNVME_ERROR_LOG_ENTRY_PEL_BYTLOC_SHIFT 0 /* Byte Location in the submission queue entry */
#define GPUNVME_ERROR_LOG_ENTRY_PEL_BYTLOC_MASK 0xffu
#define GPUNVME_ERROR_LOG_ENTRY_PEL_BITLOC_SHIFT 8 /* Bit Location in that byte */
#define GPUNVME_ERROR_LOG_ENTRY_PEL_BITLOC_MASK 0x700u
#define GPUNVME_ERROR_LOG_ENTRY_TRTYPE_NONE 0x0u
#define GPUNVME_ERROR_LOG_ENTRY_TRTYPE_RDMA 0x1u
#define GPUNVME_ERROR_LOG_ENTRY_TRTYPE_FC 0x2u
#define GPUNVME_ERROR_LOG_ENTRY_TRTYPE_TCP 0x3u
#define GPUNVME_ERROR_LOG_ENTRY_CSI_NVM 0x0u
#define GPUNVME_ERROR_LOG_ENTRY_CSI_KV 0x1u
#define GPUNVME_ERROR_LOG_ENTRY_CSI_ZNS 0x2u
#define GPUNVME_ERROR_LOG_ENTRY_CSI_SLM 0x3u
#define GPUNVME_ERROR_LOG_ENTRY_CSI_CP 0x4u

/* SmartHealthLog: The log page (LID 02h) (Base 2.1 §5.1.12.1.3) */
struct gpunvme_smart_health_log {
	uint8_t cw; /* Critical Warning */
	uint8_t ctemp[2]; /* Composite Temperature in kelvins */
	uint8_t avsp; /* Available Spare in percent */
	uint8_t avspt; /* Available Spare Threshold in percent */
	uint8_t pused; /* Percentage Used; 255 means more than 254 */
	uint8_t egcws; /* Endurance Group Critical Warning Summary */
	uint8_t reserved_7[25];
	uint64_t dur[2]; /* Data Units Read, in units of 1,000 * 512 bytes */
	uint64_t duw[2]; /* Data Units Written, in units of 1,000 * 512 bytes */
	uint64_t hrc[2]; /* Host Read Commands */
	uint64_t hwc[2]; /* Host Write Commands */
	uint64_t cbt[2]; /* Controller Busy Time in minutes */
	uint64_t pwrc[2]; /* Power Cycles */
	uint64_t poh[2]; /* Power On Hours */
	uint64_t upl[2]; /* Unexpected Power Losses */
	uint64_t mdie[2]; /* Media and Data Integrity Errors */
	uint64_t neile[2]; /* Number of Error Information Log Entries */
	uint32_t wctt; /* Warning Composite Temperature Time in minutes */
	uint32_t cctt; /* Critical Composite Temperature Time in minutes */
	uint16_t tsen1; /* Temperature Sensor 1 in kelvins */
	uint16_t tsen2; /* Temperature Sensor 2 in kelvins */
	uint16_t tsen3; /* Temperature Sensor 3 in kelvins */
	uint16_t tsen4; /* Temperature Sensor 4 in kelvins */
	uint16_t tsen5; /* Temperature Sensor 5 in kelvins */
	uint16_t tsen6; /* Temperature Sensor 6 in kelvins */
	uint16_t tsen7; /* Temperature Sensor 7 in kelvins */
	uint16_t tsen8; /* Temperature Sensor 8 in kelvins */
	uint32_t tmt1tc; /* Thermal Management Temperature 1 Transition Count */
	uint32_t tmt2tc; /* Thermal Management Temperature 2 Transition Count */
	uint32_t tttmt1; /* Total Time For Thermal Management Temperature 1 in seconds */
	uint32_t tttmt2; /* Total Time For Thermal Management Temperature 2 in seconds */
	uint8_t reserved_232[280];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_smart_health_log, 512);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, cw, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, ctemp, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, avsp, 3);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, avspt, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, pused, 5);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, egcws, 6);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, reserved_7, 7);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, dur, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, duw, 48);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, hrc, 64);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, hwc, 80);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, cbt, 96);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, pwrc, 112);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, poh, 128);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, upl, 144);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, mdie, 160);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, neile, 176);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, wctt, 192);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, cctt, 196);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, tsen1, 200);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, tsen2, 202);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, tsen3, 204);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, tsen4, 206);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, tsen5, 208);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, tsen6, 210);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, tsen7, 212);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, tsen8, 214);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, tmt1tc, 216);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, tmt2tc, 220);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, tttmt1, 224);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, tttmt2, 228);
GPUNVME_ASSERT_OFFSET(struct gpunvme_smart_health_log, reserved_232, 232);
#define GPUNVME_SMART_HEALTH_LOG_CW_ASCBT_SHIFT 0 /* Available Spare Capacity Below Threshold */
#define GPUNVME_SMART_HEALTH_LOG_CW_ASCBT_MASK 0x1u
#define GPUNVME_SMART_HEALTH_LOG_CW_TTC_SHIFT 1 /* Temperature Threshold Condition */
#define GPUNVME_SMART_HEALTH_LOG_CW_TTC_MASK 0x2u
#define GPUNVME_SMART_HEALTH_LOG_CW_NDR_SHIFT 2 /* NVM Subsystem Degraded Reliability */
#define GPUNVME_SMART_HEALTH_LOG_CW_NDR_MASK 0x4u
#define GPUNVME_SMART_HEALTH_LOG_CW_AMRO_SHIFT 3 /* All Media Read-Only */
#define GPUNVME_SMART_HEALTH_LOG_CW_AMRO_MASK 0x8u
#define GPUNVME_SMART_HEALTH_LOG_CW_VMBF_SHIFT 4 /* Volatile Memory Backup Failed */
#define GPUNVME_SMART_HEALTH_LOG_CW_VMBF_MASK 0x10u
#define GPUNVME_SMART_HEALTH_LOG_CW_PMRRO_SHIFT 5 /* Persistent Memory Region Read-Only */
#define GPUNVME_SMART_HEALTH_LOG_CW_PMRRO_MASK 0x20u
#define GPUNVME_SMART_HEALTH_LOG_EGCWS_EGASCBT_SHIFT 0 /* Endurance Group Available Spare Capacity Below Threshold */
#define GPUNVME_SMART_HEALTH_LOG_EGCWS_EGASCBT_MASK 0x1u
#define GPUNVME_SMART_HEALTH_LOG_EGCWS_EGDR_SHIFT 2 /* Endurance Group Degraded Reliability */
#define GPUNVME_SMART_HEALTH_LOG_EGCWS_EGDR_MASK 0x4u
#define GPUNVME_SMART_HEALTH_LOG_EGCWS_EGRO_SHIFT 3 /* Endurance Group Read-Only */
#define GPUNVME_SMART_HEALTH_LOG_EGCWS_EGRO_MASK 0x8u

/* FirmwareSlotLog: The log page (LID 03h) (Base 2.3 §5.2.12.1.4) */
struct gpunvme_firmware_slot_log {
	uint8_t afi; /* Active Firmware Info */
	uint8_t reserved_1[7];
	char frs1[8]; /* Firmware Revision for Slot 1 */
	char frs2[8]; /* Firmware Revision for Slot 2 */
	char frs3[8]; /* Firmware Revision for Slot 3 */
	char frs4[8]; /* Firmware Revision for Slot 4 */
	char frs5[8]; /* Firmware Revision for Slot 5 */
	char frs6[8]; /* Firmware Revision for Slot 6 */
	char frs7[8]; /* Firmware Revision for Slot 7 */
	uint8_t reserved_64[448];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_firmware_slot_log, 512);
GPUNVME_ASSERT_OFFSET(struct gpunvme_firmware_slot_log, afi, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_firmware_slot_log, reserved_1, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_firmware_slot_log, frs1, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_firmware_slot_log, frs2, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_firmware_slot_log, frs3, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_firmware_slot_log, frs4, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_firmware_slot_log, frs5, 40);
GPUNVME_ASSERT_OFFSET(struct gpunvme_firmware_slot_log, frs6, 48);
GPUNVME_ASSERT_OFFSET(struct gpunvme_firmware_slot_log, frs7, 56);
GPUNVME_ASSERT_OFFSET(struct gpunvme_firmware_slot_log, reserved_64, 64);
#define GPUNVME_FIRMWARE_SLOT_LOG_AFI_CAFS_SHIFT 0 /* Current Active Firmware Slot */
#define GPUNVME_FIRMWARE_SLOT_LOG_AFI_CAFS_MASK 0x7u
#define GPUNVME_FIRMWARE_SLOT_LOG_AFI_NAFS_SHIFT 4 /* Next Active Firmware Slot; 0 means not reported */
#define GPUNVME_FIRMWARE_SLOT_LOG_AFI_NAFS_MASK 0x70u

/* ChangedAttachedNamespaceList: Changed attached namespaces (LID 04h) (Base 2.3 §5.2.12.1.5) */
struct gpunvme_changed_attached_namespace_list {
	uint32_t nsid[1024]; /* Namespace Identifiers */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_changed_attached_namespace_list, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_changed_attached_namespace_list, nsid, 0);

/* ChangedAllocatedNamespaceList: Changed allocated namespaces (LID 1Ch) (Base 2.3 §5.2.12.1.27) */
struct gpunvme_changed_allocated_namespace_list {
	uint32_t nsid[1024]; /* Namespace Identifiers */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_changed_allocated_namespace_list, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_changed_allocated_namespace_list, nsid, 0);

/* CommandEffectsLog: The log page (LID 05h) (Base 2.3 §5.2.12.1.6) */
struct gpunvme_command_effects_log {
	uint32_t acs[256]; /* Admin Command Supported, by opcode */
	uint32_t iocs[256]; /* I/O Command Supported, by opcode */
	uint8_t reserved_2048[2048];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_command_effects_log, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_command_effects_log, acs, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_command_effects_log, iocs, 1024);
GPUNVME_ASSERT_OFFSET(struct gpunvme_command_effects_log, reserved_2048, 2048);
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_CSUPP_SHIFT 0 /* Command Supported */
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_CSUPP_MASK 0x1u
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_LBCC_SHIFT 1 /* Logical Block Content Change */
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_LBCC_MASK 0x2u
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_NCC_SHIFT 2 /* Namespace Capability Change */
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_NCC_MASK 0x4u
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_NIC_SHIFT 3 /* Namespace Inventory Change */
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_NIC_MASK 0x8u
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_CCC_SHIFT 4 /* Controller Capability Change */
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_CCC_MASK 0x10u
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_CSER_SHIFT 14 /* Command Submission and Execution Relaxations */
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_CSER_MASK 0xc000u
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_CSER_NONE 0x0u
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_CSER_NO_OTHER_ADMIN_COMMAND 0x1u
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_CSE_SHIFT 16 /* Command Submission and Execution */
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_CSE_MASK 0x70000u
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_CSE_NO_RESTRICTION 0x0u
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_CSE_ALONE_ON_NAMESPACE 0x1u
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_CSE_ALONE_ON_ANY_NAMESPACE 0x2u
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_USS_SHIFT 19 /* UUID Selection Supported */
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_USS_MASK 0x80000u
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_NSCPE_SHIFT 20 /* Namespace Scope */
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_NSCPE_MASK 0x100000u
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_CSCPE_SHIFT 21 /* Controller Scope */
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_CSCPE_MASK 0x200000u
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_NSETSCPE_SHIFT 22 /* NVM Set Scope */
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_NSETSCPE_MASK 0x400000u
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_EGSCPE_SHIFT 23 /* Endurance Group Scope */
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_EGSCPE_MASK 0x800000u
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_DSCPE_SHIFT 24 /* Domain Scope */
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_DSCPE_MASK 0x1000000u
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_NSSCPE_SHIFT 25 /* NVM Subsystem Scope */
#define GPUNVME_COMMAND_EFFECTS_LOG_ACS_NSSCPE_MASK 0x2000000u
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_CSUPP_SHIFT 0 /* Command Supported */
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_CSUPP_MASK 0x1u
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_LBCC_SHIFT 1 /* Logical Block Content Change */
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_LBCC_MASK 0x2u
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_NCC_SHIFT 2 /* Namespace Capability Change */
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_NCC_MASK 0x4u
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_NIC_SHIFT 3 /* Namespace Inventory Change */
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_NIC_MASK 0x8u
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_CCC_SHIFT 4 /* Controller Capability Change */
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_CCC_MASK 0x10u
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_CSER_SHIFT 14 /* Command Submission and Execution Relaxations */
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_CSER_MASK 0xc000u
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_CSER_NONE 0x0u
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_CSER_NO_OTHER_ADMIN_COMMAND 0x1u
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_CSE_SHIFT 16 /* Command Submission and Execution */
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_CSE_MASK 0x70000u
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_CSE_NO_RESTRICTION 0x0u
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_CSE_ALONE_ON_NAMESPACE 0x1u
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_CSE_ALONE_ON_ANY_NAMESPACE 0x2u
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_USS_SHIFT 19 /* UUID Selection Supported */
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_USS_MASK 0x80000u
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_NSCPE_SHIFT 20 /* Namespace Scope */
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_NSCPE_MASK 0x100000u
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_CSCPE_SHIFT 21 /* Controller Scope */
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_CSCPE_MASK 0x200000u
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_NSETSCPE_SHIFT 22 /* NVM Set Scope */
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_NSETSCPE_MASK 0x400000u
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_EGSCPE_SHIFT 23 /* Endurance Group Scope */
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_EGSCPE_MASK 0x800000u
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_DSCPE_SHIFT 24 /* Domain Scope */
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_DSCPE_MASK 0x1000000u
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_NSSCPE_SHIFT 25 /* NVM Subsystem Scope */
#define GPUNVME_COMMAND_EFFECTS_LOG_IOCS_NSSCPE_MASK 0x2000000u

/* FeatureEffectsLog: Feature Identifiers Supported and Effects (LID 12h) (Base 2.1 §5.1.12.1.18) */
struct gpunvme_feature_effects_log {
	uint32_t fis[256]; /* Feature Identifier Supported, by FID */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_feature_effects_log, 1024);
GPUNVME_ASSERT_OFFSET(struct gpunvme_feature_effects_log, fis, 0);
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_FSUPP_SHIFT 0 /* FID Supported */
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_FSUPP_MASK 0x1u
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_UDCC_SHIFT 1 /* User Data Content Change */
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_UDCC_MASK 0x2u
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_NCC_SHIFT 2 /* Namespace Capability Change */
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_NCC_MASK 0x4u
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_NIC_SHIFT 3 /* Namespace Inventory Change */
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_NIC_MASK 0x8u
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_CCC_SHIFT 4 /* Controller Capability Change */
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_CCC_MASK 0x10u
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_USS_SHIFT 19 /* UUID Selection Supported */
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_USS_MASK 0x80000u
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_NSCPE_SHIFT 20 /* Namespace Scope */
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_NSCPE_MASK 0x100000u
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_CSCPE_SHIFT 21 /* Controller Scope */
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_CSCPE_MASK 0x200000u
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_NSETSCPE_SHIFT 22 /* NVM Set Scope */
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_NSETSCPE_MASK 0x400000u
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_EGSCPE_SHIFT 23 /* Endurance Group Scope */
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_EGSCPE_MASK 0x800000u
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_DSCPE_SHIFT 24 /* Domain Scope */
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_DSCPE_MASK 0x1000000u
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_NSSCPE_SHIFT 25 /* NVM Subsystem Scope */
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_NSSCPE_MASK 0x2000000u
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_CDQSCP_SHIFT 26 /* Controller Data Queue */
#define GPUNVME_FEATURE_EFFECTS_LOG_FIS_CDQSCP_MASK 0x4000000u

/* ManagementCommandEffectsLog: NVMe-MI Commands Supported and Effects (LID 13h) (Base 2.1 §5.1.12.1.19) */
struct gpunvme_management_command_effects_log {
	uint32_t mics[256]; /* Commands by opcode */
	uint8_t reserved_1024[3072];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_management_command_effects_log, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_management_command_effects_log, mics, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_management_command_effects_log, reserved_1024, 1024);
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_CSUPP_SHIFT 0 /* Command Supported */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_CSUPP_MASK 0x1u
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_UDCC_SHIFT 1 /* User Data Content Change */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_UDCC_MASK 0x2u
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_NCC_SHIFT 2 /* Namespace Capability Change */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_NCC_MASK 0x4u
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_NIC_SHIFT 3 /* Namespace Inventory Change */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_NIC_MASK 0x8u
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_CCC_SHIFT 4 /* Controller Capability Change */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_CCC_MASK 0x10u
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_NSCPE_SHIFT 20 /* Namespace Scope */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_NSCPE_MASK 0x100000u
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_CSCPE_SHIFT 21 /* Controller Scope */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_CSCPE_MASK 0x200000u
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_NSETSCPE_SHIFT 22 /* NVM Set Scope */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_NSETSCPE_MASK 0x400000u
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_EGSCPE_SHIFT 23 /* Endurance Group Scope */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_EGSCPE_MASK 0x800000u
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_DSCPE_SHIFT 24 /* Domain Scope */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_DSCPE_MASK 0x1000000u
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_NSSCPE_SHIFT 25 /* NVM Subsystem Scope */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_LOG_MICS_NSSCPE_MASK 0x2000000u

/* SelfTestResult: Result of a device self-test (Base 2.3 §5.2.12.1.7) */
struct gpunvme_self_test_result {
	uint8_t dsts; /* Device Self-test Status */
	uint8_t segn; /* Segment Number of the first failed segment */
	uint8_t vdinfo; /* Valid Diagnostic Information */
	uint8_t reserved_3;
	uint8_t poh[8]; /* Power On Hours */
	uint32_t nsid; /* Namespace Identifier */
	uint8_t flba[8]; /* Failing LBA */
	uint8_t stct; /* Status Code Type */
	uint8_t stc; /* Status Code */
	uint16_t vs; /* Vendor Specific */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_self_test_result, 28);
GPUNVME_ASSERT_OFFSET(struct gpunvme_self_test_result, dsts, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_self_test_result, segn, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_self_test_result, vdinfo, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_self_test_result, reserved_3, 3);
GPUNVME_ASSERT_OFFSET(struct gpunvme_self_test_result, poh, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_self_test_result, nsid, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_self_test_result, flba, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_self_test_result, stct, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_self_test_result, stc, 25);
GPUNVME_ASSERT_OFFSET(struct gpunvme_self_test_result, vs, 26);
#define GPUNVME_SELF_TEST_RESULT_DSTS_DSTR_SHIFT 0 /* Device Self-test Result */
#define GPUNVME_SELF_TEST_RESULT_DSTS_DSTR_MASK 0xfu
#define GPUNVME_SELF_TEST_RESULT_DSTS_DSTR_COMPLETED 0x0u
#define GPUNVME_SELF_TEST_RESULT_DSTS_DSTR_ABORTED_BY_COMMAND 0x1u
#define GPUNVME_SELF_TEST_RESULT_DSTS_DSTR_ABORTED_BY_RESET 0x2u
#define GPUNVME_SELF_TEST_RESULT_DSTS_DSTR_ABORTED_BY_NAMESPACE_REMOVAL 0x3u
#define GPUNVME_SELF_TEST_RESULT_DSTS_DSTR_ABORTED_BY_FORMAT 0x4u
#define GPUNVME_SELF_TEST_RESULT_DSTS_DSTR_FATAL_ERROR 0x5u
#define GPUNVME_SELF_TEST_RESULT_DSTS_DSTR_UNKNOWN_SEGMENT_FAILED 0x6u
#define GPUNVME_SELF_TEST_RESULT_DSTS_DSTR_SEGMENT_FAILED 0x7u
#define GPUNVME_SELF_TEST_RESULT_DSTS_DSTR_ABORTED_UNKNOWN 0x8u
#define GPUNVME_SELF_TEST_RESULT_DSTS_DSTR_ABORTED_BY_SANITIZE 0x9u
#define GPUNVME_SELF_TEST_RESULT_DSTS_DSTR_EMPTY 0xfu
#define GPUNVME_SELF_TEST_RESULT_DSTS_DSTC_SHIFT 4 /* Self-test Code */
#define GPUNVME_SELF_TEST_RESULT_DSTS_DSTC_MASK 0xf0u
#define GPUNVME_SELF_TEST_RESULT_DSTS_DSTC_EMPTY 0x0u
#define GPUNVME_SELF_TEST_RESULT_DSTS_DSTC_SHORT 0x1u
#define GPUNVME_SELF_TEST_RESULT_DSTS_DSTC_EXTENDED 0x2u
#define GPUNVME_SELF_TEST_RESULT_DSTS_DSTC_HOST_INITIATED_REFRESH 0x3u
#define GPUNVME_SELF_TEST_RESULT_DSTS_DSTC_VENDOR_SPECIFIC 0xeu
#define GPUNVME_SELF_TEST_RESULT_VDINFO_NSIDVLD_SHIFT 0 /* NSID Valid */
#define GPUNVME_SELF_TEST_RESULT_VDINFO_NSIDVLD_MASK 0x1u
#define GPUNVME_SELF_TEST_RESULT_VDINFO_FVLD_SHIFT 1 /* FLBA Valid */
#define GPUNVME_SELF_TEST_RESULT_VDINFO_FVLD_MASK 0x2u
#define GPUNVME_SELF_TEST_RESULT_VDINFO_SCTVLD_SHIFT 2 /* SCT Valid */
#define GPUNVME_SELF_TEST_RESULT_VDINFO_SCTVLD_MASK 0x4u
#define GPUNVME_SELF_TEST_RESULT_VDINFO_SCVLD_SHIFT 3 /* SC Valid */
#define GPUNVME_SELF_TEST_RESULT_VDINFO_SCVLD_MASK 0x8u
#define GPUNVME_SELF_TEST_RESULT_STCT_ASTCI_SHIFT 0 /* Additional Status Code Info */
#define GPUNVME_SELF_TEST_RESULT_STCT_ASTCI_MASK 0x7u

/* SelfTestLog: The log page (LID 06h) (Base 2.3 §5.2.12.1.7) */
struct gpunvme_self_test_log {
	uint8_t cdsto; /* Current Device Self-Test Operation */
	uint8_t cdstc; /* Current Device Self-Test Completion */
	uint8_t reserved_2[2];
	struct gpunvme_self_test_result rds[20]; /* Result Data Structures, newest first */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_self_test_log, 564);
GPUNVME_ASSERT_OFFSET(struct gpunvme_self_test_log, cdsto, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_self_test_log, cdstc, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_self_test_log, reserved_2, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_self_test_log, rds, 4);
#define GPUNVME_SELF_TEST_LOG_CDSTO_DSTOS_SHIFT 0 /* Device Self-test Operation Status */
#define GPUNVME_SELF_TEST_LOG_CDSTO_DSTOS_MASK 0xfu
#define GPUNVME_SELF_TEST_LOG_CDSTO_DSTOS_NONE 0x0u
#define GPUNVME_SELF_TEST_LOG_CDSTO_DSTOS_SHORT 0x1u
#define GPUNVME_SELF_TEST_LOG_CDSTO_DSTOS_EXTENDED 0x2u
#define GPUNVME_SELF_TEST_LOG_CDSTO_DSTOS_HOST_INITIATED_REFRESH 0x3u
#define GPUNVME_SELF_TEST_LOG_CDSTO_DSTOS_VENDOR_SPECIFIC 0xeu
#define GPUNVME_SELF_TEST_LOG_CDSTC_DSTCS_SHIFT 0 /* Device Self-test Completion Status in percent */
#define GPUNVME_SELF_TEST_LOG_CDSTC_DSTCS_MASK 0x7fu

/* TelemetryHostHeader: The header (LID 07h) (Base 2.1 §5.1.12.1.8) */
struct gpunvme_telemetry_host_header {
	uint8_t lid; /* Log Page Identifier: 07h */
	uint8_t reserved_1[4];
	uint8_t ieee[3]; /* IEEE OUI Identifier */
	uint16_t thda1lb; /* Data Area 1 Last Block */
	uint16_t thda2lb; /* Data Area 2 Last Block */
	uint16_t thda3lb; /* Data Area 3 Last Block */
	uint8_t reserved_14[2];
	uint32_t thda4lb; /* Data Area 4 Last Block */
	uint8_t reserved_20[360];
	uint8_t ths; /* Telemetry Host-Initiated Scope */
	uint8_t thdgn; /* Host-Initiated Data Generation Number */
	uint8_t tcda; /* Controller-Initiated Data Available */
	uint8_t tcdgn; /* Controller-Initiated Data Generation Number */
	uint8_t rid[128]; /* Reason Identifier, vendor specific */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_telemetry_host_header, 512);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_host_header, lid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_host_header, reserved_1, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_host_header, ieee, 5);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_host_header, thda1lb, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_host_header, thda2lb, 10);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_host_header, thda3lb, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_host_header, reserved_14, 14);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_host_header, thda4lb, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_host_header, reserved_20, 20);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_host_header, ths, 380);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_host_header, thdgn, 381);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_host_header, tcda, 382);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_host_header, tcdgn, 383);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_host_header, rid, 384);
#define GPUNVME_TELEMETRY_HOST_HEADER_THS_NOT_REPORTED 0x0u
#define GPUNVME_TELEMETRY_HOST_HEADER_THS_CONTROLLER 0x1u
#define GPUNVME_TELEMETRY_HOST_HEADER_THS_NVM_SUBSYSTEM 0x2u

/* TelemetryControllerHeader: The header (LID 08h) (Base 2.1 §5.1.12.1.9) */
struct gpunvme_telemetry_controller_header {
	uint8_t lid; /* Log Page Identifier: 08h */
	uint8_t reserved_1[4];
	uint8_t ieee[3]; /* IEEE OUI Identifier */
	uint16_t tcda1lb; /* Data Area 1 Last Block */
	uint16_t tcda2lb; /* Data Area 2 Last Block */
	uint16_t tcda3lb; /* Data Area 3 Last Block */
	uint8_t reserved_14[2];
	uint32_t tcda4lb; /* Data Area 4 Last Block */
	uint8_t reserved_20[361];
	uint8_t tcs; /* Telemetry Controller-Initiated Scope */
	uint8_t tcda; /* Controller-Initiated Data Available */
	uint8_t tcdgn; /* Controller-Initiated Data Generation Number */
	uint8_t rid[128]; /* Reason Identifier, vendor specific */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_telemetry_controller_header, 512);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_controller_header, lid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_controller_header, reserved_1, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_controller_header, ieee, 5);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_controller_header, tcda1lb, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_controller_header, tcda2lb, 10);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_controller_header, tcda3lb, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_controller_header, reserved_14, 14);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_controller_header, tcda4lb, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_controller_header, reserved_20, 20);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_controller_header, tcs, 381);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_controller_header, tcda, 382);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_controller_header, tcdgn, 383);
GPUNVME_ASSERT_OFFSET(struct gpunvme_telemetry_controller_header, rid, 384);
#define GPUNVME_TELEMETRY_CONTROLLER_HEADER_TCS_NOT_REPORTED 0x0u
#define GPUNVME_TELEMETRY_CONTROLLER_HEADER_TCS_CONTROLLER 0x1u
#define GPUNVME_TELEMETRY_CONTROLLER_HEADER_TCS_NVM_SUBSYSTEM 0x2u

/* SanitizeStatusLog: The log page (LID 81h) (Base 2.1 §5.1.12.1.33) */
struct gpunvme_sanitize_status_log {
	uint16_t sprog; /* Sanitize Progress in 1/65,536 */
	uint16_t sstat; /* Sanitize Status */
	uint32_t scdw10; /* Sanitize Command Dword 10 */
	uint32_t eto; /* Estimated Time For Overwrite in seconds */
	uint32_t etbe; /* Estimated Time For Block Erase in seconds */
	uint32_t etce; /* Estimated Time For Crypto Erase in seconds */
	uint32_t etodmm; /* as ETO, With No-Deallocate Media Modification */
	uint32_t etbenmm; /* as ETBE, With No-Deallocate Media Modification */
	uint32_t etcenmm; /* as ETCE, With No-Deallocate Media Modification */
	uint32_t etpvds; /* Estimated Time For Post-Verification Deallocation State in seconds */
	uint8_t ssi; /* Sanitize State Information */
	uint8_t reserved_37[475];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_sanitize_status_log, 512);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sanitize_status_log, sprog, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sanitize_status_log, sstat, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sanitize_status_log, scdw10, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sanitize_status_log, eto, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sanitize_status_log, etbe, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sanitize_status_log, etce, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sanitize_status_log, etodmm, 20);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sanitize_status_log, etbenmm, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sanitize_status_log, etcenmm, 28);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sanitize_status_log, etpvds, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sanitize_status_log, ssi, 36);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sanitize_status_log, reserved_37, 37);
#define GPUNVME_SANITIZE_STATUS_LOG_SSTAT_SOS_SHIFT 0 /* Sanitize Operation Status */
#define GPUNVME_SANITIZE_STATUS_LOG_SSTAT_SOS_MASK 0x7u
#define GPUNVME_SANITIZE_STATUS_LOG_SSTAT_SOS_NEVER_STARTED 0x0u
#define GPUNVME_SANITIZE_STATUS_LOG_SSTAT_SOS_SANITIZED 0x1u
#define GPUNVME_SANITIZE_STATUS_LOG_SSTAT_SOS_SANITIZING 0x2u
#define GPUNVME_SANITIZE_STATUS_LOG_SSTAT_SOS_FAILED 0x3u
#define GPUNVME_SANITIZE_STATUS_LOG_SSTAT_SOS_SANITIZED_UNEXPECTED_DEALLOCATE 0x4u
#define GPUNVME_SANITIZE_STATUS_LOG_SSTAT_OPC_SHIFT 3 /* Overwrite Passes Completed */
#define GPUNVME_SANITIZE_STATUS_LOG_SSTAT_OPC_MASK 0xf8u
#define GPUNVME_SANITIZE_STATUS_LOG_SSTAT_GDE_SHIFT 8 /* Global Data Erased */
#define GPUNVME_SANITIZE_STATUS_LOG_SSTAT_GDE_MASK 0x100u
#define GPUNVME_SANITIZE_STATUS_LOG_SSTAT_MVCNCLD_SHIFT 9 /* Media Verification Canceled */
#define GPUNVME_SANITIZE_STATUS_LOG_SSTAT_MVCNCLD_MASK 0x200u
#define GPUNVME_SANITIZE_STATUS_LOG_SSI_SANS_SHIFT 0 /* Sanitize State */
#define GPUNVME_SANITIZE_STATUS_LOG_SSI_SANS_MASK 0xfu
#define GPUNVME_SANITIZE_STATUS_LOG_SSI_SANS_IDLE 0x0u
#define GPUNVME_SANITIZE_STATUS_LOG_SSI_SANS_RESTRICTED_PROCESSING 0x1u
#define GPUNVME_SANITIZE_STATUS_LOG_SSI_SANS_RESTRICTED_FAILURE 0x2u
#define GPUNVME_SANITIZE_STATUS_LOG_SSI_SANS_UNRESTRICTED_PROCESSING 0x3u
#define GPUNVME_SANITIZE_STATUS_LOG_SSI_SANS_UNRESTRICTED_FAILURE 0x4u
#define GPUNVME_SANITIZE_STATUS_LOG_SSI_SANS_MEDIA_VERIFICATION 0x5u
#define GPUNVME_SANITIZE_STATUS_LOG_SSI_SANS_POST_VERIFICATION_DEALLOCATION 0x6u
#define GPUNVME_SANITIZE_STATUS_LOG_SSI_FAILS_SHIFT 4 /* Failure State */
#define GPUNVME_SANITIZE_STATUS_LOG_SSI_FAILS_MASK 0xf0u
#define GPUNVME_SANITIZE_STATUS_LOG_SSI_FAILS_IDLE 0x0u
#define GPUNVME_SANITIZE_STATUS_LOG_SSI_FAILS_RESTRICTED_PROCESSING 0x1u
#define GPUNVME_SANITIZE_STATUS_LOG_SSI_FAILS_RESTRICTED_FAILURE 0x2u
#define GPUNVME_SANITIZE_STATUS_LOG_SSI_FAILS_UNRESTRICTED_PROCESSING 0x3u
#define GPUNVME_SANITIZE_STATUS_LOG_SSI_FAILS_UNRESTRICTED_FAILURE 0x4u
#define GPUNVME_SANITIZE_STATUS_LOG_SSI_FAILS_MEDIA_VERIFICATION 0x5u
#define GPUNVME_SANITIZE_STATUS_LOG_SSI_FAILS_POST_VERIFICATION_DEALLOCATION 0x6u

/* LockdownLog: The log page (LID 14h) (Base 2.1 §5.1.12.1.20) */
struct gpunvme_lockdown_log {
	uint8_t cfila; /* Command and Feature Identifier List Attributes */
	uint8_t reserved_1[2];
	uint8_t lngth; /* Length of the list in bytes */
	uint8_t cfil[508]; /* Opcodes or Feature Identifiers, increasing */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_lockdown_log, 512);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lockdown_log, cfila, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lockdown_log, reserved_1, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lockdown_log, lngth, 3);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lockdown_log, cfil, 4);
#define GPUNVME_LOCKDOWN_LOG_CFILA_SS_SHIFT 0 /* Scope Selected */
#define GPUNVME_LOCKDOWN_LOG_CFILA_SS_MASK 0xfu
#define GPUNVME_LOCKDOWN_LOG_CFILA_SS_ADMIN_OPCODE 0x0u
#define GPUNVME_LOCKDOWN_LOG_CFILA_SS_FEATURE 0x2u
#define GPUNVME_LOCKDOWN_LOG_CFILA_SS_MANAGEMENT_OPCODE 0x3u
#define GPUNVME_LOCKDOWN_LOG_CFILA_SS_PCIE_OPCODE 0x4u
#define GPUNVME_LOCKDOWN_LOG_CFILA_CS_SHIFT 4 /* Contents Selected */
#define GPUNVME_LOCKDOWN_LOG_CFILA_CS_MASK 0x30u
#define GPUNVME_LOCKDOWN_LOG_CFILA_CS_CAN_BE_PROHIBITED 0x0u
#define GPUNVME_LOCKDOWN_LOG_CFILA_CS_PROHIBITED 0x1u
#define GPUNVME_LOCKDOWN_LOG_CFILA_CS_PROHIBITED_OUT_OF_BAND 0x2u

/* BootPartitionHeader: The header (LID 15h) (Base 2.3 §5.2.12.1.21) */
struct gpunvme_boot_partition_header {
	uint8_t lid; /* Log Page Identifier: 15h */
	uint8_t reserved_1[3];
	uint32_t bpinfo; /* Boot Partition Information */
	uint8_t reserved_8[8];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_boot_partition_header, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_boot_partition_header, lid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_boot_partition_header, reserved_1, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_boot_partition_header, bpinfo, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_boot_partition_header, reserved_8, 8);
#define GPUNVME_BOOT_PARTITION_HEADER_BPINFO_BPSZ_SHIFT 0 /* Boot Partition Size, in 128 KiB units */
#define GPUNVME_BOOT_PARTITION_HEADER_BPINFO_BPSZ_MASK 0x7fffu
#define GPUNVME_BOOT_PARTITION_HEADER_BPINFO_ABPID_SHIFT 31 /* Active Boot Partition ID */
#define GPUNVME_BOOT_PARTITION_HEADER_BPINFO_ABPID_MASK 0x80000000u

/* EnduranceGroupLog: The log page (LID 09h) (Base 2.3 §5.2.12.1.10) */
struct gpunvme_endurance_group_log {
	uint8_t egcw; /* Endurance Group Critical Warning */
	uint8_t egfeat; /* Endurance Group Features */
	uint8_t reserved_2;
	uint8_t avsp; /* Available Spare in percent */
	uint8_t avspt; /* Available Spare Threshold in percent */
	uint8_t pused; /* Percentage Used; 255 means more than 254 */
	uint16_t did; /* Domain Identifier */
	uint8_t reserved_8[24];
	uint64_t ee[2]; /* Endurance Estimate in 1,000,000,000 bytes */
	uint64_t dur[2]; /* Data Units Read in 1,000,000,000 bytes */
	uint64_t duw[2]; /* Data Units Written in 1,000,000,000 bytes */
	uint64_t muw[2]; /* Media Units Written in 1,000,000,000 bytes */
	uint64_t hrc[2]; /* Host Read Commands */
	uint64_t hwc[2]; /* Host Write Commands */
	uint64_t mdie[2]; /* Media and Data Integrity Errors */
	uint64_t neile[2]; /* Number of Error Information Log Entries */
	uint64_t tegcap[2]; /* Total Endurance Group Capacity in bytes */
	uint64_t uegcap[2]; /* Unallocated Endurance Group Capacity in bytes */
	uint8_t reserved_192[320];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_endurance_group_log, 512);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_log, egcw, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_log, egfeat, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_log, reserved_2, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_log, avsp, 3);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_log, avspt, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_log, pused, 5);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_log, did, 6);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_log, reserved_8, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_log, ee, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_log, dur, 48);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_log, duw, 64);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_log, muw, 80);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_log, hrc, 96);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_log, hwc, 112);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_log, mdie, 128);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_log, neile, 144);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_log, tegcap, 160);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_log, uegcap, 176);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_log, reserved_192, 192);
#define GPUNVME_ENDURANCE_GROUP_LOG_EGCW_EGASB_SHIFT 0 /* Endurance Group Available Spare Below threshold */
#define GPUNVME_ENDURANCE_GROUP_LOG_EGCW_EGASB_MASK 0x1u
#define GPUNVME_ENDURANCE_GROUP_LOG_EGCW_EGDR_SHIFT 2 /* Endurance Group Degraded Reliability */
#define GPUNVME_ENDURANCE_GROUP_LOG_EGCW_EGDR_MASK 0x4u
#define GPUNVME_ENDURANCE_GROUP_LOG_EGCW_EGRO_SHIFT 3 /* Endurance Group Read-Only */
#define GPUNVME_ENDURANCE_GROUP_LOG_EGCW_EGRO_MASK 0x8u
#define GPUNVME_ENDURANCE_GROUP_LOG_EGFEAT_EGRMEDIA_SHIFT 0 /* Data on rotational media */
#define GPUNVME_ENDURANCE_GROUP_LOG_EGFEAT_EGRMEDIA_MASK 0x1u

/* EnduranceGroupEventAggregate: The header (LID 0Fh) (Base 2.1 §5.1.12.1.15) */
struct gpunvme_endurance_group_event_aggregate {
	uint64_t nument; /* Number of Entries */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_endurance_group_event_aggregate, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_event_aggregate, nument, 0);

/* RotationalMediaLog: The log page (LID 16h) (Base 2.3 §5.2.12.1.22) */
struct gpunvme_rotational_media_log {
	uint16_t endgid; /* Endurance Group Identifier */
	uint16_t numa; /* Number of Actuators */
	uint16_t nrs; /* Nominal Rotational Speed per minute */
	uint8_t reserved_6[2];
	uint32_t spinc; /* Spinup Count */
	uint32_t fspinc; /* Failed Spinup Count */
	uint32_t ldc; /* Load Count */
	uint32_t fldc; /* Failed Load Count */
	uint8_t reserved_24[488];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_rotational_media_log, 512);
GPUNVME_ASSERT_OFFSET(struct gpunvme_rotational_media_log, endgid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_rotational_media_log, numa, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_rotational_media_log, nrs, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_rotational_media_log, reserved_6, 6);
GPUNVME_ASSERT_OFFSET(struct gpunvme_rotational_media_log, spinc, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_rotational_media_log, fspinc, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_rotational_media_log, ldc, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_rotational_media_log, fldc, 20);
GPUNVME_ASSERT_OFFSET(struct gpunvme_rotational_media_log, reserved_24, 24);

/* PredictableLatencyLog: The log page (LID 0Ah) (Base 2.3 §5.2.12.1.11) */
struct gpunvme_predictable_latency_log {
	uint8_t stsnvms; /* Status */
	uint8_t reserved_1;
	uint16_t etyp; /* Event Type */
	uint8_t reserved_4[28];
	uint64_t dtwrt; /* DTWIN Reads Typical in units of 4 KiB */
	uint64_t dtwwt; /* DTWIN Writes Typical in units of OWS */
	uint64_t dtwtm; /* DTWIN Time Maximum in milliseconds */
	uint64_t ntwtmh; /* NDWIN Time Minimum High in milliseconds */
	uint64_t ntwtml; /* NDWIN Time Minimum Low in milliseconds */
	uint8_t reserved_72[56];
	uint64_t dtwre; /* DTWIN Reads Estimate in units of 4 KiB */
	uint64_t dtwwe; /* DTWIN Writes Estimate in units of OWS */
	uint64_t dtwte; /* DTWIN Time Estimate in milliseconds */
	uint8_t reserved_152[360];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_predictable_latency_log, 512);
GPUNVME_ASSERT_OFFSET(struct gpunvme_predictable_latency_log, stsnvms, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_predictable_latency_log, reserved_1, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_predictable_latency_log, etyp, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_predictable_latency_log, reserved_4, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_predictable_latency_log, dtwrt, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_predictable_latency_log, dtwwt, 40);
GPUNVME_ASSERT_OFFSET(struct gpunvme_predictable_latency_log, dtwtm, 48);
GPUNVME_ASSERT_OFFSET(struct gpunvme_predictable_latency_log, ntwtmh, 56);
GPUNVME_ASSERT_OFFSET(struct gpunvme_predictable_latency_log, ntwtml, 64);
GPUNVME_ASSERT_OFFSET(struct gpunvme_predictable_latency_log, reserved_72, 72);
GPUNVME_ASSERT_OFFSET(struct gpunvme_predictable_latency_log, dtwre, 128);
GPUNVME_ASSERT_OFFSET(struct gpunvme_predictable_latency_log, dtwwe, 136);
GPUNVME_ASSERT_OFFSET(struct gpunvme_predictable_latency_log, dtwte, 144);
GPUNVME_ASSERT_OFFSET(struct gpunvme_predictable_latency_log, reserved_152, 152);
#define GPUNVME_PREDICTABLE_LATENCY_LOG_STSNVMS_PLMW_SHIFT 0 /* Predictable Latency Mode Window */
#define GPUNVME_PREDICTABLE_LATENCY_LOG_STSNVMS_PLMW_MASK 0x7u
#define GPUNVME_PREDICTABLE_LATENCY_LOG_STSNVMS_PLMW_NOT_USED 0x0u
#define GPUNVME_PREDICTABLE_LATENCY_LOG_STSNVMS_PLMW_DTWIN 0x1u
#define GPUNVME_PREDICTABLE_LATENCY_LOG_STSNVMS_PLMW_NDWIN 0x2u
#define GPUNVME_PREDICTABLE_LATENCY_LOG_ETYP_DTRW_SHIFT 0 /* DTWIN Reads Warning */
#define GPUNVME_PREDICTABLE_LATENCY_LOG_ETYP_DTRW_MASK 0x1u
#define GPUNVME_PREDICTABLE_LATENCY_LOG_ETYP_DTWW_SHIFT 1 /* DTWIN Writes Warning */
#define GPUNVME_PREDICTABLE_LATENCY_LOG_ETYP_DTWW_MASK 0x2u
#define GPUNVME_PREDICTABLE_LATENCY_LOG_ETYP_DTTW_SHIFT 2 /* DTWIN Time Warning */
#define GPUNVME_PREDICTABLE_LATENCY_LOG_ETYP_DTTW_MASK 0x4u
#define GPUNVME_PREDICTABLE_LATENCY_LOG_ETYP_MVEAT_SHIFT 14 /* Maximum Value Exceeded Autonomous Transition */
#define GPUNVME_PREDICTABLE_LATENCY_LOG_ETYP_MVEAT_MASK 0x4000u
#define GPUNVME_PREDICTABLE_LATENCY_LOG_ETYP_DEAT_SHIFT 15 /* Deterministic Excursion Autonomous Transition */
#define GPUNVME_PREDICTABLE_LATENCY_LOG_ETYP_DEAT_MASK 0x8000u

/* PredictableLatencyEventAggregate: The header (LID 0Bh) (Base 2.3 §5.2.12.1.12) */
struct gpunvme_predictable_latency_event_aggregate {
	uint64_t nument; /* Number of Entries */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_predictable_latency_event_aggregate, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_predictable_latency_event_aggregate, nument, 0);

/* MediaUnitStatusHeader: The header (LID 10h) (Base 2.1 §5.1.12.1.16) */
struct gpunvme_media_unit_status_header {
	uint16_t nmu; /* Number of Media Unit Status Descriptors */
	uint16_t cchans; /* Number of Channels */
	uint16_t selc; /* Selected Configuration; 0 for none */
	uint8_t reserved_6[10];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_media_unit_status_header, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_media_unit_status_header, nmu, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_media_unit_status_header, cchans, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_media_unit_status_header, selc, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_media_unit_status_header, reserved_6, 6);

/* MediaUnitStatusDescriptor: Header of a Media Unit Status Descriptor (Base 2.1 §5.1.12.1.16) */
struct gpunvme_media_unit_status_descriptor {
	uint16_t muid; /* Media Unit Identifier */
	uint16_t did; /* Domain Identifier */
	uint16_t endgid; /* Endurance Group Identifier */
	uint16_t nvmsetid; /* NVM Set Identifier */
	uint16_t caf; /* Capacity Adjustment Factor; 0 means not reported */
	uint8_t avsp; /* Available Spare in percent */
	uint8_t pused; /* Percentage Used; 255 means more than 254 */
	uint8_t mucs; /* Number of Channels */
	uint8_t cio; /* Channel Identifiers Offset in bytes */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_media_unit_status_descriptor, 14);
GPUNVME_ASSERT_OFFSET(struct gpunvme_media_unit_status_descriptor, muid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_media_unit_status_descriptor, did, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_media_unit_status_descriptor, endgid, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_media_unit_status_descriptor, nvmsetid, 6);
GPUNVME_ASSERT_OFFSET(struct gpunvme_media_unit_status_descriptor, caf, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_media_unit_status_descriptor, avsp, 10);
GPUNVME_ASSERT_OFFSET(struct gpunvme_media_unit_status_descriptor, pused, 11);
GPUNVME_ASSERT_OFFSET(struct gpunvme_media_unit_status_descriptor, mucs, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_media_unit_status_descriptor, cio, 13);

/* CapacityConfigurationListHeader: The header (LID 11h) (Base 2.1 §5.1.12.1.17) */
struct gpunvme_capacity_configuration_list_header {
	uint8_t sccn; /* Number of Supported Capacity Configurations */
	uint8_t reserved_1[15];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_capacity_configuration_list_header, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_capacity_configuration_list_header, sccn, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_capacity_configuration_list_header, reserved_1, 1);

/* CapacityConfigurationDescriptor: Header of a Capacity Configuration (Base 2.1 §5.1.12.1.17) */
struct gpunvme_capacity_configuration_descriptor {
	uint16_t ccid; /* Capacity Configuration Identifier */
	uint16_t did; /* Domain Identifier */
	uint16_t egcn; /* Number of Endurance Group Configuration Descriptors */
	uint8_t reserved_6[26];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_capacity_configuration_descriptor, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_capacity_configuration_descriptor, ccid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_capacity_configuration_descriptor, did, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_capacity_configuration_descriptor, egcn, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_capacity_configuration_descriptor, reserved_6, 6);

/* EnduranceGroupConfigurationDescriptor: Endurance Group Configuration header (Base 2.1 §5.1.12.1.17) */
struct gpunvme_endurance_group_configuration_descriptor {
	uint16_t endgid; /* Endurance Group Identifier */
	uint16_t cadjf; /* Capacity Adjustment Factor; 0 means not reported */
	uint8_t reserved_4[12];
	uint8_t tegcap[16]; /* Total Endurance Group Capacity in bytes */
	uint8_t segcap[16]; /* Spare Endurance Group Capacity in bytes */
	uint8_t ee[16]; /* Endurance Estimate in 1,000,000,000 bytes */
	uint8_t reserved_64[16];
	uint16_t egsets; /* Number of NVM Sets */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_endurance_group_configuration_descriptor, 82);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_configuration_descriptor, endgid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_configuration_descriptor, cadjf, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_configuration_descriptor, reserved_4, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_configuration_descriptor, tegcap, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_configuration_descriptor, segcap, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_configuration_descriptor, ee, 48);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_configuration_descriptor, reserved_64, 64);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_configuration_descriptor, egsets, 80);

/* ChannelConfigurationDescriptor: Header of a Channel of an Endurance Group (Base 2.1 §5.1.12.1.17) */
struct gpunvme_channel_configuration_descriptor {
	uint16_t chid; /* Channel Identifier */
	uint16_t chmus; /* Number of Channel Media Units */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_channel_configuration_descriptor, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_channel_configuration_descriptor, chid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_channel_configuration_descriptor, chmus, 2);

/* MediaUnitConfigurationDescriptor: A Media Unit of a Channel (Base 2.1 §5.1.12.1.17) */
struct gpunvme_media_unit_configuration_descriptor {
	uint16_t muid; /* Media Unit Identifier */
	uint8_t reserved_2[4];
	uint16_t mudl; /* Media Unit Descriptor Length: bytes that follow */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_media_unit_configuration_descriptor, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_media_unit_configuration_descriptor, muid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_media_unit_configuration_descriptor, reserved_2, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_media_unit_configuration_descriptor, mudl, 6);

/* FdpConfigurationsHeader: The header (LID 20h) (Base 2.1 §5.1.12.1.28) */
struct gpunvme_fdp_configurations_header {
	uint16_t numfdpc; /* Number of FDP Configurations, 0's based */
	uint8_t ver; /* Version */
	uint8_t reserved_3;
	uint32_t sze; /* Size of the log page in bytes */
	uint8_t reserved_8[8];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_fdp_configurations_header, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_configurations_header, numfdpc, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_configurations_header, ver, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_configurations_header, reserved_3, 3);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_configurations_header, sze, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_configurations_header, reserved_8, 8);

/* FdpConfigurationDescriptor: Header of an FDP Configuration (Base 2.3 §5.2.12.1.29) */
struct gpunvme_fdp_configuration_descriptor {
	uint16_t dsze; /* Descriptor Size in bytes */
	uint8_t fdpa; /* FDP Attributes */
	uint8_t vss; /* Vendor Specific Size in bytes */
	uint32_t nrg; /* Number of Reclaim Groups */
	uint16_t nruh; /* Number of Reclaim Unit Handles */
	uint16_t maxpids; /* Max Placement Identifiers, 0's based */
	uint32_t nns; /* Number of Namespaces Supported */
	uint64_t runs; /* Reclaim Unit Nominal Size in bytes */
	uint32_t erutl; /* Estimated Reclaim Unit Time Limit in seconds */
	uint8_t reserved_28[36];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_fdp_configuration_descriptor, 64);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_configuration_descriptor, dsze, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_configuration_descriptor, fdpa, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_configuration_descriptor, vss, 3);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_configuration_descriptor, nrg, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_configuration_descriptor, nruh, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_configuration_descriptor, maxpids, 10);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_configuration_descriptor, nns, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_configuration_descriptor, runs, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_configuration_descriptor, erutl, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_configuration_descriptor, reserved_28, 28);
#define GPUNVME_FDP_CONFIGURATION_DESCRIPTOR_FDPA_RGIF_SHIFT 0 /* Reclaim Group Identifier Format: width in bits */
#define GPUNVME_FDP_CONFIGURATION_DESCRIPTOR_FDPA_RGIF_MASK 0xfu
#define GPUNVME_FDP_CONFIGURATION_DESCRIPTOR_FDPA_FDPVWC_SHIFT 4 /* FDP Volatile Write Cache */
#define GPUNVME_FDP_CONFIGURATION_DESCRIPTOR_FDPA_FDPVWC_MASK 0x10u
#define GPUNVME_FDP_CONFIGURATION_DESCRIPTOR_FDPA_FDPCV_SHIFT 7 /* FDP Configuration Valid */
#define GPUNVME_FDP_CONFIGURATION_DESCRIPTOR_FDPA_FDPCV_MASK 0x80u

/* ReclaimUnitHandleDescriptor: A Reclaim Unit Handle of an FDP Configuration (Base 2.3 §5.2.12.1.29) */
struct gpunvme_reclaim_unit_handle_descriptor {
	uint8_t ruht; /* Reclaim Unit Handle Type */
	uint8_t reserved_1[3];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_reclaim_unit_handle_descriptor, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reclaim_unit_handle_descriptor, ruht, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reclaim_unit_handle_descriptor, reserved_1, 1);
#define GPUNVME_RECLAIM_UNIT_HANDLE_DESCRIPTOR_RUHT_INITIALLY_ISOLATED 0x1u
#define GPUNVME_RECLAIM_UNIT_HANDLE_DESCRIPTOR_RUHT_PERSISTENTLY_ISOLATED 0x2u

/* ReclaimUnitHandleUsageHeader: The header (LID 21h) (Base 2.1 §5.1.12.1.29) */
struct gpunvme_reclaim_unit_handle_usage_header {
	uint16_t nruh; /* Number of Reclaim Unit Handles */
	uint8_t reserved_2[6];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_reclaim_unit_handle_usage_header, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reclaim_unit_handle_usage_header, nruh, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reclaim_unit_handle_usage_header, reserved_2, 2);

/* ReclaimUnitHandleUsageDescriptor: Use of a Reclaim Unit Handle (Base 2.1 §5.1.12.1.29) */
struct gpunvme_reclaim_unit_handle_usage_descriptor {
	uint8_t ruha; /* Reclaim Unit Handle Attributes */
	uint8_t reserved_1[7];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_reclaim_unit_handle_usage_descriptor, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reclaim_unit_handle_usage_descriptor, ruha, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reclaim_unit_handle_usage_descriptor, reserved_1, 1);
#define GPUNVME_RECLAIM_UNIT_HANDLE_USAGE_DESCRIPTOR_RUHA_NOT_USED 0x0u
#define GPUNVME_RECLAIM_UNIT_HANDLE_USAGE_DESCRIPTOR_RUHA_HOST_SPECIFIED 0x1u
#define GPUNVME_RECLAIM_UNIT_HANDLE_USAGE_DESCRIPTOR_RUHA_CONTROLLER_SPECIFIED 0x2u

/* FdpStatisticsLog: The log page (LID 22h) (Base 2.1 §5.1.12.1.30) */
struct gpunvme_fdp_statistics_log {
	uint64_t hbmw[2]; /* Host Bytes with Metadata Written */
	uint64_t mbmw[2]; /* Media Bytes with Metadata Written */
	uint64_t mbe[2]; /* Media Bytes Erased */
	uint8_t reserved_48[16];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_fdp_statistics_log, 64);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_statistics_log, hbmw, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_statistics_log, mbmw, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_statistics_log, mbe, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_statistics_log, reserved_48, 48);

/* FdpEventsHeader: The header (LID 23h) (Base 2.1 §5.1.12.1.31) */
struct gpunvme_fdp_events_header {
	uint32_t numfdpe; /* Number of FDP Events */
	uint8_t reserved_4[60];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_fdp_events_header, 64);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_events_header, numfdpe, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_events_header, reserved_4, 4);

/* FdpEvent: An FDP event (Base 2.1 §5.1.12.1.31) */
struct gpunvme_fdp_event {
	uint8_t etyp; /* Event Type */
	uint8_t fdpef; /* FDP Event Flags */
	uint16_t pid; /* Placement Identifier */
	struct gpunvme_timestamp_data etmsp; /* Event Timestamp */
	uint32_t nsid; /* Namespace Identifier */
	uint8_t etsp[16]; /* Event Type Specific */
	uint16_t rgicd; /* Reclaim Group Identifier */
	uint16_t ruhid; /* Reclaim Unit Handle Identifier */
	uint8_t reserved_36[4];
	uint8_t vs[24]; /* Vendor Specific */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_fdp_event, 64);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_event, etyp, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_event, fdpef, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_event, pid, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_event, etmsp, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_event, nsid, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_event, etsp, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_event, rgicd, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_event, ruhid, 34);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_event, reserved_36, 36);
GPUNVME_ASSERT_OFFSET(struct gpunvme_fdp_event, vs, 40);
#define GPUNVME_FDP_EVENT_ETYP_RECLAIM_UNIT_NOT_FULLY_WRITTEN 0x0u
#define GPUNVME_FDP_EVENT_ETYP_RECLAIM_UNIT_TIME_LIMIT_EXCEEDED 0x1u
#define GPUNVME_FDP_EVENT_ETYP_RESET_MODIFIED_RECLAIM_UNIT_HANDLES 0x2u
#define GPUNVME_FDP_EVENT_ETYP_INVALID_PLACEMENT_IDENTIFIER 0x3u
#define GPUNVME_FDP_EVENT_ETYP_MEDIA_REALLOCATED 0x80u
#define GPUNVME_FDP_EVENT_ETYP_IMPLICITLY_MODIFIED_RECLAIM_UNIT_HANDLE 0x81u
#define GPUNVME_FDP_EVENT_FDPEF_PIV_SHIFT 0 /* Placement Identifier Valid */
#define GPUNVME_FDP_EVENT_FDPEF_PIV_MASK 0x1u
#define GPUNVME_FDP_EVENT_FDPEF_NSIDV_SHIFT 1 /* NSID Valid */
#define GPUNVME_FDP_EVENT_FDPEF_NSIDV_MASK 0x2u
#define GPUNVME_FDP_EVENT_FDPEF_LV_SHIFT 2 /* Location Valid */
#define GPUNVME_FDP_EVENT_FDPEF_LV_MASK 0x4u

/* MediaReallocated: Logical blocks that were moved (NVM 1.2 §4.1.4.7) */
struct gpunvme_media_reallocated {
	uint8_t sef; /* Specific Event Flags */
	uint8_t reserved_1;
	uint16_t nlbam; /* Number of LBAs Moved; FFFFh means 65,535 or more */
	uint8_t lba[8]; /* Logical Block Address */
	uint8_t reserved_12[4];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_media_reallocated, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_media_reallocated, sef, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_media_reallocated, reserved_1, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_media_reallocated, nlbam, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_media_reallocated, lba, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_media_reallocated, reserved_12, 12);
#define GPUNVME_MEDIA_REALLOCATED_SEF_LBAV_SHIFT 0 /* LBA Valid */
#define GPUNVME_MEDIA_REALLOCATED_SEF_LBAV_MASK 0x1u

/* LbaStatusLogHeader: The header (LID 0Eh) (NVM 1.2 §4.1.4.5) */
struct gpunvme_lba_status_log_header {
	uint32_t lslplen; /* LBA Status Log Page Length in bytes */
	uint32_t nlslne; /* Number of LBA Status Log Namespace Elements */
	uint32_t estulb; /* Estimate of Unrecoverable Logical Blocks */
	uint8_t reserved_12[2];
	uint16_t lsgc; /* LBA Status Generation Counter */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_lba_status_log_header, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_status_log_header, lslplen, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_status_log_header, nlslne, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_status_log_header, estulb, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_status_log_header, reserved_12, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_status_log_header, lsgc, 14);

/* LbaStatusNamespaceElement: Number of ranges of a namespace (NVM 1.2 §4.1.4.5) */
struct gpunvme_lba_status_namespace_element {
	uint32_t neid; /* Namespace Element Identifier: its NSID */
	uint32_t nlrd; /* Number of LBA Range Descriptors */
	uint8_t ratype; /* Recommended Action Type, for Get LBA Status */
	uint8_t reserved_9[7];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_lba_status_namespace_element, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_status_namespace_element, neid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_status_namespace_element, nlrd, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_status_namespace_element, ratype, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_status_namespace_element, reserved_9, 9);
#define GPUNVME_LBA_STATUS_NAMESPACE_ELEMENT_RATYPE_SCAN 0x10u
#define GPUNVME_LBA_STATUS_NAMESPACE_ELEMENT_RATYPE_TRACKED 0x11u

/* LbaRangeDescriptor: Range of LBAs (NVM 1.2 §4.1.4.5) */
struct gpunvme_lba_range_descriptor {
	uint64_t rslba; /* Range Starting LBA */
	uint32_t rnlb; /* Range Number of Logical Blocks, 0's based */
	uint8_t reserved_12[4];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_lba_range_descriptor, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_range_descriptor, rslba, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_range_descriptor, rnlb, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_range_descriptor, reserved_12, 12);

/* ReservationNotificationLog: The log page (LID 80h) (Base 2.1 §5.1.12.1.32) */
struct gpunvme_reservation_notification_log {
	uint64_t lpc; /* Log Page Count */
	uint8_t rnlpt; /* Reservation Notification Log Page Type */
	uint8_t nalp; /* Number of Available Log Pages besides this one */
	uint8_t reserved_10[2];
	uint32_t nsid; /* Namespace ID */
	uint8_t reserved_16[48];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_reservation_notification_log, 64);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_notification_log, lpc, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_notification_log, rnlpt, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_notification_log, nalp, 9);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_notification_log, reserved_10, 10);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_notification_log, nsid, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_notification_log, reserved_16, 16);
#define GPUNVME_RESERVATION_NOTIFICATION_LOG_RNLPT_EMPTY 0x0u
#define GPUNVME_RESERVATION_NOTIFICATION_LOG_RNLPT_REGISTRATION_PREEMPTED 0x1u
#define GPUNVME_RESERVATION_NOTIFICATION_LOG_RNLPT_RESERVATION_RELEASED 0x2u
#define GPUNVME_RESERVATION_NOTIFICATION_LOG_RNLPT_RESERVATION_PREEMPTED 0x3u

/* ChangedZoneList: Zones changed by the controller (LID BFh) (libnvme 1.3 nvme_zns_changed_zone_log) */
struct gpunvme_changed_zone_list {
	uint16_t nrzid; /* Number of Zone Identifiers */
	uint8_t reserved_2[6];
	uint64_t zid[511]; /* Zone Identifiers: first LBAs */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_changed_zone_list, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_changed_zone_list, nrzid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_changed_zone_list, reserved_2, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_changed_zone_list, zid, 8);

/* AnaLogHeader: The header (LID 0Ch) (Base 2.3 §5.2.12.1.13) */
struct gpunvme_ana_log_header {
	uint64_t chgc; /* Change Count */
	uint16_t nagd; /* Number of ANA Group Descriptors */
	uint8_t reserved_10[6];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_ana_log_header, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_ana_log_header, chgc, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_ana_log_header, nagd, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_ana_log_header, reserved_10, 10);

/* AnaGroupDescriptor: Header of an ANA Group Descriptor (Base 2.1 §5.1.12.1.13) */
struct gpunvme_ana_group_descriptor {
	uint32_t agid; /* ANA Group ID */
	uint32_t nnv; /* Number of NSID Values */
	uint64_t chgc; /* Change Count; 0 means not reported */
	uint8_t anasa; /* Asymmetric Namespace Access State Attributes */
	uint8_t reserved_17[15];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_ana_group_descriptor, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_ana_group_descriptor, agid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_ana_group_descriptor, nnv, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_ana_group_descriptor, chgc, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_ana_group_descriptor, anasa, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_ana_group_descriptor, reserved_17, 17);
#define GPUNVME_ANA_GROUP_DESCRIPTOR_ANASA_ANAS_SHIFT 0 /* Asymmetric Namespace Access State */
#define GPUNVME_ANA_GROUP_DESCRIPTOR_ANASA_ANAS_MASK 0xfu
#define GPUNVME_ANA_GROUP_DESCRIPTOR_ANASA_ANAS_OPTIMIZED 0x1u
#define GPUNVME_ANA_GROUP_DESCRIPTOR_ANASA_ANAS_NON_OPTIMIZED 0x2u
#define GPUNVME_ANA_GROUP_DESCRIPTOR_ANASA_ANAS_INACCESSIBLE 0x3u
#define GPUNVME_ANA_GROUP_DESCRIPTOR_ANASA_ANAS_PERSISTENT_LOSS 0x4u
#define GPUNVME_ANA_GROUP_DESCRIPTOR_ANASA_ANAS_CHANGE 0xfu

/* ReachabilityGroupsHeader: The header (LID 1Ah) (Base 2.3 §5.2.12.1.25) */
struct gpunvme_reachability_groups_header {
	uint64_t chngc; /* Change Count */
	uint16_t nrgd; /* Number of Reachability Group Descriptors */
	uint8_t reserved_10[6];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_reachability_groups_header, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reachability_groups_header, chngc, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reachability_groups_header, nrgd, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reachability_groups_header, reserved_10, 10);

/* ReachabilityGroupDescriptor: Header of a Reachability Group (Base 2.3 §5.2.12.1.25) */
struct gpunvme_reachability_group_descriptor {
	uint32_t rgid; /* Reachability Group ID */
	uint32_t nnid; /* Number of NSID Values */
	uint64_t chngc; /* Change Count; 0 means not reported */
	uint8_t reserved_16[16];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_reachability_group_descriptor, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reachability_group_descriptor, rgid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reachability_group_descriptor, nnid, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reachability_group_descriptor, chngc, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reachability_group_descriptor, reserved_16, 16);

/* ReachabilityAssociationsHeader: The header (LID 1Bh) (Base 2.3 §5.2.12.1.26) */
struct gpunvme_reachability_associations_header {
	uint64_t chngc; /* Change Count */
	uint16_t nrad; /* Number of Reachability Association Descriptors */
	uint8_t reserved_10[6];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_reachability_associations_header, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reachability_associations_header, chngc, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reachability_associations_header, nrad, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reachability_associations_header, reserved_10, 10);

/* ReachabilityAssociationDescriptor: Header of a Reachability Association (Base 2.3 §5.2.12.1.26) */
struct gpunvme_reachability_association_descriptor {
	uint32_t rasid; /* Reachability Association ID */
	uint32_t nrid; /* Number of RGID Values */
	uint64_t chngc; /* Change Count; 0 means not reported */
	uint8_t rac; /* Reachability Association Characteristics */
	uint8_t reserved_17[15];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_reachability_association_descriptor, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reachability_association_descriptor, rasid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reachability_association_descriptor, nrid, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reachability_association_descriptor, chngc, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reachability_association_descriptor, rac, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reachability_association_descriptor, reserved_17, 17);
#define GPUNVME_REACHABILITY_ASSOCIATION_DESCRIPTOR_RAC_REACHABLE 0x1u
#define GPUNVME_REACHABILITY_ASSOCIATION_DESCRIPTOR_RAC_FAST_COPY 0x2u
#define GPUNVME_REACHABILITY_ASSOCIATION_DESCRIPTOR_RAC_NO_FAST_COPY 0x3u

/* ParticipatingNvmSubsystemsHeader: Header of the list of NVM subsystems (Base 2.3 §5.2.12.1.23) */
struct gpunvme_participating_nvm_subsystems_header {
	uint64_t genctr; /* Generation Counter */
	uint64_t numpsub; /* Number of Participating NVM Subsystems */
	uint8_t reserved_16[240];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_participating_nvm_subsystems_header, 256);
GPUNVME_ASSERT_OFFSET(struct gpunvme_participating_nvm_subsystems_header, genctr, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_participating_nvm_subsystems_header, numpsub, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_participating_nvm_subsystems_header, reserved_16, 16);

/* ManagementAddressDescriptor: Address of a management entity (Base 2.3 §5.2.12.1.24) */
struct gpunvme_management_address_descriptor {
	uint8_t mat; /* Management Address Type */
	uint8_t reserved_1[3];
	char madrs[508]; /* Management Address: a URI */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_management_address_descriptor, 512);
GPUNVME_ASSERT_OFFSET(struct gpunvme_management_address_descriptor, mat, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_management_address_descriptor, reserved_1, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_management_address_descriptor, madrs, 4);
#define GPUNVME_MANAGEMENT_ADDRESS_DESCRIPTOR_MAT_NONE 0x0u
#define GPUNVME_MANAGEMENT_ADDRESS_DESCRIPTOR_MAT_NVM_SUBSYSTEM_MANAGEMENT_AGENT 0x1u
#define GPUNVME_MANAGEMENT_ADDRESS_DESCRIPTOR_MAT_FABRIC_INTERFACE_MANAGER 0x2u
#define GPUNVME_MANAGEMENT_ADDRESS_DESCRIPTOR_MAT_END_OF_LIST 0xffu

/* ManagementAddressList: The log page (LID 18h) (Base 2.3 §5.2.12.1.24) */
struct gpunvme_management_address_list {
	struct gpunvme_management_address_descriptor mad[8]; /* Management Address Descriptors */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_management_address_list, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_management_address_list, mad, 0);

/* PersistentEventLogHeader: The header (LID 0Dh) (Base 2.3 §5.2.12.1.14) */
struct gpunvme_persistent_event_log_header {
	uint8_t lid; /* Log Page Identifier: 0Dh */
	uint8_t reserved_1[3];
	uint32_t tnev; /* Total Number of Events */
	uint64_t tll; /* Total Log Length in bytes */
	uint8_t lrev; /* Log Revision */
	uint8_t reserved_17;
	uint16_t lhl; /* Log Header Length: bytes of the header after byte 19 */
	struct gpunvme_timestamp_data tstmp; /* Timestamp of the reporting context */
	uint8_t poh[16]; /* Power On Hours */
	uint8_t pwrc[8]; /* Power Cycle Count */
	uint16_t vid; /* PCI Vendor ID */
	uint16_t ssvid; /* PCI Subsystem Vendor ID */
	char sn[20]; /* Serial Number */
	char mn[40]; /* Model Number */
	char subnqn[256]; /* NVM Subsystem NVMe Qualified Name */
	uint16_t gnum; /* Generation Number */
	uint8_t rci[4]; /* Reporting Context Information */
	uint8_t reserved_378[102];
	uint8_t seb[32]; /* Supported Events Bitmap: one bit per type */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_persistent_event_log_header, 512);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_log_header, lid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_log_header, reserved_1, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_log_header, tnev, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_log_header, tll, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_log_header, lrev, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_log_header, reserved_17, 17);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_log_header, lhl, 18);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_log_header, tstmp, 20);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_log_header, poh, 28);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_log_header, pwrc, 44);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_log_header, vid, 52);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_log_header, ssvid, 54);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_log_header, sn, 56);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_log_header, mn, 76);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_log_header, subnqn, 116);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_log_header, gnum, 372);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_log_header, rci, 374);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_log_header, reserved_378, 378);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_log_header, seb, 480);
#define GPUNVME_PERSISTENT_EVENT_LOG_HEADER_RCI_RCPID_SHIFT 0 /* Reporting Context Port Identifier */
#define GPUNVME_PERSISTENT_EVENT_LOG_HEADER_RCI_RCPID_MASK 0xffffu
#define GPUNVME_PERSISTENT_EVENT_LOG_HEADER_RCI_RCPIT_SHIFT 16 /* Port Identifier Type */
#define GPUNVME_PERSISTENT_EVENT_LOG_HEADER_RCI_RCPIT_MASK 0x30000u
#define GPUNVME_PERSISTENT_EVENT_LOG_HEADER_RCI_RCPIT_NO_CONTEXT 0x0u
#define GPUNVME_PERSISTENT_EVENT_LOG_HEADER_RCI_RCPIT_NVM_SUBSYSTEM_PORT 0x1u
#define GPUNVME_PERSISTENT_EVENT_LOG_HEADER_RCI_RCPIT_MANAGEMENT_ENDPOINT 0x2u
#define GPUNVME_PERSISTENT_EVENT_LOG_HEADER_RCI_RCE_SHIFT 18 /* Reporting Context Exists */
#define GPUNVME_PERSISTENT_EVENT_LOG_HEADER_RCI_RCE_MASK 0x40000u

/* PersistentEventHeader: Header of a persistent event (Base 2.3 §5.2.12.1.14) */
struct gpunvme_persistent_event_header {
	uint8_t et; /* Event Type */
	uint8_t etr; /* Event Type Revision */
	uint8_t ehl; /* Event Header Length: bytes of the header after byte 2 */
	uint8_t ehai; /* Event Header Additional Information */
	uint16_t cntlid; /* Controller Identifier */
	struct gpunvme_timestamp_data etstp; /* Event Timestamp */
	uint16_t pelpid; /* Port Identifier */
	uint8_t reserved_16[4];
	uint16_t vsil; /* Vendor Specific Information Length in bytes */
	uint16_t el; /* Event Length: bytes after the header */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_persistent_event_header, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_header, et, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_header, etr, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_header, ehl, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_header, ehai, 3);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_header, cntlid, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_header, etstp, 6);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_header, pelpid, 14);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_header, reserved_16, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_header, vsil, 20);
GPUNVME_ASSERT_OFFSET(struct gpunvme_persistent_event_header, el, 22);
#define GPUNVME_PERSISTENT_EVENT_HEADER_ET_SMART_HEALTH_LOG_SNAPSHOT 0x1u
#define GPUNVME_PERSISTENT_EVENT_HEADER_ET_FIRMWARE_COMMIT 0x2u
#define GPUNVME_PERSISTENT_EVENT_HEADER_ET_TIMESTAMP_CHANGE 0x3u
#define GPUNVME_PERSISTENT_EVENT_HEADER_ET_POWER_ON_OR_RESET 0x4u
#define GPUNVME_PERSISTENT_EVENT_HEADER_ET_NVM_SUBSYSTEM_HARDWARE_ERROR 0x5u
#define GPUNVME_PERSISTENT_EVENT_HEADER_ET_CHANGE_NAMESPACE 0x6u
#define GPUNVME_PERSISTENT_EVENT_HEADER_ET_FORMAT_NVM_START 0x7u
#define GPUNVME_PERSISTENT_EVENT_HEADER_ET_FORMAT_NVM_COMPLETION 0x8u
#define GPUNVME_PERSISTENT_EVENT_HEADER_ET_SANITIZE_START 0x9u
#define GPUNVME_PERSISTENT_EVENT_HEADER_ET_SANITIZE_COMPLETION 0xau
#define GPUNVME_PERSISTENT_EVENT_HEADER_ET_SET_FEATURE 0xbu
#define GPUNVME_PERSISTENT_EVENT_HEADER_ET_TELEMETRY_LOG_CREATED 0xcu
#define GPUNVME_PERSISTENT_EVENT_HEADER_ET_THERMAL_EXCURSION 0xdu
#define GPUNVME_PERSISTENT_EVENT_HEADER_ET_SANITIZE_MEDIA_VERIFICATION 0xeu
#define GPUNVME_PERSISTENT_EVENT_HEADER_ET_VENDOR_SPECIFIC 0xdeu
#define GPUNVME_PERSISTENT_EVENT_HEADER_ET_TCG_DEFINED 0xdfu
#define GPUNVME_PERSISTENT_EVENT_HEADER_EHAI_PIT_SHIFT 0 /* Port Identifier Type */
#define GPUNVME_PERSISTENT_EVENT_HEADER_EHAI_PIT_MASK 0x3u
#define GPUNVME_PERSISTENT_EVENT_HEADER_EHAI_PIT_NOT_REPORTED 0x0u
#define GPUNVME_PERSISTENT_EVENT_HEADER_EHAI_PIT_NVM_SUBSYSTEM_PORT 0x1u
#define GPUNVME_PERSISTENT_EVENT_HEADER_EHAI_PIT_MANAGEMENT_ENDPOINT 0x2u
#define GPUNVME_PERSISTENT_EVENT_HEADER_EHAI_PIT_NO_PORT 0x3u

/* FirmwareCommitEvent: Data of a Firmware Commit event (Base 2.1 §5.1.12.1.14.2.2) */
struct gpunvme_firmware_commit_event {
	char ofr[8]; /* Old Firmware Revision */
	char nfr[8]; /* New Firmware Revision */
	uint8_t fca; /* Firmware Commit Action */
	uint8_t fslt; /* Firmware Slot */
	uint8_t stctfcc; /* Status Code Type of the command */
	uint8_t srfcc; /* Status Code of the command */
	uint16_t vafcrc; /* Vendor Assigned Firmware Commit Result Code */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_firmware_commit_event, 22);
GPUNVME_ASSERT_OFFSET(struct gpunvme_firmware_commit_event, ofr, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_firmware_commit_event, nfr, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_firmware_commit_event, fca, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_firmware_commit_event, fslt, 17);
GPUNVME_ASSERT_OFFSET(struct gpunvme_firmware_commit_event, stctfcc, 18);
GPUNVME_ASSERT_OFFSET(struct gpunvme_firmware_commit_event, srfcc, 19);
GPUNVME_ASSERT_OFFSET(struct gpunvme_firmware_commit_event, vafcrc, 20);

/* TimestampChangeEvent: Data of a Timestamp Change event (Base 2.1 §5.1.12.1.14.2.3) */
struct gpunvme_timestamp_change_event {
	struct gpunvme_timestamp_data ptstp; /* Previous Timestamp */
	uint64_t msr; /* Milliseconds Since Reset */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_timestamp_change_event, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_timestamp_change_event, ptstp, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_timestamp_change_event, msr, 8);

/* PowerOnOrResetEvent: Power-on or Reset event header (Base 2.3 §5.2.12.1.14.2.4) */
struct gpunvme_power_on_or_reset_event {
	char frev[8]; /* Firmware Revision */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_power_on_or_reset_event, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_power_on_or_reset_event, frev, 0);

/* ControllerResetInformation: A controller at a reset (Base 2.3 §5.2.12.1.14.2.4) */
struct gpunvme_controller_reset_information {
	uint16_t cntlid; /* Controller ID */
	uint8_t fa; /* Firmware Activation */
	uint8_t oip; /* Operation in Progress */
	uint8_t reserved_4[12];
	uint32_t cpwrc; /* Controller Power Cycle */
	uint8_t pom[8]; /* Power on milliseconds */
	struct gpunvme_timestamp_data ctstp; /* Controller Timestamp */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_controller_reset_information, 36);
GPUNVME_ASSERT_OFFSET(struct gpunvme_controller_reset_information, cntlid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_controller_reset_information, fa, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_controller_reset_information, oip, 3);
GPUNVME_ASSERT_OFFSET(struct gpunvme_controller_reset_information, reserved_4, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_controller_reset_information, cpwrc, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_controller_reset_information, pom, 20);
GPUNVME_ASSERT_OFFSET(struct gpunvme_controller_reset_information, ctstp, 28);
#define GPUNVME_CONTROLLER_RESET_INFORMATION_FA_NONE 0x0u
#define GPUNVME_CONTROLLER_RESET_INFORMATION_FA_ACTIVATED 0x1u
#define GPUNVME_CONTROLLER_RESET_INFORMATION_FA_FAILED 0x2u
#define GPUNVME_CONTROLLER_RESET_INFORMATION_OIP_RDNF_SHIFT 0 /* Reset During NVM Format */
#define GPUNVME_CONTROLLER_RESET_INFORMATION_OIP_RDNF_MASK 0x1u

/* ChangeNamespaceEvent: Data of a Change Namespace event (Base 2.1 §5.1.12.1.14.2.6) */
struct gpunvme_change_namespace_event {
	uint32_t nmcdw10; /* Namespace Management CDW10 */
	uint8_t reserved_4[4];
	uint64_t nsze; /* Namespace Size */
	uint8_t reserved_16[8];
	uint64_t ncap; /* Namespace Capacity */
	uint8_t flbas; /* Formatted LBA Size */
	uint8_t dps; /* End-to-end Data Protection Type Settings */
	uint8_t nmic; /* Namespace Multi-path I/O and Sharing Capabilities */
	uint8_t reserved_35;
	uint32_t anagrpid; /* ANA Group Identifier */
	uint16_t nvmsetid; /* NVM Set Identifier */
	uint16_t endgid; /* Endurance Group Identifier */
	uint32_t nsid; /* Namespace ID; FFFFFFFFh if all were deleted */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_change_namespace_event, 48);
GPUNVME_ASSERT_OFFSET(struct gpunvme_change_namespace_event, nmcdw10, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_change_namespace_event, reserved_4, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_change_namespace_event, nsze, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_change_namespace_event, reserved_16, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_change_namespace_event, ncap, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_change_namespace_event, flbas, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_change_namespace_event, dps, 33);
GPUNVME_ASSERT_OFFSET(struct gpunvme_change_namespace_event, nmic, 34);
GPUNVME_ASSERT_OFFSET(struct gpunvme_change_namespace_event, reserved_35, 35);
GPUNVME_ASSERT_OFFSET(struct gpunvme_change_namespace_event, anagrpid, 36);
GPUNVME_ASSERT_OFFSET(struct gpunvme_change_namespace_event, nvmsetid, 40);
GPUNVME_ASSERT_OFFSET(struct gpunvme_change_namespace_event, endgid, 42);
GPUNVME_ASSERT_OFFSET(struct gpunvme_change_namespace_event, nsid, 44);

/* FormatStartEvent: Data of a Format NVM Start event (Base 2.3 §5.2.12.1.14.2.7) */
struct gpunvme_format_start_event {
	uint32_t nsid; /* Namespace Identifier */
	uint8_t fna; /* Format NVM Attributes */
	uint8_t reserved_5[3];
	uint32_t fmcdw10; /* Format NVM CDW10 */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_format_start_event, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_format_start_event, nsid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_format_start_event, fna, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_format_start_event, reserved_5, 5);
GPUNVME_ASSERT_OFFSET(struct gpunvme_format_start_event, fmcdw10, 8);

/* FormatCompletionEvent: Data of a Format NVM Completion event (Base 2.3 §5.2.12.1.14.2.8) */
struct gpunvme_format_completion_event {
	uint32_t nsid; /* Namespace Identifier */
	uint8_t sfpi; /* Smallest Format Progress Indicator in percent */
	uint8_t fnvms; /* Format NVM Status */
	uint16_t cinfo; /* Completion Information, vendor specific */
	uint16_t info; /* Status Info */
	uint8_t reserved_10[2];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_format_completion_event, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_format_completion_event, nsid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_format_completion_event, sfpi, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_format_completion_event, fnvms, 5);
GPUNVME_ASSERT_OFFSET(struct gpunvme_format_completion_event, cinfo, 6);
GPUNVME_ASSERT_OFFSET(struct gpunvme_format_completion_event, info, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_format_completion_event, reserved_10, 10);
#define GPUNVME_FORMAT_COMPLETION_EVENT_FNVMS_FNVME_SHIFT 0 /* Format NVM Error */
#define GPUNVME_FORMAT_COMPLETION_EVENT_FNVMS_FNVME_MASK 0x1u
#define GPUNVME_FORMAT_COMPLETION_EVENT_FNVMS_INCPFT_SHIFT 1 /* Incomplete Format */
#define GPUNVME_FORMAT_COMPLETION_EVENT_FNVMS_INCPFT_MASK 0x2u
#define GPUNVME_FORMAT_COMPLETION_EVENT_INFO_P_SHIFT 0 /* Phase Tag */
#define GPUNVME_FORMAT_COMPLETION_EVENT_INFO_P_MASK 0x1u
#define GPUNVME_FORMAT_COMPLETION_EVENT_INFO_SC_SHIFT 1 /* Status Code */
#define GPUNVME_FORMAT_COMPLETION_EVENT_INFO_SC_MASK 0x1feu
#define GPUNVME_FORMAT_COMPLETION_EVENT_INFO_SCT_SHIFT 9 /* Status Code Type */
#define GPUNVME_FORMAT_COMPLETION_EVENT_INFO_SCT_MASK 0xe00u
#define GPUNVME_FORMAT_COMPLETION_EVENT_INFO_CRD_SHIFT 12 /* Command Retry Delay */
#define GPUNVME_FORMAT_COMPLETION_EVENT_INFO_CRD_MASK 0x3000u
#define GPUNVME_FORMAT_COMPLETION_EVENT_INFO_M_SHIFT 14 /* More */
#define GPUNVME_FORMAT_COMPLETION_EVENT_INFO_M_MASK 0x4000u
#define GPUNVME_FORMAT_COMPLETION_EVENT_INFO_DNR_SHIFT 15 /* Do Not Retry */
#define GPUNVME_FORMAT_COMPLETION_EVENT_INFO_DNR_MASK 0x8000u

/* SanitizeStartEvent: Data of a Sanitize Start event (Base 2.1 §5.1.12.1.14.2.9) */
struct gpunvme_sanitize_start_event {
	uint32_t sanicap; /* Sanitize Capabilities */
	uint32_t scdw10; /* Sanitize CDW10 */
	uint32_t scdw11; /* Sanitize CDW11 */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_sanitize_start_event, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sanitize_start_event, sanicap, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sanitize_start_event, scdw10, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sanitize_start_event, scdw11, 8);

/* SanitizeCompletionEvent: Data of a Sanitize Completion event (Base 2.1 §5.1.12.1.14.2.10) */
struct gpunvme_sanitize_completion_event {
	uint16_t sprog; /* Sanitize Progress in 1/65,536 */
	uint16_t sstat; /* Sanitize Status */
	uint16_t cinfo; /* Completion Information, vendor specific */
	uint8_t reserved_6[2];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_sanitize_completion_event, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sanitize_completion_event, sprog, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sanitize_completion_event, sstat, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sanitize_completion_event, cinfo, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_sanitize_completion_event, reserved_6, 6);
#define GPUNVME_SANITIZE_COMPLETION_EVENT_SSTAT_SOS_SHIFT 0 /* Sanitize Operation Status */
#define GPUNVME_SANITIZE_COMPLETION_EVENT_SSTAT_SOS_MASK 0x7u
#define GPUNVME_SANITIZE_COMPLETION_EVENT_SSTAT_SOS_NEVER_STARTED 0x0u
#define GPUNVME_SANITIZE_COMPLETION_EVENT_SSTAT_SOS_SANITIZED 0x1u
#define GPUNVME_SANITIZE_COMPLETION_EVENT_SSTAT_SOS_SANITIZING 0x2u
#define GPUNVME_SANITIZE_COMPLETION_EVENT_SSTAT_SOS_FAILED 0x3u
#define GPUNVME_SANITIZE_COMPLETION_EVENT_SSTAT_SOS_SANITIZED_UNEXPECTED_DEALLOCATE 0x4u
#define GPUNVME_SANITIZE_COMPLETION_EVENT_SSTAT_OPC_SHIFT 3 /* Overwrite Passes Completed */
#define GPUNVME_SANITIZE_COMPLETION_EVENT_SSTAT_OPC_MASK 0xf8u
#define GPUNVME_SANITIZE_COMPLETION_EVENT_SSTAT_GDE_SHIFT 8 /* Global Data Erased */
#define GPUNVME_SANITIZE_COMPLETION_EVENT_SSTAT_GDE_MASK 0x100u
#define GPUNVME_SANITIZE_COMPLETION_EVENT_SSTAT_MVCNCLD_SHIFT 9 /* Media Verification Canceled */
#define GPUNVME_SANITIZE_COMPLETION_EVENT_SSTAT_MVCNCLD_MASK 0x200u

/* SetFeatureEvent: Set Feature event header (Base 2.1 §5.1.12.1.14.2.11) */
struct gpunvme_set_feature_event {
	uint32_t sfel; /* Set Feature Event Layout */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_set_feature_event, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_set_feature_event, sfel, 0);
#define GPUNVME_SET_FEATURE_EVENT_SFEL_DWC_SHIFT 0 /* Dword Count */
#define GPUNVME_SET_FEATURE_EVENT_SFEL_DWC_MASK 0x7u
#define GPUNVME_SET_FEATURE_EVENT_SFEL_LCCDW0_SHIFT 3 /* Logged Command Completion Dword 0 */
#define GPUNVME_SET_FEATURE_EVENT_SFEL_LCCDW0_MASK 0x8u
#define GPUNVME_SET_FEATURE_EVENT_SFEL_MBC_SHIFT 16 /* Memory Buffer Count in bytes */
#define GPUNVME_SET_FEATURE_EVENT_SFEL_MBC_MASK 0xffff0000u

/* ThermalExcursionEvent: Data of a Thermal Excursion event (Base 2.1 §5.1.12.1.14.2.13) */
struct gpunvme_thermal_excursion_event {
	uint8_t otmp; /* Over Temperature: kelvins relative to the threshold */
	uint8_t thresh; /* Threshold */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_thermal_excursion_event, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_thermal_excursion_event, otmp, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_thermal_excursion_event, thresh, 1);
#define GPUNVME_THERMAL_EXCURSION_EVENT_THRESH_WCTEMP 0x1u
#define GPUNVME_THERMAL_EXCURSION_EVENT_THRESH_CCTEMP 0x2u
#define GPUNVME_THERMAL_EXCURSION_EVENT_THRESH_TMT1 0x3u
#define GPUNVME_THERMAL_EXCURSION_EVENT_THRESH_TMT2 0x4u
#define GPUNVME_THERMAL_EXCURSION_EVENT_THRESH_VENDOR_SPECIFIC_TEMPERATURE 0x5u
#define GPUNVME_THERMAL_EXCURSION_EVENT_THRESH_NORMAL_TEMPERATURE 0x88u
#define GPUNVME_THERMAL_EXCURSION_EVENT_THRESH_THERMAL_MANAGEMENT_STOPPED 0x89u
#define GPUNVME_THERMAL_EXCURSION_EVENT_THRESH_UNDER_TEMPERATURE 0xb0u

/* VendorSpecificEventDescriptor: Header of a part of a Vendor Specific event (Base 2.1 §5.1.12.1.14.2.15) */
struct gpunvme_vendor_specific_event_descriptor {
	uint16_t vsec; /* Vendor Specific Event Code */
	uint8_t vsedt; /* Data Type */
	uint8_t uidx; /* UUID Index */
	uint16_t vsedl; /* Data Length in bytes */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_vendor_specific_event_descriptor, 6);
GPUNVME_ASSERT_OFFSET(struct gpunvme_vendor_specific_event_descriptor, vsec, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_vendor_specific_event_descriptor, vsedt, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_vendor_specific_event_descriptor, uidx, 3);
GPUNVME_ASSERT_OFFSET(struct gpunvme_vendor_specific_event_descriptor, vsedl, 4);
#define GPUNVME_VENDOR_SPECIFIC_EVENT_DESCRIPTOR_VSEDT_EVENT_NAME 0x1u
#define GPUNVME_VENDOR_SPECIFIC_EVENT_DESCRIPTOR_VSEDT_ASCII_STRING 0x2u
#define GPUNVME_VENDOR_SPECIFIC_EVENT_DESCRIPTOR_VSEDT_BINARY 0x3u
#define GPUNVME_VENDOR_SPECIFIC_EVENT_DESCRIPTOR_VSEDT_SIGNED_INTEGER 0x4u

/* HardwareErrorEvent: Header of a hardware error event (Base 2.3 §5.2.12.1.14.2.5) */
struct gpunvme_hardware_error_event {
	uint16_t nsheec; /* NVM Subsystem Hardware Error Event Code */
	uint8_t reserved_2[2];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_hardware_error_event, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_hardware_error_event, nsheec, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_hardware_error_event, reserved_2, 2);
#define GPUNVME_HARDWARE_ERROR_EVENT_NSHEEC_PCIE_CORRECTABLE_ERROR 0x1u
#define GPUNVME_HARDWARE_ERROR_EVENT_NSHEEC_PCIE_UNCORRECTABLE_NON_FATAL_ERROR 0x2u
#define GPUNVME_HARDWARE_ERROR_EVENT_NSHEEC_PCIE_UNCORRECTABLE_FATAL_ERROR 0x3u
#define GPUNVME_HARDWARE_ERROR_EVENT_NSHEEC_PCIE_LINK_STATUS_CHANGE 0x4u
#define GPUNVME_HARDWARE_ERROR_EVENT_NSHEEC_PCIE_LINK_NOT_ACTIVE 0x5u
#define GPUNVME_HARDWARE_ERROR_EVENT_NSHEEC_CRITICAL_WARNING_CONDITION 0x6u
#define GPUNVME_HARDWARE_ERROR_EVENT_NSHEEC_ENDURANCE_GROUP_CRITICAL_WARNING_CONDITION 0x7u
#define GPUNVME_HARDWARE_ERROR_EVENT_NSHEEC_UNEXPECTED_POWER_LOSS 0x8u
#define GPUNVME_HARDWARE_ERROR_EVENT_NSHEEC_CONTROLLER_FATAL_STATUS 0x9u
#define GPUNVME_HARDWARE_ERROR_EVENT_NSHEEC_MEDIA_AND_DATA_INTEGRITY_STATUS 0xau
#define GPUNVME_HARDWARE_ERROR_EVENT_NSHEEC_CONTROLLER_READY_TIMEOUT_EXCEEDED 0xbu

/* PcieHardwareError: PCI Express registers at the time of an error (Base 2.3 §5.2.12.1.14.2.5) */
struct gpunvme_pcie_hardware_error {
	uint16_t pciedsr; /* PCIe Device Status Register */
	uint8_t pcieas; /* PCIe AER Support */
	uint8_t reserved_3[13];
	uint8_t pcieaes[16]; /* PCIe AER Error Status */
	uint8_t pcieaem[16]; /* PCIe AER Error Mask */
	uint8_t pcieahlr[16]; /* PCIe AER Header Log Register */
	uint8_t pcieatplr[16]; /* PCIe AER TLP Prefix Log Register */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_pcie_hardware_error, 80);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pcie_hardware_error, pciedsr, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pcie_hardware_error, pcieas, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pcie_hardware_error, reserved_3, 3);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pcie_hardware_error, pcieaes, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pcie_hardware_error, pcieaem, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pcie_hardware_error, pcieahlr, 48);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pcie_hardware_error, pcieatplr, 64);
#define GPUNVME_PCIE_HARDWARE_ERROR_PCIEAS_PCIEAERS_SHIFT 0 /* PCIe AER Supported: bytes 79:16 are reported */
#define GPUNVME_PCIE_HARDWARE_ERROR_PCIEAS_PCIEAERS_MASK 0x1u

/* EnduranceGroupWarning: An Endurance Group and its critical warnings (Base 2.3 §5.2.12.1.14.2.5) */
struct gpunvme_endurance_group_warning {
	uint8_t egcw; /* Endurance Group Critical Warning */
	uint8_t reserved_1;
	uint16_t egid; /* Endurance Group Identifier */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_endurance_group_warning, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_warning, egcw, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_warning, reserved_1, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_endurance_group_warning, egid, 2);
#define GPUNVME_ENDURANCE_GROUP_WARNING_EGCW_EGASB_SHIFT 0 /* Endurance Group Available Spare Below threshold */
#define GPUNVME_ENDURANCE_GROUP_WARNING_EGCW_EGASB_MASK 0x1u
#define GPUNVME_ENDURANCE_GROUP_WARNING_EGCW_EGDR_SHIFT 2 /* Endurance Group Degraded Reliability */
#define GPUNVME_ENDURANCE_GROUP_WARNING_EGCW_EGDR_MASK 0x4u
#define GPUNVME_ENDURANCE_GROUP_WARNING_EGCW_EGRO_SHIFT 3 /* Endurance Group Read-Only */
#define GPUNVME_ENDURANCE_GROUP_WARNING_EGCW_EGRO_MASK 0x8u

/* UnexpectedPowerLoss: Unexpected power losses (Base 2.3 §5.2.12.1.14.2.5) */
struct gpunvme_unexpected_power_loss {
	uint8_t upl[16]; /* Unexpected Power Losses, as in the SMART log */
	uint8_t uplia; /* Unexpected Power Loss Information */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_unexpected_power_loss, 17);
GPUNVME_ASSERT_OFFSET(struct gpunvme_unexpected_power_loss, upl, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_unexpected_power_loss, uplia, 16);
#define GPUNVME_UNEXPECTED_POWER_LOSS_UPLIA_UPLOA_SHIFT 0 /* Unexpected Power Loss Due to Out-Of-Band Activity */
#define GPUNVME_UNEXPECTED_POWER_LOSS_UPLIA_UPLOA_MASK 0x1u

/* ReadyTimeoutExceeded: Components not ready in time (Base 2.1 §5.1.12.1.14.2.5) */
struct gpunvme_ready_timeout_exceeded {
	uint8_t cst; /* Controller State */
	uint8_t reserved_1[3];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_ready_timeout_exceeded, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_ready_timeout_exceeded, cst, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_ready_timeout_exceeded, reserved_1, 1);
#define GPUNVME_READY_TIMEOUT_EXCEEDED_CST_CRIME_SHIFT 0 /* Controller Ready Independent of Media Enable */
#define GPUNVME_READY_TIMEOUT_EXCEEDED_CST_CRIME_MASK 0x1u
#define GPUNVME_READY_TIMEOUT_EXCEEDED_CST_NNR_SHIFT 1 /* Namespace Not Ready */
#define GPUNVME_READY_TIMEOUT_EXCEEDED_CST_NNR_MASK 0x2u
#define GPUNVME_READY_TIMEOUT_EXCEEDED_CST_ACMNR_SHIFT 2 /* Admin Command Media Not Ready */
#define GPUNVME_READY_TIMEOUT_EXCEEDED_CST_ACMNR_MASK 0x4u
#define GPUNVME_READY_TIMEOUT_EXCEEDED_CST_CNR_SHIFT 3 /* Controller Not Ready */
#define GPUNVME_READY_TIMEOUT_EXCEEDED_CST_CNR_MASK 0x8u

/* NamespaceToCreate: Properties of the namespace to create (NVM 1.2 §4.1.6) */
struct gpunvme_namespace_to_create {
	uint64_t nsze; /* Namespace Size in logical blocks */
	uint64_t ncap; /* Namespace Capacity in logical blocks */
	uint8_t reserved_16[10];
	uint8_t flbas; /* Formatted LBA Size */
	uint8_t reserved_27[2];
	uint8_t dps; /* End-to-end Data Protection Type Settings */
	uint8_t nmic; /* Namespace Multi-path I/O and Namespace Sharing Capabilities */
	uint8_t reserved_31[61];
	uint32_t anagrpid; /* ANA Group Identifier */
	uint8_t reserved_96[4];
	uint16_t nvmsetid; /* NVM Set Identifier */
	uint16_t endgid; /* Endurance Group Identifier */
	uint8_t reserved_104[280];
	uint64_t lbstm; /* Logical Block Storage Tag Mask */
	uint16_t nphndls; /* Number of Placement Handles */
	uint8_t reserved_394[105];
	uint8_t znsco; /* Zoned Namespace Create Options */
	uint32_t rar; /* Requested Active Resources */
	uint32_t ror; /* Requested Open Resources */
	uint32_t rnumzrwa; /* Requested Number of ZRWA Resources */
	uint16_t phndl[128]; /* Reclaim Unit Handle of each Placement Handle */
	uint8_t reserved_768[3328];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_namespace_to_create, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, nsze, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, ncap, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, reserved_16, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, flbas, 26);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, reserved_27, 27);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, dps, 29);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, nmic, 30);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, reserved_31, 31);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, anagrpid, 92);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, reserved_96, 96);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, nvmsetid, 100);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, endgid, 102);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, reserved_104, 104);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, lbstm, 384);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, nphndls, 392);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, reserved_394, 394);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, znsco, 499);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, rar, 500);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, ror, 504);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, rnumzrwa, 508);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, phndl, 512);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_to_create, reserved_768, 768);
#define GPUNVME_NAMESPACE_TO_CREATE_FLBAS_FIDXL_SHIFT 0 /* Format Index Lower */
#define GPUNVME_NAMESPACE_TO_CREATE_FLBAS_FIDXL_MASK 0xfu
#define GPUNVME_NAMESPACE_TO_CREATE_FLBAS_MTELBA_SHIFT 4 /* Metadata Transferred as Extended LBA */
#define GPUNVME_NAMESPACE_TO_CREATE_FLBAS_MTELBA_MASK 0x10u
#define GPUNVME_NAMESPACE_TO_CREATE_FLBAS_FIDXU_SHIFT 5 /* Format Index Upper */
#define GPUNVME_NAMESPACE_TO_CREATE_FLBAS_FIDXU_MASK 0x60u
#define GPUNVME_NAMESPACE_TO_CREATE_DPS_PIT_SHIFT 0 /* Protection Information Type */
#define GPUNVME_NAMESPACE_TO_CREATE_DPS_PIT_MASK 0x7u
#define GPUNVME_NAMESPACE_TO_CREATE_DPS_PIT_NONE 0x0u
#define GPUNVME_NAMESPACE_TO_CREATE_DPS_PIT_TYPE_1 0x1u
#define GPUNVME_NAMESPACE_TO_CREATE_DPS_PIT_TYPE_2 0x2u
#define GPUNVME_NAMESPACE_TO_CREATE_DPS_PIT_TYPE_3 0x3u
#define GPUNVME_NAMESPACE_TO_CREATE_DPS_PIP_SHIFT 3 /* Protection Information Position */
#define GPUNVME_NAMESPACE_TO_CREATE_DPS_PIP_MASK 0x8u
#define GPUNVME_NAMESPACE_TO_CREATE_NMIC_SHRNS_SHIFT 0 /* Shared Namespace */
#define GPUNVME_NAMESPACE_TO_CREATE_NMIC_SHRNS_MASK 0x1u
#define GPUNVME_NAMESPACE_TO_CREATE_NMIC_DISNS_SHIFT 1 /* Dispersed Namespace */
#define GPUNVME_NAMESPACE_TO_CREATE_NMIC_DISNS_MASK 0x2u
#define GPUNVME_NAMESPACE_TO_CREATE_ZNSCO_AZR_SHIFT 0 /* Allocate ZRWA Resources */
#define GPUNVME_NAMESPACE_TO_CREATE_ZNSCO_AZR_MASK 0x1u

/* LbaStatusDescriptorList: LBA Status header (NVM 1.2 §4.2.1.2) */
struct gpunvme_lba_status_descriptor_list {
	uint32_t nlsd; /* Number of LBA Status Descriptors */
	uint8_t cmpc; /* Completion Condition */
	uint8_t reserved_5[3];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_lba_status_descriptor_list, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_status_descriptor_list, nlsd, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_status_descriptor_list, cmpc, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_status_descriptor_list, reserved_5, 5);
#define GPUNVME_LBA_STATUS_DESCRIPTOR_LIST_CMPC_NOT_INDICATED 0x0u
#define GPUNVME_LBA_STATUS_DESCRIPTOR_LIST_CMPC_INCOMPLETE 0x1u
#define GPUNVME_LBA_STATUS_DESCRIPTOR_LIST_CMPC_COMPLETE 0x2u

/* LbaStatusDescriptor: A range of logical blocks and its status (NVM 1.2 §4.2.1.2) */
struct gpunvme_lba_status_descriptor {
	uint64_t dslba; /* Descriptor Starting LBA */
	uint32_t nlb; /* Number of Logical Blocks, 0's based */
	uint8_t reserved_12;
	uint8_t stas; /* Status */
	uint8_t reserved_14[2];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_lba_status_descriptor, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_status_descriptor, dslba, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_status_descriptor, nlb, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_status_descriptor, reserved_12, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_status_descriptor, stas, 13);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_status_descriptor, reserved_14, 14);
#define GPUNVME_LBA_STATUS_DESCRIPTOR_STAS_LBARS_SHIFT 0 /* LBA Range Status */
#define GPUNVME_LBA_STATUS_DESCRIPTOR_STAS_LBARS_MASK 0x7u
#define GPUNVME_LBA_STATUS_DESCRIPTOR_STAS_LBARS_MAY_BE_UNRECOVERABLE 0x0u
#define GPUNVME_LBA_STATUS_DESCRIPTOR_STAS_LBARS_UNRECOVERABLE 0x1u
#define GPUNVME_LBA_STATUS_DESCRIPTOR_STAS_LBARS_ALLOCATED 0x2u
#define GPUNVME_LBA_STATUS_DESCRIPTOR_STAS_LBARS_WRITTEN_UNCORRECTABLE 0x3u

/* IdentifyDirectiveParameters: Directives supported and enabled (Base 2.2 §8.1.8.2.1) */
struct gpunvme_identify_directive_parameters {
	uint16_t supported; /* Directives Supported */
	uint8_t reserved_2[30];
	uint16_t enabled; /* Directives Enabled */
	uint8_t reserved_34[30];
	uint16_t persistent; /* Directive Persistent Across Controller Level Resets */
	uint8_t reserved_66[4030];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_identify_directive_parameters, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_directive_parameters, supported, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_directive_parameters, reserved_2, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_directive_parameters, enabled, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_directive_parameters, reserved_34, 34);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_directive_parameters, persistent, 64);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_directive_parameters, reserved_66, 66);
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_SUPPORTED_IDIRS_SHIFT 0 /* Identify Directive */
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_SUPPORTED_IDIRS_MASK 0x1u
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_SUPPORTED_SDIRS_SHIFT 1 /* Streams Directive */
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_SUPPORTED_SDIRS_MASK 0x2u
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_SUPPORTED_DPDIRS_SHIFT 2 /* Data Placement Directive */
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_SUPPORTED_DPDIRS_MASK 0x4u
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_SUPPORTED_VSDIRS_SHIFT 15 /* Vendor Specific Directive */
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_SUPPORTED_VSDIRS_MASK 0x8000u
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_ENABLED_IDIRE_SHIFT 0 /* Identify Directive */
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_ENABLED_IDIRE_MASK 0x1u
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_ENABLED_SDIRE_SHIFT 1 /* Streams Directive */
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_ENABLED_SDIRE_MASK 0x2u
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_ENABLED_DPDIRE_SHIFT 2 /* Data Placement Directive */
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_ENABLED_DPDIRE_MASK 0x4u
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_ENABLED_VSDIRE_SHIFT 15 /* Vendor Specific Directive */
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_ENABLED_VSDIRE_MASK 0x8000u
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_PERSISTENT_IDIRCLR_SHIFT 0 /* Identify Directive */
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_PERSISTENT_IDIRCLR_MASK 0x1u
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_PERSISTENT_SDIRCLR_SHIFT 1 /* Streams Directive */
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_PERSISTENT_SDIRCLR_MASK 0x2u
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_PERSISTENT_DPDIRCLR_SHIFT 2 /* Data Placement Directive */
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_PERSISTENT_DPDIRCLR_MASK 0x4u
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_PERSISTENT_VSDIRCLR_SHIFT 15 /* Vendor Specific Directive */
#define GPUNVME_IDENTIFY_DIRECTIVE_PARAMETERS_PERSISTENT_VSDIRCLR_MASK 0x8000u

/* StreamsDirectiveParameters: Stream resources and sizes (Base 2.2 §8.1.8.3.1) */
struct gpunvme_streams_directive_parameters {
	uint16_t msl; /* Max Streams Limit */
	uint16_t nssa; /* NVM Subsystem Streams Available */
	uint16_t nsso; /* NVM Subsystem Streams Open */
	uint8_t nssc; /* NVM Subsystem Stream Capability */
	uint8_t reserved_7[9];
	uint32_t sws; /* Stream Write Size */
	uint16_t sgs; /* Stream Granularity Size in units of SWS */
	uint16_t nsa; /* Namespace Streams Allocated */
	uint16_t nso; /* Namespace Streams Open */
	uint8_t reserved_26[6];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_streams_directive_parameters, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_streams_directive_parameters, msl, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_streams_directive_parameters, nssa, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_streams_directive_parameters, nsso, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_streams_directive_parameters, nssc, 6);
GPUNVME_ASSERT_OFFSET(struct gpunvme_streams_directive_parameters, reserved_7, 7);
GPUNVME_ASSERT_OFFSET(struct gpunvme_streams_directive_parameters, sws, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_streams_directive_parameters, sgs, 20);
GPUNVME_ASSERT_OFFSET(struct gpunvme_streams_directive_parameters, nsa, 22);
GPUNVME_ASSERT_OFFSET(struct gpunvme_streams_directive_parameters, nso, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_streams_directive_parameters, reserved_26, 26);
#define GPUNVME_STREAMS_DIRECTIVE_PARAMETERS_NSSC_SSID_SHIFT 0 /* Shared Stream Identifiers */
#define GPUNVME_STREAMS_DIRECTIVE_PARAMETERS_NSSC_SSID_MASK 0x1u
#define GPUNVME_STREAMS_DIRECTIVE_PARAMETERS_NSSC_SRNZID_SHIFT 1 /* Streams Require Non-Zero Host Identifier */
#define GPUNVME_STREAMS_DIRECTIVE_PARAMETERS_NSSC_SRNZID_MASK 0x2u

/* StreamsDirectiveStatus: Number of open streams (Base 2.2 §8.1.8.3.1) */
struct gpunvme_streams_directive_status {
	uint16_t osc; /* Open Stream Count */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_streams_directive_status, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_streams_directive_status, osc, 0);

/* DatasetManagementRange: A range of logical blocks with attributes (NVM 1.2 §3.3.3) */
struct gpunvme_dataset_management_range {
	uint32_t cattr; /* Context Attributes */
	uint32_t llb; /* Length in Logical Blocks */
	uint64_t slba; /* Starting LBA */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_dataset_management_range, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_dataset_management_range, cattr, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_dataset_management_range, llb, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_dataset_management_range, slba, 8);
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_AF_SHIFT 0 /* Access Frequency */
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_AF_MASK 0xfu
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_AF_NONE 0x0u
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_AF_TYPICAL 0x1u
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_AF_INFREQUENT 0x2u
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_AF_FREQUENT_READS 0x3u
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_AF_FREQUENT_WRITES 0x4u
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_AF_FREQUENT 0x5u
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_AL_SHIFT 4 /* Access Latency */
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_AL_MASK 0x30u
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_AL_NONE 0x0u
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_AL_IDLE 0x1u
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_AL_NORMAL 0x2u
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_AL_LOW 0x3u
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_SRR_SHIFT 8 /* Sequential Read Range */
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_SRR_MASK 0x100u
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_SWR_SHIFT 9 /* Sequential Write Range */
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_SWR_MASK 0x200u
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_WPREP_SHIFT 10 /* Write Prepare */
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_WPREP_MASK 0x400u
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_CASZE_SHIFT 24 /* Command Access Size in logical blocks */
#define GPUNVME_DATASET_MANAGEMENT_RANGE_CATTR_CASZE_MASK 0xff000000u

/* CopyRange0: A range to copy, 16b guards (NVM 1.2 §3.3.2) */
struct gpunvme_copy_range0 {
	uint8_t reserved_0[8];
	uint64_t slba; /* Starting LBA */
	uint16_t nlb; /* Number of Logical Blocks, 0's based */
	uint16_t bits_18; /* CETYPE */
	uint16_t cev; /* Command Extension Value */
	uint8_t reserved_22[2];
	uint32_t elbt; /* Expected Logical Block Tags */
	uint16_t elbat; /* Expected Logical Block Application Tag */
	uint16_t elbatm; /* Expected Logical Block Application Tag Mask */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_copy_range0, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range0, reserved_0, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range0, slba, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range0, nlb, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range0, bits_18, 18);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range0, cev, 20);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range0, reserved_22, 22);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range0, elbt, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range0, elbat, 28);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range0, elbatm, 30);
#define GPUNVME_COPY_RANGE0_CETYPE_SHIFT 0 /* Command Extension Type */
#define GPUNVME_COPY_RANGE0_CETYPE_MASK 0xfu

/* CopyRange1: A range to copy, 32b or 64b guards (NVM 1.2 §3.3.2) */
struct gpunvme_copy_range1 {
	uint8_t reserved_0[8];
	uint64_t slba; /* Starting LBA */
	uint16_t nlb; /* Number of Logical Blocks, 0's based */
	uint16_t bits_18; /* CETYPE */
	uint16_t cev; /* Command Extension Value */
	uint8_t reserved_22[4];
	uint8_t elbt[10]; /* Expected Logical Block Tags */
	uint16_t elbat; /* Expected Logical Block Application Tag */
	uint16_t elbatm; /* Expected Logical Block Application Tag Mask */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_copy_range1, 40);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range1, reserved_0, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range1, slba, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range1, nlb, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range1, bits_18, 18);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range1, cev, 20);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range1, reserved_22, 22);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range1, elbt, 26);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range1, elbat, 36);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range1, elbatm, 38);
#define GPUNVME_COPY_RANGE1_CETYPE_SHIFT 0 /* Command Extension Type */
#define GPUNVME_COPY_RANGE1_CETYPE_MASK 0xfu

/* CopyRange2: Source range of a namespace, 16b guards (NVM 1.2 §3.3.2) */
struct gpunvme_copy_range2 {
	uint32_t snsid; /* Source Namespace Identifier */
	uint8_t reserved_4[4];
	uint64_t slba; /* Starting LBA */
	uint16_t nlb; /* Number of Logical Blocks, 0's based */
	uint16_t bits_18; /* CETYPE */
	uint16_t cev; /* Command Extension Value */
	uint16_t sopt; /* Source Options */
	uint32_t elbt; /* Expected Logical Block Tags */
	uint16_t elbat; /* Expected Logical Block Application Tag */
	uint16_t elbatm; /* Expected Logical Block Application Tag Mask */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_copy_range2, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range2, snsid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range2, reserved_4, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range2, slba, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range2, nlb, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range2, bits_18, 18);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range2, cev, 20);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range2, sopt, 22);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range2, elbt, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range2, elbat, 28);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range2, elbatm, 30);
#define GPUNVME_COPY_RANGE2_CETYPE_SHIFT 0 /* Command Extension Type */
#define GPUNVME_COPY_RANGE2_CETYPE_MASK 0xfu
#define GPUNVME_COPY_RANGE2_SOPT_FCO_SHIFT 15 /* Fast Copy Only */
#define GPUNVME_COPY_RANGE2_SOPT_FCO_MASK 0x8000u

/* CopyRange3: Source range of a namespace, long guards (NVM 1.2 §3.3.2) */
struct gpunvme_copy_range3 {
	uint32_t snsid; /* Source Namespace Identifier */
	uint8_t reserved_4[4];
	uint64_t slba; /* Starting LBA */
	uint16_t nlb; /* Number of Logical Blocks, 0's based */
	uint16_t bits_18; /* CETYPE */
	uint16_t cev; /* Command Extension Value */
	uint16_t sopt; /* Source Options */
	uint8_t reserved_24[2];
	uint8_t elbt[10]; /* Expected Logical Block Tags */
	uint16_t elbat; /* Expected Logical Block Application Tag */
	uint16_t elbatm; /* Expected Logical Block Application Tag Mask */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_copy_range3, 40);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range3, snsid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range3, reserved_4, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range3, slba, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range3, nlb, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range3, bits_18, 18);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range3, cev, 20);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range3, sopt, 22);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range3, reserved_24, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range3, elbt, 26);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range3, elbat, 36);
GPUNVME_ASSERT_OFFSET(struct gpunvme_copy_range3, elbatm, 38);
#define GPUNVME_COPY_RANGE3_CETYPE_SHIFT 0 /* Command Extension Type */
#define GPUNVME_COPY_RANGE3_CETYPE_MASK 0xfu
#define GPUNVME_COPY_RANGE3_SOPT_FCO_SHIFT 15 /* Fast Copy Only */
#define GPUNVME_COPY_RANGE3_SOPT_FCO_MASK 0x8000u

/* ReclaimUnitHandleStatus: Header of the list of handles (Base 2.2 §7.3.1.1) */
struct gpunvme_reclaim_unit_handle_status {
	uint8_t reserved_0[14];
	uint16_t nruhsd; /* Number of Reclaim Unit Handle Status Descriptors */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_reclaim_unit_handle_status, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reclaim_unit_handle_status, reserved_0, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reclaim_unit_handle_status, nruhsd, 14);

/* ReclaimUnitHandleStatusDescriptor: Target of a Placement Identifier (NVM 1.2 §3.2.1.1) */
struct gpunvme_reclaim_unit_handle_status_descriptor {
	uint16_t pid; /* Placement Identifier */
	uint16_t ruhid; /* Reclaim Unit Handle Identifier */
	uint32_t earutr; /* Estimated Active Reclaim Unit Time Remaining, seconds */
	uint64_t ruamw; /* Reclaim Unit Available Media Writes in logical blocks */
	uint8_t reserved_16[16];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_reclaim_unit_handle_status_descriptor, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reclaim_unit_handle_status_descriptor, pid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reclaim_unit_handle_status_descriptor, ruhid, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reclaim_unit_handle_status_descriptor, earutr, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reclaim_unit_handle_status_descriptor, ruamw, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reclaim_unit_handle_status_descriptor, reserved_16, 16);

/* IdentifyNamespace: Identify Namespace data structure (CNS 00h) (NVM 1.2 §4.1.5.1) */
struct gpunvme_identify_namespace {
	uint64_t nsze; /* Namespace Size in logical blocks */
	uint64_t ncap; /* Namespace Capacity in logical blocks */
	uint64_t nuse; /* Namespace Utilization in logical blocks */
	uint8_t nsfeat; /* Namespace Features */
	uint8_t nlbaf; /* Number of LBA Formats, 0's based */
	uint8_t flbas; /* Formatted LBA Size */
	uint8_t mc; /* Metadata Capabilities */
	uint8_t dpc; /* End-to-end Data Protection Capabilities */
	uint8_t dps; /* End-to-end Data Protection Type Settings */
	uint8_t nmic; /* Namespace Multi-path I/O and Namespace Sharing Capabilities */
	uint8_t rescap; /* Reservation Capabilities */
	uint8_t fpi; /* Format Progress Indicator */
	uint8_t dlfeat; /* Deallocate Logical Block Features */
	uint16_t nawun; /* Namespace Atomic Write Unit Normal in logical blocks, 0's based */
	uint16_t nawupf; /* Namespace Atomic Write Unit Power Fail in logical blocks, 0's based */
	uint16_t nacwu; /* Namespace Atomic Compare & Write Unit in logical blocks, 0's based */
	uint16_t nabsn; /* Namespace Atomic Boundary Size Normal in logical blocks; 0 means no boundary, 0's based */
	uint16_t nabo; /* Namespace Atomic Boundary Offset */
	uint16_t nabspf; /* Namespace Atomic Boundary Size Power Fail in logical blocks; 0 means no boundary, 0's based */
	uint16_t noiob; /* Namespace Optimal I/O Boundary in logical blocks */
	uint64_t nvmcap[2]; /* NVM Capacity in bytes */
	uint16_t npwg; /* Namespace Preferred Write Granularity in logical blocks, 0's based */
	uint16_t npwa; /* Namespace Preferred Write Alignment in logical blocks, 0's based */
	uint16_t npdg; /* Namespace Preferred Deallocate Granularity in logical blocks, 0's based */
	uint16_t npda; /* Namespace Preferred Deallocate Alignment in logical blocks, 0's based */
	uint16_t nows; /* Namespace Optimal Write Size in logical blocks, 0's based */
	uint16_t mssrl; /* Maximum Single Source Range Length in logical blocks */
	uint32_t mcl; /* Maximum Copy Length in logical blocks */
	uint8_t msrc; /* Maximum Source Range Count, 0's based */
	uint8_t kpios; /* Key Per I/O Status */
	uint8_t nulbaf; /* Number of Unique Attribute LBA Formats */
	uint8_t reserved_83;
	uint32_t kpiodaag; /* Key Per I/O Data Access Alignment and Granularity in logical blocks, 0's based */
	uint8_t reserved_88[4];
	uint32_t anagrpid; /* ANA Group Identifier */
	uint8_t reserved_96[3];
	uint8_t nsattr; /* Namespace Attributes */
	uint16_t nvmsetid; /* NVM Set Identifier */
	uint16_t endgid; /* Endurance Group Identifier */
	uint8_t nguid[16]; /* Namespace Globally Unique Identifier */
	uint8_t eui64[8]; /* IEEE Extended Unique Identifier */
	uint32_t lbaf[64]; /* LBA Formats 0 to 63 */
	uint8_t vs[3712]; /* Vendor Specific */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_identify_namespace, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, nsze, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, ncap, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, nuse, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, nsfeat, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, nlbaf, 25);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, flbas, 26);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, mc, 27);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, dpc, 28);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, dps, 29);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, nmic, 30);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, rescap, 31);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, fpi, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, dlfeat, 33);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, nawun, 34);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, nawupf, 36);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, nacwu, 38);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, nabsn, 40);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, nabo, 42);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, nabspf, 44);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, noiob, 46);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, nvmcap, 48);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, npwg, 64);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, npwa, 66);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, npdg, 68);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, npda, 70);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, nows, 72);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, mssrl, 74);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, mcl, 76);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, msrc, 80);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, kpios, 81);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, nulbaf, 82);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, reserved_83, 83);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, kpiodaag, 84);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, reserved_88, 88);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, anagrpid, 92);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, reserved_96, 96);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, nsattr, 99);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, nvmsetid, 100);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, endgid, 102);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, nguid, 104);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, eui64, 120);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, lbaf, 128);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_namespace, vs, 384);
#define GPUNVME_IDENTIFY_NAMESPACE_NSFEAT_THINP_SHIFT 0 /* Thin Provisioning */
#define GPUNVME_IDENTIFY_NAMESPACE_NSFEAT_THINP_MASK 0x1u
#define GPUNVME_IDENTIFY_NAMESPACE_NSFEAT_NSABP_SHIFT 1 /* Namespace Supported Atomic Boundary & Power */
#define GPUNVME_IDENTIFY_NAMESPACE_NSFEAT_NSABP_MASK 0x2u
#define GPUNVME_IDENTIFY_NAMESPACE_NSFEAT_DAE_SHIFT 2 /* Deallocated Error */
#define GPUNVME_IDENTIFY_NAMESPACE_NSFEAT_DAE_MASK 0x4u
#define GPUNVME_IDENTIFY_NAMESPACE_NSFEAT_UIDREUSE_SHIFT 3 /* UID Reuse */
#define GPUNVME_IDENTIFY_NAMESPACE_NSFEAT_UIDREUSE_MASK 0x8u
#define GPUNVME_IDENTIFY_NAMESPACE_NSFEAT_OPTPERF_SHIFT 4 /* Optional Write Performance */
#define GPUNVME_IDENTIFY_NAMESPACE_NSFEAT_OPTPERF_MASK 0x30u
#define GPUNVME_IDENTIFY_NAMESPACE_NSFEAT_MAM_SHIFT 6 /* Multiple Atomicity Mode */
#define GPUNVME_IDENTIFY_NAMESPACE_NSFEAT_MAM_MASK 0x40u
#define GPUNVME_IDENTIFY_NAMESPACE_NSFEAT_OPTRPERF_SHIFT 7 /* Optional Read Performance */
#define GPUNVME_IDENTIFY_NAMESPACE_NSFEAT_OPTRPERF_MASK 0x80u
#define GPUNVME_IDENTIFY_NAMESPACE_FLBAS_FIDXL_SHIFT 0 /* Format Index Lower */
#define GPUNVME_IDENTIFY_NAMESPACE_FLBAS_FIDXL_MASK 0xfu
#define GPUNVME_IDENTIFY_NAMESPACE_FLBAS_MTELBA_SHIFT 4 /* Metadata Transferred as Extended LBA */
#define GPUNVME_IDENTIFY_NAMESPACE_FLBAS_MTELBA_MASK 0x10u
#define GPUNVME_IDENTIFY_NAMESPACE_FLBAS_FIDXU_SHIFT 5 /* Format Index Upper */
#define GPUNVME_IDENTIFY_NAMESPACE_FLBAS_FIDXU_MASK 0x60u
#define GPUNVME_IDENTIFY_NAMESPACE_MC_MTELBAS_SHIFT 0 /* Metadata Transferred as Extended LBA Support */
#define GPUNVME_IDENTIFY_NAMESPACE_MC_MTELBAS_MASK 0x1u
#define GPUNVME_IDENTIFY_NAMESPACE_MC_MTSBS_SHIFT 1 /* Metadata Transferred as Separate Buffer Support */
#define GPUNVME_IDENTIFY_NAMESPACE_MC_MTSBS_MASK 0x2u
#define GPUNVME_IDENTIFY_NAMESPACE_DPC_PIT1S_SHIFT 0 /* Protection Information Type 1 Supported */
#define GPUNVME_IDENTIFY_NAMESPACE_DPC_PIT1S_MASK 0x1u
#define GPUNVME_IDENTIFY_NAMESPACE_DPC_PIT2S_SHIFT 1 /* Protection Information Type 2 Supported */
#define GPUNVME_IDENTIFY_NAMESPACE_DPC_PIT2S_MASK 0x2u
#define GPUNVME_IDENTIFY_NAMESPACE_DPC_PIT3S_SHIFT 2 /* Protection Information Type 3 Supported */
#define GPUNVME_IDENTIFY_NAMESPACE_DPC_PIT3S_MASK 0x4u
#define GPUNVME_IDENTIFY_NAMESPACE_DPC_PIIFB_SHIFT 3 /* Protection Information In First Bytes */
#define GPUNVME_IDENTIFY_NAMESPACE_DPC_PIIFB_MASK 0x8u
#define GPUNVME_IDENTIFY_NAMESPACE_DPC_PIILB_SHIFT 4 /* Protection Information In Last Bytes */
#define GPUNVME_IDENTIFY_NAMESPACE_DPC_PIILB_MASK 0x10u
#define GPUNVME_IDENTIFY_NAMESPACE_DPS_PIT_SHIFT 0 /* Protection Information Type */
#define GPUNVME_IDENTIFY_NAMESPACE_DPS_PIT_MASK 0x7u
#define GPUNVME_IDENTIFY_NAMESPACE_DPS_PIT_NONE 0x0u
#define GPUNVME_IDENTIFY_NAMESPACE_DPS_PIT_TYPE_1 0x1u
#define GPUNVME_IDENTIFY_NAMESPACE_DPS_PIT_TYPE_2 0x2u
#define GPUNVME_IDENTIFY_NAMESPACE_DPS_PIT_TYPE_3 0x3u
#define GPUNVME_IDENTIFY_NAMESPACE_DPS_PIP_SHIFT 3 /* Protection Information Position */
#define GPUNVME_IDENTIFY_NAMESPACE_DPS_PIP_MASK 0x8u
#define GPUNVME_IDENTIFY_NAMESPACE_NMIC_SHRNS_SHIFT 0 /* Shared Namespace */
#define GPUNVME_IDENTIFY_NAMESPACE_NMIC_SHRNS_MASK 0x1u
#define GPUNVME_IDENTIFY_NAMESPACE_NMIC_DISNS_SHIFT 1 /* Dispersed Namespace */
#define GPUNVME_IDENTIFY_NAMESPACE_NMIC_DISNS_MASK 0x2u
#define GPUNVME_IDENTIFY_NAMESPACE_RESCAP_PTPL_SHIFT 0 /* Persist Through Power Loss */
#define GPUNVME_IDENTIFY_NAMESPACE_RESCAP_PTPL_MASK 0x1u
#define GPUNVME_IDENTIFY_NAMESPACE_RESCAP_WE_SHIFT 1 /* Write Exclusive */
#define GPUNVME_IDENTIFY_NAMESPACE_RESCAP_WE_MASK 0x2u
#define GPUNVME_IDENTIFY_NAMESPACE_RESCAP_EA_SHIFT 2 /* Exclusive Access */
#define GPUNVME_IDENTIFY_NAMESPACE_RESCAP_EA_MASK 0x4u
#define GPUNVME_IDENTIFY_NAMESPACE_RESCAP_WERO_SHIFT 3 /* Write Exclusive - Registrants Only */
#define GPUNVME_IDENTIFY_NAMESPACE_RESCAP_WERO_MASK 0x8u
#define GPUNVME_IDENTIFY_NAMESPACE_RESCAP_EARO_SHIFT 4 /* Exclusive Access - Registrants Only */
#define GPUNVME_IDENTIFY_NAMESPACE_RESCAP_EARO_MASK 0x10u
#define GPUNVME_IDENTIFY_NAMESPACE_RESCAP_WEAR_SHIFT 5 /* Write Exclusive - All Registrants */
#define GPUNVME_IDENTIFY_NAMESPACE_RESCAP_WEAR_MASK 0x20u
#define GPUNVME_IDENTIFY_NAMESPACE_RESCAP_EAAR_SHIFT 6 /* Exclusive Access - All Registrants */
#define GPUNVME_IDENTIFY_NAMESPACE_RESCAP_EAAR_MASK 0x40u
#define GPUNVME_IDENTIFY_NAMESPACE_RESCAP_IEK_SHIFT 7 /* Ignore Existing Key as in 1.3 and later */
#define GPUNVME_IDENTIFY_NAMESPACE_RESCAP_IEK_MASK 0x80u
#define GPUNVME_IDENTIFY_NAMESPACE_FPI_RFNVM_SHIFT 0 /* Remaining Format NVM in percent */
#define GPUNVME_IDENTIFY_NAMESPACE_FPI_RFNVM_MASK 0x7fu
#define GPUNVME_IDENTIFY_NAMESPACE_FPI_FPIS_SHIFT 7 /* Format Progress Indicator Support */
#define GPUNVME_IDENTIFY_NAMESPACE_FPI_FPIS_MASK 0x80u
#define GPUNVME_IDENTIFY_NAMESPACE_DLFEAT_DRB_SHIFT 0 /* Deallocation Read Behavior */
#define GPUNVME_IDENTIFY_NAMESPACE_DLFEAT_DRB_MASK 0x7u
#define GPUNVME_IDENTIFY_NAMESPACE_DLFEAT_DRB_NOT_REPORTED 0x0u
#define GPUNVME_IDENTIFY_NAMESPACE_DLFEAT_DRB_ZEROES 0x1u
#define GPUNVME_IDENTIFY_NAMESPACE_DLFEAT_DRB_ONES 0x2u
#define GPUNVME_IDENTIFY_NAMESPACE_DLFEAT_WZDS_SHIFT 3 /* Write Zeroes Deallocation Support */
#define GPUNVME_IDENTIFY_NAMESPACE_DLFEAT_WZDS_MASK 0x8u
#define GPUNVME_IDENTIFY_NAMESPACE_DLFEAT_GDS_SHIFT 4 /* Guard Deallocation Status */
#define GPUNVME_IDENTIFY_NAMESPACE_DLFEAT_GDS_MASK 0x10u
#define GPUNVME_IDENTIFY_NAMESPACE_KPIOS_KPIOENS_SHIFT 0 /* Key Per I/O Enabled in Namespace */
#define GPUNVME_IDENTIFY_NAMESPACE_KPIOS_KPIOENS_MASK 0x1u
#define GPUNVME_IDENTIFY_NAMESPACE_KPIOS_KPIOSNS_SHIFT 1 /* Key Per I/O Supported in Namespace */
#define GPUNVME_IDENTIFY_NAMESPACE_KPIOS_KPIOSNS_MASK 0x2u
#define GPUNVME_IDENTIFY_NAMESPACE_NSATTR_CWP_SHIFT 0 /* Currently Write Protected */
#define GPUNVME_IDENTIFY_NAMESPACE_NSATTR_CWP_MASK 0x1u
#define GPUNVME_IDENTIFY_NAMESPACE_LBAF_MS_SHIFT 0 /* Metadata Size in bytes */
#define GPUNVME_IDENTIFY_NAMESPACE_LBAF_MS_MASK 0xffffu
#define GPUNVME_IDENTIFY_NAMESPACE_LBAF_LBADS_SHIFT 16 /* LBA Data Size: 2 ^ n bytes */
#define GPUNVME_IDENTIFY_NAMESPACE_LBAF_LBADS_MASK 0xff0000u
#define GPUNVME_IDENTIFY_NAMESPACE_LBAF_RP_SHIFT 24 /* Relative Performance */
#define GPUNVME_IDENTIFY_NAMESPACE_LBAF_RP_MASK 0x3000000u
#define GPUNVME_IDENTIFY_NAMESPACE_LBAF_RP_BEST 0x0u
#define GPUNVME_IDENTIFY_NAMESPACE_LBAF_RP_BETTER 0x1u
#define GPUNVME_IDENTIFY_NAMESPACE_LBAF_RP_GOOD 0x2u
#define GPUNVME_IDENTIFY_NAMESPACE_LBAF_RP_DEGRADED 0x3u

/* IdentifyNvmNamespace: NVM namespaces (CNS 05h) (NVM 1.2 §4.1.5.3) */
struct gpunvme_identify_nvm_namespace {
	uint64_t lbstm; /* Logical Block Storage Tag Mask */
	uint8_t pic; /* Protection Information Capabilities */
	uint8_t pifa; /* Protection Information Format Attribute */
	uint8_t reserved_10[2];
	uint32_t elbaf[64]; /* Extended LBA Formats 0 to 63 */
	uint32_t npdgl; /* Namespace Preferred Deallocate Granularity Large in logical blocks */
	uint32_t nprg; /* Namespace Preferred Read Granularity in logical blocks, 0's based */
	uint32_t npra; /* Namespace Preferred Read Alignment in logical blocks, 0's based */
	uint32_t nors; /* Namespace Optimal Read Size in logical blocks, 0's based */
	uint32_t npdal; /* Namespace Preferred Deallocate Alignment Large in logical blocks */
	uint32_t lbapss; /* LBA Format Placement Shard Size in logical blocks */
	uint32_t tlbaag; /* Tracked LBA Allocation Granularity in logical blocks */
	uint8_t reserved_296[3800];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_identify_nvm_namespace, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_namespace, lbstm, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_namespace, pic, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_namespace, pifa, 9);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_namespace, reserved_10, 10);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_namespace, elbaf, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_namespace, npdgl, 268);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_namespace, nprg, 272);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_namespace, npra, 276);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_namespace, nors, 280);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_namespace, npdal, 284);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_namespace, lbapss, 288);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_namespace, tlbaag, 292);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_namespace, reserved_296, 296);
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_PIC_PISTS16B_SHIFT 0 /* 16b Guard Protection Information Storage Tag Support */
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_PIC_PISTS16B_MASK 0x1u
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_PIC_PISTM16B_SHIFT 1 /* 16b Guard Protection Information Storage Tag Mask */
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_PIC_PISTM16B_MASK 0x2u
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_PIC_STCRS_SHIFT 2 /* Storage Tag Check Read Support */
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_PIC_STCRS_MASK 0x4u
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_PIC_QPIFS_SHIFT 3 /* Qualified Protection Information Format Support */
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_PIC_QPIFS_MASK 0x8u
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_PIFA_STMLA_SHIFT 0 /* Storage Tag Masking Level Attribute */
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_PIFA_STMLA_MASK 0x7u
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_PIFA_STMLA_BIT 0x0u
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_PIFA_STMLA_BYTE 0x1u
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_PIFA_STMLA_NOT_SUPPORTED 0x2u
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_ELBAF_STS_SHIFT 0 /* Storage Tag Size in bits */
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_ELBAF_STS_MASK 0x7fu
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_ELBAF_PIF_SHIFT 7 /* Protection Information Format */
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_ELBAF_PIF_MASK 0x180u
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_ELBAF_PIF_GUARD_16B 0x0u
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_ELBAF_PIF_GUARD_32B 0x1u
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_ELBAF_PIF_GUARD_64B 0x2u
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_ELBAF_PIF_QTYPE 0x3u
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_ELBAF_QPIF_SHIFT 9 /* Qualified Protection Information Format */
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_ELBAF_QPIF_MASK 0x1e00u
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_ELBAF_QPIF_GUARD_16B 0x0u
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_ELBAF_QPIF_GUARD_32B 0x1u
#define GPUNVME_IDENTIFY_NVM_NAMESPACE_ELBAF_QPIF_GUARD_64B 0x2u

/* IdentifyNvmController: Limits of NVM commands (CNS 06h) (NVM 1.2 §4.1.5.4) */
struct gpunvme_identify_nvm_controller {
	uint8_t vsl; /* Verify Size Limit: 2 ^ n pages of CAP.MPSMIN */
	uint8_t wzsl; /* Write Zeroes Size Limit: 2 ^ n pages of CAP.MPSMIN */
	uint8_t wusl; /* Write Uncorrectable Size Limit: 2 ^ n pages of CAP.MPSMIN */
	uint8_t dmrl; /* Dataset Management Ranges Limit */
	uint32_t dmrsl; /* Dataset Management Range Size Limit in logical blocks */
	uint64_t dmsl; /* Dataset Management Size Limit in logical blocks */
	uint8_t kpiocap; /* Key Per I/O Capabilities */
	uint8_t wzdsl; /* Write Zeroes With Deallocate Size Limit: 2 ^ n pages of CAP.MPSMIN */
	uint16_t aocs; /* Admin Optional Command Support */
	uint32_t ver; /* Version of the NVM Command Set */
	uint8_t lbamqf; /* LBA Migration Queue Format */
	uint8_t reserved_25[4071];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_identify_nvm_controller, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_controller, vsl, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_controller, wzsl, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_controller, wusl, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_controller, dmrl, 3);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_controller, dmrsl, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_controller, dmsl, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_controller, kpiocap, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_controller, wzdsl, 17);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_controller, aocs, 18);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_controller, ver, 20);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_controller, lbamqf, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_nvm_controller, reserved_25, 25);
#define GPUNVME_IDENTIFY_NVM_CONTROLLER_KPIOCAP_KPIOS_SHIFT 0 /* Key Per I/O Supported */
#define GPUNVME_IDENTIFY_NVM_CONTROLLER_KPIOCAP_KPIOS_MASK 0x1u
#define GPUNVME_IDENTIFY_NVM_CONTROLLER_KPIOCAP_KPIOSC_SHIFT 1 /* Key Per I/O Scope */
#define GPUNVME_IDENTIFY_NVM_CONTROLLER_KPIOCAP_KPIOSC_MASK 0x2u
#define GPUNVME_IDENTIFY_NVM_CONTROLLER_AOCS_RALBAS_SHIFT 0 /* Reporting Allocated LBA Supported */
#define GPUNVME_IDENTIFY_NVM_CONTROLLER_AOCS_RALBAS_MASK 0x1u
#define GPUNVME_IDENTIFY_NVM_CONTROLLER_VER_TER_SHIFT 0 /* Tertiary Version */
#define GPUNVME_IDENTIFY_NVM_CONTROLLER_VER_TER_MASK 0xffu
#define GPUNVME_IDENTIFY_NVM_CONTROLLER_VER_MNR_SHIFT 8 /* Minor Version */
#define GPUNVME_IDENTIFY_NVM_CONTROLLER_VER_MNR_MASK 0xff00u
#define GPUNVME_IDENTIFY_NVM_CONTROLLER_VER_MJR_SHIFT 16 /* Major Version */
#define GPUNVME_IDENTIFY_NVM_CONTROLLER_VER_MJR_MASK 0xffff0000u
#define GPUNVME_IDENTIFY_NVM_CONTROLLER_LBAMQF_TYPE_0 0x0u

/* NamespaceGranularity: Preferred granularity of a new namespace (NVM 1.2 §4.1.5.8) */
struct gpunvme_namespace_granularity {
	uint64_t nsg; /* Namespace Size Granularity in bytes */
	uint64_t ncg; /* Namespace Capacity Granularity in bytes */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_namespace_granularity, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_granularity, nsg, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_granularity, ncg, 8);

/* NamespaceGranularityList: Up to 64 granularities (NVM 1.2 §4.1.5.8) */
struct gpunvme_namespace_granularity_list {
	uint32_t nga; /* Namespace Granularity Attributes */
	uint8_t nd; /* Number of Descriptors, 0's based */
	uint8_t reserved_5[27];
	struct gpunvme_namespace_granularity ngd[64]; /* One for each LBA format, or one for all */
	uint8_t reserved_1056[3040];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_namespace_granularity_list, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_granularity_list, nga, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_granularity_list, nd, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_granularity_list, reserved_5, 5);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_granularity_list, ngd, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_namespace_granularity_list, reserved_1056, 1056);
#define GPUNVME_NAMESPACE_GRANULARITY_LIST_NGA_GDM_SHIFT 0 /* Granularity Descriptor Mapping */
#define GPUNVME_NAMESPACE_GRANULARITY_LIST_NGA_GDM_MASK 0x1u

/* LbaRange: A range of logical blocks and its use (NVM 1.2 §4.1.3.1) */
struct gpunvme_lba_range {
	uint8_t type; /* Type */
	uint8_t attrb; /* Attributes */
	uint8_t reserved_2[14];
	uint64_t slba; /* Starting LBA */
	uint64_t nlb; /* Number of Logical Blocks, 0's based */
	uint8_t guid[16]; /* Unique Identifier */
	uint8_t reserved_48[16];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_lba_range, 64);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_range, type, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_range, attrb, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_range, reserved_2, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_range, slba, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_range, nlb, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_range, guid, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_range, reserved_48, 48);
#define GPUNVME_LBA_RANGE_TYPE_GENERAL_PURPOSE 0x0u
#define GPUNVME_LBA_RANGE_TYPE_FILESYSTEM 0x1u
#define GPUNVME_LBA_RANGE_TYPE_RAID 0x2u
#define GPUNVME_LBA_RANGE_TYPE_CACHE 0x3u
#define GPUNVME_LBA_RANGE_TYPE_PAGE_OR_SWAP_FILE 0x4u
#define GPUNVME_LBA_RANGE_ATTRB_LBARO_SHIFT 0 /* LBA Range Overwriteable */
#define GPUNVME_LBA_RANGE_ATTRB_LBARO_MASK 0x1u
#define GPUNVME_LBA_RANGE_ATTRB_HLBAR_SHIFT 1 /* Hide LBA Range */
#define GPUNVME_LBA_RANGE_ATTRB_HLBAR_MASK 0x2u

/* LbaRanges: Up to 64 ranges (NVM 1.2 §4.1.3.1) */
struct gpunvme_lba_ranges {
	struct gpunvme_lba_range range[64]; /* LBA ranges */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_lba_ranges, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_lba_ranges, range, 0);

/* StandardPerformanceAttribute: Latency of reads, as a range (NVM 1.2 §4.1.3.7.1) */
struct gpunvme_standard_performance_attribute {
	uint8_t reserved_0[4];
	uint8_t r4karl; /* Random 4 KiB Average Read Latency */
	uint8_t reserved_5[4091];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_standard_performance_attribute, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_standard_performance_attribute, reserved_0, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_standard_performance_attribute, r4karl, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_standard_performance_attribute, reserved_5, 5);

/* PerformanceAttributeIdentifiers: Identifiers of the vendor specific attributes (NVM 1.2 §4.1.3.7.2) */
struct gpunvme_performance_attribute_identifiers {
	uint8_t attributes; /* Kind of the attributes */
	uint8_t msvspa; /* Maximum Saveable Vendor Specific Performance Attributes */
	uint8_t usvspa; /* Unused Saveable Vendor Specific Performance Attributes */
	uint8_t reserved_3[13];
	uint8_t pahi[1008]; /* Identifiers of attributes C1h to FFh */
	uint8_t reserved_1024[3072];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_performance_attribute_identifiers, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_performance_attribute_identifiers, attributes, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_performance_attribute_identifiers, msvspa, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_performance_attribute_identifiers, usvspa, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_performance_attribute_identifiers, reserved_3, 3);
GPUNVME_ASSERT_OFFSET(struct gpunvme_performance_attribute_identifiers, pahi, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_performance_attribute_identifiers, reserved_1024, 1024);
#define GPUNVME_PERFORMANCE_ATTRIBUTE_IDENTIFIERS_ATTRIBUTES_ATTRTYP_SHIFT 0 /* Attribute Type */
#define GPUNVME_PERFORMANCE_ATTRIBUTE_IDENTIFIERS_ATTRIBUTES_ATTRTYP_MASK 0x7u
#define GPUNVME_PERFORMANCE_ATTRIBUTE_IDENTIFIERS_ATTRIBUTES_ATTRTYP_CURRENT 0x0u
#define GPUNVME_PERFORMANCE_ATTRIBUTE_IDENTIFIERS_ATTRIBUTES_ATTRTYP_DEFAULT 0x1u
#define GPUNVME_PERFORMANCE_ATTRIBUTE_IDENTIFIERS_ATTRIBUTES_ATTRTYP_SAVED 0x2u

/* VendorSpecificPerformanceAttribute: A vendor defined attribute (NVM 1.2 §4.1.3.7.3) */
struct gpunvme_vendor_specific_performance_attribute {
	uint8_t paid[16]; /* Performance Attribute Identifier */
	uint8_t reserved_16[14];
	uint16_t attrl; /* Attribute Length in bytes */
	uint8_t vs[4064]; /* Vendor Specific */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_vendor_specific_performance_attribute, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_vendor_specific_performance_attribute, paid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_vendor_specific_performance_attribute, reserved_16, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_vendor_specific_performance_attribute, attrl, 30);
GPUNVME_ASSERT_OFFSET(struct gpunvme_vendor_specific_performance_attribute, vs, 32);

/* ProtectionInformation16: Protection information, CRC-16 guard (NVM 1.2 §5.3.1.1) */
struct gpunvme_protection_information16 {
	uint8_t guard[2]; /* Guard, big endian */
	uint8_t at[2]; /* Application Tag, big endian */
	uint8_t srs[4]; /* Storage and Reference Space, big endian */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_protection_information16, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_protection_information16, guard, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_protection_information16, at, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_protection_information16, srs, 4);

/* ProtectionInformation32: Protection information, CRC-32C guard (NVM 1.2 §5.3.1.2) */
struct gpunvme_protection_information32 {
	uint8_t guard[4]; /* Guard, big endian */
	uint8_t at[2]; /* Application Tag, big endian */
	uint8_t srs[10]; /* Storage and Reference Space, big endian */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_protection_information32, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_protection_information32, guard, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_protection_information32, at, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_protection_information32, srs, 6);

/* ProtectionInformation64: Protection information, 64b CRC guard (NVM 1.2 §5.3.1.3) */
struct gpunvme_protection_information64 {
	uint8_t guard[8]; /* Guard, big endian */
	uint8_t at[2]; /* Application Tag, big endian */
	uint8_t srs[6]; /* Storage and Reference Space, big endian */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_protection_information64, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_protection_information64, guard, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_protection_information64, at, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_protection_information64, srs, 10);

/* ReservationRegisterData: The keys of Reservation Register (Base 2.2 §7.6) */
struct gpunvme_reservation_register_data {
	uint64_t crkey; /* Current Reservation Key */
	uint64_t nrkey; /* New Reservation Key */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_reservation_register_data, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_register_data, crkey, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_register_data, nrkey, 8);

/* ReservationAcquireData: The keys of Reservation Acquire (Base 2.2 §7.5) */
struct gpunvme_reservation_acquire_data {
	uint64_t crkey; /* Current Reservation Key */
	uint64_t prkey; /* Preempt Reservation Key */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_reservation_acquire_data, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_acquire_data, crkey, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_acquire_data, prkey, 8);

/* ReservationReleaseData: The key of Reservation Release (Base 2.2 §7.7) */
struct gpunvme_reservation_release_data {
	uint64_t crkey; /* Current Reservation Key */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_reservation_release_data, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_release_data, crkey, 0);

/* ReservationStatus: Header of Reservation Report (Base 2.2 §7.8) */
struct gpunvme_reservation_status {
	uint32_t gen; /* Generation */
	uint8_t rtype; /* Reservation Type */
	uint8_t regstrnt[2]; /* Number of Registrants */
	uint8_t reserved_7[2];
	uint8_t ptpls; /* Persist Through Power Loss State */
	uint8_t reserved_10[14];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_reservation_status, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_status, gen, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_status, rtype, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_status, regstrnt, 5);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_status, reserved_7, 7);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_status, ptpls, 9);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_status, reserved_10, 10);
#define GPUNVME_RESERVATION_STATUS_RTYPE_NONE 0x0u
#define GPUNVME_RESERVATION_STATUS_RTYPE_WRITE_EXCLUSIVE 0x1u
#define GPUNVME_RESERVATION_STATUS_RTYPE_EXCLUSIVE_ACCESS 0x2u
#define GPUNVME_RESERVATION_STATUS_RTYPE_WRITE_EXCLUSIVE_REGISTRANTS_ONLY 0x3u
#define GPUNVME_RESERVATION_STATUS_RTYPE_EXCLUSIVE_ACCESS_REGISTRANTS_ONLY 0x4u
#define GPUNVME_RESERVATION_STATUS_RTYPE_WRITE_EXCLUSIVE_ALL_REGISTRANTS 0x5u
#define GPUNVME_RESERVATION_STATUS_RTYPE_EXCLUSIVE_ACCESS_ALL_REGISTRANTS 0x6u
#define GPUNVME_RESERVATION_STATUS_PTPLS_RELEASED 0x0u
#define GPUNVME_RESERVATION_STATUS_PTPLS_PERSISTENT 0x1u

/* ReservationStatusExtended: Header of Reservation Report with EDS (Base 2.2 §7.8) */
struct gpunvme_reservation_status_extended {
	uint32_t gen; /* Generation */
	uint8_t rtype; /* Reservation Type */
	uint8_t regstrnt[2]; /* Number of Registrants */
	uint8_t reserved_7[2];
	uint8_t ptpls; /* Persist Through Power Loss State */
	uint8_t reserved_10[54];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_reservation_status_extended, 64);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_status_extended, gen, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_status_extended, rtype, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_status_extended, regstrnt, 5);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_status_extended, reserved_7, 7);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_status_extended, ptpls, 9);
GPUNVME_ASSERT_OFFSET(struct gpunvme_reservation_status_extended, reserved_10, 10);
#define GPUNVME_RESERVATION_STATUS_EXTENDED_RTYPE_NONE 0x0u
#define GPUNVME_RESERVATION_STATUS_EXTENDED_RTYPE_WRITE_EXCLUSIVE 0x1u
#define GPUNVME_RESERVATION_STATUS_EXTENDED_RTYPE_EXCLUSIVE_ACCESS 0x2u
#define GPUNVME_RESERVATION_STATUS_EXTENDED_RTYPE_WRITE_EXCLUSIVE_REGISTRANTS_ONLY 0x3u
#define GPUNVME_RESERVATION_STATUS_EXTENDED_RTYPE_EXCLUSIVE_ACCESS_REGISTRANTS_ONLY 0x4u
#define GPUNVME_RESERVATION_STATUS_EXTENDED_RTYPE_WRITE_EXCLUSIVE_ALL_REGISTRANTS 0x5u
#define GPUNVME_RESERVATION_STATUS_EXTENDED_RTYPE_EXCLUSIVE_ACCESS_ALL_REGISTRANTS 0x6u
#define GPUNVME_RESERVATION_STATUS_EXTENDED_PTPLS_RELEASED 0x0u
#define GPUNVME_RESERVATION_STATUS_EXTENDED_PTPLS_PERSISTENT 0x1u

/* Registrant: A registrant of a namespace (Base 2.2 §7.8) */
struct gpunvme_registrant {
	uint16_t cntlid; /* Controller ID; FFFFh: none, FFFDh: elsewhere */
	uint8_t rcsts; /* Reservation Status */
	uint8_t reserved_3[5];
	uint64_t hostid; /* Host Identifier */
	uint64_t rkey; /* Reservation Key */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_registrant, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_registrant, cntlid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_registrant, rcsts, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_registrant, reserved_3, 3);
GPUNVME_ASSERT_OFFSET(struct gpunvme_registrant, hostid, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_registrant, rkey, 16);
#define GPUNVME_REGISTRANT_RCSTS_AHHR_SHIFT 0 /* Association with Host Holding Reservation */
#define GPUNVME_REGISTRANT_RCSTS_AHHR_MASK 0x1u

/* RegistrantExtended: A registrant of a namespace, with EDS (Base 2.2 §7.8) */
struct gpunvme_registrant_extended {
	uint16_t cntlid; /* Controller ID; FFFFh: none, FFFDh: elsewhere */
	uint8_t rcsts; /* Reservation Status */
	uint8_t reserved_3[5];
	uint64_t rkey; /* Reservation Key */
	uint8_t hostid[16]; /* Host Identifier */
	uint8_t reserved_32[32];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_registrant_extended, 64);
GPUNVME_ASSERT_OFFSET(struct gpunvme_registrant_extended, cntlid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_registrant_extended, rcsts, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_registrant_extended, reserved_3, 3);
GPUNVME_ASSERT_OFFSET(struct gpunvme_registrant_extended, rkey, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_registrant_extended, hostid, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_registrant_extended, reserved_32, 32);
#define GPUNVME_REGISTRANT_EXTENDED_RCSTS_AHHR_SHIFT 0 /* Association with Host Holding Reservation */
#define GPUNVME_REGISTRANT_EXTENDED_RCSTS_AHHR_MASK 0x1u

/* ZoneAppendCompletion: Dwords 0 and 1 of the completion (ZNS 1.1 §3.4.1.2) */
struct gpunvme_zone_append_completion {
	uint64_t alba; /* Assigned LBA */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_zone_append_completion, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_zone_append_completion, alba, 0);

/* ZoneDescriptor: A zone in a report (ZNS 1.1 §3.4.2.2.3) */
struct gpunvme_zone_descriptor {
	uint16_t bits_0; /* ZT ZS */
	uint8_t za; /* Zone Attributes */
	uint8_t zai; /* Zone Attributes Information */
	uint8_t reserved_4[4];
	uint64_t zcap; /* Zone Capacity in logical blocks */
	uint64_t zslba; /* Zone Start Logical Block Address */
	uint64_t wp; /* Write Pointer, an LBA */
	uint8_t reserved_32[32];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_zone_descriptor, 64);
GPUNVME_ASSERT_OFFSET(struct gpunvme_zone_descriptor, bits_0, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_zone_descriptor, za, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_zone_descriptor, zai, 3);
GPUNVME_ASSERT_OFFSET(struct gpunvme_zone_descriptor, reserved_4, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_zone_descriptor, zcap, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_zone_descriptor, zslba, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_zone_descriptor, wp, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_zone_descriptor, reserved_32, 32);
#define GPUNVME_ZONE_DESCRIPTOR_ZT_SHIFT 0 /* Zone Type */
#define GPUNVME_ZONE_DESCRIPTOR_ZT_MASK 0xfu
#define GPUNVME_ZONE_DESCRIPTOR_ZT_SEQUENTIAL_WRITE_REQUIRED 0x2u
#define GPUNVME_ZONE_DESCRIPTOR_ZS_SHIFT 12 /* Zone State */
#define GPUNVME_ZONE_DESCRIPTOR_ZS_MASK 0xf000u
#define GPUNVME_ZONE_DESCRIPTOR_ZS_EMPTY 0x1u
#define GPUNVME_ZONE_DESCRIPTOR_ZS_IMPLICITLY_OPENED 0x2u
#define GPUNVME_ZONE_DESCRIPTOR_ZS_EXPLICITLY_OPENED 0x3u
#define GPUNVME_ZONE_DESCRIPTOR_ZS_CLOSED 0x4u
#define GPUNVME_ZONE_DESCRIPTOR_ZS_READ_ONLY 0xdu
#define GPUNVME_ZONE_DESCRIPTOR_ZS_FULL 0xeu
#define GPUNVME_ZONE_DESCRIPTOR_ZS_OFFLINE 0xfu
#define GPUNVME_ZONE_DESCRIPTOR_ZA_ZFC_SHIFT 0 /* Zone Finished by Controller */
#define GPUNVME_ZONE_DESCRIPTOR_ZA_ZFC_MASK 0x1u
#define GPUNVME_ZONE_DESCRIPTOR_ZA_FZR_SHIFT 1 /* Finish Zone Recommended */
#define GPUNVME_ZONE_DESCRIPTOR_ZA_FZR_MASK 0x2u
#define GPUNVME_ZONE_DESCRIPTOR_ZA_RZR_SHIFT 2 /* Reset Zone Recommended */
#define GPUNVME_ZONE_DESCRIPTOR_ZA_RZR_MASK 0x4u
#define GPUNVME_ZONE_DESCRIPTOR_ZA_ZRWAV_SHIFT 3 /* Zone Random Write Area Valid */
#define GPUNVME_ZONE_DESCRIPTOR_ZA_ZRWAV_MASK 0x8u
#define GPUNVME_ZONE_DESCRIPTOR_ZA_ZDEV_SHIFT 7 /* Zone Descriptor Extension Valid */
#define GPUNVME_ZONE_DESCRIPTOR_ZA_ZDEV_MASK 0x80u
#define GPUNVME_ZONE_DESCRIPTOR_ZAI_FZRTL_SHIFT 0 /* Finish Zone Recommended Time Limit: FRL, FRL1 to FRL3 */
#define GPUNVME_ZONE_DESCRIPTOR_ZAI_FZRTL_MASK 0x3u
#define GPUNVME_ZONE_DESCRIPTOR_ZAI_RZRTL_SHIFT 2 /* Reset Zone Recommended Time Limit: RRL, RRL1 to RRL3 */
#define GPUNVME_ZONE_DESCRIPTOR_ZAI_RZRTL_MASK 0xcu

/* ReportZones: Header of a report of zones (ZNS 1.1 §3.4.2.2) */
struct gpunvme_report_zones {
	uint64_t nr_zones; /* Number of Zones */
	uint8_t reserved_8[56];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_report_zones, 64);
GPUNVME_ASSERT_OFFSET(struct gpunvme_report_zones, nr_zones, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_report_zones, reserved_8, 8);

/* ZonedLbaFormat: Zone properties of an LBA format (libnvme 1.3 nvme_zns_lbafe) */
struct gpunvme_zoned_lba_format {
	uint64_t zsze; /* Zone Size in logical blocks */
	uint8_t zdes; /* Zone Descriptor Extension Size in units of 64 bytes */
	uint8_t reserved_9[7];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_zoned_lba_format, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_zoned_lba_format, zsze, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_zoned_lba_format, zdes, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_zoned_lba_format, reserved_9, 9);

/* IdentifyZonedNamespace: Zone properties of a namespace (CNS 05h) (libnvme 1.3 nvme_zns_id_ns) */
struct gpunvme_identify_zoned_namespace {
	uint16_t zoc; /* Zone Operation Characteristics */
	uint16_t ozcs; /* Optional Zoned Command Support */
	uint32_t mar; /* Maximum Active Resources; FFFFFFFFh means no limit, 0's based */
	uint32_t mor; /* Maximum Open Resources; FFFFFFFFh means no limit, 0's based */
	uint32_t rrl; /* Reset Recommended Limit in seconds */
	uint32_t frl; /* Finish Recommended Limit in seconds */
	uint32_t rrl1; /* Reset Recommended Limit 1 in seconds */
	uint32_t rrl2; /* Reset Recommended Limit 2 in seconds */
	uint32_t rrl3; /* Reset Recommended Limit 3 in seconds */
	uint32_t frl1; /* Finish Recommended Limit 1 in seconds */
	uint32_t frl2; /* Finish Recommended Limit 2 in seconds */
	uint32_t frl3; /* Finish Recommended Limit 3 in seconds */
	uint32_t numzrwa; /* Number of ZRWA Resources */
	uint16_t zrwafg; /* ZRWA Flush Granularity in logical blocks */
	uint16_t zrwasz; /* ZRWA Size in logical blocks */
	uint8_t zrwacap; /* ZRWA Capability */
	uint8_t reserved_53[2763];
	struct gpunvme_zoned_lba_format lbafe[64]; /* LBA Format Extensions 0 to 63 */
	uint8_t vs[256]; /* Vendor Specific */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_identify_zoned_namespace, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_zoned_namespace, zoc, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_zoned_namespace, ozcs, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_zoned_namespace, mar, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_zoned_namespace, mor, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_zoned_namespace, rrl, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_zoned_namespace, frl, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_zoned_namespace, rrl1, 20);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_zoned_namespace, rrl2, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_zoned_namespace, rrl3, 28);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_zoned_namespace, frl1, 32);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_zoned_namespace, frl2, 36);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_zoned_namespace, frl3, 40);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_zoned_namespace, numzrwa, 44);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_zoned_namespace, zrwafg, 48);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_zoned_namespace, zrwasz, 50);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_zoned_namespace, zrwacap, 52);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_zoned_namespace, reserved_53, 53);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_zoned_namespace, lbafe, 2816);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_zoned_namespace, vs, 3840);
#define GPUNVME_IDENTIFY_ZONED_NAMESPACE_ZOC_VZC_SHIFT 0 /* Variable Zone Capacity */
#define GPUNVME_IDENTIFY_ZONED_NAMESPACE_ZOC_VZC_MASK 0x1u
#define GPUNVME_IDENTIFY_ZONED_NAMESPACE_ZOC_ZAE_SHIFT 1 /* Zone Active Excursions */
#define GPUNVME_IDENTIFY_ZONED_NAMESPACE_ZOC_ZAE_MASK 0x2u
#define GPUNVME_IDENTIFY_ZONED_NAMESPACE_OZCS_RAZB_SHIFT 0 /* Read Across Zone Boundaries */
#define GPUNVME_IDENTIFY_ZONED_NAMESPACE_OZCS_RAZB_MASK 0x1u
#define GPUNVME_IDENTIFY_ZONED_NAMESPACE_OZCS_ZRWASUP_SHIFT 1 /* Zone Random Write Area Supported */
#define GPUNVME_IDENTIFY_ZONED_NAMESPACE_OZCS_ZRWASUP_MASK 0x2u
#define GPUNVME_IDENTIFY_ZONED_NAMESPACE_ZRWACAP_EXPFLUSHSUP_SHIFT 0 /* Explicit ZRWA Flush Operations Supported */
#define GPUNVME_IDENTIFY_ZONED_NAMESPACE_ZRWACAP_EXPFLUSHSUP_MASK 0x1u

/* IdentifyZonedController: Limits of zone commands (CNS 06h) (libnvme 1.3 nvme_zns_id_ctrl) */
struct gpunvme_identify_zoned_controller {
	uint8_t zasl; /* Zone Append Size Limit: 2 ^ n pages of CAP.MPSMIN; 0 means MDTS */
	uint8_t reserved_1[4095];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_identify_zoned_controller, 4096);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_zoned_controller, zasl, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_identify_zoned_controller, reserved_1, 1);

/* PciExpressCapability: PCI Express (PCIe 1.2 §3.8.5) */
struct gpunvme_pci_express_capability {
	uint8_t cid; /* Capability ID: 10h */
	uint8_t next; /* Next Pointer */
	uint16_t pxcap; /* PCI Express Capabilities */
	uint32_t pxdcap; /* Device Capabilities */
	uint16_t pxdc; /* Device Control */
	uint16_t pxds; /* Device Status */
	uint32_t pxlcap; /* Link Capabilities */
	uint16_t pxlc; /* Link Control */
	uint16_t pxls; /* Link Status */
	uint8_t reserved_20[16];
	uint32_t pxdcap2; /* Device Capabilities 2 */
	uint16_t pxdc2; /* Device Control 2 */
	uint16_t pxds2; /* Device Status 2 */
	uint32_t pxlcap2; /* Link Capabilities 2 */
	uint16_t pxlc2; /* Link Control 2 */
	uint16_t pxls2; /* Link Status 2 */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_pci_express_capability, 52);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_express_capability, cid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_express_capability, next, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_express_capability, pxcap, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_express_capability, pxdcap, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_express_capability, pxdc, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_express_capability, pxds, 10);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_express_capability, pxlcap, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_express_capability, pxlc, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_express_capability, pxls, 18);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_express_capability, reserved_20, 20);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_express_capability, pxdcap2, 36);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_express_capability, pxdc2, 40);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_express_capability, pxds2, 42);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_express_capability, pxlcap2, 44);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_express_capability, pxlc2, 48);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_express_capability, pxls2, 50);
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXCAP_VER_SHIFT 0 /* Capability Version */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXCAP_VER_MASK 0xfu
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXCAP_DPT_SHIFT 4 /* Device/Port Type */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXCAP_DPT_MASK 0xf0u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXCAP_DPT_ENDPOINT 0x0u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXCAP_DPT_LEGACY_ENDPOINT 0x1u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXCAP_DPT_ROOT_PORT 0x4u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXCAP_DPT_UPSTREAM 0x5u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXCAP_DPT_DOWNSTREAM 0x6u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXCAP_DPT_PCI_BRIDGE 0x7u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXCAP_DPT_PCIE_BRIDGE 0x8u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXCAP_DPT_RC_ENDPOINT 0x9u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXCAP_DPT_RC_EVENT_COLLECTOR 0xau
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXCAP_SI_SHIFT 8 /* Slot Implemented */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXCAP_SI_MASK 0x100u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXCAP_IMN_SHIFT 9 /* Interrupt Message Number */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXCAP_IMN_MASK 0x3e00u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP_MPS_SHIFT 0 /* Max_Payload_Size Supported: 128 * 2 ^ n bytes */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP_MPS_MASK 0x7u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP_PFS_SHIFT 3 /* Phantom Functions Supported */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP_PFS_MASK 0x18u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP_ETFS_SHIFT 5 /* Extended Tag Field Supported */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP_ETFS_MASK 0x20u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP_L0SL_SHIFT 6 /* Endpoint L0s Acceptable Latency */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP_L0SL_MASK 0x1c0u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP_L1L_SHIFT 9 /* Endpoint L1 Acceptable Latency */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP_L1L_MASK 0xe00u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP_RER_SHIFT 15 /* Role-based Error Reporting */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP_RER_MASK 0x8000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP_CSPLV_SHIFT 18 /* Captured Slot Power Limit Value */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP_CSPLV_MASK 0x3fc0000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP_CSPLS_SHIFT 26 /* Captured Slot Power Limit Scale: 10 ^ -n watts */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP_CSPLS_MASK 0xc000000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP_FLRC_SHIFT 28 /* Function Level Reset Capability */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP_FLRC_MASK 0x10000000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_CERE_SHIFT 0 /* Correctable Error Reporting Enable */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_CERE_MASK 0x1u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_NFERE_SHIFT 1 /* Non-Fatal Error Reporting Enable */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_NFERE_MASK 0x2u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_FERE_SHIFT 2 /* Fatal Error Reporting Enable */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_FERE_MASK 0x4u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_URRE_SHIFT 3 /* Unsupported Request Reporting Enable */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_URRE_MASK 0x8u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_ERO_SHIFT 4 /* Enable Relaxed Ordering */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_ERO_MASK 0x10u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_MPS_SHIFT 5 /* Max_Payload_Size: 128 * 2 ^ n bytes */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_MPS_MASK 0xe0u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_ETE_SHIFT 8 /* Extended Tag Enable */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_ETE_MASK 0x100u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_PFE_SHIFT 9 /* Phantom Functions Enable */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_PFE_MASK 0x200u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_APPME_SHIFT 10 /* AUX Power PM Enable */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_APPME_MASK 0x400u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_ENS_SHIFT 11 /* Enable No Snoop */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_ENS_MASK 0x800u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_MRRS_SHIFT 12 /* Max_Read_Request_Size: 128 * 2 ^ n bytes */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_MRRS_MASK 0x7000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_IFLR_SHIFT 15 /* Initiate Function Level Reset */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC_IFLR_MASK 0x8000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDS_CED_SHIFT 0 /* Correctable Error Detected; writing 1 clears it */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDS_CED_MASK 0x1u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDS_NFED_SHIFT 1 /* Non-Fatal Error Detected; writing 1 clears it */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDS_NFED_MASK 0x2u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDS_FED_SHIFT 2 /* Fatal Error Detected; writing 1 clears it */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDS_FED_MASK 0x4u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDS_URD_SHIFT 3 /* Unsupported Request Detected; writing 1 clears it */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDS_URD_MASK 0x8u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDS_APD_SHIFT 4 /* AUX Power Detected */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDS_APD_MASK 0x10u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDS_TP_SHIFT 5 /* Transactions Pending */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDS_TP_MASK 0x20u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_SLS_SHIFT 0 /* Supported Link Speeds: the highest */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_SLS_MASK 0xfu
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_SLS_GT_2_5 0x1u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_SLS_GT_5 0x2u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_SLS_GT_8 0x3u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_SLS_GT_16 0x4u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_SLS_GT_32 0x5u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_SLS_GT_64 0x6u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_MLW_SHIFT 4 /* Maximum Link Width, in lanes */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_MLW_MASK 0x3f0u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_ASPMS_SHIFT 10 /* Active State Power Management Support: L0s, L1 */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_ASPMS_MASK 0xc00u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_L0SEL_SHIFT 12 /* L0s Exit Latency */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_L0SEL_MASK 0x7000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_L1EL_SHIFT 15 /* L1 Exit Latency */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_L1EL_MASK 0x38000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_CPM_SHIFT 18 /* Clock Power Management */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_CPM_MASK 0x40000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_SDERC_SHIFT 19 /* Surprise Down Error Reporting Capable */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_SDERC_MASK 0x80000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_DLLA_SHIFT 20 /* Data Link Layer Active Reporting Capable */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_DLLA_MASK 0x100000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_LBNC_SHIFT 21 /* Link Bandwidth Notification Capability */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_LBNC_MASK 0x200000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_AOC_SHIFT 22 /* ASPM Optional Compliance */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_AOC_MASK 0x400000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_PN_SHIFT 24 /* Port Number */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP_PN_MASK 0xff000000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC_ASPMC_SHIFT 0 /* Active State Power Management Control: L0s, L1 */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC_ASPMC_MASK 0x3u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC_RCB_SHIFT 3 /* Read Completion Boundary: 128 bytes, not 64 */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC_RCB_MASK 0x8u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC_LD_SHIFT 4 /* Link Disable */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC_LD_MASK 0x10u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC_RL_SHIFT 5 /* Retrain Link */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC_RL_MASK 0x20u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC_CCC_SHIFT 6 /* Common Clock Configuration */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC_CCC_MASK 0x40u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC_ES_SHIFT 7 /* Extended Synch */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC_ES_MASK 0x80u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC_ECPM_SHIFT 8 /* Enable Clock Power Management */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC_ECPM_MASK 0x100u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC_HAWD_SHIFT 9 /* Hardware Autonomous Width Disable */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC_HAWD_MASK 0x200u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC_LBMIE_SHIFT 10 /* Link Bandwidth Management Interrupt Enable */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC_LBMIE_MASK 0x400u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC_LABIE_SHIFT 11 /* Link Autonomous Bandwidth Interrupt Enable */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC_LABIE_MASK 0x800u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLS_CLS_SHIFT 0 /* Current Link Speed */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLS_CLS_MASK 0xfu
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLS_CLS_GT_2_5 0x1u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLS_CLS_GT_5 0x2u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLS_CLS_GT_8 0x3u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLS_CLS_GT_16 0x4u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLS_CLS_GT_32 0x5u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLS_CLS_GT_64 0x6u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLS_NLW_SHIFT 4 /* Negotiated Link Width, in lanes */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLS_NLW_MASK 0x3f0u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLS_LT_SHIFT 11 /* Link Training */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLS_LT_MASK 0x800u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLS_SCC_SHIFT 12 /* Slot Clock Configuration */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLS_SCC_MASK 0x1000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLS_DLLLA_SHIFT 13 /* Data Link Layer Link Active */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLS_DLLLA_MASK 0x2000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLS_LBMS_SHIFT 14 /* Link Bandwidth Management Status */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLS_LBMS_MASK 0x4000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLS_LABS_SHIFT 15 /* Link Autonomous Bandwidth Status */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLS_LABS_MASK 0x8000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_CTRS_SHIFT 0 /* Completion Timeout Ranges Supported */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_CTRS_MASK 0xfu
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_CTDS_SHIFT 4 /* Completion Timeout Disable Supported */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_CTDS_MASK 0x10u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_ARIFS_SHIFT 5 /* ARI Forwarding Supported */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_ARIFS_MASK 0x20u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_AORS_SHIFT 6 /* AtomicOp Routing Supported */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_AORS_MASK 0x40u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_AOCS32_SHIFT 7 /* 32-bit AtomicOp Completer Supported */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_AOCS32_MASK 0x80u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_AOCS64_SHIFT 8 /* 64-bit AtomicOp Completer Supported */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_AOCS64_MASK 0x100u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_CCS128_SHIFT 9 /* 128-bit CAS Completer Supported */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_CCS128_MASK 0x200u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_NPRPR_SHIFT 10 /* No RO-enabled PR-PR Passing */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_NPRPR_MASK 0x400u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_LTRS_SHIFT 11 /* Latency Tolerance Reporting Supported */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_LTRS_MASK 0x800u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_TPHCS_SHIFT 12 /* TPH Completer Supported */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_TPHCS_MASK 0x3000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_OBFFS_SHIFT 18 /* OBFF Supported */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_OBFFS_MASK 0xc0000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_EFFS_SHIFT 20 /* Extended Fmt Field Supported */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_EFFS_MASK 0x100000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_EETPS_SHIFT 21 /* End-End TLP Prefix Supported */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_EETPS_MASK 0x200000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_MEETP_SHIFT 22 /* Max End-End TLP Prefixes */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDCAP2_MEETP_MASK 0xc00000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC2_CTV_SHIFT 0 /* Completion Timeout Value */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC2_CTV_MASK 0xfu
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC2_CTD_SHIFT 4 /* Completion Timeout Disable */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC2_CTD_MASK 0x10u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC2_ARI_SHIFT 5 /* ARI Forwarding Enable */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC2_ARI_MASK 0x20u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC2_ATOMIC_REQ_SHIFT 6 /* AtomicOp Requester Enable */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC2_ATOMIC_REQ_MASK 0x40u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC2_ATOMIC_EGRESS_BLOCK_SHIFT 7 /* AtomicOp Egress Blocking */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC2_ATOMIC_EGRESS_BLOCK_MASK 0x80u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC2_IDO_REQ_EN_SHIFT 8 /* ID-based Ordering of requests */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC2_IDO_REQ_EN_MASK 0x100u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC2_IDO_CMP_EN_SHIFT 9 /* ID-based Ordering of completions */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC2_IDO_CMP_EN_MASK 0x200u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC2_LTRME_SHIFT 10 /* Latency Tolerance Reporting Mechanism Enable */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC2_LTRME_MASK 0x400u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC2_OBFFE_SHIFT 13 /* OBFF Enable */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXDC2_OBFFE_MASK 0x6000u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP2_SLS_2_5GB_SHIFT 1 /* Supports 2.5 GT/s */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP2_SLS_2_5GB_MASK 0x2u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP2_SLS_5_0GB_SHIFT 2 /* Supports 5 GT/s */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP2_SLS_5_0GB_MASK 0x4u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP2_SLS_8_0GB_SHIFT 3 /* Supports 8 GT/s */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP2_SLS_8_0GB_MASK 0x8u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP2_SLS_16_0GB_SHIFT 4 /* Supports 16 GT/s */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP2_SLS_16_0GB_MASK 0x10u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP2_SLS_32_0GB_SHIFT 5 /* Supports 32 GT/s */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP2_SLS_32_0GB_MASK 0x20u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP2_SLS_64_0GB_SHIFT 6 /* Supports 64 GT/s */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP2_SLS_64_0GB_MASK 0x40u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP2_CROSSLINK_SHIFT 8 /* Crosslink supported */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLCAP2_CROSSLINK_MASK 0x100u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC2_TLS_SHIFT 0 /* Target Link Speed */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC2_TLS_MASK 0xfu
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC2_TLS_GT_2_5 0x1u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC2_TLS_GT_5 0x2u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC2_TLS_GT_8 0x3u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC2_TLS_GT_16 0x4u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC2_TLS_GT_32 0x5u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC2_TLS_GT_64 0x6u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC2_ENTER_COMP_SHIFT 4 /* Enter Compliance */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC2_ENTER_COMP_MASK 0x10u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC2_HASD_SHIFT 5 /* Hardware Autonomous Speed Disable */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC2_HASD_MASK 0x20u
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC2_TX_MARGIN_SHIFT 7 /* Transmit Margin */
#define GPUNVME_PCI_EXPRESS_CAPABILITY_PXLC2_TX_MARGIN_MASK 0x380u

/* AdvancedErrorReporting: PCI Express Advanced Error Reporting (PCIe 1.2 §3.8.6) */
struct gpunvme_advanced_error_reporting {
	uint32_t aerid; /* AER Capability ID */
	uint32_t aeruces; /* Uncorrectable Error Status; writing 1 clears a bit */
	uint32_t aerucem; /* Uncorrectable Error Mask */
	uint32_t aerucesv; /* Uncorrectable Error Severity: 1 for fatal */
	uint32_t aerces; /* Correctable Error Status; writing 1 clears a bit */
	uint32_t aercem; /* Correctable Error Mask */
	uint32_t aercc; /* Capabilities and Control */
	uint32_t aerhl[4]; /* Header Log: dwords of a TLP header, first byte highest */
	uint8_t reserved_44[12];
	uint32_t aertlp[4]; /* TLP Prefix Log: first byte highest */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_advanced_error_reporting, 72);
GPUNVME_ASSERT_OFFSET(struct gpunvme_advanced_error_reporting, aerid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_advanced_error_reporting, aeruces, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_advanced_error_reporting, aerucem, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_advanced_error_reporting, aerucesv, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_advanced_error_reporting, aerces, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_advanced_error_reporting, aercem, 20);
GPUNVME_ASSERT_OFFSET(struct gpunvme_advanced_error_reporting, aercc, 24);
GPUNVME_ASSERT_OFFSET(struct gpunvme_advanced_error_reporting, aerhl, 28);
GPUNVME_ASSERT_OFFSET(struct gpunvme_advanced_error_reporting, reserved_44, 44);
GPUNVME_ASSERT_OFFSET(struct gpunvme_advanced_error_reporting, aertlp, 56);
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERID_CID_SHIFT 0 /* Capability ID: 1h */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERID_CID_MASK 0xffffu
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERID_CVER_SHIFT 16 /* Capability Version */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERID_CVER_MASK 0xf0000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERID_NEXT_SHIFT 20 /* Next Pointer */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERID_NEXT_MASK 0xfff00000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_DLPES_SHIFT 4 /* Data Link Protocol Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_DLPES_MASK 0x10u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_PTS_SHIFT 12 /* Poisoned TLP */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_PTS_MASK 0x1000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_FCPES_SHIFT 13 /* Flow Control Protocol Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_FCPES_MASK 0x2000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_CTS_SHIFT 14 /* Completion Timeout */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_CTS_MASK 0x4000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_CAS_SHIFT 15 /* Completer Abort */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_CAS_MASK 0x8000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_UCS_SHIFT 16 /* Unexpected Completion */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_UCS_MASK 0x10000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_ROS_SHIFT 17 /* Receiver Overflow */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_ROS_MASK 0x20000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_MTS_SHIFT 18 /* Malformed TLP */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_MTS_MASK 0x40000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_ECRCES_SHIFT 19 /* ECRC Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_ECRCES_MASK 0x80000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_URES_SHIFT 20 /* Unsupported Request Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_URES_MASK 0x100000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_ACSSVS_SHIFT 21 /* ACS Violation */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_ACSSVS_MASK 0x200000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_UIES_SHIFT 22 /* Uncorrectable Internal Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_UIES_MASK 0x400000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_MCBTS_SHIFT 23 /* MC Blocked TLP */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_MCBTS_MASK 0x800000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_AOEBS_SHIFT 24 /* AtomicOp Egress Blocked */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_AOEBS_MASK 0x1000000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_TPBES_SHIFT 25 /* TLP Prefix Blocked Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCES_TPBES_MASK 0x2000000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_DLPEM_SHIFT 4 /* Data Link Protocol Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_DLPEM_MASK 0x10u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_PTM_SHIFT 12 /* Poisoned TLP */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_PTM_MASK 0x1000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_FCPEM_SHIFT 13 /* Flow Control Protocol Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_FCPEM_MASK 0x2000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_CTM_SHIFT 14 /* Completion Timeout */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_CTM_MASK 0x4000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_CAM_SHIFT 15 /* Completer Abort */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_CAM_MASK 0x8000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_UCM_SHIFT 16 /* Unexpected Completion */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_UCM_MASK 0x10000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_ROM_SHIFT 17 /* Receiver Overflow */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_ROM_MASK 0x20000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_MTM_SHIFT 18 /* Malformed TLP */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_MTM_MASK 0x40000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_ECRCM_SHIFT 19 /* ECRC Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_ECRCM_MASK 0x80000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_UREM_SHIFT 20 /* Unsupported Request Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_UREM_MASK 0x100000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_ACVM_SHIFT 21 /* ACS Violation */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_ACVM_MASK 0x200000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_UIEM_SHIFT 22 /* Uncorrectable Internal Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_UIEM_MASK 0x400000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_MCBTM_SHIFT 23 /* MC Blocked TLP */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_MCBTM_MASK 0x800000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_AOEBM_SHIFT 24 /* AtomicOp Egress Blocked */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_AOEBM_MASK 0x1000000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_TPBEM_SHIFT 25 /* TLP Prefix Blocked Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCEM_TPBEM_MASK 0x2000000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_DLPESEV_SHIFT 4 /* Data Link Protocol Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_DLPESEV_MASK 0x10u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_PTSEV_SHIFT 12 /* Poisoned TLP */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_PTSEV_MASK 0x1000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_FCPESEV_SHIFT 13 /* Flow Control Protocol Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_FCPESEV_MASK 0x2000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_CTSEV_SHIFT 14 /* Completion Timeout */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_CTSEV_MASK 0x4000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_CASEV_SHIFT 15 /* Completer Abort */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_CASEV_MASK 0x8000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_UCSEV_SHIFT 16 /* Unexpected Completion */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_UCSEV_MASK 0x10000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_ROSEV_SHIFT 17 /* Receiver Overflow */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_ROSEV_MASK 0x20000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_MTSV_SHIFT 18 /* Malformed TLP */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_MTSV_MASK 0x40000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_ECRCSEV_SHIFT 19 /* ECRC Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_ECRCSEV_MASK 0x80000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_URESEV_SHIFT 20 /* Unsupported Request Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_URESEV_MASK 0x100000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_ACSVSEV_SHIFT 21 /* ACS Violation */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_ACSVSEV_MASK 0x200000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_UIESEV_SHIFT 22 /* Uncorrectable Internal Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_UIESEV_MASK 0x400000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_MCBTSEV_SHIFT 23 /* MC Blocked TLP */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_MCBTSEV_MASK 0x800000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_AOEBSEV_SHIFT 24 /* AtomicOp Egress Blocked */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_AOEBSEV_MASK 0x1000000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_TPBESEV_SHIFT 25 /* TLP Prefix Blocked Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERUCESV_TPBESEV_MASK 0x2000000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCES_RES_SHIFT 0 /* Receiver Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCES_RES_MASK 0x1u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCES_BTS_SHIFT 6 /* Bad TLP */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCES_BTS_MASK 0x40u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCES_BDS_SHIFT 7 /* Bad DLLP */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCES_BDS_MASK 0x80u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCES_RRS_SHIFT 8 /* REPLAY_NUM Rollover */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCES_RRS_MASK 0x100u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCES_RTS_SHIFT 12 /* Replay Timer Timeout */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCES_RTS_MASK 0x1000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCES_ANFES_SHIFT 13 /* Advisory Non-Fatal Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCES_ANFES_MASK 0x2000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCES_CIES_SHIFT 14 /* Corrected Internal Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCES_CIES_MASK 0x4000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCES_HLOS_SHIFT 15 /* Header Log Overflow */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCES_HLOS_MASK 0x8000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCEM_REM_SHIFT 0 /* Receiver Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCEM_REM_MASK 0x1u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCEM_BTM_SHIFT 6 /* Bad TLP */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCEM_BTM_MASK 0x40u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCEM_BDM_SHIFT 7 /* Bad DLLP */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCEM_BDM_MASK 0x80u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCEM_RRM_SHIFT 8 /* REPLAY_NUM Rollover */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCEM_RRM_MASK 0x100u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCEM_RTM_SHIFT 12 /* Replay Timer Timeout */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCEM_RTM_MASK 0x1000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCEM_ANFEM_SHIFT 13 /* Advisory Non-Fatal Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCEM_ANFEM_MASK 0x2000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCEM_CIEM_SHIFT 14 /* Corrected Internal Error */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCEM_CIEM_MASK 0x4000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCEM_HLOM_SHIFT 15 /* Header Log Overflow */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCEM_HLOM_MASK 0x8000u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCC_FEP_SHIFT 0 /* First Error Pointer: bit number in AERUCES */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCC_FEP_MASK 0x1fu
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCC_EGC_SHIFT 5 /* ECRC Generation Capable */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCC_EGC_MASK 0x20u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCC_EGE_SHIFT 6 /* ECRC Generation Enable */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCC_EGE_MASK 0x40u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCC_ECC_SHIFT 7 /* ECRC Check Capable */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCC_ECC_MASK 0x80u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCC_ECE_SHIFT 8 /* ECRC Check Enable */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCC_ECE_MASK 0x100u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCC_MHRC_SHIFT 9 /* Multiple Header Recording Capable */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCC_MHRC_MASK 0x200u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCC_MHRE_SHIFT 10 /* Multiple Header Recording Enable */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCC_MHRE_MASK 0x400u
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCC_TPLP_SHIFT 11 /* TLP Prefix Log Present */
#define GPUNVME_ADVANCED_ERROR_REPORTING_AERCC_TPLP_MASK 0x800u

/* PciCapability: Header of every capability (PCIe 1.2 §3.8.2.1) */
struct gpunvme_pci_capability {
	uint8_t cid; /* Capability ID */
	uint8_t next; /* Next Capability: its offset, or 0 */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_pci_capability, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_capability, cid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_capability, next, 1);

/* PciExtendedCapability: First dword of every extended capability (PCIe 1.2 §3.8.6.1) */
struct gpunvme_pci_extended_capability {
	uint32_t header; /* Extended capability header */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_pci_extended_capability, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_extended_capability, header, 0);
#define GPUNVME_PCI_EXTENDED_CAPABILITY_HEADER_CID_SHIFT 0 /* Capability ID */
#define GPUNVME_PCI_EXTENDED_CAPABILITY_HEADER_CID_MASK 0xffffu
#define GPUNVME_PCI_EXTENDED_CAPABILITY_HEADER_CVER_SHIFT 16 /* Capability Version */
#define GPUNVME_PCI_EXTENDED_CAPABILITY_HEADER_CVER_MASK 0xf0000u
#define GPUNVME_PCI_EXTENDED_CAPABILITY_HEADER_NEXT_SHIFT 20 /* Next Pointer: its offset, or 0 */
#define GPUNVME_PCI_EXTENDED_CAPABILITY_HEADER_NEXT_MASK 0xfff00000u

/* PowerManagementCapability: PCI Power Management (PCIe 1.2 §3.8.2) */
struct gpunvme_power_management_capability {
	uint8_t cid; /* Capability ID: 1h */
	uint8_t next; /* Next Capability */
	uint16_t pc; /* Power Management Capabilities */
	uint16_t pmcs; /* Power Management Control and Status */
	uint8_t reserved_6[2];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_power_management_capability, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_power_management_capability, cid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_power_management_capability, next, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_power_management_capability, pc, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_power_management_capability, pmcs, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_power_management_capability, reserved_6, 6);
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PC_VS_SHIFT 0 /* Version */
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PC_VS_MASK 0x7u
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PC_PMEC_SHIFT 3 /* PME Clock */
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PC_PMEC_MASK 0x8u
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PC_DSI_SHIFT 5 /* Device Specific Initialization */
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PC_DSI_MASK 0x20u
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PC_AUXC_SHIFT 6 /* Aux_Current */
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PC_AUXC_MASK 0x1c0u
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PC_D1S_SHIFT 9 /* D1_Support */
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PC_D1S_MASK 0x200u
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PC_D2S_SHIFT 10 /* D2_Support */
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PC_D2S_MASK 0x400u
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PC_PSUP_SHIFT 11 /* PME Support: D0, D1, D2, D3hot, D3cold */
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PC_PSUP_MASK 0xf800u
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PMCS_PS_SHIFT 0 /* Power State */
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PMCS_PS_MASK 0x3u
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PMCS_PS_D0 0x0u
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PMCS_PS_D1 0x1u
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PMCS_PS_D2 0x2u
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PMCS_PS_D3HOT 0x3u
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PMCS_NSFRST_SHIFT 3 /* No Soft Reset */
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PMCS_NSFRST_MASK 0x8u
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PMCS_PMEE_SHIFT 8 /* PME Enable */
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PMCS_PMEE_MASK 0x100u
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PMCS_DSE_SHIFT 9 /* Data Select */
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PMCS_DSE_MASK 0x1e00u
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PMCS_DSC_SHIFT 13 /* Data Scale */
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PMCS_DSC_MASK 0x6000u
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PMCS_PMES_SHIFT 15 /* PME Status; writing 1 clears it */
#define GPUNVME_POWER_MANAGEMENT_CAPABILITY_PMCS_PMES_MASK 0x8000u

/* MsixCapability: MSI-X (PCIe 1.2 §3.8.4) */
struct gpunvme_msix_capability {
	uint8_t cid; /* Capability ID: 11h */
	uint8_t next; /* Next Pointer */
	uint16_t mxc; /* MSI-X Message Control */
	uint32_t mtab; /* Table Offset and Table BIR */
	uint32_t mpba; /* PBA Offset and PBA BIR */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_msix_capability, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_msix_capability, cid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_msix_capability, next, 1);
GPUNVME_ASSERT_OFFSET(struct gpunvme_msix_capability, mxc, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_msix_capability, mtab, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_msix_capability, mpba, 8);
#define GPUNVME_MSIX_CAPABILITY_MXC_TS_SHIFT 0 /* Table Size, 0's based */
#define GPUNVME_MSIX_CAPABILITY_MXC_TS_MASK 0x7ffu
#define GPUNVME_MSIX_CAPABILITY_MXC_FM_SHIFT 14 /* Function Mask */
#define GPUNVME_MSIX_CAPABILITY_MXC_FM_MASK 0x4000u
#define GPUNVME_MSIX_CAPABILITY_MXC_MXE_SHIFT 15 /* MSI-X Enable */
#define GPUNVME_MSIX_CAPABILITY_MXC_MXE_MASK 0x8000u
#define GPUNVME_MSIX_CAPABILITY_MTAB_TBIR_SHIFT 0 /* Table BIR: index of the BAR */
#define GPUNVME_MSIX_CAPABILITY_MTAB_TBIR_MASK 0x7u
#define GPUNVME_MSIX_CAPABILITY_MTAB_TO_SHIFT 3 /* Table Offset in units of 8 bytes */
#define GPUNVME_MSIX_CAPABILITY_MTAB_TO_MASK 0xfffffff8u
#define GPUNVME_MSIX_CAPABILITY_MPBA_PBIR_SHIFT 0 /* PBA BIR: index of the BAR */
#define GPUNVME_MSIX_CAPABILITY_MPBA_PBIR_MASK 0x7u
#define GPUNVME_MSIX_CAPABILITY_MPBA_PBAO_SHIFT 3 /* PBA Offset in units of 8 bytes */
#define GPUNVME_MSIX_CAPABILITY_MPBA_PBAO_MASK 0xfffffff8u

/* MsixTableEntry: One vector of the MSI-X Table (Linux 6.1 linux/pci_regs.h PCI_MSIX_ENTRY) */
struct gpunvme_msix_table_entry {
	uint32_t lower_addr; /* Message Address */
	uint32_t upper_addr; /* Message Upper Address */
	uint32_t data; /* Message Data */
	uint32_t vector_ctrl; /* Vector Control */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_msix_table_entry, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_msix_table_entry, lower_addr, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_msix_table_entry, upper_addr, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_msix_table_entry, data, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_msix_table_entry, vector_ctrl, 12);
#define GPUNVME_MSIX_TABLE_ENTRY_VECTOR_CTRL_MASKBIT_SHIFT 0 /* Masked */
#define GPUNVME_MSIX_TABLE_ENTRY_VECTOR_CTRL_MASKBIT_MASK 0x1u

/* AccessControlServices: PCI Express Access Control Services (Linux 6.1 linux/pci_regs.h PCI_ACS) */
struct gpunvme_access_control_services {
	uint8_t reserved_0[4];
	uint16_t acscap; /* ACS Capability */
	uint16_t acsctl; /* ACS Control */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_access_control_services, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_access_control_services, reserved_0, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_access_control_services, acscap, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_access_control_services, acsctl, 6);
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCAP_SV_SHIFT 0 /* Source Validation */
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCAP_SV_MASK 0x1u
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCAP_TB_SHIFT 1 /* Translation Blocking */
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCAP_TB_MASK 0x2u
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCAP_RR_SHIFT 2 /* P2P Request Redirect: to the root complex */
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCAP_RR_MASK 0x4u
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCAP_CR_SHIFT 3 /* P2P Completion Redirect */
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCAP_CR_MASK 0x8u
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCAP_UF_SHIFT 4 /* Upstream Forwarding */
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCAP_UF_MASK 0x10u
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCAP_EC_SHIFT 5 /* P2P Egress Control */
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCAP_EC_MASK 0x20u
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCAP_DT_SHIFT 6 /* Direct Translated P2P */
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCAP_DT_MASK 0x40u
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCTL_SV_SHIFT 0 /* Source Validation */
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCTL_SV_MASK 0x1u
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCTL_TB_SHIFT 1 /* Translation Blocking */
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCTL_TB_MASK 0x2u
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCTL_RR_SHIFT 2 /* P2P Request Redirect: to the root complex */
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCTL_RR_MASK 0x4u
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCTL_CR_SHIFT 3 /* P2P Completion Redirect */
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCTL_CR_MASK 0x8u
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCTL_UF_SHIFT 4 /* Upstream Forwarding */
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCTL_UF_MASK 0x10u
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCTL_EC_SHIFT 5 /* P2P Egress Control */
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCTL_EC_MASK 0x20u
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCTL_DT_SHIFT 6 /* Direct Translated P2P */
#define GPUNVME_ACCESS_CONTROL_SERVICES_ACSCTL_DT_MASK 0x40u

/* AddressTranslationServices: PCI Express Address Translation Services (Linux 6.1 linux/pci_regs.h PCI_ATS) */
struct gpunvme_address_translation_services {
	uint8_t reserved_0[6];
	uint16_t atsctl; /* ATS Control */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_address_translation_services, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_address_translation_services, reserved_0, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_address_translation_services, atsctl, 6);
#define GPUNVME_ADDRESS_TRANSLATION_SERVICES_ATSCTL_ENABLE_SHIFT 15 /* ATS Enable */
#define GPUNVME_ADDRESS_TRANSLATION_SERVICES_ATSCTL_ENABLE_MASK 0x8000u

/* ResizableBarEntry: One BAR of the Resizable BAR capability (Linux 6.1 linux/pci_regs.h PCI_REBAR) */
struct gpunvme_resizable_bar_entry {
	uint32_t rebarcap; /* Resizable BAR Capability */
	uint32_t rebarctl; /* Resizable BAR Control */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_resizable_bar_entry, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_resizable_bar_entry, rebarcap, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_resizable_bar_entry, rebarctl, 4);
#define GPUNVME_RESIZABLE_BAR_ENTRY_REBARCAP_SIZES_SHIFT 4 /* Sizes: bit n for 2 ^ (20 + n) bytes */
#define GPUNVME_RESIZABLE_BAR_ENTRY_REBARCAP_SIZES_MASK 0xfffffff0u
#define GPUNVME_RESIZABLE_BAR_ENTRY_REBARCTL_BAR_IDX_SHIFT 0 /* BAR Index */
#define GPUNVME_RESIZABLE_BAR_ENTRY_REBARCTL_BAR_IDX_MASK 0x7u
#define GPUNVME_RESIZABLE_BAR_ENTRY_REBARCTL_NBAR_SHIFT 5 /* Number of Resizable BARs, in the first entry */
#define GPUNVME_RESIZABLE_BAR_ENTRY_REBARCTL_NBAR_MASK 0xe0u
#define GPUNVME_RESIZABLE_BAR_ENTRY_REBARCTL_BAR_SIZE_SHIFT 8 /* BAR Size: 2 ^ (20 + n) bytes */
#define GPUNVME_RESIZABLE_BAR_ENTRY_REBARCTL_BAR_SIZE_MASK 0x1f00u

/* DownstreamPortContainment: PCI Express Downstream Port Containment (Linux 6.1 linux/pci_regs.h PCI_EXP_DPC) */
struct gpunvme_downstream_port_containment {
	uint8_t reserved_0[6];
	uint16_t dpcctl; /* DPC Control */
	uint16_t dpcsts; /* DPC Status */
	uint8_t reserved_10[2];
};
GPUNVME_ASSERT_SIZE(struct gpunvme_downstream_port_containment, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_downstream_port_containment, reserved_0, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_downstream_port_containment, dpcctl, 6);
GPUNVME_ASSERT_OFFSET(struct gpunvme_downstream_port_containment, dpcsts, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_downstream_port_containment, reserved_10, 10);
#define GPUNVME_DOWNSTREAM_PORT_CONTAINMENT_DPCCTL_EN_FATAL_SHIFT 0 /* Trigger on ERR_FATAL */
#define GPUNVME_DOWNSTREAM_PORT_CONTAINMENT_DPCCTL_EN_FATAL_MASK 0x1u
#define GPUNVME_DOWNSTREAM_PORT_CONTAINMENT_DPCCTL_EN_NONFATAL_SHIFT 1 /* Trigger on ERR_NONFATAL */
#define GPUNVME_DOWNSTREAM_PORT_CONTAINMENT_DPCCTL_EN_NONFATAL_MASK 0x2u
#define GPUNVME_DOWNSTREAM_PORT_CONTAINMENT_DPCSTS_TRIGGER_SHIFT 0 /* Trigger Status: the link is held down */
#define GPUNVME_DOWNSTREAM_PORT_CONTAINMENT_DPCSTS_TRIGGER_MASK 0x1u

/* PciHeader: PCI Express Type 0 configuration space header (PCIe 1.2 §3.8.1) */
struct gpunvme_pci_header {
	uint16_t vid; /* Vendor ID */
	uint16_t did; /* Device ID */
	uint16_t cmd; /* Command */
	uint16_t sts; /* Device Status */
	uint8_t rid; /* Revision ID */
	uint8_t pi; /* Class Code: Programming Interface */
	uint8_t scc; /* Class Code: Sub Class Code */
	uint8_t bcc; /* Class Code: Base Class Code */
	uint8_t cls; /* Cache Line Size, in dwords */
	uint8_t mlt; /* Master Latency Timer */
	uint8_t htype; /* Header Type */
	uint8_t bist; /* Built-In Self Test */
	uint32_t bar[6]; /* Base Address Registers */
	uint32_t ccptr; /* CardBus CIS Pointer */
	uint16_t ssvid; /* Subsystem Vendor ID */
	uint16_t ssid; /* Subsystem ID */
	uint32_t erom; /* Expansion ROM Base Address */
	uint8_t cap; /* Capabilities Pointer */
	uint8_t reserved_53[7];
	uint8_t iline; /* Interrupt Line */
	uint8_t ipin; /* Interrupt Pin */
	uint8_t mgnt; /* Minimum Grant */
	uint8_t mlat; /* Maximum Latency */
};
GPUNVME_ASSERT_SIZE(struct gpunvme_pci_header, 64);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, vid, 0);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, did, 2);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, cmd, 4);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, sts, 6);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, rid, 8);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, pi, 9);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, scc, 10);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, bcc, 11);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, cls, 12);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, mlt, 13);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, htype, 14);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, bist, 15);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, bar, 16);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, ccptr, 40);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, ssvid, 44);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, ssid, 46);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, erom, 48);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, cap, 52);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, reserved_53, 53);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, iline, 60);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, ipin, 61);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, mgnt, 62);
GPUNVME_ASSERT_OFFSET(struct gpunvme_pci_header, mlat, 63);
#define GPUNVME_PCI_HEADER_CMD_IOSE_SHIFT 0 /* I/O Space Enable */
#define GPUNVME_PCI_HEADER_CMD_IOSE_MASK 0x1u
#define GPUNVME_PCI_HEADER_CMD_MSE_SHIFT 1 /* Memory Space Enable */
#define GPUNVME_PCI_HEADER_CMD_MSE_MASK 0x2u
#define GPUNVME_PCI_HEADER_CMD_BME_SHIFT 2 /* Bus Master Enable */
#define GPUNVME_PCI_HEADER_CMD_BME_MASK 0x4u
#define GPUNVME_PCI_HEADER_CMD_SCE_SHIFT 3 /* Special Cycle Enable */
#define GPUNVME_PCI_HEADER_CMD_SCE_MASK 0x8u
#define GPUNVME_PCI_HEADER_CMD_MWIE_SHIFT 4 /* Memory Write and Invalidate Enable */
#define GPUNVME_PCI_HEADER_CMD_MWIE_MASK 0x10u
#define GPUNVME_PCI_HEADER_CMD_VGA_SHIFT 5 /* VGA Palette Snooping Enable */
#define GPUNVME_PCI_HEADER_CMD_VGA_MASK 0x20u
#define GPUNVME_PCI_HEADER_CMD_PEE_SHIFT 6 /* Parity Error Response Enable */
#define GPUNVME_PCI_HEADER_CMD_PEE_MASK 0x40u
#define GPUNVME_PCI_HEADER_CMD_ISWCC_SHIFT 7 /* IDSEL Stepping/Wait Cycle Control */
#define GPUNVME_PCI_HEADER_CMD_ISWCC_MASK 0x80u
#define GPUNVME_PCI_HEADER_CMD_SEE_SHIFT 8 /* SERR# Enable */
#define GPUNVME_PCI_HEADER_CMD_SEE_MASK 0x100u
#define GPUNVME_PCI_HEADER_CMD_FBE_SHIFT 9 /* Fast Back-to-Back Enable */
#define GPUNVME_PCI_HEADER_CMD_FBE_MASK 0x200u
#define GPUNVME_PCI_HEADER_CMD_ID_SHIFT 10 /* Interrupt Disable */
#define GPUNVME_PCI_HEADER_CMD_ID_MASK 0x400u
#define GPUNVME_PCI_HEADER_STS_IR_SHIFT 0 /* Immediate Readiness */
#define GPUNVME_PCI_HEADER_STS_IR_MASK 0x1u
#define GPUNVME_PCI_HEADER_STS_IS_SHIFT 3 /* Interrupt Status */
#define GPUNVME_PCI_HEADER_STS_IS_MASK 0x8u
#define GPUNVME_PCI_HEADER_STS_CL_SHIFT 4 /* Capabilities List */
#define GPUNVME_PCI_HEADER_STS_CL_MASK 0x10u
#define GPUNVME_PCI_HEADER_STS_C66_SHIFT 5 /* 66 MHz Capable */
#define GPUNVME_PCI_HEADER_STS_C66_MASK 0x20u
#define GPUNVME_PCI_HEADER_STS_FBC_SHIFT 7 /* Fast Back-to-Back Capable */
#define GPUNVME_PCI_HEADER_STS_FBC_MASK 0x80u
#define GPUNVME_PCI_HEADER_STS_DPD_SHIFT 8 /* Master Data Parity Error Detected */
#define GPUNVME_PCI_HEADER_STS_DPD_MASK 0x100u
#define GPUNVME_PCI_HEADER_STS_DEVT_SHIFT 9 /* DEVSEL# Timing */
#define GPUNVME_PCI_HEADER_STS_DEVT_MASK 0x600u
#define GPUNVME_PCI_HEADER_STS_STA_SHIFT 11 /* Signaled Target-Abort */
#define GPUNVME_PCI_HEADER_STS_STA_MASK 0x800u
#define GPUNVME_PCI_HEADER_STS_RTA_SHIFT 12 /* Received Target Abort */
#define GPUNVME_PCI_HEADER_STS_RTA_MASK 0x1000u
#define GPUNVME_PCI_HEADER_STS_RMA_SHIFT 13 /* Received Master-Abort */
#define GPUNVME_PCI_HEADER_STS_RMA_MASK 0x2000u
#define GPUNVME_PCI_HEADER_STS_SSE_SHIFT 14 /* Signaled System Error */
#define GPUNVME_PCI_HEADER_STS_SSE_MASK 0x4000u
#define GPUNVME_PCI_HEADER_STS_DPE_SHIFT 15 /* Detected Parity Error */
#define GPUNVME_PCI_HEADER_STS_DPE_MASK 0x8000u
#define GPUNVME_PCI_HEADER_HTYPE_HL_SHIFT 0 /* Header Layout: 0 for this one */
#define GPUNVME_PCI_HEADER_HTYPE_HL_MASK 0x7fu
#define GPUNVME_PCI_HEADER_HTYPE_MFD_SHIFT 7 /* Multi-Function Device */
#define GPUNVME_PCI_HEADER_HTYPE_MFD_MASK 0x80u
#define GPUNVME_PCI_HEADER_BIST_CC_SHIFT 0 /* Completion Code */
#define GPUNVME_PCI_HEADER_BIST_CC_MASK 0xfu
#define GPUNVME_PCI_HEADER_BIST_SB_SHIFT 6 /* Start BIST */
#define GPUNVME_PCI_HEADER_BIST_SB_MASK 0x40u
#define GPUNVME_PCI_HEADER_BIST_BC_SHIFT 7 /* BIST Capable */
#define GPUNVME_PCI_HEADER_BIST_BC_MASK 0x80u
#define GPUNVME_PCI_HEADER_BAR_RTE_SHIFT 0 /* Resource Type Indicator: I/O space */
#define GPUNVME_PCI_HEADER_BAR_RTE_MASK 0x1u
#define GPUNVME_PCI_HEADER_BAR_TP_SHIFT 1 /* Type: 0 for 32 bits, 2 for 64 bits */
#define GPUNVME_PCI_HEADER_BAR_TP_MASK 0x6u
#define GPUNVME_PCI_HEADER_BAR_PF_SHIFT 3 /* Prefetchable */
#define GPUNVME_PCI_HEADER_BAR_PF_MASK 0x8u
#define GPUNVME_PCI_HEADER_BAR_BA_SHIFT 4 /* Base Address: address bits 31:4 */
#define GPUNVME_PCI_HEADER_BAR_BA_MASK 0xfffffff0u

/* DeleteIoSq (admin command, data: none): Deletes a submission queue (Linux 6.1 linux/nvme.h nvme_delete_queue) */
#define GPUNVME_OPC_DELETE_IO_SQ 0x0u
#define GPUNVME_DELETE_IO_SQ_QID_DWORD 10
#define GPUNVME_DELETE_IO_SQ_QID_SHIFT 0 /* Queue Identifier */
#define GPUNVME_DELETE_IO_SQ_QID_MASK 0xffffu

/* CreateIoSq (admin command, data: host-to-controller): Creates a submission queue (Linux 6.1 linux/nvme.h nvme_create_sq) */
#define GPUNVME_OPC_CREATE_IO_SQ 0x1u
#define GPUNVME_CREATE_IO_SQ_QID_DWORD 10
#define GPUNVME_CREATE_IO_SQ_QID_SHIFT 0 /* Queue Identifier */
#define GPUNVME_CREATE_IO_SQ_QID_MASK 0xffffu
#define GPUNVME_CREATE_IO_SQ_QSIZE_DWORD 10
#define GPUNVME_CREATE_IO_SQ_QSIZE_SHIFT 16 /* Queue Size, 0's based */
#define GPUNVME_CREATE_IO_SQ_QSIZE_MASK 0xffff0000u
#define GPUNVME_CREATE_IO_SQ_PC_DWORD 11
#define GPUNVME_CREATE_IO_SQ_PC_SHIFT 0 /* Physically Contiguous */
#define GPUNVME_CREATE_IO_SQ_PC_MASK 0x1u
#define GPUNVME_CREATE_IO_SQ_QPRIO_DWORD 11
#define GPUNVME_CREATE_IO_SQ_QPRIO_SHIFT 1 /* Queue Priority */
#define GPUNVME_CREATE_IO_SQ_QPRIO_MASK 0x6u
#define GPUNVME_CREATE_IO_SQ_QPRIO_URGENT 0x0u
#define GPUNVME_CREATE_IO_SQ_QPRIO_HIGH 0x1u
#define GPUNVME_CREATE_IO_SQ_QPRIO_MEDIUM 0x2u
#define GPUNVME_CREATE_IO_SQ_QPRIO_LOW 0x3u
#define GPUNVME_CREATE_IO_SQ_CQID_DWORD 11
#define GPUNVME_CREATE_IO_SQ_CQID_SHIFT 16 /* Completion Queue Identifier */
#define GPUNVME_CREATE_IO_SQ_CQID_MASK 0xffff0000u
#define GPUNVME_CREATE_IO_SQ_NVMSETID_DWORD 12
#define GPUNVME_CREATE_IO_SQ_NVMSETID_SHIFT 0 /* NVM Set Identifier */
#define GPUNVME_CREATE_IO_SQ_NVMSETID_MASK 0xffffu

/* GetLogPage (admin command, data: controller-to-host): Returns a part of a log page (Base 2.1 §5.1.12) */
#define GPUNVME_OPC_GET_LOG_PAGE 0x2u
#define GPUNVME_GET_LOG_PAGE_LID_DWORD 10
#define GPUNVME_GET_LOG_PAGE_LID_SHIFT 0 /* Log Page Identifier */
#define GPUNVME_GET_LOG_PAGE_LID_MASK 0xffu
#define GPUNVME_GET_LOG_PAGE_LID_SUPPORTED_LOG_PAGES 0x0u
#define GPUNVME_GET_LOG_PAGE_LID_ERROR_INFORMATION 0x1u
#define GPUNVME_GET_LOG_PAGE_LID_SMART_HEALTH_INFORMATION 0x2u
#define GPUNVME_GET_LOG_PAGE_LID_FIRMWARE_SLOT_INFORMATION 0x3u
#define GPUNVME_GET_LOG_PAGE_LID_CHANGED_ATTACHED_NAMESPACE_LIST 0x4u
#define GPUNVME_GET_LOG_PAGE_LID_COMMANDS_SUPPORTED_AND_EFFECTS 0x5u
#define GPUNVME_GET_LOG_PAGE_LID_DEVICE_SELF_TEST 0x6u
#define GPUNVME_GET_LOG_PAGE_LID_TELEMETRY_HOST_INITIATED 0x7u
#define GPUNVME_GET_LOG_PAGE_LID_TELEMETRY_CONTROLLER_INITIATED 0x8u
#define GPUNVME_GET_LOG_PAGE_LID_ENDURANCE_GROUP_INFORMATION 0x9u
#define GPUNVME_GET_LOG_PAGE_LID_PREDICTABLE_LATENCY_PER_NVM_SET 0xau
#define GPUNVME_GET_LOG_PAGE_LID_PREDICTABLE_LATENCY_EVENT_AGGREGATE 0xbu
#define GPUNVME_GET_LOG_PAGE_LID_ASYMMETRIC_NAMESPACE_ACCESS 0xcu
#define GPUNVME_GET_LOG_PAGE_LID_PERSISTENT_EVENT_LOG 0xdu
#define GPUNVME_GET_LOG_PAGE_LID_LBA_STATUS_INFORMATION 0xeu
#define GPUNVME_GET_LOG_PAGE_LID_ENDURANCE_GROUP_EVENT_AGGREGATE 0xfu
#define GPUNVME_GET_LOG_PAGE_LID_MEDIA_UNIT_STATUS 0x10u
#define GPUNVME_GET_LOG_PAGE_LID_SUPPORTED_CAPACITY_CONFIGURATION_LIST 0x11u
#define GPUNVME_GET_LOG_PAGE_LID_FEATURE_IDENTIFIERS_SUPPORTED_AND_EFFECTS 0x12u
#define GPUNVME_GET_LOG_PAGE_LID_NVME_MI_COMMANDS_SUPPORTED_AND_EFFECTS 0x13u
#define GPUNVME_GET_LOG_PAGE_LID_COMMAND_AND_FEATURE_LOCKDOWN 0x14u
#define GPUNVME_GET_LOG_PAGE_LID_BOOT_PARTITION 0x15u
#define GPUNVME_GET_LOG_PAGE_LID_ROTATIONAL_MEDIA_INFORMATION 0x16u
#define GPUNVME_GET_LOG_PAGE_LID_DISPERSED_NAMESPACE_PARTICIPATING_NVM_SUBSYSTEMS 0x17u
#define GPUNVME_GET_LOG_PAGE_LID_MANAGEMENT_ADDRESS_LIST 0x18u
#define GPUNVME_GET_LOG_PAGE_LID_PHYSICAL_INTERFACE_RECEIVER_EYE_OPENING_MEASUREMENT 0x19u
#define GPUNVME_GET_LOG_PAGE_LID_REACHABILITY_GROUPS 0x1au
#define GPUNVME_GET_LOG_PAGE_LID_REACHABILITY_ASSOCIATIONS 0x1bu
#define GPUNVME_GET_LOG_PAGE_LID_CHANGED_ALLOCATED_NAMESPACE_LIST 0x1cu
#define GPUNVME_GET_LOG_PAGE_LID_FDP_CONFIGURATIONS 0x20u
#define GPUNVME_GET_LOG_PAGE_LID_RECLAIM_UNIT_HANDLE_USAGE 0x21u
#define GPUNVME_GET_LOG_PAGE_LID_FDP_STATISTICS 0x22u
#define GPUNVME_GET_LOG_PAGE_LID_FDP_EVENTS 0x23u
#define GPUNVME_GET_LOG_PAGE_LID_DISCOVERY 0x70u
#define GPUNVME_GET_LOG_PAGE_LID_HOST_DISCOVERY 0x71u
#define GPUNVME_GET_LOG_PAGE_LID_AVE_DISCOVERY 0x72u
#define GPUNVME_GET_LOG_PAGE_LID_PULL_MODEL_DDC_REQUEST 0x73u
#define GPUNVME_GET_LOG_PAGE_LID_RESERVATION_NOTIFICATION 0x80u
#define GPUNVME_GET_LOG_PAGE_LID_SANITIZE_STATUS 0x81u
#define GPUNVME_GET_LOG_PAGE_LID_CHANGED_ZONE_LIST 0xbfu
#define GPUNVME_GET_LOG_PAGE_LSP_DWORD 10
#define GPUNVME_GET_LOG_PAGE_LSP_SHIFT 8 /* Log Specific Parameter */
#define GPUNVME_GET_LOG_PAGE_LSP_MASK 0x7f00u
#define GPUNVME_GET_LOG_PAGE_RAE_DWORD 10
#define GPUNVME_GET_LOG_PAGE_RAE_SHIFT 15 /* Retain Asynchronous Event */
#define GPUNVME_GET_LOG_PAGE_RAE_MASK 0x8000u
#define GPUNVME_GET_LOG_PAGE_NUMDL_DWORD 10
#define GPUNVME_GET_LOG_PAGE_NUMDL_SHIFT 16 /* Number of Dwords Lower, 0's based with NUMDU */
#define GPUNVME_GET_LOG_PAGE_NUMDL_MASK 0xffff0000u
#define GPUNVME_GET_LOG_PAGE_NUMDU_DWORD 11
#define GPUNVME_GET_LOG_PAGE_NUMDU_SHIFT 0 /* Number of Dwords Upper */
#define GPUNVME_GET_LOG_PAGE_NUMDU_MASK 0xffffu
#define GPUNVME_GET_LOG_PAGE_LSI_DWORD 11
#define GPUNVME_GET_LOG_PAGE_LSI_SHIFT 16 /* Log Specific Identifier */
#define GPUNVME_GET_LOG_PAGE_LSI_MASK 0xffff0000u
#define GPUNVME_GET_LOG_PAGE_LPOL_DWORD 12
#define GPUNVME_GET_LOG_PAGE_LPOL_SHIFT 0 /* Log Page Offset Lower */
#define GPUNVME_GET_LOG_PAGE_LPOL_MASK 0xffffffffu
#define GPUNVME_GET_LOG_PAGE_LPOU_DWORD 13
#define GPUNVME_GET_LOG_PAGE_LPOU_SHIFT 0 /* Log Page Offset Upper */
#define GPUNVME_GET_LOG_PAGE_LPOU_MASK 0xffffffffu
#define GPUNVME_GET_LOG_PAGE_UIDX_DWORD 14
#define GPUNVME_GET_LOG_PAGE_UIDX_SHIFT 0 /* UUID Index */
#define GPUNVME_GET_LOG_PAGE_UIDX_MASK 0x7fu
#define GPUNVME_GET_LOG_PAGE_OT_DWORD 14
#define GPUNVME_GET_LOG_PAGE_OT_SHIFT 23 /* Offset Type: 0 for bytes, 1 for an index */
#define GPUNVME_GET_LOG_PAGE_OT_MASK 0x800000u
#define GPUNVME_GET_LOG_PAGE_CSI_DWORD 14
#define GPUNVME_GET_LOG_PAGE_CSI_SHIFT 24 /* Command Set Identifier */
#define GPUNVME_GET_LOG_PAGE_CSI_MASK 0xff000000u

/* DeleteIoCq (admin command, data: none): Deletes a completion queue (Linux 6.1 linux/nvme.h nvme_delete_queue) */
#define GPUNVME_OPC_DELETE_IO_CQ 0x4u
#define GPUNVME_DELETE_IO_CQ_QID_DWORD 10
#define GPUNVME_DELETE_IO_CQ_QID_SHIFT 0 /* Queue Identifier */
#define GPUNVME_DELETE_IO_CQ_QID_MASK 0xffffu

/* CreateIoCq (admin command, data: host-to-controller): Creates a completion queue (Linux 6.1 linux/nvme.h nvme_create_cq) */
#define GPUNVME_OPC_CREATE_IO_CQ 0x5u
#define GPUNVME_CREATE_IO_CQ_QID_DWORD 10
#define GPUNVME_CREATE_IO_CQ_QID_SHIFT 0 /* Queue Identifier */
#define GPUNVME_CREATE_IO_CQ_QID_MASK 0xffffu
#define GPUNVME_CREATE_IO_CQ_QSIZE_DWORD 10
#define GPUNVME_CREATE_IO_CQ_QSIZE_SHIFT 16 /* Queue Size, 0's based */
#define GPUNVME_CREATE_IO_CQ_QSIZE_MASK 0xffff0000u
#define GPUNVME_CREATE_IO_CQ_PC_DWORD 11
#define GPUNVME_CREATE_IO_CQ_PC_SHIFT 0 /* Physically Contiguous */
#define GPUNVME_CREATE_IO_CQ_PC_MASK 0x1u
#define GPUNVME_CREATE_IO_CQ_IEN_DWORD 11
#define GPUNVME_CREATE_IO_CQ_IEN_SHIFT 1 /* Interrupts Enabled */
#define GPUNVME_CREATE_IO_CQ_IEN_MASK 0x2u
#define GPUNVME_CREATE_IO_CQ_IV_DWORD 11
#define GPUNVME_CREATE_IO_CQ_IV_SHIFT 16 /* Interrupt Vector */
#define GPUNVME_CREATE_IO_CQ_IV_MASK 0xffff0000u

/* Identify (admin command, data: controller-to-host): Returns 4096 bytes, selected by CNS (Base 2.1 §5.1.13) */
#define GPUNVME_OPC_IDENTIFY 0x6u
#define GPUNVME_IDENTIFY_CNS_DWORD 10
#define GPUNVME_IDENTIFY_CNS_SHIFT 0 /* Controller or Namespace Structure */
#define GPUNVME_IDENTIFY_CNS_MASK 0xffu
#define GPUNVME_IDENTIFY_CNS_NAMESPACE 0x0u
#define GPUNVME_IDENTIFY_CNS_CONTROLLER 0x1u
#define GPUNVME_IDENTIFY_CNS_ACTIVE_NAMESPACE_LIST 0x2u
#define GPUNVME_IDENTIFY_CNS_NAMESPACE_DESCRIPTOR_LIST 0x3u
#define GPUNVME_IDENTIFY_CNS_NVM_SET_LIST 0x4u
#define GPUNVME_IDENTIFY_CNS_COMMAND_SET_NAMESPACE 0x5u
#define GPUNVME_IDENTIFY_CNS_COMMAND_SET_CONTROLLER 0x6u
#define GPUNVME_IDENTIFY_CNS_COMMAND_SET_ACTIVE_NAMESPACE_LIST 0x7u
#define GPUNVME_IDENTIFY_CNS_INDEPENDENT_NAMESPACE 0x8u
#define GPUNVME_IDENTIFY_CNS_FORMAT_NAMESPACE 0x9u
#define GPUNVME_IDENTIFY_CNS_COMMAND_SET_FORMAT_NAMESPACE 0xau
#define GPUNVME_IDENTIFY_CNS_ALLOCATED_NAMESPACE_LIST 0x10u
#define GPUNVME_IDENTIFY_CNS_ALLOCATED_NAMESPACE 0x11u
#define GPUNVME_IDENTIFY_CNS_ATTACHED_CONTROLLER_LIST 0x12u
#define GPUNVME_IDENTIFY_CNS_CONTROLLER_LIST 0x13u
#define GPUNVME_IDENTIFY_CNS_PRIMARY_CONTROLLER_CAPABILITIES 0x14u
#define GPUNVME_IDENTIFY_CNS_SECONDARY_CONTROLLER_LIST 0x15u
#define GPUNVME_IDENTIFY_CNS_NAMESPACE_GRANULARITY_LIST 0x16u
#define GPUNVME_IDENTIFY_CNS_UUID_LIST 0x17u
#define GPUNVME_IDENTIFY_CNS_DOMAIN_LIST 0x18u
#define GPUNVME_IDENTIFY_CNS_ENDURANCE_GROUP_LIST 0x19u
#define GPUNVME_IDENTIFY_CNS_COMMAND_SET_ALLOCATED_NAMESPACE_LIST 0x1au
#define GPUNVME_IDENTIFY_CNS_COMMAND_SET_ALLOCATED_NAMESPACE 0x1bu
#define GPUNVME_IDENTIFY_CNS_COMMAND_SETS 0x1cu
#define GPUNVME_IDENTIFY_CNS_UNDERLYING_NAMESPACE_LIST 0x1du
#define GPUNVME_IDENTIFY_CNS_PORTS_LIST 0x1eu
#define GPUNVME_IDENTIFY_CNS_INDEPENDENT_ALLOCATED_NAMESPACE 0x1fu
#define GPUNVME_IDENTIFY_CNS_SUPPORTED_CONTROLLER_STATE_FORMATS 0x20u
#define GPUNVME_IDENTIFY_CNTID_DWORD 10
#define GPUNVME_IDENTIFY_CNTID_SHIFT 16 /* Controller Identifier */
#define GPUNVME_IDENTIFY_CNTID_MASK 0xffff0000u
#define GPUNVME_IDENTIFY_CNSSID_DWORD 11
#define GPUNVME_IDENTIFY_CNSSID_SHIFT 0 /* CNS Specific Identifier */
#define GPUNVME_IDENTIFY_CNSSID_MASK 0xffffu
#define GPUNVME_IDENTIFY_CSI_DWORD 11
#define GPUNVME_IDENTIFY_CSI_SHIFT 24 /* Command Set Identifier */
#define GPUNVME_IDENTIFY_CSI_MASK 0xff000000u
#define GPUNVME_IDENTIFY_CSI_NVM 0x0u
#define GPUNVME_IDENTIFY_CSI_KV 0x1u
#define GPUNVME_IDENTIFY_CSI_ZNS 0x2u
#define GPUNVME_IDENTIFY_CSI_SLM 0x3u
#define GPUNVME_IDENTIFY_CSI_CP 0x4u
#define GPUNVME_IDENTIFY_UIDX_DWORD 14
#define GPUNVME_IDENTIFY_UIDX_SHIFT 0 /* UUID Index */
#define GPUNVME_IDENTIFY_UIDX_MASK 0x7fu

/* Abort (admin command, data: none): Requests the abort of a command (Base 2.1 §5.1.1) */
#define GPUNVME_OPC_ABORT 0x8u
#define GPUNVME_ABORT_SQID_DWORD 10
#define GPUNVME_ABORT_SQID_SHIFT 0 /* Submission Queue Identifier */
#define GPUNVME_ABORT_SQID_MASK 0xffffu
#define GPUNVME_ABORT_ABORTED_CID_DWORD 10
#define GPUNVME_ABORT_ABORTED_CID_SHIFT 16 /* Command Identifier */
#define GPUNVME_ABORT_ABORTED_CID_MASK 0xffff0000u

/* SetFeatures (admin command, data: host-to-controller): Sets the value of a feature (Base 2.1 §5.1.25) */
#define GPUNVME_OPC_SET_FEATURES 0x9u
#define GPUNVME_SET_FEATURES_FID_DWORD 10
#define GPUNVME_SET_FEATURES_FID_SHIFT 0 /* Feature Identifier */
#define GPUNVME_SET_FEATURES_FID_MASK 0xffu
#define GPUNVME_SET_FEATURES_FID_ARBITRATION 0x1u
#define GPUNVME_SET_FEATURES_FID_POWER_MANAGEMENT 0x2u
#define GPUNVME_SET_FEATURES_FID_LBA_RANGE_TYPE 0x3u
#define GPUNVME_SET_FEATURES_FID_TEMPERATURE_THRESHOLD 0x4u
#define GPUNVME_SET_FEATURES_FID_ERROR_RECOVERY 0x5u
#define GPUNVME_SET_FEATURES_FID_VOLATILE_WRITE_CACHE 0x6u
#define GPUNVME_SET_FEATURES_FID_NUMBER_OF_QUEUES 0x7u
#define GPUNVME_SET_FEATURES_FID_INTERRUPT_COALESCING 0x8u
#define GPUNVME_SET_FEATURES_FID_INTERRUPT_VECTOR_CONFIGURATION 0x9u
#define GPUNVME_SET_FEATURES_FID_WRITE_ATOMICITY_NORMAL 0xau
#define GPUNVME_SET_FEATURES_FID_ASYNCHRONOUS_EVENT_CONFIGURATION 0xbu
#define GPUNVME_SET_FEATURES_FID_AUTONOMOUS_POWER_STATE_TRANSITION 0xcu
#define GPUNVME_SET_FEATURES_FID_HOST_MEMORY_BUFFER 0xdu
#define GPUNVME_SET_FEATURES_FID_TIMESTAMP 0xeu
#define GPUNVME_SET_FEATURES_FID_KEEP_ALIVE_TIMER 0xfu
#define GPUNVME_SET_FEATURES_FID_HOST_CONTROLLED_THERMAL_MANAGEMENT 0x10u
#define GPUNVME_SET_FEATURES_FID_NON_OPERATIONAL_POWER_STATE_CONFIG 0x11u
#define GPUNVME_SET_FEATURES_FID_READ_RECOVERY_LEVEL_CONFIG 0x12u
#define GPUNVME_SET_FEATURES_FID_PREDICTABLE_LATENCY_MODE_CONFIG 0x13u
#define GPUNVME_SET_FEATURES_FID_PREDICTABLE_LATENCY_MODE_WINDOW 0x14u
#define GPUNVME_SET_FEATURES_FID_LBA_STATUS_INFORMATION_ATTRIBUTES 0x15u
#define GPUNVME_SET_FEATURES_FID_HOST_BEHAVIOR_SUPPORT 0x16u
#define GPUNVME_SET_FEATURES_FID_SANITIZE_CONFIG 0x17u
#define GPUNVME_SET_FEATURES_FID_ENDURANCE_GROUP_EVENT_CONFIGURATION 0x18u
#define GPUNVME_SET_FEATURES_FID_IO_COMMAND_SET_PROFILE 0x19u
#define GPUNVME_SET_FEATURES_FID_SPINUP_CONTROL 0x1au
#define GPUNVME_SET_FEATURES_FID_POWER_LOSS_SIGNALING_CONFIG 0x1bu
#define GPUNVME_SET_FEATURES_FID_PERFORMANCE_CHARACTERISTICS 0x1cu
#define GPUNVME_SET_FEATURES_FID_FLEXIBLE_DATA_PLACEMENT 0x1du
#define GPUNVME_SET_FEATURES_FID_FLEXIBLE_DATA_PLACEMENT_EVENTS 0x1eu
#define GPUNVME_SET_FEATURES_FID_NAMESPACE_ADMIN_LABEL 0x1fu
#define GPUNVME_SET_FEATURES_FID_KEY_VALUE_CONFIGURATION 0x20u
#define GPUNVME_SET_FEATURES_FID_CONTROLLER_DATA_QUEUE 0x21u
#define GPUNVME_SET_FEATURES_FID_EMBEDDED_MANAGEMENT_CONTROLLER_ADDRESS 0x78u
#define GPUNVME_SET_FEATURES_FID_HOST_MANAGEMENT_AGENT_ADDRESS 0x79u
#define GPUNVME_SET_FEATURES_FID_ENHANCED_CONTROLLER_METADATA 0x7du
#define GPUNVME_SET_FEATURES_FID_CONTROLLER_METADATA 0x7eu
#define GPUNVME_SET_FEATURES_FID_NAMESPACE_METADATA 0x7fu
#define GPUNVME_SET_FEATURES_FID_SOFTWARE_PROGRESS_MARKER 0x80u
#define GPUNVME_SET_FEATURES_FID_HOST_IDENTIFIER 0x81u
#define GPUNVME_SET_FEATURES_FID_RESERVATION_NOTIFICATION_MASK 0x82u
#define GPUNVME_SET_FEATURES_FID_RESERVATION_PERSISTENCE 0x83u
#define GPUNVME_SET_FEATURES_FID_NAMESPACE_WRITE_PROTECTION_CONFIG 0x84u
#define GPUNVME_SET_FEATURES_FID_BOOT_PARTITION_WRITE_PROTECTION_CONFIG 0x85u
#define GPUNVME_SET_FEATURES_SV_DWORD 10
#define GPUNVME_SET_FEATURES_SV_SHIFT 31 /* Save */
#define GPUNVME_SET_FEATURES_SV_MASK 0x80000000u
#define GPUNVME_SET_FEATURES_CDW11_DWORD 11
#define GPUNVME_SET_FEATURES_CDW11_SHIFT 0 /* Feature specific */
#define GPUNVME_SET_FEATURES_CDW11_MASK 0xffffffffu
#define GPUNVME_SET_FEATURES_CDW12_DWORD 12
#define GPUNVME_SET_FEATURES_CDW12_SHIFT 0 /* Feature specific */
#define GPUNVME_SET_FEATURES_CDW12_MASK 0xffffffffu
#define GPUNVME_SET_FEATURES_CDW13_DWORD 13
#define GPUNVME_SET_FEATURES_CDW13_SHIFT 0 /* Feature specific */
#define GPUNVME_SET_FEATURES_CDW13_MASK 0xffffffffu
#define GPUNVME_SET_FEATURES_CDW14_DWORD 14
#define GPUNVME_SET_FEATURES_CDW14_SHIFT 0 /* UUID Index, or feature specific */
#define GPUNVME_SET_FEATURES_CDW14_MASK 0xffffffffu
#define GPUNVME_SET_FEATURES_CDW14_UIDX_SHIFT 0 /* UUID Index */
#define GPUNVME_SET_FEATURES_CDW14_UIDX_MASK 0x7fu
#define GPUNVME_SET_FEATURES_CDW15_DWORD 15
#define GPUNVME_SET_FEATURES_CDW15_SHIFT 0 /* Feature specific */
#define GPUNVME_SET_FEATURES_CDW15_MASK 0xffffffffu

/* GetFeatures (admin command, data: controller-to-host): Returns the value of a feature (Base 2.1 §5.1.11) */
#define GPUNVME_OPC_GET_FEATURES 0xau
#define GPUNVME_GET_FEATURES_FID_DWORD 10
#define GPUNVME_GET_FEATURES_FID_SHIFT 0 /* Feature Identifier */
#define GPUNVME_GET_FEATURES_FID_MASK 0xffu
#define GPUNVME_GET_FEATURES_FID_ARBITRATION 0x1u
#define GPUNVME_GET_FEATURES_FID_POWER_MANAGEMENT 0x2u
#define GPUNVME_GET_FEATURES_FID_LBA_RANGE_TYPE 0x3u
#define GPUNVME_GET_FEATURES_FID_TEMPERATURE_THRESHOLD 0x4u
#define GPUNVME_GET_FEATURES_FID_ERROR_RECOVERY 0x5u
#define GPUNVME_GET_FEATURES_FID_VOLATILE_WRITE_CACHE 0x6u
#define GPUNVME_GET_FEATURES_FID_NUMBER_OF_QUEUES 0x7u
#define GPUNVME_GET_FEATURES_FID_INTERRUPT_COALESCING 0x8u
#define GPUNVME_GET_FEATURES_FID_INTERRUPT_VECTOR_CONFIGURATION 0x9u
#define GPUNVME_GET_FEATURES_FID_WRITE_ATOMICITY_NORMAL 0xau
#define GPUNVME_GET_FEATURES_FID_ASYNCHRONOUS_EVENT_CONFIGURATION 0xbu
#define GPUNVME_GET_FEATURES_FID_AUTONOMOUS_POWER_STATE_TRANSITION 0xcu
#define GPUNVME_GET_FEATURES_FID_HOST_MEMORY_BUFFER 0xdu
#define GPUNVME_GET_FEATURES_FID_TIMESTAMP 0xeu
#define GPUNVME_GET_FEATURES_FID_KEEP_ALIVE_TIMER 0xfu
#define GPUNVME_GET_FEATURES_FID_HOST_CONTROLLED_THERMAL_MANAGEMENT 0x10u
#define GPUNVME_GET_FEATURES_FID_NON_OPERATIONAL_POWER_STATE_CONFIG 0x11u
#define GPUNVME_GET_FEATURES_FID_READ_RECOVERY_LEVEL_CONFIG 0x12u
#define GPUNVME_GET_FEATURES_FID_PREDICTABLE_LATENCY_MODE_CONFIG 0x13u
#define GPUNVME_GET_FEATURES_FID_PREDICTABLE_LATENCY_MODE_WINDOW 0x14u
#define GPUNVME_GET_FEATURES_FID_LBA_STATUS_INFORMATION_ATTRIBUTES 0x15u
#define GPUNVME_GET_FEATURES_FID_HOST_BEHAVIOR_SUPPORT 0x16u
#define GPUNVME_GET_FEATURES_FID_SANITIZE_CONFIG 0x17u
#define GPUNVME_GET_FEATURES_FID_ENDURANCE_GROUP_EVENT_CONFIGURATION 0x18u
#define GPUNVME_GET_FEATURES_FID_IO_COMMAND_SET_PROFILE 0x19u
#define GPUNVME_GET_FEATURES_FID_SPINUP_CONTROL 0x1au
#define GPUNVME_GET_FEATURES_FID_POWER_LOSS_SIGNALING_CONFIG 0x1bu
#define GPUNVME_GET_FEATURES_FID_PERFORMANCE_CHARACTERISTICS 0x1cu
#define GPUNVME_GET_FEATURES_FID_FLEXIBLE_DATA_PLACEMENT 0x1du
#define GPUNVME_GET_FEATURES_FID_FLEXIBLE_DATA_PLACEMENT_EVENTS 0x1eu
#define GPUNVME_GET_FEATURES_FID_NAMESPACE_ADMIN_LABEL 0x1fu
#define GPUNVME_GET_FEATURES_FID_KEY_VALUE_CONFIGURATION 0x20u
#define GPUNVME_GET_FEATURES_FID_CONTROLLER_DATA_QUEUE 0x21u
#define GPUNVME_GET_FEATURES_FID_EMBEDDED_MANAGEMENT_CONTROLLER_ADDRESS 0x78u
#define GPUNVME_GET_FEATURES_FID_HOST_MANAGEMENT_AGENT_ADDRESS 0x79u
#define GPUNVME_GET_FEATURES_FID_ENHANCED_CONTROLLER_METADATA 0x7du
#define GPUNVME_GET_FEATURES_FID_CONTROLLER_METADATA 0x7eu
#define GPUNVME_GET_FEATURES_FID_NAMESPACE_METADATA 0x7fu
#define GPUNVME_GET_FEATURES_FID_SOFTWARE_PROGRESS_MARKER 0x80u
#define GPUNVME_GET_FEATURES_FID_HOST_IDENTIFIER 0x81u
#define GPUNVME_GET_FEATURES_FID_RESERVATION_NOTIFICATION_MASK 0x82u
#define GPUNVME_GET_FEATURES_FID_RESERVATION_PERSISTENCE 0x83u
#define GPUNVME_GET_FEATURES_FID_NAMESPACE_WRITE_PROTECTION_CONFIG 0x84u
#define GPUNVME_GET_FEATURES_FID_BOOT_PARTITION_WRITE_PROTECTION_CONFIG 0x85u
#define GPUNVME_GET_FEATURES_SEL_DWORD 10
#define GPUNVME_GET_FEATURES_SEL_SHIFT 8 /* Select */
#define GPUNVME_GET_FEATURES_SEL_MASK 0x700u
#define GPUNVME_GET_FEATURES_SEL_CURRENT 0x0u
#define GPUNVME_GET_FEATURES_SEL_DEFAULT 0x1u
#define GPUNVME_GET_FEATURES_SEL_SAVED 0x2u
#define GPUNVME_GET_FEATURES_SEL_SUPPORTED 0x3u
#define GPUNVME_GET_FEATURES_CDW11_DWORD 11
#define GPUNVME_GET_FEATURES_CDW11_SHIFT 0 /* Feature specific */
#define GPUNVME_GET_FEATURES_CDW11_MASK 0xffffffffu
#define GPUNVME_GET_FEATURES_UIDX_DWORD 14
#define GPUNVME_GET_FEATURES_UIDX_SHIFT 0 /* UUID Index */
#define GPUNVME_GET_FEATURES_UIDX_MASK 0x7fu

/* AsyncEventRequest (admin command, data: none): Held until an event occurs (Base 2.1 §5.1.2) */
#define GPUNVME_OPC_ASYNC_EVENT_REQUEST 0xcu

/* NamespaceManagement (admin command, data: host-to-controller): Creates or deletes a namespace (Base 2.1 §5.1.21) */
#define GPUNVME_OPC_NAMESPACE_MANAGEMENT 0xdu
#define GPUNVME_NAMESPACE_MANAGEMENT_SEL_DWORD 10
#define GPUNVME_NAMESPACE_MANAGEMENT_SEL_SHIFT 0 /* Select */
#define GPUNVME_NAMESPACE_MANAGEMENT_SEL_MASK 0xfu
#define GPUNVME_NAMESPACE_MANAGEMENT_SEL_CREATE 0x0u
#define GPUNVME_NAMESPACE_MANAGEMENT_SEL_DELETE 0x1u
#define GPUNVME_NAMESPACE_MANAGEMENT_CSI_DWORD 11
#define GPUNVME_NAMESPACE_MANAGEMENT_CSI_SHIFT 24 /* Command Set Identifier of the created namespace */
#define GPUNVME_NAMESPACE_MANAGEMENT_CSI_MASK 0xff000000u

/* FirmwareCommit (admin command, data: none): Stores and activates a downloaded image (Base 2.1 §5.1.8) */
#define GPUNVME_OPC_FIRMWARE_COMMIT 0x10u
#define GPUNVME_FIRMWARE_COMMIT_FS_DWORD 10
#define GPUNVME_FIRMWARE_COMMIT_FS_SHIFT 0 /* Firmware Slot; 0 for the choice of the controller */
#define GPUNVME_FIRMWARE_COMMIT_FS_MASK 0x7u
#define GPUNVME_FIRMWARE_COMMIT_CA_DWORD 10
#define GPUNVME_FIRMWARE_COMMIT_CA_SHIFT 3 /* Commit Action */
#define GPUNVME_FIRMWARE_COMMIT_CA_MASK 0x38u
#define GPUNVME_FIRMWARE_COMMIT_CA_REPLACE 0x0u
#define GPUNVME_FIRMWARE_COMMIT_CA_REPLACE_AND_ACTIVATE_AT_RESET 0x1u
#define GPUNVME_FIRMWARE_COMMIT_CA_ACTIVATE_AT_RESET 0x2u
#define GPUNVME_FIRMWARE_COMMIT_CA_REPLACE_AND_ACTIVATE_IMMEDIATELY 0x3u
#define GPUNVME_FIRMWARE_COMMIT_CA_REPLACE_BOOT_PARTITION 0x6u
#define GPUNVME_FIRMWARE_COMMIT_CA_ACTIVATE_BOOT_PARTITION 0x7u
#define GPUNVME_FIRMWARE_COMMIT_BPID_DWORD 10
#define GPUNVME_FIRMWARE_COMMIT_BPID_SHIFT 31 /* Boot Partition ID */
#define GPUNVME_FIRMWARE_COMMIT_BPID_MASK 0x80000000u

/* FirmwareImageDownload (admin command, data: host-to-controller): Transfers a part of a firmware image (Base 2.1 §5.1.9) */
#define GPUNVME_OPC_FIRMWARE_IMAGE_DOWNLOAD 0x11u
#define GPUNVME_FIRMWARE_IMAGE_DOWNLOAD_NUMD_DWORD 10
#define GPUNVME_FIRMWARE_IMAGE_DOWNLOAD_NUMD_SHIFT 0 /* Number of Dwords, 0's based */
#define GPUNVME_FIRMWARE_IMAGE_DOWNLOAD_NUMD_MASK 0xffffffffu
#define GPUNVME_FIRMWARE_IMAGE_DOWNLOAD_OFST_DWORD 11
#define GPUNVME_FIRMWARE_IMAGE_DOWNLOAD_OFST_SHIFT 0 /* Offset in dwords */
#define GPUNVME_FIRMWARE_IMAGE_DOWNLOAD_OFST_MASK 0xffffffffu

/* DeviceSelfTest (admin command, data: none): Starts or aborts a device self-test (Base 2.1 §5.1.5) */
#define GPUNVME_OPC_DEVICE_SELF_TEST 0x14u
#define GPUNVME_DEVICE_SELF_TEST_STC_DWORD 10
#define GPUNVME_DEVICE_SELF_TEST_STC_SHIFT 0 /* Self-test Code */
#define GPUNVME_DEVICE_SELF_TEST_STC_MASK 0xfu
#define GPUNVME_DEVICE_SELF_TEST_STC_SHORT 0x1u
#define GPUNVME_DEVICE_SELF_TEST_STC_EXTENDED 0x2u
#define GPUNVME_DEVICE_SELF_TEST_STC_HOST_INITIATED_REFRESH 0x3u
#define GPUNVME_DEVICE_SELF_TEST_STC_VENDOR_SPECIFIC 0xeu
#define GPUNVME_DEVICE_SELF_TEST_STC_ABORT 0xfu

/* NamespaceAttachment (admin command, data: host-to-controller): Attaches or detaches controllers (Base 2.1 §5.1.20) */
#define GPUNVME_OPC_NAMESPACE_ATTACHMENT 0x15u
#define GPUNVME_NAMESPACE_ATTACHMENT_SEL_DWORD 10
#define GPUNVME_NAMESPACE_ATTACHMENT_SEL_SHIFT 0 /* Select */
#define GPUNVME_NAMESPACE_ATTACHMENT_SEL_MASK 0xfu
#define GPUNVME_NAMESPACE_ATTACHMENT_SEL_CONTROLLER_ATTACH 0x0u
#define GPUNVME_NAMESPACE_ATTACHMENT_SEL_CONTROLLER_DETACH 0x1u

/* KeepAlive (admin command, data: none): Restarts the Keep Alive Timer (Base 2.1 §5.1.14) */
#define GPUNVME_OPC_KEEP_ALIVE 0x18u

/* DirectiveSend (admin command, data: host-to-controller): Sends data of a directive (Base 2.1 §5.1.7) */
#define GPUNVME_OPC_DIRECTIVE_SEND 0x19u
#define GPUNVME_DIRECTIVE_SEND_NUMD_DWORD 10
#define GPUNVME_DIRECTIVE_SEND_NUMD_SHIFT 0 /* Number of Dwords, 0's based */
#define GPUNVME_DIRECTIVE_SEND_NUMD_MASK 0xffffffffu
#define GPUNVME_DIRECTIVE_SEND_DTYPE_DWORD 11
#define GPUNVME_DIRECTIVE_SEND_DTYPE_SHIFT 8 /* Directive Type */
#define GPUNVME_DIRECTIVE_SEND_DTYPE_MASK 0xff00u
#define GPUNVME_DIRECTIVE_SEND_DTYPE_IDENTIFY 0x0u
#define GPUNVME_DIRECTIVE_SEND_DTYPE_STREAMS 0x1u
#define GPUNVME_DIRECTIVE_SEND_DTYPE_DATA_PLACEMENT 0x2u
#define GPUNVME_DIRECTIVE_SEND_DTYPE_VENDOR_SPECIFIC 0xfu
#define GPUNVME_DIRECTIVE_SEND_DSPEC_DWORD 11
#define GPUNVME_DIRECTIVE_SEND_DSPEC_SHIFT 16 /* Directive Specific */
#define GPUNVME_DIRECTIVE_SEND_DSPEC_MASK 0xffff0000u
#define GPUNVME_DIRECTIVE_SEND_CDW12_DWORD 12
#define GPUNVME_DIRECTIVE_SEND_CDW12_SHIFT 0 /* Directive Operation specific */
#define GPUNVME_DIRECTIVE_SEND_CDW12_MASK 0xffffffffu
#define GPUNVME_DIRECTIVE_SEND_CDW13_DWORD 13
#define GPUNVME_DIRECTIVE_SEND_CDW13_SHIFT 0 /* Directive Operation specific */
#define GPUNVME_DIRECTIVE_SEND_CDW13_MASK 0xffffffffu
#define GPUNVME_DIRECTIVE_SEND_DOPER_DWORD 11
#define GPUNVME_DIRECTIVE_SEND_DOPER_SHIFT 0 /* Directive Operation */
#define GPUNVME_DIRECTIVE_SEND_DOPER_MASK 0xffu

/* DirectiveReceive (admin command, data: controller-to-host): Returns data of a directive (Base 2.1 §5.1.6) */
#define GPUNVME_OPC_DIRECTIVE_RECEIVE 0x1au
#define GPUNVME_DIRECTIVE_RECEIVE_NUMD_DWORD 10
#define GPUNVME_DIRECTIVE_RECEIVE_NUMD_SHIFT 0 /* Number of Dwords, 0's based */
#define GPUNVME_DIRECTIVE_RECEIVE_NUMD_MASK 0xffffffffu
#define GPUNVME_DIRECTIVE_RECEIVE_DTYPE_DWORD 11
#define GPUNVME_DIRECTIVE_RECEIVE_DTYPE_SHIFT 8 /* Directive Type */
#define GPUNVME_DIRECTIVE_RECEIVE_DTYPE_MASK 0xff00u
#define GPUNVME_DIRECTIVE_RECEIVE_DTYPE_IDENTIFY 0x0u
#define GPUNVME_DIRECTIVE_RECEIVE_DTYPE_STREAMS 0x1u
#define GPUNVME_DIRECTIVE_RECEIVE_DTYPE_DATA_PLACEMENT 0x2u
#define GPUNVME_DIRECTIVE_RECEIVE_DTYPE_VENDOR_SPECIFIC 0xfu
#define GPUNVME_DIRECTIVE_RECEIVE_DSPEC_DWORD 11
#define GPUNVME_DIRECTIVE_RECEIVE_DSPEC_SHIFT 16 /* Directive Specific */
#define GPUNVME_DIRECTIVE_RECEIVE_DSPEC_MASK 0xffff0000u
#define GPUNVME_DIRECTIVE_RECEIVE_CDW12_DWORD 12
#define GPUNVME_DIRECTIVE_RECEIVE_CDW12_SHIFT 0 /* Directive Operation specific */
#define GPUNVME_DIRECTIVE_RECEIVE_CDW12_MASK 0xffffffffu
#define GPUNVME_DIRECTIVE_RECEIVE_CDW13_DWORD 13
#define GPUNVME_DIRECTIVE_RECEIVE_CDW13_SHIFT 0 /* Directive Operation specific */
#define GPUNVME_DIRECTIVE_RECEIVE_CDW13_MASK 0xffffffffu
#define GPUNVME_DIRECTIVE_RECEIVE_DOPER_DWORD 11
#define GPUNVME_DIRECTIVE_RECEIVE_DOPER_SHIFT 0 /* Directive Operation */
#define GPUNVME_DIRECTIVE_RECEIVE_DOPER_MASK 0xffu
#define GPUNVME_DIRECTIVE_RECEIVE_DOPER_RETURN_PARAMETERS 0x1u
#define GPUNVME_DIRECTIVE_RECEIVE_DOPER_GET_STATUS 0x2u
#define GPUNVME_DIRECTIVE_RECEIVE_DOPER_ALLOCATE_RESOURCES 0x3u

/* VirtualizationManagement (admin command, data: none): Manages controller resources (Base 2.1 §5.2.6) */
#define GPUNVME_OPC_VIRTUALIZATION_MANAGEMENT 0x1cu
#define GPUNVME_VIRTUALIZATION_MANAGEMENT_ACT_DWORD 10
#define GPUNVME_VIRTUALIZATION_MANAGEMENT_ACT_SHIFT 0 /* Action */
#define GPUNVME_VIRTUALIZATION_MANAGEMENT_ACT_MASK 0xfu
#define GPUNVME_VIRTUALIZATION_MANAGEMENT_ACT_PRIMARY_FLEXIBLE_ALLOCATION 0x1u
#define GPUNVME_VIRTUALIZATION_MANAGEMENT_ACT_SECONDARY_OFFLINE 0x7u
#define GPUNVME_VIRTUALIZATION_MANAGEMENT_ACT_SECONDARY_ASSIGN 0x8u
#define GPUNVME_VIRTUALIZATION_MANAGEMENT_ACT_SECONDARY_ONLINE 0x9u
#define GPUNVME_VIRTUALIZATION_MANAGEMENT_RT_DWORD 10
#define GPUNVME_VIRTUALIZATION_MANAGEMENT_RT_SHIFT 8 /* Resource Type */
#define GPUNVME_VIRTUALIZATION_MANAGEMENT_RT_MASK 0x700u
#define GPUNVME_VIRTUALIZATION_MANAGEMENT_RT_VQ 0x0u
#define GPUNVME_VIRTUALIZATION_MANAGEMENT_RT_VI 0x1u
#define GPUNVME_VIRTUALIZATION_MANAGEMENT_CNTLID_DWORD 10
#define GPUNVME_VIRTUALIZATION_MANAGEMENT_CNTLID_SHIFT 16 /* Controller Identifier */
#define GPUNVME_VIRTUALIZATION_MANAGEMENT_CNTLID_MASK 0xffff0000u
#define GPUNVME_VIRTUALIZATION_MANAGEMENT_NR_DWORD 11
#define GPUNVME_VIRTUALIZATION_MANAGEMENT_NR_SHIFT 0 /* Number of Controller Resources */
#define GPUNVME_VIRTUALIZATION_MANAGEMENT_NR_MASK 0xffffu

/* NvmeMiSend (admin command, data: host-to-controller): Sends an in-band management command (Base 2.1 §5.1.19) */
#define GPUNVME_OPC_NVME_MI_SEND 0x1du
#define GPUNVME_NVME_MI_SEND_CDW10_DWORD 10
#define GPUNVME_NVME_MI_SEND_CDW10_SHIFT 0 /* NVMe-MI specific */
#define GPUNVME_NVME_MI_SEND_CDW10_MASK 0xffffffffu
#define GPUNVME_NVME_MI_SEND_CDW11_DWORD 11
#define GPUNVME_NVME_MI_SEND_CDW11_SHIFT 0 /* NVMe-MI specific */
#define GPUNVME_NVME_MI_SEND_CDW11_MASK 0xffffffffu
#define GPUNVME_NVME_MI_SEND_CDW12_DWORD 12
#define GPUNVME_NVME_MI_SEND_CDW12_SHIFT 0 /* NVMe-MI specific */
#define GPUNVME_NVME_MI_SEND_CDW12_MASK 0xffffffffu
#define GPUNVME_NVME_MI_SEND_CDW13_DWORD 13
#define GPUNVME_NVME_MI_SEND_CDW13_SHIFT 0 /* NVMe-MI specific */
#define GPUNVME_NVME_MI_SEND_CDW13_MASK 0xffffffffu
#define GPUNVME_NVME_MI_SEND_CDW14_DWORD 14
#define GPUNVME_NVME_MI_SEND_CDW14_SHIFT 0 /* NVMe-MI specific */
#define GPUNVME_NVME_MI_SEND_CDW14_MASK 0xffffffffu
#define GPUNVME_NVME_MI_SEND_CDW15_DWORD 15
#define GPUNVME_NVME_MI_SEND_CDW15_SHIFT 0 /* NVMe-MI specific */
#define GPUNVME_NVME_MI_SEND_CDW15_MASK 0xffffffffu

/* NvmeMiReceive (admin command, data: controller-to-host): Returns data of an in-band management command (Base 2.1 §5.1.18) */
#define GPUNVME_OPC_NVME_MI_RECEIVE 0x1eu
#define GPUNVME_NVME_MI_RECEIVE_CDW10_DWORD 10
#define GPUNVME_NVME_MI_RECEIVE_CDW10_SHIFT 0 /* NVMe-MI specific */
#define GPUNVME_NVME_MI_RECEIVE_CDW10_MASK 0xffffffffu
#define GPUNVME_NVME_MI_RECEIVE_CDW11_DWORD 11
#define GPUNVME_NVME_MI_RECEIVE_CDW11_SHIFT 0 /* NVMe-MI specific */
#define GPUNVME_NVME_MI_RECEIVE_CDW11_MASK 0xffffffffu
#define GPUNVME_NVME_MI_RECEIVE_CDW12_DWORD 12
#define GPUNVME_NVME_MI_RECEIVE_CDW12_SHIFT 0 /* NVMe-MI specific */
#define GPUNVME_NVME_MI_RECEIVE_CDW12_MASK 0xffffffffu
#define GPUNVME_NVME_MI_RECEIVE_CDW13_DWORD 13
#define GPUNVME_NVME_MI_RECEIVE_CDW13_SHIFT 0 /* NVMe-MI specific */
#define GPUNVME_NVME_MI_RECEIVE_CDW13_MASK 0xffffffffu
#define GPUNVME_NVME_MI_RECEIVE_CDW14_DWORD 14
#define GPUNVME_NVME_MI_RECEIVE_CDW14_SHIFT 0 /* NVMe-MI specific */
#define GPUNVME_NVME_MI_RECEIVE_CDW14_MASK 0xffffffffu
#define GPUNVME_NVME_MI_RECEIVE_CDW15_DWORD 15
#define GPUNVME_NVME_MI_RECEIVE_CDW15_SHIFT 0 /* NVMe-MI specific */
#define GPUNVME_NVME_MI_RECEIVE_CDW15_MASK 0xffffffffu

/* CapacityManagement (admin command, data: none): Manages capacity (Base 2.1 §5.1.3) */
#define GPUNVME_OPC_CAPACITY_MANAGEMENT 0x20u
#define GPUNVME_CAPACITY_MANAGEMENT_OPER_DWORD 10
#define GPUNVME_CAPACITY_MANAGEMENT_OPER_SHIFT 0 /* Operation */
#define GPUNVME_CAPACITY_MANAGEMENT_OPER_MASK 0xfu
#define GPUNVME_CAPACITY_MANAGEMENT_OPER_SELECT_CAPACITY_CONFIGURATION 0x0u
#define GPUNVME_CAPACITY_MANAGEMENT_OPER_CREATE_ENDURANCE_GROUP 0x1u
#define GPUNVME_CAPACITY_MANAGEMENT_OPER_DELETE_ENDURANCE_GROUP 0x2u
#define GPUNVME_CAPACITY_MANAGEMENT_OPER_CREATE_NVM_SET 0x3u
#define GPUNVME_CAPACITY_MANAGEMENT_OPER_DELETE_NVM_SET 0x4u
#define GPUNVME_CAPACITY_MANAGEMENT_ELID_DWORD 10
#define GPUNVME_CAPACITY_MANAGEMENT_ELID_SHIFT 16 /* Element Identifier */
#define GPUNVME_CAPACITY_MANAGEMENT_ELID_MASK 0xffff0000u
#define GPUNVME_CAPACITY_MANAGEMENT_CAPL_DWORD 11
#define GPUNVME_CAPACITY_MANAGEMENT_CAPL_SHIFT 0 /* Capacity Lower: bits 31:0 of the bytes */
#define GPUNVME_CAPACITY_MANAGEMENT_CAPL_MASK 0xffffffffu
#define GPUNVME_CAPACITY_MANAGEMENT_CAPU_DWORD 12
#define GPUNVME_CAPACITY_MANAGEMENT_CAPU_SHIFT 0 /* Capacity Upper: bits 63:32 of the bytes */
#define GPUNVME_CAPACITY_MANAGEMENT_CAPU_MASK 0xffffffffu

/* Lockdown (admin command, data: none): Prohibits or allows a command or feature (Base 2.1 §5.1.15) */
#define GPUNVME_OPC_LOCKDOWN 0x24u
#define GPUNVME_LOCKDOWN_SCP_DWORD 10
#define GPUNVME_LOCKDOWN_SCP_SHIFT 0 /* Scope */
#define GPUNVME_LOCKDOWN_SCP_MASK 0xfu
#define GPUNVME_LOCKDOWN_SCP_ADMIN_OPCODE 0x0u
#define GPUNVME_LOCKDOWN_SCP_FEATURE 0x2u
#define GPUNVME_LOCKDOWN_SCP_MANAGEMENT_OPCODE 0x3u
#define GPUNVME_LOCKDOWN_SCP_PCIE_OPCODE 0x4u
#define GPUNVME_LOCKDOWN_PRHBT_DWORD 10
#define GPUNVME_LOCKDOWN_PRHBT_SHIFT 4 /* Prohibit */
#define GPUNVME_LOCKDOWN_PRHBT_MASK 0x10u
#define GPUNVME_LOCKDOWN_IFC_DWORD 10
#define GPUNVME_LOCKDOWN_IFC_SHIFT 5 /* Interface */
#define GPUNVME_LOCKDOWN_IFC_MASK 0x60u
#define GPUNVME_LOCKDOWN_IFC_ADMIN_QUEUE 0x0u
#define GPUNVME_LOCKDOWN_IFC_ADMIN_QUEUE_AND_ENDPOINT 0x1u
#define GPUNVME_LOCKDOWN_IFC_ENDPOINT 0x2u
#define GPUNVME_LOCKDOWN_OFI_DWORD 10
#define GPUNVME_LOCKDOWN_OFI_SHIFT 8 /* Opcode or Feature Identifier */
#define GPUNVME_LOCKDOWN_OFI_MASK 0xff00u
#define GPUNVME_LOCKDOWN_UIDX_DWORD 14
#define GPUNVME_LOCKDOWN_UIDX_SHIFT 0 /* UUID Index */
#define GPUNVME_LOCKDOWN_UIDX_MASK 0x7fu

/* DoorbellBufferConfig (admin command, data: none): Sets the shadow doorbell buffers (Base 2.1 §5.2.5) */
#define GPUNVME_OPC_DOORBELL_BUFFER_CONFIG 0x7cu

/* FormatNvm (admin command, data: none): Low level format (Base 2.1 §5.1.10) */
#define GPUNVME_OPC_FORMAT_NVM 0x80u
#define GPUNVME_FORMAT_NVM_LBAFL_DWORD 10
#define GPUNVME_FORMAT_NVM_LBAFL_SHIFT 0 /* LBA Format Lower: bits 3:0 of the Format Index */
#define GPUNVME_FORMAT_NVM_LBAFL_MASK 0xfu
#define GPUNVME_FORMAT_NVM_MSET_DWORD 10
#define GPUNVME_FORMAT_NVM_MSET_SHIFT 4 /* Metadata Settings: 1 for extended LBAs */
#define GPUNVME_FORMAT_NVM_MSET_MASK 0x10u
#define GPUNVME_FORMAT_NVM_PI_DWORD 10
#define GPUNVME_FORMAT_NVM_PI_SHIFT 5 /* Protection Information */
#define GPUNVME_FORMAT_NVM_PI_MASK 0xe0u
#define GPUNVME_FORMAT_NVM_PI_DISABLED 0x0u
#define GPUNVME_FORMAT_NVM_PI_TYPE_1 0x1u
#define GPUNVME_FORMAT_NVM_PI_TYPE_2 0x2u
#define GPUNVME_FORMAT_NVM_PI_TYPE_3 0x3u
#define GPUNVME_FORMAT_NVM_PIL_DWORD 10
#define GPUNVME_FORMAT_NVM_PIL_SHIFT 8 /* Protection Information Location: 1 for first */
#define GPUNVME_FORMAT_NVM_PIL_MASK 0x100u
#define GPUNVME_FORMAT_NVM_SES_DWORD 10
#define GPUNVME_FORMAT_NVM_SES_SHIFT 9 /* Secure Erase Settings */
#define GPUNVME_FORMAT_NVM_SES_MASK 0xe00u
#define GPUNVME_FORMAT_NVM_SES_NONE 0x0u
#define GPUNVME_FORMAT_NVM_SES_USER_DATA_ERASE 0x1u
#define GPUNVME_FORMAT_NVM_SES_CRYPTOGRAPHIC_ERASE 0x2u
#define GPUNVME_FORMAT_NVM_LBAFU_DWORD 10
#define GPUNVME_FORMAT_NVM_LBAFU_SHIFT 12 /* LBA Format Upper: bits 5:4 of the Format Index */
#define GPUNVME_FORMAT_NVM_LBAFU_MASK 0x3000u

/* SecuritySend (admin command, data: host-to-controller): Sends data of a security protocol (Base 2.1 §5.1.24) */
#define GPUNVME_OPC_SECURITY_SEND 0x81u
#define GPUNVME_SECURITY_SEND_NSSF_DWORD 10
#define GPUNVME_SECURITY_SEND_NSSF_SHIFT 0 /* NVMe Security Specific Field */
#define GPUNVME_SECURITY_SEND_NSSF_MASK 0xffu
#define GPUNVME_SECURITY_SEND_SPSP0_DWORD 10
#define GPUNVME_SECURITY_SEND_SPSP0_SHIFT 8 /* Security Protocol Specific, bits 7:0 */
#define GPUNVME_SECURITY_SEND_SPSP0_MASK 0xff00u
#define GPUNVME_SECURITY_SEND_SPSP1_DWORD 10
#define GPUNVME_SECURITY_SEND_SPSP1_SHIFT 16 /* Security Protocol Specific, bits 15:8 */
#define GPUNVME_SECURITY_SEND_SPSP1_MASK 0xff0000u
#define GPUNVME_SECURITY_SEND_SECP_DWORD 10
#define GPUNVME_SECURITY_SEND_SECP_SHIFT 24 /* Security Protocol */
#define GPUNVME_SECURITY_SEND_SECP_MASK 0xff000000u
#define GPUNVME_SECURITY_SEND_TL_DWORD 11
#define GPUNVME_SECURITY_SEND_TL_SHIFT 0 /* Transfer Length in bytes */
#define GPUNVME_SECURITY_SEND_TL_MASK 0xffffffffu

/* SecurityReceive (admin command, data: controller-to-host): Returns data of a security protocol (Base 2.1 §5.1.23) */
#define GPUNVME_OPC_SECURITY_RECEIVE 0x82u
#define GPUNVME_SECURITY_RECEIVE_NSSF_DWORD 10
#define GPUNVME_SECURITY_RECEIVE_NSSF_SHIFT 0 /* NVMe Security Specific Field */
#define GPUNVME_SECURITY_RECEIVE_NSSF_MASK 0xffu
#define GPUNVME_SECURITY_RECEIVE_SPSP0_DWORD 10
#define GPUNVME_SECURITY_RECEIVE_SPSP0_SHIFT 8 /* Security Protocol Specific, bits 7:0 */
#define GPUNVME_SECURITY_RECEIVE_SPSP0_MASK 0xff00u
#define GPUNVME_SECURITY_RECEIVE_SPSP1_DWORD 10
#define GPUNVME_SECURITY_RECEIVE_SPSP1_SHIFT 16 /* Security Protocol Specific, bits 15:8 */
#define GPUNVME_SECURITY_RECEIVE_SPSP1_MASK 0xff0000u
#define GPUNVME_SECURITY_RECEIVE_SECP_DWORD 10
#define GPUNVME_SECURITY_RECEIVE_SECP_SHIFT 24 /* Security Protocol */
#define GPUNVME_SECURITY_RECEIVE_SECP_MASK 0xff000000u
#define GPUNVME_SECURITY_RECEIVE_AL_DWORD 11
#define GPUNVME_SECURITY_RECEIVE_AL_SHIFT 0 /* Allocation Length in bytes */
#define GPUNVME_SECURITY_RECEIVE_AL_MASK 0xffffffffu

/* Sanitize (admin command, data: none): Erases all user data of the NVM subsystem (Base 2.1 §5.1.22) */
#define GPUNVME_OPC_SANITIZE 0x84u
#define GPUNVME_SANITIZE_SANACT_DWORD 10
#define GPUNVME_SANITIZE_SANACT_SHIFT 0 /* Sanitize Action */
#define GPUNVME_SANITIZE_SANACT_MASK 0x7u
#define GPUNVME_SANITIZE_SANACT_EXIT_FAILURE_MODE 0x1u
#define GPUNVME_SANITIZE_SANACT_BLOCK_ERASE 0x2u
#define GPUNVME_SANITIZE_SANACT_OVERWRITE 0x3u
#define GPUNVME_SANITIZE_SANACT_CRYPTO_ERASE 0x4u
#define GPUNVME_SANITIZE_SANACT_EXIT_MEDIA_VERIFICATION 0x5u
#define GPUNVME_SANITIZE_AUSE_DWORD 10
#define GPUNVME_SANITIZE_AUSE_SHIFT 3 /* Allow Unrestricted Sanitize Exit */
#define GPUNVME_SANITIZE_AUSE_MASK 0x8u
#define GPUNVME_SANITIZE_OWPASS_DWORD 10
#define GPUNVME_SANITIZE_OWPASS_SHIFT 4 /* Overwrite Pass Count; 0 means 16 passes */
#define GPUNVME_SANITIZE_OWPASS_MASK 0xf0u
#define GPUNVME_SANITIZE_OIPBP_DWORD 10
#define GPUNVME_SANITIZE_OIPBP_SHIFT 8 /* Overwrite Invert Pattern Between Passes */
#define GPUNVME_SANITIZE_OIPBP_MASK 0x100u
#define GPUNVME_SANITIZE_NDAS_DWORD 10
#define GPUNVME_SANITIZE_NDAS_SHIFT 9 /* No-Deallocate After Sanitize */
#define GPUNVME_SANITIZE_NDAS_MASK 0x200u
#define GPUNVME_SANITIZE_EMVS_DWORD 10
#define GPUNVME_SANITIZE_EMVS_SHIFT 10 /* Enter Media Verification State */
#define GPUNVME_SANITIZE_EMVS_MASK 0x400u
#define GPUNVME_SANITIZE_OVRPAT_DWORD 11
#define GPUNVME_SANITIZE_OVRPAT_SHIFT 0 /* Overwrite Pattern */
#define GPUNVME_SANITIZE_OVRPAT_MASK 0xffffffffu

/* GetLbaStatus (admin command, data: controller-to-host): Reports the status of LBAs (NVM 1.2 §4.2.1) */
#define GPUNVME_OPC_GET_LBA_STATUS 0x86u
#define GPUNVME_GET_LBA_STATUS_SLBA_DWORD 10
#define GPUNVME_GET_LBA_STATUS_SLBA_BITS 64 /* Starting LBA */
#define GPUNVME_GET_LBA_STATUS_MNDW_DWORD 12
#define GPUNVME_GET_LBA_STATUS_MNDW_SHIFT 0 /* Maximum Number of Dwords, 0's based */
#define GPUNVME_GET_LBA_STATUS_MNDW_MASK 0xffffffffu
#define GPUNVME_GET_LBA_STATUS_RL_DWORD 13
#define GPUNVME_GET_LBA_STATUS_RL_SHIFT 0 /* Range Length in logical blocks; 0 for up to the end */
#define GPUNVME_GET_LBA_STATUS_RL_MASK 0xffffu
#define GPUNVME_GET_LBA_STATUS_ATYPE_DWORD 13
#define GPUNVME_GET_LBA_STATUS_ATYPE_SHIFT 24 /* Action Type */
#define GPUNVME_GET_LBA_STATUS_ATYPE_MASK 0xff000000u
#define GPUNVME_GET_LBA_STATUS_ATYPE_ALLOCATED 0x2u
#define GPUNVME_GET_LBA_STATUS_ATYPE_SCAN 0x10u
#define GPUNVME_GET_LBA_STATUS_ATYPE_TRACKED 0x11u

/* Flush (nvm command, data: none): Commits data and metadata to non-volatile media (Base 2.1 §7.2) */
#define GPUNVME_OPC_FLUSH 0x0u

/* Write (nvm command, data: host-to-controller): Writes logical blocks (NVM 1.2 §3.3.6) */
#define GPUNVME_OPC_WRITE 0x1u
#define GPUNVME_WRITE_SLBA_DWORD 10
#define GPUNVME_WRITE_SLBA_BITS 64 /* Starting LBA */
#define GPUNVME_WRITE_NLB_DWORD 12
#define GPUNVME_WRITE_NLB_SHIFT 0 /* Number of Logical Blocks, 0's based */
#define GPUNVME_WRITE_NLB_MASK 0xffffu
#define GPUNVME_WRITE_CETYPE_DWORD 12
#define GPUNVME_WRITE_CETYPE_SHIFT 16 /* Command Extension Type */
#define GPUNVME_WRITE_CETYPE_MASK 0xf0000u
#define GPUNVME_WRITE_STC_DWORD 12
#define GPUNVME_WRITE_STC_SHIFT 24 /* Storage Tag Check */
#define GPUNVME_WRITE_STC_MASK 0x1000000u
#define GPUNVME_WRITE_PRINFO_DWORD 12
#define GPUNVME_WRITE_PRINFO_SHIFT 26 /* Protection Information */
#define GPUNVME_WRITE_PRINFO_MASK 0x3c000000u
#define GPUNVME_WRITE_FUA_DWORD 12
#define GPUNVME_WRITE_FUA_SHIFT 30 /* Force Unit Access */
#define GPUNVME_WRITE_FUA_MASK 0x40000000u
#define GPUNVME_WRITE_LR_DWORD 12
#define GPUNVME_WRITE_LR_SHIFT 31 /* Limited Retry */
#define GPUNVME_WRITE_LR_MASK 0x80000000u
#define GPUNVME_WRITE_DSM_DWORD 13
#define GPUNVME_WRITE_DSM_SHIFT 0 /* Dataset Management */
#define GPUNVME_WRITE_DSM_MASK 0xffu
#define GPUNVME_WRITE_DTYPE_DWORD 12
#define GPUNVME_WRITE_DTYPE_SHIFT 20 /* Directive Type */
#define GPUNVME_WRITE_DTYPE_MASK 0xf00000u
#define GPUNVME_WRITE_DSPEC_DWORD 13
#define GPUNVME_WRITE_DSPEC_SHIFT 16 /* Directive Specific */
#define GPUNVME_WRITE_DSPEC_MASK 0xffff0000u
#define GPUNVME_WRITE_LBTU2_DWORD 2
#define GPUNVME_WRITE_LBTU2_SHIFT 0 /* Logical Block Tags Upper, bits 47:32 */
#define GPUNVME_WRITE_LBTU2_MASK 0xffffu
#define GPUNVME_WRITE_LBTU3_DWORD 3
#define GPUNVME_WRITE_LBTU3_SHIFT 0 /* Logical Block Tags Upper, bits 31:00 */
#define GPUNVME_WRITE_LBTU3_MASK 0xffffffffu
#define GPUNVME_WRITE_LBTL_DWORD 14
#define GPUNVME_WRITE_LBTL_SHIFT 0 /* Logical Block Tags Lower */
#define GPUNVME_WRITE_LBTL_MASK 0xffffffffu
#define GPUNVME_WRITE_LBAT_DWORD 15
#define GPUNVME_WRITE_LBAT_SHIFT 0 /* Logical Block Application Tag */
#define GPUNVME_WRITE_LBAT_MASK 0xffffu
#define GPUNVME_WRITE_LBATM_DWORD 15
#define GPUNVME_WRITE_LBATM_SHIFT 16 /* Logical Block Application Tag Mask */
#define GPUNVME_WRITE_LBATM_MASK 0xffff0000u

/* Read (nvm command, data: controller-to-host): Reads logical blocks (NVM 1.2 §3.3.4) */
#define GPUNVME_OPC_READ 0x2u
#define GPUNVME_READ_SLBA_DWORD 10
#define GPUNVME_READ_SLBA_BITS 64 /* Starting LBA */
#define GPUNVME_READ_NLB_DWORD 12
#define GPUNVME_READ_NLB_SHIFT 0 /* Number of Logical Blocks, 0's based */
#define GPUNVME_READ_NLB_MASK 0xffffu
#define GPUNVME_READ_CETYPE_DWORD 12
#define GPUNVME_READ_CETYPE_SHIFT 16 /* Command Extension Type */
#define GPUNVME_READ_CETYPE_MASK 0xf0000u
#define GPUNVME_READ_STC_DWORD 12
#define GPUNVME_READ_STC_SHIFT 24 /* Storage Tag Check */
#define GPUNVME_READ_STC_MASK 0x1000000u
#define GPUNVME_READ_PRINFO_DWORD 12
#define GPUNVME_READ_PRINFO_SHIFT 26 /* Protection Information */
#define GPUNVME_READ_PRINFO_MASK 0x3c000000u
#define GPUNVME_READ_FUA_DWORD 12
#define GPUNVME_READ_FUA_SHIFT 30 /* Force Unit Access */
#define GPUNVME_READ_FUA_MASK 0x40000000u
#define GPUNVME_READ_LR_DWORD 12
#define GPUNVME_READ_LR_SHIFT 31 /* Limited Retry */
#define GPUNVME_READ_LR_MASK 0x80000000u
#define GPUNVME_READ_DSM_DWORD 13
#define GPUNVME_READ_DSM_SHIFT 0 /* Dataset Management */
#define GPUNVME_READ_DSM_MASK 0xffu
#define GPUNVME_READ_ELBTU2_DWORD 2
#define GPUNVME_READ_ELBTU2_SHIFT 0 /* Expected Logical Block Tags Upper, bits 47:32 */
#define GPUNVME_READ_ELBTU2_MASK 0xffffu
#define GPUNVME_READ_ELBTU3_DWORD 3
#define GPUNVME_READ_ELBTU3_SHIFT 0 /* Expected Logical Block Tags Upper, bits 31:00 */
#define GPUNVME_READ_ELBTU3_MASK 0xffffffffu
#define GPUNVME_READ_ELBTL_DWORD 14
#define GPUNVME_READ_ELBTL_SHIFT 0 /* Expected Logical Block Tags Lower */
#define GPUNVME_READ_ELBTL_MASK 0xffffffffu
#define GPUNVME_READ_ELBAT_DWORD 15
#define GPUNVME_READ_ELBAT_SHIFT 0 /* Expected Logical Block Application Tag */
#define GPUNVME_READ_ELBAT_MASK 0xffffu
#define GPUNVME_READ_ELBATM_DWORD 15
#define GPUNVME_READ_ELBATM_SHIFT 16 /* Expected Logical Block Application Tag Mask */
#define GPUNVME_READ_ELBATM_MASK 0xffff0000u

/* WriteUncorrectable (nvm command, data: none): Marks logical blocks as unreadable (NVM 1.2 §3.3.7) */
#define GPUNVME_OPC_WRITE_UNCORRECTABLE 0x4u
#define GPUNVME_WRITE_UNCORRECTABLE_SLBA_DWORD 10
#define GPUNVME_WRITE_UNCORRECTABLE_SLBA_BITS 64 /* Starting LBA */
#define GPUNVME_WRITE_UNCORRECTABLE_NLB_DWORD 12
#define GPUNVME_WRITE_UNCORRECTABLE_NLB_SHIFT 0 /* Number of Logical Blocks, 0's based */
#define GPUNVME_WRITE_UNCORRECTABLE_NLB_MASK 0xffffu
#define GPUNVME_WRITE_UNCORRECTABLE_DSPEC_DWORD 13
#define GPUNVME_WRITE_UNCORRECTABLE_DSPEC_SHIFT 16 /* Directive Specific */
#define GPUNVME_WRITE_UNCORRECTABLE_DSPEC_MASK 0xffff0000u
#define GPUNVME_WRITE_UNCORRECTABLE_DTYPE_DWORD 12
#define GPUNVME_WRITE_UNCORRECTABLE_DTYPE_SHIFT 20 /* Directive Type */
#define GPUNVME_WRITE_UNCORRECTABLE_DTYPE_MASK 0xf00000u

/* Compare (nvm command, data: host-to-controller): Compares logical blocks with data in memory (NVM 1.2 §3.3.1) */
#define GPUNVME_OPC_COMPARE 0x5u
#define GPUNVME_COMPARE_SLBA_DWORD 10
#define GPUNVME_COMPARE_SLBA_BITS 64 /* Starting LBA */
#define GPUNVME_COMPARE_NLB_DWORD 12
#define GPUNVME_COMPARE_NLB_SHIFT 0 /* Number of Logical Blocks, 0's based */
#define GPUNVME_COMPARE_NLB_MASK 0xffffu
#define GPUNVME_COMPARE_CETYPE_DWORD 12
#define GPUNVME_COMPARE_CETYPE_SHIFT 16 /* Command Extension Type */
#define GPUNVME_COMPARE_CETYPE_MASK 0xf0000u
#define GPUNVME_COMPARE_STC_DWORD 12
#define GPUNVME_COMPARE_STC_SHIFT 24 /* Storage Tag Check */
#define GPUNVME_COMPARE_STC_MASK 0x1000000u
#define GPUNVME_COMPARE_PRINFO_DWORD 12
#define GPUNVME_COMPARE_PRINFO_SHIFT 26 /* Protection Information; PRACT is 0 */
#define GPUNVME_COMPARE_PRINFO_MASK 0x3c000000u
#define GPUNVME_COMPARE_FUA_DWORD 12
#define GPUNVME_COMPARE_FUA_SHIFT 30 /* Force Unit Access */
#define GPUNVME_COMPARE_FUA_MASK 0x40000000u
#define GPUNVME_COMPARE_LR_DWORD 12
#define GPUNVME_COMPARE_LR_SHIFT 31 /* Limited Retry */
#define GPUNVME_COMPARE_LR_MASK 0x80000000u
#define GPUNVME_COMPARE_CEV_DWORD 13
#define GPUNVME_COMPARE_CEV_SHIFT 0 /* Command Extension Value */
#define GPUNVME_COMPARE_CEV_MASK 0xffffu
#define GPUNVME_COMPARE_ELBTU2_DWORD 2
#define GPUNVME_COMPARE_ELBTU2_SHIFT 0 /* Expected Logical Block Tags Upper, bits 47:32 */
#define GPUNVME_COMPARE_ELBTU2_MASK 0xffffu
#define GPUNVME_COMPARE_ELBTU3_DWORD 3
#define GPUNVME_COMPARE_ELBTU3_SHIFT 0 /* Expected Logical Block Tags Upper, bits 31:00 */
#define GPUNVME_COMPARE_ELBTU3_MASK 0xffffffffu
#define GPUNVME_COMPARE_ELBTL_DWORD 14
#define GPUNVME_COMPARE_ELBTL_SHIFT 0 /* Expected Logical Block Tags Lower */
#define GPUNVME_COMPARE_ELBTL_MASK 0xffffffffu
#define GPUNVME_COMPARE_ELBAT_DWORD 15
#define GPUNVME_COMPARE_ELBAT_SHIFT 0 /* Expected Logical Block Application Tag */
#define GPUNVME_COMPARE_ELBAT_MASK 0xffffu
#define GPUNVME_COMPARE_ELBATM_DWORD 15
#define GPUNVME_COMPARE_ELBATM_SHIFT 16 /* Expected Logical Block Application Tag Mask */
#define GPUNVME_COMPARE_ELBATM_MASK 0xffff0000u

/* WriteZeroes (nvm command, data: none): Clears logical blocks to zero (NVM 1.2 §3.3.8) */
#define GPUNVME_OPC_WRITE_ZEROES 0x8u
#define GPUNVME_WRITE_ZEROES_SLBA_DWORD 10
#define GPUNVME_WRITE_ZEROES_SLBA_BITS 64 /* Starting LBA */
#define GPUNVME_WRITE_ZEROES_NLB_DWORD 12
#define GPUNVME_WRITE_ZEROES_NLB_SHIFT 0 /* Number of Logical Blocks, 0's based */
#define GPUNVME_WRITE_ZEROES_NLB_MASK 0xffffu
#define GPUNVME_WRITE_ZEROES_DSPEC_DWORD 13
#define GPUNVME_WRITE_ZEROES_DSPEC_SHIFT 16 /* Directive Specific */
#define GPUNVME_WRITE_ZEROES_DSPEC_MASK 0xffff0000u
#define GPUNVME_WRITE_ZEROES_CETYPE_DWORD 12
#define GPUNVME_WRITE_ZEROES_CETYPE_SHIFT 16 /* Command Extension Type */
#define GPUNVME_WRITE_ZEROES_CETYPE_MASK 0xf0000u
#define GPUNVME_WRITE_ZEROES_DTYPE_DWORD 12
#define GPUNVME_WRITE_ZEROES_DTYPE_SHIFT 20 /* Directive Type */
#define GPUNVME_WRITE_ZEROES_DTYPE_MASK 0x700000u
#define GPUNVME_WRITE_ZEROES_NSZ_DWORD 12
#define GPUNVME_WRITE_ZEROES_NSZ_SHIFT 23 /* Namespace Zeroes */
#define GPUNVME_WRITE_ZEROES_NSZ_MASK 0x800000u
#define GPUNVME_WRITE_ZEROES_STC_DWORD 12
#define GPUNVME_WRITE_ZEROES_STC_SHIFT 24 /* Storage Tag Check; 0 */
#define GPUNVME_WRITE_ZEROES_STC_MASK 0x1000000u
#define GPUNVME_WRITE_ZEROES_DEAC_DWORD 12
#define GPUNVME_WRITE_ZEROES_DEAC_SHIFT 25 /* Deallocate */
#define GPUNVME_WRITE_ZEROES_DEAC_MASK 0x2000000u
#define GPUNVME_WRITE_ZEROES_PRINFO_DWORD 12
#define GPUNVME_WRITE_ZEROES_PRINFO_SHIFT 26 /* Protection Information; PRCHK is 0 */
#define GPUNVME_WRITE_ZEROES_PRINFO_MASK 0x3c000000u
#define GPUNVME_WRITE_ZEROES_FUA_DWORD 12
#define GPUNVME_WRITE_ZEROES_FUA_SHIFT 30 /* Force Unit Access */
#define GPUNVME_WRITE_ZEROES_FUA_MASK 0x40000000u
#define GPUNVME_WRITE_ZEROES_LR_DWORD 12
#define GPUNVME_WRITE_ZEROES_LR_SHIFT 31 /* Limited Retry */
#define GPUNVME_WRITE_ZEROES_LR_MASK 0x80000000u
#define GPUNVME_WRITE_ZEROES_CEV_DWORD 13
#define GPUNVME_WRITE_ZEROES_CEV_SHIFT 0 /* Command Extension Value */
#define GPUNVME_WRITE_ZEROES_CEV_MASK 0xffffu
#define GPUNVME_WRITE_ZEROES_LBTU2_DWORD 2
#define GPUNVME_WRITE_ZEROES_LBTU2_SHIFT 0 /* Logical Block Tags Upper, bits 47:32 */
#define GPUNVME_WRITE_ZEROES_LBTU2_MASK 0xffffu
#define GPUNVME_WRITE_ZEROES_LBTU3_DWORD 3
#define GPUNVME_WRITE_ZEROES_LBTU3_SHIFT 0 /* Logical Block Tags Upper, bits 31:00 */
#define GPUNVME_WRITE_ZEROES_LBTU3_MASK 0xffffffffu
#define GPUNVME_WRITE_ZEROES_LBTL_DWORD 14
#define GPUNVME_WRITE_ZEROES_LBTL_SHIFT 0 /* Logical Block Tags Lower */
#define GPUNVME_WRITE_ZEROES_LBTL_MASK 0xffffffffu
#define GPUNVME_WRITE_ZEROES_LBAT_DWORD 15
#define GPUNVME_WRITE_ZEROES_LBAT_SHIFT 0 /* Logical Block Application Tag */
#define GPUNVME_WRITE_ZEROES_LBAT_MASK 0xffffu
#define GPUNVME_WRITE_ZEROES_LBATM_DWORD 15
#define GPUNVME_WRITE_ZEROES_LBATM_SHIFT 16 /* Logical Block Application Tag Mask */
#define GPUNVME_WRITE_ZEROES_LBATM_MASK 0xffff0000u

/* DatasetManagement (nvm command, data: host-to-controller): Attributes of ranges of logical blocks (NVM 1.2 §3.3.3) */
#define GPUNVME_OPC_DATASET_MANAGEMENT 0x9u
#define GPUNVME_DATASET_MANAGEMENT_NR_DWORD 10
#define GPUNVME_DATASET_MANAGEMENT_NR_SHIFT 0 /* Number of Ranges, 0's based */
#define GPUNVME_DATASET_MANAGEMENT_NR_MASK 0xffu
#define GPUNVME_DATASET_MANAGEMENT_IDR_DWORD 11
#define GPUNVME_DATASET_MANAGEMENT_IDR_SHIFT 0 /* Attribute: Integral Dataset for Read */
#define GPUNVME_DATASET_MANAGEMENT_IDR_MASK 0x1u
#define GPUNVME_DATASET_MANAGEMENT_IDW_DWORD 11
#define GPUNVME_DATASET_MANAGEMENT_IDW_SHIFT 1 /* Attribute: Integral Dataset for Write */
#define GPUNVME_DATASET_MANAGEMENT_IDW_MASK 0x2u
#define GPUNVME_DATASET_MANAGEMENT_AD_DWORD 11
#define GPUNVME_DATASET_MANAGEMENT_AD_SHIFT 2 /* Attribute: Deallocate */
#define GPUNVME_DATASET_MANAGEMENT_AD_MASK 0x4u

/* Verify (nvm command, data: none): Checks logical blocks without transferring them (NVM 1.2 §3.3.5) */
#define GPUNVME_OPC_VERIFY 0xcu
#define GPUNVME_VERIFY_SLBA_DWORD 10
#define GPUNVME_VERIFY_SLBA_BITS 64 /* Starting LBA */
#define GPUNVME_VERIFY_NLB_DWORD 12
#define GPUNVME_VERIFY_NLB_SHIFT 0 /* Number of Logical Blocks, 0's based */
#define GPUNVME_VERIFY_NLB_MASK 0xffffu
#define GPUNVME_VERIFY_CETYPE_DWORD 12
#define GPUNVME_VERIFY_CETYPE_SHIFT 16 /* Command Extension Type */
#define GPUNVME_VERIFY_CETYPE_MASK 0xf0000u
#define GPUNVME_VERIFY_STC_DWORD 12
#define GPUNVME_VERIFY_STC_SHIFT 24 /* Storage Tag Check */
#define GPUNVME_VERIFY_STC_MASK 0x1000000u
#define GPUNVME_VERIFY_PRINFO_DWORD 12
#define GPUNVME_VERIFY_PRINFO_SHIFT 26 /* Protection Information; PRACT is 0 */
#define GPUNVME_VERIFY_PRINFO_MASK 0x3c000000u
#define GPUNVME_VERIFY_FUA_DWORD 12
#define GPUNVME_VERIFY_FUA_SHIFT 30 /* Force Unit Access */
#define GPUNVME_VERIFY_FUA_MASK 0x40000000u
#define GPUNVME_VERIFY_LR_DWORD 12
#define GPUNVME_VERIFY_LR_SHIFT 31 /* Limited Retry */
#define GPUNVME_VERIFY_LR_MASK 0x80000000u
#define GPUNVME_VERIFY_CEV_DWORD 13
#define GPUNVME_VERIFY_CEV_SHIFT 0 /* Command Extension Value */
#define GPUNVME_VERIFY_CEV_MASK 0xffffu
#define GPUNVME_VERIFY_ELBTU2_DWORD 2
#define GPUNVME_VERIFY_ELBTU2_SHIFT 0 /* Expected Logical Block Tags Upper, bits 47:32 */
#define GPUNVME_VERIFY_ELBTU2_MASK 0xffffu
#define GPUNVME_VERIFY_ELBTU3_DWORD 3
#define GPUNVME_VERIFY_ELBTU3_SHIFT 0 /* Expected Logical Block Tags Upper, bits 31:00 */
#define GPUNVME_VERIFY_ELBTU3_MASK 0xffffffffu
#define GPUNVME_VERIFY_ELBTL_DWORD 14
#define GPUNVME_VERIFY_ELBTL_SHIFT 0 /* Expected Logical Block Tags Lower */
#define GPUNVME_VERIFY_ELBTL_MASK 0xffffffffu
#define GPUNVME_VERIFY_ELBAT_DWORD 15
#define GPUNVME_VERIFY_ELBAT_SHIFT 0 /* Expected Logical Block Application Tag */
#define GPUNVME_VERIFY_ELBAT_MASK 0xffffu
#define GPUNVME_VERIFY_ELBATM_DWORD 15
#define GPUNVME_VERIFY_ELBATM_SHIFT 16 /* Expected Logical Block Application Tag Mask */
#define GPUNVME_VERIFY_ELBATM_MASK 0xffff0000u

/* ReservationRegister (nvm command, data: host-to-controller): Registers or replaces a reservation key (Base 2.2 §7.6) */
#define GPUNVME_OPC_RESERVATION_REGISTER 0xdu
#define GPUNVME_RESERVATION_REGISTER_IEKEY_DWORD 10
#define GPUNVME_RESERVATION_REGISTER_IEKEY_SHIFT 3 /* Ignore Existing Key */
#define GPUNVME_RESERVATION_REGISTER_IEKEY_MASK 0x8u
#define GPUNVME_RESERVATION_REGISTER_DISNSRS_DWORD 10
#define GPUNVME_RESERVATION_REGISTER_DISNSRS_SHIFT 4 /* Dispersed Namespace Reservation Support */
#define GPUNVME_RESERVATION_REGISTER_DISNSRS_MASK 0x10u
#define GPUNVME_RESERVATION_REGISTER_RREGA_DWORD 10
#define GPUNVME_RESERVATION_REGISTER_RREGA_SHIFT 0 /* Reservation Register Action */
#define GPUNVME_RESERVATION_REGISTER_RREGA_MASK 0x7u
#define GPUNVME_RESERVATION_REGISTER_RREGA_REGISTER 0x0u
#define GPUNVME_RESERVATION_REGISTER_RREGA_UNREGISTER 0x1u
#define GPUNVME_RESERVATION_REGISTER_RREGA_REPLACE 0x2u
#define GPUNVME_RESERVATION_REGISTER_CPTPL_DWORD 10
#define GPUNVME_RESERVATION_REGISTER_CPTPL_SHIFT 30 /* Change Persist Through Power Loss State */
#define GPUNVME_RESERVATION_REGISTER_CPTPL_MASK 0xc0000000u
#define GPUNVME_RESERVATION_REGISTER_CPTPL_NO_CHANGE 0x0u
#define GPUNVME_RESERVATION_REGISTER_CPTPL_CLEAR 0x2u
#define GPUNVME_RESERVATION_REGISTER_CPTPL_SET 0x3u

/* ReservationReport (nvm command, data: controller-to-host): Reports registrants and reservation (Base 2.2 §7.8) */
#define GPUNVME_OPC_RESERVATION_REPORT 0xeu
#define GPUNVME_RESERVATION_REPORT_NUMD_DWORD 10
#define GPUNVME_RESERVATION_REPORT_NUMD_SHIFT 0 /* Number of Dwords, 0's based */
#define GPUNVME_RESERVATION_REPORT_NUMD_MASK 0xffffffffu
#define GPUNVME_RESERVATION_REPORT_EDS_DWORD 11
#define GPUNVME_RESERVATION_REPORT_EDS_SHIFT 0 /* Extended Data Structure */
#define GPUNVME_RESERVATION_REPORT_EDS_MASK 0x1u
#define GPUNVME_RESERVATION_REPORT_DISNSRS_DWORD 11
#define GPUNVME_RESERVATION_REPORT_DISNSRS_SHIFT 1 /* Dispersed Namespace Reservation Support */
#define GPUNVME_RESERVATION_REPORT_DISNSRS_MASK 0x2u

/* ReservationAcquire (nvm command, data: host-to-controller): Acquires or preempts a reservation (Base 2.2 §7.5) */
#define GPUNVME_OPC_RESERVATION_ACQUIRE 0x11u
#define GPUNVME_RESERVATION_ACQUIRE_IEKEY_DWORD 10
#define GPUNVME_RESERVATION_ACQUIRE_IEKEY_SHIFT 3 /* Ignore Existing Key */
#define GPUNVME_RESERVATION_ACQUIRE_IEKEY_MASK 0x8u
#define GPUNVME_RESERVATION_ACQUIRE_DISNSRS_DWORD 10
#define GPUNVME_RESERVATION_ACQUIRE_DISNSRS_SHIFT 4 /* Dispersed Namespace Reservation Support */
#define GPUNVME_RESERVATION_ACQUIRE_DISNSRS_MASK 0x10u
#define GPUNVME_RESERVATION_ACQUIRE_RTYPE_DWORD 10
#define GPUNVME_RESERVATION_ACQUIRE_RTYPE_SHIFT 8 /* Reservation Type */
#define GPUNVME_RESERVATION_ACQUIRE_RTYPE_MASK 0xff00u
#define GPUNVME_RESERVATION_ACQUIRE_RTYPE_WRITE_EXCLUSIVE 0x1u
#define GPUNVME_RESERVATION_ACQUIRE_RTYPE_EXCLUSIVE_ACCESS 0x2u
#define GPUNVME_RESERVATION_ACQUIRE_RTYPE_WRITE_EXCLUSIVE_REGISTRANTS_ONLY 0x3u
#define GPUNVME_RESERVATION_ACQUIRE_RTYPE_EXCLUSIVE_ACCESS_REGISTRANTS_ONLY 0x4u
#define GPUNVME_RESERVATION_ACQUIRE_RTYPE_WRITE_EXCLUSIVE_ALL_REGISTRANTS 0x5u
#define GPUNVME_RESERVATION_ACQUIRE_RTYPE_EXCLUSIVE_ACCESS_ALL_REGISTRANTS 0x6u
#define GPUNVME_RESERVATION_ACQUIRE_RACQA_DWORD 10
#define GPUNVME_RESERVATION_ACQUIRE_RACQA_SHIFT 0 /* Reservation Acquire Action */
#define GPUNVME_RESERVATION_ACQUIRE_RACQA_MASK 0x7u
#define GPUNVME_RESERVATION_ACQUIRE_RACQA_ACQUIRE 0x0u
#define GPUNVME_RESERVATION_ACQUIRE_RACQA_PREEMPT 0x1u
#define GPUNVME_RESERVATION_ACQUIRE_RACQA_PREEMPT_AND_ABORT 0x2u

/* IoManagementReceive (nvm command, data: controller-to-host): Returns information for managing I/O (Base 2.2 §7.3) */
#define GPUNVME_OPC_IO_MANAGEMENT_RECEIVE 0x12u
#define GPUNVME_IO_MANAGEMENT_RECEIVE_MO_DWORD 10
#define GPUNVME_IO_MANAGEMENT_RECEIVE_MO_SHIFT 0 /* Management Operation */
#define GPUNVME_IO_MANAGEMENT_RECEIVE_MO_MASK 0xffu
#define GPUNVME_IO_MANAGEMENT_RECEIVE_MO_NO_ACTION 0x0u
#define GPUNVME_IO_MANAGEMENT_RECEIVE_MO_RECLAIM_UNIT_HANDLE_STATUS 0x1u
#define GPUNVME_IO_MANAGEMENT_RECEIVE_MOS_DWORD 10
#define GPUNVME_IO_MANAGEMENT_RECEIVE_MOS_SHIFT 16 /* Management Operation Specific */
#define GPUNVME_IO_MANAGEMENT_RECEIVE_MOS_MASK 0xffff0000u
#define GPUNVME_IO_MANAGEMENT_RECEIVE_NUMD_DWORD 11
#define GPUNVME_IO_MANAGEMENT_RECEIVE_NUMD_SHIFT 0 /* Number of Dwords, 0's based */
#define GPUNVME_IO_MANAGEMENT_RECEIVE_NUMD_MASK 0xffffffffu

/* ReservationRelease (nvm command, data: host-to-controller): Releases or clears a reservation (Base 2.2 §7.7) */
#define GPUNVME_OPC_RESERVATION_RELEASE 0x15u
#define GPUNVME_RESERVATION_RELEASE_IEKEY_DWORD 10
#define GPUNVME_RESERVATION_RELEASE_IEKEY_SHIFT 3 /* Ignore Existing Key */
#define GPUNVME_RESERVATION_RELEASE_IEKEY_MASK 0x8u
#define GPUNVME_RESERVATION_RELEASE_DISNSRS_DWORD 10
#define GPUNVME_RESERVATION_RELEASE_DISNSRS_SHIFT 4 /* Dispersed Namespace Reservation Support */
#define GPUNVME_RESERVATION_RELEASE_DISNSRS_MASK 0x10u
#define GPUNVME_RESERVATION_RELEASE_RTYPE_DWORD 10
#define GPUNVME_RESERVATION_RELEASE_RTYPE_SHIFT 8 /* Reservation Type */
#define GPUNVME_RESERVATION_RELEASE_RTYPE_MASK 0xff00u
#define GPUNVME_RESERVATION_RELEASE_RTYPE_WRITE_EXCLUSIVE 0x1u
#define GPUNVME_RESERVATION_RELEASE_RTYPE_EXCLUSIVE_ACCESS 0x2u
#define GPUNVME_RESERVATION_RELEASE_RTYPE_WRITE_EXCLUSIVE_REGISTRANTS_ONLY 0x3u
#define GPUNVME_RESERVATION_RELEASE_RTYPE_EXCLUSIVE_ACCESS_REGISTRANTS_ONLY 0x4u
#define GPUNVME_RESERVATION_RELEASE_RTYPE_WRITE_EXCLUSIVE_ALL_REGISTRANTS 0x5u
#define GPUNVME_RESERVATION_RELEASE_RTYPE_EXCLUSIVE_ACCESS_ALL_REGISTRANTS 0x6u
#define GPUNVME_RESERVATION_RELEASE_RRELA_DWORD 10
#define GPUNVME_RESERVATION_RELEASE_RRELA_SHIFT 0 /* Reservation Release Action */
#define GPUNVME_RESERVATION_RELEASE_RRELA_MASK 0x7u
#define GPUNVME_RESERVATION_RELEASE_RRELA_RELEASE 0x0u
#define GPUNVME_RESERVATION_RELEASE_RRELA_CLEAR 0x1u

/* Cancel (nvm command, data: none): Aborts commands of the same submission queue (Base 2.2 §7.1) */
#define GPUNVME_OPC_CANCEL 0x18u
#define GPUNVME_CANCEL_SQID_DWORD 10
#define GPUNVME_CANCEL_SQID_SHIFT 0 /* Submission Queue Identifier */
#define GPUNVME_CANCEL_SQID_MASK 0xffffu
#define GPUNVME_CANCEL_ABORTED_CID_DWORD 10
#define GPUNVME_CANCEL_ABORTED_CID_SHIFT 16 /* Command Identifier */
#define GPUNVME_CANCEL_ABORTED_CID_MASK 0xffff0000u
#define GPUNVME_CANCEL_ACODE_DWORD 11
#define GPUNVME_CANCEL_ACODE_SHIFT 0 /* Action Code */
#define GPUNVME_CANCEL_ACODE_MASK 0x3u
#define GPUNVME_CANCEL_ACODE_SINGLE 0x0u
#define GPUNVME_CANCEL_ACODE_MULTIPLE 0x1u

/* Copy (nvm command, data: host-to-controller): Copies ranges of logical blocks to one (NVM 1.2 §3.3.2) */
#define GPUNVME_OPC_COPY 0x19u
#define GPUNVME_COPY_SDLBA_DWORD 10
#define GPUNVME_COPY_SDLBA_BITS 64 /* Starting Destination LBA */
#define GPUNVME_COPY_NR_DWORD 12
#define GPUNVME_COPY_NR_SHIFT 0 /* Number of Ranges, 0's based */
#define GPUNVME_COPY_NR_MASK 0xffu
#define GPUNVME_COPY_DESFMT_DWORD 12
#define GPUNVME_COPY_DESFMT_SHIFT 8 /* Descriptor Format */
#define GPUNVME_COPY_DESFMT_MASK 0xf00u
#define GPUNVME_COPY_PRINFOR_DWORD 12
#define GPUNVME_COPY_PRINFOR_SHIFT 12 /* Protection Information Read */
#define GPUNVME_COPY_PRINFOR_MASK 0xf000u
#define GPUNVME_COPY_CETYPE_DWORD 12
#define GPUNVME_COPY_CETYPE_SHIFT 16 /* Command Extension Type */
#define GPUNVME_COPY_CETYPE_MASK 0xf0000u
#define GPUNVME_COPY_DTYPE_DWORD 12
#define GPUNVME_COPY_DTYPE_SHIFT 20 /* Directive Type */
#define GPUNVME_COPY_DTYPE_MASK 0xf00000u
#define GPUNVME_COPY_STCW_DWORD 12
#define GPUNVME_COPY_STCW_SHIFT 24 /* Storage Tag Check Write */
#define GPUNVME_COPY_STCW_MASK 0x1000000u
#define GPUNVME_COPY_STCR_DWORD 12
#define GPUNVME_COPY_STCR_SHIFT 25 /* Storage Tag Check Read */
#define GPUNVME_COPY_STCR_MASK 0x2000000u
#define GPUNVME_COPY_PRINFOW_DWORD 12
#define GPUNVME_COPY_PRINFOW_SHIFT 26 /* Protection Information Write */
#define GPUNVME_COPY_PRINFOW_MASK 0x3c000000u
#define GPUNVME_COPY_FUA_DWORD 12
#define GPUNVME_COPY_FUA_SHIFT 30 /* Force Unit Access */
#define GPUNVME_COPY_FUA_MASK 0x40000000u
#define GPUNVME_COPY_LR_DWORD 12
#define GPUNVME_COPY_LR_SHIFT 31 /* Limited Retry */
#define GPUNVME_COPY_LR_MASK 0x80000000u
#define GPUNVME_COPY_CEV_DWORD 13
#define GPUNVME_COPY_CEV_SHIFT 0 /* Command Extension Value */
#define GPUNVME_COPY_CEV_MASK 0xffffu
#define GPUNVME_COPY_DSPEC_DWORD 13
#define GPUNVME_COPY_DSPEC_SHIFT 16 /* Directive Specific */
#define GPUNVME_COPY_DSPEC_MASK 0xffff0000u
#define GPUNVME_COPY_LBTU2_DWORD 2
#define GPUNVME_COPY_LBTU2_SHIFT 0 /* Logical Block Tags Upper, bits 47:32 */
#define GPUNVME_COPY_LBTU2_MASK 0xffffu
#define GPUNVME_COPY_LBTU3_DWORD 3
#define GPUNVME_COPY_LBTU3_SHIFT 0 /* Logical Block Tags Upper, bits 31:00 */
#define GPUNVME_COPY_LBTU3_MASK 0xffffffffu
#define GPUNVME_COPY_LBTL_DWORD 14
#define GPUNVME_COPY_LBTL_SHIFT 0 /* Logical Block Tags Lower */
#define GPUNVME_COPY_LBTL_MASK 0xffffffffu
#define GPUNVME_COPY_LBAT_DWORD 15
#define GPUNVME_COPY_LBAT_SHIFT 0 /* Logical Block Application Tag */
#define GPUNVME_COPY_LBAT_MASK 0xffffu
#define GPUNVME_COPY_LBATM_DWORD 15
#define GPUNVME_COPY_LBATM_SHIFT 16 /* Logical Block Application Tag Mask */
#define GPUNVME_COPY_LBATM_MASK 0xffff0000u

/* IoManagementSend (nvm command, data: host-to-controller): Manages I/O (Base 2.2 §7.4) */
#define GPUNVME_OPC_IO_MANAGEMENT_SEND 0x1du
#define GPUNVME_IO_MANAGEMENT_SEND_MO_DWORD 10
#define GPUNVME_IO_MANAGEMENT_SEND_MO_SHIFT 0 /* Management Operation */
#define GPUNVME_IO_MANAGEMENT_SEND_MO_MASK 0xffu
#define GPUNVME_IO_MANAGEMENT_SEND_MO_NO_ACTION 0x0u
#define GPUNVME_IO_MANAGEMENT_SEND_MO_RECLAIM_UNIT_HANDLE_UPDATE 0x1u
#define GPUNVME_IO_MANAGEMENT_SEND_MOS_DWORD 10
#define GPUNVME_IO_MANAGEMENT_SEND_MOS_SHIFT 16 /* Management Operation Specific */
#define GPUNVME_IO_MANAGEMENT_SEND_MOS_MASK 0xffff0000u

/* ZoneManagementSend (zns command, data: host-to-controller): Changes the state of zones (ZNS 1.1 §3.4.3) */
#define GPUNVME_OPC_ZONE_MANAGEMENT_SEND 0x79u
#define GPUNVME_ZONE_MANAGEMENT_SEND_SLBA_DWORD 10
#define GPUNVME_ZONE_MANAGEMENT_SEND_SLBA_BITS 64 /* Starting LBA of the zone */
#define GPUNVME_ZONE_MANAGEMENT_SEND_ZSA_DWORD 13
#define GPUNVME_ZONE_MANAGEMENT_SEND_ZSA_SHIFT 0 /* Zone Send Action */
#define GPUNVME_ZONE_MANAGEMENT_SEND_ZSA_MASK 0xffu
#define GPUNVME_ZONE_MANAGEMENT_SEND_ZSA_CLOSE 0x1u
#define GPUNVME_ZONE_MANAGEMENT_SEND_ZSA_FINISH 0x2u
#define GPUNVME_ZONE_MANAGEMENT_SEND_ZSA_OPEN 0x3u
#define GPUNVME_ZONE_MANAGEMENT_SEND_ZSA_RESET 0x4u
#define GPUNVME_ZONE_MANAGEMENT_SEND_ZSA_OFFLINE 0x5u
#define GPUNVME_ZONE_MANAGEMENT_SEND_ZSA_SET_ZONE_DESCRIPTOR_EXTENSION 0x10u
#define GPUNVME_ZONE_MANAGEMENT_SEND_ZSA_ZRWA_FLUSH 0x11u
#define GPUNVME_ZONE_MANAGEMENT_SEND_SELECT_ALL_DWORD 13
#define GPUNVME_ZONE_MANAGEMENT_SEND_SELECT_ALL_SHIFT 8 /* Select All; SLBA is ignored */
#define GPUNVME_ZONE_MANAGEMENT_SEND_SELECT_ALL_MASK 0x100u
#define GPUNVME_ZONE_MANAGEMENT_SEND_ZSASO_DWORD 13
#define GPUNVME_ZONE_MANAGEMENT_SEND_ZSASO_SHIFT 9 /* Zone Send Action Specific Option */
#define GPUNVME_ZONE_MANAGEMENT_SEND_ZSASO_MASK 0x200u

/* ZoneManagementReceive (zns command, data: controller-to-host): Reports zones (ZNS 1.1 §3.4.2) */
#define GPUNVME_OPC_ZONE_MANAGEMENT_RECEIVE 0x7au
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_SLBA_DWORD 10
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_SLBA_BITS 64 /* An LBA in the first zone */
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_NUMD_DWORD 12
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_NUMD_SHIFT 0 /* Number of Dwords, 0's based */
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_NUMD_MASK 0xffffffffu
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_ZRA_DWORD 13
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_ZRA_SHIFT 0 /* Zone Receive Action */
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_ZRA_MASK 0xffu
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_ZRA_REPORT_ZONES 0x0u
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_ZRA_EXTENDED_REPORT_ZONES 0x1u
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_ZRASF_DWORD 13
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_ZRASF_SHIFT 8 /* Reporting Options: zone states to report */
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_ZRASF_MASK 0xff00u
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_ZRASF_ALL 0x0u
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_ZRASF_EMPTY 0x1u
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_ZRASF_IMPLICITLY_OPENED 0x2u
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_ZRASF_EXPLICITLY_OPENED 0x3u
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_ZRASF_CLOSED 0x4u
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_ZRASF_FULL 0x5u
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_ZRASF_READ_ONLY 0x6u
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_ZRASF_OFFLINE 0x7u
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_ZRASF_WITH_ATTRIBUTES 0x9u
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_PR_DWORD 13
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_PR_SHIFT 16 /* Partial Report */
#define GPUNVME_ZONE_MANAGEMENT_RECEIVE_PR_MASK 0x10000u

/* ZoneAppend (zns command, data: host-to-controller): Writes at the write pointer of a zone (ZNS 1.1 §3.4.1) */
#define GPUNVME_OPC_ZONE_APPEND 0x7du
#define GPUNVME_ZONE_APPEND_ZSLBA_DWORD 10
#define GPUNVME_ZONE_APPEND_ZSLBA_BITS 64 /* Zone Start Logical Block Address */
#define GPUNVME_ZONE_APPEND_NLB_DWORD 12
#define GPUNVME_ZONE_APPEND_NLB_SHIFT 0 /* Number of Logical Blocks, 0's based */
#define GPUNVME_ZONE_APPEND_NLB_MASK 0xffffu
#define GPUNVME_ZONE_APPEND_DTYPE_DWORD 12
#define GPUNVME_ZONE_APPEND_DTYPE_SHIFT 20 /* Directive Type */
#define GPUNVME_ZONE_APPEND_DTYPE_MASK 0xf00000u
#define GPUNVME_ZONE_APPEND_STC_DWORD 12
#define GPUNVME_ZONE_APPEND_STC_SHIFT 24 /* Storage Tag Check */
#define GPUNVME_ZONE_APPEND_STC_MASK 0x1000000u
#define GPUNVME_ZONE_APPEND_PIREMAP_DWORD 12
#define GPUNVME_ZONE_APPEND_PIREMAP_SHIFT 25 /* Protection Information Remap */
#define GPUNVME_ZONE_APPEND_PIREMAP_MASK 0x2000000u
#define GPUNVME_ZONE_APPEND_PRINFO_DWORD 12
#define GPUNVME_ZONE_APPEND_PRINFO_SHIFT 26 /* Protection Information */
#define GPUNVME_ZONE_APPEND_PRINFO_MASK 0x3c000000u
#define GPUNVME_ZONE_APPEND_FUA_DWORD 12
#define GPUNVME_ZONE_APPEND_FUA_SHIFT 30 /* Force Unit Access */
#define GPUNVME_ZONE_APPEND_FUA_MASK 0x40000000u
#define GPUNVME_ZONE_APPEND_LR_DWORD 12
#define GPUNVME_ZONE_APPEND_LR_SHIFT 31 /* Limited Retry */
#define GPUNVME_ZONE_APPEND_LR_MASK 0x80000000u
#define GPUNVME_ZONE_APPEND_DSPEC_DWORD 13
#define GPUNVME_ZONE_APPEND_DSPEC_SHIFT 16 /* Directive Specific */
#define GPUNVME_ZONE_APPEND_DSPEC_MASK 0xffff0000u
#define GPUNVME_ZONE_APPEND_LBTU2_DWORD 2
#define GPUNVME_ZONE_APPEND_LBTU2_SHIFT 0 /* Logical Block Tags Upper, bits 47:32 */
#define GPUNVME_ZONE_APPEND_LBTU2_MASK 0xffffu
#define GPUNVME_ZONE_APPEND_LBTU3_DWORD 3
#define GPUNVME_ZONE_APPEND_LBTU3_SHIFT 0 /* Logical Block Tags Upper, bits 31:00 */
#define GPUNVME_ZONE_APPEND_LBTU3_MASK 0xffffffffu
#define GPUNVME_ZONE_APPEND_LBTL_DWORD 14
#define GPUNVME_ZONE_APPEND_LBTL_SHIFT 0 /* Logical Block Tags Lower */
#define GPUNVME_ZONE_APPEND_LBTL_MASK 0xffffffffu
#define GPUNVME_ZONE_APPEND_LBAT_DWORD 15
#define GPUNVME_ZONE_APPEND_LBAT_SHIFT 0 /* Logical Block Application Tag */
#define GPUNVME_ZONE_APPEND_LBAT_MASK 0xffffu
#define GPUNVME_ZONE_APPEND_LBATM_DWORD 15
#define GPUNVME_ZONE_APPEND_LBATM_SHIFT 16 /* Logical Block Application Tag Mask */
#define GPUNVME_ZONE_APPEND_LBATM_MASK 0xffff0000u

/* Arbitration (feature): Command arbitration (Base 2.1 §5.1.25.1.1) */
#define GPUNVME_ARBITRATION_FID 0x1u
#define GPUNVME_ARBITRATION_CDW11_AB_SHIFT 0 /* Arbitration Burst: 2 ^ n commands; 7 means no limit */
#define GPUNVME_ARBITRATION_CDW11_AB_MASK 0x7u
#define GPUNVME_ARBITRATION_CDW11_LPW_SHIFT 8 /* Low Priority Weight, 0's based */
#define GPUNVME_ARBITRATION_CDW11_LPW_MASK 0xff00u
#define GPUNVME_ARBITRATION_CDW11_MPW_SHIFT 16 /* Medium Priority Weight, 0's based */
#define GPUNVME_ARBITRATION_CDW11_MPW_MASK 0xff0000u
#define GPUNVME_ARBITRATION_CDW11_HPW_SHIFT 24 /* High Priority Weight, 0's based */
#define GPUNVME_ARBITRATION_CDW11_HPW_MASK 0xff000000u

/* PowerManagement (feature): Power state of the controller (Base 2.1 §5.1.25.1.2) */
#define GPUNVME_POWER_MANAGEMENT_FID 0x2u
#define GPUNVME_POWER_MANAGEMENT_CDW11_PS_SHIFT 0 /* Power State */
#define GPUNVME_POWER_MANAGEMENT_CDW11_PS_MASK 0x1fu
#define GPUNVME_POWER_MANAGEMENT_CDW11_WH_SHIFT 5 /* Workload Hint */
#define GPUNVME_POWER_MANAGEMENT_CDW11_WH_MASK 0xe0u

/* LbaRangeType (feature): Use of ranges of a namespace (NVM 1.2 §4.1.3.1) */
#define GPUNVME_LBA_RANGE_TYPE_FID 0x3u
#define GPUNVME_LBA_RANGE_TYPE_CDW11_NUM_SHIFT 0 /* Number of LBA Ranges, 0's based */
#define GPUNVME_LBA_RANGE_TYPE_CDW11_NUM_MASK 0x3fu

/* TemperatureThreshold (feature): Thresholds of critical temperature warnings (Base 2.3 §5.2.26.1.3.1) */
#define GPUNVME_TEMPERATURE_THRESHOLD_FID 0x4u
#define GPUNVME_TEMPERATURE_THRESHOLD_CDW11_TMPTH_SHIFT 0 /* Temperature Threshold in kelvins */
#define GPUNVME_TEMPERATURE_THRESHOLD_CDW11_TMPTH_MASK 0xffffu
#define GPUNVME_TEMPERATURE_THRESHOLD_CDW11_TMPSEL_SHIFT 16 /* Threshold Temperature Select; 0 for composite */
#define GPUNVME_TEMPERATURE_THRESHOLD_CDW11_TMPSEL_MASK 0xf0000u
#define GPUNVME_TEMPERATURE_THRESHOLD_CDW11_THSEL_SHIFT 20 /* Threshold Type Select */
#define GPUNVME_TEMPERATURE_THRESHOLD_CDW11_THSEL_MASK 0x300000u
#define GPUNVME_TEMPERATURE_THRESHOLD_CDW11_THSEL_OVER 0x0u
#define GPUNVME_TEMPERATURE_THRESHOLD_CDW11_THSEL_UNDER 0x1u
#define GPUNVME_TEMPERATURE_THRESHOLD_CDW11_TMPTHH_SHIFT 22 /* Temperature Threshold Hysteresis in kelvins */
#define GPUNVME_TEMPERATURE_THRESHOLD_CDW11_TMPTHH_MASK 0x1c00000u

/* ErrorRecovery (feature): Error recovery of a namespace (NVM 1.2 §4.1.3.2) */
#define GPUNVME_ERROR_RECOVERY_FID 0x5u
#define GPUNVME_ERROR_RECOVERY_CDW11_TLER_SHIFT 0 /* Time Limited Error Recovery in units of 100 ms */
#define GPUNVME_ERROR_RECOVERY_CDW11_TLER_MASK 0xffffu
#define GPUNVME_ERROR_RECOVERY_CDW11_DULBE_SHIFT 16 /* Deallocated or Unwritten Logical Block Error Enable */
#define GPUNVME_ERROR_RECOVERY_CDW11_DULBE_MASK 0x10000u

/* VolatileWriteCache (feature): State of the write cache (Base 2.1 §5.1.25.1.4) */
#define GPUNVME_VOLATILE_WRITE_CACHE_FID 0x6u
#define GPUNVME_VOLATILE_WRITE_CACHE_CDW11_WCE_SHIFT 0 /* Volatile Write Cache Enable */
#define GPUNVME_VOLATILE_WRITE_CACHE_CDW11_WCE_MASK 0x1u

/* NumberOfQueues (feature): I/O queues requested and allocated (libnvme 1.3 NVME_FEAT_NRQS_NSQR_SHIFT) */
#define GPUNVME_NUMBER_OF_QUEUES_FID 0x7u
#define GPUNVME_NUMBER_OF_QUEUES_CDW11_NSQR_SHIFT 0 /* Number of I/O Submission Queues Requested, 0's based */
#define GPUNVME_NUMBER_OF_QUEUES_CDW11_NSQR_MASK 0xffffu
#define GPUNVME_NUMBER_OF_QUEUES_CDW11_NCQR_SHIFT 16 /* Number of I/O Completion Queues Requested, 0's based */
#define GPUNVME_NUMBER_OF_QUEUES_CDW11_NCQR_MASK 0xffff0000u
#define GPUNVME_NUMBER_OF_QUEUES_DW0_NSQA_SHIFT 0 /* Number of I/O Submission Queues Allocated, 0's based */
#define GPUNVME_NUMBER_OF_QUEUES_DW0_NSQA_MASK 0xffffu
#define GPUNVME_NUMBER_OF_QUEUES_DW0_NCQA_SHIFT 16 /* Number of I/O Completion Queues Allocated, 0's based */
#define GPUNVME_NUMBER_OF_QUEUES_DW0_NCQA_MASK 0xffff0000u

/* InterruptCoalescing (feature): Completions and time per interrupt (libnvme 1.3 NVME_FEAT_IRQC_THR_SHIFT) */
#define GPUNVME_INTERRUPT_COALESCING_FID 0x8u
#define GPUNVME_INTERRUPT_COALESCING_CDW11_THR_SHIFT 0 /* Aggregation Threshold in completions, 0's based */
#define GPUNVME_INTERRUPT_COALESCING_CDW11_THR_MASK 0xffu
#define GPUNVME_INTERRUPT_COALESCING_CDW11_TIME_SHIFT 8 /* Aggregation Time in units of 100 microseconds */
#define GPUNVME_INTERRUPT_COALESCING_CDW11_TIME_MASK 0xff00u

/* InterruptVectorConfiguration (feature): Coalescing of one vector (Base 2.1 §5.1.25.2.3) */
#define GPUNVME_INTERRUPT_VECTOR_CONFIGURATION_FID 0x9u
#define GPUNVME_INTERRUPT_VECTOR_CONFIGURATION_CDW11_IV_SHIFT 0 /* Interrupt Vector */
#define GPUNVME_INTERRUPT_VECTOR_CONFIGURATION_CDW11_IV_MASK 0xffffu
#define GPUNVME_INTERRUPT_VECTOR_CONFIGURATION_CDW11_CD_SHIFT 16 /* Coalescing Disable */
#define GPUNVME_INTERRUPT_VECTOR_CONFIGURATION_CDW11_CD_MASK 0x10000u

/* WriteAtomicityNormal (feature): Use of AWUN and NAWUN (NVM 1.2 §4.1.3.3) */
#define GPUNVME_WRITE_ATOMICITY_NORMAL_FID 0xau
#define GPUNVME_WRITE_ATOMICITY_NORMAL_CDW11_DN_SHIFT 0 /* Disable Normal */
#define GPUNVME_WRITE_ATOMICITY_NORMAL_CDW11_DN_MASK 0x1u

/* AsynchronousEventConfiguration (feature): Enabled asynchronous events (Base 2.1 §5.1.25.1.5) */
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_FID 0xbu
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_SHCW_SHIFT 0 /* SMART / Health Critical Warnings */
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_SHCW_MASK 0xffu
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_NAN_SHIFT 8 /* Attached Namespace Attribute Notices */
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_NAN_MASK 0x100u
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_FAN_SHIFT 9 /* Firmware Activation Notices */
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_FAN_MASK 0x200u
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_TLN_SHIFT 10 /* Telemetry Log Notices */
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_TLN_MASK 0x400u
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_ANACN_SHIFT 11 /* Asymmetric Namespace Access Change Notices */
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_ANACN_MASK 0x800u
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_PLEALCN_SHIFT 12 /* Predictable Latency Event Aggregate Log Change Notices */
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_PLEALCN_MASK 0x1000u
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_LSIAN_SHIFT 13 /* LBA Status Information Alert Notices */
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_LSIAN_MASK 0x2000u
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_EGEALCN_SHIFT 14 /* Endurance Group Event Aggregate Log Change Notices */
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_EGEALCN_MASK 0x4000u
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_NNSSHDN_SHIFT 15 /* Normal NVM Subsystem Shutdown */
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_NNSSHDN_MASK 0x8000u
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_TTHRY_SHIFT 16 /* Temperature Threshold Hysteresis Recovery */
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_TTHRY_MASK 0x10000u
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_RASSN_SHIFT 17 /* Reachability Association */
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_RASSN_MASK 0x20000u
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_RGRP0_SHIFT 18 /* Reachability Group */
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_RGRP0_MASK 0x40000u
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_ANSAN_SHIFT 19 /* Allocated Namespace Attribute Notices */
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_ANSAN_MASK 0x80000u
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_ZDCN_SHIFT 27 /* Zone Descriptor Changed Notices */
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_ZDCN_MASK 0x8000000u
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_PMDRLPCN_SHIFT 28 /* Pull Model DDC Request Log Page Change Notification */
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_PMDRLPCN_MASK 0x10000000u
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_ADLPCN_SHIFT 29 /* AVE Discovery Log Page Change Notification */
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_ADLPCN_MASK 0x20000000u
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_HDLPCN_SHIFT 30 /* Host Discovery Log Page Change Notification */
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_HDLPCN_MASK 0x40000000u
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_DLPCN_SHIFT 31 /* Discovery Log Page Change Notification */
#define GPUNVME_ASYNCHRONOUS_EVENT_CONFIGURATION_CDW11_DLPCN_MASK 0x80000000u

/* AutonomousPowerStateTransition (feature): Transitions to lower power states when idle (Base 2.1 §5.1.25.1.6) */
#define GPUNVME_AUTONOMOUS_POWER_STATE_TRANSITION_FID 0xcu
#define GPUNVME_AUTONOMOUS_POWER_STATE_TRANSITION_CDW11_APSTE_SHIFT 0 /* Autonomous Power State Transition Enable */
#define GPUNVME_AUTONOMOUS_POWER_STATE_TRANSITION_CDW11_APSTE_MASK 0x1u

/* HostMemoryBuffer (feature): Host memory that the controller may use (Base 2.1 §5.1.25.2.4) */
#define GPUNVME_HOST_MEMORY_BUFFER_FID 0xdu
#define GPUNVME_HOST_MEMORY_BUFFER_CDW11_EHM_SHIFT 0 /* Enable Host Memory */
#define GPUNVME_HOST_MEMORY_BUFFER_CDW11_EHM_MASK 0x1u
#define GPUNVME_HOST_MEMORY_BUFFER_CDW11_MR_SHIFT 1 /* Memory Return */
#define GPUNVME_HOST_MEMORY_BUFFER_CDW11_MR_MASK 0x2u
#define GPUNVME_HOST_MEMORY_BUFFER_CDW11_HMNARE_SHIFT 2 /* Host Memory Non-operational Access Restriction Enable */
#define GPUNVME_HOST_MEMORY_BUFFER_CDW11_HMNARE_MASK 0x4u
#define GPUNVME_HOST_MEMORY_BUFFER_CDW12_HSIZE_SHIFT 0 /* Host Memory Buffer Size in memory pages */
#define GPUNVME_HOST_MEMORY_BUFFER_CDW12_HSIZE_MASK 0xffffffffu
#define GPUNVME_HOST_MEMORY_BUFFER_CDW13_HMDLLA_SHIFT 0 /* Host Memory Descriptor List Lower Address */
#define GPUNVME_HOST_MEMORY_BUFFER_CDW13_HMDLLA_MASK 0xffffffffu
#define GPUNVME_HOST_MEMORY_BUFFER_CDW14_HMDLUA_SHIFT 0 /* Host Memory Descriptor List Upper Address */
#define GPUNVME_HOST_MEMORY_BUFFER_CDW14_HMDLUA_MASK 0xffffffffu
#define GPUNVME_HOST_MEMORY_BUFFER_CDW15_HMDLEC_SHIFT 0 /* Host Memory Descriptor List Entry Count */
#define GPUNVME_HOST_MEMORY_BUFFER_CDW15_HMDLEC_MASK 0xffffffffu
#define GPUNVME_HOST_MEMORY_BUFFER_DW0_EHM_SHIFT 0 /* Enable Host Memory */
#define GPUNVME_HOST_MEMORY_BUFFER_DW0_EHM_MASK 0x1u
#define GPUNVME_HOST_MEMORY_BUFFER_DW0_HMNARE_SHIFT 2 /* Host Memory Non-operational Access Restriction Enable */
#define GPUNVME_HOST_MEMORY_BUFFER_DW0_HMNARE_MASK 0x4u
#define GPUNVME_HOST_MEMORY_BUFFER_DW0_HMNAR_SHIFT 3 /* Host Memory Non-operational Access Restricted */
#define GPUNVME_HOST_MEMORY_BUFFER_DW0_HMNAR_MASK 0x8u

/* Timestamp (feature): The controller's clock (Base 2.1 §5.1.25.1.7) */
#define GPUNVME_TIMESTAMP_FID 0xeu

/* KeepAliveTimer (feature): Timeout for host activity (Base 2.1 §5.1.25.1.8) */
#define GPUNVME_KEEP_ALIVE_TIMER_FID 0xfu
#define GPUNVME_KEEP_ALIVE_TIMER_CDW11_KATO_SHIFT 0 /* Keep Alive Timeout in milliseconds; 0 means off */
#define GPUNVME_KEEP_ALIVE_TIMER_CDW11_KATO_MASK 0xffffffffu

/* HostControlledThermalManagement (feature): Throttling temperatures (Base 2.1 §5.1.25.1.9) */
#define GPUNVME_HOST_CONTROLLED_THERMAL_MANAGEMENT_FID 0x10u
#define GPUNVME_HOST_CONTROLLED_THERMAL_MANAGEMENT_CDW11_TMT2_SHIFT 0 /* Thermal Management Temperature 2 in kelvins */
#define GPUNVME_HOST_CONTROLLED_THERMAL_MANAGEMENT_CDW11_TMT2_MASK 0xffffu
#define GPUNVME_HOST_CONTROLLED_THERMAL_MANAGEMENT_CDW11_TMT1_SHIFT 16 /* Thermal Management Temperature 1 in kelvins */
#define GPUNVME_HOST_CONTROLLED_THERMAL_MANAGEMENT_CDW11_TMT1_MASK 0xffff0000u

/* NonOperationalPowerStateConfig (feature): Background work in non-operational power states (Base 2.1 §5.1.25.1.10) */
#define GPUNVME_NON_OPERATIONAL_POWER_STATE_CONFIG_FID 0x11u
#define GPUNVME_NON_OPERATIONAL_POWER_STATE_CONFIG_CDW11_NOPPME_SHIFT 0 /* Non-Operational Power State Permissive Mode Enable */
#define GPUNVME_NON_OPERATIONAL_POWER_STATE_CONFIG_CDW11_NOPPME_MASK 0x1u

/* ReadRecoveryLevelConfig (feature): Read recovery of an NVM Set (Base 2.1 §5.1.25.1.11) */
#define GPUNVME_READ_RECOVERY_LEVEL_CONFIG_FID 0x12u
#define GPUNVME_READ_RECOVERY_LEVEL_CONFIG_CDW11_NVMSETID_SHIFT 0 /* NVM Set Identifier */
#define GPUNVME_READ_RECOVERY_LEVEL_CONFIG_CDW11_NVMSETID_MASK 0xffffu
#define GPUNVME_READ_RECOVERY_LEVEL_CONFIG_CDW12_RRL_SHIFT 0 /* Read Recovery Level */
#define GPUNVME_READ_RECOVERY_LEVEL_CONFIG_CDW12_RRL_MASK 0xfu
#define GPUNVME_READ_RECOVERY_LEVEL_CONFIG_DW0_RRL_SHIFT 0 /* Read Recovery Level */
#define GPUNVME_READ_RECOVERY_LEVEL_CONFIG_DW0_RRL_MASK 0xfu

/* PredictableLatencyModeConfig (feature): Predictable Latency Mode of an NVM Set (libnvme 1.3 NVME_FEAT_PLM_PLME_SHIFT) */
#define GPUNVME_PREDICTABLE_LATENCY_MODE_CONFIG_FID 0x13u
#define GPUNVME_PREDICTABLE_LATENCY_MODE_CONFIG_CDW11_NVMSETID_SHIFT 0 /* NVM Set Identifier */
#define GPUNVME_PREDICTABLE_LATENCY_MODE_CONFIG_CDW11_NVMSETID_MASK 0xffffu
#define GPUNVME_PREDICTABLE_LATENCY_MODE_CONFIG_CDW12_PLME_SHIFT 0 /* Predictable Latency Enable */
#define GPUNVME_PREDICTABLE_LATENCY_MODE_CONFIG_CDW12_PLME_MASK 0x1u
#define GPUNVME_PREDICTABLE_LATENCY_MODE_CONFIG_DW0_PLME_SHIFT 0 /* Predictable Latency Enable */
#define GPUNVME_PREDICTABLE_LATENCY_MODE_CONFIG_DW0_PLME_MASK 0x1u

/* PredictableLatencyModeWindow (feature): Window of an NVM Set (Base 2.1 §5.1.25.1.13) */
#define GPUNVME_PREDICTABLE_LATENCY_MODE_WINDOW_FID 0x14u
#define GPUNVME_PREDICTABLE_LATENCY_MODE_WINDOW_CDW11_NVMSETID_SHIFT 0 /* NVM Set Identifier */
#define GPUNVME_PREDICTABLE_LATENCY_MODE_WINDOW_CDW11_NVMSETID_MASK 0xffffu
#define GPUNVME_PREDICTABLE_LATENCY_MODE_WINDOW_CDW12_WSEL_SHIFT 0 /* Window Select */
#define GPUNVME_PREDICTABLE_LATENCY_MODE_WINDOW_CDW12_WSEL_MASK 0x7u
#define GPUNVME_PREDICTABLE_LATENCY_MODE_WINDOW_CDW12_WSEL_DTWIN 0x1u
#define GPUNVME_PREDICTABLE_LATENCY_MODE_WINDOW_CDW12_WSEL_NDWIN 0x2u
#define GPUNVME_PREDICTABLE_LATENCY_MODE_WINDOW_DW0_WSEL_SHIFT 0 /* Window Select */
#define GPUNVME_PREDICTABLE_LATENCY_MODE_WINDOW_DW0_WSEL_MASK 0x7u
#define GPUNVME_PREDICTABLE_LATENCY_MODE_WINDOW_DW0_WSEL_DTWIN 0x1u
#define GPUNVME_PREDICTABLE_LATENCY_MODE_WINDOW_DW0_WSEL_NDWIN 0x2u

/* LbaStatusInformationAttributes (feature): Intervals of LBA status reports (NVM 1.2 §4.1.3.5) */
#define GPUNVME_LBA_STATUS_INFORMATION_ATTRIBUTES_FID 0x15u
#define GPUNVME_LBA_STATUS_INFORMATION_ATTRIBUTES_CDW11_LSIRI_SHIFT 0 /* LBA Status Information Report Interval in 100 ms */
#define GPUNVME_LBA_STATUS_INFORMATION_ATTRIBUTES_CDW11_LSIRI_MASK 0xffffu
#define GPUNVME_LBA_STATUS_INFORMATION_ATTRIBUTES_CDW11_LSIPI_SHIFT 16 /* LBA Status Information Poll Interval in 100 ms */
#define GPUNVME_LBA_STATUS_INFORMATION_ATTRIBUTES_CDW11_LSIPI_MASK 0xffff0000u

/* HostBehaviorSupport (feature): Behavior supported by the host (Base 2.1 §5.1.25.1.14) */
#define GPUNVME_HOST_BEHAVIOR_SUPPORT_FID 0x16u

/* SanitizeConfig (feature): Response to No-Deallocate (libnvme 1.3 NVME_FEAT_SC_NODRM_SHIFT) */
#define GPUNVME_SANITIZE_CONFIG_FID 0x17u
#define GPUNVME_SANITIZE_CONFIG_CDW11_NODRM_SHIFT 0 /* No-Deallocate Response Mode: 0 for error, 1 for warning */
#define GPUNVME_SANITIZE_CONFIG_CDW11_NODRM_MASK 0x1u

/* EnduranceGroupEventConfiguration (feature): Warnings of a group reported as events (libnvme 1.3 NVME_FEAT_EG_ENDGID_SHIFT) */
#define GPUNVME_ENDURANCE_GROUP_EVENT_CONFIGURATION_FID 0x18u
#define GPUNVME_ENDURANCE_GROUP_EVENT_CONFIGURATION_CDW11_ENDGID_SHIFT 0 /* Endurance Group Identifier */
#define GPUNVME_ENDURANCE_GROUP_EVENT_CONFIGURATION_CDW11_ENDGID_MASK 0xffffu
#define GPUNVME_ENDURANCE_GROUP_EVENT_CONFIGURATION_CDW11_EGCW_SHIFT 16 /* Endurance Group Critical Warnings */
#define GPUNVME_ENDURANCE_GROUP_EVENT_CONFIGURATION_CDW11_EGCW_MASK 0xff0000u

/* IoCommandSetProfile (feature): I/O command sets in use (Base 2.1 §5.1.25.1.17) */
#define GPUNVME_IO_COMMAND_SET_PROFILE_FID 0x19u
#define GPUNVME_IO_COMMAND_SET_PROFILE_CDW11_IOCSCI_SHIFT 0 /* I/O Command Set Combination Index */
#define GPUNVME_IO_COMMAND_SET_PROFILE_CDW11_IOCSCI_MASK 0x1ffu

/* SpinupControl (feature): Initial spinup of rotational media (Base 2.1 §5.1.25.1.18) */
#define GPUNVME_SPINUP_CONTROL_FID 0x1au
#define GPUNVME_SPINUP_CONTROL_CDW11_SCE_SHIFT 0 /* Spinup Control Enable */
#define GPUNVME_SPINUP_CONTROL_CDW11_SCE_MASK 0x1u
#define GPUNVME_SPINUP_CONTROL_DW0_SCS_SHIFT 0 /* Spinup Control State */
#define GPUNVME_SPINUP_CONTROL_DW0_SCS_MASK 0x1u

/* PowerLossSignalingConfig (feature): Behavior before power loss (Base 2.3 §5.2.26.1.19) */
#define GPUNVME_POWER_LOSS_SIGNALING_CONFIG_FID 0x1bu
#define GPUNVME_POWER_LOSS_SIGNALING_CONFIG_CDW11_PLSM_SHIFT 0 /* Power Loss Signaling Mode */
#define GPUNVME_POWER_LOSS_SIGNALING_CONFIG_CDW11_PLSM_MASK 0x3u

/* PerformanceCharacteristics (feature): Performance attributes (NVM 1.2 §4.1.3.7) */
#define GPUNVME_PERFORMANCE_CHARACTERISTICS_FID 0x1cu
#define GPUNVME_PERFORMANCE_CHARACTERISTICS_CDW11_ATTRI_SHIFT 0 /* Attribute Index */
#define GPUNVME_PERFORMANCE_CHARACTERISTICS_CDW11_ATTRI_MASK 0xffu
#define GPUNVME_PERFORMANCE_CHARACTERISTICS_CDW11_ATTRI_STANDARD 0x0u
#define GPUNVME_PERFORMANCE_CHARACTERISTICS_CDW11_ATTRI_IDENTIFIERS 0xc0u
#define GPUNVME_PERFORMANCE_CHARACTERISTICS_CDW11_RVSPA_SHIFT 8 /* Revert Vendor Specific Performance Attribute */
#define GPUNVME_PERFORMANCE_CHARACTERISTICS_CDW11_RVSPA_MASK 0x100u

/* FlexibleDataPlacement (feature): Flexible Data Placement of an Endurance Group (libnvme 1.3 NVME_FEAT_FDP_INDEX_SHIFT) */
#define GPUNVME_FLEXIBLE_DATA_PLACEMENT_FID 0x1du
#define GPUNVME_FLEXIBLE_DATA_PLACEMENT_CDW11_ENDGID_SHIFT 0 /* Endurance Group Identifier */
#define GPUNVME_FLEXIBLE_DATA_PLACEMENT_CDW11_ENDGID_MASK 0xffffu
#define GPUNVME_FLEXIBLE_DATA_PLACEMENT_CDW12_FDPE_SHIFT 0 /* Flexible Data Placement Enable */
#define GPUNVME_FLEXIBLE_DATA_PLACEMENT_CDW12_FDPE_MASK 0x1u
#define GPUNVME_FLEXIBLE_DATA_PLACEMENT_CDW12_FDPCIDX_SHIFT 8 /* Flexible Data Placement Configuration Index */
#define GPUNVME_FLEXIBLE_DATA_PLACEMENT_CDW12_FDPCIDX_MASK 0xff00u
#define GPUNVME_FLEXIBLE_DATA_PLACEMENT_DW0_FDPE_SHIFT 0 /* Flexible Data Placement Enable */
#define GPUNVME_FLEXIBLE_DATA_PLACEMENT_DW0_FDPE_MASK 0x1u
#define GPUNVME_FLEXIBLE_DATA_PLACEMENT_DW0_FDPCIDX_SHIFT 8 /* Flexible Data Placement Configuration Index */
#define GPUNVME_FLEXIBLE_DATA_PLACEMENT_DW0_FDPCIDX_MASK 0xff00u

/* FlexibleDataPlacementEvents (feature): FDP events of a Reclaim Unit Handle (libnvme 1.3 nvme_feat_fdp_events_cdw11) */
#define GPUNVME_FLEXIBLE_DATA_PLACEMENT_EVENTS_FID 0x1eu
#define GPUNVME_FLEXIBLE_DATA_PLACEMENT_EVENTS_CDW11_PHNDL_SHIFT 0 /* Placement Handle */
#define GPUNVME_FLEXIBLE_DATA_PLACEMENT_EVENTS_CDW11_PHNDL_MASK 0xffffu
#define GPUNVME_FLEXIBLE_DATA_PLACEMENT_EVENTS_CDW11_NOET_SHIFT 16 /* Number of FDP Event Types */
#define GPUNVME_FLEXIBLE_DATA_PLACEMENT_EVENTS_CDW11_NOET_MASK 0xff0000u
#define GPUNVME_FLEXIBLE_DATA_PLACEMENT_EVENTS_CDW12_FDPEE_SHIFT 0 /* FDP Event Enable */
#define GPUNVME_FLEXIBLE_DATA_PLACEMENT_EVENTS_CDW12_FDPEE_MASK 0x1u

/* ControllerDataQueue (feature): Read position in a Controller Data Queue (Base 2.1 §5.1.25.1.23) */
#define GPUNVME_CONTROLLER_DATA_QUEUE_FID 0x21u
#define GPUNVME_CONTROLLER_DATA_QUEUE_CDW11_CDQID_SHIFT 0 /* Controller Data Queue Identifier */
#define GPUNVME_CONTROLLER_DATA_QUEUE_CDW11_CDQID_MASK 0xffffu
#define GPUNVME_CONTROLLER_DATA_QUEUE_CDW11_ETPT_SHIFT 31 /* Enable Tail Pointer Trigger */
#define GPUNVME_CONTROLLER_DATA_QUEUE_CDW11_ETPT_MASK 0x80000000u
#define GPUNVME_CONTROLLER_DATA_QUEUE_CDW12_HP_SHIFT 0 /* Head Pointer */
#define GPUNVME_CONTROLLER_DATA_QUEUE_CDW12_HP_MASK 0xffffffffu
#define GPUNVME_CONTROLLER_DATA_QUEUE_CDW13_TPT_SHIFT 0 /* Tail Pointer Trigger */
#define GPUNVME_CONTROLLER_DATA_QUEUE_CDW13_TPT_MASK 0xffffffffu

/* EmbeddedManagementControllerAddress (feature): Management agent of the system (Base 2.1 §5.1.25.1.24) */
#define GPUNVME_EMBEDDED_MANAGEMENT_CONTROLLER_ADDRESS_FID 0x78u

/* HostManagementAgentAddress (feature): Management agent of the host (Base 2.1 §5.1.25.1.25) */
#define GPUNVME_HOST_MANAGEMENT_AGENT_ADDRESS_FID 0x79u

/* EnhancedControllerMetadata (feature): Controller metadata from the host (Base 2.1 §5.1.25.1.26) */
#define GPUNVME_ENHANCED_CONTROLLER_METADATA_FID 0x7du

/* ControllerMetadata (feature): Controller metadata from the host (Base 2.1 §5.1.25.1.26) */
#define GPUNVME_CONTROLLER_METADATA_FID 0x7eu

/* NamespaceMetadata (feature): Namespace metadata from the host (Base 2.1 §5.1.25.1.26.3) */
#define GPUNVME_NAMESPACE_METADATA_FID 0x7fu

/* SoftwareProgressMarker (feature): Progress of booting (Base 2.1 §5.1.25.1.27) */
#define GPUNVME_SOFTWARE_PROGRESS_MARKER_FID 0x80u
#define GPUNVME_SOFTWARE_PROGRESS_MARKER_CDW11_PBSLC_SHIFT 0 /* Pre-boot Software Load Count */
#define GPUNVME_SOFTWARE_PROGRESS_MARKER_CDW11_PBSLC_MASK 0xffu

/* HostIdentifier (feature): Identifier of the host (libnvme 1.3 NVME_FEAT_HOSTID_EXHID_SHIFT) */
#define GPUNVME_HOST_IDENTIFIER_FID 0x81u
#define GPUNVME_HOST_IDENTIFIER_CDW11_EXHID_SHIFT 0 /* Enable Extended Host Identifier: 16 bytes, not 8 */
#define GPUNVME_HOST_IDENTIFIER_CDW11_EXHID_MASK 0x1u

/* ReservationNotificationMask (feature): Masked reservation notifications (libnvme 1.3 nvme_feat_resv_notify_flags) */
#define GPUNVME_RESERVATION_NOTIFICATION_MASK_FID 0x82u
#define GPUNVME_RESERVATION_NOTIFICATION_MASK_CDW11_REGPRE_SHIFT 1 /* Mask Registration Preempted Notification */
#define GPUNVME_RESERVATION_NOTIFICATION_MASK_CDW11_REGPRE_MASK 0x2u
#define GPUNVME_RESERVATION_NOTIFICATION_MASK_CDW11_RESREL_SHIFT 2 /* Mask Reservation Released Notification */
#define GPUNVME_RESERVATION_NOTIFICATION_MASK_CDW11_RESREL_MASK 0x4u
#define GPUNVME_RESERVATION_NOTIFICATION_MASK_CDW11_RESPRE_SHIFT 3 /* Mask Reservation Preempted Notification */
#define GPUNVME_RESERVATION_NOTIFICATION_MASK_CDW11_RESPRE_MASK 0x8u

/* ReservationPersistence (feature): Persistence of reservations through power loss (libnvme 1.3 NVME_FEAT_RP_PTPL_SHIFT) */
#define GPUNVME_RESERVATION_PERSISTENCE_FID 0x83u
#define GPUNVME_RESERVATION_PERSISTENCE_CDW11_PTPL_SHIFT 0 /* Persist Through Power Loss */
#define GPUNVME_RESERVATION_PERSISTENCE_CDW11_PTPL_MASK 0x1u

/* NamespaceWriteProtectionConfig (feature): Write protection of a namespace (libnvme 1.3 nvme_feat_nswpcfg_state) */
#define GPUNVME_NAMESPACE_WRITE_PROTECTION_CONFIG_FID 0x84u
#define GPUNVME_NAMESPACE_WRITE_PROTECTION_CONFIG_CDW11_WPS_SHIFT 0 /* Write Protection State */
#define GPUNVME_NAMESPACE_WRITE_PROTECTION_CONFIG_CDW11_WPS_MASK 0x7u
#define GPUNVME_NAMESPACE_WRITE_PROTECTION_CONFIG_CDW11_WPS_NO_WRITE_PROTECT 0x0u
#define GPUNVME_NAMESPACE_WRITE_PROTECTION_CONFIG_CDW11_WPS_WRITE_PROTECT 0x1u
#define GPUNVME_NAMESPACE_WRITE_PROTECTION_CONFIG_CDW11_WPS_WRITE_PROTECT_UNTIL_POWER_CYCLE 0x2u
#define GPUNVME_NAMESPACE_WRITE_PROTECTION_CONFIG_CDW11_WPS_PERMANENT_WRITE_PROTECT 0x3u

/* BootPartitionWriteProtectionConfig (feature): Write protection of Boot Partitions (Base 2.3 §5.2.26.1.36) */
#define GPUNVME_BOOT_PARTITION_WRITE_PROTECTION_CONFIG_FID 0x85u
#define GPUNVME_BOOT_PARTITION_WRITE_PROTECTION_CONFIG_CDW11_BP0WPS_SHIFT 0 /* Boot Partition 0 Write Protection State */
#define GPUNVME_BOOT_PARTITION_WRITE_PROTECTION_CONFIG_CDW11_BP0WPS_MASK 0x7u
#define GPUNVME_BOOT_PARTITION_WRITE_PROTECTION_CONFIG_CDW11_BP0WPS_CHANGE_NOT_REQUESTED 0x0u
#define GPUNVME_BOOT_PARTITION_WRITE_PROTECTION_CONFIG_CDW11_BP0WPS_WRITE_UNLOCKED 0x1u
#define GPUNVME_BOOT_PARTITION_WRITE_PROTECTION_CONFIG_CDW11_BP0WPS_WRITE_LOCKED 0x2u
#define GPUNVME_BOOT_PARTITION_WRITE_PROTECTION_CONFIG_CDW11_BP0WPS_WRITE_LOCKED_UNTIL_POWER_CYCLE 0x3u
#define GPUNVME_BOOT_PARTITION_WRITE_PROTECTION_CONFIG_CDW11_BP0WPS_CONTROLLED_BY_RPMB 0x4u
#define GPUNVME_BOOT_PARTITION_WRITE_PROTECTION_CONFIG_CDW11_BP1WPS_SHIFT 3 /* Boot Partition 1 Write Protection State */
#define GPUNVME_BOOT_PARTITION_WRITE_PROTECTION_CONFIG_CDW11_BP1WPS_MASK 0x38u
#define GPUNVME_BOOT_PARTITION_WRITE_PROTECTION_CONFIG_CDW11_BP1WPS_CHANGE_NOT_REQUESTED 0x0u
#define GPUNVME_BOOT_PARTITION_WRITE_PROTECTION_CONFIG_CDW11_BP1WPS_WRITE_UNLOCKED 0x1u
#define GPUNVME_BOOT_PARTITION_WRITE_PROTECTION_CONFIG_CDW11_BP1WPS_WRITE_LOCKED 0x2u
#define GPUNVME_BOOT_PARTITION_WRITE_PROTECTION_CONFIG_CDW11_BP1WPS_WRITE_LOCKED_UNTIL_POWER_CYCLE 0x3u
#define GPUNVME_BOOT_PARTITION_WRITE_PROTECTION_CONFIG_CDW11_BP1WPS_CONTROLLED_BY_RPMB 0x4u

/* SQyTDBL: Submission Queue y Tail Doorbell (PCIe 1.2 §3.1.2.1) */
#define GPUNVME_SQY_TDBL_SQT_SHIFT 0 /* Submission Queue Tail */
#define GPUNVME_SQY_TDBL_SQT_MASK 0xffffu

/* CQyHDBL: Completion Queue y Head Doorbell (PCIe 1.2 §3.1.2.2) */
#define GPUNVME_CQY_HDBL_CQH_SHIFT 0 /* Completion Queue Head */
#define GPUNVME_CQY_HDBL_CQH_MASK 0xffffu

/* AbortDw0: Whether the command was aborted immediately (Base 2.1 §5.1.1) */
#define GPUNVME_ABORT_DW0_IANP_SHIFT 0 /* Immediate Abort Not Performed */
#define GPUNVME_ABORT_DW0_IANP_MASK 0x1u

/* AsyncEventDw0: The event, and the log page to read (Base 2.1 §5.1.2.1) */
#define GPUNVME_ASYNC_EVENT_DW0_AET_SHIFT 0 /* Asynchronous Event Type */
#define GPUNVME_ASYNC_EVENT_DW0_AET_MASK 0x7u
#define GPUNVME_ASYNC_EVENT_DW0_AET_ERROR_STATUS 0x0u
#define GPUNVME_ASYNC_EVENT_DW0_AET_SMART_HEALTH_STATUS 0x1u
#define GPUNVME_ASYNC_EVENT_DW0_AET_NOTICE 0x2u
#define GPUNVME_ASYNC_EVENT_DW0_AET_IMMEDIATE 0x3u
#define GPUNVME_ASYNC_EVENT_DW0_AET_ONE_SHOT 0x4u
#define GPUNVME_ASYNC_EVENT_DW0_AET_IO_COMMAND_SPECIFIC 0x6u
#define GPUNVME_ASYNC_EVENT_DW0_AET_VENDOR 0x7u
#define GPUNVME_ASYNC_EVENT_DW0_AEI_SHIFT 8 /* Asynchronous Event Information, by type */
#define GPUNVME_ASYNC_EVENT_DW0_AEI_MASK 0xff00u
#define GPUNVME_ASYNC_EVENT_DW0_LID_SHIFT 16 /* Log Page Identifier: reading it clears the event */
#define GPUNVME_ASYNC_EVENT_DW0_LID_MASK 0xff0000u

/* AsyncEventDw1: Controller Data Queue parameter (Base 2.1 §5.1.2.1) */
#define GPUNVME_ASYNC_EVENT_DW1_CDQID_SHIFT 0 /* Controller Data Queue Identifier */
#define GPUNVME_ASYNC_EVENT_DW1_CDQID_MASK 0xffffu

/* SupportedCapabilitiesDw0: Capabilities of a feature (Base 2.1 §5.1.25.1.26) */
#define GPUNVME_SUPPORTED_CAPABILITIES_DW0_SAVEABLE_SHIFT 0 /* Saveable */
#define GPUNVME_SUPPORTED_CAPABILITIES_DW0_SAVEABLE_MASK 0x1u
#define GPUNVME_SUPPORTED_CAPABILITIES_DW0_NS_SPECIFIC_SHIFT 1 /* NS Specific */
#define GPUNVME_SUPPORTED_CAPABILITIES_DW0_NS_SPECIFIC_MASK 0x2u
#define GPUNVME_SUPPORTED_CAPABILITIES_DW0_CHANGEABLE_SHIFT 2 /* Changeable */
#define GPUNVME_SUPPORTED_CAPABILITIES_DW0_CHANGEABLE_MASK 0x4u

/* TelemetryHostLsp: Capture of new telemetry data (Base 2.1 §5.1.12.1.8) */
#define GPUNVME_TELEMETRY_HOST_LSP_CTHID_SHIFT 0 /* Create Telemetry Host-Initiated Data */
#define GPUNVME_TELEMETRY_HOST_LSP_CTHID_MASK 0x1u
#define GPUNVME_TELEMETRY_HOST_LSP_MCDA_SHIFT 1 /* Maximum Created Data Area */
#define GPUNVME_TELEMETRY_HOST_LSP_MCDA_MASK 0xeu
#define GPUNVME_TELEMETRY_HOST_LSP_MCDA_CONTROLLER_DETERMINES 0x0u
#define GPUNVME_TELEMETRY_HOST_LSP_MCDA_DATA_AREA_1 0x1u
#define GPUNVME_TELEMETRY_HOST_LSP_MCDA_DATA_AREAS_1_TO_2 0x2u
#define GPUNVME_TELEMETRY_HOST_LSP_MCDA_DATA_AREAS_1_TO_3 0x3u
#define GPUNVME_TELEMETRY_HOST_LSP_MCDA_DATA_AREAS_1_TO_4 0x4u

/* AnaLsp: Omission of namespaces (Base 2.3 §5.2.12.1.13) */
#define GPUNVME_ANA_LSP_RGO_SHIFT 0 /* Return Groups Only */
#define GPUNVME_ANA_LSP_RGO_MASK 0x1u

/* PersistentEventLsp: Action on the reporting context (Base 2.3 §5.2.12.1.14) */
#define GPUNVME_PERSISTENT_EVENT_LSP_ACT_SHIFT 0 /* Action */
#define GPUNVME_PERSISTENT_EVENT_LSP_ACT_MASK 0x3u
#define GPUNVME_PERSISTENT_EVENT_LSP_ACT_READ 0x0u
#define GPUNVME_PERSISTENT_EVENT_LSP_ACT_ESTABLISH_CONTEXT_AND_READ 0x1u
#define GPUNVME_PERSISTENT_EVENT_LSP_ACT_RELEASE_CONTEXT 0x2u
#define GPUNVME_PERSISTENT_EVENT_LSP_ACT_ESTABLISH_CONTEXT_AND_READ_HEADER 0x3u

/* LockdownLsp: Contents of the list (Base 2.3 §5.2.12.1.20) */
#define GPUNVME_LOCKDOWN_LSP_SCP_SHIFT 0 /* Scope */
#define GPUNVME_LOCKDOWN_LSP_SCP_MASK 0xfu
#define GPUNVME_LOCKDOWN_LSP_SCP_ADMIN_OPCODE 0x0u
#define GPUNVME_LOCKDOWN_LSP_SCP_FEATURE 0x2u
#define GPUNVME_LOCKDOWN_LSP_SCP_MANAGEMENT_OPCODE 0x3u
#define GPUNVME_LOCKDOWN_LSP_SCP_PCIE_OPCODE 0x4u
#define GPUNVME_LOCKDOWN_LSP_CNTTS_SHIFT 4 /* Contents */
#define GPUNVME_LOCKDOWN_LSP_CNTTS_MASK 0x30u
#define GPUNVME_LOCKDOWN_LSP_CNTTS_CAN_BE_PROHIBITED 0x0u
#define GPUNVME_LOCKDOWN_LSP_CNTTS_PROHIBITED 0x1u
#define GPUNVME_LOCKDOWN_LSP_CNTTS_PROHIBITED_OUT_OF_BAND 0x2u

/* BootPartitionLsp: Selected Boot Partition (Base 2.3 §5.2.12.1.21) */
#define GPUNVME_BOOT_PARTITION_LSP_BPID_SHIFT 0 /* Boot Partition Identifier */
#define GPUNVME_BOOT_PARTITION_LSP_BPID_MASK 0x1u

/* ReachabilityGroupsLsp: Omission of namespaces (Base 2.3 §5.2.12.1.25) */
#define GPUNVME_REACHABILITY_GROUPS_LSP_RGO_SHIFT 0 /* Return Groups Only */
#define GPUNVME_REACHABILITY_GROUPS_LSP_RGO_MASK 0x1u

/* ReachabilityAssociationsLsp: Omission of groups (Base 2.3 §5.2.12.1.26) */
#define GPUNVME_REACHABILITY_ASSOCIATIONS_LSP_RAO_SHIFT 0 /* Return Associations Only */
#define GPUNVME_REACHABILITY_ASSOCIATIONS_LSP_RAO_MASK 0x1u

/* FdpEventsLsp: Selected event types (Base 2.1 §5.1.12.1.31) */
#define GPUNVME_FDP_EVENTS_LSP_FDPET_SHIFT 0 /* FDP Event Type */
#define GPUNVME_FDP_EVENTS_LSP_FDPET_MASK 0x1u
#define GPUNVME_FDP_EVENTS_LSP_FDPET_CONTROLLER_EVENTS 0x0u
#define GPUNVME_FDP_EVENTS_LSP_FDPET_HOST_EVENTS 0x1u

/* TelemetryHostLidsp: Support of Telemetry Host-Initiated (Base 2.1 §5.1.12.1.8.1) */
#define GPUNVME_TELEMETRY_HOST_LIDSP_MCDAS_SHIFT 0 /* Maximum Created Data Area Support */
#define GPUNVME_TELEMETRY_HOST_LIDSP_MCDAS_MASK 0x1u

/* PersistentEventLidsp: Support of the Persistent Event Log (Base 2.1 §5.1.12.1.14.1) */
#define GPUNVME_PERSISTENT_EVENT_LIDSP_ECRH_SHIFT 0 /* Establish Context and Read 512 Bytes of Header Supported */
#define GPUNVME_PERSISTENT_EVENT_LIDSP_ECRH_MASK 0x1u

/* LogPageSupport: Support of one log page (Base 2.1 §5.1.12.1.1) */
#define GPUNVME_LOG_PAGE_SUPPORT_LSUPP_SHIFT 0 /* LID Supported */
#define GPUNVME_LOG_PAGE_SUPPORT_LSUPP_MASK 0x1u
#define GPUNVME_LOG_PAGE_SUPPORT_IOS_SHIFT 1 /* Index Offset Supported */
#define GPUNVME_LOG_PAGE_SUPPORT_IOS_MASK 0x2u
#define GPUNVME_LOG_PAGE_SUPPORT_LIDSP_SHIFT 16 /* LID Specific Parameter */
#define GPUNVME_LOG_PAGE_SUPPORT_LIDSP_MASK 0xffff0000u

/* CommandEffects: Support and effects of a command (Base 2.3 §5.2.12.1.6) */
#define GPUNVME_COMMAND_EFFECTS_CSUPP_SHIFT 0 /* Command Supported */
#define GPUNVME_COMMAND_EFFECTS_CSUPP_MASK 0x1u
#define GPUNVME_COMMAND_EFFECTS_LBCC_SHIFT 1 /* Logical Block Content Change */
#define GPUNVME_COMMAND_EFFECTS_LBCC_MASK 0x2u
#define GPUNVME_COMMAND_EFFECTS_NCC_SHIFT 2 /* Namespace Capability Change */
#define GPUNVME_COMMAND_EFFECTS_NCC_MASK 0x4u
#define GPUNVME_COMMAND_EFFECTS_NIC_SHIFT 3 /* Namespace Inventory Change */
#define GPUNVME_COMMAND_EFFECTS_NIC_MASK 0x8u
#define GPUNVME_COMMAND_EFFECTS_CCC_SHIFT 4 /* Controller Capability Change */
#define GPUNVME_COMMAND_EFFECTS_CCC_MASK 0x10u
#define GPUNVME_COMMAND_EFFECTS_CSER_SHIFT 14 /* Command Submission and Execution Relaxations */
#define GPUNVME_COMMAND_EFFECTS_CSER_MASK 0xc000u
#define GPUNVME_COMMAND_EFFECTS_CSER_NONE 0x0u
#define GPUNVME_COMMAND_EFFECTS_CSER_NO_OTHER_ADMIN_COMMAND 0x1u
#define GPUNVME_COMMAND_EFFECTS_CSE_SHIFT 16 /* Command Submission and Execution */
#define GPUNVME_COMMAND_EFFECTS_CSE_MASK 0x70000u
#define GPUNVME_COMMAND_EFFECTS_CSE_NO_RESTRICTION 0x0u
#define GPUNVME_COMMAND_EFFECTS_CSE_ALONE_ON_NAMESPACE 0x1u
#define GPUNVME_COMMAND_EFFECTS_CSE_ALONE_ON_ANY_NAMESPACE 0x2u
#define GPUNVME_COMMAND_EFFECTS_USS_SHIFT 19 /* UUID Selection Supported */
#define GPUNVME_COMMAND_EFFECTS_USS_MASK 0x80000u
#define GPUNVME_COMMAND_EFFECTS_NSCPE_SHIFT 20 /* Namespace Scope */
#define GPUNVME_COMMAND_EFFECTS_NSCPE_MASK 0x100000u
#define GPUNVME_COMMAND_EFFECTS_CSCPE_SHIFT 21 /* Controller Scope */
#define GPUNVME_COMMAND_EFFECTS_CSCPE_MASK 0x200000u
#define GPUNVME_COMMAND_EFFECTS_NSETSCPE_SHIFT 22 /* NVM Set Scope */
#define GPUNVME_COMMAND_EFFECTS_NSETSCPE_MASK 0x400000u
#define GPUNVME_COMMAND_EFFECTS_EGSCPE_SHIFT 23 /* Endurance Group Scope */
#define GPUNVME_COMMAND_EFFECTS_EGSCPE_MASK 0x800000u
#define GPUNVME_COMMAND_EFFECTS_DSCPE_SHIFT 24 /* Domain Scope */
#define GPUNVME_COMMAND_EFFECTS_DSCPE_MASK 0x1000000u
#define GPUNVME_COMMAND_EFFECTS_NSSCPE_SHIFT 25 /* NVM Subsystem Scope */
#define GPUNVME_COMMAND_EFFECTS_NSSCPE_MASK 0x2000000u

/* FeatureEffects: Support and effects of a feature (Base 2.1 §5.1.12.1.18) */
#define GPUNVME_FEATURE_EFFECTS_FSUPP_SHIFT 0 /* FID Supported */
#define GPUNVME_FEATURE_EFFECTS_FSUPP_MASK 0x1u
#define GPUNVME_FEATURE_EFFECTS_UDCC_SHIFT 1 /* User Data Content Change */
#define GPUNVME_FEATURE_EFFECTS_UDCC_MASK 0x2u
#define GPUNVME_FEATURE_EFFECTS_NCC_SHIFT 2 /* Namespace Capability Change */
#define GPUNVME_FEATURE_EFFECTS_NCC_MASK 0x4u
#define GPUNVME_FEATURE_EFFECTS_NIC_SHIFT 3 /* Namespace Inventory Change */
#define GPUNVME_FEATURE_EFFECTS_NIC_MASK 0x8u
#define GPUNVME_FEATURE_EFFECTS_CCC_SHIFT 4 /* Controller Capability Change */
#define GPUNVME_FEATURE_EFFECTS_CCC_MASK 0x10u
#define GPUNVME_FEATURE_EFFECTS_USS_SHIFT 19 /* UUID Selection Supported */
#define GPUNVME_FEATURE_EFFECTS_USS_MASK 0x80000u
#define GPUNVME_FEATURE_EFFECTS_NSCPE_SHIFT 20 /* Namespace Scope */
#define GPUNVME_FEATURE_EFFECTS_NSCPE_MASK 0x100000u
#define GPUNVME_FEATURE_EFFECTS_CSCPE_SHIFT 21 /* Controller Scope */
#define GPUNVME_FEATURE_EFFECTS_CSCPE_MASK 0x200000u
#define GPUNVME_FEATURE_EFFECTS_NSETSCPE_SHIFT 22 /* NVM Set Scope */
#define GPUNVME_FEATURE_EFFECTS_NSETSCPE_MASK 0x400000u
#define GPUNVME_FEATURE_EFFECTS_EGSCPE_SHIFT 23 /* Endurance Group Scope */
#define GPUNVME_FEATURE_EFFECTS_EGSCPE_MASK 0x800000u
#define GPUNVME_FEATURE_EFFECTS_DSCPE_SHIFT 24 /* Domain Scope */
#define GPUNVME_FEATURE_EFFECTS_DSCPE_MASK 0x1000000u
#define GPUNVME_FEATURE_EFFECTS_NSSCPE_SHIFT 25 /* NVM Subsystem Scope */
#define GPUNVME_FEATURE_EFFECTS_NSSCPE_MASK 0x2000000u
#define GPUNVME_FEATURE_EFFECTS_CDQSCP_SHIFT 26 /* Controller Data Queue */
#define GPUNVME_FEATURE_EFFECTS_CDQSCP_MASK 0x4000000u

/* ManagementCommandEffects: Support and effects of a management command (Base 2.3 §5.2.12.1.19) */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_CSUPP_SHIFT 0 /* Command Supported */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_CSUPP_MASK 0x1u
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_UDCC_SHIFT 1 /* User Data Content Change */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_UDCC_MASK 0x2u
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_NCC_SHIFT 2 /* Namespace Capability Change */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_NCC_MASK 0x4u
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_NIC_SHIFT 3 /* Namespace Inventory Change */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_NIC_MASK 0x8u
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_CCC_SHIFT 4 /* Controller Capability Change */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_CCC_MASK 0x10u
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_NSCPE_SHIFT 20 /* Namespace Scope */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_NSCPE_MASK 0x100000u
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_CSCPE_SHIFT 21 /* Controller Scope */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_CSCPE_MASK 0x200000u
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_NSETSCPE_SHIFT 22 /* NVM Set Scope */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_NSETSCPE_MASK 0x400000u
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_EGSCPE_SHIFT 23 /* Endurance Group Scope */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_EGSCPE_MASK 0x800000u
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_DSCPE_SHIFT 24 /* Domain Scope */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_DSCPE_MASK 0x1000000u
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_NSSCPE_SHIFT 25 /* NVM Subsystem Scope */
#define GPUNVME_MANAGEMENT_COMMAND_EFFECTS_NSSCPE_MASK 0x2000000u

/* FirmwareUpdateDw0: Overlapping firmware updates (Base 2.1 §5.1.8.1) */
#define GPUNVME_FIRMWARE_UPDATE_DW0_ASQFWO_SHIFT 0 /* Admin Submission Queue FW Overlap */
#define GPUNVME_FIRMWARE_UPDATE_DW0_ASQFWO_MASK 0x1u
#define GPUNVME_FIRMWARE_UPDATE_DW0_MEFWO_SHIFT 1 /* Management Endpoint FW Overlap */
#define GPUNVME_FIRMWARE_UPDATE_DW0_MEFWO_MASK 0x2u

/* NamespaceManagementDw0: Identifier of the created namespace (Base 2.1 §5.1.21.1) */
#define GPUNVME_NAMESPACE_MANAGEMENT_DW0_NSID_SHIFT 0 /* Namespace Identifier */
#define GPUNVME_NAMESPACE_MANAGEMENT_DW0_NSID_MASK 0xffffffffu

/* CapacityManagementDw0: Identifier of the created element (Base 2.1 §5.1.3.4) */
#define GPUNVME_CAPACITY_MANAGEMENT_DW0_CELID_SHIFT 0 /* Created Element Identifier */
#define GPUNVME_CAPACITY_MANAGEMENT_DW0_CELID_MASK 0xffffu

/* EnableDirectiveCdw12: Enables or disables a directive (Base 2.2 §8.1.8.2.2) */
#define GPUNVME_ENABLE_DIRECTIVE_CDW12_ENDIR_SHIFT 0 /* Enable Directive */
#define GPUNVME_ENABLE_DIRECTIVE_CDW12_ENDIR_MASK 0x1u
#define GPUNVME_ENABLE_DIRECTIVE_CDW12_DTYPE_SHIFT 8 /* Directive Type */
#define GPUNVME_ENABLE_DIRECTIVE_CDW12_DTYPE_MASK 0xff00u

/* AllocateResourcesCdw12: Requested stream resources (Base 2.2 §8.1.8.3.1) */
#define GPUNVME_ALLOCATE_RESOURCES_CDW12_NSR_SHIFT 0 /* Namespace Streams Requested */
#define GPUNVME_ALLOCATE_RESOURCES_CDW12_NSR_MASK 0xffffu

/* AllocateResourcesDw0: Stream resources allocated (Base 2.2 §8.1.8.3.1) */
#define GPUNVME_ALLOCATE_RESOURCES_DW0_NSA_SHIFT 0 /* Namespace Streams Allocated */
#define GPUNVME_ALLOCATE_RESOURCES_DW0_NSA_MASK 0xffffu

/* PRINFO: Protection Information (NVM 1.2 §2.1.5) */
#define GPUNVME_PRINFO_RTCHK_SHIFT 0 /* Reference Tag Check */
#define GPUNVME_PRINFO_RTCHK_MASK 0x1u
#define GPUNVME_PRINFO_ATCHK_SHIFT 1 /* Application Tag Check */
#define GPUNVME_PRINFO_ATCHK_MASK 0x2u
#define GPUNVME_PRINFO_GRDCHK_SHIFT 2 /* Guard Check */
#define GPUNVME_PRINFO_GRDCHK_MASK 0x4u
#define GPUNVME_PRINFO_PRACT_SHIFT 3 /* Protection Information Action */
#define GPUNVME_PRINFO_PRACT_MASK 0x8u

/* DSM: Dataset Management (NVM 1.2 §3.3.4) */
#define GPUNVME_DSM_AF_SHIFT 0 /* Access Frequency */
#define GPUNVME_DSM_AF_MASK 0xfu
#define GPUNVME_DSM_AF_NONE 0x0u
#define GPUNVME_DSM_AF_TYPICAL 0x1u
#define GPUNVME_DSM_AF_INFREQUENT 0x2u
#define GPUNVME_DSM_AF_FREQUENT_READS 0x3u
#define GPUNVME_DSM_AF_FREQUENT_WRITES 0x4u
#define GPUNVME_DSM_AF_FREQUENT 0x5u
#define GPUNVME_DSM_AF_ONE_TIME 0x6u
#define GPUNVME_DSM_AF_SPECULATIVE 0x7u
#define GPUNVME_DSM_AF_SOON_OVERWRITTEN 0x8u
#define GPUNVME_DSM_AL_SHIFT 4 /* Access Latency */
#define GPUNVME_DSM_AL_MASK 0x30u
#define GPUNVME_DSM_AL_NONE 0x0u
#define GPUNVME_DSM_AL_IDLE 0x1u
#define GPUNVME_DSM_AL_NORMAL 0x2u
#define GPUNVME_DSM_AL_LOW 0x3u
#define GPUNVME_DSM_SEQREQ_SHIFT 6 /* Sequential Request */
#define GPUNVME_DSM_SEQREQ_MASK 0x40u
#define GPUNVME_DSM_INCPRS_SHIFT 7 /* Incompressible */
#define GPUNVME_DSM_INCPRS_MASK 0x80u

/* CommandExtensionCdw13: Command Dword 13 if CETYPE is not 0 (NVM 1.2 §3.3.6) */
#define GPUNVME_COMMAND_EXTENSION_CDW13_CEV_SHIFT 0 /* Command Extension Value */
#define GPUNVME_COMMAND_EXTENSION_CDW13_CEV_MASK 0xffffu
#define GPUNVME_COMMAND_EXTENSION_CDW13_DSPEC_SHIFT 16 /* Directive Specific, for a Write */
#define GPUNVME_COMMAND_EXTENSION_CDW13_DSPEC_MASK 0xffff0000u

/* WriteZeroesDw0: Completion of Write Zeroes (NVM 1.2 §3.3.8.1) */
#define GPUNVME_WRITE_ZEROES_DW0_LBACZ_SHIFT 0 /* LBAs Cleared to Zero, all of the namespace */
#define GPUNVME_WRITE_ZEROES_DW0_LBACZ_MASK 0x1u

/* CancelDw0: Completion of Cancel (Base 2.2 §7.1) */
#define GPUNVME_CANCEL_DW0_CMDA_SHIFT 0 /* Commands Aborted immediately */
#define GPUNVME_CANCEL_DW0_CMDA_MASK 0xffffu
#define GPUNVME_CANCEL_DW0_CEDA_SHIFT 16 /* Commands Eligible for Deferred Abort */
#define GPUNVME_CANCEL_DW0_CEDA_MASK 0xffff0000u

/* ZoneManagementSendDw0: Completion of Zone Management Send (ZNS 1.1 §3.4.3.2) */
#define GPUNVME_ZONE_MANAGEMENT_SEND_DW0_ZCC_SHIFT 0 /* Zone Capacity Changed */
#define GPUNVME_ZONE_MANAGEMENT_SEND_DW0_ZCC_MASK 0x1u

/* SGL_TYPE: SGL Descriptor Types (Base 2.1 §4.3.2) */
#define GPUNVME_SGL_TYPE_DATA_BLOCK 0x0u
#define GPUNVME_SGL_TYPE_BIT_BUCKET 0x1u
#define GPUNVME_SGL_TYPE_SEGMENT 0x2u
#define GPUNVME_SGL_TYPE_LAST_SEGMENT 0x3u
#define GPUNVME_SGL_TYPE_KEYED_DATA_BLOCK 0x4u
#define GPUNVME_SGL_TYPE_TRANSPORT_DATA_BLOCK 0x5u
#define GPUNVME_SGL_TYPE_VENDOR 0xfu

/* SGL_SUB_TYPE: SGL Descriptor Sub Types (Base 2.1 §4.3.2) */
#define GPUNVME_SGL_SUB_TYPE_ADDRESS 0x0u
#define GPUNVME_SGL_SUB_TYPE_OFFSET 0x1u

/* ADMIN_OPCODE: Opcodes of the Admin Command Set (Base 2.1 §5) */
#define GPUNVME_ADMIN_OPCODE_DELETE_IO_SQ 0x0u
#define GPUNVME_ADMIN_OPCODE_CREATE_IO_SQ 0x1u
#define GPUNVME_ADMIN_OPCODE_GET_LOG_PAGE 0x2u
#define GPUNVME_ADMIN_OPCODE_DELETE_IO_CQ 0x4u
#define GPUNVME_ADMIN_OPCODE_CREATE_IO_CQ 0x5u
#define GPUNVME_ADMIN_OPCODE_IDENTIFY 0x6u
#define GPUNVME_ADMIN_OPCODE_ABORT 0x8u
#define GPUNVME_ADMIN_OPCODE_SET_FEATURES 0x9u
#define GPUNVME_ADMIN_OPCODE_GET_FEATURES 0xau
#define GPUNVME_ADMIN_OPCODE_ASYNCHRONOUS_EVENT_REQUEST 0xcu
#define GPUNVME_ADMIN_OPCODE_NAMESPACE_MANAGEMENT 0xdu
#define GPUNVME_ADMIN_OPCODE_FIRMWARE_COMMIT 0x10u
#define GPUNVME_ADMIN_OPCODE_FIRMWARE_IMAGE_DOWNLOAD 0x11u
#define GPUNVME_ADMIN_OPCODE_DEVICE_SELF_TEST 0x14u
#define GPUNVME_ADMIN_OPCODE_NAMESPACE_ATTACHMENT 0x15u
#define GPUNVME_ADMIN_OPCODE_KEEP_ALIVE 0x18u
#define GPUNVME_ADMIN_OPCODE_DIRECTIVE_SEND 0x19u
#define GPUNVME_ADMIN_OPCODE_DIRECTIVE_RECEIVE 0x1au
#define GPUNVME_ADMIN_OPCODE_VIRTUALIZATION_MANAGEMENT 0x1cu
#define GPUNVME_ADMIN_OPCODE_NVME_MI_SEND 0x1du
#define GPUNVME_ADMIN_OPCODE_NVME_MI_RECEIVE 0x1eu
#define GPUNVME_ADMIN_OPCODE_CAPACITY_MANAGEMENT 0x20u
#define GPUNVME_ADMIN_OPCODE_DISCOVERY_INFORMATION_MANAGEMENT 0x21u
#define GPUNVME_ADMIN_OPCODE_FABRIC_ZONING_RECEIVE 0x22u
#define GPUNVME_ADMIN_OPCODE_LOCKDOWN 0x24u
#define GPUNVME_ADMIN_OPCODE_FABRIC_ZONING_LOOKUP 0x25u
#define GPUNVME_ADMIN_OPCODE_CLEAR_EXPORTED_NVM_RESOURCE_CONFIGURATION 0x28u
#define GPUNVME_ADMIN_OPCODE_FABRIC_ZONING_SEND 0x29u
#define GPUNVME_ADMIN_OPCODE_CREATE_EXPORTED_NVM_SUBSYSTEM 0x2au
#define GPUNVME_ADMIN_OPCODE_MANAGE_EXPORTED_NVM_SUBSYSTEM 0x2du
#define GPUNVME_ADMIN_OPCODE_MANAGE_EXPORTED_NAMESPACE 0x31u
#define GPUNVME_ADMIN_OPCODE_MANAGE_EXPORTED_PORT 0x35u
#define GPUNVME_ADMIN_OPCODE_SEND_DISCOVERY_LOG_PAGE 0x39u
#define GPUNVME_ADMIN_OPCODE_TRACK_SEND 0x3du
#define GPUNVME_ADMIN_OPCODE_TRACK_RECEIVE 0x3eu
#define GPUNVME_ADMIN_OPCODE_MIGRATION_SEND 0x41u
#define GPUNVME_ADMIN_OPCODE_MIGRATION_RECEIVE 0x42u
#define GPUNVME_ADMIN_OPCODE_CONTROLLER_DATA_QUEUE 0x45u
#define GPUNVME_ADMIN_OPCODE_DOORBELL_BUFFER_CONFIG 0x7cu
#define GPUNVME_ADMIN_OPCODE_FABRICS 0x7fu
#define GPUNVME_ADMIN_OPCODE_FORMAT_NVM 0x80u
#define GPUNVME_ADMIN_OPCODE_SECURITY_SEND 0x81u
#define GPUNVME_ADMIN_OPCODE_SECURITY_RECEIVE 0x82u
#define GPUNVME_ADMIN_OPCODE_SANITIZE 0x84u
#define GPUNVME_ADMIN_OPCODE_LOAD_PROGRAM 0x85u
#define GPUNVME_ADMIN_OPCODE_GET_LBA_STATUS 0x86u
#define GPUNVME_ADMIN_OPCODE_PROGRAM_ACTIVATION_MANAGEMENT 0x88u
#define GPUNVME_ADMIN_OPCODE_MEMORY_RANGE_SET_MANAGEMENT 0x89u

/* AET: Asynchronous Event Types (Base 2.1 §5.1.2.1) */
#define GPUNVME_AET_ERROR_STATUS 0x0u
#define GPUNVME_AET_SMART_HEALTH_STATUS 0x1u
#define GPUNVME_AET_NOTICE 0x2u
#define GPUNVME_AET_IMMEDIATE 0x3u
#define GPUNVME_AET_ONE_SHOT 0x4u
#define GPUNVME_AET_IO_COMMAND_SPECIFIC 0x6u
#define GPUNVME_AET_VENDOR 0x7u

/* AEI_ERROR: Asynchronous Event Information: Error status (libnvme 1.3 nvme_ae_info_error) */
#define GPUNVME_AEI_ERROR_INVALID_DOORBELL_REGISTER 0x0u
#define GPUNVME_AEI_ERROR_INVALID_DOORBELL_VALUE 0x1u
#define GPUNVME_AEI_ERROR_DIAGNOSTIC_FAILURE 0x2u
#define GPUNVME_AEI_ERROR_PERSISTENT_INTERNAL_ERROR 0x3u
#define GPUNVME_AEI_ERROR_TRANSIENT_INTERNAL_ERROR 0x4u
#define GPUNVME_AEI_ERROR_FIRMWARE_IMAGE_LOAD_ERROR 0x5u

/* AEI_SMART: Asynchronous Event Information: SMART / Health status (libnvme 1.3 nvme_ae_info_smart) */
#define GPUNVME_AEI_SMART_SUBSYSTEM_RELIABILITY 0x0u
#define GPUNVME_AEI_SMART_TEMPERATURE_THRESHOLD 0x1u
#define GPUNVME_AEI_SMART_SPARE_BELOW_THRESHOLD 0x2u

/* AEI_NOTICE: Asynchronous Event Information: Notice (Base 2.1 §5.1.2.1) */
#define GPUNVME_AEI_NOTICE_ATTACHED_NAMESPACE_ATTRIBUTE_CHANGED 0x0u
#define GPUNVME_AEI_NOTICE_FIRMWARE_ACTIVATION_STARTING 0x1u
#define GPUNVME_AEI_NOTICE_TELEMETRY_LOG_CHANGED 0x2u
#define GPUNVME_AEI_NOTICE_ASYMMETRIC_NAMESPACE_ACCESS_CHANGE 0x3u
#define GPUNVME_AEI_NOTICE_PREDICTABLE_LATENCY_EVENT_AGGREGATE_LOG_CHANGE 0x4u
#define GPUNVME_AEI_NOTICE_LBA_STATUS_INFORMATION_ALERT 0x5u
#define GPUNVME_AEI_NOTICE_ENDURANCE_GROUP_EVENT_AGGREGATE_LOG_PAGE_CHANGE 0x6u
#define GPUNVME_AEI_NOTICE_REACHABILITY_GROUP_CHANGE 0x7u
#define GPUNVME_AEI_NOTICE_REACHABILITY_ASSOCIATION_CHANGE 0x8u
#define GPUNVME_AEI_NOTICE_ALLOCATED_NAMESPACE_ATTRIBUTE_CHANGED 0x9u
#define GPUNVME_AEI_NOTICE_ZONE_DESCRIPTOR_CHANGED 0xefu
#define GPUNVME_AEI_NOTICE_DISCOVERY_LOG_PAGE_CHANGE 0xf0u
#define GPUNVME_AEI_NOTICE_HOST_DISCOVERY_LOG_PAGE_CHANGE 0xf1u
#define GPUNVME_AEI_NOTICE_AVE_DISCOVERY_LOG_PAGE_CHANGE 0xf2u
#define GPUNVME_AEI_NOTICE_PULL_MODEL_DDC_REQUEST 0xf3u

/* AEI_IO_COMMAND: Asynchronous Event Information: I/O Command specific status (Base 2.1 §5.1.2.1) */
#define GPUNVME_AEI_IO_COMMAND_RESERVATION_LOG_PAGE_AVAILABLE 0x0u
#define GPUNVME_AEI_IO_COMMAND_SANITIZE_OPERATION_COMPLETED 0x1u
#define GPUNVME_AEI_IO_COMMAND_SANITIZE_OPERATION_COMPLETED_WITH_UNEXPECTED_DEALLOCATION 0x2u
#define GPUNVME_AEI_IO_COMMAND_SANITIZE_OPERATION_ENTERED_MEDIA_VERIFICATION_STATE 0x3u

/* AEI_IMMEDIATE: Asynchronous Event Information: Immediate (Base 2.1 §5.1.2.1) */
#define GPUNVME_AEI_IMMEDIATE_NVM_SUBSYSTEM_NORMAL_SHUTDOWN 0x0u
#define GPUNVME_AEI_IMMEDIATE_TEMPERATURE_THRESHOLD_HYSTERESIS_RECOVERY 0x1u

/* AEI_ONE_SHOT: Asynchronous Event Information: One-Shot (Base 2.1 §5.1.2.1) */
#define GPUNVME_AEI_ONE_SHOT_CONTROLLER_DATA_QUEUE_TAIL_POINTER 0x0u
#define GPUNVME_AEI_ONE_SHOT_CONTROLLER_DATA_QUEUE_FULL_ERROR 0x1u

/* CNS: Data structures that Identify returns (Base 2.1 §5.1.13.1) */
#define GPUNVME_CNS_NAMESPACE 0x0u
#define GPUNVME_CNS_CONTROLLER 0x1u
#define GPUNVME_CNS_ACTIVE_NAMESPACE_LIST 0x2u
#define GPUNVME_CNS_NAMESPACE_DESCRIPTOR_LIST 0x3u
#define GPUNVME_CNS_NVM_SET_LIST 0x4u
#define GPUNVME_CNS_COMMAND_SET_NAMESPACE 0x5u
#define GPUNVME_CNS_COMMAND_SET_CONTROLLER 0x6u
#define GPUNVME_CNS_COMMAND_SET_ACTIVE_NAMESPACE_LIST 0x7u
#define GPUNVME_CNS_INDEPENDENT_NAMESPACE 0x8u
#define GPUNVME_CNS_FORMAT_NAMESPACE 0x9u
#define GPUNVME_CNS_COMMAND_SET_FORMAT_NAMESPACE 0xau
#define GPUNVME_CNS_ALLOCATED_NAMESPACE_LIST 0x10u
#define GPUNVME_CNS_ALLOCATED_NAMESPACE 0x11u
#define GPUNVME_CNS_ATTACHED_CONTROLLER_LIST 0x12u
#define GPUNVME_CNS_CONTROLLER_LIST 0x13u
#define GPUNVME_CNS_PRIMARY_CONTROLLER_CAPABILITIES 0x14u
#define GPUNVME_CNS_SECONDARY_CONTROLLER_LIST 0x15u
#define GPUNVME_CNS_NAMESPACE_GRANULARITY_LIST 0x16u
#define GPUNVME_CNS_UUID_LIST 0x17u
#define GPUNVME_CNS_DOMAIN_LIST 0x18u
#define GPUNVME_CNS_ENDURANCE_GROUP_LIST 0x19u
#define GPUNVME_CNS_COMMAND_SET_ALLOCATED_NAMESPACE_LIST 0x1au
#define GPUNVME_CNS_COMMAND_SET_ALLOCATED_NAMESPACE 0x1bu
#define GPUNVME_CNS_COMMAND_SETS 0x1cu
#define GPUNVME_CNS_UNDERLYING_NAMESPACE_LIST 0x1du
#define GPUNVME_CNS_PORTS_LIST 0x1eu
#define GPUNVME_CNS_INDEPENDENT_ALLOCATED_NAMESPACE 0x1fu
#define GPUNVME_CNS_SUPPORTED_CONTROLLER_STATE_FORMATS 0x20u

/* CSI: Command Set Identifiers (Base 2.1 §5.1.13.1) */
#define GPUNVME_CSI_NVM 0x0u
#define GPUNVME_CSI_KV 0x1u
#define GPUNVME_CSI_ZNS 0x2u
#define GPUNVME_CSI_SLM 0x3u
#define GPUNVME_CSI_CP 0x4u

/* NIDT: Namespace Identifier Types (Base 2.1 §5.1.13.2.3) */
#define GPUNVME_NIDT_EUI64 0x1u
#define GPUNVME_NIDT_NGUID 0x2u
#define GPUNVME_NIDT_UUID 0x3u
#define GPUNVME_NIDT_CSI 0x4u

/* FID: Feature Identifiers (Base 2.1 §5.1.25) */
#define GPUNVME_FID_ARBITRATION 0x1u
#define GPUNVME_FID_POWER_MANAGEMENT 0x2u
#define GPUNVME_FID_LBA_RANGE_TYPE 0x3u
#define GPUNVME_FID_TEMPERATURE_THRESHOLD 0x4u
#define GPUNVME_FID_ERROR_RECOVERY 0x5u
#define GPUNVME_FID_VOLATILE_WRITE_CACHE 0x6u
#define GPUNVME_FID_NUMBER_OF_QUEUES 0x7u
#define GPUNVME_FID_INTERRUPT_COALESCING 0x8u
#define GPUNVME_FID_INTERRUPT_VECTOR_CONFIGURATION 0x9u
#define GPUNVME_FID_WRITE_ATOMICITY_NORMAL 0xau
#define GPUNVME_FID_ASYNCHRONOUS_EVENT_CONFIGURATION 0xbu
#define GPUNVME_FID_AUTONOMOUS_POWER_STATE_TRANSITION 0xcu
#define GPUNVME_FID_HOST_MEMORY_BUFFER 0xdu
#define GPUNVME_FID_TIMESTAMP 0xeu
#define GPUNVME_FID_KEEP_ALIVE_TIMER 0xfu
#define GPUNVME_FID_HOST_CONTROLLED_THERMAL_MANAGEMENT 0x10u
#define GPUNVME_FID_NON_OPERATIONAL_POWER_STATE_CONFIG 0x11u
#define GPUNVME_FID_READ_RECOVERY_LEVEL_CONFIG 0x12u
#define GPUNVME_FID_PREDICTABLE_LATENCY_MODE_CONFIG 0x13u
#define GPUNVME_FID_PREDICTABLE_LATENCY_MODE_WINDOW 0x14u
#define GPUNVME_FID_LBA_STATUS_INFORMATION_ATTRIBUTES 0x15u
#define GPUNVME_FID_HOST_BEHAVIOR_SUPPORT 0x16u
#define GPUNVME_FID_SANITIZE_CONFIG 0x17u
#define GPUNVME_FID_ENDURANCE_GROUP_EVENT_CONFIGURATION 0x18u
#define GPUNVME_FID_IO_COMMAND_SET_PROFILE 0x19u
#define GPUNVME_FID_SPINUP_CONTROL 0x1au
#define GPUNVME_FID_POWER_LOSS_SIGNALING_CONFIG 0x1bu
#define GPUNVME_FID_PERFORMANCE_CHARACTERISTICS 0x1cu
#define GPUNVME_FID_FLEXIBLE_DATA_PLACEMENT 0x1du
#define GPUNVME_FID_FLEXIBLE_DATA_PLACEMENT_EVENTS 0x1eu
#define GPUNVME_FID_NAMESPACE_ADMIN_LABEL 0x1fu
#define GPUNVME_FID_KEY_VALUE_CONFIGURATION 0x20u
#define GPUNVME_FID_CONTROLLER_DATA_QUEUE 0x21u
#define GPUNVME_FID_EMBEDDED_MANAGEMENT_CONTROLLER_ADDRESS 0x78u
#define GPUNVME_FID_HOST_MANAGEMENT_AGENT_ADDRESS 0x79u
#define GPUNVME_FID_ENHANCED_CONTROLLER_METADATA 0x7du
#define GPUNVME_FID_CONTROLLER_METADATA 0x7eu
#define GPUNVME_FID_NAMESPACE_METADATA 0x7fu
#define GPUNVME_FID_SOFTWARE_PROGRESS_MARKER 0x80u
#define GPUNVME_FID_HOST_IDENTIFIER 0x81u
#define GPUNVME_FID_RESERVATION_NOTIFICATION_MASK 0x82u
#define GPUNVME_FID_RESERVATION_PERSISTENCE 0x83u
#define GPUNVME_FID_NAMESPACE_WRITE_PROTECTION_CONFIG 0x84u
#define GPUNVME_FID_BOOT_PARTITION_WRITE_PROTECTION_CONFIG 0x85u

/* CONTROLLER_METADATA_ELEMENT: Element types of controller metadata (libnvme 1.3 nvme_ctrl_metadata_type) */
#define GPUNVME_CONTROLLER_METADATA_ELEMENT_OS_CTRL_NAME 0x1u
#define GPUNVME_CONTROLLER_METADATA_ELEMENT_OS_DRIVER_NAME 0x2u
#define GPUNVME_CONTROLLER_METADATA_ELEMENT_OS_DRIVER_VER 0x3u
#define GPUNVME_CONTROLLER_METADATA_ELEMENT_PRE_BOOT_CTRL_NAME 0x4u
#define GPUNVME_CONTROLLER_METADATA_ELEMENT_PRE_BOOT_DRIVER_NAME 0x5u
#define GPUNVME_CONTROLLER_METADATA_ELEMENT_PRE_BOOT_DRIVER_VER 0x6u
#define GPUNVME_CONTROLLER_METADATA_ELEMENT_SYS_PROC_MODEL 0x7u
#define GPUNVME_CONTROLLER_METADATA_ELEMENT_CHIPSET_DRV_NAME 0x8u
#define GPUNVME_CONTROLLER_METADATA_ELEMENT_CHIPSET_DRV_VERSION 0x9u
#define GPUNVME_CONTROLLER_METADATA_ELEMENT_OS_NAME_AND_BUILD 0xau
#define GPUNVME_CONTROLLER_METADATA_ELEMENT_SYS_PROD_NAME 0xbu
#define GPUNVME_CONTROLLER_METADATA_ELEMENT_FIRMWARE_VERSION 0xcu
#define GPUNVME_CONTROLLER_METADATA_ELEMENT_OS_DRIVER_FILENAME 0xdu
#define GPUNVME_CONTROLLER_METADATA_ELEMENT_DISPLAY_DRV_NAME 0xeu
#define GPUNVME_CONTROLLER_METADATA_ELEMENT_DISPLAY_DRV_VERSION 0xfu
#define GPUNVME_CONTROLLER_METADATA_ELEMENT_HOST_DET_FAIL_REC 0x10u

/* NAMESPACE_METADATA_ELEMENT: Element types of namespace metadata (Base 2.1 §5.1.25.1.26.3) */
#define GPUNVME_NAMESPACE_METADATA_ELEMENT_OS_NS_NAME 0x1u
#define GPUNVME_NAMESPACE_METADATA_ELEMENT_PRE_BOOT_NS_NAME 0x2u
#define GPUNVME_NAMESPACE_METADATA_ELEMENT_OS_NS_QUAL_1 0x3u
#define GPUNVME_NAMESPACE_METADATA_ELEMENT_OS_NS_QUAL_2 0x4u

/* LID: Log Page Identifiers (Base 2.1 §5.1.12) */
#define GPUNVME_LID_SUPPORTED_LOG_PAGES 0x0u
#define GPUNVME_LID_ERROR_INFORMATION 0x1u
#define GPUNVME_LID_SMART_HEALTH_INFORMATION 0x2u
#define GPUNVME_LID_FIRMWARE_SLOT_INFORMATION 0x3u
#define GPUNVME_LID_CHANGED_ATTACHED_NAMESPACE_LIST 0x4u
#define GPUNVME_LID_COMMANDS_SUPPORTED_AND_EFFECTS 0x5u
#define GPUNVME_LID_DEVICE_SELF_TEST 0x6u
#define GPUNVME_LID_TELEMETRY_HOST_INITIATED 0x7u
#define GPUNVME_LID_TELEMETRY_CONTROLLER_INITIATED 0x8u
#define GPUNVME_LID_ENDURANCE_GROUP_INFORMATION 0x9u
#define GPUNVME_LID_PREDICTABLE_LATENCY_PER_NVM_SET 0xau
#define GPUNVME_LID_PREDICTABLE_LATENCY_EVENT_AGGREGATE 0xbu
#define GPUNVME_LID_ASYMMETRIC_NAMESPACE_ACCESS 0xcu
#define GPUNVME_LID_PERSISTENT_EVENT_LOG 0xdu
#define GPUNVME_LID_LBA_STATUS_INFORMATION 0xeu
#define GPUNVME_LID_ENDURANCE_GROUP_EVENT_AGGREGATE 0xfu
#define GPUNVME_LID_MEDIA_UNIT_STATUS 0x10u
#define GPUNVME_LID_SUPPORTED_CAPACITY_CONFIGURATION_LIST 0x11u
#define GPUNVME_LID_FEATURE_IDENTIFIERS_SUPPORTED_AND_EFFECTS 0x12u
#define GPUNVME_LID_NVME_MI_COMMANDS_SUPPORTED_AND_EFFECTS 0x13u
#define GPUNVME_LID_COMMAND_AND_FEATURE_LOCKDOWN 0x14u
#define GPUNVME_LID_BOOT_PARTITION 0x15u
#define GPUNVME_LID_ROTATIONAL_MEDIA_INFORMATION 0x16u
#define GPUNVME_LID_DISPERSED_NAMESPACE_PARTICIPATING_NVM_SUBSYSTEMS 0x17u
#define GPUNVME_LID_MANAGEMENT_ADDRESS_LIST 0x18u
#define GPUNVME_LID_PHYSICAL_INTERFACE_RECEIVER_EYE_OPENING_MEASUREMENT 0x19u
#define GPUNVME_LID_REACHABILITY_GROUPS 0x1au
#define GPUNVME_LID_REACHABILITY_ASSOCIATIONS 0x1bu
#define GPUNVME_LID_CHANGED_ALLOCATED_NAMESPACE_LIST 0x1cu
#define GPUNVME_LID_FDP_CONFIGURATIONS 0x20u
#define GPUNVME_LID_RECLAIM_UNIT_HANDLE_USAGE 0x21u
#define GPUNVME_LID_FDP_STATISTICS 0x22u
#define GPUNVME_LID_FDP_EVENTS 0x23u
#define GPUNVME_LID_DISCOVERY 0x70u
#define GPUNVME_LID_HOST_DISCOVERY 0x71u
#define GPUNVME_LID_AVE_DISCOVERY 0x72u
#define GPUNVME_LID_PULL_MODEL_DDC_REQUEST 0x73u
#define GPUNVME_LID_RESERVATION_NOTIFICATION 0x80u
#define GPUNVME_LID_SANITIZE_STATUS 0x81u
#define GPUNVME_LID_CHANGED_ZONE_LIST 0xbfu

/* ANA_STATE: Asymmetric Namespace Access states (Base 2.1 §5.1.12.1.13) */
#define GPUNVME_ANA_STATE_OPTIMIZED 0x1u
#define GPUNVME_ANA_STATE_NON_OPTIMIZED 0x2u
#define GPUNVME_ANA_STATE_INACCESSIBLE 0x3u
#define GPUNVME_ANA_STATE_PERSISTENT_LOSS 0x4u
#define GPUNVME_ANA_STATE_CHANGE 0xfu

/* PERSISTENT_EVENT: Persistent Event Log Event Types (Base 2.1 §5.1.12.1.14.2) */
#define GPUNVME_PERSISTENT_EVENT_SMART_HEALTH_LOG_SNAPSHOT 0x1u
#define GPUNVME_PERSISTENT_EVENT_FIRMWARE_COMMIT 0x2u
#define GPUNVME_PERSISTENT_EVENT_TIMESTAMP_CHANGE 0x3u
#define GPUNVME_PERSISTENT_EVENT_POWER_ON_OR_RESET 0x4u
#define GPUNVME_PERSISTENT_EVENT_NVM_SUBSYSTEM_HARDWARE_ERROR 0x5u
#define GPUNVME_PERSISTENT_EVENT_CHANGE_NAMESPACE 0x6u
#define GPUNVME_PERSISTENT_EVENT_FORMAT_NVM_START 0x7u
#define GPUNVME_PERSISTENT_EVENT_FORMAT_NVM_COMPLETION 0x8u
#define GPUNVME_PERSISTENT_EVENT_SANITIZE_START 0x9u
#define GPUNVME_PERSISTENT_EVENT_SANITIZE_COMPLETION 0xau
#define GPUNVME_PERSISTENT_EVENT_SET_FEATURE 0xbu
#define GPUNVME_PERSISTENT_EVENT_TELEMETRY_LOG_CREATED 0xcu
#define GPUNVME_PERSISTENT_EVENT_THERMAL_EXCURSION 0xdu
#define GPUNVME_PERSISTENT_EVENT_SANITIZE_MEDIA_VERIFICATION 0xeu
#define GPUNVME_PERSISTENT_EVENT_VENDOR_SPECIFIC 0xdeu
#define GPUNVME_PERSISTENT_EVENT_TCG_DEFINED 0xdfu

/* DIRECTIVE_TYPE: Directive Types (Base 2.2 §8.1.8) */
#define GPUNVME_DIRECTIVE_TYPE_IDENTIFY 0x0u
#define GPUNVME_DIRECTIVE_TYPE_STREAMS 0x1u
#define GPUNVME_DIRECTIVE_TYPE_DATA_PLACEMENT 0x2u
#define GPUNVME_DIRECTIVE_TYPE_VENDOR_SPECIFIC 0xfu

/* IDENTIFY_DIRECTIVE_SEND: Identify Directive: operations of Directive Send (Base 2.2 §8.1.8.2) */
#define GPUNVME_IDENTIFY_DIRECTIVE_SEND_ENABLE_DIRECTIVE 0x1u

/* STREAMS_DIRECTIVE_SEND: Streams Directive: operations of Directive Send (Base 2.2 §8.1.8.3) */
#define GPUNVME_STREAMS_DIRECTIVE_SEND_RELEASE_IDENTIFIER 0x1u
#define GPUNVME_STREAMS_DIRECTIVE_SEND_RELEASE_RESOURCES 0x2u

/* NVM_OPCODE: Opcodes of the NVM Command Set (NVM 1.2 §3.3) */
#define GPUNVME_NVM_OPCODE_FLUSH 0x0u
#define GPUNVME_NVM_OPCODE_WRITE 0x1u
#define GPUNVME_NVM_OPCODE_READ 0x2u
#define GPUNVME_NVM_OPCODE_WRITE_UNCORRECTABLE 0x4u
#define GPUNVME_NVM_OPCODE_COMPARE 0x5u
#define GPUNVME_NVM_OPCODE_WRITE_ZEROES 0x8u
#define GPUNVME_NVM_OPCODE_DATASET_MANAGEMENT 0x9u
#define GPUNVME_NVM_OPCODE_VERIFY 0xcu
#define GPUNVME_NVM_OPCODE_RESERVATION_REGISTER 0xdu
#define GPUNVME_NVM_OPCODE_RESERVATION_REPORT 0xeu
#define GPUNVME_NVM_OPCODE_RESERVATION_ACQUIRE 0x11u
#define GPUNVME_NVM_OPCODE_IO_MANAGEMENT_RECEIVE 0x12u
#define GPUNVME_NVM_OPCODE_RESERVATION_RELEASE 0x15u
#define GPUNVME_NVM_OPCODE_CANCEL 0x18u
#define GPUNVME_NVM_OPCODE_COPY 0x19u
#define GPUNVME_NVM_OPCODE_IO_MANAGEMENT_SEND 0x1du

/* RESERVATION_TYPE: Reservation Types (Base 2.2 §7.5) */
#define GPUNVME_RESERVATION_TYPE_WRITE_EXCLUSIVE 0x1u
#define GPUNVME_RESERVATION_TYPE_EXCLUSIVE_ACCESS 0x2u
#define GPUNVME_RESERVATION_TYPE_WRITE_EXCLUSIVE_REGISTRANTS_ONLY 0x3u
#define GPUNVME_RESERVATION_TYPE_EXCLUSIVE_ACCESS_REGISTRANTS_ONLY 0x4u
#define GPUNVME_RESERVATION_TYPE_WRITE_EXCLUSIVE_ALL_REGISTRANTS 0x5u
#define GPUNVME_RESERVATION_TYPE_EXCLUSIVE_ACCESS_ALL_REGISTRANTS 0x6u

/* ZNS_OPCODE: Opcodes of the Zoned Namespace Command Set (ZNS 1.1 §3.2) */
#define GPUNVME_ZNS_OPCODE_ZONE_MANAGEMENT_SEND 0x79u
#define GPUNVME_ZNS_OPCODE_ZONE_MANAGEMENT_RECEIVE 0x7au
#define GPUNVME_ZNS_OPCODE_ZONE_APPEND 0x7du

/* ZONE_TYPE: Types of a zone (ZNS 1.1 §3.4.2.2.3) */
#define GPUNVME_ZONE_TYPE_SEQUENTIAL_WRITE_REQUIRED 0x2u

/* ZONE_STATE: States of a zone (ZNS 1.1 §3.4.2.2.3) */
#define GPUNVME_ZONE_STATE_EMPTY 0x1u
#define GPUNVME_ZONE_STATE_IMPLICITLY_OPENED 0x2u
#define GPUNVME_ZONE_STATE_EXPLICITLY_OPENED 0x3u
#define GPUNVME_ZONE_STATE_CLOSED 0x4u
#define GPUNVME_ZONE_STATE_READ_ONLY 0xdu
#define GPUNVME_ZONE_STATE_FULL 0xeu
#define GPUNVME_ZONE_STATE_OFFLINE 0xfu

/* PCI_CAPABILITY: PCI capability IDs (Linux 6.1 linux/pci_regs.h PCI_CAP_ID) */
#define GPUNVME_PCI_CAPABILITY_POWER_MANAGEMENT 0x1u
#define GPUNVME_PCI_CAPABILITY_VITAL_PRODUCT_DATA 0x3u
#define GPUNVME_PCI_CAPABILITY_MSI 0x5u
#define GPUNVME_PCI_CAPABILITY_VENDOR_SPECIFIC 0x9u
#define GPUNVME_PCI_CAPABILITY_PCI_EXPRESS 0x10u
#define GPUNVME_PCI_CAPABILITY_MSI_X 0x11u
#define GPUNVME_PCI_CAPABILITY_ENHANCED_ALLOCATION 0x14u

/* PCI_EXTENDED_CAPABILITY: PCI Express extended capability IDs (Linux 6.1 linux/pci_regs.h PCI_EXT_CAP_ID) */
#define GPUNVME_PCI_EXTENDED_CAPABILITY_ADVANCED_ERROR_REPORTING 0x1u
#define GPUNVME_PCI_EXTENDED_CAPABILITY_VIRTUAL_CHANNEL 0x2u
#define GPUNVME_PCI_EXTENDED_CAPABILITY_DEVICE_SERIAL_NUMBER 0x3u
#define GPUNVME_PCI_EXTENDED_CAPABILITY_POWER_BUDGETING 0x4u
#define GPUNVME_PCI_EXTENDED_CAPABILITY_VENDOR_SPECIFIC 0xbu
#define GPUNVME_PCI_EXTENDED_CAPABILITY_ACCESS_CONTROL_SERVICES 0xdu
#define GPUNVME_PCI_EXTENDED_CAPABILITY_ALTERNATIVE_ROUTING_ID 0xeu
#define GPUNVME_PCI_EXTENDED_CAPABILITY_ADDRESS_TRANSLATION_SERVICES 0xfu
#define GPUNVME_PCI_EXTENDED_CAPABILITY_SINGLE_ROOT_IO_VIRTUALIZATION 0x10u
#define GPUNVME_PCI_EXTENDED_CAPABILITY_RESIZABLE_BAR 0x15u
#define GPUNVME_PCI_EXTENDED_CAPABILITY_DYNAMIC_POWER_ALLOCATION 0x16u
#define GPUNVME_PCI_EXTENDED_CAPABILITY_LATENCY_TOLERANCE_REPORTING 0x18u
#define GPUNVME_PCI_EXTENDED_CAPABILITY_SECONDARY_PCI_EXPRESS 0x19u
#define GPUNVME_PCI_EXTENDED_CAPABILITY_DOWNSTREAM_PORT_CONTAINMENT 0x1du
#define GPUNVME_PCI_EXTENDED_CAPABILITY_L1_PM_SUBSTATES 0x1eu
#define GPUNVME_PCI_EXTENDED_CAPABILITY_PRECISION_TIME_MEASUREMENT 0x1fu
#define GPUNVME_PCI_EXTENDED_CAPABILITY_DESIGNATED_VENDOR_SPECIFIC 0x23u
#define GPUNVME_PCI_EXTENDED_CAPABILITY_DATA_LINK_FEATURE 0x25u
#define GPUNVME_PCI_EXTENDED_CAPABILITY_PHYSICAL_LAYER_16_GT 0x26u
#define GPUNVME_PCI_EXTENDED_CAPABILITY_DATA_OBJECT_EXCHANGE 0x2eu

/* Statuses: the Status Code Type in bits 10:8, the Status Code in bits 7:0, as bits 11:1 of the status member of */
/* struct gpunvme_cqe hold them (Base 2.1 §4.2.3) */
#define GPUNVME_STATUS_SUCCESS 0x0u /* Successful Completion */
#define GPUNVME_STATUS_INVALID_COMMAND_OPCODE 0x1u /* Invalid Command Opcode */
#define GPUNVME_STATUS_INVALID_FIELD_IN_COMMAND 0x2u /* Invalid Field in Command */
#define GPUNVME_STATUS_COMMAND_ID_CONFLICT 0x3u /* Command ID Conflict */
#define GPUNVME_STATUS_DATA_TRANSFER_ERROR 0x4u /* Data Transfer Error */
#define GPUNVME_STATUS_COMMANDS_ABORTED_DUE_TO_POWER_LOSS_NOTIFICATION 0x5u /* Commands Aborted due to Power Loss Notification */
#define GPUNVME_STATUS_INTERNAL_ERROR 0x6u /* Internal Error */
#define GPUNVME_STATUS_COMMAND_ABORT_REQUESTED 0x7u /* Command Abort Requested */
#define GPUNVME_STATUS_COMMAND_ABORTED_DUE_TO_SQ_DELETION 0x8u /* Command Aborted due to SQ Deletion */
#define GPUNVME_STATUS_COMMAND_ABORTED_DUE_TO_FAILED_FUSED_COMMAND 0x9u /* Command Aborted due to Failed Fused Command */
#define GPUNVME_STATUS_COMMAND_ABORTED_DUE_TO_MISSING_FUSED_COMMAND 0xau /* Command Aborted due to Missing Fused Command */
#define GPUNVME_STATUS_INVALID_NAMESPACE_OR_FORMAT 0xbu /* Invalid Namespace or Format */
#define GPUNVME_STATUS_COMMAND_SEQUENCE_ERROR 0xcu /* Command Sequence Error */
#define GPUNVME_STATUS_INVALID_SGL_SEGMENT_DESCRIPTOR 0xdu /* Invalid SGL Segment Descriptor */
#define GPUNVME_STATUS_INVALID_NUMBER_OF_SGL_DESCRIPTORS 0xeu /* Invalid Number of SGL Descriptors */
#define GPUNVME_STATUS_DATA_SGL_LENGTH_INVALID 0xfu /* Data SGL Length Invalid */
#define GPUNVME_STATUS_METADATA_SGL_LENGTH_INVALID 0x10u /* Metadata SGL Length Invalid */
#define GPUNVME_STATUS_SGL_DESCRIPTOR_TYPE_INVALID 0x11u /* SGL Descriptor Type Invalid */
#define GPUNVME_STATUS_INVALID_USE_OF_CONTROLLER_MEMORY_BUFFER 0x12u /* Invalid Use of Controller Memory Buffer */
#define GPUNVME_STATUS_PRP_OFFSET_INVALID 0x13u /* PRP Offset Invalid */
#define GPUNVME_STATUS_ATOMIC_WRITE_UNIT_EXCEEDED 0x14u /* Atomic Write Unit Exceeded */
#define GPUNVME_STATUS_OPERATION_DENIED 0x15u /* Operation Denied */
#define GPUNVME_STATUS_SGL_OFFSET_INVALID 0x16u /* SGL Offset Invalid */
#define GPUNVME_STATUS_HOST_IDENTIFIER_INCONSISTENT_FORMAT 0x18u /* Host Identifier Inconsistent Format */
#define GPUNVME_STATUS_KEEP_ALIVE_TIMER_EXPIRED 0x19u /* Keep Alive Timer Expired */
#define GPUNVME_STATUS_KEEP_ALIVE_TIMEOUT_INVALID 0x1au /* Keep Alive Timeout Invalid */
#define GPUNVME_STATUS_COMMAND_ABORTED_DUE_TO_PREEMPT_AND_ABORT 0x1bu /* Command Aborted due to Preempt and Abort */
#define GPUNVME_STATUS_SANITIZE_FAILED 0x1cu /* Sanitize Failed */
#define GPUNVME_STATUS_SANITIZE_IN_PROGRESS 0x1du /* Sanitize In Progress */
#define GPUNVME_STATUS_SGL_DATA_BLOCK_GRANULARITY_INVALID 0x1eu /* SGL Data Block Granularity Invalid */
#define GPUNVME_STATUS_COMMAND_NOT_SUPPORTED_FOR_QUEUE_IN_CMB 0x1fu /* Command Not Supported for Queue in CMB */
#define GPUNVME_STATUS_NAMESPACE_IS_WRITE_PROTECTED 0x20u /* Namespace is Write Protected */
#define GPUNVME_STATUS_COMMAND_INTERRUPTED 0x21u /* Command Interrupted */
#define GPUNVME_STATUS_TRANSIENT_TRANSPORT_ERROR 0x22u /* Transient Transport Error */
#define GPUNVME_STATUS_COMMAND_PROHIBITED_BY_COMMAND_AND_FEATURE_LOCKDOWN 0x23u /* Command Prohibited by Command and Feature Lockdown */
#define GPUNVME_STATUS_ADMIN_COMMAND_MEDIA_NOT_READY 0x24u /* Admin Command Media Not Ready */
#define GPUNVME_STATUS_INVALID_KEY_TAG 0x25u /* Invalid Key Tag */
#define GPUNVME_STATUS_HOST_DISPERSED_NAMESPACE_SUPPORT_NOT_ENABLED 0x26u /* Host Dispersed Namespace Support Not Enabled */
#define GPUNVME_STATUS_HOST_IDENTIFIER_NOT_INITIALIZED 0x27u /* Host Identifier Not Initialized */
#define GPUNVME_STATUS_INCORRECT_KEY 0x28u /* Incorrect Key */
#define GPUNVME_STATUS_FDP_DISABLED 0x29u /* FDP Disabled */
#define GPUNVME_STATUS_INVALID_PLACEMENT_HANDLE_LIST 0x2au /* Invalid Placement Handle List */
#define GPUNVME_STATUS_LBA_OUT_OF_RANGE 0x80u /* LBA Out of Range */
#define GPUNVME_STATUS_CAPACITY_EXCEEDED 0x81u /* Capacity Exceeded */
#define GPUNVME_STATUS_NAMESPACE_NOT_READY 0x82u /* Namespace Not Ready */
#define GPUNVME_STATUS_RESERVATION_CONFLICT 0x83u /* Reservation Conflict */
#define GPUNVME_STATUS_FORMAT_IN_PROGRESS 0x84u /* Format In Progress */
#define GPUNVME_STATUS_INVALID_VALUE_SIZE 0x85u /* Invalid Value Size */
#define GPUNVME_STATUS_INVALID_KEY_SIZE 0x86u /* Invalid Key Size */
#define GPUNVME_STATUS_KV_KEY_DOES_NOT_EXIST 0x87u /* KV Key Does Not Exist */
#define GPUNVME_STATUS_UNRECOVERED_ERROR 0x88u /* Unrecovered Error */
#define GPUNVME_STATUS_KEY_EXISTS 0x89u /* Key Exists */
#define GPUNVME_STATUS_COMPLETION_QUEUE_INVALID 0x100u /* Completion Queue Invalid */
#define GPUNVME_STATUS_INVALID_QUEUE_IDENTIFIER 0x101u /* Invalid Queue Identifier */
#define GPUNVME_STATUS_INVALID_QUEUE_SIZE 0x102u /* Invalid Queue Size */
#define GPUNVME_STATUS_ABORT_COMMAND_LIMIT_EXCEEDED 0x103u /* Abort Command Limit Exceeded */
#define GPUNVME_STATUS_ASYNCHRONOUS_EVENT_REQUEST_LIMIT_EXCEEDED 0x105u /* Asynchronous Event Request Limit Exceeded */
#define GPUNVME_STATUS_INVALID_FIRMWARE_SLOT 0x106u /* Invalid Firmware Slot */
#define GPUNVME_STATUS_INVALID_FIRMWARE_IMAGE 0x107u /* Invalid Firmware Image */
#define GPUNVME_STATUS_INVALID_INTERRUPT_VECTOR 0x108u /* Invalid Interrupt Vector */
#define GPUNVME_STATUS_INVALID_LOG_PAGE 0x109u /* Invalid Log Page */
#define GPUNVME_STATUS_INVALID_FORMAT 0x10au /* Invalid Format */
#define GPUNVME_STATUS_FIRMWARE_ACTIVATION_REQUIRES_CONVENTIONAL_RESET 0x10bu /* Firmware Activation Requires Conventional Reset */
#define GPUNVME_STATUS_INVALID_QUEUE_DELETION 0x10cu /* Invalid Queue Deletion */
#define GPUNVME_STATUS_FEATURE_IDENTIFIER_NOT_SAVEABLE 0x10du /* Feature Identifier Not Saveable */
#define GPUNVME_STATUS_FEATURE_NOT_CHANGEABLE 0x10eu /* Feature Not Changeable */
#define GPUNVME_STATUS_FEATURE_NOT_NAMESPACE_SPECIFIC 0x10fu /* Feature Not Namespace Specific */
#define GPUNVME_STATUS_FIRMWARE_ACTIVATION_REQUIRES_NVM_SUBSYSTEM_RESET 0x110u /* Firmware Activation Requires NVM Subsystem Reset */
#define GPUNVME_STATUS_FIRMWARE_ACTIVATION_REQUIRES_CONTROLLER_LEVEL_RESET 0x111u /* Firmware Activation Requires Controller Level Reset */
#define GPUNVME_STATUS_FIRMWARE_ACTIVATION_REQUIRES_MAXIMUM_TIME_VIOLATION 0x112u /* Firmware Activation Requires Maximum Time Violation */
#define GPUNVME_STATUS_FIRMWARE_ACTIVATION_PROHIBITED 0x113u /* Firmware Activation Prohibited */
#define GPUNVME_STATUS_OVERLAPPING_RANGE 0x114u /* Overlapping Range */
#define GPUNVME_STATUS_NAMESPACE_INSUFFICIENT_CAPACITY 0x115u /* Namespace Insufficient Capacity */
#define GPUNVME_STATUS_NAMESPACE_IDENTIFIER_UNAVAILABLE 0x116u /* Namespace Identifier Unavailable */
#define GPUNVME_STATUS_NAMESPACE_ALREADY_ATTACHED 0x118u /* Namespace Already Attached */
#define GPUNVME_STATUS_NAMESPACE_IS_PRIVATE 0x119u /* Namespace Is Private */
#define GPUNVME_STATUS_NAMESPACE_NOT_ATTACHED 0x11au /* Namespace Not Attached */
#define GPUNVME_STATUS_THIN_PROVISIONING_NOT_SUPPORTED 0x11bu /* Thin Provisioning Not Supported */
#define GPUNVME_STATUS_CONTROLLER_LIST_INVALID 0x11cu /* Controller List Invalid */
#define GPUNVME_STATUS_DEVICE_SELF_TEST_IN_PROGRESS 0x11du /* Device Self-test In Progress */
#define GPUNVME_STATUS_BOOT_PARTITION_WRITE_PROHIBITED 0x11eu /* Boot Partition Write Prohibited */
#define GPUNVME_STATUS_INVALID_CONTROLLER_IDENTIFIER 0x11fu /* Invalid Controller Identifier */
#define GPUNVME_STATUS_INVALID_SECONDARY_CONTROLLER_STATE 0x120u /* Invalid Secondary Controller State */
#define GPUNVME_STATUS_INVALID_NUMBER_OF_CONTROLLER_RESOURCES 0x121u /* Invalid Number of Controller Resources */
#define GPUNVME_STATUS_INVALID_RESOURCE_IDENTIFIER 0x122u /* Invalid Resource Identifier */
#define GPUNVME_STATUS_SANITIZE_PROHIBITED_WHILE_PERSISTENT_MEMORY_REGION_IS_ENABLED 0x123u /* Sanitize Prohibited While Persistent Memory Region is Enabled */
#define GPUNVME_STATUS_ANA_GROUP_IDENTIFIER_INVALID 0x124u /* ANA Group Identifier Invalid */
#define GPUNVME_STATUS_ANA_ATTACH_FAILED 0x125u /* ANA Attach Failed */
#define GPUNVME_STATUS_INSUFFICIENT_CAPACITY 0x126u /* Insufficient Capacity */
#define GPUNVME_STATUS_NAMESPACE_ATTACHMENT_LIMIT_EXCEEDED 0x127u /* Namespace Attachment Limit Exceeded */
#define GPUNVME_STATUS_PROHIBITION_OF_COMMAND_EXECUTION_NOT_SUPPORTED 0x128u /* Prohibition of Command Execution Not Supported */
#define GPUNVME_STATUS_I_O_COMMAND_SET_NOT_SUPPORTED 0x129u /* I/O Command Set Not Supported */
#define GPUNVME_STATUS_I_O_COMMAND_SET_NOT_ENABLED 0x12au /* I/O Command Set Not Enabled */
#define GPUNVME_STATUS_I_O_COMMAND_SET_COMBINATION_REJECTED 0x12bu /* I/O Command Set Combination Rejected */
#define GPUNVME_STATUS_INVALID_I_O_COMMAND_SET 0x12cu /* Invalid I/O Command Set */
#define GPUNVME_STATUS_IDENTIFIER_UNAVAILABLE 0x12du /* Identifier Unavailable */
#define GPUNVME_STATUS_NAMESPACE_IS_DISPERSED 0x12eu /* Namespace Is Dispersed */
#define GPUNVME_STATUS_INVALID_DISCOVERY_INFORMATION 0x12fu /* Invalid Discovery Information */
#define GPUNVME_STATUS_ZONING_DATA_STRUCTURE_LOCKED 0x130u /* Zoning Data Structure Locked */
#define GPUNVME_STATUS_ZONING_DATA_STRUCTURE_NOT_FOUND 0x131u /* Zoning Data Structure Not Found */
#define GPUNVME_STATUS_INSUFFICIENT_DISCOVERY_RESOURCES 0x132u /* Insufficient Discovery Resources */
#define GPUNVME_STATUS_REQUESTED_FUNCTION_DISABLED 0x133u /* Requested Function Disabled */
#define GPUNVME_STATUS_ZONEGROUP_ORIGINATOR_INVALID 0x134u /* ZoneGroup Originator Invalid */
#define GPUNVME_STATUS_INVALID_HOST 0x135u /* Invalid Host */
#define GPUNVME_STATUS_INVALID_NVM_SUBSYSTEM 0x136u /* Invalid NVM Subsystem */
#define GPUNVME_STATUS_INVALID_CONTROLLER_DATA_QUEUE 0x137u /* Invalid Controller Data Queue */
#define GPUNVME_STATUS_NOT_ENOUGH_RESOURCES 0x138u /* Not Enough Resources */
#define GPUNVME_STATUS_CONTROLLER_SUSPENDED 0x139u /* Controller Suspended */
#define GPUNVME_STATUS_CONTROLLER_NOT_SUSPENDED 0x13au /* Controller Not Suspended */
#define GPUNVME_STATUS_CONTROLLER_DATA_QUEUE_FULL 0x13bu /* Controller Data Queue Full */
#define GPUNVME_STATUS_CONFLICTING_ATTRIBUTES 0x180u /* Conflicting Attributes */
#define GPUNVME_STATUS_INVALID_PROTECTION_INFORMATION 0x181u /* Invalid Protection Information */
#define GPUNVME_STATUS_ATTEMPTED_WRITE_TO_READ_ONLY_RANGE 0x182u /* Attempted Write to Read Only Range */
#define GPUNVME_STATUS_COMMAND_SIZE_LIMIT_EXCEEDED 0x183u /* Command Size Limit Exceeded */
#define GPUNVME_STATUS_INVALID_COMMAND_ID 0x184u /* Invalid Command ID */
#define GPUNVME_STATUS_INCOMPATIBLE_NAMESPACE_OR_FORMAT 0x185u /* Incompatible Namespace or Format */
#define GPUNVME_STATUS_FAST_COPY_NOT_POSSIBLE 0x186u /* Fast Copy Not Possible */
#define GPUNVME_STATUS_OVERLAPPING_I_O_RANGE 0x187u /* Overlapping I/O Range */
#define GPUNVME_STATUS_NAMESPACE_NOT_REACHABLE 0x188u /* Namespace Not Reachable */
#define GPUNVME_STATUS_INSUFFICIENT_RESOURCES 0x189u /* Insufficient Resources */
#define GPUNVME_STATUS_INSUFFICIENT_PROGRAM_RESOURCES 0x18au /* Insufficient Program Resources */
#define GPUNVME_STATUS_INVALID_MEMORY_NAMESPACE 0x18bu /* Invalid Memory Namespace */
#define GPUNVME_STATUS_INVALID_MEMORY_RANGE_SET 0x18cu /* Invalid Memory Range Set */
#define GPUNVME_STATUS_INVALID_MEMORY_RANGE_SET_IDENTIFIER 0x18du /* Invalid Memory Range Set Identifier */
#define GPUNVME_STATUS_INVALID_PROGRAM_DATA 0x18eu /* Invalid Program Data */
#define GPUNVME_STATUS_INVALID_PROGRAM_INDEX 0x18fu /* Invalid Program Index */
#define GPUNVME_STATUS_INVALID_PROGRAM_TYPE 0x190u /* Invalid Program Type */
#define GPUNVME_STATUS_MAXIMUM_MEMORY_RANGES_EXCEEDED 0x191u /* Maximum Memory Ranges Exceeded */
#define GPUNVME_STATUS_MAXIMUM_MEMORY_RANGE_SETS_EXCEEDED 0x192u /* Maximum Memory Range Sets Exceeded */
#define GPUNVME_STATUS_MAXIMUM_PROGRAMS_ACTIVATED 0x193u /* Maximum Programs Activated */
#define GPUNVME_STATUS_MAXIMUM_PROGRAM_BYTES_EXCEEDED 0x194u /* Maximum Program Bytes Exceeded */
#define GPUNVME_STATUS_MEMORY_RANGE_SET_IN_USE 0x195u /* Memory Range Set In Use */
#define GPUNVME_STATUS_NO_PROGRAM 0x196u /* No Program */
#define GPUNVME_STATUS_OVERLAPPING_MEMORY_RANGES 0x197u /* Overlapping Memory Ranges */
#define GPUNVME_STATUS_PROGRAM_NOT_ACTIVATED 0x198u /* Program Not Activated */
#define GPUNVME_STATUS_PROGRAM_IN_USE 0x199u /* Program In Use */
#define GPUNVME_STATUS_PROGRAM_INDEX_NOT_DOWNLOADABLE 0x19au /* Program Index Not Downloadable */
#define GPUNVME_STATUS_PROGRAM_TOO_BIG 0x19bu /* Program Too Big */
#define GPUNVME_STATUS_SUCCESSFUL_MEDIA_VERIFICATION_READ 0x19cu /* Successful Media Verification Read */
#define GPUNVME_STATUS_INVALID_ZONE_OPERATION_REQUEST 0x1b6u /* Invalid Zone Operation Request */
#define GPUNVME_STATUS_ZRWA_RESOURCES_UNAVAILABLE 0x1b7u /* ZRWA Resources Unavailable */
#define GPUNVME_STATUS_ZONED_BOUNDARY_ERROR 0x1b8u /* Zoned Boundary Error */
#define GPUNVME_STATUS_ZONE_IS_FULL 0x1b9u /* Zone Is Full */
#define GPUNVME_STATUS_ZONE_IS_READ_ONLY 0x1bau /* Zone Is Read Only */
#define GPUNVME_STATUS_ZONE_IS_OFFLINE 0x1bbu /* Zone Is Offline */
#define GPUNVME_STATUS_ZONE_INVALID_WRITE 0x1bcu /* Zone Invalid Write */
#define GPUNVME_STATUS_TOO_MANY_ACTIVE_ZONES 0x1bdu /* Too Many Active Zones */
#define GPUNVME_STATUS_TOO_MANY_OPEN_ZONES 0x1beu /* Too Many Open Zones */
#define GPUNVME_STATUS_INVALID_ZONE_STATE_TRANSITION 0x1bfu /* Invalid Zone State Transition */
#define GPUNVME_STATUS_WRITE_FAULT 0x280u /* Write Fault */
#define GPUNVME_STATUS_UNRECOVERED_READ_ERROR 0x281u /* Unrecovered Read Error */
#define GPUNVME_STATUS_END_TO_END_GUARD_CHECK_ERROR 0x282u /* End-to-end Guard Check Error */
#define GPUNVME_STATUS_END_TO_END_APPLICATION_TAG_CHECK_ERROR 0x283u /* End-to-end Application Tag Check Error */
#define GPUNVME_STATUS_END_TO_END_REFERENCE_TAG_CHECK_ERROR 0x284u /* End-to-end Reference Tag Check Error */
#define GPUNVME_STATUS_COMPARE_FAILURE 0x285u /* Compare Failure */
#define GPUNVME_STATUS_ACCESS_DENIED 0x286u /* Access Denied */
#define GPUNVME_STATUS_DEALLOCATED_OR_UNWRITTEN_LOGICAL_BLOCK 0x287u /* Deallocated or Unwritten Logical Block */
#define GPUNVME_STATUS_END_TO_END_STORAGE_TAG_CHECK_ERROR 0x288u /* End-to-End Storage Tag Check Error */
#define GPUNVME_STATUS_INTERNAL_PATH_ERROR 0x300u /* Internal Path Error */
#define GPUNVME_STATUS_ASYMMETRIC_ACCESS_PERSISTENT_LOSS 0x301u /* Asymmetric Access Persistent Loss */
#define GPUNVME_STATUS_ASYMMETRIC_ACCESS_INACCESSIBLE 0x302u /* Asymmetric Access Inaccessible */
#define GPUNVME_STATUS_ASYMMETRIC_ACCESS_TRANSITION 0x303u /* Asymmetric Access Transition */
#define GPUNVME_STATUS_CONTROLLER_PATHING_ERROR 0x360u /* Controller Pathing Error */
#define GPUNVME_STATUS_HOST_PATHING_ERROR 0x370u /* Host Pathing Error */
#define GPUNVME_STATUS_COMMAND_ABORTED_BY_HOST 0x371u /* Command Aborted By Host */
#define GPUNVME_FABRICS_STATUS_INCOMPATIBLE_FORMAT 0x180u /* Incompatible Format */
#define GPUNVME_FABRICS_STATUS_CONTROLLER_BUSY 0x181u /* Controller Busy */
#define GPUNVME_FABRICS_STATUS_CONNECT_INVALID_PARAMETERS 0x182u /* Connect Invalid Parameters */
#define GPUNVME_FABRICS_STATUS_CONNECT_RESTART_DISCOVERY 0x183u /* Connect Restart Discovery */
#define GPUNVME_FABRICS_STATUS_CONNECT_INVALID_HOST 0x184u /* Connect Invalid Host */
#define GPUNVME_FABRICS_STATUS_INVALID_QUEUE_TYPE 0x185u /* Invalid Queue Type */
#define GPUNVME_FABRICS_STATUS_DISCOVER_RESTART 0x190u /* Discover Restart */
#define GPUNVME_FABRICS_STATUS_AUTHENTICATION_REQUIRED 0x191u /* Authentication Required */

#endif
