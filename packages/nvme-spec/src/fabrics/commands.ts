import { viewOf } from '../layout/facts.js'
import {
  ascii,
  bit,
  bits,
  bytes,
  codes,
  count16,
  dwordBits,
  formatFields,
  inHex,
  merge,
  someOf,
  struct,
  u16,
  u32,
  u64,
  u8,
  word32,
  type AnyStruct,
  type Facts,
  type FieldMap,
  type Memory,
  type Struct,
} from '../layout/index.js'
import {
  decodeSglDescriptor,
  encodeSglDescriptor,
  formatSglDescriptor,
  SGL1_OFFSET,
  SGL_DESCRIPTOR_BYTES,
  type DecodedSglDescriptor,
} from '../sgl.js'
import { FABRICS_OPCODE, fabricsPsdt } from './entry.js'

export { FABRICS_OPCODE }

/**
 * Fabrics Command Types (Base 2.2 §6, Figure 541). C0h to FFh are vendor specific; all others not listed are reserved.
 */
export const FCTYPE = codes(
  'FCTYPE',
  { doc: 'Fabrics Command Types', spec: 'Base 2.2 §6' },
  {
    PROPERTY_SET: 0x00,
    CONNECT: 0x01,
    PROPERTY_GET: 0x04,
    AUTHENTICATION_SEND: 0x05,
    AUTHENTICATION_RECEIVE: 0x06,
    DISCONNECT: 0x08,
  },
)

const COMMAND_BYTES = 64

const commandFields = {
  OPC: inHex(dwordBits(0, bits(7, 0, 'Opcode: 7Fh'))),
  PSDT: fabricsPsdt,
  CID: inHex(dwordBits(0, bits(31, 16, 'Command Identifier'))),
  FCTYPE: someOf(u8(4, 'Fabrics Command Type'), FCTYPE.values),
} satisfies FieldMap

const sgl1 = { SGL1: bytes(SGL1_OFFSET, SGL_DESCRIPTOR_BYTES, 'SGL Descriptor 1') } satisfies FieldMap

/** A Fabrics command: `encode` and `create` store its opcode and Fabrics Command Type. */
export type FabricsCommand<F extends FieldMap = FieldMap> = Struct<typeof commandFields & F>

/*#__NO_SIDE_EFFECTS__*/
function fabricsCommand<const F extends FieldMap>(
  name: string,
  { fctype, doc, spec }: Facts & { readonly fctype: number },
  fields: F,
): FabricsCommand<F> {
  const declared: Struct<typeof commandFields> = struct(
    name,
    { bytes: COMMAND_BYTES, doc, spec },
    merge(commandFields, fields) as typeof commandFields,
    { OPC: FABRICS_OPCODE, FCTYPE: fctype },
  )
  return declared as unknown as FabricsCommand<F>
}

/**
 * A Fabrics command of any type, such as a vendor specific one (Base 2.2 §4.1.2, Figures 94 and 95). Linux 6.1 sends
 * PSDT 1 (`SQE.PSDT.SGL`) over TCP; its target rejects PSDT 2 of Figure 95 with Invalid Field in Command.
 */
export const FabricsSqe = struct(
  'Fabrics SQE',
  { bytes: COMMAND_BYTES, doc: 'A command of any Fabrics Command Type', spec: 'Base 2.2 §4.1.2' },
  merge(commandFields, sgl1, { FCTS: bytes(40, 24, 'Fabrics Command Type Specific') }),
)

/**
 * Creates a queue pair; for the Admin Queue, also an association (Base 2.1 §6.3, Figure 545). Transfers `ConnectData`.
 */
