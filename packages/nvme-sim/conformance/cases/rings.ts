import type { ControllerCase } from '../case.js'
import { check, equal, fail, success } from '../check.js'
import type { Completed } from '../completed.js'
import type { CaseHost } from '../host.js'
import { anyRead, batch, needsBlocks, needsPairs } from '../io.js'

/** Submits `count` commands on queue pair 1, each time as many as the smaller queue holds. */
async function rounds(host: CaseHost, count: number): Promise<void> {
  const read = anyRead(host)
  const depth = Math.min(host.sqs.get(1)!.entries, host.cqs.get(1)!.entries) - 1
  for (let left = count; left > 0; left -= depth) {
    await batch(
      host,
      1,
      Array.from({ length: Math.min(depth, left) }, () => read),
    )
  }
}

const sizes = [
  { id: 'io-queues-of-two-entries', what: 'two entries each', sqEntries: 2, cqEntries: 2 },
  { id: 'io-queues-equal', what: '5 entries each', sqEntries: 5, cqEntries: 5 },
  { id: 'io-queues-small-sq', what: '4 and 16 entries', sqEntries: 4, cqEntries: 16 },
  { id: 'io-queues-small-cq', what: '16 and 4 entries', sqEntries: 16, cqEntries: 4 },
  { id: 'io-queues-without-common-factor', what: '7 and 5 entries', sqEntries: 7, cqEntries: 5 },
  { id: 'io-queues-of-many-pages', what: '130 and 300 entries', sqEntries: 130, cqEntries: 300 },
]

