import { crc32c } from '../crc32c.js'
import { CQE } from '../entries.js'
import {
  bit,
  bytes,
  codes,
  count32,
  count8,
  inHex,
  merge,
  rejectValue,
  someOf,
  struct,
  structs,
  u16,
  u32,
  u8,
  type AnyStruct,
  type Facts,
  type FieldMap,
  type Memory,
  type Struct,
} from '../layout/index.js'

/** TCP port of I/O controllers; they may use others (TCP 1.0 §3.1). */
export const NVME_TCP_PORT = 4420

/** Default TCP port of Discovery controllers (TCP 1.0 §3.1). */
export const NVME_TCP_DISCOVERY_PORT = 8009

/** Maximum in-capsule data of a Fabrics or Admin command in bytes (TCP 1.0 §3.3.1, Figure 11). */
export const ADMIN_IN_CAPSULE_BYTES = 8192

/** Minimum of MAXH2CDATA that a controller should offer, in bytes (TCP 1.0 §3.6.2.3, Figure 21). */
export const MIN_MAXH2CDATA = 4096

/** Maximum PLEN of H2CTermReq and C2HTermReq in bytes; longer ones are ignored (TCP 1.0 §3.5). */
export const MAX_TERM_REQ_BYTES = 152

/** Length of a header digest or a data digest in bytes: a CRC-32C (TCP 1.0 §3.3.1.1). */
export const DIGEST_BYTES = 4

/** PDU types (TCP 1.0 §3.3, Figure 10). Bit 0 is the direction: 0 from host to controller. */
export const TCP_PDU = codes(
  'TCP_PDU',
  { doc: 'NVMe/TCP PDU types', spec: 'TCP 1.0 §3.3' },
  {
    IC_REQ: 0x00,
    IC_RESP: 0x01,
    H2C_TERM_REQ: 0x02,
    C2H_TERM_REQ: 0x03,
    CAPSULE_CMD: 0x04,
    CAPSULE_RESP: 0x05,
    H2C_DATA: 0x06,
    C2H_DATA: 0x07,
    R2T: 0x09,
  },
)

/**
 * Subtype of a Transport SGL Data Block over TCP: the Command Data Buffer, transferred by H2CData and C2HData PDUs.
 * In-capsule data use a Data Block of the subtype OFFSET (TCP 1.0 §3.3.2, Figure 14).
 */
export const TCP_SGL_SUB_TYPE = codes(
  'TCP_SGL_SUB_TYPE',
  { doc: 'SGL subtypes of TCP', spec: 'TCP 1.0 §3.3.2' },
  { COMMAND_DATA_BUFFER: 0xa },
)

/** Subtype of a Keyed SGL Data Block over RDMA: the controller should invalidate the key (RDMA 1.0 §3.3, Figure 10). */
export const RDMA_SGL_SUB_TYPE = codes(
  'RDMA_SGL_SUB_TYPE',
  { doc: 'SGL subtypes of RDMA', spec: 'RDMA 1.0 §3.3' },
  { INVALIDATE_KEY: 0xf },
)

/** Fatal Error Status of a host (TCP 1.0 §3.6.2.4, Figure 22). */
export const H2C_FATAL_ERROR = codes(
  'H2C_FATAL_ERROR',
  { doc: 'Fatal errors that a host detects', spec: 'TCP 1.0 §3.6.2.4' },
  {
    INVALID_PDU_HEADER_FIELD: 0x01,
    PDU_SEQUENCE_ERROR: 0x02,
    HEADER_DIGEST_ERROR: 0x03,
    DATA_TRANSFER_OUT_OF_RANGE: 0x04,
    R2T_LIMIT_EXCEEDED: 0x05,
    UNSUPPORTED_PARAMETER: 0x06,
  },
)

/** Fatal Error Status of a controller (TCP 1.0 §3.6.2.5, Figure 23). */
export const C2H_FATAL_ERROR = codes(
  'C2H_FATAL_ERROR',
  { doc: 'Fatal errors that a controller detects', spec: 'TCP 1.0 §3.6.2.5' },
  {
    INVALID_PDU_HEADER_FIELD: 0x01,
    PDU_SEQUENCE_ERROR: 0x02,
    HEADER_DIGEST_ERROR: 0x03,
    DATA_TRANSFER_OUT_OF_RANGE: 0x04,
    DATA_TRANSFER_LIMIT_EXCEEDED: 0x05,
    UNSUPPORTED_PARAMETER: 0x06,
  },
)

