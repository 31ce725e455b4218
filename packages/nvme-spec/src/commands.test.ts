import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Abort, AsyncEventRequest } from './admin/events.js'
import { FID, GetFeatures, NumberOfQueues, SetFeatures } from './admin/features.js'
import { CNS, Identify } from './admin/identify.js'
import { CreateIoCq, CreateIoSq, DeleteIoCq, DeleteIoSq } from './admin/queues.js'
import { decodeSqe, encodeSqe, formatSqe } from './commands.js'
import { SQE } from './entries.js'
import { Connect, PropertySet } from './fabrics/commands.js'
import { describeFields, type FieldMap, type Layout } from './layout/index.js'
import { zeroBased } from './layout/rows.js'
import { Flush, Read, Write } from './nvm/commands.js'
import { SGL1_OFFSET, SglDataBlock } from './sgl.js'
import { fieldValues } from '../test/arbitrary.js'
import { fromHex, toHex, unwritten } from '../test/bytes.js'

interface AnyCommand {
  readonly name: string
  readonly fields: FieldMap
  encode(data: DataView, byteOffset: number, values: object): void
  view(data: DataView, byteOffset?: number): { at(index: number): unknown; begin(cid: number): unknown }
}

// Complete entries in four lines of 16 bytes, assembled by hand from the figures named; little endian.
const entries: [AnyCommand, object, string][] = [
  [
    Read, // NVM 1.2 §3.3.4, Figures 49 to 57
    {
      ...{ CID: 0x0412, NSID: 1, PRP1: 0x1_2345_6000, PRP2: 0x1_4345_7000, SLBA: 0x2_3b9f_8000 },
      ...{ NLB: zeroBased(256), FUA: 1, DSM: 0x47, ELBTL: 0x1122_3344, ELBAT: 0x5566, ELBATM: 0x7788 },
    },
    `02 00 12 04  01 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 60 45 23  01 00 00 00
     00 70 45 43  01 00 00 00  00 80 9f 3b  02 00 00 00
     ff 00 00 40  47 00 00 00  44 33 22 11  66 55 88 77`,
  ],
  [
    Write, // NVM 1.2 §3.3.6, Figures 66 to 74
    {
      ...{ CID: 0xbeef, NSID: 2, MPTR: 0x10_0000_1000, PRP1: 0xff_f000, SLBA: 7, NLB: zeroBased(1) },
      ...{ LR: 1, PRINFO: 0xd, STC: 1, DTYPE: 2, CETYPE: 1, DSM: 0x0f, DSPEC: 0xabcd },
      ...{ LBTL: 0xdead_beef, LBAT: 0x1234, LBATM: 0xff00 },
    },
    `01 00 ef be  02 00 00 00  00 00 00 00  00 00 00 00
     00 10 00 00  10 00 00 00  00 f0 ff 00  00 00 00 00
     00 00 00 00  00 00 00 00  07 00 00 00  00 00 00 00
     00 00 21 b5  0f 00 cd ab  ef be ad de  34 12 00 ff`,
  ],
  [
    Flush, // Base 2.1 §7.2
    { CID: 1, NSID: 0xffff_ffff },
    `00 00 01 00  ff ff ff ff  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00`,
  ],
  [
    Identify, // Base 2.1 §5.1.13.1, Figures 307 to 309
    { CID: 3, NSID: 5, PRP1: 0x7000, CNS: 0x1c, CNTID: 0x1122, CNSSID: 0x3344, CSI: 2, UIDX: 0x7f },
    `06 00 03 00  05 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 70 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  1c 00 22 11  44 33 00 02
     00 00 00 00  00 00 00 00  7f 00 00 00  00 00 00 00`,
  ],
  [
    CreateIoCq, // Base 2.1 §5.2.1
    { CID: 4, PRP1: 0x8000, QID: 3, QSIZE: zeroBased(1024), PC: 1, IEN: 1, IV: 9 },
    `05 00 04 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 80 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  03 00 ff 03  03 00 09 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00`,
  ],
  [
    CreateIoSq, // Base 2.1 §5.2.2
    { CID: 5, PRP1: 0x9000, QID: 4, QSIZE: zeroBased(64), PC: 1, QPRIO: 2, CQID: 3, NVMSETID: 0x0102 },
    `01 00 05 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 90 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  04 00 3f 00  05 00 03 00
     02 01 00 00  00 00 00 00  00 00 00 00  00 00 00 00`,
  ],
  [
    DeleteIoCq, // Base 2.1 §5.2.3
    { CID: 6, QID: 0x0304 },
    `04 00 06 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  04 03 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00`,
  ],
  [
    DeleteIoSq, // Base 2.1 §5.2.4
    { CID: 7, QID: 0xffff },
    `00 00 07 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  ff ff 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00`,
  ],
  [
    SetFeatures, // Base 2.1 §5.1.25, Figures 383 and 384; Number of Queues is FID 07h
    {
      CID: 8,
      FID: 0x07,
      SV: 1,
      CDW11: NumberOfQueues.CDW11.encode({ NSQR: zeroBased(4), NCQR: zeroBased(8) }),
      CDW14: 1,
      CDW15: 0x8000_0001,
    },
    `09 00 08 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  07 00 00 80  03 00 07 00
     00 00 00 00  00 00 00 00  01 00 00 00  01 00 00 80`,
  ],
  [
    GetFeatures, // Base 2.1 §5.1.11, Figures 192 and 193
    { CID: 9, FID: 0x07, SEL: 3 },
    `0a 00 09 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  07 03 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00`,
  ],
  [
    Abort, // Base 2.1 §5.1.1
    { CID: 10, SQID: 2, ABORTED_CID: 0x55aa },
    `08 00 0a 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  02 00 aa 55  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00`,
  ],
  [
    AsyncEventRequest, // Base 2.1 §5.1.2
    { CID: 11 },
    `0c 00 0b 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00`,
  ],
]

