import { randomStream } from '@gpunvme/nvme-spec/faults'
import type { FaultAction } from '@gpunvme/nvme-spec/transport'
import { NS_PER_MS } from '../time.js'
import type { DriverCase } from '../case.js'
import { allSucceeded, check, equal } from '../check.js'
import { checkData, clearData } from '../data.js'
import { area, KNOWN_LBA, readPlan, readsOf, roundTrip, rule, store, withFaults } from './support.js'

const TIMEOUT_NS = 200 * NS_PER_MS

/** Faults of completions: id, title, fault, whether the driver must repeat the read. */
const LIES: readonly (readonly [string, string, FaultAction, readsAgain: boolean])[] = [
  ['unknown-cid', 'an unknown Command Identifier', { kind: 'corrupt-cid', xor: 0x4000 }, true],
  ['other-slot', 'the Command Identifier of a slot that does not exist', { kind: 'corrupt-cid', xor: 0x000f }, true],
  ['duplicate', 'the same completion twice', { kind: 'duplicate-completion' }, false],
  ['unknown-sqid', 'the SQID of another completion queue', { kind: 'corrupt-sqid', xor: 0x40 }, true],
  ['wrong-sqhd', 'a wrong SQ Head Pointer', { kind: 'corrupt-sqhd', xor: 0x1f }, false],
]

/** Seeds of the runs with random faults. */
const SEEDS = [1, 2, 3, 4]

/** Completions that are wrong, late, duplicate, reordered or missing. */
export const completionCases: readonly DriverCase[] = [
  ...LIES.map(([id, title, action, readsAgain]): DriverCase => ({
    id: `completion-${id}`,
    title: `With ${title}, no other command is affected and every command has one outcome`,
    spec: 'Base 2.1 §4.2.1; SPDK qpair, openvmm bad_cid',
    time: 'any',
    needs: withFaults(rule(action, { ...readsOf(7), times: 1 })),
    async run(context) {
      const opened = await context.open({ queueDepth: 6, commandTimeoutNs: TIMEOUT_NS })
      const { ns, ctrl } = opened
      const memory = await store(opened, 48, 14, KNOWN_LBA)
      const plan = readPlan(ns, KNOWN_LBA, 48)
      allSucceeded('reads', await ns.execute(plan, memory, { timeoutNs: TIMEOUT_NS }))
      checkData(memory, 14)
      equal('a read was repeated', ctrl.statistics.replays > 0, readsAgain)
      clearData(memory)
      allSucceeded('the same reads', await ns.execute(plan, memory))
      checkData(memory, 14)
    },
  })),
  {
    id: 'completion-every-one-twice',
    title: 'Every command has one outcome even if each completion is posted twice',
    spec: 'openvmm; D29',
    time: 'any',
    needs: withFaults(rule({ kind: 'duplicate-completion' }, { qid: 1, every: 1 })),
    async run(context) {
      // The fault does not respect a full completion queue; with few commands in flight, the queue has room.
      const opened = await context.open({ queueDepth: 4, queueEntries: 64 })
      const { ns } = opened
      const memory = await store(opened, 200, 14, KNOWN_LBA)
      const summary = await ns.execute(readPlan(ns, KNOWN_LBA, 200), memory)
      allSucceeded('reads', summary)
      checkData(memory, 14)
    },
  },
  {
    id: 'completion-reordered',
    title: 'Credits reordered completions to their own commands',
    spec: 'Base 2.1 §3.3.1.2; a driver that polled for one CID discarded others',
    time: 'any',
    needs: withFaults(rule({ kind: 'reorder-completion', behind: 3, atMostNs: 10 * NS_PER_MS }, { qid: 1, every: 4 })),
    async run(context) {
      const opened = await context.open({ queueDepth: 8 })
      const { ns, ctrl } = opened
      const memory = await store(opened, 200, 15, KNOWN_LBA)
      allSucceeded('reads', await ns.execute(readPlan(ns, KNOWN_LBA, 200), memory))
      checkData(memory, 15)
      equal('commands given up', ctrl.statistics.timeouts, 0)
    },
  },
  {
    id: 'completion-delayed',
    title: 'Waits for completions that are late but before their deadline',
    spec: 'openvmm delay',
    time: 'any',
    needs: withFaults(rule({ kind: 'delay-completion', delayNs: 50 * NS_PER_MS }, { ...readsOf(0, 64), every: 5 })),
    async run(context) {
      const opened = await context.open({ queueDepth: 8 })
      const memory = await store(opened, 64, 15, KNOWN_LBA)
      allSucceeded('reads', await opened.ns.execute(readPlan(opened.ns, KNOWN_LBA, 64), memory))
      checkData(memory, 15)
      equal('commands given up', opened.ctrl.statistics.timeouts, 0)
    },
  },
  ...SEEDS.map((seed): DriverCase => ({
    id: `completion-fuzz-${seed}`,
    title: `With random faults of every kind, reports no wrong byte as read (seed ${seed})`,
    spec: 'SPDK nvme_fuzz, openvmm fuzz; seeded',
    time: 'virtual',
    needs: withFaults(
      ...(
        [
          { kind: 'drop-completion' },
          { kind: 'hang' },
          { kind: 'duplicate-completion' },
          { kind: 'corrupt-cid', xor: 1 + seed },
          { kind: 'corrupt-sqid', xor: seed },
          { kind: 'reorder-completion', behind: seed, atMostNs: 5 * NS_PER_MS },
          { kind: 'delay-completion', delayNs: seed * 90 * NS_PER_MS },
          { kind: 'status', sct: 0, sc: 0x82 },
          { kind: 'status', sct: 2, sc: 0x81, dnr: true },
          { kind: 'surprise-reset' },
          { kind: 'fatal-status' },
        ] as const
      ).map((action, index) =>
        rule(action, { ...readsOf(0, 4096), nth: 3 + index * 41 + seed * 7, every: 211 + 10 * index }),
      ),
    ),
    async run(context) {
      const opened = await context.open({ queues: 3, queueDepth: 1 + seed * 3, maxTransferBytes: 4096 })
      const { ns, ctrl, device } = opened
      const random = randomStream(seed, 'completion-fuzz')
      const memory = await store(opened, 512, seed, KNOWN_LBA)
      const { clock } = device.transport
      let ended = 0
      for (let round = 0; round < 6; round++) {
        clearData(memory)
        const blocks = 1 + Math.floor(random() * 3)
        const commands = Math.floor(512 / blocks)
        const startNs = clock.now()
        const plan = readPlan(ns, KNOWN_LBA, commands, blocks)
        const { succeeded, failures } = await ns.execute(plan, memory, { timeoutNs: TIMEOUT_NS })
        equal('commands accounted for', succeeded + failures.length, commands)
        check(clock.now() - startNs < 30 * (TIMEOUT_NS + ctrl.recoveryBoundNs), 'the plan ends in bounded time')
        const failed = new Set(failures.map(({ command }) => command))
        const bytes = blocks * 512
        for (let command = 0; command < commands; command++) {
          if (!failed.has(command)) checkData(memory, seed, command * bytes, command * bytes, bytes)
        }
        ended++
        if (ctrl.statistics.recoveries.lost > 0) break
      }
      check(ended > 0, 'at least one round has ended')
      equal('controllers lost', ctrl.statistics.recoveries.lost, 0)
      await roundTrip(opened, 8, 1, KNOWN_LBA + 8192)
    },
  })),
]

export const completions = area('completions', completionCases)
