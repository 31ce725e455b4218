import { NotApplicable } from '@gpunvme/nvme-sim/case-kit'
import { Medium, RunFailure, Tally } from '@gpunvme/nvme-sim/dst'
import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { TraceSink } from '@gpunvme/nvme-spec/transport'
import type { DriverController, DriverUnderTest } from '../conformance/driver.js'
import type { ControllerEvent } from '../src/index.js'
import { CallsInProgress } from './calls-in-progress.js'
import { callLimitNs, closeLimitNs, openLimitNs, tooLong } from './limits.js'
import type { FaultKind } from './random-faults.js'
import type { Scenario } from './scenario.js'
import { SERIAL, World } from './world.js'

/** Maximum attempts to open a controller: faults may make `open` fail, but their number is limited. */
const MAX_OPENINGS = 12

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

interface Opened {
  readonly ctrl: DriverController
  /** Bytes that were allocated before, and not freed. */
  readonly bytesBefore: number
}

/**
 * The host of a run: opens and closes the controller through the driver, and checks that the driver gives its memory
 * back and leaves a lost controller alone.
 */
export class Host {
  readonly scenario: Scenario
  readonly world: World
  readonly calls: CallsInProgress
  /** Contents that the blocks may have. */
  readonly medium = new Medium()
  readonly tally = new Tally()
  /** Number of times that the controller was declared lost. */
  lost = 0
  /** Whether the driver supports the options of the scenario. */
  isApplicable = true
  private readonly driver: DriverUnderTest
  private unsettled: (() => void)[] = []
  private opened: Opened | undefined
  /** Number of register accesses when the controller was declared lost. */
  private accessesWhenLost: number | undefined

  constructor(scenario: Scenario, driver: DriverUnderTest, trace: TraceSink | undefined) {
    this.scenario = scenario
    this.driver = driver
    this.world = new World(scenario, trace)
    this.calls = new CallsInProgress(scenario, this.world)
  }

  /** The open controller. */
  get ctrl(): DriverController | undefined {
    return this.opened?.ctrl
  }

  note(event: ControllerEvent): void {
    if (event.kind === 'recovery') this.calls.noteStep(event)
    if (event.kind !== 'lost') return
    this.lost++
    this.accessesWhenLost ??= this.world.watched.accesses
  }

  /** Registers a function to call after the next reset, which ends all commands. */
  later(settle: () => void): void {
    this.unsettled.push(settle)
  }

  /** Checks a failed call: without faults, it may fail only if `mayFail` or if the controller is being closed. */
  refuse(what: string, error: unknown, mayFail = false): void {
    expectRefusal(what, error)
    if (mayFail || this.world.injectedCount > 0 || this.opened === undefined) return
    // Other calls may keep a small queue full until the call gives up.
    if ((error as GpuNvmeError).code === 'ERR_GPUNVME_QUEUE_FULL') return
    throw new RunFailure('outcome', `${what} failed although no fault occurred: ${String(error)}`)
  }

  /** Opens the controller. Retries after faults: unless the device was removed, an attempt must succeed. */
  async open(): Promise<void> {
    const { scenario, world, calls, tally } = this
    this.checkLost()
    for (let opening = 1; ; opening++) {
      const bytesBefore = world.watched.bytesInUse
      const startNs = world.clock.now()
      const { injectedCount } = world
      const options = {
        ...scenario.options,
        write: { serial: SERIAL, overwrite: EVERYTHING },
        ...(scenario.manages && { manage: true as const }),
      }
      const tried = this.driver.open(world.transport, options).then(
        (ctrl) => ({ ctrl }),
        (error: unknown) => ({ error }),
      )
      const result = await calls.finish('open', tried)
      const tookNs = world.clock.now() - startNs
      const limitNs = openLimitNs(scenario, world.injectedCount - injectedCount)
      if (tookNs > limitNs) throw tooLong('open', tookNs, limitNs)
      if ('ctrl' in result) {
        this.settle()
        const { ctrl } = result
        this.opened = { ctrl, bytesBefore }
        for (const option of ['shadowDoorbells', 'interrupts'] as const) {
          if (scenario.options[option]) tally.add(option)
        }
        if (scenario.watches && ctrl.events !== undefined) void this.watch(ctrl.events())
        return
      }
      if (result.error instanceof NotApplicable) {
        this.isApplicable = false
        return
      }
      expectRefusal('open', result.error)
      const keptBytes = world.watched.bytesInUse - bytesBefore
      if (this.mustGiveBack && keptBytes !== 0) {
        calls.fail(new RunFailure('leak', `open kept ${keptBytes} bytes: ${String(result.error)}`))
      }
      if (world.isRemoved) return
      if (opening === MAX_OPENINGS)
        throw new RunFailure('open', `open failed ${opening} times: ${String(result.error)}`)
      // Required if CSTS.RDY does not change, as the error states.
      await calls.finish('reset', world.transport.reset!('function'))
    }
  }

  /** Closes the controller while calls are in progress. Has no effect if it is not open. */
  async close(): Promise<void> {
    const { opened, scenario, world, calls, medium } = this
    if (opened === undefined) return
    this.opened = undefined
    const began = medium.tick()
    const startNs = world.clock.now()
    const before = calls.sofar()
    const closed = opened.ctrl.close().then(
      () => undefined,
      (error: unknown) => error,
    )
    await calls.join()
    const error = await calls.finish('close', closed)
    const tookNs = world.clock.now() - startNs
    const meanwhile = calls.since(before)
    const limitNs = callLimitNs(scenario, meanwhile) + closeLimitNs(scenario, meanwhile.injectedCount)
    if (tookNs > limitNs) throw tooLong('close', tookNs, limitNs)
    if (error !== undefined) expectRefusal('close', error)
    this.checkLost()
    if (lostBy(opened.ctrl) > 0) return
    const keptBytes = world.watched.bytesInUse - opened.bytesBefore
    if (keptBytes !== 0 && this.mustGiveBack) throw new RunFailure('leak', `close kept ${keptBytes} bytes`)
    if (error !== undefined) return
    this.settle()
    // A completed shutdown has flushed all data.
    if (!this.mustGiveBack || opened.ctrl.statistics === undefined) return
    for (const nsid of world.media.keys()) medium.flush(nsid, began)
  }

  /** Closes the controller and opens it again. */
  async reopen(): Promise<void> {
    await this.close()
    await this.open()
  }

  private get mustGiveBack(): boolean {
    const { injected } = this.world
    return UNSTOPPABLE.every((kind) => !(kind in injected))
  }

  private settle(): void {
    for (const settle of this.unsettled.splice(0)) settle()
  }

  /** Checks that no register was accessed after the controller was declared lost. */
  private checkLost(): void {
    const { accesses } = this.world.watched
    if (this.accessesWhenLost === undefined) return
    const more = accesses - this.accessesWhenLost
    this.accessesWhenLost = undefined
    if (more > 0) throw new RunFailure('lost', `${more} register accesses after the controller was declared lost`)
  }

  private async watch(events: AsyncIterable<ControllerEvent>): Promise<void> {
    for await (const event of events) {
      if (event.kind === 'missed') this.calls.fail(new RunFailure('outcome', 'events were missed'))
    }
  }
}

/** Returns how often a driver has declared its controller lost; 0 for a driver without statistics. */
export function lostBy({ statistics }: DriverController): number {
  return statistics?.recoveries.lost ?? 0
}

/** Checks that the error of a failed call is a GpuNvmeError. */
export function expectRefusal(what: string, error: unknown): void {
  if (error instanceof GpuNvmeError) return
  throw new RunFailure('outcome', `${what} ended with ${String(error)}`)
}
