import { Abort, CSTS } from '@gpunvme/nvme-spec'
import { ALL_ONES, DeviceLostError, type Loss } from '../commands/device-lost.js'
import { FUNCTION_RESET_NS, resetFunction } from '../bring-up/function-reset.js'
import type { Session } from '../bring-up/session.js'
import type { RecoveryStep } from '../events/controller-event.js'
import type { EventHub } from '../events/event-hub.js'
import { isReadable } from '../memory/reachable.js'
import type { OverdueCommand } from '../queues/queue-pair.js'
import { NS_PER_MS } from '../wait.js'
import { Salvage } from '../queues/salvage.js'
import type { Gate } from './gate.js'

/** From the mildest to the strongest. Each is tried only if the previous ones did not account for every command. */
export const RECOVERY_STEPS: readonly RecoveryStep[] = [
  'abort',
  'recreate-queues',
  'controller-reset',
  'function-reset',
]

/** Time limits of the steps of a recovery, in nanoseconds. */
export interface RecoveryLimits {
  /** Aborting all overdue commands, and polling for their completions. Default: 1 s. */
  readonly abortNs: number
  /** Deleting and creating the queues of overdue commands. Default: 5 s. */
  readonly queuesNs: number
  /** Each reset with the bring-up after it, in addition to the controller's own time-out of CSTS.RDY. Default: 10 s. */
  readonly restartNs: number
}

/** Default time limits of the steps of a recovery. */
export const RECOVERY_LIMITS: RecoveryLimits = {
  abortNs: 1_000 * NS_PER_MS,
  queuesNs: 5_000 * NS_PER_MS,
  restartNs: 10_000 * NS_PER_MS,
}

/** Fills in the defaults; a limit of undefined counts as not given. */
export function recoveryLimits({ abortNs, queuesNs, restartNs }: Partial<RecoveryLimits> = {}): RecoveryLimits {
  return {
    abortNs: abortNs ?? RECOVERY_LIMITS.abortNs,
    queuesNs: queuesNs ?? RECOVERY_LIMITS.queuesNs,
    restartNs: restartNs ?? RECOVERY_LIMITS.restartNs,
  }
}

/** A failure, as observed by its reporter. */
export interface Incident {
  readonly overdue: readonly OverdueCommand[]
  /** First step to take; earlier ones failed before for the same command. */
  readonly from?: RecoveryStep
  /** Registers or memory cannot be accessed at all. */
  readonly transportFailed?: unknown
}

export type Verdict = 'recovered' | 'lost'

/**
 * Recovers a controller after commands got no completion. Ends with every command accounted for and a usable
 * controller, or declares the controller lost. Base 2.1 §9 leaves the order of the steps to the host.
 */
export class Recovery {
  /** Number of times each step was taken, and of losses. */
  readonly counts: Record<RecoveryStep | 'lost', number> = {
    abort: 0,
    'recreate-queues': 0,
    'controller-reset': 0,
    'function-reset': 0,
    lost: 0,
  }
  /** Why the controller was lost, if it was. */
  loss: Loss | undefined
  private readonly session: Session
  private readonly gate: Gate
  private readonly hub: EventHub
  private readonly limits: RecoveryLimits
  private readonly onLost: () => void
  /** Last value of CSTS that `look` read. */
  private csts = 0
  private incidents: Incident[] = []
  private running: Promise<Verdict> | undefined

  /** @param onLost called when the controller is lost. */
  constructor(session: Session, gate: Gate, limits: RecoveryLimits, onLost: () => void) {
    this.session = session
    this.gate = gate
    this.hub = session.hub
    this.limits = limits
    this.onLost = onLost
  }

  /**
   * Sum of the time limits of all steps. Commands in flight are waited for before the first step, each until its own
   * deadline.
   */
  get boundNs(): number {
    const { abortNs, queuesNs, restartNs } = this.limits
    // A reset waits for CSTS.RDY three times: that it settles, falls, and rises.
    const { readyTimeoutNs, delayBeforeReadyCheckNs } = this.session.limits
    const resetNs = 3 * readyTimeoutNs + delayBeforeReadyCheckNs + restartNs
    return abortNs + queuesNs + 2 * resetNs + FUNCTION_RESET_NS
  }

