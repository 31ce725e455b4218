import { describe, expect, it } from 'vitest'
import { decodeSglDescriptor, encodeSglDescriptor, KeyedSglDataBlock, SGL_SUB_TYPE, SGL_TYPE } from '../sgl.js'
import { zeroBased } from '../layout/rows.js'
import type { AnyStruct, FieldMap } from '../layout/index.js'
import { placesOf, rowsOf, type Places } from '../../test/figures.js'
import { fromHex, sparse, toHex, unwritten } from '../../test/bytes.js'
import {
  ADMIN_IN_CAPSULE_BYTES,
  C2H_FATAL_ERROR,
  C2hData,
  C2hTermReq,
  CapsuleCmd,
  CapsuleResp,
  DIGEST_BYTES,
  H2C_FATAL_ERROR,
  H2cData,
  H2cTermReq,
  IcReq,
  IcResp,
  MAX_TERM_REQ_BYTES,
  MIN_MAXH2CDATA,
  NVME_TCP_DISCOVERY_PORT,
  NVME_TCP_PORT,
  R2t,
  RDMA_SGL_SUB_TYPE,
  TCP_PDU,
  TCP_SGL_SUB_TYPE,
  tcpDigest,
  TcpPduHeader,
  tcpPduOf,
  tcpPduParts,
} from './tcp.js'

const common: Places = { PDU_TYPE: [0, 1], HLEN: [2, 1], PDO: [3, 1], PLEN: [4, 4] }
const FLAGS = ['HDGSTF', 'DDGSTF', 'LAST_PDU', 'SUCCESS']

/** Each PDU with its figure, type, HLEN, number of flags, and the fields of its PDU Specific Header. */
const figures: readonly [pdu: AnyStruct, figure: number, type: number, hlen: number, flags: number, own: Places][] = [
  [IcReq, 20, 0x00, 128, 0, { PFV: [8, 2], HPDA: [10, 1], DGST: [11, 1], MAXR2T: [12, 4] }],
  [IcResp, 21, 0x01, 128, 0, { PFV: [8, 2], CPDA: [10, 1], DGST: [11, 1], MAXH2CDATA: [12, 4] }],
  [H2cTermReq, 22, 0x02, 24, 0, { FES: [8, 2], FEI: [10, 4] }],
  [C2hTermReq, 23, 0x03, 24, 0, { FES: [8, 2], FEI: [10, 4] }],
  [CapsuleCmd, 24, 0x04, 72, 2, { CCSQE: [8, 64] }],
  [CapsuleResp, 25, 0x05, 24, 1, { RCCQE: [8, 16] }],
  [H2cData, 26, 0x06, 24, 3, { CCCID: [8, 2], TTAG: [10, 2], DATAO: [12, 4], DATAL: [16, 4] }],
  [C2hData, 27, 0x07, 24, 4, { CCCID: [8, 2], DATAO: [12, 4], DATAL: [16, 4] }],
  [R2t, 28, 0x09, 24, 1, { CCCID: [8, 2], TTAG: [10, 2], R2TO: [12, 4], R2TL: [16, 4] }],
]

