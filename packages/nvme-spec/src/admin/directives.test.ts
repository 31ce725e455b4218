import { describe, expect, it } from 'vitest'
import { bytesOf, dwordsOf, rowsOf } from '../../test/figures.js'
import { zeroBased } from '../layout/rows.js'
import {
  AllocateResourcesCdw12,
  AllocateResourcesDw0,
  DIRECTIVE_TYPE,
  DirectiveReceive,
  DirectiveSend,
  EnableDirectiveCdw12,
  IDENTIFY_DIRECTIVE_SEND,
  IdentifyDirectiveParameters,
  STREAMS_DIRECTIVE_SEND,
  StreamsDirectiveParameters,
  StreamsDirectiveStatus,
} from './directives.js'

describe('Directive Send and Directive Receive (Base 2.1 §5.1.6 and §5.1.7, Figures 176 to 180)', () => {
  it.each([DirectiveSend, DirectiveReceive])("$name: a 0's based NUMD, then DSPEC, DTYPE and DOPER", (command) => {
    const values = { NUMD: zeroBased(8), DSPEC: 0x1234, DTYPE: 0x01, DOPER: 0x02, CDW12: 12, CDW13: 13 }
    expect(dwordsOf(command, values)).toEqual([7, 0x1234_0102, 12, 13, 0, 0])
  })

  it('DIRECTIVE_TYPE 00h is Identify, 01h Streams, 02h Data Placement, 0Fh vendor specific (Base 2.2 Figure 598)', () => {
    expect(DIRECTIVE_TYPE.values).toEqual({ IDENTIFY: 0, STREAMS: 1, DATA_PLACEMENT: 2, VENDOR_SPECIFIC: 15 })
  })

  it('the operations are those of Base 2.2 Figures 600 and 605', () => {
    expect(DirectiveReceive.fields.DOPER.values).toEqual({ RETURN_PARAMETERS: 1, GET_STATUS: 2, ALLOCATE_RESOURCES: 3 })
    expect(IDENTIFY_DIRECTIVE_SEND.values).toEqual({ ENABLE_DIRECTIVE: 1 })
    expect(STREAMS_DIRECTIVE_SEND.values).toEqual({ RELEASE_IDENTIFIER: 1, RELEASE_RESOURCES: 2 })
  })
})

describe('operations of directives (Base 2.2 §8.1.8)', () => {
  it('Enable Directive: ENDIR is bit 0 of Command Dword 12, DTYPE bits 15:08 (Figure 602)', () => {
    expect(EnableDirectiveCdw12.encode({ ENDIR: 1, DTYPE: 0x01 })).toBe(0x0101)
    expect(rowsOf(EnableDirectiveCdw12)).toEqual([
      ['ENDIR', 0, 0],
      ['DTYPE', 15, 8],
    ])
  })

  it('Allocate Resources: NSR in Command Dword 12, NSA in Dword 0 of the completion (Figures 610 and 611)', () => {
    expect(rowsOf(AllocateResourcesCdw12)).toEqual([['NSR', 15, 0]])
    expect(rowsOf(AllocateResourcesDw0)).toEqual([['NSA', 15, 0]])
  })

  it('IdentifyDirectiveParameters: three vectors of 32 bytes, a bit for each directive (Figure 601)', () => {
    expect(bytesOf(IdentifyDirectiveParameters)).toEqual([
      ['SUPPORTED', 0, 2],
      ['ENABLED', 32, 2],
      ['PERSISTENT', 64, 2],
    ])
    expect(IdentifyDirectiveParameters.bytes).toBe(4096)
    const { SUPPORTED, ENABLED, PERSISTENT } = IdentifyDirectiveParameters.fields
    expect(rowsOf({ fields: SUPPORTED.rows })).toEqual([
      ['IDIRS', 0, 0],
      ['SDIRS', 1, 1],
      ['DPDIRS', 2, 2],
      ['VSDIRS', 15, 15],
    ])
    expect(rowsOf({ fields: ENABLED.rows })).toEqual([
      ['IDIRE', 0, 0],
      ['SDIRE', 1, 1],
      ['DPDIRE', 2, 2],
      ['VSDIRE', 15, 15],
    ])
    expect(rowsOf({ fields: PERSISTENT.rows })).toEqual([
      ['IDIRCLR', 0, 0],
      ['SDIRCLR', 1, 1],
      ['DPDIRCLR', 2, 2],
      ['VSDIRCLR', 15, 15],
    ])
  })

  it('StreamsDirectiveParameters: the fields of Figure 608', () => {
    expect(bytesOf(StreamsDirectiveParameters)).toEqual([
      ['MSL', 0, 2],
      ['NSSA', 2, 2],
      ['NSSO', 4, 2],
      ['NSSC', 6, 1],
      ['SWS', 16, 4],
      ['SGS', 20, 2],
      ['NSA', 22, 2],
      ['NSO', 24, 2],
    ])
    expect(StreamsDirectiveParameters.bytes).toBe(32)
    expect(rowsOf({ fields: StreamsDirectiveParameters.fields.NSSC.rows })).toEqual([
      ['SSID', 0, 0],
      ['SRNZID', 1, 1],
    ])
  })

  it('StreamsDirectiveStatus: OSC is bytes 01:00, the first identifier follows at byte 2 (Figure 609)', () => {
    expect(bytesOf(StreamsDirectiveStatus)).toEqual([['OSC', 0, 2]])
    expect(StreamsDirectiveStatus.bytes).toBe(2)
  })
})
