import { EngineFailedError } from '@gpunvme/nvme-spec/engine'
import type { CommandOutcome } from '@gpunvme/nvme-spec/transport'
import type { Session } from '../bring-up/session.js'
import type { CommandQueue } from '../commands/command-queue.js'
import { DeviceLostError } from '../commands/device-lost.js'
import { CommandError, CommandTimeoutError } from '../commands/errors.js'
import type { RecoveryStep } from '../events/controller-event.js'
import type { OverdueCommand } from '../queues/queue-pair.js'
import { countResend, type Counters } from './counters.js'
import type { Gate } from '../recovery/gate.js'
import { RECOVERY_STEPS, type Recovery, type Verdict } from '../recovery/recovery.js'
import { delay, hasCompletedLate, resendOf, withLateCompletion } from './settle.js'

type Failure = CommandOutcome['outcome']

/**
 * Executes single commands to the end: sends them on the admin queue or on the I/O queue for commands outside plans,
 * requests a recovery if a command gets no completion, and sends it again as `resendOf` decides.
 */
export class CommandExecutor {
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
   * Sends a command that may be sent twice until it succeeds. An Admin command that has used up its time limit is not
   * sent again.
   * @throws CommandError, CommandTimeoutError, DeviceLostError.
   */
  repeat<T>(kind: 'admin' | 'io', run: (queue: CommandQueue) => Promise<T>): Promise<T> {
    return this.execute(kind, run, undefined)
  }

  /**
   * Sends a command that may not be sent twice. Without a completion its outcome is unknown, unless the completion
   * arrives during recovery. Returns dword 0 of its completion.
   * @throws CommandError; CommandTimeoutError or DeviceLostError, after which the command may or may not have been
   *   executed.
   */
  once(kind: 'admin' | 'io', run: (queue: CommandQueue) => Promise<number>): Promise<number> {
    return this.execute(kind, run, (dw0) => dw0)
  }

  /** @param late result of a command that succeeded late; undefined if the command may be sent again instead. */
  private async execute<T>(
    kind: 'admin' | 'io',
    run: (queue: CommandQueue) => Promise<T>,
    late: ((dw0: number) => T) | undefined,
  ): Promise<T> {
    const { session } = this
    const resends = { retries: 0, replays: 0, delayedNs: 0 }
    for (;;) {
      const attempt = await this.attempt(kind, run, resends.replays)
      if ('value' in attempt) return attempt.value
      const { error, verdict } = attempt
      const found = failureOf(error)
      if (found === undefined) throw error
      const overdue = isSilence(error) ? error.overdue : undefined
      let outcome = withLateCompletion(found, overdue)
      if (outcome.kind === 'success') {
        if (late !== undefined) return late(overdue!.completion!.dw0)
        // It succeeded late, but its data was not copied: it may be sent again.
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
      countResend(this.counters, resend)
      await delay(session.transport.clock, resend.afterNs, () => !this.isOpen())
    }
  }

  /** Makes one attempt at a single command, and requests a recovery if necessary. */
  private async attempt<T>(
    kind: 'admin' | 'io',
    run: (queue: CommandQueue) => Promise<T>,
    replays: number,
  ): Promise<{ readonly value: T } | { readonly error: unknown; readonly verdict: Verdict | undefined }> {
    const { session, gate } = this
    const from = RECOVERY_STEPS[replays]!
    const needsPlanQueue = kind === 'io' && session.queues.single === undefined
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
    return { error: isFinal ? this.recovery.lostError(error) : error, verdict }
  }

  /** Sends a command on its own queue, concurrently with plans. */
  private async sendInside<T>(
    kind: 'admin' | 'io',
    run: (queue: CommandQueue) => Promise<T>,
    from: RecoveryStep,
  ): Promise<Sent<T>> {
    const { session, gate, recovery } = this
    await gate.enter()
    try {
      this.checkPresent()
      const queue = kind === 'admin' ? session.admin : session.queues.single!
      // Reported before the gate is left, so that no other command enters in between.
      return await this.send(
        () => run(queue),
        (overdue) => recovery.report({ overdue, from }),
      )
    } finally {
      gate.leave()
    }
  }

  /** Sends an I/O command on the only I/O queue, which it shares with plans. Requires exclusive access. */
  private async sendAlone<T>(run: (queue: CommandQueue) => Promise<T>, from: RecoveryStep): Promise<Sent<T>> {
    const { session, recovery } = this
    await recovery.catchUp()
    this.checkPresent()
    session.detachEngine()
    let sent: Sent<T> | undefined
    try {
      const queue = session.queues.borrowSingle()
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
      if (error instanceof EngineFailedError) {
        void this.recovery.report({ overdue: [], transportFailed: error })
      }
      if (!isSilence(error)) return { error }
      const overdue = error.overdue === undefined ? [] : [error.overdue]
      this.counters.timeouts += overdue.length
      return { error, recovered: report(overdue) }
    }
  }

  /** @throws DeviceLostError */
  private checkPresent(): void {
    if (this.session.transport.bar.isCut) throw this.recovery.lostError()
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