describe.each(entries.map((entry) => [entry[0].name, ...entry] as const))('%s', (_, command, values, hex) => {
  const expected = toHex(fromHex(hex))
  const names = Object.keys(values) as never[]
  const ownFields = Object.fromEntries(Object.entries(command.fields).filter(([name]) => name !== 'OPC'))

  it('is encoded as the 64 bytes of its figures, whatever the memory held before', () => {
    const data = unwritten(64)
    command.encode(data, 0, values)
    expect(toHex(data)).toBe(expected)
  })

  it('is encoded as the same bytes at an unaligned offset, and writes nothing beside them', () => {
    const data = unwritten(80)
    command.encode(data, 9, values)
    expect(toHex(data, 9, 64)).toBe(expected)
    expect(toHex(data, 0, 9) + toHex(data, 73)).toMatch(/^[a5 ]+$/)
  })

  it('has the same bytes when begun and assigned in the third slot of a queue', () => {
    const data = unwritten(4 * 64)
    const { CID, ...rest } = values as { CID: number }
    const cursor = command.view(data)
    cursor.at(2)
    Object.assign(cursor.begin(CID) as object, rest)
    expect(toHex(data, 128, 64)).toBe(expected)
    expect(toHex(data, 0, 128) + toHex(data, 192)).toMatch(/^[a5 ]+$/)
  })

  it('is read through its view, with 0 in every field that is not given', () => {
    const view = command.view(fromHex(hex)) as unknown as Record<string, unknown>
    expect(Object.fromEntries(names.map((name) => [name, view[name]]))).toEqual(values)
    for (const name of Object.keys(ownFields)) {
      if (!(name in values)) expect(view[name], name).toBe(0)
    }
  })

  it('has a view that returns any encoded values, at any alignment', () => {
    fc.assert(
      fc.property(fieldValues(ownFields), fc.nat(8), (random, byteOffset) => {
        const data = unwritten(72)
        command.encode(data, byteOffset, random)
        expect(command.view(data, byteOffset)).toMatchObject(random)
      }),
    )
  })

  it('is described without omitting a bit: undeclared bits are shown as reserved', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 64, maxLength: 64 }), (bytes) => {
        const data = new DataView(bytes.slice().buffer)
        const zeroed = new DataView(bytes.slice().buffer)
        const view = command.view(zeroed) as unknown as Record<string, number>
        for (const name of Object.keys(command.fields)) view[name] = 0
        const shown = describeFields(command as unknown as Layout, data).filter((row) => row.startsWith('reserved['))
        const found = shown.flatMap((row) => {
          const [, offset, hex] = /^reserved\[(\d+)\]=([0-9a-f]+)$/.exec(row)!
          return hex!.match(/../g)!.map((byte, i) => [Number(offset) + i, Number.parseInt(byte, 16)] as const)
        })
        const left = Array.from({ length: 64 }, (_, at) => [at, zeroed.getUint8(at)] as const)
        expect(found).toEqual(left.filter(([, byte]) => byte !== 0))
      }),
    )
  })
})

