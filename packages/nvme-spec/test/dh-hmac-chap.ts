import { createHmac } from 'node:crypto'
import { AuthNegotiate, DhChapChallenge, DhChapReply, DhChapSuccess1, HASHID } from '../src/fabrics/authentication.js'

/** Values of one transaction by their symbols in Base 2.1 Figure 738. The host's messages carry C2 and S2 in any case. */
export interface Exchanged {
  readonly T_ID: number
  readonly SC_C: number
  readonly hash: number
  readonly S1: number
  readonly C1: Uint8Array
  readonly R1: Uint8Array
  readonly S2: number
  readonly C2: Uint8Array
  /** Undefined if the transaction ended before it. */
  readonly R2?: Uint8Array
}

/** Names of the two parties. */
export interface Nqns {
  readonly host: string
  readonly subsystem: string
}

/** Returns the values in AUTH_Negotiate, DH-HMAC-CHAP_Challenge, _Reply and, if there is one, _Success1. */
export function exchangedIn([negotiate, challenge, reply, success1]: readonly DataView[]): Exchanged {
  const { T_ID, SC_C } = AuthNegotiate.decode(negotiate!)
  const { HASHID: hash, HL, SEQNUM: S1 } = DhChapChallenge.decode(challenge!)
  const valueOf = (message: DataView, index: number) =>
    new Uint8Array(message.buffer, message.byteOffset + DhChapReply.bytes + index * HL, HL)
  return {
    ...{ T_ID, SC_C, hash, S1, C1: valueOf(challenge!, 0) },
    ...{ R1: valueOf(reply!, 0), S2: DhChapReply.decode(reply!).SEQNUM, C2: valueOf(reply!, 1) },
    ...(success1?.getUint8(1) === DhChapSuccess1.create({}).data.getUint8(1) && { R2: valueOf(success1, 0) }),
  }
}

/** Computes R1 of a transaction with the NULL group (Base 2.1 §8.3.4.5.4). */
export function hostResponse(
  { hash, C1, S1, T_ID, SC_C }: Exchanged,
  secret: string,
  { host, subsystem }: Nqns,
): Buffer {
  const context = Buffer.from(`HostHost${host}\0${subsystem}`)
  return hmac(hash, keyOf(secret, host), C1, littleEndian(S1, 4), littleEndian(T_ID, 2), littleEndian(SC_C, 1), context)
}

/** Computes R2 of a transaction with the NULL group (Base 2.1 §8.3.4.5.5). */
export function controllerResponse(
  { hash, C2, S2, T_ID, SC_C }: Exchanged,
  secret: string,
  { host, subsystem }: Nqns,
): Buffer {
  const key = keyOf(secret, subsystem)
  const context = Buffer.from(`Controller${subsystem}\0${host}`)
  return hmac(hash, key, C2, littleEndian(S2, 4), littleEndian(T_ID, 2), littleEndian(SC_C, 1), context)
}

/** Returns the key of a secret (Base 2.1 §8.3.4.5.7) in the form that `nvme gen-dhchap-key` prints. */
function keyOf(printed: string, nqn: string): Uint8Array {
  const [, transformation, base64] = printed.split(':') as [string, string, string]
  const secret = Buffer.from(base64, 'base64').subarray(0, -4)
  return transformation === '00' ? secret : hmac(Number(transformation), secret, Buffer.from(`${nqn}NVMe-over-Fabrics`))
}

function hmac(hash: number, key: Uint8Array, ...parts: readonly Uint8Array[]): Buffer {
  const name = HASHID.nameOf(hash).replace('_', '')
  return createHmac(name, key).update(Buffer.concat(parts)).digest()
}

function littleEndian(value: number, lengthBytes: number): Buffer {
  const bytes = Buffer.alloc(lengthBytes)
  bytes.writeUIntLE(value, 0, lengthBytes)
  return bytes
}
