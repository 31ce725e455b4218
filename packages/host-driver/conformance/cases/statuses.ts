import type { CommandOutcome, FaultAction } from '@gpunvme/nvme-spec/transport'
import { NS_PER_MS, SECOND_NS } from '../time.js'
import type { DriverCase } from '../case.js'
import { allSucceeded, check, equal } from '../check.js'
import { checkData } from '../data.js'
import { deviceIdentifiedAs } from '../identified.js'
import { requestLongestDelays, RETRIED_CALLS, retriedLater } from './retried.js'
import { area, KNOWN_LBA, OPCODE, readPlan, readsOf, roundTrip, rule, store, withFaults, writesOf } from './support.js'

type Status = Omit<Extract<FaultAction, { kind: 'status' }>, 'kind'>

const statusOf = (status: Status): FaultAction => ({ kind: 'status', ...status })

function outcomes(failures: readonly CommandOutcome[]): unknown[] {
  return failures.map(({ command, outcome }) =>
    outcome.kind === 'status' ? [command, outcome.sct, outcome.sc, outcome.dnr] : [command, outcome.kind],
  )
}

/** Statuses that tests of other drivers inject: id, SCT, SC, and their names. */
const REPORTED = [
  ['281', 2, 0x81, 'Unrecovered Read Error'],
  ['286', 2, 0x86, 'Access Denied'],
  ['285', 2, 0x85, 'Compare Failure'],
  ['080', 0, 0x80, 'LBA Out of Range'],
  ['001', 0, 0x01, 'Invalid Command Opcode'],
  ['00b', 0, 0x0b, 'Invalid Namespace or Format'],
  ['301', 3, 0x01, 'Asymmetric Access Persistent Loss'],
] as const

/** Statuses after which the same command may be retried. */
const RETRIED = [
  ['082', 0, 0x82, 'Namespace Not Ready'],
  ['084', 0, 0x84, 'Format In Progress'],
  ['006', 0, 0x06, 'Internal Error'],
  ['021', 0, 0x21, 'Command Interrupted'],
  ['280', 2, 0x80, 'Write Fault'],
] as const

