import { describe, expect, it } from 'vitest'
import { formatCqe } from '../entries.js'
import { formatSqe } from '../commands.js'
import type { AnyStruct } from '../layout/index.js'
import { fromHex, sparse, toHex } from '../../test/bytes.js'
import { ConnectData, ConnectResponse, formatFabricsSqe, PropertyGetResponse } from './commands.js'
import { DiscoveryLog, DiscoveryLogEntry, discoveryEntryOffset } from './discovery.js'
import {
  C2hData,
  CapsuleCmd,
  CapsuleResp,
  DIGEST_BYTES,
  H2cData,
  IcReq,
  IcResp,
  R2t,
  tcpDigest,
  tcpPduParts,
} from './tcp.js'

/*
 * PDUs of Linux 6.1.0-56-amd64 (Debian), recorded on 2026-11-28 by a proxy between the host (nvme-tcp) and the target
 * (nvmet-tcp) in one guest. packages/cuda-native/test/vm/nvme-tcp.vm.ts repeats the recording. The target exports a
 * 16 MiB RAM disk. The exchanges contain no H2CTermReq or C2HTermReq.
 */

/** Bytes at the start of a PDU; the rest of `lengthBytes` is zero. */
const pduOf = (lengthBytes: number, start: string, at: Readonly<Record<number, string>> = {}) =>
  sparse(lengthBytes, { 0: start, ...at })

const text = (characters: string) => toHex(new DataView(Uint8Array.from(characters, (c) => c.charCodeAt(0)).buffer))

const SUBNQN = 'nqn.2026-11.org.gpunvme:recorded'
const HOSTNQN = 'nqn.2014-08.org.nvmexpress:uuid:00112233-4455-6677-8899-aabbccddeeff'

/** Connect of the Admin Queue with both digests: 72 bytes, digest, 1024 bytes of data, digest. */
const connect = pduOf(
  1104,
  '04 03 48 4c 50 04 00 00 7f 40 00 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 ' +
    '00 00 00 00 00 00 00 00 00 04 00 00 00 00 00 01 00 00 00 00 1f 00 00 00 c0 d4 01',
  {
    72: 'b1 88 c4 f4',
    76: '00 11 22 33 44 55 66 77 88 99 aa bb cc dd ee ff ff ff',
    [76 + 256]: text(SUBNQN),
    [76 + 512]: text(HOSTNQN),
    1100: '40 90 7e 39',
  },
)

/** 4096 bytes of 5Ah in a Write capsule with both digests. */
const inCapsule = pduOf(
  4176,
  '04 03 48 4c 50 10 00 00 01 40 07 10 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 ' +
    '00 00 00 00 00 00 00 00 00 10 00 00 00 00 00 01 40 00 00 00 00 00 00 00 07',
  { 72: '25 40 a1 6e', 76: '5a '.repeat(4096), 4172: '49 8c f1 37' },
)

/** 64 KiB of 5Ah for an R2T, with both digests. */
const h2cData = pduOf(65_568, '06 07 18 1c 20 00 01 00 07 10 06 00 00 00 00 00 00 00 01', {
  24: '44 4d da b7',
  28: '5a '.repeat(65_536),
  65_564: '05 4f 4e 7c',
})

