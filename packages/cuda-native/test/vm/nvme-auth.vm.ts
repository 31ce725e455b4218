import {
  AUTH_RCODE,
  AUTH_RCODEEX,
  AuthenticationReceive,
  AuthenticationSend,
  AuthFailure1,
  AuthFailure2,
  authMessageOf,
  AuthNegotiate,
  C2hData,
  CapsuleCmd,
  CapsuleResp,
  ConnectResponse,
  DhChapChallenge,
  DhChapReply,
  DHGID,
  FABRICS_OPCODE,
  fabricsCommandOf,
  HASHID,
} from '@gpunvme/nvme-spec/fabrics'
import { beforeAll, describe, expect, test } from 'vitest'
import { controllerResponse, exchangedIn, hostResponse } from '../../../nvme-spec/test/dh-hmac-chap.js'
import { NQNS } from '../../../nvme-spec/test/dhchap-secrets.js'
import { ASSOCIATIONS, type Association } from './fabrics/associations.js'
import type { GuestRun } from './guest.js'
import { kernelFaults } from './kernel-log.js'
import { newestParts } from './kmod-kernels.js'
import { parts } from './modes.js'
import { recordIn, type Connection } from './recorded.js'

// Records how Linux's NVMe/TCP host and target authenticate in one guest, and decodes it with
// `@gpunvme/nvme-spec/fabrics`. test/captured-authentication.ts of nvme-spec contains some of these PDUs. Debian's Linux 6.1 has
// neither CONFIG_NVME_AUTH nor CONFIG_NVME_TARGET_AUTH.

const HL = { sha256: 32, sha384: 48, sha512: 64 }

/** Returns the authentication messages of a connection, by transaction. */
function transactionsIn({ host, controller }: Connection): DataView[][] {
  const transactions: DataView[][] = []
  const commands = host.filter(({ header }) => header.name === CapsuleCmd.name)
  for (const { view, data: dataAt = 0 } of commands) {
    const at = CapsuleCmd.CCSQE.offset
    const command = view.getUint8(at) === FABRICS_OPCODE ? fabricsCommandOf(view.getUint8(at + 4)) : undefined
    if (command?.name === AuthenticationSend.name) {
      const { TL } = AuthenticationSend.decode(view, at)
      const message = new DataView(view.buffer, view.byteOffset + dataAt, TL)
      if (nameOf(message) === AuthNegotiate.name) transactions.push([])
      transactions.at(-1)!.push(message)
    } else if (command?.name === AuthenticationReceive.name) {
      const { CID, AL } = AuthenticationReceive.decode(view, at)
      const isAnswer = (pdu: DataView) => C2hData.decode(pdu).CCCID === CID
      const answer = controller.find((pdu) => pdu.header.name === C2hData.name && isAnswer(pdu.view))!
      transactions.at(-1)!.push(new DataView(answer.bytes.buffer, answer.bytes.byteOffset + answer.data!, AL))
    }
  }
  return transactions
}

const messageOf = (message: DataView) => authMessageOf(message.getUint8(0), message.getUint8(1))!
const nameOf = (message: DataView) => messageOf(message).name

function kernel() {
  const made = parts()
  return typeof made === 'string' ? made : newestParts()
}

const made = kernel()

