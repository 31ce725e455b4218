import { EngineFailedError } from '@gpunvme/nvme-spec/engine'
import type {
  CommandOutcome,
  DmaMemory,
  ExecuteOptions,
  Outcome,
  OutcomeSummary,
  Plan,
} from '@gpunvme/nvme-spec/transport'
import { isSameNamespace } from '../bring-up/identity.js'
import type { Session } from '../bring-up/session.js'
import type { CommandQueue } from '../commands/command-queue.js'
import { ALL_ONES, DeviceLostError } from '../commands/device-lost.js'
import { CommandError, CommandTimeoutError } from '../commands/errors.js'
import type { OverdueCommand } from '../queues/queue-pair.js'
import type { Gate } from './gate.js'
import { PlanProgress } from './plan-progress.js'
import { RECOVERY_STEPS, type Recovery, type Verdict } from './recovery.js'
import type { RecoveryStep } from '../events/controller-event.js'
import {
  delay,
  hasCompletedLate,
  resendOf,
  withLateCompletion,
  type Resend,
  type ResendPolicy,
  type Resends,
} from './settle.js'

/** Maximum number of recoveries that a plan takes part in, however many of its commands never complete. */
const MAX_RECOVERIES = 8

/** Counters of a controller handle since it was opened. */
export interface Counters {
  /** Commands of plans that were given to an engine, including retries and replays. */
  commands: number
  /** Bytes that these commands moved. */
  bytes: number
  /** Commands sent again after a retryable status. */
  retries: number
  /** Commands sent again after a recovery. */
  replays: number
  /** Commands without a completion before their deadline. */
  timeouts: number
  /** Completions after the deadline that still determined the outcome of their command. */
  lateCompletions: number
}

type Failure = CommandOutcome['outcome']

/** Result of one attempt at a plan. */
interface PlanAttempt {
  readonly summary: OutcomeSummary
  readonly verdict?: Verdict | undefined
  /** Commands without a completion in time; some may have completed since. */
  readonly overdue: readonly OverdueCommand[]
}

/**
 * Executes plans and single commands to the end: sends them, has the controller recovered if a command gets no
 * completion, and sends commands again by the rule of `resendOf`.
 */
export class Executor {
  readonly counters: Counters = { commands: 0, bytes: 0, retries: 0, replays: 0, timeouts: 0, lateCompletions: 0 }
  private readonly session: Session
  private readonly gate: Gate
  private readonly recovery: Recovery
  private readonly isOpen: () => boolean

  /** @param isOpen whether the handle is neither closed nor lost: delays before retries end otherwise. */
  constructor(session: Session, gate: Gate, recovery: Recovery, isOpen: () => boolean) {
    this.session = session
    this.gate = gate
    this.recovery = recovery
    this.isOpen = isOpen
  }

  /**
   * Executes a plan. Reads without a completion are repeated after the controller was recovered; writes without one are
   * unknown, unless their completion arrives late. Resolves with one outcome per command, after at most
   * `MAX_RECOVERIES` recoveries.
   */
  async plan(plan: Plan, memory: DmaMemory, options: ExecuteOptions = {}): Promise<OutcomeSummary> {
    const { session, counters } = this
    const { clock } = session.transport
    const { signal, timeoutNs = session.options.commandTimeoutNs } = options
    const limits = options.timeoutNs === timeoutNs ? options : { ...options, timeoutNs }
    const planned = session.namespaceOf(plan.nsid)
    const startNs = clock.now()
    let progress: PlanProgress | undefined
    for (let recoveries = 0; ;) {
      const attempt = await this.attemptPlan(progress?.attempt ?? plan, memory, limits, progress)
      const { summary, verdict } = attempt
      counters.commands += summary.commands
      // Most plans end here.
      if (progress === undefined && summary.failures.length === 0) {
        counters.bytes += summary.bytes
        return summary
      }
      progress ??= new PlanProgress(plan)
      if (verdict !== undefined) recoveries++
      // A reset may have replaced the namespace.
      const now = session.namespaceOf(plan.nsid)
      const fits = planned !== undefined && now !== undefined && isSameNamespace(planned, now)
      const isOver = signal?.aborted === true || recoveries >= MAX_RECOVERIES || !fits
      const delayNs = this.settlePlan(progress, attempt, memory, timeoutNs, isOver || verdict === 'lost')
      if (progress.finished) return progress.summary(startNs, clock.now())
      await delay(clock, delayNs, () => signal?.aborted === true || !this.isOpen())
    }
  }

  /**
   * Sends a command that may be sent twice until it succeeds. An Admin command that has used up its time limit is not
   * sent again.
   * @throws CommandError, CommandTimeoutError, DeviceLostError.
   */
  repeat<T>(kind: 'admin' | 'io', run: (queue: CommandQueue) => Promise<T>): Promise<T> {
    return this.single(kind, run, undefined)
  }

  /**
   * Sends a command that may not be sent twice. Without a completion its outcome is unknown, unless the completion
   * arrives during recovery. Returns dword 0 of its completion.
   * @throws CommandError; CommandTimeoutError or DeviceLostError, after which the command may or may not have been
   *   executed.
   */
  once(kind: 'admin' | 'io', run: (queue: CommandQueue) => Promise<number>): Promise<number> {
    return this.single(kind, run, (dw0) => dw0)
  }

