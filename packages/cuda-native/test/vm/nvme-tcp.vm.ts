import { formatSqe } from '@gpunvme/nvme-spec'
import {
  C2hData,
  CapsuleCmd,
  CapsuleResp,
  Connect,
  ConnectResponse,
  DISCOVERY_NQN,
  DiscoveryLog,
  discoveryEntryOffset,
  DiscoveryLogEntry,
  FABRICS_OPCODE,
  formatFabricsSqe,
  tcpDigest,
} from '@gpunvme/nvme-spec/fabrics'
import { beforeAll, describe, expect, test } from 'vitest'
import type { GuestRun } from './guest.js'
import { kernelFaults } from './kernel-log.js'
import { parts } from './modes.js'
import { recordIn, type Connection } from './recorded.js'

// Records the connections between Linux's NVMe/TCP host and target in one guest, and decodes them with
// `@gpunvme/nvme-spec/fabrics`. src/fabrics/captured.test.ts of nvme-spec contains some of these PDUs.

const made = parts()

describe.skipIf(typeof made === 'string')(
  `NVMe/TCP in a Linux guest${typeof made === 'string' ? ` (skipped: ${made})` : ''}`,
  () => {
    let guest: GuestRun
    let connections: Connection[]
    const of = (name: string) => connections.filter((connection) => connection.name === name)

    beforeAll(async () => {
      if (typeof made === 'string') return
      ;({ guest, connections } = await recordIn(made, 'record', ['crc32c_generic']))
    })

    test('each association has one connection per queue, which starts with ICReq, ICResp and Connect', () => {
      // An Admin Queue and an I/O queue each; the minimal host has only an Admin Queue.
      const names = ['plain', 'digests', 'no flow control'].flatMap((name) => [name, name])
      expect(connections.map(({ name }) => name)).toEqual([...names, 'discovery'])
      for (const { host, controller } of connections) {
        expect(host.slice(0, 2).map(({ header }) => header.name)).toEqual(['ICReq', 'CapsuleCmd'])
        expect(controller.slice(0, 2).map(({ header }) => header.name)).toEqual(['ICResp', 'CapsuleResp'])
        expect(formatFabricsSqe(host[1]!.view, CapsuleCmd.CCSQE.offset)).toMatch(/^Connect /)
      }
    })

    test('every header has no reserved bits set and encodes to the same bytes', () => {
      for (const { header, view } of connections.flatMap(({ host, controller }) => [...host, ...controller])) {
        const decoded = header.decode(view)
        expect(decoded).not.toHaveProperty('reserved')
        const copy = Buffer.alloc(header.bytes)
        header.encode(new DataView(copy.buffer, copy.byteOffset, copy.length), 0, decoded)
        expect(copy.equals(new Uint8Array(view.buffer, view.byteOffset, header.bytes))).toBe(true)
      }
    })

    test('every command is declared', () => {
      for (const { host } of connections) {
        const entries = host.filter(({ header }) => header.name === CapsuleCmd.name)
        for (const { view } of entries) {
          const at = CapsuleCmd.CCSQE.offset
          const isFabrics = view.getUint8(at) === FABRICS_OPCODE
          const isIo = Connect.decode(entries[0]!.view, at).QID > 0
          const text = isFabrics ? formatFabricsSqe(view, at) : formatSqe(isIo ? 'nvm' : 'admin', view, at)
          expect(text).not.toMatch(/opcode 0x|Fabrics SQE/)
        }
      }
    })

    test('every digest is correct, and present only if negotiated', () => {
      let digests = 0
      for (const { name, host, controller } of connections) {
        for (const { header, headerDigest, data, dataBytes, dataDigest, bytes } of [...host, ...controller]) {
          const isAgreed = name === 'digests' && !header.name.startsWith('IC')
          expect(headerDigest).toBe(isAgreed ? header.bytes : undefined)
          expect(dataDigest !== undefined).toBe(isAgreed && data !== undefined)
          if (headerDigest !== undefined)
            expect(tcpDigest(bytes.subarray(0, header.bytes))).toBe(bytes.readUInt32LE(headerDigest))
          if (data !== undefined && dataDigest !== undefined)
            expect(tcpDigest(bytes.subarray(data, data + dataBytes))).toBe(bytes.readUInt32LE(dataDigest))
          digests += Number(headerDigest !== undefined) + Number(dataDigest !== undefined)
        }
      }
      expect(digests).toBeGreaterThan(0)
    })

    test('a 64 KiB write is requested by R2T and sent in H2CData', () => {
      for (const name of ['plain', 'digests', 'no flow control']) {
        const [, io] = of(name)
        const requested = io!.controller
          .filter(({ header }) => header.name === 'R2T')
          .map(({ view }) => view.getUint32(16, true))
        const sent = io!.host.filter(({ header }) => header.name === 'H2CData').map(({ dataBytes }) => dataBytes)
        const sum = (lengths: number[]) => lengths.reduce((all, length) => all + length, 0)
        expect([sum(requested), sum(sent)]).toEqual([65_536, 65_536])
      }
    })

    test('without SQ flow control, SQHD is FFFFh and SUCCESS replaces responses', () => {
      for (const { name, controller } of connections) {
        const isDisabled = name === 'no flow control'
        expect(ConnectResponse.decode(controller[1]!.view, CapsuleResp.RCCQE.offset).SQHD === 0xffff).toBe(isDisabled)
        const data = controller.filter(({ header }) => header.name === C2hData.name)
        expect(data.length).toBeGreaterThan(0)
        for (const { view } of data) expect(C2hData.decode(view).FLAGS).toMatchObject({ SUCCESS: Number(isDisabled) })
      }
    })

    test('the Linux target accepts PDUs encoded with the declarations, and returns its Discovery log', () => {
      const [{ controller }] = of('discovery') as [(typeof connections)[number]]
      const { view, data } = controller.find(({ header }) => header.name === C2hData.name)!
      expect(DiscoveryLog.decode(view, data)).toMatchObject({ NUMREC: 2n, RECFMT: 0 })
      const entries = [0, 1].map((index) => DiscoveryLogEntry.decode(view, data! + discoveryEntryOffset(index)))
      const place = { TRTYPE: 3, ADRFAM: 1, TRADDR: '127.0.0.1', TRSVCID: '4420' }
      expect(entries).toMatchObject([
        { ...place, SUBTYPE: 3, SUBNQN: DISCOVERY_NQN },
        { ...place, SUBTYPE: 2, SUBNQN: 'nqn.2026-11.org.gpunvme:recorded' },
      ])
    })

    test('the kernel reports no fault', () => {
      expect(kernelFaults([...guest.kernel, ...guest.scenarios.get('record')!.kernel])).toEqual([])
      expect(guest.finished, guest.console).toBe(true)
    })
  },
)