describe('opcodes (Base 2.1 Figure 141, NVM 1.2 Figure 21)', () => {
  it.each([
    [DeleteIoSq, 'admin', 0x00, 'none'],
    [CreateIoSq, 'admin', 0x01, 'host-to-controller'],
    [DeleteIoCq, 'admin', 0x04, 'none'],
    [CreateIoCq, 'admin', 0x05, 'host-to-controller'],
    [Identify, 'admin', 0x06, 'controller-to-host'],
    [Abort, 'admin', 0x08, 'none'],
    [SetFeatures, 'admin', 0x09, 'host-to-controller'],
    [GetFeatures, 'admin', 0x0a, 'controller-to-host'],
    [AsyncEventRequest, 'admin', 0x0c, 'none'],
    [Flush, 'nvm', 0x00, 'none'],
    [Write, 'nvm', 0x01, 'host-to-controller'],
    [Read, 'nvm', 0x02, 'controller-to-host'],
  ] as const)('$name: set %s, opcode %i, and bits 1:0 mean %s', (command, set, opcode, transfer) => {
    expect(command).toMatchObject({ set, opcode, transfer })
  })

  it('CNS 00h to 03h select the namespace, the controller, the active namespaces and their descriptors', () => {
    expect(CNS).toMatchObject({
      NAMESPACE: 0,
      CONTROLLER: 1,
      ACTIVE_NAMESPACE_LIST: 2,
      NAMESPACE_DESCRIPTOR_LIST: 3,
    })
  })

  it('feature identifiers are those of Base 2.1 Figure 385', () => {
    expect(FID).toMatchObject({
      ...{ ARBITRATION: 1, POWER_MANAGEMENT: 2, TEMPERATURE_THRESHOLD: 4, VOLATILE_WRITE_CACHE: 6 },
      ...{ NUMBER_OF_QUEUES: 7, INTERRUPT_COALESCING: 8, INTERRUPT_VECTOR_CONFIGURATION: 9 },
      ...{ WRITE_ATOMICITY_NORMAL: 0x0a, ASYNCHRONOUS_EVENT_CONFIGURATION: 0x0b },
    })
  })
})

describe('submission queue entry (Base 2.1 §4.1.1, Figures 91 and 92)', () => {
  it('has its fields at their bytes', () => {
    const sqe = SQE.view(
      fromHex(`11 42 33 22  47 46 45 44  4b 4a 49 48  4f 4e 4d 4c
               57 56 55 54  53 52 00 00  5f 5e 5d 5c  5b 5a 00 00
               67 66 65 64  63 62 00 00  6b 6a 69 68  6f 6e 6d 6c
               73 72 71 70  77 76 75 74  7b 7a 79 78  7f 7e 7d 7c`),
    )
    expect(sqe).toMatchObject({
      ...{ OPC: 0x11, FUSE: 2, PSDT: 1, CID: 0x2233, NSID: 0x4445_4647, CDW2: 0x4849_4a4b, CDW3: 0x4c4d_4e4f },
      ...{ MPTR: 0x5253_5455_5657, PRP1: 0x5a5b_5c5d_5e5f, PRP2: 0x6263_6465_6667 },
      ...{ CDW10: 0x6869_6a6b, CDW11: 0x6c6d_6e6f, CDW12: 0x7071_7273 },
      ...{ CDW13: 0x7475_7677, CDW14: 0x7879_7a7b, CDW15: 0x7c7d_7e7f },
    })
  })

  it('FUSE is bits 09:08 and PSDT bits 15:14 of Command Dword 0; writing one leaves the others unchanged', () => {
    const sqe = SQE.create({ OPC: 0xff, CID: 0xffff })
    sqe.FUSE = SQE.FUSE.SECOND
    expect(sqe.data.getUint32(0, true)).toBe(0xffff_02ff)
    sqe.PSDT = SQE.PSDT.SGL_SEGMENT_MPTR
    expect(sqe.data.getUint32(0, true)).toBe(0xffff_82ff)
    sqe.FUSE = SQE.FUSE.NORMAL
    expect(sqe.data.getUint32(0, true)).toBe(0xffff_80ff)
  })
})

