import { describeEntries } from '../../test/entries.js'
import { zeroBased } from '../layout/zero-based.js'
import { Compare, Verify } from './compare-verify.js'

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