describe('NVMe/TCP PDUs', () => {
  it('TcpPduHeader has the fields of TCP 1.0 Figure 19, and the flags of any PDU', () => {
    expect(TcpPduHeader.bytes).toBe(8)
    expect(placesOf(TcpPduHeader)).toEqual({ ...common, FLAGS: [1, 1] })
    expect(rowsOf({ fields: TcpPduHeader.fields.FLAGS.rows })).toEqual(FLAGS.map((flag, at) => [flag, at, at]))
  })

  it('TCP_PDU has the opcodes of TCP 1.0 Figure 10; tcpPduOf finds each, and returns undefined for reserved ones', () => {
    expect(TCP_PDU.values).toEqual({
      ...{ IC_REQ: 0x00, IC_RESP: 0x01, H2C_TERM_REQ: 0x02, C2H_TERM_REQ: 0x03, CAPSULE_CMD: 0x04 },
      ...{ CAPSULE_RESP: 0x05, H2C_DATA: 0x06, C2H_DATA: 0x07, R2T: 0x09 },
    })
    expect(figures.map(([, , type]) => type)).toEqual(Object.values(TCP_PDU.values))
    for (const [pdu, , type] of figures) expect(tcpPduOf(type)).toBe(pdu)
    expect([0x08, 0x0a, 0xff].map(tcpPduOf)).toEqual([undefined, undefined, undefined])
  })

  it.each(figures)('$name has the header of TCP 1.0 Figure %i', (pdu, _figure, type, hlen, flags, own) => {
    const { FLAGS: declared, ...fields }: FieldMap = pdu.fields
    expect(pdu.bytes).toBe(hlen)
    expect(placesOf({ fields })).toEqual({ ...common, ...own })
    // A flag has the same bit in each PDU that has it.
    const rows = rowsOf({ fields: declared?.rows ?? {} })
    expect(rows).toEqual(FLAGS.slice(0, flags).map((flag, at) => [flag, at, at]))
    const data = unwritten(hlen)
    pdu.encode(data, 0, {})
    const [code, length] = [type, hlen].map((value) => value.toString(16).padStart(2, '0'))
    expect(toHex(data)).toBe(toHex(sparse(hlen, { 0: code!, 2: length!, 4: length! })))
  })

  it('ICReq and ICResp state the limits and digests of each side (TCP 1.0 Figures 20 and 21)', () => {
    for (const { DGST } of [IcReq.fields, IcResp.fields])
      expect(rowsOf({ fields: DGST.rows })).toEqual([
        ['HDGST_ENABLE', 0, 0],
        ['DDGST_ENABLE', 1, 1],
      ])
    const request = { HPDA: zeroBased(4), DGST: { HDGST_ENABLE: 1 }, MAXR2T: zeroBased(16) } as const
    expect(toHex(IcReq.create(request).data, 0, 16)).toBe('00 00 80 00 80 00 00 00 00 00 03 01 0f 00 00 00')
    const { data } = IcResp.create({ CPDA: zeroBased(16), DGST: { DDGST_ENABLE: 1 }, MAXH2CDATA: MIN_MAXH2CDATA })
    expect(toHex(data, 0, 16)).toBe('01 00 80 00 80 00 00 00 00 00 0f 02 00 10 00 00')
  })

  it('fatal errors are those of TCP 1.0 Figures 22 and 23, which differ in one value', () => {
    const both = {
      ...{ INVALID_PDU_HEADER_FIELD: 1, PDU_SEQUENCE_ERROR: 2, HEADER_DIGEST_ERROR: 3 },
      ...{ DATA_TRANSFER_OUT_OF_RANGE: 4, UNSUPPORTED_PARAMETER: 6 },
    }
    expect(H2C_FATAL_ERROR.values).toEqual({ ...both, R2T_LIMIT_EXCEEDED: 5 })
    expect(C2H_FATAL_ERROR.values).toEqual({ ...both, DATA_TRANSFER_LIMIT_EXCEEDED: 5 })
    expect(H2cTermReq.fields.FES.values).toEqual(H2C_FATAL_ERROR.values)
    expect(C2hTermReq.fields.FES.values).toEqual(C2H_FATAL_ERROR.values)
  })

  it('Fatal Error Information is not aligned: bytes 13:10 (TCP 1.0 Figure 22)', () => {
    const { data } = H2cTermReq.create({ PLEN: 48, FES: H2C_FATAL_ERROR.HEADER_DIGEST_ERROR, FEI: 0x1234_5678 })
    expect(toHex(data)).toBe('02 00 18 00 30 00 00 00 03 00 78 56 34 12 00 00 00 00 00 00 00 00 00 00')
  })

  it('ports and limits are those of TCP 1.0', () => {
    expect([NVME_TCP_PORT, NVME_TCP_DISCOVERY_PORT]).toEqual([4420, 8009]) // TCP 1.0 §3.1
    expect([ADMIN_IN_CAPSULE_BYTES, MIN_MAXH2CDATA]).toEqual([8192, 4096]) // TCP 1.0 Figures 11 and 21
    expect([MAX_TERM_REQ_BYTES, DIGEST_BYTES]).toEqual([24 + 128, 4]) // TCP 1.0 §3.5, Figure 24
  })
})

