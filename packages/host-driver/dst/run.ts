import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { NotApplicable } from '@gpunvme/nvme-sim/case-kit'
import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { OutcomeSummary, TraceSink } from '@gpunvme/nvme-spec/transport'
import type { DriverController, DriverNamespace, DriverUnderTest } from '../conformance/driver.js'
import { EVENT_CHANNEL, type ControllerEvent } from '../src/index.js'
import { callBlocks, canCall } from './block-calls.js'
import { Call } from './call.js'
import { checkDiagnostics } from './excuses.js'
import { callLimitNs, closeLimitNs, FUNCTION_RESET_NS, openLimitNs, stepLimitNs, type Meanwhile } from './limits.js'
import type { FaultKind } from './random-faults.js'
import { Manager } from './manager.js'
import { plainMemory, scatteredMemory, type CallMemory } from './memory.js'
import type { Scenario, Step } from './scenario.js'
import { crashed, holds, Medium, RunFailure, Tally, type Assertion, type RunResult } from '@gpunvme/nvme-sim/dst'
import { executePlan, planOf } from './plans.js'
import { SERIAL, World } from './world.js'

/** Maximum attempts to open a controller: faults may make `open` fail, but their number is limited. */
const MAX_OPENINGS = 12
const MAX_PROOFS = 12

/** Event loop turns, without a pending wait or an ended task, after which a run counts as deadlocked. */
const MAX_IDLE_TURNS = 200

/** Virtual time after which a run counts as deadlocked: awaiting events advances time even if no task waits. */
const MAX_WAIT_NS = 600e9

/** Value of `overwrite` that includes every name: random data may look like a file system. */
const EVERYTHING = Object.assign([] as string[], { includes: () => true })

/** Faults after which the driver may be unable to confirm that the controller has stopped: it then keeps its memory. */
const UNSTOPPABLE: readonly FaultKind[] = [
  'lose-write',
  'delay-write',
  'read-value',
  'ready-never-rises',
  'ready-never-falls',
  'remove-device',
]

/** Maximum durations of a run, in virtual time. */
export interface Worst {
  /** Duration of the longest call, in ns. */
  readonly callNs: number
  /** Duration of the longest recovery step, in ns. */
  readonly stepNs: number
  /** Maximum fraction of its time limit that a call has used. */
  readonly share: number
}

/** Statistics and failure of a run of the driver. */
export interface DriverRun extends RunResult {
  /** Maximum durations. */
  readonly worst: Worst
  /** Number of times that the controller was declared lost. */
  readonly lost: number
  /** False if the driver does not support the options of the scenario; the run checks nothing then. */
  readonly isApplicable: boolean
}

/** Options of a run. */
export interface DriverRunOptions {
  /** Receives every event of the run. */
  readonly trace?: TraceSink
}

/** Runs a scenario once. */
export async function runScenario(
  scenario: Scenario,
  driver: DriverUnderTest,
  options: DriverRunOptions = {},
): Promise<DriverRun> {
  const run = new Run(scenario, driver, options.trace)
  let failure: RunFailure | undefined
  const listen = (message: unknown) => run.note((message as { event: ControllerEvent }).event)
  const reject = (error: unknown) => run.fail('crash', `unhandled rejection: ${String(error)}`)
  subscribe(EVENT_CHANNEL, listen)
  process.on('unhandledRejection', reject)
  try {
    await run.all()
  } catch (error) {
    failure = error instanceof RunFailure ? error : crashed(error)
  } finally {
    run.world.clock.stop()
    unsubscribe(EVENT_CHANNEL, listen)
    process.off('unhandledRejection', reject)
  }
  const { world, calls, outcomes, worst, lostSoFar, isApplicable, tally } = run
  return {
    failure,
    commands: calls,
    completions: outcomes,
    virtualNs: world.clock.now(),
    traceHash: world.simulation.traceHash,
    done: tally.all,
    struck: world.struck,
    worst,
    lost: lostSoFar,
    isApplicable,
  }
}

/** Runs a scenario twice; both runs must be identical. */
export async function runTwice(scenario: Scenario, driver: DriverUnderTest): Promise<DriverRun> {
  const first = await runScenario(scenario, driver)
  if (first.failure) return first
  const { traceHash } = await runScenario(scenario, driver)
  if (traceHash === first.traceHash) return first
  return {
    ...first,
    failure: new RunFailure('replay', `trace hash ${first.traceHash} in the first run, ${traceHash} in the second`),
  }
}

