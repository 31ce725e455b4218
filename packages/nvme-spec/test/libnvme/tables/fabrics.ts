// Maps numbers and structures of Linux 6.1 and libnvme 1.3 to `@gpunvme/nvme-spec/fabrics`, which the C header does not
// include. Names that nvme-spec does not declare have a reason.
import * as fabrics from '../../../src/fabrics/index.js'
import type { FieldMap } from '../../../src/layout/index.js'

interface Layout {
  readonly bytes: number
  readonly fields: FieldMap
}

/**
 * The structures of nvme-spec that correspond to a C structure. `names` maps C members with other names to a field, or to a
 * first byte and a length.
 */
export interface FabricsStruct {
  readonly ours: readonly Layout[]
  readonly names?: Readonly<Record<string, string | readonly [offset: number, lengthBytes: number]>>
}

/** Fabrics declarations of a header. */
export interface FabricsTable {
  /** Values of nvme-spec by names of the header and by other C expressions. */
  readonly numbers: Readonly<Record<string, number>>
  readonly structs: Readonly<Record<string, FabricsStruct>>
  /** Reasons for undeclared numbers (by prefix of their names) and structures. */
  readonly absent: Readonly<Record<string, readonly string[]>>
}

const { ADRFAM, C2H_FATAL_ERROR, EXATTYPE, FCTYPE, H2C_FATAL_ERROR, SUBTYPE, TCP_PDU, TRTYPE } = fabrics
const { AUTH_ID, AUTH_RCODE, AUTH_RCODEEX, AUTH_TYPE, DHGID, HASHID } = fabrics
const { Connect, ConnectData, ConnectResponse, DiscoveryLog, DiscoveryLogEntry, ExtendedDiscoveryLogEntry } = fabrics
const { RdmaAddressSubtype, TcpAddressSubtype, TcpPduHeader } = fabrics

const bit = ({ lsb }: { readonly lsb: number }) => 1 << lsb

const { NOT_SPECIFIED, REQUIRED, NOT_REQUIRED } = DiscoveryLogEntry.TREQ.TSC
const { RDMA_QPTYPE, RDMA_PRTYPE, RDMA_CMS, RDMA_PKEY } = RdmaAddressSubtype

/** Names that both headers share. */
const common = {
  NVME_NQN_DISC: SUBTYPE.REFERRAL,
  NVME_NQN_NVME: SUBTYPE.NVM,
  NVME_NQN_CURR: SUBTYPE.CURRENT_DISCOVERY,
  NVME_RDMA_IP_PORT: fabrics.NVME_TCP_PORT,
  NVMF_TRSVCID_SIZE: DiscoveryLogEntry.TRSVCID.lengthBytes,
  NVMF_TRADDR_SIZE: DiscoveryLogEntry.TRADDR.lengthBytes,
  NVMF_TSAS_SIZE: DiscoveryLogEntry.TSAS.lengthBytes,
  NVMF_ADDR_FAMILY_PCI: ADRFAM.PCI,
  NVMF_ADDR_FAMILY_IP4: ADRFAM.IP4,
  NVMF_ADDR_FAMILY_IP6: ADRFAM.IP6,
  NVMF_ADDR_FAMILY_IB: ADRFAM.IB,
  NVMF_ADDR_FAMILY_FC: ADRFAM.FC,
  NVMF_ADDR_FAMILY_LOOP: ADRFAM.LOOP,
  NVMF_TRTYPE_RDMA: TRTYPE.RDMA,
  NVMF_TRTYPE_FC: TRTYPE.FC,
  NVMF_TRTYPE_TCP: TRTYPE.TCP,
  NVMF_TRTYPE_LOOP: TRTYPE.LOOP,
  NVMF_TREQ_NOT_SPECIFIED: NOT_SPECIFIED,
  NVMF_TREQ_REQUIRED: REQUIRED,
  NVMF_TREQ_NOT_REQUIRED: NOT_REQUIRED,
  NVMF_TREQ_DISABLE_SQFLOW: bit(DiscoveryLogEntry.TREQ.SQFCD),
  NVMF_RDMA_QPTYPE_CONNECTED: RDMA_QPTYPE.CONNECTED,
  NVMF_RDMA_QPTYPE_DATAGRAM: RDMA_QPTYPE.DATAGRAM,
  NVMF_RDMA_PRTYPE_NOT_SPECIFIED: RDMA_PRTYPE.NOT_SPECIFIED,
  NVMF_RDMA_PRTYPE_IB: RDMA_PRTYPE.INFINIBAND,
  NVMF_RDMA_PRTYPE_ROCE: RDMA_PRTYPE.ROCE,
  NVMF_RDMA_PRTYPE_ROCEV2: RDMA_PRTYPE.ROCE_V2,
  NVMF_RDMA_PRTYPE_IWARP: RDMA_PRTYPE.IWARP,
  NVMF_RDMA_CMS_RDMA_CM: RDMA_CMS.RDMA_IP_CM,
  nvme_fabrics_type_property_set: FCTYPE.PROPERTY_SET,
  nvme_fabrics_type_connect: FCTYPE.CONNECT,
  nvme_fabrics_type_property_get: FCTYPE.PROPERTY_GET,
  nvme_fabrics_type_auth_send: FCTYPE.AUTHENTICATION_SEND,
  nvme_fabrics_type_auth_receive: FCTYPE.AUTHENTICATION_RECEIVE,
}

