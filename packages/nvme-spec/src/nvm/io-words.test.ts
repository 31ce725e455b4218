import { describe, expect, it } from 'vitest'
import { rowsOf, valuesOf } from '../../test/figures.js'
import { CommandExtensionCdw13, contextAttributes, DSM, PRINFO } from './io-words.js'

describe('words inside the dwords of I/O commands', () => {
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

  it('context attributes have the rows of NVM 1.2 Figure 47', () => {
    expect(rowsOf({ fields: contextAttributes })).toEqual([
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
    expect(valuesOf(contextAttributes.AF)).toEqual(frequencies)
    expect(valuesOf(DSM.AF)).toEqual({ ...frequencies, ONE_TIME: 6, SPECULATIVE: 7, SOON_OVERWRITTEN: 8 })
    for (const { AL } of [contextAttributes, DSM]) expect(valuesOf(AL)).toEqual({ NONE: 0, IDLE: 1, NORMAL: 2, LOW: 3 })
  })
})