interface Opened {
  readonly ctrl: DriverController
  /** Bytes that were allocated before, and not freed. */
  readonly bytesBefore: number
}

class Run {
  readonly world: World
  calls = 0
  outcomes = 0
  worst: Worst = { callNs: 0, stepNs: 0, share: 0 }
  lostSoFar = 0
  /** Whether the driver supports the options of the scenario. */
  isApplicable = true
  readonly tally = new Tally()
  private readonly manager: Manager
  private readonly scenario: Scenario
  private readonly driver: DriverUnderTest
  private readonly medium = new Medium()
  private readonly open = new Set<Call>()
  private underWay: Promise<void>[] = []
  private unsettled: (() => void)[] = []
  private opened: Opened | undefined
  private failure: RunFailure | undefined
  private stepsNs = 0
  private steps = 0
  /** Limit of the recovery step in progress; 0 for none. */
  private underWayNs = 0
  /** Number of register accesses when the controller was declared lost. */
  private accessesWhenLost: number | undefined

  constructor(scenario: Scenario, driver: DriverUnderTest, trace: TraceSink | undefined) {
    this.scenario = scenario
    this.driver = driver
    this.world = new World(scenario, trace)
    this.manager = new Manager({
      medium: this.medium,
      world: this.world,
      timeoutNs: scenario.timeoutNs,
      controller: () => this.opened?.ctrl,
      refuse: (what, error, mayFail) => this.refuse(what, error, mayFail),
      count: (name) => this.tally.add(name),
    })
    this.world.onDamage = (command) => {
      for (const call of this.open) call.damage(command)
    }
  }

  async all(): Promise<void> {
    await this.reopen()
    for (const step of this.scenario.steps) {
      if (this.opened === undefined) break
      await this.take(step)
    }
    await this.join()
    await this.prove()
    await this.closeAll()
    this.checkMedium()
    checkDiagnostics(this.world)
  }

  /** Records a failure for `finish` to throw, unless there is an earlier one. */
  fail(assertion: Assertion, message: string): void {
    this.failure ??= new RunFailure(assertion, message)
  }

  note(event: ControllerEvent): void {
    if (event.kind === 'lost') {
      this.lostSoFar++
      this.accessesWhenLost ??= this.world.watched.accesses
    }
    if (event.kind !== 'recovery') return
    const limitNs = stepLimitNs(this.scenario, event.step)
    if (event.result === 'begun') {
      this.stepsNs += limitNs
      this.steps++
      this.underWayNs = limitNs
      return
    }
    this.underWayNs = 0
    this.worst = { ...this.worst, stepNs: Math.max(this.worst.stepNs, event.tookNs) }
    // An unrequested reset by `faulty` takes 100 ms on the simulator's clock, which do not count as part of the step.
    const stoppedNs = 'surprise-reset' in this.world.struck ? FUNCTION_RESET_NS : 0
    if (event.tookNs > limitNs + stoppedNs)
      this.fail('time', `${event.step} took ${ms(event.tookNs)}, limit ${ms(limitNs)}`)
  }

  private async take(step: Step): Promise<void> {
    const { clock } = this.world
    switch (step.do) {
      case 'plan':
        this.startPlan(step)
        return
      case 'read':
        this.startRead(step)
        return
      case 'flush':
        this.start('flush', () => this.flush(step.nsid))
        return
      case 'blocks':
        this.startBlocks(step)
        return
      case 'refused':
        this.start('a call for a namespace with metadata', () => this.expectUnsupported())
        return
      case 'manage':
        await this.join()
        this.start(`${step.management.what} a namespace`, () => this.manager.take(step.management))
        return this.join()
      case 'reset':
        this.start('reset', () => this.reset())
        return
      case 'power':
        this.losePower()
        return
      case 'smart':
        this.start('SMART', () => this.askSmart())
        return
      case 'pass': {
        const untilNs = clock.now() + step.ns
        return this.finish('pass', this.pass(untilNs))
      }
      case 'join':
        return this.join()
      case 'close':
        await this.closeAll()
        return this.reopen()
    }
  }

  private async pass(untilNs: number): Promise<void> {
    while (this.world.clock.now() < untilNs) await this.world.clock.idle(untilNs)
  }