  /** Outcome of commands after the loss. If the controller was closed instead, its registers are not read either. */
  get lostOutcome(): { readonly kind: 'device-lost'; readonly csts: number; readonly reason?: string } {
    return { kind: 'device-lost', ...(this.loss ?? { csts: ALL_ONES }) }
  }

  /** Returns the error of commands after the loss. */
  lostError(cause?: unknown): DeviceLostError {
    const { csts, reason } = this.lostOutcome
    return new DeviceLostError(this.session.transport.name, csts, reason, cause)
  }

  /**
   * Reports an incident; resolves when it was handled. The gate closes at once. Reports of commands that are still
   * inside belong to the same recovery.
   */
  report(incident: Incident): Promise<Verdict> {
    if (this.session.transport.bar.isCut) return Promise.resolve('lost')
    // The reporter may free its memory before the controller is declared lost, while the controller may still write to
    // it.
    if (incident.transportFailed !== undefined) this.session.lent.quarantine()
    this.incidents.push(incident)
    // Plans in progress could otherwise delay the first step indefinitely.
    if (incident.overdue.length > 0 && this.session.isAttached) this.session.engine.halt?.()
    this.running ??= this.gate.alone(async () => {
      // If no command is inside, this runs before `running` is set, which `recover` clears.
      await Promise.resolve()
      return this.recover()
    })
    return this.running
  }

  /**
   * Handles incidents that were reported while the caller waited for exclusive access: until then, the queues still
   * contain the overdue commands.
   */
  async catchUp(): Promise<void> {
    if (this.incidents.length > 0) await this.recover()
  }

  /** Same as `report`, for a caller with exclusive access. */
  reportAlone(incident: Incident): Promise<Verdict> {
    this.incidents.push(incident)
    return this.recover()
  }

  private async recover(): Promise<Verdict> {
    const incidents = this.incidents.splice(0)
    this.running = undefined
    if (this.session.transport.bar.isCut) return 'lost'
    // An earlier holder of exclusive access has handled them.
    if (incidents.length === 0) return 'recovered'
    const overdue = incidents.flatMap((incident) => incident.overdue)
    const failed = incidents.find(({ transportFailed }) => transportFailed !== undefined)
    try {
      this.session.detachEngine()
      if (failed !== undefined) return this.lose(`the transport failed: ${textOf(failed.transportFailed)}`)
      const wished = incidents.reduce((max, { from = 'abort' }) => Math.max(max, RECOVERY_STEPS.indexOf(from)), 0)
      const verdict = await this.climb(wished, overdue)
      if (verdict === 'recovered') this.session.attachEngine()
      return verdict
    } catch (error) {
      // After any other error, the state is unknown, so the controller is not used any more.
      return this.lose(textOf(error))
    }
  }

  private async climb(from: number, overdue: readonly OverdueCommand[]): Promise<Verdict> {
    const reasons: string[] = []
    for (let rung = Math.max(from, this.look()); rung < RECOVERY_STEPS.length; rung = Math.max(rung + 1, this.look())) {
      const step = RECOVERY_STEPS[rung]!
      const outcome = await this.take(step, overdue)
      if (outcome === undefined) return 'recovered'
      reasons.push(`${step}: ${outcome.split('\n')[0]}`)
    }
    if (this.csts === ALL_ONES) reasons.push('every register reads all ones')
    return this.lose(reasons.join('; '), this.csts)
  }

  /** Returns the mildest step that is useful in the controller's current state. */
  private look(): number {
    const { registers, transport } = this.session
    const csts = (this.csts = registers.read(CSTS))
    if (csts === ALL_ONES) {
      // Registers read all ones while configuration space responds: memory decoding is off, or the function is in
      // reset.
      const onTheBus = transport.underlying.config !== undefined && transport.underlying.config.read(0, 2) !== 0xffff
      return RECOVERY_STEPS.length - (onTheBus ? 1 : 0)
    }
    // A controller that failed or was reset externally has no queues for an Abort.
    if (CSTS.CFS.of(csts) === 1 || CSTS.RDY.of(csts) === 0) return RECOVERY_STEPS.indexOf('controller-reset')
    return 0
  }

