import { describe, expect, it } from 'vitest'
import { allCommands } from '../all.js'
import { decodeSqe, formatSqe } from '../commands.js'
import { SQE } from '../entries.js'
import type { AnyStruct } from '../layout/index.js'
import { zeroBased } from '../layout/rows.js'
import {
  Cancel,
  CancelDw0,
  CommandExtensionCdw13,
  Compare,
  Copy,
  CopyRange0,
  CopyRange1,
  CopyRange2,
  CopyRange3,
  DatasetManagement,
  DatasetManagementRange,
  DSM,
  Flush,
  IoManagementReceive,
  IoManagementSend,
  NVM_OPCODE,
  PRINFO,
  Read,
  ReclaimUnitHandleStatus,
  ReclaimUnitHandleStatusDescriptor,
  Verify,
  Write,
  WriteUncorrectable,
  WriteZeroes,
  WriteZeroesDw0,
} from './commands.js'
import { fromHex, toHex, unwritten } from '../../test/bytes.js'
import { describeEntries } from '../../test/entries.js'
import { bytesOf, rowsOf, valuesOf } from '../../test/figures.js'

describe('opcodes', () => {
  it('are those of NVM 1.2 Figure 21', () => {
    expect(NVM_OPCODE.values).toEqual({
      FLUSH: 0x00,
      WRITE: 0x01,
      READ: 0x02,
      WRITE_UNCORRECTABLE: 0x04,
      COMPARE: 0x05,
      WRITE_ZEROES: 0x08,
      DATASET_MANAGEMENT: 0x09,
      VERIFY: 0x0c,
      RESERVATION_REGISTER: 0x0d,
      RESERVATION_REPORT: 0x0e,
      RESERVATION_ACQUIRE: 0x11,
      IO_MANAGEMENT_RECEIVE: 0x12,
      RESERVATION_RELEASE: 0x15,
      CANCEL: 0x18,
      COPY: 0x19,
      IO_MANAGEMENT_SEND: 0x1d,
    })
  })

  it('each opcode has a declared command, and each command an opcode', () => {
    const declared = allCommands.filter(({ set }) => set === 'nvm')
    const name = (text: string) => text.toUpperCase().replace('I/O', 'IO').replaceAll(' ', '_')
    expect(Object.fromEntries(declared.map((command) => [name(command.name), command.opcode]))).toEqual(
      NVM_OPCODE.values,
    )
  })
})

describe('io words', () => {
  describe('words in the Command Dwords of I/O commands', () => {
    it.each([
      // NVM 1.2 §2.1.5, Figure 11
      [
        PRINFO,
        [
          ['RTCHK', 0, 0],
          ['ATCHK', 1, 1],
          ['GRDCHK', 2, 2],
          ['PRACT', 3, 3],
        ],
      ],
      // NVM 1.2 §3.3.4, Figure 54
      [
        DSM,
        [
          ['AF', 3, 0],
          ['AL', 5, 4],
          ['SEQREQ', 6, 6],
          ['INCPRS', 7, 7],
        ],
      ],
      // NVM 1.2 §3.3.6, Figure 72
      [
        CommandExtensionCdw13,
        [
          ['CEV', 15, 0],
          ['DSPEC', 31, 16],
        ],
      ],
    ] as const)('$name has the rows of its figure', (word, rows) => {
      expect(rowsOf(word)).toEqual(rows)
    })

    const attributes = DatasetManagementRange.fields.CATTR.rows

    it('context attributes have the rows of NVM 1.2 Figure 47', () => {
      expect(rowsOf({ fields: attributes })).toEqual([
        ['AF', 3, 0],
        ['AL', 5, 4],
        ['SRR', 8, 8],
        ['SWR', 9, 9],
        ['WPREP', 10, 10],
        ['CASZE', 31, 24],
      ])
    })

    it('Access Latency and Access Frequency have the values of NVM 1.2 Figures 47, 54 and 71', () => {
      const frequencies = { NONE: 0, TYPICAL: 1, INFREQUENT: 2, FREQUENT_READS: 3, FREQUENT_WRITES: 4, FREQUENT: 5 }
      expect(valuesOf(attributes.AF)).toEqual(frequencies)
      expect(valuesOf(DSM.AF)).toEqual({ ...frequencies, ONE_TIME: 6, SPECULATIVE: 7, SOON_OVERWRITTEN: 8 })
      for (const { AL } of [attributes, DSM]) expect(valuesOf(AL)).toEqual({ NONE: 0, IDLE: 1, NORMAL: 2, LOW: 3 })
    })
  })
})

