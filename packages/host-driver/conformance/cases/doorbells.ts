import type { Bar } from '@gpunvme/nvme-spec/transport'
import { NS_PER_MS } from '../time.js'
import type { DriverCase } from '../case.js'
import { allSucceeded, check, equal, notApplicable } from '../check.js'
import type { Opened } from '../context.js'
import { checkData } from '../data.js'
import { area, collect, DISTURBS_ENGINE, readPlan, roundTrip, rule, SEES_ENGINE, stepsOf, store } from './support.js'

/** Skips a case that checks doorbell registers if the driver uses shadow doorbells. */
function needsRegisters({ device }: Opened): void {
  if (device.countOf('Doorbell Buffer Config') > 0) notApplicable('shadow doorbells replace the registers')
}

/** Returns the values written to a doorbell, in order. */
function rung({ device }: Opened, offset: number): number[] {
  return device.doorbells.filter((each) => each.offset === offset).map(({ value }) => Number(value))
}

/** Returns the number of entries by which a ring of `entries` has advanced since 0. */
function distance(values: readonly number[], entries: number): number {
  let at = 0
  return values.reduce((sum, value) => {
    const step = (value - at + entries) % entries
    at = value
    return sum + step
  }, 0)
}

const affectedReads = (opened: Opened) => readPlan(opened.ns, opened.lba, 64)

/** Reads 64 blocks with a fault of the doorbells; all data must arrive. */
const survives =
  (action: Parameters<typeof rule>[0], match: Parameters<typeof rule>[1]): DriverCase['run'] =>
  async (context) => {
    const opened = await context.open(
      { queueDepth: 4, commandTimeoutNs: 300 * NS_PER_MS },
      { faults: { rules: [rule(action, match)] } },
    )
    needsRegisters(opened)
    const memory = await store(opened, 64, 9)
    const summary = await opened.ns.execute(affectedReads(opened), memory, { timeoutNs: 300 * NS_PER_MS })
    allSucceeded('reads', summary)
    checkData(memory, 9)
    check(opened.device.faults!.hits[0]! > 0, 'the fault has occurred')
    await roundTrip(opened, 16, 3)
  }