export const Connect = fabricsCommand(
  'Connect',
  { fctype: FCTYPE.CONNECT, doc: 'Creates a queue pair', spec: 'Base 2.1 §6.3' },
  merge(sgl1, {
    RECFMT: u16(40, 'Record Format: 0'),
    QID: u16(42, 'Queue Identifier; 0 is the Admin Queue'),
    SQSIZE: count16(44, 'Submission Queue Size in entries'),
    CATTR: u8(46, 'Connect Attributes', {
      PRIOCLASS: bits(1, 0, 'Priority Class', { URGENT: 0, HIGH: 1, MEDIUM: 2, LOW: 3 }),
      DISSQFC: bit(2, 'Disable SQ Flow Control'),
      INDIVIOQDELS: bit(3, 'Individual I/O Queue Deletion Support'),
      CONNENT: bit(4, 'Connecting Entity: 1 for a Discovery controller, 0 for a host'),
    }),
    KATO: u32(48, 'Keep Alive Timeout in milliseconds; for the Admin Queue only'),
    NVMSETID: u16(52, 'NVM Set Identifier; for I/O queues only'),
  }),
)

/**
 * CNTLID in the data of Connect for the Admin Queue: any controller of the dynamic controller model (Base 2.1 §6.3).
 */
export const CNTLID_DYNAMIC = 0xffff

/** CNTLID in the data of Connect for the Admin Queue: any controller of the static controller model (Base 2.1 §6.3). */
export const CNTLID_STATIC = 0xfffe

/** Data of Connect (Base 2.1 §6.3, Figure 546). */
export const ConnectData = struct(
  'Connect data',
  { bytes: 1024, doc: 'Data of Connect', spec: 'Base 2.1 §6.3' },
  {
    HOSTID: bytes(0, 16, 'Host Identifier'),
    CNTLID: inHex(u16(16, 'Controller ID')),
    SUBNQN: ascii(256, 256, 'NVM Subsystem NVMe Qualified Name, null terminated', 0),
    HOSTNQN: ascii(512, 256, 'Host NVMe Qualified Name, null terminated', 0),
  },
)

/** Deletes the I/O queue on which it is submitted (Base 2.1 §6.4, Figure 549). */
export const Disconnect = fabricsCommand(
  'Disconnect',
  { fctype: FCTYPE.DISCONNECT, doc: 'Deletes the I/O queue on which it is submitted', spec: 'Base 2.1 §6.4' },
  { RECFMT: u16(40, 'Record Format: 0') },
)

const PROPERTY_BYTES = { BYTES_4: 0, BYTES_8: 1 } as const

/** Reads a property; `PropertyGetResponse` returns it (Base 2.1 §6.5, Figure 551). */
export const PropertyGet = fabricsCommand(
  'Property Get',
  { fctype: FCTYPE.PROPERTY_GET, doc: 'Reads a property', spec: 'Base 2.1 §6.5' },
  {
    ATTRIB: u8(40, 'Attributes', { PRS: bits(2, 0, 'Property Return Size', PROPERTY_BYTES) }),
    OFST: inHex(u32(44, 'Offset of the property: that of the register with the same name')),
  },
)

/** Writes a property (Base 2.2 §6.6, Figure 554). */
export const PropertySet = fabricsCommand(
  'Property Set',
  { fctype: FCTYPE.PROPERTY_SET, doc: 'Writes a property', spec: 'Base 2.2 §6.6' },
  {
    ATTRIB: u8(40, 'Attributes', { PUS: bits(2, 0, 'Property Update Size', PROPERTY_BYTES) }),
    OFST: inHex(u32(44, 'Offset of the property: that of the register with the same name')),
    VALUE: inHex(u64(48, 'Value; a 4-byte property is in the low half')),
  },
)

/** Fields of both Authentication commands, without their length. */
const security = {
  SPSP0: inHex(u8(41, 'SP Specific 0: bits 7:0 of the Security Protocol Specific field')),
  SPSP1: inHex(u8(42, 'SP Specific 1: bits 15:8 of the Security Protocol Specific field')),
  SECP: inHex(u8(43, 'Security Protocol')),
} satisfies FieldMap