  private namespaceOf(nsid: number): DriverNamespace | undefined {
    const meant = this.manager.nsidOf(nsid)
    return this.opened?.ctrl.namespaces.find((namespace) => namespace.nsid === meant)
  }

  private startPlan(step: Extract<Step, { do: 'plan' }>): void {
    const namespace = this.namespaceOf(step.nsid)
    if (namespace === undefined) return
    const start = Call.startOf(step.shiftBytes)
    const { blockBytes } = namespace
    let offsetBytes = start
    const transfers = step.extents.map(({ slba, blocks }) => {
      const transfer = { slba, blocks, offsetBytes }
      offsetBytes += blocks * blockBytes
      return transfer
    })
    // A fault may have made the namespace smaller.
    if (transfers.some(({ slba, blocks }) => slba + blocks > namespace.blocks)) return
    const plan = planOf(namespace, step.operation, transfers)
    const memory = this.alloc(namespace, Call.lengthOf(step.shiftBytes, offsetBytes - start), step.isScattered)
    const controller = new AbortController()
    const { abortAfterNs } = step
    if (abortAfterNs !== undefined) void this.pass(this.world.clock.now() + abortAfterNs).then(() => controller.abort())
    const call = new Call(this.medium, plan, memory, step.salt)
    this.start(call.what, () =>
      this.execute(call, () =>
        executePlan(namespace, plan, memory.memory, { timeoutNs: this.scenario.timeoutNs, signal: controller.signal }),
      ),
    )
  }

  /** Starts a single `read`, which resolves or throws, instead of a plan with outcomes. */
  private startRead({ nsid, slba, blocks }: Extract<Step, { do: 'read' }>): void {
    const namespace = this.namespaceOf(nsid)
    if (namespace === undefined || slba + blocks > namespace.blocks) return
    const offsetBytes = Call.startOf(0)
    const plan = planOf(namespace, 'read', [{ slba, blocks, offsetBytes }])
    // For a driver without plans, the plan has only the first command of the read.
    const asked = namespace.planReads === undefined ? plan.blocks[0]! : blocks
    const memory = this.alloc(namespace, Call.lengthOf(0, blocks * namespace.blockBytes))
    const call = new Call(this.medium, plan, memory, 0)
    this.start(call.what, () =>
      this.execute(call, async () => {
        await namespace.read(slba, asked, memory.memory, { offsetBytes, timeoutNs: this.scenario.timeoutNs })
        const { commands } = plan
        return { commands, succeeded: commands, bytes: asked * plan.blockBytes, failures: [], startNs: 0, endNs: 0 }
      }),
    )
  }

  private alloc(namespace: DriverNamespace, lengthBytes: number, isScattered = false): CallMemory {
    return isScattered ? scatteredMemory(namespace.dma, lengthBytes) : plainMemory(namespace.dma, lengthBytes)
  }

  private async execute(call: Call, action: () => Promise<OutcomeSummary>): Promise<void> {
    this.open.add(call)
    try {
      const summary = await action()
      this.outcomes += summary.commands
      this.unsettled.push(call.ended(summary))
      if (call.memory.isScattered && summary.succeeded > 0) this.tally.add('scattered memory')
    } catch (error) {
      if (error instanceof RunFailure) throw error
      // Without SGLs the driver cannot describe this memory, and sends nothing.
      if (call.memory.isScattered && error instanceof RangeError) {
        call.refused(false, String(error))
        return
      }
      expectRefusal(call.what, error)
      call.refused((error as GpuNvmeError).code === 'ERR_GPUNVME_TRANSFER', String(error))
    } finally {
      this.open.delete(call)
      call.memory.free()
    }
  }

  private startBlocks({ nsid, call }: Extract<Step, { do: 'blocks' }>): void {
    const namespace = this.namespaceOf(nsid)
    if (namespace === undefined || !canCall(namespace, call)) return
    const { medium, scenario, tally } = this
    this.start(`${call.call} of NSID ${namespace.nsid}`, async () => {
      await callBlocks(namespace, call, {
        medium,
        timeoutNs: scenario.timeoutNs,
        refuse: (what, error) => this.refuse(what, error, false),
        later: (settle) => this.unsettled.push(settle),
        count: (name) => tally.add(name),
      })
      this.outcomes++
    })
  }