/** Handling of completion statuses. */
export const statusCases: readonly DriverCase[] = [
  ...REPORTED.map(([id, sct, sc, name]): DriverCase => ({
    id: `status-${id}`,
    title: `Reports ${name} (SCT ${sct}h SC ${sc.toString(16)}h) once, with its command; the queue continues`,
    spec: 'Base 2.1 §4.2.3; blktests nvme/039, SPDK err_injection',
    time: 'any',
    needs: withFaults(rule(statusOf({ sct, sc, dnr: true }), { ...readsOf(5), times: 1 })),
    async run(context) {
      const opened = await context.open({ queueDepth: 4 })
      const { ns, ctrl } = opened
      const memory = await store(opened, 16, 3, KNOWN_LBA)
      const plan = readPlan(ns, KNOWN_LBA, 16)
      const { succeeded, failures } = await ns.execute(plan, memory)
      equal('outcomes', outcomes(failures), [[5, sct, sc, true]])
      equal('commands that succeeded', succeeded, 15)
      equal('retried commands', ctrl.statistics.retries, 0)
      allSucceeded('the same reads', await ns.execute(plan, memory))
      checkData(memory, 3)
    },
  })),
  {
    id: 'status-375',
    title: 'Reports a status that the specification does not name by its numbers',
    spec: 'Base 2.1 §4.2.3; blktests nvme/039',
    time: 'any',
    needs: withFaults(rule(statusOf({ sct: 3, sc: 0x75, dnr: true }), { ...readsOf(0), times: 1 })),
    async run(context) {
      const opened = await context.open()
      const memory = await store(opened, 8, 3, KNOWN_LBA)
      const read = () => opened.ns.read(KNOWN_LBA, 8, memory)
      await context.expectRejected('read', read, { code: 'ERR_GPUNVME_TRANSFER', says: 'SCT 3h SC 75h' })
      await read()
      checkData(memory, 3)
    },
  },
  {
    id: 'transfer-error',
    title: 'States status, queue, namespace and blocks in the error of a read',
    spec: 'ours',
    time: 'any',
    needs: withFaults(rule(statusOf({ sct: 2, sc: 0x81, dnr: true }), readsOf(4))),
    async run(context) {
      const opened = await context.open()
      const memory = await store(opened, 8, 3, KNOWN_LBA)
      const lba = KNOWN_LBA.toString(16)
      await context.expectRejected('read', () => opened.ns.read(KNOWN_LBA, 8, memory), {
        code: 'ERR_GPUNVME_TRANSFER',
        says: ['Unrecovered Read Error', 'qid 1', `NSID 1  SLBA 0x${lba}  8 blocks`],
      })
    },
  },
  ...RETRIED.map(([id, sct, sc, name]): DriverCase => ({
    id: `retry-${id}`,
    title: `Retries a read that ends with ${name} and DNR = 0, until it succeeds`,
    spec: 'Base 2.1 §4.2.3, DNR; SPDK retry table',
    time: 'any',
    needs: withFaults(rule(statusOf({ sct, sc }), { ...readsOf(2), times: 2 })),
    async run(context) {
      const opened = await context.open()
      const memory = await store(opened, 8, 3, KNOWN_LBA)
      allSucceeded('reads', await opened.ns.execute(readPlan(opened.ns, KNOWN_LBA, 8), memory))
      checkData(memory, 3)
      equal('commands sent again', opened.ctrl.statistics.retries, 2)
    },
  })),
  {
    id: 'retry-dnr',
    title: 'Does not retry a command with DNR = 1',
    spec: 'Base 2.1 §4.2.3, DNR',
    time: 'any',
    needs: withFaults(rule(statusOf({ sct: 0, sc: 0x82, dnr: true }), readsOf(2))),
    async run(context) {
      const opened = await context.open()
      const memory = await store(opened, 8, 3, KNOWN_LBA)
      const { failures } = await opened.ns.execute(readPlan(opened.ns, KNOWN_LBA, 8), memory)
      equal('outcomes', outcomes(failures), [[2, 0, 0x82, true]])
      equal('commands sent again', opened.ctrl.statistics.retries, 0)
    },
  },
  {
    id: 'retry-bounded',
    title: 'Reports a retryable status that persists after a bounded number of attempts',
    spec: 'SPDK retry count',
    time: 'any',
    needs: withFaults(rule(statusOf({ sct: 0, sc: 0x06 }), readsOf(2))),
    async run(context) {
      const opened = await context.open()
      const memory = await store(opened, 8, 3, KNOWN_LBA)
      const { failures } = await opened.ns.execute(readPlan(opened.ns, KNOWN_LBA, 8), memory)
      equal('outcomes', outcomes(failures), [[2, 0, 0x06, false]])
      const { retries } = opened.ctrl.statistics
      check(retries >= 1 && retries <= 16, `1 to 16 retries, got ${retries}`)
    },
  },
  {
    id: 'retry-write',
    title: 'Retries a write after a retryable status',
    spec: 'Base 2.1 §4.2.3, DNR',
    time: 'any',
    needs: withFaults(rule(statusOf({ sct: 0, sc: 0x82 }), { ...writesOf(0, 16), times: 3 })),
    async run(context) {
      const opened = await context.open({ maxTransferBytes: 4096 })
      await roundTrip(opened, 16, 4, KNOWN_LBA)
      check(opened.ctrl.statistics.retries > 0, 'a command was sent again')
    },
  },
  {
    id: 'retry-flush',
    title: 'Retries a flush after a retryable status',
    spec: 'Base 2.1 §4.2.3, DNR',
    time: 'any',
    needs: withFaults(rule(statusOf({ sct: 0, sc: 0x82 }), { opcode: OPCODE.FLUSH, times: 1 })),
    async run(context) {
      const { ns, ctrl, device } = await context.open()
      await ns.flush()
      equal('Flush commands', device.countOf('Flush'), 2)
      equal('commands sent again', ctrl.statistics.retries, 1)
    },
  },
  {
    id: 'retry-delay',
    title: 'Waits 10, 20 and 40 ms or more before three retries after Namespace Not Ready',
    spec: 'Base 2.1 §4.2.3, CRD',
    time: 'virtual',
    needs: withFaults(rule(statusOf({ sct: 0, sc: 0x82 }), { ...readsOf(0), times: 3 })),
    async run(context) {
      const opened = await context.open()
      const memory = await store(opened, 8, 3, KNOWN_LBA)
      const { device } = opened
      const { clock } = device.transport
      const [startNs, before] = [clock.now(), device.commands.length]
      await opened.ns.read(KNOWN_LBA, 8, memory)
      checkData(memory, 3)
      check(clock.now() - startNs >= 70 * NS_PER_MS, 'the delays before the retries are 10, 20 and 40 ms')
      if (!device.observesPlans) return
      const reads = device.commands.slice(before).filter(({ text }) => text.startsWith('Read'))
      equal('reads', reads.length, 4)
      for (const [retry, ms] of [10, 20, 40].entries()) {
        const delayNs = reads[retry + 1]!.timeNs - reads[retry]!.timeNs
        check(delayNs >= ms * NS_PER_MS, `retry ${retry + 1} comes after ${ms} ms or more, got ${delayNs} ns`)
      }
    },
  },
  ...RETRIED_CALLS.map(({ id, what, match, code, run }): DriverCase => ({
    id: `retry-limit-${id}`,
    title: `Retries ${what} within its time limit, even if the controller requests a longer delay`,
    spec: 'Base 2.1 §4.2.3, CRD',
    time: 'virtual',
    needs: retriedLater(match),
    async run(context) {
      const device = await deviceIdentifiedAs(context, requestLongestDelays)
      const opened = await context.open({}, undefined, device)
      const memory = opened.alloc(4096)
      const { clock } = device.transport
      const startNs = clock.now()
      await context.expectRejected(what, () => run(opened, memory, { timeoutNs: SECOND_NS }), {
        code,
        says: 'Internal Error',
      })
      const tookNs = clock.now() - startNs
      check(tookNs < 1.5 * SECOND_NS, `the call ends after 1 s, got ${tookNs / SECOND_NS} s`)
      check(opened.ctrl.statistics.retries > 0, 'the command was sent again')
    },
  })),
  {
    id: 'retry-other-path',
    title: 'Does not retry on the same path after a path related status',
    spec: 'Base 2.1 §4.2.3, Figure 103',
    time: 'any',
    needs: withFaults(rule(statusOf({ sct: 3, sc: 0x71 }), readsOf(2))),
    async run(context) {
      const opened = await context.open()
      const memory = await store(opened, 8, 3, KNOWN_LBA)
      const { failures } = await opened.ns.execute(readPlan(opened.ns, KNOWN_LBA, 8), memory)
      equal('outcomes', outcomes(failures), [[2, 3, 0x71, false]])
      equal('commands sent again', opened.ctrl.statistics.retries, 0)
    },
  },
  {
    id: 'status-of-the-device',
    title: 'Reports LBA Out of Range from the controller itself at once, with its command',
    spec: 'NVM 1.2 §3.1; libnvm #26, blktests 018',
    time: 'any',
    provokesMistakes: true,
    async run(context) {
      const { ns, ctrl, alloc } = await context.open()
      const memory = alloc(8 * ns.blockBytes)
      const plan = { ...ns.planReads([{ slba: 0, blocks: 8, offsetBytes: 0 }]), slba: Float64Array.of(ns.blocks - 4) }
      const { failures } = await ns.execute(plan, memory)
      equal('outcomes', outcomes(failures), [[0, 0, 0x80, true]])
      equal('commands sent again', ctrl.statistics.retries, 0)
    },
  },
  {
    id: 'all-fail',
    title: 'Reports every command of a plan in which all fail, in plan order',
    spec: 'BaM #66: a run whose commands fail must not look successful',
    time: 'any',
    needs: withFaults(rule(statusOf({ sct: 2, sc: 0x81, dnr: true }), readsOf(0, 64))),
    async run(context) {
      const opened = await context.open({ queues: 3, queueDepth: 5 })
      const memory = await store(opened, 64, 3, KNOWN_LBA)
      const summary = await opened.ns.execute(readPlan(opened.ns, KNOWN_LBA, 64), memory)
      equal('commands that succeeded', [summary.succeeded, summary.bytes], [0, 0])
      equal(
        'commands',
        summary.failures.map(({ command }) => command),
        Array.from({ length: 64 }, (_, i) => i),
      )
    },
  },
]

export const statuses = area('statuses and retries', statusCases)
