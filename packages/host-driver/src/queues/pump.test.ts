import { CSTS } from '@gpunvme/nvme-spec'
import type { Bar } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { SingleCommand } from '../commands/single-command.js'
import type { CompletionRing } from './completion-ring.js'
import { Pump, type Work } from './pump.js'
import type { QueuePair } from './queue-pair.js'

const READY = CSTS.encode({ RDY: 1 })
const ALL_ONES = 0xffff_ffff
const TIMEOUT_NS = 1_000_000_000

/** Work that ends when it is halted, and records what happens to it. */
class RecordedWork implements Work {
  isFinished = false
  readonly hasOverdue = false
  readonly wakeNs = Infinity
  readonly halts: (number | undefined)[] = []
  failed: unknown
  readonly settled: Promise<number>
  settle!: (nowNs: number) => void

  constructor() {
    this.settled = new Promise((resolve) => {
      this.settle = resolve
    })
  }

  stage = () => 0
  completed = () => undefined
  givenUp = () => undefined
  fail = (cause: unknown) => {
    this.failed = cause
    this.settle(-1)
  }
  halt = (csts: number | undefined) => {
    this.halts.push(csts)
    this.isFinished = true
  }
}

/** A pump of one queue pair with one command in flight that never completes, on a clock that jumps to each deadline. */
function pumpWith({
  completions = 0,
  csts = READY,
  deadlineNs = TIMEOUT_NS,
  idle = (untilNs: number) => Promise.resolve(untilNs),
} = {}) {
  let nowNs = 0
  let isInFlight = true
  const clock = {
    // A clock that only ran in idle() would stand still under a constant flow of completions.
    now: () => (nowNs += 1_000_000),
    idle: async (untilNs: number) => {
      nowNs = Math.max(nowNs, await idle(untilNs))
    },
  }
  const bar = { read32: () => csts } as Partial<Bar> as Bar
  const pair = {
    ids: { free: 0 },
    ring: () => undefined,
    earliestDeadlineNs: () => (isInFlight ? deadlineNs : Infinity),
    giveUp: (untilNs: number, lost: number | undefined) => {
      if (!isInFlight || (lost === undefined && untilNs < deadlineNs)) return 0
      isInFlight = false
      return 1
    },
  } as Partial<Omit<QueuePair, 'ids'>> as QueuePair
  const ring = { poll: () => completions } as Partial<CompletionRing> as CompletionRing
  return { pump: new Pump({ bar, clock }, [pair], [ring]), pair, clock }
}

describe('a command that never completes', () => {
  test('is given up at its deadline, and halts the work of its queues', async () => {
    const { pump, clock } = pumpWith()
    const work = new RecordedWork()
    pump.start(work)
    await work.settled
    expect(work.halts).toEqual([undefined])
    expect(clock.now()).toBeGreaterThanOrEqual(TIMEOUT_NS)
  })

  test('is given up under a constant flow of other completions', async () => {
    const { pump } = pumpWith({ completions: 1 })
    const work = new RecordedWork()
    pump.start(work)
    await work.settled
    expect(work.halts).toEqual([undefined])
  })

  test('is given up before its deadline if the controller is lost', async () => {
    const { pump, clock } = pumpWith({ csts: ALL_ONES })
    const work = new RecordedWork()
    pump.start(work)
    await work.settled
    expect(work.halts).toEqual([ALL_ONES])
    expect(clock.now()).toBeLessThan(TIMEOUT_NS / 10)
  })
})

test('halts work that is started after a command was given up', async () => {
  const { pump } = pumpWith()
  const first = new RecordedWork()
  pump.start(first)
  await first.settled
  const second = new RecordedWork()
  pump.start(second)
  await second.settled
  expect(second.halts).toEqual([undefined])
})

test('fails all work if the transport fails', async () => {
  const cause = new Error('the bus is gone')
  const { pump } = pumpWith({ idle: () => Promise.reject(cause) })
  const both = [new RecordedWork(), new RecordedWork()]
  for (const work of both) pump.start(work)
  await Promise.all(both.map(({ settled }) => settled))
  expect(both.map(({ failed }) => failed)).toEqual([cause, cause])
  expect(pump.isIdle).toBe(true)
})

test('fails work that cannot be settled, and the work after it', async () => {
  const cause = new Error('this memory was freed')
  const { pump } = pumpWith()
  const [first, second] = [new RecordedWork(), new RecordedWork()]
  const failed = Promise.all([first.settled, second.settled])
  const { settle } = first
  first.settle = (nowNs) => {
    if (nowNs >= 0) throw cause
    settle(nowNs)
  }
  pump.start(first)
  pump.start(second)
  await failed
  expect([first.failed, second.failed]).toEqual([cause, cause])
  expect(pump.isIdle).toBe(true)
})

test('rejects a single command that finds no room in its queue within its time limit', async () => {
  const { pump, pair, clock } = pumpWith({ deadlineNs: Infinity })
  const channel = { pair, clock, controller: 'simulated', set: 'admin' } as const
  const request = { name: 'Flush', entry: new DataView(new ArrayBuffer(64)), timeoutNs: TIMEOUT_NS, untilNs: Infinity }
  const sent = new Promise((resolve, reject) => pump.start(new SingleCommand(channel, request, resolve, reject)))
  await expect(sent).rejects.toMatchObject({ code: 'ERR_GPUNVME_QUEUE_FULL' })
})
