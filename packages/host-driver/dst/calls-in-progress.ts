import { crashed, RunFailure } from '@gpunvme/nvme-sim/dst'
import type { ControllerEvent } from '../src/index.js'
import { callLimitNs, FUNCTION_RESET_NS, stepLimitNs, tooLong, type Meanwhile } from './limits.js'
import type { Scenario } from './scenario.js'
import type { World } from './world.js'

/** Event loop turns, without a pending wait or an ended task, after which a run counts as deadlocked. */
const MAX_IDLE_TURNS = 200

/** Virtual time after which a run counts as deadlocked: awaiting events advances time even if no task waits. */
const MAX_WAIT_NS = 600e9

/** Maximum durations of a run, in virtual time. */
export interface Worst {
  /** Duration of the longest call, in ns. */
  readonly callNs: number
  /** Duration of the longest recovery step, in ns. */
  readonly stepNs: number
  /** Maximum fraction of its time limit that a call has used. */
  readonly share: number
}

/** Starts the calls of a run and waits for them; checks their durations and those of recovery steps. */
export class CallsInProgress {
  /** Number of calls started. */
  started = 0
  /** Number of outcomes that calls have reported. */
  outcomes = 0
  worst: Worst = { callNs: 0, stepNs: 0, share: 0 }
  private readonly scenario: Scenario
  private readonly world: World
  private underWay: Promise<void>[] = []
  private failure: RunFailure | undefined
  private stepsNs = 0
  private steps = 0
  /** Limit of the recovery step in progress; 0 for none. */
  private underWayNs = 0

  constructor(scenario: Scenario, world: World) {
    this.scenario = scenario
    this.world = world
  }

  /** Records a failure for `finish` to throw, unless there is an earlier one. */
  fail(failure: RunFailure): void {
    this.failure ??= failure
  }

  /** Records the start or the end of a recovery step. */
  noteStep(event: Extract<ControllerEvent, { kind: 'recovery' }>): void {
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
    const stoppedNs = 'surprise-reset' in this.world.injected ? FUNCTION_RESET_NS : 0
    if (event.tookNs > limitNs + stoppedNs) this.fail(tooLong(event.step, event.tookNs, limitNs))
  }

  /** Starts a call and checks its duration; `join` throws its failure. */
  start(what: string, action: () => Promise<unknown>): void {
    this.started++
    const startNs = this.world.clock.now()
    const before = this.sofar()
    const work = action().then(() => {
      const tookNs = this.world.clock.now() - startNs
      const limitNs = callLimitNs(this.scenario, this.since(before))
      const { callNs, share, stepNs } = this.worst
      this.worst = { stepNs, callNs: Math.max(callNs, tookNs), share: Math.max(share, tookNs / limitNs) }
      if (tookNs > limitNs) this.fail(tooLong(what, tookNs, limitNs))
    })
    work.catch((error: unknown) => this.fail(error instanceof RunFailure ? error : crashed(error)))
    this.underWay.push(work)
  }

  /** Returns the recovery steps and faults so far, for `since`. */
  sofar(): Meanwhile {
    return {
      stepsNs: this.stepsNs,
      steps: this.steps,
      injectedCount: this.world.injectedCount,
      underWayNs: this.underWayNs,
    }
  }

  /** Returns the recovery steps and faults after `before`. */
  since(before: Meanwhile): Meanwhile {
    const { stepsNs, steps, injectedCount } = this.sofar()
    // Includes a step that had begun before, and one step more: a recovery may first wait for other calls.
    return {
      stepsNs: stepsNs - before.stepsNs + before.underWayNs,
      steps: 1 + steps - before.steps,
      injectedCount: injectedCount - before.injectedCount,
      underWayNs: 0,
    }
  }

  /** Waits for all calls in progress. @throws same as `finish`. */
  async join(): Promise<void> {
    const under = this.underWay
    this.underWay = []
    await this.finish('calls in progress', Promise.allSettled(under))
  }

  /** Lets time pass while calls continue. @throws same as `finish`. */
  pass(ns: number): Promise<void> {
    return this.finish('pass', this.idle(ns))
  }

  /** Waits until time has passed on the virtual clock. */
  async idle(ns: number): Promise<void> {
    const { clock } = this.world
    const untilNs = clock.now() + ns
    while (clock.now() < untilNs) await clock.idle(untilNs)
  }

  /** Waits for `work` while time passes. @throws RunFailure for a deadlock, and for a recorded failure. */
  async finish<T>(what: string, work: Promise<T>): Promise<T> {
    const { clock } = this.world
    let done = false
    const settled = () => {
      done = true
    }
    work.then(settled, settled)
    const endNs = clock.now() + MAX_WAIT_NS
    for (let idle = 0; !done;) {
      await new Promise(setImmediate)
      if (clock.now() > endNs) throw new RunFailure('deadlock', `${what}: not finished in 10 virtual minutes`)
      idle = clock.isIdle ? idle + 1 : 0
      if (idle > MAX_IDLE_TURNS) throw new RunFailure('deadlock', `${what}: not finished, and no task waits for time`)
    }
    if (this.failure !== undefined) throw this.failure
    return work
  }
}
