import { EngineFailedError } from '@gpunvme/nvme-spec/engine'
import type {
  CommandOutcome,
  DmaMemory,
  ExecuteOptions,
  Outcome,
  OutcomeSummary,
  Plan,
} from '@gpunvme/nvme-spec/transport'
import { isSameNamespace, type NamespaceIdentity } from '../bring-up/identity.js'
import type { Session } from '../bring-up/session.js'
import type { OverdueCommand } from '../queues/queue-pair.js'
import { countResend, type Counters } from './counters.js'
import type { Gate } from '../recovery/gate.js'
import { PlanProgress } from './plan-progress.js'
import { RECOVERY_STEPS, type Recovery, type Verdict } from '../recovery/recovery.js'
import { delay, hasCompletedLate, resendOf, withLateCompletion, type ResendPolicy, type Resends } from './settle.js'

/** Maximum number of recoveries that a plan takes part in, however many of its commands never complete. */
const MAX_RECOVERIES = 8

/** Result of one attempt at a plan. */
interface PlanAttempt {
  readonly summary: OutcomeSummary
  readonly verdict?: Verdict | undefined
  /** Commands without a completion in time; some may have completed since. */
  readonly overdue: readonly OverdueCommand[]
}

/**
 * Executes plans to the end: passes them to the engine, requests a recovery if a command gets no completion, and sends
 * commands again as `resendOf` decides.
 */
export class PlanExecutor {
  private readonly session: Session
  private readonly gate: Gate
  private readonly recovery: Recovery
  private readonly counters: Counters
  private readonly isOpen: () => boolean

  /** @param isOpen whether the handle is neither closed nor lost: delays before retries end otherwise. */
  constructor(session: Session, gate: Gate, recovery: Recovery, counters: Counters, isOpen: () => boolean) {
    this.session = session
    this.gate = gate
    this.recovery = recovery
    this.counters = counters
    this.isOpen = isOpen
  }

  /**
   * Executes a plan. Reads without a completion are repeated after the recovery. The outcome of a write without a
   * completion is unknown, unless the completion arrives late. Resolves with one outcome per command, after at most
   * `MAX_RECOVERIES` recoveries.
   */
  async execute(plan: Plan, memory: DmaMemory, options: ExecuteOptions = {}): Promise<OutcomeSummary> {
    const { session, counters } = this
    const { clock } = session.transport
    const { signal, timeoutNs = session.options.commandTimeoutNs } = options
    const limits = options.timeoutNs === timeoutNs ? options : { ...options, timeoutNs }
    const planned = session.namespaceOf(plan.nsid)
    const startNs = clock.now()
    let progress: PlanProgress | undefined
    for (let recoveries = 0; ;) {
      const attempt = await this.attempt(progress?.attempt ?? plan, memory, limits, progress, planned)
      const { summary, verdict } = attempt
      counters.commands += summary.commands
      // Most plans end here.
      if (progress === undefined && summary.failures.length === 0) {
        counters.bytes += summary.bytes
        return summary
      }
      progress ??= new PlanProgress(plan)
      if (verdict !== undefined) recoveries++
      const isOver = signal?.aborted === true || recoveries >= MAX_RECOVERIES || !this.fits(planned, plan.nsid)
      const delayNs = this.settle(progress, attempt, memory, timeoutNs, isOver || verdict === 'lost')
      if (progress.finished) return progress.summary(startNs, clock.now())
      await delay(clock, delayNs, () => signal?.aborted === true || !this.isOpen())
    }
  }

  /** Makes one attempt at a plan, and requests a recovery if necessary. */
  private async attempt(
    plan: Plan,
    memory: DmaMemory,
    options: ExecuteOptions,
    progress: PlanProgress | undefined,
    planned: NamespaceIdentity | undefined,
  ): Promise<PlanAttempt> {
    const { session, gate, recovery, counters } = this
    // Also if the gate is open: a plan that is aborted in the turn of its call is not sent.
    await gate.enter()
    let summary: OutcomeSummary
    let overdue: readonly OverdueCommand[] = []
    let recovered: Promise<Verdict> | undefined
    try {
      if (session.transport.bar.isCut)
        return { summary: nothingOf(plan, recovery.lostOutcome), verdict: 'lost', overdue }
      // Checked after the gate: a reset may have completed while the plan waited there.
      if (!this.fits(planned, plan.nsid)) return { summary: nothingOf(plan, { kind: 'not-submitted' }), overdue }
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
        const from = RECOVERY_STEPS[progress?.maxReplaysOf(silent) ?? 0]!
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

  /** Returns whether a plan that was made for `planned` may still be sent: a reset may have replaced the namespace. */
  private fits(planned: NamespaceIdentity | undefined, nsid: number): boolean {
    const now = this.session.namespaceOf(nsid)
    if (planned === undefined || now === undefined || now.unsupported !== undefined) return false
    if (now.outdated === true) return false
    // The objects are the same until the namespaces are identified again.
    return now === planned || isSameNamespace(planned, now)
  }

  /**
   * Settles the commands that did not succeed in an attempt, or makes them part of the next one. Returns the delay
   * before it.
   * @param isOver whether nothing more is sent.
   */
  private settle(
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
        countResend(counters, resend)
        delayNs = Math.max(delayNs, resend.afterNs)
        return 'again'
      }
      if (outcome.kind !== 'timeout' && outcome.kind !== 'device-lost') return outcome
      if (verdict === 'lost') return this.recovery.lostOutcome
      return isRepeatable ? outcome : { kind: 'unknown', afterNs: outcome.kind === 'timeout' ? outcome.afterNs : 0 }
    }
    progress.next(summary, settle, memory)
    // Includes commands that succeeded late, which the summary reports as failures.
    counters.bytes += progress.bytes - bytesBefore
    return delayNs
  }
}

function nothingOf(plan: Plan, outcome: CommandOutcome['outcome']): OutcomeSummary {
  const failures = Array.from({ length: plan.commands }, (_, command) => ({ command, qid: -1, cid: -1, outcome }))
  return { commands: plan.commands, succeeded: 0, bytes: 0, failures, startNs: 0, endNs: 0 }
}