/** Members of an anonymous union, which `readFacts` does not read. */
const rdma = (union: string, start: number) => ({
  [`offsetof(${union}rdma.qptype)`]: start + RDMA_QPTYPE.offset,
  [`offsetof(${union}rdma.prtype)`]: start + RDMA_PRTYPE.offset,
  [`offsetof(${union}rdma.cms)`]: start + RDMA_CMS.offset,
  [`offsetof(${union}rdma.pkey)`]: start + RDMA_PKEY.offset,
})

const connectData: FabricsStruct = { ours: [ConnectData], names: { subsysnqn: 'SUBNQN' } }
const log: FabricsStruct = { ours: [DiscoveryLog], names: { entries: [DiscoveryLog.bytes, 0] } }

/** A command, with the names of members that all commands have. */
const command = (ours: Layout | readonly Layout[], names: FabricsStruct['names'] = {}): FabricsStruct => ({
  ours: [ours].flat(),
  names: { opcode: [0, 1], command_id: [2, 2], dptr: 'SGL1', offset: 'OFST', ...names },
})

/** A PDU, with the names of members that all PDUs have. */
const pdu = (ours: Layout | readonly Layout[], names: FabricsStruct['names'] = {}): FabricsStruct => ({
  ours: [ours].flat(),
  names: { hdr: [0, TcpPduHeader.bytes], digest: 'DGST', command_id: 'CCCID', ...names },
})

/** An authentication message; the values after it, of which the first has a name, begin at its end. */
const message = (ours: Layout | readonly Layout[]): FabricsStruct => {
  const all = [ours].flat()
  const end = [all[0]!.bytes, 0] as const
  const names = { auth_protocol: end, cval: end, rval: end, rescode: 'RCODE', rescode_exp: 'RCODEEX' }
  return { ours: all, names }
}

