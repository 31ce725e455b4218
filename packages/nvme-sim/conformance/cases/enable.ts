import type { ControllerCase } from '../case.js'
import { check, equal, success } from '../check.js'
import type { ControllerFacts } from '../facts.js'
import { AQA, ASQ, CC, CSTS, EN, RDY } from '../raw-host/registers.js'
import type { CaseHost } from '../host.js'

const getFeatures = { opcode: 0x0a, cdw: { 10: 0x07 } } as const

/** Attempts to enable the controller with invalid settings; any result is allowed. After a reset, it must work. */
async function survives(host: CaseHost, cc: number, spoil: () => void = () => undefined): Promise<void> {
  host.placeAdminQueues()
  spoil()
  host.bar.write32(CC, cc)
  await host.settle()
  host.bar.write32(CC, 0)
  await host.waitForStatus(RDY, 0, 'CC.EN 1 -> 0 after it could not be enabled')
  host.forgetRings()
  await host.start()
  success(await host.admin(getFeatures))
}

interface BadEnable {
  readonly id: string
  readonly what: string
  readonly spec: string
  readonly needs?: (facts: ControllerFacts) => string | undefined
  readonly run: (host: CaseHost) => Promise<void>
}

const badEnables: readonly BadEnable[] = [
  {
    id: 'bad-enable-page-size',
    what: 'CC.MPS above CAP.MPSMAX',
    spec: 'Base 2.3 §3.1.4.5',
    needs: ({ mpsMax }) => (mpsMax < 15 ? undefined : 'CAP.MPSMAX is 15: every page size is supported'),
    run: (host) => survives(host, 0x0046_0001 | ((host.registers.mpsMax + 1) << 7)),
  },
  {
    id: 'bad-enable-command-set',
    what: 'a reserved value of CC.CSS',
    spec: 'Base 2.3 §3.1.4.5',
    run: (host) => survives(host, host.enabledCc | (3 << 4)),
  },
  {
    id: 'bad-enable-arbitration',
    what: 'a reserved value of CC.AMS',
    spec: 'Base 2.3 §3.1.4.5',
    run: (host) => survives(host, host.enabledCc | (5 << 11)),
  },
  {
    id: 'bad-enable-queue-size',
    what: 'Admin queues of size 0h, that is of one entry',
    spec: 'Base 2.3 §3.1.4.8',
    run: (host) => survives(host, host.enabledCc, () => host.bar.write32(AQA, 0)),
  },
  {
    id: 'bad-enable-no-queues',
    what: 'ASQ and ACQ of 0h',
    spec: 'Base 2.3 §3.1.4.9, §3.1.4.10',
    run: (host) =>
      survives(host, host.enabledCc, () => {
        host.bar.write64(ASQ, 0n)
        host.bar.write64(0x30, 0n)
      }),
  },
]

/** Base 2.3 §3.5.1: enabling, and attempts with invalid settings. */
export const enableCases: readonly ControllerCase[] = [
  {
    id: 'enable-sets-ready',
    title: 'CSTS.RDY becomes 1 within CAP.TO of CC.EN = 1, with CFS = 0 and SHST = 00b, and CC reads as it was written',
    spec: 'Base 2.3 §3.5.1, §3.1.4.6',
    async run(host) {
      equal('CSTS bits 3:0', (await host.enable()) & 0xf, 1)
      equal('CC', host.bar.read32(CC), host.enabledCc)
    },
  },
  {
    id: 'disable-clears-ready',
    title: 'CSTS.RDY becomes 0 within CAP.TO of CC.EN = 0',
    spec: 'Base 2.3 §3.1.4.5, §3.1.4.6',
    async run(host) {
      await host.start()
      await host.disable()
      equal('CSTS bits 3:0', host.bar.read32(CSTS) & 0xf, 0)
      equal('CC.EN', host.bar.read32(CC) & EN, 0)
    },
  },
  {
    id: 'enabled-many-times',
    title: 'A controller can be enabled and disabled repeatedly',
    spec: 'Base 2.3 §3.5.1, §3.7.2.1',
    async run(host) {
      for (let round = 0; round < 10; round++) {
        await host.start()
        success(await host.admin(getFeatures))
        await host.disable()
      }
    },
  },
  {
    id: 'nothing-fetched-while-disabled',
    title: 'While CC.EN is 0 no command is processed and no completion is posted',
    spec: 'Base 2.3 §3.1.4.5',
    async run(host) {
      host.placeAdminQueues()
      host.submit(0, getFeatures)
      await host.expectQuiet(0, 'the controller is disabled')
      // Doorbell writes before the enable have no effect: the queues begin at their first entry.
      host.forgetRings()
      await host.start()
      success(await host.admin(getFeatures))
    },
  },
  {
    id: 'enable-written-again',
    title: 'Writing CC with its current value changes nothing',
    spec: 'Base 2.3 §3.1.4.5',
    async run(host) {
      await host.start()
      success(await host.admin(getFeatures))
      for (let i = 0; i < 3; i++) host.bar.write32(CC, host.enabledCc)
      await host.settle()
      equal('CSTS bits 3:0', host.bar.read32(CSTS) & 0xf, 1)
      success(await host.admin(getFeatures))
    },
  },
  {
    id: 'largest-memory-page',
    title: 'With CC.MPS = CAP.MPSMAX a PRP entry covers memory up to the end of a page of that size',
    spec: 'Base 2.3 §3.1.4.5, §4.3.1',
    needs: ({ mpsMin, mpsMax }) =>
      mpsMax > mpsMin ? undefined : 'CAP.MPSMAX equals CAP.MPSMIN: there is one page size',
    async run(host) {
      const { mpsMin, mpsMax } = host.registers
      const pageBytes = 2 ** (12 + mpsMax)
      host.alignBytes = pageBytes
      await host.start({ cc: host.enabledCc - (mpsMin << 7) + (mpsMax << 7) })
      const memory = host.alloc(pageBytes)
      // Across a 4 KiB boundary that is not a boundary of this page size: no PRP2.
      const offset = pageBytes - 6144
      success(await host.admin({ opcode: 0x06, prp1: memory.iova(offset), cdw: { 10: 0x01 } }))
      const identity = memory.read(offset, 4096)
      const known = new Uint8Array(host.facts.controller.buffer)
      check(
        identity.every((byte, at) => byte === known[at] || at >= 1024),
        'bytes 0 to 1023 of Identify Controller are the same as with the smallest page',
      )
      check(
        memory.read(0, offset).every((byte) => byte === 0xa5),
        'no byte before PRP1 is written',
      )
      check(
        memory.read(offset + 4096).every((byte) => byte === 0xa5),
        'no byte after the 4096 is written',
      )
    },
  },
  ...badEnables.map(({ what, ...rest }): ControllerCase => ({
    ...rest,
    title: `After an attempt to enable the controller with ${what}, a reset makes it usable again`,
  })),
]
