import { describe, expect, it } from 'vitest'
import { fromHex } from '../../test/bytes.js'
import { bytesOf, rowsOf, valuesOf } from '../../test/figures.js'
import { ErrorLogEntry } from './log-error.js'

// A Read of namespace 1 beyond its end (LBA Out of Range, do not retry), by command 0412h of queue 3; SLBA is at fault.
const entry = fromHex(`
  05 00 00 00 00 00 00 00  03 00 12 04 01 c1 28 00
  00 10 00 00 00 00 00 00  01 00 00 00 00 00 00 02
  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 01
`)

describe('Error Information Log Entry (LID 01h, Base 2.3 §5.2.12.1.2)', () => {
  it('has its fields at the bytes of Figure 209', () => {
    expect([ErrorLogEntry.bytes, ...bytesOf(ErrorLogEntry)]).toEqual([
      64,
      ['ECNT', 0, 8],
      ['SQID', 8, 2],
      ['CID', 10, 2],
      ['STS', 12, 2],
      ['PEL', 14, 2],
      ['LBA', 16, 8],
      ['NSID', 24, 4],
      ['VSIA', 28, 1],
      ['TRTYPE', 29, 1],
      ['CSI', 30, 1],
      ['OPC', 31, 1],
      ['CSINFO', 32, 8],
      ['TTSI', 40, 2],
      ['LPVER', 63, 1],
    ])
  })

  it('STS is a Phase Tag and a Status, PEL a byte and a bit', () => {
    expect(rowsOf({ fields: ErrorLogEntry.fields.STS.rows })).toEqual([
      ['P', 0, 0],
      ['SC', 8, 1],
      ['SCT', 11, 9],
      ['CRD', 13, 12],
      ['M', 14, 14],
      ['DNR', 15, 15],
    ])
    expect(rowsOf({ fields: ErrorLogEntry.fields.PEL.rows })).toEqual([
      ['BYTLOC', 7, 0],
      ['BITLOC', 10, 8],
    ])
    expect(valuesOf(ErrorLogEntry.fields.TRTYPE)).toEqual({ NONE: 0, RDMA: 1, FC: 2, TCP: 3 })
    expect(valuesOf(ErrorLogEntry.fields.CSI)).toEqual({ NVM: 0, KV: 1, ZNS: 2, SLM: 3, CP: 4 })
  })

  it('decodes an entry', () => {
    expect(ErrorLogEntry.decode(entry)).toEqual({
      ...{ ECNT: 5n, SQID: 3, CID: 0x412 },
      STS: { P: 1, SC: 0x80, SCT: 0, CRD: 0, M: 1, DNR: 1 },
      PEL: { BYTLOC: 40, BITLOC: 0 },
      ...{ LBA: 4096n, NSID: 1, VSIA: 0, TRTYPE: 0, CSI: 0, OPC: 2, CSINFO: 0n, TTSI: 0, LPVER: 1 },
    })
  })

  it('prints an entry', () => {
    expect(ErrorLogEntry.describe(entry)).toEqual([
      'ECNT=5',
      'SQID=3',
      'CID=0x0412',
      'STS={ P=1 SC=128 SCT=0 CRD=0 M=1 DNR=1 }',
      'PEL={ BYTLOC=40 BITLOC=0 }',
      'LBA=4096',
      'NSID=1',
      'OPC=0x02',
      'LPVER=1',
    ])
  })

  it('FFFFh in SQID, CID and PEL, an error of no command, loses no bit', () => {
    const data = new DataView(entry.buffer.slice(0))
    data.setUint16(14, 0xffff, true)
    expect(ErrorLogEntry.decode(data).PEL).toEqual({ BYTLOC: 0xff, BITLOC: 7, reserved: 0xf800 })
  })
})