describe('the transfers of TCP 1.0 Figures 15 and 16: 12,288 bytes', () => {
  it.each([
    ['1,000 bytes from 0', { DATAO: 0, DATAL: 1000 }, '00', '00 00 00 00 e8 03 00 00'],
    ['2,000 bytes', { DATAO: 1000, DATAL: 2000 }, '00', 'e8 03 00 00 d0 07 00 00'],
    ['8,192 bytes', { DATAO: 3000, DATAL: 8192 }, '00', 'b8 0b 00 00 00 20 00 00'],
    ['the last 1,096 bytes', { DATAO: 11_192, DATAL: 1096, FLAGS: { LAST_PDU: 1 } }, '04', 'b8 2b 00 00 48 04 00 00'],
  ] as const)('C2HData with %s', (_, values, flags, offsetAndLength) => {
    const PLEN = C2hData.bytes + values.DATAL
    const { data } = C2hData.create({ PDO: C2hData.bytes, PLEN, CCCID: 0x0807, ...values })
    const plen = toHex(new DataView(Uint32Array.of(PLEN).buffer))
    expect(toHex(data)).toBe(`07 ${flags} 18 18 ${plen} 07 08 00 00 ${offsetAndLength} 00 00 00 00`)
    expect(tcpPduParts(data)).toMatchObject({ header: C2hData, data: 24, dataBytes: values.DATAL, lengthBytes: PLEN })
  })

  it('an R2T for 3,000 bytes, and its H2CData with the same Transfer Tag', () => {
    const r2t = R2t.create({ CCCID: 0x0807, TTAG: 0x0a09, R2TO: 0, R2TL: 3000 })
    expect(toHex(r2t.data)).toBe('09 00 18 00 18 00 00 00 07 08 09 0a 00 00 00 00 b8 0b 00 00 00 00 00 00')
    const last = {
      PDO: 24,
      PLEN: 2024,
      FLAGS: { LAST_PDU: 1 },
      CCCID: 0x0807,
      TTAG: r2t.TTAG,
      DATAO: 1000,
      DATAL: 2000,
    }
    expect(toHex(H2cData.create(last as object).data)).toBe(
      '06 04 18 18 e8 07 00 00 07 08 09 0a e8 03 00 00 d0 07 00 00 00 00 00 00',
    )
  })
})

describe('SGL descriptors over fabrics', () => {
  it('in-capsule data use a Data Block with an offset; other data, a Transport Data Block of subtype Ah (TCP 1.0 Figure 14)', () => {
    expect(TCP_SGL_SUB_TYPE.values).toEqual({ COMMAND_DATA_BUFFER: 0xa })
    const data = unwritten(32)
    encodeSglDescriptor(data, 0, {
      type: 'DATA_BLOCK',
      fields: { ADDR: 0, LEN: 1024, SGLID: { SGLDT: SGL_TYPE.DATA_BLOCK, SGLDST: SGL_SUB_TYPE.OFFSET } },
    })
    const SGLID = { SGLDT: SGL_TYPE.TRANSPORT_DATA_BLOCK, SGLDST: TCP_SGL_SUB_TYPE.COMMAND_DATA_BUFFER }
    encodeSglDescriptor(data, 16, { type: 'TRANSPORT_DATA_BLOCK', fields: { LEN: 0x3000, SGLID } })
    expect(toHex(data)).toBe(
      '00 00 00 00 00 00 00 00 00 04 00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 30 00 00 00 00 00 5a',
    )
  })

  it('a Keyed Data Block of subtype Fh requests invalidation of its key (RDMA 1.0 Figure 10)', () => {
    expect(RDMA_SGL_SUB_TYPE.values).toEqual({ INVALIDATE_KEY: 0xf })
    const SGLID = { SGLDT: SGL_TYPE.KEYED_DATA_BLOCK, SGLDST: RDMA_SGL_SUB_TYPE.INVALIDATE_KEY }
    const { data } = KeyedSglDataBlock.create({ ADDR: 0x1_0000_2000, LEN: 0x03_0201, KEY: 0x0706_0504, SGLID })
    expect(toHex(data)).toBe('00 20 00 00 01 00 00 00 01 02 03 04 05 06 07 4f')
    expect(decodeSglDescriptor(data)).toMatchObject({ type: 'KEYED_DATA_BLOCK', fields: { KEY: 0x0706_0504, SGLID } })
  })
})