const pdus: readonly [what: string, pdu: DataView, header: AnyStruct, fields: object][] = [
  [
    'ICReq of a host that requests both digests',
    pduOf(128, '00 00 80 00 80 00 00 00 00 00 00 03'),
    IcReq,
    { PFV: 0, HPDA: 0, DGST: { HDGST_ENABLE: 1, DDGST_ENABLE: 1 }, MAXR2T: 0 },
  ],
  [
    'ICResp of the target',
    pduOf(128, '01 00 80 00 80 00 00 00 00 00 00 03 00 00 40'),
    IcResp,
    { PFV: 0, CPDA: 0, DGST: { HDGST_ENABLE: 1, DDGST_ENABLE: 1 }, MAXH2CDATA: 0x40_0000 },
  ],
  ['Connect with its data', connect, CapsuleCmd, { PDO: 76, PLEN: 1104, FLAGS: { HDGSTF: 1, DDGSTF: 1 } }],
  [
    'the response to Connect',
    fromHex('05 01 18 00 1c 00 00 00 01 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 42 62 33 32'),
    CapsuleResp,
    { FLAGS: { HDGSTF: 1 }, RCCQE: [expect.objectContaining({ DW0: 1, SQHD: 1 })] },
  ],
  ['Write with in-capsule data', inCapsule, CapsuleCmd, { PDO: 76, FLAGS: { HDGSTF: 1, DDGSTF: 1 } }],
  [
    'R2T for 64 KiB',
    fromHex('09 01 18 00 1c 00 00 00 07 10 06 00 00 00 00 00 00 00 01 00 00 00 00 00 56 84 72 08'),
    R2t,
    { FLAGS: { HDGSTF: 1 }, CCCID: 0x1007, TTAG: 6, R2TO: 0, R2TL: 65_536 },
  ],
  [
    'H2CData for this R2T',
    h2cData,
    H2cData,
    { FLAGS: { HDGSTF: 1, DDGSTF: 1, LAST_PDU: 1 }, CCCID: 0x1007, TTAG: 6, DATAO: 0, DATAL: 65_536 },
  ],
]

