import { describe, expect, it } from 'vitest'
import { toHex } from '../../test/bytes.js'
import {
  DIFFIE_HELLMAN,
  HOST,
  HOST_AND_CONTROLLER,
  WRONG_CONTROLLER_KEY,
  WRONG_HOST_KEY,
} from '../../test/captured-authentication.js'
import { controllerResponse, exchangedIn, hostResponse } from '../../test/dh-hmac-chap.js'
import { NQNS, PLAIN, TRANSFORMED, WRONG } from '../../test/dhchap-secrets.js'
import type { AnyStruct } from '../layout/index.js'
import { authMessageOf, AuthNegotiate, DhChapDescriptor } from './authentication.js'
import { FabricsResponse, fabricsCommandOf, formatFabricsSqe } from './commands.js'
import { C2hData, CapsuleCmd, CapsuleResp, tcpPduParts } from './tcp.js'

const transactions: readonly [what: string, pdus: readonly DataView[]][] = [
  ['the second authentication of a host', HOST],
  ['mutual authentication', HOST_AND_CONTROLLER],
  ['mutual authentication with Diffie-Hellman', DIFFIE_HELLMAN],
  ['a wrong host key', WRONG_HOST_KEY],
  ['a wrong controller key', WRONG_CONTROLLER_KEY],
]

const ENTRY = CapsuleCmd.CCSQE.offset

/** The authentication messages of a transaction, each with its declaration. */
function messagesIn(pdus: readonly DataView[]): { message: AnyStruct; view: DataView }[] {
  return pdus.flatMap((pdu) => {
    const { data, dataBytes } = tcpPduParts(pdu)
    if (data === undefined) return []
    const view = new DataView(pdu.buffer, data, dataBytes)
    return [{ message: authMessageOf(view.getUint8(0), view.getUint8(1))!, view }]
  })
}

const viewsIn = (pdus: readonly DataView[]) => messagesIn(pdus).map(({ view }) => view)
const decodedIn = (pdus: readonly DataView[]) => messagesIn(pdus).map(({ message, view }) => message.decode(view))

function expectSameBytes(declared: AnyStruct, view: DataView, byteOffset = 0): void {
  const decoded = declared.decode(view, byteOffset)
  expect(decoded).not.toHaveProperty('reserved')
  const copy = new DataView(new ArrayBuffer(declared.bytes))
  declared.encode(copy, 0, decoded)
  expect(toHex(copy)).toBe(toHex(view, byteOffset, declared.bytes))
}