describe('Number of Queues (Base 2.1 §5.1.25.2.1)', () => {
  it("NSQR is bits 15:00 and NCQR bits 31:16, both 0's based", () => {
    expect(NumberOfQueues.CDW11.encode({ NSQR: zeroBased(16), NCQR: zeroBased(2) })).toBe(0x0001_000f)
    expect(NumberOfQueues.DW0.decode(0xfffe_0003)).toEqual({ NSQA: 3, NCQA: 0xfffe })
  })

  it('rejects more queues than 16 bits hold, instead of requesting a truncated number', () => {
    expect(() => NumberOfQueues.CDW11.encode({ NSQR: zeroBased(65_537) })).toThrow(
      "Number of Queues.CDW11.NSQR (Number of I/O Submission Queues Requested): expected a 0's based value from 0 to 65535, zeroBased(count) of 1 to 65536, got 65536",
    )
  })
})

describe('a value that does not fit', () => {
  const aligned = Read.view(new DataView(new ArrayBuffer(128)))
  const unaligned = Read.view(new DataView(new ArrayBuffer(129)), 1)

  it.each([
    [
      'NSID',
      2 ** 32,
      'Read.NSID (Namespace Identifier): expected an integer from 0 to 4294967295, got 4294967296 (NVM 1.2 §3.3.4)',
    ],
    ['NSID', -1, 'Read.NSID'],
    ['NSID', 0.5, 'Read.NSID'],
    ['NSID', Number.NaN, 'Read.NSID'],
    ['PRP1', 2 ** 53, 'Read.PRP1 (PRP Entry 1): expected an integer from 0 to 2^53 - 1, got 9007199254740992'],
    ['PRP2', -4096, 'Read.PRP2'],
    ['SLBA', 1.5, 'Read.SLBA (Starting LBA)'],
    ['SLBA', Number.NaN, 'Read.SLBA'],
    ['SLBA', Infinity, 'Read.SLBA'],
    [
      'NLB',
      65_536,
      "Read.NLB (Number of Logical Blocks): expected a 0's based value from 0 to 65535, zeroBased(count) of 1 to 65536, got 65536",
    ],
    ['CID', 65_536, 'Read.CID'],
    ['OPC', 256, 'Read.OPC'],
    ['PRINFO', 16, 'Read.PRINFO (Protection Information): expected an integer from 0 to 15, got 16'],
    ['FUA', 2, 'Read.FUA'],
    ['FUSE', 3, 'Read.FUSE (Fused Operation): expected 0 (NORMAL), 1 (FIRST), 2 (SECOND), got 3'],
  ])('in %s, %d, is rejected with the name of the field, and nothing is written', (name, value, message) => {
    for (const view of [aligned, unaligned] as unknown as (Record<string, number> & { data: DataView })[]) {
      const before = toHex(view.data)
      expect(() => (view[name] = value)).toThrow(RangeError)
      expect(() => (view[name] = value)).toThrow(message)
      expect(toHex(view.data)).toBe(before)
    }
  })

  it('in a command identifier is rejected before the entry is cleared', () => {
    const data = unwritten(64)
    expect(() => Read.view(data).begin(65_536)).toThrow(
      new RangeError('Read.CID (Command Identifier): expected an integer from 0 to 65535, got 65536 (NVM 1.2 §3.3.4)'),
    )
    expect(toHex(data)).toMatch(/^[a5 ]+$/)
  })

  it('for a field that the command does not have is rejected with the name of the field', () => {
    const data = new DataView(new ArrayBuffer(64))
    expect(() => Flush.encode(data, 0, { SLBA: 1 } as never)).toThrow(
      new TypeError('Flush has no field SLBA; its fields: FUSE PSDT CID NSID MPTR PRP1 PRP2 (Base 2.1 §7.2)'),
    )
  })
})