  /** Checks that the driver rejects reads and writes of the namespace with metadata. */
  private async expectUnsupported(): Promise<void> {
    const namespace = this.scenario.withMetadata && this.namespaceOf(this.scenario.withMetadata)
    if (!namespace || namespace.identity === undefined) return
    const memory = namespace.dma.alloc(4096)
    for (const call of ['read', 'write'] as const) {
      try {
        await namespace[call](0, 1, memory)
        throw new RunFailure('outcome', `${call} of a namespace with metadata was not rejected`)
      } catch (error) {
        if (error instanceof RunFailure) throw error
        expectRefusal(call, error)
      }
    }
    memory.free()
    this.tally.add('metadata refused')
  }

  private async reset(): Promise<void> {
    const ctrl = this.opened?.ctrl
    if (ctrl?.reset === undefined) return
    try {
      await ctrl.reset()
      this.tally.add('reset')
    } catch (error) {
      this.refuse('reset', error, false)
    }
  }

  private losePower(): void {
    this.world.losePower()
    this.medium.losePower()
    this.tally.add('loss of power')
  }

  /** Checks a failed call: without faults, it may fail only if `mayFail` or if the controller is being closed. */
  private refuse(what: string, error: unknown, mayFail: boolean): void {
    expectRefusal(what, error)
    if (mayFail || this.world.strikes > 0 || this.opened === undefined) return
    // Other calls may keep a small queue full until the call gives up.
    if ((error as GpuNvmeError).code === 'ERR_GPUNVME_QUEUE_FULL') return
    throw new RunFailure('outcome', `${what} failed although no fault occurred: ${String(error)}`)
  }

  private async flush(nsid: number): Promise<void> {
    const namespace = this.namespaceOf(nsid)
    const began = this.medium.tick()
    try {
      await namespace?.flush?.()
      if (namespace?.flush !== undefined) this.medium.flush(namespace.nsid, began)
    } catch (error) {
      expectRefusal('flush', error)
    }
    this.outcomes++
  }

  /** Starts a call and checks its duration; `join` throws its failure. */
  private start(what: string, action: () => Promise<unknown>): void {
    this.calls++
    const startNs = this.world.clock.now()
    const before = this.sofar()
    const work = action().then(() => {
      const tookNs = this.world.clock.now() - startNs
      const limitNs = callLimitNs(this.scenario, this.since(before))
      const { callNs, share, stepNs } = this.worst
      this.worst = { stepNs, callNs: Math.max(callNs, tookNs), share: Math.max(share, tookNs / limitNs) }
      if (tookNs > limitNs) {
        this.fail('time', `${what} took ${ms(tookNs)}, limit ${ms(limitNs)}`)
      }
    })
    work.catch((error: unknown) => {
      this.failure ??= error instanceof RunFailure ? error : crashed(error)
    })
    this.underWay.push(work)
  }

  private sofar(): Meanwhile {
    return { stepsNs: this.stepsNs, steps: this.steps, strikes: this.world.strikes, underWayNs: this.underWayNs }
  }

  private since(before: Meanwhile): Meanwhile {
    const { stepsNs, steps, strikes } = this.sofar()
    // Includes a step that had begun before, and one step more: a recovery may first wait for other calls.
    return {
      stepsNs: stepsNs - before.stepsNs + before.underWayNs,
      steps: 1 + steps - before.steps,
      strikes: strikes - before.strikes,
      underWayNs: 0,
    }
  }

  private async join(): Promise<void> {
    const under = this.underWay
    this.underWay = []
    await this.finish('calls in progress', Promise.allSettled(under))
  }

  /** Waits for `work` while time passes. @throws RunFailure for a deadlock, and for a recorded failure. */
  private async finish<T>(what: string, work: Promise<T>): Promise<T> {
    let done = false
    const settled = () => {
      done = true
    }
    work.then(settled, settled)
    const endNs = this.world.clock.now() + MAX_WAIT_NS
    for (let idle = 0; !done;) {
      await new Promise(setImmediate)
      if (this.world.clock.now() > endNs)
        throw new RunFailure('deadlock', `${what}: not finished in 10 virtual minutes`)
      idle = this.world.clock.isIdle ? idle + 1 : 0
      if (idle > MAX_IDLE_TURNS) throw new RunFailure('deadlock', `${what}: not finished, and no task waits for time`)
    }
    if (this.failure !== undefined) throw this.failure
    return work
  }

