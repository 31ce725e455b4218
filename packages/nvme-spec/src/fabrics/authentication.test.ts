import { describe, expect, it } from 'vitest'
import { placesOf, type Places } from '../../test/figures.js'
import { fromHex, sparse, toHex, unwritten } from '../../test/bytes.js'
import type { AnyStruct } from '../layout/index.js'
import {
  AUTH_ID,
  AUTH_RCODE,
  AUTH_RCODEEX,
  AUTH_TYPE,
  AUTHENTICATION_SECP,
  AuthFailure1,
  AuthFailure2,
  authMessageOf,
  AuthNegotiate,
  DhChapChallenge,
  DhChapDescriptor,
  DhChapReply,
  DhChapSuccess1,
  DhChapSuccess2,
  DHGID,
  HASHID,
  SC_C,
} from './authentication.js'

describe('numbers of authentication', () => {
  it('types, messages and failures are those of Linux 6.1', () => {
    expect(AUTHENTICATION_SECP).toBe(0xe9)
    expect(AUTH_TYPE.values).toEqual({ COMMON: 0x00, DH_HMAC_CHAP: 0x01 })
    expect(AUTH_ID.values).toEqual({
      ...{ NEGOTIATE: 0x00, CHALLENGE: 0x01, REPLY: 0x02, SUCCESS1: 0x03, SUCCESS2: 0x04 },
      ...{ FAILURE2: 0xf0, FAILURE1: 0xf1 },
    })
    expect(AUTH_RCODE.values).toEqual({ AUTHENTICATION_FAILURE: 0x01 })
    expect(AUTH_RCODEEX.values).toEqual({
      ...{ AUTHENTICATION_FAILED: 0x01, PROTOCOL_NOT_USABLE: 0x02, SECURE_CHANNEL_CONCATENATION_MISMATCH: 0x03 },
      ...{ HASH_FUNCTION_NOT_USABLE: 0x04, DH_GROUP_NOT_USABLE: 0x05 },
      ...{ INCORRECT_PAYLOAD: 0x06, INCORRECT_PROTOCOL_MESSAGE: 0x07 },
    })
  })

  it('secure channel concatenation has the values of Linux 6.15', () => {
    expect(SC_C.values).toEqual({ NOSC: 0x00, NEWTLSPSK: 0x02, REPLACETLSPSK: 0x03 })
  })

  it('hash functions and Diffie-Hellman groups are those of Base 2.1 Figures 740 and 741', () => {
    expect(HASHID.values).toEqual({ SHA_256: 0x01, SHA_384: 0x02, SHA_512: 0x03 })
    expect(DHGID.values).toEqual({
      ...{ NULL: 0x00, FFDHE2048: 0x01, FFDHE3072: 0x02, FFDHE4096: 0x03, FFDHE6144: 0x04, FFDHE8192: 0x05 },
    })
  })
})