describe('formatSqe', () => {
  it('names the command and every nonzero field', () => {
    const data = fromHex(entries[0]![2])
    expect(formatSqe('nvm', data)).toBe(
      'Read CID=0x0412 NSID=1 PRP1=0x123456000 PRP2=0x143457000 SLBA=0x23b9f8000 NLB=255 FUA=1 ' +
        'DSM={ AF=SPECULATIVE AL=NONE SEQREQ=1 INCPRS=0 } ELBTL=287454020 ELBAT=21862 ELBATM=30600',
    )
  })

  it('distinguishes queues: opcode 01h is Create I/O Submission Queue on the Admin queue and Write on any other', () => {
    const data = fromHex(entries[5]![2])
    expect(formatSqe('admin', data)).toBe(
      'Create I/O Submission Queue CID=0x0005 PRP1=0x9000 QID=4 QSIZE=63 PC=1 QPRIO=MEDIUM CQID=3 NVMSETID=258',
    )
    expect(formatSqe('nvm', data)).toMatch(/^Write /)
  })

  it('shows the dwords of an undeclared opcode', () => {
    const data = new DataView(new ArrayBuffer(72))
    SQE.view(data, 8).at(0).OPC = 0xc0
    SQE.view(data, 8).CDW10 = 0x1_0001
    expect(formatSqe('admin', data, 8)).toBe('Admin opcode 0xc0 CDW10=0x00010001')
    expect(formatSqe('nvm', data, 8)).toBe('NVM opcode 0xc0 CDW10=0x00010001')
  })

  // Figure 95 defines PSDT 0 and 2; Linux sends 1.
  it.each([
    [0, ''],
    [1, ' PSDT=0x1'],
    [2, ' PSDT=DATA'],
  ])('shows FCTYPE and SGL1 of a Fabrics command with PSDT %i (Base 2.2 §4.1.2, Figure 94)', (PSDT, shown) => {
    const { data } = Connect.create({ CID: 1, PSDT, SQSIZE: zeroBased(32) })
    SglDataBlock.encode(data, SGL1_OFFSET, { ADDR: 0x1000, LEN: 1024 })
    for (const set of ['admin', 'nvm', 'zns'] as const) {
      expect(formatSqe(set, data)).toBe(
        `Fabrics Command${shown} CID=0x0001 FCTYPE=1 SGL1={ SGL Data Block descriptor ADDR=0x1000 LEN=1024 } CDW11=0x0000001f`,
      )
      expect(decodeSqe(set, data)).toMatchObject({ command: undefined, fields: { OPC: 0x7f, FCTYPE: 1 } })
      expect(decodeSqe(set, data).fields).not.toHaveProperty('NSID')
      const copy = unwritten(64)
      encodeSqe(decodeSqe(set, data), copy)
      expect(toHex(copy)).toBe(toHex(data))
    }
    expect(formatSqe('admin', PropertySet.create().data)).toBe('Fabrics Command FCTYPE=0')
  })

  it('formats any 64 bytes, on either kind of queue', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 72, maxLength: 72 }),
        fc.constantFrom('admin' as const, 'nvm' as const),
        fc.nat(8),
        fc.constantFrom(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 0xff),
        (bytes, set, byteOffset, opcode) => {
          const data = new DataView(bytes.slice().buffer)
          data.setUint8(byteOffset, opcode)
          expect(formatSqe(set, data, byteOffset)).not.toMatch(/undefined|NaN|\[object/)
        },
      ),
      { numRuns: 1000 },
    )
  })
})

describe('Set Features and Get Features', () => {
  const entry = (command: AnyCommand, values: object) => {
    const data = new DataView(new ArrayBuffer(64))
    command.encode(data, 0, values)
    return data
  }

  it('show the rows that the feature defines in each dword, including Command Dword 14', () => {
    const data = entry(SetFeatures, {
      ...{ CID: 1, FID: FID.HOST_MEMORY_BUFFER, CDW11: 3, CDW12: 0x4000, CDW13: 0x1000, CDW14: 0x80, CDW15: 2 },
    })
    expect(formatSqe('admin', data)).toBe(
      'Set Features CID=0x0001 FID=HOST_MEMORY_BUFFER CDW11={ EHM=1 MR=1 HMNARE=0 } CDW12={ HSIZE=16384 } ' +
        'CDW13={ HMDLLA=4096 } CDW14={ HMDLUA=128 } CDW15={ HMDLEC=2 }',
    )
    expect(decodeSqe('admin', data).fields).toMatchObject({
      ...{ FID: 13, CDW11: { EHM: 1, MR: 1, HMNARE: 0 }, CDW14: { HMDLUA: 128 }, CDW15: { HMDLEC: 2 } },
    })
  })

  it('show enumerations by name, bits that the feature reserves as reserved, and dwords that it does not use as numbers', () => {
    const data = entry(SetFeatures, { FID: FID.TEMPERATURE_THRESHOLD, CDW11: 0x8210_0157, CDW12: 5, CDW14: 9 })
    expect(formatSqe('admin', data)).toBe(
      'Set Features FID=TEMPERATURE_THRESHOLD CDW11={ TMPTH=343 TMPSEL=0 THSEL=UNDER TMPTHH=0 reserved=0x82000000 } ' +
        'CDW12=5 CDW14={ UIDX=9 }',
    )
  })

  it('show Command Dword 11 of Get Features, and the dwords of a vendor specific feature as numbers', () => {
    const window = entry(GetFeatures, { FID: FID.PREDICTABLE_LATENCY_MODE_WINDOW, SEL: 0, CDW11: 7, UIDX: 1 })
    expect(formatSqe('admin', window)).toBe(
      'Get Features FID=PREDICTABLE_LATENCY_MODE_WINDOW SEL=CURRENT CDW11={ NVMSETID=7 } UIDX=1',
    )
    expect(formatSqe('admin', entry(SetFeatures, { FID: 0xc5, CDW11: 7 }))).toBe('Set Features FID=0xc5 CDW11=7')
    expect(decodeSqe('admin', entry(SetFeatures, { FID: 0xc5, CDW11: 7 })).fields).toMatchObject({ CDW11: 7 })
  })
})