/** linux/nvme.h and linux/nvme-tcp.h of Linux 6.1's kernel. */
export const LINUX_FABRICS: FabricsTable = {
  numbers: {
    ...common,
    ...rdma('struct nvmf_disc_rsp_page_entry, tsas.', DiscoveryLogEntry.TSAS.offset),
    nvme_fabrics_command: fabrics.FABRICS_OPCODE,
    NVMF_NQN_FIELD_LEN: ConnectData.SUBNQN.lengthBytes,
    NVME_TREQ_SECURE_CHANNEL_MASK: bit(DiscoveryLogEntry.TREQ.SQFCD) - bit(DiscoveryLogEntry.TREQ.TSC),
    NVME_DISC_EFLAGS_EPCSD: bit(DiscoveryLogEntry.EFLAGS.EPCSD),
    NVME_DISC_EFLAGS_DUPRETINFO: bit(DiscoveryLogEntry.EFLAGS.DUPRETINFO),
    NVME_CONNECT_DISABLE_SQFLOW: bit(Connect.CATTR.DISSQFC),
    NVME_CONNECT_AUTHREQ_ASCR: bit(ConnectResponse.AUTHREQ.ASCR) << (8 * ConnectResponse.AUTHREQ.offset),
    NVME_CONNECT_AUTHREQ_ATR: bit(ConnectResponse.AUTHREQ.ATR) << (8 * ConnectResponse.AUTHREQ.offset),
    NVME_CNTLID_DYNAMIC: fabrics.CNTLID_DYNAMIC,
    NVME_SGL_FMT_TRANSPORT_A: fabrics.TCP_SGL_SUB_TYPE.COMMAND_DATA_BUFFER,
    NVME_SGL_FMT_INVALIDATE: fabrics.RDMA_SGL_SUB_TYPE.INVALIDATE_KEY,
    NVME_TCP_DISC_PORT: fabrics.NVME_TCP_DISCOVERY_PORT,
    NVME_TCP_ADMIN_CCSZ: fabrics.ADMIN_IN_CAPSULE_BYTES,
    NVME_TCP_DIGEST_LENGTH: fabrics.DIGEST_BYTES,
    NVME_TCP_MIN_MAXH2CDATA: fabrics.MIN_MAXH2CDATA,
    NVME_TCP_MIN_C2HTERM_PLEN: fabrics.C2hTermReq.bytes,
    NVME_TCP_MAX_C2HTERM_PLEN: fabrics.MAX_TERM_REQ_BYTES,
    NVME_TCP_PFV_1_0: 0,
    NVME_TCP_FES_INVALID_PDU_HDR: C2H_FATAL_ERROR.INVALID_PDU_HEADER_FIELD,
    NVME_TCP_FES_PDU_SEQ_ERR: C2H_FATAL_ERROR.PDU_SEQUENCE_ERROR,
    NVME_TCP_FES_HDR_DIGEST_ERR: C2H_FATAL_ERROR.HEADER_DIGEST_ERROR,
    NVME_TCP_FES_DATA_OUT_OF_RANGE: C2H_FATAL_ERROR.DATA_TRANSFER_OUT_OF_RANGE,
    NVME_TCP_FES_R2T_LIMIT_EXCEEDED: H2C_FATAL_ERROR.R2T_LIMIT_EXCEEDED,
    NVME_TCP_FES_DATA_LIMIT_EXCEEDED: C2H_FATAL_ERROR.DATA_TRANSFER_LIMIT_EXCEEDED,
    NVME_TCP_FES_UNSUPPORTED_PARAM: C2H_FATAL_ERROR.UNSUPPORTED_PARAMETER,
    NVME_TCP_HDR_DIGEST_ENABLE: bit(fabrics.IcReq.DGST.HDGST_ENABLE),
    NVME_TCP_DATA_DIGEST_ENABLE: bit(fabrics.IcResp.DGST.DDGST_ENABLE),
    nvme_tcp_icreq: TCP_PDU.IC_REQ,
    nvme_tcp_icresp: TCP_PDU.IC_RESP,
    nvme_tcp_h2c_term: TCP_PDU.H2C_TERM_REQ,
    nvme_tcp_c2h_term: TCP_PDU.C2H_TERM_REQ,
    nvme_tcp_cmd: TCP_PDU.CAPSULE_CMD,
    nvme_tcp_rsp: TCP_PDU.CAPSULE_RESP,
    nvme_tcp_h2c_data: TCP_PDU.H2C_DATA,
    nvme_tcp_c2h_data: TCP_PDU.C2H_DATA,
    nvme_tcp_r2t: TCP_PDU.R2T,
    NVME_TCP_F_HDGST: bit(fabrics.H2cData.FLAGS.HDGSTF),
    NVME_TCP_F_DDGST: bit(fabrics.H2cData.FLAGS.DDGSTF),
    NVME_TCP_F_DATA_LAST: bit(fabrics.H2cData.FLAGS.LAST_PDU),
    NVME_TCP_F_DATA_SUCCESS: bit(fabrics.C2hData.FLAGS.SUCCESS),
    NVME_AUTH_DHCHAP_PROTOCOL_IDENTIFIER: fabrics.AUTHENTICATION_SECP,
    NVME_AUTH_COMMON_MESSAGES: AUTH_TYPE.COMMON,
    NVME_AUTH_DHCHAP_MESSAGES: AUTH_TYPE.DH_HMAC_CHAP,
    NVME_AUTH_DHCHAP_MESSAGE_NEGOTIATE: AUTH_ID.NEGOTIATE,
    NVME_AUTH_DHCHAP_MESSAGE_CHALLENGE: AUTH_ID.CHALLENGE,
    NVME_AUTH_DHCHAP_MESSAGE_REPLY: AUTH_ID.REPLY,
    NVME_AUTH_DHCHAP_MESSAGE_SUCCESS1: AUTH_ID.SUCCESS1,
    NVME_AUTH_DHCHAP_MESSAGE_SUCCESS2: AUTH_ID.SUCCESS2,
    NVME_AUTH_DHCHAP_MESSAGE_FAILURE2: AUTH_ID.FAILURE2,
    NVME_AUTH_DHCHAP_MESSAGE_FAILURE1: AUTH_ID.FAILURE1,
    NVME_AUTH_DHCHAP_AUTH_ID: fabrics.DhChapDescriptor.AUTHID.DH_HMAC_CHAP,
    NVME_AUTH_HASH_SHA256: HASHID.SHA_256,
    NVME_AUTH_HASH_SHA384: HASHID.SHA_384,
    NVME_AUTH_HASH_SHA512: HASHID.SHA_512,
    NVME_AUTH_DHGROUP_NULL: DHGID.NULL,
    NVME_AUTH_DHGROUP_2048: DHGID.FFDHE2048,
    NVME_AUTH_DHGROUP_3072: DHGID.FFDHE3072,
    NVME_AUTH_DHGROUP_4096: DHGID.FFDHE4096,
    NVME_AUTH_DHGROUP_6144: DHGID.FFDHE6144,
    NVME_AUTH_DHGROUP_8192: DHGID.FFDHE8192,
    NVME_AUTH_DHCHAP_RESPONSE_VALID: fabrics.DhChapSuccess1.RVALID.VALID,
    NVME_AUTH_DHCHAP_FAILURE_REASON_FAILED: AUTH_RCODE.AUTHENTICATION_FAILURE,
    NVME_AUTH_DHCHAP_FAILURE_FAILED: AUTH_RCODEEX.AUTHENTICATION_FAILED,
    NVME_AUTH_DHCHAP_FAILURE_NOT_USABLE: AUTH_RCODEEX.PROTOCOL_NOT_USABLE,
    NVME_AUTH_DHCHAP_FAILURE_CONCAT_MISMATCH: AUTH_RCODEEX.SECURE_CHANNEL_CONCATENATION_MISMATCH,
    NVME_AUTH_DHCHAP_FAILURE_HASH_UNUSABLE: AUTH_RCODEEX.HASH_FUNCTION_NOT_USABLE,
    NVME_AUTH_DHCHAP_FAILURE_DHGROUP_UNUSABLE: AUTH_RCODEEX.DH_GROUP_NOT_USABLE,
    NVME_AUTH_DHCHAP_FAILURE_INCORRECT_PAYLOAD: AUTH_RCODEEX.INCORRECT_PAYLOAD,
    NVME_AUTH_DHCHAP_FAILURE_INCORRECT_MESSAGE: AUTH_RCODEEX.INCORRECT_PROTOCOL_MESSAGE,
  },
  structs: {
    nvmf_common_command: command(fabrics.FabricsSqe, { ts: 'FCTS' }),
    nvmf_connect_command: command(Connect),
    nvmf_property_set_command: command(fabrics.PropertySet),
    nvmf_property_get_command: command(fabrics.PropertyGet),
    nvmf_auth_common_command: command([fabrics.AuthenticationSend, fabrics.AuthenticationReceive], { al_tl: 'TL' }),
    nvmf_auth_send_command: command(fabrics.AuthenticationSend),
    nvmf_auth_receive_command: command(fabrics.AuthenticationReceive),
    nvmf_auth_dhchap_protocol_descriptor: { ours: [fabrics.DhChapDescriptor], names: { idlist: [4, 60] } },
    nvmf_auth_dhchap_negotiate_data: message(fabrics.AuthNegotiate),
    nvmf_auth_dhchap_challenge_data: message(fabrics.DhChapChallenge),
    nvmf_auth_dhchap_reply_data: message(fabrics.DhChapReply),
    nvmf_auth_dhchap_success1_data: message(fabrics.DhChapSuccess1),
    nvmf_auth_dhchap_success2_data: message(fabrics.DhChapSuccess2),
    nvmf_auth_dhchap_failure_data: message([fabrics.AuthFailure1, fabrics.AuthFailure2]),
    nvmf_connect_data: connectData,
    nvmf_disc_rsp_page_entry: { ours: [DiscoveryLogEntry] },
    nvmf_disc_rsp_page_hdr: log,
    nvme_tcp_hdr: { ours: [TcpPduHeader], names: { type: 'PDU_TYPE' } },
    nvme_tcp_icreq_pdu: pdu(fabrics.IcReq),
    nvme_tcp_icresp_pdu: pdu(fabrics.IcResp, { maxdata: 'MAXH2CDATA' }),
    // FEI is not aligned, so the C structure splits it into two halves.
    nvme_tcp_term_pdu: pdu([fabrics.H2cTermReq, fabrics.C2hTermReq], { feil: [10, 2], feiu: [12, 2] }),
    nvme_tcp_cmd_pdu: pdu(fabrics.CapsuleCmd, { cmd: 'CCSQE' }),
    nvme_tcp_rsp_pdu: pdu(fabrics.CapsuleResp, { cqe: 'RCCQE' }),
    nvme_tcp_r2t_pdu: pdu(fabrics.R2t, { r2t_offset: 'R2TO', r2t_length: 'R2TL' }),
    nvme_tcp_data_pdu: pdu([fabrics.H2cData, fabrics.C2hData], { data_offset: 'DATAO', data_length: 'DATAL' }),
  },
  absent: {
    'a number for internal use of Linux': ['NVME_AUTH_HASH_INVALID', 'NVME_AUTH_DHGROUP_INVALID'],
    'the length of the longest hash': ['NVMF_AUTH_HASH_LEN'],
    'limits of Linux': ['NVME_CNTLID_MIN', 'NVME_CNTLID_MAX', 'MAX_DISC_LOGS'],
    'the end of an enumeration of Linux': ['NVMF_ADDR_FAMILY_MAX', 'NVMF_TRTYPE_MAX'],
    'the longest NQN, which is shorter than its field': ['NVMF_NQN_SIZE'],
    'text, which TypeScript compares': ['NVME_DISC_SUBSYS_NAME'],
  },
}

