import { describe, expect, it } from 'vitest'
import {
  ActiveNamespaceList,
  CAP,
  CC,
  CMBSZ,
  IdentifyController,
  IdentifyIndependentNamespace,
  PMRSTS,
  IdentifyNamespace,
  logStructure,
  PowerStateDescriptor,
  SmartHealthLog,
  VS,
} from '../index.js'
import { declared } from '../../test/declared.js'
import { ConnectResponse } from '../fabrics/index.js'
import type { Layout } from '../layout/index.js'
import { explain, explainCqe, explainSqe, explainWord, formatExplained, formatExplainedValue } from './index.js'
import type { ExplainedLine } from './index.js'

/** Bytes of a structure: hexadecimal digits by offset, zeroes elsewhere. */
function memory(lengthBytes: number, parts: Readonly<Record<number, string>> = {}): DataView {
  const bytes = Buffer.alloc(lengthBytes)
  for (const [at, digits] of Object.entries(parts))
    Buffer.from(digits.replaceAll(' ', ''), 'hex').copy(bytes, Number(at))
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** The values of the lines at these paths. */
function values(lines: readonly ExplainedLine[], ...paths: string[]): string[] {
  return paths.map((path) => {
    const line = lines.find((each) => each.path === path)
    return line === undefined ? `${path} has no line` : formatExplainedValue(line)
  })
}

const valuesIn = (layout: Layout, parts: Readonly<Record<number, string>>, ...paths: string[]) =>
  values(explain(layout, memory(layout.bytes, parts)), ...paths)

describe('a structure', () => {
  it('shows identifiers in hexadecimal, counters in decimal, and text quoted', () => {
    const parts = { 0: '8680', 4: '534e31'.padEnd(40, '20'), 73: '8ee38c', 78: '0700', 516: '00010000' }
    expect(valuesIn(IdentifyController, parts, 'VID', 'SN', 'IEEE', 'CNTLID', 'NN')).toEqual([
      'VID=0x8086',
      'SN="SN1"',
      'IEEE=8ee38c: 0x8ce38e',
      'CNTLID=0x0007',
      'NN=256',
    ])
  })

  it('explains each bit, set or clear', () => {
    expect(
      valuesIn(IdentifyController, { 256: '0a', 525: '07' }, 'OACS', 'OACS.SSRS', 'OACS.FNVMS', 'VWC.VWCP'),
    ).toEqual(['OACS=0x000a', 'SSRS=0: not supported', 'FNVMS=1: supported', 'VWCP=1: present'])
    expect(valuesIn(IdentifyController, { 525: '07' }, 'VWC.FB')).toEqual(['FB=3: SUPPORTED'])
    expect(valuesIn(IdentifyController, { 525: '02' }, 'VWC.FB')).toEqual(['FB=1: reserved'])
  })

  it('explains a negated bit by its name', () => {
    // 1 means that the cache is not present (Base 2.1 §5.1.13.2.8), and that the PMR is not ready (§3.1.4.24).
    expect(valuesIn(IdentifyIndependentNamespace, { 0: '20' }, 'NSFEAT.VWCNP')).toEqual(['VWCNP=1: absent'])
    expect(valuesIn(IdentifyIndependentNamespace, {}, 'NSFEAT.VWCNP')).toEqual(['VWCNP=0: present'])
    expect(values(explainWord(PMRSTS, 0x100), 'PMRSTS.NRDY')).toEqual(['NRDY=1: not ready'])
    expect(values(explainWord(PMRSTS, 0), 'PMRSTS.NRDY')).toEqual(['NRDY=0: ready'])
    expect(values(explainWord(CAP, 1n << 44n), 'CAP.CSS_NOIOCSS')).toEqual(['CSS_NOIOCSS=1: set'])
  })

  it('shows quantities with their unit', () => {
    const parts = {
      77: '08',
      84: 'a0860100',
      258: '03',
      266: '5701',
      272: '00400000',
      280: '0060f4dc3b',
      312: '00000f01',
    }
    expect(
      valuesIn(
        IdentifyController,
        parts,
        'MDTS',
        'RTD3R',
        'ACL',
        'WCTEMP',
        'HMPRE',
        'TNVMCAP',
        'RPMBS.TSZE',
        'RPMBS.ASZE',
      ),
    ).toEqual([
      'MDTS=8: 1 MiB at 4 KiB pages',
      'RTD3R=100000: 100 ms',
      "ACL=3: 4, 0's based",
      'WCTEMP=343: 70 °C',
      'HMPRE=16384: 64 MiB',
      'TNVMCAP=257110073344: 257 GB',
      'TSZE=15: 2 MiB',
      'ASZE=1: 1 KiB',
    ])
    expect(valuesIn(SmartHealthLog, { 3: '64', 32: 'e803', 128: '7017' }, 'AVSP', 'DUR', 'POH')).toEqual([
      'AVSP=100: 100 %',
      'DUR=1000: 512 MB',
      'POH=6000: 250 days',
    ])
  })

  it('converts pages by the given page size', () => {
    const data = memory(4096, { 77: '05' })
    const lines = explain(IdentifyController, data, 0, { memoryPageBytes: 16_384 })
    expect(values(lines, 'MDTS')).toEqual(['MDTS=5: 512 KiB at 16 KiB pages'])
  })

  it('explains special values, such as no limit', () => {
    expect(valuesIn(IdentifyController, {}, 'MDTS')).toEqual(['MDTS=0: no limit'])
    // 0 means no boundary, although the field is otherwise 0's based.
    expect(valuesIn(IdentifyNamespace, { 44: '0700' }, 'NABSN', 'NABSPF')).toEqual([
      'NABSN=0: no boundary',
      'NABSPF=7: 8 logical blocks',
    ])
    expect(valuesIn(SmartHealthLog, { 5: 'ff' }, 'PUSED')).toEqual(['PUSED=255: more than 254'])
  })

  it('reads the unit from another field if the doc names one', () => {
    // 8.25 W as 825 units of 10 mW; 5 W as 50,000 units of 100 microwatts; a scale of 0 reports nothing.
    expect(valuesIn(PowerStateDescriptor, { 0: '3903' }, 'MP')).toEqual(['MP=825: 8.25 W'])
    expect(valuesIn(PowerStateDescriptor, { 0: '50c3 00 01' }, 'MP')).toEqual(['MP=50000: 5 W'])
    expect(valuesIn(PowerStateDescriptor, { 16: '0900' }, 'IDLP')).toEqual(['IDLP=9'])
  })

  it('shows nonzero elements of arrays, and their number', () => {
    const lines = explain(ActiveNamespaceList, memory(4096, { 0: '0100000003000000' }))
    expect(lines.map(formatExplainedValue)).toEqual(['NSID: 1024 elements, 2 not zero', 'NSID[0]=0x1', 'NSID[1]=0x3'])
    expect(valuesIn(IdentifyController, {}, 'PSD')).toEqual(['PSD: 32 elements, all zero'])
  })

  it('shows reserved bits only if they are set', () => {
    expect(explain(IdentifyController, memory(4096)).filter(({ path }) => path.includes('reserved'))).toEqual([])
    const lines = explain(IdentifyController, memory(4096, { 200: 'ab', 257: '80' }))
    expect(values(lines, 'reserved', 'OACS.reserved')).toEqual(['reserved=ab', 'reserved=0x8000'])
    expect(lines.find(({ path }) => path === 'OACS.reserved')!.location.bits).toEqual({ msb: 15, lsb: 15 })
  })

  it('reports offsets from its start, at any offset in memory', () => {
    const data = memory(10_000, { 2077: '08', [2000 + 2048]: '39' })
    const lines = explain(IdentifyController, data, 2000)
    expect(lines.find(({ path }) => path === 'MDTS')).toMatchObject({
      raw: 8,
      location: { offset: 77, lengthBytes: 1 },
    })
    expect(lines.find(({ path }) => path === 'PSD[0].MP')).toMatchObject({ raw: 57, location: { offset: 2048 } })
    expect(() => explain(IdentifyController, data, 8000)).toThrow(RangeError)
  })
})

describe('a register', () => {
  it('has a line, and one for each row', () => {
    expect(formatExplained(explainWord(CC, 0x0046_0001))).toEqual([
      '    3:0  CC=0x00460001         Controller Configuration',
      '    [0]    EN=1: enabled       Enable',
      '  [6:4]    CSS=0: NVM          I/O Command Set Selected',
      ' [10:7]    MPS=0: 4 KiB        Memory Page Size: 2 ^ (12 + MPS) bytes',
      '[13:11]    AMS=0: ROUND_ROBIN  Arbitration Mechanism Selected',
      '[15:14]    SHN=0: NONE         Shutdown Notification',
      '[19:16]    IOSQES=6: 64 bytes  I/O Submission Queue Entry Size: 2 ^ n bytes',
      '[23:20]    IOCQES=4: 16 bytes  I/O Completion Queue Entry Size: 2 ^ n bytes',
      '   [24]    CRIME=0: disabled   Controller Ready Independent of Media Enable',
    ])
  })

  it('rejects a value that is not a word of its width, and an invalid page size', () => {
    for (const raw of [-1, 2 ** 32, 1.5, Number.NaN, '5' as never, -1n, 1n << 32n])
      expect(() => explainWord(CC, raw)).toThrow('CC: expected a word of 32 bits, got ')
    expect(() => explainWord(CC, 0, { memoryPageBytes: -1 })).toThrow('memoryPageBytes: expected an integer from 1')
    expect(() => explain(IdentifyController, memory(4096), 0, { memoryPageBytes: 0.5 })).toThrow(RangeError)
  })

  it('rejects a structure that a lookup by number did not find', () => {
    expect(() => explain(logStructure(0xc0) as never, memory(64))).toThrow(
      new TypeError('layout: expected a declaration, got undefined'),
    )
  })

  it('shows units, versions and reserved bits', () => {
    const cap = explainWord(CAP, 0x8000_0020_2800_03ffn)
    expect(values(cap, 'CAP.MQES', 'CAP.TO', 'CAP.reserved')).toEqual([
      "MQES=1023: 1024, 0's based",
      'TO=40: 20 s',
      'reserved=0x8000000000000000',
    ])
    expect(values(explainWord(VS, 0x0002_0100), 'VS')).toEqual(['VS=0x00020100: 2.1.0'])
    // 3 * 16 MiB.
    expect(values(explainWord(CMBSZ, 0x3300), 'CMBSZ.SZU', 'CMBSZ.SZ')).toEqual(['SZU=3: MIB_16', 'SZ=3: 48 MiB'])
  })
})

describe('a queue entry', () => {
  it('is explained as its command, including the bits of fields shared by commands', () => {
    // Read of 8 blocks (NVM 1.2 §3.3.4): NLB in CDW12 bits 15:0, PRINFO in bits 29:26, FUA in bit 30.
    const { title, lines } = explainSqe('nvm', memory(64, { 0: '02001204 01', 40: '0000000001', 48: '07000060' }))
    expect(title).toBe('Read')
    expect(values(lines, 'CID', 'NSID', 'SLBA', 'NLB', 'PRINFO', 'PRINFO.PRACT', 'FUA')).toEqual([
      'CID=0x0412',
      'NSID=0x1',
      'SLBA=0x100000000',
      "NLB=7: 8, 0's based",
      'PRINFO=0x8',
      'PRACT=1: set',
      'FUA=1: set',
    ])
    expect(formatExplained(lines).filter((line) => /NLB|PRACT/.test(line))).toEqual([
      " 51:48 [15:0]  NLB=7: 8, 0's based  Number of Logical Blocks",
      '         [29]    PRACT=1: set       Protection Information Action',
    ])
  })

  it('shows FCTYPE instead of NSID for a Fabrics command (Base 2.2 §4.1.2, Figure 94)', () => {
    const { title, spec, lines } = explainSqe('admin', memory(64, { 0: '7f400100 01' }))
    expect([title, spec]).toEqual(['Fabrics Command', 'Base 2.2 §4.1.2'])
    expect(lines.map(({ path }) => path)).not.toContain('NSID')
    expect(lines.find(({ path }) => path === 'FCTYPE')).toMatchObject({
      raw: 1,
      doc: 'Fabrics Command Type',
    })
  })

  it('includes the fields of its SGL descriptor', () => {
    const { lines } = explainSqe('nvm', memory(64, { 0: '02400000', 24: '0000000001000000 00100000 000000 00' }))
    expect(values(lines, 'SGL1', 'SGL1.ADDR', 'SGL1.LEN')).toEqual([
      'SGL1: SGL Data Block descriptor',
      'ADDR=0x100000000',
      'LEN=4096: 4 KiB',
    ])
    expect(lines.find(({ path }) => path === 'SGL1.LEN')!.location).toEqual({ offset: 32, lengthBytes: 4 })
  })

  it('names the status of a completion', () => {
    const { lines } = explainCqe(memory(16, { 8: '07000100 12040181' }))
    expect(values(lines, 'STATUS', 'STATUS.SC', 'STATUS.DNR')).toEqual([
      'STATUS=0x8101: LBA Out of Range (SCT 0h SC 80h, DNR)',
      'SC=0x80',
      'DNR=1: set',
    ])
  })
})

describe('a Fabrics response', () => {
  it('has the statuses of Fabrics (Base 2.2 Figure 105)', () => {
    const { data } = ConnectResponse.create({ STS: { SCT: 1, SC: 0x82, DNR: 1 } })
    expect(values(explain(ConnectResponse, data), 'STS')).toEqual([
      'STS=0x8304: Connect Invalid Parameters (SCT 1h SC 82h, DNR)',
    ])
  })
})

describe('every declaration', () => {
  it.each([...declared.structs, ...declared.commands].map((layout) => [layout.name, layout] as const))(
    'the lines of %s cover every bit',
    (_, layout) => {
      const data = new DataView(new Uint8Array(layout.bytes).fill(0xff).buffer)
      const lines = explain(layout, data)
      const bits = new Uint8Array(layout.bytes * 8)
      for (const [i, { location, depth }] of lines.entries()) {
        // Its nested lines cover its bits.
        if ((lines[i + 1]?.depth ?? 0) > depth) continue
        const { msb, lsb } = location.bits ?? { msb: location.lengthBytes * 8 - 1, lsb: 0 }
        bits.fill(1, location.offset * 8 + lsb, location.offset * 8 + msb + 1)
      }
      expect(bits.indexOf(0)).toBe(-1)
    },
  )
})
