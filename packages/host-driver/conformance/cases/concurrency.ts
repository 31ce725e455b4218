import { faulty, traced } from '../../src/index.js'
import { NS_PER_MS } from '../time.js'
import type { DriverCase } from '../case.js'
import { allSucceeded, check, equal, notApplicable } from '../check.js'
import { checkData, fillData } from '../data.js'
import {
  area,
  collect,
  KNOWN_LBA,
  openLeaving,
  readPlan,
  readsOf,
  roundTrip,
  rule,
  store,
  withFaults,
  withoutAWrite,
  writesOf,
} from './support.js'

/** Concurrent commands, two controllers, interrupts and statistics. */
export const concurrencyCases: readonly DriverCase[] = [
  {
    id: 'plans-at-once',
    title: 'Executes ten concurrent plans, each with its own data',
    spec: 'libnvm #25',
    time: 'any',
    async run(context) {
      const opened = await context.open({ queues: 3, queueDepth: 5 })
      const { ns, lba, alloc } = opened
      await store(opened, 200, 9)
      const plans = Array.from({ length: 10 }, async (_, index) => {
        const memory = alloc(100 * ns.blockBytes)
        allSucceeded(`plan ${index}`, await ns.execute(readPlan(ns, lba + 10 * index, 100), memory))
        checkData(memory, 9, 10 * index * ns.blockBytes)
      })
      await Promise.all(plans)
    },
  },
  {
    id: 'everything-at-once',
    title: 'Concurrent reads, writes and flushes do not affect one another',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const opened = await context.open({ queues: 2, queueDepth: 4 })
      const { ns, lba } = opened
      const rounds = Array.from({ length: 6 }, (_, index) => roundTrip(opened, 32, index, lba + 64 * index))
      await Promise.all([...rounds, ...Array.from({ length: 20 }, () => ns.flush())])
    },
  },
  {
    id: 'flushes-beyond-the-queue',
    title: 'Queues single commands if there are more than the queue has entries',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const { ns, device } = await context.open()
      await Promise.all(Array.from({ length: 100 }, () => ns.flush()))
      equal('Flush commands', device.countOf('Flush'), 100)
    },
  },
  {
    id: 'plan-again',
    title: 'Executes a plan several times, also with different memory',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const opened = await context.open()
      const { ns, lba, alloc } = opened
      await store(opened, 16, 3)
      const plan = readPlan(ns, lba, 16)
      for (let round = 0; round < 3; round++) {
        const memory = alloc(16 * ns.blockBytes)
        allSucceeded('reads', await ns.execute(plan, memory))
        checkData(memory, 3)
      }
    },
  },
  {
    id: 'statistics',
    title: 'Counts the executed commands and bytes, and no errors or recoveries',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const opened = await context.open({ maxTransferBytes: 4096 })
      const { ns, ctrl, lba, alloc } = opened
      const memory = alloc(16 * ns.blockBytes)
      fillData(memory, 1)
      await ns.write(lba, 16, memory)
      const before = ctrl.statistics
      await ns.write(lba, 16, memory)
      const summary = await ns.execute(readPlan(ns, lba, 16), memory)
      const { commands, bytes, retries, replays, timeouts, lateCompletions } = ctrl.statistics
      const writes = (16 * ns.blockBytes) / 4096
      equal('commands', commands - before.commands, 16 + writes)
      equal('bytes', bytes - before.bytes, 2 * 16 * ns.blockBytes)
      equal('bytes of the plan', summary.bytes, 16 * ns.blockBytes)
      check(summary.endNs >= summary.startNs, 'the plan does not end before its start')
      equal('errors and recoveries', [retries, replays, timeouts, lateCompletions], [0, 0, 0, 0])
      equal('recoveries', Object.values(ctrl.statistics.recoveries), [0, 0, 0, 0, 0])
    },
  },
  {
    id: 'statistics-of-what-went-wrong',
    title: 'Counts each retry, replay and time-out once',
    spec: 'ours',
    time: 'any',
    needs: withFaults(
      rule({ kind: 'status', sct: 0, sc: 0x82 }, { ...readsOf(1), times: 2 }),
      rule({ kind: 'hang' }, { ...readsOf(20), times: 1 }),
    ),
    async run(context) {
      const opened = await context.open({ commandTimeoutNs: 200 * NS_PER_MS })
      const { ns, ctrl } = opened
      const memory = await store(opened, 32, 3, KNOWN_LBA)
      allSucceeded('reads', await ns.execute(readPlan(ns, KNOWN_LBA, 32), memory, { timeoutNs: 200 * NS_PER_MS }))
      const { retries, replays, timeouts, recoveries } = ctrl.statistics
      equal('retries, replays, time-outs', [retries, replays, timeouts], [2, 1, 1])
      equal(
        'abort, recreate-queues, lost',
        [recoveries.abort, recoveries['recreate-queues'], recoveries.lost],
        [1, 0, 0],
      )
    },
  },
  ...(['read', 'write'] as const).map((operation): DriverCase => ({
    id: `statistics-of-a-late-${operation}`,
    title: `Counts the bytes of a ${operation} that succeeds after its deadline once`,
    spec: 'ours',
    time: 'virtual',
    needs: withFaults(
      rule(
        { kind: 'delay-completion', delayNs: 201 * NS_PER_MS },
        { ...(operation === 'read' ? readsOf(0) : writesOf(0)), nth: 1 },
      ),
      // An Abort that does not find its command lets the command complete.
      rule({ kind: 'status', sct: 0, sc: 0 }, { qid: 0, opcode: 0x08 }),
    ),
    async run(context) {
      const opened = await context.open({ maxTransferBytes: 4096 })
      const { ns, ctrl, alloc } = opened
      const memory = alloc(16 * 512)
      fillData(memory, 1)
      // The write guard reads before the first write.
      await ns.write(KNOWN_LBA + 64, 16, memory)
      const before = ctrl.statistics.bytes
      const transfers = [{ slba: KNOWN_LBA, blocks: 16, offsetBytes: 0 }]
      const plan = operation === 'read' ? ns.planReads(transfers) : ns.planWrites(transfers)
      const summary = await ns.execute(plan, memory, { timeoutNs: 200 * NS_PER_MS })
      allSucceeded(operation, summary)
      const { bytes, lateCompletions } = ctrl.statistics
      equal('late completions', lateCompletions, 1)
      equal('bytes of the plan', summary.bytes, 16 * 512)
      equal('bytes', bytes - before, 16 * 512)
    },
  })),
  {
    id: 'events-while-working',
    title: 'Every subscriber receives every event in order, and may unsubscribe at any time',
    spec: 'ours',
    time: 'any',
    needs: withFaults(rule({ kind: 'hang' }, { ...readsOf(3), times: 1 })),
    async run(context) {
      const opened = await context.open({ commandTimeoutNs: 200 * NS_PER_MS })
      const { ns, ctrl } = opened
      const memory = await store(opened, 16, 3, KNOWN_LBA)
      const first = collect(ctrl.events())
      const second = collect(ctrl.events())
      const leaves = (async () => {
        for await (const event of ctrl.events()) return event.kind
        return undefined
      })()
      await ns.execute(readPlan(ns, KNOWN_LBA, 16), memory, { timeoutNs: 200 * NS_PER_MS })
      await ctrl.close()
      equal('events of the second subscriber', await second, await first)
      equal('event at which the third subscriber stopped', await leaves, 'recovery')
      const times = (await first).map(({ timeNs }) => timeNs)
      check(
        times.every((timeNs, index) => index === 0 || timeNs >= times[index - 1]!),
        'times do not decrease',
      )
    },
  },
  {
    id: 'two-controllers-one-fails',
    title: 'The loss of one controller does not affect another in the same process',
    spec: 'BaM #27',
    time: 'any',
    losesController: true,
    async run(context) {
      const healthy = await context.open({ queues: 2 })
      const doomed = await openLeaving(context, 6, { queueDepth: 4 })
      const memory = doomed.alloc(64 * doomed.ns.blockBytes)
      const options = { timeoutNs: 300 * NS_PER_MS }
      const [, summary] = await Promise.all([
        roundTrip(healthy, 256, 5),
        doomed.ns.execute(readPlan(doomed.ns, doomed.lba, 64), memory, options),
      ])
      check(summary.failures.length > 0, 'commands of the lost controller fail')
      await roundTrip(healthy, 64, 6)
      equal('recoveries of the healthy controller', Object.values(healthy.ctrl.statistics.recoveries), [0, 0, 0, 0, 0])
    },
  },
  {
    id: 'opened-twice',
    title: 'Rejects a second handle on an open controller, also through a wrapper of its transport or the wrapped one',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const opened = await context.open()
      const { transport } = opened.device
      const wrapped = traced(transport, () => undefined)
      const others = {
        'the same transport': transport,
        'a traced transport': wrapped,
        'a transport with faults': faulty(wrapped, { rules: [] }),
        'the wrapped transport': transport.wraps!,
      }
      await withoutAWrite(opened.device, async () => {
        for (const [name, other] of Object.entries(others)) {
          await context.expectRejected(name, () => context.bringUp(other), { code: 'ERR_GPUNVME_CONTROLLER_IN_USE' })
        }
      })
      await roundTrip(opened, 16)
      await opened.ctrl.close()
      await (await context.bringUp(others['a traced transport'])).close()
    },
  },
  ...[1, 4].map((queues): DriverCase => ({
    id: `interrupts-${queues}`,
    title: `Serves ${queues} queue pair${queues === 1 ? '' : 's'} with interrupts instead of polling`,
    spec: 'PCIe 1.2 §3.5; tnvme GrpInterrupts',
    time: 'any',
    async run(context) {
      const device = await context.device()
      if (device.transport.interrupts === undefined) notApplicable(`${device.transport.name} has no interrupts`)
      const opened = await context.open({ interrupts: true, queues, queueDepth: 5 }, undefined, device)
      await roundTrip(opened, 200, 4)
      await opened.ns.flush()
      const { ns, lba, alloc } = opened
      const memory = alloc(200 * ns.blockBytes)
      allSucceeded('reads', await ns.execute(readPlan(ns, lba, 200), memory))
      checkData(memory, 4)
    },
  })),
]

export const concurrency = area('concurrency and statistics', concurrencyCases)