/** Sends data of a security protocol (Base 2.2 §6.2, Figure 544). */
export const AuthenticationSend = fabricsCommand(
  'Authentication Send',
  { fctype: FCTYPE.AUTHENTICATION_SEND, doc: 'Sends data of a security protocol', spec: 'Base 2.2 §6.2' },
  merge(sgl1, security, { TL: u32(44, 'Transfer Length in bytes') }),
)

/** Receives data and status of a security protocol (Base 2.2 §6.1, Figure 542). */
export const AuthenticationReceive = fabricsCommand(
  'Authentication Receive',
  { fctype: FCTYPE.AUTHENTICATION_RECEIVE, doc: 'Receives data of a security protocol', spec: 'Base 2.2 §6.1' },
  merge(sgl1, security, { AL: u32(44, 'Allocation Length in bytes') }),
)

const RESPONSE_BYTES = 16

const response = {
  SQHD: u16(8, 'SQ Head Pointer'),
  CID: inHex(u16(12, 'Command Identifier')),
  STS: u16(14, 'Status Info', {
    SC: inHex(bits(8, 1, 'Status Code')),
    SCT: bits(11, 9, 'Status Code Type'),
    CRD: bits(13, 12, 'Command Retry Delay'),
    M: bit(14, 'More'),
    DNR: bit(15, 'Do Not Retry'),
  }),
} satisfies FieldMap

/**
 * Response to any Fabrics command: a completion queue entry without SQID and Phase Tag (Base 2.2 §4.2.2, Figure 99).
 * Responses to Authentication Send and Receive, Disconnect and Property Set have no further fields. `formatCqe` and
 * `decodeCqe` also accept it.
 */
export const FabricsResponse = struct(
  'Fabrics response',
  { bytes: RESPONSE_BYTES, doc: 'Response to a Fabrics command', spec: 'Base 2.2 §4.2.2' },
  merge({ FRTS: bytes(0, 8, 'Fabrics Response Type Specific') }, response),
)

/**
 * Response to Connect (Base 2.2 §6.3, Figures 548 and 549). CNTLID and AUTHREQ apply to a successful Connect. With the
 * status Connect Invalid Parameters, bytes 3:0 are a `ConnectInvalidParameters`. SQHD FFFFh means that SQ flow control
 * is disabled.
 */
export const ConnectResponse = struct(
  'Connect response',
  { bytes: RESPONSE_BYTES, doc: 'Response to Connect', spec: 'Base 2.2 §6.3' },
  merge(
    {
      CNTLID: inHex(u16(0, 'Controller ID')),
      AUTHREQ: u16(2, 'Authentication and Security Requirements', {
        ATR: bit(1, 'Authentication Transaction Required'),
        ASCR: bit(2, 'Authentication and Secure Channel Required'),
      }),
    },
    response,
  ),
)

/** Dword 0 of the response to a Connect with invalid parameters (Base 2.2 §6.3, Figure 549). */
export const ConnectInvalidParameters = word32(
  'Connect.DW0 (Connect Invalid Parameters)',
  { doc: 'Location of an invalid parameter of Connect', spec: 'Base 2.2 §6.3' },
  {
    IPO: bits(15, 0, 'Invalid Parameter Offset'),
    IPS: bit(16, 'Invalid Parameter Start: 0 for the SQE, 1 for the data'),
  },
)

/** Response to Property Get (Base 2.2 §6.5, Figure 553). */
export const PropertyGetResponse = struct(
  'Property Get response',
  { bytes: RESPONSE_BYTES, doc: 'Response to Property Get', spec: 'Base 2.2 §6.5' },
  merge({ VALUE: inHex(u64(0, 'Value; a 4-byte property is in the low half')) }, response),
)

const byType: ReadonlyMap<number, AnyStruct> = /*#__PURE__*/ new Map<number, AnyStruct>([
  [FCTYPE.PROPERTY_SET, PropertySet],
  [FCTYPE.CONNECT, Connect],
  [FCTYPE.PROPERTY_GET, PropertyGet],
  [FCTYPE.AUTHENTICATION_SEND, AuthenticationSend],
  [FCTYPE.AUTHENTICATION_RECEIVE, AuthenticationReceive],
  [FCTYPE.DISCONNECT, Disconnect],
])