describe('flush', () => {
  describeEntries([
    [
      Flush, // Base 2.1 §7.2
      ...(['nvm', 0x00, 'none'] as const),
      { CID: 1, NSID: 0xffff_ffff },
      `00 00 01 00  ff ff ff ff  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00`,
    ],
  ])
})

describe('read write', () => {
  // Command Dwords as libnvme 1.3 encodes them: 64b guards with 18 bits of Storage Tag (Read), 32b guards with 32 bits
  // (Write). Rows of NVM 1.2 Figures 51 to 57 and 68 to 74.
  describeEntries([
    [
      Read,
      ...(['nvm', 0x02, 'controller-to-host'] as const),
      {
        ...{ CID: 0x0412, NSID: 1, SLBA: 0x22_3344_5566, NLB: zeroBased(8), STC: 1, PRINFO: 0xc, LR: 1, DSM: 0x73 },
        ...{ ELBTU3: 0xaaaa, ELBTL: 0xd555_5555, ELBAT: 0x5566, ELBATM: 0x7788 },
      },
      `02 00 12 04  01 00 00 00  00 00 00 00  aa aa 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  66 55 44 33  22 00 00 00
     07 00 00 b1  73 00 00 00  55 55 55 d5  66 55 88 77`,
    ],
    [
      Write,
      ...(['nvm', 0x01, 'host-to-controller'] as const),
      {
        ...{ CID: 0x0412, NSID: 1, SLBA: 0x22_3344_5566, NLB: zeroBased(8), STC: 1, PRINFO: 0xc, LR: 1, DSM: 0x73 },
        ...{ DSPEC: 0xabcd, LBTU2: 0x8899, LBTU3: 0xaabb_1122, LBTL: 0x3344_5566, LBAT: 0x5566, LBATM: 0x7788 },
      },
      `01 00 12 04  01 00 00 00  99 88 00 00  22 11 bb aa
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  66 55 44 33  22 00 00 00
     07 00 00 b1  73 00 cd ab  66 55 44 33  66 55 88 77`,
    ],
  ])

  describe('Command Dword 13 of Read and Write with nonzero CETYPE (NVM 1.2 §3.3.4 Figure 55, §3.3.6 Figure 72)', () => {
    const data = new DataView(new ArrayBuffer(64))
    Write.encode(data, 0, { CETYPE: 1, NLB: zeroBased(1) })
    SQE.view(data).CDW13 = CommandExtensionCdw13.encode({ CEV: 0x1234, DSPEC: 0xabcd })

    it('has CEV in bits 15:00, in place of DSM, and DSPEC in bits 31:16', () => {
      expect(data.getUint32(52, true)).toBe(0xabcd_1234)
      const { fields } = decodeSqe('nvm', data)
      expect(fields).toMatchObject({ CETYPE: 1, CEV: 0x1234, DSPEC: 0xabcd })
      expect(fields).not.toHaveProperty('DSM')
      expect(fields).not.toHaveProperty('reserved')
      expect(formatSqe('nvm', data)).toBe('Write SLBA=0x0 NLB=0 CETYPE=1 CEV=4660 DSPEC=43981')
    })
  })

  describe('PRINFO and DSM of an entry', () => {
    it('are decoded as objects of their bits, and formatted by name', () => {
      const data = fromHex('01 '.padEnd(48 * 3, '00 ') + '00 00 00 20 f6 00 00 00 ' + '00 '.repeat(8))
      expect(decodeSqe('nvm', data).fields).toMatchObject({
        PRINFO: { PRACT: 1, GRDCHK: 0, ATCHK: 0, RTCHK: 0 },
        DSM: { AF: 6, AL: 3, SEQREQ: 1, INCPRS: 1 },
      })
      expect(formatSqe('nvm', data)).toBe(
        'Write SLBA=0x0 NLB=0 PRINFO={ RTCHK=0 ATCHK=0 GRDCHK=0 PRACT=1 } DSM={ AF=ONE_TIME AL=LOW SEQREQ=1 INCPRS=1 }',
      )
    })
  })
})