const commonHeader = {
  PDU_TYPE: someOf(u8(0, 'PDU type'), TCP_PDU.values),
  HLEN: u8(2, 'Header Length in bytes, without the header digest'),
  PDO: u8(3, 'PDU Data Offset in bytes from the start of the PDU'),
  PLEN: u32(4, 'PDU Length in bytes, with digests, padding and data'),
} satisfies FieldMap

const HDGSTF = bit(0, 'A header digest follows the header')
const DDGSTF = bit(1, 'A data digest follows the data')

/** The PDU Common Header: the first bytes of every PDU (TCP 1.0 §3.6.2.1, Figure 19). */
export const TcpPduHeader = struct(
  'PDU Common Header',
  { bytes: 8, doc: 'First bytes of every NVMe/TCP PDU', spec: 'TCP 1.0 §3.6.2.1' },
  merge(commonHeader, {
    FLAGS: u8(1, 'Flags, by PDU type', {
      HDGSTF,
      DDGSTF,
      LAST_PDU: bit(2, 'Last PDU of a transfer'),
      SUCCESS: bit(3, 'The command succeeded; no response capsule follows'),
    }),
  }),
)

/** Header of a PDU: `encode` and `create` store PDU_TYPE and HLEN, and HLEN as PLEN if none is given. */
export type TcpPdu<F extends FieldMap = FieldMap> = Struct<typeof commonHeader & F>

/*#__NO_SIDE_EFFECTS__*/
function pdu<const F extends FieldMap>(
  name: string,
  { type, hlen, doc, spec }: Facts & { readonly type: number; readonly hlen: number },
  fields: F,
): TcpPdu<F> {
  const declared: Struct<typeof commonHeader> = struct(
    name,
    { bytes: hlen, doc, spec },
    merge(commonHeader, fields) as typeof commonHeader,
    { PDU_TYPE: type, HLEN: hlen, PLEN: hlen },
  )
  return declared as unknown as TcpPdu<F>
}

const digests = {
  HDGST_ENABLE: bit(0, 'Use of the header digest'),
  DDGST_ENABLE: bit(1, 'Use of the data digest'),
}

/** Requests a connection (TCP 1.0 §3.6.2.2, Figure 20). */
export const IcReq = pdu(
  'ICReq',
  { type: TCP_PDU.IC_REQ, hlen: 128, doc: 'Initialize Connection Request', spec: 'TCP 1.0 §3.6.2.2' },
  {
    PFV: u16(8, 'PDU Format Version: 0'),
    HPDA: count8(10, 'Host PDU Data Alignment in dwords'),
    DGST: u8(11, 'Digests that the host requests', digests),
    MAXR2T: count32(12, 'Maximum Number of Outstanding R2T PDUs per command'),
  },
)

/** Accepts a connection (TCP 1.0 §3.6.2.3, Figure 21). */
export const IcResp = pdu(
  'ICResp',
  { type: TCP_PDU.IC_RESP, hlen: 128, doc: 'Initialize Connection Response', spec: 'TCP 1.0 §3.6.2.3' },
  {
    PFV: u16(8, 'PDU Format Version: 0'),
    CPDA: count8(10, 'Controller PDU Data Alignment in dwords'),
    DGST: u8(11, 'Digests of the connection', digests),
    MAXH2CDATA: u32(12, 'Maximum Host to Controller Data length in bytes per H2CData PDU'),
  },
)

const FEI = inHex(u32(10, 'Fatal Error Information: offset of a field, or the digest received'))

/** Ends a connection after an error that the host detected; the failing header follows (TCP 1.0 §3.6.2.4, Figure 22). */
export const H2cTermReq = pdu(
  'H2CTermReq',
  {
    type: TCP_PDU.H2C_TERM_REQ,
    hlen: 24,
    doc: 'Host to Controller Terminate Connection Request',
    spec: 'TCP 1.0 §3.6.2.4',
  },
  { FES: someOf(u16(8, 'Fatal Error Status'), H2C_FATAL_ERROR.values), FEI },
)

