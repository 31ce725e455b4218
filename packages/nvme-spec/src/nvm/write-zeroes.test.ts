import { describe, expect, it } from 'vitest'
import { describeEntries } from '../../test/entries.js'
import { zeroBased } from '../layout/zero-based.js'
import { WriteUncorrectable, WriteZeroes, WriteZeroesDw0 } from './write-zeroes.js'

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
  it('says in bit 0 of Dword 0 that the whole namespace was cleared', () => {
    expect(WriteZeroesDw0.decode(1)).toEqual({ LBACZ: 1 })
    expect(WriteZeroesDw0.decode(0xffff_fffe)).toEqual({ LBACZ: 0, reserved: 0xffff_fffe })
  })
})
