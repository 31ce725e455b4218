import type { ControllerCase } from '../case.js'
import { check, equal } from '../check.js'
import { ACQ, AQA, ASQ, CAP, CC, CSTS, INTMC, INTMS, NSSR, VS } from '../raw-host/registers.js'

const queueBases = [
  ['ASQ', ASQ],
  ['ACQ', ACQ],
] as const

/** Registers of Base 2.3 §3.1.4: values and writes while the controller is disabled. */
export const registerCases: readonly ControllerCase[] = [
  {
    id: 'cap-as-two-dwords',
    title: 'CAP reads the same as one 64-bit access and as two 32-bit accesses',
    spec: 'PCIe Transport 1.2 §3.1.2',
    run({ bar }) {
      const low = bar.read32(CAP)
      const high = bar.read32(CAP + 4)
      equal('CAP as two dwords', (BigInt(high) << 32n) | BigInt(low), bar.read64(CAP))
      return Promise.resolve()
    },
  },
  {
    id: 'cap-is-consistent',
    title: 'CAP: MQES is at least 1h, MPSMIN is not above MPSMAX, CSS names a command set or none, reserved bits are 0',
    spec: 'Base 2.3 §3.1.4.1',
    run({ registers: { cap, mpsMin, mpsMax, css, maxQueueEntries } }) {
      check(maxQueueEntries >= 2, `CAP.MQES is at least 1h, a queue of two entries, got ${maxQueueEntries - 1}`)
      check(mpsMin <= mpsMax, `CAP.MPSMIN ${mpsMin} is not above CAP.MPSMAX ${mpsMax}`)
      check(
        (css & 0b1100_0001) !== 0,
        `CAP.CSS names a command set, or states that there is none, got ${css.toString(2)}b`,
      )
      equal('CAP bits 23:19', Number((cap >> 19n) & 0x1fn), 0)
      return Promise.resolve()
    },
  },
  {
    id: 'vs-is-a-version',
    title: 'VS reports a major version of at least 1',
    spec: 'Base 2.3 §3.1.4.2',
    run({ registers: { vs } }) {
      check(vs >>> 16 >= 1 && vs !== 0xffff_ffff, `VS is a version, got ${vs.toString(16)}h`)
      return Promise.resolve()
    },
  },
  {
    id: 'cap-vs-csts-are-read-only',
    title: 'Writes to CAP, VS and the read-only bits of CSTS change nothing',
    spec: 'Base 2.3 §3.1.4.1, §3.1.4.2, §3.1.4.6',
    run({ bar }) {
      for (const [name, offset] of [
        ['CAP', CAP],
        ['CAP, upper half', CAP + 4],
        ['VS', VS],
        ['CSTS', CSTS],
      ] as const) {
        const before = bar.read32(offset)
        // Bit 4 of CSTS, NSSRO, is cleared by writing 1.
        for (const value of offset === CSTS ? [0xffff_ffef, 0] : [0xffff_ffff, 0]) {
          bar.write32(offset, value)
          equal(`${name} after a write of ${value.toString(16)}h`, bar.read32(offset), before)
        }
      }
      return Promise.resolve()
    },
  },
  {
    id: 'reserved-register-reads-zero',
    title: 'The reserved register at offset 18h reads 0h and ignores writes',
    spec: 'Base 2.3 §3.1.4; PCIe Transport 1.2 §3.1.2',
    run({ bar }) {
      equal('offset 18h', bar.read32(0x18), 0)
      bar.write32(0x18, 0xffff_ffff)
      equal('offset 18h after a write of ones', bar.read32(0x18), 0)
      return Promise.resolve()
    },
  },
  {
    id: 'registers-while-disabled',
    title: 'A disabled controller shows CC.EN = 0 and CSTS.RDY = 0, CFS = 0, SHST = 00b',
    spec: 'Base 2.3 §3.1.4.5, §3.1.4.6',
    run({ bar }) {
      equal('CC.EN', bar.read32(CC) & 1, 0)
      equal('CSTS bits 3:0', bar.read32(CSTS) & 0xf, 0)
      return Promise.resolve()
    },
  },
  {
    id: 'aqa-keeps-what-it-is-given',
    title: 'AQA keeps ASQS and ACQS, of 12 bits each',
    spec: 'Base 2.3 §3.1.4.8',
    run({ bar }) {
      for (const value of [0x0123_0456, 0x0fff_0fff, 0]) {
        bar.write32(AQA, value)
        equal('AQA', bar.read32(AQA), value)
      }
      return Promise.resolve()
    },
  },
  {
    id: 'aqa-reserved-bits-read-zero',
    title: 'The reserved bits of AQA read 0h whatever the written value',
    spec: 'Base 2.3 §3.1.4.8',
    run({ bar }) {
      bar.write32(AQA, 0xffff_ffff)
      equal('AQA after a write of ones', bar.read32(AQA), 0x0fff_0fff)
      return Promise.resolve()
    },
  },
  {
    id: 'asq-acq-keep-what-they-are-given',
    title: 'ASQ and ACQ keep the address in bits 63:12, written by one 64-bit access or two 32-bit accesses',
    spec: 'Base 2.3 §3.1.4.9, §3.1.4.10; PCIe Transport 1.2 §3.1.2',
    run({ bar }) {
      for (const [name, offset] of queueBases) {
        bar.write64(offset, 0x0000_0012_3456_7000n)
        equal(name, bar.read64(offset), 0x0000_0012_3456_7000n)
        bar.write32(offset + 4, 0x0000_0056)
        equal(`${name} after its upper half`, bar.read64(offset), 0x0000_0056_3456_7000n)
        bar.write32(offset, 0x9abc_d000)
        equal(`${name} after its lower half`, bar.read64(offset), 0x0000_0056_9abc_d000n)
      }
      return Promise.resolve()
    },
  },
  {
    id: 'asq-acq-reserved-bits-read-zero',
    title: 'Bits 11:0 of ASQ and ACQ read 0h whatever the written value',
    spec: 'Base 2.3 §3.1.4.9, §3.1.4.10',
    run({ bar }) {
      for (const [name, offset] of queueBases) {
        bar.write32(offset, 0x9abc_dfff)
        equal(name, bar.read32(offset), 0x9abc_d000)
      }
      return Promise.resolve()
    },
  },
  {
    id: 'cc-keeps-its-fields-while-disabled',
    title: 'CC keeps CSS, MPS, AMS, IOSQES and IOCQES while the controller is disabled',
    spec: 'Base 2.3 §3.1.4.5',
    run({ bar, registers: { mpsMax } }) {
      const cc = 0x0046_0000 | (mpsMax << 7)
      bar.write32(CC, cc)
      equal('CC', bar.read32(CC), cc)
      bar.write32(CC, 0)
      equal('CC after a write of 0h', bar.read32(CC), 0)
      return Promise.resolve()
    },
  },
  {
    id: 'cc-reserved-bits-read-zero',
    title: 'Bits 31:25 and 3:1 of CC read 0h whatever the written value',
    spec: 'Base 2.3 §3.1.4.5',
    run({ bar }) {
      bar.write32(CC, 0xfe00_000e)
      equal('CC', bar.read32(CC), 0)
      return Promise.resolve()
    },
  },
  {
    id: 'reserved-range-reads-zero',
    title: 'The reserved range from 6Ch to DFFh reads 0h',
    spec: 'Base 2.3 §3.1.4; PCIe Transport 1.2 §3.1.2',
    run({ bar }) {
      for (let offset = 0x6c; offset < 0xe00; offset += 4) {
        equal(`offset ${offset.toString(16)}h`, bar.read32(offset), 0)
      }
      return Promise.resolve()
    },
  },
  {
    id: 'interrupt-mask-set-and-clear',
    title: 'A 1 written to INTMS masks a vector, a 1 to INTMC unmasks it, a 0 changes nothing; both read the mask',
    spec: 'Base 2.3 §3.1.4.3, §3.1.4.4',
    run({ bar }) {
      const masked = (why: string, wanted: number) => {
        equal(`INTMS ${why}`, bar.read32(INTMS), wanted)
        equal(`INTMC ${why}`, bar.read32(INTMC), wanted)
      }
      masked('at first', 0)
      bar.write32(INTMS, 0x0000_00f1)
      masked('after INTMS = f1h', 0xf1)
      bar.write32(INTMS, 0x0000_0002)
      masked('after INTMS = 2h', 0xf3)
      bar.write32(INTMC, 0x0000_0011)
      masked('after INTMC = 11h', 0xe2)
      bar.write32(INTMC, 0)
      bar.write32(INTMS, 0)
      masked('after 0h to both', 0xe2)
      bar.write32(INTMC, 0xffff_ffff)
      masked('after INTMC = all ones', 0)
      return Promise.resolve()
    },
  },
  {
    id: 'nssr-reads-zero',
    title: 'NSSR reads 0h, and a value other than 4E564D65h has no effect',
    spec: 'Base 2.3 §3.1.4.7',
    needs: ({ nssrs }) => (nssrs ? undefined : 'CAP.NSSRS is 0: no NVM Subsystem Reset'),
    async run(host) {
      await host.start()
      equal('NSSR', host.bar.read32(NSSR), 0)
      host.bar.write32(NSSR, 0x4e56_4d66)
      await host.settle()
      equal('NSSR after another value', host.bar.read32(NSSR), 0)
      equal('CSTS bits 4:0 after another value', host.bar.read32(CSTS) & 0x1f, 1)
    },
  },
]
