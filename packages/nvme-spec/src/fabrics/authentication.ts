import {
  bytes,
  codes,
  inHex,
  merge,
  someOf,
  struct,
  u16,
  u32,
  u8,
  type AnyStruct,
  type FieldMap,
  type Struct,
  type StructFacts,
} from '../layout/index.js'

/** SECP of Authentication Send and Receive for these messages (Linux 6.1 linux/nvme.h NVME_AUTH_DHCHAP_PROTOCOL_IDENTIFIER). */
export const AUTHENTICATION_SECP = 0xe9

/** Types of a message, AUTH_TYPE: the common messages, or an authentication protocol. */
export const AUTH_TYPE = codes(
  'AUTH_TYPE',
  { doc: 'Types of authentication messages', spec: 'Linux 6.1 linux/nvme.h NVME_AUTH_COMMON_MESSAGES' },
  { COMMON: 0x00, DH_HMAC_CHAP: 0x01 },
)

/**
 * Messages, AUTH_ID. NEGOTIATE, FAILURE2 and FAILURE1 have the type COMMON. Base 2.1 Figures 742, 744 and 745 confirm
 * CHALLENGE, SUCCESS1 and SUCCESS2; the figures with the others could not be read.
 */
export const AUTH_ID = codes(
  'AUTH_ID',
  { doc: 'Authentication messages', spec: 'Linux 6.1 linux/nvme.h NVME_AUTH_DHCHAP_MESSAGE_NEGOTIATE' },
  {
    NEGOTIATE: 0x00,
    CHALLENGE: 0x01,
    REPLY: 0x02,
    SUCCESS1: 0x03,
    SUCCESS2: 0x04,
    FAILURE2: 0xf0,
    FAILURE1: 0xf1,
  },
)

/** Secure channel concatenation, SC_C. Base 2.1 Figures 752 and 753 use these names without their numbers. */
export const SC_C = codes(
  'SC_C',
  { doc: 'Secure channel concatenation', spec: 'Linux 6.15 linux/nvme.h NVME_AUTH_SECP_NOSC' },
  { NOSC: 0x00, NEWTLSPSK: 0x02, REPLACETLSPSK: 0x03 },
)

/** Hash functions of DH-HMAC-CHAP (Base 2.1 §8.3.4.5.2, Figure 740). E0h to FEh are vendor specific. */
export const HASHID = codes(
  'HASHID',
  { doc: 'Hash functions of DH-HMAC-CHAP', spec: 'Base 2.1 §8.3.4.5.2' },
  { SHA_256: 0x01, SHA_384: 0x02, SHA_512: 0x03 },
)

/**
 * Diffie-Hellman groups of DH-HMAC-CHAP (Base 2.1 §8.3.4.5.2, Figure 741), by their names in RFC 7919. NULL is no
 * Diffie-Hellman exchange. E0h to FEh are vendor specific.
 */
export const DHGID = codes(
  'DHGID',
  { doc: 'Diffie-Hellman groups of DH-HMAC-CHAP', spec: 'Base 2.1 §8.3.4.5.2' },
  { NULL: 0x00, FFDHE2048: 0x01, FFDHE3072: 0x02, FFDHE4096: 0x03, FFDHE6144: 0x04, FFDHE8192: 0x05 },
)

/** Reason codes of a failed authentication. */
export const AUTH_RCODE = codes(
  'AUTH_RCODE',
  {
    doc: 'Reasons for an authentication failure',
    spec: 'Linux 6.1 linux/nvme.h NVME_AUTH_DHCHAP_FAILURE_REASON_FAILED',
  },
  { AUTHENTICATION_FAILURE: 0x01 },
)

/** Explanations of a reason code. Base 2.1 §8.3.4.5 uses five of these names; the figure with the numbers could not be read. */
export const AUTH_RCODEEX = codes(
  'AUTH_RCODEEX',
  {
    doc: 'Explanations of an authentication failure',
    spec: 'Linux 6.1 linux/nvme.h NVME_AUTH_DHCHAP_FAILURE_FAILED',
  },
  {
    AUTHENTICATION_FAILED: 0x01,
    PROTOCOL_NOT_USABLE: 0x02,
    SECURE_CHANNEL_CONCATENATION_MISMATCH: 0x03,
    HASH_FUNCTION_NOT_USABLE: 0x04,
    DH_GROUP_NOT_USABLE: 0x05,
    INCORRECT_PAYLOAD: 0x06,
    INCORRECT_PROTOCOL_MESSAGE: 0x07,
  },
)

