import { Abort, CSTS } from '@gpunvme/nvme-spec'
import { ALL_ONES, DeviceLostError, type Loss } from '../bring-up/device-lost.js'
import { FUNCTION_RESET_NS, resetFunction } from '../bring-up/function-reset.js'
import type { Session } from '../bring-up/session.js'
import type { EventHub } from '../events/event-hub.js'
import { isReadable } from '../memory/reachable.js'
import type { OverdueCommand } from '../queues/overdue.js'
import { NS_PER_MS } from '../wait.js'
import { Salvage } from './salvage.js'
import type { Gate } from './gate.js'

/** From the mildest to the strongest; each is tried only when those before it did not account for every command. */
export const RECOVERY_STEPS = ['abort', 'recreate-queues', 'controller-reset', 'function-reset'] as const
export type RecoveryStep = (typeof RECOVERY_STEPS)[number]

export interface RecoveryLimits {
  /** For aborting all overdue commands, and for what they still answer. 1 s when not given. */
  readonly abortNs: number
  /** For deleting and creating the queues that they were sent to. 5 s when not given. */
  readonly queuesNs: number
  /** For each reset and the whole bring-up after it, beside the time the controller states for CSTS.RDY. 10 s when not given. */
  readonly restartNs: number
}

export const RECOVERY_LIMITS: RecoveryLimits = {
  abortNs: 1_000 * NS_PER_MS,
  queuesNs: 5_000 * NS_PER_MS,
  restartNs: 10_000 * NS_PER_MS,
}

/** Each limit by itself: one that is given as undefined is not given. */
export function recoveryLimits({ abortNs, queuesNs, restartNs }: Partial<RecoveryLimits> = {}): RecoveryLimits {
  return {
    abortNs: abortNs ?? RECOVERY_LIMITS.abortNs,
    queuesNs: queuesNs ?? RECOVERY_LIMITS.queuesNs,
    restartNs: restartNs ?? RECOVERY_LIMITS.restartNs,
  }
}

/** What went wrong, as far as whoever noticed knows. */
export interface Incident {
  readonly overdue: readonly OverdueCommand[]
  /** The step to begin with: what was tried in vain for the same command is not tried again. */
  readonly from?: RecoveryStep
  /** Registers or memory cannot be accessed at all. */
  readonly transportFailed?: unknown
}

export type Verdict = 'recovered' | 'lost'

/** Whoever uses the queues while there is no recovery. */
export interface QueueUsers {
  /** Gives the queues back; nobody stages anything any more. */
  suspend(): void
  /** The queues are as good as new. */
  resume(): void
  /** They will never be again. */
  abandon(error: DeviceLostError): void
}

/**
 * The ladder that a controller is brought back by after commands got no answer. It ends with every one of them accounted
 * for and the controller usable, or with the controller declared lost. Base 2.1 §9 leaves the order to the host; this
 * one is from the mildest to the strongest.
 */
export class Recovery {
  /** How often each step was taken, and how often a controller was lost. */
  readonly counts: Record<RecoveryStep | 'lost', number> = {
    abort: 0,
    'recreate-queues': 0,
    'controller-reset': 0,
    'function-reset': 0,
    lost: 0,
  }
  /** What the controller was lost for, once it is. */
  loss: Loss | undefined
  private readonly session: Session
  private readonly gate: Gate
  private readonly hub: EventHub
  private readonly limits: RecoveryLimits
  private readonly users: QueueUsers
  /** Last value of CSTS that `look` read. */
  private csts = 0
  private incidents: Incident[] = []
  private running: Promise<Verdict> | undefined

  constructor(session: Session, gate: Gate, hub: EventHub, limits: RecoveryLimits, users: QueueUsers) {
    this.session = session
    this.gate = gate
    this.hub = hub
    this.limits = limits
    this.users = users
  }

  /**
   * The longest that the steps of a recovery may take, when every one is taken and fails. Before the first, what is under
   * way is waited for, each command until its own deadline.
   */
  get boundNs(): number {
    const { abortNs, queuesNs, restartNs } = this.limits
    // A reset waits for CSTS.RDY three times: that it settles, falls, and rises.
    const { readyTimeoutNs, delayBeforeReadyCheckNs } = this.session.limits
    const resetNs = 3 * readyTimeoutNs + delayBeforeReadyCheckNs + restartNs
    return abortNs + queuesNs + 2 * resetNs + FUNCTION_RESET_NS
  }

  /**
   * Reports an incident, and resolves when it was dealt with. Nobody enters the gate from the moment of the call; who
   * reports while others are still inside is part of the same recovery.
   */
  report(incident: Incident): Promise<Verdict> {
    if (this.session.transport.bar.isCut) return Promise.resolve('lost')
    // Whoever reports it may free its memory before the controller is declared lost, and the controller may still write.
    if (incident.transportFailed !== undefined) this.session.lent.withhold()
    this.incidents.push(incident)
    this.running ??= this.gate.alone(() => this.recover())
    return this.running
  }