/** Returns the command of a Fabrics Command Type; undefined if none is declared (Base 2.2 §6, Figure 541). */
export function fabricsCommandOf(fctype: number): AnyStruct | undefined {
  return byType.get(fctype)
}

/** A Fabrics command as an object. */
export interface DecodedFabricsSqe {
  /** The specification's name of the command; undefined if its type is not declared. */
  readonly command: string | undefined
  /** The command's fields by name; those of `FabricsSqe` if its type is not declared. SGL1 is a decoded descriptor. */
  readonly fields: Readonly<Record<string, unknown>>
}

/**
 * Decodes the Fabrics command at byteOffset by its Fabrics Command Type (Base 2.2 §4.1.2).
 * @throws RangeError if `memory` ends before the 64 bytes of the command do, or if its opcode is not 7Fh.
 */
export function decodeFabricsSqe(memory: Memory, byteOffset = 0): DecodedFabricsSqe {
  const data = sqeIn(memory, byteOffset)
  const layout = layoutAt(data, byteOffset)
  const fields = layout.decode(data, byteOffset)
  const descriptor = 'SGL1' in fields ? { SGL1: decodeSglDescriptor(data, byteOffset + SGL1_OFFSET) } : {}
  return { command: layout === FabricsSqe ? undefined : layout.name, fields: { ...fields, ...descriptor } }
}

/**
 * Encodes a result of `decodeFabricsSqe` to the same 64 bytes.
 * @throws TypeError or RangeError for a value that does not fit its field, naming it; nothing is written then.
 */
export function encodeFabricsSqe(decoded: DecodedFabricsSqe, memory: Memory, byteOffset = 0): void {
  const { SGL1, ...fields } = decoded.fields
  const descriptor = new Uint8Array(SGL_DESCRIPTOR_BYTES)
  if (SGL1 !== undefined) encodeSglDescriptor(descriptor, 0, SGL1 as DecodedSglDescriptor)
  const values = { ...fields, ...(SGL1 !== undefined && { SGL1: descriptor }) }
  const layout = fabricsCommandOf(fields['FCTYPE'] as number) ?? FabricsSqe
  layout.encode(memory, byteOffset, values, { allowReserved: true })
}

/**
 * Formats the Fabrics command at byteOffset: `Connect CID=0x0000 SGL1={ … } SQSIZE=31`. Zero fields are omitted.
 * @throws as `decodeFabricsSqe`.
 */
export function formatFabricsSqe(memory: Memory, byteOffset = 0): string {
  const data = sqeIn(memory, byteOffset)
  const layout = layoutAt(data, byteOffset)
  const { CID } = FabricsSqe.view(data, byteOffset)
  const parts = [layout.name, `CID=0x${CID.toString(16).padStart(4, '0')}`]
  const known = layout === FabricsSqe ? [] : ['OPC', 'CID', 'FCTYPE']
  for (const [name, text] of formatFields(layout, data, byteOffset)) {
    if (name === 'SGL1') parts.push(`SGL1={ ${formatSglDescriptor(data, byteOffset + SGL1_OFFSET)} }`)
    else if (!known.includes(name)) parts.push(`${name}=${text}`)
  }
  return parts.join(' ')
}

function sqeIn(memory: Memory, byteOffset: number): DataView {
  return viewOf(FabricsSqe, memory, byteOffset)
}

function layoutAt(data: DataView, byteOffset: number): AnyStruct {
  const { OPC, FCTYPE: fctype } = FabricsSqe.view(data, byteOffset)
  if (OPC !== FABRICS_OPCODE)
    throw new RangeError(
      `${FabricsSqe.name}.OPC: expected 0x7f (Fabrics), got 0x${OPC.toString(16)} (${FabricsSqe.spec})`,
    )
  return fabricsCommandOf(fctype) ?? FabricsSqe
}
