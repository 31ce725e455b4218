import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatCqe } from '../entries.js'
import type { AnyStruct } from '../layout/index.js'
import { zeroBased } from '../layout/rows.js'
import { placesOf, rowsOf, valuesOf, type Places } from '../../test/figures.js'
import { fromHex, toHex, unwritten } from '../../test/bytes.js'
import {
  AuthenticationReceive,
  AuthenticationSend,
  CNTLID_DYNAMIC,
  CNTLID_STATIC,
  Connect,
  ConnectData,
  ConnectInvalidParameters,
  ConnectResponse,
  decodeFabricsSqe,
  encodeFabricsSqe,
  Disconnect,
  FABRICS_OPCODE,
  fabricsCommandOf,
  FabricsResponse,
  FabricsSqe,
  FCTYPE,
  formatFabricsSqe,
  PropertyGet,
  PropertyGetResponse,
  PropertySet,
} from './commands.js'

describe('Fabrics commands', () => {
  it('have the opcode 7Fh and the types of Base 2.2 Figure 541', () => {
    expect(FABRICS_OPCODE).toBe(0x7f)
    expect(FCTYPE.values).toEqual({
      ...{ PROPERTY_SET: 0x00, CONNECT: 0x01, PROPERTY_GET: 0x04 },
      ...{ AUTHENTICATION_SEND: 0x05, AUTHENTICATION_RECEIVE: 0x06, DISCONNECT: 0x08 },
    })
  })

  const common: Places = { OPC: [0, 4], PSDT: [0, 4], CID: [0, 4], FCTYPE: [4, 1] }
  const sgl1: Places = { SGL1: [24, 16] }
  const property: Places = { ATTRIB: [40, 1], OFST: [44, 4] }
  const security: Places = { ...sgl1, SPSP0: [41, 1], SPSP1: [42, 1], SECP: [43, 1] }
  const connect: Places = {
    ...{ RECFMT: [40, 2], QID: [42, 2], SQSIZE: [44, 2], CATTR: [46, 1], KATO: [48, 4], NVMSETID: [52, 2] },
  }
  const figures: readonly [command: AnyStruct, figure: string, own: Places][] = [
    [FabricsSqe, 'Base 2.2 Figure 94', { ...sgl1, FCTS: [40, 24] }],
    [Connect, 'Base 2.1 Figure 545', { ...sgl1, ...connect }],
    [Disconnect, 'Base 2.1 Figure 549', { RECFMT: [40, 2] }],
    [PropertyGet, 'Base 2.1 Figure 551', property],
    [PropertySet, 'Base 2.2 Figure 554', { ...property, VALUE: [48, 8] }],
    [AuthenticationSend, 'Base 2.2 Figure 544', { ...security, TL: [44, 4] }],
    [AuthenticationReceive, 'Base 2.2 Figure 542', { ...security, AL: [44, 4] }],
  ]
  it.each(figures)('$name has 64 bytes and the fields of %s', (command, _figure, own) => {
    expect(command.bytes).toBe(64)
    expect(placesOf(command)).toEqual({ ...common, ...own })
  })

  it('Command Dword 0 has the bits of Base 2.2 Figure 95', () => {
    const dword = (values: Parameters<typeof FabricsSqe.create>[0]) => FabricsSqe.create(values).data.getUint32(0, true)
    expect(dword({ OPC: 0xff })).toBe(0x0000_00ff)
    expect(dword({ PSDT: 0b11 })).toBe(0x0000_c000)
    expect(dword({ CID: 0xffff })).toBe(0xffff_0000)
    expect(FabricsSqe.fields.PSDT.values).toEqual({ NO_DATA: 0b00, DATA: 0b10 })
  })

  it('Connect Attributes have the bits of Base 2.1 Figure 545', () => {
    const rows = Connect.fields.CATTR.rows
    expect(rowsOf({ fields: rows })).toEqual([
      ['PRIOCLASS', 1, 0],
      ['DISSQFC', 2, 2],
      ['INDIVIOQDELS', 3, 3],
      ['CONNENT', 4, 4],
    ])
    expect(valuesOf(rows.PRIOCLASS)).toEqual({ URGENT: 0b00, HIGH: 0b01, MEDIUM: 0b10, LOW: 0b11 })
  })

  it('Attributes of Property Get and Set select 4 or 8 bytes (Base 2.1 Figure 551, Base 2.2 Figure 554)', () => {
    expect(rowsOf({ fields: PropertyGet.fields.ATTRIB.rows })).toEqual([['PRS', 2, 0]])
    expect(rowsOf({ fields: PropertySet.fields.ATTRIB.rows })).toEqual([['PUS', 2, 0]])
    for (const row of [PropertyGet.fields.ATTRIB.rows.PRS, PropertySet.fields.ATTRIB.rows.PUS])
      expect(valuesOf(row)).toEqual({ BYTES_4: 0b000, BYTES_8: 0b001 })
  })

  it('a command stores its opcode and type, and rejects invalid values and unknown fields', () => {
    const { data } = Connect.create({
      CID: 0x1234,
      PSDT: Connect.PSDT.DATA,
      QID: 1,
      SQSIZE: zeroBased(128),
      CATTR: { PRIOCLASS: Connect.CATTR.PRIOCLASS.LOW, DISSQFC: 1 },
      KATO: 15_000,
      NVMSETID: 3,
    })
    expect(toHex(data)).toBe(
      '7f 80 34 12 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 ' +
        '00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 ' +
        '00 00 01 00 7f 00 07 00 98 3a 00 00 03 00 00 00 00 00 00 00 00 00 00 00',
    )
    expect(() => Connect.create({ SQSIZE: 0x1_0000 as never })).toThrow(RangeError)
    expect(() => Connect.create({ SLBA: 1 } as never)).toThrow('Connect has no field SLBA')
    expect(() => Connect.create(null as never)).toThrow(TypeError)
  })

  it('decodes each type as its command, a vendor specific one as FabricsSqe, and rejects other opcodes', () => {
    const bytes = new DataView(new ArrayBuffer(72))
    for (const [name, fctype] of Object.entries(FCTYPE.values)) {
      const command = fabricsCommandOf(fctype)
      expect(command?.name.toUpperCase().replaceAll(' ', '_')).toBe(name)
      command?.encode(bytes, 8, {})
      expect([bytes.getUint8(8), bytes.getUint8(12)]).toEqual([0x7f, fctype])
      expect(decodeFabricsSqe(bytes, 8).command).toBe(command?.name)
    }
    expect(fabricsCommandOf(0xc0)).toBeUndefined()
    FabricsSqe.encode(bytes, 8, { OPC: 0x7f, CID: 9, FCTYPE: 0xc0, FCTS: new Uint8Array(24).fill(0xab) })
    expect(decodeFabricsSqe(bytes, 8)).toMatchObject({ command: undefined, fields: { FCTYPE: 0xc0 } })
    expect(formatFabricsSqe(bytes, 8)).toMatch(/^Fabrics SQE CID=0x0009 .*FCTYPE=0xc0/)
    bytes.setUint8(8, 0x02)
    expect(() => decodeFabricsSqe(bytes, 8)).toThrow('Fabrics SQE.OPC: expected 0x7f (Fabrics), got 0x2')
    expect(() => formatFabricsSqe(bytes, 9)).toThrow(RangeError)
  })

  it('encodes what it decoded to the same bytes', () => {
    const entry = fc.uint8Array({ minLength: 64, maxLength: 64 })
    fc.assert(
      fc.property(entry, fc.constantFrom(...Object.values(FCTYPE.values), 0xc0), (bytes, fctype) => {
        bytes[0] = FABRICS_OPCODE
        bytes[4] = fctype
        const copy = unwritten(64)
        encodeFabricsSqe(decodeFabricsSqe(bytes), copy)
        expect(toHex(copy)).toBe(toHex(new DataView(bytes.buffer)))
      }),
    )
  })

  it('decodes and formats SGL1 as a descriptor', () => {
    const sqe = fromHex(
      '7f 80 02 00 05 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 ' +
        '00 00 00 00 00 00 00 00 40 00 00 00 00 00 00 5a 00 01 00 e9 40 00 00 00 ' +
        '00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00',
    )
    expect(decodeFabricsSqe(sqe)).toMatchObject({
      command: 'Authentication Send',
      fields: { SPSP0: 1, SECP: 0xe9, TL: 64, SGL1: { type: 'TRANSPORT_DATA_BLOCK', fields: { LEN: 64 } } },
    })
    expect(formatFabricsSqe(sqe)).toBe(
      'Authentication Send CID=0x0002 PSDT=DATA SGL1={ Transport SGL Data Block descriptor LEN=64 ' +
        'SGLID={ SGLDST=0xa SGLDT=TRANSPORT_DATA_BLOCK } } SPSP0=0x01 SECP=0xe9 TL=64',
    )
  })
})