describe('PDUs that Linux sent', () => {
  it.each(pdus)('decodes and encodes %s, and computes its digests', (_, data, header, fields) => {
    const parts = tcpPduParts(data)
    expect(parts).toMatchObject({ header, lengthBytes: data.byteLength })
    const decoded = header.decode(data)
    expect(decoded).toMatchObject(fields)
    expect(decoded).not.toHaveProperty('reserved')
    const copy = new DataView(new ArrayBuffer(header.bytes))
    header.encode(copy, 0, decoded)
    expect(toHex(copy)).toBe(toHex(data, 0, header.bytes))
    const bytes = new Uint8Array(data.buffer)
    const { headerDigest, data: start = 0, dataBytes, dataDigest } = parts
    if (headerDigest !== undefined)
      expect(tcpDigest(bytes.subarray(0, header.bytes))).toBe(data.getUint32(headerDigest, true))
    if (dataDigest !== undefined) {
      expect(tcpDigest(bytes.subarray(start, start + dataBytes))).toBe(data.getUint32(dataDigest, true))
      expect(dataDigest + DIGEST_BYTES).toBe(data.byteLength)
    }
  })

  it('decodes Connect with host, subsystem and CNTLID FFFFh (any controller)', () => {
    expect(formatFabricsSqe(connect, CapsuleCmd.CCSQE.offset)).toBe(
      'Connect CID=0x0000 PSDT=0x1 SGL1={ SGL Data Block descriptor LEN=1024 SGLID={ SGLDST=OFFSET ' +
        'SGLDT=DATA_BLOCK } } SQSIZE=31 KATO=120000',
    )
    expect(ConnectData.decode(connect, 76)).toEqual({
      HOSTID: Uint8Array.from([0, 17, 34, 51, 68, 85, 102, 119, 136, 153, 170, 187, 204, 221, 238, 255]),
      CNTLID: 0xffff,
      SUBNQN,
      HOSTNQN,
    })
  })

  it('decodes Write with in-capsule data, whose SGL has the subtype Offset', () => {
    expect(formatSqe('nvm', inCapsule, CapsuleCmd.CCSQE.offset)).toBe(
      'Write PSDT=SGL CID=0x1007 NSID=1 SGL1={ SGL Data Block descriptor LEN=4096 SGLID={ SGLDST=OFFSET ' +
        'SGLDT=DATA_BLOCK } } SLBA=0x40 NLB=7',
    )
  })

  it('decodes Property Get of CAP, with a zero-length SGL1 in reserved bytes, and its response', () => {
    const get = pduOf(72, '04 00 48 00 48 00 00 00 7f 40 01 00 04', { 47: '5a 01' })
    expect(formatFabricsSqe(get, CapsuleCmd.CCSQE.offset)).toBe(
      'Property Get CID=0x0001 PSDT=0x1 ATTRIB={ PRS=BYTES_8 } reserved[39]=5a',
    )
    const response = pduOf(24, '05 00 18 00 18 00 00 00 ff 03 00 0f 20 08 00 00 02 00 00 00 01')
    expect(PropertyGetResponse.decode(response, 8)).toMatchObject({ VALUE: 0x820_0f00_03ffn, SQHD: 2, CID: 1 })
  })

  it('decodes Property Set of CC', () => {
    const set = pduOf(72, '04 00 48 00 48 00 00 00 7f 40 00 10', { 47: '5a', 52: '14 00 00 00 60 00 46' })
    expect(formatFabricsSqe(set, CapsuleCmd.CCSQE.offset)).toBe(
      'Property Set CID=0x1000 PSDT=0x1 OFST=0x00000014 VALUE=0x0000000000460060 reserved[39]=5a',
    )
  })

  it('decodes SQHD FFFFh and SUCCESS without SQ flow control', () => {
    const response = fromHex('05 00 18 00 18 00 00 00 01 00 00 00 00 00 00 00 ff ff 00 00 00 00 00 00')
    expect(ConnectResponse.decode(response, 8)).toMatchObject({ CNTLID: 1, SQHD: 0xffff })
    expect(formatCqe(response, 8)).toContain('SQHD=65535')
    const data = fromHex('07 0c 18 18 18 10 00 00 12 00 00 00 00 00 00 00 00 10 00 00 00 00 00 00')
    expect(C2hData.decode(data)).toMatchObject({
      FLAGS: { HDGSTF: 0, DDGSTF: 0, LAST_PDU: 1, SUCCESS: 1 },
      ...{ CCCID: 0x12, DATAO: 0, DATAL: 4096 },
    })
  })

  it('decodes a Discovery log of the Discovery subsystem and one NVM subsystem', () => {
    const entry = (index: number, subtype: string, nqn: string) => ({
      [discoveryEntryOffset(index)]: `03 01 ${subtype} 04 01 00 ff ff 20`,
      [discoveryEntryOffset(index) + 32]: text('4420'),
      [discoveryEntryOffset(index) + 256]: text(nqn),
      [discoveryEntryOffset(index) + 512]: text('127.0.0.1'),
    })
    const log = sparse(3072, {
      0: '02 00 00 00 00 00 00 00 02',
      ...entry(0, '03', 'nqn.2014-08.org.nvmexpress.discovery'),
      ...entry(1, '02', SUBNQN),
    })
    expect(DiscoveryLog.decode(log)).toEqual({
      ...{ GENCTR: 2n, NUMREC: 2n, RECFMT: 0, DLPF: { EXTEND: 0, PORTLCL: 0, ALLSUB: 0 }, TDLPL: 0 },
    })
    const common = ['TREQ={ TSC=NOT_SPECIFIED SQFCD=1 ZHIDS=0 TASC=NOT_SPECIFIED }', 'PORTID=1', 'CNTLID=0xffff']
    expect(DiscoveryLogEntry.describe(log, discoveryEntryOffset(1))).toEqual([
      ...['TRTYPE=TCP', 'ADRFAM=IP4', 'SUBTYPE=NVM', ...common, 'ASQSZ=32', 'TRSVCID="4420"'],
      ...[`SUBNQN="${SUBNQN}"`, 'TRADDR="127.0.0.1"'],
    ])
    expect(DiscoveryLogEntry.decode(log, discoveryEntryOffset(0))).toMatchObject({ SUBTYPE: 3 })
  })
})