/** nvme/types.h of libnvme 1.3. */
export const LIBNVME_FABRICS: FabricsTable = {
  numbers: {
    ...common,
    ...rdma('union nvmf_tsas, ', 0),
    'offsetof(union nvmf_tsas, tcp.sectype)': TcpAddressSubtype.SECTYPE.offset,
    'sizeof(union nvmf_tsas)': TcpAddressSubtype.bytes,
    nvme_fabrics_type_disconnect: FCTYPE.DISCONNECT,
    NVME_NQN_LENGTH: ConnectData.HOSTNQN.lengthBytes,
    NVME_DISC_IP_PORT: fabrics.NVME_TCP_DISCOVERY_PORT,
    NVMF_DISC_EFLAGS_DUPRETINFO: bit(DiscoveryLogEntry.EFLAGS.DUPRETINFO),
    NVMF_DISC_EFLAGS_EPCSD: bit(DiscoveryLogEntry.EFLAGS.EPCSD),
    NVMF_DISC_EFLAGS_NCC: bit(DiscoveryLogEntry.EFLAGS.NCC),
    NVMF_TCP_SECTYPE_NONE: TcpAddressSubtype.SECTYPE.NONE,
    NVMF_TCP_SECTYPE_TLS: TcpAddressSubtype.SECTYPE.TLS_1_2,
    NVMF_TCP_SECTYPE_TLS13: TcpAddressSubtype.SECTYPE.TLS_1_3,
    NVMF_LOG_DISC_LID_EXTDLPES: bit(fabrics.DiscoveryLidsp.EXTDLPES),
    NVMF_LOG_DISC_LID_PLEOS: bit(fabrics.DiscoveryLidsp.PLEOS),
    NVMF_LOG_DISC_LID_ALLSUBES: bit(fabrics.DiscoveryLidsp.ALLSUBES),
    NVMF_LOG_DISC_LSP_EXTDLPE: bit(fabrics.DiscoveryLsp.EXTDLPE),
    NVMF_LOG_DISC_LSP_PLEO: bit(fabrics.DiscoveryLsp.PLEO),
    NVMF_LOG_DISC_LSP_ALLSUBE: bit(fabrics.DiscoveryLsp.ALLSUBE),
    NVMF_EXATTYPE_HOSTID: EXATTYPE.HOST_IDENTIFIER,
    NVMF_EXATTYPE_SYMNAME: EXATTYPE.ADMIN_LABEL_ASCII,
  },
  structs: {
    nvmf_connect_data: connectData,
    nvmf_disc_log_entry: { ours: [DiscoveryLogEntry] },
    nvmf_discovery_log: log,
    nvmf_ext_attr: { ours: [fabrics.ExtendedAttribute], names: { exatval: [fabrics.ExtendedAttribute.bytes, 0] } },
    // An entry of Discovery Information Management, with the layout of a log entry.
    nvmf_ext_die: {
      ours: [ExtendedDiscoveryLogEntry],
      names: { nqn: 'SUBNQN', exat: [ExtendedDiscoveryLogEntry.bytes, 0] },
    },
  },
  absent: {
    'Discovery Information Management': ['NVMF_DIM_', 'nvmf_dim_'],
    'zero, not a bit': ['NVMF_DISC_EFLAGS_NONE', 'NVMF_LOG_DISC_LID_NONE', 'NVMF_LOG_DISC_LSP_NONE'],
    'several bits, for older programs': ['NVMF_DISC_EFLAGS_BOTH'],
    'an entry that is not in use': ['NVMF_TRTYPE_UNSPECIFIED'],
    'the end of an enumeration of libnvme': ['NVMF_TRTYPE_MAX'],
    'the longest NQN, which is shorter than its field': ['NVMF_NQN_SIZE'],
    'text, which TypeScript compares': ['NVME_DISC_SUBSYS_NAME'],
    'lengths in Discovery Information Management': ['NVMF_ENAME_LEN', 'NVMF_EVER_LEN'],
  },
}