/** Ends a connection after an error that the controller detected (TCP 1.0 §3.6.2.5, Figure 23). */
export const C2hTermReq = pdu(
  'C2HTermReq',
  {
    type: TCP_PDU.C2H_TERM_REQ,
    hlen: 24,
    doc: 'Controller to Host Terminate Connection Request',
    spec: 'TCP 1.0 §3.6.2.5',
  },
  { FES: someOf(u16(8, 'Fatal Error Status'), C2H_FATAL_ERROR.values), FEI },
)

/**
 * A command capsule (TCP 1.0 §3.6.2.6, Figure 24): a submission queue entry, and its data if SGL1 is a Data Block of the
 * subtype OFFSET. `decodeSqe` and `decodeFabricsSqe` read the entry at `CapsuleCmd.CCSQE.offset`.
 */
export const CapsuleCmd = pdu(
  'CapsuleCmd',
  { type: TCP_PDU.CAPSULE_CMD, hlen: 72, doc: 'Command Capsule', spec: 'TCP 1.0 §3.6.2.6' },
  { FLAGS: u8(1, 'Flags', { HDGSTF, DDGSTF }), CCSQE: bytes(8, 64, 'Command Capsule SQE') },
)

/** A response capsule: a completion queue entry (TCP 1.0 §3.6.2.7, Figure 25). */
export const CapsuleResp = pdu(
  'CapsuleResp',
  { type: TCP_PDU.CAPSULE_RESP, hlen: 24, doc: 'Response Capsule', spec: 'TCP 1.0 §3.6.2.7' },
  { FLAGS: u8(1, 'Flags', { HDGSTF }), RCCQE: structs(8, 1, CQE, 'Response Capsule CQE') },
)

const CCCID = inHex(u16(8, 'Command Capsule CID'))
const TTAG = inHex(u16(10, 'Transfer Tag of the R2T'))
const DATAO = u32(12, 'Data Offset in bytes in the Command Data Buffer')
const DATAL = u32(16, 'Data Length in bytes')

/** Data that an R2T requested (TCP 1.0 §3.6.2.8, Figure 26). */
export const H2cData = pdu(
  'H2CData',
  { type: TCP_PDU.H2C_DATA, hlen: 24, doc: 'Host To Controller Data Transfer', spec: 'TCP 1.0 §3.6.2.8' },
  {
    FLAGS: u8(1, 'Flags', { HDGSTF, DDGSTF, LAST_PDU: bit(2, 'Last PDU for the R2T') }),
    CCCID,
    TTAG,
    DATAO,
    DATAL,
  },
)

/** Data from the controller to the host (TCP 1.0 §3.6.2.9, Figure 27). */
export const C2hData = pdu(
  'C2HData',
  { type: TCP_PDU.C2H_DATA, hlen: 24, doc: 'Controller To Host Data Transfer', spec: 'TCP 1.0 §3.6.2.9' },
  {
    FLAGS: u8(1, 'Flags', {
      HDGSTF,
      DDGSTF,
      LAST_PDU: bit(2, 'Last PDU for the command'),
      SUCCESS: bit(3, 'The command succeeded; no response capsule follows'),
    }),
    CCCID,
    DATAO,
    DATAL,
  },
)

/** Requests data of a command (TCP 1.0 §3.6.2.10, Figure 28). */
export const R2t = pdu(
  'R2T',
  { type: TCP_PDU.R2T, hlen: 24, doc: 'Ready to Transfer', spec: 'TCP 1.0 §3.6.2.10' },
  {
    FLAGS: u8(1, 'Flags', { HDGSTF }),
    CCCID,
    TTAG: inHex(u16(10, 'Transfer Tag, chosen by the controller')),
    R2TO: u32(12, 'Requested Data Offset in bytes in the Command Data Buffer'),
    R2TL: u32(16, 'Requested Data Length in bytes'),
  },
)

const byType: ReadonlyMap<number, AnyStruct> = /*#__PURE__*/ new Map<number, AnyStruct>([
  [TCP_PDU.IC_REQ, IcReq],
  [TCP_PDU.IC_RESP, IcResp],
  [TCP_PDU.H2C_TERM_REQ, H2cTermReq],
  [TCP_PDU.C2H_TERM_REQ, C2hTermReq],
  [TCP_PDU.CAPSULE_CMD, CapsuleCmd],
  [TCP_PDU.CAPSULE_RESP, CapsuleResp],
  [TCP_PDU.H2C_DATA, H2cData],
  [TCP_PDU.C2H_DATA, C2hData],
  [TCP_PDU.R2T, R2t],
])