const messageHeader = {
  AUTH_TYPE: someOf(u8(0, 'Authentication Type'), AUTH_TYPE.values),
  AUTH_ID: someOf(u8(1, 'Authentication Identifier'), AUTH_ID.values),
  T_ID: inHex(u16(4, 'Transaction Identifier, chosen by the host')),
} satisfies FieldMap

/** An authentication message: `encode` and `create` store AUTH_TYPE and AUTH_ID. */
export type AuthMessage<F extends FieldMap = FieldMap> = Struct<typeof messageHeader & F>

/*#__NO_SIDE_EFFECTS__*/
function message<const F extends FieldMap>(
  name: string,
  { type, id, ...facts }: StructFacts & { readonly type: number; readonly id: number },
  fields: F,
): AuthMessage<F> {
  const declared: Struct<typeof messageHeader> = struct(
    name,
    facts,
    merge(messageHeader, fields) as typeof messageHeader,
    {
      AUTH_TYPE: type,
      AUTH_ID: id,
    },
  )
  return declared as unknown as AuthMessage<F>
}

const { COMMON, DH_HMAC_CHAP } = AUTH_TYPE

/** Starts a transaction; NAPD protocol descriptors of 64 bytes follow. Base 2.1 Figure 731 could not be read. */
export const AuthNegotiate = message(
  'AUTH_Negotiate',
  {
    type: COMMON,
    id: AUTH_ID.NEGOTIATE,
    bytes: 8,
    doc: 'Proposes authentication protocols',
    spec: 'Linux 6.1 linux/nvme.h nvmf_auth_dhchap_negotiate_data',
  },
  {
    SC_C: someOf(u8(6, 'Secure Channel Concatenation'), SC_C.values),
    NAPD: u8(7, 'Number of Authentication Protocol Descriptors'),
  },
)

/** Protocol descriptor of DH-HMAC-CHAP in AUTH_Negotiate (Base 2.1 §8.3.4.5.2, Figure 739). */
export const DhChapDescriptor = struct(
  'DH-HMAC-CHAP protocol descriptor',
  { bytes: 64, doc: 'Proposed hash functions and Diffie-Hellman groups', spec: 'Base 2.1 §8.3.4.5.2' },
  {
    AUTHID: someOf(u8(0, 'Authentication Protocol Identifier: 01h'), { DH_HMAC_CHAP }),
    HALEN: u8(2, 'Number of hash functions, 1 to 30'),
    DHLEN: u8(3, 'Number of Diffie-Hellman groups, 1 to 30'),
    HASHIDLIST: bytes(4, 30, 'Hash Function Identifier List; entries from HALEN on are 0'),
    DHGIDLIST: bytes(34, 30, 'Diffie-Hellman Group Identifier List; entries from DHLEN on are 0'),
  },
)

const HL = u8(6, 'Hash Length in bytes: 32, 48 or 64')
const DHVLEN = u16(10, 'DH Value Length in bytes; 0 without a Diffie-Hellman exchange')

/**
 * Challenges the host (Base 2.1 §8.3.4.5.3, Figure 742). The challenge CVAL of HL bytes follows, then the Diffie-Hellman
 * value DHV of DHVLEN bytes.
 */
export const DhChapChallenge = message(
  'DH-HMAC-CHAP_Challenge',
  { type: DH_HMAC_CHAP, id: AUTH_ID.CHALLENGE, bytes: 16, doc: 'Challenges the host', spec: 'Base 2.1 §8.3.4.5.3' },
  {
    HL,
    HASHID: someOf(u8(8, 'Hash Identifier'), HASHID.values),
    DHGID: someOf(u8(9, 'Diffie-Hellman Group Identifier'), DHGID.values),
    DHVLEN,
    SEQNUM: inHex(u32(12, 'Sequence Number S1')),
  },
)