describe('authentication messages', () => {
  const header: Places = { AUTH_TYPE: [0, 1], AUTH_ID: [1, 1], T_ID: [4, 2] }
  const failure: Places = { ...header, RCODE: [6, 1], RCODEEX: [7, 1] }
  const challenge: Places = { ...header, HL: [6, 1], HASHID: [8, 1], DHGID: [9, 1], DHVLEN: [10, 2], SEQNUM: [12, 4] }
  const reply: Places = { ...header, HL: [6, 1], CVALID: [8, 1], DHVLEN: [10, 2], SEQNUM: [12, 4] }
  const descriptor: Places = {
    ...{ AUTHID: [0, 1], HALEN: [2, 1], DHLEN: [3, 1], HASHIDLIST: [4, 30], DHGIDLIST: [34, 30] },
  }
  const figures: readonly [message: AnyStruct, figure: string, bytes: number, places: Places][] = [
    [AuthNegotiate, 'Linux 6.1 nvmf_auth_dhchap_negotiate_data', 8, { ...header, SC_C: [6, 1], NAPD: [7, 1] }],
    [DhChapDescriptor, 'Base 2.1 Figure 739', 64, descriptor],
    [DhChapChallenge, 'Base 2.1 Figure 742', 16, challenge],
    [DhChapReply, 'Base 2.1 Figure 743', 16, reply],
    [DhChapSuccess1, 'Base 2.1 Figure 744', 16, { ...header, HL: [6, 1], RVALID: [8, 1] }],
    [DhChapSuccess2, 'Base 2.1 Figure 745', 16, header],
    [AuthFailure1, 'Linux 6.1 nvmf_auth_dhchap_failure_data', 8, failure],
    [AuthFailure2, 'Linux 6.1 nvmf_auth_dhchap_failure_data', 8, failure],
  ]
  it.each(figures)('$name has the length and the fields of %s', (message, _figure, bytes, places) => {
    expect(message.bytes).toBe(bytes)
    expect(placesOf(message)).toEqual(places)
  })

  const identifiers: readonly [message: AnyStruct, start: string][] = [
    [AuthNegotiate, '00 00'],
    [DhChapChallenge, '01 01'],
    [DhChapReply, '01 02'],
    [DhChapSuccess1, '01 03'],
    [DhChapSuccess2, '01 04'],
    [AuthFailure2, '00 f0'],
    [AuthFailure1, '00 f1'],
  ]
  it.each(identifiers)('$name stores its type and identifier, %s, and is found by them', (message, start) => {
    const data = unwritten(message.bytes)
    message.encode(data, 0, {})
    expect(toHex(data, 0, 2)).toBe(start)
    expect(toHex(data, 2)).toBe('00 '.repeat(message.bytes - 2).trim())
    expect(authMessageOf(data.getUint8(0), data.getUint8(1))).toBe(message)
  })

  it('an identifier of the other type and an unassigned identifier belong to no message', () => {
    for (const [type, id] of [
      ...[AUTH_ID.CHALLENGE, AUTH_ID.SUCCESS2, 0xff].map((id) => [AUTH_TYPE.COMMON, id] as const),
      ...[AUTH_ID.NEGOTIATE, AUTH_ID.FAILURE1, 0x05].map((id) => [AUTH_TYPE.DH_HMAC_CHAP, id] as const),
      [0x02, AUTH_ID.CHALLENGE] as const,
    ])
      expect(authMessageOf(type, id)).toBeUndefined()
  })

  it('a host proposes two hash functions and the NULL group in AUTH_Negotiate', () => {
    const proposal = sparse(72, { 0: '00 00 00 00 34 12 00 01', 8: '01 00 02 01 01 02' })
    expect(AuthNegotiate.decode(proposal)).toEqual({ AUTH_TYPE: 0, AUTH_ID: 0, T_ID: 0x1234, SC_C: 0, NAPD: 1 })
    const { HASHIDLIST, DHGIDLIST, HALEN, DHLEN } = DhChapDescriptor.decode(proposal, AuthNegotiate.bytes)
    expect([...HASHIDLIST.subarray(0, HALEN)]).toEqual([HASHID.SHA_256, HASHID.SHA_384])
    expect([...DHGIDLIST.subarray(0, DHLEN)]).toEqual([DHGID.NULL])
  })

  it('a challenge and its reply name the lengths of the values that follow', () => {
    const challenge = fromHex('01 01 00 00 34 12 30 00 02 02 80 01 ef be ad de')
    expect(DhChapChallenge.decode(challenge)).toEqual({
      ...{ AUTH_TYPE: 1, AUTH_ID: 1, T_ID: 0x1234, HL: 48, HASHID: 2, DHGID: 2, DHVLEN: 384, SEQNUM: 0xdeadbeef },
    })
    expect(DhChapChallenge.describe(challenge)).toContain('HASHID=SHA_384')
    const reply = fromHex('01 02 00 00 34 12 30 00 01 00 80 01 01 00 00 00')
    expect(DhChapReply.decode(reply)).toEqual({
      ...{ AUTH_TYPE: 1, AUTH_ID: 2, T_ID: 0x1234, HL: 48, CVALID: DhChapReply.CVALID.VALID, DHVLEN: 384, SEQNUM: 1 },
    })
  })

  it('a failure names its reason and explanation', () => {
    const failure = fromHex('00 f1 00 00 34 12 01 05')
    const { RCODE, RCODEEX } = AuthFailure1.decode(failure)
    expect([AUTH_RCODE.nameOf(RCODE), AUTH_RCODEEX.nameOf(RCODEEX)]).toEqual([
      'AUTHENTICATION_FAILURE',
      'DH_GROUP_NOT_USABLE',
    ])
  })

  it('reserved bytes and vendor specific identifiers keep their values when decoded and encoded', () => {
    const messages: readonly [message: AnyStruct, found: string][] = [
      [DhChapChallenge, '01 01 aa bb 34 12 20 cc e0 e1 00 00 01 00 00 00'],
      [DhChapSuccess2, '01 04 00 00 34 12 00 00 00 00 00 00 00 00 00 ff'],
      [AuthNegotiate, '00 00 00 00 34 12 01 01'],
    ]
    for (const [message, found] of messages) {
      const copy = unwritten(message.bytes)
      message.encode(copy, 0, message.decode(fromHex(found)))
      expect(toHex(copy)).toBe(found)
    }
  })
})
