import type { QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { describe, test } from 'vitest'
import { describeTransport } from '../conformance/index.js'
import { faulty, HostEngine, traced } from '../src/index.js'
import { simulatedDevices } from '../conformance/simulated.js'
import { otherDriver } from './other-driver.js'

// Simulated drives and an engine that conformance.test.ts does not use. In the slow list: CI leaves this file out.

const slow = { reason: 'it takes seconds, and runs on the ideal drive', cases: ['queue-of-65536-entries', 'mdts-none'] }
const options = { describe, test, time: 'virtual', allowSkips: false, skip: [slow] } as const

describeTransport(
  'a simulated SN740',
  simulatedDevices((transport) => transport, 'sn740'),
  options,
)
describeTransport(
  'a traced simulated drive',
  simulatedDevices((transport) => traced(transport, () => undefined)),
  options,
)
describeTransport(
  'a simulated drive through faulty(), without faults',
  simulatedDevices((transport) => faulty(transport, { rules: [] })),
  options,
)

/** An engine that supports the queues that `rings: 'powers of two'` describes, and no others. */
class PowersOfTwoEngine extends HostEngine {
  override attach(queues: readonly QueuePairMemory[], watch?: () => void): void {
    for (const { qid, sqEntries, cq } of queues) {
      const isPowerOfTwo = Number.isInteger(Math.log2(sqEntries))
      const isShared = queues.filter((other) => other.cq === cq).length > 1
      if (!isPowerOfTwo || isShared || cq.entries !== sqEntries) {
        throw new RangeError(`queue ${qid}: ${sqEntries} entries, CQ ${cq.cqid}: ${cq.entries}, shared: ${isShared}`)
      }
    }
    super.attach(queues, watch)
  }
}

// An engine that the user opens on the transport must pass the same cases, except those that it may refuse.
describeTransport('a simulated drive with the user’s own engine', simulatedDevices(), {
  ...options,
  allowSkips: true,
  engine: (transport) => new PowersOfTwoEngine(transport),
  rings: 'powers of two',
})

// Another driver has its own error classes and messages: no case may depend on them.
describeTransport('a simulated drive and a driver with its own errors', simulatedDevices(), {
  ...options,
  driver: otherDriver(),
})
