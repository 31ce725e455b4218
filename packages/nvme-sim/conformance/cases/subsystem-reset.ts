import type { ControllerCase } from '../case.js'
import { equal, status } from '../check.js'
import type { ControllerFacts } from '../facts.js'
import { AQA, CC, CSTS, EN, NSSR, RDY } from '../raw-host/registers.js'
import type { CaseHost } from '../host.js'

/** 'NVMe' in ASCII. */
const RESET = 0x4e56_4d65
const NSSRO = 0x10

const needsReset = ({ nssrs }: ControllerFacts) => (nssrs ? undefined : 'CAP.NSSRS is 0: no NVM Subsystem Reset')

async function resetSubsystem(host: CaseHost): Promise<void> {
  host.bar.write32(NSSR, RESET)
  await host.waitForStatus(RDY, 0, 'an NVM Subsystem Reset')
  host.forgetRings()
}

/** Base 2.3 §3.7.1. */
export const subsystemResetCases: readonly ControllerCase[] = [
  {
    id: 'subsystem-reset',
    title: 'Writing 4E564D65h to NSSR resets the controller and all registers, and sets CSTS.NSSRO',
    spec: 'Base 2.3 §3.1.4.7, §3.7.1, §3.7.2',
    needs: needsReset,
    async run(host) {
      await host.startWithPair(8)
      await resetSubsystem(host)
      equal('CSTS bits 4:0', host.bar.read32(CSTS) & 0x1f, NSSRO)
      equal('CC.EN', host.bar.read32(CC) & EN, 0)
      equal('AQA', host.bar.read32(AQA), 0)
      equal('NSSR', host.bar.read32(NSSR), 0)
      await host.start()
      status(await host.deleteSq(1), '1/01')
    },
  },
  {
    id: 'subsystem-reset-occurred-is-cleared-by-one',
    title: 'CSTS.NSSRO is cleared by writing 1 to it, not by writing 0',
    spec: 'Base 2.3 §3.1.4.6',
    needs: needsReset,
    async run(host) {
      await host.start()
      await resetSubsystem(host)
      host.bar.write32(CSTS, 0)
      equal('CSTS.NSSRO after a write of 0', host.bar.read32(CSTS) & NSSRO, NSSRO)
      host.bar.write32(CSTS, NSSRO)
      equal('CSTS.NSSRO after a write of 1', host.bar.read32(CSTS) & NSSRO, 0)
    },
  },
  {
    id: 'subsystem-reset-ends-a-shutdown',
    title: 'An NVM Subsystem Reset after a completed shutdown clears CSTS.SHST',
    spec: 'Base 2.3 §3.1.4.6',
    needs: needsReset,
    async run(host) {
      await host.start()
      host.bar.write32(CC, host.enabledCc | 0x4000)
      await host.waitForStatus(0xc, 8, 'CC.SHN = 01b')
      await resetSubsystem(host)
      equal('CSTS bits 3:0', host.bar.read32(CSTS) & 0xf, 0)
      await host.start()
    },
  },
]