/** Offsets and values of doorbells, and faults of doorbell writes. */
export const doorbellCases: readonly DriverCase[] = [
  ...[0, 1, 2, 3, 4].map((dstrd): DriverCase => ({
    id: `doorbell-stride-${dstrd}`,
    title: `With CAP.DSTRD = ${dstrd}, doorbells begin at 1000h and are ${4 << dstrd} bytes apart`,
    spec: 'PCIe 1.2 §3.1.2; rocm-xio',
    time: 'any',
    needs: { dstrd },
    async run(context) {
      const opened = await context.open({ queues: 3 })
      needsRegisters(opened)
      await roundTrip(opened, 64)
      if (!opened.device.observesPlans) return
      const stride = 4 << dstrd
      const places = [...new Set(opened.device.doorbells.map(({ offset }) => offset))].sort((a, b) => a - b)
      const wanted = [0, 1, 2, 3].flatMap((qid) => [0x1000 + 2 * qid * stride, 0x1000 + (2 * qid + 1) * stride])
      const plans = opened.ctrl.queues
      equal('doorbells', places.slice(0, 4), wanted.slice(0, 4))
      check(
        places.every((place) => wanted.includes(place) || place === 0x1000 + 8 * stride),
        `no other doorbells are written for ${plans} queues`,
      )
    },
  })),
  {
    id: 'doorbells-add-up',
    title: 'Tail doorbells advance by the number of commands, and head doorbells by the number of completions',
    spec: 'Base 2.1 §3.3.1.1; rocm-xio PR #114',
    time: 'any',
    ownEngine: SEES_ENGINE,
    async run(context) {
      const entries = 11
      const opened = await context.open({ queueEntries: entries, queueDepth: 10 })
      needsRegisters(opened)
      const { device, ns, lba } = opened
      const memory = await store(opened, 200, 4)
      allSucceeded('reads', await ns.execute(readPlan(ns, lba, 200), memory))
      const stride = 4 << Number((device.transport.bar.read64(0) >> 32n) & 0xfn)
      const commands = device.commands.filter(({ qid }) => qid === 1).length
      equal('entries that SQ1TDBL has passed', distance(rung(opened, 0x1000 + 2 * stride), entries), commands)
      equal('entries that CQ1HDBL has passed', distance(rung(opened, 0x1000 + 3 * stride), entries), commands)
    },
  },
  {
    id: 'one-doorbell-for-many',
    title: 'Writes one tail doorbell for commands that are submitted together',
    spec: 'Base 2.1 §3.3.1.1',
    time: 'any',
    ownEngine: SEES_ENGINE,
    async run(context) {
      const opened = await context.open({ queueDepth: 16 })
      const { device, ns, lba } = opened
      const memory = await store(opened, 16, 4)
      const before = device.doorbells.length
      allSucceeded('reads', await ns.execute(readPlan(ns, lba, 16), memory))
      check(device.doorbells.length - before <= 17, 'one write for 16 commands, and at most one for each completion')
    },
  },
  {
    id: 'no-doorbell-for-nothing',
    title: 'A plan without commands ends at once and rings no doorbell',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const { device, ns, alloc } = await context.open()
      const memory = alloc(4096)
      const before = device.writes.length
      const summary = await ns.execute(ns.planReads([]), memory)
      equal('outcomes', [summary.commands, summary.succeeded, summary.failures.length], [0, 0, 0])
      equal('registers written', device.writes.length, before)
    },
  },
  {
    id: 'sq-doorbell-late',
    title: 'A delayed tail doorbell write loses no command',
    spec: 'rocm-xio PR #114',
    time: 'any',
    ownEngine: DISTURBS_ENGINE,
    run: survives({ kind: 'delay-write', delayNs: 20 * NS_PER_MS }, { register: 'SQyTDBL', qid: 1, nth: 3 }),
  },
  {
    id: 'cq-doorbell-late',
    title: 'A delayed head doorbell write loses no command',
    spec: 'rocm-xio PR #68',
    time: 'any',
    ownEngine: DISTURBS_ENGINE,
    run: survives({ kind: 'delay-write', delayNs: 20 * NS_PER_MS }, { register: 'CQyHDBL', qid: 1, nth: 3 }),
  },
  {
    id: 'cq-doorbell-lost',
    title: 'The next head doorbell write compensates for a lost one',
    spec: 'rocm-xio PR #114',
    time: 'any',
    ownEngine: DISTURBS_ENGINE,
    run: survives({ kind: 'lose-write' }, { register: 'CQyHDBL', qid: 1, every: 3, times: 5 }),
  },
  {
    id: 'sq-doorbell-lost',
    title: 'Resubmits commands whose tail doorbell write is lost',
    spec: 'rocm-xio PR #114',
    time: 'any',
    ownEngine: DISTURBS_ENGINE,
    run: survives({ kind: 'lose-write' }, { register: 'SQyTDBL', qid: 1, nth: 4 }),
  },
  {
    id: 'doorbells-all-lost',
    title: 'Declares the controller lost in bounded time if every doorbell write is lost',
    spec: 'ours',
    time: 'virtual',
    ownEngine: DISTURBS_ENGINE,
    losesController: true,
    async run(context) {
      let deaf = false
      const bar = (inner: Bar): Partial<Bar> => ({
        write32: (offset, value) => {
          if (!deaf || offset < 0x1000) inner.write32(offset, value)
        },
      })
      const opened = await context.open({}, { bar })
      needsRegisters(opened)
      const events = collect(opened.ctrl.events())
      const memory = await store(opened, 8, 1)
      deaf = true
      const { clock } = opened.device.transport
      const startNs = clock.now()
      const { failures } = await opened.ns.execute(readPlan(opened.ns, opened.lba, 8), memory, { timeoutNs: NS_PER_MS })
      equal('commands that failed', failures.length, 8)
      check(
        clock.now() - startNs <= opened.ctrl.recoveryBoundNs + 20 * NS_PER_MS,
        'the plan ends within recoveryBoundNs',
      )
      equal('the last step', stepsOf(await events).at(-1), 'function-reset failed')
    },
  },
]

export const doorbells = area('doorbells', doorbellCases)
