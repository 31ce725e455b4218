import type { OutcomeSummary } from '@gpunvme/nvme-spec/transport'
import { afterEach, expect, it, vi } from 'vitest'
import { makeScenario, minimise, runScenario, type Scenario, hostDriver as driver } from '../../dst/index.js'
import { Session } from '../../src/bring-up/session.js'
import { DmaPool } from '../../src/memory/dma-pool.js'
import { CommandIds } from '../../src/queues/command-ids.js'
import { Gate } from '../../src/recovery/gate.js'
import { PlanProgress } from '../../src/execution/plan-progress.js'
import { Recovery } from '../../src/recovery/recovery.js'

// A campaign that cannot fail proves nothing. It must find each of these defective drivers within this number of seeds.
const SEEDS = 250

afterEach(() => {
  vi.restoreAllMocks()
})

async function find(): Promise<{ scenario: Scenario; assertion: string }> {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const scenario = makeScenario(seed)
    const { failure } = await runScenario(scenario, driver)
    if (failure !== undefined) return { scenario, assertion: failure.assertion }
  }
  throw new Error(`no seed up to ${SEEDS} fails`)
}

async function expectFound(assertions: readonly string[]) {
  const { assertion } = await find()
  expect(assertions).toContain(assertion)
}

it('finds a driver that assigns a late completion to the new command in its slot', async () => {
  vi.spyOn(CommandIds.prototype, 'ownerOf').mockImplementation(function (this: CommandIds, cid) {
    const slot = cid % 2 ** Math.ceil(Math.log2(this.slots + 1))
    const { outstanding } = this as unknown as { outstanding: Uint8Array }
    return slot < this.slots && outstanding[slot] === 1 ? slot : -1
  })
  await expectFound(['data', 'medium', 'outcome', 'crash', 'diagnostics'])
})

it('finds a driver that reports success for a write without a completion', async () => {
  judged((outcome) => (outcome === 'unknown' ? { kind: 'success' } : undefined))
  await expectFound(['medium', 'data'])
})

it('finds a driver that reports success for a read without a completion', async () => {
  // oxlint-disable-next-line typescript/unbound-method -- called with the progress that it is called on
  const next = PlanProgress.prototype.next
  vi.spyOn(PlanProgress.prototype, 'next').mockImplementation(function (this: PlanProgress, summary, judge, memory) {
    const isRead = this.plan.operation === 'read'
    next.call(
      this,
      summary,
      (failure, command) =>
        isRead && failure.outcome.kind === 'timeout' ? { kind: 'success' } : judge(failure, command),
      memory,
    )
  })
  await expectFound(['data'])
})

it('finds a driver that reports a write without a completion as not submitted', async () => {
  judged((outcome) => (outcome === 'unknown' ? { kind: 'not-submitted' } : undefined))
  await expectFound(['medium', 'data'])
})

it('finds a driver that recovers while commands are in flight', async () => {
  vi.spyOn(Gate.prototype, 'alone').mockImplementation((action) => action())
  await expectFound(['crash', 'outcome', 'diagnostics', 'lost', 'deadlock', 'time', 'usable'])
})

it('finds a driver that never reopens the gate after exclusive access', async () => {
  // oxlint-disable-next-line typescript/unbound-method -- called with the gate that it is called on
  const enter = Gate.prototype.enter
  vi.spyOn(Gate.prototype, 'enter').mockImplementation(function (this: Gate) {
    return this.isClosed ? new Promise(() => undefined) : enter.call(this)
  })
  await expectFound(['deadlock'])
})

it('finds a driver that reads a register of a lost controller', async () => {
  // oxlint-disable-next-line typescript/unbound-method -- called with the session that it is called on
  const abandon = Session.prototype.abandon
  vi.spyOn(Session.prototype, 'abandon').mockImplementation(function (this: Session) {
    abandon.call(this)
    setImmediate(() => this.transport.underlying.bar.read32(0x1c))
  })
  await expectFound(['lost'])
})

it('finds a driver that leaks memory when it is closed', async () => {
  vi.spyOn(DmaPool.prototype, 'freeAll').mockImplementation(() => undefined)
  await expectFound(['leak'])
})

it('finds a driver that drops an outcome', async () => {
  // oxlint-disable-next-line typescript/unbound-method -- called with the progress that it is called on
  const summary = PlanProgress.prototype.summary
  vi.spyOn(PlanProgress.prototype, 'summary').mockImplementation(function (this: PlanProgress, startNs, endNs) {
    const whole: OutcomeSummary = summary.call(this, startNs, endNs)
    return { ...whole, failures: whole.failures.slice(1) }
  })
  await expectFound(['outcome'])
})

it('finds a driver whose recovery steps exceed their time limits', async () => {
  const recovery = Recovery.prototype as unknown as {
    abort: (overdue: unknown, deadlineNs: number) => Promise<boolean>
  }
  const { abort } = recovery
  vi.spyOn(recovery, 'abort').mockImplementation(function (this: unknown, overdue, deadlineNs) {
    return abort.call(this, overdue, deadlineNs + 1_000_000_000)
  })
  await expectFound(['time'])
})

it('finds a driver that does not wait until a controller is disabled', async () => {
  vi.spyOn(Session.prototype, 'stop').mockResolvedValue()
  await expectFound(['diagnostics'])
})

it('finds a driver that skips Abort; the minimised scenario fails again from its JSON', async () => {
  const recovery = Recovery.prototype as unknown as { abort: () => Promise<boolean> }
  vi.spyOn(recovery, 'abort').mockResolvedValue(true)
  const { scenario, assertion } = await find()
  const smallest = await minimise(scenario, driver)
  expect(smallest?.failure.assertion).toBe(assertion)
  expect(smallest!.scenario.steps.length).toBeLessThanOrEqual(scenario.steps.length)
  const again = JSON.parse(JSON.stringify(smallest!.scenario)) as Scenario
  expect((await runScenario(again, driver)).failure?.message).toBe(smallest!.failure.message)
})

it('finds no defect in the unmodified driver, and does not minimise a scenario that passes', async () => {
  const scenario = makeScenario(1)
  expect((await runScenario(scenario, driver)).failure).toBeUndefined()
  expect(await minimise(scenario, driver)).toBeUndefined()
})

/** Changes the outcomes of a plan's commands. `change` returns undefined to keep one. */
function judged(change: (outcome: string) => { kind: 'success' | 'not-submitted' } | undefined) {
  // oxlint-disable-next-line typescript/unbound-method -- called with the progress that it is called on
  const next = PlanProgress.prototype.next
  vi.spyOn(PlanProgress.prototype, 'next').mockImplementation(function (this: PlanProgress, summary, judge, memory) {
    next.call(
      this,
      summary,
      (failure, command) => {
        const outcome = judge(failure, command)
        return outcome === 'again' ? outcome : (change(outcome.kind) ?? outcome)
      },
      memory,
    )
  })
}
