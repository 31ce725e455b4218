import type { ControllerCase } from '../case.js'
import { equal, fail, success } from '../check.js'
import type { CaseHost } from '../host.js'
import { anyRead, batch, needsPairs } from '../io.js'

/** An invalid write to a doorbell of queue 1, which has 8 entries, or of queue 2, which does not exist. */
interface Mistake {
  readonly id: string
  readonly what: string
  /** Asynchronous Event Information: 00h Write to Invalid Doorbell Register, 01h Invalid Doorbell Write Value. */
  readonly event: 0 | 1
  readonly ring: (host: CaseHost) => void
}

const mistakes: readonly Mistake[] = [
  {
    id: 'sq-tail-beyond-the-queue',
    what: 'a tail beyond the submission queue',
    event: 1,
    ring: (host) => host.ringTail(1, 8),
  },
  {
    id: 'sq-tail-of-all-ones',
    what: 'a tail of FFFFh',
    event: 1,
    ring: (host) => host.ringTail(1, 0xffff),
  },
  {
    id: 'cq-head-beyond-the-queue',
    what: 'a head beyond the completion queue',
    event: 1,
    ring: (host) => host.ringHead(1, 8),
  },
  {
    id: 'cq-head-past-the-tail',
    what: 'a head beyond the entries that were posted',
    event: 1,
    ring: (host) => host.ringHead(1, (host.cqs.get(1)!.head + 3) % 8),
  },
  {
    id: 'sq-that-does-not-exist',
    what: 'the tail of a submission queue that was not created',
    event: 0,
    ring: (host) => host.ringTail(2, 1),
  },
  {
    id: 'cq-that-does-not-exist',
    what: 'the head of a completion queue that was not created',
    event: 0,
    ring: (host) => host.ringHead(2, 1),
  },
]

/** Recreates queue 1, as a host does after a mistake, and creates queue 2; then both must work. */
async function worksAgain(host: CaseHost): Promise<void> {
  success(await host.deleteSq(1))
  success(await host.deleteCq(1))
  await host.createPair(1, 8)
  await host.createPair(2, 8)
  const read = anyRead(host)
  for (let i = 0; i < 3; i++) for (const qid of [1, 2]) await batch(host, qid, [read, read, read])
}

const mistakeCases: readonly ControllerCase[] = mistakes.flatMap(({ id, what, event, ring }) => [
  {
    id: `doorbell-${id}`,
    title: `After a doorbell write of ${what}, everything works once queue 1 is created again`,
    spec: 'Base 2.3 §3.3.1.2',
    needs: needsPairs(2),
    async run(host: CaseHost) {
      await host.startWithPair(8)
      const read = anyRead(host)
      await batch(host, 1, [read, read, read])
      ring(host)
      await host.expectQuiet(1, 'nothing was submitted')
      success(await host.admin({ opcode: 0x0a, cdw: { 10: 0x07 } }))
      await worksAgain(host)
    },
  },
  {
    id: `doorbell-event-${id}`,
    title: `A doorbell write of ${what} completes an Asynchronous Event Request with error information ${event.toString()}h`,
    spec: 'Base 2.3 §3.3.1.2, §5.2.2.1',
    needs: needsPairs(2),
    async run(host: CaseHost) {
      await host.startWithPair(8)
      const read = anyRead(host)
      await batch(host, 1, [read, read, read])
      const cid = host.submit(0, { opcode: 0x0c })
      await host.expectQuiet(0, 'nothing has happened yet')
      ring(host)
      const [completed] = await host.collect(0, 1)
      if (completed!.cid !== cid)
        fail(`expected the completion of the event request, CID ${cid}, got CID ${completed!.cid}`)
      success(completed!)
      equal('Asynchronous Event Type, DW0 bits 2:0 (0h: Error status)', completed!.dw0 & 7, 0)
      equal('Asynchronous Event Information, DW0 bits 15:8', (completed!.dw0 >>> 8) & 0xff, event)
      equal('Log Page Identifier, DW0 bits 23:16 (01h: Error Information)', (completed!.dw0 >>> 16) & 0xff, 1)
      await worksAgain(host)
    },
  },
])

/** Base 2.3 §3.3.1.2, §5.2.2: invalid doorbell writes. */
export const doorbellCases: readonly ControllerCase[] = [
  ...mistakeCases,
  {
    id: 'doorbell-mistake-stops-its-queue',
    title: 'After an invalid tail, no further command of that submission queue is consumed until it is created again',
    spec: 'Base 2.3 §3.3.1.2',
    needs: needsPairs(2),
    async run(host) {
      await host.startWithPair(8)
      const read = anyRead(host)
      await batch(host, 1, [read, read, read])
      host.ringTail(1, 8)
      // A simulator that polls doorbells in memory would detect only the last of two immediate writes.
      await host.settle()
      host.submit(1, read)
      await host.expectQuiet(1, 'an invalid tail has stopped the queue')
      await worksAgain(host)
    },
  },
]