describe('write zeroes', () => {
  describeEntries([
    [
      WriteUncorrectable, // NVM 1.2 §3.3.7, Figures 76 to 78
      ...(['nvm', 0x04, 'none'] as const),
      { CID: 0x0203, NSID: 2, SLBA: 0x22_3344_5566, NLB: zeroBased(65_536), DTYPE: 0xf, DSPEC: 0xabcd },
      `04 00 03 02  02 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  66 55 44 33  22 00 00 00
     ff ff f0 00  00 00 cd ab  00 00 00 00  00 00 00 00`,
    ],
    [
      WriteZeroes, // NVM 1.2 §3.3.8, Figures 80 to 86
      ...(['nvm', 0x08, 'none'] as const),
      {
        ...{ CID: 0x0203, NSID: 2, SLBA: 0x22_3344_5566, NLB: zeroBased(8), CETYPE: 1, DTYPE: 5, DEAC: 1, STC: 1 },
        ...{ PRINFO: 0x8, LR: 1, DSPEC: 0xabcd, CEV: 0x1234, LBTU2: 0x8899, LBTU3: 0xaabb_1122, LBTL: 0x3344_5566 },
        ...{ LBAT: 0x5566, LBATM: 0x7788 },
      },
      `08 00 03 02  02 00 00 00  99 88 00 00  22 11 bb aa
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  66 55 44 33  22 00 00 00
     07 00 51 a3  34 12 cd ab  66 55 44 33  66 55 88 77`,
    ],
    [
      WriteZeroes, // the whole namespace
      ...(['nvm', 0x08, 'none'] as const),
      { CID: 0, NSID: 2, NSZ: 1, DEAC: 1, FUA: 1 },
      `08 00 00 00  02 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 80 42  00 00 00 00  00 00 00 00  00 00 00 00`,
    ],
  ])

  describe('completion of Write Zeroes (NVM 1.2 §3.3.8.1, Figure 87)', () => {
    it('reports in bit 0 of Dword 0 that the whole namespace was cleared', () => {
      expect(WriteZeroesDw0.decode(1)).toEqual({ LBACZ: 1 })
      expect(WriteZeroesDw0.decode(0xffff_fffe)).toEqual({ LBACZ: 0, reserved: 0xffff_fffe })
    })
  })
})

describe('compare verify', () => {
  const values = {
    ...{ CID: 0x0102, NSID: 1, SLBA: 0x22_3344_5566, NLB: zeroBased(8), STC: 1, PRINFO: 0x5, FUA: 1, LR: 1, CETYPE: 1 },
    ...{ CEV: 0x1234, ELBTU2: 0x8899, ELBTU3: 0xaabb_1122, ELBTL: 0x3344_5566, ELBAT: 0x5566, ELBATM: 0x7788 },
  }
  const dwords = `66 55 44 33  22 00 00 00
     07 00 01 d5  34 12 00 00  66 55 44 33  66 55 88 77`

  describeEntries([
    [
      Compare, // NVM 1.2 §3.3.1, Figures 22 to 29
      ...(['nvm', 0x05, 'host-to-controller'] as const),
      { ...values, MPTR: 0x3000, PRP1: 0x1000, PRP2: 0x2000 },
      `05 00 02 01  01 00 00 00  99 88 00 00  22 11 bb aa
     00 30 00 00  00 00 00 00  00 10 00 00  00 00 00 00
     00 20 00 00  00 00 00 00  ${dwords}`,
    ],
    [
      Verify, // NVM 1.2 §3.3.5, Figures 59 to 64
      ...(['nvm', 0x0c, 'none'] as const),
      values,
      `0c 00 02 01  01 00 00 00  99 88 00 00  22 11 bb aa
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  ${dwords}`,
    ],
  ])
})