describe.skipIf(typeof made === 'string')(
  `DH-HMAC-CHAP in a Linux guest${typeof made === 'string' ? ` (skipped: ${made})` : ''}`,
  () => {
    let guest: GuestRun
    let connections: Connection[]
    const transactionsOf = (name: string) =>
      connections.filter((connection) => connection.name === name).flatMap(transactionsIn)
    const namesOf = (name: string) => transactionsOf(name).map((messages) => messages.map(nameOf))

    beforeAll(async () => {
      if (typeof made === 'string') return
      ;({ guest, connections } = await recordIn(made, 'authenticate'))
    })

    test('Connect responses require authentication for the Admin Queue only', () => {
      for (const { name } of ASSOCIATIONS) {
        const required = connections
          .filter((connection) => connection.name === name)
          .map(({ controller }) => ConnectResponse.decode(controller[1]!.view, CapsuleResp.RCCQE.offset).AUTHREQ)
        expect(required[0]).toMatchObject({ ATR: 1, ASCR: 0 })
        for (const ofIoQueue of required.slice(1)) expect(ofIoQueue).toMatchObject({ ATR: 0, ASCR: 0 })
      }
    })

    test('transactions have the messages of Base 2.1 Figure 737, or end with a failure', () => {
      const toReply = ['AUTH_Negotiate', 'DH-HMAC-CHAP_Challenge', 'DH-HMAC-CHAP_Reply']
      const toHost = [...toReply, 'DH-HMAC-CHAP_Success1']
      expect(ASSOCIATIONS.map(({ name }) => namesOf(name))).toEqual([
        [toHost, toHost],
        [[...toHost, 'DH-HMAC-CHAP_Success2']],
        [[...toHost, 'DH-HMAC-CHAP_Success2']],
        [[...toReply, 'AUTH_Failure1']],
        [[...toHost, 'AUTH_Failure2']],
      ])
    })

    test('every message has no reserved bits set and encodes to the same bytes', () => {
      for (const view of ASSOCIATIONS.flatMap(({ name }) => transactionsOf(name)).flat()) {
        const message = messageOf(view)
        const decoded = message.decode(view)
        expect(decoded).not.toHaveProperty('reserved')
        const copy = Buffer.alloc(message.bytes)
        message.encode(new DataView(copy.buffer, copy.byteOffset, copy.length), 0, decoded)
        expect(copy.equals(new Uint8Array(view.buffer, view.byteOffset, message.bytes))).toBe(true)
      }
    })

    test('all messages of a transaction have its T_ID, which counts from 0 in an association', () => {
      const idsOf = (name: string) =>
        transactionsOf(name).map((messages) => [...new Set(messages.map((message) => message.getUint16(4, true)))])
      expect(ASSOCIATIONS.map(({ name }) => idsOf(name))).toEqual([[[0], [1]], [[0]], [[0]], [[0]], [[0]]])
    })

    test.each(ASSOCIATIONS)('$name: hash, group and lengths are those of the configuration', (association) => {
      const { hash, group, used } = association
      for (const [, challenge, reply] of transactionsOf(association.name)) {
        const DHVLEN = group === 'null' ? 0 : 256
        expect(DhChapChallenge.decode(challenge!)).toMatchObject({
          ...{ HASHID: HASHID.values[`SHA_${hash.slice(3)}` as 'SHA_256'], HL: HL[hash], DHVLEN },
          DHGID: DHGID.values[group.toUpperCase() as 'NULL'],
        })
        expect(DhChapReply.decode(reply!)).toMatchObject({
          ...{ HL: HL[hash], DHVLEN, CVALID: Number(used.controller !== undefined) },
        })
        expect(reply!.byteLength).toBe(DhChapReply.bytes + 2 * HL[hash] + DHVLEN)
      }
    })

    const withoutGroup = ASSOCIATIONS.filter(({ group }) => group === 'null')
    test.each(withoutGroup)(
      '$name: the responses are HMACs with the keys of the sender',
      (association: Association) => {
        const { keys, used } = association
        for (const messages of transactionsOf(association.name)) {
          const exchanged = exchangedIn(messages)
          expect(exchanged.R1).toEqual(new Uint8Array(hostResponse(exchanged, used.host, NQNS)))
          if (used.controller !== undefined)
            expect(exchanged.R2).toEqual(new Uint8Array(controllerResponse(exchanged, keys.controller, NQNS)))
        }
      },
    )

    test('a wrong key of either party ends with Authentication failure, Authentication failed', () => {
      const reason = { RCODE: AUTH_RCODE.AUTHENTICATION_FAILURE, RCODEEX: AUTH_RCODEEX.AUTHENTICATION_FAILED }
      const last = (name: string) => transactionsOf(name)[0]!.at(-1)!
      expect(AuthFailure1.decode(last('wrong host key'))).toMatchObject(reason)
      expect(AuthFailure2.decode(last('wrong controller key'))).toMatchObject(reason)
    })

    test('the kernel reports the two failed authentications and no other fault', () => {
      const failed = ['qid 0: authentication failed, error -129', 'failed to connect queue: 0 ret=-129']
      const expected = [...failed, 'qid 0: controller authentication failed', ...failed]
      expect(kernelFaults([...guest.kernel, ...guest.scenarios.get('authenticate')!.kernel])).toEqual(
        expected.map((line) => `nvme nvme0: ${line}`),
      )
      expect(guest.finished, guest.console).toBe(true)
    })
  },
)
