import { blockCommand, blockPattern, firstSpace, get, put, sameBytes, withPrps } from '../blocks.js'
import type { ControllerCase } from '../case.js'
import { fail, status, success } from '../check.js'
import type { Completed } from '../completed.js'
import type { Entry } from '../raw-host/entry.js'
import type { ControllerFacts } from '../facts.js'
import type { CaseHost } from '../host.js'
import { needsBlocks } from '../io.js'

/** CDW0.FUSE */
const FIRST = 0x100
const SECOND = 0x200

const COMPARE = 0x05
const WRITE = 0x01

const needsFused = (facts: ControllerFacts) =>
  (facts.fuses & 1) !== 0 ? needsBlocks(facts) : 'FUSES bit 0 is 0: no fused Compare and Write'

/** Returns a command for one block with these bytes: first or second of a fused operation, or not fused. */
function block(host: CaseHost, opcode: number, lba: number, bytes: Uint8Array, fuse = 0): Entry {
  const memory = host.alloc(bytes.length)
  memory.write(0, bytes)
  const entry = withPrps(blockCommand(opcode, 1, lba, 1), [memory.iova(), 0])
  return { ...entry, cdw: { ...entry.cdw, 0: fuse } }
}

/** Submits all entries with one doorbell write, and returns their completions in order of submission. */
async function together(host: CaseHost, entries: readonly Entry[]): Promise<Completed[]> {
  const cids = entries.map((entry) => host.stage(1, entry))
  host.ringTail(1)
  const found = await host.collect(1, cids.length)
  await host.expectQuiet(1, 'every command has completed')
  return cids.map((cid) => found.find((each) => each.cid === cid) ?? fail(`expected a completion of CID ${cid}`))
}

const pattern = (host: CaseHost, salt: number) => blockPattern(5, 1, host.facts.blockBytes, salt)

/** Starts the controller, and writes pattern 1 to block 5. */
async function start(host: CaseHost, entries?: number): Promise<void> {
  await host.startWithPair(entries)
  await put(host, firstSpace(host), 5, pattern(host, 1))
}

async function holds(host: CaseHost, salt: number): Promise<void> {
  sameBytes('block 5', await get(host, firstSpace(host), 5, 1), pattern(host, salt))
}

/** Base 2.3 §3.4.2 and NVM 1.2 §2.1.3.1. */
export const fusedCases: readonly ControllerCase[] = [
  {
    id: 'fused-compare-and-write',
    title: 'A fused Compare that succeeds is followed by its Write; each has a completion',
    spec: 'NVM 1.2 §2.1.3.1; Base 2.3 §3.4.2',
    needs: needsFused,
    async run(host) {
      await start(host)
      const pair = [block(host, COMPARE, 5, pattern(host, 1), FIRST), block(host, WRITE, 5, pattern(host, 2), SECOND)]
      for (const each of await together(host, pair)) success(each)
      await holds(host, 2)
    },
  },
  {
    id: 'fused-compare-fails',
    title: 'A fused Compare that fails aborts its Write with Command Aborted due to Failed Fused Command',
    spec: 'NVM 1.2 §2.1.3.1',
    needs: needsFused,
    async run(host) {
      await start(host)
      const [first, second] = await together(host, [
        block(host, COMPARE, 5, pattern(host, 3), FIRST),
        block(host, WRITE, 5, pattern(host, 2), SECOND),
      ])
      status(first!, '2/85')
      status(second!, '0/09')
      await holds(host, 1)
    },
  },
  {
    id: 'fused-in-turn',
    title: 'Each of several consecutive fused pairs compares with the data written by the previous one',
    spec: 'Base 2.3 §3.4.2; NVM 1.2 §2.1.3.1',
    needs: needsFused,
    async run(host) {
      // Commands of different pairs may be reordered, so the pairs are submitted one by one.
      await start(host, 64)
      for (let salt = 1; salt < 10; salt++) {
        const pair = [
          block(host, COMPARE, 5, pattern(host, salt), FIRST),
          block(host, WRITE, 5, pattern(host, salt + 1), SECOND),
        ]
        for (const each of await together(host, pair)) success(each)
      }
      await holds(host, 10)
    },
  },
  {
    id: 'fused-around-the-end-of-the-queue',
    title: 'The first command may be in the last slot of the queue, and the second in the first slot',
    spec: 'Base 2.3 §3.4.2',
    needs: needsFused,
    async run(host) {
      // The Write of `start` used the first slot; Flushes use the others up to the last one.
      await start(host, 4)
      while (host.sqs.get(1)!.tail !== 3) success(await host.command(1, { opcode: 0x00, nsid: 1 }))
      const pair = [block(host, COMPARE, 5, pattern(host, 1), FIRST), block(host, WRITE, 5, pattern(host, 2), SECOND)]
      for (const each of await together(host, pair)) success(each)
      await holds(host, 2)
    },
  },
  {
    id: 'fused-second-missing',
    title:
      'A first command followed by a normal one is aborted with Missing Fused Command, and the normal one is executed',
    spec: 'Base 2.3 §3.4.2',
    needs: needsFused,
    async run(host) {
      await start(host)
      const [first, normal] = await together(host, [
        block(host, COMPARE, 5, pattern(host, 1), FIRST),
        block(host, WRITE, 5, pattern(host, 2)),
      ])
      status(first!, '0/0a')
      success(normal!)
      await holds(host, 2)
    },
  },
  {
    id: 'fused-first-missing',
    title: 'A second command without a first one is aborted with Missing Fused Command, and writes nothing',
    spec: 'Base 2.3 §3.4.2',
    needs: needsFused,
    async run(host) {
      await start(host)
      const [normal, second] = await together(host, [
        block(host, COMPARE, 5, pattern(host, 1)),
        block(host, WRITE, 5, pattern(host, 2), SECOND),
      ])
      success(normal!)
      status(second!, '0/0a')
      await holds(host, 1)
    },
  },
  {
    id: 'fused-ranges-differ',
    title: 'A fused Compare and Write of different blocks should be aborted with Invalid Field in Command',
    spec: 'NVM 1.2 §2.1.3.1',
    needs: needsFused,
    async run(host) {
      await start(host)
      const [first, second] = await together(host, [
        block(host, COMPARE, 5, pattern(host, 1), FIRST),
        block(host, WRITE, 6, pattern(host, 2), SECOND),
      ])
      status(first!, '0/02', '0/00')
      status(second!, '0/02', '0/09', '0/00')
      await holds(host, 1)
    },
  },
]