describe('dataset management', () => {
  describeEntries([
    [
      DatasetManagement, // NVM 1.2 §3.3.3, Figures 43 to 45
      ...(['nvm', 0x09, 'host-to-controller'] as const),
      { CID: 5, NSID: 1, PRP1: 0x7000, NR: zeroBased(3), AD: 1 },
      `09 00 05 00  01 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 70 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  02 00 00 00  04 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00`,
    ],
    [
      DatasetManagement,
      ...(['nvm', 0x09, 'host-to-controller'] as const),
      { CID: 5, NSID: 1, NR: zeroBased(256), IDR: 1, IDW: 1 },
      `09 00 05 00  01 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  ff 00 00 00  03 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00`,
    ],
  ])

  describe('Dataset Management Range (NVM 1.2 §3.3.3, Figures 46 and 47)', () => {
    it('is 16 bytes, and has its fields at their bytes', () => {
      expect(DatasetManagementRange.bytes).toBe(16)
      expect(bytesOf(DatasetManagementRange)).toEqual([
        ['CATTR', 0, 4],
        ['LLB', 4, 4],
        ['SLBA', 8, 8],
      ])
      expect(rowsOf({ fields: DatasetManagementRange.fields.CATTR.rows }).map(([symbol]) => symbol)).toEqual([
        'AF',
        'AL',
        'SRR',
        'SWR',
        'WPREP',
        'CASZE',
      ])
    })

    it('has the same bytes as libnvme 1.3 nvme_init_dsm_range produces', () => {
      const hex = '15 04 00 00  09 00 00 00  88 77 66 55 44 33 01 00'
      const range = { CATTR: { AF: 5, AL: 1, WPREP: 1 } as const, LLB: 9, SLBA: 0x1_3344_5566_7788 }
      const data = unwritten(16)
      DatasetManagementRange.encode(data, 0, range)
      expect(toHex(data)).toBe(toHex(fromHex(hex)))
      expect(DatasetManagementRange.decode(data)).toEqual({
        ...range,
        CATTR: { AF: 5, AL: 1, SRR: 0, SWR: 0, WPREP: 1, CASZE: 0 },
      })
    })

    it('is an element of an array: range 255 starts at byte 4080', () => {
      const data = new DataView(new ArrayBuffer(4096))
      DatasetManagementRange.view(data).at(255).LLB = 0xffff_ffff
      expect(data.getUint32(4084, true)).toBe(0xffff_ffff)
    })
  })
})

describe('copy', () => {
  describeEntries([
    [
      Copy, // NVM 1.2 §3.3.2, Figures 31 to 37; Command Dword 12 as in libnvme 1.3 nvme_copy, except for CETYPE, STCR
      ...(['nvm', 0x19, 'host-to-controller'] as const),
      {
        ...{ CID: 7, NSID: 1, PRP1: 0x9000, SDLBA: 0x22_3344_5566, NR: zeroBased(4), DESFMT: 1, PRINFOR: 0x7 },
        ...{ PRINFOW: 0xd, DTYPE: 2, CETYPE: 3, STCR: 1, FUA: 1, LR: 1, CEV: 0x1234, DSPEC: 0xabcd, LBTU2: 0x8899 },
        ...{ LBTU3: 0xaabb_1122, LBTL: 0x3344_5566, LBAT: 0x5566, LBATM: 0x7788 },
      },
      `19 00 07 00  01 00 00 00  99 88 00 00  22 11 bb aa
     00 00 00 00  00 00 00 00  00 90 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  66 55 44 33  22 00 00 00
     03 71 23 f6  34 12 cd ab  66 55 44 33  66 55 88 77`,
    ],
    [
      Copy, // Storage Tag Check Write alone
      ...(['nvm', 0x19, 'host-to-controller'] as const),
      { CID: 7, NSID: 1, STCW: 1 },
      `19 00 07 00  01 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 01  00 00 00 00  00 00 00 00  00 00 00 00`,
    ],
  ])

  const source = { SLBA: 0x1_3344_5566_7788, NLB: zeroBased(8), CETYPE: 1, CEV: 0x1234, ELBAT: 0xaaaa, ELBATM: 0xbbbb }
  const begin = '88 77 66 55  44 33 01 00  07 00 01 00  34 12'
  const tags = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)

  // NVM 1.2 §3.3.2, Figures 39 and 40. libnvme 1.3 has ELBATM before ELBAT, the figures after it.
  describe.each<[AnyStruct, Record<string, unknown>, string]>([
    [
      CopyRange0,
      { ...source, ELBT: 0x0102_0304 },
      `00 00 00 00  00 00 00 00  ${begin} 00 00  04 03 02 01  aa aa bb bb`,
    ],
    [
      CopyRange1,
      { ...source, ELBT: tags },
      `00 00 00 00  00 00 00 00  ${begin} 00 00  00 00 01 02 03 04 05 06 07 08 09 0a  aa aa bb bb`,
    ],
    [
      CopyRange2,
      { SNSID: 0x1122_3344, SOPT: { FCO: 1 }, ...source, ELBT: 0x0102_0304 },
      `44 33 22 11  00 00 00 00  ${begin} 00 80  04 03 02 01  aa aa bb bb`,
    ],
    [
      CopyRange3,
      { SNSID: 0x1122_3344, SOPT: { FCO: 1 }, ...source, ELBT: tags },
      `44 33 22 11  00 00 00 00  ${begin} 00 80  00 00 01 02 03 04 05 06 07 08 09 0a  aa aa bb bb`,
    ],
  ])('$name', (range, values, hex) => {
    it('has its fields at the bytes of its figure, and decodes them', () => {
      const data = unwritten(range.bytes)
      range.encode(data, 0, values)
      expect(toHex(data)).toBe(toHex(fromHex(hex)))
      expect(range.decode(data)).toEqual(values)
    })
  })

  it('Copy Descriptor Formats 0h and 2h are 32 bytes, 1h and 3h are 40 bytes (NVM 1.2 §3.3.2, Figures 39 and 40)', () => {
    expect([CopyRange0, CopyRange1, CopyRange2, CopyRange3].map(({ bytes }) => bytes)).toEqual([32, 40, 32, 40])
  })
})