  /** @param late result of a command that succeeded late; undefined if the command may be sent again instead. */
  private async single<T>(
    kind: 'admin' | 'io',
    run: (queue: CommandQueue) => Promise<T>,
    late: ((dw0: number) => T) | undefined,
  ): Promise<T> {
    const { session } = this
    const resends = { retries: 0, replays: 0, delayedNs: 0 }
    for (;;) {
      const attempt = await this.attemptSingle(kind, run, resends.replays)
      if ('value' in attempt) return attempt.value
      const { error, verdict } = attempt
      const found = failureOf(error)
      if (found === undefined) throw error
      const overdue = isSilence(error) ? error.overdue : undefined
      let outcome = withLateCompletion(found, overdue)
      if (outcome.kind === 'success') {
        if (late !== undefined) return late(overdue!.completion!.dw0)
        // Its data was not taken.
        outcome = found
      }
      const isUsedUp = kind === 'admin' && error instanceof CommandTimeoutError
      if (isUsedUp || verdict === 'lost') throw error
      const timeoutNs = error instanceof DeviceLostError ? Infinity : (error as CommandError).timeoutNs
      const { retryDelaysNs } = session.identity
      const resend = resendOf(outcome, resends, {
        isRepeatable: late === undefined,
        timeoutNs,
        retryDelaysNs,
      })
      if (resend === undefined) throw error
      this.count(resend)
      await delay(session.transport.clock, resend.afterNs, () => !this.isOpen())
    }
  }

  /** Makes one attempt at a single command, and has the controller recovered if necessary. */
  private async attemptSingle<T>(
    kind: 'admin' | 'io',
    run: (queue: CommandQueue) => Promise<T>,
    replays: number,
  ): Promise<{ readonly value: T } | { readonly error: unknown; readonly verdict: Verdict | undefined }> {
    const { session, gate } = this
    const from = RECOVERY_STEPS[replays]!
    const needsPlanQueue = kind === 'io' && session.single === undefined
    const sent = needsPlanQueue
      ? await gate.alone(() => this.sendAlone(run, from))
      : await this.sendInside(kind, run, from)
    if ('value' in sent) return sent
    const { error } = sent
    const verdict = await sent.recovered
    if (isSilence(error) && error.overdue !== undefined && hasCompletedLate(error.overdue)) {
      this.counters.lateCompletions++
    }
    // The error of the queue has the first observation, and recovery may have helped.
    const isFinal = verdict === 'lost' && error instanceof DeviceLostError
    return { error: isFinal ? this.lost(error) : error, verdict }
  }

  /** Sends a command on its own queue, beside plans. */
  private async sendInside<T>(
    kind: 'admin' | 'io',
    run: (queue: CommandQueue) => Promise<T>,
    from: RecoveryStep,
  ): Promise<Sent<T>> {
    const { session, gate, recovery } = this
    await gate.enter()
    try {
      this.checkPresent()
      const queue = kind === 'admin' ? session.admin : session.single!
      // Reported before the gate is left, so that no other command enters in between.
      return await this.send(
        () => run(queue),
        (overdue) => recovery.report({ overdue, from }),
      )
    } finally {
      gate.leave()
    }
  }

  /** Sends an I/O command on the only I/O queue, which plans use otherwise. Requires exclusive access. */
  private async sendAlone<T>(run: (queue: CommandQueue) => Promise<T>, from: RecoveryStep): Promise<Sent<T>> {
    const { session, recovery } = this
    await recovery.catchUp()
    this.checkPresent()
    session.detachEngine()
    let sent: Sent<T> | undefined
    try {
      const queue = session.borrowSingle()
      sent = await this.send(
        () => run(queue),
        (overdue) => recovery.reportAlone({ overdue, from }),
      )
      if ('recovered' in sent) await sent.recovered
      return sent
    } finally {
      // A recovery attaches the engine itself; after anything else, plans must continue.
      if (sent === undefined || !('recovered' in sent)) session.attachEngine()
    }
  }

  private async send<T>(
    run: () => Promise<T>,
    report: (overdue: readonly OverdueCommand[]) => Promise<Verdict>,
  ): Promise<Sent<T>> {
    try {
      return { value: await run() }
    } catch (error) {
      if (!isSilence(error)) return { error }
      const overdue = error.overdue === undefined ? [] : [error.overdue]
      this.counters.timeouts += overdue.length
      return { error, recovered: report(overdue) }
    }
  }