  /**
   * For whoever is alone behind the gate: what was reported while it waited for that comes first, since until then the
   * queues still hold what got no answer.
   */
  async catchUp(): Promise<void> {
    if (this.incidents.length > 0) await this.recover()
  }

  /** As `report`, for whoever is alone behind the gate already. */
  reportAlone(incident: Incident): Promise<Verdict> {
    this.incidents.push(incident)
    return this.recover()
  }

  private async recover(): Promise<Verdict> {
    const incidents = this.incidents.splice(0)
    this.running = undefined
    if (this.session.transport.bar.isCut) return 'lost'
    // Whoever was alone behind the gate before has dealt with them.
    if (incidents.length === 0) return 'recovered'
    const overdue = incidents.flatMap((incident) => incident.overdue)
    const failed = incidents.find(({ transportFailed }) => transportFailed !== undefined)
    try {
      this.users.suspend()
      if (failed !== undefined) return this.lose(`the transport failed: ${textOf(failed.transportFailed)}`)
      const wished = incidents.reduce((most, { from = 'abort' }) => Math.max(most, RECOVERY_STEPS.indexOf(from)), 0)
      const verdict = await this.climb(wished, overdue)
      if (verdict === 'recovered') this.users.resume()
      return verdict
    } catch (error) {
      // Whatever else happens here: what cannot be said to be well is not used any more.
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

  /** The mildest step that makes sense with the controller as it is. */
  private look(): number {
    const { registers, transport } = this.session
    const csts = (this.csts = registers.read(CSTS))
    if (csts === ALL_ONES) {
      // Registers that read all ones while configuration space answers: memory decoding is off, or the function resets.
      const onTheBus = transport.whole.config !== undefined && transport.whole.config.read(0, 2) !== 0xffff
      return RECOVERY_STEPS.length - (onTheBus ? 1 : 0)
    }
    // A controller that failed, or that somebody else reset, has no queues that a command could be aborted on.
    if (CSTS.CFS.of(csts) === 1 || CSTS.RDY.of(csts) === 0) return RECOVERY_STEPS.indexOf('controller-reset')
    return 0
  }

  /** Takes one step. Undefined: every command is accounted for, and the controller is well; otherwise why not. */
  private async take(step: RecoveryStep, overdue: readonly OverdueCommand[]): Promise<string | undefined> {
    const { clock } = this.session.transport
    const startNs = clock.now()
    const tell = (result: 'begun' | 'succeeded' | 'insufficient' | 'failed' | 'unavailable', reason?: string) => {
      const timeNs = clock.now()
      const why = reason === undefined ? {} : { reason }
      this.hub.emit({ kind: 'recovery', timeNs, step, result, tookNs: timeNs - startNs, ...why })
      return reason
    }
    if (step === 'function-reset' && this.session.transport.whole.reset === undefined) {
      return tell('unavailable', 'this transport cannot reset the function')
    }
    if (step === 'abort' && this.isBlindTo(overdue)) {
      // That a command was aborted would be said where nobody reads it. The next step needs no completion.
      return tell('unavailable', 'completions in memory that has neither a view nor copyOut() cannot be read')
    }
    this.counts[step]++
    tell('begun')
    try {
      if (await this.perform(step, overdue, startNs)) return tell('succeeded')
      return tell('insufficient', 'not every command is accounted for')
    } catch (error) {
      return tell('failed', textOf(error))
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
    const unreadable = this.session.engineQueues.filter(({ cq }) => !isReadable(cq.memory))
    return overdue.some(({ qid }) => unreadable.some((queue) => queue.qid === qid))
  }

  /** True when each of them has completed, as aborted or otherwise. */
  private async abort(overdue: readonly OverdueCommand[], deadlineNs: number): Promise<boolean> {
    const { session } = this
    const { clock, bar } = session.transport
    const unanswered = () => overdue.filter(({ completion }) => completion === undefined)
    const salvage = new Salvage(session.engineQueues, bar, overdue)
    const poll = () => {
      salvage.poll()
      session.pollSingle()
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

  /** True when no overdue command was of the admin queue, which only a reset recreates. */
  private async recreateQueues(overdue: readonly OverdueCommand[], deadlineNs: number): Promise<boolean> {
    const { session } = this
    const missing = overdue.filter(({ completion }) => completion === undefined)
    const hurt = new Set(missing.map(({ qid }) => qid))
    const cqs = new Set(session.pairs.filter(({ qid }) => hurt.has(qid)).map(({ cq }) => cq))
    for (const cq of cqs) await session.recreate(cq, missing, deadlineNs)
    return !hurt.has(0)
  }

  /** CSTS, of a transport that may not even be able to read it. */
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
    this.users.abandon(new DeviceLostError(session.transport.name, csts, reason))
    return 'lost'
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
