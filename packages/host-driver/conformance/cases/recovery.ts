import type { DmaMemory, FaultRule } from '@gpunvme/nvme-spec/transport'
import { faulty } from '../../src/index.js'
import { NS_PER_MS, SECOND_NS } from '../time.js'
import type { DriverCase } from '../case.js'
import { allSucceeded, check, equal, notApplicable } from '../check.js'
import type { Device, DriverContext } from '../context.js'
import type { CaseController, CaseNamespace } from '../driver.js'
import { checkData, clearData, fillData } from '../data.js'
import { idleCases, lossCases } from './loss.js'
import {
  area,
  DISTURBS_ENGINE,
  collect,
  KNOWN_LBA,
  OPCODE,
  readPlan,
  readsOf,
  roundTrip,
  rule,
  stepsOf,
  store,
  TIMEOUT_NS,
  TIMEOUT_OPTIONS,
  withFaults,
  writesOf,
} from './support.js'
import { timeOutCases } from './time-outs.js'

const once = { times: 1 } as const

/** Reads 64 blocks despite a fault inside the controller; returns the recovery steps. */
async function readsAll(context: DriverContext): Promise<{ steps: string[] }> {
  const opened = await context.open(TIMEOUT_OPTIONS)
  const memory = await store(opened, 64, 31, KNOWN_LBA)
  const steps = await readsInSpite(opened, memory, KNOWN_LBA)
  return { steps }
}

/**
 * Reads 64 blocks despite faults at the registers, after writing the data without faults; returns the recovery steps.
 */
async function readsAllBehind(context: DriverContext, ...rules: readonly FaultRule[]): Promise<{ steps: string[] }> {
  const first = await context.open(TIMEOUT_OPTIONS)
  const { device, lba } = first
  await store(first, 64, 31)
  await first.ctrl.close()
  if (device.transport.reset === undefined && rules.some(({ action }) => action.kind === 'surprise-reset'))
    notApplicable(`${device.transport.name} cannot reset its function`)
  const transport = faulty(device.transport, { rules })
  const ctrl = await context.bringUp(transport, TIMEOUT_OPTIONS)
  const ns = ctrl.namespace(first.ns.nsid)
  const memory = first.alloc(64 * ns.blockBytes)
  const steps = await readsInSpite({ ctrl, ns, device }, memory, lba)
  check(
    transport.faults.hits.every((times) => times > 0),
    'every fault has occurred',
  )
  return { steps }
}

async function readsInSpite(
  { ctrl, ns, device }: { ctrl: CaseController; ns: CaseNamespace; device: Device },
  memory: DmaMemory,
  lba: number,
): Promise<string[]> {
  const events = collect(ctrl.events())
  const { clock } = device.transport
  const startNs = clock.now()
  const plan = readPlan(ns, lba, 64)
  allSucceeded('reads', await ns.execute(plan, memory, { timeoutNs: TIMEOUT_NS }))
  checkData(memory, 31)
  check(clock.now() - startNs < 9 * (TIMEOUT_NS + ctrl.recoveryBoundNs), 'the plan ends in bounded time')
  clearData(memory)
  allSucceeded('the same reads', await ns.execute(plan, memory))
  checkData(memory, 31)
  await ctrl.close()
  return stepsOf(await events)
}

/** Faults of a read inside the controller: id, title, fault, expected recovery steps. */
const LADDER = [
  ['hang', 'is never executed', { kind: 'hang' }, ['abort succeeded']],
  [
    'lost-completion',
    'loses its completion',
    { kind: 'drop-completion' },
    ['abort insufficient', 'recreate-queues succeeded'],
  ],
  [
    'old-phase',
    'completes with the Phase Tag of the previous lap',
    { kind: 'corrupt-phase' },
    ['abort insufficient', 'recreate-queues succeeded'],
  ],
  ['fatal', 'makes the controller set CSTS.CFS', { kind: 'fatal-status' }, ['controller-reset succeeded']],
  ['surprise-reset', 'detects an external reset', { kind: 'surprise-reset' }, ['controller-reset succeeded']],
] as const