describe('cancel', () => {
  describeEntries([
    [
      Cancel, // Base 2.2 §7.1, Figures 557 and 558
      ...(['nvm', 0x18, 'none'] as const),
      { CID: 9, NSID: 0xffff_ffff, SQID: 0x0102, ABORTED_CID: 0xffff, ACODE: 1 },
      `18 00 09 00  ff ff ff ff  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  02 01 ff ff  01 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00`,
    ],
  ])

  describe('Cancel (Base 2.2 §7.1)', () => {
    it('cancels a single command with 00b, multiple commands with 01b', () => {
      expect(valuesOf(Cancel.ACODE)).toEqual({ SINGLE: 0, MULTIPLE: 1 })
    })

    it('completes with the number of commands in Dword 0 (Figure 560)', () => {
      expect(rowsOf(CancelDw0)).toEqual([
        ['CMDA', 15, 0],
        ['CEDA', 31, 16],
      ])
      expect(CancelDw0.decode(0xffff_0002)).toEqual({ CMDA: 2, CEDA: 0xffff })
    })
  })
})

describe('io management', () => {
  describeEntries([
    [
      IoManagementReceive, // Base 2.2 §7.3, Figures 561 to 563
      ...(['nvm', 0x12, 'controller-to-host'] as const),
      { CID: 9, NSID: 1, PRP1: 0x3000, MO: 1, MOS: 0x1234, NUMD: zeroBased(1024) },
      `12 00 09 00  01 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 30 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  01 00 34 12  ff 03 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00`,
    ],
    [
      IoManagementSend, // Base 2.2 §7.4, Figures 565 to 567
      ...(['nvm', 0x1d, 'host-to-controller'] as const),
      { CID: 9, NSID: 1, PRP1: 0x3000, MO: 1, MOS: 7 },
      `1d 00 09 00  01 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 30 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  01 00 07 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00`,
    ],
  ])

  describe('I/O management', () => {
    it('has the operations of Base 2.2 Figures 562 and 566', () => {
      expect(valuesOf(IoManagementReceive.MO)).toEqual({ NO_ACTION: 0, RECLAIM_UNIT_HANDLE_STATUS: 1 })
      expect(valuesOf(IoManagementSend.MO)).toEqual({ NO_ACTION: 0, RECLAIM_UNIT_HANDLE_UPDATE: 1 })
    })

    it('Reclaim Unit Handle Status has its count at byte 14 of 16 (Base 2.2 Figure 564)', () => {
      expect(ReclaimUnitHandleStatus.bytes).toBe(16)
      expect(bytesOf(ReclaimUnitHandleStatus)).toEqual([['NRUHSD', 14, 2]])
    })

    it('Reclaim Unit Handle Status Descriptor has its fields at their bytes of 32 (NVM 1.2 Figure 20)', () => {
      expect(ReclaimUnitHandleStatusDescriptor.bytes).toBe(32)
      expect(bytesOf(ReclaimUnitHandleStatusDescriptor)).toEqual([
        ['PID', 0, 2],
        ['RUHID', 2, 2],
        ['EARUTR', 4, 4],
        ['RUAMW', 8, 8],
      ])
    })
  })
})
