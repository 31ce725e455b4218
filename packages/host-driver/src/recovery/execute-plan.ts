import { EngineFailedError, statusOutcome } from '@gpunvme/nvme-spec/engine'
import type {
  CommandOutcome,
  DmaMemory,
  Engine,
  ExecuteOptions,
  Outcome,
  OutcomeSummary,
  Plan,
} from '@gpunvme/nvme-spec/transport'
import { ALL_ONES } from '../commands/device-lost.js'
import type { Session } from '../bring-up/session.js'
import type { OverdueCommand } from '../queues/queue-pair.js'
import type { Counters } from '../statistics.js'
import { completedLate, wasAborted } from './aborted.js'
import type { Gate } from './gate.js'
import { PlanProgress } from './plan-progress.js'
import { RECOVERY_STEPS, type Incident, type Recovery, type Verdict } from './recovery.js'
import { delay, MOST_REPLAYS, retryDelayNs } from './retry.js'

/** Maximum number of recoveries that a plan takes part in, however many of its commands never complete. */
const MOST_RECOVERIES = 8

/** What the execution of a plan needs. */
export interface PlanExecution {
  readonly engine: Engine
  readonly session: Session
  readonly gate: Gate
  readonly recovery: Recovery
  readonly counters: Counters
  /** Whether the controller is neither closed nor lost. */
  isOpen(): boolean
  /** Whether the plan still fits its namespace, which may have been replaced in a reset. */
  stillFits(): boolean
}

/** Result of one attempt at a plan. */
interface Attempt {
  readonly summary: OutcomeSummary
  /** Undefined if there was no recovery. */
  readonly verdict?: Verdict | undefined
  /** Commands without a completion in time; some may have completed since. */
  readonly overdue: readonly OverdueCommand[]
}

type Failure = CommandOutcome['outcome']

/** Decision about a command: it is settled, or part of the next attempt after a delay. */
type Fate = { readonly settled: Outcome } | { readonly againAfterNs: number; readonly as: 'retry' | 'replay' | 'first' }

/**
 * Executes a plan to the end. Retries commands with a retryable status. Repeats reads without a completion after the
 * controller was recovered. Reports writes without one as unknown, unless their completion arrives late. Resolves with
 * one outcome per command, after at most `MOST_RECOVERIES` recoveries and `MOST_RETRIES` retries.
 */
export async function executePlan(
  host: PlanExecution,
  plan: Plan,
  memory: DmaMemory,
  options: ExecuteOptions = {},
): Promise<OutcomeSummary> {
  const { counters } = host
  const { clock } = host.session.transport
  // Engines take whole nanoseconds.
  const { timeoutNs = Math.ceil(host.session.options.commandTimeoutNs) } = options
  const limits = { ...options, timeoutNs }
  const startNs = clock.now()
  let progress: PlanProgress | undefined
  for (let recoveries = 0; ;) {
    const attempt = await tryOnce(host, progress?.attempt ?? plan, memory, limits, progress)
    const { summary, verdict, overdue } = attempt
    counters.commands += summary.commands
    // Most plans end here.
    if (progress === undefined && summary.failures.length === 0) {
      counters.bytes += summary.bytes
      return summary
    }
    progress ??= new PlanProgress(plan)
    if (verdict !== undefined) recoveries++
    const over = options.signal?.aborted === true || recoveries >= MOST_RECOVERIES || !host.stillFits()
    const judge = new Judge(host, progress, verdict, over, timeoutNs)
    const bytesBefore = progress.bytes
    progress.next(
      summary,
      (failure, command) => {
        const late = overdue.find(({ qid, cid }) => qid === failure.qid && cid === failure.cid)
        return judge.fateOf(failure.outcome, late, command)
      },
      memory,
    )
    // Includes commands that succeeded late, which the summary reports as failures.
    counters.bytes += progress.bytes - bytesBefore
    if (progress.finished) return progress.summary(startNs, clock.now())
    await delay(clock, judge.delayNs, () => options.signal?.aborted === true || !host.isOpen())
  }
}