  /** Opens the controller. Retries after faults: unless the device was removed, an attempt must succeed. */
  private async reopen(): Promise<void> {
    const { scenario, world, driver } = this
    this.checkLost()
    for (let opening = 1; ; opening++) {
      const bytesBefore = world.watched.bytesInUse
      const startNs = world.clock.now()
      const { strikes } = world
      const options = {
        ...scenario.options,
        write: { serial: SERIAL, overwrite: EVERYTHING },
        ...(scenario.manages && { manage: true as const }),
      }
      const tried = driver.open(world.transport, options).then(
        (ctrl) => ({ ctrl }),
        (error: unknown) => ({ error }),
      )
      const result = await this.finish('open', tried)
      const tookNs = world.clock.now() - startNs
      const limitNs = openLimitNs(scenario, world.strikes - strikes)
      if (tookNs > limitNs) throw new RunFailure('time', `open took ${ms(tookNs)}, limit ${ms(limitNs)}`)
      if ('ctrl' in result) {
        this.settleLost()
        const { ctrl } = result
        this.opened = { ctrl, bytesBefore }
        for (const option of ['shadowDoorbells', 'interrupts'] as const) {
          if (scenario.options[option]) this.tally.add(option)
        }
        if (scenario.watches && ctrl.events !== undefined) void this.watch(ctrl.events())
        return
      }
      if (result.error instanceof NotApplicable) {
        this.isApplicable = false
        return
      }
      expectRefusal('open', result.error)
      if (this.mustGiveBack && world.watched.bytesInUse !== bytesBefore) {
        this.fail('leak', `open kept ${world.watched.bytesInUse - bytesBefore} bytes: ${String(result.error)}`)
      }
      if (world.isRemoved) return
      if (opening === MAX_OPENINGS)
        throw new RunFailure('open', `open failed ${opening} times: ${String(result.error)}`)
      // Required if CSTS.RDY does not change, as the error states.
      await this.finish('reset', world.transport.reset!('function'))
    }
  }

  private async watch(events: AsyncIterable<ControllerEvent>): Promise<void> {
    for await (const event of events) if (event.kind === 'missed') this.fail('outcome', 'events were missed')
  }

  /** Checks that the controller works, or that it was declared lost and works after it has been opened again. */
  private async prove(): Promise<void> {
    for (let proof = 1; this.opened !== undefined; proof++) {
      const lost = lostBy(this.opened.ctrl)
      if (lost > 0) {
        if (lost !== 1) throw new RunFailure('lost', `declared lost ${lost} times`)
        await this.closeAll()
        await this.reopen()
        continue
      }
      const namespace = this.opened.ctrl.namespaces.find(({ nsid }) => nsid !== this.scenario.withMetadata)
      if (namespace === undefined) return
      if (await this.roundTrip(namespace)) return
      // The Admin command also lets the driver process asynchronous events, such as a changed namespace.
      if ((await this.smartLog()) && this.isDetached(namespace)) return
      if (proof === MAX_PROOFS)
        throw new RunFailure('usable', `a block could not be written and read back in ${proof} attempts`)
      if (this.opened.ctrl.statistics === undefined) {
        // A driver without statistics may have no recovery: it must work after it has been opened again.
        await this.closeAll()
        await this.reopen()
        continue
      }
      // The driver detects a lost completion only when its command times out.
      await this.finish('pass', this.pass(this.world.clock.now() + this.scenario.options.commandTimeoutNs))
    }
  }

  /** Returns whether a fault has detached a namespace for good. */
  private isDetached({ nsid }: DriverNamespace): boolean {
    return this.scenario.inside.rules.some(
      ({ action }, rule) =>
        action.kind === 'detach-namespace' &&
        action.nsid === nsid &&
        this.world.simulation.faults.struck[rule]! > 0 &&
        !('attach-namespace' in this.world.struck),
    )
  }

  /** Reads the SMART log; returns whether that succeeded. */
  private async smartLog(): Promise<boolean> {
    let answered = false
    this.start('SMART', async () => {
      answered = await this.askSmart()
    })
    await this.join()
    return answered
  }

  private async askSmart(): Promise<boolean> {
    try {
      await this.opened?.ctrl.smartLog?.()
      return true
    } catch (error) {
      expectRefusal('SMART', error)
      return false
    } finally {
      this.outcomes++
    }
  }