describe('encodeSqe', () => {
  it.each([
    [{ command: 'Read', set: 'nvm', fields: { OPC: 1, NSID: 1 } }, RangeError, 'Read (Opcode): expected 0x2, got 1'],
    [
      { command: undefined, set: 'nvm', fields: { OPC: 2 } },
      RangeError,
      'SQE (Opcode): expected an undeclared opcode, got 2',
    ],
    [
      { command: undefined, set: 'nvm', fields: {} },
      TypeError,
      'SQE (Opcode): expected an undeclared opcode, got undefined',
    ],
    [
      { command: 'Reed', set: 'nvm', fields: { OPC: 2 } },
      RangeError,
      'Reed (Opcode): expected an undeclared opcode, got 2',
    ],
    [
      { command: undefined, set: 'bogus', fields: { OPC: 1 } },
      RangeError,
      'SQE (command set): expected admin, nvm or zns, got "bogus"',
    ],
    [
      { command: 'Read', set: 'nvm', fields: 5 },
      TypeError,
      'Read (fields): expected an object of fields, as returned by decodeSqe, got 5',
    ],
    [undefined, TypeError, 'SQE (fields): expected an object of fields'],
    [
      { command: 'Read', set: 'nvm', fields: { PSDT: 1, PRP1: 1 } },
      RangeError,
      'Read (PSDT): expected SGL1 if PSDT selects an SGL, otherwise PRP1 and PRP2, got 1',
    ],
    [{ command: 'Read', set: 'nvm', fields: { SGL1: { type: 'BIT_BUCKET', fields: {} } } }, RangeError, 'Read (PSDT)'],
    [
      { command: 'Read', set: 'nvm', fields: { PSDT: 1, SGL1: { type: 'toString', fields: {} } } },
      RangeError,
      'SGL descriptor (type): expected a name of SGL_TYPE, or RESERVED, got "toString"',
    ],
    [
      { command: 'Read', set: 'nvm', fields: { PSDT: 1, SGL1: { type: 'SEGMENT', fields: { ADDR: 0x1000 } } } },
      RangeError,
      'SGL descriptor (type): expected SGLID of SEGMENT, got 0',
    ],
    [{ command: 'Read', set: 'nvm', fields: { constructor: { a: 1 } } }, TypeError, 'Read has no field constructor'],
  ])('rejects %j, and writes nothing', (decoded, kind, message) => {
    const data = unwritten(64)
    const encode = () => {
      encodeSqe(decoded as never, data)
    }
    expect(encode).toThrow(kind)
    expect(encode).toThrow(message)
    expect(toHex(data)).toMatch(/^[a5 ]+$/)
  })

  it('takes the opcode from the name of the command', () => {
    const data = unwritten(64)
    encodeSqe({ command: 'Read', set: 'zns', fields: { NSID: 1, NLB: 7, PRINFO: { PRACT: 1 } } }, data)
    expect(formatSqe('nvm', data)).toBe('Read NSID=1 SLBA=0x0 NLB=7 PRINFO={ RTCHK=0 ATCHK=0 GRDCHK=0 PRACT=1 }')
  })
})