/** Returns the header of a PDU type; undefined if the type is reserved (TCP 1.0 §3.3, Figure 10). */
export function tcpPduOf(type: number): AnyStruct | undefined {
  return byType.get(type)
}

/** Locations of the parts of a PDU, as byte offsets from its start. */
export interface TcpPduParts {
  /** The PDU's header, at offset 0. */
  readonly header: AnyStruct
  /** Offset of the header digest; undefined without one. */
  readonly headerDigest: number | undefined
  /** Offset of the data; undefined without data. */
  readonly data: number | undefined
  /** Length of the data in bytes. */
  readonly dataBytes: number
  /** Offset of the data digest; undefined without one. */
  readonly dataDigest: number | undefined
  /** Length of the whole PDU in bytes: PLEN. */
  readonly lengthBytes: number
}

/**
 * Returns the locations of the parts of the PDU at byteOffset. Reads only the Common Header; the rest of the PDU may not
 * have arrived yet (TCP 1.0 §3.6.2, Figures 19 to 28).
 * @throws RangeError if `memory` ends before the 8 bytes of the Common Header do, or if a field of the header is invalid:
 *   the error names the field, whose offset an H2CTermReq or C2HTermReq reports.
 */
export function tcpPduParts(memory: Memory, byteOffset = 0): TcpPduParts {
  const { PDU_TYPE, FLAGS, HLEN, PDO, PLEN } = TcpPduHeader.view(memory, byteOffset)
  const header = tcpPduOf(PDU_TYPE) ?? refuseHeader('PDU_TYPE', 'a value of TCP_PDU', PDU_TYPE)
  if (HLEN !== header.bytes) refuseHeader('HLEN', `${header.bytes} bytes for ${header.name}`, HLEN)
  const flags = header.fields['FLAGS']?.rows ?? {}
  const { HDGSTF, DDGSTF } = TcpPduHeader.FLAGS
  const headerDigest = 'HDGSTF' in flags && HDGSTF.of(FLAGS) === 1 ? HLEN : undefined
  const headerEnd = headerDigest === undefined ? HLEN : HLEN + DIGEST_BYTES
  if (PLEN < headerEnd) refuseHeader('PLEN', `at least ${headerEnd} bytes for ${header.name}`, PLEN)
  const isTermReq = PDU_TYPE === TCP_PDU.H2C_TERM_REQ || PDU_TYPE === TCP_PDU.C2H_TERM_REQ
  if (PLEN === headerEnd || !(isTermReq || 'DDGSTF' in flags)) {
    if (PLEN !== headerEnd) refuseHeader('PLEN', `${headerEnd} bytes for ${header.name}`, PLEN)
    return { header, headerDigest, data: undefined, dataBytes: 0, dataDigest: undefined, lengthBytes: PLEN }
  }
  const start = isTermReq ? headerEnd : PDO
  const end = 'DDGSTF' in flags && DDGSTF.of(FLAGS) === 1 ? PLEN - DIGEST_BYTES : PLEN
  if (end <= headerEnd) refuseHeader('PLEN', `more than ${headerEnd + DIGEST_BYTES} bytes, with a data digest`, PLEN)
  if (start < headerEnd || start > end) refuseHeader('PDO', `${headerEnd} to ${end} for PLEN ${PLEN}`, start)
  const dataDigest = end === PLEN ? undefined : end
  return { header, headerDigest, data: start, dataBytes: end - start, dataDigest, lengthBytes: PLEN }
}

function refuseHeader(field: string, expected: string, got: number): never {
  const { name, spec, fields } = TcpPduHeader
  return rejectValue({ name: `${name}.${field}`, spec }, fields[field as keyof typeof fields].doc, expected, got)
}

/**
 * Returns the digest of a PDU's header or data: a CRC-32C, stored as a little-endian dword (TCP 1.0 §3.3.1.1). Neither
 * includes padding or digests.
 */
export function tcpDigest(bytes: Uint8Array): number {
  return ~crc32c(~0, bytes) >>> 0
}