  private async roundTrip(namespace: DriverNamespace): Promise<boolean> {
    const [offsetBytes, { blockBytes }] = [Call.startOf(0), namespace]
    let succeeded = 0
    for (const operation of ['write', 'read'] as const) {
      // Identified while detached: Identify Namespace returns zeroes for an inactive namespace.
      if (namespace.blocks === 0) return false
      const transfers = [{ slba: 0, blocks: 1, offsetBytes }]
      const plan = planOf(namespace, operation, transfers)
      const memory = this.alloc(namespace, Call.lengthOf(0, blockBytes))
      const call = new Call(this.medium, plan, memory, 1_000_000)
      this.start(call.what, () =>
        this.execute(call, async () => {
          const summary = await executePlan(namespace, plan, memory.memory, { timeoutNs: this.scenario.timeoutNs })
          succeeded += summary.succeeded
          return summary
        }),
      )
      await this.join()
    }
    return succeeded === 2
  }

  private async closeAll(): Promise<void> {
    const { opened, world } = this
    if (opened === undefined) return
    this.opened = undefined
    const began = this.medium.tick()
    const startNs = world.clock.now()
    const [before, { strikes }] = [this.sofar(), world]
    const closed = opened.ctrl.close().then(
      () => undefined,
      (error: unknown) => error,
    )
    await this.join()
    const error = await this.finish('close', closed)
    const tookNs = world.clock.now() - startNs
    const limitNs =
      callLimitNs(this.scenario, this.since(before)) + closeLimitNs(this.scenario, world.strikes - strikes)
    if (tookNs > limitNs) throw new RunFailure('time', `close took ${ms(tookNs)}, limit ${ms(limitNs)}`)
    if (error !== undefined) expectRefusal('close', error)
    this.checkLost()
    const isLost = lostBy(opened.ctrl) > 0
    const keptBytes = world.watched.bytesInUse - opened.bytesBefore
    if (keptBytes !== 0 && !isLost && this.mustGiveBack) {
      throw new RunFailure('leak', `close kept ${keptBytes} bytes`)
    }
    if (!isLost && error === undefined) this.settleLost()
    // A completed shutdown has flushed all data.
    if (!isLost && error === undefined && this.mustGiveBack && opened.ctrl.statistics !== undefined) {
      for (const nsid of world.media.keys()) this.medium.flush(nsid, began)
    }
  }

  private get mustGiveBack(): boolean {
    const { struck } = this.world
    return UNSTOPPABLE.every((kind) => !(kind in struck))
  }

  /** Checks that no register was accessed after the controller was declared lost. */
  private checkLost(): void {
    const { accesses } = this.world.watched
    if (this.accessesWhenLost === undefined) return
    const more = accesses - this.accessesWhenLost
    this.accessesWhenLost = undefined
    if (more > 0) throw new RunFailure('lost', `${more} register accesses after the controller was declared lost`)
  }

  /** Settles calls with an unknown outcome after a reset, which ends all commands. */
  private settleLost(): void {
    for (const settle of this.unsettled.splice(0)) settle()
    this.manager.settle()
  }

  /** Compares the media with the expected contents, without the driver. */
  private checkMedium(): void {
    const began = this.medium.tick()
    for (const { shape, media } of this.world.media.values()) {
      const { nsid, blockBytes, blocks } = shape
      const block = new Uint8Array(blockBytes)
      for (let lba = 0; lba < blocks; lba++) {
        media.read(lba * blockBytes, block)
        if (this.medium.possible(nsid, lba, began).some((content) => holds(block, content))) continue
        throw new RunFailure('medium', `NSID ${nsid} LBA ${lba} has none of its possible contents`)
      }
    }
    const { withMetadata } = this.world
    if (withMetadata === undefined) return
    const bytes = new Uint8Array(withMetadata.capacityBytes)
    withMetadata.read(0, bytes)
    if (bytes.some((byte) => byte !== 0)) throw new RunFailure('medium', 'the namespace with metadata was written to')
  }
}

/** Returns how often a driver has declared its controller lost; 0 for a driver without statistics. */
function lostBy({ statistics }: DriverController): number {
  return statistics?.recoveries.lost ?? 0
}

/** Checks that the error of a failed call is a GpuNvmeError. */
function expectRefusal(what: string, error: unknown): void {
  if (error instanceof GpuNvmeError) return
  throw new RunFailure('outcome', `${what} ended with ${String(error)}`)
}

function ms(ns: number): string {
  return `${(ns / 1e6).toFixed(1)} ms`
}
