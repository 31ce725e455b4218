import type { ControllerCase } from '../case.js'
import { check, equal, refused, status, success } from '../check.js'
import { ACQ, AQA, ASQ, CC, CSTS, EN, INTMC, INTMS, RDY } from '../raw-host/registers.js'
import type { CaseHost } from '../host.js'
import { transfer } from '../raw-host/entry.js'
import { anyRead, batch, needsBlocks, needsPairs } from '../io.js'

const TEMPERATURE_THRESHOLD = 0x04

async function feature(host: CaseHost, fid: number): Promise<number> {
  const completed = await host.admin({ opcode: 0x0a, cdw: { 10: fid } })
  success(completed)
  return completed.dw0
}

/** Base 2.3 §3.7.2: state that a Controller Level Reset clears, and state that it keeps. */
export const resetCases: readonly ControllerCase[] = [
  {
    id: 'reset-keeps-admin-queue-registers',
    title: 'A Controller Reset does not reset AQA, ASQ and ACQ',
    spec: 'Base 2.3 §3.7.2',
    async run(host) {
      await host.start({ sqEntries: 20, cqEntries: 30 })
      const before = [AQA, ASQ, ASQ + 4, ACQ, ACQ + 4].map((offset) => host.bar.read32(offset))
      await host.disable()
      const after = [AQA, ASQ, ASQ + 4, ACQ, ACQ + 4].map((offset) => host.bar.read32(offset))
      for (const [i, name] of ['AQA', 'ASQ', 'ASQ, upper half', 'ACQ', 'ACQ, upper half'].entries()) {
        equal(name, after[i]!, before[i]!)
      }
      equal('AQA', after[0]!, 0x001d_0013)
    },
  },
  {
    id: 'reset-clears-cc',
    title: 'A Controller Reset resets CC to 0h',
    spec: 'Base 2.3 §3.7.2, §3.1.4.5',
    async run(host) {
      await host.start()
      await host.disable()
      equal('CC', host.bar.read32(CC), 0)
    },
  },
  {
    id: 'reset-restarts-admin-queues',
    title:
      'After a Controller Reset, the Admin queues begin at their first entry and first phase, at the same addresses',
    spec: 'Base 2.3 §3.1.4.5, §3.7.2',
    async run(host) {
      await host.start({ sqEntries: 8, cqEntries: 6 })
      // One lap and a half, so that neither head nor tail nor phase is at its start.
      for (let i = 0; i < 9; i++) await feature(host, 0x07)
      const [sq, cq] = [host.sqs.get(0)!, host.cqs.get(0)!]
      await host.disable()
      cq.memory.fill(0)
      sq.tail = 0
      cq.head = 0
      cq.phase = 1
      host.sqs.set(0, sq)
      host.cqs.set(0, cq)
      host.bar.write32(CC, host.enabledCc)
      await host.waitForStatus(RDY, 1, 'CC.EN = 1 with the same Admin queues')
      for (let i = 0; i < 9; i++) await feature(host, 0x07)
    },
  },
  {
    id: 'reset-deletes-io-queues',
    title: 'A Controller Reset deletes all I/O queues: deleting one is an error, and creating them succeeds',
    spec: 'Base 2.3 §3.7.2',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair()
      await host.disable()
      await host.start()
      status(await host.deleteSq(1), '1/01')
      refused(await host.deleteCq(1))
      await host.createPair(1, 8)
      success(await host.command(1, anyRead(host)))
    },
  },
  {
    id: 'reset-ends-what-was-outstanding',
    title: 'After CSTS.RDY = 0, the controller writes no host memory, whatever commands were outstanding',
    spec: 'Base 2.3 §3.1.4.5, §3.7.2',
    needs: needsBlocks,
    async run(host) {
      const { blockBytes } = host.facts
      const data = host.alloc(31 * blockBytes)
      // At several stages of the commands' processing.
      for (const afterNs of [0, 2e3, 10e3, 30e3, 60e3, 100e3]) {
        await host.startWithPair(32)
        for (let i = 0; i < 31; i++) host.stage(1, transfer(0x02, i, 1, [data.iova(i * blockBytes), 0]))
        const rings = [...host.cqs.values()]
        host.ringTail(1)
        await host.settle(afterNs)
        await host.disable()
        const memories = [data, ...rings.map(({ memory }) => memory)]
        const before = memories.map((memory) => memory.read())
        await host.settle()
        memories.forEach((memory, index) => {
          const now = memory.read()
          check(
            before[index]!.every((byte, at) => byte === now[at]),
            'no byte of data or completion queue changes after CSTS.RDY = 0',
          )
        })
      }
    },
  },
  {
    id: 'reset-forgets-event-requests',
    title: 'An Asynchronous Event Request outstanding at a Controller Reset is never completed',
    spec: 'Base 2.3 §3.7.2',
    async run(host) {
      await host.start()
      const old = host.cqs.get(0)!
      host.submit(0, { opcode: 0x0c })
      await host.expectQuiet(0, 'no event has occurred')
      const before = old.memory.read()
      await host.disable()
      await host.start()
      // An error event, if the controller reports one: no request is outstanding for it now.
      host.ringTail(host.grantedSqs, 1)
      await host.expectQuiet(0, 'a reset ends the request')
      const now = old.memory.read()
      check(
        before.every((byte, at) => byte === now[at]),
        'the completion queue from before the reset does not change',
      )
    },
  },
  {
    id: 'reset-clears-interrupt-mask',
    title: 'A Controller Reset clears the interrupt mask',
    spec: 'Base 2.3 §3.1.4.3, §3.7.2',
    async run(host) {
      await host.start()
      host.bar.write32(INTMS, 0x5)
      equal('INTMS before the reset', host.bar.read32(INTMS), 5)
      await host.disable()
      equal('INTMS', host.bar.read32(INTMS), 0)
      equal('INTMC', host.bar.read32(INTMC), 0)
    },
  },
  {
    id: 'reset-restores-features',
    title: 'A feature that was set but not saved has its default or saved value after a Controller Reset',
    spec: 'Base 2.3 §4.4, §3.7.2',
    async run(host) {
      await host.start()
      const before = await feature(host, TEMPERATURE_THRESHOLD)
      // 400 K or 401 K, far above the composite temperature.
      const other = (before & 0xffff) === 400 ? 401 : 400
      success(await host.admin({ opcode: 0x09, cdw: { 10: TEMPERATURE_THRESHOLD, 11: other } }))
      equal('Temperature Threshold as it was set', (await feature(host, TEMPERATURE_THRESHOLD)) & 0xffff, other)
      await host.disable()
      await host.start()
      equal('Temperature Threshold after the reset', await feature(host, TEMPERATURE_THRESHOLD), before)
    },
  },
  {
    id: 'reset-keeps-completed-writes',
    title: 'A Controller Reset loses no data of writes that were completed, flushed or not',
    spec: 'Base 2.3 §3.1.4.5',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair()
      const { blockBytes } = host.facts
      const data = host.alloc(blockBytes)
      data.fillPattern(77)
      success(await host.command(1, transfer(0x01, 3, 1, [data.iova(), 0])))
      await host.disable()
      await host.startWithPair()
      const back = host.alloc(blockBytes)
      success(await host.command(1, transfer(0x02, 3, 1, [back.iova(), 0])))
      const [written, read] = [data.read(), back.read()]
      check(
        written.every((byte, at) => byte === read[at]),
        'block 3 has the content written before the reset',
      )
    },
  },
  {
    id: 'reset-with-queues-many-times',
    title: 'I/O queues can be created again after each of many resets, and every command completes',
    spec: 'Base 2.3 §3.7.2',
    needs: needsPairs(2),
    async run(host) {
      for (let round = 0; round < 8; round++) {
        await host.startWithPair(8)
        await host.createPair(2, 4)
        const read = anyRead(host)
        await batch(host, 1, [read, read, read, read, read])
        await batch(host, 2, [read, read, read])
        await host.disable()
      }
    },
  },
  {
    id: 'function-reset',
    title: 'A reset of the PCI function disables the controller and resets all registers, including AQA, ASQ and ACQ',
    spec: 'Base 2.3 §3.7.2',
    needs: ({ functionReset }) => (functionReset ? undefined : 'the transport cannot reset the function'),
    async run(host) {
      await host.startWithPair(8)
      host.submit(0, { opcode: 0x0c })
      await host.settle()
      await host.transport.reset!('function')
      await host.waitForStatus(RDY, 0, 'a reset of the function')
      equal('CC.EN', host.bar.read32(CC) & EN, 0)
      equal('CSTS bits 3:0', host.bar.read32(CSTS) & 0xf, 0)
      equal('AQA', host.bar.read32(AQA), 0)
      equal('CAP', host.bar.read64(0), host.registers.cap)
      host.forgetRings()
      await host.start()
      status(await host.deleteSq(1), '1/01')
      await host.expectQuiet(0, 'a reset ends the event request')
    },
  },
]
