import type { ControllerCase } from '../case.js'
import { equal, success } from '../check.js'
import type { Entry } from '../raw-host/entry.js'
import type { ControllerFacts } from '../facts.js'
import type { CaseHost } from '../host.js'
import { anyRead, needsPairs } from '../io.js'

const PC = 1
const IEN = 2

const needsVectors = (facts: ControllerFacts) =>
  facts.interrupts ? needsPairs(2)(facts) : 'the transport has no interrupts'

/** Clears earlier interrupts, so that the next wait receives new ones only. */
async function drain(host: CaseHost, ...vectors: readonly number[]): Promise<void> {
  for (const vector of vectors) while ((await host.transport.interrupts!.wait(vector, host.clock.now())) === 'fired');
}

/**
 * Returns whether `vector` fires for a command of SQ `qid`, whose completion it consumes. The wait begins after the
 * interrupt may have fired.
 */
async function fires(host: CaseHost, vector: number, qid: number, entry: Entry): Promise<boolean> {
  host.submit(qid, entry)
  const outcome = await host.transport.interrupts!.wait(vector, host.clock.now() + 50e6)
  for (const completed of await host.collect(host.sqs.get(qid)!.cqid, 1)) success(completed)
  return outcome === 'fired'
}

/** PCIe Transport 1.2 §3.2 and Base 2.3 §5.3.1: vectors of queues. */
export const interruptCases: readonly ControllerCase[] = [
  {
    id: 'interrupt-of-the-admin-queue',
    title: 'A completion on the Admin Completion Queue fires vector 0',
    spec: 'Base 2.3 §3.1.4.10',
    needs: needsVectors,
    async run(host) {
      await drain(host, 0)
      await host.start()
      await drain(host, 0)
      equal('vector 0 fires', await fires(host, 0, 0, { opcode: 0x0a, cdw: { 10: 0x07 } }), true)
    },
  },
  {
    id: 'interrupt-of-an-io-queue',
    title: 'A completion on a completion queue with IEN = 1 fires its vector, and on one with IEN = 0 none',
    spec: 'Base 2.3 §5.3.1',
    needs: (facts) => needsVectors(facts),
    async run(host) {
      await drain(host, 1)
      await host.start()
      await host.createCq(1, 8, PC | IEN | (1 << 16))
      await host.createSq(1, 8, 1)
      await host.createCq(2, 8, PC | (1 << 16))
      await host.createSq(2, 8, 2)
      const read = anyRead(host)
      await drain(host, 1)
      equal('vector 1 fires for CQ 1', await fires(host, 1, 1, read), true)
      await drain(host, 1)
      equal('vector 1 fires for CQ 2, without IEN', await fires(host, 1, 2, read), false)
      equal('vector 1 fires for CQ 1 again', await fires(host, 1, 1, read), true)
    },
  },
  {
    id: 'interrupt-vector-of-its-own',
    title: 'Each completion queue fires the vector that it was created with, and no other',
    spec: 'Base 2.3 §5.3.1; PCIe Transport 1.2 §3.2',
    needs: needsVectors,
    async run(host) {
      await drain(host, 1, 2)
      await host.start()
      // The vectors differ from the queue identifiers.
      for (const [qid, vector] of [
        [1, 2],
        [2, 1],
      ] as const) {
        await host.createCq(qid, 8, PC | IEN | (vector << 16))
        await host.createSq(qid, 8, qid)
      }
      const read = anyRead(host)
      await drain(host, 1, 2)
      equal('vector 2 fires for CQ 1', await fires(host, 2, 1, read), true)
      await drain(host, 1, 2)
      equal('vector 1 fires for CQ 1', await fires(host, 1, 1, read), false)
      await drain(host, 1, 2)
      equal('vector 1 fires for CQ 2', await fires(host, 1, 2, read), true)
    },
  },
  {
    id: 'interrupt-vector-shared',
    title: 'Two completion queues may share a vector, which fires for either',
    spec: 'Base 2.3 §5.3.1',
    needs: needsVectors,
    async run(host) {
      await drain(host, 1)
      await host.start()
      for (const qid of [1, 2]) {
        await host.createCq(qid, 8, PC | IEN | (1 << 16))
        await host.createSq(qid, 8, qid)
      }
      const read = anyRead(host)
      for (const qid of [1, 2, 1, 2]) {
        await drain(host, 1)
        equal(`vector 1 fires for CQ ${qid}`, await fires(host, 1, qid, read), true)
      }
    },
  },
]
