import type { ControllerCase } from '../case.js'
import { check, equal, refused, status, success } from '../check.js'
import { transfer } from '../raw-host/entry.js'
import { anyRead, batch, needsBlocks, needsPairs } from '../io.js'

/** Base 2.3 §5.3.3, §5.3.4 and §3.7.3. */
export const deleteQueueCases: readonly ControllerCase[] = [
  {
    id: 'delete-sq-of-qid-0',
    title:
      'Delete I/O Submission Queue rejects the Admin queue, and identifiers that do not exist, with Invalid Queue Identifier',
    spec: 'Base 2.3 §5.3.4',
    async run(host) {
      await host.start()
      for (const qid of [0, 1, host.grantedSqs, 0xffff]) status(await host.deleteSq(qid), '1/01')
    },
  },
  {
    id: 'delete-cq-of-qid-0',
    title: 'Delete I/O Completion Queue rejects the Admin queue with Invalid Queue Identifier',
    spec: 'Base 2.3 §5.3.3',
    async run(host) {
      await host.start()
      status(await host.deleteCq(0), '1/01')
    },
  },
  {
    id: 'delete-cq-that-does-not-exist',
    title: 'Delete I/O Completion Queue rejects identifiers that do not exist with Invalid Queue Identifier',
    spec: 'Base 2.3 §5.3.3',
    async run(host) {
      await host.start()
      for (const qid of [1, host.grantedCqs, 0xffff]) status(await host.deleteCq(qid), '1/01')
    },
  },
  {
    id: 'delete-sq-twice',
    title: 'A submission queue can be deleted once; the second time, its identifier is invalid',
    spec: 'Base 2.3 §5.3.4',
    async run(host) {
      await host.startWithPair(8)
      success(await host.deleteSq(1))
      status(await host.deleteSq(1), '1/01')
    },
  },
  {
    id: 'delete-cq-before-its-sqs',
    title:
      'Delete I/O Completion Queue is rejected with Invalid Queue Deletion until every submission queue of it is deleted',
    spec: 'Base 2.3 §5.3.3',
    needs: needsPairs(2),
    async run(host) {
      await host.startWithPair(8)
      await host.createSq(2, 8, 1)
      status(await host.deleteCq(1), '1/0c')
      success(await host.command(1, anyRead(host)))
      success(await host.deleteSq(1))
      status(await host.deleteCq(1), '1/0c')
      success(await host.command(2, anyRead(host)))
      success(await host.deleteSq(2))
      success(await host.deleteCq(1))
      refused(await host.deleteCq(1))
    },
  },
  {
    id: 'recreated-queues-start-over',
    title: 'Queues that are deleted and created again, with other sizes, begin at their first entry and first phase',
    spec: 'Base 2.3 §3.7.3',
    needs: needsBlocks,
    async run(host) {
      await host.start()
      const read = anyRead(host)
      for (const entries of [4, 7, 3, 16]) {
        await host.createPair(1, entries)
        // Not a whole number of laps.
        for (let i = 0; i < entries + 2; i++) success(await host.command(1, read))
        success(await host.deleteSq(1))
        success(await host.deleteCq(1))
      }
    },
  },
  {
    id: 'sq-recreated-on-its-cq',
    title: 'A submission queue is deleted and created again while its completion queue continues at its position',
    spec: 'Base 2.3 §3.7.3',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair(5)
      const read = anyRead(host)
      for (const entries of [3, 9, 4]) {
        for (let i = 0; i < 6; i++) success(await host.command(1, read))
        success(await host.deleteSq(1))
        await host.createSq(1, entries, 1)
      }
      for (let i = 0; i < 6; i++) success(await host.command(1, read))
    },
  },
  {
    id: 'delete-sq-with-commands-in-flight',
    title: 'After Delete I/O Submission Queue has succeeded, none of its commands completes or transfers data',
    spec: 'Base 2.3 §5.3.4',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair(64)
      const { blockBytes } = host.facts
      const data = host.alloc(63 * blockBytes)
      for (let i = 0; i < 63; i++) host.stage(1, transfer(0x02, i, 1, [data.iova(i * blockBytes), 0]))
      host.ringTail(1)
      success(await host.deleteSq(1))
      const before = data.read()
      const early = host.poll(1)
      for (const completed of early) status(completed, '0/00', '0/08', '0/07')
      equal('completions of one command', new Set(early.map(({ cid }) => cid)).size, early.length)
      await host.expectQuiet(1, 'its queue is deleted')
      const now = data.read()
      check(
        before.every((byte, at) => byte === now[at]),
        'no byte of the data changes after the deletion',
      )
      // The completion queue still works.
      await host.createSq(1, 8, 1)
      await batch(host, 1, [anyRead(host), anyRead(host)])
    },
  },
  {
    id: 'full-cq-does-not-stall-deletion',
    title:
      'A full completion queue does not stall Delete I/O Submission Queue; nothing of the queue is posted after it',
    spec: 'Base 2.3 §5, §5.3.4',
    needs: needsBlocks,
    async run(host) {
      await host.start()
      await host.createCq(1, 3)
      await host.createSq(1, 16, 1)
      const read = anyRead(host)
      for (let i = 0; i < 10; i++) host.stage(1, read)
      host.ringTail(1)
      await host.settle()
      success(await host.deleteSq(1))
      equal('completions that a queue of 3 entries holds', host.poll(1).length, 2)
      await host.expectQuiet(1, 'its queue is deleted')
      success(await host.deleteCq(1))
    },
  },
]
