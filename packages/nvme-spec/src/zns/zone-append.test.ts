import { expect, it } from 'vitest'
import { fromHex } from '../../test/bytes.js'
import { describeEntries } from '../../test/entries.js'
import { bytesOf } from '../../test/figures.js'
import { zeroBased } from '../layout/zero-based.js'
import { ZoneAppend, ZoneAppendCompletion } from './zone-append.js'

describeEntries([
  [
    ZoneAppend, // ZNS 1.1 §3.4.1, Figures 22 to 29
    ...(['zns', 0x7d, 'host-to-controller'] as const),
    {
      ...{ CID: 9, NSID: 1, MPTR: 0x3000, PRP1: 0x1000, PRP2: 0x2000, ZSLBA: 0x22_3344_5566, NLB: zeroBased(8) },
      ...{ DTYPE: 2, STC: 1, PIREMAP: 1, PRINFO: 0xd, FUA: 1, LR: 1, DSPEC: 0xabcd, LBTU2: 0x8899 },
      ...{ LBTU3: 0xaabb_1122, LBTL: 0x3344_5566, LBAT: 0x5566, LBATM: 0x7788 },
    },
    `7d 00 09 00  01 00 00 00  99 88 00 00  22 11 bb aa
     00 30 00 00  00 00 00 00  00 10 00 00  00 00 00 00
     00 20 00 00  00 00 00 00  66 55 44 33  22 00 00 00
     07 00 20 f7  00 00 cd ab  66 55 44 33  66 55 88 77`,
  ],
  [
    ZoneAppend, // as libnvme 1.3 nvme_zns_append makes it of the same values
    ...(['zns', 0x7d, 'host-to-controller'] as const),
    { CID: 0, NSID: 1, ZSLBA: 0x22_3344_5566, NLB: zeroBased(8), PIREMAP: 1, FUA: 1, LBAT: 0x5566, LBATM: 0x7788 },
    `7d 00 00 00  01 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  66 55 44 33  22 00 00 00
     07 00 00 42  00 00 00 00  00 00 00 00  66 55 88 77`,
  ],
])

it('Zone Append completes with the lowest LBA that was written in Dwords 0 and 1 (ZNS 1.1 §3.4.1.2)', () => {
  expect(bytesOf(ZoneAppendCompletion)).toEqual([['ALBA', 0, 8]])
  const completion = fromHex('66 55 44 33  22 00 00 00  04 00 01 00  12 04 01 00')
  expect(ZoneAppendCompletion.view(completion).ALBA).toBe(0x22_3344_5566)
})