describe('data of Connect', () => {
  it('ConnectData has the fields of Base 2.1 Figure 546', () => {
    expect(ConnectData.bytes).toBe(1024)
    const places = { HOSTID: [0, 16], CNTLID: [16, 2], SUBNQN: [256, 256], HOSTNQN: [512, 256] }
    expect(placesOf(ConnectData)).toEqual(places)
  })

  it('any controller is FFFFh in the dynamic model and FFFEh in the static one (Base 2.1 Figure 546)', () => {
    expect([CNTLID_DYNAMIC, CNTLID_STATIC]).toEqual([0xffff, 0xfffe])
  })
})

describe('Fabrics responses', () => {
  const figures: readonly [response: AnyStruct, figure: string, own: Places][] = [
    [FabricsResponse, 'Base 2.2 Figure 99', { FRTS: [0, 8] }],
    [ConnectResponse, 'Base 2.2 Figures 548 and 549', { CNTLID: [0, 2], AUTHREQ: [2, 2] }],
    [PropertyGetResponse, 'Base 2.2 Figure 553', { VALUE: [0, 8] }],
  ]
  it.each(figures)('$name has 16 bytes and the fields of %s', (response, _figure, own) => {
    expect(response.bytes).toBe(16)
    expect(placesOf(response)).toEqual({ ...own, SQHD: [8, 2], CID: [12, 2], STS: [14, 2] })
  })

  it('Status Info has a reserved bit 0, followed by its rows (Base 2.2 Figures 99 and 100)', () => {
    expect(rowsOf({ fields: FabricsResponse.fields.STS.rows })).toEqual([
      ['SC', 8, 1],
      ['SCT', 11, 9],
      ['CRD', 13, 12],
      ['M', 14, 14],
      ['DNR', 15, 15],
    ])
  })

  it('a successful Connect returns the controller ID and the required authentication (Base 2.2 Figure 549)', () => {
    expect(rowsOf({ fields: ConnectResponse.fields.AUTHREQ.rows })).toEqual([
      ['ATR', 1, 1],
      ['ASCR', 2, 2],
    ])
    expect(ConnectResponse.decode(fromHex('05 00 02 00 00 00 00 00 ff ff 00 00 34 12 00 00'))).toEqual({
      CNTLID: 5,
      AUTHREQ: { ATR: 1, ASCR: 0 },
      SQHD: 0xffff,
      CID: 0x1234,
      STS: { SC: 0, SCT: 0, CRD: 0, M: 0, DNR: 0 },
    })
  })

  it('Connect Invalid Parameters returns the location of the parameter (Base 2.2 Figure 549)', () => {
    expect(rowsOf(ConnectInvalidParameters)).toEqual([
      ['IPO', 15, 0],
      ['IPS', 16, 16],
    ])
    const response = fromHex('00 01 01 00 00 00 00 00 00 00 00 00 34 12 04 83')
    expect(ConnectInvalidParameters.decode(response.getUint32(0, true))).toEqual({ IPO: 256, IPS: 1 })
    expect(FabricsResponse.decode(response).STS).toEqual({ SC: 0x82, SCT: 1, CRD: 0, M: 0, DNR: 1 })
    expect(formatCqe(response)).toContain('SCT 1h SC 82h, DNR')
  })
})
