import { afterEach, expect, it, vi } from 'vitest'
import { RamMedia } from '../src/media/ram.js'
import { DriveModel } from '../src/model/drive-model.js'
import { Namespaces } from '../src/nvm/namespaces.js'
import { CompletionQueue } from '../src/queues/queue.js'
import type { Assertion } from './failure.js'
import { makeScenario } from './make-scenario.js'
import { minimise, type Minimised } from './minimise.js'
import { formatMinimised } from './report.js'
import { runScenario, runTwice, type RunOptions } from './run.js'

// A campaign that cannot fail proves nothing. It must find each of these defects and minimise it to a few steps.

const SEEDS = 60

afterEach(() => {
  vi.restoreAllMocks()
})

/** Returns the minimised scenario of the first seed that fails. */
async function find(options: RunOptions = {}): Promise<Minimised> {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const scenario = makeScenario(seed)
    const { failure } = await runTwice(scenario, options)
    if (failure) return (await minimise(scenario, options))!
  }
  throw new Error(`no seed up to ${SEEDS} fails`)
}

async function expectFound(assertions: readonly Assertion[], maxSteps: number, options: RunOptions = {}) {
  const { scenario, failure, runs } = await find(options)
  expect(assertions).toContain(failure.assertion)
  expect(scenario.steps.length).toBeLessThanOrEqual(maxSteps)
  // The failure needs no fault.
  expect(scenario.faults.rules).toEqual([])
  // The minimised scenario survives JSON, and fails in the same way.
  const again = await runTwice(JSON.parse(JSON.stringify(scenario)) as typeof scenario, options)
  expect(again.failure?.assertion).toBe(failure.assertion)
  if (failure.assertion !== 'replay') expect(again.failure?.message).toBe(failure.message)
  expect(await formatMinimised({ scenario, failure, runs }, options)).toContain(
    `seed ${scenario.seed}: ${failure.message}`,
  )
}

it('finds a controller that writes one byte after the data', async () => {
  class Overflowing extends RamMedia {
    override read(offsetBytes: number, into: Uint8Array): void {
      super.read(offsetBytes, into)
      new Uint8Array(into.buffer, into.byteOffset + into.length, 1)[0]! ^= 0x80
    }
  }
  await expectFound(['data', 'memory'], 2, { media: (capacityBytes) => new Overflowing(capacityBytes) })
})

it('finds a controller whose Phase Tag does not change on the second lap', async () => {
  // oxlint-disable-next-line typescript/unbound-method -- called with the queue that it is called on
  const post = CompletionQueue.prototype.post
  const laps = new WeakMap<CompletionQueue, number>()
  vi.spyOn(CompletionQueue.prototype, 'post').mockImplementation(function (this: CompletionQueue, completion) {
    const index = post.call(this, completion)
    if (index === 0) laps.set(this, (laps.get(this) ?? 0) + 1)
    const { ring, first } = this.lastPart
    const at = (index - first) * 16 + 14
    if (laps.get(this) === 2) ring.setUint16(at, ring.getUint16(at, true) ^ 1, true)
    return index
  })
  // Queues of two entries soon reach their second lap; an Admin queue of that size does before the first step.
  await expectFound(['missing-completion', 'bring-up'], 5)
})

it('finds a controller that loses a completion if the queue is full', async () => {
  // oxlint-disable-next-line typescript/unbound-method -- called with the queue that it is called on
  const release = CompletionQueue.prototype.release
  vi.spyOn(CompletionQueue.prototype, 'release').mockImplementation(function (this: CompletionQueue, head) {
    if (this.held.length > 1) this.held.pop()
    return release.call(this, head)
  })
  await expectFound(['missing-completion'], 12)
})

it('finds a drive that drops a Write for which it reported success', async () => {
  class Forgetful extends RamMedia {
    private writes = 0
    override write(offsetBytes: number, from: Uint8Array): void {
      if (++this.writes !== 3) super.write(offsetBytes, from)
    }
  }
  await expectFound(['data'], 8, { media: (capacityBytes) => new Forgetful(capacityBytes) })
})

it('finds a drive that does not clear deallocated blocks', async () => {
  class Keeping extends RamMedia {
    override deallocate(): void {
      // The old data remain.
    }
  }
  await expectFound(['data'], 8, { media: (capacityBytes) => new Keeping(capacityBytes) })
})

it('finds a controller that executes commands for a detached namespace', async () => {
  // oxlint-disable-next-line typescript/unbound-method -- called with the namespaces that it is called on
  const setAttached = Namespaces.prototype.setAttached
  vi.spyOn(Namespaces.prototype, 'setAttached').mockImplementation(function (this: Namespaces, namespace, isAttached) {
    if (isAttached) setAttached.call(this, namespace, true)
  })
  const { scenario, failure } = await find()
  expect(['status', 'namespaces']).toContain(failure.assertion)
  expect(scenario.steps.length).toBeLessThanOrEqual(12)
})

it('finds a simulator that is not deterministic', async () => {
  // oxlint-disable-next-line typescript/unbound-method -- called with the drive that it is called on
  const access = DriveModel.prototype.access
  let calls = 0
  vi.spyOn(DriveModel.prototype, 'access').mockImplementation(function (this: DriveModel, nowNs, work) {
    return access.call(this, nowNs, work) + (calls++ % 1000)
  })
  await expectFound(['replay'], 2)
})

it('finds nothing without a defect, and does not minimise a scenario that does not fail', async () => {
  const scenario = makeScenario(1)
  expect((await runScenario(scenario)).failure).toBeUndefined()
  expect(await minimise(scenario)).toBeUndefined()
})
