import { describeEntries } from '../../test/entries.js'
import { Flush } from './flush.js'

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
