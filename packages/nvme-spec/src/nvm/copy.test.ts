import { describe, expect, it } from 'vitest'
import { toHex, fromHex, unwritten } from '../../test/bytes.js'
import { describeEntries } from '../../test/entries.js'
import type { AnyStruct } from '../layout/index.js'
import { zeroBased } from '../layout/zero-based.js'
import { Copy, CopyRange0, CopyRange1, CopyRange2, CopyRange3 } from './copy.js'

describeEntries([
  [
    Copy, // NVM 1.2 §3.3.2, Figures 31 to 37; Command Dword 12 as libnvme 1.3 nvme_copy makes it, but for CETYPE, STCR
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

// NVM 1.2 §3.3.2, Figures 39 and 40. libnvme 1.3 has ELBATM before ELBAT, which the figures have after it.
describe.each<[AnyStruct, Record<string, unknown>, string]>([
  [CopyRange0, { ...source, ELBT: 0x0102_0304 }, `00 00 00 00  00 00 00 00  ${begin} 00 00  04 03 02 01  aa aa bb bb`],
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

it('Copy Descriptor Formats 0h and 2h are of 32 bytes, 1h and 3h of 40 (NVM 1.2 §3.3.2, Figures 39 and 40)', () => {
  expect([CopyRange0, CopyRange1, CopyRange2, CopyRange3].map(({ bytes }) => bytes)).toEqual([32, 40, 32, 40])
})