  /**
   * Takes one step. Returns undefined if every command is accounted for and the controller works, otherwise the reason.
   */
  private async take(step: RecoveryStep, overdue: readonly OverdueCommand[]): Promise<string | undefined> {
    const { clock } = this.session.transport
    const startNs = clock.now()
    const report = (result: 'begun' | 'succeeded' | 'insufficient' | 'failed' | 'unavailable', reason?: string) => {
      const timeNs = clock.now()
      const why = reason === undefined ? {} : { reason }
      this.hub.emit({ kind: 'recovery', timeNs, step, result, tookNs: timeNs - startNs, ...why })
      return reason
    }
    if (step === 'function-reset' && this.session.transport.underlying.reset === undefined) {
      return report('unavailable', 'this transport cannot reset the function')
    }
    if (step === 'abort' && this.isBlindTo(overdue)) {
      // Completions of aborted commands could not be read. The next step needs none.
      return report('unavailable', 'completions in memory that has neither a view nor copyOut() cannot be read')
    }
    this.counts[step]++
    report('begun')
    try {
      if (await this.perform(step, overdue, startNs)) return report('succeeded')
      return report('insufficient', 'not every command is accounted for')
    } catch (error) {
      return report('failed', textOf(error))
    }
  }

  private async perform(step: RecoveryStep, overdue: readonly OverdueCommand[], startNs: number): Promise<boolean> {
    const { session, limits } = this
    switch (step) {
      case 'abort':
        return this.abort(overdue, startNs + limits.abortNs)
      case 'recreate-queues':
        return this.recreateQueues(overdue, startNs + limits.queuesNs)
      case 'controller-reset':
        await session.stop()
        await session.start(limits.restartNs)
        return true
      case 'function-reset':
        await resetFunction(session.transport)
        await session.stop()
        await session.start(limits.restartNs)
        return true
    }
  }

  private isBlindTo(overdue: readonly OverdueCommand[]): boolean {
    const unreadable = this.session.queues.forPlans.filter(({ cq }) => !isReadable(cq.memory))
    return overdue.some(({ qid }) => unreadable.some((queue) => queue.qid === qid))
  }

  /** Returns true if all of them have completed, aborted or otherwise. */
  private async abort(overdue: readonly OverdueCommand[], deadlineNs: number): Promise<boolean> {
    const { session } = this
    const { clock, bar } = session.transport
    const unanswered = () => overdue.filter(({ completion }) => completion === undefined)
    const salvage = new Salvage(session.queues.forPlans, bar, overdue)
    const poll = () => {
      salvage.poll()
      session.queues.pollSingle()
    }
    poll()
    for (const { qid, cid } of unanswered()) {
      const leftNs = deadlineNs - clock.now()
      if (leftNs <= 0) return false
      await session.admin.execute(Abort, { SQID: qid, ABORTED_CID: cid }, { timeoutNs: leftNs })
      poll()
    }
    while (unanswered().length > 0) {
      if (clock.now() >= deadlineNs) return false
      await clock.idle(deadlineNs)
      session.admin.poll()
      poll()
    }
    return true
  }

  /** Returns false if an overdue command was on the admin queue, which only a reset recreates. */
  private async recreateQueues(overdue: readonly OverdueCommand[], deadlineNs: number): Promise<boolean> {
    const { session } = this
    const missing = overdue.filter(({ completion }) => completion === undefined)
    const hurt = new Set(missing.map(({ qid }) => qid))
    const cqs = new Set(session.queues.pairs.filter(({ qid }) => hurt.has(qid)).map(({ cq }) => cq))
    for (const cq of cqs) await session.queues.recreate(session.admin, cq, missing, deadlineNs)
    return !hurt.has(0)
  }

  /** Returns CSTS; all ones if the transport cannot even read it. */
  private lastStatus(): number {
    try {
      return this.session.registers.read(CSTS)
    } catch {
      return ALL_ONES
    }
  }

  private lose(reason: string, csts = this.lastStatus()): Verdict {
    const { session, hub } = this
    this.counts.lost++
    this.loss = { csts, reason }
    session.abandon()
    hub.emit({ kind: 'lost', timeNs: session.transport.clock.now(), csts, reason })
    this.onLost()
    return 'lost'
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
