import type { ControllerCase } from '../case.js'
import { check, equal, success } from '../check.js'
import { CC, CSTS, RDY } from '../raw-host/registers.js'
import type { CaseHost } from '../host.js'
import { transfer } from '../raw-host/entry.js'
import { needsBlocks } from '../io.js'

const NORMAL = 0x4000
const ABRUPT = 0x8000
const SHST = 0xc
const COMPLETE = 0x8

/** Sets CC.SHN and waits for CSTS.SHST = 10b. */
async function shutDown(host: CaseHost, notification: number): Promise<void> {
  host.bar.write32(CC, (host.bar.read32(CC) & ~0xc000) | notification)
  await host.waitForStatus(SHST, COMPLETE, `CC.SHN = ${notification === NORMAL ? '01b' : '10b'}`)
}

/** Base 2.3 §3.6.1. */
export const shutdownCases: readonly ControllerCase[] = [
  {
    id: 'normal-shutdown',
    title: 'CC.SHN = 01b ends in CSTS.SHST = 10b, and a reset and an enable make the controller usable again',
    spec: 'Base 2.3 §3.6.1',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair(8)
      success(await host.deleteSq(1))
      success(await host.deleteCq(1))
      await shutDown(host, NORMAL)
      equal('CSTS.CFS', host.bar.read32(CSTS) & 2, 0)
      await host.disable()
      await host.start()
      equal('CSTS bits 3:0', host.bar.read32(CSTS) & 0xf, 1)
    },
  },
  {
    id: 'abrupt-shutdown',
    title: 'CC.SHN = 10b ends in CSTS.SHST = 10b, with I/O queues that were not deleted',
    spec: 'Base 2.3 §3.6.1',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair(8)
      await shutDown(host, ABRUPT)
      equal('CSTS.CFS', host.bar.read32(CSTS) & 2, 0)
      await host.disable()
      await host.start()
      equal('CSTS bits 3:0', host.bar.read32(CSTS) & 0xf, 1)
    },
  },
  {
    id: 'shutdown-ended-by-reset',
    title: 'A Controller Reset after a completed shutdown clears CSTS.SHST to 00b',
    spec: 'Base 2.3 §3.1.4.6',
    async run(host) {
      await host.start()
      await shutDown(host, NORMAL)
      await host.disable()
      equal('CSTS bits 3:0', host.bar.read32(CSTS) & 0xf, 0)
    },
  },
  {
    id: 'shutdown-while-disabled',
    title: 'A disabled controller can be shut down, and an enable with CC.SHN = 00b clears CSTS.SHST',
    spec: 'Base 2.3 §3.6.1, §3.1.4.6',
    async run(host) {
      await shutDown(host, NORMAL)
      equal('CSTS.RDY', host.bar.read32(CSTS) & RDY, 0)
      await host.start()
      equal('CSTS bits 3:0', host.bar.read32(CSTS) & 0xf, 1)
    },
  },
  {
    id: 'shutdown-and-reset-in-one-write',
    title: 'One write that sets CC.SHN and clears CC.EN resets the controller too',
    spec: 'Base 2.3 §3.1.4.5',
    async run(host) {
      await host.start()
      host.bar.write32(CC, (host.enabledCc & ~1) | NORMAL)
      await host.waitForStatus(RDY, 0, 'CC.EN = 0 and CC.SHN = 01b in one write')
      await host.settle()
      host.forgetRings()
      await host.start()
    },
  },
  {
    id: 'no-shutdown-without-notification',
    title: 'CC.SHN = 00b has no effect',
    spec: 'Base 2.3 §3.1.4.5',
    async run(host) {
      await host.start()
      host.bar.write32(CC, host.enabledCc)
      await host.settle()
      equal('CSTS bits 3:0', host.bar.read32(CSTS) & 0xf, 1)
    },
  },
  {
    id: 'shutdown-with-event-requests',
    title: 'Asynchronous Event Requests may be outstanding when a shutdown completes',
    spec: 'Base 2.3 §3.6.1',
    async run(host) {
      await host.start()
      host.submit(0, { opcode: 0x0c })
      await host.expectQuiet(0, 'no event has occurred')
      await shutDown(host, NORMAL)
      await host.disable()
      await host.start()
      await host.expectQuiet(0, 'a reset ends the request')
    },
  },
  {
    id: 'shutdown-keeps-written-data',
    title: 'Data written before a normal shutdown, flushed or not, can be read after it',
    spec: 'Base 2.3 §3.6.1',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair()
      const { blockBytes } = host.facts
      const data = host.alloc(blockBytes)
      data.fillPattern(5)
      success(await host.command(1, transfer(0x01, 7, 1, [data.iova(), 0])))
      await shutDown(host, NORMAL)
      await host.disable()
      await host.startWithPair()
      const back = host.alloc(blockBytes)
      success(await host.command(1, transfer(0x02, 7, 1, [back.iova(), 0])))
      const [written, read] = [data.read(), back.read()]
      check(
        written.every((byte, at) => byte === read[at]),
        'block 7 has the content written before the shutdown',
      )
    },
  },
]