describe('tcpPduParts', () => {
  const parts = (hex: string) => {
    const { header, ...offsets } = tcpPduParts(fromHex(hex))
    return [header, offsets] as const
  }

  it.each([
    ['a command without data', '04 00 48 00 48 00 00 00', CapsuleCmd, { lengthBytes: 72 }],
    ['a command with a header digest', '04 01 48 00 4c 00 00 00', CapsuleCmd, { headerDigest: 72, lengthBytes: 76 }],
    [
      'in-capsule data with both digests, aligned to 128 bytes',
      '04 03 48 80 84 04 00 00',
      CapsuleCmd,
      { headerDigest: 72, data: 128, dataBytes: 1024, dataDigest: 1152, lengthBytes: 1156 },
    ],
    // TCP 1.0 Figure 8: 24 bytes of header, 40 bytes of padding.
    [
      'H2CData aligned to 64 bytes',
      '06 04 18 40 40 10 00 00',
      H2cData,
      { data: 64, dataBytes: 4096, lengthBytes: 4160 },
    ],
    ['a response with a digest', '05 01 18 00 1c 00 00 00', CapsuleResp, { headerDigest: 24, lengthBytes: 28 }],
    // PDO is reserved, and there are no digests (TCP 1.0 Figure 22, §3.3.1.1).
    [
      'a termination with the failing header',
      '02 03 18 99 60 00 00 00',
      H2cTermReq,
      { data: 24, dataBytes: 72, lengthBytes: 96 },
    ],
    ['a termination without the failing header', '03 00 18 00 18 00 00 00', C2hTermReq, { lengthBytes: 24 }],
  ] as const)('finds the parts of %s', (_, hex, header, offsets) => {
    const none = { headerDigest: undefined, data: undefined, dataBytes: 0, dataDigest: undefined }
    expect(parts(hex)).toEqual([header, { ...none, ...offsets }])
  })

  it.each([
    ['a reserved type', '08 00 18 00 18 00 00 00', 'PDU_TYPE'],
    ['a wrong header length', '04 00 18 00 48 00 00 00', 'HLEN'],
    ['a PDU shorter than its header', '04 00 48 00 47 00 00 00', 'PLEN'],
    ['a PDU shorter than its header with the digest', '05 01 18 00 18 00 00 00', 'PLEN'],
    ['data in a PDU type without data', '09 00 18 00 1c 00 00 00', 'PLEN'],
    ['a PDU too short for its data digest', '07 02 18 18 1a 00 00 00', 'PLEN'],
    ['a data digest without data', '04 02 48 48 4c 00 00 00', 'PLEN'],
    ['data inside the header', '07 00 18 17 40 00 00 00', 'PDO'],
    ['data inside the header digest', '07 01 18 18 40 00 00 00', 'PDO'],
    ['data after the end', '07 02 18 3d 40 00 00 00', 'PDO'],
  ])('rejects %s, naming the field', (_, hex, field) => {
    expect(() => parts(hex)).toThrow(RangeError)
    expect(() => parts(hex)).toThrow(`PDU Common Header.${field} `)
  })

  it('rejects an incomplete Common Header', () => {
    expect(() => parts('04 00 48 00 48 00 00')).toThrow('PDU Common Header needs 8 bytes')
  })
})

describe('digests', () => {
  it('are CRC-32C: the vectors of RFC 3720 appendix B.4', () => {
    expect(tcpDigest(new Uint8Array(32))).toBe(0x8a9136aa)
    expect(tcpDigest(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43)
    expect(tcpDigest(Uint8Array.from({ length: 32 }, (_, index) => index))).toBe(0x46dd794e)
    // An iSCSI Read (10) command: the last of the vectors.
    const command =
      '01 c0 00 00 00 00 00 00 00 00 00 00 00 00 00 00 14 00 00 00 00 00 04 00 00 00 00 14 00 00 00 18 ' +
      '28 00 00 00 00 00 00 00 02 00 00 00 00 00 00 00'
    expect(tcpDigest(new Uint8Array(fromHex(command).buffer))).toBe(0xd9963a56)
  })
})