/** Makes one attempt, and recovers the controller if necessary. */
async function tryOnce(
  { engine, session, gate, recovery, counters }: PlanExecution,
  plan: Plan,
  memory: DmaMemory,
  options: ExecuteOptions,
  progress: PlanProgress | undefined,
): Promise<Attempt> {
  let overdue: OverdueCommand[] = []
  let summary: OutcomeSummary
  let recovered: Promise<Verdict> | undefined
  await gate.enter()
  try {
    if (session.transport.bar.isCut) return { summary: nothingOf(plan, lossOf(recovery)), verdict: 'lost', overdue }
    summary = await engine.execute(plan, memory, options)
    const { failures } = summary
    if (failures.length > 0) {
      // A changed namespace may be the reason, and a plan that fails at once gives the engine no time to poll for the
      // event.
      if (!failures.some(({ outcome }) => outcome.kind === 'device-lost')) session.admin.poll()
      overdue = failures.filter(gotNoAnswer).map(({ qid, cid }) => ({ qid, cid }))
      counters.timeouts += overdue.length
      const stopped =
        failures.some(({ outcome }) => outcome.kind === 'not-submitted') && options.signal?.aborted !== true
      // Reported before the gate is left, so that no other command enters in between.
      if (overdue.length > 0 || stopped) recovered = recovery.report({ overdue, from: stepAfter(progress, failures) })
    }
  } catch (error) {
    if (error instanceof EngineFailedError) {
      void recovery.report({ overdue, transportFailed: error })
    }
    throw error
  } finally {
    gate.leave()
  }
  const verdict = await recovered
  counters.lateCompletions += overdue.filter(completedLate).length
  return { summary, verdict, overdue }
}

/** Returns the first step to take: those that failed before for one of these commands are skipped. */
function stepAfter(
  progress: PlanProgress | undefined,
  failures: readonly CommandOutcome[],
): NonNullable<Incident['from']> {
  const replays = failures
    .filter(gotNoAnswer)
    .map(({ command }) => progress?.replaysOf(progress.commandAt(command)) ?? 0)
  return RECOVERY_STEPS[replays.reduce((most, each) => Math.max(most, each), 0)]!
}

function gotNoAnswer({ outcome }: CommandOutcome): boolean {
  return outcome.kind === 'timeout' || outcome.kind === 'device-lost'
}

/** Returns the loss. If the controller was closed meanwhile instead, its registers are not read either. */
function lossOf({ loss }: Recovery): Failure & { readonly kind: 'device-lost' } {
  return { kind: 'device-lost', ...(loss ?? { csts: ALL_ONES }) }
}

function nothingOf(plan: Plan, outcome: Failure): OutcomeSummary {
  const failures = Array.from({ length: plan.commands }, (_, command) => ({
    command,
    qid: -1,
    cid: -1,
    outcome,
  }))
  return { commands: plan.commands, succeeded: 0, bytes: 0, failures, startNs: 0, endNs: 0 }
}

/** Decides about each command that did not succeed in an attempt. */
class Judge {
  /** Longest delay before the next attempt. */
  delayNs = 0
  private readonly host: PlanExecution
  private readonly progress: PlanProgress
  private readonly verdict: Verdict | undefined
  /** Whether nothing more is sent. */
  private readonly over: boolean
  private readonly timeoutNs: number

  constructor(
    host: PlanExecution,
    progress: PlanProgress,
    verdict: Verdict | undefined,
    over: boolean,
    timeoutNs: number,
  ) {
    this.host = host
    this.progress = progress
    this.verdict = verdict
    this.over = over || verdict === 'lost'
    this.timeoutNs = timeoutNs
  }

  fateOf(found: Failure, late: OverdueCommand | undefined, command: number): 'again' | Outcome {
    const fate = this.decide(found, late, command)
    if ('settled' in fate) return fate.settled
    const { counters } = this.host
    if (fate.as === 'retry') counters.retries++
    if (fate.as === 'replay') counters.replays++
    this.delayNs = Math.max(this.delayNs, fate.againAfterNs)
    return 'again'
  }

  private decide(found: Failure, late: OverdueCommand | undefined, command: number): Fate {
    if (found.kind === 'status') return this.afterStatus(found, command)
    if (found.kind === 'not-submitted') return this.over ? { settled: found } : { againAfterNs: 0, as: 'first' }
    const status = late?.completion?.status
    if (status === 0) return { settled: { kind: 'success' } }
    if (status !== undefined && !wasAborted(status)) return this.afterStatus(statusOutcome(status), command)
    return this.afterSilence(found, command)
  }

  private afterStatus(found: ReturnType<typeof statusOutcome>, command: number): Fate {
    const { progress, host } = this
    const leftNs = this.timeoutNs - progress.delaysOf(command)
    const delayNs = retryDelayNs(found, progress.retriesOf(command), host.session.identity.retryDelaysNs, leftNs)
    if (this.over || delayNs === undefined) return { settled: found }
    progress.countRetry(command, delayNs)
    return { againAfterNs: delayNs, as: 'retry' }
  }

  /** Handles a command that was aborted or deleted with its queue: its progress is unknown. */
  private afterSilence(found: Failure, command: number): Fate {
    const { progress, verdict } = this
    if (verdict === 'lost') return { settled: lossOf(this.host.recovery) }
    const afterNs = found.kind === 'timeout' ? found.afterNs : 0
    if (progress.plan.operation === 'write') return { settled: { kind: 'unknown', afterNs } }
    if (this.over || progress.replaysOf(command) >= MOST_REPLAYS) return { settled: found }
    progress.countReplay(command)
    return { againAfterNs: 0, as: 'replay' }
  }
}