describe('authentication between the Linux host and the Linux target', () => {
  it.each(transactions)('decodes and encodes each PDU, command, response and message of %s', (_, pdus) => {
    for (const pdu of pdus) {
      const { header } = tcpPduParts(pdu)
      expectSameBytes(header, pdu)
      if (header.name === CapsuleResp.name) expectSameBytes(FabricsResponse, pdu, CapsuleResp.RCCQE.offset)
      if (header.name !== CapsuleCmd.name) continue
      const command = fabricsCommandOf(pdu.getUint8(ENTRY + 4))!
      expect(command.name).toMatch(/^Authentication (Send|Receive)$/)
      expectSameBytes(command, pdu, ENTRY)
    }
    for (const { message, view } of messagesIn(pdus)) expectSameBytes(message, view)
  })

  it('decodes Authentication Send and Receive', () => {
    const [send, receive] = HOST.filter((pdu) => tcpPduParts(pdu).header.name === CapsuleCmd.name)
    expect(formatFabricsSqe(send!, ENTRY)).toBe(
      'Authentication Send CID=0x1007 PSDT=0x1 SGL1={ SGL Data Block descriptor LEN=72 SGLID={ SGLDST=OFFSET ' +
        'SGLDT=DATA_BLOCK } } SPSP0=0x01 SPSP1=0x01 SECP=0xe9 TL=72',
    )
    expect(formatFabricsSqe(receive!, ENTRY)).toBe(
      'Authentication Receive CID=0x1008 PSDT=0x1 SGL1={ Transport SGL Data Block descriptor LEN=4096 SGLID={ ' +
        'SGLDST=0xa SGLDT=TRANSPORT_DATA_BLOCK } } SPSP0=0x01 SPSP1=0x01 SECP=0xe9 AL=4096',
    )
    expect(C2hData.decode(HOST[3]!)).toMatchObject({ CCCID: 0x1008, DATAO: 0, DATAL: 4096 })
  })

  it('decodes the proposal of SHA-256, SHA-384 and SHA-512, without a group and with each group of RFC 7919', () => {
    const [negotiate] = viewsIn(HOST)
    expect(AuthNegotiate.decode(negotiate!)).toEqual({ AUTH_TYPE: 0, AUTH_ID: 0, T_ID: 1, SC_C: 0, NAPD: 1 })
    const { AUTHID, HALEN, DHLEN, HASHIDLIST, DHGIDLIST } = DhChapDescriptor.decode(negotiate!, AuthNegotiate.bytes)
    expect([AUTHID, HALEN, DHLEN]).toEqual([1, 3, 6])
    expect([...HASHIDLIST]).toEqual([1, 2, 3, ...Array<number>(27).fill(0)])
    expect([...DHGIDLIST]).toEqual([0, 1, 2, 3, 4, 5, ...Array<number>(24).fill(0)])
    expectSameBytes(DhChapDescriptor, negotiate!, AuthNegotiate.bytes)
  })

  it('decodes an authentication of the host only: S2 is not 0, although CVALID is NOT_VALID', () => {
    expect(decodedIn(HOST)).toEqual([
      expect.objectContaining({ AUTH_ID: 0x00, T_ID: 1 }),
      ...[{ AUTH_TYPE: 1, AUTH_ID: 0x01, T_ID: 1, HL: 32, HASHID: 1, DHGID: 0, DHVLEN: 0, SEQNUM: 0x0a8e_de1d }],
      ...[{ AUTH_TYPE: 1, AUTH_ID: 0x02, T_ID: 1, HL: 32, CVALID: 0, DHVLEN: 0, SEQNUM: 0x0a8e_de1e }],
      ...[{ AUTH_TYPE: 1, AUTH_ID: 0x03, T_ID: 1, HL: 32, RVALID: 0 }],
    ])
    expect(exchangedIn(viewsIn(HOST))).toMatchObject({ C2: new Uint8Array(32), R2: new Uint8Array(32) })
  })

  it('decodes mutual authentication', () => {
    expect(decodedIn(HOST_AND_CONTROLLER)).toEqual([
      expect.objectContaining({ AUTH_ID: 0x00, T_ID: 0 }),
      ...[{ AUTH_TYPE: 1, AUTH_ID: 0x01, T_ID: 0, HL: 48, HASHID: 2, DHGID: 0, DHVLEN: 0, SEQNUM: 0x0a8e_de1f }],
      ...[{ AUTH_TYPE: 1, AUTH_ID: 0x02, T_ID: 0, HL: 48, CVALID: 1, DHVLEN: 0, SEQNUM: 0x0a8e_de20 }],
      ...[{ AUTH_TYPE: 1, AUTH_ID: 0x03, T_ID: 0, HL: 48, RVALID: 1 }],
      ...[{ AUTH_TYPE: 1, AUTH_ID: 0x04, T_ID: 0 }],
    ])
  })

  it('decodes a Diffie-Hellman exchange, whose values end the messages', () => {
    const [, challenge, reply] = viewsIn(DIFFIE_HELLMAN)
    expect(decodedIn(DIFFIE_HELLMAN).slice(1, 3)).toEqual([
      expect.objectContaining({ HL: 64, HASHID: 3, DHGID: 1, DHVLEN: 256, SEQNUM: 0x0a8e_de21 }),
      expect.objectContaining({ HL: 64, CVALID: 1, DHVLEN: 256, SEQNUM: 0x0a8e_de22 }),
    ])
    // The target fills the rest of the Allocation Length with zeros.
    expect(challenge!.getUint8(16 + 64 + 256 - 1)).not.toBe(0)
    expect(toHex(challenge!, 16 + 64 + 256)).toMatch(/^00( 00)*$/)
    expect(reply!.byteLength).toBe(16 + 64 + 64 + 256)
  })

  it.each([
    ['the host, SHA-256', HOST, PLAIN.host, undefined],
    ['both parties, SHA-384 and transformed secrets', HOST_AND_CONTROLLER, TRANSFORMED.host, TRANSFORMED.controller],
    ['a host with a wrong key', WRONG_HOST_KEY, WRONG, undefined],
    ['a controller whose key the host does not have', WRONG_CONTROLLER_KEY, PLAIN.host, PLAIN.controller],
  ])('finds the responses of %s where they are declared', (_, pdus, host, controller) => {
    const exchanged = exchangedIn(viewsIn(pdus))
    expect(exchanged.R1).toEqual(new Uint8Array(hostResponse(exchanged, host, NQNS)))
    if (controller !== undefined)
      expect(exchanged.R2).toEqual(new Uint8Array(controllerResponse(exchanged, controller, NQNS)))
  })

  it('decodes the failures that end an authentication with a wrong key', () => {
    const failed = { AUTH_TYPE: 0, T_ID: 0, RCODE: 1, RCODEEX: 1 }
    expect(decodedIn(WRONG_HOST_KEY).at(-1)).toEqual({ ...failed, AUTH_ID: 0xf1 })
    expect(decodedIn(WRONG_CONTROLLER_KEY).at(-1)).toEqual({ ...failed, AUTH_ID: 0xf0 })
  })
})