/** Base 2.3 §3.3.1.2 to §3.3.1.5, §4.2.4: heads, tails, laps and phases. */
export const ringCases: readonly ControllerCase[] = [
  ...sizes.map(({ id, what, sqEntries, cqEntries }): ControllerCase => ({
    id,
    title: `I/O queues of ${what} execute commands over several laps, and complete each once`,
    spec: 'Base 2.3 §3.3.1.2, §3.3.3.1',
    needs: needsBlocks,
    async run(host) {
      await host.start()
      await host.createCq(1, cqEntries)
      await host.createSq(1, sqEntries, 1)
      await rounds(host, 5 * Math.max(sqEntries, cqEntries) + 3)
    },
  })),
  {
    id: 'io-queues-of-most-entries',
    title: 'I/O queues of CAP.MQES + 1 entries accept CAP.MQES commands with one doorbell write',
    spec: 'Base 2.3 §3.1.4.1, §3.3.1.5',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair(host.registers.maxQueueEntries)
      await rounds(host, 2 * host.registers.maxQueueEntries)
    },
  },
  {
    id: 'one-doorbell-a-command',
    title: 'Commands submitted one by one while others are in flight complete once each',
    spec: 'Base 2.3 §3.3.1.2',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair(16)
      const read = anyRead(host)
      const missing = new Set<number>()
      const found: Completed[] = []
      for (let i = 0; i < 100; i++) {
        if (missing.size === 15) {
          await host.until(() => found.push(...host.poll(1)) > 0)
          for (const completed of found.splice(0)) {
            success(completed)
            if (!missing.delete(completed.cid)) fail(`CID ${completed.cid} was completed twice`)
          }
        }
        missing.add(host.submit(1, read))
      }
      for (const { cid } of await host.collect(1, missing.size)) missing.delete(cid)
      equal('commands without a completion', missing.size, 0)
    },
  },
  {
    id: 'phase-tag-inverts-each-lap',
    title: 'The Phase Tag is 1 on the first lap and inverts with each lap; entries beyond the tail are not touched',
    spec: 'Base 2.3 §4.2.4',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair(4)
      const read = anyRead(host)
      const { memory } = host.cqs.get(1)!
      const phases = () => [0, 1, 2, 3].map((slot) => (memory.u32(16 * slot + 12) >>> 16) & 1)
      const expected = [0, 0, 0, 0]
      for (let i = 0; i < 11; i++) {
        success(await host.command(1, read))
        expected[i % 4] = i % 8 < 4 ? 1 : 0
        equal(`Phase Tags after ${i + 1} completions`, phases(), expected)
      }
    },
  },
  {
    id: 'sqhd-moves-past-what-was-consumed',
    title: 'SQHD has moved past the slot of a completed command, never past the tail, and ends at the tail',
    spec: 'Base 2.3 §3.3.1.2, §4.2.1',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair(16)
      const read = anyRead(host)
      const sq = host.sqs.get(1)!
      for (let round = 0; round < 5; round++) {
        const start = sq.tail
        const slots = new Map<number, number>()
        for (let i = 0; i < 11; i++) slots.set(host.stage(1, read), i)
        host.ringTail(1)
        const completed = await host.collect(1, 11)
        for (const { cid, sqhd } of completed) {
          const consumed = (sqhd - start + 16) % 16
          check(
            consumed > slots.get(cid)! && consumed <= 11,
            `SQHD ${sqhd} is past slot ${start + slots.get(cid)!} and not past the tail ${sq.tail} (modulo 16)`,
          )
        }
        equal('the last SQHD', completed.at(-1)!.sqhd, sq.tail)
      }
    },
  },
  {
    id: 'consumed-entries-are-the-hosts',
    title: 'Submission queue entries that SQHD has moved past may be overwritten at once',
    spec: 'Base 2.3 §3.3.1.2',
    needs: needsBlocks,
    async run(host) {
      // The largest queue, so that not all entries are consumed when the first command completes.
      const entries = Math.min(1024, host.registers.maxQueueEntries)
      await host.startWithPair(entries)
      const sq = host.sqs.get(1)!
      const read = anyRead(host)
      // Opcode 7Fh and CID FFFFh, so that the completion of such an entry would be detected.
      const garbage = new Uint8Array(64).fill(0xff, 1)
      garbage[0] = 0x7f
      const cids = new Set(Array.from({ length: entries - 1 }, () => host.stage(1, read)))
      host.ringTail(1)
      let consumed = 0
      while (cids.size > 0) {
        for (const completed of await host.collect(1, 1)) {
          success(completed)
          check(cids.delete(completed.cid), `CID ${completed.cid.toString()} is outstanding`)
          for (; consumed < completed.sqhd; consumed++) sq.memory.write(64 * consumed, garbage)
        }
      }
    },
  },
  {
    id: 'many-sqs-on-one-cq',
    title: 'Several submission queues share one completion queue, with the SQID, SQHD and CID of each',
    spec: 'Base 2.3 §3.3.1.2, §4.2.1',
    needs: needsPairs(4),
    async run(host) {
      await host.start()
      await host.createCq(1, 32)
      const qids = [1, 2, 3, 4]
      for (const qid of qids) await host.createSq(qid, 4 + qid, 1)
      const read = anyRead(host)
      for (let round = 0; round < 6; round++) {
        // The same CIDs on every queue: they are unique only together with the SQID.
        for (const qid of qids) for (let cid = 0; cid < 3; cid++) host.stage(qid, { ...read, cid: 100 + cid })
        for (const qid of qids) host.ringTail(qid)
        const completed = await host.collect(1, 12)
        completed.forEach(success)
        const names = completed.map(({ sqid, cid }) => `${sqid}/${cid}`).sort()
        const wanted = qids.flatMap((qid) => [100, 101, 102].map((cid) => `${qid}/${cid}`))
        equal('SQID/CID of the completions', names, wanted)
        for (const qid of qids) {
          const last = completed.findLast(({ sqid }) => sqid === qid)!
          equal(`the last SQHD of SQ ${qid}`, last.sqhd, host.sqs.get(qid)!.tail)
        }
      }
    },
  },
  {
    id: 'full-cq-holds-and-loses-nothing',
    title: 'No entry is posted to a full completion queue; as slots are released, every completion is posted once',
    spec: 'Base 2.3 §3.3.1.2.1',
    needs: needsBlocks,
    async run(host) {
      await host.start()
      await host.createCq(1, 4)
      await host.createSq(1, 32, 1)
      const read = anyRead(host)
      const { memory } = host.cqs.get(1)!
      const missing = new Set(Array.from({ length: 20 }, () => host.stage(1, read)))
      host.ringTail(1)
      await host.settle()
      equal('Phase Tags of the four slots', phaseBits(memory.read()), '1110')
      while (missing.size > 0) {
        const [completed] = await take(host)
        success(completed!)
        if (!missing.delete(completed!.cid)) fail(`CID ${completed!.cid} was completed twice`)
      }
      await host.expectQuiet(1, 'every command is completed')
    },
  },
  {
    id: 'full-cq-stalls-no-other-queue',
    title:
      'Submission queues of other completion queues, and the Admin queue, continue while one completion queue is full',
    spec: 'Base 2.3 §3.3.1.2.1',
    needs: needsPairs(2),
    async run(host) {
      await host.start()
      await host.createCq(1, 2)
      await host.createSq(1, 64, 1)
      await host.createPair(2, 8)
      const read = anyRead(host)
      for (let i = 0; i < 60; i++) host.stage(1, read)
      host.ringTail(1)
      await host.settle()
      for (let i = 0; i < 20; i++) success(await host.command(2, read))
      success(await host.admin({ opcode: 0x0a, cdw: { 10: 0x07 } }))
      const all = await host.collect(1, 60)
      equal('commands completed', new Set(all.map(({ cid }) => cid)).size, 60)
    },
  },
  {
    id: 'head-doorbell-for-some',
    title: 'The host may release some of the posted entries, or one entry at a time over several laps',
    spec: 'Base 2.3 §3.3.1.2',
    needs: needsBlocks,
    async run(host) {
      await host.start()
      await host.createCq(1, 8)
      await host.createSq(1, 8, 1)
      const read = anyRead(host)
      for (const max of [1, 2, 3, 5, 7, 1, 6]) {
        for (let i = 0; i < 7; i++) host.stage(1, read)
        host.ringTail(1)
        await host.settle()
        let left = 7
        while (left > 0) {
          const taken = host.poll(1, { max })
          check(taken.length > 0, `${left} more completions are posted`)
          taken.forEach(success)
          left -= taken.length
        }
      }
    },
  },
  {
    id: 'same-cid-again',
    title: 'A Command Identifier may be reused after its command has completed',
    spec: 'Base 2.3 §4.1.1',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair(8)
      const read = anyRead(host)
      for (let i = 0; i < 30; i++) success(await host.command(1, { ...read, cid: 0x1234 }))
      for (const cid of [0, 1, 0x7fff, 0x8000, 0xfffe]) success(await host.command(1, { ...read, cid }))
    },
  },
  {
    id: 'same-cid-in-flight',
    title:
      'Concurrent commands with the same Command Identifier end with success or Command ID Conflict, and do no harm',
    spec: 'Base 2.3 §4.1.1, §4.2.3.1',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair(16)
      const read = anyRead(host)
      for (let i = 0; i < 4; i++) host.stage(1, { ...read, cid: 7 })
      host.ringTail(1)
      for (const completed of await host.collect(1, 4)) {
        equal('CID', completed.cid, 7)
        check(['0/00', '0/03'].includes(completed.status), `status is 0/00 or 0/03, got ${completed.status}`)
      }
      await rounds(host, 40)
    },
  },
]

/** Returns the next completion of queue 1, and releases it at once. */
async function take(host: CaseHost): Promise<Completed[]> {
  let taken: Completed[] = []
  await host.until(() => (taken = host.poll(1, { max: 1 })).length > 0)
  if (taken.length === 0) fail('CQ 1: expected another completion after a slot was released')
  return taken
}

function phaseBits(bytes: Uint8Array): string {
  return Array.from({ length: bytes.length / 16 }, (_, slot) => bytes[16 * slot + 14]! & 1).join('')
}
