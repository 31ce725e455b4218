import { statusOutcome } from '@gpunvme/nvme-spec/engine'
import { ALL_ONES, DeviceLostError } from '../commands/device-lost.js'
import type { Session } from '../bring-up/session.js'
import type { CommandQueue } from '../commands/command-queue.js'
import { CommandError, CommandTimeoutError } from '../commands/errors.js'
import type { OverdueCommand } from '../queues/queue-pair.js'
import type { Counters } from '../statistics.js'
import { completedLate, wasAborted } from './aborted.js'
import type { Gate } from './gate.js'
import { RECOVERY_STEPS, type Incident, type QueueUsers, type Recovery, type Verdict } from './recovery.js'
import { delay, MOST_REPLAYS, retryDelayNs } from './retry.js'

/** What the execution of a single command needs. */
export interface CommandExecution {
  readonly session: Session
  readonly gate: Gate
  readonly recovery: Recovery
  readonly counters: Counters
  /** Users of the I/O queues, if the only queue must be borrowed. */
  readonly users: Pick<QueueUsers, 'suspend' | 'resume'>
  /** Whether the controller is neither closed nor lost. */
  isOpen(): boolean
}

/** A failed attempt at a command, and the result of its recovery. */
interface Failed {
  readonly error: unknown
  readonly verdict: Verdict | undefined
}

/**
 * Sends a command that may be sent twice (it changes nothing, or nothing more the second time) until it succeeds.
 * Retries it if its status allows that, and repeats it after a recovery if it got no completion. An Admin command that
 * has used up its time limit is not sent again.
 * @throws CommandError, CommandTimeoutError, DeviceLostError.
 */
export async function executeRepeatable<T>(
  host: CommandExecution,
  queue: 'admin' | 'io',
  run: (queue: CommandQueue) => Promise<T>,
): Promise<T> {
  let replays = 0
  let delayedNs = 0
  for (let retries = 0; ;) {
    const result = await tryOnce(host, queue, run, replays)
    if ('value' in result) return result.value
    const { error, verdict } = result
    if (isOverdueAdmin(queue, error)) throw error
    const delayNs = delayBeforeRetry(host, error, retries, delayedNs)
    if (delayNs !== undefined) {
      retries++
      delayedNs += delayNs
      await delay(host.session.transport.clock, delayNs, () => !host.isOpen())
    } else if (verdict === 'recovered' && replays < MOST_REPLAYS) {
      replays++
    } else throw error
  }
}

/**
 * Sends a command that may not be sent twice. Without a completion its fate is unknown, unless the completion arrives
 * during recovery. Returns dword 0 of its completion.
 * @throws CommandError; CommandTimeoutError or DeviceLostError, after which the command may or may not have been
 *   executed.
 */
export async function executeOnce(
  host: CommandExecution,
  queue: 'admin' | 'io',
  run: (queue: CommandQueue) => Promise<number>,
): Promise<number> {
  let delayedNs = 0
  for (let retries = 0; ; retries++) {
    const result = await tryOnce(host, queue, run, 0)
    if ('value' in result) return result.value
    const { error } = result
    const late = error instanceof CommandTimeoutError ? error.overdue.completion : undefined
    if (late?.status === 0) return late.dw0
    if (isOverdueAdmin(queue, error)) throw error
    const delayNs = delayBeforeRetry(host, error, retries, delayedNs)
    if (delayNs === undefined) throw error
    delayedNs += delayNs
    await delay(host.session.transport.clock, delayNs, () => !host.isOpen())
  }
}

function delayBeforeRetry(
  { session, counters }: CommandExecution,
  error: unknown,
  retries: number,
  delayedNs: number,
): number | undefined {
  const status = statusOf(error)
  const leftNs = limitOf(error) - delayedNs
  const delayNs = status && retryDelayNs(status, retries, session.identity.retryDelaysNs, leftNs)
  if (delayNs !== undefined) counters.retries++
  return delayNs
}

/** Returns whether an Admin command has used up its time limit. */
function isOverdueAdmin(queue: 'admin' | 'io', error: unknown): boolean {
  return queue === 'admin' && error instanceof CommandTimeoutError
}

/** Returns the time limit of a command, which the delays before its retries must not exceed. */
function limitOf(error: unknown): number {
  return error instanceof CommandError || error instanceof CommandTimeoutError ? error.timeoutNs : Infinity
}

/** Returns the status of a command that completed in time or late. */
function statusOf(error: unknown) {
  if (error instanceof CommandError) return error
  const late = error instanceof CommandTimeoutError ? error.overdue.completion : undefined
  return late === undefined || late.status === 0 || wasAborted(late.status) ? undefined : statusOutcome(late.status)
}

async function tryOnce<T>(
  host: CommandExecution,
  kind: 'admin' | 'io',
  run: (queue: CommandQueue) => Promise<T>,
  replays: number,
): Promise<{ readonly value: T } | Failed> {
  const { session, gate, recovery, counters } = host
  const attempt = async (queue: CommandQueue, report: (incident: Incident) => Promise<Verdict>) => {
    try {
      return { value: await run(queue) }
    } catch (error) {
      const overdue = overdueOf(error)
      if (overdue === undefined) return { error, verdict: undefined }
      counters.timeouts += overdue.length
      return { error, recovered: report({ overdue, from: RECOVERY_STEPS[replays]! }) }
    }
  }
  const lost = (cause?: unknown) => {
    const { csts, reason } = recovery.loss ?? { csts: ALL_ONES, reason: undefined }
    return new DeviceLostError(session.transport.name, csts, reason, cause)
  }
  const alone = kind === 'io' && session.single === undefined
  const result = alone
    ? await gate.alone(async () => {
        await recovery.catchUp()
        if (session.transport.bar.isCut) throw lost()
        host.users.suspend()
        let tried: Awaited<ReturnType<typeof attempt>> | undefined
        try {
          tried = await attempt(session.borrowSingle(), (incident) => recovery.reportAlone(incident))
          if ('recovered' in tried) await tried.recovered
        } finally {
          // A recovery returns the queues itself; after anything else, plans must continue.
          if (tried === undefined || !('recovered' in tried)) host.users.resume()
        }
        return tried
      })
    : await inside(gate, async () => {
        if (session.transport.bar.isCut) throw lost()
        const queue = kind === 'admin' ? session.admin : session.single!
        return attempt(queue, (incident) => recovery.report(incident))
      })
  if (!('recovered' in result)) return result
  const verdict = await result.recovered
  if (result.error instanceof CommandTimeoutError && completedLate(result.error.overdue)) counters.lateCompletions++
  // The error of the queue has the first observation, and recovery may have helped.
  const isFinal = verdict === 'lost' && result.error instanceof DeviceLostError
  return { error: isFinal ? lost(result.error) : result.error, verdict }
}

/** Returns the commands that may need recovery; undefined if the command completed or was never sent. */
function overdueOf(error: unknown): OverdueCommand[] | undefined {
  if (error instanceof CommandTimeoutError) return [error.overdue]
  if (error instanceof DeviceLostError) return error.overdue === undefined ? [] : [error.overdue]
  return undefined
}

async function inside<T>(gate: Gate, action: () => Promise<T>): Promise<T> {
  await gate.enter()
  try {
    return await action()
  } finally {
    gate.leave()
  }
}
