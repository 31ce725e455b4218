import { describe, expect, it } from 'vitest'
import { fromHex } from '../../test/bytes.js'
import { describeEntries } from '../../test/entries.js'
import { decodeSqe, formatSqe } from '../commands.js'
import { zeroBased } from '../layout/zero-based.js'
import { SQE } from '../sqe.js'
import { CommandExtensionCdw13 } from './io-words.js'
import { Read, Write } from './read-write.js'

// Command Dwords as libnvme 1.3 makes them for 64b guards with 18 bits of Storage Tag (Read), and for 32b guards with 32
// (Write); rows of NVM 1.2 Figures 51 to 57 and 68 to 74.
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

describe('Command Dword 13 of Read and Write where CETYPE is not 0 (NVM 1.2 §3.3.4 Figure 55, §3.3.6 Figure 72)', () => {
  const data = new DataView(new ArrayBuffer(64))
  Write.encode(data, 0, { CETYPE: 1, NLB: zeroBased(1) })
  SQE.view(data).CDW13 = CommandExtensionCdw13.encode({ CEV: 0x1234, DSPEC: 0xabcd })

  it('has CEV in bits 15:00, of which DSM would be a part, and DSPEC in bits 31:16', () => {
    expect(data.getUint32(52, true)).toBe(0xabcd_1234)
    const { fields } = decodeSqe('nvm', data)
    expect(fields).toMatchObject({ CETYPE: 1, CEV: 0x1234, DSPEC: 0xabcd })
    expect(fields).not.toHaveProperty('DSM')
    expect(fields).not.toHaveProperty('reserved')
    expect(formatSqe('nvm', data)).toBe('Write SLBA=0x0 NLB=0 CETYPE=1 CEV=4660 DSPEC=43981')
  })
})

describe('PRINFO and DSM of an entry', () => {
  it('are objects of their bits, and text by name', () => {
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