/** Missing completions and failing controllers: every command ends, and the controller works again. */
export const recoveryCases: readonly DriverCase[] = [
  ...LADDER.map(([id, title, action, steps]): DriverCase => ({
    id: `recover-${id}`,
    title: `Repeats a read that ${title}: ${steps.join(', ')}`,
    spec: 'Base 2.1 §9; SPDK, blktests nvme/050',
    time: 'any',
    needs: withFaults(rule(action, { ...readsOf(9), ...once })),
    async run(context) {
      equal('steps', (await readsAll(context)).steps, steps)
    },
  })),
  {
    id: 'recover-fatal-at-a-doorbell',
    title: 'Resets a controller that fails under load, and repeats every read',
    spec: 'Base 2.1 §9.5; SPDK',
    time: 'any',
    ownEngine: DISTURBS_ENGINE,
    async run(context) {
      const fatal = rule({ kind: 'fatal-status' }, { register: 'SQyTDBL', qid: 1, nth: 3 })
      const { steps } = await readsAllBehind(context, fatal)
      equal('steps', steps, ['controller-reset succeeded'])
    },
  },
  {
    id: 'recover-function-reset-under-load',
    title: 'Detects an external function reset under load, and repeats every read',
    spec: 'blktests nvme/022',
    time: 'any',
    ownEngine: DISTURBS_ENGINE,
    async run(context) {
      const reset = rule({ kind: 'surprise-reset' }, { register: 'SQyTDBL', qid: 1, nth: 3 })
      const { steps } = await readsAllBehind(context, reset)
      // During the reset, registers may read all ones, in which case the driver resets the function.
      const last = steps.at(-1) ?? 'none'
      const resets = ['controller-reset succeeded', 'function-reset succeeded']
      check(resets.includes(last), `the last step is a successful reset, got: ${last}`)
    },
  },
  {
    id: 'recover-by-function-reset',
    title: 'Resets the function if a controller does not become ready after a reset',
    spec: 'Base 2.1 §9; SPDK',
    time: 'virtual',
    needs: withFaults(
      rule({ kind: 'fatal-status' }, { ...readsOf(9), ...once }),
      rule({ kind: 'ready-never-rises' }, { nth: 2 }),
    ),
    async run(context) {
      equal('steps', (await readsAll(context)).steps, ['controller-reset failed', 'function-reset succeeded'])
    },
  },
  {
    id: 'recover-abort-hangs',
    title: 'Resets the controller if an Abort does not complete either',
    spec: 'SPDK reset with a stuck Admin command',
    time: 'virtual',
    needs: withFaults(
      rule({ kind: 'drop-completion' }, { ...readsOf(9), ...once }),
      rule({ kind: 'hang' }, { qid: 0, opcode: 0x08, times: 1 }),
      rule({ kind: 'hang' }, { qid: 0, opcode: 0x00, times: 1 }),
    ),
    async run(context) {
      const { steps } = await readsAll(context)
      equal('steps', steps, ['abort failed', 'recreate-queues failed', 'controller-reset succeeded'])
    },
  },
  {
    id: 'recover-twice',
    title: 'Starts with the next recovery step if a repeated read gets no completion either',
    spec: 'ours',
    time: 'any',
    needs: withFaults(rule({ kind: 'hang' }, { ...readsOf(9), times: 2 })),
    async run(context) {
      equal('steps', (await readsAll(context)).steps, ['abort succeeded', 'recreate-queues succeeded'])
    },
  },
  {
    id: 'recover-bounded',
    title: 'Reports a read that never completes, after a bounded number of recoveries',
    spec: 'ours',
    time: 'any',
    needs: withFaults(rule({ kind: 'hang' }, readsOf(9))),
    async run(context) {
      const opened = await context.open(TIMEOUT_OPTIONS)
      const { ns } = opened
      const memory = await store(opened, 64, 31, KNOWN_LBA)
      const plan = readPlan(ns, KNOWN_LBA, 64)
      const { succeeded, failures } = await ns.execute(plan, memory, { timeoutNs: TIMEOUT_NS })
      equal(
        'outcomes',
        failures.map(({ command, outcome }) => [command, outcome.kind]),
        [[9, 'timeout']],
      )
      equal('successful commands', succeeded, 63)
      await roundTrip(opened, 8, 1, KNOWN_LBA + 100)
    },
  },
  {
    id: 'write-unknown',
    title: 'Reports a write whose completion is lost as unknown, and never repeats it',
    spec: 'Base 2.1 §9; ours',
    time: 'any',
    needs: withFaults(rule({ kind: 'drop-completion' }, { ...writesOf(9), ...once })),
    async run(context) {
      const opened = await context.open(TIMEOUT_OPTIONS)
      const { ns, alloc, device } = opened
      const memory = alloc(16 * 512)
      fillData(memory, 2)
      const transfers = Array.from({ length: 16 }, (_, i) => ({ slba: KNOWN_LBA + i, blocks: 1, offsetBytes: i * 512 }))
      const { failures } = await ns.execute(ns.planWrites(transfers), memory, { timeoutNs: TIMEOUT_NS })
      equal(
        'outcomes',
        failures.map(({ command, outcome }) => [command, outcome.kind]),
        [[9, 'unknown']],
      )
      if (device.observesPlans) equal('Write commands', device.countOf('Write'), 16)
    },
  },
  {
    id: 'write-late-completion',
    title: 'A completion that arrives during recovery still determines the outcome of a write',
    spec: 'openvmm late completions',
    time: 'virtual',
    needs: withFaults(
      rule({ kind: 'delay-completion', delayNs: TIMEOUT_NS + NS_PER_MS }, { ...writesOf(3), ...once }),
      // An Abort that does not find its command lets the command complete.
      rule({ kind: 'status', sct: 0, sc: 0 }, { qid: 0, opcode: 0x08 }),
    ),
    async run(context) {
      const opened = await context.open({ ...TIMEOUT_OPTIONS, maxTransferBytes: 4096 })
      const { ns, alloc, ctrl } = opened
      const memory = alloc(4096)
      fillData(memory, 2)
      const plan = ns.planWrites([{ slba: KNOWN_LBA, blocks: 8, offsetBytes: 0 }])
      allSucceeded('the write', await ns.execute(plan, memory, { timeoutNs: TIMEOUT_NS }))
      equal('late completions', ctrl.statistics.lateCompletions, 1)
    },
  },
  {
    id: 'late-completion-is-harmless',
    title: 'Ignores a completion that arrives long after the recovery of its command',
    spec: 'openvmm; Base 2.1 §4.1.1',
    time: 'virtual',
    needs: withFaults(
      rule({ kind: 'delay-completion', delayNs: 5 * SECOND_NS }, { ...readsOf(3), ...once }),
      rule({ kind: 'hang' }, { qid: 0, opcode: 0x08, times: 1 }),
    ),
    async run(context) {
      const opened = await context.open(TIMEOUT_OPTIONS)
      const { ns, device, ctrl } = opened
      const memory = await store(opened, 64, 33, KNOWN_LBA)
      const { clock } = device.transport
      const plan = readPlan(ns, KNOWN_LBA, 64)
      const untilNs = clock.now() + 8 * SECOND_NS
      while (clock.now() < untilNs) {
        clearData(memory)
        allSucceeded('reads', await ns.execute(plan, memory, { timeoutNs: TIMEOUT_NS }))
        checkData(memory, 33)
        await clock.idle(clock.now() + 100 * NS_PER_MS)
      }
      equal('reads sent again', ctrl.statistics.replays, 1)
    },
  },
  {
    id: 'flush-hangs',
    title: 'Repeats a flush that gets no completion, after the controller was recovered',
    spec: 'ours',
    time: 'any',
    needs: withFaults(rule({ kind: 'hang' }, { opcode: OPCODE.FLUSH, times: 1 })),
    async run(context) {
      const opened = await context.open(TIMEOUT_OPTIONS)
      await opened.ns.flush()
      equal('Flush commands', opened.device.countOf('Flush'), 2)
      await roundTrip(opened, 16, 1, KNOWN_LBA)
    },
  },
]

export const recovery = area('time-outs and recovery', [...recoveryCases, ...lossCases, ...timeOutCases, ...idleCases])