/**
 * Answers the challenge (Base 2.1 Figure 743, and for bytes 7:0, which could not be read, Linux 6.1
 * nvmf_auth_dhchap_reply_data). The response RVAL of HL bytes follows, then the challenge CVAL of HL bytes, zero unless
 * CVALID is VALID, then the value DHV of DHVLEN bytes. Linux 7.2 sends a SEQNUM other than 0 with CVALID NOT_VALID.
 */
export const DhChapReply = message(
  'DH-HMAC-CHAP_Reply',
  {
    type: DH_HMAC_CHAP,
    id: AUTH_ID.REPLY,
    bytes: 16,
    doc: 'Answers the challenge and may challenge the controller',
    spec: 'Linux 6.1 linux/nvme.h nvmf_auth_dhchap_reply_data',
  },
  {
    HL,
    CVALID: someOf(u8(8, 'Challenge Valid'), { NOT_VALID: 0, VALID: 1 }),
    DHVLEN,
    SEQNUM: inHex(u32(12, 'Sequence Number S2; 0 if CVAL only serves a secure channel and requests no response')),
  },
)

/**
 * Ends the authentication of the host (Base 2.1 §8.3.4.5.5, Figure 744). The response RVAL of HL bytes follows. If
 * RVALID is NOT_VALID, RVAL is zero; by Linux 6.1 linux/nvme.h it is absent.
 */
export const DhChapSuccess1 = message(
  'DH-HMAC-CHAP_Success1',
  {
    type: DH_HMAC_CHAP,
    id: AUTH_ID.SUCCESS1,
    bytes: 16,
    doc: 'The controller authenticated the host',
    spec: 'Base 2.1 §8.3.4.5.5',
  },
  { HL, RVALID: someOf(u8(8, 'Response Valid'), { NOT_VALID: 0, VALID: 1 }) },
)

/** Ends the authentication of the controller (Base 2.1 §8.3.4.5.6, Figure 745). */
export const DhChapSuccess2 = message(
  'DH-HMAC-CHAP_Success2',
  {
    type: DH_HMAC_CHAP,
    id: AUTH_ID.SUCCESS2,
    bytes: 16,
    doc: 'The host authenticated the controller',
    spec: 'Base 2.1 §8.3.4.5.6',
  },
  {},
)

const failure = {
  RCODE: someOf(u8(6, 'Reason Code'), AUTH_RCODE.values),
  RCODEEX: someOf(u8(7, 'Reason Code Explanation'), AUTH_RCODEEX.values),
} satisfies FieldMap

/** Ends a transaction that the controller rejects. Base 2.1 Figure 734 could not be read. */
export const AuthFailure1 = message(
  'AUTH_Failure1',
  {
    type: COMMON,
    id: AUTH_ID.FAILURE1,
    bytes: 8,
    doc: 'The controller ends the transaction',
    spec: 'Linux 6.1 linux/nvme.h nvmf_auth_dhchap_failure_data',
  },
  failure,
)

/** Ends a transaction that the host rejects. Base 2.1 Figure 734 could not be read. */
export const AuthFailure2 = message(
  'AUTH_Failure2',
  {
    type: COMMON,
    id: AUTH_ID.FAILURE2,
    bytes: 8,
    doc: 'The host ends the transaction',
    spec: 'Linux 6.1 linux/nvme.h nvmf_auth_dhchap_failure_data',
  },
  failure,
)

const common: ReadonlyMap<number, AnyStruct> = /*#__PURE__*/ new Map<number, AnyStruct>([
  [AUTH_ID.NEGOTIATE, AuthNegotiate],
  [AUTH_ID.FAILURE2, AuthFailure2],
  [AUTH_ID.FAILURE1, AuthFailure1],
])

const dhChap: ReadonlyMap<number, AnyStruct> = /*#__PURE__*/ new Map<number, AnyStruct>([
  [AUTH_ID.CHALLENGE, DhChapChallenge],
  [AUTH_ID.REPLY, DhChapReply],
  [AUTH_ID.SUCCESS1, DhChapSuccess1],
  [AUTH_ID.SUCCESS2, DhChapSuccess2],
])

/** Returns the message of an AUTH_TYPE and an AUTH_ID; undefined if none is declared. */
export function authMessageOf(type: number, id: number): AnyStruct | undefined {
  if (type === COMMON) return common.get(id)
  return type === DH_HMAC_CHAP ? dhChap.get(id) : undefined
}
