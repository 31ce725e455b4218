import type { ControllerCase } from '../case.js'
import { equal, success } from '../check.js'
import type { CaseHost } from '../host.js'
import { batch } from '../io.js'

/** Get Features for Number of Queues: an Admin command without data. */
const getFeatures = { opcode: 0x0a, cdw: { 10: 0x07 } } as const

/** Submits `count` Admin commands, each time as many as the smaller queue holds. */
async function rounds(host: CaseHost, count: number): Promise<void> {
  const depth = Math.min(host.sqs.get(0)!.entries, host.cqs.get(0)!.entries) - 1
  for (let left = count; left > 0; left -= depth) {
    await batch(
      host,
      0,
      Array.from({ length: Math.min(depth, left) }, () => getFeatures),
    )
  }
}

const sizes = [
  { id: 'admin-queues-of-two-entries', what: 'two entries each', sqEntries: 2, cqEntries: 2, commands: 20 },
  { id: 'admin-queues-unequal', what: '3 and 7 entries', sqEntries: 3, cqEntries: 7, commands: 50 },
  { id: 'admin-queues-unequal-too', what: '9 and 4 entries', sqEntries: 9, cqEntries: 4, commands: 50 },
  { id: 'admin-queues-of-many-pages', what: '200 and 600 entries', sqEntries: 200, cqEntries: 600, commands: 1500 },
  { id: 'admin-queues-of-most-entries', what: '4096 entries each', sqEntries: 4096, cqEntries: 4096, commands: 9000 },
]

/** Base 2.3 §3.1.4.8 to §3.1.4.10, §3.3.3.1. */
export const adminQueueCases: readonly ControllerCase[] = [
  ...sizes.map(({ id, what, sqEntries, cqEntries, commands }): ControllerCase => ({
    id,
    title: `Admin queues of ${what} execute commands over several laps`,
    spec: 'Base 2.3 §3.1.4.8, §3.3.3.1',
    async run(host) {
      await host.start({ sqEntries, cqEntries })
      await rounds(host, commands)
    },
  })),
  {
    id: 'number-of-queues-does-not-change',
    title: 'The controller does not change the number of queues allocated between resets',
    spec: 'Base 2.3 §5.2.26.2.1',
    async run(host) {
      await host.start()
      const before = await host.admin(getFeatures)
      success(before)
      const again = await host.admin({ opcode: 0x09, cdw: { 10: 0x07, 11: 0 } })
      success(again)
      equal('DW0 of Set Features, after a request for less', again.dw0, before.dw0)
      equal('DW0 of Get Features after it', (await host.admin(getFeatures)).dw0, before.dw0)
    },
  },
  {
    id: 'number-of-queues-is-read-back',
    title: 'Get Features of Number of Queues returns what Set Features returned',
    spec: 'Base 2.3 §5.2.26.2.1',
    async run(host) {
      await host.start()
      const read = await host.admin(getFeatures)
      success(read)
      equal('NSQA', (read.dw0 & 0xffff) + 1, host.grantedSqs)
      equal('NCQA', (read.dw0 >>> 16) + 1, host.grantedCqs)
    },
  },
]