  /** Makes one attempt at a plan, and has the controller recovered if necessary. */
  private async attemptPlan(
    plan: Plan,
    memory: DmaMemory,
    options: ExecuteOptions,
    progress: PlanProgress | undefined,
  ): Promise<PlanAttempt> {
    const { session, gate, recovery, counters } = this
    const waiting = gate.enter()
    if (waiting !== undefined) await waiting
    let summary: OutcomeSummary
    let overdue: readonly OverdueCommand[] = []
    let recovered: Promise<Verdict> | undefined
    try {
      if (session.transport.bar.isCut) return { summary: nothingOf(plan, this.loss), verdict: 'lost', overdue }
      summary = await session.engine.execute(plan, memory, options)
      const { failures } = summary
      if (failures.length > 0) {
        // A changed namespace may be the reason, and a plan that fails at once gives the engine no time to poll for the
        // event.
        if (!failures.some(({ outcome }) => outcome.kind === 'device-lost')) session.admin.poll()
        const silent = failures.filter(({ outcome }) => outcome.kind === 'timeout' || outcome.kind === 'device-lost')
        overdue = silent.map(({ qid, cid }) => ({ qid, cid }))
        counters.timeouts += overdue.length
        const isStopped =
          failures.some(({ outcome }) => outcome.kind === 'not-submitted') && options.signal?.aborted !== true
        // The first step: those that failed before for one of these commands are skipped.
        const from = RECOVERY_STEPS[progress?.mostReplaysOf(silent) ?? 0]!
        // Reported before the gate is left, so that no other command enters in between.
        if (overdue.length > 0 || isStopped) recovered = recovery.report({ overdue, from })
      }
    } catch (error) {
      if (error instanceof EngineFailedError) void recovery.report({ overdue, transportFailed: error })
      throw error
    } finally {
      gate.leave()
    }
    if (recovered === undefined) return { summary, overdue }
    const verdict = await recovered
    counters.lateCompletions += overdue.filter(hasCompletedLate).length
    return { summary, verdict, overdue }
  }

  /**
   * Settles the commands that did not succeed in an attempt, or makes them part of the next one. Returns the delay
   * before it.
   * @param isOver whether nothing more is sent.
   */
  private settlePlan(
    progress: PlanProgress,
    { summary, verdict, overdue }: PlanAttempt,
    memory: DmaMemory,
    timeoutNs: number,
    isOver: boolean,
  ): number {
    const { counters } = this
    const { retryDelaysNs } = this.session.identity
    const isRepeatable = progress.plan.operation === 'read'
    const policy: ResendPolicy = { isRepeatable, timeoutNs, retryDelaysNs }
    const bytesBefore = progress.bytes
    let delayNs = 0
    const settle = (failure: CommandOutcome, resends: Resends): 'again' | Outcome => {
      const late = overdue.find(({ qid, cid }) => qid === failure.qid && cid === failure.cid)
      const outcome = withLateCompletion(failure.outcome, late)
      if (outcome.kind === 'success') return outcome
      const resend = isOver ? undefined : resendOf(outcome, resends, policy)
      if (resend !== undefined) {
        this.count(resend)
        delayNs = Math.max(delayNs, resend.afterNs)
        return 'again'
      }
      if (outcome.kind !== 'timeout' && outcome.kind !== 'device-lost') return outcome
      if (verdict === 'lost') return this.loss
      return isRepeatable ? outcome : { kind: 'unknown', afterNs: outcome.kind === 'timeout' ? outcome.afterNs : 0 }
    }
    progress.next(summary, settle, memory)
    // Includes commands that succeeded late, which the summary reports as failures.
    counters.bytes += progress.bytes - bytesBefore
    return delayNs
  }

  private count({ as }: Resend): void {
    if (as === 'retry') this.counters.retries++
    if (as === 'replay') this.counters.replays++
  }

  /** @throws DeviceLostError */
  private checkPresent(): void {
    if (this.session.transport.bar.isCut) throw this.lost()
  }

  private lost(cause?: unknown): DeviceLostError {
    const { csts, reason } = this.loss
    return new DeviceLostError(this.session.transport.name, csts, reason, cause)
  }

  /** The loss. If the controller was closed meanwhile instead, its registers are not read either. */
  private get loss(): Failure & { readonly kind: 'device-lost' } {
    return { kind: 'device-lost', ...(this.recovery.loss ?? { csts: ALL_ONES }) }
  }
}

/** Result of sending a single command; `recovered` if a recovery is in progress. */
type Sent<T> = { readonly value: T } | { readonly error: unknown; readonly recovered?: Promise<Verdict> }

/** Returns whether an error means that a command got no completion. */
function isSilence(error: unknown): error is CommandTimeoutError | DeviceLostError {
  return error instanceof CommandTimeoutError || error instanceof DeviceLostError
}

/** Returns the outcome that the error of a single command reports; undefined for other errors. */
function failureOf(error: unknown): Failure | undefined {
  if (error instanceof CommandError) {
    const { sct, sc, dnr, crd, more } = error
    return { kind: 'status', sct, sc, dnr, crd, more }
  }
  if (error instanceof CommandTimeoutError) return { kind: 'timeout', afterNs: error.timeoutNs }
  return error instanceof DeviceLostError ? { kind: 'device-lost', csts: error.csts } : undefined
}

function nothingOf(plan: Plan, outcome: Failure): OutcomeSummary {
  const failures = Array.from({ length: plan.commands }, (_, command) => ({ command, qid: -1, cid: -1, outcome }))
  return { commands: plan.commands, succeeded: 0, bytes: 0, failures, startNs: 0, endNs: 0 }
}
