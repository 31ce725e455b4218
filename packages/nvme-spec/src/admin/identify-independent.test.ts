import { describe, expect, it } from 'vitest'
import { bytesOf, valuesOf } from '../../test/figures.js'
import { describeRows, wordOf } from '../../test/rows.js'
import { IdentifyNamespace } from '../nvm/identify-namespace.js'
import { IdentifyIndependentNamespace, namespaceRows } from './identify-independent.js'

describe('I/O Command Set Independent Identify Namespace (CNS 08h, Base 2.1 §5.1.13.2.8, Figure 319)', () => {
  it('has its fields at the bytes of the figure, in 4096', () => {
    expect(IdentifyIndependentNamespace.bytes).toBe(4096)
    expect(bytesOf(IdentifyIndependentNamespace)).toEqual([
      ['NSFEAT', 0, 1], // 0 to 2 as in libnvme 1.3 nvme_id_independent_id_ns
      ['NMIC', 1, 1],
      ['RESCAP', 2, 1],
      ['FPI', 3, 1],
      ['ANAGRPID', 4, 4],
      ['NSATTR', 8, 1],
      ['NVMSETID', 10, 2],
      ['ENDGID', 12, 2],
      ['NSTAT', 14, 1],
      ['KPIOS', 15, 1],
      ['MAXKT', 16, 2],
      ['RGRPID', 20, 4],
    ])
  })

  describeRows([
    // Bits 3 and 4 as nvme-cli 2.3 explains them.
    [wordOf(IdentifyIndependentNamespace, 'NSFEAT'), { UIDREUSE: 0x08n, RMEDIA: 0x10n, VWCNP: 0x20n }],
    [wordOf(IdentifyIndependentNamespace, 'NMIC'), { SHRNS: 0x01n, DISNS: 0x02n }],
    [
      wordOf(IdentifyIndependentNamespace, 'RESCAP'), // libnvme 1.3 enum nvme_id_ns_rescap
      { PTPL: 0x01n, WE: 0x02n, EA: 0x04n, WERO: 0x08n, EARO: 0x10n, WEAR: 0x20n, EAAR: 0x40n, IEK: 0x80n },
    ],
    [wordOf(IdentifyIndependentNamespace, 'FPI'), { RFNVM: 0x7fn, FPIS: 0x80n }],
    [wordOf(IdentifyIndependentNamespace, 'NSATTR'), { CWP: 0x01n }],
    [wordOf(IdentifyIndependentNamespace, 'NSTAT'), { NRDY: 0x01n, IOI: 0x06n }],
    [wordOf(IdentifyIndependentNamespace, 'KPIOS'), { KPIOENS: 0x01n, KPIOSNS: 0x02n }],
  ])

  it('performance is not reported, not degraded or degraded', () => {
    const { IOI } = IdentifyIndependentNamespace.fields.NSTAT.rows
    expect(valuesOf(IOI)).toEqual({ NOT_REPORTED: 0, NOT_DEGRADED: 2, DEGRADED: 3 })
  })

  it('prints a shared namespace that is ready', () => {
    const { data } = IdentifyIndependentNamespace.create({ NMIC: 0x01, NSTAT: 0x05, ENDGID: 1 })
    expect(IdentifyIndependentNamespace.describe(data)).toEqual([
      'NMIC={ SHRNS=1 DISNS=0 }',
      'ENDGID=1',
      'NSTAT={ NRDY=1 IOI=NOT_DEGRADED }',
    ])
  })

  it('shares the rows of these words with Identify Namespace, as NVM 1.2 §4.1.5.1 says', () => {
    expect(Object.keys(namespaceRows)).toEqual(['NMIC', 'RESCAP', 'FPI', 'NSATTR', 'KPIOS'])
    expect(IdentifyNamespace.RESCAP.EAAR.of(0x40)).toBe(1)
  })
})
